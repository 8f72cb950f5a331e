//! The pending overlay: the newest row of every key that has its place in the log and is not published yet.
//!
//! ```text
//!   leader   write ──▶ insert(group) ──▶ release row locks ──▶ sync
//!   lock holder:  overlay, then published snapshot, in this order
//!   publisher     engine ──▶ snapshot ──▶ forget(group)
//! ```
//!
//! A miss in the overlay means that the newest version is in the published snapshot *that is loaded after the miss*: a row
//! is forgotten only when a snapshot that has it is there for all. An entry whose version is not above the loaded snapshot's
//! position is out of date: the snapshot has it or something newer.

use paceline_storage::{Change, EntryIndex, FrozenWriteSet, KeyRange};
use paceline_types::Version;
use parking_lot::RwLock;
use std::borrow::Borrow;
use std::cmp::Ordering as Order;
use std::collections::BTreeSet;
use std::ops::Bound;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

/// One row in the overlay: an entry of a write set that others share.
#[derive(Clone)]
pub(crate) struct PendingRow {
    set: Arc<FrozenWriteSet>,
    entry: EntryIndex,
}

impl PendingRow {
    pub(crate) fn version(&self) -> Version {
        self.set.version()
    }

    pub(crate) fn key(&self) -> &[u8] {
        self.set.key(self.entry)
    }

    pub(crate) fn change(&self) -> Change<'_> {
        self.set.change(self.entry)
    }
}

impl Borrow<[u8]> for PendingRow {
    fn borrow(&self) -> &[u8] {
        self.key()
    }
}

impl PartialEq for PendingRow {
    fn eq(&self, other: &Self) -> bool {
        self.key() == other.key()
    }
}

impl Eq for PendingRow {}

impl PartialOrd for PendingRow {
    fn partial_cmp(&self, other: &Self) -> Option<Order> {
        Some(self.cmp(other))
    }
}

impl Ord for PendingRow {
    fn cmp(&self, other: &Self) -> Order {
        self.key().cmp(other.key())
    }
}

/// Key → newest unpublished row, ordered by key.
#[derive(Default)]
pub(crate) struct Overlay {
    rows: RwLock<BTreeSet<PendingRow>>,
    /// Lets readers pass by an empty overlay without a lock.
    len: AtomicUsize,
}

impl Overlay {
    /// The rows of a transaction that has its place in the log. In log order.
    pub(crate) fn insert<'a>(&self, sets: impl IntoIterator<Item = &'a Arc<FrozenWriteSet>>) {
        let mut rows = self.rows.write();
        for set in sets {
            for entry in set.indexes() {
                let row = PendingRow {
                    set: set.clone(),
                    entry,
                };
                if let Some(before) = rows.replace(row) {
                    assert!(
                        before.version() < set.version(),
                        "rows enter the overlay in log order"
                    );
                }
            }
        }
        self.len.store(rows.len(), Ordering::Release);
    }

    /// These are published: drops what nobody has overwritten since.
    pub(crate) fn forget<'a>(&self, sets: impl IntoIterator<Item = &'a Arc<FrozenWriteSet>>) {
        let mut rows = self.rows.write();
        for set in sets {
            for entry in set.indexes() {
                let key = set.key(entry);
                if rows.get(key).is_some_and(|row| row.version() == set.version()) {
                    rows.remove(key);
                }
            }
        }
        self.len.store(rows.len(), Ordering::Release);
    }

    /// The newest unpublished row of a key.
    ///
    /// The caller holds a lock on the key, got from whoever wrote it last: that orders this read behind his insertion.
    pub(crate) fn get(&self, key: &[u8]) -> Option<PendingRow> {
        if self.is_empty() {
            return None;
        }
        self.rows.read().get(key).cloned()
    }

    /// All rows of a range, ascending.
    pub(crate) fn range(&self, range: &KeyRange) -> Vec<PendingRow> {
        if self.is_empty() || range.is_empty() {
            return Vec::new();
        }
        let bounds = (
            Bound::Included(range.start.as_slice()),
            Bound::Excluded(range.end.as_slice()),
        );
        self.rows.read().range::<[u8], _>(bounds).cloned().collect()
    }

    pub(crate) fn len(&self) -> usize {
        self.len.load(Ordering::Acquire)
    }

    fn is_empty(&self) -> bool {
        self.len() == 0
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use paceline_storage::WriteSet;

    fn set(version: u64, rows: &[(&str, Option<&str>)]) -> Arc<FrozenWriteSet> {
        let mut writes = WriteSet::new();
        for (key, value) in rows {
            match value {
                Some(value) => writes.put(key.as_bytes(), value.as_bytes()),
                None => writes.delete(key.as_bytes()),
            }
        }
        Arc::new(writes.assign_version(Version::new(1, version)))
    }

    #[test]
    fn the_newest_row_stays_until_it_is_published() {
        let overlay = Overlay::default();
        let (first, second) = (
            set(10, &[("0001a", Some("x")), ("0001b", Some("y"))]),
            set(20, &[("0001a", None)]),
        );
        overlay.insert([&first]);
        overlay.insert([&second]);
        assert!(matches!(overlay.get(b"0001a").unwrap().change(), Change::Delete));
        overlay.forget([&first]);
        assert_eq!(overlay.get(b"0001a").unwrap().version(), Version::new(1, 20));
        assert!(overlay.get(b"0001b").is_none());
        overlay.forget([&second]);
        assert_eq!(overlay.len(), 0);
    }

    #[test]
    fn ranges_are_ordered() {
        let overlay = Overlay::default();
        overlay.insert([&set(
            10,
            &[("0001c", Some("x")), ("0001a", Some("y")), ("0002a", Some("z"))],
        )]);
        let keys: Vec<Vec<u8>> = overlay
            .range(&KeyRange::new("0001", "0002"))
            .iter()
            .map(|row| row.key().to_vec())
            .collect();
        assert_eq!(keys, [b"0001a".to_vec(), b"0001c".to_vec()]);
    }
}
