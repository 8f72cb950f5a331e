//! Preparation of definition statements for commit, at run time and at replay.
//!
//! ```text
//!   run time   locks on ddl_objects() ─▶ prepare_ddl() ─▶ commit_ddl(Query event with xid, writes, builds)
//!                                                          └─ on_publish: CatalogHandle::publish(changes, version)
//!   replay     Query event ─▶ replay_ddl() ─▶ the same writes and builds, the same changes
//! ```

use paceline_binlog::event::{QueryEvent, StatusVar};
use paceline_storage::{BuildId, MarkState, Storage, StorageSnapshot, TemporaryWrites, WriteSet};
use paceline_types::{Collation, Locale, ServerId, TimeZone};

use super::foreign_key::new_keys;
use super::plan::{CommittedData, DdlContext, DdlPlan, plan_ddl};
use super::select::SelectedColumn;
use super::table_build::BuildSummary;
use super::view::names_read;
use crate::error::{Error, Result};
use crate::{Catalog, CatalogChange, CatalogHandle, TableEngine, TemporaryTables};
use paceline_expression::session::{Services, SessionContext, SqlMode, StatementOrigin, VirtualTables};
use paceline_syntax::definition::{AlterAction, CreateTableBody};
use paceline_syntax::{
    AccountStatement, DdlStatement, ParseOptions, RoutineType, SetItem, Statement, TableName, parse_first,
};
use std::collections::HashMap;
use std::sync::Arc;

/// Object to be locked for a definition statement.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub struct DdlObject {
    /// Database of the object.
    pub database: String,
    /// Table; `None` for the database itself.
    pub table: Option<String>,
    /// Reason for the lock.
    pub need: DdlNeed,
}

/// Reason for locking an object.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum DdlNeed {
    /// The statement defines it or depends on its definition: locked exclusively.
    Defined,
    /// Its definition is read, and must be the same when the statement is replayed from the log: no other
    /// session may change it until then.
    Read,
}

impl DdlObject {
    fn defined(database: impl Into<String>, table: Option<String>) -> Self {
        DdlObject {
            database: database.into(),
            table,
            need: DdlNeed::Defined,
        }
    }
}

/// Returns whether a statement concerns only temporary tables of the session. Then nothing is locked, and
/// nothing is logged.
///
/// # Errors
/// 1046.
pub fn is_temporary_ddl(statement: &DdlStatement, catalog: &Catalog, database: Option<&str>) -> Result<bool> {
    let is_temporary = |name: &TableName| -> Result<bool> {
        let database = name.database.as_deref().or(database);
        let database = database.ok_or_else(|| Error::new(paceline_types::error_code::ER_NO_DB_ERROR, &[]))?;
        Ok(catalog.temporary_table(database, &name.name).is_some())
    };
    let mut all = true;
    match statement {
        DdlStatement::CreateTable(create) => return Ok(create.temporary),
        DdlStatement::AlterTable(alter) => return is_temporary(&alter.table),
        DdlStatement::TruncateTable(table) => return is_temporary(table),
        DdlStatement::DropTables { temporary: true, .. }
        | DdlStatement::DropSequences { temporary: true, .. } => return Ok(true),
        DdlStatement::CreateSequence(create) => return Ok(create.temporary),
        DdlStatement::DropSequences { sequences, .. } => {
            for sequence in sequences {
                all &= is_temporary_sequence(sequence, catalog, database);
            }
        }
        DdlStatement::DropTables { tables, .. } => {
            for table in tables {
                all &= is_temporary(table)?;
            }
        }
        DdlStatement::RenameTables { renames, .. } => {
            all = temporary_renames(renames, catalog, database)?
                .into_iter()
                .all(|temporary| temporary);
        }
        _ => return Ok(false),
    }
    Ok(all)
}

/// Returns whether a name is that of a temporary sequence. A temporary table hides no sequence from DROP SEQUENCE.
fn is_temporary_sequence(name: &TableName, catalog: &Catalog, database: Option<&str>) -> bool {
    let database = name.database.as_deref().or(database).unwrap_or_default();
    let table = catalog.temporary_table(database, &name.name);
    table.is_some_and(|table| table.is_sequence())
}

