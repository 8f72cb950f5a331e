//! Errors of a load.

use crate::connection::ServerError;

/// An error of a load. The text is for users.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// Options that cannot be used.
    #[error("{0}")]
    Usage(String),
    /// An error of the server or of the connection to it.
    #[error(transparent)]
    Server(#[from] ServerError),
    /// The database has other contents than the load's.
    #[error("database '{database}': {problem}")]
    Database {
        /// Name of the database.
        database: String,
        /// Description of the unexpected contents.
        problem: String,
    },
    /// A signal came before the load had started, or during its check.
    #[error("interrupted")]
    Interrupted,
    /// The check has found this many wrong things.
    #[error("{0} of the checks failed: the server has lost or changed rows")]
    Wrong(usize),
    /// Errors that an application could not have handled.
    #[error("{count} transactions failed with unexpected errors; the first: {first}")]
    Unexpected {
        count: u64,
        /// Text of the first one.
        first: String,
    },
    /// Nothing was committed.
    #[error("no transaction succeeded")]
    NoTransaction,
}

pub type Result<T, E = Error> = std::result::Result<T, E>;
