//! Operators: comparisons with their rules, arithmetic with its domains and result types.

use paceline_types::convert::{self, Completeness};
use paceline_types::data_type::{IntegerType, IntegerWidth, Sign};
use paceline_types::{DataType, Decimal, FixedPoint, FloatType, Value};

use super::cast::as_compared;
use super::fold::fold;
use super::rules::{CollationMix, comparison_rule_for, round_quotient};
use crate::error::Result;
use crate::expr::errors;
use crate::expr::expr_type::{Class, ExprType, NOT_FIXED_DECIMALS, TypeNote};
use crate::expr::functions::{COMPARED_DATETIME, COMPARED_TIME, Call, Function};
use crate::expr::scope::unique_id;
use crate::expr::tree::{ArithmeticOp, CompareOp, Comparison, Domain, Expr, ExprKind};
use crate::session::{SessionContext, SqlMode};

/// How many columns an operand has: 1 for a value.
pub(super) fn width(expr: &Expr) -> usize {
    match &expr.kind {
        ExprKind::Row(items) => items.len(),
        ExprKind::ScalarSubquery(subquery) => subquery.columns.len(),
        _ => 1,
    }
}

/// An operand's elements: those of a row, or itself; none of a subquery that gives rows.
pub(super) fn elements(expr: &mut Expr) -> &mut [Expr] {
    if !matches!(expr.kind, ExprKind::Row(_)) && width(expr) == 1 {
        return std::slice::from_mut(expr);
    }
    match &mut expr.kind {
        ExprKind::Row(items) => items,
        _ => &mut [],
    }
}

/// The types of an operand's columns.
pub(super) fn column_types(expr: &Expr) -> Vec<ExprType> {
    match &expr.kind {
        ExprKind::Row(items) => items.iter().map(|item| item.ty.clone()).collect(),
        ExprKind::ScalarSubquery(subquery) => subquery.columns.clone(),
        _ => vec![expr.ty.clone()],
    }
}

/// 1241 for a row where a value is wanted.
pub(super) fn expect_value(expr: Expr) -> Result<Expr> {
    if width(&expr) == 1 && !matches!(expr.kind, ExprKind::Row(_)) {
        Ok(expr)
    } else {
        Err(errors::operand_columns(1))
    }
}

/// `left op right`.
pub(super) fn compare(
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
            unquote_json(by, left, right, session);
            adapt(by, left, right, session);
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
    unquote_json(&by, &mut left, &mut right, session);
    adapt(&mut by, &mut left, &mut right, session);
    round_quotient(&by, &mut left);
    round_quotient(&by, &mut right);
    let nullable = op != CompareOp::NullSafeEq && (left.ty.nullable || right.ty.nullable || is_temporal(&by));
    Ok(Expr {
        kind: ExprKind::Compare {
            op,
            by,
            operands: Box::new([left, right]),
        },
        ty: ExprType::boolean().with_nullable(nullable),
    })
}

