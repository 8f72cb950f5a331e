//! Definitions of a session's temporary tables.

use std::collections::BTreeMap;
use std::sync::Arc;

use super::table::TableDefinition;

/// Database of a table while CREATE TEMPORARY TABLE … SELECT fills it: in the query its name still has the previous
/// meaning. No statement can refer to it, because names cannot contain a zero byte.
pub const FILLED_DATABASE: &str = "\0filled";

/// Temporary tables by database and name. The databases need not exist.
#[derive(Debug, Clone, Default)]
pub struct TemporaryCatalog {
    databases: BTreeMap<Box<str>, BTreeMap<Box<str>, Arc<TableDefinition>>>,
}

impl TemporaryCatalog {
    /// Returns whether there are no tables.
    #[inline]
    pub fn is_empty(&self) -> bool {
        self.databases.is_empty()
    }

    /// Returns all tables.
    pub fn tables(&self) -> impl Iterator<Item = &Arc<TableDefinition>> {
        self.databases.values().flat_map(BTreeMap::values)
    }

    /// Returns a table.
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
