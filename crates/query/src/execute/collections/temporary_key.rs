//! Keys of expression values whose bytes sort and compare as the values do, for sorting, grouping, DISTINCT and hash
//! tables.
//!
//! They resemble index keys ([`paceline_types::sort_key`]), but the values of expressions are not bound to a column's
//! exact type: numbers of one class (signed and unsigned, of any scale) are comparable with each other.

use std::borrow::Cow;

use paceline_types::{DataType, TimeZone, Value, ValueRef};

use paceline_expression::{Class, ExprType, SortOrder};

/// Appends the key of an expression's value with this type. NULL sorts first.
pub(crate) fn append(value: &Value, ty: &ExprType, out: &mut Vec<u8>) {
    match value {
        Value::Null => {
            out.push(0);
            return;
        }
        _ => out.push(1),
    }
    match (ty.class(), value) {
        (Class::Decimal, Value::Int(_) | Value::UInt(_) | Value::Decimal(_)) => append_decimal(value, out),
        (Class::Double, value) => append_double(value, out),
        (_, Value::Int(number)) if *number < 0 => {
            out.push(0);
            out.extend_from_slice(&number.to_be_bytes());
        }
        (_, Value::Int(number)) => append_unsigned(*number as u64, out),
        (_, Value::UInt(number)) => append_unsigned(*number, out),
        (_, Value::Year(year)) => append_unsigned(u64::from(*year), out),
        (_, Value::Bit(bits)) => append_unsigned(bits.bits, out),
        (_, Value::Enum(value)) => append_unsigned(u64::from(value.index), out),
        (_, Value::Set(value)) => append_unsigned(value.bits, out),
        (_, Value::Decimal(_)) => append_decimal(value, out),
        (_, Value::Float(_) | Value::Double(_)) => append_double(value, out),
        (_, Value::Text(text)) => match &ty.data_type {
            data_type
                if data_type.is_text()
                    || matches!(data_type, DataType::Enum { .. } | DataType::Set { .. }) =>
            {
                data_type.collation().append_sort_key(text, None, out);
            }
            _ => paceline_types::Collation::Utf8mb4GeneralCi.append_sort_key(text, None, out),
        },
        (_, Value::Bytes(bytes)) => paceline_types::sort_key::append(
            &ValueRef::Bytes(Cow::Borrowed(bytes)),
            &DataType::Blob {
                size: paceline_types::BlobSize::Long,
            },
            paceline_types::sort_key::Nullability::NotNull,
            None,
            out,
        )
        .expect("bytes fit a BLOB"),
        (_, Value::Date(date)) => append_moment(date.at_midnight(), out),
        (_, Value::DateTime(moment)) => append_moment(*moment, out),
        (_, Value::Timestamp(instant)) => append_moment(instant.to_datetime(&TimeZone::UTC), out),
        (_, Value::Time(time)) => out.extend_from_slice(&(time.micros() as u64 ^ (1 << 63)).to_be_bytes()),
        (_, Value::FixedBinary(value)) => value.append_sort_key(out),
        (_, Value::Null) => unreachable!("NULL was handled above"),
    }
}

/// Like [`append`], for descending order.
pub(crate) fn append_descending(value: &Value, ty: &ExprType, out: &mut Vec<u8>) {
    let start = out.len();
    append(value, ty, out);
    for byte in &mut out[start..] {
        *byte = !*byte;
    }
}

/// Appends the key of a value in this order.
pub(crate) fn append_ordered(value: &Value, ty: &ExprType, order: SortOrder, out: &mut Vec<u8>) {
    match order {
        SortOrder::Ascending => append(value, ty, out),
        SortOrder::Descending => append_descending(value, ty, out),
    }
}

fn append_unsigned(number: u64, out: &mut Vec<u8>) {
    out.push(1);
    out.extend_from_slice(&number.to_be_bytes());
}

fn append_double(value: &Value, out: &mut Vec<u8>) {
    let number = match value {
        Value::Float(number) => f64::from(*number),
        Value::Double(number) => *number,
        Value::Int(number) => *number as f64,
        Value::UInt(number) => *number as f64,
        Value::Decimal(number) => number.to_f64(),
        other => paceline_types::convert::to_double(other, &TimeZone::UTC).map_or(0.0, |(number, _)| number),
    };
    let bits = if number == 0.0 { 0 } else { number.to_bits() };
    let flip = if bits >> 63 == 1 { u64::MAX } else { 1 << 63 };
    out.extend_from_slice(&(bits ^ flip).to_be_bytes());
}

fn append_moment(moment: paceline_types::DateTime, out: &mut Vec<u8>) {
    out.extend_from_slice(&moment.date.to_number().to_be_bytes());
    out.extend_from_slice(&moment.micros_of_day().to_be_bytes());
}

/// Appends sign, number of digits before the point, digits without trailing zeros, and an end mark, all inverted for
/// negative numbers.
fn append_decimal(value: &Value, out: &mut Vec<u8>) {
    let mut text = Vec::with_capacity(32);
    paceline_types::text::append_value(&value.as_ref(), &TimeZone::UTC, &mut text);
    let negative = text.first() == Some(&b'-');
    let digits = &text[usize::from(negative)..];
    let (whole, fraction) = match digits.iter().position(|byte| *byte == b'.') {
        Some(point) => (&digits[..point], &digits[point + 1..]),
        None => (digits, &[][..]),
    };
    let whole = &whole[whole.iter().take_while(|digit| **digit == b'0').count()..];
    let fraction = &fraction[..fraction
        .iter()
        .rposition(|digit| *digit != b'0')
        .map_or(0, |last| last + 1)];
    if whole.is_empty() && fraction.is_empty() {
        out.push(1);
        return;
    }
    let start = out.len() + 1;
    out.push(if negative { 0 } else { 2 });
    out.push(whole.len() as u8);
    out.extend_from_slice(whole);
    out.extend_from_slice(fraction);
    out.push(0);
    if negative {
        for byte in &mut out[start..] {
            *byte = !*byte;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn key(value: &Value, ty: &ExprType) -> Vec<u8> {
        let mut out = Vec::new();
        append(value, ty, &mut out);
        out
    }

    fn decimal(text: &str) -> Value {
        Value::Decimal(paceline_types::convert::text_to_decimal(text).0)
    }

    #[test]
    fn integers_sort_across_signs() {
        let ty = ExprType::bigint(20);
        let values = [
            Value::Null,
            Value::Int(i64::MIN),
            Value::Int(-1),
            Value::Int(0),
            Value::UInt(1),
            Value::UInt(u64::MAX),
        ];
        let keys: Vec<_> = values.iter().map(|value| key(value, &ty)).collect();
        assert!(keys.is_sorted());
        assert_eq!(key(&Value::Int(7), &ty), key(&Value::UInt(7), &ty));
    }

    #[test]
    fn decimals_sort_across_scales() {
        let ty = ExprType::decimal(20, 4);
        let values = [
            "-12.5", "-12.25", "-1", "-0.5", "0", "0.05", "0.5", "1.25", "1.5", "9", "10", "10.01",
        ];
        let keys: Vec<_> = values.iter().map(|text| key(&decimal(text), &ty)).collect();
        assert!(keys.is_sorted());
        assert_eq!(key(&decimal("1.50"), &ty), key(&decimal("1.5"), &ty));
        assert_eq!(key(&Value::Int(3), &ty), key(&decimal("3.00"), &ty));
    }
}
