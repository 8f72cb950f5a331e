//! Statistics of tables: the number of rows, how many of them share a key, and a sample of the rows.
//!
//! Statistics are collected from the published state at their first use. Small tables are read as a whole. For large
//! tables a [survey](StorageSnapshot::survey) reads entries from the whole range of each index:
//!
//! ```text
//!   rows           the survey's estimate                                     mod.rs
//!   rows_per_key   pairs of neighbours that differ in the first n columns    prefixes.rs
//!   sample         rows on which conditions are tried                        sample.rs
//!   ranges         a survey of each, when a statement is planned             ranges.rs
//! ```
//!
//! They are collected again by ANALYZE TABLE and after changes of the table: from time to time a quick survey, whose
//! result is always the same for the same rows, is compared with the one of that time. A [file](file) keeps the
//! statistics over a restart.

mod file;
mod prefixes;
mod ranges;
mod sample;

use std::collections::HashMap;
use std::path::PathBuf;
use std::sync::{Arc, OnceLock};
use std::time::{Duration, Instant};

use paceline_storage::{
    Direction, EngineKind, IndexId, KeyRange, StorageSnapshot, SurveyedEntry, TableSchema,
};
use paceline_txn::TransactionManager;
use parking_lot::Mutex;

use file::StoredStatistics;
use prefixes::PrefixGroups;
pub(crate) use sample::SampleResult;
use sample::{RowSample, SampleBuilder};

use crate::plan::known_values::KnownValues;
use paceline_catalog::{IndexStatistics, TableDefinition};
use paceline_expression::Expr;

/// Source of the statistics.
pub trait StatisticsSource: Send + Sync {
    /// Returns the published state.
    fn snapshot(&self) -> Arc<StorageSnapshot>;
}

impl StatisticsSource for TransactionManager {
    fn snapshot(&self) -> Arc<StorageSnapshot> {
        TransactionManager::snapshot(self)
    }
}

/// Statistics of all tables.
pub struct Statistics {
    source: Arc<dyn StatisticsSource>,
    tables: Mutex<HashMap<IndexId, Entry>>,
    file: OnceLock<StatisticsFile>,
}

/// File that keeps statistics over a restart.
struct StatisticsFile {
    path: PathBuf,
    /// Contents for tables that were not used yet.
    unused: Mutex<HashMap<IndexId, StoredStatistics>>,
    written: Mutex<Instant>,
}

struct Entry {
    statistics: TableStatistics,
    taken: Instant,
    /// Time of the last check.
    checked: Instant,
    /// Result of a quick survey at the time of collection.
    quick_rows: f64,
    definition: usize,
    /// Contents for the file; `None` for small tables.
    stored: Option<StoredStatistics>,
}

/// Statistics of one table.
#[derive(Clone, Debug)]
pub(crate) struct TableStatistics {
    /// Estimated number of rows.
    pub rows: f64,
    /// For each index, the estimated number of rows that share the values of its first 1, 2, … columns.
    rows_per_key: Arc<[Vec<f64>]>,
    sample: Arc<RowSample>,
    source: Option<SourceHandle>,
}

#[derive(Clone)]
struct SourceHandle(Arc<dyn StatisticsSource>);

impl std::fmt::Debug for SourceHandle {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("SourceHandle")
    }
}

/// Maximum number of rows of a table that is read as a whole.
const COUNTED_ROWS: usize = 1_024;
/// Number of parts of an index from which a survey reads entries.
const STRATA: usize = 64;
/// The same, if only the number of rows is needed.
const QUICK_STRATA: usize = 8;
/// A table has changed if the result of a quick survey differs by this factor.
const CHANGED_FACTOR: f64 = 1.1;
/// Maximum age of statistics, whatever a quick survey returns: changes of values do not affect the number of rows.
const AGE_MAX: Duration = Duration::from_secs(600);
/// Maximum number of tables with statistics.
const TABLES_MAX: usize = 2_048;
/// Minimum time between two writes of the file.
const WRITTEN_EVERY: Duration = Duration::from_secs(60);

