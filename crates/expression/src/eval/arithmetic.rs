//! Operators `+ - * / DIV %` and bit operators, with MariaDB's result ranges.

use paceline_types::decimal::Rounding;
use paceline_types::error_code::ER_DIVISION_BY_ZERO;
use paceline_types::{Decimal, Value};

use super::convert;
use crate::context::EvalContext;
use crate::error::Result;
use crate::errors;
use crate::expr_type::{Class, ExprType};
use crate::print::Printer;
use crate::session::SqlMode;
use crate::slot_names::SlotNames;
use crate::tree::{ArithmeticOp, BitOp, Domain, Expr};

/// Properties of an arithmetic node.
pub(super) struct Operation<'a> {
    pub op: ArithmeticOp,
    pub domain: Domain,
    pub ty: &'a ExprType,
    /// The node itself, for error 1690.
    pub expr: &'a Expr,
    pub parameters: &'a [Value],
    pub names: Option<&'a dyn SlotNames>,
}

impl Operation<'_> {
    #[cold]
    fn out_of_range(&self, kind: &str) -> crate::Error {
        let printer = Printer::new(self.names, self.parameters);
        errors::out_of_range(kind, printer.expression(self.expr))
    }

    /// Returns an integer result with the sign of the type.
    fn integer(&self, result: i128) -> Result<Value> {
        if self.ty.is_unsigned() {
            u64::try_from(result)
                .map(Value::UInt)
                .map_err(|_| self.out_of_range("BIGINT UNSIGNED"))
        } else {
            i64::try_from(result)
                .map(Value::Int)
                .map_err(|_| self.out_of_range("BIGINT"))
        }
    }

    fn double(&self, result: f64) -> Result<Value> {
        if result.is_finite() {
            Ok(Value::Double(result))
        } else {
            Err(self.out_of_range("DOUBLE"))
        }
    }

    fn decimal(&self, result: paceline_types::Result<Decimal>) -> Result<Value> {
        result
            .map(Value::Decimal)
            .map_err(|_| self.out_of_range("DECIMAL"))
    }
}

/// Returns NULL, with warning 1365 if the SQL mode requests it.
pub fn division_by_zero(context: &mut EvalContext<'_>) -> Result<Value> {
    if context
        .session
        .settings
        .sql_mode
        .contains(SqlMode::ERROR_FOR_DIVISION_BY_ZERO)
    {
        context.warn(ER_DIVISION_BY_ZERO, "Division by 0")?;
    }
    Ok(Value::Null)
}

/// Determines the domain from the values, if a parameter's type was unknown when the expression was bound.
fn dynamic_domain(op: ArithmeticOp, left: &Value, right: &Value) -> Domain {
    match (convert::class_of(left), convert::class_of(right)) {
        (Class::Double | Class::String, _) | (_, Class::Double | Class::String) => Domain::Double,
        (Class::Int, Class::Int) if op != ArithmeticOp::Divide => Domain::Int,
        _ => Domain::Decimal,
    }
}

/// Computes `left op right` for two values that are not NULL.
pub(super) fn binary(
    call: &Operation<'_>,
    left: &Value,
    right: &Value,
    context: &mut EvalContext<'_>,
) -> Result<Value> {
    let domain = match call.domain {
        Domain::Dynamic => dynamic_domain(call.op, left, right),
        fixed => fixed,
    };
    match domain {
        Domain::Int => integers(call, left, right, context),
        Domain::Decimal => decimals(call, left, right, context),
        Domain::Double | Domain::Dynamic => doubles(call, left, right, context),
    }
}

fn integers(
    call: &Operation<'_>,
    left: &Value,
    right: &Value,
    context: &mut EvalContext<'_>,
) -> Result<Value> {
    let left = convert::to_i128(left, context)?;
    let right = convert::to_i128(right, context)?;
    let result = match call.op {
        ArithmeticOp::Add => left + right,
        // MariaDB does not check the result of zero minus the smallest BIGINT.
        ArithmeticOp::Subtract if left == 0 && right == i128::from(i64::MIN) && !call.ty.is_unsigned() => {
            right
        }
        ArithmeticOp::Subtract => left - right,
        ArithmeticOp::Multiply => match left.checked_mul(right) {
            Some(product) => product,
            None => {
                return Err(call.out_of_range(if call.ty.is_unsigned() {
                    "BIGINT UNSIGNED"
                } else {
                    "BIGINT"
                }));
            }
        },
        ArithmeticOp::Divide | ArithmeticOp::IntDivide => {
            if right == 0 {
                return division_by_zero(context);
            }
            left / right
        }
        ArithmeticOp::Modulo => {
            if right == 0 {
                return division_by_zero(context);
            }
            left % right
        }
    };
    if call.domain == Domain::Dynamic && !call.ty.is_unsigned() && i64::try_from(result).is_err() {
        return u64::try_from(result)
            .map(Value::UInt)
            .map_err(|_| call.out_of_range("BIGINT"));
    }
    call.integer(result)
}

