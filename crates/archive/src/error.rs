//! Errors of an archive as a whole.

use std::path::PathBuf;

/// Result of this crate's functions.
pub type Result<T, E = Error> = std::result::Result<T, E>;

/// Reason why an archive cannot start or has to stop.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// An option is invalid.
    #[error("{0}")]
    Option(String),
    /// Another process uses the directory.
    #[error("the directory {} is in use by another archive (process {holder})", path.display())]
    InUse {
        /// The directory.
        path: PathBuf,
        /// Process id from the lock file.
        holder: String,
    },
    /// A system call failed.
    #[error("cannot {doing}: {source}")]
    System {
        /// The operation that failed.
        doing: String,
        /// Cause.
        source: std::io::Error,
    },
    /// The log cannot be opened or written.
    #[error("the log: {0}")]
    Log(#[from] paceline_binlog::Error),
    /// Object storage failed.
    #[error("{0}")]
    Storage(#[from] paceline_object_storage::Error),
    /// The log failed while the archive was running.
    #[error("{0}")]
    Failed(String),
}

impl Error {
    /// Returns a function that adds the operation to an error of the operating system.
    pub fn system(doing: impl Into<String>) -> impl FnOnce(std::io::Error) -> Self {
        let doing = doing.into();
        move |source| Error::System { doing, source }
    }
}
