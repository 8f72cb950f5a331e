//! Conversion of values for the search in an index: the nearest value that a column can contain.

use std::cmp::Ordering;

use paceline_types::convert::assign;
use paceline_types::{DataType, Value};

use super::{Use, is_index_usable};
use paceline_expression::{Comparison, EvalContext, Expr, ExprType, compare_values, comparison_rule};

/// Bound of a column's values.
pub(super) enum Bound {
    /// NULL.
    Null,
    /// Unknown, or not comparable by the index: any row may match.
    Unknown,
    /// The nearest value that the column can contain, and its order relative to the value itself.
    Near(Value, Ordering),
}

/// Returns the value nearest to `value` that a column can contain, and its order relative to `value`.
pub(crate) fn nearest_value(
    data_type: &DataType,
    by: &Comparison,
    value: Value,
    context: &mut EvalContext<'_>,
) -> NearestValue {
    match nearest(data_type, by, value, context) {
        Bound::Null => NearestValue::Null,
        Bound::Unknown => NearestValue::Unknown,
        Bound::Near(value, Ordering::Equal) => NearestValue::Exact(value),
        Bound::Near(..) => NearestValue::None,
    }
}

/// Key for the search of a value in an index.
pub(crate) enum NearestValue {
    /// NULL.
    Null,
    /// The index cannot be used: all rows must be read.
    Unknown,
    /// The column cannot contain the value: no row matches.
    None,
    /// This value.
    Exact(Value),
}

/// Returns the rule for comparing a column with a known value; `None` if their collations are incompatible.
pub(crate) fn rule_for(data_type: &DataType, by: &Comparison, value: &Value) -> Option<Comparison> {
    let Comparison::Dynamic {
        collation: connection,
        exact,
    } = by
    else {
        return Some(by.clone());
    };
    if *exact && matches!((data_type, value), (DataType::Decimal(_), Value::Text(_))) {
        return Some(Comparison::Decimal);
    }
    let column = ExprType::of_column(data_type.clone(), true);
    comparison_rule(&column, &ExprType::of_value(value, *connection), *connection).ok()
}

pub(super) fn nearest(
    data_type: &DataType,
    by: &Comparison,
    value: Value,
    context: &mut EvalContext<'_>,
) -> Bound {
    if value.is_null() {
        return Bound::Null;
    }
    // The usual cases need no conversion.
    match (by, &value, data_type) {
        (Comparison::Int | Comparison::Dynamic { .. }, Value::Int(number), DataType::Integer(integer)) => {
            use paceline_types::Sign;
            let fits = match integer.sign {
                Sign::Signed => {
                    let (low, high) = integer.width.signed_range();
                    (low..=high).contains(number)
                }
                Sign::Unsigned => false,
            };
            if fits {
                return Bound::Near(value, Ordering::Equal);
            }
        }
        (Comparison::Text(_), Value::Text(_), column) if column.is_text() => {
            return Bound::Near(value, Ordering::Equal);
        }
        (Comparison::Bytes, Value::Bytes(_), DataType::VarBinary { .. } | DataType::Blob { .. }) => {
            return Bound::Near(value, Ordering::Equal);
        }
        // Text is compared with a number as text: the index has another order.
        (Comparison::Text(_), value, _)
            if !matches!(value, Value::Text(_) | Value::Enum(_) | Value::Set(_)) =>
        {
            return Bound::Unknown;
        }
        _ => {}
    }
    let decided;
    let by = match by {
        Comparison::Dynamic {
            collation: connection,
            ..
        } => {
            let literal = Expr::literal(value.clone(), ExprType::of_value(&value, *connection));
            match rule_for(data_type, by, &value) {
                Some(rule) if is_index_usable(data_type, &rule, &literal, Use::Order) => decided = rule,
                _ => return Bound::Unknown,
            }
            &decided
        }
        by => by,
    };
    let value = match (by, value) {
        (Comparison::Text(_), Value::Text(text)) if data_type.is_text() => {
            return Bound::Near(Value::Text(text), Ordering::Equal);
        }
        (Comparison::Double, Value::Text(text)) => {
            Value::Double(paceline_types::convert::text_to_double(&text).0)
        }
        (Comparison::Decimal, Value::Text(text)) => {
            Value::Decimal(paceline_types::convert::text_to_decimal(&text).0)
        }
        (Comparison::Int, Value::Text(text)) => paceline_types::convert::text_to_integer(&text).0,
        (_, value) => value,
    };
    let mut conversion = context.convert_context();
    // The column may contain dates that `sql_mode` does not allow any more.
    conversion.date_modes.allow_invalid_dates = true;
    conversion.date_modes.no_zero_date = false;
    conversion.date_modes.no_zero_in_date = false;
    let near = assign(value.clone(), data_type, &conversion).value;
    if near.is_null() {
        return Bound::Unknown;
    }
    match compare_values(by, &near, &value, context) {
        // A value that is not a timestamp becomes zero, which is not near the value.
        Ok(Some(Ordering::Less | Ordering::Greater)) if matches!(&near, Value::Timestamp(zero) if zero.seconds == 0 && zero.micros == 0) => {
            Bound::Unknown
        }
        Ok(Some(ordering)) => Bound::Near(near, ordering),
        _ => Bound::Unknown,
    }
}
