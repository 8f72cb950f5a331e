//! UUID, INET6 and INET4: types of a fixed number of bytes, each with a text of its own.
//!
//! MariaDB adds them as plugins of one kind (`sql_type_fixedbin.h`), and they differ only in the number of bytes, the
//! text and, for UUID, the order. They are neither numbers nor strings: arithmetic, casts to numbers and comparison
//! with numbers are errors 4078 and 4079.
//!
//! ```text
//!   text:                 550e8400-e29b-11d4-a716-446655440000      2001:db8::1                192.0.2.1
//!   bytes (row image,     55 0e 84 00 e2 9b 11 d4 a7 16 44 66 …     20 01 0d b8 00 … 00 01     c0 00 02 01
//!     BINARY, HEX):
//!   sort key of a UUID    44 66 55 44 00 00 │ a7 16 │ 11 d4 │ e2 9b │ 55 0e 84 00
//!     of versions 1 to 5: node              │ clock │ time: high, middle, low
//! ```
//!
//! A row image has the bytes in the order of the text, as those of a BINARY column of the same length: a replica reads
//! one as the other. An index sorts UUIDs of version 1 by node and time, so that those of one server are neighbours.
//! Versions 6 and 7 sort by time as they are, so they (and UUIDs without RFC 4122's variant) keep their order.
//! MariaDB's record has the bytes in this order too, and tells by two bits whether they were exchanged: those of the
//! variant and of the version, which have changed places. A text with such bits is refused. Bytes with such bits are
//! accepted, and a column that stores them shows another UUID ([`FixedBinary::stored`]).

use serde::{Deserialize, Serialize};
use std::cmp::Ordering;
use std::fmt;
use std::io::Write;

/// One of the types of a fixed number of bytes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub enum FixedBinaryType {
    /// UUID, 16 bytes.
    Uuid,
    /// INET6: an IPv6 address, 16 bytes.
    Inet6,
    /// INET4: an IPv4 address, 4 bytes.
    Inet4,
}

/// Length of the longest value in bytes.
const BYTES_MAX: usize = 16;

/// Value of a type of a fixed number of bytes.
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
pub struct FixedBinary {
    data_type: FixedBinaryType,
    /// The value's bytes. Those beyond its type's length are 0.
    bytes: [u8; BYTES_MAX],
}

impl FixedBinaryType {
    /// Returns the length of a value in bytes.
    pub const fn bytes(self) -> usize {
        match self {
            FixedBinaryType::Uuid | FixedBinaryType::Inet6 => 16,
            FixedBinaryType::Inet4 => 4,
        }
    }

    /// Returns the length of the longest text in characters.
    pub const fn characters_max(self) -> usize {
        match self {
            FixedBinaryType::Uuid => 36,
            FixedBinaryType::Inet6 => 39,
            FixedBinaryType::Inet4 => 15,
        }
    }

