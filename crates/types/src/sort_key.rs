//! Sort keys: index keys whose bytes sort as the values do.
//!
//! Each column's key either has a fixed length or ends with an end marker that sorts correctly, so the keys of several
//! columns are concatenated without separators. Two values have the same key exactly if they are equal in an index:
//! `'a'` and `'a '` under PAD SPACE, 0.0 and -0.0.
//!
//! | type | key |
//! |---|---|
//! | NULL-able column | 0 for NULL, else 1 and the key |
//! | integers | big-endian in the column's width, the sign bit inverted if signed |
//! | DECIMAL, TIME, DATETIME, TIMESTAMP, YEAR | as in the row image, which sorts |
//! | FLOAT, DOUBLE | big-endian, the sign bit inverted, negative ones all bits |
//! | DATE | 3 bytes big-endian |
//! | BIT, ENUM, SET | the number, big-endian |
//! | text | by collation, see [`crate::collation`] |
//! | BINARY(n) | n bytes |
//! | UUID, INET6, INET4 | see [`crate::FixedBinary`] |
//! | VARBINARY, BLOB | bytes with 00 written as 00 FF, end marker 00 00 |

use crate::collation::{Collation, first_characters, order};
use crate::data_type::{DataType, Sign};
use crate::decimal::Decimal;
use crate::error::{Error, Result};
use crate::row_image::{
    Columns, enum_bytes, fraction_bytes, pack_date, pack_datetime, pack_time, pack_timestamp, pack_year,
    set_bytes,
};
use crate::value::ValueRef;

/// Whether a column of a key may be NULL, and therefore begins with a marker byte.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, serde::Serialize, serde::Deserialize)]
pub enum Nullability {
    /// NOT NULL: no marker.
    NotNull,
    /// A marker byte: 1, or 0 for NULL, which therefore sorts first.
    Nullable,
}

/// Marker of NULL in a nullable column.
pub const NULL_MARKER: u8 = 0;
/// Marker of a value in a nullable column.
pub const VALUE_MARKER: u8 = 1;

/// Appends the key of the next column of a row image and advances. Returns whether the column is NULL.
///
/// # Errors
/// The errors of [`append`]; `TruncatedImage`, `InvalidImage`.
pub fn append_column(
    columns: &mut Columns<'_>,
    nullability: Nullability,
    prefix: Option<u32>,
    out: &mut Vec<u8>,
) -> Result<bool> {
    let column = Columns::position(columns);
    if let Some(DataType::Integer(integer)) = columns.next_type() {
        // Most keys consist of integers: reverse their bytes.
        if let Some(packed) = columns.next_packed()? {
            append_marker(nullability, out);
            let start = out.len();
            out.extend(packed.iter().rev());
            if integer.sign == Sign::Signed {
                out[start] ^= 0x80;
            }
            return Ok(false);
        }
        append(
            &ValueRef::Null,
            &DataType::Integer(*integer),
            nullability,
            prefix,
            out,
        )?;
        return Ok(true);
    }
    let data_type = columns.next_type().ok_or(Error::TruncatedImage { column })?;
    let value = columns.seek(column)?;
    append(&value, data_type, nullability, prefix, out)?;
    Ok(value.is_null())
}

/// Appends the marker of a value, if the column is nullable.
fn append_marker(nullability: Nullability, out: &mut Vec<u8>) {
    if nullability == Nullability::Nullable {
        out.push(VALUE_MARKER);
    }
}

