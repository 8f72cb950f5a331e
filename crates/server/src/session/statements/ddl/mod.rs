//! DDL: planned by the crate `catalog`, committed through the log by `txn`.
//!
//! ```text
//!   implicit commit ─▶ exclusive metadata locks ─▶ plan (and build aside) ─▶ Query event with the build's id ─▶ published: catalog replaced
//! ```
//! DDL on temporary tables is planned in the same way, but stays within the session: [`crate::session::temporary`].
//!
//! [`locks`]: the metadata locks; [`commit`]: the Query event; [`create_select`]: CREATE TABLE … SELECT;
//! [`module`]: modules of functions.

mod commit;
mod create_select;
mod locks;
mod module;

use super::account::wait_for_others_changes;
use crate::accounts::checks::{DefinitionCatalogs, check_definition, check_view_definer, check_view_query};
use crate::accounts::records::{WrittenRecords, records_without_routines};
use crate::loadable_functions::check_enabled;
use crate::names::qualified;
use crate::performance_schema::Truncation;
use crate::session::execution::Execution;
use crate::session::protocol::Reply;
use crate::session::state::SessionState;
use crate::variables::Variable;
use crate::{mysql_columns, performance_schema};
use commit::{commit_ddl, commit_unfilled, primarys_gtid};
use create_select::{
    check_select_source, drop_unfilled, fill_table, fill_temporary_table, plan_create_select,
};
use locks::{lock_names, lock_objects, objects_to_lock};
use module::{check_module, read_module};
use paceline_catalog::LoadableFunction;
use paceline_catalog::ddl::{
    DdlInput, LoggedStatement as Logged, alter_info, check_loadable_function, ddl_objects, definer_account,
    is_temporary_ddl, prepare_ddl,
};
use paceline_expression::session::StatementOrigin;
use paceline_syntax::definition::{CreateLoadableFunction, CreateView};
use paceline_syntax::{AccountName, DdlStatement, Error, Result, Statement, TableName, UserName};
use paceline_types::ServerId;
use paceline_types::error_code::*;
use paceline_wire::session_state::StateChange;

