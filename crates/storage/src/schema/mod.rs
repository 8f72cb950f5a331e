//! A table as the engines see it: its columns' types and its indexes, and the conversion of a row to keys and
//! values.
//!
//! DML, apply and recovery all change rows through [`TableSchema::row_change`], so that the same log yields the
//! same keys on every path. The layouts are in `key.rs`, the module of [`crate::IndexId`].
//!
//! **Placement of rows** ([`RowPlacement`]): rows are stored under the primary key. Without one, under the first
//! unique key whose columns are all NOT NULL and indexed in full (no prefixes), in the order of definition:
//! InnoDB chooses the same, and `SHOW INDEX` lists it first. Without such a key, under a hidden [`RowId`], with
//! a hidden index on a hash of the row image, by which the log's before image finds the row. Among equal rows
//! the one with the lowest id is chosen, at run time as in a replay: an update or delete of a row of such a
//! table asks [`TableSchema::find_row`] which one it is. The only row of a sequence has a fixed key, so that
//! writing it replaces the row that is there: the log contains each new state of a sequence as an insert.

mod check;
mod earlier_format;
mod entry;
mod entry_reader;
mod find_row;
mod row_change;

use paceline_types::key_reader::KeyReader;
use paceline_types::row_image::{RowImage, RowLayout};
use paceline_types::sort_key::{self, Nullability};
use paceline_types::{DataType, Value, ValueRef};

pub use check::{CheckedIndex, IndexMismatch, TableCheck};
pub use earlier_format::{EarlierFormat, FormatEnd, MarkState};
pub use entry::EntryKind;
pub use entry_reader::EntryReader;
pub use find_row::RowReader;
pub use row_change::Row;

use crate::error::{Error, Result};
use crate::key::{EngineKind, IndexId, KeyRange, RowId};

/// Column, as far as keys and rows depend on it.
#[derive(Clone, Debug)]
pub struct ColumnSchema {
    /// Type with all attributes.
    pub data_type: DataType,
    /// NULL or NOT NULL.
    pub nullability: Nullability,
}

/// Column of an index.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct KeyPart {
    /// Offset of the column in the table, from 0.
    pub column: usize,
    /// Number of characters (bytes of a binary string) that are indexed; `None` for the whole column.
    pub prefix: Option<u32>,
}

/// Kind of an index.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum IndexKind {
    /// PRIMARY KEY.
    Primary,
    /// UNIQUE: no two rows have the same columns, unless one of these is NULL.
    Unique,
    /// UNIQUE for values of any length: the key is a hash of what it would be otherwise, and does not preserve
    /// its order.
    UniqueHash,
    /// Not unique.
    Secondary,
}

/// Index as it was declared.
#[derive(Clone, Debug)]
pub struct IndexSchema {
    /// Number at the front of its keys.
    pub id: IndexId,
    /// Kind.
    pub kind: IndexKind,
    /// Columns in order.
    pub parts: Vec<KeyPart>,
}

/// Numbers of the two hidden indexes of a table without a primary key. Every table has them, so that dropping
/// its last unique key needs no new numbers.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct HiddenIndexes {
    /// Index of the rows by their hidden id.
    pub rows: IndexId,
    /// Index of the ids by the hash of the row image.
    pub hash: IndexId,
}

/// Index in which a table's rows are stored.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum RowPlacement {
    /// The index with that number in [`TableSchema::indexes`].
    Key(usize),
    /// The hidden index of row ids.
    RowId(HiddenIndexes),
    /// The only row of a sequence, under the fixed key of this index.
    Single(IndexId),
}

/// Schema of a table for the engines. Immutable; created once per table definition.
#[derive(Debug)]
pub struct TableSchema {
    layout: RowLayout,
    columns: Vec<ColumnSchema>,
    indexes: Vec<IndexSchema>,
    clustered: RowPlacement,
    /// Columns that any index contains, ascending.
    indexed_columns: Vec<usize>,
    /// For each index, which of `indexed_columns` it contains or needs: one bit each; all bits when there are
    /// more than 64.
    dependencies: Vec<u64>,
    /// The same for the clustered index alone.
    clustered_dependencies: u64,
    counter: Option<Counter>,
    /// Formats of rows before changes of the columns, the oldest first.
    earlier_formats: Vec<EarlierFormat>,
}

/// Column that numbers rows (AUTO_INCREMENT), and the id under which the highest number of a deleted row is
/// kept.
#[derive(Clone, Copy, Debug)]
struct Counter {
    column: usize,
    id: IndexId,
    /// Its bit among those of indexed columns; all bits where there are more than 64.
    dependency: u64,
}

/// Returns the bit of an indexed column; all bits where there are more than 64.
fn dependency(indexed_columns: &[usize], column: usize) -> u64 {
    match indexed_columns.len() {
        ..=64 => {
            1u64 << indexed_columns
                .partition_point(|&indexed| indexed < column)
                .min(63)
        }
        _ => u64::MAX,
    }
}

