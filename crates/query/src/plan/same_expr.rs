//! Equality of expressions.

use paceline_expression::{Expr, ExprKind};

/// Whether two expressions are the same, node by node. Subqueries are never the same as others.
pub(crate) fn same_expr(left: &Expr, right: &Expr) -> bool {
    match (&left.kind, &right.kind) {
        (ExprKind::Column(left), ExprKind::Column(right)) => left == right,
        // The debug form shows every field that decides what an expression gives.
        _ => {
            std::mem::discriminant(&left.kind) == std::mem::discriminant(&right.kind)
                && format!("{left:?}") == format!("{right:?}")
        }
    }
}
