//! Equality of expressions.

use paceline_expression::{Expr, ExprKind};

/// Returns whether two expressions are equal, node by node. A subquery is equal to no other one.
pub(crate) fn same_expr(left: &Expr, right: &Expr) -> bool {
    match (&left.kind, &right.kind) {
        (ExprKind::Column(left), ExprKind::Column(right)) => left == right,
        // The debug format contains every field that determines an expression's value.
        _ => {
            std::mem::discriminant(&left.kind) == std::mem::discriminant(&right.kind)
                && format!("{left:?}") == format!("{right:?}")
        }
    }
}