impl std::fmt::Debug for Statistics {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Statistics")
            .field("tables", &self.tables.lock().len())
            .finish()
    }
}

impl Statistics {
    /// Creates empty statistics.
    pub fn new(source: Arc<dyn StatisticsSource>) -> Self {
        Statistics {
            source,
            tables: Mutex::default(),
            file: OnceLock::new(),
        }
    }

    /// Starts with the contents of a file, and keeps the file up to date.
    pub fn keep_in(&self, path: PathBuf) {
        let stored = file::read(&path).into_iter();
        let unused = stored
            .map(|stored| (IndexId::new(stored.index), stored))
            .collect();
        let file = StatisticsFile {
            path,
            unused: Mutex::new(unused),
            written: Mutex::new(Instant::now()),
        };
        // Only the first call has an effect.
        let _ = self.file.set(file);
    }

    /// Collects the statistics of a table again: ANALYZE TABLE.
    pub fn analyze(&self, definition: &Arc<TableDefinition>) {
        self.forget(definition);
        self.table(definition);
        self.write();
    }

    /// Drops the statistics of a table.
    pub fn forget(&self, definition: &TableDefinition) {
        let id = definition.schema().clustered_id();
        self.tables.lock().remove(&id);
        if let Some(file) = self.file.get() {
            file.unused.lock().remove(&id);
        }
    }

    /// Writes the file. If this fails, the statistics are collected again after the next start.
    pub fn write(&self) {
        let Some(file) = self.file.get() else { return };
        let known: Vec<StoredStatistics> = {
            let tables = self.tables.lock();
            let stored = tables.values().filter_map(|entry| entry.stored.clone());
            stored.collect()
        };
        let mut all: Vec<StoredStatistics> = file.unused.lock().values().cloned().collect();
        all.truncate(TABLES_MAX);
        all.extend(known);
        *file.written.lock() = Instant::now();
        let _ = file::write(&file.path, &all);
    }

    /// Returns the estimated number of rows of a table.
    pub fn row_count(&self, definition: &Arc<TableDefinition>) -> u64 {
        self.table(definition).rows as u64
    }

    /// Returns for each index the estimated number of different values of its first 1, 2, … columns.
    pub fn distinct_prefixes(&self, definition: &Arc<TableDefinition>) -> Vec<Vec<u64>> {
        let known = self.table(definition);
        let of_prefix = |index: usize, parts: usize| match known.rows {
            0.0 => 0,
            rows => (rows / known.rows_per_key(index, parts).max(1.0))
                .round()
                .max(1.0) as u64,
        };
        (definition.indexes().iter().enumerate())
            .map(|(place, index)| {
                (1..=index.parts.len())
                    .map(|parts| of_prefix(place, parts))
                    .collect()
            })
            .collect()
    }

    /// Returns the statistics of a table, and collects them if necessary.
    pub(crate) fn table(&self, definition: &Arc<TableDefinition>) -> TableStatistics {
        let id = definition.schema().clustered_id();
        let identity = Arc::as_ptr(definition) as usize;
        let now = Instant::now();
        let mut then = None;
        if let Some(entry) = self.tables.lock().get_mut(&id)
            && entry.definition == identity
        {
            if now.duration_since(entry.checked) < lifetime(entry.statistics.rows) {
                return entry.statistics.clone();
            }
            // While one session checks, the others use the existing statistics.
            entry.checked = now;
            let is_old = now.duration_since(entry.taken) >= AGE_MAX;
            then = (!is_old).then(|| (entry.quick_rows, entry.statistics.clone()));
        }
        let snapshot = self.source.snapshot();
        let quick_rows = quick_rows(&snapshot, definition.schema());
        if let Some((quick_then, statistics)) = then
            && !has_changed(quick_then, quick_rows)
        {
            return statistics;
        }
        let (statistics, stored) = self.take(definition.schema(), &snapshot, quick_rows);
        let entry = Entry {
            statistics: statistics.clone(),
            taken: now,
            checked: now,
            quick_rows,
            definition: identity,
            stored,
        };
        self.insert(id, entry);
        statistics
    }

