//! Conversions between types as in MariaDB: on assignment to a column ([`assign`]), and implicitly in expressions.
//!
//! An assignment always returns a value that the column can hold, and describes any loss in a [`Problem`]. The
//! statement decides whether that is an error: strict mode turns a warning into an error; a note stays a note. The
//! error may have another number than the warning (a text that is too long: warning 1265, error 1406), so a problem has
//! both.
//!
//! `tests/vectors/assignments.txt` has the results of MariaDB 10.11 for some 6,000 pairs of literal and column type.

mod assignment;
mod number;
mod to_fixed_binary;
mod to_number;
mod to_temporal;
mod to_text;

pub use assignment::{ConvertContext, ConvertedValue, Problem, Severity};
pub use number::{
    Completeness, text_to_decimal, text_to_double, text_to_integer, to_decimal, to_double, to_integer,
};
pub use to_temporal::{number_to_datetime, number_to_interval, to_datetime, to_time, to_time_clipped};
pub use to_text::in_charset;

use crate::data_type::DataType;
use crate::text;
use crate::value::Value;

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
