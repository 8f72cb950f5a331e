//! Assignment to columns of numeric types, BIT and YEAR.

use super::assignment::{ConvertContext, ConvertedValue, Problem, Severity, as_text, printable};
use super::number::{self, Completeness, Rest, number_length, read_double};
use crate::data_type::{DecimalType, FloatType, IntegerType, Sign};
use crate::decimal::{Decimal, Loss, Rounding};
use crate::error_code::{
    ER_DATA_TOO_LONG, ER_TRUNCATED_WRONG_VALUE, ER_WARN_DATA_OUT_OF_RANGE, WARN_DATA_TRUNCATED,
};
use crate::value::{BitValue, Value};

/// Returns the problem of a text that was read as a number, if any.
fn text_problem(rest: Option<Rest>, kind: &'static str, value: &Value) -> Option<Problem> {
    match rest {
        None => Some(Problem::incorrect(kind, value)),
        Some(Rest::Nothing) => None,
        Some(Rest::Spaces) => Some(Problem::note()),
        Some(Rest::Garbage) => Some(Problem::truncated()),
    }
}

/// Clips an integer of any size to the column's range. Also returns whether it was out of range.
fn clip(number: i128, target: IntegerType) -> (Value, bool) {
    let (low, high) = match target.sign {
        Sign::Signed => {
            let (low, high) = target.width.signed_range();
            (i128::from(low), i128::from(high))
        }
        Sign::Unsigned => (0, i128::from(target.width.unsigned_max())),
    };
    let clipped = number.clamp(low, high);
    let value = match target.sign {
        Sign::Signed => Value::Int(clipped as i64),
        Sign::Unsigned => Value::UInt(clipped as u64),
    };
    (value, clipped != number)
}

pub(super) fn integer(value: Value, target: IntegerType, context: &ConvertContext<'_>) -> ConvertedValue {
    let (number, problem) = match &value {
        Value::Int(v) => (i128::from(*v), None),
        Value::UInt(v) => (i128::from(*v), None),
        Value::Text(_) | Value::Bytes(_) => {
            let text = as_text(&value).unwrap_or_default();
            let (number, rest) = text_to_rounded(&text, target.sign);
            (number, text_problem(rest, "integer", &value))
        }
        // Out of range even if it would round to 0.
        Value::Decimal(v) if target.sign == Sign::Unsigned && v.is_negative() && !v.is_zero() => (-1, None),
        _ => (to_wide(&value, context), None),
    };
    let (clipped, out_of_range) = clip(number, target);
    match (out_of_range, problem) {
        (true, _) => ConvertedValue::with(clipped, Problem::out_of_range()),
        (false, problem) => ConvertedValue {
            value: clipped,
            problem,
        },
    }
}

/// Reads the number at the start of a text and rounds it half away from zero. Returns it and the kind of text after it,
/// or `None` if there is no number.
fn text_to_rounded(text: &str, sign: Sign) -> (i128, Option<Rest>) {
    let digits = text.bytes().take_while(u8::is_ascii_digit).count();
    if digits == text.len() && (1..=18).contains(&digits) {
        return (text.parse().unwrap_or(0), Some(Rest::Nothing));
    }
    let length = number_length(text);
    if length == 0 {
        return (0, None);
    }
    if let Some(number) = number_with_two_points(text) {
        return (number, Some(Rest::Garbage));
    }
    let rest = Rest::of(&text[length..]);
    let Some(read) = Decimal::parse_prefix(text) else {
        return (0, None);
    };
    let number = decimal_to_wide(&read.value);
    // MariaDB's parser fails for numbers below BIGINT. An unsigned column then gets its highest value.
    let below = sign == Sign::Unsigned && number < i128::from(i64::MIN);
    (if below { i128::MAX } else { number }, Some(rest))
}

/// Reads a text with a second decimal point in its number as MariaDB does, which then forgets the first one: `'1.5.5'`
/// is 15. Returns `None` for any other text.
fn number_with_two_points(text: &str) -> Option<i128> {
    const DIGITS_MAX: usize = 18;
    let trimmed = text.trim_start_matches(|c: char| c.is_ascii_whitespace());
    let unsigned = trimmed.strip_prefix(['-', '+']).unwrap_or(trimmed);
    let (whole, rest) = unsigned.split_once('.')?;
    let (fraction, _) = rest.split_once('.')?;
    let digits = [whole, fraction].concat();
    if digits.len() > DIGITS_MAX || !digits.bytes().all(|byte| byte.is_ascii_digit()) {
        return None;
    }
    let number: i128 = digits.parse().ok()?;
    Some(if trimmed.starts_with('-') { -number } else { number })
}

/// Rounds half away from zero. Clips far outside of any column's range.
fn decimal_to_wide(number: &Decimal) -> i128 {
    let whole = number.round(0, Rounding::HalfUp);
    match (whole.to_i64(), whole.to_u64()) {
        (Ok(number), _) => i128::from(number),
        (_, Ok(number)) => i128::from(number),
        _ if whole.is_negative() => i128::MIN,
        _ => i128::MAX,
    }
}

