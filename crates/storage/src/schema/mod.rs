//! What the engines need to know of a table: its columns' types and its indexes, and how a row becomes keys and values.
//!
//! DML, apply and recovery all change rows through [`TableSchema::row_change`], so that the same log gives the same keys whoever
//! reads it. The layouts are in [`crate::IndexId`]'s module, `key.rs`.
//!
//! **Where rows live** ([`Clustered`]): under the primary key. Without one, under the first unique key whose columns are all NOT NULL and whole (no
//! prefixes), in the order of definition: what InnoDB takes and `SHOW INDEX` lists first. Without that, under a hidden
//! [`RowId`], with a hidden index on a hash of the row image by which the log's before image finds the row. Among equal
//! rows it is the one with the lowest id, at run time as at replay: whoever updates or deletes a row of such a table asks
//! [`TableSchema::find_row`] which one it is.

mod entry;
mod find_row;
mod row_change;

use paceline_types::row_image::{RowImage, RowLayout};
use paceline_types::sort_key::{self, Nullability};
use paceline_types::{DataType, Value, ValueRef};

pub use entry::EntryKind;
pub use find_row::RowReader;
pub use row_change::Row;

use crate::error::{Error, Result};
use crate::key::{EngineKind, IndexId, KeyRange, RowId};

/// A column, as far as keys and rows depend on it.
#[derive(Clone, Debug)]
pub struct ColumnSchema {
    /// Its type with all attributes.
    pub data_type: DataType,
    /// NULL or NOT NULL.
    pub nullability: Nullability,
}

/// A column of an index.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct KeyPart {
    /// The column's offset in the table, from 0.
    pub column: usize,
    /// The characters (bytes of a binary string) that the index holds of it; `None` for the whole column.
    pub prefix: Option<u32>,
}

/// What an index promises.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum IndexKind {
    /// PRIMARY KEY.
    Primary,
    /// UNIQUE: no two rows alike, except where a column is NULL.
    Unique,
    /// Neither.
    Secondary,
}

/// An index as it was declared.
#[derive(Clone, Debug)]
pub struct IndexSchema {
    /// The number in front of its keys.
    pub id: IndexId,
    /// What it promises.
    pub kind: IndexKind,
    /// Its columns in order.
    pub parts: Vec<KeyPart>,
}

/// The numbers for the two hidden indexes of a table without a primary key. A table always has them, so that dropping its last
/// unique key needs no new numbers.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct HiddenIndexes {
    /// The rows by their hidden id.
    pub rows: IndexId,
    /// The ids by the hash of the row image.
    pub hash: IndexId,
}

/// Where a table's rows live.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Clustered {
    /// In the index of that number in [`TableSchema::indexes`].
    Key(usize),
    /// Under a hidden row id.
    RowId(HiddenIndexes),
}

/// A table as the engines see it. Immutable; made once for a table's definition.
#[derive(Debug)]
pub struct TableSchema {
    layout: RowLayout,
    columns: Vec<ColumnSchema>,
    indexes: Vec<IndexSchema>,
    clustered: Clustered,
    /// The columns that any index holds, ascending.
    indexed_columns: Vec<usize>,
    /// For each index, which of `indexed_columns` it holds or needs: a bit each; all bits when there are more than 64.
    dependencies: Vec<u64>,
    /// The same of the clustered index alone.
    clustered_dependencies: u64,
    numbers: Option<Numbers>,
}

/// The column that numbers rows (AUTO_INCREMENT), and where the highest number is kept that a row had which is gone.
#[derive(Clone, Copy, Debug)]
struct Numbers {
    column: usize,
    kept: IndexId,
    /// Its bit among those of indexed columns; all bits where there are more than 64.
    dependency: u64,
}