/// Returns for each pair of a RENAME TABLE whether it renames a temporary table. The pairs are executed in
/// order: after a temporary table is renamed, it no longer hides the ordinary table of its old name.
///
/// # Errors
/// 1046.
pub fn temporary_renames(
    renames: &[(TableName, TableName)],
    catalog: &Catalog,
    database: Option<&str>,
) -> Result<Vec<bool>> {
    let qualified = |name: &TableName| -> Result<(String, String)> {
        let database = name.database.as_deref().or(database);
        let database = database.ok_or_else(|| Error::new(paceline_types::error_code::ER_NO_DB_ERROR, &[]))?;
        Ok((database.to_owned(), name.name.clone()))
    };
    // Names that earlier pairs have taken from a temporary table or given to one.
    let mut changed = HashMap::new();
    let mut temporary = Vec::with_capacity(renames.len());
    for (from, to) in renames {
        let (from, to) = (qualified(from)?, qualified(to)?);
        let is_temporary = match changed.get(&from) {
            Some(is_temporary) => *is_temporary,
            None => catalog.temporary_table(&from.0, &from.1).is_some(),
        };
        if is_temporary {
            changed.insert(from, false);
            changed.insert(to, true);
        }
        temporary.push(is_temporary);
    }
    Ok(temporary)
}

/// Returns the objects that a statement must lock exclusively before it is prepared. They are sorted, so that
/// statements cannot deadlock. Temporary tables need no lock, because no other session sees them.
///
/// # Errors
/// 1046.
pub fn ddl_objects(
    statement: &DdlStatement,
    catalog: &Catalog,
    database: Option<&str>,
) -> Result<Vec<DdlObject>> {
    let mut objects = Vec::new();
    let mut add = |name: &TableName| -> Result<()> {
        let database = name.database.as_deref().or(database);
        let database = database.ok_or_else(|| Error::new(paceline_types::error_code::ER_NO_DB_ERROR, &[]))?;
        objects.push(DdlObject::defined(database, Some(name.name.clone())));
        Ok(())
    };
    let is_ordinary = |name: &TableName| {
        let database = name.database.as_deref().or(database).unwrap_or_default();
        catalog.temporary_table(database, &name.name).is_none()
    };
    if is_temporary_ddl(statement, catalog, database)? {
        return Ok(objects);
    }
    match statement {
        DdlStatement::CreateDatabase { name, .. } | DdlStatement::DropDatabase { name, .. } => {
            if let Some(known) = catalog.database(name) {
                for table in known.tables() {
                    add(&TableName::qualified(name.clone(), table.name()))?;
                }
                for view in known.views() {
                    add(&TableName::qualified(name.clone(), view.name.as_str()))?;
                }
            }
            objects.push(DdlObject::defined(name.as_str(), None));
        }
        DdlStatement::AlterDatabase { name, .. } => {
            if let Some(name) = name.as_deref().or(database) {
                objects.push(DdlObject::defined(name, None));
            }
        }
        DdlStatement::CreateTable(create) => add(&create.name)?,
        DdlStatement::AlterTable(alter) => {
            add(&alter.table)?;
            let own = alter.table.database.clone();
            for action in &alter.actions {
                if let AlterAction::RenameTable(to) = action {
                    let to = TableName {
                        database: to.database.clone().or(own.clone()),
                        name: to.name.clone(),
                    };
                    add(&to)?;
                }
            }
        }
        DdlStatement::DropTables { tables, .. } => tables
            .iter()
            .filter(|table| is_ordinary(table))
            .try_for_each(&mut add)?,
        DdlStatement::TruncateTable(table) => add(table)?,
        DdlStatement::RenameTables { renames, .. } => {
            let temporary = temporary_renames(renames, catalog, database)?;
            for ((from, to), _) in renames.iter().zip(temporary).filter(|(_, temporary)| !temporary) {
                add(from)?;
                add(to)?;
            }
        }
        DdlStatement::CreateSequence(create) => add(&create.name)?,
        DdlStatement::AlterSequence(alter) => add(&alter.name)?,
        DdlStatement::DropSequences { sequences, .. } => sequences
            .iter()
            .filter(|sequence| !is_temporary_sequence(sequence, catalog, database))
            .try_for_each(&mut add)?,
        DdlStatement::CreateView(view) => add(&view.name)?,
        DdlStatement::DropViews { views, .. } => views.iter().try_for_each(&mut add)?,
        DdlStatement::CreateTrigger(trigger) => add(&trigger.table)?,
        DdlStatement::DropTrigger { name, .. } => {
            let database = name.database.as_deref().or(database).unwrap_or_default();
            if let Some(trigger) = catalog.trigger(database, &name.name) {
                add(&TableName::qualified(database, trigger.table.as_str()))?;
            }
        }
        DdlStatement::CreateRoutine(_)
        | DdlStatement::CreateLoadableFunction(_)
        | DdlStatement::AlterRoutine { .. }
        | DdlStatement::DropRoutine { .. }
        | DdlStatement::CreateEvent(_)
        | DdlStatement::AlterEvent(_)
        | DdlStatement::DropEvent { .. }
        | DdlStatement::DropServer { .. } => {}
    }
    objects.sort();
    objects.dedup();
    Ok(objects)
}

