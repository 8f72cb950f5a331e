//! A consistent view of both engines. Rows of temporary tables, which only their session sees, are read in
//! their current state.

use std::fmt;
use std::sync::Arc;

use paceline_types::LogPosition;

use crate::cursor::Cursor;
use crate::error::Result;
use crate::key::{Direction, EngineKind, KeyRange};
use crate::memory_engine::{MemoryEngine, MemorySnapshot};
use crate::rocksdb_engine::{RocksDbEngine, RocksDbSnapshot};
use crate::stored_value::StoredValue;

/// State of both engines when the log had been applied up to one position. Cheap to clone, and usable from any
/// thread.
#[derive(Clone)]
pub struct StorageSnapshot(Arc<Inner>);

struct Inner {
    rocksdb: Arc<RocksDbSnapshot>,
    memory: Arc<MemorySnapshot>,
    temporary: Arc<MemoryEngine>,
    position: LogPosition,
}

impl StorageSnapshot {
    pub(crate) fn new(
        rocksdb: RocksDbSnapshot,
        memory: MemorySnapshot,
        temporary: Arc<MemoryEngine>,
        position: LogPosition,
    ) -> Self {
        StorageSnapshot(Arc::new(Inner {
            rocksdb: Arc::new(rocksdb),
            memory: Arc::new(memory),
            temporary,
            position,
        }))
    }

    /// Returns the end of the last transaction that it contains.
    pub fn position(&self) -> LogPosition {
        self.0.position
    }

    /// Returns the value of `key`, preceded by its version.
    ///
    /// # Errors
    /// If a table file cannot be read or is corrupt.
    pub fn get(&self, key: &[u8]) -> Result<Option<StoredValue<'_>>> {
        match EngineKind::of_key(key) {
            EngineKind::RocksDb => Ok(self.0.rocksdb.get(key)?.map(StoredValue::pinned)),
            EngineKind::Memory => Ok(self.0.memory.get(key).map(StoredValue::shared)),
            EngineKind::Blackhole => Ok(None),
            EngineKind::Temporary => Ok(self.0.temporary.get_newest(key).map(StoredValue::shared)),
        }
    }

    /// Reads several keys of one engine, which must be in ascending order. Calls `take` with the index of each key
    /// that exists, in this order, and its value. Like [`get`](Self::get) of each, but what leads to several keys is
    /// searched once.
    ///
    /// # Errors
    /// If a table file cannot be read or is corrupt.
    pub fn get_many(&self, keys: &[&[u8]], take: &mut dyn FnMut(usize, &StoredValue<'_>)) -> Result<()> {
        debug_assert!(keys.is_sorted(), "keys are read in their order");
        if keys.first().map(|key| EngineKind::of_key(key)) == Some(EngineKind::RocksDb) {
            return self.0.rocksdb.get_many(keys, take);
        }
        for (index, key) in keys.iter().enumerate() {
            if let Some(value) = self.get(key)? {
                take(index, &value);
            }
        }
        Ok(())
    }

    /// Scans the entries of a range, which must lie within one engine.
    pub fn scan(&self, range: KeyRange, direction: Direction) -> Cursor {
        match EngineKind::of_key(&range.start) {
            EngineKind::RocksDb => {
                Cursor::rocksdb(RocksDbEngine::scan_snapshot(&self.0.rocksdb, range, direction))
            }
            EngineKind::Memory => Cursor::memory(MemorySnapshot::scan(&self.0.memory, range, direction)),
            EngineKind::Blackhole => Cursor::nothing(),
            EngineKind::Temporary => Cursor::memory(self.0.temporary.scan_newest(range, direction)),
        }
    }
}

impl fmt::Debug for StorageSnapshot {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("StorageSnapshot").field(&self.0.position).finish()
    }
}
