//! What is known about the sizes of tables: how many rows, and how many of them share a key.
//!
//! Figures are taken from the published state when they are first wanted and again when they have aged, the sooner the smaller the table: small tables
//! are counted, of large ones the first rows are looked at and the rest is estimated from the bytes that the index takes. Nothing is stored; a restart
//! begins anew.

use std::collections::HashMap;
use std::sync::Arc;
use std::time::{Duration, Instant};

use paceline_storage::{Direction, IndexId, KeyRange, StorageSnapshot};
use paceline_txn::TransactionManager;
use parking_lot::Mutex;

use super::range::{RangeCondition, RangeContext, index_ranges};
use crate::catalog::TableDefinition;
use crate::expr::{EvalContext, EvalState};
use crate::session::SessionContext;

/// Where the figures come from.
pub trait StatisticsSource: Send + Sync {
    /// The published state.
    fn snapshot(&self) -> Arc<StorageSnapshot>;
    /// About how many bytes an index takes.
    fn approximate_bytes(&self, index: IndexId) -> u64;
}

impl StatisticsSource for TransactionManager {
    fn snapshot(&self) -> Arc<StorageSnapshot> {
        TransactionManager::snapshot(self)
    }

    fn approximate_bytes(&self, index: IndexId) -> u64 {
        self.storage().approximate_bytes(index)
    }
}

/// The figures of all tables.
pub struct Statistics {
    source: Arc<dyn StatisticsSource>,
    tables: Mutex<HashMap<IndexId, Entry>>,
}

struct Entry {
    statistics: TableStatistics,
    taken: Instant,
    definition: usize,
}

/// What is known of one table.
#[derive(Clone, Debug)]
pub(crate) struct TableStatistics {
    /// About how many rows.
    pub rows: f64,
    /// For each index, about how many rows share the values of its first 1, 2, … columns.
    rows_per_key: Arc<[Vec<f64>]>,
    source: Option<SourceHandle>,
}

#[derive(Clone)]
struct SourceHandle(Arc<dyn StatisticsSource>);

impl std::fmt::Debug for SourceHandle {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("SourceHandle")
    }
}

/// Rows looked at to learn how often keys repeat.
const SAMPLE_ROWS: usize = 256;
/// Rows counted one by one.
const COUNTED_ROWS: usize = 1_024;
/// Keys counted of a range.
const COUNTED_KEYS: usize = 64;

impl std::fmt::Debug for Statistics {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Statistics")
            .field("tables", &self.tables.lock().len())
            .finish()
    }
}

impl Statistics {
    /// Nothing known yet.
    pub fn new(source: Arc<dyn StatisticsSource>) -> Self {
        Statistics {
            source,
            tables: Mutex::default(),
        }
    }

    /// Forgets what is known: ANALYZE TABLE.
    pub fn forget(&self, definition: &TableDefinition) {
        self.tables.lock().remove(&definition.schema().clustered_id());
    }

    /// About how many rows a table has.
    pub fn row_count(&self, definition: &Arc<TableDefinition>) -> u64 {
        self.table(definition).rows as u64
    }

    /// About how many rows share a value of all columns of an index.
    pub fn rows_per_key(&self, definition: &Arc<TableDefinition>, index: usize) -> f64 {
        let parts = definition.indexes()[index].parts.len();
        self.table(definition).rows_per_key(index, parts)
    }

    /// What is known of a table.
    pub(crate) fn table(&self, definition: &Arc<TableDefinition>) -> TableStatistics {
        let id = definition.schema().clustered_id();
        let identity = Arc::as_ptr(definition) as usize;
        let now = Instant::now();
        if let Some(entry) = self.tables.lock().get(&id)
            && entry.definition == identity
            && now.duration_since(entry.taken) < lifetime(entry.statistics.rows)
        {
            return entry.statistics.clone();
        }
        let statistics = self.take(definition);
        let entry = Entry {
            statistics: statistics.clone(),
            taken: now,
            definition: identity,
        };
        self.tables.lock().insert(id, entry);
        statistics
    }

    fn take(&self, definition: &TableDefinition) -> TableStatistics {
        let schema = definition.schema();
        let snapshot = self.source.snapshot();
        let mut cursor = snapshot.scan(schema.rows_range(), Direction::Forward);
        let (mut counted, mut bytes) = (0usize, 0usize);
        let mut keys: Vec<Vec<Vec<Vec<u8>>>> = schema
            .indexes()
            .iter()
            .map(|index| vec![Vec::new(); index.parts.len()])
            .collect();
        let mut whole = true;
        while let Ok(true) = cursor.advance() {
            let Some((key, value)) = cursor.entry() else { break };
            if counted >= COUNTED_ROWS {
                whole = false;
                break;
            }
            counted += 1;
            bytes += key.len() + value.len();
            if counted <= SAMPLE_ROWS {
                sample(definition, paceline_storage::value_payload(value), &mut keys);
            }
        }
        let rows = if whole {
            counted as f64
        } else {
            let average = (bytes / counted.max(1)).max(1) as f64;
            // What is in memory still is not compressed; tables on disk are.
            (self.source.approximate_bytes(schema.clustered_id()) as f64 / average).max(counted as f64 * 2.0)
        };
        let sampled = counted.min(SAMPLE_ROWS) as f64;
        let rows_per_key = keys
            .into_iter()
            .map(|parts| {
                parts
                    .into_iter()
                    .map(|mut keys| {
                        keys.sort_unstable();
                        keys.dedup();
                        let distinct = keys.len().max(1) as f64;
                        if distinct >= sampled * 0.9 {
                            1.0
                        } else if distinct <= sampled * 0.1 {
                            rows / distinct
                        } else {
                            sampled / distinct * (rows / sampled).sqrt().max(1.0)
                        }
                    })
                    .map(|rows: f64| rows.max(1.0))
                    .collect()
            })
            .collect();
        TableStatistics {
            rows,
            rows_per_key,
            source: Some(SourceHandle(self.source.clone())),
        }
    }
}

