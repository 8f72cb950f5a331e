//! Table definitions as the rest of the server uses them: the description and data derived from it.

use std::fmt;
use std::ops::Deref;
use std::sync::{Arc, OnceLock};

use paceline_binlog::LoggedTable;
use paceline_binlog::event::{EventBody, TableId, TableMapEvent};
use paceline_storage::{
    ColumnSchema, Direction, EngineKind, HiddenIndexes, IndexId, IndexSchema, KeyPart, StorageSnapshot,
    TableSchema,
};
use paceline_types::convert::{self, ConvertContext};
use paceline_types::sort_key::Nullability;
use paceline_types::table_map_metadata::{self, MappedColumn, RowMetadata};
use paceline_types::temporal::DateModes;
use paceline_types::{DateTime, TimeZone, Value, Version};

use super::auto_increment::{AutoIncrement, counted};
use super::definition::{
    CheckConstraint, ColumnDefault, ColumnDefinition, IndexDefinition, IndexKind, TableDescription,
};
use super::table_counters::{RowCounts, TableCounters, UserRowCounts};
use super::trigger::TableTriggers;
use crate::earlier_rows::earlier_formats;
use crate::error::{Error, Result};
use crate::names::same_name;
use crate::sequence::SequenceCache;

/// Definition of a table. Immutable, created once for each description; dereferences to its [`TableDescription`].
pub struct TableDefinition {
    description: TableDescription,
    version: Version,
    schema: Arc<TableSchema>,
    default_values: Box<[Option<Value>]>,
    auto_increment_column: Option<usize>,
    auto_increment: Arc<AutoIncrement>,
    sequence: SequenceCache,
    /// Table maps, by their amount of metadata.
    logged: [OnceLock<LoggedTable>; 3],
    triggers: TableTriggers,
    counters: Arc<TableCounters>,
}

impl TableDefinition {
    /// Converts an error of a transaction at one of the table's rows. 1020 contains the table's name.
    pub fn transaction_error(&self, error: paceline_txn::Error) -> Error {
        match error {
            paceline_txn::Error::SnapshotConflict { .. } => {
                Error::new(paceline_types::error_code::ER_CHECKREAD, &[&self.name()])
            }
            error => error.into(),
        }
    }

    /// Creates a definition. `version` is the log position of the description; [`Version::ZERO`] while it is planned.
    ///
    /// # Errors
    /// If the description is inconsistent, which is impossible for a planned one.
    pub fn new(
        mut description: TableDescription,
        version: Version,
        auto_increment: Arc<AutoIncrement>,
    ) -> Result<Self> {
        // Within the statement's plan there is no version yet.
        if version != Version::ZERO {
            for rows in &mut description.earlier_rows {
                rows.until.get_or_insert(version);
            }
        }
        let schema = Arc::new(schema_of(&description)?);
        let default_values = description.columns.iter().map(default_value).collect();
        let auto_increment_column = description
            .columns
            .iter()
            .position(|column| column.auto_increment);
        Ok(Self {
            counters: Arc::new(TableCounters::new(description.indexes.len() + 1)),
            description,
            version,
            schema,
            default_values,
            auto_increment_column,
            auto_increment,
            sequence: SequenceCache::default(),
            logged: Default::default(),
            triggers: TableTriggers::default(),
        })
    }

    /// Returns this definition with these triggers.
    pub(crate) fn with_triggers(mut self, triggers: TableTriggers) -> Self {
        self.triggers = triggers;
        self
    }

    /// Returns a new definition object that differs in its triggers only.
    ///
    /// # Errors
    /// Those of [`Self::new`].
    pub(crate) fn changed_triggers(&self, triggers: TableTriggers) -> Result<Self> {
        let counter = self.auto_increment.clone();
        Ok(Self::new(self.description.clone(), self.version, counter)?
            .with_triggers(triggers)
            .with_counters_of(self))
    }

