//! What a session holds beyond its transaction: LOCK TABLES, and FLUSH TABLES WITH READ LOCK.

use paceline_txn::{GlobalReadLock, MetadataGuard};

/// The locks of one session.
#[derive(Default)]
pub struct TableLocks {
    pub(super) tables: Vec<LockedTable>,
    pub(super) global: Option<GlobalReadLock>,
}

/// A table that LOCK TABLES has locked.
pub(super) struct LockedTable {
    pub(super) database: String,
    pub(super) name: String,
    pub(super) write: bool,
    pub(super) _guard: MetadataGuard,
}

impl TableLocks {
    /// Gives back what LOCK TABLES has locked; the global read lock stays.
    pub fn release_tables(&mut self) {
        self.tables.clear();
    }

    /// True while LOCK TABLES holds.
    pub fn has_tables(&self) -> bool {
        !self.tables.is_empty()
    }

    /// True while FLUSH TABLES WITH READ LOCK holds.
    pub fn is_globally_locked(&self) -> bool {
        self.global.is_some()
    }
}
