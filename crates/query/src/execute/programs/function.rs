//! Calls of stored functions, and of procedures within functions and triggers.

use std::sync::Arc;

use super::group_rows::GroupRows;
use super::steps::{Place, Program, ReturnValue, run_steps};
use crate::error::{Error, Result};
use crate::execute::context::{FunctionArguments, ProgramState, StatementState};
use crate::program::{CallerSettings, convert_returned, enter_routine, leave_routine, output_targets};
use paceline_catalog::ddl::no_such_routine;
use paceline_catalog::{CompiledRoutine, RoutineDefinition, ViewSecurity};
use paceline_expression::StoredCall;
use paceline_expression::session::{Diagnostics, SessionContext};
use paceline_program::Run;
use paceline_syntax::ast::{Expr, TableName};
use paceline_syntax::{RoutineParameter, RoutineType, Target};
use paceline_types::Value;
use paceline_types::error_code::*;

/// Calls a stored function of the statement.
///
/// # Errors
/// 1424 for a function that is running already, 1321 for one that ends without RETURN; the errors of its body and of
/// the conversion of its arguments and its value.
pub(crate) fn run_function(
    state: &mut StatementState<'_>,
    call: &StoredCall,
    arguments: FunctionArguments,
    session: &mut SessionContext,
) -> Result<Value> {
    let routine = state.programs()?.functions[call.function.index()].clone();
    if session
        .calls
        .iter()
        .any(|call| Arc::ptr_eq(call, routine.call_name()))
    {
        return Err(Error::new(ER_SP_NO_RECURSION, &[]));
    }
    let invocation = Invocation {
        routine: &routine,
        text: &call.text,
        place: Place::Function,
    };
    let value = match arguments {
        FunctionArguments::Row(arguments) => run_routine(invocation, arguments, None, state, session)?.0,
        FunctionArguments::Group(rows) => run_group(invocation, rows, state, session)?,
    };
    value.ok_or_else(|| Error::new(ER_SP_NORETURNEND, &[&routine.name]))
}

/// Runs an aggregate function for a group. A function that returns before the last row begins again with the next one,
/// as in MariaDB.
fn run_group(
    call: Invocation<'_>,
    rows: Vec<Vec<Value>>,
    state: &mut StatementState<'_>,
    session: &mut SessionContext,
) -> Result<Option<Value>> {
    let mut group = GroupRows::new(rows);
    let mut value = None;
    while let Some(arguments) = group.begin() {
        (value, _) = run_routine(call, arguments, Some(&mut group), state, session)?;
        if value.is_none() {
            break;
        }
    }
    Ok(value)
}

/// Calls a procedure within a function or trigger. Returns the values of its OUT parameters with their targets.
///
/// # Errors
/// Those of CALL.
pub(super) fn call_procedure(
    procedure: &TableName,
    arguments: &[Expr],
    mut values: Vec<Value>,
    place: Place,
    state: &mut StatementState<'_>,
    session: &mut SessionContext,
) -> Result<Vec<(Target, Value)>> {
    let database = procedure.database.as_deref().or(session.database.as_deref());
    let database = database
        .ok_or_else(|| Error::new(ER_NO_DB_ERROR, &[]))?
        .to_owned();
    let host = state.programs()?.host.clone();
    let kind = RoutineType::Procedure;
    let routine = host.catalog().routine(kind, &database, &procedure.name).cloned();
    let routine = routine.ok_or_else(|| no_such_routine(kind, &database, &procedure.name))?;
    host.check_call(&routine, session)?;
    let compiled = routine.compiled()?;
    let targets = output_targets(&routine, &compiled, arguments)?;
    for (value, mode) in values.iter_mut().zip(&compiled.parameters) {
        if *mode == RoutineParameter::Out {
            *value = Value::Null;
        }
    }
    let (_, values) = run_routine(
        Invocation {
            routine: &routine,
            text: "",
            place,
        },
        values,
        None,
        state,
        session,
    )?;
    Ok((targets.into_iter())
        .map(|(parameter, target)| (target, values[parameter].clone()))
        .collect())
}

