//! Adaptation of operands to a comparison: constants are converted once, so that an index can serve.

use paceline_types::convert::{self, Completeness};
use paceline_types::data_type::IntegerWidth;
use paceline_types::error_code::WARN_DATA_TRUNCATED;
use paceline_types::temporal::{self, ParsedTemporal};
use paceline_types::{DataType, FixedBinaryType, Value};

use super::operands::elements;
use super::reading::{call_instead, hex_to_number, read_as_number, read_as_temporal, read_leniently};
use crate::error::Result;
use crate::expr_type::{Class, ExprType};
use crate::rules::CollationMix;
use crate::session::SessionContext;
use crate::tree::{Call, CompareOp, Comparison, Expr, ExprKind, Function, unique_id};
use crate::typing::charset::as_compared;
use crate::typing::compared::{
    COMPARED_DATETIME, COMPARED_DECIMAL, COMPARED_DOUBLE, COMPARED_TIME, compared_fixed_binary, listed,
};

/// Returns 1267 for a literal that the other operand's character set cannot encode.
pub(crate) fn check_literals(
    by: &Comparison,
    op: CompareOp,
    left: &Expr,
    right: &Expr,
    session: &SessionContext,
) -> Result<()> {
    let Comparison::Text(collation) = by else {
        return Ok(());
    };
    let connection = session.settings.collation_connection;
    CollationMix::check_literals(&[left, right], *collation, connection, op.as_str())
}

/// Does the work of [`adapt_each`], and converts constant texts to the numbers that they are compared as.
pub(crate) fn adapt(by: &mut Comparison, left: &mut Expr, right: &mut Expr, session: &SessionContext) {
    if matches!(by, Comparison::Int | Comparison::Decimal | Comparison::Double) {
        hex_to_number(left);
        hex_to_number(right);
    }
    if literal_to_column(left, right, session) || literal_to_column(right, left, session) {
        *by = Comparison::Int;
    } else {
        adapt_each(by, left, right, session);
    }
    literal_to_number(by, left);
    literal_to_number(by, right);
}

/// Converts a constant beside a YEAR or BIGINT column to a value of that column. Returns whether it did.
pub fn literal_to_column(column: &Expr, literal: &mut Expr, session: &SessionContext) -> bool {
    literal_to_year(column, literal, session) || literal_to_bigint(column, literal)
}

/// Converts constants once to the type that the comparison needs. The comparison of an integer column with
/// the text of an integer becomes one of integers, which an index can serve.
pub(crate) fn adapt_each(by: &mut Comparison, left: &mut Expr, right: &mut Expr, session: &SessionContext) {
    if matches!(by, Comparison::Int | Comparison::Decimal | Comparison::Double) {
        hex_to_number(left);
        hex_to_number(right);
    }
    // In a comparison with an integer column, MariaDB stores a constant text in that column: it becomes the
    // number that it begins with.
    let is_stored = [
        is_integer_column(right) && is_constant_sum(left),
        is_integer_column(left) && is_constant_sum(right),
    ];
    for (operand, is_stored) in [&mut *left, &mut *right].into_iter().zip(is_stored) {
        match by {
            Comparison::Int | Comparison::Decimal | Comparison::Double if !is_stored => {
                hex_to_number(operand);
                if let ExprKind::Call(call) = &operand.kind {
                    let function = match by {
                        Comparison::Decimal => call.decimal_function(),
                        _ => call.number_function(),
                    };
                    call_instead(operand, function, session);
                }
            }
            Comparison::DateTime => {
                read_as_temporal(operand, session);
                read_leniently(operand);
                literal_to_datetime(operand, session);
            }
            Comparison::Time => {
                read_as_temporal(operand, session);
                read_leniently(operand);
                literal_to_time(operand, session);
            }
            Comparison::Bytes | Comparison::Text(_) => as_compared(operand, by, session),
            Comparison::FixedBinary(t) => literal_to_fixed_binary(operand, *t),
            _ => {}
        }
    }
    if matches!(by, Comparison::Double | Comparison::Decimal) {
        let converted = if is_integer_column(left) {
            literal_to_integer(right)
        } else if is_integer_column(right) {
            literal_to_integer(left)
        } else {
            false
        };
        if converted {
            *by = Comparison::Int;
        }
    }
}