    /// Returns the type's name as messages and SHOW CREATE TABLE show it.
    pub const fn name(self) -> &'static str {
        match self {
            FixedBinaryType::Uuid => "uuid",
            FixedBinaryType::Inet6 => "inet6",
            FixedBinaryType::Inet4 => "inet4",
        }
    }

    /// Returns the type's keyword in upper case.
    pub const fn keyword(self) -> &'static str {
        match self {
            FixedBinaryType::Uuid => "UUID",
            FixedBinaryType::Inet6 => "INET6",
            FixedBinaryType::Inet4 => "INET4",
        }
    }

    /// Returns the type with this keyword in upper case.
    pub fn from_keyword(keyword: &str) -> Option<Self> {
        [Self::Uuid, Self::Inet6, Self::Inet4]
            .into_iter()
            .find(|data_type| data_type.keyword() == keyword)
    }

    /// Returns the value whose bytes are all 0: the implicit default of a NOT NULL column.
    pub const fn zero(self) -> FixedBinary {
        FixedBinary {
            data_type: self,
            bytes: [0; BYTES_MAX],
        }
    }

    /// Reads a text. Returns `None` if it is none of this type.
    pub fn parse(self, text: &str) -> Option<FixedBinary> {
        match self {
            FixedBinaryType::Uuid => parse_uuid(text),
            FixedBinaryType::Inet6 => self.from_bytes(&parse_inet6(text)?),
            FixedBinaryType::Inet4 => self.from_bytes(&parse_inet4(text)?),
        }
    }

    /// Returns the value with these bytes, or `None` if their number is not the type's.
    pub fn from_bytes(self, bytes: &[u8]) -> Option<FixedBinary> {
        (bytes.len() == self.bytes()).then(|| self.padded(bytes))
    }

    /// Returns the value with these bytes and zero bytes after them, as a row image without the trailing zero bytes
    /// has it. Bytes beyond the type's length are ignored.
    pub(crate) fn padded(self, bytes: &[u8]) -> FixedBinary {
        let mut value = self.zero();
        let used = bytes.len().min(self.bytes());
        value.bytes[..used].copy_from_slice(&bytes[..used]);
        value
    }

    /// Returns the value of a sort key.
    pub(crate) fn from_sort_key(self, key: &[u8]) -> Option<FixedBinary> {
        if self != FixedBinaryType::Uuid {
            return self.from_bytes(key);
        }
        let key: [u8; 16] = key.try_into().ok()?;
        self.from_bytes(&if is_node_first(&key) { time_first(key) } else { key })
    }
}

impl FixedBinary {
    /// Returns the value's type.
    pub const fn data_type(&self) -> FixedBinaryType {
        self.data_type
    }

    /// Returns the value's bytes in the order of its text.
    pub fn bytes(&self) -> &[u8] {
        &self.bytes[..self.data_type.bytes()]
    }

    /// Returns whether all bytes are 0, which is false as a condition.
    pub fn is_zero(&self) -> bool {
        self.bytes == [0; BYTES_MAX]
    }

    /// Appends the bytes in the order of an index.
    pub fn append_sort_key(&self, out: &mut Vec<u8>) {
        if self.is_time_last() {
            out.extend_from_slice(&node_first(self.bytes));
        } else {
            out.extend_from_slice(self.bytes());
        }
    }

    /// Compares values in the order of an index.
    ///
    /// MariaDB's operators compare a UUID of versions 1 to 5 with any other by their texts, although an index sorts
    /// the former by its node. That is no order: a < b < c < a. A filter would disagree with a range.
    pub fn compare(&self, other: &FixedBinary) -> Ordering {
        let key = |value: &FixedBinary| match value.is_time_last() {
            true => node_first(value.bytes),
            false => value.bytes,
        };
        key(self).cmp(&key(other))
    }

    /// Returns whether the value is a UUID of version 1 to 5 with RFC 4122's variant, which sorts by its last bytes.
    fn is_time_last(&self) -> bool {
        self.data_type == FixedBinaryType::Uuid
            && (1..0x60).contains(&self.bytes[6])
            && self.bytes[8] & 0x80 != 0
    }

    /// Appends the value's text.
    pub fn append_text(&self, out: &mut Vec<u8>) {
        match self.data_type {
            FixedBinaryType::Uuid => {
                const DIGITS: &[u8; 16] = b"0123456789abcdef";
                for (n, byte) in self.bytes.iter().enumerate() {
                    if matches!(n, 4 | 6 | 8 | 10) {
                        out.push(b'-');
                    }
                    out.push(DIGITS[usize::from(byte >> 4)]);
                    out.push(DIGITS[usize::from(byte & 15)]);
                }
            }
            FixedBinaryType::Inet6 => append_inet6(&self.bytes, out),
            FixedBinaryType::Inet4 => append_inet4(&self.bytes[..4], out),
        }
    }

