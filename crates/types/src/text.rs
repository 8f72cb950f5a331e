//! Values as text: what the text protocol sends, CAST to CHAR and string functions see.

use crate::data_type::DataType;
use crate::temporal::TimeZone;
use crate::value::ValueRef;

/// Appends a value's text; NULL appends nothing. Binary strings and BIT values append their bytes.
pub fn append_value(_value: &ValueRef<'_>, _time_zone: &TimeZone, _out: &mut Vec<u8>) {
    todo!()
}

/// Appends a value as a column of this type shows it: with ZEROFILL and the fixed decimals of `FLOAT(M,D)`.
pub fn append_column_value(
    _value: &ValueRef<'_>,
    _data_type: &DataType,
    _time_zone: &TimeZone,
    _out: &mut Vec<u8>,
) {
    todo!()
}

/// A value's text (bytes that are no UTF-8 replaced).
pub fn to_string(value: &ValueRef<'_>, time_zone: &TimeZone) -> String {
    let mut out = Vec::new();
    append_value(value, time_zone, &mut out);
    String::from_utf8(out).unwrap_or_else(|e| String::from_utf8_lossy(e.as_bytes()).into_owned())
}

/// Appends a value as the text protocol sends it: length-encoded text, or 0xFB for NULL.
pub fn append_protocol_value(
    _value: &ValueRef<'_>,
    _data_type: Option<&DataType>,
    _time_zone: &TimeZone,
    _out: &mut Vec<u8>,
) {
    todo!()
}

/// Appends a length-encoded integer.
pub fn append_length(length: u64, out: &mut Vec<u8>) {
    match length {
        0..=250 => out.push(length as u8),
        251..=0xffff => {
            out.push(0xfc);
            out.extend_from_slice(&(length as u16).to_le_bytes());
        }
        0x1_0000..=0xff_ffff => {
            out.push(0xfd);
            out.extend_from_slice(&(length as u32).to_le_bytes()[..3]);
        }
        _ => {
            out.push(0xfe);
            out.extend_from_slice(&length.to_le_bytes());
        }
    }
}
