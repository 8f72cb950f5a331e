//! The memory engine: an ordered map of versioned keys, empty after a restart.
//!
//! ```text
//!   skip list   (key, version descending) → Some(value) | None (deleted)
//!
//!     a@9 → 7     ← the newest: visible to get_newest and snapshots at ≥ 9
//!     a@4 → 5     ← visible to snapshots at 4 … 8; garbage when the oldest snapshot is at ≥ 9
//!     b@6 → None  ← b is deleted at 6; garbage, with its older versions, when the oldest snapshot is at ≥ 6
//! ```
//!
//! - One thread applies, in log order; readers take no lock and never wait.
//! - A deletion of a range (TRUNCATE, DROP) is kept as the range and its version, and hides older entries: it
//!   costs the same for any number of rows.
//! - A superseded version is queued, and removed by the application of later groups, a few entries at a time,
//!   when no version is read any more that is older than the one that superseded it.
//!
//! MEMORY tables use it through the trait [`Engine`], the [space of temporary tables](crate::temporary)
//! directly.

mod cursor;
mod versioned_key;

use std::collections::VecDeque;
use std::ops::Bound;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use arc_swap::ArcSwap;
use crossbeam_skiplist::SkipMap;
use paceline_types::Version;
use parking_lot::Mutex;

pub(crate) use cursor::MemoryCursor;
use versioned_key::{KeyView, VersionedKey};

use crate::engine::{Engine, EngineChanges, EngineCursor, EngineType};
use crate::key::{Direction, KeyRange};
use crate::write_set::Change;

/// Settings of tables in memory.
#[derive(Clone, Debug)]
pub struct MemoryConfig {
    /// Most bytes of all tables together; 1114 beyond.
    pub bytes_max: u64,
}

impl Default for MemoryConfig {
    fn default() -> Self {
        MemoryConfig { bytes_max: 1 << 30 }
    }
}

/// Memory of an entry beside its key and value: node, tower, reference counts.
const ENTRY_OVERHEAD_BYTES: u64 = 112;

/// MEMORY tables.
pub(crate) struct MemoryType;

impl EngineType for MemoryType {
    fn name(&self) -> &str {
        "MEMORY"
    }

    fn comment(&self) -> &str {
        "Transactional tables in memory, empty after a restart"
    }

    fn create(&self) -> Arc<dyn Engine> {
        MemoryEngine::new()
    }
}

/// Tables in memory, with multiple versions. See the module's head.
pub(crate) struct MemoryEngine {
    map: SkipMap<VersionedKey, Option<Arc<[u8]>>>,
    deleted_ranges: ArcSwap<Vec<DeletedRange>>,
    garbage: Mutex<VecDeque<Garbage>>,
    used_bytes: AtomicU64,
}

#[derive(Clone)]
struct DeletedRange {
    range: KeyRange,
    version: Version,
}

/// Data that may be removed when no snapshot is older than `superseded_at`.
struct Garbage {
    superseded_at: Version,
    what: OldVersion,
}

enum OldVersion {
    Entry(VersionedKey),
    Range(KeyRange),
}

impl MemoryEngine {
    /// Creates an empty engine.
    pub(crate) fn new() -> Arc<Self> {
        Arc::new(MemoryEngine {
            map: SkipMap::new(),
            deleted_ranges: ArcSwap::default(),
            garbage: Mutex::default(),
            used_bytes: AtomicU64::new(0),
        })
    }

    fn apply_change(&self, key: &[u8], change: Change<'_>, version: Version) {
        let older = self
            .map
            .lower_bound(Bound::Included(&(key, Version::MAX) as &dyn KeyView));
        let older = older.filter(|entry| entry.key().key() == key);
        let key: Arc<[u8]> = match &older {
            Some(entry) => Arc::clone(&entry.key().key),
            None => Arc::from(key),
        };
        let new_key = VersionedKey { key, version };
        let mut garbage = self.garbage.lock();
        match older {
            // The same change again, by a replay.
            Some(entry) if entry.key().version == version => self.remove(entry.key()),
            Some(entry) => garbage.push_back(Garbage {
                superseded_at: version,
                what: OldVersion::Entry(entry.key().clone()),
            }),
            None if change == Change::Delete => return,
            None => {}
        }
        let value = match change {
            Change::Put(value) => Some(Arc::<[u8]>::from(value)),
            Change::Delete => {
                garbage.push_back(Garbage {
                    superseded_at: version,
                    what: OldVersion::Entry(new_key.clone()),
                });
                None
            }
        };
        drop(garbage);
        self.used_bytes
            .fetch_add(entry_bytes(&new_key, value.as_deref()), Ordering::Relaxed);
        self.map.insert(new_key, value);
    }

