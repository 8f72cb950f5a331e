//! What a definition statement is going to change.

use std::sync::Arc;

use paceline_storage::{EngineKind, IndexId, TemporarySpace, WriteSet};
use paceline_types::Version;
use paceline_types::error_code::*;

use super::select::SelectedColumn;
use super::table_build::TableBuild;
use crate::error::{Error, Result};
use crate::{
    Catalog, CatalogChange, Database, SYSTEM_DATABASE, TableDefinition, TableEngine, TemporaryPlan,
    VIRTUAL_DATABASES, counter_id, write_changes,
};
use paceline_expression::session::SessionContext;
use paceline_syntax::{DdlStatement, TableName};

/// What planning reads and writes.
///
/// At replay the session is one made from the log's event (`sql_mode`, character sets, time zone, current database,
/// timestamp): the same statement gives the same plan.
pub struct DdlContext<'a> {
    /// The catalog as it is.
    pub catalog: &'a Catalog,
    /// The session: its settings are read, notes and warnings are written to it.
    pub session: &'a mut SessionContext,
    /// The first number that new indexes may take. It is logged (Q_XID), so that a replay gives the same numbers.
    pub first_id: u32,
    /// `default_storage_engine`.
    pub default_engine: TableEngine,
    /// The result columns of `CREATE TABLE … SELECT`.
    pub select_columns: Option<&'a [SelectedColumn]>,
    /// Where rows of temporary tables are; none at replay, as no such table is in the log.
    pub temporary: Option<&'a Arc<TemporarySpace>>,
}

/// What a definition statement is going to change.
#[derive(Debug, Default)]
pub struct DdlPlan {
    /// Changes of the catalog.
    pub changes: Vec<CatalogChange>,
    /// Indexes whose keys all go.
    pub dropped: Vec<IndexId>,
    /// A table whose data must be built anew, or that gets new indexes.
    pub build: Option<TableBuild>,
    /// An error that the statement ends with although it has changed something: DROP TABLE of tables some of which are
    /// not there.
    pub failure: Option<Error>,
    /// How the statement is to be logged.
    pub logged: LoggedStatement,
    /// Rows affected, as the answer tells it.
    pub affected_rows: u64,
    /// The first number behind those that the plan took.
    pub next_id: u32,
    /// The table that `CREATE TABLE … SELECT` is to fill; `None` if there is nothing to fill.
    pub fill: Option<TableName>,
    /// What becomes of the session's temporary tables: not logged, and not part of the rest.
    pub temporary: TemporaryPlan,
}

/// How a statement is logged.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub enum LoggedStatement {
    /// As it was written.
    #[default]
    AsWritten,
    /// In other words that mean the same to whoever replays it.
    Rewritten(String),
    /// Not at all: it changes nothing.
    Nothing,
}

impl DdlPlan {
    /// Writes the changes that need no build: records and range deletes.
    pub fn write(&self, writes: &mut WriteSet) {
        for index in &self.dropped {
            writes.delete_range(index.range());
        }
        write_changes(&self.changes, writes);
    }

    /// Whether nothing would change.
    pub fn is_empty(&self) -> bool {
        self.changes.is_empty()
            && self.dropped.is_empty()
            && self.build.is_none()
            && self.temporary.is_empty()
    }
}

/// Plans a statement. Changes nothing but the session's diagnostics.
///
/// # Errors
/// MariaDB's, for whatever the statement cannot do. Errors that depend on the data come when the plan's build is made.
pub fn plan_ddl(context: DdlContext<'_>, statement: &DdlStatement) -> Result<DdlPlan> {
    let mut planner = Planner::new(context);
    match statement {
        DdlStatement::CreateDatabase {
            or_replace,
            if_not_exists,
            name,
            options,
        } => {
            planner.create_database(*or_replace, *if_not_exists, name, options)?;
        }
        DdlStatement::AlterDatabase { name, options } => planner.alter_database(name.as_deref(), options)?,
        DdlStatement::DropDatabase { if_exists, name } => planner.drop_database(*if_exists, name)?,
        DdlStatement::CreateTable(create) => planner.create_table(create)?,
        DdlStatement::AlterTable(alter) => planner.alter_table(alter)?,
        DdlStatement::DropTables {
            temporary,
            if_exists,
            tables,
        } => {
            planner.drop_tables(*temporary, *if_exists, tables)?;
        }
        DdlStatement::TruncateTable(table) => planner.truncate_table(table)?,
        DdlStatement::RenameTables { if_exists, renames } => planner.rename_tables(*if_exists, renames)?,
        DdlStatement::CreateView(view) => planner.create_view(view)?,
        DdlStatement::DropViews { if_exists, views } => planner.drop_views(*if_exists, views)?,
        DdlStatement::DropOther {
            kind,
            if_exists,
            names,
        } => planner.drop_other(kind, *if_exists, names)?,
    }
    Ok(planner.finish())
}