    /// Returns this definition with the counters of an earlier one of the same table. If it has other indexes, those
    /// with the same names keep their counts.
    pub(crate) fn with_counters_of(mut self, before: &TableDefinition) -> Self {
        let place_before = |index: &IndexDefinition| {
            let known = before.indexes().iter().position(|other| other.name == index.name);
            known.map(|known| known + 1)
        };
        let kept: Vec<Option<usize>> = std::iter::once(Some(0))
            .chain(self.indexes().iter().map(place_before))
            .collect();
        let is_same = kept
            .iter()
            .enumerate()
            .all(|(place, known)| *known == Some(place));
        self.counters = match is_same && kept.len() == before.counters.places() {
            true => before.counters.clone(),
            false => Arc::new(before.counters.rearranged(&kept)),
        };
        self
    }

    /// Counts rows that a statement has read by an index; `None` is without one. With `for_users` they count in the
    /// statistics of users as well.
    #[inline]
    pub fn count_read(&self, index: Option<usize>, rows: u64, for_users: bool) {
        self.counters.count_read(index, rows, for_users);
    }

    /// Counts rows that a statement has changed, after it has found them by an index.
    pub fn count_writes(&self, index: Option<usize>, written: RowCounts, for_users: bool) {
        self.counters.count_writes(index, written, for_users);
    }

    /// Returns the rows that statements have read and changed by an index; `None` is without one.
    pub fn row_counts(&self, index: Option<usize>) -> RowCounts {
        self.counters.of_index(index)
    }

    /// Returns whether a statement has used the table since the start of the server.
    pub fn has_row_counts(&self) -> bool {
        self.counters.are_used()
    }

    /// Returns the rows of the statistics of users: of the whole table, or by an index.
    pub fn user_row_counts(&self, index: Option<usize>) -> UserRowCounts {
        self.counters.of_users(index)
    }

    /// Sets the counters of [`Self::row_counts`] to zero.
    pub fn clear_row_counts(&self) {
        self.counters.clear();
    }

    /// Sets the statistics of users to zero: those of the whole table.
    pub fn clear_user_row_counts(&self) {
        self.counters.clear_users_of_table();
    }

    /// Sets the statistics of users to zero: those by the indexes.
    pub fn clear_user_index_counts(&self) {
        self.counters.clear_users_of_indexes();
    }

    /// Returns its triggers.
    #[inline]
    pub fn triggers(&self) -> &TableTriggers {
        &self.triggers
    }

    /// Returns the description in the catalog record.
    pub fn description(&self) -> &TableDescription {
        &self.description
    }

    /// Returns the name of its database.
    pub fn database(&self) -> &str {
        &self.description.database
    }

    /// Returns its name.
    pub fn name(&self) -> &str {
        &self.description.name
    }

    /// Returns whether it is a temporary table of a session.
    pub fn is_temporary(&self) -> bool {
        self.description.temporary
    }

    /// Returns whether it is a sequence.
    pub fn is_sequence(&self) -> bool {
        self.description.sequence
    }

    /// Returns the state in memory of a sequence.
    pub fn sequence_cache(&self) -> &SequenceCache {
        &self.sequence
    }

    /// Returns its columns, in order.
    pub fn columns(&self) -> &[ColumnDefinition] {
        &self.description.columns
    }

    /// Returns its indexes, which have the same positions in [`Self::schema`].
    pub fn indexes(&self) -> &[IndexDefinition] {
        &self.description.indexes
    }

    /// Returns its check constraints, without those of columns.
    pub fn checks(&self) -> &[CheckConstraint] {
        &self.description.checks
    }

    /// Returns the log position of its current definition.
    pub fn version(&self) -> Version {
        self.version
    }

    /// Returns the schema for the engines.
    pub fn schema(&self) -> &Arc<TableSchema> {
        &self.schema
    }

    /// Returns the value of a column's literal default; `None` for no default or another kind.
    pub fn default_value(&self, column: usize) -> Option<&Value> {
        self.default_values[column].as_ref()
    }

    /// Returns the column with AUTO_INCREMENT.
    pub fn auto_increment_column(&self) -> Option<usize> {
        self.auto_increment_column
    }

