//! How tightly operators bind.

use sqlparser::ast::{BinaryOperator, Expr, UnaryOperator};

/// How tightly an expression binds (`enum precedence` of `sql/item.h`).
pub(super) fn precedence(expr: &Expr) -> u8 {
    match expr {
        Expr::BinaryOp { op, .. } => match op {
            BinaryOperator::Or => 1,
            BinaryOperator::Xor => 2,
            BinaryOperator::And => 3,
            BinaryOperator::Eq
            | BinaryOperator::NotEq
            | BinaryOperator::Lt
            | BinaryOperator::LtEq
            | BinaryOperator::Gt
            | BinaryOperator::GtEq
            | BinaryOperator::Spaceship => 6,
            BinaryOperator::BitwiseOr => 7,
            BinaryOperator::BitwiseAnd => 8,
            BinaryOperator::PGBitwiseShiftLeft | BinaryOperator::PGBitwiseShiftRight => 9,
            BinaryOperator::Plus | BinaryOperator::Minus => 10,
            BinaryOperator::Multiply
            | BinaryOperator::Divide
            | BinaryOperator::Modulo
            | BinaryOperator::MyIntegerDivide => 11,
            BinaryOperator::BitwiseXor => 12,
            _ => 20,
        },
        Expr::UnaryOp {
            op: UnaryOperator::Not | UnaryOperator::BangNot,
            ..
        } => 4,
        Expr::UnaryOp { .. } => 14,
        Expr::Between { .. } => 5,
        Expr::IsNull(_)
        | Expr::IsNotNull(_)
        | Expr::IsTrue(_)
        | Expr::IsNotTrue(_)
        | Expr::IsFalse(_)
        | Expr::IsNotFalse(_)
        | Expr::IsUnknown(_)
        | Expr::IsNotUnknown(_)
        | Expr::InList { .. }
        | Expr::InSubquery { .. }
        | Expr::AnyOp { .. }
        | Expr::AllOp { .. }
        | Expr::Like { .. }
        | Expr::RLike { .. } => 6,
        Expr::Collate { .. } => 15,
        Expr::Nested(inner) => precedence(inner),
        _ => 20,
    }
}
