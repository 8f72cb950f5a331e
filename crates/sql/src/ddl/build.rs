//! Building a table's data anew, or new indexes of it, aside.
//!
//! ```text
//!   rows of the old table, as of a snapshot ─▶ converted, checked ─▶ entries of each new index ─▶ sorted files ─▶ synced
//! ```
//!
//! The statement holds the table's metadata lock exclusively, so that the snapshot is all there is. Nothing is visible before the
//! statement is in the log. Tables of the memory engine and temporary ones have no files: their rows go into the statement's write set.
//! A row keeps its version: who has seen it before may change it after.

use std::fmt::Write as _;
use std::sync::Arc;

use paceline_storage::{
    BuildId, Clustered, Direction, EntryKind, IndexBuilder, IndexId, InputOrder, KeyRange, RowId, Storage,
    StorageSnapshot, TableSchema, VERSION_LENGTH, WriteSet, value_payload,
};
use paceline_types::convert::{self, ConvertContext, Severity};
use paceline_types::error_code::*;
use paceline_types::{DataType, DateTime, TimeZone, Timestamp, Value, ValueRef, text};

use super::row_expression::RowExpressions;
use crate::catalog::{
    ColumnDefault, ColumnDefinition, ForeignKey, GeneratedStorage, IndexPart, TableDefinition,
    TableDescription, TableEngine, same_name, schema_of,
};
use crate::error::{Error, Result};
use crate::foreign_key::{constraint_text, serving_index};
use crate::session::SessionContext;

/// A table whose data is to be built.
#[derive(Debug)]
pub struct TableBuild {
    /// The table as it is.
    pub source: Arc<TableDefinition>,
    /// What becomes of it.
    pub target: TableDescription,
    /// What is to be built.
    pub kind: BuildKind,
    /// Which rows must pass the checks.
    pub tested: TestedRows,
    /// The foreign keys whose parents all rows must have.
    pub tested_keys: Vec<TestedKey>,
}

/// A new foreign key that the rows there must keep.
#[derive(Debug)]
pub struct TestedKey {
    key: ForeignKey,
    parent: Arc<TableDefinition>,
    /// The index of the parent that begins with the columns.
    index: usize,
    /// The columns of the table that gets the key.
    columns: Vec<usize>,
}

impl TestedKey {
    /// `None`: the parent has no such index.
    pub(super) fn new(
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
        // As MariaDB names the copy that it makes.
        let constraint = constraint_text(&target.database, &self.key);
        let shown = format!("`{}`.`#sql-alter`, {constraint}", target.database);
        Err(Error::new(ER_NO_REFERENCED_ROW_2, &[&shown]))
    }
}

/// Which rows are tested against the checks of the new description. Checks of columns alone are not: MariaDB takes them at once, and a
/// replica must as well.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum TestedRows {
    /// None.
    None,
    /// Those that are there.
    All,
}

/// What is to be built of a table.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum BuildKind {
    /// All rows and all indexes; for each new column where it comes from.
    Rebuild(Vec<ColumnSource>),
    /// These indexes of the new description; rows stay. None, if rows need only be tested against new checks.
    Indexes(Vec<usize>),
}

/// Where a column of a rebuilt table comes from.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ColumnSource {
    /// From this column, as it is.
    Copy(usize),
    /// From this column, converted as by an assignment.
    Convert(usize),
    /// It is new: its default.
    Default,
}

/// What was built.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct BuildSummary {
    /// The finished build, if there was anything to build in files.
    pub build: Option<BuildId>,
    /// Rows read.
    pub rows: u64,
    /// Whether MariaDB would have copied them.
    pub copied: bool,
}

