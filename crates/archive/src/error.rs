//! What can go wrong with an archive as a whole.

use std::path::PathBuf;

/// The result of this crate's functions.
pub type Result<T, E = Error> = std::result::Result<T, E>;

/// Why an archive cannot start, or stops.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// An option cannot be right.
    #[error("{0}")]
    Option(String),
    /// Another process works on the directory.
    #[error("the directory {} is in use by another archive (process {holder})", path.display())]
    InUse {
        /// The directory.
        path: PathBuf,
        /// The process that the lock file names.
        holder: String,
    },
    /// The operating system refuses something.
    #[error("cannot {doing}: {source}")]
    System {
        /// What was to be done.
        doing: String,
        /// What it says.
        source: std::io::Error,
    },
    /// The log cannot be opened or written.
    #[error("the log: {0}")]
    Log(#[from] paceline_binlog::Error),
    /// Object storage fails.
    #[error("{0}")]
    Storage(#[from] paceline_object_storage::Error),
    /// The log failed while the archive ran.
    #[error("{0}")]
    Failed(String),
}

impl Error {
    /// What the operating system says while something was done.
    pub fn system(doing: impl Into<String>) -> impl FnOnce(std::io::Error) -> Self {
        let doing = doing.into();
        move |source| Error::System { doing, source }
    }
}