/// Converts a constant date or time to its number for the comparison with a BIGINT column. Returns whether it
/// did.
pub(super) fn literal_to_bigint(column: &Expr, literal: &mut Expr) -> bool {
    let is_bigint =
        matches!(&column.ty.data_type, DataType::Integer(integer) if integer.width == IntegerWidth::Big);
    if !is_bigint || !is_integer_column(column) || !column.ty.is_column() {
        return false;
    }
    let number = match &literal.kind {
        ExprKind::Literal(Value::Date(date)) => i64::from(date.to_number()),
        ExprKind::Literal(Value::DateTime(datetime)) if datetime.micros == 0 => datetime.to_number(),
        ExprKind::Literal(Value::Time(time)) if time.microsecond() == 0 && !time.is_negative() => {
            time.to_number()
        }
        _ => return false,
    };
    *literal = Expr::literal(Value::Int(number), ExprType::bigint(20));
    true
}

pub(super) fn is_integer_column(expr: &Expr) -> bool {
    matches!(expr.kind, ExprKind::Column(_)) && expr.ty.class() == Class::Int
}

/// Returns whether the expression is a constant sum of a text and an interval.
pub(super) fn is_constant_sum(expr: &Expr) -> bool {
    matches!(&expr.kind, ExprKind::Call(call) if call.function.as_temporal.is_some())
        && expr.is_constant_during_execution()
}

/// Converts a constant that is compared with a YEAR column as if it were stored in one: 24 and `'24'` become
/// 2024, 2.5 becomes 2003, a time becomes 0. Returns whether it did.
pub(super) fn literal_to_year(column: &Expr, literal: &mut Expr, session: &SessionContext) -> bool {
    if column.ty.data_type != DataType::Year || !is_integer_column(column) || !column.ty.is_column() {
        return false;
    }
    let ExprKind::Literal(
        value @ (Value::Int(_)
        | Value::UInt(_)
        | Value::Decimal(_)
        | Value::Double(_)
        | Value::Text(_)
        | Value::Bytes(_)
        | Value::Date(_)
        | Value::DateTime(_)
        | Value::Time(_)),
    ) = &literal.kind
    else {
        return false;
    };
    // A date counts as its year.
    let value = match value {
        Value::Date(date) => Value::Int(i64::from(date.year)),
        Value::DateTime(datetime) => Value::Int(i64::from(datetime.date.year)),
        Value::Time(_) => Value::Int(0),
        value => value.clone(),
    };
    let assigned = convert::assign(value, &DataType::Year, &lax(session));
    let is_year = assigned
        .problem
        .is_none_or(|problem| problem.code == WARN_DATA_TRUNCATED);
    match assigned.value {
        Value::Year(year) if is_year => {
            *literal = Expr::literal(Value::Int(i64::from(year)), ExprType::bigint(20));
            true
        }
        _ => false,
    }
}

/// Converts `'5'`, `5.0` or `5e0` to 5. Other constants stay. Returns whether it did.
pub(super) fn literal_to_integer(expr: &mut Expr) -> bool {
    let ExprKind::Literal(value) = &expr.kind else {
        return false;
    };
    let number = match value {
        Value::Text(text) => match convert::text_to_integer(text) {
            (number, Completeness::Whole) if text.trim() == text => number,
            _ => return false,
        },
        Value::Decimal(decimal) => match decimal.to_i64() {
            Ok(number) if paceline_types::Decimal::from(number) == *decimal => Value::Int(number),
            _ => return false,
        },
        Value::Double(double) if double.fract() == 0.0 && double.abs() < 9.0e15 => Value::Int(*double as i64),
        _ => return false,
    };
    *expr = Expr::literal(number, ExprType::bigint(20));
    true
}

