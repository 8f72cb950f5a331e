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
    /// The name under which it was locked; `None` if it is behind a view.
    pub(super) alias: Option<String>,
    /// One entry of a table has it for all of the same kind.
    pub(super) _guard: Option<MetadataGuard>,
}

impl LockedTable {
    /// Whether it is this table.
    pub(super) fn is(&self, database: &str, name: &str) -> bool {
        self.database == database && self.name == name
    }

    /// Whether a statement may call it so.
    pub(super) fn goes_by(&self, alias: &str) -> bool {
        self.alias.as_deref().is_none_or(|locked| locked == alias)
    }
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
