//! How tightly operators bind (`enum precedence` of MariaDB's `sql/item.h`).

use paceline_syntax::ast::{BinaryOp, Expr};

const OR: u8 = 1;
const XOR: u8 = 2;
const AND: u8 = 3;
/// Comparisons and IS.
pub(super) const COMPARISON: u8 = 4;
const BETWEEN: u8 = 5;
/// IN, LIKE, REGEXP.
pub(in crate::ddl) const IN: u8 = 6;
const BIT_OR: u8 = 7;
const BIT_AND: u8 = 8;
const SHIFT: u8 = 9;
/// A sum with an INTERVAL, and its first operand.
pub(super) const INTERVAL: u8 = 10;
const ADD: u8 = 11;
/// Products; MOD.
pub(super) const MULTIPLY: u8 = 12;
const BIT_XOR: u8 = 13;
/// Unary minus, `~`, and `!`, as which NOT is written too.
const NEGATION: u8 = 14;
const COLLATE: u8 = 15;
/// Whatever needs no parentheses.
const ATOM: u8 = 20;

/// Returns the precedence of an expression.
pub(super) fn precedence(expr: &Expr) -> u8 {
    match expr {
        Expr::Binary { op, right, .. } => match op {
            BinaryOp::Or => OR,
            BinaryOp::Xor => XOR,
            BinaryOp::And => AND,
            BinaryOp::Equal
            | BinaryOp::NotEqual
            | BinaryOp::Less
            | BinaryOp::LessOrEqual
            | BinaryOp::Greater
            | BinaryOp::GreaterOrEqual
            | BinaryOp::NullSafeEqual => COMPARISON,
            BinaryOp::BitOr => BIT_OR,
            BinaryOp::BitAnd => BIT_AND,
            BinaryOp::ShiftLeft | BinaryOp::ShiftRight => SHIFT,
            BinaryOp::Add | BinaryOp::Subtract if matches!(**right, Expr::Interval(_)) => INTERVAL,
            BinaryOp::Add | BinaryOp::Subtract => ADD,
            BinaryOp::Multiply | BinaryOp::Divide | BinaryOp::Modulo | BinaryOp::IntDivide => MULTIPLY,
            BinaryOp::BitXor => BIT_XOR,
        },
        Expr::Unary { .. } => NEGATION,
        Expr::Between { .. } => BETWEEN,
        Expr::Is { .. } | Expr::Quantified { .. } => COMPARISON,
        Expr::InList { .. } | Expr::InSubquery { .. } | Expr::Like { .. } | Expr::Regexp { .. } => IN,
        Expr::Collate { .. } => COLLATE,
        Expr::Nested(inner) => precedence(inner),
        // Calls that are written as operators.
        Expr::Call(call) => match (
            &*call.full_name().to_ascii_lowercase(),
            call.arguments.exprs().len(),
        ) {
            ("date_add" | "adddate" | "date_sub" | "subdate", 2) => INTERVAL,
            ("mod", 2) => MULTIPLY,
            ("isnull", 1) => COMPARISON,
            _ => ATOM,
        },
        _ => ATOM,
    }
}