/// Returns the tables that a definition affects through foreign keys. Tables that a new key refers to: later
/// changes of them must respect the key. Tables whose keys refer to a table that is created, altered or
/// renamed: their keys are checked, and change with the name. They are locked like `objects`, which the
/// statement names.
pub fn related_ddl_objects(
    statement: &DdlStatement,
    objects: &[DdlObject],
    catalog: &Catalog,
    database: Option<&str>,
) -> Vec<DdlObject> {
    if !matches!(
        statement,
        DdlStatement::CreateTable(_) | DdlStatement::AlterTable(_) | DdlStatement::RenameTables { .. }
    ) {
        return Vec::new();
    }
    let mut related: Vec<DdlObject> = referenced_tables(statement, database)
        .into_iter()
        .map(|(database, table)| DdlObject::defined(database, Some(table)))
        .collect();
    for object in objects {
        let Some(table) = &object.table else { continue };
        for (database, table) in catalog
            .referrers(&object.database, table)
            .into_iter()
            .flat_map(|tables| tables.iter())
        {
            related.push(DdlObject::defined(&**database, Some(table.to_string())));
        }
    }
    related
}

/// Returns database and name of the tables that a definition's new foreign keys refer to.
pub fn referenced_tables(statement: &DdlStatement, database: Option<&str>) -> Vec<(String, String)> {
    let own = match statement {
        DdlStatement::CreateTable(create) => &create.name,
        DdlStatement::AlterTable(alter) => &alter.table,
        _ => return Vec::new(),
    };
    let own = own.database.as_deref().or(database);
    let tables = new_keys(statement).into_iter().filter_map(|key| {
        let database = key.table.database.as_deref().or(own)?;
        Some((database.to_owned(), key.table.name.clone()))
    });
    tables.collect()
}

/// Returns the tables and views whose definitions a statement reads: the source of CREATE TABLE … LIKE, and
/// the tables of a view. The logged text contains only their names.
pub fn read_ddl_objects(
    statement: &DdlStatement,
    catalog: &Catalog,
    database: Option<&str>,
) -> Vec<DdlObject> {
    let programs = program_names(statement, database);
    if !programs.is_empty() {
        let in_databases = programs
            .into_iter()
            .filter(|program| !program.database.is_empty());
        let databases = in_databases.map(|program| DdlObject {
            database: program.database,
            table: None,
            need: DdlNeed::Read,
        });
        return databases.collect();
    }
    let names = match statement {
        DdlStatement::CreateTable(create) => match &create.body {
            CreateTableBody::Like(source) => vec![source.clone()],
            CreateTableBody::Definition { .. } => Vec::new(),
        },
        DdlStatement::CreateView(view) => names_read(&view.query.query, catalog, database),
        _ => Vec::new(),
    };
    let objects = names.into_iter().filter_map(|name| {
        let database = name.database.or_else(|| database.map(str::to_owned))?;
        let is_temporary = catalog.temporary_table(&database, &name.name).is_some();
        (!is_temporary).then_some(DdlObject {
            database,
            table: Some(name.name),
            need: DdlNeed::Read,
        })
    });
    objects.collect()
}

