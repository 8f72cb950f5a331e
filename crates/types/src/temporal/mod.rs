//! Dates, times and instants as in MariaDB: zero dates, times beyond a day, fractions of 0 to 6 digits.
//!
//! The types are plain values. Functions that depend on `sql_mode` (which unusual dates are allowed) take
//! [`DateModes`]; those that depend on the session's zone take a [`TimeZone`]. All types except [`Date`] include their
//! number of fraction digits for display; values that differ only in it are equal.

mod calendar;
mod interval;
mod parse;
mod time_zone;

pub use calendar::{
    DAY_NUMBER_MAX, WeekMode, date_from_day_number, day_number, day_of_year, days_in_month, days_in_year,
    last_day, week_and_year, weekday,
};
pub use interval::{Interval, IntervalUnit, add_interval, add_interval_to_time};
pub use parse::{
    ExtractedPart, IntervalOrDateTime, ParseResult, ParsedTemporal, datetime_from_number,
    interval_from_number, parse_datetime, parse_day_second, parse_extract_source, parse_time,
    parse_time_under, time_from_number,
};
pub use time_zone::TimeZone;

use std::cmp::Ordering;
use std::fmt;
use std::hash::{Hash, Hasher};

/// Allowed unusual dates and the treatment of fractions (from `sql_mode`).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
pub struct DateModes {
    /// `NO_ZERO_DATE`: 0000-00-00 is not allowed.
    pub no_zero_date: bool,
    /// `NO_ZERO_IN_DATE`: a zero month or day is not allowed.
    pub no_zero_in_date: bool,
    /// `ALLOW_INVALID_DATES`: February 31st is allowed.
    pub allow_invalid_dates: bool,
    /// Treatment of fraction digits that do not fit.
    pub fractions: Fractions,
}

/// Treatment of digits of a fraction of a second that do not fit.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
pub enum Fractions {
    /// They are cut off.
    #[default]
    Cut,
    /// `TIME_ROUND_FRACTIONAL`: they are rounded, half away from zero.
    Rounded,
}

impl Fractions {
    /// Reduces microseconds to `decimals` digits of fraction.
    fn fit(self, micros: i128, decimals: u8) -> i128 {
        let unit = i128::from(micros_unit(decimals));
        let micros = match self {
            Fractions::Cut => micros,
            Fractions::Rounded => micros + micros.signum() * (unit / 2),
        };
        micros / unit * unit
    }
}

/// A date. Parts may be zero (`2024-00-00`), and February 31st is possible under ALLOW_INVALID_DATES.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Default)]
pub struct Date {
    /// 0 to 9999.
    pub year: u16,
    /// 0 to 12.
    pub month: u8,
    /// 0 to 31.
    pub day: u8,
}

/// A signed time of up to 838:59:59.999999.
#[derive(Clone, Copy, Default)]
pub struct Time {
    micros: i64,
    decimals: u8,
}

/// A date and a time of day without a time zone.
#[derive(Clone, Copy, Default)]
pub struct DateTime {
    /// The date.
    pub date: Date,
    /// 0 to 23.
    pub hour: u8,
    /// 0 to 59.
    pub minute: u8,
    /// 0 to 59.
    pub second: u8,
    /// 0 to 999,999.
    pub micros: u32,
    /// Number of fraction digits to show, 0 to 6.
    pub decimals: u8,
}

/// An instant, the value of a TIMESTAMP column. Zero stands for `0000-00-00 00:00:00`.
#[derive(Clone, Copy, Default)]
pub struct Timestamp {
    /// Seconds since 1970-01-01 00:00:00 UTC, up to 2^31 − 1.
    pub seconds: u32,
    /// 0 to 999,999.
    pub micros: u32,
    /// Number of fraction digits to show, 0 to 6.
    pub decimals: u8,
}

/// Returns 10^(6 − decimals), the unit of a fraction with this many digits in microseconds.
pub(crate) const fn micros_unit(decimals: u8) -> u32 {
    match decimals {
        0 => 1_000_000,
        1 => 100_000,
        2 => 10_000,
        3 => 1_000,
        4 => 100,
        5 => 10,
        _ => 1,
    }
}

/// Appends `number` with at least `width` digits.
pub fn append_padded(number: u32, width: usize, out: &mut Vec<u8>) {
    let mut digits = [b'0'; 10];
    let mut rest = number;
    let mut at = digits.len();
    while rest > 0 || digits.len() - at < width {
        at -= 1;
        digits[at] = b'0' + (rest % 10) as u8;
        rest /= 10;
    }
    out.extend_from_slice(&digits[at..]);
}

/// Appends the point and `decimals` digits of a fraction; nothing for 0.
fn append_fraction(micros: u32, decimals: u8, out: &mut Vec<u8>) {
    if decimals > 0 {
        out.push(b'.');
        append_padded(micros / micros_unit(decimals), usize::from(decimals), out);
    }
}

