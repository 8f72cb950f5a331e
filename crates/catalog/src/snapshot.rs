//! The catalog at one moment.

use std::collections::BTreeMap;
use std::sync::Arc;

use paceline_storage::{Direction, IndexId, StorageSnapshot, value_payload, value_version};
use paceline_syntax::RoutineType;
use paceline_types::Version;

use super::added_engine::check_number;
use super::auto_increment::AutoIncrement;
use super::definition::{DatabaseDefinition, ForeignKey};
use super::event::EventDefinition;
use super::loadable::LoadableFunction;
use super::record::{CatalogChange, read_record};
use super::referrers::{Referrers, TableReferrers};
use super::routine::RoutineDefinition;
use super::table::TableDefinition;
use super::temporary_catalog::{FILLED_DATABASE, TemporaryCatalog};
use super::trigger::{TableTriggers, TriggerDefinition};
use super::view::ViewDefinition;
use super::{SYSTEM_DATABASE, system};
use crate::error::{Error, Result};

/// A database and its tables.
#[derive(Debug, Clone)]
pub struct Database {
    definition: DatabaseDefinition,
    tables: BTreeMap<Box<str>, Arc<TableDefinition>>,
    views: BTreeMap<Box<str>, Arc<ViewDefinition>>,
    /// By kind and name in lower case.
    routines: BTreeMap<(RoutineType, Box<str>), Arc<RoutineDefinition>>,
    triggers: BTreeMap<Box<str>, Arc<TriggerDefinition>>,
    /// By name in lower case.
    events: BTreeMap<Box<str>, Arc<EventDefinition>>,
}

impl Database {
    /// Returns its definition.
    pub fn definition(&self) -> &DatabaseDefinition {
        &self.definition
    }

    /// Returns its name.
    pub fn name(&self) -> &str {
        &self.definition.name
    }

    /// Returns its tables by name.
    pub fn tables(&self) -> impl Iterator<Item = &Arc<TableDefinition>> {
        self.tables.values()
    }

    /// Returns its views by name.
    pub fn views(&self) -> impl Iterator<Item = &Arc<ViewDefinition>> {
        self.views.values()
    }

    /// Returns its procedures and functions, procedures first, by name.
    pub fn routines(&self) -> impl Iterator<Item = &Arc<RoutineDefinition>> {
        self.routines.values()
    }

    /// Returns its triggers by name.
    pub fn triggers(&self) -> impl Iterator<Item = &Arc<TriggerDefinition>> {
        self.triggers.values()
    }

    /// Returns its events by name.
    pub fn events(&self) -> impl Iterator<Item = &Arc<EventDefinition>> {
        self.events.values()
    }

    /// Returns a trigger by name.
    pub fn trigger(&self, name: &str) -> Option<&Arc<TriggerDefinition>> {
        self.triggers.get(name)
    }

    /// Returns the triggers of a table.
    fn triggers_of(&self, table: &str) -> TableTriggers {
        let own = self.triggers.values().filter(|trigger| trigger.table == table);
        TableTriggers::new(own.cloned().collect())
    }

    /// Gives a table that exists the triggers that belong to it.
    fn renew_triggers(&mut self, table: &str) -> Result<()> {
        let triggers = self.triggers_of(table);
        if let Some(known) = self.tables.get_mut(table) {
            *known = Arc::new(known.changed_triggers(triggers)?);
        }
        Ok(())
    }

    /// Returns a table by name.
    pub fn table(&self, name: &str) -> Option<&Arc<TableDefinition>> {
        self.tables.get(name)
    }
}

/// User and host of an account.
type AccountKey = (Box<str>, Box<str>);

/// All databases, tables and accounts at one moment. Immutable, and cheap to clone.
#[derive(Debug, Clone, Default)]
pub struct Catalog {
    databases: BTreeMap<Box<str>, Arc<Database>>,
    accounts: Arc<BTreeMap<AccountKey, Arc<[u8]>>>,
    next_id: u32,
    version: Version,
    /// Temporary tables of a session; empty in the shared catalog.
    temporary: Arc<TemporaryCatalog>,
    referrers: Arc<Referrers>,
    /// By name in lower case.
    loadable_functions: Arc<BTreeMap<Box<str>, Arc<LoadableFunction>>>,
}