impl TableSchema {
    /// Creates the schema of a table.
    ///
    /// # Errors
    /// [`Error::InvalidSchema`] if an index has no column or one that the table does not have, or if there are
    /// two primary keys.
    pub fn new(columns: Vec<ColumnSchema>, indexes: Vec<IndexSchema>, hidden: HiddenIndexes) -> Result<Self> {
        if indexes
            .iter()
            .flat_map(|index| &index.parts)
            .any(|part| part.column >= columns.len())
        {
            return Err(Error::InvalidSchema("an index on a column that is not there"));
        }
        if indexes.iter().any(|index| index.parts.is_empty()) {
            return Err(Error::InvalidSchema("an index without columns"));
        }
        if indexes
            .iter()
            .filter(|index| index.kind == IndexKind::Primary)
            .count()
            > 1
        {
            return Err(Error::InvalidSchema("two primary keys"));
        }
        let clustered =
            Self::choose_clustered(&columns, &indexes).map_or(RowPlacement::RowId(hidden), RowPlacement::Key);
        let mut indexed_columns: Vec<usize> = indexes
            .iter()
            .flat_map(|index| index.parts.iter().map(|part| part.column))
            .collect();
        indexed_columns.sort_unstable();
        indexed_columns.dedup();
        let mask = |index: &IndexSchema| {
            let bit = |part: &KeyPart| dependency(&indexed_columns, part.column);
            index.parts.iter().fold(0, |mask, part| mask | bit(part))
        };
        let clustered_dependencies = match clustered {
            RowPlacement::Key(number) => mask(&indexes[number]),
            RowPlacement::RowId(_) | RowPlacement::Single(_) => 0,
        };
        let dependencies = indexes
            .iter()
            .map(|index| mask(index) | clustered_dependencies)
            .collect();
        let types: Vec<DataType> = columns.iter().map(|column| column.data_type.clone()).collect();
        Ok(TableSchema {
            layout: RowLayout::new(types),
            columns,
            indexes,
            clustered,
            indexed_columns,
            dependencies,
            clustered_dependencies,
            counter: None,
            earlier_formats: Vec::new(),
        })
    }

    /// Creates the schema of a sequence: its only row is stored under the fixed key of `rows`.
    pub fn of_single_row(columns: Vec<ColumnSchema>, rows: IndexId) -> Self {
        let types: Vec<DataType> = columns.iter().map(|column| column.data_type.clone()).collect();
        TableSchema {
            layout: RowLayout::new(types),
            columns,
            indexes: Vec::new(),
            clustered: RowPlacement::Single(rows),
            indexed_columns: Vec::new(),
            dependencies: Vec::new(),
            clustered_dependencies: 0,
            counter: None,
            earlier_formats: Vec::new(),
        }
    }

    /// Declares that `column` numbers the rows: the highest number of a row that is deleted, or gets another
    /// number, is kept under `id`, so that it is not assigned again
    /// ([`WriteSet::raise_counter`](crate::WriteSet::raise_counter)). Has no effect in memory and temporary
    /// tables.
    pub fn with_counter(mut self, column: usize, id: IndexId) -> Self {
        if self.clustered_id().engine() == EngineKind::RocksDb {
            self.counter = Some(Counter {
                column,
                id,
                dependency: dependency(&self.indexed_columns, column),
            });
        }
        self
    }

    /// Returns the id under which the highest number of a deleted row is kept; `None` if it is not kept.
    pub fn counter_id(&self) -> Option<IndexId> {
        self.counter.map(|counter| counter.id)
    }

    /// Returns the number of the index in which rows are stored; `None` for the hidden row id. If the result
    /// changes, the table must be rebuilt.
    pub fn choose_clustered(columns: &[ColumnSchema], indexes: &[IndexSchema]) -> Option<usize> {
        let whole_and_not_null = |index: &IndexSchema| {
            index.parts.iter().all(|part| {
                part.prefix.is_none()
                    && columns
                        .get(part.column)
                        .is_some_and(|column| column.nullability == Nullability::NotNull)
            })
        };
        indexes
            .iter()
            .position(|index| index.kind == IndexKind::Primary)
            .or_else(|| {
                indexes
                    .iter()
                    .position(|index| index.kind == IndexKind::Unique && whole_and_not_null(index))
            })
    }

    /// Returns the columns in order.
    pub fn columns(&self) -> &[ColumnSchema] {
        &self.columns
    }

    /// Returns the layout of row images.
    pub fn layout(&self) -> &RowLayout {
        &self.layout
    }

    /// Returns the declared indexes in their original order.
    pub fn indexes(&self) -> &[IndexSchema] {
        &self.indexes
    }

    /// Returns the index in which the rows are stored.
    pub fn clustered(&self) -> RowPlacement {
        self.clustered
    }

    /// Returns the number at the front of the rows' keys.
    pub fn clustered_id(&self) -> IndexId {
        match self.clustered {
            RowPlacement::Key(number) => self.indexes[number].id,
            RowPlacement::RowId(hidden) => hidden.rows,
            RowPlacement::Single(rows) => rows,
        }
    }

