//! A consistent view of all engines. Rows of temporary tables, which only their session sees, are read in
//! their current state.

use std::fmt;
use std::sync::Arc;

use paceline_types::LogPosition;

use crate::cursor::Cursor;
use crate::engine::RegisteredSnapshot;
use crate::engine_list::EngineList;
use crate::error::Result;
use crate::key::{Direction, EngineKind, KeyRange};
use crate::rocksdb_engine::{RocksDbEngine, RocksDbSnapshot};
use crate::stored_value::StoredValue;
use crate::temporary::TemporarySpace;

/// State of all engines when the log had been applied up to one position. Cheap to clone, and usable from any
/// thread.
#[derive(Clone)]
pub struct StorageSnapshot(Arc<Inner>);

struct Inner {
    rocksdb: Arc<RocksDbSnapshot>,
    engines: Arc<EngineList>,
    temporary: Arc<TemporarySpace>,
    /// The position, at which the engines behind the trait are read.
    registered: Arc<RegisteredSnapshot>,
}

impl StorageSnapshot {
    pub(crate) fn new(
        rocksdb: RocksDbSnapshot,
        engines: Arc<EngineList>,
        temporary: Arc<TemporarySpace>,
        registered: Arc<RegisteredSnapshot>,
    ) -> Self {
        StorageSnapshot(Arc::new(Inner {
            rocksdb: Arc::new(rocksdb),
            engines,
            temporary,
            registered,
        }))
    }

    /// Returns the end of the last transaction that it contains.
    pub fn position(&self) -> LogPosition {
        self.0.registered.version()
    }

    /// Returns the value of `key`, preceded by its version.
    ///
    /// # Errors
    /// If a table file cannot be read or is corrupt.
    pub fn get(&self, key: &[u8]) -> Result<Option<StoredValue<'_>>> {
        match EngineKind::of_key(key) {
            EngineKind::RocksDb => Ok(self.0.rocksdb.get(key)?.map(StoredValue::pinned)),
            EngineKind::Temporary => Ok(self.0.temporary.get(key)),
            kind => {
                let found = self.0.engines.of(kind).get(key, self.position());
                Ok(found.map(StoredValue::shared))
            }
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
            EngineKind::Temporary => Cursor::temporary(self.0.temporary.scan(range, direction)),
            kind => {
                let engine = Arc::clone(self.0.engines.of(kind));
                let cursor = engine.scan(range, direction, self.position());
                Cursor::engine(cursor, Some(Arc::clone(&self.0.registered)))
            }
        }
    }
}

impl fmt::Debug for StorageSnapshot {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("StorageSnapshot").field(&self.position()).finish()
    }
}
