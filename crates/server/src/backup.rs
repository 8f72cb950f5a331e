//! Format of the stream in which a server sends its backup.
//!
//! `BACKUP SERVER` and `BACKUP BINARY LOGS FROM '…'` return a result set as long as the backup over an ordinary
//! connection, at the speed of the client:
//!
//! ```text
//!   Kind    Name                  Offset   Checksum  Content
//!   server  NULL                  NULL     NULL      ServerRow, as JSON
//!   table   rocksdb/000017.sst    0        CRC-32    a piece of the file, 256 KiB at most
//!   table   rocksdb/000017.sst    262144   …         …                                          BACKUP SERVER only
//!   …
//!   log     binlog.000007         0        …         whole events; the first piece of a file begins with the magic
//!   …
//!   end     NULL                  NULL     NULL      EndRow, as JSON: without it the backup is not whole
//! ```
//! The tables are a prefix of the log: they contain everything up to [`TablesRow::position`]. The log begins at the
//! start of the file with that position and ends at [`EndRow::log_end`]; everything before was durable and published.
//! The server checks each event while reading it.
//!
//! An increment is the log after a previous `log_end`. The server recognises its own log by the bytes before that
//! position ([`Continuation`]): it refuses if they were purged or reset, or belong to another server.

use paceline_binlog::Log;
use paceline_types::LogPosition;
use serde::{Deserialize, Serialize};
use std::fmt;
use std::str::FromStr;

/// Version of the rows' format. A reader must reject other versions.
pub const PROTOCOL: u32 = 1;

/// Maximum number of bytes in a row.
pub const PIECE_BYTES_MAX: usize = 256 * 1024;

/// Kind of a row.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum RowKind {
    /// The first row: a [`ServerRow`].
    Server,
    /// A piece of a table file.
    Table,
    /// A piece of a file of the log.
    Log,
    /// The last row: an [`EndRow`].
    End,
}

impl RowKind {
    /// Returns the value of the column `Kind`.
    pub fn name(self) -> &'static str {
        match self {
            RowKind::Server => "server",
            RowKind::Table => "table",
            RowKind::Log => "log",
            RowKind::End => "end",
        }
    }

    /// Looks up a kind by its name.
    pub fn of_name(name: &[u8]) -> Option<Self> {
        [RowKind::Server, RowKind::Table, RowKind::Log, RowKind::End]
            .into_iter()
            .find(|kind| kind.name().as_bytes() == name)
    }
}

/// Serialization of positions as text, ORDINAL:OFFSET.
pub mod position_text {
    use paceline_types::LogPosition;
    use serde::{Deserialize, Deserializer, Serializer, de::Error};

    /// Serializes a position.
    pub fn serialize<S: Serializer>(position: &LogPosition, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(position)
    }

    /// Deserializes a position.
    pub fn deserialize<'de, D: Deserializer<'de>>(deserializer: D) -> Result<LogPosition, D::Error> {
        String::deserialize(deserializer)?
            .parse()
            .map_err(D::Error::custom)
    }
}

/// First row of a stream.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct ServerRow {
    /// Version of the format: [`PROTOCOL`].
    pub protocol: u32,
    /// `@@version`.
    pub version: String,
    /// `@@server_id`.
    pub server_id: u32,
    /// `@@hostname`.
    pub hostname: String,
    /// `--log-bin`: base name of the log's files.
    pub log_bin: String,
    /// The tables; `None` in an increment.
    pub tables: Option<TablesRow>,
    /// Start of the log in the stream.
    #[serde(with = "position_text")]
    pub log_from: LogPosition,
    /// Length of the log at this time in bytes; it may grow.
    pub log_bytes: u64,
}

/// Description of the tables in a backup.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct TablesRow {
    /// Position up to which the tables contain everything.
    #[serde(with = "position_text")]
    pub position: LogPosition,
    /// GTID position there: the last GTID of each domain.
    pub gtid_position: String,
    /// Number of files.
    pub files: u64,
    /// Total length of the files in bytes.
    pub bytes: u64,
}

/// Last row of a stream.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct EndRow {
    /// End of the log in the stream.
    #[serde(with = "position_text")]
    pub log_end: LogPosition,
    /// GTID position there.
    pub gtid_position: String,
    /// Argument for `BACKUP BINARY LOGS FROM` to continue from there: a [`Continuation`].
    pub next: String,
}

