//! Errors of binding and evaluation.

use std::fmt::Display;

use paceline_types::ErrorCode;
use paceline_types::error_code::{
    ER_DATA_OUT_OF_RANGE, ER_ILLEGAL_PARAMETER_DATA_TYPE_FOR_OPERATION,
    ER_ILLEGAL_PARAMETER_DATA_TYPES2_FOR_OPERATION, ER_OPERAND_COLUMNS, ER_PARSE_ERROR,
    ER_UNKNOWN_SYSTEM_VARIABLE, ER_WRONG_PARAMCOUNT_TO_NATIVE_FCT,
};

use crate::error::Error;

/// Returns the error with this number and MariaDB's message.
#[cold]
pub fn error(code: ErrorCode, arguments: &[&dyn Display]) -> Error {
    Error::new(code, arguments)
}

/// Returns 1235: "This version of MariaDB doesn't yet support '…'".
#[cold]
pub(crate) fn not_supported(what: impl Display) -> Error {
    Error::unsupported(what)
}

/// Returns 1193: unknown system variable.
#[cold]
pub(crate) fn unknown_system_variable(name: &str) -> Error {
    error(ER_UNKNOWN_SYSTEM_VARIABLE, &[&name])
}

/// Returns 1582: wrong number of parameters of a function.
#[cold]
pub fn parameter_count(function: &str) -> Error {
    error(ER_WRONG_PARAMCOUNT_TO_NATIVE_FCT, &[&function])
}

/// Returns 1241: "Operand should contain N column(s)".
#[cold]
pub(crate) fn operand_columns(count: usize) -> Error {
    error(ER_OPERAND_COLUMNS, &[&count])
}

/// Returns 4079: "Illegal parameter data type row for operation '…'".
#[cold]
pub fn row_operand(operation: &str) -> Error {
    illegal_type("row", operation)
}

/// Returns 4079: "Illegal parameter data type … for operation '…'".
#[cold]
pub fn illegal_type(data_type: &str, operation: &str) -> Error {
    error(
        ER_ILLEGAL_PARAMETER_DATA_TYPE_FOR_OPERATION,
        &[&data_type, &operation],
    )
}

/// Returns 4078: "Illegal parameter data types … and … for operation '…'".
#[cold]
pub fn illegal_types(left: &str, right: &str, operation: &str) -> Error {
    error(
        ER_ILLEGAL_PARAMETER_DATA_TYPES2_FOR_OPERATION,
        &[&left, &right, &operation],
    )
}

/// Returns 1690: "BIGINT value is out of range in '…'".
#[cold]
pub fn out_of_range(kind: &str, expression: impl Display) -> Error {
    error(ER_DATA_OUT_OF_RANGE, &[&kind, &expression])
}

/// Returns 1064 near `text`.
#[cold]
pub(crate) fn syntax_near(text: &str) -> Error {
    Error::with_message(
        ER_PARSE_ERROR,
        format!(
            "You have an error in your SQL syntax; check the manual that corresponds to your MariaDB server version for the \
             right syntax to use near '{text}' at line 1"
        ),
    )
}

/// Returns 1210: an EXECUTE without a value for each `?`.
#[cold]
pub(crate) fn missing_parameter() -> Error {
    error(paceline_types::error_code::ER_WRONG_ARGUMENTS, &[&"EXECUTE"])
}
