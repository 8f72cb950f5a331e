//! Precedence of operators.

use paceline_syntax::ast::{BinaryOp, Expr, UnaryOp};

/// Returns the precedence of an expression (`enum precedence` of `sql/item.h`).
pub(super) fn precedence(expr: &Expr) -> u8 {
    match expr {
        Expr::Binary { op, .. } => match op {
            BinaryOp::Or => 1,
            BinaryOp::Xor => 2,
            BinaryOp::And => 3,
            BinaryOp::Equal
            | BinaryOp::NotEqual
            | BinaryOp::Less
            | BinaryOp::LessOrEqual
            | BinaryOp::Greater
            | BinaryOp::GreaterOrEqual
            | BinaryOp::NullSafeEqual => 6,
            BinaryOp::BitOr => 7,
            BinaryOp::BitAnd => 8,
            BinaryOp::ShiftLeft | BinaryOp::ShiftRight => 9,
            BinaryOp::Add | BinaryOp::Subtract => 10,
            BinaryOp::Multiply | BinaryOp::Divide | BinaryOp::Modulo | BinaryOp::IntDivide => 11,
            BinaryOp::BitXor => 12,
            BinaryOp::Concat => 20,
        },
        Expr::Unary { op: UnaryOp::Not, .. } => 4,
        Expr::Unary { .. } => 14,
        Expr::Between { .. } => 5,
        Expr::Is { .. }
        | Expr::InList { .. }
        | Expr::InSubquery { .. }
        | Expr::Quantified { .. }
        | Expr::Like { .. }
        | Expr::Regexp { .. } => 6,
        Expr::Collate { .. } => 15,
        Expr::Nested(inner) => precedence(inner),
        _ => 20,
    }
}
