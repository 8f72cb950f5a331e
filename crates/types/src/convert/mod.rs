//! Conversions between types as in MariaDB: on assignment to a column ([`assign`]), and implicitly in expressions.
//!
//! An assignment always returns a value that the column can hold, and describes any loss in a [`Problem`]. The
//! statement decides whether that is an error: strict mode turns a warning into an error; a note stays a note. The
//! error may have another number than the warning (a text that is too long: warning 1265, error 1406), so a problem has
//! both.
//!
//! `tests/vectors/assignments.txt` has the results of MariaDB 10.11 for some 6,000 pairs of literal and column type.

mod number;
mod to_fixed_binary;
mod to_number;
mod to_temporal;
mod to_text;

pub use number::{
    Completeness, text_to_decimal, text_to_double, text_to_integer, to_decimal, to_double, to_integer,
};
pub use to_temporal::{number_to_datetime, number_to_interval, to_datetime, to_time, to_time_clipped};
pub use to_text::in_charset;

use crate::data_type::DataType;
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

/// Returns a value as messages show it, with bytes that are not text as `\xFF`.
fn printable(value: &Value) -> String {
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
    fn fine(value: Value) -> Self {
        ConvertedValue { value, problem: None }
    }

    fn with(value: Value, problem: Problem) -> Self {
        ConvertedValue {
            value,
            problem: Some(problem),
        }
    }
}

/// Converts a value to the value that a column of this type stores. NULL stays NULL: the caller decides whether the
/// column accepts it. A string that is no UUID or address, and a date that is none, become NULL with a problem; a NOT
/// NULL column stores its type's zero instead.
pub fn assign(value: Value, target: &DataType, context: &ConvertContext<'_>) -> ConvertedValue {
    if value.is_null() {
        return ConvertedValue::fine(value);
    }
    // A label becomes the number or text that the target needs. A numeric target reads a binary string as text.
    let value = match value {
        Value::Set(_) | Value::Enum(_) => match (target, value) {
            (DataType::Enum { labels, .. }, Value::Enum(v)) if *labels == v.labels => {
                return ConvertedValue::fine(Value::Enum(v));
            }
            (DataType::Set { labels, .. }, Value::Set(v)) if *labels == v.labels => {
                return ConvertedValue::fine(Value::Set(v));
            }
            (_, Value::Enum(v)) if target.is_numeric() => Value::UInt(u64::from(v.index)),
            (_, Value::Set(v)) if target.is_numeric() => Value::UInt(v.bits),
            (_, value) => Value::Text(text::to_string(&value.as_ref(), context.time_zone)),
        },
        // Only a binary string gets the bytes. Everything else reads the text, as from a text column.
        Value::FixedBinary(v) if !matches!(target, DataType::FixedBinary(t) if *t == v.data_type()) => {
            match target.is_binary_string() {
                true => Value::Bytes(v.bytes().to_vec()),
                false => Value::Text(v.to_string()),
            }
        }
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
        DataType::FixedBinary(t) => to_fixed_binary::fixed_binary(value, *t),
    }
}

/// Returns the text of a text or binary string.
fn as_text(value: &Value) -> Option<std::borrow::Cow<'_, str>> {
    match value {
        Value::Text(text) => Some(std::borrow::Cow::Borrowed(text)),
        Value::Bytes(bytes) => Some(String::from_utf8_lossy(bytes)),
        _ => None,
    }
}

/// Returns a value's text in the session's time zone.
fn text_of(value: &ValueRef<'_>, context: &ConvertContext<'_>) -> String {
    text::to_string(value, context.time_zone)
}