    /// Returns the counter of that column.
    pub fn auto_increment(&self) -> &Arc<AutoIncrement> {
        &self.auto_increment
    }

    /// Returns the highest value of the AUTO_INCREMENT column in a snapshot or in a deleted row; 0 for none.
    ///
    /// # Errors
    /// If the table cannot be read.
    pub fn auto_increment_highest(&self, snapshot: &StorageSnapshot) -> Result<u64> {
        let gone = match self.schema.counter_id() {
            Some(kept) => snapshot
                .get(&kept.number_key())?
                .and_then(|value| IndexId::number_of(value.payload())),
            None => None,
        };
        Ok(self.auto_increment_present(snapshot)?.max(gone.unwrap_or(0)))
    }

    /// Returns the highest value of the AUTO_INCREMENT column in a snapshot; 0 for none, and if its index does not
    /// contain the values.
    fn auto_increment_present(&self, snapshot: &StorageSnapshot) -> Result<u64> {
        let Some(column) = self.auto_increment_column else {
            return Ok(0);
        };
        let Some(index) = self
            .indexes()
            .iter()
            .position(|index| index.parts[0].column == column)
        else {
            return Ok(0);
        };
        let mut entries = snapshot.scan(self.schema.indexes()[index].id.range(), Direction::Backward);
        let Some((key, value)) = entries.next()? else {
            return Ok(0);
        };
        let mut row_key = Vec::new();
        self.schema
            .append_row_key_of_entry(index, key, value, &mut row_key)?;
        let Some(row) = snapshot.get(&row_key)? else {
            return Ok(0);
        };
        let image = self.schema.row_image(&row)?;
        let image = self.schema.image(&image);
        Ok(counted(&image.column(column)?.into_owned()).unwrap_or(0))
    }

    /// Returns the index of the column with this name, in any case.
    pub fn column(&self, name: &str) -> Option<usize> {
        self.columns()
            .iter()
            .position(|column| same_name(&column.name, name))
    }

    /// Returns the position of the index with this name, in any case.
    pub fn index(&self, name: &str) -> Option<usize> {
        self.indexes()
            .iter()
            .position(|index| same_name(&index.name, name))
    }

    /// Returns the table id in its table maps.
    pub fn table_id(&self) -> TableId {
        TableId(u64::from(self.description.id & 0x7FFF_FFFF))
    }

    /// Returns the table map that precedes its rows in the log.
    pub fn logged(&self, metadata: RowMetadata) -> &LoggedTable {
        let place = match metadata {
            RowMetadata::NoLog => 0,
            RowMetadata::Minimal => 1,
            RowMetadata::Full => 2,
        };
        self.logged[place].get_or_init(|| self.table_map(metadata))
    }

    fn table_map(&self, metadata: RowMetadata) -> LoggedTable {
        let mut head = Vec::new();
        TableMapEvent {
            table_id: self.table_id(),
            flags: match self.triggers.all().is_empty() {
                true => TableMapEvent::FLAG_BIT_LENGTH_EXACT,
                false => TableMapEvent::FLAG_BIT_LENGTH_EXACT | TableMapEvent::FLAG_HAS_TRIGGERS,
            },
            database: self.database().as_bytes(),
            table: self.name().as_bytes(),
            column_types: &[],
            metadata: &[],
            nullable: &[],
            optional_metadata: &[],
        }
        .encode_body(&mut head);
        // Number of columns and length of their metadata: one byte each, both zero here.
        head.truncate(head.len() - 2);
        let columns: Vec<MappedColumn<'_>> = self
            .columns()
            .iter()
            .map(|column| MappedColumn {
                name: &column.name,
                data_type: &column.data_type,
                nullable: column.nullable,
            })
            .collect();
        // As in MariaDB, a table without a primary key is identified by its first unique key without NULL and prefixes.
        let identifies = |index: &&IndexDefinition| match index.kind {
            IndexKind::Primary => true,
            IndexKind::Unique => index
                .parts
                .iter()
                .all(|part| part.prefix_length.is_none() && !self.columns()[part.column].nullable),
            IndexKind::Plain => false,
        };
        let primary_key: Vec<(usize, u32)> = self
            .indexes()
            .iter()
            .find(identifies)
            .map(|index| {
                index
                    .parts
                    .iter()
                    .map(|part| (part.column, part.prefix_length.unwrap_or(0)))
                    .collect()
            })
            .unwrap_or_default();
        table_map_metadata::append_columns(&columns, &primary_key, metadata, &mut head);
        let map = TableMapEvent::decode(&head).expect("a table map that was just encoded");
        LoggedTable::new(&map)
    }
}

