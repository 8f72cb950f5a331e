//! SHOW.
//!
//! As in MariaDB, most of these statements are queries of `information_schema`: the statement becomes the text of a
//! SELECT ([`queries`]), and LIKE or WHERE is applied to it. The others are implemented directly.

mod accounts;
mod binary_log;
mod cluster_status;
mod create;
mod engine;
mod explain_for;
mod names;
mod queries;
mod slave_status;
mod stored_program;

use super::query::run_plan;
use crate::running_plan::PlanToRun;
use crate::session::execution::{Execution, QueryOrigin};
use crate::session::protocol::{Connection, Output, Reply};
use crate::session::state::SessionState;
use crate::variables::Variable;
use names::{shown_database, shown_table};
use paceline_catalog::ddl::IfNotExists;
use paceline_expression::ExprType;
use paceline_expression::session::{Diagnostics, Level, Privilege};
use paceline_syntax::ast::Expr;
use paceline_syntax::{Error, ExplainFlavour, Result, RoutineType, Show, ShowFilter, ShowLimit};
use paceline_types::Value;
use paceline_types::error_code::ER_TABLE_DEF_CHANGED;
use queries::{ShowQuery, ValueList};
use slave_status::ShownConnections;
use std::sync::Arc;

/// Answer to a SHOW.
enum Answer<'a> {
    /// The result of a query, with a filter.
    Query(ShowQuery, &'a ShowFilter),
    /// The same for one table. It may be temporary, and information_schema includes it only during the statement.
    QueryOfTable(ShowQuery, &'a ShowFilter, (String, String)),
    /// A result set.
    Rows(Output),
    /// The plan of another session's statement.
    PlanOf(ExplainFlavour, &'a Expr),
}

/// Executes a SHOW.
///
/// # Errors
/// The errors for objects that do not exist or that the account may not see; those of the query.
pub async fn execute(
    show: &Show,
    state: &mut SessionState,
    connection: &mut Connection,
    execution: Execution<'_>,
) -> Result<Reply> {
    let before = state.context.counts;
    let done = execute_counted(show, state, connection, execution).await;
    let counts = &mut state.context.counts;
    match show {
        // As in MariaDB, the counters show what other statements did.
        Show::Status { .. } | Show::ProcessList { .. } => *counts = before,
        _ => {
            // MariaDB shows these rows as it finds them; the order is ours.
            counts.sort_scan = before.sort_scan;
            counts.sort_rows = before.sort_rows;
        }
    }
    done
}

async fn execute_counted(
    show: &Show,
    state: &mut SessionState,
    connection: &mut Connection,
    execution: Execution<'_>,
) -> Result<Reply> {
    if let Show::ClusterStatus = show {
        return Ok(Reply::Rows(
            cluster_status::cluster_status(&state.services).await?,
        ));
    }
    match answer(show, state)? {
        Answer::Rows(output) => Ok(Reply::Rows(output)),
        Answer::PlanOf(flavour, connection) => Ok(Reply::Rows(
            explain_for::plan_of(flavour, connection, state).await?,
        )),
        Answer::Query(query, filter) => run_query(&query, filter, state, connection, execution).await,
        Answer::QueryOfTable(query, filter, (database, name)) => {
            let temporary = state.temporary.catalog().table(&database, &name).cloned();
            *state.services.shown_temporary.lock() = temporary;
            let done = run_query(&query, filter, state, connection, execution).await;
            *state.services.shown_temporary.lock() = None;
            done
        }
    }
}

/// Returns the answer to each kind of SHOW.
fn answer<'a>(show: &'a Show, state: &mut SessionState) -> Result<Answer<'a>> {
    use Answer::{Query, QueryOfTable, Rows};
    let none = &ShowFilter::None;
    Ok(match show {
        Show::Databases(filter) => {
            if state.server.globals.is_on(Variable::SkipShowDatabase) {
                state.services.require_any(&[Privilege::ShowDatabases])?;
            }
            Query(queries::databases(filter), filter)
        }
        Show::Tables {
            full,
            database,
            filter,
        } => {
            let database = shown_database(database.as_deref(), state)?;
            Query(queries::tables(&database, (*full).into(), filter), filter)
        }
        Show::TableStatus { database, filter } => {
            let database = shown_database(database.as_deref(), state)?;
            Query(queries::table_status(&database, filter), filter)
        }
        Show::OpenTables { filter, .. } => Query(queries::open_tables(), filter),
        Show::Columns { full, table, filter } => {
            let (database, name) = shown_table(table, state)?;
            if state.catalog().view(&database, &name).is_some() {
                state.plan_of_table(&database, &name)?;
            }
            let query = queries::columns(&database, &name, (*full).into());
            QueryOfTable(query, filter, (database, name))
        }
        Show::Index { table, filter } => {
            let (database, name) = shown_table(table, state)?;
            QueryOfTable(queries::indexes(&database, &name), filter, (database, name))
        }
        Show::Variables { scope, filter } => Query(queries::values(ValueList::Variables, *scope), filter),
        Show::Status { scope, filter } => Query(queries::values(ValueList::Status, *scope), filter),
        Show::Engines => Query(queries::engines(), none),
        Show::CharacterSets(filter) => Query(queries::character_sets(), filter),
        Show::Collations(filter) => Query(queries::collations(), filter),
        Show::ProcessList { full } => Query(queries::process_list((*full).into()), none),
        Show::Triggers { database, filter } => {
            let database = shown_database(database.as_deref(), state)?;
            Query(queries::triggers(&database, filter), filter)
        }
        Show::Events { database, filter } => {
            let database = stored_program::database_of_events(database.as_deref(), state)?;
            Query(queries::events(&database, filter), filter)
        }
        Show::RoutineStatus { kind, filter } => Query(queries::routines(kind, filter), filter),
        Show::Plugins => Query(queries::plugins(), none),
        Show::Statistics(table) => Query(queries::statistics(table), none),
        Show::Warnings(limit) => Rows(conditions(&state.context.diagnostics, *limit, |_| true)),
        Show::Errors(limit) => Rows(conditions(&state.context.diagnostics, *limit, |level| {
            level == Level::Error
        })),
        Show::CountWarnings => Rows(count(
            "@@session.warning_count",
            state.context.diagnostics.warning_count(),
        )),
        Show::CountErrors => Rows(count(
            "@@session.error_count",
            state.context.diagnostics.error_count(),
        )),
        Show::Grants(account) => Rows(accounts::grants(
            account.as_ref(),
            state.services.authority(&state.context),
        )?),
        Show::CreateUser(account) => Rows(accounts::create_user(
            account.as_ref(),
            state.services.authority(&state.context),
        )?),
        Show::Privileges => Rows(accounts::privileges()),
        Show::MasterStatus => Rows(binary_log::master_status(&state.services)?),
        Show::BinaryLogs => Rows(binary_log::binary_logs(&state.services)?),
        Show::BinlogEvents {
            relay_log: true,
            connection,
            ..
        } => Rows(slave_status::relaylog_events(
            connection.as_deref(),
            &state.services,
        )?),
        Show::BinlogEvents {
            file,
            position,
            limit,
            ..
        } => Rows(binary_log::binlog_events(
            file.as_deref(),
            *position,
            *limit,
            &state.services,
        )?),
        Show::SlaveStatus { connection, all } => {
            let shown = match all {
                true => ShownConnections::All,
                false => ShownConnections::One,
            };
            Rows(slave_status::slave_status(
                connection.as_deref(),
                shown,
                &state.services,
            )?)
        }
        Show::SlaveHosts => Rows(slave_status::slave_hosts(&state.services)?),
        Show::ClusterStatus => unreachable!("members are asked before"),
        Show::CreateTable(table) => Rows(create::table(table, state)?),
        Show::CreateDatabase { if_not_exists, name } => {
            let if_not_exists = match if_not_exists {
                true => IfNotExists::Shown,
                false => IfNotExists::Omitted,
            };
            Rows(create::database(name, if_not_exists, state)?)
        }
        Show::CreateOther { kind: "VIEW", name } => Rows(create::view(name, state)?),
        Show::CreateOther {
            kind: "SEQUENCE",
            name,
        } => Rows(create::sequence(name, state)?),
        Show::CreateOther {
            kind: "PROCEDURE",
            name,
        } => Rows(stored_program::routine(RoutineType::Procedure, name, state)?),
        Show::CreateOther {
            kind: "FUNCTION",
            name,
        } => Rows(stored_program::routine(RoutineType::Function, name, state)?),
        Show::CreateOther {
            kind: "TRIGGER",
            name,
        } => Rows(stored_program::trigger(name, state)?),
        Show::CreateOther { kind: "EVENT", name } => Rows(stored_program::event(name, state)?),
        Show::CreateOther { kind, name } => return Err(create::no_such_object(kind, name)),
        Show::EngineStatus { engine, what } => Rows(engine::status(engine, what, &state.services)?),
        Show::Profiles | Show::Profile => Rows(no_rows(&["Query_ID", "Duration", "Query"])),
        Show::Authors | Show::Contributors => Rows(no_rows(&["Name", "Location", "Comment"])),
        Show::ExplainFor { flavour, connection } => Answer::PlanOf(*flavour, connection),
    })
}