/// Name of a routine or an event that a statement creates, alters or drops: locked exclusively.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
#[allow(missing_docs)] // A field whose name says all needs no comment.
pub struct ProgramName {
    /// Empty for a loadable function.
    pub database: String,
    /// In lower case.
    pub name: String,
    pub kind: ProgramNameKind,
}

/// Kind of a [`ProgramName`].
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
#[allow(missing_docs)] // A variant whose name says all needs no comment.
pub enum ProgramNameKind {
    Routine,
    Event,
}

/// Returns the names of routines and events that a statement creates, alters or drops, sorted.
pub fn program_names(statement: &DdlStatement, database: Option<&str>) -> Vec<ProgramName> {
    let (names, kind) = match statement {
        DdlStatement::CreateRoutine(routine) => (vec![&routine.name], ProgramNameKind::Routine),
        DdlStatement::AlterRoutine { name, .. } | DdlStatement::DropRoutine { name, .. } => {
            (vec![name], ProgramNameKind::Routine)
        }
        DdlStatement::CreateLoadableFunction(create) => return vec![loadable_name(&create.name)],
        DdlStatement::CreateEvent(event) => (vec![&event.name], ProgramNameKind::Event),
        DdlStatement::AlterEvent(event) => {
            let new_name = event.new_name.as_ref();
            (
                std::iter::once(&event.name).chain(new_name).collect(),
                ProgramNameKind::Event,
            )
        }
        DdlStatement::DropEvent { name, .. } => (vec![name], ProgramNameKind::Event),
        _ => return Vec::new(),
    };
    let qualified = names.into_iter().filter_map(|name| {
        Some(ProgramName {
            database: name.database.as_deref().or(database)?.to_owned(),
            name: name.name.to_lowercase(),
            kind,
        })
    });
    let mut programs: Vec<ProgramName> = qualified.collect();
    // Without a database it may be the name of a loadable function.
    if let DdlStatement::DropRoutine {
        kind: RoutineType::Function,
        name: TableName { database: None, name },
        ..
    } = statement
    {
        programs.push(loadable_name(name));
    }
    programs.sort();
    programs.dedup();
    programs
}

fn loadable_name(name: &str) -> ProgramName {
    ProgramName {
        database: String::new(),
        name: name.to_lowercase(),
        kind: ProgramNameKind::Routine,
    }
}

/// Inputs for preparing a statement, besides the session.
#[derive(Clone, Copy)]
pub struct DdlInput<'a> {
    /// Handle on the catalog; planning takes index numbers from it.
    pub catalog: &'a CatalogHandle,
    /// Engines, for builds.
    pub storage: &'a Storage,
    /// Snapshot of all committed data, taken after the locks.
    pub snapshot: &'a StorageSnapshot,
    /// Marks of large transactions, read after the locks.
    pub marks: &'a MarkState,
    /// `default_storage_engine`.
    pub default_engine: TableEngine,
    /// Result columns of `CREATE TABLE … SELECT`.
    pub select_columns: Option<&'a [SelectedColumn]>,
    /// Temporary tables of the session; `None` at replay.
    pub temporary: Option<&'a TemporaryTables>,
}

/// A statement that is ready to be logged.
pub struct PreparedDdl {
    /// The plan. Even if [`DdlPlan::is_empty`], the statement is logged, as in MariaDB, unless `logged` says
    /// otherwise.
    pub plan: DdlPlan,
    /// Records and range deletes.
    pub writes: WriteSet,
    /// Finished builds.
    pub builds: Vec<BuildId>,
    /// Id for the Query event (Q_XID): [`DdlContext::first_id`], and the id of the build. `None` if the plan
    /// took no numbers.
    pub xid: Option<u64>,
    /// Summary of the rows read by the build; `None` if nothing was built.
    pub built: Option<BuildSummary>,
    /// Rebuilt rows of temporary tables, to be applied with [`DdlPlan::temporary`].
    pub temporary_writes: Option<TemporaryWrites>,
}

