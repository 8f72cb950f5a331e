//! Rows of temporary tables: in memory, private to one session, and never logged.
//!
//! ```text
//!   TemporaryIndex   a number for an index's keys; released, with all keys under it, when it is dropped
//!   TemporaryWrites  a transaction's writes to such keys ──apply──▶ the engine, under the next version
//! ```
//!
//! One memory engine holds the rows of all sessions. Their keys never overlap: a key begins with its index's
//! number, and a number belongs to one session. So there are no locks and no snapshots; a session reads its
//! rows in their current state, under its transaction's own writes. Versions only count the applications: they
//! have no relation to the log.
//!
//! All tables together have one limit. Uncommitted writes of transactions count with the memory that they take.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use paceline_types::Version;
use parking_lot::Mutex;

use crate::engine::{Engine, EngineChanges, EngineCursor, garbage_per_apply};
use crate::error::{Error, Result};
use crate::key::{Direction, EngineKind, IndexId, KeyRange};
use crate::memory_engine::{MemoryConfig, MemoryCursor, MemoryEngine};
use crate::stored_value::StoredValue;
use crate::write_set::{Mark, WriteSet};

/// Number of possible index numbers.
const NUMBERS: u32 = (1 << 30) - 1;
/// First version, above the row ids that a rebuild assigns.
const FIRST_VERSION: Version = Version::new(1, 0);
/// Memory charged for an index itself, in bytes: its share of its table's definition.
const INDEX_BYTES: u64 = 1_024;
/// Number of entries of a dropped index that are removed at once; the rest is removed in the background.
const REMOVED_AT_ONCE: usize = 4_096;

/// Space for the rows of temporary tables. See the module's head.
pub struct TemporarySpace {
    engine: Arc<MemoryEngine>,
    /// Version of the last application; held while writes are applied.
    version: Mutex<Version>,
    numbers: Mutex<Numbers>,
    /// Uncommitted writes of transactions, and the charge for the indexes themselves.
    pending_bytes: AtomicU64,
    bytes_max: AtomicU64,
}

#[derive(Default)]
struct Numbers {
    next: u32,
    free: Vec<u32>,
}

impl TemporarySpace {
    pub(crate) fn new(config: &MemoryConfig) -> Arc<Self> {
        Arc::new(TemporarySpace {
            engine: MemoryEngine::new(),
            version: Mutex::new(FIRST_VERSION),
            numbers: Mutex::default(),
            pending_bytes: AtomicU64::new(0),
            bytes_max: AtomicU64::new(config.bytes_max),
        })
    }

