//! Conversions between types as MariaDB makes them: on assignment to a column, and implicitly in expressions.

use crate::data_type::DataType;
use crate::error_code::ErrorCode;
use crate::temporal::{DateModes, DateTime, TimeZone};
use crate::value::Value;

/// What an assignment depends on besides value and column.
#[derive(Clone, Copy, Debug)]
pub struct ConvertContext<'a> {
    /// Which odd dates `sql_mode` lets pass.
    pub date_modes: DateModes,
    /// The session's time zone, for TIMESTAMP columns.
    pub time_zone: &'a TimeZone,
    /// The statement's time in that zone, whose day completes a TIME that becomes a DATETIME.
    pub now: DateTime,
}

/// How much a problem matters.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Severity {
    /// A note in every mode (trailing spaces cut, a fraction rounded).
    Note,
    /// A warning, and an error in strict mode.
    Warning,
}

/// What MariaDB says of an assignment that did not keep the value.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Problem {
    /// 1264, 1265, 1292, 1366, 1406, 1048 …
    pub code: ErrorCode,
    /// Whether strict mode makes it an error.
    pub severity: Severity,
    /// For 1292 and 1366: the type's name in the message (`integer`, `datetime`) and the value that was wrong.
    pub incorrect: Option<(&'static str, String)>,
}

impl Problem {
    /// MariaDB's message. `qualified_column` is `` `db`.`table`.`column` `` (used by 1292 and 1366), `column` the bare name, `row`
    /// counts from 1.
    pub fn message(&self, _qualified_column: &str, _column: &str, _row: u64) -> String {
        todo!()
    }
}

/// What is stored, and what is to be said about it.
#[derive(Clone, Debug, PartialEq)]
pub struct Assigned {
    /// A value of the column's type (clipped, rounded or cut where there is a problem), or NULL.
    pub value: Value,
    /// What was lost.
    pub problem: Option<Problem>,
}

/// Converts a value to what a column of this type stores. NULL stays NULL: whether the column takes it is the table's to say.
pub fn assign(_value: Value, _target: &DataType, _context: &ConvertContext<'_>) -> Assigned {
    todo!()
}

/// How much of a text a number was read from.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Completeness {
    /// All of it (blanks around it aside).
    Whole,
    /// Only its beginning, or nothing: MariaDB warns 1292 "Truncated incorrect … value".
    Truncated,
}

/// The number at the start of a text, 0 where there is none.
pub fn text_to_double(_text: &str) -> (f64, Completeness) {
    todo!()
}

/// The integer at the start of a text (digits only: `'12.9'` is 12 and truncated), 0 where there is none, clipped to the range of BIGINT;
/// a text above it gives the BIGINT UNSIGNED in `Value::UInt`.
pub fn text_to_integer(_text: &str) -> (Value, Completeness) {
    todo!()
}

/// The decimal at the start of a text, 0 where there is none.
pub fn text_to_decimal(_text: &str) -> (crate::Decimal, Completeness) {
    todo!()
}

/// A value as a double, as arithmetic and comparison see it: temporal values as their number (20240131…). NULL is `None`.
pub fn to_double(_value: &Value, _time_zone: &TimeZone) -> Option<(f64, Completeness)> {
    todo!()
}

/// A value as a decimal.
pub fn to_decimal(_value: &Value, _time_zone: &TimeZone) -> Option<(crate::Decimal, Completeness)> {
    todo!()
}

/// A value as an integer, `Int` or `UInt`: fractions rounded half away from zero (text cut), out of range clipped.
pub fn to_integer(_value: &Value, _time_zone: &TimeZone) -> Option<(Value, Completeness)> {
    todo!()
}

/// A value as a day and time, reading text and numbers as MariaDB does. `None` if it is not one (1292 by the caller) or NULL.
pub fn to_datetime(_value: &Value, _context: &ConvertContext<'_>) -> Option<DateTime> {
    todo!()
}

/// A value as a time.
pub fn to_time(_value: &Value, _context: &ConvertContext<'_>) -> Option<crate::Time> {
    todo!()
}
