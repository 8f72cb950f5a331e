//! Description of a build: the table before and after, the sources of its columns, and the tests of its rows.

use std::sync::Arc;

use paceline_storage::{BuildId, Direction, KeyRange, StorageSnapshot};
use paceline_types::error_code::ER_NO_REFERENCED_ROW_2;
use paceline_types::{Value, ValueRef};

use crate::error::{Error, Result};
use crate::foreign_key::{constraint_text, serving_index};
use crate::{
    ColumnDefault, ColumnDefinition, ForeignKey, GeneratedStorage, IndexPart, TableDefinition,
    TableDescription, same_name,
};

/// Table whose data is to be built.
#[derive(Debug)]
pub struct TableBuild {
    /// Current definition.
    pub source: Arc<TableDefinition>,
    /// New definition.
    pub target: TableDescription,
    /// Extent of the build.
    pub kind: BuildKind,
    /// Rows that must pass the checks.
    pub tested: TestedRows,
    /// New foreign keys whose parents all rows must have.
    pub tested_keys: Vec<TestedKey>,
    /// Treatment of rows that do not fit the new table.
    pub misfits: Misfits,
    /// Whether rows are left out whose values a new unique key does not admit (`ALTER IGNORE`).
    pub drops_duplicates: bool,
}

/// Treatment of rows that do not fit the new table.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Misfits {
    /// The statement fails.
    #[default]
    Refused,
    /// ALTER IGNORE TABLE: values become what the columns can hold, with a warning; of rows with the same unique key
    /// the first stays.
    Adjusted,
}

/// A new foreign key that existing rows must satisfy.
#[derive(Debug)]
pub struct TestedKey {
    key: ForeignKey,
    parent: Arc<TableDefinition>,
    /// Index of the parent that begins with the columns.
    index: usize,
    /// Columns of the table that gets the key.
    columns: Vec<usize>,
}

impl TestedKey {
    /// Returns `None` if the parent has no such index.
    pub(in crate::ddl) fn new(
        key: &ForeignKey,
        description: &TableDescription,
        parent: &Arc<TableDefinition>,
    ) -> Option<Self> {
        let column = |name: &String| {
            let named = |column: &ColumnDefinition| same_name(&column.name, name);
            description.columns.iter().position(named)
        };
        Some(TestedKey {
            columns: key.columns.iter().map(column).collect::<Option<_>>()?,
            index: serving_index(parent, &key.referenced_columns)?,
            parent: parent.clone(),
            key: key.clone(),
        })
    }

    /// # Errors
    /// 1452.
    pub(super) fn test(
        &self,
        target: &TableDescription,
        values: &[Value],
        snapshot: &StorageSnapshot,
    ) -> Result<()> {
        let values: Vec<ValueRef<'_>> = self
            .columns
            .iter()
            .map(|column| values[*column].as_ref())
            .collect();
        if values.iter().any(ValueRef::is_null) {
            return Ok(());
        }
        let mut prefix = Vec::with_capacity(32);
        self.parent
            .schema()
            .append_key_prefix(self.index, &values, &mut prefix)?;
        if snapshot
            .scan(KeyRange::prefix(&prefix), Direction::Forward)
            .advance()?
        {
            return Ok(());
        }
        // MariaDB's message names the copy that it makes.
        let constraint = constraint_text(&target.database, &self.key);
        let shown = format!("`{}`.`#sql-alter`, {constraint}", target.database);
        Err(Error::new(ER_NO_REFERENCED_ROW_2, &[&shown]))
    }
}

/// Rows that are tested against the checks of the new description. The checks of columns are not tested:
/// MariaDB adds them without a test, and a replica must do the same.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum TestedRows {
    /// None.
    None,
    /// All existing rows.
    All,
}

/// Extent of a build.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum BuildKind {
    /// All rows and all indexes. For each new column its source.
    Rebuild(Vec<ColumnSource>),
    /// These indexes of the new description; rows stay in place. Empty if rows are only tested against new
    /// checks.
    Indexes(Vec<usize>),
}

/// Source of a column of a rebuilt table.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ColumnSource {
    /// This column, unchanged.
    Copy(usize),
    /// This column, converted as by an assignment.
    Convert(usize),
    /// Like `Convert`; the column becomes AUTO_INCREMENT, and rows without a number get one.
    Number(usize),
    /// Its default: the column is new.
    Default,
}

/// Result of a build.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct BuildSummary {
    /// The finished build, if there were files to build.
    pub build: Option<BuildId>,
    /// Number of rows read.
    pub rows: u64,
    /// Rows left out, as another one has their unique key.
    pub duplicates: u64,
    /// Whether MariaDB would have copied the rows.
    pub copied: bool,
}

impl TableBuild {
    /// Returns whether MariaDB copies the rows and reports their number.
    pub(super) fn is_copied(&self) -> bool {
        self.drops_duplicates
            || self.tested == TestedRows::All
            || !self.tested_keys.is_empty()
            || self.converts_rows()
    }

    /// Returns whether values or the engine change.
    fn converts_rows(&self) -> bool {
        let BuildKind::Rebuild(columns) = &self.kind else {
            return false;
        };
        let converts = |(source, column): (&ColumnSource, &ColumnDefinition)| match source {
            ColumnSource::Copy(place) | ColumnSource::Convert(place) => {
                let before = &self.source.columns()[*place];
                let is_indexed = |part: &IndexPart| self.target.columns[part.column].name == column.name;
                let remade = column.generated.is_some() && before.generated != column.generated;
                let indexed = self
                    .target
                    .indexes
                    .iter()
                    .any(|index| index.parts.iter().any(is_indexed));
                before.data_type != column.data_type || (remade && indexed)
            }
            ColumnSource::Number(_) => true,
            ColumnSource::Default => match &column.generated {
                Some(generated) => generated.storage == GeneratedStorage::Stored,
                None => matches!(column.default, ColumnDefault::Expression(_)),
            },
        };
        self.target.temporary
            || self.target.engine.kind().is_emptied_by_restart()
            || self.target.engine != self.source.engine
            || columns.iter().zip(&self.target.columns).any(converts)
    }
}