impl Catalog {
    /// Creates the catalog of a new data directory, with only the system tables.
    pub fn new() -> Self {
        let mut catalog = Catalog {
            next_id: IndexId::FIRST_USER,
            ..Catalog::default()
        };
        catalog.add_system_tables();
        catalog
    }

    /// Reads the catalog.
    ///
    /// # Errors
    /// If it is unreadable, or contains data that this version does not know; 1286 for a table of an engine that the
    /// program does not have.
    pub fn load(snapshot: &StorageSnapshot) -> Result<Self> {
        let mut catalog = Catalog::new();
        let mut records = snapshot.scan(IndexId::CATALOG.range(), Direction::Forward);
        while let Some((key, value)) = records.next()? {
            let version = value_version(value).unwrap_or(Version::ZERO);
            let change = read_record(key, value_payload(value))?;
            catalog.apply(&change, version)?;
        }
        catalog.tables().try_for_each(|table| check_number(table))?;
        catalog.version = snapshot.position();
        Ok(catalog)
    }

    fn add_system_tables(&mut self) {
        let tables = system::tables()
            .into_iter()
            .map(|description| {
                let name = description.name.as_str().into();
                let table = TableDefinition::new(description, Version::ZERO, Arc::default())
                    .expect("system tables are well defined");
                (name, Arc::new(table))
            })
            .collect();
        let database = Database {
            definition: system::database(),
            tables,
            views: BTreeMap::new(),
            routines: BTreeMap::new(),
            triggers: BTreeMap::new(),
            events: BTreeMap::new(),
        };
        self.databases.insert(SYSTEM_DATABASE.into(), Arc::new(database));
    }

    /// Returns the databases by name, without the virtual ones.
    pub fn databases(&self) -> impl Iterator<Item = &Arc<Database>> {
        self.databases.values()
    }

    /// Returns a database.
    pub fn database(&self, name: &str) -> Option<&Arc<Database>> {
        self.databases.get(name)
    }

    /// Returns the table that a statement means by this name.
    #[inline]
    pub fn table(&self, database: &str, name: &str) -> Option<&Arc<TableDefinition>> {
        if !self.temporary.is_empty()
            && let Some(table) = self.temporary.table(database, name)
        {
            return Some(table);
        }
        self.ordinary_table(database, name)
    }

    /// Returns a sequence.
    ///
    /// # Errors
    /// 1146 if there is no table of this name, 4089 if it is not a sequence.
    pub fn sequence(&self, database: &str, name: &str) -> Result<&Arc<TableDefinition>> {
        use paceline_types::error_code::{ER_NO_SUCH_TABLE, ER_NOT_SEQUENCE};
        match self.table(database, name) {
            Some(table) if table.is_sequence() => Ok(table),
            None if self.view(database, name).is_none() => {
                Err(Error::new(ER_NO_SUCH_TABLE, &[&database, &name]))
            }
            _ => Err(Error::new(ER_NOT_SEQUENCE, &[&database, &name])),
        }
    }

    /// Returns a table that is not temporary.
    #[inline]
    pub fn ordinary_table(&self, database: &str, name: &str) -> Option<&Arc<TableDefinition>> {
        self.databases.get(database)?.tables.get(name)
    }

    /// Returns a view, if no temporary table hides it.
    #[inline]
    pub fn view(&self, database: &str, name: &str) -> Option<&Arc<ViewDefinition>> {
        if self.temporary.table(database, name).is_some() {
            return None;
        }
        self.ordinary_view(database, name)
    }

    /// Returns a view, even if a temporary table hides it.
    pub fn ordinary_view(&self, database: &str, name: &str) -> Option<&Arc<ViewDefinition>> {
        self.databases.get(database)?.views.get(name)
    }

    /// Returns a procedure or function, whose name is not case-sensitive.
    pub fn routine(&self, kind: RoutineType, database: &str, name: &str) -> Option<&Arc<RoutineDefinition>> {
        let routines = &self.databases.get(database)?.routines;
        if routines.is_empty() {
            return None;
        }
        routines.get(&(kind, name.to_lowercase().into()))
    }

