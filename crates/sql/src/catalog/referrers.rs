//! Which tables refer to which by foreign keys.
//!
//! A foreign key is kept with the table that has it. What a delete wants to know is the other direction, and for a table that may not be there yet: so the
//! catalog keeps, for each name that is referred to, the tables whose keys do. It follows each change of a table, is never written, and is made anew
//! when the catalog is read.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use super::table::TableDefinition;

/// Database and name of a table.
type FullName = (Box<str>, Box<str>);

/// The tables that refer to one, by database and name.
pub type TableReferrers = BTreeSet<FullName>;

/// For each name that is referred to: by which tables.
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

    /// A table has another definition than before, is new, or is gone. What refers to a table changes only if its definitions do, so whoever
    /// holds what [`Referrers::of`] gave sees by it whether he has to look again.
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