/// Runs the query of a SHOW with its filter.
async fn run_query(
    query: &ShowQuery,
    filter: &ShowFilter,
    state: &mut SessionState,
    connection: &mut Connection,
    execution: Execution<'_>,
) -> Result<Reply> {
    let statement = query.statement(filter)?;
    let execution = Execution {
        asked_by: QueryOrigin::Server,
        ..execution
    };
    for _ in 0..10 {
        let plan = Arc::new(state.plan_of_server(&statement, execution.parameters)?);
        if let Some(reply) = run_plan(PlanToRun::Shared(&plan), state, connection, execution, None).await? {
            return Ok(reply);
        }
    }
    Err(Error::new(ER_TABLE_DEF_CHANGED, &[]))
}

/// Returns SHOW WARNINGS and SHOW ERRORS.
fn conditions(diagnostics: &Diagnostics, limit: ShowLimit, wanted: impl Fn(Level) -> bool) -> Output {
    let mut output = Output::new();
    output
        .text("Level", 7)
        .column("Code", ExprType::int(4))
        .text("Message", 512);
    let shown = diagnostics.conditions().iter();
    for condition in shown.filter(|condition| wanted(condition.level)) {
        output.row(vec![
            Value::Text(condition.level.as_str().into()),
            Value::Int(i64::from(condition.code.number())),
            Value::Text(condition.message.clone()),
        ]);
    }
    output.limit(limit.offset, limit.count);
    output
}