/// Makes JSON_EXTRACT return strings without quotes if it is compared with text. If both operands are
/// JSON_EXTRACT, MariaDB unquotes only the left one.
pub fn unquote_json(by: &Comparison, left: &mut Expr, right: &mut Expr, session: &SessionContext) {
    if !reads_text(by) {
        return;
    }
    for operand in [left, right] {
        if let ExprKind::Call(call) = &operand.kind
            && let Some(compared) = call.function.as_compared
        {
            call_instead(operand, compared, session);
            return;
        }
    }
}

/// Converts those elements of an operand for which all of several comparisons need the same conversion.
pub(crate) fn adapt_shared(operand: &mut Expr, rules: &[Comparison], session: &SessionContext) {
    for (place, element) in elements(operand).iter_mut().enumerate() {
        let mut wanted = rules.iter().map(|by| match by {
            Comparison::Row(by) => &by[place],
            by => by,
        });
        if wanted.clone().all(is_temporal) {
            read_as_temporal(element, session);
            read_leniently(element);
        }
        let Some(first) = wanted.next() else {
            return;
        };
        if first.is_numeric() {
            let keeps_text = match &element.kind {
                ExprKind::Call(call) => call.function.decimal_of_text,
                _ => false,
            };
            if wanted.all(Comparison::is_numeric) && !keeps_text {
                read_as_number(element);
            }
        } else if wanted.all(|by| by == first) {
            as_compared(element, first, session);
        }
    }
}

pub(super) fn literal_to_datetime(expr: &mut Expr, session: &SessionContext) {
    let ExprKind::Literal(value @ (Value::Text(_) | Value::Int(_) | Value::Date(_))) = &expr.kind else {
        return;
    };
    let is_whole = match value {
        Value::Text(text) => temporal::parse_datetime(text, lax(session).date_modes)
            .is_some_and(|parsed| !parsed.truncated && !parsed.fraction_cut),
        _ => true,
    };
    *expr = match convert::to_datetime(value, &lax(session)).filter(|_| is_whole) {
        Some(datetime) => Expr::literal(Value::DateTime(datetime), ExprType::datetime(datetime.decimals)),
        None => converted_once(expr, &COMPARED_DATETIME, ExprType::datetime(0)),
    };
}

pub(super) fn literal_to_time(expr: &mut Expr, session: &SessionContext) {
    let ExprKind::Literal(value @ (Value::Text(_) | Value::Int(_))) = &expr.kind else {
        return;
    };
    let is_whole = match value {
        Value::Text(text) => match temporal::parse_time(text) {
            Some(ParsedTemporal::Time(parsed)) => {
                !parsed.truncated && !parsed.clipped && !parsed.fraction_cut
            }
            Some(ParsedTemporal::DateTime(parsed)) => !parsed.truncated,
            None => false,
        },
        _ => true,
    };
    *expr = match convert::to_time(value, &lax(session)).filter(|_| is_whole) {
        Some(time) => Expr::literal(Value::Time(time), ExprType::time(time.decimals())),
        None => converted_once(expr, &COMPARED_TIME, ExprType::time(0)),
    };
}

/// Returns whether the conversion of an expression that is not NULL to a UUID or an address can be NULL.
pub(crate) fn may_become_null(expr: &Expr, data_type: FixedBinaryType) -> bool {
    match &expr.kind {
        _ if expr.ty.class() == Class::FixedBinary(data_type) => false,
        ExprKind::Literal(Value::Text(text)) => data_type.parse(text).is_none(),
        ExprKind::Literal(Value::Bytes(bytes)) => data_type.from_bytes(bytes).is_none(),
        _ => true,
    }
}

/// Returns whether the conversion of any of these expressions to their common type can make it NULL.
pub(crate) fn any_may_become_null(exprs: &[&Expr], common: &ExprType) -> bool {
    match common.class() {
        Class::FixedBinary(t) => exprs
            .iter()
            .any(|expr| !expr.ty.is_null() && may_become_null(expr, t)),
        _ => false,
    }
}

