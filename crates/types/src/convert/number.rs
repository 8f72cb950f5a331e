//! Conversion of values to numbers.

use crate::decimal::{Decimal, Loss, Rounding};
use crate::temporal::{DateTime, TimeZone};
use crate::value::Value;

/// Part of a text that was read as a number.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Completeness {
    /// The whole text, except for blanks around the number.
    Whole,
    /// Only the beginning, or nothing: MariaDB warns 1292 "Truncated incorrect … value".
    Truncated,
}

/// Kind of text after a number.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Rest {
    Nothing,
    Spaces,
    Garbage,
}

impl Rest {
    pub(super) fn of(rest: &str) -> Rest {
        if rest.is_empty() {
            Rest::Nothing
        } else if rest.bytes().all(|byte| byte.is_ascii_whitespace()) {
            Rest::Spaces
        } else {
            Rest::Garbage
        }
    }

    fn completeness(self) -> Completeness {
        if self == Rest::Garbage {
            Completeness::Truncated
        } else {
            Completeness::Whole
        }
    }
}

/// Returns the length of the number at the start of a text, with blanks before it; 0 if there is no number.
pub(super) fn number_length(text: &str) -> usize {
    let bytes = text.as_bytes();
    let digits = |from: usize| {
        bytes[from.min(bytes.len())..]
            .iter()
            .take_while(|b| b.is_ascii_digit())
            .count()
    };
    let mut at = bytes.iter().take_while(|b| b.is_ascii_whitespace()).count();
    at += usize::from(matches!(bytes.get(at), Some(b'-' | b'+')));
    let integer = digits(at);
    at += integer;
    if bytes.get(at) == Some(&b'.') {
        let fraction = digits(at + 1);
        if integer == 0 && fraction == 0 {
            return 0;
        }
        at += 1 + fraction;
    } else if integer == 0 {
        return 0;
    }
    if matches!(bytes.get(at), Some(b'e' | b'E')) {
        let sign = usize::from(matches!(bytes.get(at + 1), Some(b'-' | b'+')));
        let exponent = digits(at + 1 + sign);
        if exponent > 0 {
            at += 1 + sign + exponent;
        }
    }
    at
}

/// Reads the number at the start of a text, or 0 if there is none. A number beyond the range of DOUBLE becomes the
/// limit.
pub fn text_to_double(text: &str) -> (f64, Completeness) {
    let (number, rest, _) = read_double(text);
    match rest {
        Some(rest) => (number, rest.completeness()),
        None => (0.0, Completeness::Truncated),
    }
}

/// Reads the number at the start of a text. Returns it, the kind of text after it (`None`: there is no number), and
/// whether it was out of range.
pub(super) fn read_double(text: &str) -> (f64, Option<Rest>, bool) {
    let length = number_length(text);
    if length == 0 {
        return (0.0, None, false);
    }
    let number = text[..length].trim_start().parse::<f64>().unwrap_or(0.0);
    (
        number.clamp(f64::MIN, f64::MAX),
        Some(Rest::of(&text[length..])),
        number.is_infinite(),
    )
}

/// Reads the integer at the start of a text (digits only: `'12.9'` is 12 and truncated), or 0 if there is none. The
/// result is limited to the range of BIGINT; a larger positive number is returned as a BIGINT UNSIGNED in
/// `Value::UInt`.
pub fn text_to_integer(text: &str) -> (Value, Completeness) {
    let trimmed = text.trim_start_matches(|c: char| c.is_ascii_whitespace());
    let (negative, digits) = match trimmed.as_bytes().first() {
        Some(b'-') => (true, &trimmed[1..]),
        Some(b'+') => (false, &trimmed[1..]),
        _ => (false, trimmed),
    };
    let count = digits.bytes().take_while(u8::is_ascii_digit).count();
    if count == 0 {
        return (Value::Int(0), Completeness::Truncated);
    }
    let rest = Rest::of(&digits[count..]);
    let number = digits[..count].parse::<u64>();
    let fits = number.is_ok();
    let number = number.unwrap_or(u64::MAX);
    let (value, fits) = match (negative, i64::try_from(number)) {
        (false, Ok(number)) => (Value::Int(number), fits),
        (false, Err(_)) => (Value::UInt(number), fits),
        (true, Ok(number)) => (Value::Int(-number), fits),
        (true, Err(_)) => (Value::Int(i64::MIN), number == i64::MIN.unsigned_abs()),
    };
    (
        value,
        if fits {
            rest.completeness()
        } else {
            Completeness::Truncated
        },
    )
}