/// Executes a DDL statement.
///
/// # Errors
/// The errors of the privilege checks, the locks, the plan and the commit.
pub async fn execute(
    ddl: &DdlStatement,
    state: &mut SessionState,
    execution: Execution<'_>,
) -> Result<Reply> {
    let with_module;
    let ddl = match read_module(ddl, state)? {
        Some(read) => {
            with_module = read;
            &with_module
        }
        None => ddl,
    };
    let ends_transaction = !matches!(ddl, DdlStatement::CreateTable(create) if create.temporary)
        && !matches!(ddl, DdlStatement::CreateSequence(create) if create.temporary)
        && !matches!(
            ddl,
            DdlStatement::DropTables { temporary: true, .. }
                | DdlStatement::DropSequences { temporary: true, .. }
        );
    let is_temporary = is_temporary_ddl(ddl, &state.catalog(), state.context.database.as_deref())?;
    if !is_temporary || matches!(ddl, DdlStatement::RenameTables { .. }) {
        state.check_writable()?;
    }
    if ends_transaction {
        // Also if the statement then fails. It belongs to the next transaction, whose access mode decides whether it is
        // allowed.
        state.commit().await?;
    }
    let catalog = state.catalog();
    check_definition(
        state.services.authority(&state.context),
        ddl,
        &DefinitionCatalogs {
            temporary: state.temporary.catalog(),
            visible: &catalog,
        },
    )?;
    if let DdlStatement::TruncateTable(table) = ddl
        && forget_statistics(table, state)?
    {
        return Ok(Reply::ok());
    }
    if state.is_read_only_transaction() {
        return Err(Error::new(ER_CANT_EXECUTE_IN_READ_ONLY_TRANSACTION, &[]));
    }
    if state.table_locks.is_globally_locked() && !is_temporary {
        return Err(Error::new(ER_CANT_UPDATE_WITH_READLOCK, &[]));
    }
    if let DdlStatement::CreateTable(create) = ddl {
        check_select_source(create, state)?;
    }
    let is_refused_under_locks = matches!(
        ddl,
        DdlStatement::RenameTables { .. }
            | DdlStatement::CreateView(_)
            | DdlStatement::DropViews { .. }
            | DdlStatement::CreateEvent(_)
            | DdlStatement::AlterEvent(_)
            | DdlStatement::DropEvent { .. }
    );
    if state.table_locks.has_tables() && is_refused_under_locks {
        return Err(Error::new(ER_LOCK_OR_ACTIVE_TRANSACTION, &[]));
    }
    let database = state.context.database.as_deref();
    // The new name of an altered table need not be locked.
    let altered = match ddl {
        DdlStatement::AlterTable(alter) => Some(qualified(&alter.table, database)?),
        _ => None,
    };
    for object in ddl_objects(ddl, &catalog, database)? {
        let is_new_name = altered.as_ref().is_some_and(|(database, table)| {
            (database, Some(table)) != (&object.database, object.table.as_ref())
        });
        if !is_new_name {
            state.table_locks.check_definition(&object)?;
        }
    }
    // The privileges on a routine end with it. Statements about accounts wait for metadata locks within this lock.
    let server = state.server.clone();
    let _changing_accounts = match ddl {
        DdlStatement::DropRoutine { .. } => Some(wait_for_others_changes(&server, &state.services).await?),
        _ => None,
    };
    let mut objects = objects_to_lock(ddl, state)?;
    let _guards = loop {
        let guards = match is_temporary {
            true => Vec::new(),
            false => lock_objects(&objects, state)?,
        };
        // Another table may have got a foreign key to one of them during the wait for the locks.
        let now = objects_to_lock(ddl, state)?;
        if now.iter().all(|object| objects.contains(object)) {
            break guards;
        }
        drop(guards);
        objects = now;
    };
    match ddl {
        DdlStatement::CreateView(view) => check_view(view, state)?,
        DdlStatement::CreateLoadableFunction(create) => load_function(create, state)?,
        DdlStatement::CreateRoutine(routine) => {
            check_definer(routine.definer.as_ref(), state)?;
            check_module(routine, state)?;
        }
        DdlStatement::CreateTrigger(trigger) => check_definer(trigger.definer.as_ref(), state)?,
        DdlStatement::CreateEvent(event) => check_definer(event.definer.as_ref(), state)?,
        DdlStatement::AlterEvent(event) => check_definer(event.definer.as_ref(), state)?,
        _ => {}
    }
    let select = plan_create_select(ddl, execution, state)?;
    let names = match is_temporary {
        true => Vec::new(),
        false => lock_names(ddl, state)?,
    };
    let snapshot = server.transactions.snapshot();
    let input = DdlInput {
        catalog: &server.catalog,
        storage: server.transactions.storage(),
        snapshot: &snapshot,
        marks: &server.transactions.mark_state(),
        default_engine: state.services.default_engine(),
        select_columns: select.as_deref(),
        temporary: Some(&state.temporary.tables),
    };
    state.context.statement.origin = origin(state);
    let mut prepared = tokio::task::block_in_place(|| prepare_ddl(input, &mut state.context, ddl))?;
    if matches!(ddl, DdlStatement::DropRoutine { .. }) {
        let written = WrittenRecords::of_catalog(&server.catalog.load());
        let changes = records_without_routines(prepared.changes(), &server.accounts.load(), written);
        prepared.also_change(changes);
    }
    let text = match &prepared.plan.logged {
        Logged::AsWritten => Some(execution.text.to_vec()),
        Logged::Rewritten(text) => Some(text.clone().into_bytes()),
        Logged::Nothing => None,
    };
    let (copied, duplicates) = prepared
        .built
        .filter(|built| built.copied)
        .map_or((0, 0), |built| (built.rows, built.duplicates));
    let (failure, fill, mut affected) = (
        prepared.plan.failure.clone(),
        prepared.plan.fill.clone(),
        prepared.plan.affected_rows,
    );
    let temporary_plan = std::mem::take(&mut prepared.plan.temporary);
    let temporary_rows = prepared.temporary_writes.take();
    if let Some(text) = &text {
        match fill {
            Some(_) => commit_unfilled(prepared, text, state).await?,
            None => commit_ddl(prepared, text, state).await?,
        }
        leave_dropped_database(state);
        state.context.statement.has_dropped_database = matches!(ddl, DdlStatement::DropDatabase { .. });
    } else if !is_temporary {
        state.services.vouch_for_reads(&mut state.context.diagnostics)?;
    }
    drop(names);
    if state.table_locks.has_tables() && text.is_some() && matches!(ddl, DdlStatement::DropTables { .. }) {
        let catalog = state.server.catalog.load();
        let exists = |database: &str, name: &str| {
            catalog.table(database, name).is_some() || catalog.view(database, name).is_some()
        };
        state.table_locks.forget_dropped(exists);
    }
    if let DdlStatement::CreateEvent(_) = ddl
        && text.is_some()
    {
        warn_if_nothing_runs(state);
    }
    if is_temporary {
        state.tracking.note_state_change();
    }
    state.apply_temporary(temporary_plan, temporary_rows)?;
    if let Some(failure) = failure {
        return Err(failure);
    }
    let mut info = String::new();
    if let (Some(table), DdlStatement::CreateTable(create)) = (fill, ddl) {
        affected = match create.temporary {
            true => fill_temporary_table(table, create, state, execution).await?,
            false => {
                let definition = text.unwrap_or_default();
                match fill_table(table.clone(), create, &definition, state, execution).await {
                    Ok(rows) => rows,
                    Err(error) => {
                        drop_unfilled(&table, state).await;
                        return Err(error);
                    }
                }
            }
        };
        info = alter_info(affected, 0, state.context.diagnostics.warning_count());
    } else if matches!(ddl, DdlStatement::AlterTable(_)) {
        affected = copied;
        info = alter_info(copied, duplicates, state.context.diagnostics.warning_count());
    }
    Ok(Reply::with_info(affected, info))
}