impl TableBuild {
    /// Builds. Rows of the memory engine and of temporary tables go to `writes`.
    ///
    /// # Errors
    /// 1062 for values that are not unique, 1264, 1265, 1366 … for values that the new columns cannot hold (in strict mode), 4025,
    /// 1317 if the statement is killed, and those of the engine. What was built so far is deleted.
    pub fn run(
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
        let copied = self.tested == TestedRows::All || !self.tested_keys.is_empty() || self.converts_rows();
        let mut count = 0;
        let mut build = None;
        let mut sink: Option<Sink> = None;
        while let Some(row) = rows.next(session)? {
            count += 1;
            if count % 1024 == 0 {
                session.services.functions.check_interrupt(session)?;
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
            copied,
        })
    }

    /// Whether values change, or the engine does: then MariaDB copies the rows, and tells how many there were.
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

    /// Finds the words for a duplicate key: the files know only its bytes.
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
        duplicate_entry(&entry, &self.target.indexes[index].name)
    }

    /// The values of an index's columns, as error 1062 shows them.
    fn entry_text(&self, index: usize, schema: &TableSchema, image: &[u8]) -> Result<String> {
        let image = schema.image(image);
        let mut entry = Vec::new();
        for (n, part) in self.target.indexes[index].parts.iter().enumerate() {
            if n > 0 {
                entry.push(b'-');
            }
            let value = image.column(part.column)?;
            let data_type = &self.target.columns[part.column].data_type;
            let start = entry.len();
            text::append_column_value(&value, data_type, &TimeZone::UTC, &mut entry);
            if let Some(prefix) = part.prefix_length {
                let shown = String::from_utf8_lossy(&entry[start..]).into_owned();
                let cut: String = shown.chars().take(prefix as usize).collect();
                entry.truncate(start);
                entry.extend_from_slice(cut.as_bytes());
            }
        }
        Ok(String::from_utf8_lossy(&entry).into_owned())
    }
}

/// 1062.
fn duplicate_entry(entry: &str, index: &str) -> Error {
    Error::new(ER_DUP_ENTRY_WITH_KEY_NAME, &[&entry, &index]).with_code(ER_DUP_ENTRY)
}

/// A row on its way.
struct BuiltRow {
    /// Its image in the new table.
    image: Vec<u8>,
    /// Its key, where rows stay.
    key: Vec<u8>,
    /// Its version.
    version: [u8; VERSION_LENGTH],
    /// Its number, from 0.
    ordinal: u64,
}

/// Reads rows of the old table and makes those of the new one.
struct Rows<'a> {
    build: &'a TableBuild,
    cursor: paceline_storage::Cursor,
    target: TableSchema,
    expressions: RowExpressions,
    ordinal: u64,
    next_auto_increment: u64,
    /// Where parents are looked for.
    snapshot: StorageSnapshot,
}

impl<'a> Rows<'a> {
    fn new(build: &'a TableBuild, snapshot: &StorageSnapshot, session: &mut SessionContext) -> Result<Self> {
        let schema = build.source.schema();
        Ok(Self {
            build,
            cursor: snapshot.scan(schema.rows_range(), Direction::Forward),
            target: schema_of(&build.target)?,
            expressions: RowExpressions::new(&build.target, session)?,
            ordinal: 0,
            next_auto_increment: build.target.auto_increment_start.max(1),
            snapshot: snapshot.clone(),
        })
    }

