//! Queries and changes of rows: plan, execution, reply.

use crate::running_plan::PlanToRun;
use crate::session::execution::{Execution, QueryOrigin};
use crate::session::planning::ATTEMPTS_MAX;
use crate::session::protocol::{Connection, KnownColumns, Reply, ResultWriter, Streaming};
use crate::session::replies::result_style;
use crate::session::services::on_text;
use crate::session::state::SessionState;
use paceline_expression::session::MemoryCharge;
use paceline_query::execute::{
    AffectedRows, ExecutionContext, Outcome, RowSink, TextLog, execute as execute_plan,
};
use paceline_query::plan::Plan;
use paceline_syntax::{Error, Result, Statement};
use paceline_types::error_code::ER_TABLE_DEF_CHANGED;
use paceline_wire::Capabilities;
use paceline_wire::response::Status;
use std::sync::Arc;

/// Plans a statement and executes it.
pub async fn execute(
    statement: &Statement,
    state: &mut SessionState,
    connection: &mut Connection,
    execution: Execution<'_>,
) -> Result<Reply> {
    for _ in 0..ATTEMPTS_MAX {
        let length = execution.text.len();
        let plan = on_text(length, || state.plan_for(statement, execution.parameters))?;
        let reply = match plan.is_point_read() {
            true => {
                let reply = run_plan(PlanToRun::Private(&plan), state, connection, execution, None).await;
                on_text(length, || drop(plan));
                reply
            }
            false => {
                let plan = Arc::new(plan);
                let reply = run_plan(PlanToRun::Shared(&plan), state, connection, execution, None).await;
                on_text(length, || drop(plan));
                reply
            }
        };
        if let Some(reply) = reply? {
            return Ok(reply);
        }
    }
    Err(Error::new(ER_TABLE_DEF_CHANGED, &[]))
}

/// Executes a plan and writes its rows. Returns `None` if its tables have changed since it was made, so that it must be
/// planned again. `known` are the columns that the client has cached.
pub async fn run_plan(
    plan: PlanToRun<'_>,
    state: &mut SessionState,
    connection: &mut Connection,
    execution: Execution<'_>,
    known: Option<&KnownColumns>,
) -> Result<Option<Reply>> {
    if execution.asked_by == QueryOrigin::Client && !plan.tables().is_empty() {
        state.context.diagnostics.forget_earlier();
    }
    let Some(catalog) = state.prepare_run(&plan)? else {
        return Ok(None);
    };
    let streaming = match plan.tables().iter().any(|table| table.usage.lock) {
        true => Streaming::AfterSettling(MemoryCharge::new(&state.context.memory)),
        false => Streaming::Early,
    };
    let mut style = result_style(state, execution);
    if plan.uses_no_index() {
        style.status = style.status.with(Status::NO_INDEX_USED);
    }
    let affected = match connection.capabilities.has(Capabilities::FOUND_ROWS) {
        true => AffectedRows::Found,
        false => AffectedRows::Changed,
    };
    let text_log = state.text_log(&plan, execution)?;
    let published = plan.publish(&state.shared.running_plan);
    let mut context = ExecutionContext {
        affected,
        text_log: text_log.as_ref().map(|log| log as &dyn TextLog),
        ..state.execution_context(&catalog, &plan, execution)?
    };
    let mut sink = ResultWriter::new(connection, style, streaming, known);
    let outcome = execute_plan(&plan, &mut context, &mut sink)?;
    drop(context);
    drop(published);
    note_plan(&plan, state, execution);
    sink.finish();
    state.leave_statement().await?;
    Ok(Some(reply_of(outcome, state)))
}

/// Shows an executed plan to the slow query log. It has no text of a program's statement, and so not its plan.
pub fn note_plan(plan: &Plan, state: &mut SessionState, execution: Execution<'_>) {
    let is_main = execution.asked_by == QueryOrigin::Client && state.context.calls.is_empty();
    let statement = &mut state.context.statement;
    state.log_settings.note_plan(plan, is_main, statement);
}

/// Executes a plan and returns its rows, for cursors and for SHOW statements that a query answers. Returns `None` if
/// its tables have changed since it was made.
pub async fn collect<S: RowSink>(
    plan: PlanToRun<'_>,
    state: &mut SessionState,
    execution: Execution<'_>,
    mut rows: S,
) -> Result<Option<(S, Outcome)>> {
    if execution.asked_by == QueryOrigin::Client && !plan.tables().is_empty() {
        state.context.diagnostics.forget_earlier();
    }
    let Some(catalog) = state.prepare_run(&plan)? else {
        return Ok(None);
    };
    let published = plan.publish(&state.shared.running_plan);
    let mut context = state.execution_context(&catalog, &plan, execution)?;
    let outcome = execute_plan(&plan, &mut context, &mut rows)?;
    drop(context);
    drop(published);
    note_plan(&plan, state, execution);
    state.leave_statement().await?;
    Ok(Some((rows, outcome)))
}

/// Returns the end of the reply for an executed plan.
pub fn reply_of(outcome: Outcome, state: &SessionState) -> Reply {
    if !outcome.result_set {
        return Reply::Ok {
            affected_rows: outcome.affected_rows,
            last_insert_id: outcome.last_insert_id,
            info: outcome.info,
        };
    }
    let counters = &state.shared.counters;
    counters.rows_sent.add(outcome.rows_sent);
    counters.empty_queries.add((outcome.rows_sent == 0).into());
    Reply::EndOfRows
}
