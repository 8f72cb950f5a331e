//! `innodb_snapshot_isolation=OFF`: rows that the transaction has changed although its snapshot does not
//! contain their newest version.
//!
//! Such a write changes the newest version, and from then on the transaction's plain reads see the row as it
//! wrote it. The row's index entries must follow: entries of the newest version that the change left alone are
//! not in the snapshot, and those of the snapshot's version lead to a row that no longer has their key. The
//! difference between the two versions is therefore inserted between the snapshot and the transaction's own
//! writes:
//!
//! ```text
//!   plain read   own writes ▸ difference to the newest version ▸ snapshot
//! ```
//! This layer is never committed: other transactions have committed these changes.

use super::Transaction;
use crate::IsolationLevel;
use crate::error::{Error, Result};
use crate::options::SnapshotIsolation;
use paceline_storage::{
    Change, EngineKind, KeyRange, Row, RowPlacement, SharedValue, TableSchema, VERSION_LENGTH,
};
use std::collections::BTreeMap;

impl Transaction {
    /// Returns whether it may write rows that have changed since its snapshot.
    pub(super) fn writes_newer_rows(&self) -> bool {
        self.options.snapshot_isolation == SnapshotIsolation::Off
            && self.options.isolation == IsolationLevel::RepeatableRead
            && self.snapshot.is_some()
    }

    /// Records a row before it is written, so that plain reads continue from its newest version.
    ///
    /// # Errors
    /// If an image does not fit this table; [`Error::CacheFull`] if such rows take more memory than a
    /// transaction may write.
    pub(super) fn record_newer_row(
        &mut self,
        schema: &TableSchema,
        before: Option<Row<'_>>,
        after: Option<&[u8]>,
    ) -> Result<()> {
        let rows_own = usize::from(matches!(schema.clustered(), RowPlacement::Key(_)));
        if schema.indexes().len() == rows_own {
            return Ok(());
        }
        let Some(snapshot) = self.snapshot.clone() else {
            return Ok(());
        };
        let mut key = Vec::new();
        match (before, after) {
            (Some(Row { key: Some(known), .. }), _) => key.extend_from_slice(known),
            (Some(Row { image, .. }), _) | (None, Some(image)) => match schema.clustered() {
                RowPlacement::Key(_) => schema.append_row_key(image, &mut key)?,
                // A new row has no other version.
                RowPlacement::RowId(_) | RowPlacement::Single(_) => return Ok(()),
            },
            (None, None) => return Ok(()),
        }
        if self.writes.get(&key).is_some() {
            return Ok(());
        }
        let seen = snapshot.get(&key)?;
        let seen = seen.as_ref().map(|row| &row[VERSION_LENGTH..]);
        let newest = before.map(|row| row.image);
        if seen == newest {
            return Ok(());
        }
        let seen = seen.map(|image| Row {
            image,
            key: Some(&key),
        });
        schema.row_change(seen, newest, &mut self.snapshot_delta)?;
        let limit_bytes = self.core.config().max_binlog_cache_size;
        match self.snapshot_delta.memory_bytes() as u64 > limit_bytes {
            true => Err(Error::CacheFull { limit_bytes }),
            false => Ok(()),
        }
    }

    /// Returns the change that a plain read finds for a key above the snapshot.
    pub(super) fn change_above_snapshot(&self, key: &[u8]) -> Option<Change<'_>> {
        self.own_change(key).or_else(|| self.snapshot_delta.get(key))
    }

    /// Returns the changes that a plain read finds in a range above the snapshot, ascending.
    pub(super) fn changes_above_snapshot(&self, range: &KeyRange) -> Vec<(Box<[u8]>, Option<SharedValue>)> {
        let mut merged: BTreeMap<Box<[u8]>, Option<SharedValue>> = BTreeMap::new();
        merged.extend(
            self.snapshot_delta
                .shared_range(range)
                .map(|(key, value)| (key.into(), value)),
        );
        if let Some(writes) = self.writes_of(EngineKind::of_key(&range.start)) {
            let deleted = writes.deleted_ranges();
            merged.retain(|key, _| !deleted.iter().any(|range| range.contains(key)));
            merged.extend(writes.shared_range(range).map(|(key, value)| (key.into(), value)));
        }
        merged.into_iter().collect()
    }
}