impl Date {
    /// The date `0000-00-00`.
    pub const ZERO: Date = Date {
        year: 0,
        month: 0,
        day: 0,
    };

    /// Creates a date without checking it.
    pub const fn new(year: u16, month: u8, day: u8) -> Self {
        Date { year, month, day }
    }

    /// Returns whether it is `0000-00-00`.
    pub const fn is_zero(self) -> bool {
        self.year == 0 && self.month == 0 && self.day == 0
    }

    /// Returns whether the modes allow storing it: parts in range, and no unusual date that they forbid.
    pub fn is_valid(self, modes: DateModes) -> bool {
        if self.is_zero() {
            return !modes.no_zero_date;
        }
        if self.year > 9999 || self.month > 12 || self.day > 31 {
            return false;
        }
        if self.month == 0 || self.day == 0 {
            return !modes.no_zero_in_date;
        }
        modes.allow_invalid_dates || self.day <= days_in_month(self.year, self.month)
    }

    /// Appends the text: `2024-01-31`.
    pub fn append_text(self, out: &mut Vec<u8>) {
        append_padded(u32::from(self.year), 4, out);
        out.push(b'-');
        append_padded(u32::from(self.month), 2, out);
        out.push(b'-');
        append_padded(u32::from(self.day), 2, out);
    }

    /// Returns the date as a number: 20240131.
    pub fn to_number(self) -> u32 {
        u32::from(self.year) * 10_000 + u32::from(self.month) * 100 + u32::from(self.day)
    }

    /// Returns midnight of this date.
    pub fn at_midnight(self) -> DateTime {
        DateTime {
            date: self,
            ..DateTime::default()
        }
    }
}

impl Time {
    /// Maximum number of whole hours.
    pub const HOURS_MAX: u64 = 838;
    /// Maximum, 838:59:59.999999, in microseconds.
    pub const MICROS_MAX: i64 = ((838 * 60 + 59) * 60 + 59) * 1_000_000 + 999_999;
    /// The time 00:00:00.
    pub const ZERO: Time = Time {
        micros: 0,
        decimals: 0,
    };

    /// Creates a time from microseconds, clipped to MariaDB's range, that shows `decimals` digits of fraction.
    pub fn from_micros(micros: i64, decimals: u8) -> Self {
        Time {
            micros: micros.clamp(-Self::MICROS_MAX, Self::MICROS_MAX),
            decimals: decimals.min(6),
        }
    }

    /// Returns the whole time in microseconds.
    pub const fn micros(self) -> i64 {
        self.micros
    }

    /// Returns the number of fraction digits to show, 0 to 6.
    pub const fn decimals(self) -> u8 {
        self.decimals
    }

    /// Returns whether it is below zero.
    pub const fn is_negative(self) -> bool {
        self.micros < 0
    }

    /// Returns the hours without sign, up to 838.
    pub const fn hours(self) -> u32 {
        (self.micros.unsigned_abs() / 3_600_000_000) as u32
    }

    /// Returns the minutes, 0 to 59.
    pub const fn minute(self) -> u32 {
        (self.micros.unsigned_abs() / 60_000_000 % 60) as u32
    }

    /// Returns the seconds, 0 to 59.
    pub const fn second(self) -> u32 {
        (self.micros.unsigned_abs() / 1_000_000 % 60) as u32
    }

    /// Returns the fraction in microseconds, without sign.
    pub const fn microsecond(self) -> u32 {
        (self.micros.unsigned_abs() % 1_000_000) as u32
    }

    /// Returns the time cut (towards zero) to `decimals` digits of fraction.
    pub fn truncated(self, decimals: u8) -> Self {
        let unit = i64::from(micros_unit(decimals));
        Time {
            micros: self.micros / unit * unit,
            decimals: decimals.min(6),
        }
    }

    /// Returns the time with `decimals` digits of fraction, or `None` if rounding exceeds the range of TIME.
    pub fn with_decimals(self, decimals: u8, fractions: Fractions) -> Option<Self> {
        let micros = fractions.fit(i128::from(self.micros), decimals) as i64;
        (micros.unsigned_abs() <= Time::MICROS_MAX as u64).then_some(Time {
            micros,
            decimals: decimals.min(6),
        })
    }

    /// Appends the text: `-12:30:00.5`.
    pub fn append_text(self, out: &mut Vec<u8>) {
        if self.micros < 0 {
            out.push(b'-');
        }
        append_padded(self.hours(), 2, out);
        out.push(b':');
        append_padded(self.minute(), 2, out);
        out.push(b':');
        append_padded(self.second(), 2, out);
        append_fraction(self.microsecond(), self.decimals, out);
    }

