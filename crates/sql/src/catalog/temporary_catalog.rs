//! The definitions of a session's temporary tables.

use std::collections::BTreeMap;
use std::sync::Arc;

use super::table::TableDefinition;

/// The database that a table is in while CREATE TEMPORARY TABLE … SELECT fills it: the query still means what its name meant before. No statement
/// can name it, as it would be cut at the zero byte.
pub const FILLED_DATABASE: &str = "\0filled";

/// Temporary tables by database and name. Their databases need not exist.
#[derive(Debug, Clone, Default)]
pub struct TemporaryCatalog {
    databases: BTreeMap<Box<str>, BTreeMap<Box<str>, Arc<TableDefinition>>>,
}

impl TemporaryCatalog {
    /// Whether there are none.
    #[inline]
    pub fn is_empty(&self) -> bool {
        self.databases.is_empty()
    }

    /// All of them.
    pub fn tables(&self) -> impl Iterator<Item = &Arc<TableDefinition>> {
        self.databases.values().flat_map(BTreeMap::values)
    }

    /// One of them.
    pub fn table(&self, database: &str, name: &str) -> Option<&Arc<TableDefinition>> {
        self.databases.get(database)?.get(name)
    }

    pub(super) fn put(&mut self, database: &str, name: &str, table: Arc<TableDefinition>) {
        self.databases
            .entry(database.into())
            .or_default()
            .insert(name.into(), table);
    }

    pub(super) fn remove(&mut self, database: &str, name: &str) -> Option<Arc<TableDefinition>> {
        let tables = self.databases.get_mut(database)?;
        let removed = tables.remove(name);
        if tables.is_empty() {
            self.databases.remove(database);
        }
        removed
    }
}
