//! Keys whose bytes sort as values do: what an index is made of.

use crate::data_type::DataType;
use crate::error::Result;
use crate::value::ValueRef;

/// Whether a column of a key may be NULL, and so has a marker byte in front.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, serde::Serialize, serde::Deserialize)]
pub enum Nullability {
    /// NOT NULL: no marker.
    NotNull,
    /// A marker byte: 0 for NULL, which so comes first, or 1.
    Nullable,
}

/// Appends the key of a value of a column of this type; `prefix` is the number of characters (bytes of a binary string) that an
/// index on `column(n)` holds. The value must be one that the column can hold (`convert::assign`).
///
/// # Errors
/// `WrongType` if the value is not of the column's kind, or NULL in a NOT NULL column.
pub fn append(
    _value: &ValueRef<'_>,
    _data_type: &DataType,
    _nullability: Nullability,
    _prefix: Option<u32>,
    _out: &mut Vec<u8>,
) -> Result<()> {
    todo!()
}
