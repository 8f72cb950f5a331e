//! Snapshot of the engine on disk, with the read options that every read of it uses.

use std::mem;
use std::sync::Arc;

use rocksdb::{DBPinnableSlice, DEFAULT_COLUMN_FAMILY_NAME, ReadOptions, Snapshot};

use super::database::Database;
use crate::error::Result;
use crate::stored_value::StoredValue;

/// State of the engine at one moment. It keeps the database open.
pub(crate) struct RocksDbSnapshot {
    // Dropped in this order: the options that refer to the snapshot, the snapshot, the database that it belongs
    // to.
    read_options: ReadOptions,
    snapshot: Snapshot<'static>,
    db: Arc<Database>,
}

impl RocksDbSnapshot {
    pub(super) fn new(db: &Arc<Database>) -> Self {
        let db = Arc::clone(db);
        // SAFETY: the real lifetime is that of the borrow of `db`, of which this struct owns a share. The
        // database is behind the `Arc`, so it does not move, and the order of the fields drops the snapshot
        // before the share.
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
        let value = self.db.get_pinned_opt(key, &self.read_options)?;
        self.db.blocks.note_read();
        Ok(value)
    }

    /// Passes the values of several keys, which are in ascending order, to `take`.
    pub(crate) fn get_many(
        &self,
        keys: &[&[u8]],
        take: &mut dyn FnMut(usize, &StoredValue<'_>),
    ) -> Result<()> {
        let family = self
            .db
            .cf_handle(DEFAULT_COLUMN_FAMILY_NAME)
            .expect("opened with it");
        let keys = keys.iter().copied();
        let values = self
            .db
            .batched_multi_get_cf_opt(family, keys, true, &self.read_options);
        for (index, value) in values.into_iter().enumerate() {
            if let Some(value) = value? {
                take(index, &StoredValue::pinned(value));
            }
        }
        self.db.blocks.note_read();
        Ok(())
    }

    pub(super) fn database(&self) -> &Database {
        &self.db
    }

    pub(super) fn snapshot(&self) -> &Snapshot<'static> {
        &self.snapshot
    }
}
