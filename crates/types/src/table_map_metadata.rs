//! Description of columns in a binlog table map event: type codes, metadata, NULL bitmap and optional metadata.
//!
//! ```text
//!   column count │ type codes, one byte each │ length, metadata block │ NULL bitmap │ optional metadata
//! ```
//!
//! The metadata block has 0 to 2 bytes for each column, depending on its type code:
//!
//! | code | metadata |
//! |---|---|
//! | FLOAT, DOUBLE | bytes of storage: 4, 8 |
//! | NEWDECIMAL | precision, scale |
//! | VARCHAR | length of the longest value in bytes, little-endian |
//! | STRING: CHAR, BINARY | real type and length of the longest value in bytes, whose bits 8 and 9 are XORed into bits 4 and 5 of the type |
//! | STRING: UUID, INET6, INET4 | as BINARY of as many bytes |
//! | STRING: ENUM, SET | real type, bytes of storage |
//! | BLOB | size of the length field in bytes |
//! | BIT | bits beyond whole bytes, whole bytes |
//! | TIME2, DATETIME2, TIMESTAMP2 | decimals |
//!
//! Optional metadata (`binlog_row_metadata`, MDEV-20477) consists of fields of type, length, value.
//! `tests/vectors/row_images.txt` checks all of it against the output of MariaDB 10.11.

use crate::collation::Collation;
use crate::data_type::{
    BlobSize, DataType, DecimalType, FieldType, FloatType, IntegerType, IntegerWidth, Labels, Sign,
};
use crate::error::{Error, Result};
use crate::packed::Reader;
use crate::row_image::{enum_bytes, set_bytes};
use crate::text::{append_length, append_length_and_bytes};
use std::sync::{Arc, LazyLock};

/// Amount of optional metadata in a table map (`binlog_row_metadata`).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
pub enum RowMetadata {
    /// None. This is MariaDB's default.
    #[default]
    NoLog,
    /// Signedness and character sets.
    Minimal,
    /// Also column names, ENUM and SET labels, and the primary key.
    Full,
}

/// Column of a table map.
#[derive(Clone, Copy, Debug)]
pub struct MappedColumn<'a> {
    /// Column name, for full metadata.
    pub name: &'a str,
    /// Type of the column.
    pub data_type: &'a DataType,
    /// Whether the column is nullable.
    pub nullable: bool,
}

/// Types of the optional metadata's fields.
mod field {
    pub const SIGNEDNESS: u8 = 1;
    pub const DEFAULT_CHARSET: u8 = 2;
    pub const COLUMN_CHARSET: u8 = 3;
    pub const COLUMN_NAME: u8 = 4;
    pub const SET_LABELS: u8 = 5;
    pub const ENUM_LABELS: u8 = 6;
    pub const SIMPLE_PRIMARY_KEY: u8 = 8;
    pub const PRIMARY_KEY_WITH_PREFIX: u8 = 9;
    pub const ENUM_AND_SET_DEFAULT_CHARSET: u8 = 10;
    pub const ENUM_AND_SET_COLUMN_CHARSET: u8 = 11;
}

/// Returns whether a table map with these types and metadata has columns of these types. Then a row image means the
/// same with either.
pub fn are_mapped_as<'c>(
    columns: impl ExactSizeIterator<Item = &'c DataType>,
    type_codes: &[u8],
    metadata: &[u8],
) -> bool {
    if columns.len() != type_codes.len() {
        return false;
    }
    let mut own = Vec::with_capacity(metadata.len());
    columns.zip(type_codes).all(|(data_type, code)| {
        append_metadata(data_type, &mut own);
        type_code(data_type).code() == *code
    }) && own == metadata
}

/// Returns the columns' names in the optional metadata; none if it has none (`binlog_row_metadata` is not FULL).
///
/// # Errors
/// `MalformedMetadata`
pub fn column_names(optional: &[u8]) -> Result<Vec<String>> {
    let mut fields = reader(optional);
    while !fields.is_empty() {
        let (field, value) = (fields.byte()?, fields.counted()?);
        if field != field::COLUMN_NAME {
            continue;
        }
        let mut names = Vec::new();
        let mut value = reader(value);
        while !value.is_empty() {
            names.push(String::from_utf8_lossy(value.counted()?).into_owned());
        }
        return Ok(names);
    }
    Ok(Vec::new())
}