/// A position in a log, with data to recognise the log: `ORDINAL:OFFSET:LENGTH:CRC`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Continuation {
    /// The position.
    pub position: LogPosition,
    /// Number of bytes before the position that are checked.
    pub length: u32,
    /// CRC-32 of these bytes.
    pub checksum: u32,
}

/// Reason why a log does not continue from a position.
#[derive(Debug, thiserror::Error)]
pub enum NoContinuation {
    /// The files have been purged.
    #[error(
        "the binary log up to which the last backup reaches has been purged on this server: a full backup is needed"
    )]
    Purged,
    /// The log was reset.
    #[error(
        "this server has begun a new binary log (RESET MASTER) since the last backup, or it is another server: a full backup is \
         needed"
    )]
    Reset,
    /// It is another server's log.
    #[error(
        "this server's binary log is not the one that was backed up: it is another server. A full backup is needed"
    )]
    Other,
    /// The text is invalid.
    #[error("'{0}' is not what a backup ends with")]
    Text(String),
    /// The log cannot be read.
    #[error(transparent)]
    Log(#[from] paceline_binlog::Error),
}

/// Number of bytes before a position by which its log is recognised.
const RECOGNISED_BY_BYTES: usize = 4096;

impl Continuation {
    /// Creates the continuation for a position in this log.
    ///
    /// # Errors
    /// If the log cannot be read.
    pub fn of(log: &Log, position: LogPosition) -> paceline_binlog::Result<Self> {
        let bytes = log.bytes_before(position, RECOGNISED_BY_BYTES)?;
        Ok(Continuation {
            position,
            length: bytes.len() as u32,
            checksum: crc32fast::hash(&bytes),
        })
    }

    /// Checks that this log continues from the position.
    ///
    /// # Errors
    /// The reason why it does not.
    pub fn check(&self, log: &Log) -> Result<(), NoContinuation> {
        use paceline_binlog::Error;
        let bytes = match log.bytes_before(self.position, self.length as usize) {
            Ok(bytes) => bytes,
            // A log that was reset has nothing before its beginning.
            Err(Error::Purged) if log.oldest_state().is_empty() => return Err(NoContinuation::Reset),
            Err(Error::Purged) => return Err(NoContinuation::Purged),
            Err(Error::UnknownPosition(_)) => return Err(NoContinuation::Other),
            Err(error) => return Err(error.into()),
        };
        match bytes.len() == self.length as usize && crc32fast::hash(&bytes) == self.checksum {
            true => Ok(()),
            false => Err(NoContinuation::Other),
        }
    }
}

impl fmt::Display for Continuation {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}:{}:{:08x}", self.position, self.length, self.checksum)
    }
}

impl FromStr for Continuation {
    type Err = NoContinuation;

    fn from_str(text: &str) -> Result<Self, NoContinuation> {
        let wrong = || NoContinuation::Text(text.to_owned());
        let (rest, checksum) = text.rsplit_once(':').ok_or_else(wrong)?;
        let (position, length) = rest.rsplit_once(':').ok_or_else(wrong)?;
        Ok(Continuation {
            position: position.parse().map_err(|_| wrong())?,
            length: length.parse().map_err(|_| wrong())?,
            checksum: u32::from_str_radix(checksum, 16).map_err(|_| wrong())?,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn continuations_round_trip_as_text() {
        let continuation = Continuation {
            position: LogPosition::new(7, 4711),
            length: 4096,
            checksum: 0x1a2b,
        };
        assert_eq!(continuation.to_string(), "7:4711:4096:00001a2b");
        assert_eq!(
            "7:4711:4096:00001a2b".parse::<Continuation>().unwrap(),
            continuation
        );
        for wrong in ["", "7:4711", "7:4711:4096:xyz", "x:1:2:3"] {
            assert!(wrong.parse::<Continuation>().is_err(), "{wrong}");
        }
    }

    #[test]
    fn kinds_have_names() {
        for kind in [RowKind::Server, RowKind::Table, RowKind::Log, RowKind::End] {
            assert_eq!(RowKind::of_name(kind.name().as_bytes()), Some(kind));
        }
        assert_eq!(RowKind::of_name(b"other"), None);
    }
}
