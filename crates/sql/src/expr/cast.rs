//! CAST and CONVERT.

use std::borrow::Cow;

use paceline_types::convert;
use paceline_types::decimal::Rounding;
use paceline_types::error_code::{ER_TRUNCATED_WRONG_VALUE, ER_UNKNOWN_ERROR, ER_WARN_DATA_OUT_OF_RANGE};
use paceline_types::{Collation, Decimal, Value};

use super::context::EvalContext;
use super::eval::convert as values;
use super::expr_type::{Coercibility, ExprType};
use crate::error::Result;

/// The target of a CAST.
#[derive(Clone, Debug, PartialEq)]
pub enum CastTarget {
    /// SIGNED.
    Signed,
    /// UNSIGNED.
    Unsigned,
    /// DECIMAL(precision, scale).
    Decimal {
        /// All digits.
        precision: u8,
        /// Digits after the point.
        scale: u8,
    },
    /// DOUBLE.
    Double,
    /// FLOAT.
    Float,
    /// CHAR(length) in a character set; also CONVERT(… USING …).
    Char {
        /// Characters kept, if limited.
        length: Option<u32>,
        /// The result's collation; `Collation::Binary` gives bytes.
        collation: Collation,
    },
    /// BINARY(length): cut or padded with zero bytes to the length, where one is given.
    Binary {
        /// Bytes.
        length: Option<u32>,
    },
    /// DATE.
    Date,
    /// TIME(decimals).
    Time {
        /// Digits of fraction.
        decimals: u8,
    },
    /// DATETIME(decimals).
    DateTime {
        /// Digits of fraction.
        decimals: u8,
    },
}

impl CastTarget {
    /// The type of the result.
    pub fn result_type(&self, operand: &ExprType) -> ExprType {
        let ty = match self {
            CastTarget::Signed => ExprType::bigint(21),
            CastTarget::Unsigned => ExprType::bigint_unsigned(20),
            CastTarget::Decimal { precision, scale } => {
                ExprType::decimal(u32::from(*precision), u32::from(*scale))
            }
            CastTarget::Double => ExprType::double(),
            CastTarget::Float => ExprType::new(paceline_types::DataType::Float(
                paceline_types::FloatType::default(),
            )),
            CastTarget::Char { length, collation } => {
                let length = length.map_or_else(|| operand.max_characters(), u64::from);
                ExprType::text(length, *collation).with_coercibility(Coercibility::Implicit)
            }
            CastTarget::Binary { length } => {
                let length = length.map_or_else(|| operand.max_bytes(), u64::from);
                ExprType::bytes(length).with_coercibility(Coercibility::Implicit)
            }
            CastTarget::Date => ExprType::date().nullable(),
            CastTarget::Time { decimals } => ExprType::time(*decimals).nullable(),
            CastTarget::DateTime { decimals } => ExprType::datetime(*decimals).nullable(),
        };
        let nullable = ty.nullable || operand.nullable;
        ty.with_nullable(nullable)
    }
}

