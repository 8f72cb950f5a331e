//! Expressions outside of a query that may contain subqueries and stored functions: values of SET, arguments of CALL.

use super::query::collect;
use crate::running_plan::PlanToRun;
use crate::session::execution::Execution;
use crate::session::planning::ATTEMPTS_MAX;
use crate::session::state::SessionState;
use paceline_expression::ExprType;
use paceline_query::execute::SingleRow;
use paceline_query::program::{evaluate_typed, needs_plan};
use paceline_syntax::ast::Expr;
use paceline_syntax::{Error, QueryStatement, Result, Statement};
use paceline_types::Value;
use paceline_types::error_code::ER_TABLE_DEF_CHANGED;

/// Evaluates an expression. An expression with subqueries or stored functions is executed as `SELECT expr`.
///
/// # Errors
/// The errors of binding, planning and evaluating it.
pub async fn evaluate(
    expr: &Expr,
    parameters: &[Value],
    state: &mut SessionState,
) -> Result<(Value, ExprType)> {
    if !needs_plan(expr) {
        return evaluate_typed(expr, parameters, &mut state.context);
    }
    let statement = Statement::Query(Box::new(QueryStatement::of_expression(expr.clone())));
    let execution = Execution::of_server(parameters);
    for _ in 0..ATTEMPTS_MAX {
        let plan = state.plan(&statement)?;
        if !plan.tables().is_empty() {
            state.context.diagnostics.forget_earlier();
        }
        let Some((collected, _)) =
            collect(PlanToRun::Private(&plan), state, execution, SingleRow::default()).await?
        else {
            continue;
        };
        return Ok(collected.into_value());
    }
    Err(Error::new(ER_TABLE_DEF_CHANGED, &[]))
}
