//! Values seen as another kind, with MariaDB's warnings: `'12abc'` is the number 12 and warning 1292.

use std::borrow::Cow;

use paceline_types::convert::{self, Completeness, ConvertContext};
use paceline_types::error_code::ER_TRUNCATED_WRONG_VALUE;
use paceline_types::temporal::{self, ParsedTemporal};
use paceline_types::{Charset, DataType, Date, DateTime, Decimal, Time, TimeZone, Value, text};

use crate::error::Result;
use crate::expr::cast::bytes_of_type;
use crate::expr::context::EvalContext;
use crate::expr::expr_type::{Class, ExprType};

/// The class of a value by itself.
pub(crate) fn class_of(value: &Value) -> Class {
    match value {
        Value::Null => Class::Null,
        Value::Int(_) | Value::UInt(_) | Value::Year(_) | Value::Bit(_) => Class::Int,
        Value::Decimal(_) => Class::Decimal,
        Value::Float(_) | Value::Double(_) => Class::Double,
        Value::Text(_) | Value::Bytes(_) | Value::Enum(_) | Value::Set(_) => Class::String,
        Value::Date(_) => Class::Date,
        Value::Time(_) => Class::Time,
        Value::DateTime(_) | Value::Timestamp(_) => Class::DateTime,
    }
}

impl EvalContext<'_> {
    /// What conversions depend on besides the value.
    pub(crate) fn convert_context(&self) -> ConvertContext<'_> {
        let settings = &self.session.settings;
        ConvertContext {
            date_modes: settings.date_modes(),
            time_zone: &settings.time_zone,
            now: settings
                .time_zone
                .to_local(self.session.statement.start_seconds()),
        }
    }

    /// Conversions that take any date, as comparisons and functions do.
    pub(crate) fn lax_convert_context(&self) -> ConvertContext<'_> {
        let mut context = self.convert_context();
        context.date_modes.no_zero_date = false;
        context.date_modes.no_zero_in_date = false;
        context
    }

    /// Warning 1292 "Truncated incorrect KIND value".
    #[cold]
    pub(crate) fn warn_truncated(&mut self, kind: &str, value: &Value) -> Result<()> {
        let text = printable(&text_of(value, self));
        self.warn(
            ER_TRUNCATED_WRONG_VALUE,
            ER_TRUNCATED_WRONG_VALUE.message(&[&kind, &text]),
        )
    }

    /// Warning 1292 "Incorrect KIND value".
    #[cold]
    pub(crate) fn warn_incorrect(&mut self, kind: &str, value: &Value) -> Result<()> {
        let text = text_of(value, self).into_owned();
        self.warn(
            ER_TRUNCATED_WRONG_VALUE,
            format!("Incorrect {kind} value: '{}'", cut(&text, 128)),
        )
    }
}

/// Control characters as `\\xNN`, as MariaDB shows them in messages.
fn printable(text: &str) -> String {
    use std::fmt::Write;
    let mut out = String::with_capacity(text.len());
    for character in text.chars() {
        if character < ' ' {
            let _ = write!(out, "\\x{:02X}", u32::from(character));
        } else {
            out.push(character);
        }
    }
    out
}

fn cut(text: &str, characters: usize) -> &str {
    text.char_indices()
        .nth(characters)
        .map_or(text, |(end, _)| &text[..end])
}

/// As a double; NULL is 0.
pub(crate) fn to_double(value: &Value, context: &mut EvalContext<'_>) -> Result<f64> {
    Ok(match value {
        Value::Int(number) => *number as f64,
        Value::UInt(number) => *number as f64,
        Value::Double(number) => *number,
        Value::Float(number) => f64::from(*number),
        _ => {
            let Some((number, complete)) = convert::to_double(value, &context.session.settings.time_zone)
            else {
                return Ok(0.0);
            };
            if complete == Completeness::Truncated {
                context.warn_truncated("DOUBLE", value)?;
            }
            number
        }
    })
}

