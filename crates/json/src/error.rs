//! Errors of documents in MySQL's forms.

use paceline_types::ErrorCode;
use paceline_types::error_code::{
    ER_BINLOG_LOGICAL_CORRUPTION, ER_CORRUPTED_JSON_DIFF, ER_COULD_NOT_APPLY_JSON_DIFF,
};

/// Result of reading or changing a document in MySQL's forms.
pub type Result<T, E = Error> = std::result::Result<T, E>;

/// Error of a document in MySQL's forms. The parser of SQL functions has [`Fault`](crate::Fault).
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// The bytes are not a document in MySQL's binary form.
    #[error("malformed binary JSON document")]
    MalformedDocument,
    /// The bytes are not changes of a document in MySQL's form.
    #[error("malformed changes of a JSON document")]
    MalformedDiff,
    /// The changes do not fit this document.
    #[error("changes of a JSON document do not fit it")]
    DiffNotApplied,
}

impl Error {
    /// Returns MariaDB's error number.
    pub fn error_code(&self) -> ErrorCode {
        match self {
            Error::MalformedDocument => ER_BINLOG_LOGICAL_CORRUPTION,
            Error::MalformedDiff => ER_CORRUPTED_JSON_DIFF,
            Error::DiffNotApplied => ER_COULD_NOT_APPLY_JSON_DIFF,
        }
    }
}