impl PreparedDdl {
    /// Returns the changes for [`CatalogHandle::publish`].
    pub fn changes(&self) -> &[CatalogChange] {
        &self.plan.changes
    }

    /// Adds changes of accounts that follow from the definition.
    pub fn also_change(&mut self, changes: Vec<CatalogChange>) {
        crate::write_changes(&changes, &mut self.writes);
        self.plan.changes.extend(changes);
    }
}

/// Plans a statement and does its build. The caller holds the locks on [`ddl_objects`] and
/// [`foreign_key_names`](super::foreign_key_names) until the statement is published.
///
/// # Errors
/// MariaDB's error if the statement is not possible.
pub fn prepare_ddl(
    input: DdlInput<'_>,
    session: &mut SessionContext,
    statement: &DdlStatement,
) -> Result<PreparedDdl> {
    let planning = input.catalog.plan();
    let first_id = planning.next_id();
    let plan = plan_with(&input, session, statement, first_id)?;
    planning.take_until(plan.next_id);
    finish(input, session, plan, first_id, &[])
}

fn plan_with(
    input: &DdlInput<'_>,
    session: &mut SessionContext,
    statement: &DdlStatement,
    first_id: u32,
) -> Result<DdlPlan> {
    let catalog = match input.temporary {
        Some(tables) => tables.over(input.catalog.load()),
        None => input.catalog.load(),
    };
    let context = DdlContext {
        catalog: &catalog,
        session,
        first_id,
        default_engine: input.default_engine,
        select_columns: input.select_columns,
        data: Some(CommittedData {
            snapshot: input.snapshot,
            marks: input.marks,
        }),
        temporary: input.temporary.map(TemporaryTables::space),
    };
    plan_ddl(context, statement)
}

/// Does the plan's build. `finished` are builds that were finished before the crash that a replay recovers
/// from.
fn finish(
    input: DdlInput<'_>,
    session: &mut SessionContext,
    plan: DdlPlan,
    first_id: u32,
    finished: &[BuildId],
) -> Result<PreparedDdl> {
    let mut writes = WriteSet::new();
    plan.write(&mut writes);
    let mut builds = Vec::new();
    let mut built = None;
    let xid = (plan.next_id > first_id).then_some(u64::from(first_id));
    let mut temporary_writes = None;
    let id = BuildId(u64::from(first_id));
    if let Some(build) = plan.build.as_ref().filter(|build| build.target.temporary) {
        let mut rows = input.storage.temporary().writes();
        built = Some(build.run(id, input.snapshot, input.storage, session, rows.set_mut())?);
        rows.charge().map_err(|_| {
            Error::new(
                paceline_types::error_code::ER_RECORD_FILE_FULL,
                &[&build.target.name],
            )
        })?;
        temporary_writes = Some(rows);
    } else if let Some(build) = &plan.build {
        assert!(
            plan.next_id > first_id,
            "the number of a build is taken by its plan"
        );
        if finished.contains(&id) {
            builds.push(id);
        } else {
            let summary = build.run(id, input.snapshot, input.storage, session, &mut writes)?;
            builds.extend(summary.build);
            built = Some(summary);
        }
    }
    if let Some(row) = plan.sequence_row.as_ref().filter(|row| row.temporary) {
        let mut rows = input.storage.temporary().writes();
        rows.set_mut().put(&row.key, &row.image);
        temporary_writes = Some(rows);
    }
    Ok(PreparedDdl {
        plan,
        writes,
        builds,
        xid,
        built,
        temporary_writes,
    })
}

/// Services of the server that replay needs: virtual tables, and statements about accounts.
pub trait ReplayHost {
    /// Returns the virtual tables, which a view may read.
    fn virtual_tables(&self) -> Option<Arc<dyn VirtualTables>> {
        None
    }

    /// Returns the number of this server; `None` if all statements of the log are its own.
    fn server_id(&self) -> Option<ServerId> {
        None
    }

    /// Returns what the removal of routines changes of accounts: privileges on a dropped routine end with it.
    fn accounts_without(&self, dropped: &[CatalogChange], catalog: &Catalog) -> Vec<CatalogChange> {
        let _ = (dropped, catalog);
        Vec::new()
    }

