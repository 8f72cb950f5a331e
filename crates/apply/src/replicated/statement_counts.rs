//! How many statements of primaries were applied as rows, for `Com_insert` and its like: MariaDB's SQL thread counts
//! there too.

use paceline_binlog::event::RowsKind;
use std::sync::atomic::{AtomicU64, Ordering};

/// Counters that all appliers of a server share.
#[derive(Debug, Default)]
pub struct StatementCounts {
    inserts: AtomicU64,
    updates: AtomicU64,
    deletes: AtomicU64,
    commits: AtomicU64,
}

impl StatementCounts {
    pub(super) fn count_rows(&self, kind: RowsKind) {
        let counter = match kind {
            RowsKind::Write => &self.inserts,
            RowsKind::Update => &self.updates,
            RowsKind::Delete => &self.deletes,
        };
        counter.fetch_add(1, Ordering::Relaxed);
    }

    pub(super) fn count_commit(&self) {
        self.commits.fetch_add(1, Ordering::Relaxed);
    }

    /// Statements that inserted rows.
    pub fn inserts(&self) -> u64 {
        self.inserts.load(Ordering::Relaxed)
    }

    /// Statements that updated rows.
    pub fn updates(&self) -> u64 {
        self.updates.load(Ordering::Relaxed)
    }

    /// Statements that deleted rows.
    pub fn deletes(&self) -> u64 {
        self.deletes.load(Ordering::Relaxed)
    }

    /// Transactions of rows.
    pub fn commits(&self) -> u64 {
        self.commits.load(Ordering::Relaxed)
    }
}
