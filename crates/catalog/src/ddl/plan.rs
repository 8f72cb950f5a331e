//! The plan of a definition statement: the changes that it makes.

use std::sync::Arc;

use paceline_storage::{EngineKind, IndexId, MarkState, StorageSnapshot, TemporarySpace, WriteSet};
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

/// Inputs of planning, and the session that receives notes.
///
/// At replay the session is created from the log's event (`sql_mode`, character sets, time zone, current
/// database, timestamp), so the same statement has the same plan.
pub struct DdlContext<'a> {
    /// Current catalog.
    pub catalog: &'a Catalog,
    /// Session: its settings are read, and notes and warnings are added to it.
    pub session: &'a mut SessionContext,
    /// First number for new indexes. It is logged (Q_XID), so that a replay assigns the same numbers.
    pub first_id: u32,
    /// `default_storage_engine`.
    pub default_engine: TableEngine,
    /// Result columns of `CREATE TABLE … SELECT`.
    pub select_columns: Option<&'a [SelectedColumn]>,
    /// The data; `None` if all tables are empty.
    pub data: Option<CommittedData<'a>>,
    /// Storage of temporary tables' rows; `None` at replay, because the log contains no such tables.
    pub temporary: Option<&'a Arc<TemporarySpace>>,
}

/// Data that a statement is planned with.
#[derive(Clone, Copy, Debug)]
pub struct CommittedData<'a> {
    /// Everything that is committed.
    pub snapshot: &'a StorageSnapshot,
    /// Marks of large transactions, read after the locks.
    pub marks: &'a MarkState,
}

/// Changes that a definition statement makes.
#[derive(Debug, Default)]
pub struct DdlPlan {
    /// Changes of the catalog.
    pub changes: Vec<CatalogChange>,
    /// Indexes whose entries are all deleted.
    pub dropped: Vec<IndexId>,
    /// Table whose data must be rebuilt, or that gets new indexes.
    pub build: Option<TableBuild>,
    /// Error that the statement ends with although it has changed something: DROP TABLE of several tables of
    /// which some do not exist.
    pub failure: Option<Error>,
    /// Form in which the statement is logged.
    pub logged: LoggedStatement,
    /// Whether existing rows have got values of new columns without being written.
    pub fills_columns: bool,
    /// Number of affected rows in the answer.
    pub affected_rows: u64,
    /// First number after those that the plan has taken.
    pub next_id: u32,
    /// Table for `CREATE TABLE … SELECT` to fill; `None` if there is nothing to fill.
    pub fill: Option<TableName>,
    /// New row of a sequence.
    pub sequence_row: Option<SequenceRowWrite>,
    /// Changes of the session's temporary tables, which are not logged.
    pub temporary: TemporaryPlan,
}

/// New row of a sequence.
#[derive(Debug)]
pub struct SequenceRowWrite {
    /// Key of the row.
    pub key: Vec<u8>,
    /// Image of the row.
    pub image: Vec<u8>,
    /// Whether the sequence is temporary: its row is not logged.
    pub temporary: bool,
}

/// Form in which a statement is logged.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub enum LoggedStatement {
    /// As written.
    #[default]
    AsWritten,
    /// As an equivalent statement that can be replayed.
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
        if let Some(row) = self.sequence_row.as_ref().filter(|row| !row.temporary) {
            writes.put(&row.key, &row.image);
        }
    }

    /// Returns whether the plan changes nothing.
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
/// MariaDB's error if the statement is not possible. Errors that depend on the data are found by the plan's
/// build.
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
        DdlStatement::CreateSequence(create) => planner.create_sequence(create)?,
        DdlStatement::AlterSequence(alter) => planner.alter_sequence(alter)?,
        DdlStatement::DropSequences {
            temporary,
            if_exists,
            sequences,
        } => planner.drop_sequences(*temporary, *if_exists, sequences)?,
        DdlStatement::CreateView(view) => planner.create_view(view)?,
        DdlStatement::DropViews { if_exists, views } => planner.drop_views(*if_exists, views)?,
        DdlStatement::CreateRoutine(routine) => planner.create_routine(routine)?,
        DdlStatement::CreateLoadableFunction(create) => planner.create_loadable_function(create)?,
        DdlStatement::AlterRoutine {
            kind,
            name,
            characteristics,
        } => planner.alter_routine(*kind, name, characteristics)?,
        DdlStatement::DropRoutine {
            kind,
            if_exists,
            name,
        } => {
            planner.drop_routine(*kind, *if_exists, name)?;
        }
        DdlStatement::CreateTrigger(trigger) => planner.create_trigger(trigger)?,
        DdlStatement::DropTrigger { if_exists, name } => planner.drop_trigger(*if_exists, name)?,
        DdlStatement::CreateEvent(event) => planner.create_event(event)?,
        DdlStatement::AlterEvent(event) => planner.alter_event(event)?,
        DdlStatement::DropEvent { if_exists, name } => planner.drop_event(*if_exists, name)?,
        DdlStatement::DropServer { if_exists, name } => planner.drop_server(*if_exists, name)?,
    }
    Ok(planner.finish())
}

