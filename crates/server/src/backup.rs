//! The stream by which a server gives its backup away: what its rows say.
//!
//! `BACKUP SERVER` and `BACKUP BINARY LOGS FROM '…'` answer with a result set that is as long as the backup, sent as fast as the client takes
//! it, over an ordinary connection:
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
//! The tables are a prefix of the log: everything up to [`TablesRow::position`]. The log begins at the start of the file that this is in,
//! and ends at [`EndRow::log_end`], where everything before was durable and published. The server checks each event as it reads it.
//!
//! An increment is the log from one `log_end` on. The server recognises its own log by the bytes that stand in front of that place
//! ([`Continuation`]): it refuses where they are purged, were reset, or are another server's.

use paceline_binlog::Log;
use paceline_types::LogPosition;
use serde::{Deserialize, Serialize};
use std::fmt;
use std::str::FromStr;

/// What the rows' format is called; another one must not be read.
pub const PROTOCOL: u32 = 1;

/// The most bytes in a row.
pub const PIECE_BYTES_MAX: usize = 256 * 1024;

/// What a row is.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum RowKind {
    /// [`ServerRow`].
    Server,
    /// A piece of a table file.
    Table,
    /// A piece of a file of the log.
    Log,
    /// [`EndRow`].
    End,
}

impl RowKind {
    /// Its name in the column `Kind`.
    pub fn name(self) -> &'static str {
        match self {
            RowKind::Server => "server",
            RowKind::Table => "table",
            RowKind::Log => "log",
            RowKind::End => "end",
        }
    }

    /// The kind of that name.
    pub fn of_name(name: &[u8]) -> Option<Self> {
        [RowKind::Server, RowKind::Table, RowKind::Log, RowKind::End]
            .into_iter()
            .find(|kind| kind.name().as_bytes() == name)
    }
}

/// Positions as text, ORDINAL:OFFSET.
pub mod position_text {
    use paceline_types::LogPosition;
    use serde::{Deserialize, Deserializer, Serializer, de::Error};

    /// Writes one.
    pub fn serialize<S: Serializer>(position: &LogPosition, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(position)
    }

    /// Reads one.
    pub fn deserialize<'de, D: Deserializer<'de>>(deserializer: D) -> Result<LogPosition, D::Error> {
        String::deserialize(deserializer)?
            .parse()
            .map_err(D::Error::custom)
    }
}

/// What a stream begins with.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct ServerRow {
    /// [`PROTOCOL`].
    pub protocol: u32,
    /// `@@version`.
    pub version: String,
    /// `@@server_id`.
    pub server_id: u32,
    /// `@@hostname`.
    pub hostname: String,
    /// `--log-bin`: what the names of the log's files begin with.
    pub log_bin: String,
    /// The tables; none in an increment.
    pub tables: Option<TablesRow>,
    /// Where the log begins.
    #[serde(with = "position_text")]
    pub log_from: LogPosition,
    /// How much log there is up to now, in bytes; more may come.
    pub log_bytes: u64,
}

/// What the tables are.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct TablesRow {
    /// Up to where in the log they hold everything.
    #[serde(with = "position_text")]
    pub position: LogPosition,
    /// The GTID position there: the last GTID of each domain.
    pub gtid_position: String,
    /// How many files there are.
    pub files: u64,
    /// Their length in bytes.
    pub bytes: u64,
}

/// What a stream ends with.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct EndRow {
    /// Where the log ends.
    #[serde(with = "position_text")]
    pub log_end: LogPosition,
    /// The GTID position there.
    pub gtid_position: String,
    /// What `BACKUP BINARY LOGS FROM` is to be given to go on from there: a [`Continuation`].
    pub next: String,
}

/// A place in a log, and how to recognise the log: `ORDINAL:OFFSET:LENGTH:CRC`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Continuation {
    /// The place.
    pub position: LogPosition,
    /// How many bytes in front of it were looked at.
    pub length: u32,
    /// Their CRC-32.
    pub checksum: u32,
}

/// Why a log does not go on from a place.
#[derive(Debug, thiserror::Error)]
pub enum NoContinuation {
    /// The files are gone.
    #[error(
        "the binary log up to which the last backup reaches has been purged on this server: a full backup is needed"
    )]
    Purged,
    /// There is a new log.
    #[error(
        "this server has begun a new binary log (RESET MASTER) since the last backup, or it is another server: a full backup is \
         needed"
    )]
    Reset,
    /// The log is another one.
    #[error(
        "this server's binary log is not the one that was backed up: it is another server. A full backup is needed"
    )]
    Other,
    /// The text is none.
    #[error("'{0}' is not what a backup ends with")]
    Text(String),
    /// The log cannot be read.
    #[error(transparent)]
    Log(#[from] paceline_binlog::Error),
}

/// How many bytes in front of a place tell which log it is.
const RECOGNISED_BY_BYTES: usize = 4096;

impl Continuation {
    /// For a place in this log.
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

    /// Looks whether this log goes on from there.
    ///
    /// # Errors
    /// Why it does not.
    pub fn check(&self, log: &Log) -> Result<(), NoContinuation> {
        use paceline_binlog::Error;
        let bytes = match log.bytes_before(self.position, self.length as usize) {
            Ok(bytes) => bytes,
            // What was reset begins with nothing before it.
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
    fn continuations_are_texts() {
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
