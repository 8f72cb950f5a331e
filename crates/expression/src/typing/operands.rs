//! Operands: values and rows.

use crate::error::Result;
use crate::errors;
use crate::expr_type::ExprType;
use crate::tree::{Expr, ExprKind};

/// Returns the number of columns of an operand: 1 for a value.
pub(crate) fn width(expr: &Expr) -> usize {
    match &expr.kind {
        ExprKind::Row(items) => items.len(),
        ExprKind::ScalarSubquery(subquery) => subquery.columns.len(),
        _ => 1,
    }
}

/// Returns the elements of a row, or the operand itself; none for a subquery with several columns.
pub(crate) fn elements(expr: &mut Expr) -> &mut [Expr] {
    if !matches!(expr.kind, ExprKind::Row(_)) && width(expr) == 1 {
        return std::slice::from_mut(expr);
    }
    match &mut expr.kind {
        ExprKind::Row(items) => items,
        _ => &mut [],
    }
}

/// Returns the types of an operand's columns.
pub(crate) fn column_types(expr: &Expr) -> Vec<ExprType> {
    match &expr.kind {
        ExprKind::Row(items) => items.iter().map(|item| item.ty.clone()).collect(),
        ExprKind::ScalarSubquery(subquery) => subquery.columns.clone(),
        _ => vec![expr.ty.clone()],
    }
}

/// Returns whether an expression is one value, and no row.
pub(crate) fn is_value(expr: &Expr) -> bool {
    width(expr) == 1 && !matches!(expr.kind, ExprKind::Row(_))
}

/// Returns the expression, or 1241 if it is a row.
pub(crate) fn expect_value(expr: Expr) -> Result<Expr> {
    if is_value(&expr) {
        Ok(expr)
    } else {
        Err(errors::operand_columns(1))
    }
}
