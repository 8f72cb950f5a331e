//! Why a backup or a restore has stopped; for people.

use crate::connection::ServerError;
use std::path::PathBuf;

/// What functions here return.
pub type Result<T, E = Error> = std::result::Result<T, E>;

/// Why a backup or a restore has stopped; for people.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// What the command line says cannot be.
    #[error("{0}")]
    Usage(String),
    /// The server could not be asked, or refused.
    #[error(transparent)]
    Server(#[from] ServerError),
    /// What the server sent is not what it should be.
    #[error("{address}: the server's stream is damaged: {problem}")]
    Stream {
        /// The server.
        address: String,
        /// What is wrong.
        problem: String,
    },
    /// The server streams in another way, or not at all.
    #[error("{address}: {problem}")]
    OtherVersion {
        /// The server.
        address: String,
        /// What it has instead.
        problem: String,
    },
    /// The place of the backup failed.
    #[error(transparent)]
    Storage(#[from] paceline_object_storage::Error),
    /// There is no whole backup.
    #[error("{place} holds no whole backup: {problem}")]
    NoBackup {
        /// Where.
        place: String,
        /// Why not.
        problem: String,
    },
    /// Something is there already.
    #[error("{place}: {problem}")]
    InTheWay {
        /// Where.
        place: String,
        /// What, and what to do.
        problem: String,
    },
    /// A part of the backup is not what was written.
    #[error("{place}: '{name}' is damaged: {problem}. This backup cannot be restored")]
    Damaged {
        /// The backup.
        place: String,
        /// The object.
        name: String,
        /// What is wrong with it.
        problem: String,
    },
    /// A file could not be written or read.
    #[error("{path}: {source}", path = path.display())]
    File {
        /// Which.
        path: PathBuf,
        /// Why.
        source: std::io::Error,
    },
    /// The point in time is not in the backup.
    #[error("{0}")]
    Target(String),
    /// The log cannot be read.
    #[error(transparent)]
    Log(#[from] paceline_binlog::Error),
    /// The copied data directory could not be recovered.
    #[error("the copied data directory cannot be recovered: {0}")]
    Recovery(String),
    /// The user has stopped it.
    #[error("interrupted")]
    Interrupted,
    /// It had begun to write.
    #[error("{why}\n{left}")]
    Left {
        /// What has stopped it.
        why: Box<Error>,
        /// What there is now, and what to do.
        left: String,
    },
}

impl Error {
    /// For a file.
    pub fn file(path: impl Into<PathBuf>) -> impl FnOnce(std::io::Error) -> Self {
        let path = path.into();
        move |source| Error::File { path, source }
    }
}
