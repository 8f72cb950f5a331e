//! Operators: rules of comparisons, domains and result types of arithmetic.

use paceline_types::convert::{self, Completeness};
use paceline_types::data_type::{IntegerType, IntegerWidth, Sign};
use paceline_types::error_code::WARN_DATA_TRUNCATED;
use paceline_types::temporal::{self, ParsedTemporal};
use paceline_types::{Collation, DataType, FixedBinaryType, FixedPoint, FloatType, Value};

use crate::error::Result;
use crate::errors;
use crate::eval::convert::hex_number;
use crate::expr_type::{Class, ExprType, NOT_FIXED_DECIMALS, TypeNote};
use crate::rules::{CollationMix, comparison_rule_for, fixed_binary_rule, round_quotient};
use crate::session::{SessionContext, SqlMode};
use crate::tree::{
    ArithmeticOp, Call, CastTarget, CompareOp, Comparison, Domain, Expr, ExprKind, Function, unique_id,
};
use crate::typing::charset::as_compared;
use crate::typing::compared::{
    COMPARED_DATETIME, COMPARED_DECIMAL, COMPARED_DOUBLE, COMPARED_TIME, LENIENT_DATETIME, LENIENT_TIME,
    compared_fixed_binary, listed,
};
use crate::typing::fold::fold;
use crate::typing::refusal;

/// Returns the number of columns of an operand: 1 for a value.
pub(crate) fn width(expr: &Expr) -> usize {
    match &expr.kind {
        ExprKind::Row(items) => items.len(),
        ExprKind::ScalarSubquery(subquery) => subquery.columns.len(),
        _ => 1,
    }
}

/// Returns the elements of a row, or the operand itself; none for a subquery with several columns.
pub(crate) fn elements(expr: &mut Expr) -> &mut [Expr] {
    if !matches!(expr.kind, ExprKind::Row(_)) && width(expr) == 1 {
        return std::slice::from_mut(expr);
    }
    match &mut expr.kind {
        ExprKind::Row(items) => items,
        _ => &mut [],
    }
}

/// Returns the types of an operand's columns.
pub(crate) fn column_types(expr: &Expr) -> Vec<ExprType> {
    match &expr.kind {
        ExprKind::Row(items) => items.iter().map(|item| item.ty.clone()).collect(),
        ExprKind::ScalarSubquery(subquery) => subquery.columns.clone(),
        _ => vec![expr.ty.clone()],
    }
}

/// Returns whether an expression is one value, and no row.
pub(crate) fn is_value(expr: &Expr) -> bool {
    width(expr) == 1 && !matches!(expr.kind, ExprKind::Row(_))
}

/// Returns the expression, or 1241 if it is a row.
pub(crate) fn expect_value(expr: Expr) -> Result<Expr> {
    if is_value(&expr) {
        Ok(expr)
    } else {
        Err(errors::operand_columns(1))
    }
}

