//! Decoding of values from sort keys, for index scans that do not read the rows.
//!
//! The keys of most types determine the value. Those of text do not: `'a'`, `'A'` and `'a '` may have the same key. The
//! key of -0.0 is that of 0.0. A key of a column prefix does not contain the rest of the value. Such keys can only be
//! skipped.

use crate::collation::order;
use crate::data_type::{DataType, Sign};
use crate::decimal::Decimal;
use crate::error::{Error, Result};
use crate::row_image::{enum_bytes, fraction_bytes, set_bytes, unpack, unpack_integer};
use crate::sort_key::{NULL_MARKER, Nullability};
use crate::value::{Value, ValueRef};

/// Reader of the columns of a key, in order.
#[derive(Clone, Debug)]
pub struct KeyReader<'a> {
    rest: &'a [u8],
}

/// Returns whether the key of a whole value of this type determines the value.
pub fn determines_value(data_type: &DataType) -> bool {
    match data_type {
        DataType::Integer(_)
        | DataType::Decimal(_)
        | DataType::Bit { .. }
        | DataType::Binary { .. }
        | DataType::VarBinary { .. }
        | DataType::Blob { .. }
        | DataType::Date
        | DataType::Time { .. }
        | DataType::DateTime { .. }
        | DataType::Timestamp { .. }
        | DataType::Year
        | DataType::Enum { .. }
        | DataType::Set { .. }
        | DataType::FixedBinary(_) => true,
        DataType::Float(_)
        | DataType::Double(_)
        | DataType::Char { .. }
        | DataType::VarChar { .. }
        | DataType::Text { .. }
        | DataType::Json => false,
    }
}

/// Returns the length of the key of a value at the start of `bytes`.
fn length(data_type: &DataType, prefix: Option<u32>, bytes: &[u8]) -> Option<usize> {
    Some(match data_type {
        DataType::Integer(integer) => integer.width.bytes(),
        DataType::Decimal(decimal) => Decimal::binary_length(decimal.precision, decimal.scale),
        DataType::Float(_) => 4,
        DataType::Double(_) => 8,
        DataType::Bit { length } => usize::from(length.div_ceil(8)),
        DataType::Char { collation, .. }
        | DataType::VarChar { collation, .. }
        | DataType::Text { collation, .. } => collation.sort_key_length(bytes)?,
        DataType::Json => crate::Collation::Utf8mb4Bin.sort_key_length(bytes)?,
        DataType::Binary { length } => {
            usize::from(*length).min(prefix.map_or(usize::MAX, |prefix| prefix as usize))
        }
        DataType::VarBinary { .. } | DataType::Blob { .. } => order::key_binary_length(bytes)?,
        DataType::Date => 3,
        DataType::Time { decimals } => 3 + fraction_bytes(*decimals),
        DataType::DateTime { decimals } => 5 + fraction_bytes(*decimals),
        DataType::Timestamp { decimals } => 4 + fraction_bytes(*decimals),
        DataType::Year => 1,
        DataType::Enum { labels, .. } => enum_bytes(labels.len()),
        DataType::Set { labels, .. } => set_bytes(labels.len()),
        DataType::FixedBinary(t) => t.bytes(),
    })
}

impl<'a> KeyReader<'a> {
    /// Reads the columns at the start of `bytes`.
    pub fn new(bytes: &'a [u8]) -> Self {
        KeyReader { rest: bytes }
    }