/// Checks the privileges for a view, and adds a note if its definer does not exist.
fn check_view(view: &CreateView, state: &mut SessionState) -> Result<()> {
    check_definer(view.definer.as_ref(), state)?;
    let plan = state.plan(&Statement::Query(Box::new(view.query.clone())))?;
    check_view_query(state.services.authority(&state.context), &plan)
}

/// Loads the code of a loadable function that is created. A primary's definition needs no code here: a call does.
fn load_function(create: &CreateLoadableFunction, state: &mut SessionState) -> Result<()> {
    if state.services.transaction.lock().replicated.is_some() {
        return Ok(());
    }
    check_enabled(&state.server.globals)?;
    // The plan has the same error, or a note.
    if check_loadable_function(create, &state.catalog()).is_err() {
        return Ok(());
    }
    let functions = &state.server.loadable_functions;
    let function = LoadableFunction::of(create);
    functions.code_of(&function, &state.server.globals)?;
    Ok(())
}

/// Checks the privilege to name another account in DEFINER, and adds a note if the account does not exist.
fn check_definer(definer: Option<&AccountName>, state: &mut SessionState) -> Result<()> {
    let is_other =
        |definer: &&AccountName| matches!(definer.user, UserName::Name(_) | UserName::Unqualified(_));
    let Some(definer) = definer.filter(is_other) else {
        return Ok(());
    };
    let (user, host) = definer_account(Some(definer), &state.context)?;
    check_view_definer(state.services.authority(&state.context), &user, &host)?;
    let accounts = &state.server.accounts;
    if !accounts.are_skipped() && accounts.load().get(&user, &host).is_none() {
        let message = ER_NO_SUCH_USER.message(&[&user, &host]);
        state.context.diagnostics.note(ER_NO_SUCH_USER, message);
    }
    Ok(())
}

