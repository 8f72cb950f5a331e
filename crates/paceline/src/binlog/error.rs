//! What can go wrong with `paceline binlog`.

use crate::connection::ServerError;
use paceline_types::{DomainId, Gtid};
use std::io;
use std::path::{Path, PathBuf};

/// The result of this module's functions.
pub type Result<T, E = Error> = std::result::Result<T, E>;

/// What can go wrong with `paceline binlog`.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// A file cannot be read.
    #[error("cannot read '{}': {source}", path.display())]
    Io {
        /// The file.
        path: PathBuf,
        /// What the operating system said.
        source: io::Error,
    },
    /// A directory or object storage that has no files of a log.
    #[error("'{}': {problem}", place.display())]
    Place {
        /// What was named.
        place: PathBuf,
        /// What is wrong with it.
        problem: String,
    },
    /// A file that LOAD DATA reads cannot be written.
    #[error("Could not construct local filename {}: {source}", path.display())]
    LoadFile {
        /// The file.
        path: PathBuf,
        /// What the operating system said.
        source: io::Error,
    },
    /// The output cannot be written.
    #[error("cannot write the output: {0}")]
    Output(#[from] io::Error),
    /// A file that does not begin as a binary log does.
    #[error("'{}' is not a binary log file", .0.display())]
    NoBinaryLog(PathBuf),
    /// A file that its server has not closed, where those are refused.
    #[error(
        "Attempting to dump binlog '{}', which was not closed properly. Most probably, mysqld is still writing it, or it crashed. Rerun with --force-if-open to ignore this problem.", .0.display()
    )]
    InUse(PathBuf),
    /// An event that is damaged or cannot be understood.
    #[error("'{}', offset {offset}: {problem}", file.display())]
    Event {
        /// The file.
        file: PathBuf,
        /// Where the event starts, in bytes.
        offset: u64,
        /// What is wrong with it.
        problem: String,
    },
    /// Rows can only be restored from their encoded form.
    #[error(
        "--base64-output=never was given, but the log has a {0} event, which can only be restored from its encoded form \
         (--base64-output=decode-rows prints it as a comment)"
    )]
    NeedsEncoding(&'static str),
    /// A server cannot be reached, or refuses.
    #[error(transparent)]
    Server(#[from] ServerError),
    /// Options that do not go together, or something missing.
    #[error("{0}")]
    Usage(&'static str),
    /// A statement that no rows undo.
    #[error(
        "--flashback: only row changes can be undone, and not '{sql}' (--start-position, --stop-position, --database and --table leave it out)"
    )]
    NoInverse {
        /// Its text.
        sql: String,
    },
    /// An option's value is not one.
    #[error("{option}: '{value}' {problem}")]
    Option {
        /// The option.
        option: &'static str,
        /// What was given.
        value: String,
        /// What is wrong with it.
        problem: &'static str,
    },
    /// The log ends before the GTID at which printing was to start.
    #[error("Binary logs never reached expected GTID state of {0}")]
    StartNotReached(Gtid),
    /// GTIDs out of order.
    #[error("Found out of order GTID. Got {gtid} after {before} (--skip-gtid-strict-mode passes over it)")]
    OutOfOrder {
        /// The GTID.
        gtid: Gtid,
        /// The one before it in its domain.
        before: Gtid,
    },
    /// The files begin behind the GTID at which printing is to start.
    #[error(
        "Binary logs are missing data for domain {domain}. Expected data to start from state {expected}; however, the \
         initial GTID state of the logs was {found}."
    )]
    MissingStart {
        /// The domain.
        domain: DomainId,
        /// Where printing is to start.
        expected: Gtid,
        /// Where the files begin.
        found: Gtid,
    },
}

impl Error {
    /// Gives an error that lacks its file this one.
    pub fn of_file(self, path: &Path) -> Self {
        match self {
            Error::Event {
                file,
                offset,
                problem,
            } if file.as_os_str().is_empty() => Error::Event {
                file: path.to_owned(),
                offset,
                problem,
            },
            Error::InUse(file) if file.as_os_str().is_empty() => Error::InUse(path.to_owned()),
            error => error,
        }
    }
}
