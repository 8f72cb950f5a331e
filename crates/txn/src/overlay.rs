//! The pending overlay: the newest row of every key that is placed in the log and not yet published.
//!
//! ```text
//!   leader   write ──▶ insert(group) ──▶ release row locks ──▶ sync
//!   lock holder:  overlay, then published snapshot, in this order
//!   publisher     engine ──▶ snapshot ──▶ forget(group)
//! ```
//!
//! A miss in the overlay means that the newest version is in the published snapshot *that is loaded after the
//! miss*: a row is forgotten only when a snapshot that contains it is available to all. An entry whose version
//! is not above the loaded snapshot's position is out of date: the snapshot has it or something newer.
//!
//! The rows of a large transaction are not inserted into the tree one by one, which would take seconds while
//! others wait. From [`WHOLE_SET_MIN_KEYS`] keys on, the write set, itself ordered by key, is kept beside the tree as a
//! whole.
//!
//! Rows are ordered by key. A row carries the first bytes of its key ([`KeyWithHead`]), so a look-up compares what is
//! in the tree's nodes. It follows pointers into write sets (three dependent loads, each probably a cache miss)
//! only for longer keys with a common beginning.

use paceline_storage::{Change, EntryIndex, FrozenWriteSet, KeyHead, KeyRange};
use paceline_types::Version;
use parking_lot::RwLock;
use std::borrow::Borrow;
use std::cmp::Ordering as Order;
use std::collections::BTreeSet;
use std::ops::Bound;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

/// A key with its head.
trait KeyWithHead {
    fn head(&self) -> KeyHead;
    fn length(&self) -> usize;
    fn bytes(&self) -> &[u8];
}

impl Ord for dyn KeyWithHead + '_ {
    #[inline]
    fn cmp(&self, other: &Self) -> Order {
        self.head().cmp(&other.head()).then_with(|| {
            match self.length() <= KeyHead::LENGTH && other.length() <= KeyHead::LENGTH {
                // The shorter key is padded with zeros, so it is a prefix of the other.
                true => self.length().cmp(&other.length()),
                false => self.bytes().cmp(other.bytes()),
            }
        })
    }
}

impl PartialOrd for dyn KeyWithHead + '_ {
    fn partial_cmp(&self, other: &Self) -> Option<Order> {
        Some(self.cmp(other))
    }
}

impl PartialEq for dyn KeyWithHead + '_ {
    fn eq(&self, other: &Self) -> bool {
        self.cmp(other) == Order::Equal
    }
}

impl Eq for dyn KeyWithHead + '_ {}

/// A key to look up.
struct SearchKey<'a> {
    head: KeyHead,
    key: &'a [u8],
}

impl<'a> SearchKey<'a> {
    fn new(key: &'a [u8]) -> Self {
        SearchKey {
            head: KeyHead::of(key),
            key,
        }
    }
}

impl KeyWithHead for SearchKey<'_> {
    fn head(&self) -> KeyHead {
        self.head
    }

    fn length(&self) -> usize {
        self.key.len()
    }

    fn bytes(&self) -> &[u8] {
        self.key
    }
}

/// One row in the overlay: an entry of a shared write set.
#[derive(Clone)]
pub(crate) struct PendingRow {
    head: KeyHead,
    set: Arc<FrozenWriteSet>,
    entry: EntryIndex,
    length: u32,
}

impl KeyWithHead for PendingRow {
    fn head(&self) -> KeyHead {
        self.head
    }

    fn length(&self) -> usize {
        self.length as usize
    }

    fn bytes(&self) -> &[u8] {
        self.key()
    }
}

impl PendingRow {
    fn new(set: &Arc<FrozenWriteSet>, entry: EntryIndex) -> Self {
        let key = set.key(entry);
        PendingRow {
            head: KeyHead::of(key),
            length: u32::try_from(key.len()).expect("a key is below 4 GiB"),
            set: set.clone(),
            entry,
        }
    }

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

impl<'a> Borrow<dyn KeyWithHead + 'a> for PendingRow {
    fn borrow(&self) -> &(dyn KeyWithHead + 'a) {
        self
    }
}

impl PartialEq for PendingRow {
    fn eq(&self, other: &Self) -> bool {
        self.cmp(other) == Order::Equal
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
        (self as &dyn KeyWithHead).cmp(other as &dyn KeyWithHead)
    }
}

/// Number of keys from which on a set is kept beside the tree. Every look-up searches each such set, so there
/// must be few of them. A smaller set enters the tree in the time of a sync.
const WHOLE_SET_MIN_KEYS: usize = 1024;

#[derive(Default)]
struct Rows {
    tree: BTreeSet<PendingRow>,
    /// In log order. Usually at most one.
    large: Vec<Arc<FrozenWriteSet>>,
}

impl Rows {
    fn len(&self) -> usize {
        self.tree.len() + self.large.iter().map(|set| set.len()).sum::<usize>()
    }

    fn get(&self, key: &[u8]) -> Option<PendingRow> {
        let search_key = SearchKey::new(key);
        let mut newest = self.tree.get(&search_key as &dyn KeyWithHead).cloned();
        for set in &self.large {
            if newest.as_ref().is_none_or(|row| row.version() < set.version())
                && let Some(entry) = set.find(key)
            {
                newest = Some(PendingRow::new(set, entry));
            }
        }
        newest
    }

