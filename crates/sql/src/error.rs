//! What can go wrong between a statement's text and its rows: a MariaDB error number and its message.
//!
//! Whatever a layer below reports is given its number here, so that a client always gets one of MariaDB's.

use std::fmt::Display;

use paceline_types::error_code::{self, ErrorCode};

/// The result of this crate's functions.
pub type Result<T, E = Error> = std::result::Result<T, E>;

/// An error, ready to be sent to a client.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{message}")]
pub struct Error {
    code: ErrorCode,
    message: Box<str>,
}

impl Error {
    /// The error of that number, MariaDB's message filled with the arguments.
    ///
    /// ```
    /// use paceline_sql::Error;
    /// use paceline_types::error_code::ER_NO_SUCH_TABLE;
    /// let error = Error::new(ER_NO_SUCH_TABLE, &[&"shop", &"orders"]);
    /// assert_eq!(error.to_string(), "Table 'shop.orders' doesn't exist");
    /// assert_eq!((error.code().number(), error.sqlstate()), (1146, "42S02"));
    /// ```
    #[cold]
    pub fn new(code: ErrorCode, arguments: &[&dyn Display]) -> Self {
        Self {
            code,
            message: code.message(arguments).into(),
        }
    }

    /// The error of that number with a message of its own.
    #[cold]
    pub fn with_message(code: ErrorCode, message: impl Into<Box<str>>) -> Self {
        Self {
            code,
            message: message.into(),
        }
    }

    /// The same message under another number: 1062 has MariaDB's words of 1586.
    #[must_use]
    pub fn with_code(self, code: ErrorCode) -> Self {
        Self { code, ..self }
    }

    /// 1235: something that MariaDB has and this server has not (yet).
    #[cold]
    pub fn unsupported(what: impl Display) -> Self {
        Self::new(error_code::ER_NOT_SUPPORTED_YET, &[&what])
    }

    /// Its number.
    pub fn code(&self) -> ErrorCode {
        self.code
    }

    /// Its SQLSTATE: five characters.
    pub fn sqlstate(&self) -> &'static str {
        self.code.sqlstate()
    }

    /// Its message.
    pub fn message(&self) -> &str {
        &self.message
    }
}

impl From<paceline_types::Error> for Error {
    fn from(error: paceline_types::Error) -> Self {
        Self::with_message(error.error_code(), error.to_string())
    }
}

impl From<paceline_storage::Error> for Error {
    fn from(error: paceline_storage::Error) -> Self {
        use paceline_storage::Error as Storage;
        let code = match &error {
            Storage::Encoding(error) => error.error_code(),
            Storage::MemoryFull { .. } => error_code::ER_RECORD_FILE_FULL,
            Storage::DuplicateKey { .. } => error_code::ER_DUP_KEY,
            Storage::MissingRow => error_code::ER_KEY_NOT_FOUND,
            Storage::Corruption(_) | Storage::Malformed { .. } => error_code::ER_NOT_KEYFILE,
            Storage::Closing => error_code::ER_SERVER_SHUTDOWN,
            _ => error_code::ER_GET_ERRNO,
        };
        Self::with_message(code, error.to_string())
    }
}

impl From<paceline_txn::Error> for Error {
    fn from(error: paceline_txn::Error) -> Self {
        use paceline_txn::Error as Transaction;
        let code = error.error_code();
        match &error {
            Transaction::Interrupted(_) | Transaction::RolledBack | Transaction::ReadOnlyTransaction => {
                Self::new(code, &[])
            }
            _ => Self::with_message(code, error.to_string()),
        }
    }
}
