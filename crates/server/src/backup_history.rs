//! The latest backups that this server has sent, for the page: running ones, and how the others ended.
//!
//! They are only in memory. A backup directory describes itself, and a server does not know where it is.

use parking_lot::Mutex;
use std::collections::VecDeque;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

/// Number of backups that are kept.
const BACKUPS_MAX: usize = 20;

/// Kind of a backup.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum BackupKind {
    /// Tables and log.
    Server,
    /// An increment: more log.
    Log,
}

impl BackupKind {
    /// Returns the name for users.
    pub fn name(self) -> &'static str {
        match self {
            BackupKind::Server => "whole",
            BackupKind::Log => "increment",
        }
    }
}

/// End of a backup.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct BackupEnd {
    /// Time in microseconds since 1970.
    pub micros: i64,
    /// GTID position that the backup contains, or the error.
    pub result: Result<String, String>,
}

/// A backup.
#[derive(Debug)]
pub struct BackupRecord {
    /// Its kind.
    pub kind: BackupKind,
    /// Account that made it: `user@host`.
    pub account: String,
    /// Start in microseconds since 1970.
    pub started_micros: i64,
    bytes: AtomicU64,
    end: Mutex<Option<BackupEnd>>,
}

impl BackupRecord {
    /// Counts bytes that were sent.
    pub fn add_bytes(&self, bytes: u64) {
        self.bytes.fetch_add(bytes, Ordering::Relaxed);
    }

    /// Returns the bytes that were sent.
    pub fn bytes(&self) -> u64 {
        self.bytes.load(Ordering::Relaxed)
    }

    /// Records its end.
    pub fn finish(&self, end: BackupEnd) {
        *self.end.lock() = Some(end);
    }

    /// Returns its end; `None` while it is running.
    pub fn end(&self) -> Option<BackupEnd> {
        self.end.lock().clone()
    }
}

/// The latest backups.
#[derive(Debug, Default)]
pub struct BackupHistory {
    latest: Mutex<VecDeque<Arc<BackupRecord>>>,
}

impl BackupHistory {
    /// Adds a backup that begins.
    pub fn begin(&self, kind: BackupKind, account: String, started_micros: i64) -> Arc<BackupRecord> {
        let record = Arc::new(BackupRecord {
            kind,
            account,
            started_micros,
            bytes: AtomicU64::new(0),
            end: Mutex::new(None),
        });
        let mut latest = self.latest.lock();
        if latest.len() == BACKUPS_MAX {
            latest.pop_back();
        }
        latest.push_front(record.clone());
        record
    }

    /// Returns the latest backups, newest first.
    pub fn latest(&self) -> Vec<Arc<BackupRecord>> {
        self.latest.lock().iter().cloned().collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_latest_backups_are_kept() {
        let history = BackupHistory::default();
        for number in 0..30 {
            let record = history.begin(BackupKind::Server, "b@localhost".into(), number);
            record.add_bytes(7);
            record.finish(BackupEnd {
                micros: number + 1,
                result: Ok("0-1-1".into()),
            });
        }
        let latest = history.latest();
        assert_eq!(latest.len(), BACKUPS_MAX);
        assert_eq!((latest[0].started_micros, latest[0].bytes()), (29, 7));
        assert_eq!(latest[0].end().map(|end| end.micros), Some(30));
    }
}
