//! The steps of a program that runs within a statement.

use std::sync::Arc;

use super::cursors::{CursorSink, Cursors, SingleRow};
use crate::error::{Error, Result};
use crate::execute::context::{ProgramState, StatementState};
use crate::execute::interface::{
    AffectedRows, ExecutionContext, RowSink, StatementPrograms, check_snapshot, lock_tables,
};
use crate::plan::{Plan, PlanContext, ResultColumn, is_to_be_planned_again, plan_statement};
use crate::program::{
    Bound, Handling, KeptPlan, PreparedProgram, convert_returned, diagnostics_values, error_of, is_true,
    needs_plan, raised_of, set_user_variable, signal, warnings,
};
use paceline_expression::session::SessionContext;
use paceline_expression::{EmptyScope, EvalContext, EvalMode, EvalState, bind_expr};
use paceline_program::{Answer, Code, Raised, Request, Run};
use paceline_syntax::ast::visit::any_expr;
use paceline_syntax::ast::{Expr, TableName};
use paceline_syntax::{QueryStatement, SetItem, SqlStatement, Statement, Target};
use paceline_types::error_code::*;
use paceline_types::{DataType, Value};

/// Maximum number of attempts to plan a statement whose tables change repeatedly.
const ATTEMPTS_MAX: usize = 100;

/// Kind of the outermost program that runs within a statement, for messages.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Place {
    Function,
    Trigger,
}

impl Place {
    fn name(self) -> &'static str {
        match self {
            Place::Function => "function",
            Place::Trigger => "trigger",
        }
    }
}

/// A program as its steps need it.
#[derive(Clone, Copy)]
pub(super) struct Program<'p> {
    pub place: Place,
    /// Name in messages.
    pub name: &'p str,
    /// Value of a function.
    pub returns: Option<Returned<'p>>,
    pub call_procedure: CallProcedure,
}

/// Value of a function.
#[derive(Clone, Copy)]
pub(super) struct Returned<'p> {
    pub data_type: &'p DataType,
    /// The call, for messages.
    pub text: &'p str,
}

/// Calls a procedure: the layer above.
pub(super) type CallProcedure = fn(
    &TableName,
    &[Expr],
    Vec<Value>,
    Place,
    &mut StatementState<'_>,
    &mut SessionContext,
) -> Result<Vec<(Target, Value)>>;

/// Runs a program to its end. Returns the value of its RETURN.
///
/// # Errors
/// The error for which there was no handler. A note after it says where it occurred.
pub(super) fn run_steps(
    run: &mut Run<'_>,
    code: &Code,
    prepared: &mut PreparedProgram,
    program: Program<'_>,
    state: &mut StatementState<'_>,
    session: &mut SessionContext,
) -> Result<Option<Value>> {
    session.variable_types = prepared.expression_types.clone();
    let mut steps = Steps {
        program,
        prepared,
        state,
        session,
        cursors: Cursors::new(code.cursors().len()),
        handling: Handling::default(),
    };
    steps.run(run).map_err(|(error, line)| {
        let message = format!("At line {line} in {}", program.name);
        session.diagnostics.note_after_error(ER_SP_STACK_TRACE, message);
        error
    })
}

struct Steps<'s, 't> {
    program: Program<'s>,
    prepared: &'s mut PreparedProgram,
    state: &'s mut StatementState<'t>,
    session: &'s mut SessionContext,
    cursors: Cursors,
    handling: Handling,
}

impl Steps<'_, '_> {
    fn run(&mut self, run: &mut Run<'_>) -> std::result::Result<Option<Value>, (Error, u32)> {
        loop {
            let line = run.line();
            let located = |raised: Raised| (error_of(raised), line);
            let request = run.request().map_err(located)?;
            self.handling.before_step(run, self.session);
            if let Request::End(value) = request {
                self.handling.end(self.session);
                return Ok(value);
            }
            let line = run.line();
            let located = |raised: Raised| (error_of(raised), line);
            match self.answer(request, run.values()) {
                Ok(answer) => {
                    let warnings = warnings(self.session);
                    run.answer(Ok(answer), &warnings).map_err(located)?;
                }
                Err(error) => {
                    let raised = raised_of(&error);
                    if !self.state.transaction.is_in_statement() || run.answer(Err(raised), &[]).is_err() {
                        // Without a handler, or after a deadlock that has ended the transaction.
                        return Err((error, line));
                    }
                    self.handling.catch(error, self.session);
                }
            }
        }
    }