    /// Returns a loadable function, whose name is not case-sensitive.
    #[inline]
    pub fn loadable_function(&self, name: &str) -> Option<&Arc<LoadableFunction>> {
        if self.loadable_functions.is_empty() {
            return None;
        }
        self.loadable_functions.get(name.to_lowercase().as_str())
    }

    /// Returns the loadable functions by name.
    pub fn loadable_functions(&self) -> impl Iterator<Item = &Arc<LoadableFunction>> {
        self.loadable_functions.values()
    }

    /// Returns a trigger.
    pub fn trigger(&self, database: &str, name: &str) -> Option<&Arc<TriggerDefinition>> {
        self.databases.get(database)?.triggers.get(name)
    }

    /// Returns an event.
    pub fn event(&self, database: &str, name: &str) -> Option<&Arc<EventDefinition>> {
        let events = &self.databases.get(database)?.events;
        events.get(name.to_lowercase().as_str())
    }

    /// Returns a temporary table.
    pub fn temporary_table(&self, database: &str, name: &str) -> Option<&Arc<TableDefinition>> {
        self.temporary.table(database, name)
    }

    /// Returns whether exactly this temporary table exists, under its name or while it is being filled.
    pub fn has_temporary(&self, definition: &Arc<TableDefinition>) -> bool {
        [definition.database(), FILLED_DATABASE].iter().any(|database| {
            self.temporary
                .table(database, definition.name())
                .is_some_and(|current| Arc::ptr_eq(current, definition))
        })
    }

    /// Returns the temporary tables over it.
    pub(super) fn temporary(&self) -> &Arc<TemporaryCatalog> {
        &self.temporary
    }

    /// Returns this catalog with a session's temporary tables over it.
    pub fn with_temporary(&self, temporary: Arc<TemporaryCatalog>) -> Catalog {
        Catalog {
            temporary,
            ..self.clone()
        }
    }

    /// Returns all tables except temporary ones.
    pub fn tables(&self) -> impl Iterator<Item = &Arc<TableDefinition>> {
        self.databases
            .values()
            .flat_map(|database| database.tables.values())
    }

    /// Returns the tables whose foreign keys refer to a table, which need not exist; `None` if there are none. While
    /// the same set is returned, nothing has changed.
    #[inline]
    pub fn referrers(&self, database: &str, name: &str) -> Option<&Arc<TableReferrers>> {
        self.referrers.of(database, name)
    }

    /// Returns the definitions of these tables, without duplicates.
    pub(crate) fn referring_tables(
        &self,
        database: &str,
        name: &str,
    ) -> impl Iterator<Item = &Arc<TableDefinition>> {
        let names = self
            .referrers(database, name)
            .into_iter()
            .flat_map(|names| names.iter());
        names.filter_map(|(database, name)| self.ordinary_table(database, name))
    }

    /// Returns the foreign keys that refer to a table, with their tables, by database and name of the key.
    pub fn referring_keys(&self, database: &str, name: &str) -> Vec<(Arc<TableDefinition>, ForeignKey)> {
        let refers = |key: &&ForeignKey| key.referenced_database == database && key.referenced_table == name;
        let mut keys: Vec<_> = self
            .referring_tables(database, name)
            .flat_map(|table| {
                let keys = table.foreign_keys.iter().filter(refers);
                keys.map(|key| (table.clone(), key.clone()))
            })
            .collect();
        keys.sort_by(|(a, one), (b, other)| (a.database(), &one.name).cmp(&(b.database(), &other.name)));
        keys
    }

    /// Returns the accounts: user, host pattern, and the server's data.
    pub fn accounts(&self) -> impl Iterator<Item = (&str, &str, &Arc<[u8]>)> {
        self.accounts
            .iter()
            .map(|((user, host), record)| (&**user, &**host, record))
    }

    /// Returns the log position of the last change.
    pub fn version(&self) -> Version {
        self.version
    }

    /// Returns the first free index number.
    pub fn next_id(&self) -> u32 {
        self.next_id
    }

