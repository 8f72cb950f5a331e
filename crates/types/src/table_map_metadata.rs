//! How a table map event of the binlog describes columns: type codes, metadata, NULL bitmap and optional metadata.

use crate::data_type::{DataType, FieldType};
use crate::error::Result;
use std::sync::Arc;

/// How much optional metadata a table map carries (`binlog_row_metadata`).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
pub enum RowMetadata {
    /// None: MariaDB's default.
    #[default]
    NoLog,
    /// Signedness, character sets.
    Minimal,
    /// Column names, ENUM and SET labels, primary key too.
    Full,
}

/// What a table map says of a column besides its type.
#[derive(Clone, Copy, Debug)]
pub struct MappedColumn<'a> {
    /// Its name, for full metadata.
    pub name: &'a str,
    /// Its type.
    pub data_type: &'a DataType,
    /// Whether it may be NULL.
    pub nullable: bool,
}

/// The type code of a column in a table map.
pub fn type_code(_data_type: &DataType) -> FieldType {
    todo!()
}

/// Appends a column's part of the metadata block (0 to 2 bytes).
pub fn append_metadata(_data_type: &DataType, _out: &mut Vec<u8>) {
    todo!()
}

/// Appends the part of a table map's body from the column count on: count, type codes, metadata block with its length,
/// NULL bitmap, optional metadata. `primary_key` holds (column, prefix length or 0) of the key's parts.
pub fn append_columns(
    _columns: &[MappedColumn<'_>],
    _primary_key: &[(usize, u32)],
    _metadata: RowMetadata,
    _out: &mut Vec<u8>,
) {
    todo!()
}

/// The column types that a table map gives, as far as it tells: integers signed, text without its collation, labels empty,
/// unless it carries optional metadata. Good enough to decode rows of a foreign log; own rows are decoded by the catalog's types.
///
/// # Errors
/// `UnknownColumnType`, `MalformedMetadata`
pub fn decode_columns(
    _type_codes: &[u8],
    _metadata: &[u8],
    _optional: &[u8],
) -> Result<Arc<[DataType]>> {
    todo!()
}
