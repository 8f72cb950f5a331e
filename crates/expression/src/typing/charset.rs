//! Conversions between latin1 text and binary strings that are combined.

use paceline_types::Collation;

use super::fold::fold;
use crate::rules::common_charset;
use crate::session::SessionContext;
use crate::tree::{Comparison, Expr, ExprKind};

/// Converts between latin1 text and binary strings that are combined. If the result is binary, text becomes
/// its latin1 bytes. If the result is text (a column has precedence over a literal), bytes become the
/// characters that they are in latin1. Unicode text is stored as its bytes and needs no conversion.
pub(crate) fn in_common_charset(operand: &mut Expr, collation: Collation, session: &SessionContext) {
    let Some(target) = common_charset(&operand.ty, collation) else {
        return;
    };
    let ty = target
        .result_type(&operand.ty)
        .with_coercibility(operand.ty.coercibility);
    let operand_before = Box::new(std::mem::replace(operand, Expr::null()));
    let kind = ExprKind::Cast {
        target,
        operand: operand_before,
    };
    *operand = fold(Expr { kind, ty }, session);
}

/// Applies [`in_common_charset`] to an operand of a comparison.
pub(crate) fn as_compared(operand: &mut Expr, by: &Comparison, session: &SessionContext) {
    match by {
        Comparison::Bytes => in_common_charset(operand, Collation::Binary, session),
        Comparison::Text(collation) => in_common_charset(operand, *collation, session),
        _ => {}
    }
}
