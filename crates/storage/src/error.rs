//! Errors of the engines.

use paceline_types::{StatementError, error_code};
use std::io;
use std::path::PathBuf;

use crate::build_id::BuildId;

/// Result of this crate's functions.
pub type Result<T, E = Error> = std::result::Result<T, E>;

/// Error of an engine.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// A table file does not contain what was written to it: a checksum does not match, or the file is missing
    /// or too short. RocksDB's message names the file and, for a checksum, the offset.
    #[error("table data is corrupt: {0}")]
    Corruption(String),
    /// The operating system refused to read or write a table file.
    #[error("table file: {0}")]
    TableFile(String),
    /// RocksDB returned another error.
    #[error("rocksdb: {0}")]
    Engine(String),
    /// One of our own files or directories could not be read or written.
    #[error("{path}: {source}")]
    File {
        /// The file or directory.
        path: PathBuf,
        /// The operating system's error.
        source: io::Error,
    },
    /// The data directory is in use by another process, or the engine could not be opened.
    #[error("cannot open the tables in {path}: {message}")]
    Open {
        /// The directory of the table files.
        path: PathBuf,
        /// RocksDB's message.
        message: String,
    },
    /// The engines in memory, or the temporary tables, have reached their limit (MariaDB's 1114, "The table is full").
    #[error("memory for tables is full: {used_bytes} of {limit_bytes} bytes are used")]
    MemoryFull {
        /// Memory in use, in bytes.
        used_bytes: u64,
        /// Limit, in bytes.
        limit_bytes: u64,
    },
    /// A bulk build received a key of a unique index twice (MariaDB's 1062).
    #[error("duplicate key in a bulk build")]
    DuplicateKey {
        /// The complete key, including its [`IndexId`](crate::IndexId).
        key: Vec<u8>,
    },
    /// No finished bulk build has that id.
    #[error("there is no finished bulk build {0}")]
    NoSuchBuild(BuildId),
    /// A row of a table without a primary key does not exist.
    #[error("a row that the log changes is not in the table")]
    MissingRow,
    /// A stored key or value is shorter than its parts, or is otherwise not what was written.
    #[error("malformed {what} in index {index}")]
    Malformed {
        /// Number of the index.
        index: u32,
        /// The malformed part.
        what: &'static str,
    },
    /// A table's schema refers to a column that the table does not have, or has two primary keys.
    #[error("invalid schema: {0}")]
    InvalidSchema(&'static str),
    /// A value or an image does not fit its column.
    #[error(transparent)]
    Encoding(#[from] paceline_types::Error),
    /// The engine was to be flushed beyond the durable part of the log.
    #[error(
        "the tables are at {engine}, the log is durable only up to {log}: a flush would overtake the log"
    )]
    AheadOfLog {
        /// Position of the engine.
        engine: paceline_types::LogPosition,
        /// Durable position of the log.
        log: paceline_types::LogPosition,
    },
    /// The server is stopping; a wait for room on the disk was given up.
    #[error("the engine is closing")]
    Closing,
}

impl Error {
    /// Adds the path to an I/O error.
    pub(crate) fn file(path: impl Into<PathBuf>) -> impl FnOnce(io::Error) -> Error {
        let path = path.into();
        move |source| Error::File { path, source }
    }
}

impl From<::rocksdb::Error> for Error {
    fn from(error: ::rocksdb::Error) -> Self {
        use ::rocksdb::ErrorKind;
        let message = error.as_ref().to_owned();
        match error.kind() {
            ErrorKind::Corruption => Error::Corruption(message),
            ErrorKind::IOError if message.contains("No such file") => Error::Corruption(message),
            ErrorKind::IOError => Error::TableFile(message),
            _ => Error::Engine(message),
        }
    }
}

impl From<Error> for StatementError {
    fn from(error: Error) -> Self {
        let code = match &error {
            Error::Encoding(error) => error.error_code(),
            Error::MemoryFull { .. } => error_code::ER_RECORD_FILE_FULL,
            Error::DuplicateKey { .. } => error_code::ER_DUP_KEY,
            Error::MissingRow => error_code::ER_KEY_NOT_FOUND,
            Error::Corruption(_) | Error::Malformed { .. } => error_code::ER_NOT_KEYFILE,
            Error::Closing => error_code::ER_SERVER_SHUTDOWN,
            _ => error_code::ER_GET_ERRNO,
        };
        Self::with_message(code, error.to_string())
    }
}
