//! Calls of stored functions.
//!
//! To an expression a stored function is a function of the table that has another result, or an effect, at each call.
//! A [`crate::NestedRunner`] finds its definition in the statement by the [`FunctionId`].

use crate::context::EvalContext;
use crate::error::Result;
use crate::errors;
use crate::function_id::StoredFunction;
use crate::tree::{Args, Call, Expr, ExprKind, Function, MANY, unique_id, volatile};
use paceline_types::Value;

static STORED: Function = volatile(
    "stored function",
    (0, MANY),
    |_| Err(errors::not_supported("stored functions here")),
    evaluate,
);

/// Returns a call of a stored function.
pub(crate) fn stored_function_call(stored: StoredFunction, args: Vec<Expr>) -> Expr {
    let call = Call {
        function: &STORED,
        args,
        id: unique_id(),
        compared: None,
        stored: Some(Box::new(stored.call)),
        loadable: None,
    };
    Expr {
        kind: ExprKind::Call(Box::new(call)),
        ty: stored.ty,
    }
}

fn evaluate(args: &Args<'_>, context: &mut EvalContext<'_>) -> Result<Value> {
    let mut arguments = Vec::with_capacity(args.call.args.len());
    for index in 0..args.call.args.len() {
        arguments.push(args.value(index, context)?.into_owned());
    }
    match (context.runner.as_deref_mut(), &args.call.stored) {
        (Some(runner), Some(stored)) => runner.call(stored, arguments, context.session),
        _ => Err(errors::not_supported("stored functions here")),
    }
}