/// The bit of an indexed column; all bits where there are more than 64.
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
    /// The schema of a table.
    ///
    /// # Errors
    /// [`Error::InvalidSchema`] if an index has no column or one that the table does not have, or if there are two primary keys.
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
            Self::choose_clustered(&columns, &indexes).map_or(Clustered::RowId(hidden), Clustered::Key);
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
            Clustered::Key(number) => mask(&indexes[number]),
            Clustered::RowId(_) => 0,
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
            numbers: None,
        })
    }

    /// Rows are numbered by `column`: the highest number of a row that goes, or gets another one, is kept under `kept`, so that it is not given out again
    /// ([`WriteSet::raise_number`](crate::WriteSet::raise_number)). In memory and temporary tables nothing is.
    pub fn with_numbers(mut self, column: usize, kept: IndexId) -> Self {
        if self.clustered_id().engine() == EngineKind::RocksDb {
            self.numbers = Some(Numbers {
                column,
                kept,
                dependency: dependency(&self.indexed_columns, column),
            });
        }
        self
    }

    /// Where the highest number is kept that a row had which is gone; `None` if it is nowhere.
    pub fn kept_number(&self) -> Option<IndexId> {
        self.numbers.map(|numbers| numbers.kept)
    }

    /// Which of the indexes rows live under; `None` for the hidden row id. A change of the answer needs the table rebuilt.
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

    /// The columns in order.
    pub fn columns(&self) -> &[ColumnSchema] {
        &self.columns
    }

    /// How row images are laid out.
    pub fn layout(&self) -> &RowLayout {
        &self.layout
    }

    /// The declared indexes, in the order given.
    pub fn indexes(&self) -> &[IndexSchema] {
        &self.indexes
    }

    /// Where the rows live.
    pub fn clustered(&self) -> Clustered {
        self.clustered
    }

    /// The number in front of the rows' keys.
    pub fn clustered_id(&self) -> IndexId {
        match self.clustered {
            Clustered::Key(number) => self.indexes[number].id,
            Clustered::RowId(hidden) => hidden.rows,
        }
    }

    /// The numbers of all indexes in use, hidden ones included: what goes when the table does.
    pub fn index_ids(&self) -> impl Iterator<Item = IndexId> {
        let hidden = match self.clustered {
            Clustered::Key(_) => None,
            Clustered::RowId(hidden) => Some([hidden.rows, hidden.hash]),
        };
        self.indexes
            .iter()
            .map(|index| index.id)
            .chain(hidden.into_iter().flatten())
    }

    /// All rows, in the order of the clustered index.
    pub fn rows_range(&self) -> KeyRange {
        self.clustered_id().range()
    }

    /// Appends the image of a row whose values are of their columns' types.
    ///
    /// # Errors
    /// If there are too few or too many values, or one that needs conversion first.
    pub fn encode_row(&self, values: &[Value], out: &mut Vec<u8>) -> Result<()> {
        Ok(self.layout.encode(values, out)?)
    }

    /// All values of a row image.
    ///
    /// # Errors
    /// If the image is not one of this table.
    pub fn decode_row(&self, image: &[u8]) -> Result<Vec<Value>> {
        Ok(self.layout.decode(image)?)
    }

    /// A row image whose columns are decoded one by one.
    pub fn image<'a>(&'a self, bytes: &'a [u8]) -> RowImage<'a> {
        self.layout.image(bytes)
    }

    /// Appends the start of an index's keys: its number and the sort keys of its first `values.len()` columns. All keys with these
    /// values are [`KeyRange::prefix`] of it.
    ///
    /// # Errors
    /// If a value is not of its column's type, or NULL where the column is NOT NULL.
    ///
    /// # Panics
    /// If there are more values than the index has columns.
    pub fn append_key_prefix(&self, index: usize, values: &[ValueRef<'_>], out: &mut Vec<u8>) -> Result<()> {
        let index = &self.indexes[index];
        assert!(
            values.len() <= index.parts.len(),
            "more values than the index has columns"
        );
        out.extend_from_slice(&index.id.to_be_bytes());
        for (value, part) in values.iter().zip(&index.parts) {
            let column = &self.columns[part.column];
            sort_key::append(value, &column.data_type, column.nullability, part.prefix, out)?;
        }
        Ok(())
    }

    /// The key of the row with that hidden id; `None` if the table has a key to live under.
    pub fn row_id_key(&self, id: RowId) -> Option<Vec<u8>> {
        match self.clustered {
            Clustered::Key(_) => None,
            Clustered::RowId(hidden) => Some([&hidden.rows.to_be_bytes()[..], &id.to_be_bytes()].concat()),
        }
    }
}

#[cfg(test)]
mod tests;