    /// Returns the value that a column shows after this one was stored in it. They differ for UUIDs of bytes that no
    /// text can have.
    #[must_use]
    pub fn stored(self) -> FixedBinary {
        match self.data_type {
            FixedBinaryType::Uuid if is_node_first(&self.bytes) => FixedBinary {
                bytes: time_first(self.bytes),
                ..self
            },
            _ => self,
        }
    }
}

/// Returns the bytes of a UUID in the order of an index: node, clock, time from high to low.
fn node_first(b: [u8; 16]) -> [u8; 16] {
    [
        b[10], b[11], b[12], b[13], b[14], b[15], b[8], b[9], b[6], b[7], b[4], b[5], b[0], b[1], b[2], b[3],
    ]
}

/// Reverses [`node_first`].
fn time_first(b: [u8; 16]) -> [u8; 16] {
    [
        b[12], b[13], b[14], b[15], b[10], b[11], b[8], b[9], b[6], b[7], b[0], b[1], b[2], b[3], b[4], b[5],
    ]
}

/// Returns whether MariaDB takes stored bytes for those of [`node_first`]: a variant where the version would be, and a
/// version where the variant would be.
///
/// It also does for a version of 8 or more and the variant 80, whose bytes would change with each copy. Here they stay.
fn is_node_first(b: &[u8; 16]) -> bool {
    b[6] >= 0x80 && (1..0x80).contains(&b[8])
}

/// Reads 32 hexadecimal digits with any number of hyphens between them.
fn parse_uuid(text: &str) -> Option<FixedBinary> {
    let mut value = FixedBinaryType::Uuid.zero();
    let mut digits = 0;
    let mut last = b'-';
    for byte in text.bytes() {
        if byte == b'-' && digits > 0 {
            last = byte;
            continue;
        }
        let digit = char::from(byte).to_digit(16)? as u8;
        let target = value.bytes.get_mut(digits / 2)?;
        *target = *target << 4 | digit;
        digits += 1;
        last = byte;
    }
    let is_impossible = value.bytes[6] >= 0x80 && (1..=0x80).contains(&value.bytes[8]);
    (digits == 32 && last != b'-' && !is_impossible).then_some(value)
}

/// Length of the longest text of an INET4 value in bytes.
const INET4_TEXT_MAX: usize = 15;

/// Reads four numbers of up to three digits with points between them. Unlike the C library, it reads `010` as 10.
fn parse_inet4(text: &str) -> Option<[u8; 4]> {
    if text.len() > INET4_TEXT_MAX {
        return None;
    }
    let mut parts = text.split('.');
    let mut bytes = [0; 4];
    for byte in &mut bytes {
        let part = parts.next()?;
        let is_number = (1..=3).contains(&part.len()) && part.bytes().all(|digit| digit.is_ascii_digit());
        *byte = part.parse().ok().filter(|_| is_number)?;
    }
    parts.next().is_none().then_some(bytes)
}

/// Reads groups of up to four hexadecimal digits with colons between them. `::` stands once for missing groups of 0,
/// and an IPv4 address may be the last two groups.
fn parse_inet6(text: &str) -> Option<[u8; 16]> {
    let (before, after) = match text.split_once("::") {
        Some((before, after)) => (before, Some(after)),
        None => (text, None),
    };
    let mut bytes = [0; 16];
    let start = parse_groups(before, after.is_none(), &mut bytes)?;
    match after {
        None => (start == 16).then_some(bytes),
        Some(after) => {
            let mut end = [0; 16];
            let length = parse_groups(after, true, &mut end)?;
            if start + length > 14 {
                return None;
            }
            bytes[16 - length..].copy_from_slice(&end[..length]);
            Some(bytes)
        }
    }
}

