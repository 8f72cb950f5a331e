//! The latest slow statements with their plans, for the page.
//!
//! A statement is slow as for the status variable `Slow_queries`: by `long_query_time` and the variables that restrict
//! it, also while the slow query log is off. Its text is that of its digest, so literals are not kept; nor is the
//! account. Plans are described when a statement ends, and only of those that were slow.
//!
//! # Limits
//! [`ENTRIES_MAX`] statements of together [`BYTES_MAX`] bytes, the oldest of which goes first. At most one statement in
//! [`INTERVAL_MICROS`] is kept, so that `long_query_time = 0` costs little. Nothing is kept without `--http-address`.

use paceline_types::Value;
use parking_lot::Mutex;
use std::collections::VecDeque;
use std::sync::atomic::{AtomicI64, Ordering};

/// Maximum number of statements.
const ENTRIES_MAX: usize = 50;
/// Maximum size of all statements.
const BYTES_MAX: usize = 1 << 20;
/// Maximum length of a text in bytes.
const TEXT_MAX: usize = 4 << 10;
/// Maximum number of lines of a plan.
const PLAN_LINES_MAX: usize = 100;
/// Time in microseconds after a statement in which no other one is kept.
const INTERVAL_MICROS: i64 = 10_000;

/// A slow statement.
#[derive(Debug, Clone, Default)]
pub struct SlowStatementEntry {
    /// Start in microseconds since 1970.
    pub start_micros: i64,
    pub duration_micros: u64,
    /// Database that was current.
    pub database: Option<String>,
    /// Text of the digest.
    pub text: String,
    pub rows_sent: u64,
    pub rows_examined: u64,
    pub rows_affected: u64,
    /// Number of the error.
    pub error: Option<u16>,
    /// Lines of EXPLAIN; empty if the statement has no plan.
    pub plan: Vec<Vec<Option<String>>>,
}

impl SlowStatementEntry {
    fn bytes(&self) -> usize {
        let cells = self.plan.iter().flatten();
        let cells: usize = cells
            .map(|cell| cell.as_ref().map_or(0, String::len) + size_of::<Option<String>>())
            .sum();
        size_of::<Self>() + self.text.len() + self.database.as_ref().map_or(0, String::len) + cells
    }
}

/// Returns the text of a statement as it is kept.
pub fn kept_text(mut text: String) -> String {
    if text.len() > TEXT_MAX {
        let end = (0..=TEXT_MAX).rev().find(|end| text.is_char_boundary(*end));
        text.truncate(end.unwrap_or(0));
        text.push('…');
        text.shrink_to_fit();
    }
    text
}

/// Columns of ANALYZE with measurements, which the plan of a statement that was not measured lacks.
const MEASURED_COLUMNS: std::ops::Range<usize> = 9..12;

/// Returns the lines of a plan, which has ANALYZE's columns, as they are kept: with EXPLAIN's columns.
pub fn kept_plan(rows: &[Vec<Value>]) -> Vec<Vec<Option<String>>> {
    let cell = |value: &Value| match value {
        Value::Int(number) => Some(number.to_string()),
        Value::Text(text) => Some(text.clone()),
        _ => None,
    };
    let rows = rows.iter().take(PLAN_LINES_MAX);
    rows.map(|row| {
        let cells = row.iter().enumerate();
        let cells = cells.filter(|(column, _)| !MEASURED_COLUMNS.contains(column));
        cells.map(|(_, value)| cell(value)).collect()
    })
    .collect()
}

/// The latest slow statements.
#[derive(Debug)]
pub struct SlowStatements {
    is_on: bool,
    /// End of the last statement that was kept, in microseconds since 1970.
    last_micros: AtomicI64,
    kept: Mutex<Entries>,
}

#[derive(Debug, Default)]
struct Entries {
    /// Newest first.
    entries: VecDeque<SlowStatementEntry>,
    bytes: usize,
}

impl SlowStatements {
    /// Creates the list. Nothing is added to one that is off.
    pub fn new(is_on: bool) -> Self {
        SlowStatements {
            is_on,
            last_micros: AtomicI64::new(i64::MIN),
            kept: Mutex::default(),
        }
    }

    /// Returns whether statements are kept.
    pub fn is_on(&self) -> bool {
        self.is_on
    }

    /// Returns whether a statement that ends now is kept.
    pub fn admits(&self, now_micros: i64) -> bool {
        if !self.is_on {
            return false;
        }
        let last = self.last_micros.load(Ordering::Relaxed);
        // A clock that was set back must not stop it.
        let is_due = now_micros < last || now_micros.saturating_sub(last) >= INTERVAL_MICROS;
        let relaxed = Ordering::Relaxed;
        is_due
            && self
                .last_micros
                .compare_exchange(last, now_micros, relaxed, relaxed)
                .is_ok()
    }

    /// Adds a statement.
    pub fn add(&self, entry: SlowStatementEntry) {
        let mut kept = self.kept.lock();
        kept.bytes += entry.bytes();
        kept.entries.push_front(entry);
        while (kept.bytes > BYTES_MAX || kept.entries.len() > ENTRIES_MAX)
            && let Some(oldest) = kept.entries.pop_back()
        {
            kept.bytes -= oldest.bytes();
        }
    }

    /// Returns the statements, newest first.
    pub fn latest(&self) -> Vec<SlowStatementEntry> {
        self.kept.lock().entries.iter().cloned().collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn entry(text: &str) -> SlowStatementEntry {
        SlowStatementEntry {
            text: text.to_owned(),
            ..SlowStatementEntry::default()
        }
    }

    #[test]
    fn the_oldest_go_first() {
        let statements = SlowStatements::new(true);
        for number in 0..ENTRIES_MAX + 3 {
            statements.add(entry(&number.to_string()));
        }
        let latest = statements.latest();
        assert_eq!(latest.len(), ENTRIES_MAX);
        assert_eq!(latest[0].text, (ENTRIES_MAX + 2).to_string());
        statements.add(entry(&"x".repeat(BYTES_MAX - 1000)));
        assert!(statements.latest().len() < 10);
        statements.add(entry(&"x".repeat(BYTES_MAX + 1)));
        assert_eq!((statements.latest().len(), statements.kept.lock().bytes), (0, 0));
    }

    #[test]
    fn only_some_of_many_are_kept() {
        let statements = SlowStatements::new(true);
        assert!(statements.admits(1_000_000));
        assert!(!statements.admits(1_000_001));
        assert!(statements.admits(1_000_000 + INTERVAL_MICROS));
        assert!(statements.admits(5), "the clock was set back");
        assert!(!SlowStatements::new(false).admits(1_000_000));
    }

    #[test]
    fn long_texts_are_cut() {
        assert_eq!(kept_text("SELECT ?".into()), "SELECT ?");
        let cut = kept_text("ä".repeat(TEXT_MAX));
        assert!(cut.len() < TEXT_MAX + 10 && cut.ends_with('…'));
    }
}