/// Returns SHOW COUNT(*) WARNINGS and SHOW COUNT(*) ERRORS.
fn count(name: &str, count: u64) -> Output {
    let mut output = Output::new();
    output.number(name);
    output.row(vec![Value::UInt(count)]);
    output
}

fn no_rows(columns: &[&str]) -> Output {
    let mut output = Output::new();
    for column in columns {
        output.text(column, 64);
    }
    output
}

#[cfg(test)]
mod tests {
    use super::*;
    use paceline_types::error_code::{ER_DUP_ENTRY, ER_LOCK_WAIT_TIMEOUT};

    #[test]
    fn errors_are_a_part_of_the_conditions() {
        let mut diagnostics = Diagnostics::new(64);
        diagnostics.warn(ER_LOCK_WAIT_TIMEOUT, "first".to_owned());
        diagnostics.push(Level::Error, ER_DUP_ENTRY, "second");
        diagnostics.note(ER_LOCK_WAIT_TIMEOUT, "third".to_owned());
        let messages =
            |output: Output| -> Vec<Value> { output.rows().iter().map(|row| row[2].clone()).collect() };
        let text =
            |texts: &[&str]| -> Vec<Value> { texts.iter().map(|text| Value::Text((*text).into())).collect() };
        let all = ShowLimit {
            offset: 0,
            count: u64::MAX,
        };
        assert_eq!(
            messages(conditions(&diagnostics, all, |_| true)),
            text(&["first", "second", "third"])
        );
        assert_eq!(
            messages(conditions(&diagnostics, all, |level| level == Level::Error)),
            text(&["second"])
        );
        let one = ShowLimit { offset: 1, count: 1 };
        assert_eq!(
            messages(conditions(&diagnostics, one, |_| true)),
            text(&["second"])
        );
    }
}