/// Binds a comparison.
pub(crate) fn compare(
    op: CompareOp,
    mut left: Expr,
    mut right: Expr,
    session: &SessionContext,
) -> Result<Expr> {
    let connection = session.settings.collation_connection;
    let columns = width(&left);
    if columns != 1 || width(&right) != 1 {
        if columns != width(&right) {
            return Err(errors::operand_columns(columns));
        }
        let mut by = row_rules(op.as_str(), &column_types(&left), &column_types(&right), session)?;
        for ((by, left), right) in by.iter_mut().zip(elements(&mut left)).zip(elements(&mut right)) {
            check_literals(by, op, left, right, session)?;
            compare_exactly(by, left, right);
            unquote_json(by, left, right, session);
            let decimals = fixed_decimals(by, &left.ty, &right.ty);
            adapt_each(by, left, right, session);
            literal_to_number(by, left);
            literal_to_number(by, right);
            compare_fixed(by, decimals);
        }
        for operand in [&mut left, &mut right] {
            for (by, element) in by.iter().zip(elements(operand)) {
                round_quotient(by, element);
            }
        }
        return Ok(Expr {
            kind: ExprKind::Compare {
                op,
                by: Comparison::Row(by),
                operands: Box::new([left, right]),
            },
            ty: ExprType::boolean().nullable(),
        });
    }
    let mut by = comparison_rule_for(op.as_str(), &left.ty, &right.ty, connection)?;
    check_literals(&by, op, &left, &right, session)?;
    compare_exactly(&mut by, &left, &right);
    unquote_json(&by, &mut left, &mut right, session);
    let decimals = fixed_decimals(&by, &left.ty, &right.ty);
    adapt(&mut by, &mut left, &mut right, session);
    compare_fixed(&mut by, decimals);
    round_quotient(&by, &mut left);
    round_quotient(&by, &mut right);
    let is_convertible =
        |operand: &Expr| !matches!(by, Comparison::FixedBinary(_)) || operand.ty.class() != Class::String;
    let nullable = op != CompareOp::NullSafeEq
        && (left.ty.nullable
            || right.ty.nullable
            || is_temporal(&by)
            || ![&left, &right].into_iter().all(is_convertible));
    Ok(Expr {
        kind: ExprKind::Compare {
            op,
            by,
            operands: Box::new([left, right]),
        },
        ty: ExprType::boolean().with_nullable(nullable),
    })
}

/// Returns the larger number of decimals of two numbers that are compared as doubles and both have fixed
/// decimals.
pub fn fixed_decimals(by: &Comparison, left: &ExprType, right: &ExprType) -> Option<u8> {
    let decimals = [left, right].map(|ty| match ty.class() {
        Class::Int | Class::Decimal | Class::Double => ty.decimals(),
        _ => NOT_FIXED_DECIMALS,
    });
    let most = decimals[0].max(decimals[1]);
    (*by == Comparison::Double && most < NOT_FIXED_DECIMALS).then_some(most)
}

/// Compares doubles with this number of decimals, if it is fixed.
pub fn compare_fixed(by: &mut Comparison, decimals: Option<u8>) {
    if let (Comparison::Double, Some(decimals)) = (&*by, decimals) {
        *by = Comparison::FixedDouble(decimals);
    }
}

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

/// Returns the comparison rules for the columns of two rows.
pub(crate) fn row_rules(
    operation: &str,
    left: &[ExprType],
    right: &[ExprType],
    session: &SessionContext,
) -> Result<Vec<Comparison>> {
    let connection = session.settings.collation_connection;
    left.iter()
        .zip(right)
        .map(|(left, right)| comparison_rule_for(operation, left, right, connection))
        .collect()
}

