//! CALL: a procedure of the catalog.
//!
//! ```text
//!   arguments, in the caller's settings ─▶ settings of the procedure ─▶ run ─▶ settings of the caller ─▶ OUT arguments
//! ```
//! The values of OUT and INOUT parameters are assigned only if the procedure ends without an error.

use super::run;
use crate::accounts::checks::check_routine;
use crate::session::execution::Execution;
use crate::session::protocol::{Connection, More, Output, Reply};
use crate::session::replies::ReplyWriter;
use crate::session::state::SessionState;
use crate::session::statements::dispatcher::Dispatcher;
use crate::session::statements::expression;
use crate::variables::Variable;
use paceline_catalog::ddl::no_such_routine;
use paceline_catalog::{CompiledRoutine, RoutineDefinition, ViewSecurity};
use paceline_expression::ExprType;
use paceline_expression::session::{Privilege, ProgramVariables, SqlMode};
use paceline_query::program::{
    check_recursion, enter_routine, leave_routine, output_targets, set_user_variable,
};
use paceline_syntax::ast::{Expr, TableName};
use paceline_syntax::{Result, RoutineParameter, RoutineType, Target};
use paceline_types::Value;
use paceline_wire::Capabilities;
use std::sync::Arc;

/// Executes CALL outside of a program.
///
/// # Errors
/// Those of [`Callee::find`] and [`Callee::call`], and of the arguments.
pub async fn call(
    procedure: &TableName,
    arguments: &[Expr],
    state: &mut SessionState,
    connection: &mut Connection,
    execution: Execution<'_>,
    dispatcher: impl Dispatcher,
) -> Result<Reply> {
    let callee = Callee::find(procedure, arguments, state)?;
    let mut values = Vec::with_capacity(arguments.len());
    for (number, argument) in arguments.iter().enumerate() {
        values.push(match callee.reads(number) {
            true => {
                expression::evaluate(argument, execution.parameters, state)
                    .await?
                    .0
            }
            false => Value::Null,
        });
    }
    let called = callee
        .call(values, state, connection, execution, dispatcher)
        .await?;
    let mut sent = Output::new();
    let mut row = Vec::new();
    for OutputValue {
        target,
        name,
        ty,
        value,
    } in called.outputs
    {
        match target {
            Target::User(name) => set_user_variable(&name, &value, &mut state.context)?,
            Target::Variable(number) => match execution.using.get(number).map(Expr::without_parentheses) {
                Some(Expr::UserVariable(name)) => set_user_variable(name, &value, &mut state.context)?,
                Some(_) => {}
                None => {
                    sent.parameter(&name, ty);
                    row.push(value);
                }
            },
        }
    }
    if !row.is_empty() && connection.capabilities.has(Capabilities::PS_MULTI_RESULTS) {
        sent.row(row);
        let execution = Execution {
            more: More::AfterOutParameters,
            ..execution
        };
        ReplyWriter::new(state, connection).reply(Reply::Rows(sent), execution)?;
    }
    Ok(Reply::affected(called.affected_rows))
}

/// Result of a procedure call.
pub struct CallResult {
    /// Values of OUT and INOUT parameters.
    pub outputs: Vec<OutputValue>,
    pub affected_rows: u64,
}

/// Value of an OUT or INOUT parameter.
pub struct OutputValue {
    pub target: Target,
    /// Name of the parameter.
    pub name: String,
    /// Type of the parameter.
    pub ty: ExprType,
    pub value: Value,
}

/// A procedure that is to be called.
pub struct Callee {
    routine: Arc<RoutineDefinition>,
    compiled: Arc<CompiledRoutine>,
    /// Targets of OUT and INOUT arguments with the numbers of their parameters.
    targets: Vec<(usize, Target)>,
}

impl Callee {
    /// Finds the procedure of a CALL.
    ///
    /// # Errors
    /// 1305 if it does not exist, 1370 without the privilege, 1318 for another number of arguments, 1414 for an OUT
    /// argument that is no variable.
    pub fn find(procedure: &TableName, arguments: &[Expr], state: &mut SessionState) -> Result<Callee> {
        state.shared.counters.com_call_procedure.add(1);
        let (database, name) = state.qualified(procedure)?;
        let catalog = state.catalog();
        let kind = RoutineType::Procedure;
        let Some(routine) = catalog.routine(kind, &database, &name).cloned() else {
            return Err(no_such_routine(kind, &database, &name));
        };
        let authority = state.services.authority(&state.context);
        check_routine(authority, Privilege::Execute, &routine)?;
        let compiled = routine.compiled()?;
        let targets = output_targets(&routine, &compiled, arguments)?;
        Ok(Callee {
            routine,
            compiled,
            targets,
        })
    }

    /// Returns whether an argument is evaluated. An OUT parameter begins as NULL.
    pub fn reads(&self, argument: usize) -> bool {
        self.compiled.parameters[argument] != RoutineParameter::Out
    }

    /// Calls the procedure with the values of its arguments.
    ///
    /// # Errors
    /// 1456 for recursion beyond `max_sp_recursion_depth`, 1449 for a missing definer; the errors of the procedure.
    pub async fn call(
        self,
        arguments: Vec<Value>,
        state: &mut SessionState,
        connection: &mut Connection,
        execution: Execution<'_>,
        dispatcher: impl Dispatcher,
    ) -> Result<CallResult> {
        let routine = &self.routine;
        let most = state
            .services
            .values
            .lock()
            .get(Variable::MaxSpRecursionDepth)
            .as_u64();
        check_recursion(routine, most, &state.context)?;
        let definer = (routine.security == ViewSecurity::Definer).then_some(&routine.definer);
        let saved = enter_routine(
            &self.compiled.settings,
            &routine.database,
            definer,
            &mut state.context,
        )?;
        state.context.calls.push(routine.call_name().clone());
        let mode = saved.sql_mode();
        let done = self
            .run(arguments, mode, state, connection, execution, dispatcher)
            .await;
        state.context.calls.pop();
        leave_routine(saved, &mut state.context);
        let done = done?;
        let outputs = self.targets.into_iter().map(|(parameter, target)| OutputValue {
            target,
            name: self.compiled.code.variables()[parameter].name.clone(),
            ty: (done.variables.get(parameter)).map_or_else(ExprType::null, ExprType::clone),
            value: done.values[parameter].clone(),
        });
        Ok(CallResult {
            outputs: outputs.collect(),
            affected_rows: done.affected_rows,
        })
    }

    async fn run(
        &self,
        mut arguments: Vec<Value>,
        caller_mode: SqlMode,
        state: &mut SessionState,
        connection: &mut Connection,
        execution: Execution<'_>,
        dispatcher: impl Dispatcher,
    ) -> Result<EndState> {
        let mut prepared = state.take_program(&self.compiled.code)?;
        let converted =
            (prepared.types()).convert_arguments(&mut arguments, 0, caller_mode, &mut state.context);
        let done = match converted {
            Ok(()) => {
                let name = self.routine.full_name();
                run(
                    &mut prepared,
                    arguments,
                    name,
                    state,
                    connection,
                    execution,
                    dispatcher,
                )
                .await
            }
            Err(error) => Err(error),
        };
        let variables = prepared.program_variables().clone();
        state.programs.give_back(prepared);
        done.map(|finished| EndState {
            variables,
            values: finished.values,
            affected_rows: finished.affected_rows,
        })
    }
}

/// A procedure's variables at its end.
struct EndState {
    variables: Arc<ProgramVariables>,
    values: Vec<Value>,
    affected_rows: u64,
}