    fn answer(&mut self, request: Request<'_>, values: &[Value]) -> Result<Answer> {
        self.session.services.functions.check_interrupt(self.session)?;
        let keeps = matches!(
            request,
            Request::Execute(SqlStatement {
                statement: Statement::GetDiagnostics(_) | Statement::Signal(_),
                ..
            })
        );
        match keeps {
            true => self.session.diagnostics.keep(),
            false => self
                .session
                .diagnostics
                .begin(self.session.settings.max_error_count),
        }
        Ok(match request {
            Request::Assign { variable, value } => {
                let value = match value {
                    Some(expr) => self.evaluate(expr, values)?,
                    None => Value::Null,
                };
                Answer::Value(self.prepared.types.convert(variable, value, self.session)?)
            }
            Request::Return(expr) => {
                let value = self.evaluate(expr, values)?;
                Answer::Value(match self.program.returns {
                    Some(Returned { data_type, text }) => {
                        convert_returned(value, data_type, text, self.session)?
                    }
                    None => value,
                })
            }
            Request::Test(expr) => {
                let value = self.evaluate(expr, values)?;
                Answer::Truth(is_true(&value, self.session)?)
            }
            Request::Execute(sql) => self.execute(sql, values)?,
            Request::SelectInto { query, targets } => {
                let row = self.collect::<SingleRow>(query, values)?;
                row.assign(targets, &self.prepared.types, self.session)?
            }
            Request::Open { cursor, query } => {
                let rows = self.collect::<CursorSink>(query, values)?;
                self.cursors.open(cursor, rows, self.session)?
            }
            Request::Fetch { cursor, into } => {
                self.cursors
                    .fetch(cursor, into, &self.prepared.types, self.session)?
            }
            Request::Close { cursor } => {
                self.cursors.close(cursor);
                Answer::Done
            }
            Request::End(_) => Answer::Done,
        })
    }

    /// Evaluates an expression of the program.
    fn evaluate(&mut self, expr: &Expr, values: &[Value]) -> Result<Value> {
        match self.bound(expr)? {
            Bound::Direct(bound) => {
                let mut evaluation = EvalState::new();
                let mut context = EvalContext {
                    session: self.session,
                    parameters: values,
                    state: &mut evaluation,
                    runner: None,
                    mode: EvalMode::Query,
                };
                Ok(bound.eval_unrounded(&[], &mut context)?.into_owned())
            }
            Bound::Query(statement) => {
                let key = std::ptr::from_ref(expr).addr();
                let row = self.collect_planned::<SingleRow>(key, &statement, values)?;
                Ok(row.into_value().0)
            }
        }
    }

    fn bound(&mut self, expr: &Expr) -> Result<Bound> {
        let key = std::ptr::from_ref(expr).addr();
        if let Some(bound) = self.prepared.expressions.get(&key) {
            return Ok(bound.clone());
        }
        let bound = match needs_plan(expr) {
            true => Bound::Query(Arc::new(Statement::Query(Box::new(
                QueryStatement::of_expression(expr.clone()),
            )))),
            false => {
                let mut scope = EmptyScope::new(self.session);
                Bound::Direct(Arc::new(bind_expr(expr, &mut scope)?))
            }
        };
        // The type of a user variable is that of its last value.
        if !any_expr(expr, &mut |expr| matches!(expr, Expr::UserVariable(_))) {
            self.prepared.expressions.insert(key, bound.clone());
        }
        Ok(bound)
    }

    fn execute(&mut self, sql: &SqlStatement, values: &[Value]) -> Result<Answer> {
        match &sql.statement {
            Statement::Insert(_) | Statement::Update(_) | Statement::Delete(_) | Statement::Do(_) => {
                let key = std::ptr::from_ref(sql).addr();
                let mut rows = NoRows {
                    place: self.program.place,
                };
                let outcome = self.execute_planned(key, &sql.statement, values, &mut rows)?;
                self.session.row_count = i64::try_from(outcome.affected_rows).unwrap_or(i64::MAX);
                Ok(Answer::Done)
            }
            Statement::Query(_) | Statement::Show(_) | Statement::Explain(_) => {
                Err(Error::new(ER_SP_NO_RETSET, &[&self.program.place.name()]))
            }
            Statement::Set(items) => self.set(items, values),
            Statement::Signal(condition) => {
                signal(condition, self.session, values)?;
                Ok(Answer::Done)
            }
            Statement::GetDiagnostics(get) => {
                let read = diagnostics_values(get, self.session, values)?;
                self.assign(read)
            }
            Statement::Call { procedure, arguments } => {
                let mut given = Vec::with_capacity(arguments.len());
                for argument in arguments {
                    given.push(self.evaluate(argument, values)?);
                }
                let call = self.program.call_procedure;
                let outputs = call(
                    procedure,
                    arguments,
                    given,
                    self.program.place,
                    self.state,
                    self.session,
                )?;
                self.assign(outputs)
            }
            Statement::Empty => Ok(Answer::Done),
            Statement::Transaction(_) | Statement::Ddl(_) | Statement::Account(_) => {
                Err(Error::new(ER_COMMIT_NOT_ALLOWED_IN_SF_OR_TRG, &[]))
            }
            Statement::Prepare { .. }
            | Statement::Execute { .. }
            | Statement::ExecuteImmediate { .. }
            | Statement::Deallocate(_) => {
                Err(Error::new(ER_STMT_NOT_ALLOWED_IN_SF_OR_TRG, &[&"Dynamic SQL"]))
            }
            _ => Err(Error::unsupported("this statement in a function or trigger")),
        }
    }

