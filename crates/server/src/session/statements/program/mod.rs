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
//! | [`queries`] | queries with INTO, cursors, plans that are kept between executions |
//! | [`signal`], [`diagnostics`] | SIGNAL and RESIGNAL; GET DIAGNOSTICS |
//!
//! # Limits
//! The memory of variables and cursors counts as the session's. KILL is checked before each statement and each
//! iteration of a loop.

mod call;
mod diagnostics;
mod event;
mod queries;
mod signal;

pub use call::call;
pub use diagnostics::execute as get_diagnostics;
pub use event::run_event;
pub use signal::execute as signal;

use super::set::evaluate_any;
use crate::session::execution::{Execution, QueryOrigin};
use crate::session::protocol::{Connection, More, Reply};
use crate::session::state::SessionState;
use paceline_expression::session::{KeepDiagnostics, Level, ServerFunctions};
use paceline_program::{Answer, Code, Raised, RaisedLevel, Request, Run};
use paceline_query::program::{VariableTypes, is_true};
use paceline_syntax::ast::{Expr, TableName};
use paceline_syntax::{Error, Program, Result, SqlStatement, Statement, Target};
use paceline_types::error_code::*;
use paceline_types::{ErrorCode, SignalledCondition, Value};
use paceline_wire::Capabilities;
use queries::{Cursors, KeptPlans};
use std::sync::Arc;

/// Executes a program outside a routine.
///
/// # Errors
/// The error for which there was no handler.
pub async fn execute(
    program: &Program,
    state: &mut SessionState,
    connection: &mut Connection,
    execution: Execution<'_>,
) -> Result<Reply> {
    let code = Code::compile(program);
    let catalog = state.catalog();
    let types = VariableTypes::resolve(code.variables(), None, &catalog, &mut state.context)?;
    // Within EXECUTE IMMEDIATE in another program, the outer program's variables are restored at the end.
    let outer = std::mem::replace(&mut state.context.variable_types, types.of_expressions());
    let outer_handled = state.context.handled_condition.take();
    let done = run(
        &code,
        Vec::new(),
        types,
        "anonymous block",
        state,
        connection,
        execution,
    )
    .await;
    state.context.variable_types = outer;
    state.context.handled_condition = outer_handled;
    done.map(|finished| Reply::affected(finished.affected_rows))
}

/// What is left of a program that has ended.
struct Finished {
    /// Values of its variables; parameters first.
    values: Vec<Value>,
    affected_rows: u64,
}

