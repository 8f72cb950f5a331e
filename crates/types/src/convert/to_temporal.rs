//! Assignment to temporal columns, and conversion of values to temporal values in expressions.

use super::assignment::{ConvertContext, ConvertedValue, Problem, as_text, printable};
use super::number;
use crate::decimal::{Decimal, Rounding};
use crate::error_code::{
    ER_TRUNCATED_WRONG_VALUE, ER_WARN_DATA_OUT_OF_RANGE, ER_WARN_INVALID_TIMESTAMP, WARN_DATA_TRUNCATED,
};
use crate::temporal::{
    Date, DateModes, DateTime, Fractions, IntervalOrDateTime, ParsedTemporal, Time, TimeZone, Timestamp,
    add_interval, datetime_from_number, interval_from_number, parse_datetime, parse_time_under,
    time_from_number,
};
use crate::value::Value;

/// Worst loss while a temporal value was read.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Lost {
    Nothing,
    /// A fraction, or a part that the column does not store.
    Part,
    /// Text after the value.
    Rest,
    /// A time that the zone's clock has left out.
    Skipped,
    /// A time beyond the range of TIME was clipped.
    Clipped,
}

/// A number that is read as a temporal value.
struct ReadNumber {
    whole: i64,
    /// Its fraction.
    micros: u32,
    /// Whether rounding takes it a microsecond further, into the next second: 20001231235959.9999999 is no number
    /// 20001231235960.
    carries: bool,
    lost: Lost,
}

/// Splits a number as temporal values are read from numbers; `None` if it is far out of range.
fn read_number(value: &Value, fractions: Fractions) -> Option<ReadNumber> {
    let whole = |whole: i64| {
        Some(ReadNumber {
            whole,
            micros: 0,
            carries: false,
            lost: Lost::Nothing,
        })
    };
    let decimal = match value {
        Value::Int(v) => return whole(*v),
        Value::UInt(v) => return whole(i64::try_from(*v).unwrap_or(i64::MAX)),
        Value::Year(v) => return whole(i64::from(*v)),
        Value::Bit(v) => return whole(i64::try_from(v.bits).unwrap_or(i64::MAX)),
        Value::Decimal(v) => *v,
        // MariaDB has its own way to the nanoseconds: those of 1.001 are 1.000999999.
        Value::Double(v) if v.abs() < 1e15 => return Some(read_double(*v, fractions)),
        Value::Float(v) if v.abs() < 1e15 => return Some(read_double(f64::from(*v), fractions)),
        Value::Double(_) | Value::Float(_) => number::to_decimal(value, &TimeZone::UTC)?.0,
        _ => return None,
    };
    let whole = decimal.round(0, Rounding::Truncate);
    let rounded = match fractions {
        Fractions::Cut => decimal.round(6, Rounding::Truncate),
        Fractions::Rounded => decimal.round(6, Rounding::HalfUp),
    };
    let carries = rounded.round(0, Rounding::Truncate) != whole;
    let kept = if carries {
        decimal.round(6, Rounding::Truncate)
    } else {
        rounded
    };
    let fraction = kept.sub(&whole).ok()?.mul(&Decimal::from(1_000_000u64)).ok()?;
    let limit = if decimal.is_negative() { i64::MIN } else { i64::MAX };
    Some(ReadNumber {
        whole: whole.to_i64().unwrap_or(limit),
        micros: fraction.abs().to_u64().ok()? as u32,
        carries,
        // Nothing is said of what is rounded.
        lost: match fractions {
            Fractions::Cut if rounded != decimal => Lost::Part,
            _ => Lost::Nothing,
        },
    })
}

fn read_double(number: f64, fractions: Fractions) -> ReadNumber {
    let whole = number.abs().floor();
    let nanos = ((number.abs() - whole) * 1e9) as u32;
    let micros = match fractions {
        Fractions::Cut => nanos / 1000,
        Fractions::Rounded => (nanos + 500) / 1000,
    };
    ReadNumber {
        whole: whole.copysign(number) as i64,
        // What would round to the next second stays below it.
        micros: micros.min(999_999),
        carries: false,
        // Nothing is said of what is rounded.
        lost: match fractions {
            Fractions::Cut if !nanos.is_multiple_of(1000) => Lost::Part,
            _ => Lost::Nothing,
        },
    }
}