/// Warns if the new event will not run because the scheduler is off.
fn warn_if_nothing_runs(state: &mut SessionState) {
    let definition = Variable::EventScheduler.definition();
    let value = state.server.globals.get(Variable::EventScheduler);
    if definition.show(&value).as_deref() == Some("OFF") {
        let message = "Event scheduler is switched off, use SET GLOBAL event_scheduler=ON to enable it.";
        state
            .context
            .diagnostics
            .warn(ER_UNKNOWN_ERROR, message.to_owned());
    }
}

/// Returns the server on which the session's statement was first executed. Members of a cluster are one server in this
/// respect: an event runs on the one that is the primary at the time.
fn origin(state: &SessionState) -> StatementOrigin {
    let primarys = primarys_gtid(&state.services).and_then(|choice| choice.given());
    match primarys {
        Some(gtid) if state.server.cluster.is_some() => StatementOrigin::Here(gtid.server_id),
        Some(gtid) => StatementOrigin::Primary(gtid.server_id),
        None => StatementOrigin::Here(ServerId(state.server.globals.number(Variable::ServerId) as u32)),
    }
}

/// Clears the current database if it was dropped.
fn leave_dropped_database(state: &mut SessionState) {
    let Some(current) = &state.context.database else {
        return;
    };
    if state.find_database(current).is_none() {
        state.set_database(None);
        let tracks = (state.services.values.lock())
            .get(Variable::SessionTrackSchema)
            .as_bool();
        if tracks {
            state.changes.add(&StateChange::Schema(String::new()));
        }
    }
}

/// Executes TRUNCATE of a table of `performance_schema`, which is not logged. Returns whether it is one.
///
/// # Errors
/// 1683 for a table that shows a state, 1142 for one of settings; 1146.
fn forget_statistics(table: &TableName, state: &SessionState) -> Result<bool> {
    let (database, name) = state.qualified(table)?;
    if database == mysql_columns::DATABASE && state.server.statement_logs.clear_table(&name) {
        return Ok(true);
    }
    if !database.eq_ignore_ascii_case(performance_schema::DATABASE) {
        return Ok(false);
    }
    if performance_schema::columns(&name).is_none() {
        return Err(Error::new(ER_NO_SUCH_TABLE, &[&database, &name]));
    }
    match performance_schema::truncation(&name) {
        Truncation::Allowed => {}
        Truncation::Invalid => return Err(Error::new(ER_WRONG_PERFSCHEMA_USAGE, &[])),
        Truncation::Refused => {
            let (user, host) = (&state.context.current_user.user, &state.context.user.host);
            return Err(Error::new(
                ER_TABLEACCESS_DENIED_ERROR,
                &[&"DROP", user, host, &database, &name],
            ));
        }
    }
    if name.eq_ignore_ascii_case("events_statements_summary_by_digest") {
        let sessions = state.server.sessions.all();
        let digests = sessions.iter().map(|session| &session.digests);
        state.server.digests.clear(digests);
    }
    if let Some(level) = performance_schema::event_level(&name) {
        let sessions = state.server.sessions.all();
        let owned = sessions.iter().map(|session| session.owned_events());
        state.server.statement_events.clear(level, owned);
    }
    if performance_schema::shows_table_io(&name) {
        let catalog = state.server.catalog.load();
        let tables = catalog.databases().flat_map(|database| database.tables());
        tables.for_each(|table| table.clear_row_counts());
    }
    let files = state.server.file_statistics.as_ref();
    match name.to_ascii_lowercase().as_str() {
        "file_summary_by_event_name" => files.into_iter().for_each(|files| files.clear()),
        "file_summary_by_instance" => files.into_iter().for_each(|files| files.clear_files()),
        "events_statements_history_long" => state.server.statement_history.clear_long(),
        "events_statements_current" | "events_statements_history" => {
            let sessions = state.server.sessions.all();
            sessions.iter().for_each(|session| session.history.clear());
        }
        _ => {}
    }
    Ok(true)
}
