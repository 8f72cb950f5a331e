//! Inputs and result of an assignment.

use crate::error_code::{self, ErrorCode};
use crate::temporal::{DateModes, DateTime, Time, TimeZone};
use crate::text;
use crate::value::{Value, ValueRef};

/// Inputs of an assignment besides the value and the column.
#[derive(Clone, Copy, Debug)]
pub struct ConvertContext<'a> {
    /// Unusual dates that `sql_mode` allows.
    pub date_modes: DateModes,
    /// The session's time zone, used for TIMESTAMP columns.
    pub time_zone: &'a TimeZone,
    /// The statement's time in that zone. Its day is used when a TIME is converted to a DATETIME.
    pub now: DateTime,
}

/// Severity of a problem.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Severity {
    /// A note in every mode (trailing spaces removed, a fraction rounded).
    Note,
    /// A warning, and an error in strict mode.
    Warning,
}

/// A loss in an assignment, with the message that MariaDB reports for it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Problem {
    /// Number of the error, in strict mode: 1264, 1265, 1292, 1366, 1406.
    pub code: ErrorCode,
    /// Number of the warning or note, outside strict mode: 1264, 1265, 1366.
    pub warning_code: ErrorCode,
    /// Whether strict mode turns it into an error.
    pub severity: Severity,
    /// For 1292 and 1366: the type's name in the message (`integer`, `datetime`) and the incorrect value.
    pub incorrect: Option<(&'static str, String)>,
}

impl Problem {
    /// Returns MariaDB's error message. `qualified_column` is `` `db`.`table`.`column` `` (used by 1292 and 1366),
    /// `column` is the bare name, and `row` counts from 1.
    pub fn message(&self, qualified_column: &str, column: &str, row: u64) -> String {
        self.message_of(self.code, qualified_column, column, row)
    }

    /// Returns MariaDB's message as a warning or note.
    pub fn warning_message(&self, qualified_column: &str, column: &str, row: u64) -> String {
        self.message_of(self.warning_code, qualified_column, column, row)
    }

    fn message_of(&self, code: ErrorCode, qualified_column: &str, column: &str, row: u64) -> String {
        match &self.incorrect {
            Some((kind, value))
                if code == error_code::ER_TRUNCATED_WRONG_VALUE
                    || code == error_code::ER_TRUNCATED_WRONG_VALUE_FOR_FIELD =>
            {
                let value = shortened(value);
                format!("Incorrect {kind} value: '{value}' for column {qualified_column} at row {row}")
            }
            _ => code.message(&[&column, &row]),
        }
    }

    #[cold]
    pub(super) fn new(code: ErrorCode, warning_code: ErrorCode) -> Self {
        Problem {
            code,
            warning_code,
            severity: Severity::Warning,
            incorrect: None,
        }
    }

    #[cold]
    pub(super) fn out_of_range() -> Self {
        Problem::new(
            error_code::ER_WARN_DATA_OUT_OF_RANGE,
            error_code::ER_WARN_DATA_OUT_OF_RANGE,
        )
    }

    #[cold]
    pub(super) fn truncated() -> Self {
        Problem::new(error_code::WARN_DATA_TRUNCATED, error_code::WARN_DATA_TRUNCATED)
    }

    #[cold]
    pub(super) fn note() -> Self {
        Problem {
            severity: Severity::Note,
            ..Problem::truncated()
        }
    }

    #[cold]
    pub(super) fn incorrect(kind: &'static str, value: &Value) -> Self {
        let code = error_code::ER_TRUNCATED_WRONG_VALUE_FOR_FIELD;
        Problem {
            incorrect: Some((kind, printable(value))),
            ..Problem::new(code, code)
        }
    }
}

/// Returns a value as messages show it, with bytes that are not text as `\xFF`.
pub(super) fn printable(value: &Value) -> String {
    match value {
        Value::Bytes(bytes) => escaped(bytes),
        // The fraction has six digits, or none if it is zero.
        Value::Time(v) => Time::from_micros(v.micros(), if v.microsecond() > 0 { 6 } else { 0 }).to_string(),
        Value::DateTime(v) => v
            .with_micros(v.micros, if v.micros > 0 { 6 } else { 0 })
            .to_string(),
        Value::Bit(bits) => escaped(&bits.to_be_bytes()[8 - bits.byte_length()..]),
        _ => text::to_string(&value.as_ref(), &TimeZone::UTC),
    }
}

/// Shows bytes other than printable ASCII as `\xFF`.
pub(super) fn escaped(bytes: &[u8]) -> String {
    let mut out = String::new();
    for &byte in bytes {
        match byte {
            b' '..=b'~' => out.push(char::from(byte)),
            _ => out.push_str(&format!("\\x{byte:02X}")),
        }
    }
    out
}

/// Limits a text to 128 characters. A longer text ends with an ellipsis of three characters.
fn shortened(value: &str) -> String {
    if value.chars().count() <= 128 {
        return value.to_owned();
    }
    value.chars().take(125).chain("...".chars()).collect()
}

/// Result of an assignment.
#[derive(Clone, Debug, PartialEq)]
pub struct ConvertedValue {
    /// Value of the column's type (clipped, rounded or cut if there is a problem), or NULL.
    pub value: Value,
    /// The loss, if any.
    pub problem: Option<Problem>,
}

impl ConvertedValue {
    pub(super) fn fine(value: Value) -> Self {
        ConvertedValue { value, problem: None }
    }

    pub(super) fn with(value: Value, problem: Problem) -> Self {
        ConvertedValue {
            value,
            problem: Some(problem),
        }
    }
}

/// Returns the text of a text or binary string.
pub(super) fn as_text(value: &Value) -> Option<std::borrow::Cow<'_, str>> {
    match value {
        Value::Text(text) => Some(std::borrow::Cow::Borrowed(text)),
        Value::Bytes(bytes) => Some(String::from_utf8_lossy(bytes)),
        _ => None,
    }
}

/// Returns a value's text in the session's time zone.
pub(super) fn text_of(value: &ValueRef<'_>, context: &ConvertContext<'_>) -> String {
    text::to_string(value, context.time_zone)
}