/// Returns whether a number is read as a date, such as 20240131, and not as a datetime.
fn is_day_number(number: i64) -> bool {
    (1..=99_991_231).contains(&number)
}

/// Adds a TIME to the day of the statement.
fn on_day(time: Time, context: &ConvertContext<'_>) -> Option<DateTime> {
    let midnight = context.now.date.at_midnight();
    let interval = crate::temporal::Interval {
        months: 0,
        micros: i128::from(time.micros()),
    };
    let value = add_interval(midnight, interval)?;
    Some(DateTime {
        decimals: time.decimals(),
        ..value
    })
}

/// Converts any value to a datetime.
fn read_datetime(value: &Value, context: &ConvertContext<'_>, modes: DateModes) -> Option<(DateTime, Lost)> {
    let valid = |value: DateTime| value.date.is_valid(modes).then_some((value, Lost::Nothing));
    match value {
        Value::Text(_) | Value::Bytes(_) => {
            let read = parse_datetime(&as_text(value)?, modes)?;
            let lost = match (read.truncated, read.fraction_cut) {
                (true, _) => Lost::Rest,
                (false, true) => Lost::Part,
                (false, false) => Lost::Nothing,
            };
            Some((read.value, lost))
        }
        Value::Enum(v) => parse_datetime(v.label(), modes).map(|read| (read.value, Lost::Nothing)),
        Value::Set(v) => parse_datetime(&v.text(), modes).map(|read| (read.value, Lost::Nothing)),
        Value::Date(v) => valid(v.at_midnight()),
        Value::DateTime(v) => valid(*v),
        Value::Timestamp(v) => valid(v.to_datetime(context.time_zone)),
        Value::Time(v) => on_day(*v, context).map(|value| (value, Lost::Nothing)),
        Value::Null => None,
        _ => {
            let number = read_number(value, modes.fractions)?;
            // A number that is a day has no fraction of a second.
            let (micros, carries, lost) = if number.micros > 0 && is_day_number(number.whole) {
                (0, false, Lost::Part)
            } else {
                (number.micros, number.carries, number.lost)
            };
            let mut read = datetime_from_number(number.whole, micros, modes)?;
            if carries {
                let microsecond = crate::temporal::Interval { months: 0, micros: 1 };
                read = add_interval(read, microsecond)?;
            }
            let negative = matches!(value, Value::Decimal(v) if v.is_negative())
                || matches!(value, Value::Double(v) if *v < 0.0)
                || matches!(value, Value::Float(v) if *v < 0.0);
            let decimals = if micros > 0 { 6 } else { 0 };
            (!negative).then_some((DateTime { decimals, ..read }, lost))
        }
    }
}

/// Converts a value to a datetime; text and numbers are read as in MariaDB. Returns `None` for NULL, and for a value
/// that is not a datetime (the caller reports 1292).
pub fn to_datetime(value: &Value, context: &ConvertContext<'_>) -> Option<DateTime> {
    read_datetime(value, context, context.date_modes).map(|(value, _)| value)
}