/// Converts a value.
pub(crate) fn cast<'a>(
    value: Cow<'a, Value>,
    from: &ExprType,
    target: &CastTarget,
    context: &mut EvalContext<'_>,
) -> Result<Cow<'a, Value>> {
    if value.is_null() {
        return Ok(value);
    }
    let result = match target {
        CastTarget::Signed => match &*value {
            Value::Int(_) => return Ok(value),
            other => {
                let number = values::to_i128(other, context)?;
                if number > i128::from(i64::MAX)
                    && matches!(other, Value::Text(_) | Value::Bytes(_) | Value::Decimal(_))
                {
                    context.warn(
                        ER_UNKNOWN_ERROR,
                        "Cast to signed converted positive out-of-range integer to its negative complement",
                    )?;
                }
                Value::Int(number as u64 as i64)
            }
        },
        CastTarget::Unsigned => match &*value {
            Value::UInt(_) => return Ok(value),
            other => {
                let number = match other {
                    Value::Decimal(number) if number.is_negative() => {
                        context.warn_truncated("INTEGER", other)?;
                        0
                    }
                    other => values::to_i128(other, context)?,
                };
                if number < 0 && matches!(other, Value::Text(_) | Value::Bytes(_)) {
                    context.warn(
                        ER_UNKNOWN_ERROR,
                        "Cast to unsigned converted negative integer to its positive complement",
                    )?;
                }
                Value::UInt(number as u64)
            }
        },
        CastTarget::Decimal { precision, scale } => {
            let number = values::to_decimal(&value, context)?;
            Value::Decimal(fit_decimal(number, *precision, *scale, context)?)
        }
        CastTarget::Double => Value::Double(values::to_double(&value, context)?),
        CastTarget::Float => Value::Float(values::to_double(&value, context)? as f32),
        CastTarget::Char { length, collation } => {
            if *collation == Collation::Binary {
                return Ok(Cow::Owned(Value::Bytes(bytes_of_type(&value, from, context))));
            }
            let text = match &*value {
                Value::Text(_) if length.is_none() => return Ok(value),
                other => values::typed_text(other, from, context),
            };
            let text = match length.and_then(|length| text.char_indices().nth(length as usize)) {
                Some((end, _)) => {
                    let kind = format!("CHAR({})", length.unwrap_or_default());
                    context.warn(
                        ER_TRUNCATED_WRONG_VALUE,
                        ER_TRUNCATED_WRONG_VALUE.message(&[&kind, &text]),
                    )?;
                    text[..end].to_owned()
                }
                None => text,
            };
            Value::Text(restrict_to_charset(text, *collation))
        }
        CastTarget::Binary { length } => {
            let mut bytes = bytes_of_type(&value, from, context);
            if let Some(length) = *length {
                let length = length as usize;
                if bytes.len() > length {
                    let kind = format!("BINARY({length})");
                    let text = String::from_utf8_lossy(&bytes).into_owned();
                    context.warn(
                        ER_TRUNCATED_WRONG_VALUE,
                        ER_TRUNCATED_WRONG_VALUE.message(&[&kind, &text]),
                    )?;
                }
                bytes.resize(length, 0);
            }
            Value::Bytes(bytes)
        }
        CastTarget::Date => match temporal(&value, context)? {
            Some(datetime) => Value::Date(datetime.date),
            None => Value::Null,
        },
        CastTarget::DateTime { decimals } => match temporal(&value, context)? {
            Some(datetime) => Value::DateTime(datetime.truncated(*decimals)),
            None => Value::Null,
        },
        CastTarget::Time { decimals } => match values::to_time(&value, context)? {
            Some(time) => Value::Time(time.truncated(*decimals)),
            None => Value::Null,
        },
    };
    Ok(Cow::Owned(result))
}

/// Characters that the target's character set lacks become `?`.
fn restrict_to_charset(text: String, collation: Collation) -> String {
    let charset = collation.charset();
    if text.is_ascii() || charset.can_encode(&text) {
        return text;
    }
    let mut encoded = Vec::new();
    charset.encode(&text, &mut encoded);
    charset.decode(&encoded).into_owned()
}

/// The bytes of a value in the character set of its type.
pub(crate) fn bytes_of_type(value: &Value, from: &ExprType, context: &EvalContext<'_>) -> Vec<u8> {
    match value {
        Value::Bytes(bytes) => bytes.clone(),
        Value::Text(text) => {
            let mut bytes = Vec::new();
            match from.charset() {
                paceline_types::Charset::Binary => bytes.extend_from_slice(text.as_bytes()),
                charset => charset.encode(text, &mut bytes),
            }
            bytes
        }
        Value::Bit(_) => values::bytes_of(value, context).into_owned(),
        other => values::typed_text(other, from, context).into_bytes(),
    }
}

/// Rounds to a DECIMAL type; what does not fit becomes its largest number, with warning 1264.
pub(crate) fn fit_decimal(
    number: Decimal,
    precision: u8,
    scale: u8,
    context: &mut EvalContext<'_>,
) -> Result<Decimal> {
    let rounded = number.round(i32::from(scale), Rounding::HalfUp);
    let largest = Decimal::max_value(precision, scale);
    if rounded.abs() > largest {
        context.warn(
            ER_WARN_DATA_OUT_OF_RANGE,
            ER_WARN_DATA_OUT_OF_RANGE.message(&[&"CAST", &1]),
        )?;
        return Ok(if rounded.is_negative() {
            largest.neg()
        } else {
            largest
        });
    }
    Ok(rounded)
}

fn temporal(value: &Value, context: &mut EvalContext<'_>) -> Result<Option<paceline_types::DateTime>> {
    let datetime = convert::to_datetime(value, &context.convert_context());
    if datetime.is_none() {
        context.warn_incorrect("datetime", value)?;
    }
    Ok(datetime)
}
