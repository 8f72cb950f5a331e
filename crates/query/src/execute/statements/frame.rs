//! Frame of a statement: begins and ends it in the transaction, and undoes its changes if it fails.

use std::time::{Duration, Instant};

use paceline_expression::{EvalMode, EvalState};
use paceline_types::Value;
use paceline_types::error_code::ER_TOO_BIG_SELECT;

use super::{delete, handler, insert, load, point, query, update};
use crate::error::{Error, Result};
use crate::execute::bulk::ParameterSets;
use crate::execute::changes::row_writer::WriteOptions;
use crate::execute::context::{Execution, ProgramState, StatementState};
use crate::execute::interface::{AffectedRows, ExecutionContext, LoadInput, Outcome, RowSink, UsedTables};
use crate::execute::{operators, programs};
use crate::plan::measurements::Measurements;
use crate::plan::{Plan, PlanKind, ResultColumn};

/// Executes a plan. If it fails, all changes of the statement are undone; the transaction continues, unless the error
/// has ended it (1213).
///
/// # Errors
/// MariaDB's execution errors.
pub fn execute(plan: &Plan, context: &mut ExecutionContext<'_>, sink: &mut dyn RowSink) -> Result<Outcome> {
    if let Some(outcome) = point::try_execute(plan, context, sink)? {
        return Ok(outcome);
    }
    let join_rows_max = context.session.settings.join_rows_max;
    if join_rows_max < u64::MAX
        && plan.joined_rows() > join_rows_max as f64
        && !matches!(plan.kind, PlanKind::Explain(_))
    {
        return Err(Error::new(ER_TOO_BIG_SELECT, &[]));
    }
    let seconds = u32::try_from(context.session.statement.start_seconds()).unwrap_or(0);
    let writes = plan.writes() || plan.runs_programs();
    let text = if writes {
        std::str::from_utf8(context.text)
            .ok()
            .filter(|text| !text.is_empty())
    } else {
        None
    };
    match context.text_log {
        Some(_) => context.transaction.begin_text_statement(text, seconds)?,
        None => context.transaction.begin_statement(text, seconds)?,
    }
    context.session.rows_read = 0;
    plan.scans.add_to(&mut context.session.counts);
    let result = run(plan, context, sink).and_then(|outcome| {
        if let Some(log) = context.text_log {
            log.log(context.session, context.transaction)?;
        }
        context.transaction.end_statement()?;
        Ok(outcome)
    });
    if let Err(error) = &result {
        let is_expected = context.session.statement.failed_on_primary == Some(error.code());
        let is_kept = is_expected && context.transaction.end_statement().is_ok();
        if !is_kept {
            context.transaction.rollback_statement();
        }
    }
    result
}

/// Executes a statement of a stored function or trigger, which is part of another one. If it fails, its changes are
/// undone.
fn execute_nested(
    plan: &Plan,
    context: &mut ExecutionContext<'_>,
    sink: &mut dyn RowSink,
) -> Result<Outcome> {
    context.session.rows_read = 0;
    plan.scans.add_to(&mut context.session.counts);
    if !plan.writes() {
        return run(plan, context, sink);
    }
    let mark = context.transaction.begin_nested_statement()?;
    let result = run(plan, context, sink);
    match &result {
        Ok(_) => context.transaction.end_nested_statement(),
        Err(_) => context.transaction.rollback_nested_statement(mark),
    }
    result
}

fn run(plan: &Plan, context: &mut ExecutionContext<'_>, sink: &mut dyn RowSink) -> Result<Outcome> {
    for (code, message) in plan.warnings() {
        context.session.diagnostics.warn(*code, message.clone());
    }
    for (code, message) in plan.notes() {
        context.session.diagnostics.note(*code, message.clone());
    }
    let options = begin_writing(plan, context)?;
    let mut eval_state = EvalState::new();
    let kind = plan.executed_kind();
    if matches!(kind, PlanKind::Insert(_) | PlanKind::Load(_)) {
        eval_state.keep_only_uncorrelated();
    }
    let memory = context.session.memory.clone();
    let mode = mode(kind, context);
    let mut state = StatementState::new(
        context.transaction,
        &plan.subqueries,
        operators::query::run,
        &memory,
    );
    state.programs = context.programs.as_mut().map(|programs| ProgramState {
        host: programs.host.clone(),
        cache: &mut *programs.cache,
        functions: &plan.functions,
        used: UsedTables::new(plan.tables(), programs.outer),
        execute: execute_nested,
        run_function: programs::run_function,
    });
    let exec = &mut Execution::new(
        &mut state,
        context.session,
        mode,
        context.parameters,
        &mut eval_state,
    );
    let mut results = Results {
        columns: plan.columns(),
        affected: context.affected,
        rows_max: context.rows_max,
        sink,
        input: (context.input.as_deref_mut()).map(|input| input as &mut dyn LoadInput),
        sets: (context.parameter_sets.as_deref_mut()).map(|sets| sets as &mut dyn ParameterSets),
    };
    let PlanKind::Analyze(analyzed) = &plan.kind else {
        let after = exec.session.settings.shows_measured_plan_after;
        if after.is_none() && !plan.is_measured() {
            return execute_kind(exec, kind, &options, results);
        }
        return execute_measured(exec, plan, after, |exec| {
            execute_kind(exec, kind, &options, results)
        });
    };
    let started = Instant::now();
    exec.state.measurements = Some(Box::default());
    exec.state.measured_plan = Some((plan, started));
    let measured = Results {
        columns: &[],
        sink: &mut DiscardedRows,
        input: results.input.take(),
        sets: results.sets.take(),
        ..results
    };
    execute_kind(exec, kind, &options, measured)?;
    let measurements = exec.state.measurements.take().unwrap_or_default();
    let rows = analyzed.rows(&measurements, started.elapsed(), &plan.subqueries)?;
    send_rows(plan.columns(), &rows, results.sink)
}

