//! Errors of backups and restores, with texts for users.

use crate::connection::ServerError;
use std::path::PathBuf;

pub type Result<T, E = Error> = std::result::Result<T, E>;

/// Reason why a backup or a restore has stopped. The texts are for users.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// The command line is invalid.
    #[error("{0}")]
    Usage(String),
    /// The server could not be reached, or refused the request.
    #[error(transparent)]
    Server(#[from] ServerError),
    /// The server sent a malformed stream.
    #[error("{address}: the server's stream is damaged: {problem}")]
    Stream {
        /// Address of the server.
        address: String,
        /// The malformed part.
        problem: String,
    },
    /// The server streams another format, or does not stream at all.
    #[error("{address}: {problem}")]
    OtherVersion {
        /// Address of the server.
        address: String,
        /// Format or answer of the server.
        problem: String,
    },
    /// The storage of the backup failed.
    #[error(transparent)]
    Storage(#[from] paceline_object_storage::Error),
    /// There is no complete backup.
    #[error("{place} contains no complete backup: {problem}")]
    NoBackup {
        /// The place as given.
        place: String,
        problem: String,
    },
    /// Something exists already.
    #[error("{place}: {problem}")]
    AlreadyExists {
        /// The place as given.
        place: String,
        /// The existing object, and advice.
        problem: String,
    },
    /// An object of the backup is not what was written.
    #[error("{place}: '{name}' is damaged: {problem}. This backup cannot be restored")]
    Damaged {
        /// Place of the backup.
        place: String,
        name: String,
        /// How it is damaged.
        problem: String,
    },
    /// A file could not be written or read.
    #[error("{path}: {source}", path = path.display())]
    File { path: PathBuf, source: std::io::Error },
    /// The point in time is not in the backup.
    #[error("{0}")]
    Target(String),
    /// The log cannot be read.
    #[error(transparent)]
    Log(#[from] paceline_binlog::Error),
    /// Recovery of the copied data directory failed.
    #[error("the copied data directory cannot be recovered: {0}")]
    Recovery(String),
    /// The user has stopped the command.
    #[error("interrupted")]
    Interrupted,
    /// It stopped after it had started to write.
    #[error("{why}\n{left}")]
    Incomplete {
        /// Reason why it stopped.
        why: Box<Error>,
        /// The remains, and advice.
        left: String,
    },
}

impl Error {
    /// Returns a function that adds the path to a file error.
    pub fn file(path: impl Into<PathBuf>) -> impl FnOnce(std::io::Error) -> Self {
        let path = path.into();
        move |source| Error::File { path, source }
    }
}
