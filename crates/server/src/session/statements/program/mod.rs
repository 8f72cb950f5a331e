//! Programs of the session: procedures, BEGIN NOT ATOMIC, and control statements outside a routine.
//!
//! [`paceline_program::Run`] decides the next step, and this module executes it in the session. Each SQL statement is
//! executed like one of the client's: it has its metadata locks and, with autocommit, its commit. Its rows are sent to
//! the client at once. At the end the client receives one OK packet, with the total number of changed rows.
//!
//! | module | subject |
//! |---|---|
//! | this one | the loop of requests and answers |
//! | [`call`] | CALL: arguments, recursion, the settings that a procedure runs with |
//! | [`event`] | the body of an event |
//! | [`queries`] | expressions, statements with plans, queries with INTO, cursors |
//!
//! # Limits
//! The memory of variables and cursors counts as the session's. KILL is checked before each statement and each
//! iteration of a loop.

mod call;
mod event;
mod queries;

pub use call::call;
pub use event::run_event;

use crate::command_counter::count_command;
use crate::session::execution::{Execution, QueryOrigin};
use crate::session::protocol::{Connection, More, Reply};
use crate::session::state::SessionState;
use crate::session::statements::dispatcher::Dispatcher;
use paceline_expression::session::{KeepDiagnostics, ServerFunctions};
use paceline_program::{Answer, Code, CodePlace, RaisedCondition, Request, Run};
use paceline_query::execute::Cursors;
use paceline_query::program::{
    Handling, PreparedProgram, diagnostics_values, error_of, is_true, raised_of, set_user_variable, warnings,
};
use paceline_syntax::ast::{Expr, TableName};
use paceline_syntax::{Error, Program, Result, SetItem, SqlStatement, Statement, Target};
use paceline_types::Value;
use paceline_types::error_code::*;
use paceline_wire::Capabilities;
use queries::has_plan;
use std::sync::Arc;

/// Number of evaluations between two checks for KILL.
const STEPS_PER_INTERRUPT_CHECK: u32 = 16;

/// Executes a program outside a routine.
///
/// # Errors
/// The error for which there was no handler.
pub async fn execute(
    program: &Program,
    state: &mut SessionState,
    connection: &mut Connection,
    execution: Execution<'_>,
    dispatcher: impl Dispatcher,
) -> Result<Reply> {
    let code = Arc::new(Code::compile(program));
    let catalog = state.catalog();
    let mut prepared = PreparedProgram::new(code, None, &catalog, &mut state.context)?;
    // Within EXECUTE IMMEDIATE in another program, the outer program's variables are restored at the end.
    let outer = std::mem::take(&mut state.context.program_variables);
    let outer_handled = state.context.handled_condition.take();
    let outer_mode = state.context.settings.sql_mode;
    let done = run(
        &mut prepared,
        Vec::new(),
        "anonymous block",
        state,
        connection,
        execution,
        dispatcher,
    )
    .await;
    state.context.program_variables = outer;
    state.context.settings.sql_mode = outer_mode;
    state.context.handled_condition = outer_handled;
    done.map(|finished| Reply::affected(finished.affected_rows))
}

/// Result of a program that ran to its end.
struct ProgramResult {
    /// Values of its variables; parameters first.
    values: Vec<Value>,
    affected_rows: u64,
}

/// Runs a program with the values of its parameters. `name` is its name in messages.
///
/// # Errors
/// The error for which there was no handler. A note after it says where it occurred.
async fn run(
    prepared: &mut PreparedProgram,
    parameters: Vec<Value>,
    name: &str,
    state: &mut SessionState,
    connection: &mut Connection,
    execution: Execution<'_>,
    dispatcher: impl Dispatcher,
) -> Result<ProgramResult> {
    state.context.program_variables = prepared.program_variables().clone();
    let code = prepared.code().clone();
    let mut driver = Driver {
        name,
        state,
        connection,
        execution: Execution {
            using: &[],
            ..execution
        },
        dispatcher,
        prepared,
        cursors: Cursors::new(code.cursors().len()),
        affected_rows: 0,
        handling: Handling::default(),
        steps: 0,
    };
    let mark = driver.state.context.diagnostics.mark();
    let mut run = Run::new(&code, parameters);
    let done = driver.run(&mut run).await;
    driver.state.context.diagnostics.end_since(mark);
    match done {
        Ok(()) => Ok(ProgramResult {
            affected_rows: driver.affected_rows,
            values: run.into_values(),
        }),
        Err((error, line)) => {
            let message = format!("At line {line} in {name}");
            state
                .context
                .diagnostics
                .note_after_error(ER_SP_STACK_TRACE, message);
            Err(error)
        }
    }
}