    fn next(&mut self, session: &mut SessionContext) -> Result<Option<BuiltRow>> {
        if !self.cursor.advance()? {
            return Ok(None);
        }
        let Some((key, value)) = self.cursor.entry() else {
            return Ok(None);
        };
        let version = *value
            .first_chunk()
            .expect("every stored value begins with its version");
        let (key, image) = (key.to_vec(), value_payload(value).to_vec());
        let ordinal = self.ordinal;
        self.ordinal += 1;
        let image = match &self.build.kind {
            BuildKind::Indexes(_) => {
                if self.build.tested == TestedRows::All && self.expressions.has_checks() {
                    let values = self.build.source.schema().decode_row(&image)?;
                    self.expressions.check(&self.build.target, &values, session)?;
                }
                image
            }
            BuildKind::Rebuild(columns) => {
                let values = self.build.source.schema().decode_row(&image)?;
                let mut converted = Vec::with_capacity(columns.len());
                for (n, source) in columns.iter().enumerate() {
                    let column = &self.build.target.columns[n];
                    converted.push(match source {
                        ColumnSource::Copy(place) => values[*place].clone(),
                        ColumnSource::Convert(place) => assign(
                            values[*place].clone(),
                            &self.build.target,
                            column,
                            ordinal + 1,
                            session,
                        )?,
                        ColumnSource::Default if column.auto_increment => {
                            self.next_auto_increment += 1;
                            Value::UInt(self.next_auto_increment - 1)
                        }
                        ColumnSource::Default => Value::Null,
                    });
                }
                for (n, source) in columns.iter().enumerate() {
                    let column = &self.build.target.columns[n];
                    if *source == ColumnSource::Default {
                        let value = match column.auto_increment {
                            true => std::mem::take(&mut converted[n]),
                            false => self.expressions.default(n, column, &converted, session)?,
                        };
                        if value.is_null() && !column.nullable && session.settings.sql_mode.is_strict() {
                            return Err(Error::new(ER_BAD_NULL_ERROR, &[&column.name]));
                        }
                        converted[n] = assign(value, &self.build.target, column, ordinal + 1, session)?;
                    }
                }
                for (n, column) in self.build.target.columns.iter().enumerate() {
                    if let Some(value) = self.expressions.generated(n, &converted, session)? {
                        converted[n] = assign(value, &self.build.target, column, ordinal + 1, session)?;
                    }
                }
                if self.build.tested == TestedRows::All {
                    self.expressions.check(&self.build.target, &converted, session)?;
                }
                let mut image = Vec::with_capacity(image.len() + 16);
                self.target.encode_row(&converted, &mut image)?;
                image
            }
        };
        if !self.build.tested_keys.is_empty() {
            let values = self.target.decode_row(&image)?;
            for key in &self.build.tested_keys {
                key.test(&self.build.target, &values, &self.snapshot)?;
            }
        }
        Ok(Some(BuiltRow {
            image,
            key,
            version,
            ordinal,
        }))
    }
}

/// Converts a value to its new column as an assignment does.
fn assign(
    value: Value,
    table: &TableDescription,
    column: &ColumnDefinition,
    row: u64,
    session: &mut SessionContext,
) -> Result<Value> {
    let strict = session.settings.sql_mode.is_strict();
    if matches!(value, Value::Null) {
        if column.nullable {
            return Ok(value);
        }
        let message = WARN_DATA_TRUNCATED.message(&[&column.name as &dyn std::fmt::Display, &row]);
        if strict {
            return Err(Error::with_message(WARN_DATA_TRUNCATED, message));
        }
        session.diagnostics.warn(WARN_DATA_TRUNCATED, message);
        return Ok(implicit_default(&column.data_type));
    }
    let zone = session.settings.time_zone.clone();
    let now = DateTime::from_micros_in(session.statement.start_micros, &zone);
    let context = ConvertContext {
        date_modes: session.settings.date_modes(),
        time_zone: &zone,
        now,
    };
    let assigned = convert::assign(value, &column.data_type, &context);
    if let Some(problem) = assigned.problem {
        let qualified = format!("`{}`.`{}`.`{}`", table.database, table.name, column.name);
        let warning = || problem.warning_message(&qualified, &column.name, row);
        match problem.severity {
            Severity::Warning if strict => {
                let message = problem.message(&qualified, &column.name, row);
                return Err(Error::with_message(problem.code, message));
            }
            Severity::Warning => session.diagnostics.warn(problem.warning_code, warning()),
            Severity::Note => session.diagnostics.note(problem.warning_code, warning()),
        }
    }
    Ok(assigned.value)
}

/// The statement's time as a local one.
trait FromMicros {
    fn from_micros_in(micros: i64, zone: &TimeZone) -> DateTime;
}

impl FromMicros for DateTime {
    fn from_micros_in(micros: i64, zone: &TimeZone) -> DateTime {
        let local = zone.to_local(micros.div_euclid(1_000_000));
        let of_day = local.micros_of_day() + micros.rem_euclid(1_000_000);
        DateTime::from_date_and_micros(local.date, of_day, 6)
    }
}

