//! Comparison of values by a rule that was chosen when the expression was bound.

use std::borrow::Cow;
use std::cmp::Ordering;

use paceline_types::{Collation, Value};

use super::readings::SharedOperand;
use crate::context::EvalContext;
use crate::error::Result;
use crate::errors;
use crate::eval::{convert, convert_for, long_bytes};
use crate::expr_type::{Class, ExprType};
use crate::rules::{between_rule, fixed_binary_rule};
use crate::tree::{CompareOp, Comparison, Expr, ExprKind, Frame, InSet};

/// Evaluates `left op right`. `None` is UNKNOWN.
pub fn compare_with(
    op: CompareOp,
    by: &Comparison,
    left: &Value,
    right: &Value,
    context: &mut EvalContext<'_>,
) -> Result<Option<bool>> {
    if left.is_null() || right.is_null() {
        return Ok(match op {
            CompareOp::NullSafeEq => Some(left.is_null() && right.is_null()),
            _ => None,
        });
    }
    let ordering = compare_values(by, left, right, context)?;
    Ok(match ordering {
        Some(ordering) => Some(op.holds(ordering)),
        None if op == CompareOp::NullSafeEq => Some(false),
        None => None,
    })
}

/// Compares two values that are not NULL. Returns `None` if one of them cannot be converted (a string that is not a
/// date) or is NaN.
pub fn compare_values(
    by: &Comparison,
    left: &Value,
    right: &Value,
    context: &mut EvalContext<'_>,
) -> Result<Option<Ordering>> {
    Ok(match by {
        Comparison::Int => match (left, right) {
            (Value::Int(left), Value::Int(right)) => Some(left.cmp(right)),
            _ => Some(convert::to_i128(left, context)?.cmp(&convert::to_i128(right, context)?)),
        },
        Comparison::Decimal => match (left, right) {
            (Value::Decimal(left), Value::Decimal(right)) => Some(left.cmp(right)),
            (Value::Int(left), Value::Int(right)) => Some(left.cmp(right)),
            _ => Some(convert::to_decimal(left, context)?.cmp(&convert::to_decimal(right, context)?)),
        },
        Comparison::Double => {
            convert::to_double(left, context)?.partial_cmp(&convert::to_double(right, context)?)
        }
        Comparison::FixedDouble(decimals) => {
            let (left, right) = (
                convert::to_double(left, context)?,
                convert::to_double(right, context)?,
            );
            match (left - right).abs() < 0.5 / 10f64.powi(i32::from(*decimals)) {
                true => Some(Ordering::Equal),
                false => left.partial_cmp(&right),
            }
        }
        Comparison::Text(collation) => match (left, right) {
            (Value::Text(left), Value::Text(right)) => Some(collation.compare(left, right)),
            _ => {
                let left = convert::text_of(left, context);
                let right = convert::text_of(right, context);
                Some(collation.compare(&left, &right))
            }
        },
        Comparison::Bytes => {
            let left = convert::bytes_of(left, context);
            let right = convert::bytes_of(right, context);
            Some(left.as_ref().cmp(right.as_ref()))
        }
        Comparison::DateTime => {
            match (left, right) {
                (Value::Date(left), Value::Date(right)) => return Ok(Some(left.cmp(right))),
                (Value::DateTime(left), Value::DateTime(right)) => return Ok(Some(left.cmp(right))),
                _ => {}
            }
            let Some(left) = convert::to_datetime_for_comparison(left, context)? else {
                return Ok(None);
            };
            let Some(right) = convert::to_datetime_for_comparison(right, context)? else {
                return Ok(None);
            };
            Some(left.cmp(&right))
        }
        Comparison::Time => {
            let Some(left) = convert::to_time_for_comparison(left, context)? else {
                return Ok(None);
            };
            let Some(right) = convert::to_time_for_comparison(right, context)? else {
                return Ok(None);
            };
            Some(left.cmp(&right))
        }
        Comparison::FixedBinary(t) => {
            let Some(left) = convert::to_fixed_binary(left, *t, context)? else {
                return Ok(None);
            };
            let Some(right) = convert::to_fixed_binary(right, *t, context)? else {
                return Ok(None);
            };
            Some(left.compare(&right))
        }
        Comparison::Dynamic { collation, exact } => {
            let rule = match (exact, left, right) {
                (true, Value::Decimal(_), Value::Text(_)) | (true, Value::Text(_), Value::Decimal(_)) => {
                    Comparison::Decimal
                }
                _ => dynamic_rule(left, right, *collation)?,
            };
            return compare_values(&rule, left, right, context);
        }
        Comparison::Row(_) => return Err(errors::operand_columns(1)),
    })
}

/// Converts an operand that is compared as a date or time, if it is a column: warnings then name the column. Returns
/// any other value as it is.
#[inline]
pub(crate) fn read_operand<'a>(
    by: &Comparison,
    operand: &Expr,
    value: Cow<'a, Value>,
    context: &mut EvalContext<'_>,
) -> Result<Cow<'a, Value>> {
    match by {
        Comparison::DateTime | Comparison::Time => read_column(by, operand, value, context),
        _ => Ok(value),
    }
}

