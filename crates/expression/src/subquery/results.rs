//! Cached results of a statement's subqueries.
//!
//! An uncorrelated subquery has one result. A correlated one has a result for each combination of the values
//! that it reads of the outer row, and outer rows often repeat them (`l_partkey = p_partkey` in a join of
//! thirty lines to a part). MariaDB has its `subquery_cache` for this. Two rules limit the cost of the cache:
//!
//! - After [`MISSES_MAX_FIRST`] misses, a subquery with less than one hit in [`HIT_SHARE`] lookups is no
//!   longer cached, as in MariaDB.
//! - The results of one subquery take at most [`RESULT_BYTES_MAX`]. Beyond that, or beyond the session's
//!   memory, they are dropped and the subquery runs for each row again. This is not an error.
//!
//! The key is the identity of the outer values, not their equality by a collation: `a` and `A` are equal, but
//! the subquery may show the difference.

use paceline_types::{TimeZone, Value};
use std::collections::{HashMap, HashSet};

use crate::subquery::{Correlation, Subquery};

use crate::session::{MemoryCharge, SessionContext, StatementCounts};

/// Number of misses before the share of hits is examined.
const MISSES_MAX_FIRST: u32 = 200;
/// At least one lookup in this many must be a hit.
const HIT_SHARE: u32 = 5;
/// Maximum size of the results of one correlated subquery, in bytes.
const RESULT_BYTES_MAX: usize = 16 << 20;
/// Memory of an entry besides its key and rows, in bytes.
const ENTRY_BYTES: usize = 96;
/// Memory of a row besides its values, in bytes.
pub(crate) const ROW_BYTES: usize = 24;

/// All rows of a subquery, cached for the rest of the statement.
#[derive(Debug, Default)]
pub(crate) struct CachedRows {
    pub rows: Vec<Vec<Value>>,
    /// Keys of the rows without NULL; `None` before the first lookup, or if the comparison rules do not allow
    /// keys.
    pub keys: Option<HashSet<Vec<u8>>>,
    /// Whether some row has a NULL: then "not found" is UNKNOWN.
    pub any_null: bool,
    /// Charge to the session's memory account.
    pub memory: Option<MemoryCharge>,
}

impl CachedRows {
    /// Returns the result of a scalar subquery or EXISTS: one row or none.
    pub fn of_row(row: Option<Vec<Value>>) -> Self {
        CachedRows {
            rows: row.into_iter().collect(),
            ..CachedRows::default()
        }
    }

    /// Returns the memory in use that is not charged to any account yet.
    pub fn memory_bytes(&self) -> usize {
        if self.memory.is_some() {
            return 0;
        }
        let values = self.rows.iter().flatten();
        self.rows.len() * ROW_BYTES + values.map(Value::memory_bytes).sum::<usize>()
    }
}

/// Cached results of a statement's subqueries.
#[derive(Debug, Default)]
pub(crate) struct SubqueryResults {
    /// By the index of the subquery.
    of: Vec<Option<Results>>,
    key: Vec<u8>,
    /// Set if the statement may change rows that its own subqueries read.
    only_uncorrelated: bool,
}

#[derive(Debug)]
enum Results {
    One(CachedRows),
    ByOuterValues(ResultsByOuterValues),
}

/// Cached results of one correlated subquery.
#[derive(Debug)]
struct ResultsByOuterValues {
    /// `None` after caching has been given up.
    entries: Option<Entries>,
    hits: u32,
    misses: u32,
}

#[derive(Debug)]
struct Entries {
    results: HashMap<Box<[u8]>, CachedRows>,
    memory: MemoryCharge,
}

impl SubqueryResults {
    /// Removes all results.
    pub fn clear(&mut self) {
        self.of.clear();
    }

    /// See [`super::EvalState::keep_only_uncorrelated`].
    pub fn keep_only_uncorrelated(&mut self) {
        self.only_uncorrelated = true;
    }

    /// Looks a subquery's result for the given outer row up, and counts whether it is there.
    pub fn look_up(
        &mut self,
        subquery: &Subquery,
        outer: &[Value],
        counts: &mut StatementCounts,
    ) -> Option<&mut CachedRows> {
        match self.of.get_mut(subquery.id.index())?.as_mut()? {
            Results::One(rows) => Some(rows),
            Results::ByOuterValues(results) => {
                results.entries.as_ref()?;
                write_key(subquery, outer, &mut self.key);
                results.look_up(&self.key, counts)
            }
        }
    }