/// Returns the type code of a column in a table map.
pub fn type_code(data_type: &DataType) -> FieldType {
    match data_type {
        DataType::VarChar { .. } | DataType::VarBinary { .. } => FieldType::VarChar,
        DataType::Time { .. } => FieldType::Time2,
        DataType::DateTime { .. } => FieldType::DateTime2,
        DataType::Timestamp { .. } => FieldType::Timestamp2,
        _ => data_type.field_type(),
    }
}

/// Returns the length of the longest value of a CHAR, VARCHAR, BINARY, VARBINARY or UUID column in bytes.
fn max_bytes(data_type: &DataType) -> u16 {
    let characters = match data_type {
        DataType::FixedBinary(t) => t.bytes() as u64,
        _ => data_type.max_characters().unwrap_or(0),
    };
    let bytes = characters * u64::from(data_type.charset().max_bytes_per_character());
    u16::try_from(bytes).unwrap_or(u16::MAX)
}

/// Appends a column's part of the metadata block (0 to 2 bytes).
pub fn append_metadata(data_type: &DataType, out: &mut Vec<u8>) {
    match data_type {
        DataType::Integer(_) | DataType::Date | DataType::Year => {}
        DataType::Float(_) => out.push(4),
        DataType::Double(_) => out.push(8),
        DataType::Decimal(t) => out.extend_from_slice(&[t.precision, t.scale]),
        DataType::Bit { length } => out.extend_from_slice(&[length % 8, length / 8]),
        DataType::VarChar { .. } | DataType::VarBinary { .. } => {
            out.extend_from_slice(&max_bytes(data_type).to_le_bytes());
        }
        DataType::Char { .. } | DataType::Binary { .. } | DataType::FixedBinary(_) => {
            let bytes = max_bytes(data_type);
            let real_type = FieldType::String.code() ^ ((bytes & 0x300) >> 4) as u8;
            out.extend_from_slice(&[real_type, bytes as u8]);
        }
        DataType::Text { size, .. } | DataType::Blob { size } => out.push(size.length_bytes() as u8),
        DataType::Json => out.push(4),
        DataType::Time { decimals } | DataType::DateTime { decimals } | DataType::Timestamp { decimals } => {
            out.push(*decimals);
        }
        DataType::Enum { labels, .. } => {
            out.extend_from_slice(&[FieldType::Enum.code(), enum_bytes(labels.len()) as u8]);
        }
        DataType::Set { labels, .. } => {
            out.extend_from_slice(&[FieldType::Set.code(), set_bytes(labels.len()) as u8]);
        }
    }
}

