//! Format_description: the first event of each file. It describes the layout of all others.
//!
//! ```text
//! binlog version (2) | server version (50, NUL-padded) | created (4) | header length (1)
//! | post-header lengths (1 each, by type code from 1) | checksum algorithm (1)
//! ```
//! This is MariaDB's `Format_description_log_event`; the checksum algorithm exists since MariaDB 5.3.

use super::body::EventBody;
use super::{EventType, HEADER_LENGTH};
use crate::codec::{Cursor, PutExt};
use crate::error::Result;

const SERVER_VERSION_LENGTH: usize = 50;

/// Checksums of the events in a file.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum ChecksumAlgorithm {
    /// No checksums.
    None,
    /// Four bytes of CRC-32 after each event.
    Crc32,
}

/// Layout of a file's events.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct FormatDescription {
    /// Version of the format; only 4 is supported.
    pub binlog_version: u16,
    /// Version of the server that wrote the file.
    pub server_version: String,
    /// Start time of the server if this is its first file since the start; otherwise 0. In seconds since 1970. A
    /// replica that sees a start time drops the temporary tables from before it.
    pub created: u32,
    /// Length of each type's post-header, from type code 1 on.
    pub post_header_lengths: Vec<u8>,
    /// Checksums of the file's events.
    pub checksum: ChecksumAlgorithm,
}

/// Post-header lengths that MariaDB 10.11 writes, for types 1 to 171.
pub const POST_HEADER_LENGTHS: [u8; 171] = {
    let mut lengths = [0; 171];
    // Types 1 to 41, from MariaDB's log_event_server.cc.
    let first: [u8; 41] = [
        56, 13, 0, 8, 0, 18, 0, 4, 4, 4, 4, 18, 0, 0, 95, 0, 4, 26, 8, 0, 0, 0, 8, 8, 8, 2, 0, 0, 0, 10, 10,
        10, 0, 0, 0, 0, 0, 0, 10, 10, 10,
    ];
    let mut type_code = 0;
    while type_code < first.len() {
        lengths[type_code] = first[type_code];
        type_code += 1;
    }
    // MariaDB's own types, from 160.
    let own: [u8; 12] = [0, 4, 19, 4, 0, 13, 8, 8, 8, 10, 10, 10];
    let mut offset = 0;
    while offset < own.len() {
        lengths[159 + offset] = own[offset];
        offset += 1;
    }
    // The post-header of the Format_description event itself includes this table.
    lengths[14] = (2 + SERVER_VERSION_LENGTH + 4 + 1 + 171) as u8;
    lengths
};

impl FormatDescription {
    /// Returns the first two numbers of the server's version, on which the meaning of some flags depends.
    pub fn version(&self) -> (u32, u32) {
        let mut numbers = self
            .server_version
            .split(|character: char| !character.is_ascii_digit())
            .map(|part| part.parse().unwrap_or(0));
        (numbers.next().unwrap_or(0), numbers.next().unwrap_or(0))
    }

    /// Returns whether Query events state the value of `explicit_defaults_for_timestamp`. Before MariaDB 10.10 the
    /// replica's own value applied.
    pub fn states_explicit_defaults(&self) -> bool {
        self.version() >= (10, 10) && self.server_version.contains("MariaDB")
    }

    /// Returns Paceline's format: version 4, CRC-32, MariaDB 10.11's post-header lengths.
    pub fn new(server_version: impl Into<String>, created: u32) -> Self {
        Self {
            binlog_version: 4,
            server_version: server_version.into(),
            created,
            post_header_lengths: POST_HEADER_LENGTHS.to_vec(),
            checksum: ChecksumAlgorithm::Crc32,
        }
    }

    /// Returns the post-header length of a type, or `None` if the file does not state one.
    pub fn post_header_length(&self, event_type: EventType) -> Option<usize> {
        let index = usize::from(event_type.0).checked_sub(1)?;
        self.post_header_lengths
            .get(index)
            .map(|length| usize::from(*length))
    }

    /// Decodes the body, which includes the checksum algorithm but not the checksum.
    ///
    /// # Errors
    /// [`crate::Error::Malformed`] for a version other than 4, a header length other than 19, or a body that is too
    /// short.
    pub fn decode(body: &[u8]) -> Result<Self> {
        let mut cursor = Cursor::new("Format_desc", body);
        let binlog_version = cursor.u16()?;
        if binlog_version != 4 {
            return Err(cursor.malformed("only version 4 of the binlog format is supported"));
        }
        let server_version = cursor.bytes(SERVER_VERSION_LENGTH)?;
        let length = server_version
            .iter()
            .position(|byte| *byte == 0)
            .unwrap_or(SERVER_VERSION_LENGTH);
        let server_version = match std::str::from_utf8(&server_version[..length]) {
            Ok(version) => version.to_owned(),
            Err(_) => return Err(cursor.malformed("the server's version is not text")),
        };
        let created = cursor.u32()?;
        if usize::from(cursor.u8()?) != HEADER_LENGTH {
            return Err(cursor.malformed("the common header is not 19 bytes long"));
        }
        let rest = cursor.rest();
        let (checksum, lengths) = rest
            .split_last()
            .ok_or_else(|| cursor.malformed("it is too short"))?;
        let checksum = match checksum {
            0 => ChecksumAlgorithm::None,
            1 => ChecksumAlgorithm::Crc32,
            _ => return Err(cursor.malformed("its checksum algorithm is not known")),
        };
        Ok(Self {
            binlog_version,
            server_version,
            created,
            post_header_lengths: lengths.to_vec(),
            checksum,
        })
    }
}

impl EventBody for FormatDescription {
    fn event_type(&self) -> EventType {
        EventType::FORMAT_DESCRIPTION
    }

    fn encode_body(&self, out: &mut Vec<u8>) {
        out.put_u16(self.binlog_version);
        let version = self.server_version.as_bytes();
        let length = version.len().min(SERVER_VERSION_LENGTH);
        out.extend_from_slice(&version[..length]);
        out.resize(out.len() + SERVER_VERSION_LENGTH - length, 0);
        out.put_u32(self.created);
        out.put_u8(HEADER_LENGTH as u8);
        out.extend_from_slice(&self.post_header_lengths);
        out.put_u8(match self.checksum {
            ChecksumAlgorithm::None => 0,
            ChecksumAlgorithm::Crc32 => 1,
        });
    }
}
