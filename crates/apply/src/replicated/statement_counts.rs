//! Numbers of statements applied as rows, for `Com_insert` and similar counters: MariaDB's SQL thread counts
//! them too. Beside them the number of errors that were skipped.

use paceline_binlog::event::RowsKind;
use std::sync::atomic::{AtomicU64, Ordering};

/// Counters that all appliers of a server share.
#[derive(Debug, Default)]
pub struct StatementCounts {
    inserts: AtomicU64,
    updates: AtomicU64,
    deletes: AtomicU64,
    commits: AtomicU64,
    skipped_errors: AtomicU64,
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

    /// Counts an error that `slave_skip_errors` skipped.
    pub fn count_skipped_error(&self) {
        self.skipped_errors.fetch_add(1, Ordering::Relaxed);
    }

    /// Returns the number of statements that inserted rows.
    pub fn inserts(&self) -> u64 {
        self.inserts.load(Ordering::Relaxed)
    }

    /// Returns the number of statements that updated rows.
    pub fn updates(&self) -> u64 {
        self.updates.load(Ordering::Relaxed)
    }

    /// Returns the number of statements that deleted rows.
    pub fn deletes(&self) -> u64 {
        self.deletes.load(Ordering::Relaxed)
    }

    /// Returns the number of row transactions.
    pub fn commits(&self) -> u64 {
        self.commits.load(Ordering::Relaxed)
    }

    /// Returns the number of errors that `slave_skip_errors` skipped.
    pub fn skipped_errors(&self) -> u64 {
        self.skipped_errors.load(Ordering::Relaxed)
    }
}