/// Converts a value that is not text to an integer, which the caller clips to the column's range.
fn to_wide(value: &Value, context: &ConvertContext<'_>) -> i128 {
    match value {
        Value::Float(v) => f64::from(*v).round_ties_even() as i128,
        Value::Double(v) => v.round_ties_even() as i128,
        Value::Decimal(v) => decimal_to_wide(v),
        _ => match number::to_integer(value, context.time_zone) {
            Some((Value::Int(v), _)) => i128::from(v),
            Some((Value::UInt(v), _)) => i128::from(v),
            _ => 0,
        },
    }
}

/// Like [`to_wide`], but cuts the fraction of a double.
fn to_cut(value: &Value, context: &ConvertContext<'_>) -> i128 {
    match value {
        Value::Float(v) => *v as i128,
        Value::Double(v) => *v as i128,
        _ => to_wide(value, context),
    }
}

pub(super) fn decimal(value: Value, target: DecimalType, context: &ConvertContext<'_>) -> ConvertedValue {
    let (number, mut problem) = match &value {
        Value::Decimal(v) => (*v, None),
        Value::Int(v) => (Decimal::from(*v), None),
        Value::UInt(v) => (Decimal::from(*v), None),
        Value::Text(_) | Value::Bytes(_) => {
            let text = as_text(&value).unwrap_or_default();
            match Decimal::parse_prefix(&text) {
                None => (Decimal::ZERO, Some(Problem::incorrect("decimal", &value))),
                Some(read) if read.loss == Loss::Overflow => (read.value, Some(Problem::out_of_range())),
                Some(read) => (
                    read.value,
                    text_problem(Some(Rest::of(&text[read.length..])), "decimal", &value),
                ),
            }
        }
        _ => match number::to_decimal(&value, context.time_zone) {
            Some((number, Completeness::Whole)) => (number, None),
            Some((number, Completeness::Truncated)) => (number, Some(Problem::out_of_range())),
            None => (Decimal::ZERO, None),
        },
    };
    let worse = |problem: &mut Option<Problem>, new: Problem| match problem {
        Some(old) if old.severity == Severity::Warning || new.severity == Severity::Note => {}
        _ => *problem = Some(new),
    };
    let unsigned_zero = number.is_negative() && target.sign == Sign::Unsigned;
    if unsigned_zero {
        worse(&mut problem, Problem::out_of_range());
        return ConvertedValue {
            value: Value::Decimal(Decimal::ZERO.round(i32::from(target.scale), Rounding::HalfUp)),
            problem,
        };
    }
    let rounded = number.round(i32::from(target.scale), Rounding::HalfUp);
    let fits = rounded.integer_digits() <= target.precision - target.scale;
    let stored = if fits {
        if rounded != number {
            worse(&mut problem, Problem::note());
        }
        rounded
    } else {
        worse(&mut problem, Problem::out_of_range());
        let largest = Decimal::max_value(target.precision, target.scale);
        if number.is_negative() {
            largest.neg()
        } else {
            largest
        }
    };
    ConvertedValue {
        value: Value::Decimal(stored),
        problem,
    }
}

/// Converts a value to a double. Also returns the problem, if any.
fn read_number(value: &Value, context: &ConvertContext<'_>) -> (f64, Option<Problem>) {
    match value {
        Value::Double(v) => (*v, None),
        Value::Float(v) => (f64::from(*v), None),
        Value::Text(_) | Value::Bytes(_) => {
            let text = as_text(value).unwrap_or_default();
            let (number, rest, out_of_range) = read_double(&text);
            let problem = if out_of_range {
                Some(Problem::out_of_range())
            } else {
                text_problem(rest, "double", value)
            };
            (number, problem)
        }
        _ => (
            number::to_double(value, context.time_zone).map_or(0.0, |(number, _)| number),
            None,
        ),
    }
}

/// Clips to the column's range and rounds to its fixed decimals. Also returns whether the number was out of range.
fn limit(number: f64, target: FloatType, max: f64) -> (f64, bool) {
    if number.is_nan() {
        return (0.0, true);
    }
    if target.sign == Sign::Unsigned && number < 0.0 {
        return (0.0, true);
    }
    let mut max = max;
    let mut number = number;
    if let Some(fixed) = target.fixed {
        let scale = 10f64.powi(i32::from(fixed.scale));
        max = 10f64.powi(i32::from(fixed.precision) - i32::from(fixed.scale)) - 1.0 / scale;
        let whole = number.floor();
        number = whole + ((number - whole) * scale).round_ties_even() / scale;
    }
    let clipped = number.clamp(-max, max);
    (clipped, clipped != number)
}

/// Returns the problem to report: MariaDB reports text after the number rather than a number out of range.
fn range_problem(problem: Option<Problem>, out_of_range: bool) -> Option<Problem> {
    match problem {
        Some(problem) if problem.severity == Severity::Warning => Some(problem),
        problem => {
            if out_of_range {
                Some(Problem::out_of_range())
            } else {
                problem
            }
        }
    }
}