/// State of planning.
pub(super) struct Planner<'a> {
    pub(super) session: &'a mut SessionContext,
    /// The catalog with the changes made so far.
    pub(super) catalog: Catalog,
    pub(super) plan: DdlPlan,
    pub(super) default_engine: TableEngine,
    pub(super) select_columns: Option<&'a [SelectedColumn]>,
    pub(super) data: Option<CommittedData<'a>>,
    first_id: u32,
    space: Option<&'a Arc<TemporarySpace>>,
    /// Whether the indexes being created belong to a temporary table.
    making: CreationKind,
}

/// Kind of table that a statement creates or changes.
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
            data: context.data,
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
            // A build that only tests rows assigns no numbers to indexes, but the build itself has the first
            // one.
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

    /// Switches to creating or changing a temporary table, which is not logged.
    ///
    /// # Errors
    /// 1235 at replay, where there are no temporary tables.
    pub(super) fn make_temporary(&mut self) -> Result<()> {
        if self.space.is_none() {
            return Err(Error::unsupported("TEMPORARY tables here"));
        }
        self.making = CreationKind::Temporary;
        self.plan.logged = LoggedStatement::Nothing;
        Ok(())
    }

    /// Returns whether a temporary table is being created or changed.
    pub(super) fn makes_temporary(&self) -> bool {
        self.making == CreationKind::Temporary
    }

    /// Returns a number for a new index.
    ///
    /// # Errors
    /// 1114 if the space for temporary tables is full; 1235 if the engine has no more numbers.
    pub(super) fn new_id(&mut self, engine: TableEngine) -> Result<u32> {
        if let (CreationKind::Temporary, Some(space)) = (self.making, self.space) {
            // Their rows are written by other ways, which would keep them.
            if !engine.kind().stores_rows() {
                let what = format!("temporary tables of {}", engine.name());
                return Err(Error::unsupported(what));
            }
            let index = space.new_index()?;
            let number = index.id().as_u32();
            self.plan.temporary.indexes.push(index);
            return Ok(number);
        }
        let number = self.plan.next_id;
        self.plan.next_id += 1;
        if number > engine.kind().number_max() {
            let what = format!("more indexes in tables of {}", engine.name());
            return Err(Error::unsupported(what));
        }
        Ok(IndexId::in_engine(number, engine.kind()).as_u32())
    }

    /// Returns a table's database and name.
    ///
    /// # Errors
    /// 1046 if neither the name nor the session has a database.
    pub(super) fn qualified(&self, name: &TableName) -> Result<(String, String)> {
        let database = name.database.clone().or_else(|| self.session.database.clone());
        let database = database.ok_or_else(|| Error::new(ER_NO_DB_ERROR, &[]))?;
        Ok((database, name.name.clone()))
    }

    /// Returns a database that statements can change.
    ///
    /// # Errors
    /// 1044 for virtual databases, 1049 if it does not exist.
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

    /// Returns an existing table.
    ///
    /// # Errors
    /// 1146, 1044, 1046; 1347 for a view; 1142 for a built-in table.
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

    /// Adds a note, or returns the error. IF EXISTS and IF NOT EXISTS turn the error into a note.
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

/// Whether the statement has `IF EXISTS` or `IF NOT EXISTS`.
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

/// Returns whether a table of `mysql` is built in.
fn is_built_in(name: &str) -> bool {
    crate::system::is_system_table(name)
}

/// Returns the engine with this name; `None` if this server does not have it.
pub fn engine(name: &str) -> Option<TableEngine> {
    const DISK: &[&str] = &["RocksDB", "MyISAM", "Aria", "XtraDB"];
    let is = |known: &&str| known.eq_ignore_ascii_case(name);
    if DISK.iter().any(is) {
        Some(TableEngine::InnoDb)
    } else if is(&"HEAP") {
        Some(TableEngine::Memory)
    } else {
        TableEngine::of_name(name)
    }
}
