//! Locks that a session holds beyond its transaction: LOCK TABLES, and FLUSH TABLES WITH READ LOCK.

use paceline_catalog::ddl::DdlObject;
use paceline_query::plan::{Plan, TableUse};
use paceline_syntax::{Error, Result};
use paceline_txn::{GlobalReadLock, MetadataGuard};
use paceline_types::error_code::*;

/// The locks of one session.
#[derive(Default)]
pub struct TableLocks {
    pub(super) tables: Vec<LockedTable>,
    /// Whether LOCK TABLES is in effect, possibly only for temporary tables, which need no lock.
    pub(super) holds: bool,
    pub(super) global: Option<GlobalReadLock>,
}

/// A table that is locked by LOCK TABLES.
pub(super) struct LockedTable {
    pub(super) database: String,
    pub(super) name: String,
    pub(super) write: bool,
    pub(super) is_view: bool,
    /// Alias in LOCK TABLES; `None` for a table that a view reads.
    pub(super) alias: Option<String>,
    /// Guard that all entries of the table with the same kind of lock share.
    pub(super) _guard: Option<MetadataGuard>,
}

impl LockedTable {
    /// Returns whether it is this table.
    pub(super) fn is(&self, database: &str, name: &str) -> bool {
        self.database == database && self.name == name
    }

    /// Returns whether a statement may use this alias for the table.
    pub(super) fn allows_alias(&self, alias: &str) -> bool {
        self.alias.as_deref().is_none_or(|locked| locked == alias)
    }
}

impl TableLocks {
    /// Releases the locks of LOCK TABLES. The global read lock stays.
    pub fn release_tables(&mut self) {
        self.tables.clear();
        self.holds = false;
    }

    /// Forgets the tables that were dropped. LOCK TABLES ends with the last of its tables.
    pub fn forget_dropped(&mut self, exists: impl Fn(&str, &str) -> bool) {
        self.tables
            .retain(|locked| exists(&locked.database, &locked.name));
        self.holds = !self.tables.is_empty();
    }

    /// Returns whether LOCK TABLES is in effect.
    pub fn has_tables(&self) -> bool {
        self.holds
    }

    /// Returns whether FLUSH TABLES WITH READ LOCK is in effect.
    pub fn is_globally_locked(&self) -> bool {
        self.global.is_some()
    }

    /// Checks whether a plan may be executed under these locks.
    ///
    /// # Errors
    /// 1223 for a write under the session's own global read lock; 1099 and 1100 for tables that LOCK TABLES did not
    /// name.
    pub fn check_plan(&self, plan: &Plan) -> Result<()> {
        let conflicts = || match self.is_globally_locked() && plan.writes_ordinary() {
            true => Err(Error::new(ER_CANT_UPDATE_WITH_READLOCK, &[])),
            false => Ok(()),
        };
        if !self.has_tables() {
            return conflicts();
        }
        // A view goes by any alias, and so do those that it reads.
        let views = plan.tables().iter().filter(|table| table.view.is_some());
        for view in views.filter(|view| view.access.through.is_none()) {
            let alias = view.aliases.first().unwrap_or(&view.name);
            self.check_view(&view.database, &view.name, alias)?;
        }
        // Tables used only by foreign keys need not be named.
        let is_lockable =
            |table: &&TableUse| table.definition.is_some() && !table.is_temporary() && table.usage.is_named();
        for table in plan.tables().iter().filter(is_lockable) {
            let locked = || {
                self.tables
                    .iter()
                    .filter(|locked| locked.is(&table.database, &table.name))
            };
            // The aliases inside a view do not matter.
            let aliases = match (&table.access.through, &table.aliases[..]) {
                (Some(_), _) => &[],
                (None, []) => std::slice::from_ref(&table.name),
                (None, aliases) => aliases,
            };
            for alias in aliases {
                if !locked().any(|locked| locked.allows_alias(alias)) {
                    return Err(Error::new(ER_TABLE_NOT_LOCKED, &[alias]));
                }
            }
            if locked().next().is_none() {
                return Err(Error::new(ER_TABLE_NOT_LOCKED, &[&table.name]));
            }
            let is_used = |locked: &LockedTable| {
                aliases.is_empty() || aliases.iter().any(|alias| locked.allows_alias(alias))
            };
            if table.usage.writes() && !locked().any(|locked| locked.write && is_used(locked)) {
                let name = aliases.first().unwrap_or(&table.name);
                return Err(Error::new(ER_TABLE_NOT_LOCKED_FOR_WRITE, &[name]));
            }
        }
        conflicts()
    }