    /// Returns the catalog after these changes, whose position in the log is `version`.
    ///
    /// # Errors
    /// If a table's description is inconsistent, which is impossible for a planned one.
    pub fn changed(&self, changes: &[CatalogChange], version: Version) -> Result<Catalog> {
        let mut next = self.clone();
        for change in changes {
            next.apply(change, version)?;
        }
        next.version = version;
        Ok(next)
    }

    fn apply(&mut self, change: &CatalogChange, version: Version) -> Result<()> {
        match change {
            CatalogChange::PutDatabase(definition) => {
                let old = self.databases.get(definition.name.as_str());
                let database = match old {
                    Some(old) => Database {
                        definition: definition.clone(),
                        ..(**old).clone()
                    },
                    None => Database {
                        definition: definition.clone(),
                        tables: BTreeMap::new(),
                        views: BTreeMap::new(),
                        routines: BTreeMap::new(),
                        triggers: BTreeMap::new(),
                        events: BTreeMap::new(),
                    },
                };
                self.databases
                    .insert(definition.name.as_str().into(), Arc::new(database));
            }
            CatalogChange::DropDatabase(name) => {
                if let Some(database) = self.databases.remove(name.as_str()) {
                    for table in database.tables() {
                        Referrers::change(&mut self.referrers, Some(table), None);
                    }
                }
            }
            CatalogChange::PutTable(description) if description.temporary => {
                let counter = self.temporary.tables().find(|table| table.id == description.id);
                let counter = counter.map(|table| table.auto_increment().clone());
                let (database, name) = (description.database.clone(), description.name.clone());
                let table =
                    TableDefinition::new((**description).clone(), version, counter.unwrap_or_default())?;
                Arc::make_mut(&mut self.temporary).put(&database, &name, Arc::new(table));
            }
            CatalogChange::DropTemporary { database, name } => {
                Arc::make_mut(&mut self.temporary).remove(database, name);
            }
            CatalogChange::PutTable(description) => {
                let counter = self.counter_of(description.id);
                let table = TableDefinition::new((**description).clone(), version, counter)?;
                let before = self
                    .ordinary_table(&description.database, &description.name)
                    .cloned();
                Referrers::change(&mut self.referrers, before.as_deref(), Some(&table));
                for id in table.indexes().iter().map(|index| index.id).chain(table.hidden) {
                    self.note_id(id);
                }
                if let Some(database) = self.database_mut(&description.database) {
                    let mut table = table.with_triggers(database.triggers_of(&description.name));
                    if let Some(before) = &before {
                        table = table.with_counters_of(before);
                    }
                    database
                        .tables
                        .insert(description.name.as_str().into(), Arc::new(table));
                }
            }
            CatalogChange::DropTable { database, name } => {
                let removed = self
                    .database_mut(database)
                    .and_then(|database| database.tables.remove(name.as_str()));
                Referrers::change(&mut self.referrers, removed.as_deref(), None);
            }
            CatalogChange::PutView(description) => {
                let view = ViewDefinition::new((**description).clone(), version)?;
                if let Some(database) = self.database_mut(&description.database) {
                    database
                        .views
                        .insert(description.name.as_str().into(), Arc::new(view));
                }
            }
            CatalogChange::DropView { database, name } => {
                if let Some(database) = self.database_mut(database) {
                    database.views.remove(name.as_str());
                }
            }
            CatalogChange::PutRoutine(description) => {
                let key = (description.kind, description.name.to_lowercase().into());
                if let Some(database) = self.database_mut(&description.database) {
                    let routine = RoutineDefinition::new((**description).clone(), version);
                    database.routines.insert(key, Arc::new(routine));
                }
            }
            CatalogChange::DropRoutine { kind, database, name } => {
                if let Some(database) = self.database_mut(database) {
                    database.routines.remove(&(*kind, name.to_lowercase().into()));
                }
            }
            CatalogChange::PutTrigger(description) => {
                if let Some(database) = self.database_mut(&description.database) {
                    let trigger = TriggerDefinition::new((**description).clone());
                    let before = database
                        .triggers
                        .insert(description.name.as_str().into(), Arc::new(trigger));
                    database.renew_triggers(&description.table)?;
                    if let Some(before) = before.filter(|before| before.table != description.table) {
                        database.renew_triggers(&before.table)?;
                    }
                }
            }
            CatalogChange::DropTrigger { database, name } => {
                if let Some(database) = self.database_mut(database)
                    && let Some(trigger) = database.triggers.remove(name.as_str())
                {
                    database.renew_triggers(&trigger.table)?;
                }
            }
            CatalogChange::PutEvent(description) => {
                if let Some(database) = self.database_mut(&description.database) {
                    let event = EventDefinition::new((**description).clone());
                    let key = description.name.to_lowercase().into();
                    database.events.insert(key, Arc::new(event));
                }
            }
            CatalogChange::DropEvent { database, name } => {
                if let Some(database) = self.database_mut(database) {
                    database.events.remove(name.to_lowercase().as_str());
                }
            }
            CatalogChange::PutLoadableFunction(function) => {
                let functions = Arc::make_mut(&mut self.loadable_functions);
                functions.insert(
                    function.name.to_lowercase().into(),
                    Arc::new((**function).clone()),
                );
            }
            CatalogChange::DropLoadableFunction(name) => {
                Arc::make_mut(&mut self.loadable_functions).remove(name.to_lowercase().as_str());
            }
            CatalogChange::ForgetAutoIncrement { database, name } => {
                // A new counter object: a plan that fails must not affect the existing counter.
                if let Some(table) = self.table(database, name) {
                    let (description, version) = (table.description().clone(), table.version());
                    let triggers = table.triggers().clone();
                    let table = TableDefinition::new(description, version, Arc::default())?;
                    let table = Arc::new(table.with_triggers(triggers));
                    if table.is_temporary() {
                        Arc::make_mut(&mut self.temporary).put(database, name, table);
                    } else if let Some(database) = self.database_mut(database) {
                        database.tables.insert(name.as_str().into(), table);
                    }
                }
            }
            CatalogChange::PutAccount { user, host, record } => {
                let account = (user.as_str().into(), host.as_str().into());
                Arc::make_mut(&mut self.accounts).insert(account, record.as_slice().into());
            }
            CatalogChange::DropAccount { user, host } => {
                Arc::make_mut(&mut self.accounts).remove(&(user.as_str().into(), host.as_str().into()));
            }
            CatalogChange::NextId(next) => self.next_id = self.next_id.max(*next),
        }
        Ok(())
    }

