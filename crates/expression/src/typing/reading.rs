//! The form in which an operand is read: as a number, a decimal or a temporal value.

use paceline_types::Value;

use crate::eval::convert::hex_number;
use crate::expr_type::{Class, ExprType, TypeNote};
use crate::session::SessionContext;
use crate::tree::{Call, CastTarget, Expr, ExprKind, Function, unique_id};
use crate::typing::compared::{LENIENT_DATETIME, LENIENT_TIME};
use crate::typing::fold::fold;

/// Replaces the function of a call, and folds the result if possible.
pub(super) fn call_instead(expr: &mut Expr, function: &'static Function, session: &SessionContext) {
    if let ExprKind::Call(call) = &mut expr.kind
        && !std::ptr::eq(call.function, function)
    {
        call.function = function;
        *expr = fold(std::mem::replace(expr, Expr::null()), session);
    }
}

/// Selects the numeric form of an operand of arithmetic or of a numeric argument.
pub fn read_as_number(expr: &mut Expr) {
    hex_to_number(expr);
    if let ExprKind::Call(call) = &mut expr.kind {
        call.function = call.number_function();
    }
}

/// Selects the decimal form of an operand.
pub fn read_as_decimal(expr: &mut Expr) {
    hex_to_number(expr);
    if let ExprKind::Call(call) = &mut expr.kind {
        call.function = call.decimal_function();
    }
}

/// Selects the temporal form of an operand that is read as a date or time.
pub fn read_as_temporal(expr: &mut Expr, session: &SessionContext) {
    if let ExprKind::Call(call) = &expr.kind {
        call_instead(expr, call.temporal_function(), session);
    }
}

/// Makes an operand of a temporal comparison zero, rather than NULL, if a cast cannot read it.
pub fn read_leniently(expr: &mut Expr) {
    if !expr.ty.class().is_temporal() {
        return;
    }
    match &mut expr.kind {
        ExprKind::Cast {
            target: CastTarget::Date | CastTarget::DateTime { .. },
            operand,
        } => read_operand_leniently(operand, &LENIENT_DATETIME),
        ExprKind::Cast {
            target: CastTarget::Time { .. },
            operand,
        } => read_operand_leniently(operand, &LENIENT_TIME),
        ExprKind::Call(call) => match (call.function.name, &mut call.args[..]) {
            ("date" | "timestamp" | "last_day", [operand]) => {
                read_operand_leniently(operand, &LENIENT_DATETIME);
            }
            ("time", [operand]) => read_operand_leniently(operand, &LENIENT_TIME),
            // COALESCE goes on where a date is none, and a choice of times is never lenient.
            _ if expr.ty.class() == Class::Time => {}
            ("if" | "nvl2", [_, branches @ ..]) => branches.iter_mut().for_each(read_leniently),
            ("nullif", [returned, _]) => read_leniently(returned),
            _ => {}
        },
        _ if expr.ty.class() == Class::Time => {}
        ExprKind::Case { branches, otherwise } => {
            branches.iter_mut().for_each(|(_, result)| read_leniently(result));
            otherwise.iter_mut().for_each(|result| read_leniently(result));
        }
        ExprKind::SimpleCase {
            branches, otherwise, ..
        } => {
            branches
                .iter_mut()
                .for_each(|(_, _, result)| read_leniently(result));
            otherwise.iter_mut().for_each(|result| read_leniently(result));
        }
        _ => {}
    }
}

pub(super) fn read_operand_leniently(operand: &mut Expr, function: &'static Function) {
    if operand.ty.class().is_temporal() {
        read_leniently(operand);
        return;
    }
    let inner = std::mem::replace(operand, Expr::null());
    let ty = match std::ptr::eq(function, &LENIENT_TIME) {
        true => ExprType::time(6),
        false => ExprType::datetime(6),
    }
    .with_nullable(inner.ty.nullable);
    let call = Call {
        function,
        args: vec![inner],
        id: unique_id(),
        compared: None,
        stored: None,
        loadable: None,
    };
    *operand = Expr {
        kind: ExprKind::Call(Box::new(call)),
        ty,
    };
}

/// Converts a hexadecimal literal in numeric context to a number.
pub(crate) fn hex_to_number(expr: &mut Expr) {
    if expr.ty.note != TypeNote::HexLiteral {
        return;
    }
    if let ExprKind::Literal(Value::Bytes(bytes)) = &expr.kind {
        *expr = Expr::literal(hex_number(bytes), ExprType::hex_number(bytes.len()));
    }
}