/// A plan in the making.
pub(super) struct Planner<'a> {
    pub(super) session: &'a mut SessionContext,
    /// The catalog with the changes so far.
    pub(super) catalog: Catalog,
    pub(super) plan: DdlPlan,
    pub(super) default_engine: TableEngine,
    pub(super) select_columns: Option<&'a [SelectedColumn]>,
    first_id: u32,
    space: Option<&'a Arc<TemporarySpace>>,
    /// Whether indexes that are made now are those of a temporary table.
    making: CreationKind,
}

/// What kind of table a statement makes or changes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum CreationKind {
    Ordinary,
    Temporary,
}

impl<'a> Planner<'a> {
    fn new(context: DdlContext<'a>) -> Self {
        Self {
            session: context.session,
            catalog: context.catalog.clone(),
            plan: DdlPlan {
                next_id: context.first_id,
                ..DdlPlan::default()
            },
            default_engine: context.default_engine,
            select_columns: context.select_columns,
            first_id: context.first_id,
            space: context.temporary,
            making: CreationKind::Ordinary,
        }
    }

    fn finish(mut self) -> DdlPlan {
        let (emptied, dropped) = std::mem::take(&mut self.plan.dropped)
            .into_iter()
            .partition(|index: &IndexId| index.engine() == EngineKind::Temporary);
        self.plan.temporary.emptied = emptied;
        self.plan.dropped = dropped;
        let builds = self
            .plan
            .build
            .as_ref()
            .is_some_and(|build| !build.target.temporary);
        if builds && self.plan.next_id == self.first_id {
            // Where rows are only tested no index takes a number, but the build has the first one.
            self.plan.next_id += 1;
        }
        if self.plan.next_id > self.first_id {
            self.plan.changes.push(CatalogChange::NextId(self.plan.next_id));
        }
        self.plan
    }

    /// Makes a change, which later parts of the statement see.
    pub(super) fn change(&mut self, change: CatalogChange) -> Result<()> {
        if let CatalogChange::ForgetAutoIncrement { database, name } = &change
            && let Some(table) = self
                .catalog
                .table(database, name)
                .filter(|table| !table.is_temporary())
        {
            self.plan.dropped.push(counter_id(table.description()));
        }
        self.catalog = self
            .catalog
            .changed(std::slice::from_ref(&change), Version::ZERO)?;
        let temporary = match &change {
            CatalogChange::PutTable(description) => description.temporary,
            CatalogChange::DropTemporary { .. } => true,
            CatalogChange::ForgetAutoIncrement { .. } => self.making == CreationKind::Temporary,
            _ => false,
        };
        match temporary {
            true => self.plan.temporary.changes.push(change),
            false => self.plan.changes.push(change),
        }
        Ok(())
    }

    /// What follows makes or changes a temporary table, of which nothing is logged.
    ///
    /// # Errors
    /// 1235 where there can be none: at replay.
    pub(super) fn make_temporary(&mut self) -> Result<()> {
        if self.space.is_none() {
            return Err(Error::unsupported("TEMPORARY tables here"));
        }
        self.making = CreationKind::Temporary;
        self.plan.logged = LoggedStatement::Nothing;
        Ok(())
    }

    /// Whether a temporary table is made or changed.
    pub(super) fn makes_temporary(&self) -> bool {
        self.making == CreationKind::Temporary
    }