/// Reads the decimal at the start of a text, or 0 if there is none.
pub fn text_to_decimal(text: &str) -> (Decimal, Completeness) {
    match Decimal::parse_prefix(text) {
        Some(read) => {
            let rest = Rest::of(&text[read.length..]);
            let overflow = read.loss == Loss::Overflow;
            (
                read.value,
                if overflow {
                    Completeness::Truncated
                } else {
                    rest.completeness()
                },
            )
        }
        None => (Decimal::ZERO, Completeness::Truncated),
    }
}

/// Converts a datetime to a decimal: 20240131123456.789.
fn datetime_to_decimal(value: DateTime) -> Decimal {
    with_fraction(value.to_number(), value.micros, value.decimals, false)
}

/// Returns a number with a fraction, which is given in microseconds and cut to `decimals` digits.
fn with_fraction(number: i64, micros: u32, decimals: u8, negative: bool) -> Decimal {
    let unit = crate::temporal::micros_unit(decimals);
    let (unit_count, digits) = match micros / unit * unit {
        0 => (1, 0),
        _ => (1_000_000, 6),
    };
    let scaled = i128::from(number.unsigned_abs()) * unit_count + i128::from(micros / unit * unit);
    Decimal::from_scaled(if negative { -scaled } else { scaled }, digits)
}

/// Converts a value to a double for arithmetic and comparison. Temporal values become numbers (20240131…). Returns
/// `None` for NULL.
pub fn to_double(value: &Value, time_zone: &TimeZone) -> Option<(f64, Completeness)> {
    Some(match value {
        Value::Null => return None,
        Value::Int(v) => (*v as f64, Completeness::Whole),
        Value::UInt(v) => (*v as f64, Completeness::Whole),
        Value::Float(v) => (f64::from(*v), Completeness::Whole),
        Value::Double(v) => (*v, Completeness::Whole),
        Value::Text(text) => text_to_double(text),
        Value::Bytes(bytes) => text_to_double(&String::from_utf8_lossy(bytes)),
        Value::Bit(v) => (v.bits as f64, Completeness::Whole),
        Value::Year(v) => (f64::from(*v), Completeness::Whole),
        Value::Enum(v) => (f64::from(v.index), Completeness::Whole),
        Value::Set(v) => (v.bits as f64, Completeness::Whole),
        // No number: MariaDB says 0 where it does not refuse the type.
        Value::FixedBinary(_) => (0.0, Completeness::Whole),
        Value::Decimal(_) | Value::Date(_) | Value::Time(_) | Value::DateTime(_) | Value::Timestamp(_) => {
            let (decimal, completeness) = to_decimal(value, time_zone)?;
            (decimal.to_f64(), completeness)
        }
    })
}

/// Converts a value to a decimal. Returns `None` for NULL.
pub fn to_decimal(value: &Value, time_zone: &TimeZone) -> Option<(Decimal, Completeness)> {
    let decimal = match value {
        Value::Null => return None,
        Value::Int(v) => Decimal::from(*v),
        Value::UInt(v) => Decimal::from(*v),
        Value::Float(v) => return Some(double_to_decimal(f64::from(*v))),
        Value::Double(v) => return Some(double_to_decimal(*v)),
        Value::Decimal(v) => *v,
        Value::Text(text) => return Some(text_to_decimal(text)),
        Value::Bytes(bytes) => return Some(text_to_decimal(&String::from_utf8_lossy(bytes))),
        Value::Date(v) => Decimal::from(u64::from(v.to_number())),
        Value::Time(v) => with_fraction(v.to_number(), v.microsecond(), v.decimals(), v.is_negative()),
        Value::DateTime(v) => datetime_to_decimal(*v),
        Value::Timestamp(v) => datetime_to_decimal(v.to_datetime(time_zone)),
        Value::Year(v) => Decimal::from(u64::from(*v)),
        Value::Bit(v) => Decimal::from(v.bits),
        Value::Enum(v) => Decimal::from(u64::from(v.index)),
        Value::Set(v) => Decimal::from(v.bits),
        Value::FixedBinary(_) => Decimal::ZERO,
    };
    Some((decimal, Completeness::Whole))
}

/// Returns the nearest decimal. A number with more than 81 digits becomes the largest decimal.
fn double_to_decimal(number: f64) -> (Decimal, Completeness) {
    match Decimal::from_f64(number) {
        Ok(decimal) => (decimal, Completeness::Whole),
        Err(_) => {
            let largest = Decimal::max_value(81, 0);
            (
                if number < 0.0 { largest.neg() } else { largest },
                Completeness::Truncated,
            )
        }
    }
}