/// Reads groups with colons between them to the start of `out`. Returns their length in bytes, 0 for an empty text.
fn parse_groups(text: &str, may_end_with_inet4: bool, out: &mut [u8; 16]) -> Option<usize> {
    let mut length = 0;
    if text.is_empty() {
        return Some(0);
    }
    let mut groups = text.split(':').peekable();
    while let Some(group) = groups.next() {
        let (inet4, number);
        let bytes: &[u8] = if may_end_with_inet4 && groups.peek().is_none() && group.contains('.') {
            inet4 = parse_inet4(group)?;
            &inet4
        } else {
            let is_number =
                (1..=4).contains(&group.len()) && group.bytes().all(|digit| digit.is_ascii_hexdigit());
            number = u16::from_str_radix(group, 16)
                .ok()
                .filter(|_| is_number)?
                .to_be_bytes();
            &number
        };
        out.get_mut(length..length + bytes.len())?.copy_from_slice(bytes);
        length += bytes.len();
    }
    Some(length)
}

fn append_inet4(bytes: &[u8], out: &mut Vec<u8>) {
    for (n, byte) in bytes.iter().enumerate() {
        if n > 0 {
            out.push(b'.');
        }
        // Writing to a vector never fails.
        let _ = write!(out, "{byte}");
    }
}

/// Appends groups in lower case without leading zeros. The first of the longest runs of groups of 0, even a single one,
/// is `::`. An address whose first six groups are 0, or five and the sixth ffff, ends with an IPv4 address.
fn append_inet6(bytes: &[u8; 16], out: &mut Vec<u8>) {
    let groups: [u16; 8] = std::array::from_fn(|n| u16::from_be_bytes([bytes[2 * n], bytes[2 * n + 1]]));
    let (mut gap_start, mut gap_length) = (8, 0);
    let mut start = 0;
    for run in groups.chunk_by(|a, b| (*a == 0) == (*b == 0)) {
        if run[0] == 0 && run.len() > gap_length {
            (gap_start, gap_length) = (start, run.len());
        }
        start += run.len();
    }
    let is_inet4 = gap_start == 0 && (gap_length == 6 || gap_length == 5 && groups[5] == 0xffff);
    let mut n = 0;
    while n < 8 {
        if n == gap_start {
            out.extend_from_slice(if n == 0 { b"::" } else { b":" });
            n += gap_length;
        } else if n == 6 && is_inet4 {
            return append_inet4(&bytes[12..], out);
        } else {
            out.extend_from_slice(format!("{:x}", groups[n]).as_bytes());
            n += 1;
            if n < 8 {
                out.push(b':');
            }
        }
    }
}

impl fmt::Display for FixedBinary {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut text = Vec::with_capacity(self.data_type.characters_max());
        self.append_text(&mut text);
        f.write_str(&String::from_utf8_lossy(&text))
    }
}

impl fmt::Debug for FixedBinary {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}'{self}'", self.data_type.keyword())
    }
}

#[cfg(test)]
mod tests {
    use super::FixedBinaryType::{Inet4, Inet6, Uuid};
    use super::*;
    use proptest::prelude::*;

    fn shown(data_type: FixedBinaryType, text: &str) -> Option<String> {
        data_type.parse(text).map(|value| value.to_string())
    }

