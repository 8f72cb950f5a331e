//! Arguments of CALL, and limits of recursion.

use paceline_catalog::{CompiledRoutine, RoutineDefinition};
use paceline_expression::session::SessionContext;
use paceline_syntax::ast::Expr;
use paceline_syntax::{RoutineParameter, Target};
use paceline_types::error_code::*;
use std::sync::Arc;

use crate::error::{Error, Result};

/// Maximum number of programs that call each other. Each takes a piece of the thread's stack.
const DEPTH_MAX: usize = 300;

/// Returns the targets of OUT and INOUT arguments with the numbers of their parameters.
///
/// # Errors
/// 1318 for another number of arguments; 1414 for an argument that is no variable.
pub fn output_targets(
    routine: &RoutineDefinition,
    compiled: &CompiledRoutine,
    arguments: &[Expr],
) -> Result<Vec<(usize, Target)>> {
    routine.check_arguments(compiled, arguments.len())?;
    let mut targets = Vec::new();
    for (number, (argument, mode)) in arguments.iter().zip(&compiled.parameters).enumerate() {
        if *mode == RoutineParameter::In {
            continue;
        }
        let target = match argument.without_parentheses() {
            Expr::UserVariable(name) => Target::User(name.clone()),
            Expr::Parameter(variable) => Target::Variable(*variable),
            _ => {
                return Err(Error::new(
                    ER_SP_NOT_VAR_ARG,
                    &[&(number + 1), &routine.full_name()],
                ));
            }
        };
        targets.push((number, target));
    }
    Ok(targets)
}

/// Checks that a procedure may be called: `most` is `max_sp_recursion_depth`.
///
/// # Errors
/// 1456 for a procedure that calls itself too often; 1436 for too many programs that call each other.
pub fn check_recursion(routine: &RoutineDefinition, most: u64, session: &SessionContext) -> Result<()> {
    let own = |call: &&Arc<str>| Arc::ptr_eq(call, routine.call_name());
    if session.calls.iter().filter(own).count() as u64 > most {
        return Err(Error::new(ER_SP_RECURSION_LIMIT, &[&most, &routine.name]));
    }
    if session.calls.len() >= DEPTH_MAX {
        return Err(Error::new(
            ER_STACK_OVERRUN_NEED_MORE,
            &[&DEPTH_MAX, &DEPTH_MAX, &0],
        ));
    }
    Ok(())
}