    /// Returns the place of a result that was found before.
    pub fn get_mut(&mut self, subquery: &Subquery, outer: &[Value]) -> Option<&mut CachedRows> {
        match self.of.get_mut(subquery.id.index())?.as_mut()? {
            Results::One(rows) => Some(rows),
            Results::ByOuterValues(results) => {
                write_key(subquery, outer, &mut self.key);
                results.entries.as_mut()?.results.get_mut(&*self.key)
            }
        }
    }

    /// Caches a result for later rows, unless the subquery has to run for each row.
    pub fn keep(
        &mut self,
        subquery: &Subquery,
        outer: &[Value],
        rows: CachedRows,
        session: &mut SessionContext,
    ) {
        let mut key = std::mem::take(&mut self.key);
        match subquery.correlation {
            Correlation::Volatile => {}
            Correlation::Uncorrelated => *self.entry(subquery) = Some(Results::One(rows)),
            Correlation::Correlated if self.only_uncorrelated || subquery.outer_slots.is_empty() => {}
            Correlation::Correlated => {
                let results = self.entry(subquery).get_or_insert_with(|| {
                    session.counts.subquery_cache_miss += 1;
                    Results::ByOuterValues(ResultsByOuterValues {
                        entries: Some(Entries {
                            results: HashMap::new(),
                            memory: MemoryCharge::new(&session.memory),
                        }),
                        hits: 0,
                        misses: 1,
                    })
                });
                if let Results::ByOuterValues(results) = results
                    && results.entries.is_some()
                {
                    write_key(subquery, outer, &mut key);
                    results.insert(&key, rows);
                }
            }
        }
        self.key = key;
    }

    fn entry(&mut self, subquery: &Subquery) -> &mut Option<Results> {
        let index = subquery.id.index();
        if self.of.len() <= index {
            self.of.resize_with(index + 1, || None);
        }
        &mut self.of[index]
    }
}

impl ResultsByOuterValues {
    fn look_up(&mut self, key: &[u8], counts: &mut StatementCounts) -> Option<&mut CachedRows> {
        let found = self.entries.as_mut()?.results.get_mut(key);
        match found {
            Some(_) => {
                self.hits = self.hits.saturating_add(1);
                counts.subquery_cache_hit += 1;
            }
            None => {
                self.misses = self.misses.saturating_add(1);
                counts.subquery_cache_miss += 1;
            }
        }
        found
    }

    fn insert(&mut self, key: &[u8], rows: CachedRows) {
        let Some(entries) = &mut self.entries else { return };
        let bytes = key.len() + rows.memory_bytes() + ENTRY_BYTES;
        let lookups = self.hits.saturating_add(self.misses);
        let rarely_found = self.misses >= MISSES_MAX_FIRST && self.hits < lookups / HIT_SHARE;
        let fits = entries.memory.used() + bytes <= RESULT_BYTES_MAX;
        if rarely_found || !fits || entries.memory.grow(bytes).is_err() {
            self.entries = None;
            return;
        }
        entries.results.insert(key.into(), rows);
    }
}

fn write_key(subquery: &Subquery, outer: &[Value], key: &mut Vec<u8>) {
    key.clear();
    for slot in &subquery.outer_slots {
        append_identity(&outer[*slot], key);
    }
}

