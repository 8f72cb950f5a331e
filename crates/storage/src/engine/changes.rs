//! The part of a transaction's changes that belongs to one engine.

use paceline_types::Version;

use crate::key::{EngineKind, KeyRange};
use crate::write_set::{Entries, FrozenWriteSet};

/// One transaction's changes of one engine's keys.
pub struct EngineChanges<'a> {
    set: &'a FrozenWriteSet,
    kind: EngineKind,
}

impl<'a> EngineChanges<'a> {
    pub(crate) fn new(set: &'a FrozenWriteSet, kind: EngineKind) -> Self {
        EngineChanges { set, kind }
    }

    /// Returns whether a set has changes for any engine behind the trait. Their keys sort last, so one key tells.
    pub(crate) fn exist_in(set: &FrozenWriteSet) -> bool {
        let last = set.entries().next_back();
        last.is_some_and(|(key, _)| EngineKind::is_behind_trait(key))
            || (set.deleted_ranges().iter()).any(|range| EngineKind::is_behind_trait(&range.start))
    }

    /// Returns the version of the changes: the end of their transaction in the log.
    pub fn version(&self) -> Version {
        self.set.version()
    }

    /// Returns the ranges that are deleted before the entries are written. Each lies within the engine's keys.
    pub fn deleted_ranges(&self) -> impl Iterator<Item = &'a KeyRange> + use<'a> {
        let kind = self.kind;
        let ranges = self.set.deleted_ranges().iter();
        ranges.filter(move |range| EngineKind::of_key(&range.start) == kind)
    }

    /// Returns the changed keys in ascending order, each once; reversible.
    pub fn entries(&self) -> Entries<'a> {
        self.set.range(&self.kind.keys())
    }

    /// Returns whether nothing is changed.
    pub fn is_empty(&self) -> bool {
        self.entries().next().is_none() && self.deleted_ranges().next().is_none()
    }
}
