//! Expressions without tables in statements that are not planned: SET, SIGNAL, KILL, EXECUTE … USING.

use paceline_expression::session::SessionContext;
use paceline_expression::{
    Class, EmptyScope, EvalContext, EvalState, ExprType, bind_expr, is_native_function,
};
use paceline_syntax::Result;
use paceline_syntax::ast::Expr;
use paceline_syntax::ast::visit::{any_expr, has_subquery};
use paceline_types::{Decimal, Value};

/// Returns whether an expression contains subqueries, stored functions or sequences, so that it must be executed as a
/// query.
pub fn needs_plan(expr: &Expr) -> bool {
    let uses_objects = |part: &Expr| match part {
        Expr::Call(call) => !is_native_function(call),
        Expr::Sequence(_) => true,
        _ => false,
    };
    has_subquery(expr) || any_expr(expr, &mut |part| uses_objects(part))
}

/// Evaluates an expression without tables. Also returns its type.
///
/// # Errors
/// The errors of binding and evaluating it.
pub fn evaluate_typed(
    expr: &Expr,
    parameters: &[Value],
    session: &mut SessionContext,
) -> Result<(Value, ExprType)> {
    let mut scope = EmptyScope::with_parameters(session, parameters);
    let bound = bind_expr(expr, &mut scope)?;
    let mut state = EvalState::new();
    let mut evaluation = EvalContext {
        parameters,
        ..EvalContext::new(session, &mut state)
    };
    let value = bound.eval_unrounded(&[], &mut evaluation)?;
    Ok((value.into_owned(), bound.ty))
}

/// Returns the value that SET gives a system variable. MariaDB takes the NULL of a number for 0.
pub fn setting_value(value: Value, ty: &ExprType) -> Value {
    match (&value, ty.class()) {
        (Value::Null, Class::Int) => Value::Int(0),
        (Value::Null, Class::Double) => Value::Double(0.0),
        // With a fraction, so that it is no integer.
        (Value::Null, Class::Decimal) => Value::Decimal("0.0".parse().unwrap_or(Decimal::ZERO)),
        _ => value,
    }
}