fn read_column<'a>(
    by: &Comparison,
    operand: &Expr,
    value: Cow<'a, Value>,
    context: &mut EvalContext<'_>,
) -> Result<Cow<'a, Value>> {
    if !matches!(operand.kind, ExprKind::Column(_)) || operand.ty.class().is_temporal() || value.is_null() {
        return Ok(value);
    }
    let read = context.convert_operand(operand, |context| match by {
        Comparison::Time => {
            convert::to_time_for_comparison(&value, context).map(|time| time.map(Value::Time))
        }
        _ => convert::to_datetime_for_comparison(&value, context).map(|day| day.map(Value::DateTime)),
    })?;
    Ok(read.map_or(value, Cow::Owned))
}

/// Determines the rule from the values, if a parameter's type was unknown when the expression was bound.
fn dynamic_rule(left: &Value, right: &Value, collation: paceline_types::Collation) -> Result<Comparison> {
    let (a, b) = (convert::class_of(left), convert::class_of(right));
    Ok(match (a, b) {
        (Class::String, Class::String) => match (left, right) {
            (Value::Bytes(_), _) | (_, Value::Bytes(_)) => Comparison::Bytes,
            _ => Comparison::Text(collation),
        },
        (Class::FixedBinary(_), _) | (_, Class::FixedBinary(_)) => {
            let [left, right] = [left, right].map(|value| ExprType::of_value(value, collation));
            fixed_binary_rule("=", &left, &right)?.unwrap_or(Comparison::Bytes)
        }
        _ => crate::rules::rule_of_classes(a, b).unwrap_or(Comparison::Double),
    })
}

/// Returns the rule of a BETWEEN with parameters: that of the types of all three values.
pub(super) fn rule_of_between(
    operands: &[Expr; 3],
    values: [&Value; 3],
    collation: Collation,
    context: &EvalContext<'_>,
) -> Result<Comparison> {
    let types: [Cow<'_, ExprType>; 3] = std::array::from_fn(|place| match &operands[place].ty {
        ty if ty.is_parameter() => Cow::Owned(ExprType::of_value(values[place], collation)),
        ty => Cow::Borrowed(ty),
    });
    let are_texts = types
        .iter()
        .all(|ty| matches!(ty.class(), Class::String | Class::Null));
    if are_texts {
        let are_bytes = values.iter().any(|value| matches!(value, Value::Bytes(_)));
        return Ok(match are_bytes {
            true => Comparison::Bytes,
            false => Comparison::Text(collation),
        });
    }
    let connection = context.session.settings.collation_connection;
    between_rule(&types[0], &types[1], &types[2], connection)
}

/// Compares two rows, or a row and a subquery that returns one.
pub fn compare_rows<'a>(
    op: CompareOp,
    by: &[Comparison],
    left: &'a Expr,
    right: &'a Expr,
    frame: &Frame<'a>,
    context: &mut EvalContext<'_>,
) -> Result<Option<bool>> {
    let is_equality = matches!(op, CompareOp::Eq | CompareOp::Ne | CompareOp::NullSafeEq);
    if let (true, ExprKind::Row(left), ExprKind::Row(right)) = (is_equality, &left.kind, &right.kind)
        && !by.iter().any(|by| matches!(by, Comparison::Row(_)))
    {
        return equal_rows(op, by, left, right, frame, context);
    }
    let left = row_values(left, frame, context)?;
    let right = row_values(right, frame, context)?;
    compare_row_values(op, by, &left, &right, context)
}

/// Returns whether rows are equal, or unequal. Elements after the first difference are not evaluated.
fn equal_rows<'a>(
    op: CompareOp,
    by: &[Comparison],
    left: &'a [Expr],
    right: &'a [Expr],
    frame: &Frame<'a>,
    context: &mut EvalContext<'_>,
) -> Result<Option<bool>> {
    let element = match op {
        CompareOp::NullSafeEq => CompareOp::NullSafeEq,
        _ => CompareOp::Eq,
    };
    let mut unknown = false;
    for ((by, left_expr), right_expr) in by.iter().zip(left).zip(right) {
        let left = left_expr.eval_in(frame, context)?;
        if left.is_null() && op != CompareOp::NullSafeEq {
            unknown = true;
            continue;
        }
        let left = read_operand(by, left_expr, left, context)?;
        let right = right_expr.eval_in(frame, context)?;
        let right = read_operand(by, right_expr, right, context)?;
        if right.is_null() {
            convert_for(by, &left, context)?;
        }
        match compare_with(element, by, &left, &right, context)? {
            Some(true) => {}
            Some(false) => return Ok(Some(op == CompareOp::Ne)),
            None => unknown = true,
        }
    }
    Ok((!unknown).then_some(op != CompareOp::Ne))
}

