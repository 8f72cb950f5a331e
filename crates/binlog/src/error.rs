//! The errors of the log and MariaDB's number for each.

use paceline_types::{DomainId, Gtid, LogIndex};
use std::io;
use std::path::PathBuf;

/// The result of this crate's functions.
pub type Result<T, E = Error> = std::result::Result<T, E>;

/// Error of the log.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// An event's bytes do not have the form that its type requires.
    #[error("malformed {event} event: {problem}")]
    Malformed {
        /// The event's type, by MariaDB's name.
        event: &'static str,
        /// Description of the malformed part.
        problem: &'static str,
    },
    /// An event of an unknown type that must not be skipped.
    #[error("event type {0} is not known")]
    UnknownEvent(u8),
    /// A file that begins with a Start_encryption event.
    #[error("encrypted binary logs are not supported")]
    Encrypted,
    /// A file of the log is damaged in a part that must be intact.
    #[error("binary log file '{file}' is damaged at offset {offset}: {problem}")]
    Damaged {
        /// The file's name, without its directory.
        file: String,
        /// Offset of the damage in the file, in bytes.
        offset: u64,
        /// The content there.
        problem: String,
    },
    /// After damage, a transaction was found that was written when the damaged part was already durable. So an
    /// acknowledged transaction is lost, and cutting the log here would hide that.
    #[error(
        "binary log file '{file}' is damaged at offset {offset}, but {witness} at offset {found_at} was written after that \
         place was durable: this is corruption and no torn write, and the log is not cut here. Restore the file, or cut it \
         at that offset yourself if losing what follows is acceptable"
    )]
    Gap {
        /// The file's name, without its directory.
        file: String,
        /// Offset where the damage starts, in bytes.
        offset: u64,
        /// The evidence: the first later transaction.
        witness: String,
        /// Offset where the witness starts, in bytes.
        found_at: u64,
    },
    /// The log ends before a transaction that an engine already holds.
    #[error(
        "the binary log ends at '{file}' offset {end}, but the tables hold transactions up to {needed}: the log's end is lost"
    )]
    EndLost {
        /// The last file of the log.
        file: String,
        /// Where that file ends, in bytes.
        end: u64,
        /// The engine's position.
        needed: paceline_types::LogPosition,
    },
    /// The index names a file that does not exist.
    #[error("binary log file '{0}' is in the index but not in the directory")]
    MissingFile(String),
    /// The index file cannot be read.
    #[error("binary log index file '{file}' is damaged: {problem}")]
    DamagedIndex {
        /// Path of the index file.
        file: String,
        /// Description of the damage.
        problem: String,
    },
    /// The index has no file of that name or ordinal (1373).
    #[error("Target log not found in binlog index")]
    UnknownFile(String),
    /// The position is not in the log, or no event starts there (1236).
    #[error("there is no event at {0} in the log")]
    UnknownPosition(paceline_types::LogPosition),
    /// No event group ends where the log has this index.
    #[error("no transaction of the binary log ends at index {index}: {problem}")]
    UnknownIndex {
        /// The requested index.
        index: LogIndex,
        /// Index that the log has instead.
        problem: String,
    },
    /// The requested position needs files that were purged (1236).
    #[error(
        "Could not find GTID state requested by slave in any binlog files. Probably the slave state is too old and \
         required binlog files have been purged."
    )]
    Purged,
    /// The text is not a GTID position (1941).
    #[error("Could not parse GTID list")]
    GtidSyntax,
    /// A GTID position contains a domain twice (1943).
    #[error("GTID {second} and {first} conflict (duplicate domain id {})", .first.domain_id)]
    DuplicateDomain {
        /// The first of the two.
        first: Gtid,
        /// The second.
        second: Gtid,
    },
    /// The domain cannot be deleted while the log has files with its transactions (1076).
    #[error(
        "Could not delete gtid domain. Reason: binlog files may contain gtids from the domain ('{0}') being deleted. Make \
         sure to first purge those files."
    )]
    DomainInUse(DomainId),
    /// The disk has no space for the next write. Nothing was written and nothing is lost (1026, ENOSPC).
    #[error("no space left on device for the binary log (wanted {wanted} bytes more)")]
    NoSpace {
        /// How many bytes were to be allocated.
        wanted: u64,
    },
    /// The file of a large transaction reserves less space for its head than the GTID state needs now: thousands of
    /// domains and servers have appeared since the transaction began. Nothing is lost; a retry succeeds.
    #[error(
        "the GTID state has outgrown the room for it in the file of a large transaction; try the transaction again"
    )]
    HeadOutgrown,
    /// An earlier write or sync of the log failed. The log takes no more writes (invariant 4).
    #[error("the binary log can no longer be written: {0}")]
    Poisoned(String),
    /// The log was closed.
    #[error("the binary log is closed")]
    Closed,
    /// No further file can be created because file numbers or ordinals are exhausted. The log continues in its
    /// current file (1098).
    #[error("Can't generate a unique log-filename: the binary log's file numbers are used up")]
    NumbersExhausted,
    /// A log that starts from this number would soon exhaust its file numbers (1098).
    #[error("Can't generate a unique log-filename: RESET MASTER TO {number} is past {number_max}")]
    NumberTooHigh {
        /// The requested number.
        number: u32,
        /// The highest number that is allowed.
        number_max: u32,
    },
    /// A file operation failed.
    #[error("cannot {operation} '{}': {source}", path.display())]
    Io {
        /// The operation that failed.
        operation: &'static str,
        /// The file's path.
        path: PathBuf,
        /// The operating system's error.
        source: io::Error,
    },
}

impl Error {
    /// Returns MariaDB's error number.
    pub fn code(&self) -> u16 {
        match self {
            Error::GtidSyntax => 1941,
            Error::DuplicateDomain { .. } => 1943,
            Error::DomainInUse(_) => 1076,
            Error::UnknownFile(_) => 1373,
            Error::UnknownPosition(_) | Error::UnknownIndex { .. } | Error::Purged => 1236,
            Error::NoSpace { .. } => 1026,
            Error::Malformed { .. } | Error::UnknownEvent(_) | Error::Encrypted => 1594,
            Error::Damaged { .. }
            | Error::Gap { .. }
            | Error::EndLost { .. }
            | Error::MissingFile(_)
            | Error::DamagedIndex { .. } => 1377,
            Error::NumbersExhausted | Error::NumberTooHigh { .. } => 1098,
            Error::HeadOutgrown | Error::Poisoned(_) | Error::Closed | Error::Io { .. } => 1026,
        }
    }
}
