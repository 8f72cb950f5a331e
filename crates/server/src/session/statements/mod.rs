//! Statements: one module for each kind.
//!
//! [`execute`] maps each kind of statement to its function. Such a function receives its part of the syntax tree and
//! the parts of the session that it needs, and returns a [`Reply`]. Its arguments show what it can change:
//!
//! | arguments | kinds |
//! |---|---|
//! | [`SessionServices`](super::services::SessionServices) and `SessionContext`: the server, variables, diagnostics | KILL, PURGE, SHOW without a query |
//! | [`SessionState`]: also the transaction, temporary tables and locks | statements that commit, lock or plan |
//! | also the [`Connection`] | statements that write rows while they run |
//! | also the [`Dispatcher`] | statements that contain others: SET STATEMENT … FOR, EXECUTE, [`program`] |
//!
//! [`expression`] is a part of several kinds: an expression outside of a query.

mod account;
mod backup;
mod binary_log;
mod binlog_events;
mod ddl;
mod dispatcher;
mod expression;
mod flush;
mod grant_tables;
mod help;
mod kill;
mod load_data;
mod lock_tables;
mod outfile;
mod plugin;
mod prepare;
pub(in crate::session) mod program;
pub(super) mod query;
mod replication;
pub(in crate::session) mod set;
mod setup_consumers;
mod show;
mod shutdown;
mod snapshot_at_gtid;
mod table_administration;
mod transaction;

pub(super) use binary_log::flush_binary_logs;
pub(super) use kill::kill_connection;
pub(super) use load_data::execute_logged as load_logged;
pub(super) use shutdown::shut_down;

use self::dispatcher::Dispatcher;
use super::execution::Execution;
use super::planning::switches_consumers;
use super::protocol::{Connection, Reply};
use super::replies::ReplyWriter;
use super::state::SessionState;
use crate::command_counter::count_command;
use crate::statement_logs::Operations;
use paceline_query::program::{get_diagnostics, signal as signal_condition};
use paceline_syntax::ast::QueryBody;
use paceline_syntax::definition::DdlStatement;
use paceline_syntax::{Error, FlushTarget, Result, SelectInto, Show, Statement};
use paceline_types::error_code::{ER_EMPTY_QUERY, ER_LOCK_OR_ACTIVE_TRANSACTION};