/// Appends bytes that are equal only for indistinguishable values: 1.0 and 1.00 differ.
fn append_identity(value: &Value, out: &mut Vec<u8>) {
    fn sized(kind: u8, bytes: &[u8], out: &mut Vec<u8>) {
        out.push(kind);
        out.extend_from_slice(&(bytes.len() as u64).to_le_bytes());
        out.extend_from_slice(bytes);
    }
    fn number(kind: u8, bits: u64, out: &mut Vec<u8>) {
        out.push(kind);
        out.extend_from_slice(&bits.to_le_bytes());
    }
    match value {
        Value::Null => out.push(0),
        Value::Int(value) => number(1, *value as u64, out),
        Value::UInt(value) => number(2, *value, out),
        Value::Float(value) => number(3, u64::from(value.to_bits()), out),
        Value::Double(value) => number(4, value.to_bits(), out),
        Value::Text(text) => sized(5, text.as_bytes(), out),
        Value::Bytes(bytes) => sized(6, bytes, out),
        Value::Year(year) => number(7, u64::from(*year), out),
        Value::Bit(bits) => {
            number(8, bits.bits, out);
            out.push(bits.length);
        }
        Value::Enum(value) => number(9, u64::from(value.index), out),
        Value::Set(value) => number(10, value.bits, out),
        Value::FixedBinary(value) => sized(16 + value.data_type() as u8, value.bytes(), out),
        Value::Decimal(_) | Value::Date(_) | Value::Time(_) | Value::DateTime(_) | Value::Timestamp(_) => {
            let mut text = Vec::with_capacity(32);
            paceline_types::text::append_value(&value.as_ref(), &TimeZone::UTC, &mut text);
            let kind = match value {
                Value::Decimal(_) => 11,
                Value::Date(_) => 12,
                Value::Time(_) => 13,
                Value::DateTime(_) => 14,
                _ => 15,
            };
            sized(kind, &text, out);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::session::Services;
    use crate::subquery::SubqueryId;

    fn correlated(slots: &[usize]) -> Subquery {
        Subquery {
            id: SubqueryId::new(3),
            columns: Vec::new(),
            correlation: Correlation::Correlated,
            outer_slots: slots.to_vec(),
        }
    }

    fn result(value: i64) -> CachedRows {
        CachedRows::of_row(Some(vec![Value::Int(value)]))
    }

    #[test]
    fn results_are_found_by_the_slots_that_are_read() {
        let mut session = SessionContext::new(1, Services::default());
        let (mut results, subquery) = (SubqueryResults::default(), correlated(&[1]));
        let row = |unread: i64, read: i64| [Value::Int(unread), Value::Int(read)];
        assert!(
            results
                .look_up(&subquery, &row(1, 7), &mut session.counts)
                .is_none()
        );
        results.keep(&subquery, &row(1, 7), result(70), &mut session);
        assert!(
            results
                .look_up(&subquery, &row(2, 7), &mut session.counts)
                .is_some()
        );
        assert!(
            results
                .look_up(&subquery, &row(1, 8), &mut session.counts)
                .is_none()
        );
        assert!(
            results
                .look_up(&subquery, &[Value::Int(1), Value::UInt(7)], &mut session.counts)
                .is_none()
        );
        let counts = session.counts;
        assert_eq!((counts.subquery_cache_hit, counts.subquery_cache_miss), (1, 3));
    }

    #[test]
    fn subqueries_with_few_hits_are_not_cached() {
        let mut session = SessionContext::new(1, Services::default());
        let (mut results, subquery) = (SubqueryResults::default(), correlated(&[0]));
        for value in 0..i64::from(MISSES_MAX_FIRST) + 1 {
            assert!(
                results
                    .look_up(&subquery, &[Value::Int(value)], &mut session.counts)
                    .is_none()
            );
            results.keep(&subquery, &[Value::Int(value)], result(value), &mut session);
        }
        assert!(
            results
                .look_up(&subquery, &[Value::Int(0)], &mut session.counts)
                .is_none()
        );
        drop(results);
        assert_eq!(session.memory.used(), 0);
    }

    #[test]
    fn beyond_the_memory_limit_nothing_is_cached_and_nothing_fails() {
        let mut session = SessionContext::new(1, Services::default());
        session.memory.set_limit(200);
        let (mut results, subquery) = (SubqueryResults::default(), correlated(&[0]));
        for value in 0..10 {
            results.keep(&subquery, &[Value::Int(value)], result(value), &mut session);
        }
        assert_eq!(session.memory.used(), 0);
        assert!(
            results
                .look_up(&subquery, &[Value::Int(0)], &mut session.counts)
                .is_none()
        );
    }

    #[test]
    fn equal_but_different_values_are_distinguished() {
        let identity = |value: &Value| {
            let mut bytes = Vec::new();
            append_identity(value, &mut bytes);
            bytes
        };
        let decimal = |text: &str| Value::Decimal(paceline_types::convert::text_to_decimal(text).0);
        let pairs = [
            (Value::Text("a".into()), Value::Text("A".into())),
            (Value::Text("a".into()), Value::Text("a ".into())),
            (decimal("1.0"), decimal("1.00")),
            (Value::Double(0.0), Value::Double(-0.0)),
            (Value::Int(1), Value::UInt(1)),
            (Value::Null, Value::Int(0)),
        ];
        for (one, other) in &pairs {
            assert_ne!(identity(one), identity(other));
            assert_eq!(identity(one), identity(&one.clone()));
        }
    }
}