    /// Returns the current value of a key.
    pub(crate) fn get(&self, key: &[u8]) -> Option<StoredValue<'static>> {
        self.engine.get(key, Version::MAX).map(StoredValue::shared)
    }

    /// Scans the current entries of a range.
    pub(crate) fn scan(&self, range: KeyRange, direction: Direction) -> MemoryCursor {
        MemoryCursor::new(self.engine.clone(), range, direction, Version::MAX)
    }

    /// Removes up to `entries_max` superseded entries. Returns whether more may be left.
    pub(crate) fn collect(&self, entries_max: usize) -> bool {
        self.engine.collect(Version::MAX, entries_max)
    }

    /// Returns the bytes in use, including garbage and uncommitted writes.
    pub fn used_bytes(&self) -> u64 {
        self.engine.used_bytes() + self.pending_bytes.load(Ordering::Relaxed)
    }

    /// Returns the limit, in bytes.
    pub fn bytes_max(&self) -> u64 {
        self.bytes_max.load(Ordering::Relaxed)
    }

    /// Changes the limit. Memory in use beyond a lower limit stays in use.
    pub fn set_bytes_max(&self, bytes: u64) {
        self.bytes_max.store(bytes, Ordering::Relaxed);
    }

    /// Allocates a number for an index.
    ///
    /// # Errors
    /// [`Error::MemoryFull`] if there is no room, or no number left.
    pub fn new_index(self: &Arc<Self>) -> Result<TemporaryIndex> {
        if self.used_bytes() + INDEX_BYTES > self.bytes_max.load(Ordering::Relaxed) {
            return Err(self.full());
        }
        let mut numbers = self.numbers.lock();
        let number = match numbers.free.pop() {
            Some(number) => number,
            None if numbers.next < NUMBERS => {
                numbers.next += 1;
                numbers.next - 1
            }
            None => return Err(self.full()),
        };
        self.pending_bytes.fetch_add(INDEX_BYTES, Ordering::Relaxed);
        Ok(TemporaryIndex {
            space: self.clone(),
            id: IndexId::in_engine(number, EngineKind::Temporary),
        })
    }

    /// Returns an empty set of writes for a transaction.
    pub fn writes(self: &Arc<Self>) -> TemporaryWrites {
        TemporaryWrites {
            space: self.clone(),
            set: WriteSet::new(),
            charged_bytes: 0,
        }
    }

    fn full(&self) -> Error {
        Error::MemoryFull {
            used_bytes: self.used_bytes(),
            limit_bytes: self.bytes_max.load(Ordering::Relaxed),
        }
    }

    fn apply(&self, set: WriteSet) {
        if set.is_empty() {
            return;
        }
        let mut version = self.version.lock();
        *version = Version::from_u64(version.as_u64() + 1);
        let set = set.assign_version(*version);
        self.engine
            .apply(&EngineChanges::new(&set, EngineKind::Temporary));
        self.collect(garbage_per_apply(set.len()));
    }

    /// Deletes all keys of an index.
    fn clear(&self, id: IndexId) {
        // Superseded entries are collected anyway.
        if self.scan(id.range(), Direction::Forward).advance() {
            let mut set = WriteSet::new();
            set.delete_range(id.range());
            self.apply(set);
            self.collect(REMOVED_AT_ONCE);
        }
    }

    /// Releases an index's number for reuse.
    fn release(&self, id: IndexId) {
        self.clear(id);
        self.pending_bytes.fetch_sub(INDEX_BYTES, Ordering::Relaxed);
        let number = id.as_u32() & NUMBERS;
        self.numbers.lock().free.push(number);
    }
}

impl std::fmt::Debug for TemporarySpace {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("TemporarySpace")
            .field("used_bytes", &self.used_bytes())
            .finish()
    }
}

/// Index of a temporary table, which owns its number as long as it lives. Dropping it deletes everything stored
/// under it; a transaction that has written there must have ended.
#[derive(Debug)]
pub struct TemporaryIndex {
    space: Arc<TemporarySpace>,
    id: IndexId,
}

impl TemporaryIndex {
    /// Returns the number.
    pub fn id(&self) -> IndexId {
        self.id
    }

    /// Deletes everything stored under it: TRUNCATE.
    pub fn clear(&self) {
        self.space.clear(self.id);
    }
}

impl Drop for TemporaryIndex {
    fn drop(&mut self) {
        self.space.release(self.id);
    }
}

/// A transaction's writes to temporary tables. Dropping them undoes them.
pub struct TemporaryWrites {
    space: Arc<TemporarySpace>,
    set: WriteSet,
    charged_bytes: u64,
}

impl TemporaryWrites {
    /// Returns the writes.
    pub fn set(&self) -> &WriteSet {
        &self.set
    }

    /// Returns the writes for changes; [`charge`](Self::charge) must follow.
    pub fn set_mut(&mut self) -> &mut WriteSet {
        &mut self.set
    }

    /// Charges the memory of the writes since the last call.
    ///
    /// # Errors
    /// [`Error::MemoryFull`]: the writes since the last call must be rolled back.
    pub fn charge(&mut self) -> Result<()> {
        let bytes = self.set.memory_bytes() as u64;
        let (grown, before) = (
            bytes.saturating_sub(self.charged_bytes),
            self.charged_bytes.saturating_sub(bytes),
        );
        let pending = &self.space.pending_bytes;
        pending.fetch_add(grown, Ordering::Relaxed);
        pending.fetch_sub(before, Ordering::Relaxed);
        self.charged_bytes = bytes;
        match grown > 0 && self.space.used_bytes() > self.space.bytes_max.load(Ordering::Relaxed) {
            true => Err(self.space.full()),
            false => Ok(()),
        }
    }