    /// Answers of MariaDB 10.11 to CAST. `None`: warning 1292.
    #[test]
    fn texts_are_read_as_by_mariadb() {
        let same = Some("55550e84-0000-1000-8000-000000000001");
        for (text, expected) in [
            ("55550e84-0000-1000-8000-000000000001", same),
            ("55550E84000010008000000000000001", same),
            ("5--5550e84-0000-1000-8000-0000000000-01", same),
            ("-55550e84-0000-1000-8000-000000000001", None),
            ("55550e84-0000-1000-8000-000000000001-", None),
            ("55550e84-0000-1000-8000-0000000000011", None),
            ("55550e84-0000-1000-8000-00000000000", None),
            ("550e8400-e29b-81d4-0716-446655440000", None),
            (
                "550e8400-e29b-81d4-0016-446655440000",
                Some("550e8400-e29b-81d4-0016-446655440000"),
            ),
        ] {
            assert_eq!(shown(Uuid, text).as_deref(), expected, "{text}");
        }
        for (text, expected) in [
            ("::1.2.3.04", Some("::1.2.3.4")),
            ("::FFFF:1.2.3.4", Some("::ffff:1.2.3.4")),
            ("1::2::3", None),
            (":1:", None),
            ("::1 ", None),
            (":::", None),
            ("1:", None),
            ("::", Some("::")),
            ("1:2:3:4:5:6:7::", Some("1:2:3:4:5:6:7::")),
            ("::2:3:4:5:6:7:8", Some("::2:3:4:5:6:7:8")),
            ("1:2:3:4:5:6:7:8::", None),
            ("1:2:3:4:5:6:7:8", Some("1:2:3:4:5:6:7:8")),
            ("1:0:3:4:5:6:7:8", Some("1::3:4:5:6:7:8")),
            ("1:2:3:4:5:6:1.2.3.4", Some("1:2:3:4:5:6:102:304")),
            ("1.2.3.4::", None),
            ("::00001", None),
            ("::0.0.0.1", Some("::1")),
            ("::1:0", Some("::0.1.0.0")),
            ("1:0:0:2:0:0:0:3", Some("1:0:0:2::3")),
            ("1:0:0:2:3:0:0:4", Some("1::2:3:0:0:4")),
        ] {
            assert_eq!(shown(Inet6, text).as_deref(), expected, "{text}");
        }
        for (text, expected) in [
            ("1.2.3.4", Some("1.2.3.4")),
            ("01.02.03.004", Some("1.2.3.4")),
            ("1.2.3", None),
            ("1..2.3", None),
            ("0.0.0.256", None),
            (" 1.2.3.4", None),
            ("1.2.3.+4", None),
        ] {
            assert_eq!(shown(Inet4, text).as_deref(), expected, "{text}");
        }
    }

    #[test]
    fn uuids_of_one_node_are_neighbours_and_sort_by_time() {
        let key = |text: &str| {
            let mut key = Vec::new();
            Uuid.parse(text).unwrap().append_sort_key(&mut key);
            key
        };
        let earlier = key("ffffffff-0000-1000-8000-000000000001");
        let later = key("00000000-0001-1000-8000-000000000001");
        assert!(earlier < later);
        // Version 7 begins with its time.
        assert!(key("00000000-0001-7000-8000-000000000001") < key("00000000-0002-7000-8000-000000000000"));
    }

    #[test]
    fn bytes_that_no_text_can_have_are_stored_as_another_uuid() {
        let bytes = *b"\x55\x0e\x84\x00\xe2\x9b\x81\xd4\x47\x16\x44\x66\x55\x44\x00\x00";
        let value = Uuid.from_bytes(&bytes).unwrap();
        assert_eq!(value.to_string(), "550e8400-e29b-81d4-4716-446655440000");
        assert_eq!(value.stored().to_string(), "55440000-4466-4716-81d4-550e8400e29b");
    }

    proptest! {
        #[test]
        fn texts_and_sort_keys_round_trip(bytes: [u8; 16], zeros in 0usize..17, at in 0usize..17) {
            let mut bytes = bytes;
            bytes[at.min(16)..(at + zeros).min(16)].fill(0);
            for data_type in [Uuid, Inet6, Inet4] {
                let value = data_type.from_bytes(&bytes[..data_type.bytes()]).unwrap().stored();
                let is_refused = data_type == Uuid && bytes[6] >= 0x80 && bytes[8] == 0x80;
                prop_assert!(is_refused || data_type.parse(&value.to_string()) == Some(value), "{value}");
                let mut key = Vec::new();
                value.append_sort_key(&mut key);
                prop_assert_eq!(data_type.from_sort_key(&key), Some(value));
                prop_assert_eq!(value.stored(), value);
            }
        }
    }
}
