//! Builds of a table's data, or of new indexes, aside.
//!
//! ```text
//!   rows of the old table in a snapshot ─▶ converted, checked ─▶ entries of each new index ─▶ sorted files ─▶ synced
//! ```
//!
//! The statement holds the table's metadata lock exclusively, so the snapshot is complete. Nothing is visible
//! before the statement is in the log. Tables of the memory engine and temporary tables have no files: their
//! rows go into the statement's write set. A row keeps its version, so a transaction that has seen it before
//! the build can change it afterwards.

mod numbers;
mod rows;
mod sink;
mod taken_keys;

use std::fmt::Write as _;
use std::sync::Arc;

use paceline_storage::{
    BuildId, Direction, IndexId, KeyRange, Storage, StorageSnapshot, TableSchema, WriteSet,
};
use paceline_types::error_code::*;
use paceline_types::{SqlMode, TimeZone, Value, ValueRef};

use self::rows::Rows;
use self::sink::Sink;
use self::taken_keys::TakenKeys;
use crate::error::{Error, Result};
use crate::foreign_key::{constraint_text, serving_index};
use crate::table::schema_of;
use crate::{
    ColumnDefault, ColumnDefinition, ForeignKey, GeneratedStorage, IndexPart, TableDefinition,
    TableDescription, TableEngine, duplicate_entry, same_name,
};
use paceline_expression::session::SessionContext;

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
    fn test(&self, target: &TableDescription, values: &[Value], snapshot: &StorageSnapshot) -> Result<()> {
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
    /// Runs the build. Rows of the memory engine and of temporary tables go to `writes`.
    ///
    /// # Errors
    /// 1062 for values that are not unique; 1264, 1265, 1366 … for values that the new columns cannot hold
    /// (in strict mode); 4025; 1317 if the statement is killed; those of the engine. Unfinished files are
    /// deleted.
    pub fn run(
        &self,
        id: BuildId,
        snapshot: &StorageSnapshot,
        storage: &Storage,
        session: &mut SessionContext,
        writes: &mut WriteSet,
    ) -> Result<BuildSummary> {
        let sql_mode = session.settings.sql_mode;
        if self.misfits == Misfits::Adjusted {
            let strict = SqlMode::STRICT_TRANS_TABLES.with(SqlMode::STRICT_ALL_TABLES);
            session.settings.sql_mode = sql_mode.without(strict);
        }
        let built = self.build_rows(id, snapshot, storage, session, writes);
        session.settings.sql_mode = sql_mode;
        built
    }

    fn build_rows(
        &self,
        id: BuildId,
        snapshot: &StorageSnapshot,
        storage: &Storage,
        session: &mut SessionContext,
        writes: &mut WriteSet,
    ) -> Result<BuildSummary> {
        let schema = schema_of(&self.target)?;
        let in_memory = self.target.engine == TableEngine::Memory || self.target.temporary;
        let mut rows = Rows::new(self, snapshot, session)?;
        let copied = self.is_copied();
        let (mut count, mut duplicates) = (0, 0);
        let mut taken = (self.misfits == Misfits::Adjusted).then(|| TakenKeys::new(session));
        let mut build = None;
        let mut sink: Option<Sink> = None;
        while let Some(row) = rows.next(session)? {
            count += 1;
            if count % 1024 == 0 {
                session.services.functions.check_interrupt(session)?;
            }
            if let Some(taken) = &mut taken
                && !taken.take(&schema, &row)?
            {
                duplicates += 1;
                continue;
            }
            let sink = match &mut sink {
                Some(sink) => sink,
                None => {
                    // An empty table needs no build.
                    let files = if in_memory {
                        None
                    } else {
                        Some(storage.begin_build(id)?)
                    };
                    let made = Sink::new(self, &schema, files.as_ref());
                    build = files;
                    sink.insert(made)
                }
            };
            if let Err(error) = sink.row(&schema, &row, writes) {
                return Err(self.explain(error, &schema, snapshot, session));
            }
        }
        if let Some(sink) = sink
            && let Err(error) = sink.finish()
        {
            return Err(self.explain(error, &schema, snapshot, session));
        }
        let build = build.map(|build| build.finish()).transpose()?;
        Ok(BuildSummary {
            build,
            rows: count,
            duplicates,
            copied,
        })
    }

    /// Returns whether MariaDB copies the rows and reports their number.
    fn is_copied(&self) -> bool {
        self.misfits == Misfits::Adjusted
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
            || self.target.engine == TableEngine::Memory
            || self.target.engine != self.source.engine
            || columns.iter().zip(&self.target.columns).any(converts)
    }

    /// Completes the error of a duplicate key: the files know only its bytes.
    fn explain(
        &self,
        error: paceline_storage::Error,
        schema: &TableSchema,
        snapshot: &StorageSnapshot,
        session: &mut SessionContext,
    ) -> Error {
        let paceline_storage::Error::DuplicateKey { key } = &error else {
            return error.into();
        };
        let Some(index) = schema
            .indexes()
            .iter()
            .position(|index| IndexId::of_key(key) == Some(index.id))
        else {
            return error.into();
        };
        let mut find = || -> Result<Option<String>> {
            let mut rows = Rows::new(self, snapshot, session)?;
            let mut candidate = Vec::new();
            while let Some(row) = rows.next(session)? {
                candidate.clear();
                if schema.append_unique_key(index, &row.image, &mut candidate)? && candidate == *key {
                    return Ok(Some(self.entry_text(index, schema, &row.image)?));
                }
            }
            Ok(None)
        };
        let entry = find().ok().flatten().unwrap_or_default();
        let code = match index == 0 && self.is_copied() && self.is_counting(index) {
            true => ER_DUP_ENTRY_AUTOINCREMENT_CASE,
            false => ER_DUP_ENTRY_WITH_KEY_NAME,
        };
        Error::new(code, &[&entry, &self.target.indexes[index].name]).with_code(ER_DUP_ENTRY)
    }

    /// Returns whether an index begins with the AUTO_INCREMENT column.
    fn is_counting(&self, index: usize) -> bool {
        self.target.columns[self.target.indexes[index].parts[0].column].auto_increment
    }

    /// Returns the values of an index's columns as error 1062 shows them.
    fn entry_text(&self, index: usize, schema: &TableSchema, image: &[u8]) -> Result<String> {
        let image = schema.image(image);
        let mut failed = None;
        let entry = duplicate_entry(&self.target, index, &TimeZone::UTC, |column| {
            image.column(column).unwrap_or_else(|error| {
                failed = Some(error);
                ValueRef::Null
            })
        });
        match failed {
            Some(error) => Err(error.into()),
            None => Ok(entry),
        }
    }
}

/// Returns `Records: 3  Duplicates: 0  Warnings: 0`.
pub fn alter_info(rows: u64, duplicates: u64, warnings: u64) -> String {
    let mut out = String::new();
    let _ = write!(
        out,
        "Records: {rows}  Duplicates: {duplicates}  Warnings: {warnings}"
    );
    out
}