pub(super) fn float(value: Value, target: FloatType, context: &ConvertContext<'_>) -> ConvertedValue {
    let (number, problem) = read_number(&value, context);
    let (limited, out_of_range) = limit(number, target, f64::from(f32::MAX));
    ConvertedValue {
        value: Value::Float(limited as f32),
        problem: range_problem(problem, out_of_range),
    }
}

pub(super) fn double(value: Value, target: FloatType, context: &ConvertContext<'_>) -> ConvertedValue {
    let (number, problem) = read_number(&value, context);
    let (limited, out_of_range) = limit(number, target, f64::MAX);
    ConvertedValue {
        value: Value::Double(limited),
        problem: range_problem(problem, out_of_range),
    }
}

/// Stores the bytes of a string, or the bits of a number.
pub(super) fn bit(value: Value, length: u8, context: &ConvertContext<'_>) -> ConvertedValue {
    let most = u64::MAX >> (64 - u32::from(length));
    let stored = |bits| Value::Bit(BitValue { bits, length });
    let bits = match &value {
        Value::Text(_)
        | Value::Bytes(_)
        | Value::Date(_)
        | Value::Time(_)
        | Value::DateTime(_)
        | Value::Timestamp(_) => {
            let text;
            let bytes = match &value {
                Value::Text(text) => text.as_bytes(),
                Value::Bytes(bytes) => bytes,
                _ => {
                    text = printable(&value);
                    text.as_bytes()
                }
            };
            let used = &bytes[bytes.iter().take_while(|&&byte| byte == 0).count()..];
            if used.len() > 8 {
                None
            } else {
                Some(used.iter().fold(0, |bits, &byte| bits << 8 | u64::from(byte)))
            }
        }
        Value::Decimal(v) => match v.to_u64() {
            Ok(bits) => Some(bits),
            Err(_) => {
                let clipped = if v.is_negative() { 0 } else { most };
                return ConvertedValue::with(stored(clipped), Problem::out_of_range());
            }
        },
        // The bits of a negative number count. They are always too long for fewer than 64 bits.
        _ => {
            let wide = to_cut(&value, context);
            let clipped = wide.clamp(i128::from(i64::MIN), i128::from(u64::MAX));
            (clipped == wide).then_some(clipped as u64)
        }
    };
    match bits {
        Some(bits) if bits <= most => ConvertedValue::fine(stored(bits)),
        _ => ConvertedValue::with(
            stored(most),
            Problem::new(ER_DATA_TOO_LONG, ER_WARN_DATA_OUT_OF_RANGE),
        ),
    }
}

/// Returns the year of a temporal value, always with a problem.
#[cold]
fn temporal_year(year: u16, kind: &'static str, value: &Value) -> ConvertedValue {
    let stored = if matches!(year, 1901..=2155) { year } else { 0 };
    let mut problem = Problem::new(ER_TRUNCATED_WRONG_VALUE, WARN_DATA_TRUNCATED);
    problem.incorrect = Some((kind, printable(value)));
    ConvertedValue::with(Value::Year(stored), problem)
}

/// Returns the year that YEAR stores for two digits: 5 becomes 2005.
fn four_digits(year: u16) -> u16 {
    match year {
        1..=69 => 2000 + year,
        70..=99 => 1900 + year,
        year => year,
    }
}

pub(super) fn year(value: Value, context: &ConvertContext<'_>) -> ConvertedValue {
    let (number, problem, is_text) = match &value {
        Value::Text(_) | Value::Bytes(_) => {
            let text = as_text(&value).unwrap_or_default();
            let (number, rest) = text_to_rounded(&text, Sign::Signed);
            if rest.is_none() {
                return ConvertedValue::with(Value::Year(0), Problem::incorrect("integer", &value));
            }
            // '0' and '00' mean 2000; '0000' means 0000.
            let four_digits = text.len() == 4;
            (number, text_problem(rest, "integer", &value), !four_digits)
        }
        Value::Year(v) => (i128::from(*v), None, false),
        // A date contains a year but is not a year; a time does not even contain one.
        Value::Date(v) => return temporal_year(four_digits(v.year), "date", &value),
        Value::DateTime(v) => return temporal_year(four_digits(v.date.year), "datetime", &value),
        Value::Timestamp(v) => {
            return temporal_year(v.to_datetime(context.time_zone).date.year, "datetime", &value);
        }
        Value::Time(_) => return temporal_year(0, "time", &value),
        _ => (to_cut(&value, context), None, false),
    };
    let stored = match number {
        0 if !is_text => Some(0),
        0..=69 => Some(2000 + number as u16),
        70..=99 => Some(1900 + number as u16),
        1901..=2155 => Some(number as u16),
        _ => None,
    };
    match stored {
        Some(year) => ConvertedValue {
            value: Value::Year(year),
            problem,
        },
        None => ConvertedValue::with(Value::Year(0), Problem::out_of_range()),
    }
}
