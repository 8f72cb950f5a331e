//! CREATE TABLE … SELECT: the columns of the query, and the rows, which follow the definition in a separate
//! transaction.

use super::commit::{commit_unfilled, primarys_gtid};
use crate::accounts::checks::check_plan;
use crate::errors::of_transaction;
use crate::running_plan::PlanToRun;
use crate::session::execution::Execution;
use crate::session::logged_statement::LoggedStatement;
use crate::session::protocol::RowCollector;
use crate::session::state::SessionState;
use crate::session::statements::query::collect;
use crate::sql_text::identifier;
use paceline_binlog::event::EventFlags;
use paceline_catalog::FILLED_DATABASE;
use paceline_catalog::ddl::{DdlInput, SelectedColumn, prepare_ddl};
use paceline_expression::ExprType;
use paceline_expression::session::ProgramVariables;
use paceline_query::plan::{insert_of_select, selected_columns};
use paceline_syntax::ast::Expr;
use paceline_syntax::definition::CreateTable;
use paceline_syntax::{DdlStatement, Error, Result, Statement, TableName};
use paceline_types::data_type::Sign;
use paceline_types::error_code::*;
use paceline_types::{DataType, Value};
use std::sync::Arc;

/// Returns 1137 for CREATE OR REPLACE TEMPORARY TABLE … SELECT from the table itself; 1235 for CREATE TABLE …
/// SELECT from a temporary table of the same name.
pub fn check_select_source(create: &CreateTable, state: &SessionState) -> Result<()> {
    let Some(select) = create.select() else {
        return Ok(());
    };
    let (database, name) = state.qualified(&create.name)?;
    let Some(hidden_by) = state.temporary.catalog().table(&database, &name).cloned() else {
        return Ok(());
    };
    let plan = state.plan(&Statement::Query(Box::new(select.query.clone())))?;
    let is_read = plan.tables().iter().any(|table| {
        let definition = table.definition.as_ref();
        definition.is_some_and(|definition| Arc::ptr_eq(definition, &hidden_by))
    });
    match (is_read, create.temporary) {
        (true, true) if create.or_replace => Err(Error::new(ER_CANT_REOPEN_TABLE, &[&name])),
        (true, false) => Err(Error::unsupported(
            "CREATE TABLE … SELECT from a temporary table of the same name",
        )),
        _ => Ok(()),
    }
}

/// Executes the second half of CREATE TEMPORARY TABLE … SELECT: inserts the rows. They stay even if the transaction is
/// rolled back. If they cannot be inserted, the table is dropped. Returns their number.
pub async fn fill_temporary_table(
    table: TableName,
    create: &CreateTable,
    state: &mut SessionState,
    execution: Execution<'_>,
) -> Result<u64> {
    let (database, name) = state.qualified(&table)?;
    state.temporary.tables.begin_fill(&database, &name);
    state.enter_transaction();
    let mark = state
        .transaction
        .get_mut()
        .map(|transaction| transaction.temporary_mark());
    let filled = insert_selected(
        TableName::qualified(FILLED_DATABASE, &name),
        create,
        state,
        execution,
    )
    .await;
    match filled {
        Ok(rows) => {
            // A single-statement transaction is already committed.
            if let (Some(transaction), Some(mark)) = (state.transaction.get_mut(), mark) {
                transaction.keep_temporary_since(mark);
            }
            state.temporary.tables.end_fill(&database, &name);
            Ok(rows)
        }
        Err(error) => {
            let dropped = state.temporary.tables.abandon_fill(&name);
            state.release_indexes(dropped);
            Err(error)
        }
    }
}

/// Returns the columns of CREATE TABLE … SELECT. A parameter has the type of its value, or that of the user variable in
/// USING.
pub fn plan_create_select(
    ddl: &DdlStatement,
    execution: Execution<'_>,
    state: &mut SessionState,
) -> Result<Option<Vec<SelectedColumn>>> {
    let DdlStatement::CreateTable(create) = ddl else {
        return Ok(None);
    };
    let Some(select) = create.select() else {
        return Ok(None);
    };
    let query = Statement::Query(Box::new(select.query.clone()));
    let is_typed = state.context.program_variables.get(0).is_some();
    let plan = match execution.parameters {
        [] => state.plan(&query)?,
        _ if is_typed => state.plan(&query)?,
        values => {
            let collation = state.context.settings.collation_connection;
            let types = values.iter().enumerate().map(|(n, value)| {
                let ty = ExprType::of_value(value, collation);
                match execution.using.get(n) {
                    Some(Expr::UserVariable(_)) if *value != Value::Null => type_of_variable(ty),
                    _ => ty,
                }
            });
            let typed = Arc::new(ProgramVariables::new(types.collect(), Vec::new(), Vec::new()));
            let outer = std::mem::replace(&mut state.context.program_variables, typed);
            let planned = state.plan(&query);
            state.context.program_variables = outer;
            planned?
        }
    };
    // Without the privileges to read, no table may be created or replaced.
    check_plan(state.services.authority(&state.context), &plan)?;
    Ok(Some(selected_columns(&plan, &state.catalog())))
}

