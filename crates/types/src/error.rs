//! Errors of values and encodings.

use crate::error_code::{self, ErrorCode};

/// The result of this crate's functions.
pub type Result<T, E = Error> = std::result::Result<T, E>;

/// Error of a value or an encoding.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// Not a GTID in the form `domain-server-sequence`.
    #[error("'{0}' is not a GTID of the form domain-server-sequence")]
    InvalidGtid(String),
    /// A row image or parameter block ends before its columns do.
    #[error("the encoded row ends in the middle of column {column}")]
    TruncatedImage {
        /// Index of the column in the table, from 0.
        column: usize,
    },
    /// A row image contains bytes that are invalid for the column's type.
    #[error("column {column} of the encoded row is not a {expected}")]
    InvalidImage {
        /// Index of the column in the table, from 0.
        column: usize,
        /// Name of the expected type.
        expected: &'static str,
    },
    /// A value has the wrong type for an encoding. The caller should have converted it with `convert::assign`.
    #[error("a {value} value cannot be stored in column {column} of type {expected} without conversion")]
    WrongType {
        /// Index of the column in the table, from 0.
        column: usize,
        /// The column's type.
        expected: &'static str,
        /// Type of the value.
        value: &'static str,
    },
    /// The number of values differs from the number of columns.
    #[error("{given} values for {columns} columns")]
    ColumnCount {
        /// Number of columns.
        columns: usize,
        /// Number of values.
        given: usize,
    },
    /// The result of arithmetic is out of the type's range (1690).
    #[error("{kind} value is out of range")]
    OutOfRange {
        /// MariaDB's name of the type: BIGINT, BIGINT UNSIGNED, DECIMAL, DOUBLE.
        kind: &'static str,
    },
    /// The text is not a decimal number.
    #[error("'{0}' is not a decimal number")]
    InvalidDecimal(String),
    /// The time zone is unknown (1298).
    #[error("Unknown or incorrect time zone: '{0}'")]
    UnknownTimeZone(String),
    /// The block of prepared-statement parameters is malformed (1210).
    #[error("malformed parameters of a prepared statement")]
    MalformedParameters,
    /// This server does not know the column type of a table map.
    #[error("column type {0} of a table map is not known")]
    UnknownColumnType(u8),
    /// A table map's metadata does not fit its columns.
    #[error("malformed column metadata in a table map")]
    MalformedMetadata,
}

impl Error {
    /// Returns MariaDB's error number.
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
            | Error::MalformedMetadata => error_code::ER_BINLOG_LOGICAL_CORRUPTION,
            Error::WrongType { .. } | Error::ColumnCount { .. } => error_code::ER_UNKNOWN_ERROR,
        }
    }
}
