//! Errors of a connection, with the numbers and texts for `SHOW SLAVE STATUS` and clients.

use paceline_types::error_code::{ER_SLAVE_CORRUPT_EVENT, ErrorCode};
use paceline_wire::WireError;

/// Error of a statement on a connection.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{message}")]
pub struct ReplicaError {
    /// MariaDB's error number.
    pub code: ErrorCode,
    /// MariaDB's error text.
    pub message: String,
}

impl ReplicaError {
    /// Creates an error with the standard text of the number and these arguments.
    pub fn new(code: ErrorCode, arguments: &[&dyn std::fmt::Display]) -> Self {
        ReplicaError {
            code,
            message: code.message(arguments),
        }
    }

    /// Creates an error with another text.
    pub fn with_message(code: ErrorCode, message: impl Into<String>) -> Self {
        ReplicaError {
            code,
            message: message.into(),
        }
    }
}

/// Error numbers of the client library, which `Last_IO_Errno` shows for network problems.
pub(super) const CR_CONN_HOST_ERROR: u16 = 2003;
pub(super) const CR_UNKNOWN_HOST: u16 = 2005;
pub(super) const CR_SERVER_LOST: u16 = 2013;
pub(super) const CR_SSL_CONNECTION_ERROR: u16 = 2026;

/// Reason why the connection to a primary ended.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum SourceError {
    /// A temporary problem: the network, or an unavailable primary.
    Lost {
        /// `Last_IO_Errno`.
        number: u16,
        /// `Last_IO_Error`.
        message: String,
    },
    /// A problem that needs an administrator: the receiver stops.
    Fatal {
        /// `Last_IO_Errno`.
        number: u16,
        /// `Last_IO_Error`.
        message: String,
    },
}

impl SourceError {
    /// Creates a temporary error.
    pub fn lost(number: u16, message: impl Into<String>) -> Self {
        SourceError::Lost {
            number,
            message: message.into(),
        }
    }

    /// Creates a fatal error.
    pub fn fatal(number: u16, message: impl Into<String>) -> Self {
        SourceError::Fatal {
            number,
            message: message.into(),
        }
    }

    /// Returns number and text.
    pub fn shown(&self) -> (u16, &str) {
        let (SourceError::Lost { number, message } | SourceError::Fatal { number, message }) = self;
        (*number, message)
    }

    /// Returns a fatal error with MariaDB's text for errors that stop a replica, with a reason: `Fatal error: …`.
    pub fn fatal_with(code: ErrorCode, reason: &dyn std::fmt::Display) -> Self {
        SourceError::fatal(code.number(), code.message(&[reason]))
    }

    /// Converts an error of the wire that occurred while `doing` something. An error reported by the primary is fatal
    /// unless it is temporary.
    pub fn of_wire(error: WireError, doing: &str) -> Self {
        match error {
            WireError::Server { code, message, .. } if is_passing(code) => {
                SourceError::lost(code, format!("{doing}: {message}"))
            }
            WireError::Server { code, message, .. } => {
                SourceError::fatal(code, format!("{doing}: {message}"))
            }
            WireError::Malformed(what) => SourceError::lost(CR_SERVER_LOST, format!("{doing}: {what}")),
            error => SourceError::lost(CR_SERVER_LOST, format!("{doing}: {error}")),
        }
    }
}

/// Returns the error for invalid data in a primary's stream.
pub(super) fn corrupt(problem: impl std::fmt::Display) -> SourceError {
    tracing::error!("the primary's stream cannot be read: {problem}");
    SourceError::fatal(
        ER_SLAVE_CORRUPT_EVENT.number(),
        format!("{}: {problem}", ER_SLAVE_CORRUPT_EVENT.message(&[])),
    )
}

/// Returns whether an error of the primary is temporary: it is shutting down, has too many connections, or has killed
/// this connection.
fn is_passing(code: u16) -> bool {
    matches!(
        code,
        1040 | 1043 | 1053 | 1129 | 1152 | 1154..=1161 | 1184 | 1189 | 1190 | 1203 | 1205 | 1317 | 1927
    )
}
