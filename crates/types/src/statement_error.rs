//! Errors of statements: a MariaDB error number and its message.
//!
//! Each layer below SQL converts its own errors to this type, so a client always gets one of MariaDB's
//! numbers.

use std::fmt::Display;
use std::sync::Arc;

use crate::error_code::{self, ErrorCode};

/// An error in the form that clients receive.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{message}")]
pub struct StatementError {
    code: ErrorCode,
    message: Box<str>,
    signalled: Option<Arc<SignalledCondition>>,
}

/// SQLSTATE and items of a condition that SIGNAL or RESIGNAL has raised.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SignalledCondition {
    /// Five characters.
    pub sqlstate: String,
    /// Items of GET DIAGNOSTICS by name (`TABLE_NAME`), each at most once.
    pub items: Vec<(&'static str, String)>,
}

impl StatementError {
    /// Creates an error with this number and MariaDB's message, filled in with the arguments.
    ///
    /// ```
    /// use paceline_types::StatementError;
    /// use paceline_types::error_code::ER_NO_SUCH_TABLE;
    /// let error = StatementError::new(ER_NO_SUCH_TABLE, &[&"shop", &"orders"]);
    /// assert_eq!(error.to_string(), "Table 'shop.orders' doesn't exist");
    /// assert_eq!((error.code().number(), error.sqlstate()), (1146, "42S02"));
    /// ```
    #[cold]
    pub fn new(code: ErrorCode, arguments: &[&dyn Display]) -> Self {
        Self {
            code,
            message: code.message(arguments).into(),
            signalled: None,
        }
    }

    /// Creates an error with this number and a message of its own.
    #[cold]
    pub fn with_message(code: ErrorCode, message: impl Into<Box<str>>) -> Self {
        Self {
            code,
            message: message.into(),
            signalled: None,
        }
    }

    /// Adds the SQLSTATE and items that SIGNAL has set.
    #[must_use]
    pub fn signalled(self, condition: Arc<SignalledCondition>) -> Self {
        Self {
            signalled: Some(condition),
            ..self
        }
    }

    /// Returns the SQLSTATE and items that SIGNAL has set; `None` for an error of the server.
    pub fn signalled_condition(&self) -> Option<&Arc<SignalledCondition>> {
        self.signalled.as_ref()
    }

    /// Changes the number of an error: 1062 has the message of MariaDB's 1586.
    #[must_use]
    pub fn with_code(self, code: ErrorCode) -> Self {
        Self { code, ..self }
    }

    /// Creates error 1235: a feature that MariaDB has and this server does not.
    #[cold]
    pub fn unsupported(what: impl Display) -> Self {
        Self::new(error_code::ER_NOT_SUPPORTED_YET, &[&what])
    }

    /// Returns the error number.
    pub fn code(&self) -> ErrorCode {
        self.code
    }

    /// Returns the SQLSTATE: five characters.
    pub fn sqlstate(&self) -> &str {
        match &self.signalled {
            Some(condition) => &condition.sqlstate,
            None => self.code.sqlstate(),
        }
    }

    /// Returns the message.
    pub fn message(&self) -> &str {
        &self.message
    }
}

impl From<crate::Error> for StatementError {
    fn from(error: crate::Error) -> Self {
        Self::with_message(error.error_code(), error.to_string())
    }
}