    /// Undoes the writes since the mark; `None` is the beginning.
    pub fn rollback_to(&mut self, mark: Option<Mark>) {
        match mark {
            Some(mark) => self.set.rollback_to(mark),
            None => self.set = WriteSet::new(),
        }
        // The set has not grown, so there is room for it.
        let _ = self.charge();
    }

    /// Makes the writes since the mark visible to the session, whatever happens to the transaction: see
    /// [`WriteSet::take_since`].
    pub fn apply_since(&mut self, mark: Option<Mark>) {
        let taken = match mark {
            Some(mark) => self.set.take_since(mark),
            None => std::mem::take(&mut self.set),
        };
        self.space.apply(taken);
        let _ = self.charge();
    }

    /// Makes the writes visible to the session.
    pub fn apply(mut self) {
        self.space.apply(std::mem::take(&mut self.set));
    }
}

impl Drop for TemporaryWrites {
    fn drop(&mut self) {
        self.space
            .pending_bytes
            .fetch_sub(self.charged_bytes, Ordering::Relaxed);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn space(bytes_max: u64) -> Arc<TemporarySpace> {
        TemporarySpace::new(&MemoryConfig { bytes_max })
    }

    fn key(index: &TemporaryIndex, suffix: u8) -> Vec<u8> {
        let mut key = index.id().to_be_bytes().to_vec();
        key.push(suffix);
        key
    }

    #[test]
    fn applied_rows_are_read_and_deleted_with_their_index() {
        let space = space(1 << 20);
        let index = space.new_index().unwrap();
        let other = space.new_index().unwrap();
        let mut writes = space.writes();
        writes.set_mut().put(&key(&index, 1), b"one");
        writes.set_mut().put(&key(&other, 1), b"other");
        writes.charge().unwrap();
        assert!(space.get(&key(&index, 1)).is_none());
        assert!(space.used_bytes() > 0);
        writes.apply();
        assert!(space.get(&key(&index, 1)).is_some());

        let (gone, number) = (key(&index, 1), index.id());
        drop(index);
        assert!(space.get(&gone).is_none());
        let again = space.new_index().unwrap();
        assert_eq!(again.id(), number, "numbers are used again");
        assert!(space.get(&gone).is_none());
        let mut writes = space.writes();
        writes.set_mut().put(&gone, b"new");
        writes.apply();
        assert!(space.get(&gone).is_some());
        assert!(space.get(&key(&other, 1)).is_some());
        drop((again, other));
        while space.collect(1024) {}
        assert_eq!(space.used_bytes(), 0);
    }

    #[test]
    fn writes_since_a_mark_can_be_applied_alone() {
        let space = space(1 << 20);
        let index = space.new_index().unwrap();
        let mut writes = space.writes();
        writes.set_mut().put(&key(&index, 1), b"before");
        let mark = writes.set_mut().mark();
        writes.set_mut().put(&key(&index, 2), b"since");
        writes.apply_since(Some(mark));
        assert_eq!(writes.set().len(), 1);
        drop(writes);
        assert!(space.get(&key(&index, 1)).is_none());
        assert_eq!(space.get(&key(&index, 2)).unwrap()[8..], *b"since");
    }

    #[test]
    fn uncommitted_writes_are_charged_and_released() {
        let space = space(INDEX_BYTES + 1_000);
        let index = space.new_index().unwrap();
        let mut writes = space.writes();
        writes.set_mut().put(&key(&index, 1), &[0; 500]);
        writes.charge().unwrap();
        let mark = writes.set_mut().mark();
        writes.set_mut().put(&key(&index, 2), &[0; 600]);
        assert!(matches!(writes.charge(), Err(Error::MemoryFull { .. })));
        writes.rollback_to(Some(mark));
        assert!(space.used_bytes() < INDEX_BYTES + 1_000);
        drop(writes);
        assert_eq!(space.used_bytes(), INDEX_BYTES);
        assert!(matches!(space.new_index(), Err(Error::MemoryFull { .. })));
        drop(index);
        assert_eq!(space.used_bytes(), 0);
    }
}
