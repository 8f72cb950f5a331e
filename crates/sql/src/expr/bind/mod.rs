//! From `sqlparser`'s syntax tree to [`Expr`].

use sqlparser::ast;

use super::scope::Scope;
use super::tree::Expr;
use crate::error::Result;

/// Binds an expression that gives one value.
///
/// # Errors
/// 1054, 1052, 1241 (a row where a value is wanted), 1267, 1305, 1582, 1111 …
pub fn bind_expr(expr: &ast::Expr, scope: &mut dyn Scope) -> Result<Expr> {
    let _ = (expr, scope);
    todo!()
}

/// Binds an expression used as a condition.
///
/// # Errors
/// As [`bind_expr`].
pub fn bind_condition(expr: &ast::Expr, scope: &mut dyn Scope) -> Result<Expr> {
    bind_expr(expr, scope)
}

/// `left op right` of two bound expressions, by the rule that their types ask for: for USING, NATURAL JOIN and row values.
///
/// # Errors
/// 1267, 1241.
pub fn bind_comparison(op: super::CompareOp, left: Expr, right: Expr, scope: &dyn Scope) -> Result<Expr> {
    let _ = (op, left, right, scope);
    todo!()
}

/// The rule by which two types are compared.
pub fn comparison_rule(left: &super::ExprType, right: &super::ExprType) -> Result<super::Comparison> {
    let _ = (left, right);
    todo!()
}

/// The type of a column of a UNION, CASE or COALESCE whose values come from several expressions.
///
/// # Errors
/// 1267, 1271.
pub fn common_type(types: &[&super::ExprType], operation: &str) -> Result<super::ExprType> {
    let _ = (types, operation);
    todo!()
}
