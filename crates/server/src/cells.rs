//! Rows of virtual tables, and their cells.

use paceline_types::Value;
use paceline_types::temporal::Timestamp;

/// A row of a virtual table, in the order of its columns.
pub type Row = Vec<Value>;

/// Returns a text.
pub fn text(value: impl Into<String>) -> Value {
    Value::Text(value.into())
}

/// Returns a text, or NULL.
pub fn text_or_null(value: Option<impl Into<String>>) -> Value {
    value.map_or(Value::Null, text)
}

/// Returns an unsigned number.
pub fn number(value: u64) -> Value {
    Value::UInt(value)
}

/// Returns an unsigned number, or NULL.
pub fn number_or_null(value: Option<u64>) -> Value {
    value.map_or(Value::Null, Value::UInt)
}

/// Returns `YES` or `NO`.
pub fn yes_no(value: bool) -> Value {
    text(if value { "YES" } else { "NO" })
}

/// Returns the second of a time in microseconds since 1970.
pub fn moment(micros: i64) -> Value {
    let seconds = u32::try_from(micros / 1_000_000).unwrap_or(0);
    Value::Timestamp(Timestamp::new(seconds, 0, 0))
}