fn sample(definition: &TableDefinition, image: &[u8], keys: &mut [Vec<Vec<Vec<u8>>>]) {
    let schema = definition.schema();
    for (index, parts) in keys.iter_mut().enumerate() {
        let columns = &schema.indexes()[index].parts;
        let mut key = Vec::with_capacity(32);
        for (part, keys) in columns.iter().zip(parts) {
            let column = &schema.columns()[part.column];
            let Ok(value) = schema.image(image).column(part.column) else {
                return;
            };
            if paceline_types::sort_key::append(
                &value,
                &column.data_type,
                column.nullability,
                part.prefix,
                &mut key,
            )
            .is_err()
            {
                return;
            }
            keys.push(key.clone());
        }
    }
}

/// How long figures are good for.
fn lifetime(rows: f64) -> Duration {
    match rows {
        rows if rows < 100.0 => Duration::from_millis(500),
        rows if rows < 10_000.0 => Duration::from_secs(2),
        _ => Duration::from_secs(20),
    }
}

impl TableStatistics {
    /// A table of which nothing more is known.
    pub fn guess(rows: f64) -> Self {
        TableStatistics {
            rows,
            rows_per_key: Arc::from(Vec::new()),
            source: None,
        }
    }

    /// About how many rows share the values of an index's first `parts` columns.
    pub fn rows_per_key(&self, index: usize, parts: usize) -> f64 {
        self.rows_per_key
            .get(index)
            .and_then(|known| known.get(parts - 1))
            .copied()
            .unwrap_or(10.0)
            .min(self.rows.max(1.0))
    }

    /// About how many rows the ranges of a condition on an index hold.
    pub fn range_rows(
        &self,
        definition: &TableDefinition,
        index: usize,
        condition: &RangeCondition,
        session: &SessionContext,
    ) -> f64 {
        let schema = definition.schema();
        let unknown = !condition.only_literals();
        let mut session = session.clone();
        let mut state = EvalState::new();
        let mut eval = EvalContext::new(&mut session, &mut state);
        let mut context = RangeContext {
            eval: &mut eval,
            row: &[],
            literals_only: true,
        };
        let ranges = index_ranges(schema, index, condition, &mut context);
        let guess = guess_rows(self, definition, index, condition);
        match (ranges, &self.source) {
            (Ok(ranges), Some(source)) if !unknown => {
                let snapshot = source.0.snapshot();
                let mut rows = 0.0;
                for (number, range) in ranges.iter().enumerate() {
                    if number >= 16 {
                        return rows * ranges.len() as f64 / 16.0;
                    }
                    let counted = count_keys(&snapshot, range);
                    if counted >= COUNTED_KEYS {
                        rows += guess.max(COUNTED_KEYS as f64 * 2.0);
                    } else {
                        rows += counted as f64;
                    }
                }
                rows.min(self.rows.max(1.0))
            }
            _ => guess,
        }
    }
}

fn count_keys(snapshot: &StorageSnapshot, range: &KeyRange) -> usize {
    let mut cursor = snapshot.scan(range.clone(), Direction::Forward);
    let mut counted = 0;
    while counted < COUNTED_KEYS && matches!(cursor.advance(), Ok(true)) {
        counted += 1;
    }
    counted
}

/// How many rows a condition may let pass, by its form alone.
fn guess_rows(
    statistics: &TableStatistics,
    definition: &TableDefinition,
    index: usize,
    condition: &RangeCondition,
) -> f64 {
    use super::range::ColumnTest;
    use crate::expr::CompareOp;
    fn fraction(condition: &RangeCondition, column: usize, equal: f64) -> Option<f64> {
        match condition {
            RangeCondition::And(parts) => {
                let mut known = parts
                    .iter()
                    .filter_map(|part| fraction(part, column, equal))
                    .peekable();
                known.peek()?;
                Some(known.product())
            }
            RangeCondition::Or(parts) => {
                let known: Option<Vec<f64>> =
                    parts.iter().map(|part| fraction(part, column, equal)).collect();
                Some(known?.iter().sum::<f64>().min(1.0))
            }
            RangeCondition::Column { column: tested, .. } if *tested != column => None,
            RangeCondition::Column { test, .. } => Some(match test {
                ColumnTest::Compare {
                    op: CompareOp::Eq | CompareOp::NullSafeEq,
                    ..
                }
                | ColumnTest::Null => equal,
                ColumnTest::Compare {
                    op: CompareOp::Ne, ..
                }
                | ColumnTest::NotNull => 0.9,
                ColumnTest::Compare { .. } => 0.33,
                ColumnTest::Between { .. } | ColumnTest::Like { .. } => 0.05,
                ColumnTest::In(values) => (equal * values.len() as f64).min(1.0),
            }),
        }
    }
    let rows = statistics.rows.max(1.0);
    let mut result = rows;
    for (place, part) in definition.indexes()[index].parts.iter().enumerate() {
        let equal = statistics.rows_per_key(index, place + 1) / rows;
        match fraction(condition, part.column, equal.min(1.0)) {
            Some(fraction) => result = (result * fraction).max(1.0),
            None => break,
        }
    }
    result
}
