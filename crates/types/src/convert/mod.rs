//! Conversions between types as MariaDB makes them: on assignment to a column ([`assign`]), and implicitly in expressions.
//!
//! An assignment always gives a value that the column can hold, and says what was lost as a [`Problem`]. Whether that is an
//! error is for the statement to decide: strict mode makes an error of a warning, a note stays a note. The error may have
//! another number than the warning (a text that is too long: warning 1265, error 1406), so a problem has both.
//!
//! What MariaDB 10.11 does with some 6,000 pairs of literal and column type is in `tests/vectors/assignments.txt`.

mod number;
mod to_number;
mod to_temporal;
mod to_text;

pub use number::{
    Completeness, text_to_decimal, text_to_double, text_to_integer, to_decimal, to_double, to_integer,
};
pub use to_temporal::{to_datetime, to_time};
pub use to_text::in_charset;

use crate::data_type::DataType;
use crate::error_code::{self, ErrorCode};
use crate::temporal::{DateModes, DateTime, Time, TimeZone};
use crate::text;
use crate::value::{Value, ValueRef};

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
    /// The error's number where it is one, in strict mode: 1264, 1265, 1292, 1366, 1406.
    pub code: ErrorCode,
    /// The warning's or note's number where it is no error: 1264, 1265, 1366.
    pub warning_code: ErrorCode,
    /// Whether strict mode makes it an error.
    pub severity: Severity,
    /// For 1292 and 1366: the type's name in the message (`integer`, `datetime`) and the value that was wrong.
    pub incorrect: Option<(&'static str, String)>,
}

impl Problem {
    /// MariaDB's message as an error. `qualified_column` is `` `db`.`table`.`column` `` (used by 1292 and 1366), `column` the bare name,
    /// `row` counts from 1.
    pub fn message(&self, qualified_column: &str, column: &str, row: u64) -> String {
        self.message_of(self.code, qualified_column, column, row)
    }

    /// MariaDB's message as a warning or note.
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
    fn new(code: ErrorCode, warning_code: ErrorCode) -> Self {
        Problem {
            code,
            warning_code,
            severity: Severity::Warning,
            incorrect: None,
        }
    }

    #[cold]
    fn out_of_range() -> Self {
        Problem::new(
            error_code::ER_WARN_DATA_OUT_OF_RANGE,
            error_code::ER_WARN_DATA_OUT_OF_RANGE,
        )
    }

    #[cold]
    fn truncated() -> Self {
        Problem::new(error_code::WARN_DATA_TRUNCATED, error_code::WARN_DATA_TRUNCATED)
    }

    #[cold]
    fn note() -> Self {
        Problem {
            severity: Severity::Note,
            ..Problem::truncated()
        }
    }

    #[cold]
    fn incorrect(kind: &'static str, value: &Value) -> Self {
        let code = error_code::ER_TRUNCATED_WRONG_VALUE_FOR_FIELD;
        Problem {
            incorrect: Some((kind, printable(value))),
            ..Problem::new(code, code)
        }
    }
}

/// A value as messages show it: bytes that are no text as `\xFF`.
fn printable(value: &Value) -> String {
    match value {
        Value::Bytes(bytes) => escaped(bytes),
        // A fraction is shown with six digits, or not at all.
        Value::Time(v) => Time::from_micros(v.micros(), if v.microsecond() > 0 { 6 } else { 0 }).to_string(),
        Value::DateTime(v) => v
            .with_micros(v.micros, if v.micros > 0 { 6 } else { 0 })
            .to_string(),
        Value::Bit(bits) => escaped(&bits.to_be_bytes()[8 - bits.byte_length()..]),
        _ => text::to_string(&value.as_ref(), &TimeZone::UTC),
    }
}

/// Bytes that are not printable ASCII as `\xFF`.
fn escaped(bytes: &[u8]) -> String {
    let mut out = String::new();
    for &byte in bytes {
        match byte {
            b' '..=b'~' => out.push(char::from(byte)),
            _ => out.push_str(&format!("\\x{byte:02X}")),
        }
    }
    out
}

/// At most 128 characters, the last three being an ellipsis if there were more.
fn shortened(value: &str) -> String {
    if value.chars().count() <= 128 {
        return value.to_owned();
    }
    value.chars().take(125).chain("...".chars()).collect()
}

/// What is stored, and what is to be said about it.
#[derive(Clone, Debug, PartialEq)]
pub struct Assigned {
    /// A value of the column's type (clipped, rounded or cut where there is a problem), or NULL.
    pub value: Value,
    /// What was lost.
    pub problem: Option<Problem>,
}

impl Assigned {
    fn fine(value: Value) -> Self {
        Assigned { value, problem: None }
    }

    fn with(value: Value, problem: Problem) -> Self {
        Assigned {
            value,
            problem: Some(problem),
        }
    }
}

/// Converts a value to what a column of this type stores. NULL stays NULL: whether the column takes it is the table's to say.
pub fn assign(value: Value, target: &DataType, context: &ConvertContext<'_>) -> Assigned {
    if value.is_null() {
        return Assigned::fine(value);
    }
    // A label is the number or the text that the target wants; what a binary string holds is text to a number.
    let value = match value {
        Value::Set(_) | Value::Enum(_) => match (target, value) {
            (DataType::Enum { labels, .. }, Value::Enum(v)) if *labels == v.labels => {
                return Assigned::fine(Value::Enum(v));
            }
            (DataType::Set { labels, .. }, Value::Set(v)) if *labels == v.labels => {
                return Assigned::fine(Value::Set(v));
            }
            (_, Value::Enum(v)) if target.is_numeric() => Value::UInt(u64::from(v.index)),
            (_, Value::Set(v)) if target.is_numeric() => Value::UInt(v.bits),
            (_, value) => Value::Text(text::to_string(&value.as_ref(), context.time_zone)),
        },
        value => value,
    };
    match target {
        DataType::Integer(t) => to_number::integer(value, *t, context),
        DataType::Decimal(t) => to_number::decimal(value, *t, context),
        DataType::Float(t) => to_number::float(value, *t, context),
        DataType::Double(t) => to_number::double(value, *t, context),
        DataType::Bit { length } => to_number::bit(value, *length, context),
        DataType::Year => to_number::year(value, context),
        DataType::Char { .. } | DataType::VarChar { .. } | DataType::Text { .. } | DataType::Json => {
            to_text::text(value, target, context)
        }
        DataType::Binary { .. } | DataType::VarBinary { .. } | DataType::Blob { .. } => {
            to_text::bytes(value, target, context)
        }
        DataType::Enum { labels, collation } => to_text::enumeration(value, labels, *collation, context),
        DataType::Set { labels, collation } => to_text::set(value, labels, *collation, context),
        DataType::Date => to_temporal::date(value, context),
        DataType::Time { decimals } => to_temporal::time(value, *decimals, context),
        DataType::DateTime { decimals } => to_temporal::datetime(value, *decimals, context),
        DataType::Timestamp { decimals } => to_temporal::timestamp(value, *decimals, context),
    }
}

/// What a text or binary string reads as text.
fn as_text(value: &Value) -> Option<std::borrow::Cow<'_, str>> {
    match value {
        Value::Text(text) => Some(std::borrow::Cow::Borrowed(text)),
        Value::Bytes(bytes) => Some(String::from_utf8_lossy(bytes)),
        _ => None,
    }
}

/// A value's text in the session's time zone.
fn text_of(value: &ValueRef<'_>, context: &ConvertContext<'_>) -> String {
    text::to_string(value, context.time_zone)
}
