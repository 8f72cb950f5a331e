//! Conversions of values to other kinds, with MariaDB's warnings: `'12abc'` is the number 12 with warning 1292.

use std::borrow::Cow;

use paceline_types::convert::{self, Completeness, ConvertContext};
use paceline_types::decimal::Rounding;
use paceline_types::error_code::{ER_DATA_OVERFLOW, ER_TRUNCATED_WRONG_VALUE};
use paceline_types::temporal::{self, Fractions, ParsedTemporal};
use paceline_types::{
    BitValue, Charset, DataType, Date, DateTime, Decimal, FixedBinary, FixedBinaryType, Time, Value,
    float_text, text,
};

use crate::context::EvalContext;
use crate::error::Result;
use crate::expr_type::{Class, ExprType};

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
        Value::FixedBinary(value) => Class::FixedBinary(value.data_type()),
    }
}

impl EvalContext<'_> {
    /// Returns the settings that conversions depend on.
    pub fn convert_context(&self) -> ConvertContext<'_> {
        let settings = &self.session.settings;
        ConvertContext {
            date_modes: settings.date_modes(),
            time_zone: &settings.time_zone,
            now: settings
                .time_zone
                .to_local(self.session.statement.start_seconds()),
        }
    }

    /// Returns the settings for conversions that accept any date, as comparisons and functions do.
    pub(crate) fn lax_convert_context(&self) -> ConvertContext<'_> {
        let mut context = self.convert_context();
        context.date_modes.no_zero_date = false;
        context.date_modes.no_zero_in_date = false;
        context
    }

    /// Adds warning 1292 "Truncated incorrect KIND value".
    #[cold]
    pub(crate) fn warn_truncated(&mut self, kind: &str, value: &Value) -> Result<()> {
        let text = shown(value, self);
        let message = match self.converted_column() {
            None => ER_TRUNCATED_WRONG_VALUE.message(&[&kind, &text]),
            Some(column) => self.incorrect_in_column(kind, &text, &column),
        };
        self.warn(ER_TRUNCATED_WRONG_VALUE, message)
    }

    /// Returns the message about a column's value.
    fn incorrect_in_column(&self, kind: &str, text: &str, column: &str) -> String {
        let row = self.session.row_number();
        format!(
            "Incorrect {kind} value: '{}' for column {column} at row {row}",
            cut(text, 128)
        )
    }

    /// Adds note 1292 "Truncated incorrect KIND value", for a fraction with too many digits.
    #[cold]
    pub(crate) fn note_truncated(&mut self, kind: &str, value: &Value) {
        let text = shown(value, self);
        let message = match self.converted_column() {
            None => ER_TRUNCATED_WRONG_VALUE.message(&[&kind, &text]),
            Some(column) => self.incorrect_in_column(kind, &text, &column),
        };
        self.session.diagnostics.note(ER_TRUNCATED_WRONG_VALUE, message);
    }

    /// Adds warning 1292 "Incorrect KIND value".
    #[cold]
    pub(crate) fn warn_incorrect(&mut self, kind: &str, value: &Value) -> Result<()> {
        let text = match value {
            Value::Bytes(_) | Value::Bit(_) => shown(value, self),
            _ => text_of(value, self).into_owned(),
        };
        let message = match self.converted_column() {
            None => format!("Incorrect {kind} value: '{}'", cut(&text, 128)),
            Some(column) => self.incorrect_in_column(kind, &text, &column),
        };
        self.warn(ER_TRUNCATED_WRONG_VALUE, message)
    }
}

/// Returns a value as messages show it.
fn shown(value: &Value, context: &EvalContext<'_>) -> String {
    let mut out = String::new();
    for chunk in bytes_of(value, context).utf8_chunks() {
        out.push_str(&printable(chunk.valid()));
        for byte in chunk.invalid() {
            let _ = std::fmt::Write::write_fmt(&mut out, format_args!("\\x{byte:02X}"));
        }
    }
    out
}

/// Escapes control characters as `\\xNN`, as MariaDB does in messages.
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

