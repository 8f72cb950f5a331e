//! What can go wrong with the log, and MariaDB's number for it.

use paceline_types::{DomainId, Gtid};
use std::io;
use std::path::PathBuf;

/// The result of this crate's functions.
pub type Result<T, E = Error> = std::result::Result<T, E>;

/// What can go wrong with the log.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// An event's bytes do not say what its type requires.
    #[error("malformed {event} event: {problem}")]
    Malformed {
        /// The event's type, by MariaDB's name.
        event: &'static str,
        /// What is wrong with it.
        problem: &'static str,
    },
    /// An event that may not be stepped over is of a kind that this server does not know.
    #[error("event type {0} is not known")]
    UnknownEvent(u8),
    /// A file that begins with a Start_encryption event.
    #[error("encrypted binary logs are not supported")]
    Encrypted,
    /// A file of the log is damaged where it must be whole.
    #[error("binary log file '{file}' is damaged at offset {offset}: {problem}")]
    Damaged {
        /// The file's name, without its directory.
        file: String,
        /// Where in the file, in bytes.
        offset: u64,
        /// What was found there.
        problem: String,
    },
    /// After damage, a transaction was found that was written when the damaged part was already durable: an
    /// acknowledged transaction is lost, and cutting the log here would hide it.
    #[error(
        "binary log file '{file}' is damaged at offset {offset}, but {witness} at offset {found_at} was written after that \
         place was durable: this is corruption and no torn write, and the log is not cut here. Restore the file, or cut it \
         at that offset yourself if losing what follows is acceptable"
    )]
    Gap {
        /// The file's name, without its directory.
        file: String,
        /// Where the damage starts, in bytes.
        offset: u64,
        /// What proves it: the first later transaction.
        witness: String,
        /// Where that starts, in bytes.
        found_at: u64,
    },
    /// The log ends before something that an engine already holds.
    #[error(
        "the binary log ends at '{file}' offset {end}, but the tables hold transactions up to {needed}: the log's end is lost"
    )]
    EndLost {
        /// The last file.
        file: String,
        /// Its end, in bytes.
        end: u64,
        /// How far the engine is.
        needed: paceline_types::LogPosition,
    },
    /// The index names a file that is not there.
    #[error("binary log file '{0}' is in the index but not in the directory")]
    MissingFile(String),
    /// The index file cannot be read.
    #[error("binary log index file '{file}' is damaged: {problem}")]
    DamagedIndex {
        /// The index file.
        file: String,
        /// What is wrong with it.
        problem: String,
    },
    /// No file of that name or ordinal is in the index (1373).
    #[error("Target log not found in binlog index")]
    UnknownFile(String),
    /// A position that is not in the log, or not where an event starts (1236).
    #[error("there is no event at {0} in the log")]
    UnknownPosition(paceline_types::LogPosition),
    /// The position asked for needs files that were purged (1236).
    #[error(
        "Could not find GTID state requested by slave in any binlog files. Probably the slave state is too old and \
         required binlog files have been purged."
    )]
    Purged,
    /// What a GTID position says is not one (1941).
    #[error("Could not parse GTID list")]
    GtidSyntax,
    /// A GTID position names a domain twice (1943).
    #[error("GTID {second} and {first} conflict (duplicate domain id {})", .first.domain_id)]
    DuplicateDomain {
        /// The first of the two.
        first: Gtid,
        /// The second.
        second: Gtid,
    },
    /// A domain cannot be forgotten while there are files with its transactions (1076).
    #[error(
        "Could not delete gtid domain. Reason: binlog files may contain gtids from the domain ('{0}') being deleted. Make \
         sure to first purge those files."
    )]
    DomainInUse(DomainId),
    /// There is no room on the disk for what is to be written. Nothing was written, and nothing is lost (1026, ENOSPC).
    #[error("no space left on device for the binary log (wanted {wanted} bytes more)")]
    NoSpace {
        /// How much was to be prepared, in bytes.
        wanted: u64,
    },
    /// A large transaction's file has less room at its head than the GTID state needs by now: thousands of domains and servers are new
    /// since the transaction began. Nothing is lost; tried again it succeeds.
    #[error(
        "the GTID state has outgrown the room for it in the file of a large transaction; try the transaction again"
    )]
    HeadOutgrown,
    /// A write or an fsync of the log failed before. Nothing is written any more (invariant 4).
    #[error("the binary log can no longer be written: {0}")]
    Poisoned(String),
    /// The log was closed.
    #[error("the binary log is closed")]
    Closed,
    /// No further file can be created: names or ordinals are used up. The log goes on in the file that it has (1098).
    #[error("Can't generate a unique log-filename: the binary log's file numbers are used up")]
    NumbersExhausted,
    /// A log that starts from that number would soon have used up the numbers of its files (1098).
    #[error("Can't generate a unique log-filename: RESET MASTER TO {number} is past {number_max}")]
    NumberTooHigh {
        /// What was asked for.
        number: u32,
        /// The highest that is allowed.
        number_max: u32,
    },
    /// A file operation failed.
    #[error("cannot {operation} '{}': {source}", path.display())]
    Io {
        /// What was attempted.
        operation: &'static str,
        /// On which file.
        path: PathBuf,
        /// What the operating system said.
        source: io::Error,
    },
}

impl Error {
    /// MariaDB's error number.
    pub fn code(&self) -> u16 {
        match self {
            Error::GtidSyntax => 1941,
            Error::DuplicateDomain { .. } => 1943,
            Error::DomainInUse(_) => 1076,
            Error::UnknownFile(_) => 1373,
            Error::UnknownPosition(_) | Error::Purged => 1236,
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