/// Executes a statement of any kind and writes its reply.
///
/// # Errors
/// The error to send to the client.
pub async fn execute(
    statement: &Statement,
    state: &mut SessionState,
    connection: &mut Connection,
    execution: Execution<'_>,
) -> Result<()> {
    if uses_table(statement) {
        state.context.diagnostics.forget_earlier();
    }
    count_command(statement, &state.shared.counters);
    let reply = match statement {
        Statement::Query(query)
            if let Some(into @ (SelectInto::Outfile { .. } | SelectInto::Dumpfile(_))) = &query.into =>
        {
            outfile::execute(statement, into, state, execution).await?
        }
        Statement::Insert(_) | Statement::Update(_) | Statement::Delete(_)
            if let Some(table) = grant_tables::changed_table(statement, state) =>
        {
            grant_tables::execute(table, statement, state, connection, execution).await?
        }
        Statement::Update(update) if switches_consumers(update, state) => {
            setup_consumers::execute(update, state, execution).await?
        }
        Statement::Query(_)
        | Statement::Insert(_)
        | Statement::Update(_)
        | Statement::Delete(_)
        | Statement::Do(_)
        | Statement::Explain(_) => query::execute(statement, state, connection, execution).await?,
        Statement::Handler(_) => {
            if state.table_locks.has_tables() {
                return Err(Error::new(ER_LOCK_OR_ACTIVE_TRANSACTION, &[]));
            }
            query::execute(statement, state, connection, execution).await?
        }
        Statement::Empty => empty(execution.text)?,
        Statement::Transaction(statement) => transaction::execute(statement, state).await?,
        Statement::Set(items) => set::execute(items, execution.parameters, state, connection).await?,
        Statement::SetStatement { items, statement } => {
            return set::execute_for_statement(items, statement, state, connection, execution, AllKinds)
                .await;
        }
        Statement::Use(name) => use_database(name, state)?,
        Statement::Show(show) => show::execute(show, state, connection, execution).await?,
        Statement::Ddl(statement @ DdlStatement::AlterTable(_)) => {
            state.log_settings.note(Operations::ADMINISTRATION);
            state.audit_definition(statement);
            state.services.progress_reports.lend(connection);
            let done = ddl::execute(statement, state, execution).await;
            state.services.progress_reports.give_back(connection);
            done?
        }
        Statement::Ddl(statement) => {
            state.audit_definition(statement);
            ddl::execute(statement, state, execution).await?
        }
        Statement::Account(statement) => account::execute(statement, state, execution.text).await?,
        Statement::Prepare { name, source } => prepare::prepare(name, source, execution.parameters, state)?,
        Statement::Execute { name, using, omitted } => {
            let using = prepare::Using {
                values: using,
                omitted,
            };
            return prepare::execute_named(name, using, state, connection, execution, AllKinds).await;
        }
        Statement::ExecuteImmediate {
            source,
            using,
            omitted,
        } => {
            let using = prepare::Using {
                values: using,
                omitted,
            };
            return prepare::execute_immediate(source, using, state, connection, execution, AllKinds).await;
        }
        Statement::Deallocate(name) => prepare::deallocate(name, state)?,
        Statement::TableMaintenance {
            operation,
            tables,
            write_to_binlog,
        } => {
            state.log_settings.note(Operations::ADMINISTRATION);
            state.services.progress_reports.lend(connection);
            let text = execution.text;
            let done = table_administration::execute(*operation, tables, *write_to_binlog, state, text).await;
            state.services.progress_reports.give_back(connection);
            done?
        }
        Statement::ChecksumTable { tables, effort } => {
            table_administration::checksum(tables, *effort, state).await?
        }
        Statement::Kill(kill) => kill::execute(kill, execution.parameters, state).await?,
        Statement::Flush {
            targets,
            write_to_binlog,
        } => flush::execute(targets, *write_to_binlog, state, execution.text).await?,
        Statement::Purge(purge) => binary_log::purge(purge, &state.services, &mut state.context)?,
        Statement::Reset(targets) => binary_log::reset(targets, state).await?,
        Statement::Backup(backup) => backup::execute(backup, state, connection, execution)?,
        Statement::LockTables(tables) => lock_tables::lock(tables, state).await?,
        Statement::UnlockTables => lock_tables::unlock(state).await?,
        Statement::Help(_) => help::execute(),
        Statement::Shutdown => shutdown::execute(&state.services, &state.context)?,
        Statement::Plugin(statement) => plugin::execute(statement, state).await?,
        Statement::LoadData(load) => {
            load_data::execute(statement, load, state, connection, execution).await?
        }
        Statement::Binlog(events) => binlog_events::execute(events, state).await?,
        Statement::Replication(statement) => replication::execute(statement, state).await?,
        Statement::Compound(compound) => {
            Box::pin(program::execute(
                &compound.program,
                state,
                connection,
                execution,
                AllKinds,
            ))
            .await?
        }
        Statement::Signal(signal) => {
            signal_condition(signal, &mut state.context, execution.parameters)?;
            Reply::ok()
        }
        Statement::GetDiagnostics(get) => {
            get_diagnostics(get, &mut state.context, execution.parameters)?;
            Reply::ok()
        }
        Statement::Call { procedure, arguments } => {
            state.log_settings.note(Operations::CALL);
            Box::pin(program::call(
                procedure, arguments, state, connection, execution, AllKinds,
            ))
            .await?
        }
        Statement::Unsupported(what) => return Err(Error::unsupported(what)),
    };
    ReplyWriter::new(state, connection).reply(reply, execution)
}

/// The dispatcher to all kinds of statements, for those that contain others.
#[derive(Clone, Copy)]
pub(super) struct AllKinds;

impl Dispatcher for AllKinds {
    async fn execute(
        self,
        statement: &Statement,
        state: &mut SessionState,
        connection: &mut Connection,
        execution: Execution<'_>,
    ) -> Result<()> {
        execute(statement, state, connection, execution).await
    }
}

/// Executes a text without a statement. As in MariaDB a comment is a statement without effect, but an empty text is an
/// error.
fn empty(text: &[u8]) -> Result<Reply> {
    let is_blank = |byte: &u8| byte.is_ascii_whitespace() || *byte == b';';
    match text.iter().all(is_blank) {
        true => Err(Error::new(ER_EMPTY_QUERY, &[])),
        false => Ok(Reply::ok()),
    }
}