/// Appends the key of a value of a column of this type. `prefix` is the number of characters (bytes of a binary string)
/// in an index on `column(n)`. The value must be one that the column can hold (`convert::assign`).
///
/// # Errors
/// `WrongType` (its column always 0) if the value's kind does not match the column, or if it is NULL in a NOT NULL
/// column.
pub fn append(
    value: &ValueRef<'_>,
    data_type: &DataType,
    nullability: Nullability,
    prefix: Option<u32>,
    out: &mut Vec<u8>,
) -> Result<()> {
    let wrong = || Error::WrongType {
        column: 0,
        expected: data_type.name(),
        value: value.kind(),
    };
    match (nullability, value.is_null()) {
        (Nullability::Nullable, true) => {
            out.push(NULL_MARKER);
            return Ok(());
        }
        (Nullability::NotNull, true) => return Err(wrong()),
        (_, false) => append_marker(nullability, out),
    }
    match (data_type, value) {
        (DataType::Integer(t), _) => {
            let raw = match (t.sign, value) {
                (Sign::Signed, ValueRef::Int(v)) => *v as u64,
                (Sign::Unsigned, ValueRef::UInt(v)) => *v,
                (Sign::Signed, ValueRef::UInt(v)) => i64::try_from(*v).map_err(|_| wrong())? as u64,
                (Sign::Unsigned, ValueRef::Int(v)) => u64::try_from(*v).map_err(|_| wrong())?,
                _ => return Err(wrong()),
            };
            let bytes = t.width.bytes();
            let flip = if t.sign == Sign::Signed {
                1u64 << (8 * bytes - 1)
            } else {
                0
            };
            out.extend_from_slice(&(raw ^ flip).to_be_bytes()[8 - bytes..]);
        }
        (
            DataType::Char { collation, .. }
            | DataType::VarChar { collation, .. }
            | DataType::Text { collation, .. },
            ValueRef::Text(v),
        ) => collation.append_sort_key(v, prefix, out),
        (DataType::Json, ValueRef::Text(v)) => Collation::Utf8mb4Bin.append_sort_key(v, prefix, out),
        (DataType::Binary { length }, ValueRef::Bytes(v)) => {
            let length = usize::from(*length).min(prefix.map_or(usize::MAX, |prefix| prefix as usize));
            let used = v.len().min(length);
            out.extend_from_slice(&v[..used]);
            out.resize(out.len() + length - used, 0);
        }
        (DataType::VarBinary { .. } | DataType::Blob { .. }, ValueRef::Bytes(v)) => {
            let length = v.len().min(prefix.map_or(usize::MAX, |prefix| prefix as usize));
            order::key_binary(&v[..length], out);
        }
        (DataType::Decimal(t), ValueRef::Decimal(v)) => v.append_binary(t.precision, t.scale, out),
        (DataType::Float(_), ValueRef::Float(v)) => {
            let bits = if *v == 0.0 { 0 } else { v.to_bits() };
            let flip = if bits >> 31 == 1 { u32::MAX } else { 1 << 31 };
            out.extend_from_slice(&(bits ^ flip).to_be_bytes());
        }
        (DataType::Double(_), ValueRef::Double(v)) => {
            let bits = if *v == 0.0 { 0 } else { v.to_bits() };
            let flip = if bits >> 63 == 1 { u64::MAX } else { 1 << 63 };
            out.extend_from_slice(&(bits ^ flip).to_be_bytes());
        }
        (DataType::Bit { length }, ValueRef::Bit(v)) => {
            out.extend_from_slice(&v.bits.to_be_bytes()[8 - usize::from(length.div_ceil(8))..]);
        }
        (DataType::Date, ValueRef::Date(v)) => out.extend_from_slice(&pack_date(*v).to_be_bytes()[1..]),
        (DataType::Time { decimals }, ValueRef::Time(v)) => pack_time(*v, *decimals, out),
        (DataType::DateTime { decimals }, ValueRef::DateTime(v)) => pack_datetime(*v, *decimals, out),
        (DataType::Timestamp { decimals }, ValueRef::Timestamp(v)) => pack_timestamp(*v, *decimals, out),
        (DataType::Year, ValueRef::Year(v)) => out.push(pack_year(*v).ok_or_else(wrong)?),
        (DataType::Enum { labels, .. }, ValueRef::Enum(v)) => {
            out.extend_from_slice(&v.index.to_be_bytes()[2 - enum_bytes(labels.len())..]);
        }
        (DataType::Set { labels, .. }, ValueRef::Set(v)) => {
            out.extend_from_slice(&v.bits.to_be_bytes()[8 - set_bytes(labels.len())..]);
        }
        (DataType::FixedBinary(t), ValueRef::FixedBinary(v)) if v.data_type() == *t => v.append_sort_key(out),
        _ => return Err(wrong()),
    }
    Ok(())
}