    /// Returns the time as a number without its fraction: -123000 for -12:30:00.
    pub fn to_number(self) -> i64 {
        let number =
            i64::from(self.hours()) * 10_000 + i64::from(self.minute()) * 100 + i64::from(self.second());
        if self.micros < 0 { -number } else { number }
    }
}

impl DateTime {
    /// The datetime `0000-00-00 00:00:00`.
    pub const ZERO: DateTime = DateTime {
        date: Date::ZERO,
        hour: 0,
        minute: 0,
        second: 0,
        micros: 0,
        decimals: 0,
    };

    /// Creates a datetime without a fraction, without checking it.
    pub const fn new(date: Date, hour: u8, minute: u8, second: u8) -> Self {
        DateTime {
            date,
            hour,
            minute,
            second,
            micros: 0,
            decimals: 0,
        }
    }

    /// Returns the datetime with this fraction.
    pub const fn with_micros(self, micros: u32, decimals: u8) -> Self {
        DateTime {
            micros,
            decimals,
            ..self
        }
    }

    /// Returns the datetime cut to `decimals` digits of fraction.
    pub fn truncated(self, decimals: u8) -> Self {
        let unit = micros_unit(decimals);
        DateTime {
            micros: self.micros / unit * unit,
            decimals: decimals.min(6),
            ..self
        }
    }

    /// Returns the datetime with `decimals` digits of fraction, or `None` if rounding exceeds the last day or would
    /// change a date with a zero part.
    pub fn with_decimals(self, decimals: u8, fractions: Fractions) -> Option<Self> {
        const DAY: i128 = 86_400_000_000;
        let of_day = i128::from(self.micros_of_day());
        let rounded = fractions.fit(of_day, decimals);
        if rounded >= DAY {
            let interval = Interval {
                months: 0,
                micros: rounded - of_day,
            };
            let next = add_interval(self, interval)?;
            return Some(next.truncated(decimals));
        }
        Some(DateTime::from_date_and_micros(
            self.date,
            rounded as i64,
            decimals.min(6),
        ))
    }

    /// Returns whether it is `0000-00-00 00:00:00`.
    pub fn is_zero(self) -> bool {
        self.date.is_zero() && self.micros_of_day() == 0
    }

    /// Returns the microseconds since midnight.
    pub fn micros_of_day(self) -> i64 {
        let seconds = (i64::from(self.hour) * 60 + i64::from(self.minute)) * 60 + i64::from(self.second);
        seconds * 1_000_000 + i64::from(self.micros)
    }

    /// Returns the time of day.
    pub fn time(self) -> Time {
        Time::from_micros(self.micros_of_day(), self.decimals)
    }

    /// Combines a date and a time of day in microseconds since midnight.
    pub fn from_date_and_micros(date: Date, micros_of_day: i64, decimals: u8) -> Self {
        debug_assert!((0..86_400_000_000).contains(&micros_of_day));
        let seconds = micros_of_day / 1_000_000;
        DateTime {
            date,
            hour: (seconds / 3600) as u8,
            minute: (seconds / 60 % 60) as u8,
            second: (seconds % 60) as u8,
            micros: (micros_of_day % 1_000_000) as u32,
            decimals,
        }
    }

    /// Appends the text: `2024-01-31 12:30:00.5`.
    pub fn append_text(self, out: &mut Vec<u8>) {
        self.date.append_text(out);
        out.push(b' ');
        append_padded(u32::from(self.hour), 2, out);
        out.push(b':');
        append_padded(u32::from(self.minute), 2, out);
        out.push(b':');
        append_padded(u32::from(self.second), 2, out);
        append_fraction(self.micros, self.decimals, out);
    }

    /// Returns the datetime as a number without its fraction: 20240131123000.
    pub fn to_number(self) -> i64 {
        let time = i64::from(self.hour) * 10_000 + i64::from(self.minute) * 100 + i64::from(self.second);
        i64::from(self.date.to_number()) * 1_000_000 + time
    }

    fn key(&self) -> (Date, u8, u8, u8, u32) {
        (self.date, self.hour, self.minute, self.second, self.micros)
    }
}

impl Timestamp {
    /// The zero timestamp, `0000-00-00 00:00:00`.
    pub const ZERO: Timestamp = Timestamp {
        seconds: 0,
        micros: 0,
        decimals: 0,
    };
    /// Last second of a TIMESTAMP column: 2038-01-19 03:14:07 UTC.
    pub const SECONDS_MAX: u32 = i32::MAX as u32;

    /// Creates an instant.
    pub const fn new(seconds: u32, micros: u32, decimals: u8) -> Self {
        Timestamp {
            seconds,
            micros,
            decimals,
        }
    }

