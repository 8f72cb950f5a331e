//! Shared support for tests of the tables.
#![allow(dead_code)] // each test program uses its own part

use std::path::Path;
use std::sync::Arc;

use paceline_storage::{EngineKind, FrozenWriteSet, IndexId, Storage, StorageConfig, WriteSet};
use paceline_types::LogPosition;

/// Returns a configuration with small memtables and files, so that flushes and compactions happen.
pub fn small_config(directory: &Path) -> StorageConfig {
    let mut config = StorageConfig::new(directory);
    config.rocksdb.memtable_bytes = 256 << 10;
    config.rocksdb.table_file_bytes = 128 << 10;
    config.rocksdb.block_cache_bytes = 1 << 20;
    config
}

pub fn open_small(directory: &Path) -> Storage {
    Storage::open(&small_config(directory)).expect("the tables open")
}

pub fn position(number: u64) -> LogPosition {
    LogPosition::new(1, number)
}

pub fn key(engine: EngineKind, number: u32) -> Vec<u8> {
    let mut key = IndexId::in_engine(IndexId::FIRST_USER, engine)
        .to_be_bytes()
        .to_vec();
    key.extend_from_slice(&number.to_be_bytes());
    key
}

pub fn frozen(version: LogPosition, fill: impl FnOnce(&mut WriteSet)) -> Arc<FrozenWriteSet> {
    let mut set = WriteSet::new();
    fill(&mut set);
    Arc::new(set.assign_version(version))
}
