//! An engine outside of the server: the example of how one is written.
//!
//! ```text
//!   BTreeMap   key → revisions, oldest first          superseded: keys in the order in which they got garbage
//!     a → [ @4 5, @9 7 ]                                @9 a, @6 b, …
//!     b → [ @2 1, @6 – ]        (– deleted)
//! ```
//! One lock is around the map. Its rules are those of the trait: [`paceline_embedded::engine`].
//!
//! - A read at a version takes the newest revision that is not newer.
//! - `apply` appends a revision. A deletion of a range appends one to each key in it.
//! - `collect` looks at keys that have a superseded revision, and removes those that no version shows any more.
//! - A cursor holds no lock between two entries: it finds the key that follows the last one.
#![forbid(unsafe_code)]

mod cursor;

use std::collections::{BTreeMap, VecDeque};
use std::ops::Bound;
use std::sync::Arc;

use paceline_embedded::engine::{
    Change, Direction, Engine, EngineChanges, EngineCursor, EngineType, KeyRange, Version,
};
use parking_lot::RwLock;

use cursor::TreeCursor;

/// Memory of a revision beside key and value, in bytes.
const REVISION_BYTES: u64 = 64;

/// `ENGINE=TREE`.
pub struct TreeType;

impl EngineType for TreeType {
    fn name(&self) -> &str {
        "TREE"
    }

    fn comment(&self) -> &str {
        "Tables in a tree, empty after a restart"
    }

    fn create(&self) -> Arc<dyn Engine> {
        Arc::new(TreeEngine::default())
    }
}

/// Rows of all tables with `ENGINE=TREE` in one database.
#[derive(Default)]
pub struct TreeEngine {
    tree: RwLock<Tree>,
}

#[derive(Default)]
struct Tree {
    keys: BTreeMap<Arc<[u8]>, Vec<Revision>>,
    /// Keys with a revision that another one has superseded, and the version of that.
    superseded: VecDeque<(Version, Arc<[u8]>)>,
    used_bytes: u64,
}

/// Key and value.
type Entry = (Arc<[u8]>, Arc<[u8]>);

#[derive(Clone)]
struct Revision {
    version: Version,
    /// `None` if the key is deleted.
    value: Option<Arc<[u8]>>,
}

impl Tree {
    fn change(&mut self, key: &[u8], value: Option<&[u8]>, version: Version) {
        let shared: Arc<[u8]> = match self.keys.get_key_value(key) {
            Some((known, _)) => Arc::clone(known),
            None if value.is_none() => return,
            None => Arc::from(key),
        };
        let revisions = self.keys.entry(Arc::clone(&shared)).or_default();
        // The transaction has changed the key before: a range that it has deleted contains it.
        if revisions.last().is_some_and(|last| last.version == version) {
            let replaced = revisions.pop().expect("there is a last one");
            self.used_bytes -= bytes_of(key, &replaced);
        }
        let revision = Revision {
            version,
            value: value.map(Arc::from),
        };
        self.used_bytes += bytes_of(key, &revision);
        if !revisions.is_empty() || revision.value.is_none() {
            self.superseded.push_back((version, shared));
        }
        revisions.push(revision);
    }

    fn delete_range(&mut self, range: &KeyRange, version: Version) {
        let keys: Vec<_> = self.between(range).map(|(key, _)| Arc::clone(key)).collect();
        for key in keys {
            self.change(&key, None, version);
        }
    }

    fn between(&self, range: &KeyRange) -> impl DoubleEndedIterator<Item = (&Arc<[u8]>, &Vec<Revision>)> {
        // A map panics at a range whose end is before its start.
        let end = range.end.as_slice().max(&range.start);
        self.keys
            .range::<[u8], _>((Bound::Included(range.start.as_slice()), Bound::Excluded(end)))
    }

    /// Removes what nobody reads from a key: revisions before the newest one that is not newer than `oldest`, and that
    /// one as well if it is a deletion.
    fn trim(&mut self, key: &[u8], oldest: Version) {
        let Some(revisions) = self.keys.get_mut(key) else {
            return;
        };
        let Some(newest) = revisions.iter().rposition(|revision| revision.version <= oldest) else {
            return;
        };
        let removed = match revisions[newest].value {
            Some(_) => newest,
            None => newest + 1,
        };
        let freed: u64 = revisions
            .drain(..removed)
            .map(|revision| bytes_of(key, &revision))
            .sum();
        self.used_bytes -= freed;
        if revisions.is_empty() {
            self.keys.remove(key);
        }
    }
}

/// Returns the value that is visible at a version.
fn visible(revisions: &[Revision], at: Version) -> Option<&Arc<[u8]>> {
    let newest = revisions.iter().rev().find(|revision| revision.version <= at)?;
    newest.value.as_ref()
}

fn bytes_of(key: &[u8], revision: &Revision) -> u64 {
    let value = revision.value.as_ref().map_or(0, |value| value.len());
    (key.len() + value) as u64 + REVISION_BYTES
}

impl TreeEngine {
    /// Returns the first entry of a range in that direction.
    fn first(&self, range: &KeyRange, direction: Direction, at: Version) -> Option<Entry> {
        let tree = self.tree.read();
        let shown = |(key, revisions): (&Arc<[u8]>, &Vec<Revision>)| {
            Some((Arc::clone(key), Arc::clone(visible(revisions, at)?)))
        };
        let mut keys = tree.between(range);
        match direction {
            Direction::Forward => keys.find_map(shown),
            Direction::Backward => keys.rev().find_map(shown),
        }
    }
}

impl Engine for TreeEngine {
    fn apply(&self, changes: &EngineChanges<'_>) {
        let mut tree = self.tree.write();
        let version = changes.version();
        for range in changes.deleted_ranges() {
            tree.delete_range(range, version);
        }
        for (key, change) in changes.entries() {
            match change {
                Change::Put(value) => tree.change(key, Some(value), version),
                Change::Delete => tree.change(key, None, version),
            }
        }
    }

    fn get(&self, key: &[u8], at: Version) -> Option<Arc<[u8]>> {
        let tree = self.tree.read();
        visible(tree.keys.get(key)?, at).cloned()
    }

    fn scan(self: Arc<Self>, range: KeyRange, direction: Direction, at: Version) -> Box<dyn EngineCursor> {
        Box::new(TreeCursor::new(self, range, direction, at))
    }

    fn used_bytes(&self) -> u64 {
        self.tree.read().used_bytes
    }

    fn collect(&self, oldest: Version, entries_max: usize) -> bool {
        let mut tree = self.tree.write();
        for _ in 0..entries_max {
            match tree.superseded.front() {
                Some((version, _)) if *version <= oldest => {}
                Some(_) | None => return false,
            }
            if let Some((_, key)) = tree.superseded.pop_front() {
                tree.trim(&key, oldest);
            }
        }
        !tree.superseded.is_empty()
    }
}
