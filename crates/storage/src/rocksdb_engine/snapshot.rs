//! A snapshot of the engine on disk, with the read options that every read of it uses.

use std::mem;
use std::sync::Arc;

use rocksdb::{DBPinnableSlice, ReadOptions, Snapshot};

use super::Database;
use crate::error::Result;

/// What the engine held at one moment. Lives on its own: it keeps the database open.
pub(crate) struct RocksDbSnapshot {
    // Dropped in this order: what refers to the snapshot, the snapshot, the database it belongs to.
    read_options: ReadOptions,
    snapshot: Snapshot<'static>,
    db: Arc<Database>,
}

impl RocksDbSnapshot {
    pub(super) fn new(db: &Arc<Database>) -> Self {
        let db = Arc::clone(db);
        // SAFETY: the lifetime is that of the borrow of `db`, which this struct owns a share of. The database is behind
        // the `Arc`, so that it does not move, and the fields' order drops the snapshot before the share.
        #[allow(unsafe_code)]
        let snapshot = unsafe { mem::transmute::<Snapshot<'_>, Snapshot<'static>>(db.snapshot()) };
        let mut read_options = ReadOptions::default();
        read_options.set_snapshot(&snapshot);
        RocksDbSnapshot {
            read_options,
            snapshot,
            db,
        }
    }

    pub(crate) fn get(&self, key: &[u8]) -> Result<Option<DBPinnableSlice<'_>>> {
        Ok(self.db.get_pinned_opt(key, &self.read_options)?)
    }

    pub(super) fn database(&self) -> &Database {
        &self.db
    }

    pub(super) fn snapshot(&self) -> &Snapshot<'static> {
        &self.snapshot
    }
}
