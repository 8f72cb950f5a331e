//! Index of the referencing tables, from foreign keys.
//!
//! A foreign key is stored with the referencing table. A DELETE needs the opposite direction, also for a table that
//! does not exist yet. The catalog therefore has an index from each referenced name to the referencing tables. It is
//! updated with every change of a table, is never stored, and is rebuilt when the catalog is read.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use super::table::TableDefinition;

/// Database and name of a table.
type FullName = (Box<str>, Box<str>);

/// Tables that refer to a table, by database and name.
pub type TableReferrers = BTreeSet<FullName>;

/// Referencing tables of each referenced name.
#[derive(Debug, Clone, Default)]
pub(super) struct Referrers {
    tables: BTreeMap<Box<str>, BTreeMap<Box<str>, Arc<TableReferrers>>>,
}

impl Referrers {
    #[inline]
    pub(super) fn of(&self, database: &str, name: &str) -> Option<&Arc<TableReferrers>> {
        if self.tables.is_empty() {
            return None;
        }
        self.tables.get(database)?.get(name)
    }

    /// Records that a table was created, changed or dropped. The set of a referenced table is only replaced if one of
    /// its referencing definitions changes, so a caller that keeps a set from [`Referrers::of`] can compare it to
    /// detect changes.
    pub(super) fn change(
        this: &mut Arc<Self>,
        before: Option<&TableDefinition>,
        after: Option<&TableDefinition>,
    ) {
        let is_free =
            |table: Option<&TableDefinition>| table.is_none_or(|table| table.foreign_keys.is_empty());
        if is_free(before) && is_free(after) {
            return;
        }
        let this = Arc::make_mut(this);
        let names = |table: &TableDefinition| -> FullName { (table.database().into(), table.name().into()) };
        if let Some(table) = before {
            let own = names(table);
            for key in &table.foreign_keys {
                this.entry(&key.referenced_database, &key.referenced_table, |tables| {
                    tables.remove(&own);
                });
            }
        }
        if let Some(table) = after {
            let own = names(table);
            for key in &table.foreign_keys {
                this.entry(&key.referenced_database, &key.referenced_table, |tables| {
                    tables.insert(own.clone());
                });
            }
        }
    }

    fn entry(&mut self, database: &str, name: &str, change: impl FnOnce(&mut TableReferrers)) {
        let tables = self.tables.entry(database.into()).or_default();
        let referrers = tables.entry(name.into()).or_default();
        change(Arc::make_mut(referrers));
        if referrers.is_empty() {
            tables.remove(name);
            if tables.is_empty() {
                self.tables.remove(database);
            }
        }
    }
}
