//! Estimates by the form of a condition or a query, without statistics.

use paceline_types::Value;

use super::tree::{QueryBody, QueryPlan, SelectPlan};
use paceline_expression::{CompareOp, Expr, ExprKind, Truth};

/// Returns the estimated share of rows that pass a condition, without the help of an index.
pub(crate) fn selectivity(expr: &Expr) -> f64 {
    match &expr.kind {
        ExprKind::Compare {
            op: CompareOp::Eq | CompareOp::NullSafeEq,
            ..
        } => 0.1,
        ExprKind::Compare {
            op: CompareOp::Ne, ..
        } => 0.9,
        ExprKind::Compare { .. } | ExprKind::Between { .. } => 0.33,
        ExprKind::InList {
            list, negated: false, ..
        } => (list.len() as f64 * 0.1).min(0.5),
        ExprKind::Is {
            test: Truth::Null,
            negated: false,
            ..
        } => 0.1,
        ExprKind::Like { .. } => 0.3,
        ExprKind::And(parts) => parts.iter().map(selectivity).product(),
        ExprKind::Or(parts) => parts.iter().map(selectivity).sum::<f64>().min(1.0),
        ExprKind::Literal(Value::Int(0) | Value::Null) => 0.0,
        ExprKind::Exists { .. } | ExprKind::Quantified { .. } => 0.5,
        _ => 1.0,
    }
}

/// Returns the estimated number of rows of a query.
pub(crate) fn estimated_rows(plan: &QueryPlan) -> f64 {
    match &plan.body {
        QueryBody::Select(select) => select_rows(select),
        QueryBody::Set(set) => set.sides.iter().map(estimated_rows).sum(),
        QueryBody::Values(values) => values.rows.len() as f64,
        QueryBody::Recursive(recursive) => estimated_rows(&recursive.anchor) * 10.0,
    }
}

fn select_rows(select: &SelectPlan) -> f64 {
    let having = select.having.iter().map(selectivity);
    let mut rows = select.row_estimate * having.product::<f64>();
    if let Some(count) = select.limit.count.as_ref().and_then(Expr::as_literal) {
        match count {
            Value::Int(count) => rows = rows.min(*count as f64),
            Value::UInt(count) => rows = rows.min(*count as f64),
            _ => {}
        }
    }
    rows.max(1.0)
}