    /// A number for an index.
    ///
    /// # Errors
    /// 1114 if temporary tables have no room.
    pub(super) fn new_id(&mut self, engine: TableEngine) -> Result<u32> {
        if let (CreationKind::Temporary, Some(space)) = (self.making, self.space) {
            let index = space.new_index()?;
            let number = index.id().as_u32();
            self.plan.temporary.indexes.push(index);
            return Ok(number);
        }
        let number = self.plan.next_id;
        self.plan.next_id += 1;
        let engine = match engine {
            TableEngine::InnoDb => EngineKind::RocksDb,
            TableEngine::Memory => EngineKind::Memory,
        };
        Ok(IndexId::in_engine(number, engine).as_u32())
    }

    /// The name with its database.
    ///
    /// # Errors
    /// 1046 if none is named and none is current.
    pub(super) fn qualified(&self, name: &TableName) -> Result<(String, String)> {
        let database = name.database.clone().or_else(|| self.session.database.clone());
        let database = database.ok_or_else(|| Error::new(ER_NO_DB_ERROR, &[]))?;
        Ok((database, name.name.clone()))
    }

    /// A database that statements may change.
    ///
    /// # Errors
    /// 1044 for those made on demand, 1049 for one that is not there.
    pub(super) fn database(&self, name: &str) -> Result<&Arc<Database>> {
        self.refuse_virtual(name)?;
        self.catalog
            .database(name)
            .ok_or_else(|| Error::new(ER_BAD_DB_ERROR, &[&name]))
    }

    /// # Errors
    /// 1044.
    pub(super) fn refuse_virtual(&self, name: &str) -> Result<()> {
        if VIRTUAL_DATABASES
            .iter()
            .any(|known| known.eq_ignore_ascii_case(name))
        {
            let account = &self.session.current_user;
            return Err(Error::new(
                ER_DBACCESS_DENIED_ERROR,
                &[&account.user, &account.host, &name],
            ));
        }
        Ok(())
    }

    /// A table that is there.
    ///
    /// # Errors
    /// 1146, 1044, 1046; 1347 for a view; 1142 for a table that is part of the program.
    pub(super) fn table(&self, name: &TableName) -> Result<Arc<TableDefinition>> {
        let (database, name) = self.qualified(name)?;
        self.refuse_virtual(&database)?;
        self.refuse_view(&database, &name)?;
        let table = self.catalog.table(&database, &name).cloned();
        let table = table.ok_or_else(|| Error::new(ER_NO_SUCH_TABLE, &[&database, &name]))?;
        self.refuse_system(&table)?;
        Ok(table)
    }

    /// # Errors
    /// 1142.
    pub(super) fn refuse_system(&self, table: &TableDefinition) -> Result<()> {
        if table.database() == SYSTEM_DATABASE
            && !table.is_temporary()
            && table.version() == Version::ZERO
            && is_built_in(table.name())
        {
            let account = &self.session.current_user;
            return Err(Error::new(
                ER_TABLEACCESS_DENIED_ERROR,
                &[
                    &"ALTER",
                    &account.user,
                    &account.host,
                    &table.database(),
                    &table.name(),
                ],
            ));
        }
        Ok(())
    }

    /// A note, or an error: what `IF EXISTS` and its like turn the one into the other.
    pub(super) fn note_or_fail(&mut self, only_note: OnlyNote, error: Error) -> Result<()> {
        match only_note {
            OnlyNote::Yes => {
                self.session.diagnostics.note(error.code(), error.message());
                Ok(())
            }
            OnlyNote::No => Err(error),
        }
    }
}

/// Whether `IF EXISTS` or `IF NOT EXISTS` was said.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum OnlyNote {
    Yes,
    No,
}

impl From<bool> for OnlyNote {
    fn from(yes: bool) -> Self {
        if yes { OnlyNote::Yes } else { OnlyNote::No }
    }
}

/// Whether a table of `mysql` is part of the program.
fn is_built_in(name: &str) -> bool {
    crate::system::is_system_table(name)
}

/// The engine of a name; `None` for one that this server does not know.
pub fn engine(name: &str) -> Option<TableEngine> {
    const DISK: &[&str] = &["InnoDB", "RocksDB", "MyISAM", "Aria", "XtraDB"];
    const MEMORY: &[&str] = &["MEMORY", "HEAP"];
    let is = |known: &&str| known.eq_ignore_ascii_case(name);
    if DISK.iter().any(is) {
        Some(TableEngine::InnoDb)
    } else if MEMORY.iter().any(is) {
        Some(TableEngine::Memory)
    } else {
        None
    }
}