impl Deref for TableDefinition {
    type Target = TableDescription;

    fn deref(&self) -> &TableDescription {
        &self.description
    }
}

impl fmt::Debug for TableDefinition {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("TableDefinition")
            .field("description", &self.description)
            .field("version", &self.version)
            .finish_non_exhaustive()
    }
}

/// Returns the schema for the engines.
///
/// # Errors
/// If the description is inconsistent.
pub(crate) fn schema_of(description: &TableDescription) -> Result<TableSchema> {
    let columns = description.columns.iter().map(column_schema).collect();
    let indexes = description.indexes.iter().map(index_schema).collect();
    let [rows, hash] = description.hidden.map(IndexId::new);
    if description.sequence {
        return Ok(TableSchema::of_single_row(columns, rows));
    }
    let schema = TableSchema::new(columns, indexes, HiddenIndexes { rows, hash })?;
    let earlier = earlier_formats(description, schema.layout())?;
    let schema = schema.with_earlier_formats(earlier);
    let numbered = description
        .columns
        .iter()
        .position(|column| column.auto_increment);
    Ok(match numbered {
        Some(column) => schema.with_counter(column, counter_id(description)),
        None => schema,
    })
}

/// Returns the index under which the highest AUTO_INCREMENT value of deleted rows is stored on disk: the table's own
/// id, which no index has.
pub fn counter_id(description: &TableDescription) -> IndexId {
    IndexId::in_engine(IndexId::new(description.id).number(), EngineKind::RocksDb)
}

pub(crate) fn column_schema(column: &ColumnDefinition) -> ColumnSchema {
    ColumnSchema {
        data_type: column.data_type.clone(),
        nullability: if column.nullable {
            Nullability::Nullable
        } else {
            Nullability::NotNull
        },
    }
}

fn index_schema(index: &IndexDefinition) -> IndexSchema {
    use paceline_storage::IndexKind as Stored;
    IndexSchema {
        id: IndexId::new(index.id),
        kind: match index.kind {
            IndexKind::Primary => Stored::Primary,
            IndexKind::Unique if index.hashed => Stored::UniqueHash,
            IndexKind::Unique => Stored::Unique,
            IndexKind::Plain => Stored::Secondary,
        },
        parts: index
            .parts
            .iter()
            .map(|part| KeyPart {
                column: part.column,
                prefix: part.prefix_length,
            })
            .collect(),
    }
}

/// Returns a literal default as a value of its column.
fn default_value(column: &ColumnDefinition) -> Option<Value> {
    match &column.default {
        ColumnDefault::None | ColumnDefault::CurrentTimestamp(_) | ColumnDefault::Expression(_) => None,
        ColumnDefault::Null => Some(Value::Null),
        ColumnDefault::Literal(text) => Some(literal_value(column, text)),
    }
}

/// Returns the value of a stored literal, which was checked when it was stored.
pub fn literal_value(column: &ColumnDefinition, text: &str) -> Value {
    let data_type = &column.data_type;
    let value = if data_type.is_binary_string() {
        Value::Bytes(text.chars().map(|character| character as u8).collect())
    } else if matches!(data_type, paceline_types::DataType::Bit { .. }) {
        text.parse().map_or(Value::Null, Value::UInt)
    } else {
        Value::Text(text.to_owned())
    };
    let context = ConvertContext {
        date_modes: DateModes::default(),
        time_zone: &TimeZone::UTC,
        now: DateTime::default(),
    };
    convert::assign(value, data_type, &context).value
}