/// As a decimal; NULL is 0.
pub(crate) fn to_decimal(value: &Value, context: &mut EvalContext<'_>) -> Result<Decimal> {
    Ok(match value {
        Value::Decimal(number) => *number,
        Value::Int(number) => Decimal::from(*number),
        Value::UInt(number) => Decimal::from(*number),
        _ => {
            let Some((number, complete)) = convert::to_decimal(value, &context.session.settings.time_zone)
            else {
                return Ok(Decimal::ZERO);
            };
            if complete == Completeness::Truncated {
                context.warn_truncated("DECIMAL", value)?;
            }
            number
        }
    })
}

/// As an integer in the range of BIGINT and BIGINT UNSIGNED; NULL is 0.
pub(crate) fn to_i128(value: &Value, context: &mut EvalContext<'_>) -> Result<i128> {
    Ok(match value {
        Value::Int(number) => i128::from(*number),
        Value::UInt(number) => i128::from(*number),
        Value::Year(year) => i128::from(*year),
        Value::Bit(bits) => i128::from(bits.bits),
        _ => {
            let Some((number, complete)) = convert::to_integer(value, &context.session.settings.time_zone)
            else {
                return Ok(0);
            };
            if complete == Completeness::Truncated {
                context.warn_truncated("INTEGER", value)?;
            }
            match number {
                Value::UInt(number) => i128::from(number),
                Value::Int(number) => i128::from(number),
                _ => 0,
            }
        }
    })
}

/// As a BIGINT: an unsigned number past its range wraps to the negative one of the same bits, as MariaDB's `val_int` does.
pub(crate) fn to_i64(value: &Value, context: &mut EvalContext<'_>) -> Result<i64> {
    Ok(match value {
        Value::Int(number) => *number,
        _ => {
            let number = to_i128(value, context)?;
            i64::try_from(number).unwrap_or(number as u64 as i64)
        }
    })
}

/// As a BIGINT UNSIGNED, for bit operators: negative numbers by their bits.
pub(crate) fn to_bits(value: &Value, context: &mut EvalContext<'_>) -> Result<u64> {
    Ok(match value {
        Value::UInt(number) => *number,
        Value::Int(number) => *number as u64,
        _ => to_i128(value, context)? as u64,
    })
}

/// Whether a value counts as true; `None` for NULL.
pub(crate) fn truth(value: &Value, context: &mut EvalContext<'_>) -> Result<Option<bool>> {
    Ok(Some(match value {
        Value::Null => return Ok(None),
        Value::Int(number) => *number != 0,
        Value::UInt(number) => *number != 0,
        Value::Decimal(number) => !number.is_zero(),
        Value::Date(date) => !date.is_zero(),
        Value::DateTime(datetime) => !datetime.is_zero(),
        Value::Timestamp(timestamp) => !timestamp.is_zero(),
        Value::Time(time) => time.micros() != 0,
        _ => to_double(value, context)? != 0.0,
    }))
}

/// As text; bytes that are no UTF-8 are replaced.
pub(crate) fn text_of<'v>(value: &'v Value, context: &EvalContext<'_>) -> Cow<'v, str> {
    match value {
        Value::Text(text) => Cow::Borrowed(text),
        Value::Enum(value) => Cow::Borrowed(value.label()),
        Value::Bytes(bytes) => String::from_utf8_lossy(bytes),
        _ => Cow::Owned(text::to_string(
            &value.as_ref(),
            &context.session.settings.time_zone,
        )),
    }
}

/// As a binary string: bytes as they are, text as UTF-8.
pub(crate) fn bytes_of<'v>(value: &'v Value, context: &EvalContext<'_>) -> Cow<'v, [u8]> {
    match value {
        Value::Bytes(bytes) => Cow::Borrowed(bytes),
        Value::Text(text) => Cow::Borrowed(text.as_bytes()),
        Value::Bit(bits) => Cow::Owned(bits.to_be_bytes()[8 - bits.byte_length()..].to_vec()),
        _ => match text_of(value, context) {
            Cow::Borrowed(text) => Cow::Borrowed(text.as_bytes()),
            Cow::Owned(text) => Cow::Owned(text.into_bytes()),
        },
    }
}

/// A binary string with each byte as the character of that number, so that functions that count characters count bytes.
pub(crate) fn latin_view(value: &Value, context: &EvalContext<'_>) -> String {
    latin_view_of(&bytes_of(value, context))
}