    /// Returns whether the engine stores the rows. Those of BLACKHOLE are logged and that is all: they have no entries.
    pub fn stores_rows(&self) -> bool {
        self.clustered_id().engine().stores_rows()
    }

    /// Returns the numbers of all indexes in use, including hidden ones: those to delete with the table.
    pub fn index_ids(&self) -> impl Iterator<Item = IndexId> {
        let (rows, hash) = match self.clustered {
            RowPlacement::Key(_) => (None, None),
            RowPlacement::RowId(hidden) => (Some(hidden.rows), Some(hidden.hash)),
            RowPlacement::Single(rows) => (Some(rows), None),
        };
        self.indexes.iter().map(|index| index.id).chain(rows).chain(hash)
    }

    /// Returns the range of all rows, in the order of the clustered index.
    pub fn rows_range(&self) -> KeyRange {
        self.clustered_id().range()
    }

    /// Appends the image of a row. Its values must have their columns' types.
    ///
    /// # Errors
    /// If there are too few or too many values, or one that needs conversion first.
    pub fn encode_row(&self, values: &[Value], out: &mut Vec<u8>) -> Result<()> {
        Ok(self.layout.encode(values, out)?)
    }

    /// Returns the columns of the key under which rows are stored; none for a hidden row id.
    pub fn row_key_parts(&self) -> &[KeyPart] {
        match self.clustered {
            RowPlacement::Key(number) => &self.indexes[number].parts,
            RowPlacement::RowId(_) | RowPlacement::Single(_) => &[],
        }
    }

    /// Returns the key of the only row of a sequence; `None` for other tables.
    pub fn single_row_key(&self) -> Option<Vec<u8>> {
        match self.clustered {
            RowPlacement::Single(rows) => Some(single_row_key(rows).to_vec()),
            RowPlacement::Key(_) | RowPlacement::RowId(_) => None,
        }
    }

    /// Returns whether a range consists of all keys of an index that begin with one value for each of its
    /// columns: at most one key, if rows are stored in that index.
    pub fn is_one_key(&self, index: usize, range: &KeyRange) -> bool {
        let Some(columns) = range.start.get(IndexId::LENGTH..) else {
            return false;
        };
        let mut reader = KeyReader::new(columns);
        let whole = self.indexes[index].parts.iter().all(|part| {
            let column = &self.columns[part.column];
            reader
                .skip(&column.data_type, column.nullability, part.prefix)
                .is_ok()
        });
        whole && reader.rest().is_empty() && crate::key::prefix_end(&range.start) == range.end
    }

    /// Returns all values of a row image.
    ///
    /// # Errors
    /// If the image does not fit this table.
    pub fn decode_row(&self, image: &[u8]) -> Result<Vec<Value>> {
        Ok(self.layout.decode(image)?)
    }

    /// Returns a view of a row image that decodes columns one by one.
    pub fn image<'a>(&'a self, bytes: &'a [u8]) -> RowImage<'a> {
        self.layout.image(bytes)
    }

    /// Appends the beginning of an index's keys: its number and the sort keys of its first `values.len()`
    /// columns. [`KeyRange::prefix`] of it contains all keys with these values.
    ///
    /// # Errors
    /// If a value does not have its column's type, or is NULL where the column is NOT NULL.
    ///
    /// # Panics
    /// If there are more values than the index has columns, or fewer and its keys are hashes.
    pub fn append_key_prefix(&self, index: usize, values: &[ValueRef<'_>], out: &mut Vec<u8>) -> Result<()> {
        let number = index;
        let index = &self.indexes[number];
        assert!(
            values.len() <= index.parts.len(),
            "more values than the index has columns"
        );
        assert!(
            index.kind != IndexKind::UniqueHash || values.len() == index.parts.len(),
            "a hash has no beginning"
        );
        out.extend_from_slice(&index.id.to_be_bytes());
        let start = out.len();
        for (value, part) in values.iter().zip(&index.parts) {
            let column = &self.columns[part.column];
            sort_key::append(value, &column.data_type, column.nullability, part.prefix, out)?;
        }
        self.hash_if_required(number, start, out);
        Ok(())
    }

    /// Returns the key of the row with that hidden id; `None` if rows are stored under a key of the table.
    pub fn row_id_key(&self, id: RowId) -> Option<Vec<u8>> {
        match self.clustered {
            RowPlacement::Key(_) | RowPlacement::Single(_) => None,
            RowPlacement::RowId(hidden) => Some([&hidden.rows.to_be_bytes()[..], &id.to_be_bytes()].concat()),
        }
    }
}

/// Returns the fixed key of a sequence's only row: the index number and a zero byte.
fn single_row_key(rows: IndexId) -> [u8; IndexId::LENGTH + 1] {
    let mut key = [0; IndexId::LENGTH + 1];
    key[..IndexId::LENGTH].copy_from_slice(&rows.to_be_bytes());
    key
}

#[cfg(test)]
mod tests;