/// A call of a routine.
#[derive(Clone, Copy)]
struct Invocation<'c> {
    routine: &'c RoutineDefinition,
    /// The call as written, for messages.
    text: &'c str,
    place: Place,
}

/// Runs a routine with its arguments. Returns the value of its RETURN, and the values of its variables.
fn run_routine(
    call: Invocation<'_>,
    arguments: Vec<Value>,
    group: Option<&mut GroupRows>,
    state: &mut StatementState<'_>,
    session: &mut SessionContext,
) -> Result<(Option<Value>, Vec<Value>)> {
    let routine = call.routine;
    let compiled = routine.compiled()?;
    let definer = (routine.security == ViewSecurity::Definer).then_some(&routine.definer);
    let saved = enter_routine(&compiled.settings, &routine.database, definer, session)?;
    session.calls.push(routine.call_name().clone());
    let done = run_compiled(call, &compiled, arguments, group, &saved, state, session);
    session.calls.pop();
    leave_routine(saved, session);
    done
}

fn run_compiled(
    call: Invocation<'_>,
    compiled: &CompiledRoutine,
    mut arguments: Vec<Value>,
    group: Option<&mut GroupRows>,
    caller: &CallerSettings,
    state: &mut StatementState<'_>,
    session: &mut SessionContext,
) -> Result<(Option<Value>, Vec<Value>)> {
    let ProgramState { host, cache, .. } = state.programs()?;
    let host = host.clone();
    let mut prepared = cache.take(&compiled.code, None, || host.catalog(), session)?;
    let done = (|| {
        prepared
            .types()
            .convert_arguments(&mut arguments, 1, caller.sql_mode(), session)?;
        if let (Some(module), Some(data_type)) = (&compiled.module, &compiled.returns) {
            let returned = isolated(session, Conditions::Kept, |session| {
                let transaction = &mut *state.transaction;
                let value = host.call_module(call.routine, module, &arguments, transaction, session)?;
                convert_returned(value, data_type, call.text, session)
            })?;
            return Ok((Some(returned), Vec::new()));
        }
        let mut run = Run::new(&compiled.code, arguments);
        let program = Program {
            place: call.place,
            name: call.routine.full_name(),
            returns: compiled.returns.as_ref().map(|data_type| ReturnValue {
                data_type,
                text: call.text,
            }),
            call_procedure,
        };
        let steps = |session: &mut _| run_steps(&mut run, &mut prepared, program, group, state, session);
        let returned = match call.routine.kind {
            RoutineType::Function => isolated(session, Conditions::Kept, steps)?,
            // A procedure is a statement of the program that calls it.
            RoutineType::Procedure => steps(session)?,
        };
        Ok((returned, run.into_values()))
    })();
    state.programs()?.cache.give_back(prepared);
    done
}

/// Treatment of the conditions of a program that has ended without an error.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Conditions {
    Kept,
    Dropped,
}

/// Runs a function or a trigger in a diagnostics area of its own, which joins the statement's after an error, and
/// otherwise as `conditions` says. The session's values about the last statement stay as they are.
pub(super) fn isolated<T>(
    session: &mut SessionContext,
    conditions: Conditions,
    run: impl FnOnce(&mut SessionContext) -> Result<T>,
) -> Result<T> {
    let own = Diagnostics::of_nested(&session.diagnostics);
    let outer = std::mem::replace(&mut session.diagnostics, own);
    let saved = (
        session.last_insert_id,
        session.row_count,
        session.found_rows,
        session.rows_read,
    );
    let insert_id = session.statement.explicit_last_insert_id;
    let done = run(session);
    session.statement.explicit_last_insert_id = insert_id;
    (
        session.last_insert_id,
        session.row_count,
        session.found_rows,
        session.rows_read,
    ) = saved;
    let own = std::mem::replace(&mut session.diagnostics, outer);
    if done.is_err() || conditions == Conditions::Kept {
        session.diagnostics.join(own);
    }
    done
}
