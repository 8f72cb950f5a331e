//! Errors.

/// Error with MariaDB's number: of a statement, or of a row's values.
pub use paceline_table_access::Error as RowError;

/// Error of an embedded database.
#[derive(Debug, Clone, thiserror::Error)]
pub enum Error {
    /// The directory cannot be opened, or not be closed cleanly.
    #[error("{0}")]
    Open(String),
    /// A close while sessions or change streams exist. The last of them closes the database.
    #[error("the database is in use by sessions or change streams of this program")]
    InUse,
    /// A socket cannot be listened on.
    #[error("{0}")]
    Listen(String),
    /// A connection or session within the process cannot be made.
    #[error("cannot connect: {0}")]
    Connect(String),
    /// The log does not contain what a change stream wants.
    #[error("{0}")]
    Log(String),
    /// An error with MariaDB's number.
    #[error("{0}")]
    Statement(RowError),
}

/// Reason of an error, as far as programs decide by it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ErrorKind {
    /// The transaction was rolled back, because it would have waited for another one that waits for it, or because a
    /// row has changed since its snapshot. It may be tried again: 1213, 1020.
    Conflict,
    /// A lock was not granted in time, or not at once: 1205. The transaction is still open.
    LockWaitTimeout,
    /// A unique key has the value already: 1062, 1586.
    DuplicateKey,
    /// A foreign key forbids the change: 1216, 1217, 1451, 1452.
    ForeignKey,
    /// A check constraint does not hold: 4025.
    CheckConstraint,
    /// A value cannot be stored in its column, or not be read as the wanted type: 1048, 1136, 1264, 1265, 1292, 1364,
    /// 1366, 1406.
    Value,
    /// There is no such table, column or index: 1049, 1054, 1146, 1176.
    Unknown,
    /// The session was killed, or the server stops: 1053, 1317, 1927, 1969.
    Interrupted,
    /// Another one.
    Other,
}

impl Error {
    /// Returns MariaDB's number; `None` for an error of this crate alone.
    pub fn number(&self) -> Option<u16> {
        match self {
            Error::Statement(error) => Some(error.code().number()),
            _ => None,
        }
    }

    /// Returns the SQLSTATE, of five characters.
    pub fn sqlstate(&self) -> Option<&str> {
        match self {
            Error::Statement(error) => Some(error.sqlstate()),
            _ => None,
        }
    }

    /// Returns the reason.
    pub fn kind(&self) -> ErrorKind {
        match self.number() {
            Some(1213 | 1020) => ErrorKind::Conflict,
            Some(1205) => ErrorKind::LockWaitTimeout,
            Some(1062 | 1586) => ErrorKind::DuplicateKey,
            Some(1216 | 1217 | 1451 | 1452) => ErrorKind::ForeignKey,
            Some(4025) => ErrorKind::CheckConstraint,
            Some(1048 | 1136 | 1264 | 1265 | 1292 | 1364 | 1366 | 1406) => ErrorKind::Value,
            Some(1049 | 1054 | 1146 | 1176) => ErrorKind::Unknown,
            Some(1053 | 1317 | 1927 | 1969) => ErrorKind::Interrupted,
            _ => ErrorKind::Other,
        }
    }
}

impl From<RowError> for Error {
    fn from(error: RowError) -> Error {
        Error::Statement(error)
    }
}

/// Result of an embedded database.
pub type Result<T, E = Error> = std::result::Result<T, E>;