    fn insert(&self, id: IndexId, entry: Entry) {
        let is_stored = entry.stored.is_some();
        let mut tables = self.tables.lock();
        if tables.len() >= TABLES_MAX && !tables.contains_key(&id) {
            let oldest = tables.iter().min_by_key(|(_, entry)| entry.checked);
            if let Some(oldest) = oldest.map(|(id, _)| *id) {
                tables.remove(&oldest);
            }
        }
        tables.insert(id, entry);
        drop(tables);
        if let Some(file) = self.file.get()
            && is_stored
            && file.written.lock().elapsed() >= WRITTEN_EVERY
        {
            self.write();
        }
    }

    /// Returns the file's statistics of a table, if they are for this definition and this number of rows.
    fn stored(&self, schema: &TableSchema, quick_rows: f64) -> Option<StoredStatistics> {
        let stored = self.file.get()?.unused.lock().remove(&schema.clustered_id())?;
        let is_right = stored.definition == file::definition_number(schema)
            && stored.rows_per_key.len() == schema.indexes().len()
            && !has_changed(stored.quick_rows, quick_rows);
        is_right.then_some(stored)
    }

    /// Collects a table's statistics. Returns them with the contents for the file.
    fn take(
        &self,
        schema: &TableSchema,
        snapshot: &StorageSnapshot,
        quick_rows: f64,
    ) -> (TableStatistics, Option<StoredStatistics>) {
        let known = self.stored(schema, quick_rows);
        let mut sample = SampleBuilder::default();
        let whole = small_table_rows(snapshot, schema, &mut sample);
        let rows = match whole {
            Some(rows) => rows,
            None => {
                sample = SampleBuilder::default();
                let surveyed = snapshot.survey(schema.rows_range(), STRATA, &mut |entry| {
                    if entry.weight > 0.0 {
                        sample.add(&schema.row_image(entry.value)?, entry.weight);
                    }
                    Ok(())
                });
                surveyed.unwrap_or(COUNTED_ROWS as f64).max(COUNTED_ROWS as f64)
            }
        };
        let is_kept = whole.is_none() && schema.clustered_id().engine() == EngineKind::RocksDb;
        if let Some(known) = known.filter(|_| is_kept) {
            let statistics = TableStatistics {
                rows: known.rows,
                rows_per_key: known.rows_per_key.clone().into(),
                sample: Arc::new(sample.finish()),
                source: Some(SourceHandle(self.source.clone())),
            };
            return (statistics, Some(known));
        }
        let rows_per_key: Vec<Vec<f64>> = (0..schema.indexes().len())
            .map(|index| {
                let mut groups = PrefixGroups::new(schema, index);
                let range = schema.indexes()[index].id.range();
                let mut add = |entry: SurveyedEntry<'_>| {
                    groups.add(snapshot, &entry);
                    Ok(())
                };
                // The statement itself meets an error of reading again, and reports it.
                let _ = match whole {
                    Some(_) => scan(snapshot, range, &mut add),
                    None => snapshot.survey(range, STRATA, &mut add).map(drop),
                };
                groups.rows_per_key(rows)
            })
            .collect();
        let stored = is_kept.then(|| StoredStatistics {
            index: schema.clustered_id().as_u32(),
            definition: file::definition_number(schema),
            rows,
            quick_rows,
            rows_per_key: rows_per_key.clone(),
        });
        let statistics = TableStatistics {
            rows,
            rows_per_key: rows_per_key.into(),
            sample: Arc::new(sample.finish()),
            source: Some(SourceHandle(self.source.clone())),
        };
        (statistics, stored)
    }
}