/// The value of a NOT NULL column that has no default: zero, the empty string, an ENUM's first label.
pub(super) fn implicit_default(data_type: &DataType) -> Value {
    let value = match data_type {
        DataType::Enum { .. } => Value::Int(1),
        data_type if data_type.is_binary_string() => Value::Bytes(Vec::new()),
        data_type if data_type.is_text() || matches!(data_type, DataType::Set { .. }) => {
            Value::Text(String::new())
        }
        DataType::Date | DataType::DateTime { .. } | DataType::Timestamp { .. } => {
            Value::Text("0000-00-00 00:00:00".to_owned())
        }
        DataType::Time { .. } => Value::Text("00:00:00".to_owned()),
        _ => Value::Int(0),
    };
    let context = ConvertContext {
        date_modes: Default::default(),
        time_zone: &TimeZone::UTC,
        now: DateTime::default(),
    };
    convert::assign(value, data_type, &context).value
}

/// The value of a column's default that needs no row.
pub(super) fn constant_default(column: &ColumnDefinition, session: &SessionContext) -> Option<Value> {
    match &column.default {
        ColumnDefault::None => Some(implicit_default(&column.data_type)),
        ColumnDefault::Null => Some(Value::Null),
        ColumnDefault::Literal(text) => Some(crate::catalog::literal_value(column, text)),
        ColumnDefault::CurrentTimestamp(decimals) => {
            let micros = session.statement.start_micros;
            Some(match column.data_type {
                DataType::Timestamp { .. } => Value::Timestamp(
                    Timestamp::new(
                        u32::try_from(micros.div_euclid(1_000_000)).unwrap_or(0),
                        micros.rem_euclid(1_000_000) as u32,
                        6,
                    )
                    .truncated(*decimals),
                ),
                _ => Value::DateTime(
                    DateTime::from_micros_in(micros, &session.settings.time_zone).truncated(*decimals),
                ),
            })
        }
        ColumnDefault::Expression(_) => None,
    }
}

/// The value of a column that a replicated row does not hold: its default, where that can be told without a session (the time now for
/// `CURRENT_TIMESTAMP`), else NULL or the type's zero.
pub fn default_of_absent(column: &ColumnDefinition) -> Value {
    let value = match &column.default {
        ColumnDefault::Expression(_) | ColumnDefault::None => None,
        ColumnDefault::CurrentTimestamp(_) => {
            let mut session = SessionContext::new(0, crate::session::Services::default());
            session.begin_statement(crate::session::KeepDiagnostics::No);
            constant_default(column, &session)
        }
        ColumnDefault::Null => Some(Value::Null),
        ColumnDefault::Literal(text) => Some(crate::catalog::literal_value(column, text)),
    };
    match value {
        Some(value) if !value.is_null() || column.nullable => value,
        _ if column.nullable => Value::Null,
        _ => implicit_default(&column.data_type),
    }
}

/// Where entries go.
struct Sink {
    /// A builder for each index in files, by its number in the schema; the last two are hidden ones.
    builders: Vec<Option<IndexBuilder>>,
    rows: Option<IndexBuilder>,
    hashes: Option<IndexBuilder>,
    /// Which indexes to fill; all when rows are written anew.
    only: Option<Vec<usize>>,
    key: Vec<u8>,
    row_key: Vec<u8>,
    value: Vec<u8>,
}

impl Sink {
    fn new(build: &TableBuild, schema: &TableSchema, files: Option<&paceline_storage::BulkBuild>) -> Self {
        let only = match &build.kind {
            BuildKind::Rebuild(_) => None,
            BuildKind::Indexes(indexes) => Some(indexes.clone()),
        };
        let wanted = |index: usize| only.as_ref().is_none_or(|only| only.contains(&index));
        let builder = |order| files.map(|files| files.index(order));
        let hidden = only.is_none() && matches!(schema.clustered(), Clustered::RowId(_));
        Self {
            builders: (0..schema.indexes().len())
                .map(|index| {
                    if wanted(index) {
                        builder(InputOrder::Unsorted)
                    } else {
                        None
                    }
                })
                .collect(),
            rows: if hidden { builder(InputOrder::Sorted) } else { None },
            hashes: if hidden {
                builder(InputOrder::Unsorted)
            } else {
                None
            },
            only,
            key: Vec::new(),
            row_key: Vec::new(),
            value: Vec::new(),
        }
    }

