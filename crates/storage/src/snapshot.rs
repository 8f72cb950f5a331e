//! A consistent view of both engines. Rows of temporary tables, which only their session sees, are read as they are now.

use std::fmt;
use std::ops::Deref;
use std::sync::Arc;

use paceline_types::{LogPosition, Version};
use rocksdb::DBPinnableSlice;

use crate::cursor::Cursor;
use crate::error::Result;
use crate::key::{Direction, EngineKind, KeyRange, VERSION_LENGTH};
use crate::memory_engine::{MemoryEngine, MemorySnapshot};
use crate::rocksdb_engine::{RocksDbEngine, RocksDbSnapshot};

/// What both engines held when the log had been applied up to one position. Cheap to clone; usable from any thread, as
/// long as it is kept.
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

    /// The end of the last transaction that it contains.
    pub fn position(&self) -> LogPosition {
        self.0.position
    }

    /// The value of `key`, its version in front.
    ///
    /// # Errors
    /// If a table file cannot be read or is corrupt.
    pub fn get(&self, key: &[u8]) -> Result<Option<StoredValue<'_>>> {
        match EngineKind::of_key(key) {
            EngineKind::RocksDb => Ok(self.0.rocksdb.get(key)?.map(StoredValue::pinned)),
            EngineKind::Memory => Ok(self.0.memory.get(key).map(StoredValue::shared)),
            EngineKind::Temporary => Ok(self.0.temporary.get_newest(key).map(StoredValue::shared)),
        }
    }

    /// The entries of a range, which must lie within one engine.
    pub fn scan(&self, range: KeyRange, direction: Direction) -> Cursor {
        match EngineKind::of_key(&range.start) {
            EngineKind::RocksDb => {
                Cursor::rocksdb(RocksDbEngine::scan_snapshot(&self.0.rocksdb, range, direction))
            }
            EngineKind::Memory => Cursor::memory(MemorySnapshot::scan(&self.0.memory, range, direction)),
            EngineKind::Temporary => Cursor::memory(self.0.temporary.scan_newest(range, direction)),
        }
    }
}

impl fmt::Debug for StorageSnapshot {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("StorageSnapshot").field(&self.0.position).finish()
    }
}

/// A value as an engine holds it, version in front, without a copy.
pub struct StoredValue<'a>(Holder<'a>);

enum Holder<'a> {
    Pinned(DBPinnableSlice<'a>),
    Shared(Arc<[u8]>),
}

impl<'a> StoredValue<'a> {
    pub(crate) fn pinned(value: DBPinnableSlice<'a>) -> Self {
        StoredValue(Holder::Pinned(value))
    }

    pub(crate) fn shared(value: Arc<[u8]>) -> Self {
        StoredValue(Holder::Shared(value))
    }

    /// The version of the transaction that wrote it, or the [mark](crate::VersionMark) of a large one.
    ///
    /// # Panics
    /// If the value is shorter than a version, which no engine writes.
    pub fn version(&self) -> Version {
        crate::key::value_version(self).expect("every stored value begins with its version")
    }

    /// The row image, the primary key or nothing, depending on the index.
    pub fn payload(&self) -> &[u8] {
        &self[VERSION_LENGTH..]
    }
}

impl Deref for StoredValue<'_> {
    type Target = [u8];

    fn deref(&self) -> &[u8] {
        match &self.0 {
            Holder::Pinned(value) => value,
            Holder::Shared(value) => value,
        }
    }
}

impl fmt::Debug for StoredValue<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("StoredValue")
            .field("version", &self.version())
            .field("bytes", &self.payload().len())
            .finish()
    }
}