/// Returns the length of the key of such a column without a NULL marker, or `None` if it depends on the value.
pub fn fixed_length(data_type: &DataType, prefix: Option<u32>) -> Option<usize> {
    Some(match data_type {
        DataType::Integer(integer) => integer.width.bytes(),
        DataType::Decimal(decimal) => Decimal::binary_length(decimal.precision, decimal.scale),
        DataType::Float(_) => 4,
        DataType::Double(_) => 8,
        DataType::Bit { length } => usize::from(length.div_ceil(8)),
        DataType::Date => 3,
        DataType::Time { decimals } => 3 + fraction_bytes(*decimals),
        DataType::DateTime { decimals } => 5 + fraction_bytes(*decimals),
        DataType::Timestamp { decimals } => 4 + fraction_bytes(*decimals),
        DataType::Year => 1,
        DataType::Enum { labels, .. } => enum_bytes(labels.len()),
        DataType::Set { labels, .. } => set_bytes(labels.len()),
        DataType::Binary { length } => {
            usize::from(*length).min(prefix.map_or(usize::MAX, |prefix| prefix as usize))
        }
        DataType::FixedBinary(t) => t.bytes(),
        _ => return None,
    })
}

/// Appends the NULL marker, if the column is nullable.
pub fn append_null(nullability: Nullability, out: &mut Vec<u8>) {
    if nullability == Nullability::Nullable {
        out.push(NULL_MARKER);
    }
}

/// Appends the common prefix of the keys of all values of a text or binary column that begin with `beginning` (for
/// `LIKE 'beginning%'`). The keys of some other values may have the same prefix. Nothing is appended for characters
/// beyond the index's prefix length.
pub fn append_beginning(
    beginning: &str,
    data_type: &DataType,
    nullability: Nullability,
    prefix: Option<u32>,
    out: &mut Vec<u8>,
) {
    if nullability == Nullability::Nullable {
        out.push(VALUE_MARKER);
    }
    match data_type {
        DataType::Binary { .. } => {
            let bytes = beginning.as_bytes();
            out.extend_from_slice(&bytes[..bytes.len().min(prefix.map_or(usize::MAX, |n| n as usize))]);
        }
        DataType::VarBinary { .. } | DataType::Blob { .. } => {
            let bytes = beginning.as_bytes();
            order::key_binary_open(
                &bytes[..bytes.len().min(prefix.map_or(usize::MAX, |n| n as usize))],
                out,
            );
        }
        _ => data_type
            .collation()
            .append_open_sort_key(first_characters(beginning, prefix), out),
    }
}

