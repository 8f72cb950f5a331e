//! Reads: at the transaction's snapshot, or of the newest state under lock.

use super::temporary_changes::is_temporary;
use super::{RowValue, Scan, Transaction};
use crate::IsolationLevel;
use crate::error::{Error, Result};
use crate::lock::{LockMode, LockWait};
use crate::options::{Lifetime, SnapshotIsolation};
use paceline_storage::{
    Change, Direction, EngineKind, IndexId, KeyRange, StorageSnapshot, TableSchema, VersionMark,
};
use paceline_types::{LogPosition, Version};
use std::sync::Arc;

impl Transaction {
    /// Returns the snapshot of non-locking reads, and takes it if there is none yet.
    pub fn snapshot(&mut self) -> Arc<StorageSnapshot> {
        match &self.snapshot {
            Some(snapshot) => snapshot.clone(),
            None => {
                // The snapshot must contain what the session has read under lock.
                if self.newest_read > self.core.positions.published() {
                    self.core.wait_published_blocking(self.newest_read);
                }
                let snapshot = self.core.published_snapshot();
                self.snapshot = Some(snapshot.clone());
                snapshot
            }
        }
    }

    /// Returns whether plain reads of this transaction lock what they read.
    pub fn reads_lock(&self) -> bool {
        self.options.isolation == IsolationLevel::Serializable && self.options.lifetime == Lifetime::Explicit
    }

