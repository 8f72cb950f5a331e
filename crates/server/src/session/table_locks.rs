//! Locks that a session holds beyond its transaction: LOCK TABLES, and FLUSH TABLES WITH READ LOCK.

use paceline_txn::{GlobalReadLock, MetadataGuard};

/// The locks of one session.
#[derive(Default)]
pub struct TableLocks {
    pub(super) tables: Vec<LockedTable>,
    /// LOCK TABLES is in effect, possibly only for temporary tables, which need no lock.
    pub(super) holds: bool,
    pub(super) global: Option<GlobalReadLock>,
}

/// A table locked by LOCK TABLES.
pub(super) struct LockedTable {
    pub(super) database: String,
    pub(super) name: String,
    pub(super) write: bool,
    /// Alias in LOCK TABLES; `None` if it is a table of a view.
    pub(super) alias: Option<String>,
    /// A table's entries of the same kind share one guard.
    pub(super) _guard: Option<MetadataGuard>,
}

impl LockedTable {
    /// Returns whether it is this table.
    pub(super) fn is(&self, database: &str, name: &str) -> bool {
        self.database == database && self.name == name
    }

    /// Returns whether a statement may use this alias for the table.
    pub(super) fn goes_by(&self, alias: &str) -> bool {
        self.alias.as_deref().is_none_or(|locked| locked == alias)
    }
}

impl TableLocks {
    /// Releases the locks of LOCK TABLES. The global read lock stays.
    pub fn release_tables(&mut self) {
        self.tables.clear();
        self.holds = false;
    }

    /// Returns whether LOCK TABLES is in effect.
    pub fn has_tables(&self) -> bool {
        self.holds
    }

    /// Returns whether FLUSH TABLES WITH READ LOCK is in effect.
    pub fn is_globally_locked(&self) -> bool {
        self.global.is_some()
    }
}