/// Converts to a double; NULL is 0.
pub fn to_double(value: &Value, context: &mut EvalContext<'_>) -> Result<f64> {
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

/// Converts to a decimal; NULL is 0.
pub fn to_decimal(value: &Value, context: &mut EvalContext<'_>) -> Result<Decimal> {
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

/// Adds warning 1916, for a double beyond the integers.
#[cold]
fn warn_overflow(value: &Value, context: &mut EvalContext<'_>) -> Result<()> {
    let message = ER_DATA_OVERFLOW.message(&[&shown(value, context), &"INT"]);
    context.warn(ER_DATA_OVERFLOW, message)
}

/// Returns whether the number is outside of the ranges of BIGINT and BIGINT UNSIGNED.
fn is_past_integers(number: &Decimal) -> bool {
    let whole = number.round(0, Rounding::HalfUp);
    whole.to_i64().is_err() && whole.to_u64().is_err()
}

/// Converts to an integer in the ranges of BIGINT and BIGINT UNSIGNED; NULL is 0.
pub fn to_i128(value: &Value, context: &mut EvalContext<'_>) -> Result<i128> {
    Ok(match value {
        Value::Int(number) => i128::from(*number),
        Value::UInt(number) => i128::from(*number),
        Value::Year(year) => i128::from(*year),
        Value::Bit(bits) => i128::from(bits.bits),
        Value::Decimal(number) if is_past_integers(number) => {
            let message = ER_DATA_OVERFLOW.message(&[number, &"INT"]);
            context.warn(ER_DATA_OVERFLOW, message)?;
            match number.is_negative() {
                true => i128::from(i64::MIN),
                false => i128::from(u64::MAX),
            }
        }
        _ => {
            let Some((number, complete)) = convert::to_integer(value, &context.session.settings.time_zone)
            else {
                return Ok(0);
            };
            match (complete, value) {
                // A FLOAT causes no warning.
                (Completeness::Whole, _) | (_, Value::Float(_)) => {}
                (_, Value::Double(_)) => warn_overflow(value, context)?,
                _ => context.warn_truncated("INTEGER", value)?,
            }
            match number {
                Value::UInt(number) => i128::from(number),
                Value::Int(number) => i128::from(number),
                _ => 0,
            }
        }
    })
}

/// Converts to a BIGINT. An unsigned number beyond its range wraps around to the negative number with the same bits, as
/// in MariaDB's `val_int`.
pub fn to_i64(value: &Value, context: &mut EvalContext<'_>) -> Result<i64> {
    Ok(match value {
        Value::Int(number) => *number,
        // These have no bits that could wrap around.
        Value::Decimal(decimal) => {
            let number = to_i128(value, context)?;
            if number > i128::from(i64::MAX) && !is_past_integers(decimal) {
                let message = ER_DATA_OVERFLOW.message(&[decimal, &"INT"]);
                context.warn(ER_DATA_OVERFLOW, message)?;
            }
            i64::try_from(number).unwrap_or(i64::MAX)
        }
        Value::Float(_) => {
            let number = to_i128(value, context)?;
            i64::try_from(number).unwrap_or(i64::MAX)
        }
        Value::Double(number) if *number >= i64::MAX as f64 => {
            warn_overflow(value, context)?;
            i64::MAX
        }
        _ => {
            let number = to_i128(value, context)?;
            i64::try_from(number).unwrap_or(number as u64 as i64)
        }
    })
}

/// Converts to a BIGINT UNSIGNED for bit operators. Negative numbers keep their bits.
pub(crate) fn to_bits(value: &Value, context: &mut EvalContext<'_>) -> Result<u64> {
    Ok(match value {
        Value::UInt(number) => *number,
        Value::Int(number) => *number as u64,
        _ => to_i128(value, context)? as u64,
    })
}

/// Converts to an operand of a bit operator: like a decimal, a text or a double is rounded half away from zero.
pub(crate) fn to_bit_operand(value: &Value, context: &mut EvalContext<'_>) -> Result<u64> {
    let number = match value {
        Value::Double(number) if Decimal::from_f64(*number).is_err() => number.round() as i128,
        Value::Double(_)
        | Value::Float(_)
        | Value::Text(_)
        | Value::Bytes(_)
        | Value::Time(_)
        | Value::DateTime(_)
        | Value::Timestamp(_) => {
            let decimal = to_decimal(value, context)?;
            let number = decimal.round(0, Rounding::HalfUp);
            match (number.to_i64(), number.to_u64()) {
                (Ok(number), _) => i128::from(number),
                (_, Ok(number)) => i128::from(number),
                _ if number.is_negative() => {
                    let message = ER_DATA_OVERFLOW.message(&[&decimal, &"INT"]);
                    context.warn(ER_DATA_OVERFLOW, message)?;
                    i128::from(i64::MIN)
                }
                _ => {
                    let message = ER_DATA_OVERFLOW.message(&[&decimal, &"UNSIGNED INT"]);
                    context.warn(ER_DATA_OVERFLOW, message)?;
                    i128::from(u64::MAX)
                }
            }
        }
        _ => return to_bits(value, context),
    };
    Ok(number.clamp(i128::from(i64::MIN), i128::from(u64::MAX)) as u64)
}

/// Returns whether a value counts as true; `None` for NULL.
pub fn truth(value: &Value, context: &mut EvalContext<'_>) -> Result<Option<bool>> {
    Ok(Some(match value {
        Value::Null => return Ok(None),
        Value::Int(number) => *number != 0,
        Value::UInt(number) => *number != 0,
        Value::Decimal(number) => !number.is_zero(),
        Value::Date(date) => !date.is_zero(),
        Value::DateTime(datetime) => !datetime.is_zero(),
        Value::Timestamp(timestamp) => !timestamp.is_zero(),
        Value::Time(time) => time.micros() != 0,
        Value::FixedBinary(value) => !value.is_zero(),
        _ => to_double(value, context)? != 0.0,
    }))
}

/// Converts bytes to text. Each byte that begins no character becomes `?`.
fn text_of_bytes(bytes: &[u8]) -> Cow<'_, str> {
    if let Ok(text) = std::str::from_utf8(bytes) {
        return Cow::Borrowed(text);
    }
    let mut text = String::with_capacity(bytes.len());
    for chunk in bytes.utf8_chunks() {
        text.push_str(chunk.valid());
        text.extend(chunk.invalid().iter().map(|_| '?'));
    }
    Cow::Owned(text)
}

/// Returns whether a text column counts as true when it is compared with 0.
pub(crate) fn truth_of_column(value: &Value, context: &mut EvalContext<'_>) -> Result<Option<bool>> {
    if value.is_null() {
        return Ok(None);
    }
    Ok(Some(!to_decimal(value, context)?.is_zero()))
}

/// Converts to text. Bytes that begin no character become `?`.
pub fn text_of<'v>(value: &'v Value, context: &EvalContext<'_>) -> Cow<'v, str> {
    match value {
        Value::Text(text) => Cow::Borrowed(text),
        Value::Enum(value) => Cow::Borrowed(value.label()),
        Value::Bytes(bytes) => text_of_bytes(bytes),
        _ => Cow::Owned(text::to_string(
            &value.as_ref(),
            &context.session.settings.time_zone,
        )),
    }
}

/// Converts to a binary string: bytes unchanged, text as UTF-8.
pub fn bytes_of<'v>(value: &'v Value, context: &EvalContext<'_>) -> Cow<'v, [u8]> {
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

/// Converts each byte of a binary string to the character with this number, so that functions that count characters
/// count bytes.
pub(crate) fn latin_view(value: &Value, context: &EvalContext<'_>) -> String {
    latin_view_of(&bytes_of(value, context))
}

/// Converts bytes like [`latin_view`].
pub(crate) fn latin_view_of(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| char::from(*byte)).collect()
}

/// Converts back from [`latin_view`]. Characters above U+00FF become their UTF-8 bytes.
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

/// Converts to a datetime for a comparison. Zero dates and February 31st are valid. Adds warning 1292 if the value is
/// not a date.
pub(crate) fn to_datetime_for_comparison(
    value: &Value,
    context: &mut EvalContext<'_>,
) -> Result<Option<DateTime>> {
    let value = &*bits_as_text(value, context);
    let mut conversion = context.lax_convert_context();
    conversion.date_modes.allow_invalid_dates = true;
    if let Value::Text(text) = value
        && let Some(parsed) = temporal::parse_datetime(text, conversion.date_modes)
    {
        let kind = if parsed.has_time { "datetime" } else { "date" };
        if parsed.truncated {
            context.warn_truncated(kind, value)?;
        } else if parsed.fraction_cut {
            context.note_truncated(kind, value);
        }
        return Ok(Some(parsed.value));
    }
    Ok(match value {
        Value::DateTime(datetime) => Some(*datetime),
        Value::Date(date) => Some(date.at_midnight()),
        Value::Year(year) => Some(Date::new(*year, 0, 0).at_midnight()),
        Value::Null => None,
        _ => match convert::to_datetime(value, &conversion) {
            Some(datetime) => Some(datetime),
            // A value that is not a date compares as the zero date.
            None => {
                context.warn_truncated("datetime", value)?;
                Some(DateTime::ZERO)
            }
        },
    })
}

/// Converts a BIT to a text, where a date or time is expected.
pub(crate) fn bits_as_text<'v>(value: &'v Value, context: &EvalContext<'_>) -> Cow<'v, Value> {
    match value {
        Value::Bit(_) => Cow::Owned(Value::Bytes(bytes_of(value, context).into_owned())),
        _ => Cow::Borrowed(value),
    }
}

/// Converts to a datetime. Returns `None` for NULL, and with warning 1292 for a value that is not a datetime.
pub(crate) fn to_datetime(value: &Value, context: &mut EvalContext<'_>) -> Result<Option<DateTime>> {
    // ALLOW_INVALID_DATES applies to stored values.
    to_datetime_of(value, DateUse::Instant, context)
}

/// Like [`to_datetime`], for a value that is used as a day: accepts the dates that ALLOW_INVALID_DATES
/// allows, and never rounds to the next day.
pub(crate) fn to_day(value: &Value, context: &mut EvalContext<'_>) -> Result<Option<DateTime>> {
    to_datetime_of(value, DateUse::Day, context)
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum DateUse {
    Instant,
    Day,
}

fn to_datetime_of(
    value: &Value,
    date_use: DateUse,
    context: &mut EvalContext<'_>,
) -> Result<Option<DateTime>> {
    let value = &*bits_as_text(value, context);
    match value {
        Value::Null => return Ok(None),
        Value::DateTime(datetime) => return Ok(Some(*datetime)),
        Value::Year(year) => return Ok(Some(Date::new(*year, 0, 0).at_midnight())),
        Value::Text(text) => {
            let mut modes = context.lax_convert_context().date_modes;
            match date_use {
                DateUse::Instant => modes.allow_invalid_dates = false,
                DateUse::Day => modes.fractions = Fractions::Cut,
            }
            let Some(parsed) = temporal::parse_datetime(text, modes) else {
                context.warn_incorrect("datetime", value)?;
                return Ok(None);
            };
            if parsed.truncated {
                context.warn_truncated("datetime", value)?;
            } else if parsed.fraction_cut {
                context.note_truncated("datetime", value);
            }
            return Ok(Some(parsed.value));
        }
        _ => {}
    }
    let mut conversion = context.lax_convert_context();
    if date_use == DateUse::Day {
        conversion.date_modes.fractions = Fractions::Cut;
    }
    let datetime = convert::to_datetime(value, &conversion);
    if datetime.is_none() {
        context.warn_incorrect("datetime", value)?;
    }
    Ok(datetime)
}

/// Returns the datetime with `decimals` digits of fraction, cut or rounded according to `sql_mode`. It is cut if
/// rounding would exceed the range.
pub(crate) fn fitted_datetime(datetime: DateTime, decimals: u8, context: &EvalContext<'_>) -> DateTime {
    let fractions = context.session.settings.date_modes().fractions;
    datetime
        .with_decimals(decimals, fractions)
        .unwrap_or_else(|| datetime.truncated(decimals))
}

/// Returns the time with `decimals` digits of fraction, like [`fitted_datetime`].
pub(crate) fn fitted_time(time: Time, decimals: u8, context: &EvalContext<'_>) -> Time {
    let fractions = context.session.settings.date_modes().fractions;
    time.with_decimals(decimals, fractions)
        .unwrap_or_else(|| time.truncated(decimals))
}

/// Converts to a time. Returns `None` for NULL, and with warning 1292 for a value that is not a time.
pub(crate) fn to_time(value: &Value, context: &mut EvalContext<'_>) -> Result<Option<Time>> {
    let value = &*bits_as_text(value, context);
    match value {
        Value::Null => return Ok(None),
        Value::Time(time) => return Ok(Some(*time)),
        // A year is not a time of day.
        Value::Year(_) => return Ok(Some(Time::ZERO)),
        Value::Text(text) => {
            let modes = temporal::DateModes {
                fractions: context.convert_context().date_modes.fractions,
                ..temporal::DateModes::default()
            };
            let parsed = temporal::parse_time_under(text, modes);
            let (kind, time, is_warned, is_noted) = match parsed {
                Some(ParsedTemporal::Time(read)) => (
                    "time",
                    read.value,
                    read.truncated || read.clipped,
                    read.fraction_cut,
                ),
                Some(ParsedTemporal::DateTime(read)) => {
                    ("datetime", read.value.time(), read.truncated, read.fraction_cut)
                }
                None => {
                    context.warn_incorrect("time", value)?;
                    return Ok(None);
                }
            };
            if is_warned {
                context.warn_truncated("time", value)?;
            } else if is_noted {
                context.note_truncated(kind, value);
            }
            return Ok(Some(time));
        }
        _ => {}
    }
    Ok(
        match convert::to_time_clipped(value, &context.lax_convert_context()) {
            Some((time, is_clipped)) => {
                if is_clipped {
                    context.warn_truncated("time", value)?;
                }
                Some(time)
            }
            None => {
                context.warn_incorrect("time", value)?;
                None
            }
        },
    )
}

/// Converts to a time for a comparison. A value that is not a time compares as 00:00:00, with warning 1292.
pub(crate) fn to_time_for_comparison(value: &Value, context: &mut EvalContext<'_>) -> Result<Option<Time>> {
    let value = &*bits_as_text(value, context);
    let is_time = match value {
        Value::Null | Value::Time(_) | Value::Year(_) => true,
        Value::Text(text) => temporal::parse_time(text).is_some(),
        _ => convert::to_time(value, &context.lax_convert_context()).is_some(),
    };
    if is_time {
        return to_time(value, context);
    }
    context.warn_truncated("time", value)?;
    Ok(Some(Time::ZERO))
}

/// Converts to a UUID or an Internet address: a binary string of its length, or the text of anything else. Returns
/// `None` for NULL, and with warning 1292 for any other string.
///
/// # Errors
/// 1292, if the warning is an error in a strict write.
pub fn to_fixed_binary(
    value: &Value,
    data_type: FixedBinaryType,
    context: &mut EvalContext<'_>,
) -> Result<Option<FixedBinary>> {
    let read = match value {
        Value::Null => return Ok(None),
        Value::FixedBinary(value) if value.data_type() == data_type => Some(*value),
        Value::Bytes(bytes) => data_type.from_bytes(bytes),
        other => data_type.parse(&text_of(other, context)),
    };
    if read.is_none() {
        context.warn_incorrect(data_type.name(), value)?;
    }
    Ok(read)
}

/// Returns a column's value as a computed value: BIT and YEAR become numbers, which show as digits (only the column
/// itself shows as bytes, and the year 0 as `0000`); ENUM and SET, which are numbers only as columns, become text.
pub fn as_computed(value: Cow<'_, Value>) -> Cow<'_, Value> {
    match &*value {
        Value::Bit(bits) => Cow::Owned(Value::UInt(bits.bits)),
        Value::Year(0) => Cow::Owned(Value::Int(0)),
        Value::Enum(label) => Cow::Owned(Value::Text(label.label().to_owned())),
        Value::Set(labels) => Cow::Owned(Value::Text(labels.text())),
        _ => value,
    }
}

/// Converts back from [`as_computed`], for a column of this type.
pub(crate) fn as_stored<'v>(value: Cow<'v, Value>, data_type: &DataType) -> Cow<'v, Value> {
    match (&*value, data_type) {
        (Value::UInt(bits), DataType::Bit { length }) => Cow::Owned(Value::Bit(BitValue {
            bits: *bits,
            length: *length,
        })),
        (Value::Int(0), DataType::Year) => Cow::Owned(Value::Year(0)),
        _ => value,
    }
}

/// Converts like [`to_common_type`], for a column of a UNION. There a BIT column becomes text as its number (in an
/// expression, as its bytes), and a YEAR as its number; a decimal keeps all its digits, as far as the column has room.
pub(crate) fn to_union_type<'a>(
    value: Cow<'a, Value>,
    from: &ExprType,
    to: &ExprType,
    context: &mut EvalContext<'_>,
) -> Result<Cow<'a, Value>> {
    match (&*value, to.class()) {
        // Without a warning.
        (Value::Text(text), Class::FixedBinary(t)) => {
            Ok(Cow::Owned(t.parse(text).map_or(Value::Null, Value::FixedBinary)))
        }
        (Value::Bytes(bytes), Class::FixedBinary(t)) => Ok(Cow::Owned(
            t.from_bytes(bytes).map_or(Value::Null, Value::FixedBinary),
        )),
        // TEXT and BLOB get the bytes.
        (Value::Bit(bits), Class::String) if to.is_long_text() => {
            let bytes = bits.to_be_bytes()[8 - bits.byte_length()..].to_vec();
            to_common_type(Cow::Owned(Value::Bytes(bytes)), from, to, context)
        }
        (Value::Bit(bits), Class::String) => {
            let number = Cow::Owned(Value::UInt(bits.bits));
            to_common_type(number, &ExprType::bigint_unsigned(20), to, context)
        }
        (Value::Year(year), Class::String) if !to.is_long_text() => {
            let number = Cow::Owned(Value::Int(i64::from(*year)));
            to_common_type(number, &ExprType::int(4), to, context)
        }
        // All digits, whatever the type shows. A FLOAT has those of the same DOUBLE.
        (Value::Double(_) | Value::Float(_), Class::String) if !to.is_long_text() => {
            let number = to_double(&value, context)?;
            let room = usize::try_from(to.max_characters()).unwrap_or(usize::MAX);
            // MariaDB allows one more character for expressions other than columns.
            let room = room.max(if from.is_column() { 0 } else { 23 });
            let mut text = Vec::new();
            float_text::append_double_within(number, room, &mut text);
            let text = String::from_utf8(text).unwrap_or_default();
            to_common_type(Cow::Owned(Value::Text(text)), to, to, context)
        }
        (Value::Decimal(number), Class::String) => {
            let mut text = number.to_string();
            let room = usize::try_from(to.max_characters()).unwrap_or(usize::MAX);
            // Only a part of the fraction may be cut off.
            let whole = text.find('.').unwrap_or(text.len());
            text.truncate(room.max(whole));
            to_common_type(Cow::Owned(Value::Text(text)), to, to, context)
        }
        _ => to_common_type(value, from, to, context),
    }
}