/// Executes a statement and counts the rows that are read: for other sessions, and for the slow query log, which shows
/// its plan if it takes longer than `after`.
#[cold]
fn execute_measured<'t>(
    exec: &mut Execution<'_, 't>,
    plan: &'t Plan,
    after: Option<Duration>,
    execute: impl FnOnce(&mut Execution<'_, 't>) -> Result<Outcome>,
) -> Result<Outcome> {
    exec.state.measurements = Some(Box::new(Measurements::of_rows()));
    let started = Instant::now();
    if plan.is_measured() {
        exec.state.measured_plan = Some((plan, started));
    }
    let outcome = execute(exec)?;
    exec.state.measured_plan = None;
    if let Some(measurements) = exec.state.measurements.take()
        && after.is_some_and(|after| started.elapsed() >= after)
    {
        exec.session.statement.measured_plan = plan.measured_rows(&measurements);
    }
    Ok(outcome)
}

/// Results of a statement, and their destinations.
struct Results<'r> {
    columns: &'r [ResultColumn],
    affected: AffectedRows,
    /// Maximum number of rows of a SELECT without its own LIMIT.
    rows_max: u64,
    sink: &'r mut dyn RowSink,
    /// The file of a LOAD DATA.
    input: Option<&'r mut (dyn LoadInput + 'r)>,
    /// Sets of parameters of a bulk execution.
    sets: Option<&'r mut (dyn ParameterSets + 'r)>,
}

/// Receiver of the rows of a statement that ANALYZE executes.
struct DiscardedRows;

impl RowSink for DiscardedRows {
    fn columns(&mut self, _: &[ResultColumn]) -> Result<()> {
        Ok(())
    }

    fn row(&mut self, _: &[Value]) -> Result<()> {
        Ok(())
    }
}

/// Sends rows that are known already.
fn send_rows(columns: &[ResultColumn], rows: &[Vec<Value>], sink: &mut dyn RowSink) -> Result<Outcome> {
    sink.columns(columns)?;
    for row in rows {
        sink.row(row)?;
    }
    Ok(Outcome {
        result_set: true,
        rows_sent: rows.len() as u64,
        ..Outcome::default()
    })
}

fn execute_kind(
    exec: &mut Execution<'_, '_>,
    kind: &PlanKind,
    options: &WriteOptions,
    results: Results<'_>,
) -> Result<Outcome> {
    let Results {
        columns,
        affected,
        rows_max,
        sink,
        input,
        sets,
    } = results;
    match kind {
        PlanKind::Query(statement) => query::execute(exec, statement, rows_max, columns, sink),
        PlanKind::Insert(insert) => {
            let sent = insert::Sent {
                columns,
                affected,
                sink,
            };
            insert::execute(exec, insert, options, sets, sent)
        }
        PlanKind::Update(update) => update::execute(exec, update, options, affected),
        PlanKind::Load(load) => {
            let input = input.ok_or_else(|| Error::unsupported("LOAD DATA here"))?;
            load::execute(exec, load, options, input)
        }
        PlanKind::Delete(delete) => delete::execute(exec, delete, options, columns, sink),
        PlanKind::Do(exprs) => {
            for expr in exprs {
                exec.eval(expr, &[])?;
            }
            Ok(Outcome::default())
        }
        PlanKind::Handler(plan) => handler::execute(exec, plan, columns, sink),
        PlanKind::Explain(rows) => send_rows(columns, rows, sink),
        PlanKind::Analyze(_) => unreachable!("ANALYZE executes the statement within"),
    }
}

/// Prepares the transaction for a statement's changes. Returns what its row writers share.
fn begin_writing(plan: &Plan, context: &mut ExecutionContext<'_>) -> Result<WriteOptions> {
    let settings = &context.session.settings;
    let foreign_keys = plan.foreign_keys.clone().filter(|_| settings.foreign_key_checks);
    if plan.writes_ordinary() {
        context.transaction.begin_writing()?;
        // A replica gets the rows changed by actions as rows, and must neither check keys that were not checked here
        // nor those that were: concurrent statements may not have checked them, and this statement may be later in the
        // log than those.
        if !settings.foreign_key_checks || foreign_keys.is_some() {
            context.transaction.set_no_foreign_key_checks();
        }
    }
    Ok(WriteOptions {
        foreign_keys,
        metadata: settings.binlog_row_metadata,
        user_statistics: context.session.user_statistics,
    })
}

/// Returns what warnings of a statement's expressions become: errors in strict mode if it computes values to store, and
/// has no IGNORE.
fn mode(kind: &PlanKind, context: &ExecutionContext<'_>) -> EvalMode {
    let (stores_values, ignores_errors) = match kind {
        PlanKind::Insert(insert) => (true, insert.ignore),
        PlanKind::Update(update) => (true, update.ignore),
        PlanKind::Load(load) => (true, load.insert.ignore),
        PlanKind::Delete(delete) => (false, delete.ignore),
        PlanKind::Query(_)
        | PlanKind::Do(_)
        | PlanKind::Handler(_)
        | PlanKind::Explain(_)
        | PlanKind::Analyze(_) => (false, false),
    };
    match stores_values && !ignores_errors && context.session.settings.sql_mode.is_strict() {
        true => EvalMode::StrictWrite,
        false if ignores_errors => EvalMode::Ignore,
        false => EvalMode::Query,
    }
}
