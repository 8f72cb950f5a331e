//! Arithmetic: domains and result types.

use paceline_types::data_type::{IntegerType, IntegerWidth, Sign};
use paceline_types::{DataType, FixedPoint, FloatType, Value};

use super::reading::{read_as_decimal, read_as_number};
use crate::error::Result;
use crate::expr_type::{Class, ExprType, NOT_FIXED_DECIMALS, TypeNote};
use crate::session::{SessionContext, SqlMode};
use crate::tree::{ArithmeticOp, Domain, Expr, ExprKind};
use crate::typing::refusal;

/// Returns the class in which an operand takes part in arithmetic.
pub(super) fn arithmetic_class(ty: &ExprType) -> Class {
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
pub(super) fn domain(op: ArithmeticOp, left: &ExprType, right: &ExprType) -> Domain {
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

/// Binds arithmetic on two operands.
pub fn arithmetic(
    op: ArithmeticOp,
    mut left: Expr,
    mut right: Expr,
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
    };
    Ok(Expr {
        kind,
        ty: ty.with_nullable(nullable),
    })
}

pub(super) fn integer_type(
    op: ArithmeticOp,
    left: &ExprType,
    right: &ExprType,
    session: &SessionContext,
) -> ExprType {
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
pub(super) fn double_type(op: ArithmeticOp, left: &ExprType, right: &ExprType, increment: u8) -> ExprType {
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

pub(super) fn decimal_type(op: ArithmeticOp, left: &ExprType, right: &ExprType, increment: u8) -> ExprType {
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
pub(crate) fn negate(mut operand: Expr) -> Result<Expr> {
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
                (Value::Decimal(number), DataType::Integer(_)) => {
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
    };
    Ok(Expr {
        kind,
        ty: ty.with_nullable(nullable),
    })
}
