//! State that the engine, its snapshots and its cursors share.

use std::ops::Deref;

use rocksdb::DB;

use super::scan_cost::ScanCost;

/// RocksDB, and the cost of its scans.
pub(super) struct Database {
    pub(super) db: DB,
    pub(super) scan_cost: ScanCost,
}

impl Deref for Database {
    type Target = DB;

    fn deref(&self) -> &DB {
        &self.db
    }
}
