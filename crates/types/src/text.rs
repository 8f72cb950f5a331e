//! Values as text, for the text protocol, CAST to CHAR, and string functions.
//!
//! All functions take the session's time zone, because TIMESTAMP values are shown in it. [`append_column_value`] adds
//! what depends on the column rather than the value: ZEROFILL and the fixed decimals of `FLOAT(M,D)`.

use crate::data_type::{DataType, FloatType};
use crate::float_text::{append_double, append_fixed, append_float};
use crate::temporal::{TimeZone, append_padded};
use crate::value::ValueRef;

/// Appends a number's digits.
pub fn append_unsigned(number: u64, out: &mut Vec<u8>) {
    let mut digits = [0u8; 20];
    let mut at = digits.len();
    let mut rest = number;
    while rest >= 100 {
        let pair = (rest % 100) as u8;
        rest /= 100;
        at -= 2;
        digits[at] = b'0' + pair / 10;
        digits[at + 1] = b'0' + pair % 10;
    }
    if rest >= 10 {
        at -= 2;
        digits[at] = b'0' + (rest / 10) as u8;
        digits[at + 1] = b'0' + (rest % 10) as u8;
    } else {
        at -= 1;
        digits[at] = b'0' + rest as u8;
    }
    out.extend_from_slice(&digits[at..]);
}

/// Appends a number's sign and digits.
pub fn append_signed(number: i64, out: &mut Vec<u8>) {
    if number < 0 {
        out.push(b'-');
    }
    append_unsigned(number.unsigned_abs(), out);
}

/// Appends a value's text. NULL appends nothing. Binary strings and BIT values append their bytes.
pub fn append_value(value: &ValueRef<'_>, time_zone: &TimeZone, out: &mut Vec<u8>) {
    match value {
        ValueRef::Null => {}
        ValueRef::Int(v) => append_signed(*v, out),
        ValueRef::UInt(v) => append_unsigned(*v, out),
        ValueRef::Float(v) => append_float(*v, out),
        ValueRef::Double(v) => append_double(*v, out),
        ValueRef::Decimal(v) => v.append_text(out),
        ValueRef::Text(v) => out.extend_from_slice(v.as_bytes()),
        ValueRef::Bytes(v) => out.extend_from_slice(v),
        ValueRef::Date(v) => v.append_text(out),
        ValueRef::Time(v) => v.append_text(out),
        ValueRef::DateTime(v) => v.append_text(out),
        ValueRef::Timestamp(v) => v.to_datetime(time_zone).append_text(out),
        ValueRef::Year(v) => append_padded(u32::from(*v), 4, out),
        ValueRef::Bit(v) => out.extend_from_slice(&v.to_be_bytes()[8 - v.byte_length()..]),
        ValueRef::Enum(v) => out.extend_from_slice(v.label().as_bytes()),
        ValueRef::Set(v) => {
            for (n, label) in v.labels().enumerate() {
                if n > 0 {
                    out.push(b',');
                }
                out.extend_from_slice(label.as_bytes());
            }
        }
        ValueRef::FixedBinary(v) => v.append_text(out),
    }
}

/// Appends a value as a column of this type shows it, with ZEROFILL and the fixed decimals of `FLOAT(M,D)`.
pub fn append_column_value(
    value: &ValueRef<'_>,
    data_type: &DataType,
    time_zone: &TimeZone,
    out: &mut Vec<u8>,
) {
    let start = out.len();
    match (data_type, value) {
        (
            DataType::Float(FloatType {
                fixed: Some(fixed), ..
            }),
            ValueRef::Float(v),
        ) => {
            append_fixed(f64::from(*v), fixed.scale, out);
        }
        (
            DataType::Double(FloatType {
                fixed: Some(fixed), ..
            }),
            ValueRef::Double(v),
        ) => {
            append_fixed(*v, fixed.scale, out);
        }
        _ => append_value(value, time_zone, out),
    }
    if data_type.is_zerofill() && !value.is_null() {
        let width = match data_type {
            DataType::Integer(t) => usize::from(t.display_width),
            // ZEROFILL implies UNSIGNED, so no room for a sign.
            DataType::Decimal(t) => usize::from(t.precision) + usize::from(t.scale > 0),
            DataType::Float(t) => t.fixed.map_or(12, |fixed| usize::from(fixed.precision)),
            DataType::Double(t) => t.fixed.map_or(22, |fixed| usize::from(fixed.precision)),
            _ => 0,
        };
        let have = out.len() - start;
        if have < width {
            out.splice(start..start, std::iter::repeat_n(b'0', width - have));
        }
    }
}

