//! Conditions, before they are written.

use sqlparser::ast::{BinaryOperator, Expr, UnaryOperator, Value};

/// A condition as MariaDB keeps it: NOT is carried inwards, a bare column among AND and OR is compared with 0.
pub(super) fn condition(expr: Expr) -> Expr {
    match expr {
        Expr::Nested(inner) => condition(*inner),
        Expr::BinaryOp {
            left,
            op: op @ (BinaryOperator::And | BinaryOperator::Or),
            right,
        } => {
            let (left, right) = (
                Box::new(truth(condition(*left))),
                Box::new(truth(condition(*right))),
            );
            Expr::BinaryOp { left, op, right }
        }
        Expr::UnaryOp {
            op: UnaryOperator::Not | UnaryOperator::BangNot,
            expr,
        } => negated(condition(*expr)),
        // IN with a single value is a comparison.
        Expr::InList {
            expr,
            mut list,
            negated,
        } if list.len() == 1 => {
            let op = if negated {
                BinaryOperator::NotEq
            } else {
                BinaryOperator::Eq
            };
            Expr::BinaryOp {
                left: expr,
                op,
                right: Box::new(list.swap_remove(0)),
            }
        }
        other => other,
    }
}

fn is_column(expr: &Expr) -> bool {
    matches!(expr, Expr::Identifier(_) | Expr::CompoundIdentifier(_))
}

/// One step of [`condition`], where the parts have taken it already.
pub(in crate::ddl) fn condition_step(expr: Expr) -> Expr {
    match expr {
        Expr::BinaryOp {
            left,
            op: op @ (BinaryOperator::And | BinaryOperator::Or),
            right,
        } => Expr::BinaryOp {
            left: Box::new(truth(*left)),
            op,
            right: Box::new(truth(*right)),
        },
        Expr::UnaryOp {
            op: UnaryOperator::Not | UnaryOperator::BangNot,
            expr,
        } => negated(*expr),
        single @ Expr::InList { .. } => condition(single),
        other => other,
    }
}

/// What a condition is among AND and OR.
pub(in crate::ddl) fn truth(expr: Expr) -> Expr {
    if is_column(&expr) {
        compared_with_zero(expr, BinaryOperator::NotEq)
    } else {
        expr
    }
}

fn compared_with_zero(expr: Expr, op: BinaryOperator) -> Expr {
    let zero = Value::Number("0".to_owned(), false);
    let right = Box::new(Expr::Value(zero.with_empty_span()));
    Expr::BinaryOp {
        left: Box::new(expr),
        op,
        right,
    }
}

/// The opposite of a condition.
fn negated(expr: Expr) -> Expr {
    use BinaryOperator::*;
    match expr {
        Expr::BinaryOp { left, op, right } => {
            let opposite = match op {
                Eq => NotEq,
                NotEq => Eq,
                Lt => GtEq,
                GtEq => Lt,
                Gt => LtEq,
                LtEq => Gt,
                And | Or => {
                    let op = if op == And { Or } else { And };
                    let (left, right) = (Box::new(negated(*left)), Box::new(negated(*right)));
                    return Expr::BinaryOp { left, op, right };
                }
                op => {
                    let expr = Box::new(Expr::BinaryOp { left, op, right });
                    return Expr::UnaryOp {
                        op: UnaryOperator::Not,
                        expr,
                    };
                }
            };
            Expr::BinaryOp {
                left,
                op: opposite,
                right,
            }
        }
        Expr::IsNull(expr) => Expr::IsNotNull(expr),
        Expr::IsNotNull(expr) => Expr::IsNull(expr),
        Expr::Between {
            expr,
            negated,
            low,
            high,
        } => Expr::Between {
            expr,
            negated: !negated,
            low,
            high,
        },
        Expr::InList { expr, list, negated } => Expr::InList {
            expr,
            list,
            negated: !negated,
        },
        Expr::Like {
            negated,
            any,
            expr,
            pattern,
            escape_char,
        } => Expr::Like {
            negated: !negated,
            any,
            expr,
            pattern,
            escape_char,
        },
        expr if is_column(&expr) => compared_with_zero(expr, Eq),
        expr => Expr::UnaryOp {
            op: UnaryOperator::Not,
            expr: Box::new(expr),
        },
    }
}