    /// Returns the bytes that have not been read.
    pub fn rest(&self) -> &'a [u8] {
        self.rest
    }

    /// Returns the bytes of the next column's value and advances, or `None` for NULL.
    #[inline]
    fn take(
        &mut self,
        data_type: &DataType,
        nullability: Nullability,
        prefix: Option<u32>,
    ) -> Result<Option<&'a [u8]>> {
        let short = Error::TruncatedImage { column: 0 };
        if nullability == Nullability::Nullable {
            let (marker, rest) = self
                .rest
                .split_first()
                .ok_or(Error::TruncatedImage { column: 0 })?;
            self.rest = rest;
            if *marker == NULL_MARKER {
                return Ok(None);
            }
        }
        let length = length(data_type, prefix, self.rest).ok_or(Error::TruncatedImage { column: 0 })?;
        let (key, rest) = self.rest.split_at_checked(length).ok_or(short)?;
        self.rest = rest;
        Ok(Some(key))
    }

    /// Skips the next column.
    ///
    /// # Errors
    /// `TruncatedImage` (its column always 0) if the key ends too early.
    pub fn skip(
        &mut self,
        data_type: &DataType,
        nullability: Nullability,
        prefix: Option<u32>,
    ) -> Result<()> {
        self.take(data_type, nullability, prefix).map(|_| ())
    }

    /// Copies the value of the next column into `target` and reuses its memory if possible. The key must contain the
    /// whole value.
    ///
    /// # Errors
    /// `TruncatedImage`, `InvalidImage` (their column always 0).
    ///
    /// # Panics
    /// If keys of this type do not [determine their value](determines_value).
    #[inline]
    pub fn next_into(
        &mut self,
        data_type: &DataType,
        nullability: Nullability,
        target: &mut Value,
    ) -> Result<()> {
        let Some(key) = self.take(data_type, nullability, None)? else {
            *target = Value::Null;
            return Ok(());
        };
        let mut bytes = [0; 8];
        let value = match data_type {
            DataType::Integer(integer) => {
                let bytes = reversed(key, &mut bytes);
                if integer.sign == Sign::Signed
                    && let Some(highest) = bytes.last_mut()
                {
                    *highest ^= 0x80;
                }
                unpack_integer(*integer, bytes).store_in(target);
                return Ok(());
            }
            DataType::Date | DataType::Enum { .. } | DataType::Set { .. } => {
                unpack(data_type, reversed(key, &mut bytes)).map(ValueRef::into_owned)
            }
            DataType::VarBinary { .. } | DataType::Blob { .. } => Some(Value::Bytes(unescaped(key))),
            DataType::FixedBinary(t) => t.read_sort_key(key).map(Value::FixedBinary),
            DataType::Decimal(_)
            | DataType::Bit { .. }
            | DataType::Binary { .. }
            | DataType::Time { .. }
            | DataType::DateTime { .. }
            | DataType::Timestamp { .. }
            | DataType::Year => unpack(data_type, key).map(ValueRef::into_owned),
            DataType::Float(_)
            | DataType::Double(_)
            | DataType::Char { .. }
            | DataType::VarChar { .. }
            | DataType::Text { .. }
            | DataType::Json => unreachable!("a key of {} does not determine its value", data_type.name()),
        };
        *target = value.ok_or(Error::InvalidImage {
            column: 0,
            expected: data_type.name(),
        })?;
        Ok(())
    }
}

/// Reverses up to eight bytes.
#[inline]
fn reversed<'b>(key: &[u8], bytes: &'b mut [u8; 8]) -> &'b mut [u8] {
    let bytes = &mut bytes[..key.len()];
    for (target, byte) in bytes.iter_mut().zip(key.iter().rev()) {
        *target = *byte;
    }
    bytes
}

/// Decodes a binary string from its key. The end marker is part of the key.
fn unescaped(key: &[u8]) -> Vec<u8> {
    let mut bytes = Vec::with_capacity(key.len());
    let mut key = key[..key.len() - 2].iter();
    while let Some(&byte) = key.next() {
        bytes.push(byte);
        if byte == 0 {
            key.next();
        }
    }
    bytes
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::any_value::{data_types, values};
    use crate::sort_key;
    use proptest::prelude::*;

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(2000))]

        #[test]
        fn values_are_decoded_from_their_keys(
            columns in proptest::collection::vec(
                data_types().prop_flat_map(|data_type| (Just(data_type.clone()), values(&data_type), any::<bool>(), any::<bool>())),
                1..4,
            ),
        ) {
            let mut key = Vec::new();
            let columns: Vec<_> = columns
                .into_iter()
                .map(|(data_type, value, nullable, is_null)| match nullable {
                    true if is_null => (data_type, Value::Null, Nullability::Nullable),
                    true => (data_type, value, Nullability::Nullable),
                    false => (data_type, value, Nullability::NotNull),
                })
                .collect();
            for (data_type, value, nullability) in &columns {
                sort_key::append(&value.as_ref(), data_type, *nullability, None, &mut key).unwrap();
            }
            let mut reader = KeyReader::new(&key);
            for (data_type, value, nullability) in &columns {
                if determines_value(data_type) {
                    let mut read = Value::Null;
                    reader.next_into(data_type, *nullability, &mut read).unwrap();
                    prop_assert_eq!(&read, value);
                } else {
                    reader.skip(data_type, *nullability, None).unwrap();
                }
            }
            prop_assert!(reader.rest.is_empty());
        }

        #[test]
        fn text_is_skipped_in_every_collation(text in "[a-c \t~äß€😀]{0,6}", prefix in proptest::option::of(1u32..4)) {
            for collation in crate::Collation::all() {
                let mut key = Vec::new();
                collation.append_sort_key(&text, prefix, &mut key);
                let length = key.len();
                key.extend_from_slice(&[0, 0x21, 0xff, 0, 0]);
                prop_assert_eq!(collation.sort_key_length(&key), Some(length), "{:?}", collation);
            }
        }
    }

    #[test]
    fn a_key_that_ends_early_is_an_error() {
        let data_type = DataType::Date;
        let mut value = Value::Null;
        for key in [&[][..], &[1, 2]] {
            assert!(
                KeyReader::new(key)
                    .next_into(&data_type, Nullability::NotNull, &mut value)
                    .is_err()
            );
        }
    }
}
