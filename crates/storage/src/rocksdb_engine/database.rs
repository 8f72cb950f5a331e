//! State that the engine, its snapshots and its cursors share.

use std::ops::Deref;

use rocksdb::DB;

use super::block_statistics::BlockCounters;
use super::scan_cost::ScanCost;

/// RocksDB, the cost of its scans, and the blocks that were looked up.
pub(super) struct Database {
    pub(super) db: DB,
    pub(super) scan_cost: ScanCost,
    pub(super) blocks: BlockCounters,
}

impl Deref for Database {
    type Target = DB;

    fn deref(&self) -> &DB {
        &self.db
    }
}