/// Converts a constant string that is compared with a UUID or an address. Each execution converts one that is none,
/// with a warning.
pub(crate) fn literal_to_fixed_binary(expr: &mut Expr, data_type: FixedBinaryType) {
    let read = match &expr.kind {
        ExprKind::Literal(Value::Text(text)) => data_type.parse(text),
        ExprKind::Literal(Value::Bytes(bytes)) => data_type.from_bytes(bytes),
        _ => return,
    };
    let ty = ExprType::new(DataType::FixedBinary(data_type));
    *expr = match read {
        Some(read) => Expr::literal(Value::FixedBinary(read), ty),
        None => converted_once(expr, compared_fixed_binary(data_type), ty.nullable()),
    };
}

/// Converts a constant text that is compared as a number. If the text has more than a number, each execution
/// converts it, with a warning.
pub fn literal_to_number(by: &Comparison, expr: &mut Expr) {
    let ExprKind::Literal(Value::Text(text)) = &expr.kind else {
        return;
    };
    let whole = match by {
        Comparison::Decimal => match convert::text_to_decimal(text) {
            (number, Completeness::Whole) => Some(Value::Decimal(number)),
            _ => None,
        },
        Comparison::Double => match convert::text_to_double(text) {
            (number, Completeness::Whole) => Some(Value::Double(number)),
            _ => None,
        },
        _ => return,
    };
    *expr = match (whole, by) {
        (Some(Value::Decimal(number)), _) => Expr::literal(
            Value::Decimal(number),
            ExprType::decimal(u32::from(number.precision()), u32::from(number.scale())),
        ),
        (Some(number), _) => Expr::literal(number, ExprType::double()),
        (None, Comparison::Decimal) => converted_once(expr, &COMPARED_DECIMAL, ExprType::decimal(65, 38)),
        (None, _) => converted_once(expr, &COMPARED_DOUBLE, ExprType::double()),
    };
}

/// Makes the conversion of a constant in an IN list happen before the execution.
pub(crate) fn converted_before(item: &mut Expr) {
    if let ExprKind::Call(call) = &mut item.kind
        && let Some(listed) = listed(call.function)
    {
        call.function = listed;
    }
}

/// Compares a non-constant decimal and a constant text as decimals, so that no digit is lost.
pub fn compare_exactly(by: &mut Comparison, left: &Expr, right: &Expr) {
    let is_exact = |number: &Expr, text: &Expr| {
        number.ty.class() == Class::Decimal
            && text.ty.class() == Class::String
            && text.is_constant_during_execution()
            && !number.is_constant_during_execution()
    };
    if !(is_exact(left, right) || is_exact(right, left)) {
        return;
    }
    match by {
        Comparison::Double => *by = Comparison::Decimal,
        Comparison::Dynamic { exact, .. } => *exact = true,
        _ => {}
    }
}

/// Returns a constant with its conversion. It is not converted during binding because each execution must
/// warn.
pub(super) fn converted_once(constant: &mut Expr, function: &'static Function, ty: ExprType) -> Expr {
    let call = Call {
        function,
        args: vec![std::mem::replace(constant, Expr::null())],
        id: unique_id(),
        compared: None,
        stored: None,
        loadable: None,
    };
    Expr {
        kind: ExprKind::Call(Box::new(call)),
        ty,
    }
}

pub(super) fn lax(session: &SessionContext) -> convert::ConvertContext<'_> {
    let mut date_modes = session.settings.date_modes();
    date_modes.no_zero_date = false;
    date_modes.no_zero_in_date = false;
    let time_zone = &session.settings.time_zone;
    convert::ConvertContext {
        date_modes,
        time_zone,
        now: time_zone.to_local(session.statement.start_seconds()),
    }
}

pub(super) fn is_temporal(by: &Comparison) -> bool {
    matches!(by, Comparison::DateTime | Comparison::Time)
}

/// Returns whether the operands are compared as text.
pub fn reads_text(by: &Comparison) -> bool {
    matches!(
        by,
        Comparison::Text(_) | Comparison::Bytes | Comparison::Dynamic { .. }
    )
}