/// Converts a value to an integer, `Int` or `UInt`. Fractions are rounded (DECIMAL half away from zero, DOUBLE half to
/// even), or cut off if the value is a text or temporal. Numbers out of range are clipped. Returns `None` for NULL.
pub fn to_integer(value: &Value, time_zone: &TimeZone) -> Option<(Value, Completeness)> {
    let whole = |value| (value, Completeness::Whole);
    Some(match value {
        Value::Null => return None,
        Value::Int(v) => whole(Value::Int(*v)),
        Value::UInt(v) => whole(Value::UInt(*v)),
        Value::Float(v) => double_to_integer(f64::from(*v)),
        Value::Double(v) => double_to_integer(*v),
        Value::Decimal(v) => decimal_to_integer(&v.round(0, Rounding::HalfUp)),
        Value::Text(text) => text_to_integer(text),
        Value::Bytes(bytes) => text_to_integer(&String::from_utf8_lossy(bytes)),
        Value::Date(v) => whole(Value::Int(i64::from(v.to_number()))),
        Value::Time(v) => whole(Value::Int(v.to_number())),
        Value::DateTime(v) => whole(Value::Int(v.to_number())),
        Value::Timestamp(v) => whole(Value::Int(v.to_datetime(time_zone).to_number())),
        Value::Year(v) => whole(Value::Int(i64::from(*v))),
        Value::Bit(v) => whole(Value::UInt(v.bits)),
        Value::Enum(v) => whole(Value::Int(i64::from(v.index))),
        Value::Set(v) => whole(Value::UInt(v.bits)),
        Value::FixedBinary(_) => whole(Value::Int(0)),
    })
}

fn decimal_to_integer(whole: &Decimal) -> (Value, Completeness) {
    match (whole.to_i64(), whole.to_u64()) {
        (Ok(number), _) => (Value::Int(number), Completeness::Whole),
        (_, Ok(number)) => (Value::UInt(number), Completeness::Whole),
        _ if whole.is_negative() => (Value::Int(i64::MIN), Completeness::Truncated),
        _ => (Value::UInt(u64::MAX), Completeness::Truncated),
    }
}

fn double_to_integer(number: f64) -> (Value, Completeness) {
    let rounded = number.round_ties_even();
    if (-9_223_372_036_854_775_808.0..9_223_372_036_854_775_808.0).contains(&rounded) {
        (Value::Int(rounded as i64), Completeness::Whole)
    } else if (0.0..18_446_744_073_709_551_616.0).contains(&rounded) {
        (Value::UInt(rounded as u64), Completeness::Whole)
    } else {
        // `as` saturates at the limits and converts NaN to 0.
        let clipped = if rounded < 0.0 {
            Value::Int(i64::MIN)
        } else {
            Value::Int(rounded as i64)
        };
        (clipped, Completeness::Truncated)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use Completeness::{Truncated, Whole};

    #[test]
    fn text_is_read_up_to_the_first_character_that_is_no_number() {
        assert_eq!(text_to_double(" 12abc"), (12.0, Truncated));
        assert_eq!(text_to_double("1.5e3 "), (1500.0, Whole));
        assert_eq!(text_to_double("1e400"), (f64::MAX, Whole));
        assert_eq!(text_to_double("abc"), (0.0, Truncated));
        assert_eq!(text_to_double("-.5e"), (-0.5, Truncated));
        assert_eq!(text_to_integer("12.9"), (Value::Int(12), Truncated));
        assert_eq!(text_to_integer("-12 "), (Value::Int(-12), Whole));
        assert_eq!(
            text_to_integer("18446744073709551615"),
            (Value::UInt(u64::MAX), Whole)
        );
        assert_eq!(
            text_to_integer("18446744073709551616"),
            (Value::UInt(u64::MAX), Truncated)
        );
        assert_eq!(
            text_to_integer("-9223372036854775808"),
            (Value::Int(i64::MIN), Whole)
        );
        assert_eq!(
            text_to_integer("-9223372036854775809"),
            (Value::Int(i64::MIN), Truncated)
        );
        assert_eq!(text_to_integer(""), (Value::Int(0), Truncated));
    }

    #[test]
    fn other_types_become_the_nearest_integer_in_range() {
        let zone = TimeZone::UTC;
        let integer = |value: Value| to_integer(&value, &zone).unwrap().0;
        assert_eq!(integer(Value::Double(2.5)), Value::Int(2));
        assert_eq!(integer(Value::Decimal("2.5".parse().unwrap())), Value::Int(3));
        assert_eq!(integer(Value::Double(1e30)), Value::Int(i64::MAX));
        assert_eq!(integer(Value::Double(-1e30)), Value::Int(i64::MIN));
        assert_eq!(
            integer(Value::Double(1e19)),
            Value::UInt(10_000_000_000_000_000_000)
        );
        let time = Value::Time(crate::Time::from_micros(-45_296_700_000, 1));
        assert_eq!(to_decimal(&time, &zone).unwrap().0.to_string(), "-123456.700000");
        assert_eq!(to_double(&time, &zone).unwrap().0, -123456.7);
        assert!(to_double(&Value::Null, &zone).is_none());
    }
}