fn is_temporal(by: &Comparison) -> bool {
    matches!(by, Comparison::DateTime | Comparison::Time)
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
fn literal_to_bigint(column: &Expr, literal: &mut Expr) -> bool {
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

fn is_integer_column(expr: &Expr) -> bool {
    matches!(expr.kind, ExprKind::Column(_)) && expr.ty.class() == Class::Int
}

/// Returns whether the expression is a constant sum of a text and an interval.
fn is_constant_sum(expr: &Expr) -> bool {
    matches!(&expr.kind, ExprKind::Call(call) if call.function.as_temporal.is_some())
        && expr.is_constant_during_execution()
}

/// Converts a constant that is compared with a YEAR column as if it were stored in one: 24 and `'24'` become
/// 2024, 2.5 becomes 2003, a time becomes 0. Returns whether it did.
fn literal_to_year(column: &Expr, literal: &mut Expr, session: &SessionContext) -> bool {
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
fn literal_to_integer(expr: &mut Expr) -> bool {
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

/// Returns whether the operands are compared as text.
pub fn reads_text(by: &Comparison) -> bool {
    matches!(
        by,
        Comparison::Text(_) | Comparison::Bytes | Comparison::Dynamic(_)
    )
}

/// Replaces the function of a call, and folds the result if possible.
fn call_instead(expr: &mut Expr, function: &'static Function, session: &SessionContext) {
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

fn read_operand_leniently(operand: &mut Expr, function: &'static Function) {
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
        *expr = Expr::literal(hex_number(bytes), ExprType::bigint_unsigned(20));
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

fn literal_to_datetime(expr: &mut Expr, session: &SessionContext) {
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

fn literal_to_time(expr: &mut Expr, session: &SessionContext) {
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
            && !text.ty.is_parameter()
            && text.is_constant_during_execution()
            && !number.is_constant_during_execution()
    };
    if *by == Comparison::Double && (is_exact(left, right) || is_exact(right, left)) {
        *by = Comparison::Decimal;
    }
}

/// Returns a constant with its conversion. It is not converted during binding because each execution must
/// warn.
fn converted_once(constant: &mut Expr, function: &'static Function, ty: ExprType) -> Expr {
    let call = Call {
        function,
        args: vec![std::mem::replace(constant, Expr::null())],
        id: unique_id(),
        compared: None,
        stored: None,
    };
    Expr {
        kind: ExprKind::Call(Box::new(call)),
        ty,
    }
}

fn lax(session: &SessionContext) -> convert::ConvertContext<'_> {
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

/// Binds `value BETWEEN low AND high`.
pub(crate) fn between(
    mut value: Expr,
    mut low: Expr,
    mut high: Expr,
    negated: bool,
    session: &SessionContext,
) -> Result<Expr> {
    let (value_columns, connection) = (width(&value), session.settings.collation_connection);
    if value_columns != 1 || width(&low) != 1 || width(&high) != 1 {
        return Err(errors::operand_columns(1));
    }
    let mut by = between_rule(&value.ty, &low.ty, &high.ty, connection)?;
    if !is_temporal(&by) {
        for bound in [&mut low, &mut high] {
            if by.is_numeric() {
                hex_to_number(bound);
            }
            literal_to_year(&value, bound, session);
        }
        by = between_rule(&value.ty, &low.ty, &high.ty, connection)?;
    }
    let nullable = value.ty.nullable || low.ty.nullable || high.ty.nullable;
    let ty = ExprType::boolean().with_nullable(nullable);
    if let Comparison::Text(collation) = by {
        CollationMix::check_literals(&[&value, &low, &high], collation, connection, "between")?;
    }
    let saved = (value.clone(), low.clone());
    if is_temporal(&by) {
        adapt_each(&mut by, &mut value, &mut low, session);
        adapt_each(&mut by, &mut value, &mut high, session);
        return Ok(Expr {
            kind: ExprKind::Between {
                by,
                negated,
                operands: Box::new([value, low, high]),
            },
            ty,
        });
    }
    adapt_each(&mut by, &mut value, &mut low, session);
    literal_to_number(&by, &mut low);
    if by == Comparison::Int && from_is_not_int(&saved.0.ty, &high, session)? {
        // The upper bound is not an integer, so both bounds keep the wider rule.
        (value, low) = saved;
        by = Comparison::Decimal;
        if matches!(high.ty.class(), Class::String | Class::Double) || low.ty.class() == Class::String {
            by = Comparison::Double;
        }
    } else {
        adapt_each(&mut by.clone(), &mut value, &mut high, session);
        literal_to_number(&by, &mut value);
        literal_to_number(&by, &mut high);
        if by == Comparison::Int {
            literal_to_integer(&mut high);
        }
    }
    Ok(Expr {
        kind: ExprKind::Between {
            by,
            negated,
            operands: Box::new([value, low, high]),
        },
        ty,
    })
}

/// Returns the rule by which a value is compared with both bounds.
fn between_rule(
    value: &ExprType,
    low: &ExprType,
    high: &ExprType,
    connection: Collation,
) -> Result<Comparison> {
    let all = [value, low, high];
    if all.iter().any(|ty| matches!(ty.class(), Class::FixedBinary(_))) {
        return between_fixed_binary(value, low, high);
    }
    let is_text = |ty: &&ExprType| matches!(ty.class(), Class::String | Class::Null) && !ty.is_parameter();
    if all.iter().all(is_text) && all.iter().any(|ty| ty.class() == Class::String) {
        return CollationMix::for_comparison(&all, connection, "between").map(Comparison::of_texts);
    }
    let from = comparison_rule_for("between", value, low, connection)?;
    let to = comparison_rule_for("between", value, high, connection)?;
    Ok(match (&from, &to) {
        (Comparison::Dynamic(_), _) => from,
        (_, Comparison::Dynamic(_)) => to,
        (Comparison::DateTime, _) | (_, Comparison::DateTime) => Comparison::DateTime,
        (Comparison::Time, _) | (_, Comparison::Time) => Comparison::Time,
        // A number between two texts is compared as a double, like a decimal and a text.
        (Comparison::Decimal, Comparison::Decimal)
            if all.iter().filter(|ty| ty.class() == Class::String).count() > 1 =>
        {
            Comparison::Double
        }
        (a, b) if a == b => from,
        (Comparison::Double, _) | (_, Comparison::Double) => Comparison::Double,
        _ => Comparison::Decimal,
    })
}

/// Returns the rule of a BETWEEN with a UUID or an address: 4078 for the first operand that does not fit those before.
fn between_fixed_binary(value: &ExprType, low: &ExprType, high: &ExprType) -> Result<Comparison> {
    let (mut before, mut rule) = (value, None);
    for next in [low, high] {
        if let Some(found) = fixed_binary_rule("between", before, next)? {
            rule = Some(found);
            if matches!(next.class(), Class::FixedBinary(_)) {
                before = next;
            }
        }
    }
    Ok(rule.unwrap_or(Comparison::Bytes))
}

fn from_is_not_int(value: &ExprType, high: &Expr, session: &SessionContext) -> Result<bool> {
    let rule = comparison_rule_for("between", value, &high.ty, session.settings.collation_connection)?;
    if rule == Comparison::Int {
        return Ok(false);
    }
    Ok(!literal_to_integer(&mut high.clone()))
}

/// Returns the class in which an operand takes part in arithmetic.
fn arithmetic_class(ty: &ExprType) -> Class {
    match ty.class() {
        Class::Date => Class::Int,
        Class::Time | Class::DateTime if ty.decimals() == 0 => Class::Int,
        Class::Time | Class::DateTime => Class::Decimal,
        Class::String if matches!(ty.data_type, DataType::Enum { .. } | DataType::Set { .. }) => Class::Int,
        Class::String | Class::Null => Class::Double,
        class => class,
    }
}

/// Returns the domain of an operator for operands of these types.
fn domain(op: ArithmeticOp, left: &ExprType, right: &ExprType) -> Domain {
    if left.is_parameter() || right.is_parameter() {
        let other = if left.is_parameter() { right } else { left };
        return match arithmetic_class(other) {
            Class::Double if !other.is_parameter() => Domain::Double,
            _ => Domain::Dynamic,
        };
    }
    match (arithmetic_class(left), arithmetic_class(right)) {
        (Class::Double, _) | (_, Class::Double) => Domain::Double,
        (Class::Decimal, _) | (_, Class::Decimal) => Domain::Decimal,
        _ if op == ArithmeticOp::Divide => Domain::Decimal,
        _ => Domain::Int,
    }
}

/// Binds arithmetic on two operands. `source` is the text of the expression.
pub fn arithmetic(
    op: ArithmeticOp,
    mut left: Expr,
    mut right: Expr,
    source: &str,
    session: &SessionContext,
) -> Result<Expr> {
    for operand in [&mut left, &mut right] {
        match op {
            ArithmeticOp::IntDivide => read_as_decimal(operand),
            _ => read_as_number(operand),
        }
    }
    if op != ArithmeticOp::IntDivide {
        refusal::check_operands(&left.ty, &right.ty, op.as_str())?;
    }
    let domain = domain(op, &left.ty, &right.ty);
    let nullable = left.ty.nullable
        || right.ty.nullable
        || matches!(
            op,
            ArithmeticOp::Divide | ArithmeticOp::IntDivide | ArithmeticOp::Modulo
        );
    let ty = if op == ArithmeticOp::IntDivide {
        integer_type(op, &left.ty, &right.ty, session)
    } else {
        match domain {
            Domain::Int => integer_type(op, &left.ty, &right.ty, session),
            Domain::Decimal => {
                decimal_type(op, &left.ty, &right.ty, session.settings.div_precision_increment)
            }
            Domain::Double => double_type(op, &left.ty, &right.ty, session.settings.div_precision_increment),
            Domain::Dynamic => ExprType::parameter(),
        }
    };
    let kind = ExprKind::Arithmetic {
        op,
        domain,
        operands: Box::new([left, right]),
        source: source.into(),
    };
    Ok(Expr {
        kind,
        ty: ty.with_nullable(nullable),
    })
}

fn integer_type(op: ArithmeticOp, left: &ExprType, right: &ExprType, session: &SessionContext) -> ExprType {
    let mode = session.settings.sql_mode;
    // Beside a date, a number first becomes a decimal, which is unsigned only if both operands are. DIV has no
    // decimals.
    let is_decimal_first = left.class().is_temporal() || right.class().is_temporal();
    let either = match is_decimal_first && op != ArithmeticOp::IntDivide {
        true => left.is_unsigned() && right.is_unsigned(),
        false => left.is_unsigned() || right.is_unsigned(),
    };
    let unsigned = match op {
        ArithmeticOp::Modulo => left.is_unsigned(),
        ArithmeticOp::Subtract => either && !mode.contains(SqlMode::NO_UNSIGNED_SUBTRACTION),
        _ => either,
    };
    let digits = |ty: &ExprType| match ty.class() {
        Class::Int | Class::Date | Class::Time | Class::DateTime => ty.integer_digits(),
        _ => ty.display_width().saturating_sub(1),
    };
    let (a, b) = (digits(left), digits(right));
    let length = match op {
        ArithmeticOp::Add | ArithmeticOp::Subtract => a.max(b) + 1,
        ArithmeticOp::Multiply => a + b,
        ArithmeticOp::Divide | ArithmeticOp::IntDivide => a,
        ArithmeticOp::Modulo => a.max(b),
    };
    let has_sign = !(unsigned || is_decimal_first && op == ArithmeticOp::IntDivide);
    let length = (length + u32::from(has_sign)).min(21) as u8;
    if is_decimal_first {
        return match unsigned {
            true => ExprType::bigint_unsigned(length.min(20)),
            false => ExprType::bigint(length),
        };
    }
    if unsigned {
        return ExprType::new(DataType::Integer(IntegerType {
            width: if length < 11 {
                IntegerWidth::Int
            } else {
                IntegerWidth::Big
            },
            sign: Sign::Unsigned,
            zerofill: false,
            display_width: length.min(20),
        }));
    }
    ExprType::int(length)
}

/// Returns the type of a double. If the operands have fixed decimals, so has the result: `PI() + 0` shows
/// six.
fn double_type(op: ArithmeticOp, left: &ExprType, right: &ExprType, increment: u8) -> ExprType {
    // A date that DATE_ADD makes of a text has the digits of its fraction.
    let decimals = |ty: &ExprType| match ty.note {
        TypeNote::Fraction(digits) => digits,
        _ => ty.decimals(),
    };
    let (a, b) = (decimals(left), decimals(right));
    if a == NOT_FIXED_DECIMALS || b == NOT_FIXED_DECIMALS {
        return ExprType::double();
    }
    let scale = match op {
        ArithmeticOp::Multiply => a + b,
        ArithmeticOp::Divide => a.max(b) + increment,
        _ => a.max(b),
    };
    if scale > 30 {
        return ExprType::double();
    }
    let precision = match op {
        ArithmeticOp::Divide => {
            (left.display_width() + u32::from(scale - a)).min(u32::from(17 + scale)) as u8
        }
        _ => 17 + scale,
    };
    let fixed = Some(FixedPoint { precision, scale });
    ExprType::new(DataType::Double(FloatType {
        fixed,
        ..FloatType::default()
    }))
}

fn decimal_type(op: ArithmeticOp, left: &ExprType, right: &ExprType, increment: u8) -> ExprType {
    let scale = |ty: &ExprType| match ty.decimals() {
        _ if matches!(ty.data_type, DataType::Enum { .. } | DataType::Set { .. }) => 0,
        NOT_FIXED_DECIMALS => 38,
        decimals => u32::from(decimals),
    };
    let (s1, s2) = (scale(left), scale(right));
    let (i1, i2) = (left.integer_digits(), right.integer_digits());
    match op {
        ArithmeticOp::Add | ArithmeticOp::Subtract => {
            let scale = s1.max(s2);
            ExprType::decimal(i1.max(i2) + scale + 1, scale)
        }
        ArithmeticOp::Multiply => {
            let scale = (s1 + s2).min(38);
            ExprType::decimal(i1 + s1 + i2 + s2, scale)
        }
        ArithmeticOp::Divide | ArithmeticOp::IntDivide => {
            let scale = (s1 + u32::from(increment)).min(38);
            ExprType::decimal(i1 + s1 + s2 + u32::from(increment), scale)
        }
        ArithmeticOp::Modulo => ExprType::decimal((i1 + s1).max(i2 + s2), s1.max(s2)),
    }
}

/// Binds `-operand`. A literal becomes the negative literal.
pub(crate) fn negate(mut operand: Expr, source: &str) -> Result<Expr> {
    refusal::check_operand(&operand.ty, "-")?;
    read_as_number(&mut operand);
    if let ExprKind::Literal(value) = &operand.kind {
        let negative = match value {
            Value::Int(number) => number.checked_neg().map(Value::Int),
            Value::UInt(number) if *number == 1 << 63 => Some(Value::Int(i64::MIN)),
            Value::UInt(number)
                if i64::try_from(*number).is_ok() && operand.ty.note != TypeNote::HexLiteral =>
            {
                Some(Value::Int(-(*number as i64)))
            }
            Value::UInt(number) if operand.ty.note != TypeNote::HexLiteral => {
                Some(Value::Decimal(paceline_types::Decimal::from(*number).neg()))
            }
            Value::Decimal(number) => Some(Value::Decimal(number.neg())),
            Value::Double(number) => Some(Value::Double(-number)),
            _ => None,
        };
        if let Some(negative) = negative {
            let ty = match (&negative, &operand.ty.data_type) {
                (Value::Int(_), DataType::Integer(integer)) => {
                    ExprType::int(integer.display_width.saturating_add(1))
                }
                (Value::Decimal(number), _) => {
                    ExprType::decimal(u32::from(number.precision()), u32::from(number.scale()))
                }
                _ => operand.ty.clone(),
            };
            return Ok(Expr::literal(negative, ty));
        }
    }
    let (domain, ty) = match arithmetic_class(&operand.ty) {
        _ if operand.ty.is_parameter() => (Domain::Dynamic, ExprType::parameter()),
        // A date or a time is a decimal with all its characters as digits.
        _ if operand.ty.class().is_temporal() && operand.ty.decimals() == 0 => {
            let digits = operand.ty.display_length(1);
            (Domain::Decimal, ExprType::decimal(digits, 0))
        }
        Class::Int | Class::Null => {
            let length = (operand.ty.display_width() + 1).min(21) as u8;
            (Domain::Int, ExprType::int(length))
        }
        Class::Decimal => {
            let scale = u32::from(operand.ty.decimals());
            let digits = operand.ty.integer_digits() + u32::from(operand.ty.class() == Class::Decimal);
            (Domain::Decimal, ExprType::decimal(digits + scale, scale))
        }
        _ if operand.ty.class() == Class::Double => {
            (Domain::Double, ExprType::double_with(operand.ty.decimals()))
        }
        _ => (Domain::Double, ExprType::double()),
    };
    let nullable = operand.ty.nullable;
    let kind = ExprKind::Negate {
        domain,
        operand: Box::new(operand),
        source: source.into(),
    };
    Ok(Expr {
        kind,
        ty: ty.with_nullable(nullable),
    })
}