/// Returns the lowest key above all keys that start with `key`, as the end of a range search. `None` if there is none.
pub fn after_prefix(key: &[u8]) -> Option<Vec<u8>> {
    let last = key.iter().rposition(|&byte| byte != 0xff)?;
    let mut end = key[..=last].to_vec();
    end[last] += 1;
    Some(end)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::any_value::{data_types, values};
    use crate::row_image::RowLayout;
    use crate::value::Value;
    use proptest::prelude::*;
    use std::cmp::Ordering;

    /// Compares two values of a column as a MariaDB index does.
    fn order(a: &Value, b: &Value, data_type: &DataType) -> Ordering {
        match (a, b) {
            (Value::Int(a), Value::Int(b)) => a.cmp(b),
            (Value::UInt(a), Value::UInt(b)) => a.cmp(b),
            (Value::Float(a), Value::Float(b)) => a.partial_cmp(b).unwrap(),
            (Value::Double(a), Value::Double(b)) => a.partial_cmp(b).unwrap(),
            (Value::Decimal(a), Value::Decimal(b)) => a.cmp(b),
            (Value::Text(a), Value::Text(b)) => data_type.collation().compare(a, b),
            (Value::Bytes(a), Value::Bytes(b)) => a.cmp(b),
            (Value::Date(a), Value::Date(b)) => a.cmp(b),
            (Value::Time(a), Value::Time(b)) => a.cmp(b),
            (Value::DateTime(a), Value::DateTime(b)) => a.cmp(b),
            (Value::Timestamp(a), Value::Timestamp(b)) => a.cmp(b),
            (Value::Year(a), Value::Year(b)) => a.cmp(b),
            (Value::Bit(a), Value::Bit(b)) => a.bits.cmp(&b.bits),
            (Value::Enum(a), Value::Enum(b)) => a.index.cmp(&b.index),
            (Value::Set(a), Value::Set(b)) => a.bits.cmp(&b.bits),
            (Value::FixedBinary(a), Value::FixedBinary(b)) => a.compare(b),
            other => panic!("{other:?}"),
        }
    }

    fn key(value: &Value, data_type: &DataType, nullability: Nullability) -> Vec<u8> {
        let mut out = Vec::new();
        append(&value.as_ref(), data_type, nullability, None, &mut out).unwrap();
        out
    }

    fn pairs() -> impl Strategy<Value = (DataType, Value, Value)> {
        data_types().prop_flat_map(|data_type| {
            let (a, b) = (values(&data_type), values(&data_type));
            (Just(data_type), a, b)
        })
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(2000))]

        #[test]
        fn keys_sort_as_values((data_type, a, b) in pairs()) {
            let (x, y) = (key(&a, &data_type, Nullability::NotNull), key(&b, &data_type, Nullability::NotNull));
            prop_assert_eq!(x.cmp(&y), order(&a, &b, &data_type), "{:?} {:?}", x, y);
        }

        #[test]
        fn fixed_length_is_the_length_of_every_key((data_type, value, _) in pairs()) {
            if let Some(length) = fixed_length(&data_type, None) {
                prop_assert_eq!(key(&value, &data_type, Nullability::NotNull).len(), length);
            }
        }

        #[test]
        fn keys_of_image_columns_equal_those_of_their_values((data_type, value, _) in pairs(), is_null: bool) {
            let value = if is_null { Value::Null } else { value };
            let layout = RowLayout::new([data_type.clone()]);
            let mut image = Vec::new();
            layout.encode(std::slice::from_ref(&value), &mut image).unwrap();
            for nullability in [Nullability::NotNull, Nullability::Nullable] {
                let (mut of_image, mut of_value) = (Vec::new(), Vec::new());
                let mut columns = layout.image(&image).columns();
                let appended = append_column(&mut columns, nullability, None, &mut of_image);
                let expected = append(&value.as_ref(), &data_type, nullability, None, &mut of_value);
                prop_assert_eq!(appended, expected.map(|()| is_null));
                prop_assert_eq!(of_image, of_value);
                prop_assert!(append_column(&mut columns, nullability, None, &mut Vec::new()).is_err());
            }
        }

        #[test]
        fn composite_keys_sort_column_by_column((first, a, b) in pairs(), (second, c, d) in pairs()) {
            let both = |one: &Value, two: &Value| {
                let mut out = key(one, &first, Nullability::Nullable);
                out.extend(key(two, &second, Nullability::NotNull));
                out
            };
            let expected = order(&a, &b, &first).then(order(&c, &d, &second));
            prop_assert_eq!(both(&a, &c).cmp(&both(&b, &d)), expected);
            prop_assert!(both(&Value::Null, &d) < both(&a, &c));
        }

        #[test]
        fn keys_start_with_the_keys_of_their_beginnings(start in "[ab \t!ä]{0,4}", rest in "[ab \t!ä]{0,4}", prefix in 1u32..6) {
            for data_type in [
                DataType::VarChar { length: 20, collation: Collation::Utf8mb4GeneralCi },
                DataType::Text { size: crate::BlobSize::Long, collation: Collation::Utf8mb4Bin },
            ] {
                let mut open = Vec::new();
                append_beginning(&start, &data_type, Nullability::Nullable, Some(prefix), &mut open);
                let mut whole = Vec::new();
                let text = Value::Text(format!("{start}{rest}"));
                append(&text.as_ref(), &data_type, Nullability::Nullable, Some(prefix), &mut whole).unwrap();
                prop_assert!(whole.starts_with(&open));
                prop_assert!(after_prefix(&open).is_none_or(|end| whole < end));
            }
        }
    }

    #[test]
    fn prefixes_count_characters() {
        let data_type = DataType::VarChar {
            length: 20,
            collation: Collation::Utf8mb4GeneralCi,
        };
        let cut = |text: &str, prefix| {
            let mut out = Vec::new();
            append(
                &Value::from(text).as_ref(),
                &data_type,
                Nullability::NotNull,
                prefix,
                &mut out,
            )
            .unwrap();
            out
        };
        assert_eq!(cut("äöü", Some(2)), cut("ao", None));
        assert_eq!(cut("a  b", Some(3)), cut("a", None));
        assert_eq!(after_prefix(&[1, 0xff]), Some(vec![2]));
        assert_eq!(after_prefix(&[0xff]), None);
    }

    #[test]
    fn rejects_values_that_need_conversion() {
        let int = DataType::Integer(crate::IntegerType::new(crate::IntegerWidth::Int, Sign::Signed));
        let mut out = Vec::new();
        assert!(
            append(
                &Value::from("1").as_ref(),
                &int,
                Nullability::NotNull,
                None,
                &mut out
            )
            .is_err()
        );
        assert!(append(&Value::Null.as_ref(), &int, Nullability::NotNull, None, &mut out).is_err());
    }
}
