//! Expressions without tables in statements that are not planned: SET, KILL, EXECUTE … USING.

use paceline_expression::session::SessionContext;
use paceline_query::program::evaluate_typed;
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