/// Returns a value's text, with U+FFFD for bytes that are not UTF-8; empty for NULL.
pub fn to_string(value: &ValueRef<'_>, time_zone: &TimeZone) -> String {
    let mut out = Vec::new();
    append_value(value, time_zone, &mut out);
    String::from_utf8(out).unwrap_or_else(|e| String::from_utf8_lossy(e.as_bytes()).into_owned())
}

/// Appends a value in the text protocol: its text with its length before it, or 0xFB for NULL. `data_type` is the
/// result column's type, if the value comes directly from a table's column.
pub fn append_protocol_value(
    value: &ValueRef<'_>,
    data_type: Option<&DataType>,
    time_zone: &TimeZone,
    out: &mut Vec<u8>,
) {
    match value {
        ValueRef::Null => out.push(0xfb),
        ValueRef::Text(v) => append_length_and_bytes(v.as_bytes(), out),
        ValueRef::Bytes(v) => append_length_and_bytes(v, out),
        _ => {
            let start = out.len();
            out.push(0);
            match data_type {
                Some(data_type) => append_column_value(value, data_type, time_zone, out),
                None => append_value(value, time_zone, out),
            }
            let length = out.len() - start - 1;
            if length <= 250 {
                out[start] = length as u8;
            } else {
                let text = out.split_off(start + 1);
                out.truncate(start);
                append_length_and_bytes(&text, out);
            }
        }
    }
}

/// Appends a length-encoded string.
pub fn append_length_and_bytes(bytes: &[u8], out: &mut Vec<u8>) {
    append_length(bytes.len() as u64, out);
    out.extend_from_slice(bytes);
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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::data_type::{FixedPoint, IntegerType, IntegerWidth, Sign};
    use crate::value::Value;

    fn column(value: Value, data_type: &DataType) -> String {
        let mut out = Vec::new();
        append_column_value(&value.as_ref(), data_type, &TimeZone::UTC, &mut out);
        String::from_utf8(out).unwrap()
    }

    #[test]
    fn integers_are_written_as_the_standard_library_does() {
        for number in [0, 7, 10, 99, 100, 12345, u64::MAX] {
            let mut out = Vec::new();
            append_unsigned(number, &mut out);
            assert_eq!(String::from_utf8(out).unwrap(), number.to_string());
        }
        assert_eq!(
            to_string(&Value::Int(i64::MIN).as_ref(), &TimeZone::UTC),
            "-9223372036854775808"
        );
    }

    /// Output of such columns in MariaDB 10.11.
    #[test]
    fn zerofill_and_fixed_decimals() {
        let int = IntegerType {
            zerofill: true,
            ..IntegerType::new(IntegerWidth::Int, Sign::Unsigned)
        };
        assert_eq!(column(Value::UInt(42), &DataType::Integer(int)), "0000000042");
        let plain = FloatType {
            zerofill: true,
            sign: Sign::Unsigned,
            fixed: None,
        };
        assert_eq!(
            column(Value::Double(1.5), &DataType::Double(plain)),
            "00000000000000000001.5"
        );
        assert_eq!(column(Value::Float(2.5), &DataType::Float(plain)), "0000000002.5");
        let fixed = FloatType {
            fixed: Some(FixedPoint {
                precision: 8,
                scale: 3,
            }),
            ..plain
        };
        assert_eq!(column(Value::Float(7.5), &DataType::Float(fixed)), "0007.500");
        assert_eq!(column(Value::Null, &DataType::Float(fixed)), "");
    }

    #[test]
    fn protocol_values_begin_with_their_length() {
        let mut out = Vec::new();
        append_protocol_value(&Value::Null.as_ref(), None, &TimeZone::UTC, &mut out);
        append_protocol_value(&Value::Int(-12).as_ref(), None, &TimeZone::UTC, &mut out);
        append_protocol_value(
            &Value::from("x".repeat(300)).as_ref(),
            None,
            &TimeZone::UTC,
            &mut out,
        );
        assert_eq!(out[..8], [0xfb, 3, b'-', b'1', b'2', 0xfc, 0x2c, 0x01]);
        assert_eq!(out.len(), 8 + 300);
    }
}
