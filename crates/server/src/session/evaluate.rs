//! Expressions without tables in statements that are not planned: SET, KILL, EXECUTE … USING.

use paceline_expression::session::SessionContext;
use paceline_expression::{EmptyScope, EvalContext, EvalState, ExprType, bind_expr};
use paceline_syntax::Result;
use paceline_syntax::ast::Expr;
use paceline_types::Value;

/// Evaluates an expression without tables.
///
/// # Errors
/// The errors of binding and evaluating it.
pub fn evaluate(expr: &Expr, context: &mut SessionContext) -> Result<Value> {
    evaluate_typed(expr, &[], context).map(|(value, _)| value)
}

/// Evaluates an expression without tables. Also returns its type.
///
/// # Errors
/// The errors of binding and evaluating it.
pub fn evaluate_typed(
    expr: &Expr,
    parameters: &[Value],
    context: &mut SessionContext,
) -> Result<(Value, ExprType)> {
    let mut scope = EmptyScope::with_parameters(context, parameters);
    let bound = bind_expr(expr, &mut scope)?;
    let mut state = EvalState::new();
    let mut evaluation = EvalContext {
        parameters,
        ..EvalContext::new(context, &mut state)
    };
    let value = bound.eval_unrounded(&[], &mut evaluation)?;
    Ok((value.into_owned(), bound.ty))
}