    fn row(
        &mut self,
        schema: &TableSchema,
        row: &BuiltRow,
        writes: &mut WriteSet,
    ) -> paceline_storage::Result<()> {
        self.row_key.clear();
        if self.only.is_some() {
            self.row_key.extend_from_slice(&row.key);
        } else if let Some(key) = schema.row_id_key(RowId::rebuilt(row.ordinal)) {
            self.row_key.extend_from_slice(&key);
            self.set_value(row, &[&row.image]);
            put(&mut self.rows, &self.row_key, &self.value, writes)?;
            self.hash_entry(schema, row, writes)?;
        } else {
            schema.append_row_key(&row.image, &mut self.row_key)?;
        }
        for index in 0..schema.indexes().len() {
            if self.only.as_ref().is_some_and(|only| !only.contains(&index)) {
                continue;
            }
            if schema.clustered() == Clustered::Key(index) {
                self.set_value(row, &[&row.image]);
                put(&mut self.builders[index], &self.row_key, &self.value, writes)?;
                continue;
            }
            self.key.clear();
            let kind = schema.append_entry_key(index, &row.image, &self.row_key, &mut self.key)?;
            match kind {
                EntryKind::Unique => {
                    let row_key = self.row_key[IndexId::LENGTH..].to_vec();
                    self.set_value(row, &[&[0, 0], &row_key]);
                }
                EntryKind::Shared { row_key_offset } => self.set_value(row, &[&row_key_offset.to_be_bytes()]),
            }
            put(&mut self.builders[index], &self.key, &self.value, writes)?;
        }
        Ok(())
    }

    fn hash_entry(
        &mut self,
        schema: &TableSchema,
        row: &BuiltRow,
        writes: &mut WriteSet,
    ) -> paceline_storage::Result<()> {
        let Some(range) = schema.hash_range(&row.image) else {
            return Ok(());
        };
        self.key.clear();
        self.key.extend_from_slice(&range.start);
        self.key
            .extend_from_slice(&RowId::rebuilt(row.ordinal).to_be_bytes());
        self.set_value(row, &[]);
        put(&mut self.hashes, &self.key, &self.value, writes)
    }

    fn set_value(&mut self, row: &BuiltRow, payload: &[&[u8]]) {
        self.value.clear();
        self.value.extend_from_slice(&row.version);
        for part in payload {
            self.value.extend_from_slice(part);
        }
    }

    fn finish(self) -> paceline_storage::Result<()> {
        self.builders
            .into_iter()
            .chain([self.rows, self.hashes])
            .flatten()
            .try_for_each(IndexBuilder::finish)
    }
}

/// Into a file, or into the write set of a table in memory.
fn put(
    builder: &mut Option<IndexBuilder>,
    key: &[u8],
    value: &[u8],
    writes: &mut WriteSet,
) -> paceline_storage::Result<()> {
    match builder {
        Some(builder) => builder.put(key, value),
        None => {
            if writes
                .get(key)
                .is_some_and(|change| matches!(change, paceline_storage::Change::Put(_)))
            {
                return Err(paceline_storage::Error::DuplicateKey { key: key.to_vec() });
            }
            writes.put(key, value_payload(value));
            Ok(())
        }
    }
}

/// `Records: 3  Duplicates: 0  Warnings: 0`
pub fn alter_info(rows: u64, warnings: u64) -> String {
    let mut out = String::new();
    let _ = write!(out, "Records: {rows}  Duplicates: 0  Warnings: {warnings}");
    out
}