    fn range(&self, range: &KeyRange) -> Vec<PendingRow> {
        let (start, end) = (SearchKey::new(&range.start), SearchKey::new(&range.end));
        let bounds = (
            Bound::Included(&start as &dyn KeyWithHead),
            Bound::Excluded(&end as &dyn KeyWithHead),
        );
        let mut rows: Vec<PendingRow> = self.tree.range::<dyn KeyWithHead, _>(bounds).cloned().collect();
        if self.large.is_empty() {
            return rows;
        }
        for set in &self.large {
            rows.extend(set.indexes_in(range).map(|entry| PendingRow::new(set, entry)));
        }
        // Keep the newest version of each key.
        rows.sort_by(|one, other| one.cmp(other).then_with(|| other.version().cmp(&one.version())));
        rows.dedup_by(|other, one| one == other);
        rows
    }
}

/// Newest unpublished row of each key, ordered by key.
#[derive(Default)]
pub(crate) struct Overlay {
    rows: RwLock<Rows>,
    /// Lets readers skip an empty overlay without a lock.
    len: AtomicUsize,
}

impl Overlay {
    /// Inserts the rows of placed transactions, in log order.
    pub(crate) fn insert<'a>(&self, sets: impl IntoIterator<Item = &'a Arc<FrozenWriteSet>>) {
        let mut rows = self.rows.write();
        for set in sets {
            if set.len() >= WHOLE_SET_MIN_KEYS {
                assert!(
                    rows.large
                        .last()
                        .is_none_or(|last| last.version() < set.version()),
                    "rows enter the overlay in log order"
                );
                rows.large.push(set.clone());
                continue;
            }
            for entry in set.indexes() {
                if let Some(before) = rows.tree.replace(PendingRow::new(set, entry)) {
                    assert!(
                        before.version() < set.version(),
                        "rows enter the overlay in log order"
                    );
                }
            }
        }
        self.len.store(rows.len(), Ordering::Release);
    }

    /// Removes the rows of published transactions, except those that were overwritten in the meantime.
    pub(crate) fn forget<'a>(&self, sets: impl IntoIterator<Item = &'a Arc<FrozenWriteSet>>) {
        let mut rows = self.rows.write();
        for set in sets {
            if set.len() >= WHOLE_SET_MIN_KEYS {
                rows.large.retain(|large| !Arc::ptr_eq(large, set));
                continue;
            }
            for entry in set.indexes() {
                let search_key = SearchKey::new(set.key(entry));
                // Most rows have not been overwritten: one look-up.
                if let Some(row) = rows.tree.take(&search_key as &dyn KeyWithHead)
                    && row.version() != set.version()
                {
                    rows.tree.insert(row);
                }
            }
        }
        self.len.store(rows.len(), Ordering::Release);
    }

    /// Returns the newest unpublished row of a key.
    ///
    /// The caller holds a lock on the key, acquired after its last writer released it. That orders this read
    /// after the writer's insertion.
    pub(crate) fn get(&self, key: &[u8]) -> Option<PendingRow> {
        if self.is_empty() {
            return None;
        }
        self.rows.read().get(key)
    }

    /// Returns all rows of a range, ascending.
    pub(crate) fn range(&self, range: &KeyRange) -> Vec<PendingRow> {
        if self.is_empty() || range.is_empty() {
            return Vec::new();
        }
        self.rows.read().range(range)
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
    fn a_large_set_is_kept_as_a_whole() {
        let overlay = Overlay::default();
        let before = set(10, &[("0001a", Some("x")), ("0001b", Some("x"))]);
        let others: Vec<String> = (0..WHOLE_SET_MIN_KEYS)
            .map(|number| format!("0003{number}"))
            .collect();
        let mut rows = vec![("0001b", Some("y")), ("0001c", Some("y")), ("0001d", None)];
        rows.extend(others.iter().map(|key| (key.as_str(), Some("y"))));
        let large = set(20, &rows);
        let after = set(30, &[("0001c", Some("z"))]);
        overlay.insert([&before]);
        overlay.insert([&large]);
        overlay.insert([&after]);
        let version = |key: &str| overlay.get(key.as_bytes()).map(|row| row.version().offset());
        assert_eq!(
            ["0001a", "0001b", "0001c", "0001d", "0001e"].map(version),
            [Some(10), Some(20), Some(30), Some(20), None]
        );
        let range = |overlay: &Overlay| -> Vec<(Vec<u8>, u64)> {
            overlay
                .range(&KeyRange::new("0001b", "0002"))
                .iter()
                .map(|row| (row.key().to_vec(), row.version().offset()))
                .collect()
        };
        let expected = [("0001b", 20), ("0001c", 30), ("0001d", 20)];
        assert_eq!(
            range(&overlay),
            expected.map(|(key, version)| (key.as_bytes().to_vec(), version))
        );
        overlay.forget([&before]);
        overlay.forget([&large]);
        assert_eq!(version("0001b"), None);
        assert_eq!(range(&overlay), [(b"0001c".to_vec(), 30)]);
        overlay.forget([&after]);
        assert_eq!(overlay.len(), 0);
    }

    #[test]
    fn a_range_returns_rows_in_key_order() {
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

    #[test]
    fn heads_sort_as_keys_do() {
        let mut keys: Vec<Vec<u8>> = vec![
            vec![],
            vec![0],
            vec![0, 0],
            b"abc".to_vec(),
            b"abc\0".to_vec(),
            b"abc\0\0".to_vec(),
            b"0123456789abcdef".to_vec(),
            b"0123456789abcde".to_vec(),
            b"0123456789abcdef\0".to_vec(),
            b"0123456789abcdefg".to_vec(),
            b"0123456789abcdeg".to_vec(),
            vec![0xff; 16],
            vec![0xff; 17],
        ];
        keys.sort();
        for (at, one) in keys.iter().enumerate() {
            for (other_at, other) in keys.iter().enumerate() {
                let (one, other) = (SearchKey::new(one), SearchKey::new(other));
                assert_eq!(
                    (&one as &dyn KeyWithHead).cmp(&other as &dyn KeyWithHead),
                    at.cmp(&other_at)
                );
            }
        }
    }
}