fn use_database(name: &str, state: &mut SessionState) -> Result<Reply> {
    state.use_database(name)?;
    Ok(Reply::ok())
}

/// Returns whether a statement uses a table according to its syntax, so that earlier diagnostics are cleared. For
/// queries and changes of rows the plan also decides, because it includes the tables of subqueries.
fn uses_table(statement: &Statement) -> bool {
    match statement {
        Statement::Query(query) => reads_from(&query.query.body),
        Statement::Insert(_)
        | Statement::Update(_)
        | Statement::Delete(_)
        | Statement::LoadData(_)
        | Statement::TableMaintenance { .. }
        | Statement::ChecksumTable { .. }
        | Statement::LockTables(_) => true,
        Statement::Flush { targets, .. } => targets
            .iter()
            .any(|target| matches!(target, FlushTarget::Tables { tables, .. } if !tables.is_empty())),
        Statement::Ddl(ddl) => !matches!(
            ddl,
            DdlStatement::CreateDatabase { .. }
                | DdlStatement::AlterDatabase { .. }
                | DdlStatement::DropDatabase { .. }
                | DdlStatement::CreateRoutine(_)
                | DdlStatement::CreateLoadableFunction(_)
                | DdlStatement::AlterRoutine { .. }
                | DdlStatement::DropRoutine { .. }
                | DdlStatement::DropTrigger { .. }
        ),
        // Statements that MariaDB answers from a table of information_schema, or that name a table.
        Statement::Show(show) => !matches!(
            show,
            Show::Warnings(_)
                | Show::Errors(_)
                | Show::CountWarnings
                | Show::CountErrors
                | Show::EngineStatus { .. }
                | Show::ProcessList { .. }
                | Show::Grants(_)
                | Show::Privileges
                | Show::MasterStatus
                | Show::BinaryLogs
                | Show::BinlogEvents { .. }
                | Show::SlaveStatus { .. }
                | Show::SlaveHosts
                | Show::ClusterStatus
                | Show::CreateDatabase { .. }
                | Show::CreateUser(_)
                | Show::Profiles
                | Show::Profile
                | Show::Authors
                | Show::Contributors
        ),
        _ => false,
    }
}

fn reads_from(body: &QueryBody) -> bool {
    match body {
        QueryBody::Select(select) => !select.from.is_empty(),
        QueryBody::Query(query) => reads_from(&query.body),
        // The left side is examined last, because a chain of set operations is as deep on that side as it is long.
        QueryBody::SetOperation { left, right, .. } => reads_from(right) || reads_from(left),
        QueryBody::Values(_) => false,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use paceline_syntax::{ParseOptions, parse_first};

    #[test]
    fn statements_with_tables_clear_earlier_conditions() {
        let uses = |text: &str| {
            let parsed = parse_first(text.as_bytes(), &ParseOptions::default()).unwrap();
            uses_table(&parsed.statement)
        };
        for text in [
            "SELECT * FROM t",
            "SELECT 1 UNION SELECT a FROM t",
            "(SELECT a FROM t)",
            "INSERT INTO t VALUES (1)",
            "CREATE TABLE t (a int)",
            "DROP TABLE t",
            "CHECK TABLE t",
            "LOCK TABLES t READ",
            "FLUSH TABLES t",
            "SHOW TABLES",
            "SHOW VARIABLES",
        ] {
            assert!(uses(text), "{text}");
        }
        for text in [
            "SELECT 1",
            "DO 1",
            "SET @a = 1",
            "BEGIN",
            "CREATE DATABASE d",
            "FLUSH TABLES",
            "SHOW WARNINGS",
            "SHOW GRANTS",
            "SHOW PROCESSLIST",
            "KILL 1",
        ] {
            assert!(!uses(text), "{text}");
        }
    }

    #[test]
    fn a_comment_is_a_statement_but_an_empty_text_is_not() {
        assert!(matches!(empty(b"/* nothing */"), Ok(Reply::Ok { .. })));
        for text in [&b""[..], b" \n", b";"] {
            assert_eq!(empty(text).unwrap_err().code(), ER_EMPTY_QUERY);
        }
    }
}