/// As [`latin_view`], of bytes.
pub(crate) fn latin_view_of(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| char::from(*byte)).collect()
}

/// The inverse of [`latin_view`]; characters past U+00FF give their UTF-8 bytes.
pub(crate) fn from_latin_view(text: &str) -> Vec<u8> {
    let mut bytes = Vec::with_capacity(text.len());
    for character in text.chars() {
        match u8::try_from(u32::from(character)) {
            Ok(byte) => bytes.push(byte),
            Err(_) => bytes.extend_from_slice(character.encode_utf8(&mut [0; 4]).as_bytes()),
        }
    }
    bytes
}

/// As a day and time for a comparison: zero dates are fine; `None` with warning 1292 for what is no date.
pub(crate) fn to_datetime_for_comparison(
    value: &Value,
    context: &mut EvalContext<'_>,
) -> Result<Option<DateTime>> {
    Ok(match value {
        Value::DateTime(datetime) => Some(*datetime),
        Value::Date(date) => Some(date.at_midnight()),
        Value::Null => None,
        _ => match convert::to_datetime(value, &context.lax_convert_context()) {
            Some(datetime) => Some(datetime),
            // What is no date compares as the zero date.
            None => {
                context.warn_truncated("datetime", value)?;
                Some(DateTime::ZERO)
            }
        },
    })
}

/// As a day and time; `None` for NULL, and with warning 1292 for what is none.
pub(crate) fn to_datetime(value: &Value, context: &mut EvalContext<'_>) -> Result<Option<DateTime>> {
    match value {
        Value::Null => return Ok(None),
        Value::DateTime(datetime) => return Ok(Some(*datetime)),
        Value::Year(year) => return Ok(Some(Date::new(*year, 0, 0).at_midnight())),
        Value::Text(text) => {
            let modes = context.lax_convert_context().date_modes;
            let Some(parsed) = temporal::parse_datetime(text, modes) else {
                context.warn_incorrect("datetime", value)?;
                return Ok(None);
            };
            if parsed.truncated {
                context.warn_truncated("datetime", value)?;
            }
            return Ok(Some(parsed.value));
        }
        _ => {}
    }
    let datetime = convert::to_datetime(value, &context.lax_convert_context());
    if datetime.is_none() {
        context.warn_incorrect("datetime", value)?;
    }
    Ok(datetime)
}

/// As a time; `None` for NULL, and with warning 1292 for what is none.
pub(crate) fn to_time(value: &Value, context: &mut EvalContext<'_>) -> Result<Option<Time>> {
    match value {
        Value::Null => return Ok(None),
        Value::Time(time) => return Ok(Some(*time)),
        Value::Text(text) => {
            let parsed = temporal::parse_time(text);
            let (time, truncated) = match parsed {
                Some(ParsedTemporal::Time(parsed)) => (parsed.value, parsed.truncated || parsed.clipped),
                Some(ParsedTemporal::DateTime(parsed)) => (parsed.value.time(), parsed.truncated),
                None => {
                    context.warn_incorrect("time", value)?;
                    return Ok(None);
                }
            };
            if truncated {
                context.warn_truncated("time", value)?;
            }
            return Ok(Some(time));
        }
        _ => {}
    }
    let time = convert::to_time(value, &context.lax_convert_context());
    if time.is_none() {
        context.warn_incorrect("time", value)?;
    }
    Ok(time)
}

/// As a time for a comparison: what is none compares as 00:00:00, with warning 1292.
pub(crate) fn to_time_for_comparison(value: &Value, context: &mut EvalContext<'_>) -> Result<Option<Time>> {
    let is_time = match value {
        Value::Null | Value::Time(_) => true,
        Value::Text(text) => temporal::parse_time(text).is_some(),
        _ => convert::to_time(value, &context.lax_convert_context()).is_some(),
    };
    if is_time {
        return to_time(value, context);
    }
    context.warn_truncated("time", value)?;
    Ok(Some(Time::ZERO))
}

