//! What can go wrong with a connection, with the numbers and texts that `SHOW SLAVE STATUS` and clients are given.

use paceline_types::error_code::{ER_SLAVE_CORRUPT_EVENT, ErrorCode};
use paceline_wire::WireError;

/// A statement about a connection that cannot be carried out.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{message}")]
pub struct ReplicaError {
    /// MariaDB's number.
    pub code: ErrorCode,
    /// MariaDB's text.
    pub message: String,
}

impl ReplicaError {
    /// The number's own text with its arguments.
    pub fn new(code: ErrorCode, arguments: &[&dyn std::fmt::Display]) -> Self {
        ReplicaError {
            code,
            message: code.message(arguments),
        }
    }

    /// A text of its own.
    pub fn with_message(code: ErrorCode, message: impl Into<String>) -> Self {
        ReplicaError {
            code,
            message: message.into(),
        }
    }
}

/// Numbers of the client library, which `Last_IO_Errno` shows for what happens on the way.
pub(super) const CR_CONN_HOST_ERROR: u16 = 2003;
pub(super) const CR_UNKNOWN_HOST: u16 = 2005;
pub(super) const CR_SERVER_LOST: u16 = 2013;
pub(super) const CR_SSL_CONNECTION_ERROR: u16 = 2026;

/// Why the connection to a primary ended.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum SourceError {
    /// It may go better next time: the network, a primary that is away.
    Lost {
        /// `Last_IO_Errno`.
        number: u16,
        /// `Last_IO_Error`.
        message: String,
    },
    /// Somebody has to do something: the receiver stops.
    Fatal {
        /// `Last_IO_Errno`.
        number: u16,
        /// `Last_IO_Error`.
        message: String,
    },
}

impl SourceError {
    /// It may go better next time.
    pub fn lost(number: u16, message: impl Into<String>) -> Self {
        SourceError::Lost {
            number,
            message: message.into(),
        }
    }

    /// Somebody has to do something.
    pub fn fatal(number: u16, message: impl Into<String>) -> Self {
        SourceError::Fatal {
            number,
            message: message.into(),
        }
    }

    /// The number and the text.
    pub fn shown(&self) -> (u16, &str) {
        let (SourceError::Lost { number, message } | SourceError::Fatal { number, message }) = self;
        (*number, message)
    }

    /// MariaDB's text for an error that stops a replica, with a reason: `Fatal error: …`.
    pub fn fatal_with(code: ErrorCode, reason: &dyn std::fmt::Display) -> Self {
        SourceError::fatal(code.number(), code.message(&[reason]))
    }

    /// What went wrong on the wire while `doing` something; an answer of the primary that is an error is fatal if it is none of the
    /// passing kind.
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

/// Something in a primary's stream that cannot be.
pub(super) fn corrupt(problem: impl std::fmt::Display) -> SourceError {
    tracing::error!("the primary's stream cannot be read: {problem}");
    SourceError::fatal(
        ER_SLAVE_CORRUPT_EVENT.number(),
        format!("{}: {problem}", ER_SLAVE_CORRUPT_EVENT.message(&[])),
    )
}

/// Errors of a primary that go away by themselves: it stops, has too many connections, has killed us.
fn is_passing(code: u16) -> bool {
    matches!(
        code,
        1040 | 1043 | 1053 | 1129 | 1152 | 1154..=1161 | 1184 | 1189 | 1190 | 1203 | 1205 | 1317 | 1927
    )
}