impl IndexStatistics for Statistics {
    fn rows_per_key(&self, definition: &Arc<TableDefinition>, index: usize) -> f64 {
        let parts = definition.indexes()[index].parts.len();
        self.table(definition).rows_per_key(index, parts)
    }
}

/// Returns whether a table has changed between two quick surveys.
fn has_changed(then: f64, now: f64) -> bool {
    then <= COUNTED_ROWS as f64 || !(then / CHANGED_FACTOR..=then * CHANGED_FACTOR).contains(&now)
}

fn quick_rows(snapshot: &StorageSnapshot, schema: &TableSchema) -> f64 {
    snapshot
        .survey(schema.rows_range(), QUICK_STRATA, &mut |_| Ok(()))
        .unwrap_or(0.0)
}

/// Returns the number of rows of a small table; `None` for a large one.
fn small_table_rows(
    snapshot: &StorageSnapshot,
    schema: &TableSchema,
    sample: &mut SampleBuilder,
) -> Option<f64> {
    let mut cursor = snapshot.scan(schema.rows_range(), Direction::Forward);
    let mut rows = 0;
    while let Ok(true) = cursor.advance() {
        let (_, value) = cursor.entry()?;
        if rows >= COUNTED_ROWS {
            return None;
        }
        rows += 1;
        sample.add(&schema.row_image(value).ok()?, 1.0);
    }
    Some(rows as f64)
}

/// Calls `visit` for all entries of a range.
fn scan(
    snapshot: &StorageSnapshot,
    range: KeyRange,
    visit: &mut dyn FnMut(SurveyedEntry<'_>) -> paceline_storage::Result<()>,
) -> paceline_storage::Result<()> {
    let mut cursor = snapshot.scan(range, Direction::Forward);
    let mut is_successor = false;
    while let Some((key, value)) = cursor.next()? {
        visit(SurveyedEntry {
            key,
            value,
            weight: 1.0,
            is_successor,
        })?;
        is_successor = true;
    }
    Ok(())
}

/// Returns the time after which statistics are checked.
fn lifetime(rows: f64) -> Duration {
    match rows {
        rows if rows < 100.0 => Duration::from_millis(500),
        rows if rows < 10_000.0 => Duration::from_secs(2),
        _ => Duration::from_secs(20),
    }
}

impl TableStatistics {
    /// Creates statistics of a table of which only the number of rows is known.
    pub fn guess(rows: f64) -> Self {
        TableStatistics {
            rows,
            rows_per_key: Arc::from(Vec::new()),
            sample: Arc::default(),
            source: None,
        }
    }

    /// Returns the estimated number of rows that share the values of an index's first `parts` columns.
    pub fn rows_per_key(&self, index: usize, parts: usize) -> f64 {
        self.rows_per_key
            .get(index)
            .and_then(|known| known.get(parts - 1))
            .copied()
            .unwrap_or(10.0)
            .min(self.rows.max(1.0))
    }

    /// Returns the estimated number of different values of a column.
    pub fn distinct(&self, definition: &TableDefinition, column: usize) -> f64 {
        let rows = self.rows.max(1.0);
        for (index, known) in definition.indexes().iter().zip(self.rows_per_key.iter()) {
            if let (Some(part), Some(rows_per_key)) = (index.parts.first(), known.first())
                && part.column == column
                && part.prefix_length.is_none()
            {
                return (rows / rows_per_key).max(1.0);
            }
        }
        match self.sample.distinct(definition.schema(), column, rows) {
            Some(distinct) => distinct.clamp(1.0, rows),
            None => (rows / 10.0).max(1.0),
        }
    }

    /// Returns the share of the sampled rows that pass some conditions; `None` if the conditions cannot be tried.
    pub fn try_conditions(
        &self,
        definition: &TableDefinition,
        base: usize,
        conditions: &[&Expr],
        known: KnownValues<'_>,
    ) -> Option<SampleResult> {
        self.sample.try_conditions(definition, base, conditions, known)
    }
}