    /// Returns the catalog changes of a statement about accounts.
    ///
    /// # Errors
    /// If the statement is not possible with these accounts.
    fn replay_accounts(
        &self,
        statement: &AccountStatement,
        catalog: &Catalog,
        session: &SessionContext,
    ) -> Result<Vec<CatalogChange>>;
}

/// A statement of the log, prepared again.
pub struct ReplayedDdl {
    /// Records and range deletes.
    pub writes: WriteSet,
    /// Builds that become visible with the statement.
    pub builds: Vec<BuildId>,
    /// Changes for [`CatalogHandle::publish`], with the statement's version.
    pub changes: Vec<CatalogChange>,
}

/// Plans a statement of the log again, with the tables as they were at its position. If its build was made in
/// this data directory, it exists; otherwise it is made now. `logged_by` is the server of its GTID.
///
/// # Errors
/// If the statement is not possible: it was logged with other tables. 1235 for a statement that is not a
/// definition.
pub fn replay_ddl(
    catalog: &CatalogHandle,
    storage: &Storage,
    marks: &MarkState,
    query: &QueryEvent<'_>,
    timestamp_seconds: u32,
    logged_by: ServerId,
    host: &dyn ReplayHost,
) -> Result<ReplayedDdl> {
    let mut session = session_of_event(query, timestamp_seconds);
    session.statement.origin = match host.server_id() {
        Some(own) if own != logged_by => StatementOrigin::Primary(logged_by),
        _ => StatementOrigin::Here(logged_by),
    };
    if let Some(tables) = host.virtual_tables() {
        session.services.virtual_tables = tables;
    }
    let options = ParseOptions {
        sql_mode: session.settings.sql_mode,
        ..ParseOptions::of_stored()
    };
    let parsed = parse_first(&query.sql, &options)?;
    match logged_statement(parsed.statement) {
        Statement::Ddl(statement) => {
            let first_id = query.status_vars.iter().find_map(|var| match var {
                StatusVar::Xid(id) => u32::try_from(*id).ok(),
                _ => None,
            });
            let planning = catalog.plan();
            let first_id = first_id.unwrap_or_else(|| planning.next_id());
            let snapshot = storage.snapshot();
            let input = DdlInput {
                catalog,
                storage,
                snapshot: &snapshot,
                marks,
                default_engine: TableEngine::InnoDb,
                select_columns: None,
                temporary: None,
            };
            let plan = plan_with(&input, &mut session, &statement, first_id)?;
            planning.take_until(plan.next_id);
            let finished = match plan.build {
                Some(_) => storage.builds()?,
                None => Vec::new(),
            };
            let mut prepared = finish(input, &mut session, plan, first_id, &finished)?;
            if matches!(statement, DdlStatement::DropRoutine { .. }) {
                let changes = host.accounts_without(prepared.changes(), &catalog.load());
                prepared.also_change(changes);
            }
            Ok(ReplayedDdl {
                writes: prepared.writes,
                builds: prepared.builds,
                changes: prepared.plan.changes,
            })
        }
        Statement::Account(statement) => {
            let changes = host.replay_accounts(&statement, &catalog.load(), &session)?;
            let mut writes = WriteSet::new();
            crate::write_changes(&changes, &mut writes);
            Ok(ReplayedDdl {
                writes,
                builds: Vec::new(),
                changes,
            })
        }
        // These are logged only to be executed on replicas.
        Statement::TableMaintenance { .. } | Statement::Flush { .. } => Ok(ReplayedDdl {
            writes: WriteSet::new(),
            builds: Vec::new(),
            changes: Vec::new(),
        }),
        _ => Err(Error::unsupported("this statement in the log")),
    }
}

/// Returns the statement to replay for a logged text: the effects of SET STATEMENT are in the event already,
/// and SET PASSWORD and SET DEFAULT ROLE are statements about accounts.
fn logged_statement(statement: Statement) -> Statement {
    match statement {
        Statement::SetStatement { statement, .. } => logged_statement(*statement),
        Statement::Set(items) => match <[SetItem; 1]>::try_from(items) {
            Ok([SetItem::Password { account, password }]) => {
                Statement::Account(AccountStatement::SetPassword { account, password })
            }
            Ok([SetItem::DefaultRole { role, account }]) => {
                Statement::Account(AccountStatement::SetDefaultRole { role, account })
            }
            Ok([item]) => Statement::Set(vec![item]),
            Err(items) => Statement::Set(items),
        },
        other => other,
    }
}

