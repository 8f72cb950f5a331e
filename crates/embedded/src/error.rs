//! Errors.

/// Error of an embedded database.
#[derive(Debug, Clone, thiserror::Error)]
pub enum Error {
    /// The directory cannot be opened, or not be closed cleanly.
    #[error("{0}")]
    Open(String),
    /// A socket cannot be listened on.
    #[error("{0}")]
    Listen(String),
    /// A connection within the process cannot be made.
    #[error("cannot connect: {0}")]
    Connect(String),
}

/// Result of an embedded database.
pub type Result<T> = std::result::Result<T, Error>;