/// Converts any value to a time.
fn read_time(value: &Value, context: &ConvertContext<'_>) -> Option<(Time, Lost)> {
    let date_dropped = |value: DateTime, lost: Lost| {
        let dropped = if value.date.is_zero() {
            Lost::Nothing
        } else {
            Lost::Part
        };
        (value.time(), lost.max(dropped))
    };
    match value {
        Value::Text(_) | Value::Bytes(_) => match parse_time_under(&as_text(value)?, context.date_modes)? {
            ParsedTemporal::Time(read) => {
                let lost = match (read.clipped, read.truncated, read.fraction_cut) {
                    (true, ..) => Lost::Clipped,
                    (_, true, _) => Lost::Rest,
                    (.., true) => Lost::Part,
                    _ => Lost::Nothing,
                };
                Some((read.value, lost))
            }
            ParsedTemporal::DateTime(read) => {
                let lost = if read.truncated { Lost::Rest } else { Lost::Nothing };
                Some(date_dropped(read.value, lost))
            }
        },
        Value::Enum(v) => read_time(&Value::from(v.label()), context),
        Value::Set(v) => read_time(&Value::from(v.text()), context),
        Value::Time(v) => Some((*v, Lost::Nothing)),
        Value::Date(v) => Some(date_dropped(v.at_midnight(), Lost::Nothing)),
        Value::DateTime(v) => Some(date_dropped(*v, Lost::Nothing)),
        Value::Timestamp(v) => Some(date_dropped(v.to_datetime(context.time_zone), Lost::Nothing)),
        Value::Null => None,
        // A number beyond BIGINT whose minutes or seconds are above 59 is not a time.
        Value::UInt(number)
            if i64::try_from(*number).is_err() && (number % 100 > 59 || number / 100 % 100 > 59) =>
        {
            None
        }
        _ => {
            let ReadNumber {
                whole: number,
                micros,
                carries,
                lost,
            } = read_number(value, context.date_modes.fractions)?;
            let is_day = number > 9_999_999 && is_day_number(number);
            // As in MariaDB, a time is not rounded to another minute, only a datetime is.
            let from_datetime = number > 9_999_999;
            if carries && !from_datetime {
                return None;
            }
            let read = time_from_number(number, if is_day { 0 } else { micros })?;
            let negative = matches!(value, Value::Decimal(v) if v.is_negative())
                || matches!(value, Value::Double(v) if *v < 0.0)
                || matches!(value, Value::Float(v) if *v < 0.0);
            let micros = if negative && !read.value.is_negative() {
                -read.value.micros()
            } else {
                read.value.micros()
            };
            const DAY_MICROS: i64 = 86_400_000_000;
            let micros = match carries && !is_day {
                true => (micros + 1) % DAY_MICROS,
                false => micros,
            };
            let decimals = if read.value.microsecond() > 0 { 6 } else { 0 };
            let from_datetime = from_datetime && !read.clipped;
            let lost = match (read.clipped, from_datetime) {
                (true, _) => Lost::Clipped,
                (_, true) => lost.max(Lost::Part),
                _ => lost,
            };
            Some((Time::from_micros(micros, decimals), lost))
        }
    }
}

/// Converts a value to a time. Also returns whether it was beyond the range of TIME.
pub fn to_time_clipped(value: &Value, context: &ConvertContext<'_>) -> Option<(Time, bool)> {
    read_time(value, context).map(|(value, lost)| (value, lost == Lost::Clipped))
}

/// Converts a number to an interval of days to seconds or, if it has more than twelve digits, to a datetime. Returns
/// `None` if it is neither, or not a number.
pub fn number_to_interval(value: &Value) -> Option<IntervalOrDateTime> {
    let number = read_number(value, Fractions::Cut)?;
    interval_from_number(number.whole, number.micros)
}

/// Converts a number that has more digits than a time to a datetime, in places where both are valid. Returns `None` for
/// any other number.
pub fn number_to_datetime(value: &Value, context: &ConvertContext<'_>) -> Option<DateTime> {
    let number = read_number(value, Fractions::Cut)?.whole;
    (9_999_999 < number && number <= 99_991_231_235_959).then_some(())?;
    to_datetime(value, context)
}

/// Converts a value to a time. Returns `None` for NULL, and for a value that is not a time (the caller reports 1292).
pub fn to_time(value: &Value, context: &ConvertContext<'_>) -> Option<Time> {
    read_time(value, context).map(|(value, _)| value)
}

/// Returns the problem of a temporal value: as a warning 1265 or 1264, as an error always 1292.
#[cold]
fn wrong(kind: &'static str, value: &Value, lost: Lost) -> Option<Problem> {
    let warning_code = match lost {
        Lost::Nothing => return None,
        Lost::Part => return Some(Problem::note()),
        Lost::Rest => WARN_DATA_TRUNCATED,
        Lost::Skipped => ER_WARN_INVALID_TIMESTAMP,
        Lost::Clipped => ER_WARN_DATA_OUT_OF_RANGE,
    };
    let mut problem = Problem::new(ER_TRUNCATED_WRONG_VALUE, warning_code);
    problem.incorrect = Some((kind, printable(value)));
    Some(problem)
}

pub(super) fn date(value: Value, context: &ConvertContext<'_>) -> ConvertedValue {
    // A date is never rounded up to the next day.
    let modes = DateModes {
        fractions: Fractions::Cut,
        ..context.date_modes
    };
    match read_datetime(&value, context, modes) {
        None => ConvertedValue {
            problem: wrong("date", &value, Lost::Rest),
            value: Value::Date(Date::ZERO),
        },
        Some((read, lost)) => {
            // The loss of a fraction alone is not reported.
            let time_dropped = read.micros_of_day() != 0 && !read.date.is_zero();
            let lost = match lost {
                Lost::Nothing if time_dropped => Lost::Part,
                Lost::Part if read.date.is_zero() => Lost::Nothing,
                lost => lost,
            };
            ConvertedValue {
                problem: wrong("date", &value, lost),
                value: Value::Date(read.date),
            }
        }
    }
}

