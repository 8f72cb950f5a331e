//! State of a running statement, and its frame.

use std::borrow::Cow;
use std::collections::HashMap;
use std::ops::ControlFlow;
use std::rc::Rc;
use std::sync::Arc;
use std::time::Instant;

use paceline_txn::Transaction;
use paceline_types::Value;

use super::hash::HashTable;
use super::memory::Budget;
use super::trace::ExecutionTrace;
use super::{AffectedRows, ExecutionContext, LoadInput, Outcome, RowSink};
use crate::error::{Error, Result};
use crate::plan::tree::{QueryPlan, TableAccess};
use crate::plan::{Plan, PlanKind, ResultColumn};
use paceline_catalog::foreign_key::ForeignKeys;
use paceline_expression::session::{SessionContext, SessionMemory, UserVariable};
use paceline_expression::{EvalContext, EvalMode, EvalState, Expr, ExprKind, SubqueryFrame, SubqueryRunner};

/// Rows that are computed once for all their uses in a statement.
pub(crate) type Rows = Rc<Vec<Vec<Value>>>;

/// Location of a row that will be changed.
#[derive(Debug, Default, Clone)]
pub(crate) struct RowHandle {
    /// Clustered key of the row.
    pub key: Vec<u8>,
    /// Image of the row.
    pub image: Vec<u8>,
    /// Whether there is a row: an outer join may have none.
    pub present: bool,
}

/// Part of a statement's state that its subqueries share.
pub(crate) struct Runtime<'t> {
    pub transaction: &'t mut Transaction,
    /// Rows of derived tables, by query and whether duplicates were removed.
    pub materialized: HashMap<(u64, bool), Rows>,
    /// Rows of the last round of recursive queries.
    pub recursive: HashMap<u64, Rows>,
    /// Rows kept by joins, by their access; `None` if there are too many.
    pub kept_rows: HashMap<usize, Option<Rc<HashTable>>>,
    pub memory: Budget,
    /// For statements that change rows: location of the current row of each table.
    pub handles: Vec<RowHandle>,
    /// Foreign keys of the tables that the statement changes, if they are checked (`foreign_key_checks`).
    pub foreign_keys: Option<Arc<ForeignKeys>>,
    /// Number of the step's leading conditions that are known to hold for the current row; [`ALL_CONDITIONS`] if its
    /// range admits only rows that meet all of them.
    pub conditions_held: usize,
    /// Measurements, for the ANALYZE statement.
    pub trace: Option<Box<ExecutionTrace>>,
    ticks: u32,
}

impl<'t> Runtime<'t> {
    pub fn new(transaction: &'t mut Transaction, memory: &Arc<SessionMemory>) -> Self {
        Runtime {
            transaction,
            materialized: HashMap::new(),
            recursive: HashMap::new(),
            kept_rows: HashMap::new(),
            memory: Budget::new(memory),
            handles: Vec::new(),
            foreign_keys: None,
            conditions_held: 0,
            trace: None,
            ticks: 0,
        }
    }
}

/// Execution of a query: the runtime, the session, the parameters, and the state of expressions.
pub(crate) struct Exec<'e, 't> {
    pub runtime: &'e mut Runtime<'t>,
    pub session: &'e mut SessionContext,
    pub parameters: &'e [Value],
    pub state: &'e mut EvalState,
    pub mode: EvalMode,
}

/// Value of [`Runtime::conditions_held`]: no condition of the step remains to be checked.
pub(crate) const ALL_CONDITIONS: usize = usize::MAX;

/// Number of rows read between two checks for KILL.
const ROWS_PER_INTERRUPT_CHECK: u32 = 128;

impl<'t> Exec<'_, 't> {
    /// Returns the context for evaluating expressions.
    pub fn context(&mut self) -> EvalContext<'_> {
        EvalContext {
            session: self.session,
            parameters: self.parameters,
            state: self.state,
            outer: None,
            runner: Some(self.runtime),
            mode: self.mode,
        }
    }

    /// Evaluates an expression.
    pub fn eval(&mut self, expr: &Expr, row: &[Value]) -> Result<Value> {
        match &expr.kind {
            ExprKind::Column(slot) => Ok(row[*slot].clone()),
            // A decimal shows the digits of its type.
            ExprKind::Literal(value) if !matches!(value, Value::Decimal(_)) => Ok(value.clone()),
            _ => expr.eval(row, &mut self.context()),
        }
    }

    /// Evaluates an expression; a quotient keeps all its digits.
    pub fn eval_unrounded(&mut self, expr: &Expr, row: &[Value]) -> Result<Value> {
        match &expr.kind {
            ExprKind::Column(slot) => Ok(row[*slot].clone()),
            ExprKind::Literal(value) => Ok(value.clone()),
            _ => expr.eval_unrounded(row, &mut self.context()).map(Cow::into_owned),
        }
    }

    /// Returns whether all conditions hold.
    pub fn all_true<'c>(
        &mut self,
        conditions: impl IntoIterator<Item = &'c Expr>,
        row: &[Value],
    ) -> Result<bool> {
        for condition in conditions {
            if !condition.is_true(row, &mut self.context())? {
                return Ok(false);
            }
        }
        Ok(true)
    }

    /// Tells the ANALYZE statement of a row that was read and whose conditions did not hold.
    pub fn note_rejected(&mut self, access: &TableAccess) {
        if let Some(trace) = &mut self.runtime.trace {
            trace.note_rejected(access);
        }
    }

    /// Counts a row that was read, and checks from time to time whether the statement was killed.
    pub fn tick(&mut self) -> Result<()> {
        self.session.rows_read += 1;
        self.runtime.ticks += 1;
        if self.runtime.ticks >= ROWS_PER_INTERRUPT_CHECK {
            self.runtime.ticks = 0;
            self.session.services.functions.check_interrupt(self.session)?;
        }
        Ok(())
    }
}