    fn delete_range(&self, range: KeyRange, version: Version) {
        self.deleted_ranges.rcu(|ranges| {
            let mut ranges = Vec::clone(ranges);
            ranges.push(DeletedRange {
                range: range.clone(),
                version,
            });
            ranges
        });
        self.garbage.lock().push_back(Garbage {
            superseded_at: version,
            what: OldVersion::Range(range),
        });
    }

    /// Returns the version at which `key` was last hidden by a deletion of a range, as seen at `version`.
    fn hidden_at(&self, key: &[u8], version: Version) -> Option<Version> {
        let ranges = self.deleted_ranges.load();
        let hiding = ranges
            .iter()
            .filter(|deleted| deleted.version <= version && deleted.range.contains(key));
        hiding.map(|deleted| deleted.version).max()
    }

    /// Removes entries of a deleted range. Returns whether some are left.
    fn collect_range(&self, range: &KeyRange, version: Version, entries_max: usize) -> bool {
        let (start, end) = ((&range.start[..], Version::MAX), (&range.end[..], Version::MAX));
        let bounds = (
            Bound::Included(&start as &dyn KeyView),
            Bound::Excluded(&end as &dyn KeyView),
        );
        let mut removed = 0;
        for entry in self.map.range::<dyn KeyView, _>(bounds) {
            if entry.key().version < version {
                self.remove(entry.key());
                removed += 1;
                if removed == entries_max {
                    return true;
                }
            }
        }
        self.deleted_ranges.rcu(|ranges| {
            let keep = |deleted: &&DeletedRange| deleted.version != version || deleted.range != *range;
            ranges.iter().filter(keep).cloned().collect::<Vec<_>>()
        });
        false
    }

    fn remove(&self, key: &VersionedKey) {
        if let Some(entry) = self.map.remove(&(key.key(), key.version) as &dyn KeyView) {
            self.used_bytes.fetch_sub(
                entry_bytes(entry.key(), entry.value().as_deref()),
                Ordering::Relaxed,
            );
        }
    }
}

impl Engine for MemoryEngine {
    fn apply(&self, changes: &EngineChanges<'_>) {
        let version = changes.version();
        for range in changes.deleted_ranges() {
            self.delete_range(range.clone(), version);
        }
        for (key, change) in changes.entries() {
            self.apply_change(key, change, version);
        }
    }

    fn get(&self, key: &[u8], at: Version) -> Option<Arc<[u8]>> {
        let entry = self
            .map
            .lower_bound(Bound::Included(&(key, at) as &dyn KeyView))?;
        if entry.key().key() != key {
            return None;
        }
        // Within one version ranges are deleted before entries are written, so an entry of the same version is
        // newer.
        match self.hidden_at(key, at) {
            Some(hidden) if hidden > entry.key().version => None,
            _ => entry.value().clone(),
        }
    }

    fn scan(self: Arc<Self>, range: KeyRange, direction: Direction, at: Version) -> Box<dyn EngineCursor> {
        Box::new(MemoryCursor::new(self, range, direction, at))
    }

    fn used_bytes(&self) -> u64 {
        self.used_bytes.load(Ordering::Relaxed)
    }

    fn collect(&self, oldest: Version, entries_max: usize) -> bool {
        let mut garbage = self.garbage.lock();
        for _ in 0..entries_max {
            match garbage.front() {
                Some(first) if first.superseded_at <= oldest => {}
                Some(_) | None => return false,
            }
            match garbage.pop_front() {
                Some(Garbage {
                    what: OldVersion::Entry(key),
                    ..
                }) => self.remove(&key),
                Some(Garbage {
                    what: OldVersion::Range(range),
                    superseded_at,
                }) => {
                    if self.collect_range(&range, superseded_at, entries_max) {
                        garbage.push_front(Garbage {
                            superseded_at,
                            what: OldVersion::Range(range),
                        });
                        return true;
                    }
                }
                None => return false,
            }
        }
        !garbage.is_empty()
    }
}

fn entry_bytes(key: &VersionedKey, value: Option<&[u8]>) -> u64 {
    (key.key().len() + value.map_or(0, <[u8]>::len)) as u64 + ENTRY_OVERHEAD_BYTES
}
