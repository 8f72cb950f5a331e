//! Write sets that no longer change, before and after their transaction is placed in the log.

use std::fmt;
use std::sync::Arc;

use paceline_types::Version;

use super::{Change, Entries, WriteSet};
use crate::key::{IndexId, KeyRange};

/// Write set with its version. Nothing in it changes any more, so the pending overlay and the engines share it.
pub struct FrozenWriteSet {
    set: WriteSet,
    version: Version,
}

/// Write set to which nothing is added any more; its transaction is not placed in the log yet. It is already in
/// shared memory, so that assigning its version is cheap.
pub struct SealedWriteSet(Arc<FrozenWriteSet>);

impl SealedWriteSet {
    pub(super) fn new(set: WriteSet) -> Self {
        SealedWriteSet(Arc::new(FrozenWriteSet::new(set, Version::MAX)))
    }

    /// Assigns the version of its transaction, as [`WriteSet::assign_version`] does.
    ///
    /// # Panics
    /// If the version is [`Version::MAX`], which means "not known".
    pub fn placed_at(mut self, version: Version) -> Arc<FrozenWriteSet> {
        let frozen = Arc::get_mut(&mut self.0).expect("a write set without a version is not shared");
        frozen.set.freeze(version);
        frozen.version = version;
        self.0
    }
}

/// Write set whose values and row ids carry their transaction's mark; the transaction is not placed in the log
/// yet. Nothing in the set changes any more.
pub struct MarkedWriteSet {
    set: WriteSet,
}

impl MarkedWriteSet {
    pub(super) fn new(set: WriteSet) -> Self {
        MarkedWriteSet { set }
    }

    /// Returns all entries, ascending by key; reversible.
    pub fn entries(&self) -> Entries<'_> {
        self.set.entries()
    }

    /// Returns the ranges that are deleted before the entries are written.
    pub fn deleted_ranges(&self) -> &[KeyRange] {
        self.set.deleted_ranges()
    }

    /// Adds the version of its transaction. The mark stays in the values.
    pub fn placed_at(self, version: Version) -> FrozenWriteSet {
        FrozenWriteSet::new(self.set, version)
    }
}

impl fmt::Debug for MarkedWriteSet {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("MarkedWriteSet")
            .field("keys", &self.set.len())
            .finish()
    }
}

/// Number of an entry in a [`FrozenWriteSet`], which finds it again without a search.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Hash)]
pub struct EntryIndex(u32);

impl FrozenWriteSet {
    pub(super) fn new(set: WriteSet, version: Version) -> Self {
        FrozenWriteSet { set, version }
    }

    /// Returns the end of its transaction in the log.
    pub fn version(&self) -> Version {
        self.version
    }

    /// Returns whether it changes no key and deletes no range.
    pub fn is_empty(&self) -> bool {
        self.set.is_empty()
    }

    /// Returns the number of keys that it changes one by one.
    pub fn len(&self) -> usize {
        self.set.len()
    }

    /// Returns its memory in bytes.
    pub fn memory_bytes(&self) -> usize {
        self.set.memory_bytes()
    }

    /// Returns its change of `key`; `None` if it does not touch it.
    pub fn get(&self, key: &[u8]) -> Option<Change<'_>> {
        self.set.get(key)
    }

    /// Returns all entries, ascending by key; reversible.
    pub fn entries(&self) -> Entries<'_> {
        self.set.entries()
    }

    /// Returns the entries whose keys are in the range, ascending; reversible.
    pub fn range(&self, range: &KeyRange) -> Entries<'_> {
        self.set.range(range)
    }

    /// Returns the ranges that are deleted before the entries are written.
    pub fn deleted_ranges(&self) -> &[KeyRange] {
        self.set.deleted_ranges()
    }

    /// Returns the numbers that it raises: [`WriteSet::raise_counter`].
    pub fn counters(&self) -> &[(IndexId, u64)] {
        self.set.counters()
    }

    /// Returns the numbers of all entries, not in key order.
    pub fn indexes(&self) -> impl Iterator<Item = EntryIndex> + use<> {
        (0..self.set.entries.len() as u32).map(EntryIndex)
    }

    /// Returns the entry of a key, if there is one.
    pub fn find(&self, key: &[u8]) -> Option<EntryIndex> {
        let found = self.set.find(key).ok();
        found.map(|(_, entry)| EntryIndex(entry))
    }

    /// Returns the numbers of the entries whose keys are in the range, ascending by key.
    pub fn indexes_in(&self, range: &KeyRange) -> impl Iterator<Item = EntryIndex> + '_ {
        self.set.numbers_in(range).map(EntryIndex)
    }

    /// Returns the key of an entry.
    pub fn key(&self, index: EntryIndex) -> &[u8] {
        self.set.key_of(index.0)
    }

    /// Returns the change of an entry.
    pub fn change(&self, index: EntryIndex) -> Change<'_> {
        self.set.change(index.0 as usize)
    }
}

impl fmt::Debug for FrozenWriteSet {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("FrozenWriteSet")
            .field("version", &self.version)
            .field("keys", &self.set.len())
            .finish()
    }
}
