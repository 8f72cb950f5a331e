//! What can go wrong with a value or an encoding.

use crate::error_code::{self, ErrorCode};

/// The result of this crate's functions.
pub type Result<T, E = Error> = std::result::Result<T, E>;

/// What can go wrong with a value or an encoding.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// Not a GTID in the form `domain-server-sequence`.
    #[error("'{0}' is not a GTID of the form domain-server-sequence")]
    InvalidGtid(String),
    /// A row image or parameter block ends before its columns do.
    #[error("the encoded row ends in the middle of column {column}")]
    TruncatedImage {
        /// The column's offset in the table, from 0.
        column: usize,
    },
    /// A row image holds bytes that no value of its column's type has.
    #[error("column {column} of the encoded row is not a {expected}")]
    InvalidImage {
        /// The column's offset in the table, from 0.
        column: usize,
        /// What it should have been.
        expected: &'static str,
    },
    /// A value was given to an encoding of a type that cannot hold it; `convert::assign` was left out.
    #[error("a {value} value cannot be stored in column {column} of type {expected} without conversion")]
    WrongType {
        /// The column's offset in the table, from 0.
        column: usize,
        /// The column's type.
        expected: &'static str,
        /// What was given.
        value: &'static str,
    },
    /// The number of values is not the number of columns.
    #[error("{given} values for {columns} columns")]
    ColumnCount {
        /// How many columns there are.
        columns: usize,
        /// How many values were given.
        given: usize,
    },
    /// Arithmetic went past what the type can hold (1690).
    #[error("{kind} value is out of range")]
    OutOfRange {
        /// MariaDB's name of the type: BIGINT, BIGINT UNSIGNED, DECIMAL, DOUBLE.
        kind: &'static str,
    },
    /// A decimal number that cannot be read.
    #[error("'{0}' is not a decimal number")]
    InvalidDecimal(String),
    /// A time zone that is not known (1298).
    #[error("Unknown or incorrect time zone: '{0}'")]
    UnknownTimeZone(String),
    /// A malformed block of prepared-statement parameters (1210).
    #[error("malformed parameters of a prepared statement")]
    MalformedParameters,
    /// A binlog column type that this server does not know.
    #[error("column type {0} of a table map is not known")]
    UnknownColumnType(u8),
    /// A table map's metadata that does not fit its columns.
    #[error("malformed column metadata in a table map")]
    MalformedMetadata,
    /// A document in MySQL's binary form that is none.
    #[error("malformed binary JSON document")]
    MalformedJson,
    /// MySQL's changes of a JSON document that are none.
    #[error("malformed changes of a JSON document")]
    MalformedJsonDiff,
    /// MySQL's changes of a JSON document that are of another one.
    #[error("changes of a JSON document do not fit it")]
    JsonDiffNotApplied,
}

impl Error {
    /// MariaDB's error number for it.
    pub fn error_code(&self) -> ErrorCode {
        match self {
            Error::InvalidGtid(_) => error_code::ER_INCORRECT_GTID_STATE,
            Error::OutOfRange { .. } => error_code::ER_DATA_OUT_OF_RANGE,
            Error::InvalidDecimal(_) => error_code::ER_BAD_DATA,
            Error::UnknownTimeZone(_) => error_code::ER_UNKNOWN_TIME_ZONE,
            Error::MalformedParameters => error_code::ER_WRONG_ARGUMENTS,
            Error::TruncatedImage { .. }
            | Error::InvalidImage { .. }
            | Error::UnknownColumnType(_)
            | Error::MalformedMetadata
            | Error::MalformedJson => error_code::ER_BINLOG_LOGICAL_CORRUPTION,
            Error::MalformedJsonDiff => error_code::ER_CORRUPTED_JSON_DIFF,
            Error::JsonDiffNotApplied => error_code::ER_COULD_NOT_APPLY_JSON_DIFF,
            Error::WrongType { .. } | Error::ColumnCount { .. } => error_code::ER_UNKNOWN_ERROR,
        }
    }
}
