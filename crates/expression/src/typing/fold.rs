//! Constant folding: a pure node over literals is replaced by its value, unless its evaluation would warn or
//! fail. MariaDB repeats such warnings and errors at each execution.

use std::borrow::Cow;

use crate::context::{EvalContext, EvalState};
use crate::session::{Services, SessionContext};
use crate::tree::{Domain, Expr, ExprKind, Stability};
use paceline_types::Value;

/// Longer values are computed during execution, where they can be interrupted and are freed with their row.
const FOLDED_BYTES_MAX: usize = 64 << 10;

/// Folds a node whose children are folded already.
pub(crate) fn fold(mut expr: Expr, session: &SessionContext) -> Expr {
    if !is_foldable(&expr) {
        return expr;
    }
    let mut scratch =
        SessionContext::charged_to(session.memory.clone(), session.connection_id, Services::default());
    scratch.settings = session.settings.clone();
    scratch.settings.max_allowed_packet = session.settings.max_allowed_packet.min(FOLDED_BYTES_MAX);
    scratch.statement = session.statement.clone();
    let mut state = EvalState::new();
    let mut context = EvalContext::new(&mut scratch, &mut state);
    // Keep all digits: an assignment to a text shows them.
    let folded = expr.eval_unrounded(&[], &mut context).map(Cow::into_owned);
    if let (Ok(value), 0) = (folded, scratch.diagnostics.warning_count())
        && is_short(&value)
    {
        expr.kind = ExprKind::Literal(value);
    }
    expr
}

fn is_foldable(expr: &Expr) -> bool {
    if expr.ty.is_parameter() {
        return false;
    }
    match &expr.kind {
        ExprKind::Call(call) if call.function.stability != Stability::Pure => return false,
        // The result depends on the context that reads it.
        ExprKind::Call(call) if call.has_number_function() => return false,
        // For surrounding arithmetic a division keeps more digits than its value shows.
        ExprKind::Arithmetic {
            domain: Domain::Decimal | Domain::Dynamic,
            ..
        } => return false,
        // Dates depend on the current day. The nodes listed here depend only on their operands.
        ExprKind::Call(_)
        | ExprKind::Compare { .. }
        | ExprKind::And(_)
        | ExprKind::Or(_)
        | ExprKind::Xor(_)
        | ExprKind::Not(_)
        | ExprKind::Is { .. }
        | ExprKind::Between { .. }
        | ExprKind::InList { .. }
        | ExprKind::Like { .. }
        | ExprKind::Arithmetic { .. }
        | ExprKind::Negate { .. }
        | ExprKind::Bits { .. }
        | ExprKind::BitNot(_)
        | ExprKind::Case { .. }
        | ExprKind::SimpleCase { .. }
        | ExprKind::Cast { .. } => {}
        _ => return false,
    }
    let mut all = true;
    expr.for_each_child(&mut |child| all &= is_literal(child));
    all
}

fn is_short(value: &Value) -> bool {
    match value {
        Value::Text(text) => text.len() < FOLDED_BYTES_MAX,
        Value::Bytes(bytes) => bytes.len() < FOLDED_BYTES_MAX,
        _ => true,
    }
}

fn is_literal(expr: &Expr) -> bool {
    match &expr.kind {
        ExprKind::Literal(value) => is_short(value),
        ExprKind::Row(items) => items.iter().all(is_literal),
        ExprKind::Collate(inner) => is_literal(inner),
        _ => false,
    }
}