/// Converts the value of one branch (CASE, COALESCE, UNION) to the common type: numbers to the common numeric type,
/// temporal values to the common temporal type, and anything to text if the result is text.
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
        // Digits of a quotient beyond the scale are kept until it is shown; then zeros up to the scale are appended.
        (Value::Decimal(_), DataType::Decimal(_)) => return Ok(value),
        (other, DataType::Decimal(_)) => Value::Decimal(to_decimal(other, context)?),
        (other, DataType::Double(_)) => Value::Double(to_double(other, context)?),
        (other, DataType::Float(_)) => Value::Float(to_double(other, context)? as f32),
        (Value::Year(_), DataType::Year) => return Ok(as_computed(value)),
        (Value::Bit(_), DataType::Bit { .. }) => return Ok(as_computed(value)),
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
        (Value::FixedBinary(_), DataType::FixedBinary(_)) => return Ok(value),
        (other, DataType::FixedBinary(t)) => {
            to_fixed_binary(other, *t, context)?.map_or(Value::Null, Value::FixedBinary)
        }
        (Value::Date(_), DataType::Date) => return Ok(value),
        (other, DataType::DateTime { decimals }) => match to_datetime(other, context)? {
            Some(datetime) => Value::DateTime(fitted_datetime(datetime, *decimals, context)),
            None => Value::Null,
        },
        (other, DataType::Date) => match to_datetime(other, context)? {
            Some(datetime) => Value::Date(datetime.date),
            None => Value::Null,
        },
        (other, DataType::Time { decimals }) => match to_time(other, context)? {
            Some(time) => Value::Time(fitted_time(time, *decimals, context)),
            None => Value::Null,
        },
        _ => return Ok(value),
    };
    Ok(Cow::Owned(converted))
}

/// Returns a value's text as its type shows it: with ZEROFILL and fixed decimals.
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

/// Returns the numeric value of a hexadecimal literal: its last 8 bytes.
pub fn hex_number(bytes: &[u8]) -> Value {
    let tail = &bytes[bytes.len().saturating_sub(8)..];
    Value::UInt(tail.iter().fold(0, |number, byte| number << 8 | u64::from(*byte)))
}

/// Returns the bytes of a value in the character set of its type.
pub(crate) fn bytes_of_type(value: &Value, from: &ExprType, context: &EvalContext<'_>) -> Vec<u8> {
    let text = match value {
        Value::Bytes(bytes) => return bytes.clone(),
        Value::Bit(_) => return bytes_of(value, context).into_owned(),
        Value::Text(text) => Cow::Borrowed(text.as_str()),
        other => Cow::Owned(typed_text(other, from, context)),
    };
    match from.charset() {
        Charset::Binary => text.into_owned().into_bytes(),
        charset => {
            let mut bytes = Vec::with_capacity(text.len());
            charset.encode(&text, &mut bytes);
            bytes
        }
    }
}
