//! CAST and CONVERT.

use std::borrow::Cow;

use paceline_types::convert;
use paceline_types::decimal::Rounding;
use paceline_types::error_code::{
    ER_CANNOT_CONVERT_CHARACTER, ER_DATA_OVERFLOW, ER_INVALID_CHARACTER_STRING, ER_TRUNCATED_WRONG_VALUE,
    ER_UNKNOWN_ERROR, ER_WARN_DATA_OUT_OF_RANGE,
};
use paceline_types::temporal::Fractions;
use paceline_types::{Charset, Collation, DataType, Decimal, FixedPoint, FloatType, Value};

use crate::context::EvalContext;
use crate::error::Result;
use crate::eval::convert as values;
use crate::eval::convert::bytes_of_type;
use crate::expr_type::{Class, ExprType};
use crate::tree::CastTarget;

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
    let is_temporal = matches!(
        target,
        CastTarget::Date | CastTarget::Time { .. } | CastTarget::DateTime { .. }
    );
    let is_binary = match target {
        CastTarget::Binary { .. } => true,
        CastTarget::Char { collation, .. } => *collation == Collation::Binary,
        _ => false,
    };
    let value = match &*value {
        // Only a cast reads the bytes. Other binary strings get the text.
        Value::FixedBinary(value) if is_binary => Cow::Owned(Value::Bytes(value.bytes().to_vec())),
        Value::Bit(_) if is_temporal => Cow::Owned(values::bits_as_text(&value, context).into_owned()),
        _ => value,
    };
    let result = match target {
        CastTarget::Signed => match &*value {
            Value::Int(_) => return Ok(value),
            Value::Double(_) | Value::Float(_) | Value::Decimal(_) => {
                Value::Int(
                    number_to_integer(&value, i128::from(i64::MIN), i128::from(i64::MAX), context)? as i64,
                )
            }
            other => {
                let number = values::to_i128(other, context)?;
                if number > i128::from(i64::MAX)
                    && matches!(other, Value::Text(_) | Value::Bytes(_))
                    && fits(other, context)
                {
                    context.session.diagnostics.note(
                        ER_UNKNOWN_ERROR,
                        "Cast to signed converted positive out-of-range integer to it's negative complement",
                    );
                }
                Value::Int(number as u64 as i64)
            }
        },
        CastTarget::Unsigned => match &*value {
            Value::UInt(_) => return Ok(value),
            Value::Decimal(_) | Value::Double(_) | Value::Float(_) => {
                Value::UInt(number_to_integer(&value, 0, i128::from(u64::MAX), context)? as u64)
            }
            Value::Time(time) if time.is_negative() => Value::UInt(0),
            other => {
                let number = values::to_i128(other, context)?;
                if number < 0 && matches!(other, Value::Text(_) | Value::Bytes(_) | Value::Int(_)) {
                    context.session.diagnostics.note(
                        ER_UNKNOWN_ERROR,
                        "Cast to unsigned converted negative integer to it's positive complement",
                    );
                }
                Value::UInt(number as u64)
            }
        },
        CastTarget::Decimal { precision, scale } => {
            let number = values::to_decimal(&value, context)?;
            Value::Decimal(fit_decimal(number, *precision, *scale, context)?)
        }
        CastTarget::Double { fixed } => {
            let number = values::to_double(&value, context)?;
            Value::Double(fixed.map_or(number, |fixed| fit_double(number, fixed, context)))
        }
        CastTarget::Float => {
            let most = f64::from(f32::MAX);
            Value::Float(values::to_double(&value, context)?.clamp(-most, most) as f32)
        }
        CastTarget::Char { length, collation } => {
            if *collation == Collation::Binary {
                return Ok(Cow::Owned(Value::Bytes(bytes_of_type(&value, from, context))));
            }
            let text = match &*value {
                Value::Text(text)
                    if length.is_none() && (text.is_ascii() || collation.charset().can_encode(text)) =>
                {
                    return Ok(value);
                }
                // Bytes are reinterpreted in the new character set.
                Value::Bytes(bytes) => decoded(bytes, collation.charset(), context)?,
                Value::Bit(_) => {
                    let bytes = values::bytes_of(&value, context).into_owned();
                    decoded(&bytes, collation.charset(), context)?
                }
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
            Value::Text(restrict_to_charset(text, from, *collation, context)?)
        }
        CastTarget::Binary { length } => {
            let mut bytes = bytes_of_type(&value, from, context);
            if let Some(length) = *length {
                let length = length as usize;
                let warns = !matches!(from.class(), Class::FixedBinary(_));
                if bytes.len() > length && warns {
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
        CastTarget::Date => match temporal(&value, "date", context)? {
            Some(datetime) => Value::Date(datetime.date),
            None => Value::Null,
        },
        CastTarget::DateTime { decimals } => match temporal(&value, "datetime", context)? {
            Some(datetime) => Value::DateTime(values::fitted_datetime(datetime, *decimals, context)),
            None => Value::Null,
        },
        CastTarget::Time { decimals } => match values::to_time(&value, context)? {
            Some(time) => Value::Time(values::fitted_time(time, *decimals, context)),
            None => Value::Null,
        },
        CastTarget::FixedBinary(t) => {
            values::to_fixed_binary(&value, *t, context)?.map_or(Value::Null, Value::FixedBinary)
        }
    };
    Ok(Cow::Owned(result))
}

/// Decodes bytes in a character set. A byte that begins no character becomes `?`, with warning 1300.
fn decoded(bytes: &[u8], charset: Charset, context: &mut EvalContext<'_>) -> Result<String> {
    let is_unicode = matches!(charset, Charset::Utf8mb4 | Charset::Utf8mb3);
    let Err(error) = std::str::from_utf8(bytes) else {
        return Ok(charset.decode(bytes).into_owned());
    };
    if !is_unicode {
        return Ok(charset.decode(bytes).into_owned());
    }
    let bad = &bytes[error.valid_up_to()..];
    let shown: String = bad[..bad.len().min(6)]
        .iter()
        .map(|byte| match byte {
            b' '..=b'~' => char::from(*byte).to_string(),
            _ => format!("\\x{byte:02X}"),
        })
        .collect();
    let message = ER_INVALID_CHARACTER_STRING.message(&[&charset.name(), &shown]);
    context.warn(ER_INVALID_CHARACTER_STRING, message)?;
    let mut out = String::new();
    for chunk in bytes.utf8_chunks() {
        out.push_str(chunk.valid());
        out.extend(chunk.invalid().iter().map(|_| '?'));
    }
    Ok(out)
}

/// Replaces characters that the target's character set does not have with `?`.
fn restrict_to_charset(
    text: String,
    from: &ExprType,
    collation: Collation,
    context: &mut EvalContext<'_>,
) -> Result<String> {
    let charset = collation.charset();
    if text.is_ascii() || charset.can_encode(&text) {
        return Ok(text);
    }
    let lost = text
        .chars()
        .find(|character| !charset.can_encode(character.encode_utf8(&mut [0; 4])))
        .unwrap_or('?');
    let bytes: String = lost
        .encode_utf8(&mut [0; 4])
        .bytes()
        .map(|byte| format!("{byte:02X}"))
        .collect();

    let message = ER_CANNOT_CONVERT_CHARACTER.message(&[&from.charset().name(), &bytes, &charset.name()]);
    context.warn(ER_CANNOT_CONVERT_CHARACTER, message)?;
    let mut encoded = Vec::new();
    charset.encode(&text, &mut encoded);
    Ok(charset.decode(&encoded).into_owned())
}

/// Returns whether a text's integer fits BIGINT UNSIGNED. If it does not, the warning about truncation is
/// enough.
fn fits(value: &Value, context: &EvalContext<'_>) -> bool {
    values::text_of(value, context).trim().parse::<u64>().is_ok()
}

/// Rounds a number to an integer and limits it to a range. Outside of the range it reports 1916: a warning
/// for a decimal, a note for a double.
fn number_to_integer(value: &Value, least: i128, most: i128, context: &mut EvalContext<'_>) -> Result<i128> {
    let (number, kind) = match value {
        Value::Decimal(number) => {
            let rounded = number.round(0, Rounding::HalfUp);
            let wide: i128 = rounded.to_string().parse().unwrap_or(if rounded.is_negative() {
                i128::MIN
            } else {
                i128::MAX
            });
            (wide, if least == 0 { "UNSIGNED INT" } else { "INT" })
        }
        other => {
            let number = values::to_double(other, context)?;
            (
                number.round_ties_even() as i128,
                if most == i128::from(u64::MAX) {
                    "UNSIGNED BIGINT"
                } else {
                    "SIGNED BIGINT"
                },
            )
        }
    };
    if number < least || number > most {
        let text = values::text_of(value, context).into_owned();
        let message = ER_DATA_OVERFLOW.message(&[&text, &kind]);
        match value {
            Value::Decimal(_) => context.warn(ER_DATA_OVERFLOW, message)?,
            _ => context.session.diagnostics.note(ER_DATA_OVERFLOW, message),
        }
    }
    Ok(number.clamp(least, most))
}

/// Rounds to a DOUBLE with fixed decimals. A number that does not fit becomes the type's largest one, with note 1264.
fn fit_double(number: f64, fixed: FixedPoint, context: &mut EvalContext<'_>) -> f64 {
    let data_type = DataType::Double(FloatType {
        fixed: Some(fixed),
        ..FloatType::default()
    });
    let assigned = convert::assign(Value::Double(number), &data_type, &context.convert_context());
    if assigned.problem.is_some() {
        // As in MariaDB always for the first row.
        let message = ER_WARN_DATA_OUT_OF_RANGE.message(&[&context.cast_name(), &1]);
        context
            .session
            .diagnostics
            .note(ER_WARN_DATA_OUT_OF_RANGE, message);
    }
    match assigned.value {
        Value::Double(fitted) => fitted,
        _ => number,
    }
}

/// Rounds to a DECIMAL type. A number that does not fit becomes the type's largest one, with warning 1264.
pub(crate) fn fit_decimal(
    number: Decimal,
    precision: u8,
    scale: u8,
    context: &mut EvalContext<'_>,
) -> Result<Decimal> {
    let rounded = number.round(i32::from(scale), Rounding::HalfUp);
    let largest = Decimal::max_value(precision, scale);
    if rounded.abs() > largest {
        let message = {
            let (name, row) = (context.cast_name(), context.session.row_number());
            ER_WARN_DATA_OUT_OF_RANGE.message(&[&name, &row])
        };
        context.warn(ER_WARN_DATA_OUT_OF_RANGE, message)?;
        return Ok(if rounded.is_negative() {
            largest.neg()
        } else {
            largest
        });
    }
    Ok(rounded)
}

fn temporal(
    value: &Value,
    kind: &str,
    context: &mut EvalContext<'_>,
) -> Result<Option<paceline_types::DateTime>> {
    if let Value::Year(_) = value {
        return values::to_datetime(value, context);
    }
    let mut modes = context.convert_context().date_modes;
    if kind == "date" {
        // A day is never rounded up to the next one.
        modes.fractions = Fractions::Cut;
    }
    if let Value::Text(text) = value
        && let Some(parsed) = paceline_types::temporal::parse_datetime(text, modes)
    {
        if parsed.truncated {
            context.warn_truncated(if parsed.has_time { kind } else { "date" }, value)?;
        } else if parsed.fraction_cut {
            context.note_truncated("datetime", value);
        }
        return Ok(Some(parsed.value));
    }
    let mut conversion = context.convert_context();
    conversion.date_modes = modes;
    let datetime = convert::to_datetime(value, &conversion);
    if datetime.is_none() {
        context.warn_incorrect("datetime", value)?;
    }
    Ok(datetime)
}