    /// Returns whether it is `0000-00-00 00:00:00`.
    pub const fn is_zero(self) -> bool {
        self.seconds == 0 && self.micros == 0
    }

    /// Returns the instant cut to `decimals` digits of fraction.
    pub fn truncated(self, decimals: u8) -> Self {
        let unit = micros_unit(decimals);
        Timestamp {
            micros: self.micros / unit * unit,
            decimals: decimals.min(6),
            ..self
        }
    }

    /// Returns the instant with `decimals` digits of fraction, or `None` if rounding exceeds the last second.
    pub fn with_decimals(self, decimals: u8, fractions: Fractions) -> Option<Self> {
        let micros = fractions.fit(i128::from(self.micros), decimals) as u32;
        let seconds = self.seconds.checked_add(micros / 1_000_000)?;
        (seconds <= Timestamp::SECONDS_MAX)
            .then(|| Timestamp::new(seconds, micros % 1_000_000, decimals.min(6)))
    }

    /// Converts to local time in the zone. The zero timestamp becomes the zero date.
    pub fn to_datetime(self, zone: &TimeZone) -> DateTime {
        if self.is_zero() {
            return DateTime {
                decimals: self.decimals,
                ..DateTime::ZERO
            };
        }
        zone.to_local(i64::from(self.seconds))
            .with_micros(self.micros, self.decimals)
    }

    fn key(&self) -> (u32, u32) {
        (self.seconds, self.micros)
    }
}

macro_rules! compare_by {
    ($type:ty, $value:ident => $key:expr) => {
        impl PartialEq for $type {
            fn eq(&self, other: &Self) -> bool {
                self.cmp(other) == Ordering::Equal
            }
        }
        impl Eq for $type {}
        impl PartialOrd for $type {
            fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
                Some(self.cmp(other))
            }
        }
        impl Ord for $type {
            fn cmp(&self, other: &Self) -> Ordering {
                let key = |$value: &Self| $key;
                key(self).cmp(&key(other))
            }
        }
        impl Hash for $type {
            fn hash<H: Hasher>(&self, state: &mut H) {
                let key = |$value: &Self| $key;
                key(self).hash(state);
            }
        }
    };
}
compare_by!(Time, value => value.micros);
compare_by!(DateTime, value => value.key());
compare_by!(Timestamp, value => value.key());

macro_rules! display_by_text {
    ($type:ty) => {
        impl fmt::Display for $type {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                let mut out = Vec::with_capacity(26);
                self.append_text(&mut out);
                f.write_str(&String::from_utf8_lossy(&out))
            }
        }
    };
}
display_by_text!(Date);
display_by_text!(Time);
display_by_text!(DateTime);

impl fmt::Debug for Time {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

impl fmt::Debug for DateTime {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

impl fmt::Debug for Timestamp {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "@{}.{:06}", self.seconds, self.micros)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn prints_as_mariadb() {
        assert_eq!(Date::new(2024, 1, 31).to_string(), "2024-01-31");
        assert_eq!(Date::ZERO.to_string(), "0000-00-00");
        assert_eq!(Time::from_micros(-45_000_500_000, 1).to_string(), "-12:30:00.5");
        assert_eq!(Time::from_micros(i64::MAX, 6).to_string(), "838:59:59.999999");
        let dt = DateTime::new(Date::new(1, 2, 3), 4, 5, 6).with_micros(7, 6);
        assert_eq!(dt.to_string(), "0001-02-03 04:05:06.000007");
        assert_eq!(dt.truncated(3).to_string(), "0001-02-03 04:05:06.000");
        assert_eq!(dt.to_number(), 10203040506);
    }

    #[test]
    fn the_number_of_decimals_does_not_affect_comparison() {
        assert_eq!(Time::from_micros(1_000_000, 0), Time::from_micros(1_000_000, 6));
        assert_eq!(
            DateTime::ZERO,
            DateTime {
                decimals: 3,
                ..DateTime::ZERO
            }
        );
    }

    #[test]
    fn modes_decide_which_unusual_dates_are_valid() {
        let strict = DateModes {
            no_zero_date: true,
            no_zero_in_date: true,
            ..DateModes::default()
        };
        for (date, lax, is_strict) in [
            (Date::ZERO, true, false),
            (Date::new(2024, 0, 0), true, false),
            (Date::new(2024, 2, 29), true, true),
            (Date::new(2023, 2, 29), false, false),
            (Date::new(2023, 13, 1), false, false),
        ] {
            assert_eq!(date.is_valid(DateModes::default()), lax, "{date}");
            assert_eq!(date.is_valid(strict), is_strict, "{date}");
        }
        let invalid = DateModes {
            allow_invalid_dates: true,
            ..strict
        };
        assert!(Date::new(2023, 2, 31).is_valid(invalid));
    }
}