    /// Gives targets their values. Returns those of the program's variables.
    fn assign(&mut self, values: Vec<(Target, Value)>) -> Result<Answer> {
        let mut assigned = Vec::new();
        for (target, value) in values {
            match target {
                Target::User(name) => set_user_variable(&name, &value, self.session)?,
                Target::Variable(variable) => {
                    assigned.push((
                        variable,
                        self.prepared.types.convert(variable, value, self.session)?,
                    ));
                }
            }
        }
        Ok(Answer::Values(assigned))
    }

    fn set(&mut self, items: &[SetItem], values: &[Value]) -> Result<Answer> {
        for item in items {
            match item {
                SetItem::UserVariable { name, value } => {
                    let value = self.evaluate(value, values)?;
                    set_user_variable(name, &value, self.session)?;
                }
                _ => {
                    return Err(Error::unsupported(
                        "SET of system variables in a function or trigger",
                    ));
                }
            }
        }
        Ok(Answer::Done)
    }

    fn collect<S: RowSink + Default>(&mut self, sql: &SqlStatement, values: &[Value]) -> Result<S> {
        self.collect_planned(std::ptr::from_ref(sql).addr(), &sql.statement, values)
    }

    fn collect_planned<S: RowSink + Default>(
        &mut self,
        key: usize,
        statement: &Statement,
        values: &[Value],
    ) -> Result<S> {
        let mut rows = S::default();
        self.execute_planned(key, statement, values, &mut rows)?;
        Ok(rows)
    }

    /// Plans a statement, or takes its plan, locks its tables and executes it.
    fn execute_planned(
        &mut self,
        key: usize,
        statement: &Statement,
        values: &[Value],
        sink: &mut dyn RowSink,
    ) -> Result<crate::execute::Outcome> {
        for _ in 0..ATTEMPTS_MAX {
            let plan = self.plan(key, statement, values)?;
            if let Some(outcome) = execute_nested(&plan, values, self.state, self.session, sink)? {
                if let Some(kept) = self.prepared.plans.get_mut(&key) {
                    kept.rows_read = self.session.rows_read;
                }
                return Ok(outcome);
            }
            self.prepared.plans.remove(&key);
        }
        Err(Error::new(ER_TABLE_DEF_CHANGED, &[]))
    }

    fn plan(&mut self, key: usize, statement: &Statement, values: &[Value]) -> Result<Arc<Plan>> {
        if let Some(kept) = self.prepared.plans.get(&key)
            && !is_to_be_planned_again(&kept.plan, kept.rows_read)
        {
            return Ok(kept.plan.clone());
        }
        let host = self.state.programs()?.host.clone();
        let catalog = host.catalog();
        let context = PlanContext {
            catalog: &catalog,
            session: self.session,
            statistics: host.statistics(),
            parameters: values,
        };
        let plan = Arc::new(plan_statement(statement, &context)?);
        let kept = KeptPlan {
            plan: plan.clone(),
            rows_read: 0,
        };
        self.prepared.plans.insert(key, kept);
        Ok(plan)
    }
}

/// Executes a statement of a program within the outer one. Returns `None` if its tables have changed since the plan.
fn execute_nested(
    plan: &Plan,
    parameters: &[Value],
    state: &mut StatementState<'_>,
    session: &mut SessionContext,
    sink: &mut dyn RowSink,
) -> Result<Option<crate::execute::Outcome>> {
    let StatementState {
        transaction,
        programs,
        ..
    } = state;
    let ProgramState {
        host,
        cache,
        used,
        execute,
        ..
    } = programs
        .as_mut()
        .ok_or_else(|| Error::unsupported("stored programs here"))?;
    host.check(plan, session)?;
    for table in plan.tables().iter().filter(|table| table.usage.writes()) {
        if used.contains(&table.database, &table.name) {
            return Err(Error::new(ER_CANT_UPDATE_USED_TABLE_IN_SF_OR_TRG, &[&table.name]));
        }
    }
    if plan.writes_ordinary() {
        transaction.begin_writing()?;
    }
    lock_tables(plan, transaction)?;
    let catalog = host.catalog();
    if !plan.is_current(&catalog) {
        return Ok(None);
    }
    check_snapshot(plan, transaction)?;
    let mut context = ExecutionContext {
        transaction,
        session,
        catalog: &catalog,
        parameters,
        text: b"",
        affected: AffectedRows::Changed,
        rows_max: u64::MAX,
        input: None,
        text_log: None,
        programs: Some(StatementPrograms {
            host: host.clone(),
            cache,
            outer: Some(used),
        }),
    };
    execute(plan, &mut context, sink).map(Some)
}

/// Sink of statements that must not return rows.
struct NoRows {
    place: Place,
}

impl RowSink for NoRows {
    fn columns(&mut self, _: &[ResultColumn]) -> Result<()> {
        Err(Error::new(ER_SP_NO_RETSET, &[&self.place.name()]))
    }

    fn row(&mut self, _: &[Value]) -> Result<()> {
        Ok(())
    }
}