/// Appends a table map's body from the column count on: count, type codes, metadata block with its length, NULL bitmap,
/// optional metadata. `primary_key` contains the parts of the key as (column, prefix length in characters or 0).
pub fn append_columns(
    columns: &[MappedColumn<'_>],
    primary_key: &[(usize, u32)],
    metadata: RowMetadata,
    out: &mut Vec<u8>,
) {
    append_length(columns.len() as u64, out);
    out.extend(columns.iter().map(|column| type_code(column.data_type).code()));
    let mut block = Vec::new();
    for column in columns {
        append_metadata(column.data_type, &mut block);
    }
    append_length_and_bytes(&block, out);
    append_bitmap(
        columns.iter().map(|column| column.nullable),
        BitOrder::LowestFirst,
        out,
    );
    append_optional(columns, primary_key, metadata, out);
}

/// Order of the bits in a byte.
#[derive(Clone, Copy, PartialEq, Eq)]
enum BitOrder {
    LowestFirst,
    HighestFirst,
}

fn append_bitmap(bits: impl Iterator<Item = bool>, order: BitOrder, out: &mut Vec<u8>) {
    let start = out.len();
    for (n, bit) in bits.enumerate() {
        if n % 8 == 0 {
            out.push(0);
        }
        let shift = if order == BitOrder::LowestFirst {
            n % 8
        } else {
            7 - n % 8
        };
        out[start + n / 8] |= u8::from(bit) << shift;
    }
}

fn append_field(field: u8, value: &[u8], out: &mut Vec<u8>) {
    if !value.is_empty() {
        out.push(field);
        append_length_and_bytes(value, out);
    }
}

/// Returns whether SIGNEDNESS contains a bit for a column of this type.
fn has_sign(data_type: &DataType) -> bool {
    data_type.is_numeric() && !matches!(data_type, DataType::Bit { .. })
}

/// Returns whether COLUMN_CHARSET contains a number for a column of this type.
fn has_charset(data_type: &DataType) -> bool {
    data_type.is_text() || data_type.is_binary_string() || matches!(data_type, DataType::FixedBinary(_))
}

fn has_labels(data_type: &DataType) -> bool {
    matches!(data_type, DataType::Enum { .. } | DataType::Set { .. })
}

/// Appends the optional metadata.
fn append_optional(
    columns: &[MappedColumn<'_>],
    primary_key: &[(usize, u32)],
    metadata: RowMetadata,
    out: &mut Vec<u8>,
) {
    if metadata == RowMetadata::NoLog {
        return;
    }
    let types = || columns.iter().map(|column| column.data_type);
    let mut value = Vec::new();
    append_bitmap(
        types().filter(|t| has_sign(t)).map(DataType::is_unsigned),
        BitOrder::HighestFirst,
        &mut value,
    );
    append_field(field::SIGNEDNESS, &value, out);
    let collations: Vec<_> = types()
        .filter(|t| has_charset(t))
        .map(DataType::collation)
        .collect();
    append_charsets(&collations, field::DEFAULT_CHARSET, field::COLUMN_CHARSET, out);
    if metadata != RowMetadata::Full {
        return;
    }
    value.clear();
    for column in columns {
        append_length_and_bytes(column.name.as_bytes(), &mut value);
    }
    append_field(field::COLUMN_NAME, &value, out);
    let collations: Vec<_> = types()
        .filter(|t| has_labels(t))
        .map(DataType::collation)
        .collect();
    append_charsets(
        &collations,
        field::ENUM_AND_SET_DEFAULT_CHARSET,
        field::ENUM_AND_SET_COLUMN_CHARSET,
        out,
    );
    let mut append_labels = |field: u8| {
        value.clear();
        for data_type in types() {
            let (labels, collation) = match (field, data_type) {
                (field::SET_LABELS, DataType::Set { labels, collation }) => (labels, collation),
                (field::ENUM_LABELS, DataType::Enum { labels, collation }) => (labels, collation),
                _ => continue,
            };
            append_length(labels.len() as u64, &mut value);
            for label in labels.iter() {
                let mut text = Vec::with_capacity(label.len());
                collation.charset().encode(label, &mut text);
                append_length_and_bytes(&text, &mut value);
            }
        }
        append_field(field, &value, out);
    };
    append_labels(field::SET_LABELS);
    append_labels(field::ENUM_LABELS);
    value.clear();
    let whole = primary_key.iter().all(|&(_, prefix)| prefix == 0);
    for &(column, prefix) in primary_key {
        append_length(column as u64, &mut value);
        if !whole {
            append_length(u64::from(prefix), &mut value);
        }
    }
    append_field(
        if whole {
            field::SIMPLE_PRIMARY_KEY
        } else {
            field::PRIMARY_KEY_WITH_PREFIX
        },
        &value,
        out,
    );
}

/// Appends the columns' collations. If more than half of them are the same: that collation and the exceptions.
fn append_charsets(collations: &[Collation], default_field: u8, column_field: u8, out: &mut Vec<u8>) {
    let count = |collation: &Collation| collations.iter().filter(|&other| other == collation).count();
    let most_used = collations.iter().copied().max_by_key(count);
    let mut value = Vec::new();
    match most_used {
        Some(default) if count(&default) * 2 > collations.len() => {
            append_length(u64::from(default.id()), &mut value);
            for (n, collation) in collations
                .iter()
                .enumerate()
                .filter(|&(_, &collation)| collation != default)
            {
                append_length(n as u64, &mut value);
                append_length(u64::from(collation.id()), &mut value);
            }
            append_field(default_field, &value, out);
        }
        _ => {
            for collation in collations {
                append_length(u64::from(collation.id()), &mut value);
            }
            append_field(column_field, &value, out);
        }
    }
}

fn reader(metadata: &[u8]) -> Reader<'_> {
    Reader::new(metadata, || Error::MalformedMetadata)
}

/// Returns the column types that a table map describes. Without optional metadata, integers are signed, text becomes
/// binary strings, and labels are numbers; with it, everything except display widths is known. This is sufficient to
/// decode rows of another server's log. For the server's own rows the catalog has the types.
///
/// # Errors
/// `UnknownColumnType`, `MalformedMetadata`
pub fn decode_columns(type_codes: &[u8], metadata: &[u8], optional: &[u8]) -> Result<Arc<[DataType]>> {
    let mut metadata = reader(metadata);
    let mut types = type_codes
        .iter()
        .map(|&code| decode_column(code, &mut metadata))
        .collect::<Result<Vec<_>>>()?;
    let mut fields = reader(optional);
    let mut set_labels = None;
    let mut enum_labels = None;
    while !fields.is_empty() {
        let (field, value) = (fields.byte()?, fields.counted()?);
        match field {
            field::SIGNEDNESS => {
                for (n, data_type) in types.iter_mut().filter(|t| has_sign(t)).enumerate() {
                    if value.get(n / 8).ok_or(Error::MalformedMetadata)? >> (7 - n % 8) & 1 == 1 {
                        set_unsigned(data_type);
                    }
                }
            }
            field::DEFAULT_CHARSET => set_default_charset(&mut types, has_charset, value)?,
            field::COLUMN_CHARSET => set_charsets(&mut types, has_charset, value)?,
            field::ENUM_AND_SET_DEFAULT_CHARSET => set_default_charset(&mut types, has_labels, value)?,
            field::ENUM_AND_SET_COLUMN_CHARSET => set_charsets(&mut types, has_labels, value)?,
            field::SET_LABELS => set_labels = Some(value),
            field::ENUM_LABELS => enum_labels = Some(value),
            // Names and keys do not affect types. Later versions may add fields.
            _ => {}
        }
    }
    // Labels are decoded after the character sets, which may follow them in the event.
    let (mut set_labels, mut enum_labels) = (set_labels.map(reader), enum_labels.map(reader));
    for data_type in &mut types {
        let (labels, collation, texts) = match data_type {
            DataType::Set { labels, collation } => (labels, *collation, set_labels.as_mut()),
            DataType::Enum { labels, collation } => (labels, *collation, enum_labels.as_mut()),
            _ => continue,
        };
        let Some(texts) = texts else { continue };
        let count = texts.length()?;
        let read = (0..count).map(|_| Ok(collation.charset().decode(texts.counted()?).into_owned()));
        *labels = Arc::new(Labels::new(read.collect::<Result<Vec<_>>>()?));
    }
    Ok(types.into())
}

fn decode_column(code: u8, metadata: &mut Reader<'_>) -> Result<DataType> {
    let integer = |width| DataType::Integer(IntegerType::new(width, Sign::Signed));
    Ok(
        match FieldType::from_code(code).ok_or(Error::UnknownColumnType(code))? {
            FieldType::Tiny => integer(IntegerWidth::Tiny),
            FieldType::Short => integer(IntegerWidth::Small),
            FieldType::Int24 => integer(IntegerWidth::Medium),
            FieldType::Long => integer(IntegerWidth::Int),
            FieldType::LongLong => integer(IntegerWidth::Big),
            FieldType::Year => DataType::Year,
            FieldType::Date | FieldType::NewDate => DataType::Date,
            FieldType::Float => metadata.byte().map(|_| DataType::Float(FloatType::default()))?,
            FieldType::Double => metadata.byte().map(|_| DataType::Double(FloatType::default()))?,
            FieldType::NewDecimal => {
                let (precision, scale) = (metadata.byte()?, metadata.byte()?);
                if scale > precision
                    || precision > crate::decimal::MAX_PRECISION
                    || scale > crate::decimal::MAX_SCALE
                {
                    return Err(Error::MalformedMetadata);
                }
                DataType::Decimal(DecimalType::new(precision, scale))
            }
            FieldType::Bit => {
                let (odd, whole) = (metadata.byte()?, metadata.byte()?);
                match whole.checked_mul(8).and_then(|bits| bits.checked_add(odd)) {
                    Some(length @ 1..=64) => DataType::Bit { length },
                    _ => return Err(Error::MalformedMetadata),
                }
            }
            FieldType::VarChar | FieldType::VarString => {
                let bytes = metadata.take(2)?;
                DataType::VarBinary {
                    length: u32::from(u16::from_le_bytes([bytes[0], bytes[1]])),
                }
            }
            FieldType::Blob => DataType::Blob {
                size: match metadata.byte()? {
                    1 => BlobSize::Tiny,
                    2 => BlobSize::Normal,
                    3 => BlobSize::Medium,
                    4 => BlobSize::Long,
                    _ => return Err(Error::MalformedMetadata),
                },
            },
            FieldType::String => {
                let (real_type, low) = (metadata.byte()?, metadata.byte()?);
                match FieldType::from_code(real_type) {
                    Some(FieldType::Enum) => DataType::Enum {
                        labels: numbered_labels(if low == 1 { 255 } else { 65_535 }),
                        collation: Collation::Binary,
                    },
                    Some(FieldType::Set) => DataType::Set {
                        labels: numbered_labels(8 * usize::from(low.min(8))),
                        collation: Collation::Binary,
                    },
                    _ => {
                        let length = u16::from(low) | u16::from(!real_type & 0x30) << 4;
                        DataType::Binary { length }
                    }
                }
            }
            FieldType::Time2 => DataType::Time {
                decimals: decimals(metadata)?,
            },
            FieldType::DateTime2 => DataType::DateTime {
                decimals: decimals(metadata)?,
            },
            FieldType::Timestamp2 => DataType::Timestamp {
                decimals: decimals(metadata)?,
            },
            _ => return Err(Error::UnknownColumnType(code)),
        },
    )
}

/// Returns as many labels as the bytes of storage can number. Each label is its number.
fn numbered_labels(count: usize) -> Arc<Labels> {
    static LARGE: LazyLock<Arc<Labels>> = LazyLock::new(|| make(65_535));
    fn make(count: usize) -> Arc<Labels> {
        Arc::new(Labels::new((1..=count).map(|n| n.to_string())))
    }
    if count == 65_535 {
        LARGE.clone()
    } else {
        make(count)
    }
}

fn decimals(metadata: &mut Reader<'_>) -> Result<u8> {
    match metadata.byte()? {
        decimals @ 0..=6 => Ok(decimals),
        _ => Err(Error::MalformedMetadata),
    }
}

fn set_unsigned(data_type: &mut DataType) {
    match data_type {
        DataType::Integer(t) => *t = IntegerType::new(t.width, Sign::Unsigned),
        DataType::Decimal(t) => t.sign = Sign::Unsigned,
        DataType::Float(t) | DataType::Double(t) => t.sign = Sign::Unsigned,
        _ => {}
    }
}

/// Sets the collation of a type. A binary string becomes text.
fn set_collation(data_type: &mut DataType, id: usize) -> Result<()> {
    let known = u16::try_from(id).ok().and_then(Collation::from_id);
    // Bytes of an unsupported character set stay bytes.
    let collation = known.unwrap_or(Collation::Binary);
    if collation == Collation::Binary {
        return Ok(());
    }
    let bytes_each = collation.charset().max_bytes_per_character();
    *data_type = match std::mem::replace(data_type, DataType::Json) {
        DataType::Binary { length } => DataType::Char {
            length: length / bytes_each as u16,
            collation,
        },
        DataType::VarBinary { length } => DataType::VarChar {
            length: length / bytes_each,
            collation,
        },
        DataType::Blob { size } => DataType::Text { size, collation },
        DataType::Enum { labels, .. } => DataType::Enum { labels, collation },
        DataType::Set { labels, .. } => DataType::Set { labels, collation },
        other => other,
    };
    Ok(())
}

fn set_charsets(types: &mut [DataType], which: fn(&DataType) -> bool, value: &[u8]) -> Result<()> {
    let mut reader = reader(value);
    types
        .iter_mut()
        .filter(|t| which(t))
        .try_for_each(|data_type| set_collation(data_type, reader.length()?))
}

fn set_default_charset(types: &mut [DataType], which: fn(&DataType) -> bool, value: &[u8]) -> Result<()> {
    let mut reader = reader(value);
    let default = reader.length()?;
    let mut exceptions = Vec::new();
    while !reader.is_empty() {
        exceptions.push((reader.length()?, reader.length()?));
    }
    for (n, data_type) in types.iter_mut().filter(|t| which(t)).enumerate() {
        let exception = exceptions.iter().find(|(column, _)| *column == n);
        set_collation(data_type, exception.map_or(default, |&(_, id)| id))?;
    }
    Ok(())
}
