//! MySQL's GTIDs: the UUID of the server that assigned them, an optional tag, and a number.
//!
//! ```text
//!   Gtid         flags (1) | uuid (16) | number (8) | …
//!   Gtid_tagged  version | size | last field that must be understood | fields: id, value …
//!                  0 flags   1 uuid: 16 numbers   2 number   3 tag: length, bytes   …
//! ```
//! Gtid_tagged is written by MySQL's serialization library. Its numbers have 1 to 9 bytes: the number of ones at the
//! low end of the first byte, plus one. Signed numbers have their sign in the lowest bit.

use crate::codec::Cursor;
use crate::error::{Error, Result};
use crate::event::EventType;
use std::fmt;
use std::str::FromStr;
use std::sync::Arc;

/// Maximum length of a tag, in bytes.
const TAG_LENGTH_MAX: usize = 32;

/// A server's `server_uuid`.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub struct ServerUuid(pub [u8; 16]);

impl fmt::Display for ServerUuid {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (at, byte) in self.0.iter().enumerate() {
            if matches!(at, 4 | 6 | 8 | 10) {
                f.write_str("-")?;
            }
            write!(f, "{byte:02x}")?;
        }
        Ok(())
    }
}

impl FromStr for ServerUuid {
    type Err = Error;

    /// Parses 32 hexadecimal digits, with or without the four hyphens.
    fn from_str(text: &str) -> Result<Self> {
        let malformed = || Error::Malformed {
            event: "GTID",
            problem: "a server's UUID is not one",
        };
        let is_plain = text.len() == 32;
        let is_parted = text.len() == 36 && [8, 13, 18, 23].iter().all(|at| text.as_bytes()[*at] == b'-');
        if !is_plain && !is_parted {
            return Err(malformed());
        }
        let mut digits = text
            .chars()
            .filter(|digit| *digit != '-')
            .map(|digit| digit.to_digit(16));
        let mut bytes = [0; 16];
        for byte in &mut bytes {
            match (digits.next().flatten(), digits.next().flatten()) {
                (Some(high), Some(low)) => *byte = (high << 4 | low) as u8,
                _ => return Err(malformed()),
            }
        }
        match digits.next() {
            None => Ok(ServerUuid(bytes)),
            Some(_) => Err(malformed()),
        }
    }
}

/// Origin of a sequence of GTIDs: a server and a tag, which is usually empty.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub struct GtidSource {
    /// The server.
    pub uuid: ServerUuid,
    /// The tag.
    pub tag: Arc<str>,
}

impl fmt::Display for GtidSource {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.tag.is_empty() {
            true => write!(f, "{}", self.uuid),
            false => write!(f, "{}:{}", self.uuid, self.tag),
        }
    }
}

/// Returns the tag in `bytes`, or `None` if they are not a valid one: letters, digits and `_`, not beginning with a
/// digit. Upper-case letters become lower-case.
pub(super) fn tag_of(bytes: &[u8]) -> Option<Arc<str>> {
    let text = std::str::from_utf8(bytes).ok()?.to_ascii_lowercase();
    let is_known = |byte: u8| byte.is_ascii_lowercase() || byte.is_ascii_digit() || byte == b'_';
    let starts = text.bytes().next().is_none_or(|first| !first.is_ascii_digit());
    (text.len() <= TAG_LENGTH_MAX && starts && text.bytes().all(is_known)).then(|| text.into())
}

/// A transaction's GTID.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct MySqlGtid {
    /// The server and tag that assigned the number.
    pub source: GtidSource,
    /// The number, from 1.
    pub number: u64,
}

impl MySqlGtid {
    /// Decodes the body of a Gtid or a Gtid_tagged event.
    ///
    /// # Errors
    /// [`Error::Malformed`], also for an event of another type.
    pub fn decode(event_type: EventType, body: &[u8]) -> Result<Self> {
        let mut cursor = Cursor::new(event_type.name(), body);
        let gtid = match event_type {
            EventType::MYSQL_GTID => {
                cursor.u8()?;
                let mut uuid = [0; 16];
                uuid.copy_from_slice(cursor.bytes(16)?);
                let source = GtidSource {
                    uuid: ServerUuid(uuid),
                    tag: "".into(),
                };
                MySqlGtid {
                    source,
                    number: cursor.u64()?,
                }
            }
            EventType::MYSQL_GTID_TAGGED => tagged(&mut cursor)?,
            _ => return Err(cursor.malformed("it is no GTID's")),
        };
        match gtid.number {
            1..=0x7FFF_FFFF_FFFF_FFFE => Ok(gtid),
            _ => Err(cursor.malformed("its number is out of range")),
        }
    }
}

mod field {
    pub const FLAGS: u64 = 0;
    pub const UUID: u64 = 1;
    pub const NUMBER: u64 = 2;
    pub const TAG: u64 = 3;
}