/// 1267 for a literal that the other side's character set cannot hold.
pub(super) fn check_literals(
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

/// The rules for the columns of two rows.
pub(super) fn row_rules(
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

/// Converts a constant once, here, to what the comparison will want of it; an integer column against a text that is an integer
/// becomes a comparison of integers, which an index can serve.
pub(super) fn adapt(by: &mut Comparison, left: &mut Expr, right: &mut Expr, session: &SessionContext) {
    for operand in [&mut *left, &mut *right] {
        match by {
            Comparison::Int | Comparison::Decimal | Comparison::Double => {
                hex_to_number(operand);
                if let ExprKind::Call(call) = &operand.kind {
                    call_instead(operand, call.number_function(), session);
                }
            }
            Comparison::DateTime => literal_to_datetime(operand, session),
            Comparison::Time => literal_to_time(operand, session),
            Comparison::Bytes | Comparison::Text(_) => as_compared(operand, by, session),
            _ => {}
        }
    }
    let is_year = year_of_two_digits(left, right) || year_of_two_digits(right, left);
    if matches!(by, Comparison::Double | Comparison::Decimal) {
        let integer_column = |expr: &Expr| {
            matches!(expr.kind, ExprKind::Column(_) | ExprKind::OuterColumn { .. })
                && expr.ty.class() == Class::Int
        };
        let converted = if integer_column(left) {
            literal_to_integer(right)
        } else if integer_column(right) {
            literal_to_integer(left)
        } else {
            false
        };
        if converted || is_year {
            *by = Comparison::Int;
        }
    }
}

/// A YEAR column compared with 24, or `'24'`, is compared with 2024; `'0'` is 2000 where 0 and `'0000'` are 0. Whether it was such a
/// literal.
fn year_of_two_digits(column: &Expr, literal: &mut Expr) -> bool {
    let ExprKind::Literal(value) = &literal.kind else {
        return false;
    };
    if column.ty.data_type != DataType::Year {
        return false;
    }
    let decimal = match value {
        Value::Int(number) => Decimal::from(*number),
        Value::Decimal(decimal) => *decimal,
        Value::Double(double) if double.fract() == 0.0 && (1.0..100.0).contains(double) => {
            Decimal::from(*double as i64)
        }
        Value::Text(text) => match convert::text_to_decimal(text.trim()) {
            (decimal, Completeness::Whole) => decimal,
            _ => return false,
        },
        _ => return false,
    };
    let is_short_zero = matches!(value, Value::Text(text) if text.trim().len() != 4);
    let year = match decimal.to_i64() {
        Ok(number) if Decimal::from(number) != decimal => return false,
        Ok(0) if is_short_zero => 2000,
        Ok(year @ 1..=69) => year + 2000,
        Ok(year @ 70..=99) => year + 1900,
        _ => return false,
    };
    *literal = Expr::literal(Value::Int(year), ExprType::bigint(20));
    true
}

/// Turns `'5'`, `5.0` or `5e0` into 5; leaves anything else alone.
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

/// JSON_EXTRACT compared with text gives a string without its quotes; of two, MariaDB unquotes the left one only.
pub(crate) fn unquote_json(by: &Comparison, left: &mut Expr, right: &mut Expr, session: &SessionContext) {
    if !matches!(
        by,
        Comparison::Text(_) | Comparison::Bytes | Comparison::Dynamic(_)
    ) {
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

/// Calls another function with the same arguments, and folds what can be folded now.
fn call_instead(expr: &mut Expr, function: &'static Function, session: &SessionContext) {
    if let ExprKind::Call(call) = &mut expr.kind
        && !std::ptr::eq(call.function, function)
    {
        call.function = function;
        *expr = fold(std::mem::replace(expr, Expr::null()), session);
    }
}

/// An operand of arithmetic, or a function's argument that is a number.
pub(crate) fn read_as_number(expr: &mut Expr) {
    hex_to_number(expr);
    if let ExprKind::Call(call) = &mut expr.kind {
        call.function = call.number_function();
    }
}

/// A hexadecimal literal in numeric context is a number.
pub(super) fn hex_to_number(expr: &mut Expr) {
    if expr.ty.note != TypeNote::HexLiteral {
        return;
    }
    if let ExprKind::Literal(Value::Bytes(bytes)) = &expr.kind {
        *expr = Expr::literal(hex_number(bytes), ExprType::bigint_unsigned(20));
    }
}

/// The number that a hexadecimal literal is: its last 8 bytes.
pub(crate) fn hex_number(bytes: &[u8]) -> Value {
    let tail = &bytes[bytes.len().saturating_sub(8)..];
    Value::UInt(tail.iter().fold(0, |number, byte| number << 8 | u64::from(*byte)))
}

/// Of an operand that serves several comparisons, converts the elements of which all want the same.
pub(super) fn adapt_shared(operand: &mut Expr, rules: &[Comparison], session: &SessionContext) {
    for (place, element) in elements(operand).iter_mut().enumerate() {
        let mut wanted = rules.iter().map(|by| match by {
            Comparison::Row(by) => &by[place],
            by => by,
        });
        let Some(first) = wanted.next() else {
            return;
        };
        let is_number =
            |by: &Comparison| matches!(by, Comparison::Int | Comparison::Decimal | Comparison::Double);
        if is_number(first) {
            if wanted.all(is_number) {
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
    *expr = match convert::to_datetime(value, &lax(session)) {
        Some(datetime) => Expr::literal(Value::DateTime(datetime), ExprType::datetime(datetime.decimals)),
        None => converted_once(expr, &COMPARED_DATETIME, ExprType::datetime(0)),
    };
}

fn literal_to_time(expr: &mut Expr, session: &SessionContext) {
    let ExprKind::Literal(value @ (Value::Text(_) | Value::Int(_))) = &expr.kind else {
        return;
    };
    *expr = match convert::to_time(value, &lax(session)) {
        Some(time) => Expr::literal(Value::Time(time), ExprType::time(time.decimals())),
        None => converted_once(expr, &COMPARED_TIME, ExprType::time(0)),
    };
}

/// A constant that cannot be converted here, since each execution warns of it.
fn converted_once(constant: &mut Expr, function: &'static Function, ty: ExprType) -> Expr {
    let call = Call {
        function,
        args: vec![std::mem::replace(constant, Expr::null())],
        id: unique_id(),
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

/// `value BETWEEN low AND high`.
pub(super) fn between(
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
    let from = comparison_rule_for("between", &value.ty, &low.ty, connection)?;
    let to = comparison_rule_for("between", &value.ty, &high.ty, connection)?;
    let nullable = value.ty.nullable || low.ty.nullable || high.ty.nullable;
    let ty = ExprType::boolean().with_nullable(nullable);
    let mut by = match (&from, &to) {
        (a, b) if a == b => from,
        (Comparison::Text(_) | Comparison::Bytes, Comparison::Text(_) | Comparison::Bytes) => {
            let collation =
                CollationMix::for_comparison(&[&value.ty, &low.ty, &high.ty], connection, "between")?;
            if collation == paceline_types::Collation::Binary {
                Comparison::Bytes
            } else {
                Comparison::Text(collation)
            }
        }
        (Comparison::Dynamic(_), _) => from,
        (_, Comparison::Dynamic(_)) => to,
        (Comparison::DateTime, _) | (_, Comparison::DateTime) => Comparison::DateTime,
        (Comparison::Double, _) | (_, Comparison::Double) => Comparison::Double,
        _ => Comparison::Decimal,
    };
    if let Comparison::Text(collation) = by {
        CollationMix::check_literals(&[&value, &low, &high], collation, connection, "between")?;
    }
    let saved = (value.clone(), low.clone());
    adapt(&mut by, &mut value, &mut low, session);
    if by == Comparison::Int && from_is_not_int(&saved.0.ty, &high, session)? {
        // The upper bound is not an integer: both bounds keep the wider rule.
        (value, low) = saved;
        by = Comparison::Decimal;
        if matches!(high.ty.class(), Class::String | Class::Double) || low.ty.class() == Class::String {
            by = Comparison::Double;
        }
    } else {
        adapt(&mut by.clone(), &mut value, &mut high, session);
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

fn from_is_not_int(value: &ExprType, high: &Expr, session: &SessionContext) -> Result<bool> {
    let rule = comparison_rule_for("between", value, &high.ty, session.settings.collation_connection)?;
    if rule == Comparison::Int {
        return Ok(false);
    }
    Ok(!literal_to_integer(&mut high.clone()))
}

/// The class in which an operand takes part in arithmetic.
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

/// The domain of an operator on these types.
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

/// `left op right`. `source` is its text.
pub(crate) fn arithmetic(
    op: ArithmeticOp,
    mut left: Expr,
    mut right: Expr,
    source: &str,
    session: &SessionContext,
) -> Result<Expr> {
    read_as_number(&mut left);
    read_as_number(&mut right);
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

fn display_width(ty: &ExprType) -> u32 {
    match &ty.data_type {
        DataType::Integer(integer) => u32::from(integer.display_width),
        other => other.display_length(1),
    }
}

fn integer_type(op: ArithmeticOp, left: &ExprType, right: &ExprType, session: &SessionContext) -> ExprType {
    let mode = session.settings.sql_mode;
    let either = left.is_unsigned() || right.is_unsigned();
    let unsigned = match op {
        ArithmeticOp::Modulo => left.is_unsigned(),
        ArithmeticOp::Subtract => either && !mode.contains(SqlMode::NO_UNSIGNED_SUBTRACTION),
        _ => either,
    };
    let (a, b) = (display_width(left), display_width(right));
    let length = match op {
        ArithmeticOp::Add | ArithmeticOp::Subtract => a.max(b) + 1,
        ArithmeticOp::Multiply => a + b,
        ArithmeticOp::Divide | ArithmeticOp::IntDivide => a,
        ArithmeticOp::Modulo => a.max(b),
    }
    .min(21) as u8;
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

/// A double whose operands have fixed decimals has them too: `PI() + 0` shows six.
fn double_type(op: ArithmeticOp, left: &ExprType, right: &ExprType, increment: u8) -> ExprType {
    let (a, b) = (left.decimals(), right.decimals());
    if a == NOT_FIXED_DECIMALS || b == NOT_FIXED_DECIMALS || left.is_null() || right.is_null() {
        return ExprType::double();
    }
    let scale = match op {
        ArithmeticOp::Multiply => a + b,
        ArithmeticOp::Divide => a + increment,
        _ => a.max(b),
    };
    if scale > 30 {
        return ExprType::double();
    }
    let fixed = Some(FixedPoint {
        precision: 17 + scale,
        scale,
    });
    ExprType::new(DataType::Double(FloatType {
        fixed,
        ..FloatType::default()
    }))
}

fn decimal_type(op: ArithmeticOp, left: &ExprType, right: &ExprType, increment: u8) -> ExprType {
    let scale = |ty: &ExprType| match ty.decimals() {
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
        ArithmeticOp::Modulo => {
            let scale = s1.max(s2);
            ExprType::decimal(i1.max(i2) + scale, scale)
        }
    }
}

/// `-operand`; of a literal the negative literal.
pub(super) fn negate(mut operand: Expr, source: &str) -> Result<Expr> {
    read_as_number(&mut operand);
    if let ExprKind::Literal(value) = &operand.kind {
        let negative = match value {
            Value::Int(number) => number.checked_neg().map(Value::Int),
            Value::UInt(number) if *number == 1 << 63 => Some(Value::Int(i64::MIN)),
            Value::UInt(number) if operand.ty.note == TypeNote::Plain => {
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
        Class::Int | Class::Null => {
            let length = (display_width(&operand.ty) + 1).min(21) as u8;
            (Domain::Int, ExprType::int(length))
        }
        Class::Decimal => {
            let scale = u32::from(operand.ty.decimals());
            (
                Domain::Decimal,
                ExprType::decimal(operand.ty.integer_digits() + scale, scale),
            )
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