impl SubqueryRunner for Runtime<'_> {
    fn run(
        &mut self,
        plan: &(dyn std::any::Any + Send + Sync),
        frame: SubqueryFrame<'_>,
        sink: &mut dyn FnMut(&[Value]) -> Result<ControlFlow<()>>,
    ) -> Result<()> {
        let plan = plan
            .downcast_ref::<QueryPlan>()
            .expect("subqueries are planned by this crate's planner");
        let outer = frame.outer.map_or(&[][..], |outer| outer.row);
        let mut exec = Exec {
            runtime: self,
            session: frame.session,
            parameters: frame.parameters,
            state: frame.state,
            mode: frame.mode,
        };
        super::query::run(&mut exec, plan, outer, &mut |_, row| sink(row))?;
        Ok(())
    }
}

/// Executes a plan in the frame of a statement.
pub(super) fn execute(
    plan: &Plan,
    context: &mut ExecutionContext<'_>,
    sink: &mut dyn RowSink,
) -> Result<Outcome> {
    let join_rows_max = context.session.settings.join_rows_max;
    if join_rows_max < u64::MAX
        && plan.joined_rows() > join_rows_max as f64
        && !matches!(plan.kind, PlanKind::Explain(_))
    {
        return Err(Error::new(paceline_types::error_code::ER_TOO_BIG_SELECT, &[]));
    }
    let seconds = u32::try_from(context.session.statement.start_seconds()).unwrap_or(0);
    let writes = plan.writes();
    let text = if writes {
        std::str::from_utf8(context.text)
            .ok()
            .filter(|text| !text.is_empty())
    } else {
        None
    };
    context.transaction.begin_statement(text, seconds)?;
    context.session.rows_read = 0;
    let result = run_statement(plan, context, sink).and_then(|outcome| {
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

fn run_statement(plan: &Plan, context: &mut ExecutionContext<'_>, sink: &mut dyn RowSink) -> Result<Outcome> {
    for (code, message) in plan.warnings() {
        context.session.diagnostics.warn(*code, message.clone());
    }
    if plan.writes_ordinary() {
        context.transaction.begin_writing()?;
    }
    let strict = context.session.settings.sql_mode.is_strict();
    let mut state = EvalState::new();
    let kind = plan.executed_kind();
    if matches!(kind, PlanKind::Insert(_) | PlanKind::Load(_)) {
        state.keep_only_uncorrelated();
    }
    let checks_foreign_keys = context.session.settings.foreign_key_checks;
    let foreign_keys = plan.foreign_keys.clone().filter(|_| checks_foreign_keys);
    // A replica gets the rows changed by actions as rows, and must neither check keys that were not checked here nor
    // those that were: concurrent statements may not have checked them, and this statement may be later in the log than
    // those.
    if plan.writes_ordinary() && (!checks_foreign_keys || foreign_keys.is_some()) {
        context.transaction.set_no_foreign_key_checks();
    }
    let mut runtime = Runtime::new(context.transaction, &context.session.memory);
    runtime.foreign_keys = foreign_keys;
    let mut exec = Exec {
        runtime: &mut runtime,
        session: context.session,
        parameters: context.parameters,
        state: &mut state,
        mode: match strict && is_strict(kind) {
            true => EvalMode::StrictWrite,
            false if ignores_errors(kind) => EvalMode::Ignore,
            false => EvalMode::Query,
        },
    };
    let mut frame = StatementFrame {
        columns: plan.columns(),
        affected: context.affected,
        rows_max: context.rows_max,
        input: (context.input.as_deref_mut()).map(|input| input as &mut dyn LoadInput),
    };
    let PlanKind::Analyze(analyzed) = &plan.kind else {
        return run_kind(&mut exec, kind, &mut frame, sink);
    };
    exec.runtime.trace = Some(Box::default());
    let started = Instant::now();
    frame.columns = &[];
    run_kind(&mut exec, kind, &mut frame, &mut DiscardedRows)?;
    let trace = exec.runtime.trace.take().unwrap_or_default();
    let rows = analyzed.rows(&trace, started.elapsed())?;
    send_rows(plan.columns(), &rows, sink)
}

/// What the kinds of statements need besides their plans.
struct StatementFrame<'f> {
    columns: &'f [ResultColumn],
    affected: AffectedRows,
    rows_max: u64,
    input: Option<&'f mut (dyn LoadInput + 'f)>,
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

fn run_kind(
    exec: &mut Exec<'_, '_>,
    kind: &PlanKind,
    frame: &mut StatementFrame<'_>,
    sink: &mut dyn RowSink,
) -> Result<Outcome> {
    match kind {
        PlanKind::Query(statement) => {
            let Some(names) = &statement.into else {
                sink.columns(frame.columns)?;
                let mut sent = 0;
                let rows_max = frame.rows_max;
                let found = super::query::run_statement(exec, &statement.query, rows_max, &mut |_, row| {
                    sent += 1;
                    sink.row(row)?;
                    Ok(ControlFlow::Continue(()))
                })?;
                exec.session.found_rows = found.unwrap_or(sent);
                return Ok(Outcome {
                    result_set: true,
                    rows_sent: sent,
                    ..Outcome::default()
                });
            };
            select_into(exec, &statement.query, frame.rows_max, names)
        }
        PlanKind::Insert(insert) => super::insert::execute(exec, insert, frame.affected, frame.columns, sink),
        PlanKind::Update(update) => super::update::execute(exec, update, frame.affected),
        PlanKind::Load(load) => {
            let input = (frame.input.as_deref_mut()).ok_or_else(|| Error::unsupported("LOAD DATA here"))?;
            super::load::execute(exec, load, input)
        }
        PlanKind::Delete(delete) => super::delete::execute(exec, delete, frame.columns, sink),
        PlanKind::Do(exprs) => {
            for expr in exprs {
                exec.eval(expr, &[])?;
            }
            Ok(Outcome::default())
        }
        PlanKind::Explain(rows) => send_rows(frame.columns, rows, sink),
        PlanKind::Analyze(_) => unreachable!("ANALYZE executes the statement within"),
    }
}

/// Returns whether strict mode applies to a statement's expressions: if they compute values to store, and without
/// IGNORE.
fn is_strict(kind: &PlanKind) -> bool {
    match kind {
        PlanKind::Insert(insert) => !insert.ignore,
        PlanKind::Update(update) => !update.ignore,
        PlanKind::Load(load) => !load.insert.ignore,
        PlanKind::Delete(_)
        | PlanKind::Query(_)
        | PlanKind::Do(_)
        | PlanKind::Explain(_)
        | PlanKind::Analyze(_) => false,
    }
}

/// Whether a statement has IGNORE.
fn ignores_errors(kind: &PlanKind) -> bool {
    match kind {
        PlanKind::Insert(insert) => insert.ignore,
        PlanKind::Update(update) => update.ignore,
        PlanKind::Delete(delete) => delete.ignore,
        PlanKind::Load(load) => load.insert.ignore,
        PlanKind::Query(_) | PlanKind::Do(_) | PlanKind::Explain(_) | PlanKind::Analyze(_) => false,
    }
}

/// Executes `SELECT … INTO @a, @b`.
fn select_into(
    exec: &mut Exec<'_, '_>,
    query: &QueryPlan,
    rows_max: u64,
    names: &[String],
) -> Result<Outcome> {
    let mut found: Option<Vec<Value>> = None;
    super::query::run_statement(exec, query, rows_max, &mut |_, row| {
        if found.is_some() {
            return Err(Error::new(paceline_types::error_code::ER_TOO_MANY_ROWS, &[]));
        }
        found = Some(row.to_vec());
        Ok(ControlFlow::Continue(()))
    })?;
    match found {
        Some(row) => {
            for ((name, value), ty) in names.iter().zip(row).zip(&query.types) {
                let variable = UserVariable::new(&value, ty.clone(), &exec.session.settings.time_zone);
                exec.session.user_variables.set(&name.to_lowercase(), variable)?;
            }
            Ok(Outcome {
                affected_rows: 1,
                ..Outcome::default()
            })
        }
        None => {
            exec.session.diagnostics.warn(
                paceline_types::error_code::ER_SP_FETCH_NO_DATA,
                "No data - zero rows fetched, selected, or processed",
            );
            Ok(Outcome::default())
        }
    }
}