/// What a user variable keeps of a value: integers, decimals, doubles, and text for everything else.
pub(crate) fn for_user_variable(value: &Value, time_zone: &TimeZone) -> Value {
    match value {
        Value::Null
        | Value::Int(_)
        | Value::UInt(_)
        | Value::Double(_)
        | Value::Decimal(_)
        | Value::Text(_)
        | Value::Bytes(_) => value.clone(),
        Value::Float(number) => Value::Double(f64::from(*number)),
        Value::Year(year) => Value::Int(i64::from(*year)),
        Value::Bit(bits) => Value::UInt(bits.bits),
        _ => Value::Text(text::to_string(&value.as_ref(), time_zone)),
    }
}

/// Brings one branch's value (CASE, COALESCE, UNION) to the type of all: numbers to the common number, temporal values to the
/// common temporal type, everything to text when the result is text.
pub(crate) fn to_common_type<'a>(
    value: Cow<'a, Value>,
    from: &ExprType,
    to: &ExprType,
    context: &mut EvalContext<'_>,
) -> Result<Cow<'a, Value>> {
    let converted = match (&*value, &to.data_type) {
        (Value::Null, _) => return Ok(value),
        (Value::Int(_) | Value::UInt(_), DataType::Integer(_)) => return Ok(value),
        (
            Value::Text(_),
            DataType::VarChar { .. } | DataType::Char { .. } | DataType::Text { .. } | DataType::Json,
        ) => {
            return Ok(value);
        }
        (Value::Double(_), DataType::Double(_)) | (Value::Float(_), DataType::Float(_)) => return Ok(value),
        // What a division gave beyond the scale stays until it is shown.
        (Value::Decimal(number), DataType::Decimal(ty)) if number.scale() >= ty.scale => return Ok(value),
        (other, DataType::Decimal(ty)) => {
            let number = to_decimal(other, context)?;
            Value::Decimal(number.round(i32::from(ty.scale), paceline_types::decimal::Rounding::HalfUp))
        }
        (other, DataType::Double(_)) => Value::Double(to_double(other, context)?),
        (other, DataType::Integer(_)) => {
            let number = to_i128(other, context)?;
            i64::try_from(number).map_or(Value::UInt(number as u64), Value::Int)
        }
        (Value::Bytes(_), DataType::VarBinary { .. } | DataType::Binary { .. } | DataType::Blob { .. }) => {
            return Ok(value);
        }
        (other, DataType::VarBinary { .. } | DataType::Binary { .. } | DataType::Blob { .. }) => {
            Value::Bytes(bytes_of_type(other, from, context))
        }
        (
            Value::Bytes(bytes),
            DataType::VarChar { collation, .. }
            | DataType::Char { collation, .. }
            | DataType::Text { collation, .. },
        ) if collation.charset() == Charset::Latin1 => {
            Value::Text(Charset::Latin1.decode(bytes).into_owned())
        }
        (
            other,
            DataType::VarChar { .. } | DataType::Char { .. } | DataType::Text { .. } | DataType::Json,
        ) => Value::Text(typed_text(other, from, context)),
        (Value::Date(_), DataType::Date) => return Ok(value),
        (other, DataType::DateTime { decimals }) => match to_datetime(other, context)? {
            Some(datetime) => Value::DateTime(datetime.truncated(*decimals)),
            None => Value::Null,
        },
        (other, DataType::Date) => match to_datetime(other, context)? {
            Some(datetime) => Value::Date(datetime.date),
            None => Value::Null,
        },
        (other, DataType::Time { decimals }) => match to_time(other, context)? {
            Some(time) => Value::Time(time.truncated(*decimals)),
            None => Value::Null,
        },
        _ => return Ok(value),
    };
    Ok(Cow::Owned(converted))
}

/// A value's text as its type shows it: with ZEROFILL and fixed decimals.
pub(crate) fn typed_text(value: &Value, ty: &ExprType, context: &EvalContext<'_>) -> String {
    match value {
        Value::Text(text) => text.clone(),
        Value::Int(_) | Value::UInt(_) | Value::Double(_) | Value::Float(_) | Value::Decimal(_)
            if !ty.is_parameter() =>
        {
            let mut out = Vec::new();
            text::append_column_value(
                &value.as_ref(),
                &ty.data_type,
                &context.session.settings.time_zone,
                &mut out,
            );
            String::from_utf8(out).unwrap_or_default()
        }
        _ => text_of(value, context).into_owned(),
    }
}