/// Session settings in a Query event's flags: MariaDB's bits OPTION_….
pub mod session_flags {
    /// OPTION_AUTO_IS_NULL.
    pub const AUTO_IS_NULL: u32 = 1 << 14;
    /// OPTION_NO_CHECK_CONSTRAINT_CHECKS.
    pub const NO_CHECK_CONSTRAINT_CHECKS: u32 = 1 << 15;
    /// OPTION_EXPLICIT_DEF_TIMESTAMP.
    pub const EXPLICIT_DEFAULTS_FOR_TIMESTAMP: u32 = 1 << 24;
    /// OPTION_NO_FOREIGN_KEY_CHECKS.
    pub const NO_FOREIGN_KEY_CHECKS: u32 = 1 << 26;
    /// OPTION_RELAXED_UNIQUE_CHECKS.
    pub const RELAXED_UNIQUE_CHECKS: u32 = 1 << 27;
}

/// Creates a session with the settings of a Query event.
pub fn session_of_event(query: &QueryEvent<'_>, timestamp_seconds: u32) -> SessionContext {
    let mut session = SessionContext::new(u64::from(query.connection_id), Services::default());
    let settings = &mut session.settings;
    let mut fraction = 0;
    for var in &query.status_vars {
        match var {
            StatusVar::Flags2(flags) => {
                let has = |flag: u32| flags & flag != 0;
                settings.auto_is_null = has(session_flags::AUTO_IS_NULL);
                settings.check_constraint_checks = !has(session_flags::NO_CHECK_CONSTRAINT_CHECKS);
                settings.explicit_defaults_for_timestamp =
                    has(session_flags::EXPLICIT_DEFAULTS_FOR_TIMESTAMP);
                settings.foreign_key_checks = !has(session_flags::NO_FOREIGN_KEY_CHECKS);
                settings.unique_checks = !has(session_flags::RELAXED_UNIQUE_CHECKS);
            }
            StatusVar::HrNow(micros) | StatusVar::Microseconds(micros) => fraction = *micros,
            StatusVar::SqlMode(bits) => settings.sql_mode = SqlMode::from_bits(*bits),
            StatusVar::Charset {
                client,
                connection,
                server,
            } => {
                if let Some(collation) = Collation::from_id(*client) {
                    settings.character_set_client = collation.charset();
                }
                if let Some(collation) = Collation::from_id(*connection) {
                    settings.collation_connection = collation;
                }
                if let Some(collation) = Collation::from_id(*server) {
                    settings.collation_server = collation;
                }
            }
            StatusVar::CharsetDatabase(id) => {
                if let Some(collation) = Collation::from_id(*id) {
                    settings.collation_database = collation;
                }
            }
            StatusVar::AutoIncrement { increment, offset } => {
                settings.auto_increment_increment = u64::from(*increment);
                settings.auto_increment_offset = u64::from(*offset);
            }
            StatusVar::LcTimeNames(number) => {
                if let Some(locale) = Locale::from_number(*number) {
                    settings.time_locale = locale;
                }
            }
            StatusVar::TimeZone(name) => {
                let name = std::str::from_utf8(name).unwrap_or("SYSTEM");
                if let Ok(zone) = TimeZone::parse(name) {
                    settings.time_zone = zone;
                }
            }
            StatusVar::Invoker { user, host } => {
                session.current_user.user = String::from_utf8_lossy(user).into_owned();
                session.current_user.host = String::from_utf8_lossy(host).into_owned();
            }
            _ => {}
        }
    }
    settings.timestamp_override = Some(i64::from(timestamp_seconds) * 1_000_000 + i64::from(fraction));
    if !query.database.is_empty() {
        session.database = Some(String::from_utf8_lossy(query.database).into_owned());
    }
    session.begin_statement(paceline_expression::session::KeepDiagnostics::No);
    session
}