fn tagged(cursor: &mut Cursor<'_>) -> Result<MySqlGtid> {
    let _version = variable(cursor)?;
    let _size = variable(cursor)?;
    let _last_known = variable(cursor)?;
    let (mut uuid, mut number, mut tag) = (None, None, Arc::from(""));
    // Fields are ordered by id, and these are the first ones.
    while !cursor.is_empty() {
        match variable(cursor)? {
            field::FLAGS => {
                variable(cursor)?;
            }
            field::UUID => {
                let mut bytes = [0; 16];
                for byte in &mut bytes {
                    *byte = variable(cursor)? as u8;
                }
                uuid = Some(ServerUuid(bytes));
            }
            field::NUMBER => number = Some(variable(cursor)? >> 1),
            field::TAG => {
                let length = usize::try_from(variable(cursor)?).unwrap_or(usize::MAX);
                tag = tag_of(cursor.bytes(length)?).ok_or_else(|| cursor.malformed("its tag is none"))?;
            }
            _ => break,
        }
    }
    match (uuid, number) {
        (Some(uuid), Some(number)) => Ok(MySqlGtid {
            source: GtidSource { uuid, tag },
            number,
        }),
        _ => Err(cursor.malformed("it has no GTID")),
    }
}

/// Decodes a number of 1 to 9 bytes.
pub(super) fn variable(cursor: &mut Cursor<'_>) -> Result<u64> {
    let first = cursor.u8()?;
    let more = first.trailing_ones();
    let rest = cursor.bytes(more as usize)?;
    let high = rest
        .iter()
        .rev()
        .fold(0u64, |number, byte| number << 8 | u64::from(*byte));
    Ok(match more {
        8 => high,
        7 => high,
        _ => u64::from(first) >> (more + 1) | high << (7 - more),
    })
}

/// Appends a number below 128, as one byte.
pub(super) fn put_short_variable(number: usize, out: &mut Vec<u8>) {
    debug_assert!(number < 128, "tags are short");
    out.push((number as u8) << 1);
}

#[cfg(test)]
mod tests {
    use super::*;

    fn bytes(hex: &str) -> Vec<u8> {
        (0..hex.len() / 2)
            .map(|at| u8::from_str_radix(&hex[2 * at..2 * at + 2], 16).unwrap())
            .collect()
    }

    // Bodies of events that MySQL 9.7 wrote.
    const PLAIN: &str = "01bfedd796e63b11f1af6b02fc00000001010000000000000002000000000000000001000000000000003cfcb162d76006b050620100";
    const TAGGED: &str = "027400000002fd02b5035d03590299037622c503bd02d604f10300000002040406087461677808580a5c0c7f2dc6ba62d760061099041283120b";

    #[test]
    fn gtids_are_decoded_from_events_of_mysql() {
        let gtid = MySqlGtid::decode(EventType::MYSQL_GTID, &bytes(PLAIN)).unwrap();
        assert_eq!(gtid.source.to_string(), "bfedd796-e63b-11f1-af6b-02fc00000001");
        assert_eq!(gtid.number, 1);
        let gtid = MySqlGtid::decode(EventType::MYSQL_GTID_TAGGED, &bytes(TAGGED)).unwrap();
        assert_eq!(
            gtid.source.to_string(),
            "bfedd796-e63b-11f1-af6b-02fc00000001:tagx"
        );
        assert_eq!(gtid.number, 1);
        for length in 0..25 {
            assert!(MySqlGtid::decode(EventType::MYSQL_GTID, &bytes(PLAIN)[..length]).is_err());
            assert!(MySqlGtid::decode(EventType::MYSQL_GTID_TAGGED, &bytes(TAGGED)[..length]).is_err());
        }
        assert!(MySqlGtid::decode(EventType::XID, &bytes(PLAIN)).is_err());
    }

    #[test]
    fn numbers_of_any_length_are_decoded() {
        let read = |hex: &str| variable(&mut Cursor::new("test", &bytes(hex))).unwrap();
        assert_eq!(read("00"), 0);
        assert_eq!(read("fe"), 127);
        assert_eq!(read("fd02"), 0xbf);
        // 0x1234567 needs 25 bits: four bytes, in which four bits are the length.
        let number = 0x0123_4567u64 << 4 | 0b0111;
        assert_eq!(
            read(&format!("{:08x}", (number as u32).swap_bytes())),
            0x0123_4567
        );
        assert_eq!(read("ffffffffffffffffff"), u64::MAX);
        assert_eq!(read("7f01020304050607"), 0x0007_0605_0403_0201);
    }

    #[test]
    fn uuids_are_parsed_and_printed() {
        let text = "bfedd796-e63b-11f1-af6b-02fc00000001";
        let uuid: ServerUuid = text.parse().unwrap();
        assert_eq!(uuid.to_string(), text);
        assert_eq!(
            text.replace('-', "")
                .to_uppercase()
                .parse::<ServerUuid>()
                .unwrap(),
            uuid
        );
        for wrong in [
            "",
            "1",
            "bfedd796-e63b-11f1-af6b-02fc0000000g",
            "bfedd796e-63b-11f1-af6b-02fc00000001",
            "0-1-2",
        ] {
            assert!(wrong.parse::<ServerUuid>().is_err(), "{wrong}");
        }
    }
}
