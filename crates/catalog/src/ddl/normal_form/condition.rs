//! Conditions, before they are written.

use paceline_syntax::ast::{BinaryOp, Expr, TruthTest, UnaryOp};

/// Returns a condition in MariaDB's normal form: NOT is moved inwards, and a bare column among AND and OR is
/// compared with 0.
pub(super) fn condition(expr: Expr) -> Expr {
    match expr {
        Expr::Nested(inner) => condition(*inner),
        Expr::Binary {
            left,
            op: op @ (BinaryOp::And | BinaryOp::Or),
            right,
        } => Expr::binary(truth(condition(*left)), op, truth(condition(*right))),
        Expr::Unary {
            op: UnaryOp::Not,
            operand,
        } => negated(condition(*operand)),
        other => single_in_list(other),
    }
}

/// Converts `IN` with a single value to a comparison.
fn single_in_list(expr: Expr) -> Expr {
    match expr {
        Expr::InList {
            operand,
            mut list,
            negated,
        } if list.len() == 1 => {
            let op = if negated {
                BinaryOp::NotEqual
            } else {
                BinaryOp::Equal
            };
            Expr::binary(*operand, op, list.swap_remove(0))
        }
        other => other,
    }
}

/// Does one step of [`condition`], for an expression whose children are in the normal form.
pub(in crate::ddl) fn condition_step(expr: Expr) -> Expr {
    match expr {
        Expr::Binary {
            left,
            op: op @ (BinaryOp::And | BinaryOp::Or),
            right,
        } => Expr::binary(truth(*left), op, truth(*right)),
        Expr::Unary {
            op: UnaryOp::Not,
            operand,
        } => negated(*operand),
        other => single_in_list(other),
    }
}

/// Returns the form of a condition among AND and OR.
pub(in crate::ddl) fn truth(expr: Expr) -> Expr {
    match expr {
        Expr::Column(_) => compared_with_zero(expr, BinaryOp::NotEqual),
        other => other,
    }
}

fn compared_with_zero(expr: Expr, op: BinaryOp) -> Expr {
    Expr::binary(expr, op, Expr::number("0"))
}

/// Returns the negation of a condition.
fn negated(expr: Expr) -> Expr {
    match expr {
        Expr::Binary { left, op, right } => {
            let opposite = match op {
                BinaryOp::Equal => BinaryOp::NotEqual,
                BinaryOp::NotEqual => BinaryOp::Equal,
                BinaryOp::Less => BinaryOp::GreaterOrEqual,
                BinaryOp::GreaterOrEqual => BinaryOp::Less,
                BinaryOp::Greater => BinaryOp::LessOrEqual,
                BinaryOp::LessOrEqual => BinaryOp::Greater,
                BinaryOp::And => return Expr::binary(negated(*left), BinaryOp::Or, negated(*right)),
                BinaryOp::Or => return Expr::binary(negated(*left), BinaryOp::And, negated(*right)),
                op => return Expr::negation(Expr::Binary { left, op, right }),
            };
            Expr::Binary {
                left,
                op: opposite,
                right,
            }
        }
        Expr::Is {
            operand,
            test: TruthTest::Null,
            negated,
        } => Expr::Is {
            operand,
            test: TruthTest::Null,
            negated: !negated,
        },
        Expr::Between {
            operand,
            negated,
            low,
            high,
        } => Expr::Between {
            operand,
            negated: !negated,
            low,
            high,
        },
        Expr::InList {
            operand,
            list,
            negated,
        } => Expr::InList {
            operand,
            list,
            negated: !negated,
        },
        Expr::Like {
            text,
            pattern,
            escape,
            negated,
        } => Expr::Like {
            text,
            pattern,
            escape,
            negated: !negated,
        },
        column @ Expr::Column(_) => compared_with_zero(column, BinaryOp::Equal),
        expr => Expr::negation(expr),
    }
}
