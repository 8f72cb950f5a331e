//! CALL: a procedure of the catalog.
//!
//! ```text
//!   arguments, in the caller's settings ─▶ settings of the procedure ─▶ run ─▶ settings of the caller ─▶ OUT arguments
//! ```
//! The values of OUT and INOUT parameters are assigned only if the procedure ends without an error.

use super::{diagnostics, run};
use crate::accounts::checks::check_routine;
use crate::session::execution::Execution;
use crate::session::protocol::{Connection, Reply};
use crate::session::state::SessionState;
use crate::session::statements::set::evaluate_any;
use crate::variables::Variable;
use paceline_catalog::ddl::no_such_routine;
use paceline_catalog::{CompiledRoutine, RoutineDefinition, ViewSecurity};
use paceline_expression::session::{Privilege, SqlMode};
use paceline_query::program::{VariableTypes, enter_routine, leave_routine};
use paceline_syntax::ast::{Expr, TableName};
use paceline_syntax::{Error, Result, RoutineParameter, RoutineType, Target};
use paceline_types::Value;
use paceline_types::error_code::*;
use std::sync::Arc;

/// Maximum number of programs that call each other. Each takes a piece of the thread's stack.
const DEPTH_MAX: usize = 300;

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
            diagnostics::set_user_variable(&name, &value, state)?;
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
    let full_name = format!("{database}.{}", routine.name);
    if arguments.len() != compiled.parameters.len() {
        let numbers: [&dyn std::fmt::Display; 2] = [&compiled.parameters.len(), &arguments.len()];
        return Err(Error::new(
            ER_SP_WRONG_NO_OF_ARGS,
            &[&"PROCEDURE", &full_name, numbers[0], numbers[1]],
        ));
    }
    let targets = output_targets(&compiled, arguments, &full_name)?;
    let mut values = Vec::with_capacity(arguments.len());
    for (argument, mode) in arguments.iter().zip(&compiled.parameters) {
        values.push(match mode {
            RoutineParameter::Out => Value::Null,
            RoutineParameter::In | RoutineParameter::InOut => {
                evaluate_any(argument, execution.parameters, state).await?.0
            }
        });
    }
    check_recursion(&routine, state)?;
    let definer = (routine.security == ViewSecurity::Definer).then_some(&routine.definer);
    let saved = enter_routine(&routine.environment, &database, definer, &mut state.context)?;
    state.context.calls.push(call_name(&routine));
    let mode = saved.sql_mode();
    let done = run_procedure(&compiled, values, mode, &full_name, state, connection, execution).await;
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
    types.convert_arguments(&mut values, caller_mode, &mut state.context)?;
    state.context.variable_types = types.of_expressions();
    let finished = run(&compiled.code, values, types, name, state, connection, execution).await?;
    Ok((finished.values, finished.affected_rows))
}

/// Returns the targets of OUT and INOUT arguments with the numbers of their parameters.
///
/// # Errors
/// 1414.
fn output_targets(
    compiled: &CompiledRoutine,
    arguments: &[Expr],
    name: &str,
) -> Result<Vec<(usize, Target)>> {
    let mut targets = Vec::new();
    for (number, (argument, mode)) in arguments.iter().zip(&compiled.parameters).enumerate() {
        if *mode == RoutineParameter::In {
            continue;
        }
        let target = match argument.without_parentheses() {
            Expr::UserVariable(name) => Target::User(name.clone()),
            Expr::Parameter(variable) => Target::Variable(*variable),
            _ => return Err(Error::new(ER_SP_NOT_VAR_ARG, &[&(number + 1), &name])),
        };
        targets.push((number, target));
    }
    Ok(targets)
}

fn call_name(routine: &RoutineDefinition) -> Arc<str> {
    let (database, name) = (&routine.database, routine.name.to_lowercase());
    format!("{} {database}.{name}", routine.kind.name()).into()
}

/// # Errors
/// 1456; 1436 for too many different procedures that call each other.
fn check_recursion(routine: &RoutineDefinition, state: &SessionState) -> Result<()> {
    let own = call_name(routine);
    let depth = state.context.calls.iter().filter(|call| **call == own).count();
    let most = state
        .services
        .values
        .lock()
        .get(Variable::MaxSpRecursionDepth)
        .as_u64();
    if depth as u64 > most {
        return Err(Error::new(ER_SP_RECURSION_LIMIT, &[&most, &routine.name]));
    }
    if state.context.calls.len() >= DEPTH_MAX {
        return Err(Error::new(
            ER_STACK_OVERRUN_NEED_MORE,
            &[&DEPTH_MAX, &DEPTH_MAX, &0],
        ));
    }
    Ok(())
}