pub(super) fn datetime(value: Value, decimals: u8, context: &ConvertContext<'_>) -> ConvertedValue {
    let fractions = context.date_modes.fractions;
    let fit = |(read, lost): (DateTime, Lost)| match read.with_decimals(decimals, fractions) {
        Some(fitted) => Some((fitted, lost)),
        // Rounding went beyond the last day. A date with a zero part is not rounded to the next day at all.
        None if read.date.month != 0 && read.date.day != 0 => Some((read.truncated(decimals), Lost::Clipped)),
        None => None,
    };
    match read_datetime(&value, context, context.date_modes).and_then(fit) {
        None => ConvertedValue {
            problem: wrong("datetime", &value, Lost::Rest),
            value: Value::DateTime(DateTime {
                decimals,
                ..DateTime::ZERO
            }),
        },
        Some((read, lost)) => ConvertedValue {
            problem: wrong("datetime", &value, lost),
            value: Value::DateTime(read),
        },
    }
}

pub(super) fn time(value: Value, decimals: u8, context: &ConvertContext<'_>) -> ConvertedValue {
    let fractions = context.date_modes.fractions;
    let fit = |(read, lost): (Time, Lost)| match read.with_decimals(decimals, fractions) {
        Some(fitted) => (fitted, lost),
        None => (read.truncated(decimals), Lost::Clipped),
    };
    match read_time(&value, context).map(fit) {
        None => ConvertedValue {
            problem: wrong("time", &value, Lost::Rest),
            value: Value::Time(Time::from_micros(0, decimals)),
        },
        Some((read, lost)) => ConvertedValue {
            problem: wrong("time", &value, lost),
            value: Value::Time(read),
        },
    }
}

pub(super) fn timestamp(value: Value, decimals: u8, context: &ConvertContext<'_>) -> ConvertedValue {
    let zero = Value::Timestamp(Timestamp::new(0, 0, decimals));
    // Copy an instant without converting it to local time, which may be ambiguous.
    if let Value::Timestamp(instant) = value {
        let fitted = instant.with_decimals(decimals, context.date_modes.fractions);
        return match fitted {
            Some(fitted) => ConvertedValue::fine(Value::Timestamp(fitted)),
            // The last second is not rounded to the next, which there is not.
            None => ConvertedValue {
                problem: wrong("datetime", &value, Lost::Clipped),
                value: (instant.with_decimals(decimals, Fractions::Cut)).map_or(zero, Value::Timestamp),
            },
        };
    }
    let modes = DateModes {
        no_zero_in_date: true,
        ..context.date_modes
    };
    let Some((read, lost)) = read_datetime(&value, context, modes) else {
        return ConvertedValue {
            problem: wrong("datetime", &value, Lost::Rest),
            value: zero,
        };
    };
    if read.is_zero() {
        return ConvertedValue {
            problem: wrong("datetime", &value, lost),
            value: zero,
        };
    }
    // Rounded before the zone is applied: a time that is rounded into a gap of its clock is in the gap.
    let Some(read) = read.with_decimals(decimals, context.date_modes.fractions) else {
        return ConvertedValue {
            problem: wrong("datetime", &value, Lost::Clipped),
            value: zero,
        };
    };
    let Some(seconds) = context.time_zone.to_utc(read) else {
        return ConvertedValue {
            problem: wrong("datetime", &value, Lost::Rest),
            value: zero,
        };
    };
    match u32::try_from(seconds) {
        Ok(stored) if (1..=Timestamp::SECONDS_MAX).contains(&stored) => {
            let instant = Timestamp::new(stored, read.micros, decimals);
            // A local time that was skipped by the clock is stored as the second of the change.
            let skipped = context.time_zone.to_local(seconds) != DateTime { micros: 0, ..read };
            let lost = if skipped { lost.max(Lost::Skipped) } else { lost };
            ConvertedValue {
                problem: wrong("datetime", &value, lost),
                value: Value::Timestamp(instant),
            }
        }
        _ => ConvertedValue {
            problem: wrong("datetime", &value, Lost::Clipped),
            value: zero,
        },
    }
}
