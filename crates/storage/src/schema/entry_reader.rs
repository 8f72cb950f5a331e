//! Columns read from index entries: a scan of an index answers them without fetching rows.
//!
//! An entry contains its index's columns and those of the row's key. A column cannot be read from it if only
//! its beginning is indexed, or if its sort key does not determine its value (text); see
//! [`paceline_types::key_reader`].

use paceline_types::key_reader::{KeyReader, determines_value};
use paceline_types::sort_key::Nullability;
use paceline_types::{DataType, Value};

use super::{KeyPart, RowPlacement, TableSchema};
use crate::error::{Error, Result};
use crate::key::{IndexId, VERSION_LENGTH};

/// Reads some columns of the entries of one index, other than the clustered one. Created once per plan.
#[derive(Clone, Debug)]
pub struct EntryReader {
    index: IndexId,
    /// Columns of the index up to the last one that is read.
    own: Vec<ReadPart>,
    /// Columns of the row's key up to the last one that is read.
    row_key: Vec<ReadPart>,
}

/// Column of a key.
#[derive(Clone, Debug)]
struct ReadPart {
    data_type: DataType,
    nullability: Nullability,
    prefix: Option<u32>,
    /// Offset of the column in the table; `None` to skip it.
    column: Option<usize>,
}

impl TableSchema {
    /// Returns a reader of these columns; `None` if not all of them can be read from the index's entries, or if
    /// rows are stored in the index.
    pub fn entry_reader(&self, index: usize, columns: &[usize]) -> Option<EntryReader> {
        if self.clustered == RowPlacement::Key(index) {
            return None;
        }
        let clustered = match self.clustered {
            RowPlacement::Key(clustered) => &self.indexes[clustered].parts[..],
            RowPlacement::RowId(_) | RowPlacement::Single(_) => &[],
        };
        let mut missing = columns.to_vec();
        let own = self.read_parts(&self.indexes[index].parts, &mut missing);
        let row_key = self.read_parts(clustered, &mut missing);
        missing.is_empty().then_some(EntryReader {
            index: self.indexes[index].id,
            own,
            row_key,
        })
    }

    /// Returns the parts to read up to the last one with a missing column, and removes the columns found from
    /// `missing`.
    fn read_parts(&self, parts: &[KeyPart], missing: &mut Vec<usize>) -> Vec<ReadPart> {
        let mut read = Vec::with_capacity(parts.len());
        for part in parts {
            let schema = &self.columns[part.column];
            let is_readable = part.prefix.is_none() && determines_value(&schema.data_type);
            let place = missing
                .iter()
                .position(|column| is_readable && *column == part.column);
            read.push(ReadPart {
                data_type: schema.data_type.clone(),
                nullability: schema.nullability,
                prefix: part.prefix,
                column: place.map(|place| missing.swap_remove(place)),
            });
        }
        let wanted = read.iter().rposition(|part| part.column.is_some());
        read.truncate(wanted.map_or(0, |last| last + 1));
        read
    }
}

impl EntryReader {
    /// Copies the columns of an entry into a row's slots.
    ///
    /// # Errors
    /// [`Error::Malformed`] if it is not an entry of the index.
    #[inline]
    pub fn read(&self, key: &[u8], value: &[u8], slots: &mut [Value]) -> Result<()> {
        self.read_parts(&self.own, key.get(IndexId::LENGTH..), slots)?;
        if self.row_key.is_empty() {
            return Ok(());
        }
        let payload = value.get(VERSION_LENGTH..);
        let row_key = payload.and_then(|payload| payload.split_first_chunk::<2>());
        let row_key = row_key.and_then(|(offset, row_key)| match u16::from_be_bytes(*offset) {
            0 => Some(row_key),
            offset => key.get(usize::from(offset)..),
        });
        self.read_parts(&self.row_key, row_key, slots)
    }

    #[inline]
    fn read_parts(&self, parts: &[ReadPart], bytes: Option<&[u8]>, slots: &mut [Value]) -> Result<()> {
        let malformed = || Error::Malformed {
            index: self.index.as_u32(),
            what: "entry",
        };
        let mut reader = KeyReader::new(bytes.ok_or_else(malformed)?);
        for part in parts {
            let read = match part.column {
                Some(column) => reader.next_into(&part.data_type, part.nullability, &mut slots[column]),
                None => reader.skip(&part.data_type, part.nullability, part.prefix),
            };
            read.map_err(|_| malformed())?;
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::super::{ColumnSchema, HiddenIndexes, IndexKind, IndexSchema};
    use super::*;
    use paceline_types::{Collation, IntegerType, IntegerWidth, Sign};

    fn schema() -> TableSchema {
        let column = |data_type, nullability| ColumnSchema {
            data_type,
            nullability,
        };
        let integer = DataType::Integer(IntegerType::new(IntegerWidth::Int, Sign::Signed));
        let text = DataType::VarChar {
            length: 20,
            collation: Collation::Utf8mb4GeneralCi,
        };
        let index = |number, kind, columns: &[usize]| IndexSchema {
            id: IndexId::new(number),
            kind,
            parts: columns
                .iter()
                .map(|&column| KeyPart { column, prefix: None })
                .collect(),
        };
        TableSchema::new(
            vec![
                column(integer.clone(), Nullability::NotNull),
                column(text, Nullability::Nullable),
                column(integer.clone(), Nullability::Nullable),
                column(integer, Nullability::Nullable),
            ],
            vec![
                index(2000, IndexKind::Primary, &[0]),
                index(2001, IndexKind::Secondary, &[1, 2]),
                index(2002, IndexKind::Unique, &[2]),
            ],
            HiddenIndexes {
                rows: IndexId::new(2003),
                hash: IndexId::new(2004),
            },
        )
        .unwrap()
    }

    #[test]
    fn a_reader_returns_the_columns_in_the_keys() {
        let schema = schema();
        assert!(schema.entry_reader(0, &[0]).is_none(), "rows live there");
        assert!(
            schema.entry_reader(1, &[1]).is_none(),
            "text is not told by its key"
        );
        assert!(schema.entry_reader(1, &[3]).is_none(), "it is not in the index");
        for (row, index) in [
            (
                vec![Value::Int(7), Value::from("Ä b"), Value::Int(-3), Value::Null],
                1,
            ),
            (vec![Value::Int(-7), Value::Null, Value::Null, Value::Null], 1),
            (vec![Value::Int(7), Value::Null, Value::Int(5), Value::Null], 2),
            (vec![Value::Int(9), Value::Null, Value::Null, Value::Int(1)], 2),
        ] {
            let reader = schema.entry_reader(index, &[2, 0]).unwrap();
            let (mut image, mut row_key, mut key) = (Vec::new(), Vec::new(), Vec::new());
            schema.encode_row(&row, &mut image).unwrap();
            schema.append_row_key(&image, &mut row_key).unwrap();
            let kind = schema
                .append_entry_key(index, &image, &row_key, &mut key)
                .unwrap();
            let mut value = vec![0; VERSION_LENGTH];
            match kind {
                super::super::EntryKind::Unique => {
                    value.extend_from_slice(&[0, 0]);
                    value.extend_from_slice(&row_key[IndexId::LENGTH..]);
                }
                super::super::EntryKind::Shared { row_key_offset } => {
                    value.extend_from_slice(&row_key_offset.to_be_bytes());
                }
            }
            let mut slots = vec![Value::Null; 4];
            reader.read(&key, &value, &mut slots).unwrap();
            assert_eq!((&slots[0], &slots[2]), (&row[0], &row[2]));
            assert!(reader.read(&key[..5], &value[..3], &mut slots).is_err());
        }
    }
}
