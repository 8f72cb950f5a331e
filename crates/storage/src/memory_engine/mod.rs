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
//! - A snapshot is a version and an entry in the register of open snapshots. A deletion of a range (TRUNCATE,
//!   DROP) is kept as the range and its version, and hides older entries: it costs the same for any number of
//!   rows.
//! - A superseded version is queued, and removed by the application of later groups, a few entries at a time,
//!   when no open snapshot is older than the version that superseded it. [`MemoryEngine::collect_garbage`]
//!   removes more at a time.

mod cursor;
mod versioned_key;

use std::collections::{BTreeMap, VecDeque};
use std::ops::Bound;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use arc_swap::ArcSwap;
use crossbeam_skiplist::SkipMap;
use paceline_types::Version;
use parking_lot::Mutex;

pub(crate) use cursor::MemoryCursor;
use versioned_key::{KeyView, VersionedKey};

use crate::error::{Error, Result};
use crate::key::{EngineKind, KeyRange};
use crate::write_set::{Change, FrozenWriteSet};

/// Settings of the memory engine.
#[derive(Clone, Debug)]
pub struct MemoryConfig {
    /// Most bytes of all MEMORY tables together; 1114 beyond.
    pub bytes_max: u64,
}

impl Default for MemoryConfig {
    fn default() -> Self {
        MemoryConfig { bytes_max: 1 << 30 }
    }
}

/// Memory of an entry beside its key and value: node, tower, reference counts.
const ENTRY_OVERHEAD_BYTES: u64 = 112;
/// Amount of garbage that each application removes beyond what it creates, in entries.
const GARBAGE_PER_APPLY: usize = 64;

/// Tables in memory, with multiple versions. See the module's head.
pub struct MemoryEngine {
    /// Kind of keys that it takes from a write set.
    kind: EngineKind,
    map: SkipMap<VersionedKey, Option<Arc<[u8]>>>,
    deleted_ranges: ArcSwap<Vec<DeletedRange>>,
    snapshots: Mutex<BTreeMap<Version, usize>>,
    garbage: Mutex<VecDeque<Garbage>>,
    used_bytes: AtomicU64,
    bytes_max: AtomicU64,
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

/// Version that stays readable as long as this lives.
pub(crate) struct MemorySnapshot {
    engine: Arc<MemoryEngine>,
    version: Version,
}

impl MemoryEngine {
    /// Creates an empty engine.
    pub fn new(config: &MemoryConfig) -> Arc<Self> {
        Self::of_kind(EngineKind::Memory, config)
    }

    /// Creates an empty engine for keys of that kind.
    pub(crate) fn of_kind(kind: EngineKind, config: &MemoryConfig) -> Arc<Self> {
        Arc::new(MemoryEngine {
            kind,
            map: SkipMap::new(),
            deleted_ranges: ArcSwap::default(),
            snapshots: Mutex::default(),
            garbage: Mutex::default(),
            used_bytes: AtomicU64::new(0),
            bytes_max: AtomicU64::new(config.bytes_max),
        })
    }

    /// Returns the bytes in use, including garbage.
    pub fn used_bytes(&self) -> u64 {
        self.used_bytes.load(Ordering::Relaxed)
    }

    /// Returns the limit, in bytes.
    pub fn bytes_max(&self) -> u64 {
        self.bytes_max.load(Ordering::Relaxed)
    }

    /// Changes the limit. Memory in use beyond a lower limit stays in use.
    pub fn set_bytes_max(&self, bytes: u64) {
        self.bytes_max.store(bytes, Ordering::Relaxed);
    }

    /// Checks whether `bytes` more would fit.
    ///
    /// # Errors
    /// [`Error::MemoryFull`] if they would not.
    pub fn check_room(&self, bytes: u64) -> Result<()> {
        let (used_bytes, limit_bytes) = (self.used_bytes(), self.bytes_max.load(Ordering::Relaxed));
        if bytes > 0 && used_bytes.saturating_add(bytes) > limit_bytes {
            return Err(Error::MemoryFull {
                used_bytes,
                limit_bytes,
            });
        }
        Ok(())
    }

    /// Applies a write set's entries for this engine. Earlier snapshots do not see them.
    pub(crate) fn apply(&self, write_set: &FrozenWriteSet) {
        let version = write_set.version();
        for range in write_set.deleted_ranges() {
            if EngineKind::of_key(&range.start) == self.kind {
                self.delete_range(range.clone(), version);
            }
        }
        // Keys of this engine sort after those of the engines before it.
        for (key, change) in write_set.entries().rev() {
            if EngineKind::of_key(key) != self.kind {
                debug_assert!(
                    EngineKind::of_key(key) != EngineKind::Blackhole,
                    "such rows are not stored"
                );
                break;
            }
            self.apply_change(key, change, version);
        }
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

    fn get_at(&self, key: &[u8], version: Version) -> Option<Arc<[u8]>> {
        let entry = self
            .map
            .lower_bound(Bound::Included(&(key, version) as &dyn KeyView))?;
        if entry.key().key() != key {
            return None;
        }
        // Within one version ranges are deleted before entries are written, so an entry of the same version is
        // newer.
        match self.hidden_at(key, version) {
            Some(hidden) if hidden > entry.key().version => None,
            _ => entry.value().clone(),
        }
    }

    /// Returns the newest applied value of a key.
    pub(crate) fn get_newest(&self, key: &[u8]) -> Option<Arc<[u8]>> {
        self.get_at(key, Version::MAX)
    }

    /// Registers a snapshot of everything applied up to `version`.
    pub(crate) fn snapshot(self: &Arc<Self>, version: Version) -> MemorySnapshot {
        *self.snapshots.lock().entry(version).or_default() += 1;
        MemorySnapshot {
            engine: Arc::clone(self),
            version,
        }
    }

    /// Returns the version of the oldest open snapshot.
    pub(crate) fn oldest_snapshot(&self) -> Option<Version> {
        self.snapshots
            .lock()
            .first_key_value()
            .map(|(version, _)| *version)
    }

    /// Removes up to `entries_max` entries that no snapshot needs. Returns whether more may be left.
    pub(crate) fn collect_garbage(&self, entries_max: usize) -> bool {
        let mut garbage = self.garbage.lock();
        if garbage.is_empty() {
            return false;
        }
        let oldest = self.oldest_snapshot().unwrap_or(Version::MAX);
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

    /// Keeps the garbage from growing, after each application.
    pub(crate) fn collect_after_apply(&self, write_sets: &[Arc<FrozenWriteSet>]) {
        let changed: usize = write_sets.iter().map(|set| set.len()).sum();
        self.collect_garbage(GARBAGE_PER_APPLY + 2 * changed);
    }
}

fn entry_bytes(key: &VersionedKey, value: Option<&[u8]>) -> u64 {
    (key.key().len() + value.map_or(0, <[u8]>::len)) as u64 + ENTRY_OVERHEAD_BYTES
}

impl MemorySnapshot {
    pub(crate) fn get(&self, key: &[u8]) -> Option<Arc<[u8]>> {
        self.engine.get_at(key, self.version)
    }
}

impl Drop for MemorySnapshot {
    fn drop(&mut self) {
        let mut snapshots = self.engine.snapshots.lock();
        if let Some(count) = snapshots.get_mut(&self.version) {
            *count -= 1;
            if *count == 0 {
                snapshots.remove(&self.version);
            }
        }
    }
}