/// A program with the state on which its requests work.
struct Driver<'a, D> {
    /// Name of the program in messages.
    name: &'a str,
    state: &'a mut SessionState,
    connection: &'a mut Connection,
    execution: Execution<'a>,
    /// Executes the statements without a plan.
    dispatcher: D,
    prepared: &'a mut PreparedProgram,
    cursors: Cursors,
    affected_rows: u64,
    handling: Handling,
    /// Number of steps so far.
    steps: u32,
}

impl<D: Dispatcher> Driver<'_, D> {
    /// Runs the program to its end. An error is returned with the line of its statement.
    async fn run(&mut self, run: &mut Run<'_>) -> std::result::Result<(), (Error, u32)> {
        loop {
            let line = run.line();
            let located = |raised: RaisedCondition| (error_of(raised), line);
            let request = run.request().map_err(located)?;
            self.handling.before_step(run, &mut self.state.context);
            if let Request::End(_) = request {
                return Ok(());
            }
            let line = run.line();
            let located = |raised: RaisedCondition| (error_of(raised), line);
            let done = self.answer(request, run.place(), run.values()).await;
            match done {
                Ok(answer) => {
                    let warnings = warnings(&self.state.context);
                    run.answer(Ok(answer), &warnings).map_err(located)?;
                }
                Err(error) => {
                    self.state.abort_statement();
                    let raised = raised_of(&error);
                    if run.answer(Err(raised), &[]).is_err() {
                        return Err((error, line));
                    }
                    self.handling.catch(error, &mut self.state.context);
                }
            }
        }
    }

    async fn answer(&mut self, request: Request<'_>, place: CodePlace, values: &[Value]) -> Result<Answer> {
        // Statements that read rows check themselves, so that most steps need not look at the clock.
        self.steps = self.steps.wrapping_add(1);
        if self.steps.is_multiple_of(STEPS_PER_INTERRUPT_CHECK) || !is_evaluation(&request) {
            self.state.services.check_interrupt(&self.state.context)?;
        }
        let keeps = matches!(
            request,
            Request::Execute(SqlStatement {
                statement: Statement::GetDiagnostics(_) | Statement::Signal(_),
                ..
            })
        );
        self.state.context.begin_statement(match keeps {
            true => KeepDiagnostics::Yes,
            false => KeepDiagnostics::No,
        });
        if let Request::Execute(sql)
        | Request::SelectInto { query: sql, .. }
        | Request::Open { query: sql, .. } = &request
        {
            self.state.shared.commands_within.count(&sql.statement);
        }
        Ok(match request {
            Request::Assign { variable, value } => {
                let value = match value {
                    Some(expr) => self.evaluate(place, expr, values).await?,
                    None => Value::Null,
                };
                Answer::Value(
                    self.prepared
                        .types()
                        .convert(variable, value, &mut self.state.context)?,
                )
            }
            Request::AssignRow { row, value } => self.assign_row(row, value, place, values).await?,
            Request::AssignQuery { row, query } => self.assign_query(row, query, place, values).await?,
            Request::DefineRow { row, query } => {
                let defined = self.define_row(row, query, place, values);
                if defined.is_err() {
                    self.prepared.undefine_row(row, &mut self.state.context);
                }
                defined?
            }
            // The parser refuses it outside of aggregate functions.
            Request::FetchGroup => return Err(Error::new(ER_NOT_AGGREGATE_FUNCTION, &[])),
            Request::FetchNext { cursor, into } => {
                let types = self.prepared.types();
                (self.cursors).fetch_next(cursor, into, types, &mut self.state.context)?
            }
            Request::Return(expr) => Answer::Value(self.evaluate(place, expr, values).await?),
            Request::Test(expr) => {
                let value = self.evaluate(place, expr, values).await?;
                Answer::Truth(is_true(&value, &mut self.state.context)?)
            }
            Request::Execute(SqlStatement {
                statement: Statement::GetDiagnostics(get),
                ..
            }) => {
                let mut assigned = Vec::new();
                for (target, value) in diagnostics_values(get, &mut self.state.context, values)? {
                    match target {
                        Target::User(name) => set_user_variable(&name, &value, &mut self.state.context)?,
                        Target::Variable(variable) => {
                            let value =
                                self.prepared
                                    .types()
                                    .convert(variable, value, &mut self.state.context)?;
                            assigned.push((variable, value));
                        }
                    }
                }
                Answer::Values(assigned)
            }
            Request::Execute(SqlStatement {
                statement: Statement::Call { procedure, arguments },
                ..
            }) => self.call(procedure, arguments, place, values).await?,
            Request::Execute(SqlStatement {
                statement: Statement::Set(items),
                ..
            }) if items
                .iter()
                .all(|item| matches!(item, SetItem::UserVariable { .. })) =>
            {
                self.set_user_variables(items, place, values).await?;
                Answer::Done
            }
            Request::Execute(sql) => {
                self.execute_sql(sql, place, values).await?;
                Answer::Done
            }
            Request::SelectInto { query, targets } => self.select_into(query, place, targets, values).await?,
            Request::Open { cursor, query } => self.open(cursor, query, place, values).await?,
            Request::Fetch { cursor, into } => {
                self.cursors
                    .fetch(cursor, into, self.prepared.types(), &mut self.state.context)?
            }
            Request::Close { cursor } => {
                self.cursors.close(cursor);
                Answer::Done
            }
            Request::End(_) => Answer::Done,
        })
    }

    /// Executes CALL. The values of OUT parameters are for variables of this program, or of the user.
    async fn call(
        &mut self,
        procedure: &TableName,
        arguments: &[Expr],
        place: CodePlace,
        values: &[Value],
    ) -> Result<Answer> {
        let callee = call::Callee::find(procedure, arguments, self.state)?;
        let mut given = Vec::with_capacity(arguments.len());
        for (number, argument) in arguments.iter().enumerate() {
            given.push(match callee.reads(number) {
                true => self.evaluate(place.of_item(number), argument, values).await?,
                false => Value::Null,
            });
        }
        let execution = Execution {
            parameters: values,
            ..self.execution
        };
        let called =
            Box::pin(callee.call(given, self.state, self.connection, execution, self.dispatcher)).await?;
        self.affected_rows += called.affected_rows;
        let mut assigned = Vec::new();
        for call::OutputValue { target, value, .. } in called.outputs {
            match target {
                Target::User(name) => set_user_variable(&name, &value, &mut self.state.context)?,
                Target::Variable(variable) => {
                    let value = self
                        .prepared
                        .types()
                        .convert(variable, value, &mut self.state.context)?;
                    assigned.push((variable, value));
                }
            }
        }
        Ok(Answer::Values(assigned))
    }

    /// Executes an SQL statement. Its rows are sent to the client.
    async fn execute_sql(&mut self, sql: &SqlStatement, place: CodePlace, values: &[Value]) -> Result<()> {
        if returns_rows(&sql.statement) && !self.connection.capabilities.has(Capabilities::MULTI_RESULTS) {
            return Err(Error::new(ER_SP_BADSELECT, &[&self.name]));
        }
        let execution = Execution {
            text: sql.text.as_bytes(),
            parameters: values,
            more: More::InProgram,
            asked_by: QueryOrigin::Client,
            ..self.execution
        };
        if has_plan(&sql.statement, self.state) {
            count_command(&sql.statement, &self.state.shared.counters);
            self.execute_planned(sql, place, execution).await?;
        } else {
            self.dispatcher
                .execute(&sql.statement, self.state, self.connection, execution)
                .await?;
        }
        self.affected_rows += u64::try_from(self.state.context.row_count).unwrap_or(0);
        Ok(())
    }
}

/// Returns whether a request is only the evaluation of an expression.
fn is_evaluation(request: &Request<'_>) -> bool {
    matches!(
        request,
        Request::Assign { .. } | Request::Test(_) | Request::AssignRow { .. }
    )
}

/// Returns whether a statement sends rows to the client.
fn returns_rows(statement: &Statement) -> bool {
    match statement {
        Statement::Query(query) => query.into.is_none(),
        Statement::Show(_) | Statement::Explain(_) => true,
        _ => false,
    }
}
