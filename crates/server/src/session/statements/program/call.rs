//! CALL: a procedure of the catalog.
//!
//! ```text
//!   arguments, in the caller's settings ─▶ settings of the procedure ─▶ run ─▶ settings of the caller ─▶ OUT arguments
//! ```
//! The values of OUT and INOUT parameters are assigned only if the procedure ends without an error.

use super::run;
use crate::accounts::checks::check_routine;
use crate::session::execution::Execution;
use crate::session::protocol::{Connection, Reply};
use crate::session::state::SessionState;
use crate::session::statements::set::evaluate_any;
use crate::variables::Variable;
use paceline_catalog::ddl::no_such_routine;
use paceline_catalog::{CompiledRoutine, ViewSecurity};
use paceline_expression::session::{Privilege, SqlMode};
use paceline_query::program::{
    VariableTypes, check_recursion, enter_routine, leave_routine, output_targets, set_user_variable,
};
use paceline_syntax::ast::{Expr, TableName};
use paceline_syntax::{Result, RoutineParameter, RoutineType, Target};
use paceline_types::Value;

/// Executes CALL outside of a program.
///
/// # Errors
/// See [`call_procedure`].
pub async fn call(
    procedure: &TableName,
    arguments: &[Expr],
    state: &mut SessionState,
    connection: &mut Connection,
    execution: Execution<'_>,
) -> Result<Reply> {
    let (outputs, affected_rows) = call_procedure(procedure, arguments, state, connection, execution).await?;
    for (target, value) in outputs {
        if let Target::User(name) = target {
            set_user_variable(&name, &value, &mut state.context)?;
        }
    }
    Ok(Reply::affected(affected_rows))
}

/// Calls a procedure. Returns the values of its OUT parameters, with their targets, and the number of affected rows.
///
/// # Errors
/// 1305 if it does not exist, 1370 without the privilege, 1318 for another number of arguments, 1414 for an OUT
/// argument that is no variable, 1456 for recursion beyond `max_sp_recursion_depth`, 1449 for a missing definer; the
/// errors of the procedure.
pub async fn call_procedure(
    procedure: &TableName,
    arguments: &[Expr],
    state: &mut SessionState,
    connection: &mut Connection,
    execution: Execution<'_>,
) -> Result<(Vec<(Target, Value)>, u64)> {
    state.shared.counters.com_call_procedure.add(1);
    let (database, name) = state.qualified(procedure)?;
    let catalog = state.catalog();
    let kind = RoutineType::Procedure;
    let Some(routine) = catalog.routine(kind, &database, &name).cloned() else {
        return Err(no_such_routine(kind, &database, &name));
    };
    check_routine(
        state.services.authority(&state.context),
        Privilege::Execute,
        &database,
        &routine.name,
    )?;
    let compiled = routine.compiled()?;
    let targets = output_targets(&routine, &compiled, arguments)?;
    let mut values = Vec::with_capacity(arguments.len());
    for (argument, mode) in arguments.iter().zip(&compiled.parameters) {
        values.push(match mode {
            RoutineParameter::Out => Value::Null,
            RoutineParameter::In | RoutineParameter::InOut => {
                evaluate_any(argument, execution.parameters, state).await?.0
            }
        });
    }
    let most = state
        .services
        .values
        .lock()
        .get(Variable::MaxSpRecursionDepth)
        .as_u64();
    check_recursion(&routine, most, &state.context)?;
    let definer = (routine.security == ViewSecurity::Definer).then_some(&routine.definer);
    let saved = enter_routine(&routine.environment, &database, definer, &mut state.context)?;
    state.context.calls.push(routine.call_name().clone());
    let mode = saved.sql_mode();
    let done = run_procedure(
        &compiled,
        values,
        mode,
        routine.full_name(),
        state,
        connection,
        execution,
    )
    .await;
    state.context.calls.pop();
    leave_routine(saved, &mut state.context);
    let (values, affected_rows) = done?;
    let outputs = targets
        .into_iter()
        .map(|(parameter, target)| (target, values[parameter].clone()));
    Ok((outputs.collect(), affected_rows))
}

async fn run_procedure(
    compiled: &CompiledRoutine,
    mut values: Vec<Value>,
    caller_mode: SqlMode,
    name: &str,
    state: &mut SessionState,
    connection: &mut Connection,
    execution: Execution<'_>,
) -> Result<(Vec<Value>, u64)> {
    let catalog = state.catalog();
    let types = VariableTypes::resolve(compiled.code.variables(), None, &catalog, &mut state.context)?;
    types.convert_arguments(&mut values, 0, caller_mode, &mut state.context)?;
    state.context.variable_types = types.of_expressions();
    let finished = run(&compiled.code, values, types, name, state, connection, execution).await?;
    Ok((finished.values, finished.affected_rows))
}
