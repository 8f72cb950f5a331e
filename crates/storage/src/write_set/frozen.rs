//! A write set whose transaction has its place in the log.

use std::fmt;
use std::sync::Arc;

use paceline_types::Version;

use super::{Change, Entries, WriteSet};
use crate::key::{IndexId, KeyRange};

/// A write set with its version: nothing in it changes any more, so it is shared between the pending overlay and the
/// engines.
pub struct FrozenWriteSet {
    set: WriteSet,
    version: Version,
}

/// A write set to which nothing is added any more; its transaction's place in the log is still to come. It is in shared memory already, so that
/// getting its version is cheap.
pub struct CompleteWriteSet(Arc<FrozenWriteSet>);

impl CompleteWriteSet {
    pub(super) fn new(set: WriteSet) -> Self {
        CompleteWriteSet(Arc::new(FrozenWriteSet::new(set, Version::MAX)))
    }

    /// Its transaction has its place: as [`WriteSet::assign_version`].
    ///
    /// # Panics
    /// If the version is [`Version::MAX`], which means "not known".
    pub fn placed_at(mut self, version: Version) -> Arc<FrozenWriteSet> {
        let frozen = Arc::get_mut(&mut self.0).expect("nobody shares what has no version yet");
        frozen.set.freeze(version);
        frozen.version = version;
        self.0
    }
}

/// A write set whose values and row ids carry their transaction's mark; its place in the log is still to come. Nothing in it changes
/// any more.
pub struct MarkedWriteSet {
    set: WriteSet,
}

impl MarkedWriteSet {
    pub(super) fn new(set: WriteSet) -> Self {
        MarkedWriteSet { set }
    }

    /// All entries, ascending by key; reversible.
    pub fn entries(&self) -> Entries<'_> {
        self.set.entries()
    }

    /// The ranges that are deleted before the entries are put.
    pub fn deleted_ranges(&self) -> &[KeyRange] {
        self.set.deleted_ranges()
    }

    /// Its transaction has its place. The mark stays in the values.
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

/// The number of an entry in a [`FrozenWriteSet`], which finds it again without a search.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Hash)]
pub struct EntryIndex(u32);

impl FrozenWriteSet {
    pub(super) fn new(set: WriteSet, version: Version) -> Self {
        FrozenWriteSet { set, version }
    }

    /// Where its transaction ends in the log.
    pub fn version(&self) -> Version {
        self.version
    }

    /// Whether it writes nothing.
    pub fn is_empty(&self) -> bool {
        self.set.is_empty()
    }

    /// How many keys it changes one by one.
    pub fn len(&self) -> usize {
        self.set.len()
    }

    /// The memory that it takes, in bytes.
    pub fn memory_bytes(&self) -> usize {
        self.set.memory_bytes()
    }

    /// What it does to `key`; `None` if it does not touch it.
    pub fn get(&self, key: &[u8]) -> Option<Change<'_>> {
        self.set.get(key)
    }

    /// All entries, ascending by key; reversible.
    pub fn entries(&self) -> Entries<'_> {
        self.set.entries()
    }

    /// The entries whose keys are in the range, ascending; reversible.
    pub fn range(&self, range: &KeyRange) -> Entries<'_> {
        self.set.range(range)
    }

    /// The ranges that are deleted before the entries are put.
    pub fn deleted_ranges(&self) -> &[KeyRange] {
        self.set.deleted_ranges()
    }

    /// The numbers that it raises: [`WriteSet::raise_number`].
    pub fn numbers(&self) -> &[(IndexId, u64)] {
        self.set.numbers()
    }

    /// The numbers of all entries, in no order of keys.
    pub fn indexes(&self) -> impl Iterator<Item = EntryIndex> + use<> {
        (0..self.set.entries.len() as u32).map(EntryIndex)
    }

    /// The entry of a key, if there is one.
    pub fn find(&self, key: &[u8]) -> Option<EntryIndex> {
        let found = self.set.find(key).ok();
        found.map(|(_, entry)| EntryIndex(entry))
    }

    /// The numbers of the entries whose keys are in the range, ascending by key.
    pub fn indexes_in(&self, range: &KeyRange) -> impl Iterator<Item = EntryIndex> + '_ {
        self.set.numbers_in(range).map(EntryIndex)
    }

    /// The key of an entry.
    pub fn key(&self, index: EntryIndex) -> &[u8] {
        self.set.key_of(index.0)
    }

    /// The change of an entry.
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
