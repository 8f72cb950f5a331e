//! Assignment to UUID, INET6 and INET4.

use super::assignment::{ConvertedValue, Problem, printable};
use crate::error_code::ER_TRUNCATED_WRONG_VALUE;
use crate::fixed_binary::FixedBinaryType;
use crate::value::Value;

/// Converts a text, or a binary string of the type's length. Any other string becomes NULL, and a number or a date the
/// value of zero bytes, both with 1292.
pub(super) fn fixed_binary(value: Value, target: FixedBinaryType) -> ConvertedValue {
    let read = match &value {
        Value::FixedBinary(read) if read.data_type() == target => Some(*read),
        Value::Text(text) => target.parse(text),
        Value::Bytes(bytes) => target.from_bytes(bytes),
        _ => return ConvertedValue::with(Value::FixedBinary(target.zero()), incorrect(target, &value)),
    };
    match read {
        Some(read) => ConvertedValue::fine(Value::FixedBinary(read.stored())),
        None => ConvertedValue::with(Value::Null, incorrect(target, &value)),
    }
}

#[cold]
fn incorrect(target: FixedBinaryType, value: &Value) -> Problem {
    Problem {
        incorrect: Some((target.name(), printable(value))),
        ..Problem::new(ER_TRUNCATED_WRONG_VALUE, ER_TRUNCATED_WRONG_VALUE)
    }
}
