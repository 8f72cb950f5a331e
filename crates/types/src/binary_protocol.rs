//! Values in the binary protocol of prepared statements: result rows out, parameters in.

use crate::data_type::FieldType;
use crate::error::Result;
use crate::temporal::TimeZone;
use crate::value::{Value, ValueRef};

/// Appends one result row: header byte, NULL bitmap, values in the form that each column's type asks for.
pub fn append_row<'a>(
    _values: impl ExactSizeIterator<Item = ValueRef<'a>>,
    _types: &[FieldType],
    _time_zone: &TimeZone,
    _out: &mut Vec<u8>,
) {
    todo!()
}

/// Appends one value that is not NULL in the form of that column type.
pub fn append_value(
    _value: &ValueRef<'_>,
    _field_type: FieldType,
    _time_zone: &TimeZone,
    _out: &mut Vec<u8>,
) {
    todo!()
}

/// The type of a parameter as COM_STMT_EXECUTE names it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ParameterType {
    /// How it is encoded.
    pub field_type: FieldType,
    /// Whether an integer is unsigned (0x8000 in the type).
    pub sign: crate::data_type::Sign,
}

/// Reads the values of a COM_STMT_EXECUTE: the NULL bitmap and the values that follow it. `long_data[i]` is what
/// COM_STMT_SEND_LONG_DATA brought for parameter *i*. Strings become `Value::Text` if they are UTF-8 and the type is not a BLOB's,
/// else `Value::Bytes`.
///
/// # Errors
/// `MalformedParameters` if the bytes end early or a type is unknown.
pub fn decode_parameters(
    _types: &[ParameterType],
    _null_bitmap: &[u8],
    _values: &[u8],
    _long_data: &[Option<Vec<u8>>],
) -> Result<Vec<Value>> {
    todo!()
}
