//! Errors of `paceline binlog`.

use crate::connection::ServerError;
use paceline_types::{DomainId, Gtid};
use std::io;
use std::path::{Path, PathBuf};

pub type Result<T, E = Error> = std::result::Result<T, E>;

/// Error of `paceline binlog`.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// A file cannot be read.
    #[error("cannot read '{}': {source}", path.display())]
    Io { path: PathBuf, source: io::Error },
    /// A directory or object storage contains no log files or cannot be used.
    #[error("'{}': {problem}", place.display())]
    Place {
        /// The place as given.
        place: PathBuf,
        problem: String,
    },
    /// A file for LOAD DATA cannot be written.
    #[error("Could not construct local filename {}: {source}", path.display())]
    LoadFile { path: PathBuf, source: io::Error },
    /// The output cannot be written.
    #[error("cannot write the output: {0}")]
    Output(#[from] io::Error),
    /// The first bytes of a file are not those of a binary log.
    #[error("'{}' is not a binary log file", .0.display())]
    NoBinaryLog(PathBuf),
    /// A file was not closed by its server, and such files are refused.
    #[error(
        "Attempting to dump binlog '{}', which was not closed properly. Most probably, mysqld is still writing it, or it crashed. Rerun with --force-if-open to ignore this problem.", .0.display()
    )]
    InUse(PathBuf),
    /// An event is damaged or cannot be decoded.
    #[error("'{}', offset {offset}: {problem}", file.display())]
    Event {
        file: PathBuf,
        /// Offset of the event in bytes.
        offset: u64,
        /// Its error.
        problem: String,
    },
    /// Rows can only be restored in encoded form.
    #[error(
        "--base64-output=never was given, but the log has a {0} event, which can only be restored from its encoded form \
         (--base64-output=decode-rows prints it as a comment)"
    )]
    NeedsEncoding(&'static str),
    /// A server could not be reached, or refused the request.
    #[error(transparent)]
    Server(#[from] ServerError),
    /// Options contradict each other, or one is missing.
    #[error("{0}")]
    Usage(&'static str),
    /// A statement cannot be undone by row changes.
    #[error(
        "--flashback: only row changes can be undone, not '{sql}' (exclude it with --start-position, --stop-position, --database or --table)"
    )]
    NoInverse { sql: String },
    /// The value of an option is invalid.
    #[error("{option}: '{value}' {problem}")]
    Option {
        option: &'static str,
        value: String,
        problem: &'static str,
    },
    /// The log ends before the GTID after which printing should start.
    #[error("Binary logs never reached expected GTID state of {0}")]
    StartNotReached(Gtid),
    /// A GTID is out of order.
    #[error("Found out of order GTID. Got {gtid} after {before} (--skip-gtid-strict-mode accepts it)")]
    OutOfOrder {
        gtid: Gtid,
        /// The preceding GTID of its domain.
        before: Gtid,
    },
    /// The files begin after the GTID at which printing should start.
    #[error(
        "Binary logs are missing data for domain {domain}. Expected data to start from state {expected}; however, the \
         initial GTID state of the logs was {found}."
    )]
    MissingStart {
        domain: DomainId,
        /// GTID at which printing should start.
        expected: Gtid,
        /// GTID at which the files begin.
        found: Gtid,
    },
}

impl Error {
    /// Sets the file of an error that has none.
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