/// Compares two rows of values. NULL in a row is treated as in MariaDB: `<` and similar operators decide at
/// the first unequal element.
pub fn compare_row_values(
    op: CompareOp,
    by: &[Comparison],
    left: &[Value],
    right: &[Value],
    context: &mut EvalContext<'_>,
) -> Result<Option<bool>> {
    let mut unknown = false;
    for ((by, left), right) in by.iter().zip(left).zip(right) {
        match op {
            CompareOp::Eq | CompareOp::Ne => match compare_with(CompareOp::Eq, by, left, right, context)? {
                Some(true) => {}
                Some(false) => return Ok(Some(op == CompareOp::Ne)),
                None => unknown = true,
            },
            CompareOp::NullSafeEq => {
                if compare_with(op, by, left, right, context)? != Some(true) {
                    return Ok(Some(false));
                }
            }
            _ => {
                if left.is_null() || right.is_null() {
                    return Ok(None);
                }
                match compare_values(by, left, right, context)? {
                    None => return Ok(None),
                    Some(Ordering::Equal) => {}
                    Some(ordering) => return Ok(Some(op.holds(ordering))),
                }
            }
        }
    }
    Ok(match op {
        _ if unknown => None,
        CompareOp::Eq | CompareOp::NullSafeEq | CompareOp::Le | CompareOp::Ge => Some(true),
        CompareOp::Ne | CompareOp::Lt | CompareOp::Gt => Some(false),
    })
}

/// Returns the values of a row expression; of any other expression its single value.
pub fn row_values<'a>(
    expr: &'a Expr,
    frame: &Frame<'a>,
    context: &mut EvalContext<'_>,
) -> Result<Vec<Value>> {
    match &expr.kind {
        ExprKind::Row(items) => {
            // All values are in memory at the same time.
            let mut long = 0;
            let mut values = Vec::with_capacity(items.len());
            for item in items {
                let value = item.eval_in(frame, context)?.into_owned();
                if let Some(bytes) = long_bytes(&value) {
                    long += bytes;
                    context.session.memory.check_room(long)?;
                }
                values.push(value);
            }
            Ok(values)
        }
        ExprKind::ScalarSubquery(subquery) => crate::eval::subquery::row(subquery, frame, context),
        _ => Ok(vec![expr.eval_in(frame, context)?.into_owned()]),
    }
}

/// Evaluates `needle IN (list)`.
pub(super) fn in_list<'a>(
    by: &[Comparison],
    needle: &'a Expr,
    list: &'a [Expr],
    set: &InSet,
    frame: &Frame<'a>,
    context: &mut EvalContext<'_>,
) -> Result<Option<bool>> {
    if let Some(Comparison::Row(_)) = by.first() {
        let needle = row_values(needle, frame, context)?;
        let mut unknown = false;
        for (by, item) in by.iter().zip(list) {
            let Comparison::Row(by) = by else {
                return Err(errors::operand_columns(needle.len()));
            };
            let item = row_values(item, frame, context)?;
            match compare_row_values(CompareOp::Eq, by, &needle, &item, context)? {
                Some(true) => return Ok(Some(true)),
                Some(false) => {}
                None => unknown = true,
            }
        }
        return Ok(if unknown { None } else { Some(false) });
    }
    let needle = SharedOperand::new(needle, by.iter(), frame, context)?;
    if needle.is_null() {
        return Ok(None);
    }
    if let Some(needle) = needle.single()
        && let Some(found) = set.find(by, needle, list, context)?
    {
        return Ok(found);
    }
    let mut unknown = false;
    for (by, item) in by.iter().zip(list) {
        let item = read_operand(by, item, item.eval_in(frame, context)?, context)?;
        let needle = needle.compared_by(by, context)?;
        if item.is_null() {
            // As in MariaDB the needle has been converted by then, and may say something.
            convert_for(by, &needle, context)?;
        }
        match compare_with(CompareOp::Eq, by, &needle, &item, context)? {
            Some(true) => return Ok(Some(true)),
            Some(false) => {}
            None => unknown = true,
        }
    }
    Ok(if unknown { None } else { Some(false) })
}

/// Returns the rule by which values of a type compare with each other.
pub fn own_rule(ty: &ExprType, value: &Value) -> Comparison {
    let class = if ty.is_parameter() {
        convert::class_of(value)
    } else {
        ty.class()
    };
    match class {
        Class::Int | Class::Null => Comparison::Int,
        Class::Decimal => Comparison::Decimal,
        Class::Double => Comparison::Double,
        Class::Date | Class::DateTime => Comparison::DateTime,
        Class::Time => Comparison::Time,
        Class::FixedBinary(t) => Comparison::FixedBinary(t),
        Class::String => match ty.collation() {
            Collation::Binary => Comparison::Bytes,
            collation => Comparison::Text(collation),
        },
    }
}