/// Runs a program with the values of its parameters. `name` is its name in messages.
///
/// # Errors
/// The error for which there was no handler. A note after it says where it occurred.
async fn run(
    code: &Code,
    parameters: Vec<Value>,
    types: VariableTypes,
    name: &str,
    state: &mut SessionState,
    connection: &mut Connection,
    execution: Execution<'_>,
) -> Result<Finished> {
    let mut driver = Driver {
        name,
        state,
        connection,
        execution,
        types,
        plans: KeptPlans::default(),
        cursors: Cursors::new(code.cursors().len()),
        affected_rows: 0,
        caught: None,
    };
    let mark = driver.state.context.diagnostics.mark();
    let mut run = Run::new(code, parameters);
    let done = driver.run(&mut run).await;
    driver.state.context.diagnostics.end_since(mark);
    match done {
        Ok(()) => Ok(Finished {
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
struct Driver<'a> {
    /// Name of the program in messages.
    name: &'a str,
    state: &'a mut SessionState,
    connection: &'a mut Connection,
    execution: Execution<'a>,
    types: VariableTypes,
    plans: KeptPlans,
    cursors: Cursors,
    affected_rows: u64,
    /// The last error for which a handler was found.
    caught: Option<Error>,
}

impl Driver<'_> {
    /// Runs the program to its end. An error is returned with the line of its statement.
    async fn run(&mut self, run: &mut Run<'_>) -> std::result::Result<(), (Error, u32)> {
        let mut was_handling = false;
        loop {
            let line = run.line();
            let located = |raised: Raised| (error_of(raised), line);
            let request = run.request().map_err(located)?;
            self.note_handler(run, &mut was_handling);
            if let Request::End(_) = request {
                return Ok(());
            }
            let line = run.line();
            let located = |raised: Raised| (error_of(raised), line);
            let done = self.answer(request, run.values()).await;
            match done {
                Ok(answer) => {
                    let warnings: Vec<Raised> = self.warnings();
                    run.answer(Ok(answer), &warnings).map_err(located)?;
                }
                Err(error) => {
                    self.state.abort_statement();
                    let raised = raised_of(&error);
                    if run.answer(Err(raised), &[]).is_err() {
                        return Err((error, line));
                    }
                    // A handler will run, and it finds the error among the conditions.
                    self.state.context.diagnostics.push_error(&error);
                    self.state.context.row_count = -1;
                    self.caught = Some(error);
                    was_handling = true;
                }
            }
        }
    }

    /// Stores the condition that is being handled, and removes the conditions of a handler that has ended.
    fn note_handler(&mut self, run: &Run<'_>, was_handling: &mut bool) {
        let handled = run.handled();
        if *was_handling && handled.is_none() {
            let most = self.state.context.settings.max_error_count;
            self.state.context.diagnostics.clear(most);
        }
        *was_handling = handled.is_some();
        self.state.context.handled_condition = handled.map(|raised| {
            let is_meant =
                |error: &Error| error.code().number() == raised.code && error.message() == raised.message;
            // The error of a statement also has the items of its SIGNAL.
            Box::new(match &self.caught {
                Some(error) if is_meant(error) => error.clone(),
                _ => error_of(raised.clone()),
            })
        });
    }

    /// Returns the warnings of the last statement.
    fn warnings(&self) -> Vec<Raised> {
        let raised = self.state.context.diagnostics.raised().iter();
        raised
            .filter(|condition| condition.level != Level::Error)
            .map(|condition| Raised {
                level: RaisedLevel::Warning,
                code: condition.code.number(),
                sqlstate: condition.sqlstate().to_owned(),
                message: condition.message.clone(),
            })
            .collect()
    }

    async fn answer(&mut self, request: Request<'_>, values: &[Value]) -> Result<Answer> {
        self.state.services.check_interrupt(&self.state.context)?;
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
        Ok(match request {
            Request::Assign { variable, value } => {
                let value = match value {
                    Some(expr) => self.evaluate(expr, values).await?,
                    None => Value::Null,
                };
                Answer::Value(self.types.convert(variable, value, &mut self.state.context)?)
            }
            Request::Return(expr) => Answer::Value(self.evaluate(expr, values).await?),
            Request::Test(expr) => {
                let value = self.evaluate(expr, values).await?;
                Answer::Truth(is_true(&value, &mut self.state.context)?)
            }
            Request::Execute(SqlStatement {
                statement: Statement::GetDiagnostics(get),
                ..
            }) => {
                let mut assigned = Vec::new();
                for (target, value) in diagnostics::values(get, self.state, values)? {
                    match target {
                        Target::User(name) => diagnostics::set_user_variable(&name, &value, self.state)?,
                        Target::Variable(variable) => {
                            let value = self.types.convert(variable, value, &mut self.state.context)?;
                            assigned.push((variable, value));
                        }
                    }
                }
                Answer::Values(assigned)
            }
            Request::Execute(SqlStatement {
                statement: Statement::Call { procedure, arguments },
                ..
            }) => self.call(procedure, arguments, values).await?,
            Request::Execute(sql) => {
                self.execute_sql(sql, values).await?;
                Answer::Done
            }
            Request::SelectInto { query, targets } => self.select_into(query, targets, values).await?,
            Request::Open { cursor, query } => self.open(cursor, query, values).await?,
            Request::Fetch { cursor, into } => self.fetch(cursor, into)?,
            Request::Close { cursor } => {
                self.cursors.close(cursor);
                Answer::Done
            }
            Request::End(_) => Answer::Done,
        })
    }

    /// Executes CALL. The values of OUT parameters are for variables of this program, or of the user.
    async fn call(&mut self, procedure: &TableName, arguments: &[Expr], values: &[Value]) -> Result<Answer> {
        let execution = Execution {
            parameters: values,
            ..self.execution
        };
        let called = call::call_procedure(procedure, arguments, self.state, self.connection, execution);
        let (outputs, affected_rows) = Box::pin(called).await?;
        self.affected_rows += affected_rows;
        let mut assigned = Vec::new();
        for (target, value) in outputs {
            match target {
                Target::User(name) => diagnostics::set_user_variable(&name, &value, self.state)?,
                Target::Variable(variable) => {
                    let value = self.types.convert(variable, value, &mut self.state.context)?;
                    assigned.push((variable, value));
                }
            }
        }
        Ok(Answer::Values(assigned))
    }

    async fn evaluate(&mut self, expr: &Expr, values: &[Value]) -> Result<Value> {
        evaluate_any(expr, values, self.state)
            .await
            .map(|(value, _)| value)
    }

    /// Executes an SQL statement. Its rows are sent to the client.
    async fn execute_sql(&mut self, sql: &SqlStatement, values: &[Value]) -> Result<()> {
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
        if KeptPlans::keeps(&sql.statement) {
            self.execute_planned(sql, execution).await?;
        } else {
            super::execute(&sql.statement, self.state, self.connection, execution).await?;
        }
        self.affected_rows += u64::try_from(self.state.context.row_count).unwrap_or(0);
        Ok(())
    }
}

/// Returns whether a statement sends rows to the client.
fn returns_rows(statement: &Statement) -> bool {
    match statement {
        Statement::Query(query) => query.into.is_none(),
        Statement::Show(_) | Statement::Explain(_) => true,
        _ => false,
    }
}

/// Converts an error to the form that programs use.
fn raised_of(error: &Error) -> Raised {
    const FATAL: [ErrorCode; 5] = [
        ER_QUERY_INTERRUPTED,
        ER_CONNECTION_KILLED,
        ER_SERVER_SHUTDOWN,
        ER_STATEMENT_TIMEOUT,
        ER_OUT_OF_RESOURCES,
    ];
    Raised {
        level: match FATAL.contains(&error.code()) {
            true => RaisedLevel::Fatal,
            false => RaisedLevel::Error,
        },
        code: error.code().number(),
        sqlstate: error.sqlstate().to_owned(),
        message: error.message().to_owned(),
    }
}

fn error_of(raised: Raised) -> Error {
    let code = ErrorCode::from_number(raised.code);
    let error = Error::with_message(code, raised.message);
    match raised.sqlstate == code.sqlstate() {
        true => error,
        false => error.signalled(Arc::new(SignalledCondition {
            sqlstate: raised.sqlstate,
            items: Vec::new(),
        })),
    }
}