    /// Reads a key: own writes, then the snapshot. Under SERIALIZABLE this is a shared locking read.
    ///
    /// # Errors
    /// [`Error::Storage`]; under SERIALIZABLE those of [`Transaction::lock`].
    pub fn get(&mut self, key: &[u8]) -> Result<Option<RowValue<'_>>> {
        if self.reads_lock() {
            self.lock(key, LockMode::Shared, LockWait::Default)?;
            return self.get_newest(key);
        }
        self.check_active()?;
        if self.snapshot.is_none() {
            self.snapshot();
        }
        match self.change_above_snapshot(key) {
            Some(Change::Put(value)) => Ok(Some(RowValue::own(value))),
            Some(Change::Delete) => Ok(None),
            None => {
                let snapshot = self.snapshot.as_ref().expect("taken above");
                Ok(snapshot.get(key)?.map(RowValue::stored))
            }
        }
    }

    /// Reads several keys of one index, which must be in ascending order. Calls `take` with the index of each key that
    /// exists, in this order, and its value with its version.
    ///
    /// # Errors
    /// Those of [`get`](Self::get).
    pub fn get_many(&mut self, keys: &[&[u8]], take: &mut dyn FnMut(usize, &[u8])) -> Result<()> {
        if self.reads_lock() || keys.iter().any(|key| self.change_above_snapshot(key).is_some()) {
            for (index, key) in keys.iter().enumerate() {
                if let Some(value) = self.get(key)? {
                    take(index, &value);
                }
            }
            return Ok(());
        }
        self.check_active()?;
        self.snapshot()
            .get_many(keys, &mut |index, value| take(index, value))?;
        Ok(())
    }

    /// Reads a range: own writes over the snapshot. Under SERIALIZABLE the whole range is locked against
    /// writers first.
    ///
    /// # Errors
    /// [`Error::Storage`]; under SERIALIZABLE those of [`Transaction::lock_range`].
    pub fn scan(&mut self, range: KeyRange, direction: Direction) -> Result<Scan> {
        if self.reads_lock() {
            self.lock_range(&range, LockWait::Default)?;
            return self.scan_newest(range, direction);
        }
        self.check_active()?;
        let snapshot = self.snapshot();
        if !self.snapshot_delta.is_empty() {
            let above = self.changes_above_snapshot(&range);
            let above = above.iter().map(|(key, value)| (&**key, value.clone()));
            let deleted = self.deleted_ranges(&range);
            let cursor = snapshot.scan(range, direction);
            return Ok(Scan::new(cursor, direction, Vec::new(), above, deleted));
        }
        Ok(self.scan_layers(&snapshot, Vec::new(), range, direction))
    }

    /// Returns the newest version of a key that the transaction has locked: own writes, then pending rows, then
    /// the published state.
    ///
    /// # Errors
    /// [`Error::SnapshotConflict`] (1020) under REPEATABLE READ if the key has changed since the snapshot. It
    /// is returned when the conflicting version is published, and the transaction *is* rolled back.
    /// [`Error::Storage`].
    pub fn get_newest(&mut self, key: &[u8]) -> Result<Option<RowValue<'_>>> {
        self.check_active()?;
        if !is_temporary(key) {
            let checked = self.check_conflict(key);
            self.undo_if_victim(checked)?;
        }
        self.probe_newest(key)
    }

    /// Reads as [`Transaction::get_newest`] does, without the check against the snapshot: for duplicate keys,
    /// which are 1062 and not 1020.
    ///
    /// # Errors
    /// [`Error::Storage`].
    pub fn probe_newest(&mut self, key: &[u8]) -> Result<Option<RowValue<'_>>> {
        if is_temporary(key) {
            return self.probe_temporary(key);
        }
        if let Some(change) = self.writes.get(key) {
            return Ok(match change {
                Change::Put(value) => Some(RowValue::own(value)),
                Change::Delete => None,
            });
        }
        // The overlay first: what it has forgotten by this look is in the snapshot loaded afterwards.
        if let Some(row) = self.core.overlay.get(key) {
            self.newest_read = self.newest_read.max(row.version());
            return Ok(RowValue::pending(row));
        }
        let newest = self.newest.insert(self.core.published_snapshot());
        Ok(newest.get(key)?.map(RowValue::stored))
    }

    /// Returns a copy of the image of the newest version of a row, as [`Transaction::probe_newest`] finds it.
    ///
    /// # Errors
    /// [`Error::Storage`].
    pub fn newest_image(&mut self, schema: &TableSchema, row_key: &[u8]) -> Result<Option<Vec<u8>>> {
        Ok(match self.probe_newest(row_key)? {
            Some(row) => Some(schema.row_image(&row)?.into_owned()),
            None => None,
        })
    }

    fn probe_temporary(&self, key: &[u8]) -> Result<Option<RowValue<'_>>> {
        Ok(match self.own_change(key) {
            Some(Change::Put(value)) => Some(RowValue::own(value)),
            Some(Change::Delete) => None,
            None => self.core.storage.get_newest(key)?.map(RowValue::stored),
        })
    }

    /// Scans the newest state of a range. Either it finds candidates, which are then locked one by one and read
    /// again with [`Transaction::get_newest`]; or the range is locked, and the result is final.
    ///
    /// # Errors
    /// [`Error::Storage`].
    pub fn scan_newest(&mut self, range: KeyRange, direction: Direction) -> Result<Scan> {
        self.check_active()?;
        let mut pending = self.core.overlay.range(&range);
        let snapshot = self.core.published_snapshot();
        pending.retain(|row| row.version() > snapshot.position());
        if let Some(newest) = pending.iter().map(|row| row.version()).max() {
            self.newest_read = self.newest_read.max(newest);
        }
        Ok(self.scan_layers(&snapshot, pending, range, direction))
    }

    fn scan_layers(
        &self,
        snapshot: &StorageSnapshot,
        pending: Vec<crate::overlay::PendingRow>,
        range: KeyRange,
        direction: Direction,
    ) -> Scan {
        let cursor = snapshot.scan(range.clone(), direction);
        let Some(writes) = self.writes_of(EngineKind::of_key(&range.start)) else {
            return Scan::new(cursor, direction, pending, std::iter::empty(), Vec::new());
        };
        let deleted = self.deleted_ranges(&range);
        Scan::new(cursor, direction, pending, writes.shared_range(&range), deleted)
    }

    /// Returns the ranges that the transaction has deleted as a whole within `range`.
    fn deleted_ranges(&self, range: &KeyRange) -> Vec<KeyRange> {
        let writes = self.writes_of(EngineKind::of_key(&range.start));
        let deleted = writes.into_iter().flat_map(|writes| writes.deleted_ranges());
        deleted
            .filter(|deleted| deleted.intersects(range))
            .cloned()
            .collect()
    }

    /// Checks the rule of snapshot isolation: a transaction that writes a row must have seen its newest
    /// version.
    fn check_conflict(&mut self, key: &[u8]) -> Result<()> {
        if self.options.isolation != IsolationLevel::RepeatableRead
            || self.options.snapshot_isolation == SnapshotIsolation::Off
        {
            return Ok(());
        }
        let Some(mine) = self.snapshot.clone() else {
            return Ok(());
        };
        if self.writes.get(key).is_some() {
            return Ok(()); // Checked when it was first written.
        }
        if let Some(row) = self.core.overlay.get(key) {
            if row.version() <= mine.position() {
                return Ok(());
            }
            // A retry must succeed: its snapshot must contain this version.
            self.newest_read = self.newest_read.max(row.version());
            self.core.wait_published_blocking(row.version());
            return Err(conflict(key, row.version()));
        }
        let newest = self.core.published_snapshot();
        match newest.get(key)? {
            // A large transaction's row carries a mark: my snapshot has seen it if it contains the row with the
            // same mark.
            Some(row) if VersionMark::of(row.version()).is_some() => match mine.get(key)? {
                Some(seen) if seen.version() == row.version() => Ok(()),
                _ => Err(conflict(key, newest.position())),
            },
            Some(row) if row.version() <= mine.position() => Ok(()),
            Some(row) => Err(conflict(key, row.version())),
            None if newest.position() == mine.position() => Ok(()),
            None => match mine.get(key)? {
                None => Ok(()),
                Some(_) => Err(conflict(key, LogPosition::ZERO)),
            },
        }
    }

    /// Waits until everything that this transaction has read under lock is published, blocking the thread: before a
    /// program in this process sees it.
    pub fn wait_reads_published(&self) {
        self.core.wait_published_blocking(self.newest_read);
    }

    /// Returns the newest version that this transaction has read under lock and that may not be published yet.
    /// A reply must wait for it; [`Transaction::commit`] does so by itself.
    pub fn newest_read(&self) -> Version {
        self.newest_read
    }
}

fn conflict(key: &[u8], version: LogPosition) -> Error {
    Error::SnapshotConflict {
        index: IndexId::of_key(key).expect("a key begins with its index"),
        version,
    }
}
