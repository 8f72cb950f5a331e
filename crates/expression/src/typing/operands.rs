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

/// Returns whether an operand is a row that contains a row.
pub(crate) fn is_nested(expr: &Expr) -> bool {
    match &expr.kind {
        ExprKind::Row(items) => items.iter().any(|item| !is_value(item)),
        _ => false,
    }
}

/// Checks that an operation can compare two operands, at least one of which is no value: they have the same number of
/// columns, and so have the rows in them.
///
/// # Errors
/// 4078 for a row beside a value; 1241 with the number of columns of the left operand.
pub(crate) fn check_rows(operation: &str, left: &Expr, right: &Expr) -> Result<()> {
    let is_row = |expr: &Expr| matches!(expr.kind, ExprKind::Row(_));
    let name = |expr: &Expr| if is_row(expr) { "row" } else { expr.ty.type_name() };
    if is_row(left) && is_value(right) || is_value(left) && is_row(right) {
        return Err(errors::illegal_types(name(left), name(right), operation));
    }
    check_shape(left, right)
}

fn check_shape(left: &Expr, right: &Expr) -> Result<()> {
    if width(left) != width(right) {
        return Err(errors::operand_columns(width(left)));
    }
    match (&left.kind, &right.kind) {
        (ExprKind::Row(left), ExprKind::Row(right)) => left
            .iter()
            .zip(right)
            .try_for_each(|(left, right)| check_shape(left, right)),
        _ if is_nested(left) || is_nested(right) => Err(errors::operand_columns(width(left))),
        _ => Ok(()),
    }
}

/// Replaces the rows in a row by their elements. Rows of the same shape compare as these do.
pub(crate) fn flatten(expr: &mut Expr) {
    fn append(item: Expr, out: &mut Vec<Expr>) {
        match item.kind {
            ExprKind::Row(items) => items.into_iter().for_each(|item| append(item, out)),
            _ => out.push(item),
        }
    }
    if let ExprKind::Row(items) = &mut expr.kind {
        let nested = std::mem::take(items);
        nested.into_iter().for_each(|item| append(item, items));
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

/// Returns the name of an operand's type in messages.
pub(crate) fn type_name(expr: &Expr) -> &'static str {
    match is_value(expr) {
        true => expr.ty.type_name(),
        false => "row",
    }
}

/// Checks that both operands of an operator are values.
///
/// # Errors
/// 4078; for DIV, which does not look at types, 1241.
pub(crate) fn check_values(operation: &str, left: &Expr, right: &Expr) -> Result<()> {
    match is_value(left) && is_value(right) {
        true => Ok(()),
        false if operation == "DIV" => Err(errors::operand_columns(1)),
        false => Err(errors::illegal_types(
            type_name(left),
            type_name(right),
            operation,
        )),
    }
}

/// Returns the expression, or 1241 if it is a row.
pub(crate) fn expect_value(expr: Expr) -> Result<Expr> {
    if is_value(&expr) {
        Ok(expr)
    } else {
        Err(errors::operand_columns(1))
    }
}