fn decimals(
    call: &Operation<'_>,
    left: &Value,
    right: &Value,
    context: &mut EvalContext<'_>,
) -> Result<Value> {
    let left = convert::to_decimal(left, context)?;
    let right = convert::to_decimal(right, context)?;
    match call.op {
        // The sum of a number and its negation is a zero without digits.
        ArithmeticOp::Add if left.is_negative() != right.is_negative() && left == right.neg() => {
            Ok(Value::Decimal(Decimal::ZERO))
        }
        ArithmeticOp::Subtract if left.is_negative() == right.is_negative() && left == right => {
            Ok(Value::Decimal(Decimal::ZERO))
        }
        ArithmeticOp::Add => call.decimal(left.add(&right)),
        ArithmeticOp::Subtract => call.decimal(left.sub(&right)),
        // Likewise a zero that would be negative.
        ArithmeticOp::Multiply
            if left.is_negative() != right.is_negative() && (left.is_zero() || right.is_zero()) =>
        {
            Ok(Value::Decimal(Decimal::ZERO))
        }
        ArithmeticOp::Multiply => call.decimal(left.mul(&right)),
        ArithmeticOp::Divide => {
            let increment = context.session.settings.div_precision_increment;
            match left
                .div(&right, increment)
                .map_err(|_| call.out_of_range("DECIMAL"))?
            {
                None => division_by_zero(context),
                Some(quotient) if quotient.is_zero() && left.is_zero() => Ok(Value::Decimal(Decimal::ZERO)),
                // Without a type from binding, no other code rounds it later.
                Some(quotient) if call.domain == Domain::Dynamic => {
                    let scale = (left.scale() + increment).min(38);
                    Ok(Value::Decimal(quotient.round(i32::from(scale), Rounding::HalfUp)))
                }
                Some(quotient) => Ok(Value::Decimal(quotient)),
            }
        }
        ArithmeticOp::IntDivide => {
            let quotient = match left.div(&right, 0).map_err(|_| call.out_of_range("DECIMAL"))? {
                None => return division_by_zero(context),
                Some(quotient) => quotient.round(0, Rounding::Truncate),
            };
            if call.ty.is_unsigned() {
                match quotient.to_u64() {
                    Ok(result) => Ok(Value::UInt(result)),
                    Err(_) => Err(call.out_of_range("BIGINT UNSIGNED")),
                }
            } else {
                match quotient.to_i64() {
                    Ok(result) => Ok(Value::Int(result)),
                    Err(_) => Err(call.out_of_range("BIGINT")),
                }
            }
        }
        ArithmeticOp::Modulo => match left.rem(&right).map_err(|_| call.out_of_range("DECIMAL"))? {
            None => division_by_zero(context),
            Some(_) if left.is_zero() => Ok(Value::Decimal(Decimal::ZERO)),
            Some(remainder) => Ok(Value::Decimal(remainder)),
        },
    }
}

fn doubles(
    call: &Operation<'_>,
    left: &Value,
    right: &Value,
    context: &mut EvalContext<'_>,
) -> Result<Value> {
    if call.op == ArithmeticOp::IntDivide {
        return decimals(call, left, right, context);
    }
    let left = convert::to_double(left, context)?;
    let right = convert::to_double(right, context)?;
    match call.op {
        ArithmeticOp::Add => call.double(left + right),
        ArithmeticOp::Subtract => call.double(left - right),
        ArithmeticOp::Multiply => call.double(left * right),
        ArithmeticOp::Divide | ArithmeticOp::IntDivide => {
            if right == 0.0 {
                division_by_zero(context)
            } else {
                call.double(left / right)
            }
        }
        ArithmeticOp::Modulo => {
            if right == 0.0 {
                division_by_zero(context)
            } else {
                call.double(left % right)
            }
        }
    }
}

/// Computes `-value`.
pub(super) fn negate(call: &Operation<'_>, value: &Value, context: &mut EvalContext<'_>) -> Result<Value> {
    if value.is_null() {
        return Ok(Value::Null);
    }
    let domain = match call.domain {
        Domain::Dynamic => match convert::class_of(value) {
            Class::Int => Domain::Int,
            Class::Decimal => Domain::Decimal,
            _ => Domain::Double,
        },
        fixed => fixed,
    };
    match domain {
        Domain::Int => {
            let result = -convert::to_i128(value, context)?;
            i64::try_from(result)
                .map(Value::Int)
                .map_err(|_| call.out_of_range("BIGINT"))
        }
        Domain::Decimal => Ok(Value::Decimal(convert::to_decimal(value, context)?.neg())),
        Domain::Double | Domain::Dynamic => Ok(Value::Double(-convert::to_double(value, context)?)),
    }
}

/// Computes a bit operator. Shifts by 64 or more result in 0.
pub(super) fn bits(op: BitOp, left: u64, right: u64) -> u64 {
    match op {
        BitOp::Or => left | right,
        BitOp::And => left & right,
        BitOp::Xor => left ^ right,
        BitOp::ShiftLeft => u32::try_from(right)
            .ok()
            .and_then(|by| left.checked_shl(by))
            .unwrap_or(0),
        BitOp::ShiftRight => u32::try_from(right)
            .ok()
            .and_then(|by| left.checked_shr(by))
            .unwrap_or(0),
    }
}
