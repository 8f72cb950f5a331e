//! What can go wrong in an engine.

use std::io;
use std::path::PathBuf;

use crate::bulk::BuildId;

/// The result of this crate's functions.
pub type Result<T, E = Error> = std::result::Result<T, E>;

/// What can go wrong in an engine.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// A table file holds what was not written to it: a checksum does not match, or the file is missing or too short.
    /// RocksDB's message names the file and, for a checksum, the offset.
    #[error("table data is corrupt: {0}")]
    Corruption(String),
    /// The operating system refused to read or write a table file.
    #[error("table file: {0}")]
    TableFile(String),
    /// RocksDB refused for another reason.
    #[error("rocksdb: {0}")]
    Engine(String),
    /// A file or directory of ours could not be read or written.
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
    /// The memory engine has reached its limit (MariaDB's 1114, "The table is full").
    #[error("the memory engine is full: {used_bytes} of {limit_bytes} bytes are used")]
    MemoryFull {
        /// What is in use.
        used_bytes: u64,
        /// The limit.
        limit_bytes: u64,
    },
    /// A bulk build was given the same key of a unique index twice (MariaDB's 1062).
    #[error("duplicate key in a bulk build")]
    DuplicateKey {
        /// The whole key, its [`IndexId`](crate::IndexId) included.
        key: Vec<u8>,
    },
    /// There is no finished bulk build of that id.
    #[error("there is no finished bulk build {0}")]
    NoSuchBuild(BuildId),
    /// A row of a table without a primary key is not there any more.
    #[error("a row that the log changes is not in the table")]
    MissingRow,
    /// A stored key or value is shorter than its parts, or otherwise not what was written.
    #[error("malformed {what} in index {index}")]
    Malformed {
        /// The index's number.
        index: u32,
        /// Which part.
        what: &'static str,
    },
    /// A table's schema refers to a column it does not have, or has two primary keys.
    #[error("invalid schema: {0}")]
    InvalidSchema(&'static str),
    /// A value or an image does not fit its column.
    #[error(transparent)]
    Encoding(#[from] paceline_types::Error),
    /// The engine was asked to be flushed past what the log holds safely.
    #[error(
        "the tables are at {engine}, the log is durable only up to {log}: a flush would overtake the log"
    )]
    AheadOfLog {
        /// The engine's position.
        engine: paceline_types::LogPosition,
        /// The log's durable position.
        log: paceline_types::LogPosition,
    },
    /// The server is stopping; what waited for room on the disk gave up.
    #[error("the engine is closing")]
    Closing,
}

impl Error {
    /// Puts the path to an I/O error.
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