    /// Checks whether FLUSH TABLES may close these tables, all tables if none is named, under LOCK TABLES.
    ///
    /// # Errors
    /// 1099 and 1100.
    pub fn check_flush(&self, names: &[(String, String)]) -> Result<()> {
        if !self.has_tables() {
            return Ok(());
        }
        if names.is_empty() {
            let mut all = self.tables.iter().filter(|locked| !locked.is_view);
            return all.try_for_each(|locked| self.check_written(&locked.database, &locked.name));
        }
        let mut named = names.iter();
        named.try_for_each(|(database, name)| self.check_written(database, name))
    }

    /// Checks whether a statement may use a view, which it calls `alias`, under LOCK TABLES.
    ///
    /// # Errors
    /// 1100.
    pub fn check_view(&self, database: &str, name: &str, alias: &str) -> Result<()> {
        match self.has_tables() && !self.tables.iter().any(|locked| locked.is(database, name)) {
            true => Err(Error::new(ER_TABLE_NOT_LOCKED, &[&alias])),
            false => Ok(()),
        }
    }

    /// Checks whether DDL may change an object under LOCK TABLES: it must be locked for writing.
    ///
    /// # Errors
    /// 1099 and 1100.
    pub fn check_definition(&self, object: &DdlObject) -> Result<()> {
        let (true, Some(table)) = (self.has_tables(), &object.table) else {
            return Ok(());
        };
        self.check_written(&object.database, table)
    }

    /// Returns 1099 or 1100 unless it is a table that is locked for writing. A locked view is none.
    fn check_written(&self, database: &str, table: &str) -> Result<()> {
        let is_it = |locked: &&LockedTable| !locked.is_view && locked.is(database, table);
        let locked = self.tables.iter().filter(is_it);
        match locked.map(|locked| locked.write).max() {
            None => Err(Error::new(ER_TABLE_NOT_LOCKED, &[&table])),
            Some(false) => Err(Error::new(ER_TABLE_NOT_LOCKED_FOR_WRITE, &[&table])),
            Some(true) => Ok(()),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use paceline_catalog::ddl::DdlNeed;

    fn locked(name: &str, write: bool, alias: Option<&str>) -> LockedTable {
        LockedTable {
            database: "d".to_owned(),
            name: name.to_owned(),
            write,
            is_view: false,
            alias: alias.map(str::to_owned),
            _guard: None,
        }
    }

    #[test]
    fn a_definition_needs_a_write_lock() {
        let mut locks = TableLocks::default();
        let check = |locks: &TableLocks, table: Option<&str>| {
            let object = DdlObject {
                database: "d".to_owned(),
                table: table.map(str::to_owned),
                need: DdlNeed::Defined,
            };
            locks.check_definition(&object).err().map(|error| error.code())
        };
        assert_eq!(check(&locks, Some("t")), None);
        locks.holds = true;
        locks.tables = vec![
            locked("r", false, None),
            locked("w", false, None),
            locked("w", true, None),
        ];
        assert_eq!(check(&locks, Some("t")), Some(ER_TABLE_NOT_LOCKED));
        assert_eq!(check(&locks, Some("r")), Some(ER_TABLE_NOT_LOCKED_FOR_WRITE));
        assert_eq!(check(&locks, Some("w")), None);
        // A database has no lock of LOCK TABLES.
        assert_eq!(check(&locks, None), None);
        locks.release_tables();
        assert_eq!(check(&locks, Some("t")), None);
    }

    #[test]
    fn locks_end_with_the_last_table() {
        let mut locks = TableLocks {
            tables: vec![locked("a", true, None), locked("b", true, None)],
            holds: true,
            global: None,
        };
        locks.forget_dropped(|_, name| name != "a");
        assert!(locks.has_tables());
        locks.forget_dropped(|_, name| name != "b");
        assert!(!locks.has_tables());
    }

    #[test]
    fn a_table_of_a_view_goes_by_any_alias() {
        assert!(
            locked("t", false, Some("a")).allows_alias("a")
                && !locked("t", false, Some("a")).allows_alias("t")
        );
        assert!(locked("t", false, None).allows_alias("a"));
    }
}