    fn note_id(&mut self, id: u32) {
        self.next_id = self.next_id.max(IndexId::new(id).number() + 1);
    }

    fn database_mut(&mut self, name: &str) -> Option<&mut Database> {
        self.databases.get_mut(name).map(Arc::make_mut)
    }

    /// Returns the counter of the table with this id, under whatever name.
    fn counter_of(&self, id: u32) -> Arc<AutoIncrement> {
        let known = self.tables().find(|table| table.id == id);
        known
            .map(|table| table.auto_increment().clone())
            .unwrap_or_default()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use paceline_types::Collation;

    fn database(name: &str) -> CatalogChange {
        CatalogChange::PutDatabase(DatabaseDefinition {
            name: name.into(),
            collation: Collation::Utf8mb4GeneralCi,
            comment: String::new(),
        })
    }

    #[test]
    fn a_change_leaves_the_catalog_before_as_it_was() {
        let before = Catalog::new();
        let after = before
            .changed(&[database("a"), CatalogChange::NextId(5_000)], Version::new(1, 4))
            .unwrap();
        assert!(before.database("a").is_none() && after.database("a").is_some());
        assert_eq!((before.next_id(), after.next_id()), (IndexId::FIRST_USER, 5_000));
        let gone = after
            .changed(&[CatalogChange::DropDatabase("a".into())], Version::new(1, 8))
            .unwrap();
        assert!(gone.database("a").is_none() && gone.database(SYSTEM_DATABASE).is_some());
    }

    #[test]
    fn accounts_are_counted() {
        let put = CatalogChange::PutAccount {
            user: "root".into(),
            host: "localhost".into(),
            record: b"{}".to_vec(),
        };
        let catalog = Catalog::new().changed(&[put], Version::new(1, 4)).unwrap();
        assert_eq!(
            catalog
                .accounts()
                .map(|(user, host, _)| (user, host))
                .collect::<Vec<_>>(),
            [("root", "localhost")]
        );
    }
}
