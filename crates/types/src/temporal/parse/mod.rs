//! Parsing of text and numbers as temporal values, as permissive as MariaDB's.
//!
//! A date may have any punctuation between its parts (`2024/1/31`, `24.01.31`), or none at all (`20240131123456`). A
//! year of two digits is 1970 to 2069. A time may have days before it (`1 12:30`), be a number (`123000`), or be part
//! of a datetime. Text after the value that was not parsed is reported rather than rejected: the caller decides by
//! `sql_mode`.

mod datetime;
mod number;
mod reader;
#[cfg(test)]
mod tests;
mod time;

pub use datetime::parse_datetime;
pub use number::{datetime_from_number, interval_from_number, time_from_number};
pub use time::{
    ExtractedPart, IntervalOrDateTime, parse_day_second, parse_extract_source, parse_time, parse_time_under,
};

use super::{DateTime, Fractions, Interval, Time, add_interval};

/// A parsed value and what was lost.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ParseResult<T> {
    /// The value.
    pub value: T,
    /// The rest of the text was not parsed: the caller reports 1265 or 1292.
    pub truncated: bool,
    /// A time was beyond ±838:59:59 and was clipped: the caller reports 1264 or 1292.
    pub clipped: bool,
    /// The fraction had more than six digits: the caller reports a note.
    pub fraction_cut: bool,
    /// The digits that were cut are half a microsecond or more.
    pub rest_is_half: bool,
    /// The text had a time of day.
    pub has_time: bool,
}

/// Result for a text that may be a time or a datetime.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ParsedTemporal {
    /// A time such as `12:30`.
    Time(ParseResult<Time>),
    /// A datetime such as `2024-01-31 12:30`.
    DateTime(ParseResult<DateTime>),
}

impl<T> ParseResult<T> {
    /// Creates a result without losses.
    pub fn whole(value: T) -> Self {
        ParseResult {
            value,
            truncated: false,
            clipped: false,
            fraction_cut: false,
            rest_is_half: false,
            has_time: true,
        }
    }
}

impl ParseResult<DateTime> {
    /// Returns the value rounded by the digits that were cut.
    fn fitted(self, fractions: Fractions) -> Self {
        let value = self.value;
        if fractions == Fractions::Cut || !self.rest_is_half {
            return self;
        }
        let next = Interval { months: 0, micros: 1 };
        ParseResult {
            value: add_interval(value, next).map_or(value, |later| later.truncated(value.decimals)),
            ..self
        }
    }
}

impl ParseResult<Time> {
    /// Returns the value rounded by the digits that were cut.
    fn fitted(self, fractions: Fractions) -> Self {
        let micros = self.value.micros();
        if fractions == Fractions::Cut || !self.rest_is_half || micros.abs() >= Time::MICROS_MAX {
            return self;
        }
        let step = if micros < 0 { -1 } else { 1 };
        ParseResult {
            value: Time::from_micros(micros + step, self.value.decimals()),
            ..self
        }
    }
}

/// Years of two digits below this number are 20xx.
const YEAR_PIVOT: u32 = 70;
