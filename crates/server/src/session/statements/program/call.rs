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
use crate::session::statements::set::evaluate_any;
use crate::variables::Variable;
use paceline_catalog::ddl::no_such_routine;
use paceline_catalog::{CompiledRoutine, ViewSecurity};
use paceline_expression::ExprType;
use paceline_expression::session::{Privilege, SqlMode};
use paceline_query::program::{
    VariableTypes, check_recursion, enter_routine, leave_routine, output_targets, set_user_variable,
};
use paceline_syntax::ast::{Expr, TableName};
use paceline_syntax::{Result, RoutineParameter, RoutineType, Target};
use paceline_types::Value;
use paceline_wire::Capabilities;
use std::sync::Arc;

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
    let called = call_procedure(procedure, arguments, state, connection, execution).await?;
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
                    sent.column(&name, ty);
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
pub struct Called {
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

/// Calls a procedure.
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
) -> Result<Called> {
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
    let saved = enter_routine(&compiled.settings, &database, definer, &mut state.context)?;
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
    let done = done?;
    let outputs = targets.into_iter().map(|(parameter, target)| OutputValue {
        target,
        name: compiled.code.variables()[parameter].name.clone(),
        ty: done.types[parameter].clone(),
        value: done.values[parameter].clone(),
    });
    Ok(Called {
        outputs: outputs.collect(),
        affected_rows: done.affected_rows,
    })
}

/// A procedure's variables at its end.
struct Ended {
    types: Arc<[ExprType]>,
    values: Vec<Value>,
    affected_rows: u64,
}

async fn run_procedure(
    compiled: &CompiledRoutine,
    mut values: Vec<Value>,
    caller_mode: SqlMode,
    name: &str,
    state: &mut SessionState,
    connection: &mut Connection,
    execution: Execution<'_>,
) -> Result<Ended> {
    let catalog = state.catalog();
    let types = VariableTypes::resolve(compiled.code.variables(), None, &catalog, &mut state.context)?;
    types.convert_arguments(&mut values, 0, caller_mode, &mut state.context)?;
    let expression_types = types.of_expressions();
    state.context.variable_types = expression_types.clone();
    let finished = run(&compiled.code, values, types, name, state, connection, execution).await?;
    Ok(Ended {
        types: expression_types,
        values: finished.values,
        affected_rows: finished.affected_rows,
    })
}
