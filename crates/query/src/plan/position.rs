//! Integers in ORDER BY and GROUP BY, which are positions of columns.

use paceline_syntax::ast;

/// Returns the position that an integer in ORDER BY or GROUP BY names. It may be in parentheses or have a sign; a
/// negative one is not a valid position. TRUE is 1.
pub(crate) fn position(expr: &ast::Expr) -> Option<i64> {
    match expr {
        // A number beyond BIGINT is the BIGINT of the same bits.
        ast::Expr::Literal(ast::Literal::Number(digits)) => {
            digits.parse::<u64>().ok().map(|number| number as i64)
        }
        ast::Expr::Literal(ast::Literal::Boolean(truth)) => Some(i64::from(*truth)),
        ast::Expr::Nested(inner) => position(inner),
        ast::Expr::Unary { op, operand } => match op {
            ast::UnaryOp::Plus => position(operand),
            ast::UnaryOp::Minus => position(operand)?.checked_neg(),
            ast::UnaryOp::Not | ast::UnaryOp::BitNot => None,
        },
        _ => None,
    }
}

/// Returns the column at a position of ORDER BY or GROUP BY.
pub(crate) fn column_at(place: i64) -> Option<usize> {
    place.checked_sub(1).and_then(|place| usize::try_from(place).ok())
}