/// Returns the type of a user variable as a parameter: integers are BIGINT, texts are TEXT of the smallest size.
fn type_of_variable(ty: ExprType) -> ExprType {
    match &ty.data_type {
        DataType::Integer(integer) => match integer.sign {
            Sign::Signed => ExprType::bigint(20),
            Sign::Unsigned => ExprType::bigint_unsigned(20),
        },
        DataType::VarChar { length, .. } | DataType::VarBinary { length } => {
            ExprType::long_text(u64::from(*length), ty.data_type.collation()).with_nullable(ty.nullable)
        }
        _ => ty,
    }
}

/// Executes the second half of CREATE TABLE … SELECT: inserts the rows in a separate transaction. If the statement is a
/// primary's, the transaction begins with the definition, which was not logged for replicas before. Returns the number
/// of rows.
pub async fn fill_table(
    table: TableName,
    create: &CreateTable,
    definition: &[u8],
    state: &mut SessionState,
    execution: Execution<'_>,
) -> Result<u64> {
    let (database, name) = state.qualified(&table)?;
    if primarys_gtid(&state.services).is_some() {
        log_definition(definition, state)?;
    }
    // If a temporary table has the same name, the rows do not belong to it.
    state.temporary.tables.begin_fill(&database, &name);
    let filled = insert_selected(table, create, state, execution).await;
    state.temporary.tables.end_fill(&database, &name);
    let rows = filled?;
    // CREATE TABLE commits, even with autocommit=0.
    state.commit().await?;
    Ok(rows)
}

fn log_definition(text: &[u8], state: &mut SessionState) -> Result<()> {
    let logged = LoggedStatement::of(state, text);
    state.enter_transaction();
    let transaction = state.transaction.running()?;
    transaction
        .log_definition(
            &logged.query_event(None),
            EventFlags::NONE,
            logged.timestamp_seconds,
        )
        .map_err(|error| of_transaction(&error))
}

/// Drops the table of a failed CREATE TABLE … SELECT under the locks of the statement. The definition is already in
/// the log, so the removal must be logged, too.
pub async fn drop_unfilled(table: &TableName, state: &mut SessionState) {
    state.roll_back();
    // A KILL QUERY or a time limit applied to the SELECT.
    state.shared.interrupt.clear_query();
    // References from other tables existed before the table was created.
    let checks = std::mem::replace(&mut state.context.settings.foreign_key_checks, false);
    let dropped = drop_ordinary(table, state).await;
    state.context.settings.foreign_key_checks = checks;
    if let Err(error) = dropped {
        tracing::warn!("{table} was made and not filled, and could not be dropped: {error}");
    }
}

async fn drop_ordinary(table: &TableName, state: &mut SessionState) -> Result<()> {
    let (database, name) = state.qualified(table)?;
    let ddl = DdlStatement::DropTables {
        temporary: false,
        if_exists: false,
        tables: vec![TableName::qualified(database.clone(), name.clone())],
    };
    let server = state.server.clone();
    let snapshot = server.transactions.snapshot();
    let input = DdlInput {
        catalog: &server.catalog,
        storage: server.transactions.storage(),
        snapshot: &snapshot,
        marks: &server.transactions.mark_state(),
        default_engine: state.services.default_engine(),
        select_columns: None,
        // A temporary table of the session may hide it.
        temporary: None,
    };
    let prepared = tokio::task::block_in_place(|| prepare_ddl(input, &mut state.context, &ddl))?;
    let text = format!(
        "DROP TABLE {}.{} /* generated by server */",
        identifier(&database),
        identifier(&name)
    );
    commit_unfilled(prepared, text.as_bytes(), state).await
}

/// Inserts the rows of the query of CREATE TABLE … SELECT. Returns their number.
async fn insert_selected(
    table: TableName,
    create: &CreateTable,
    state: &mut SessionState,
    execution: Execution<'_>,
) -> Result<u64> {
    let Some(select) = create.select() else {
        return Ok(0);
    };
    let query = Statement::Query(Box::new(select.query.clone()));
    let insert = insert_of_select(table, select, &state.plan(&query)?);
    let plan = state.plan(&insert)?;
    match collect(
        PlanToRun::Private(&plan),
        state,
        execution,
        RowCollector::default(),
    )
    .await?
    {
        Some((_, outcome)) => Ok(outcome.affected_rows),
        None => Err(Error::new(ER_TABLE_DEF_CHANGED, &[])),
    }
}
