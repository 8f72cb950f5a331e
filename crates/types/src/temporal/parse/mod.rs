//! Text and numbers read as temporal values, as liberally as MariaDB does.
//!
//! A date may have any punctuation between its parts (`2024/1/31`, `24.01.31`), or none at all (`20240131123456`); a year of two digits is
//! 1970 to 2069. A time may have days in front (`1 12:30`), be a number (`123000`), or stand in a datetime. What follows the value
//! and was not understood is reported, not refused: the caller decides by `sql_mode`.

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

/// What was read, and what was lost on the way.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Parsed<T> {
    /// The value.
    pub value: T,
    /// The rest of the text was not understood: 1265 or 1292 by the caller.
    pub truncated: bool,
    /// A time was past ±838:59:59 and was clipped: 1264 or 1292 by the caller.
    pub clipped: bool,
    /// The fraction had more than six digits: a note.
    pub fraction_cut: bool,
    /// What was cut is half a microsecond or more.
    pub rest_is_half: bool,
    /// Whether the text had a part for the time of day.
    pub has_time: bool,
}

/// What a text that may be a time or a datetime turned out to be.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ParsedTemporal {
    /// `12:30`
    Time(Parsed<Time>),
    /// `2024-01-31 12:30`
    DateTime(Parsed<DateTime>),
}

impl<T> Parsed<T> {
    /// A value of which nothing was lost.
    pub fn whole(value: T) -> Self {
        Parsed {
            value,
            truncated: false,
            clipped: false,
            fraction_cut: false,
            rest_is_half: false,
            has_time: true,
        }
    }
}

impl Parsed<DateTime> {
    /// The same, with what is left of the fraction rounded into it.
    fn fitted(self, fractions: Fractions) -> Self {
        let value = self.value;
        if fractions == Fractions::Cut || !self.rest_is_half {
            return self;
        }
        let next = Interval { months: 0, micros: 1 };
        Parsed {
            value: add_interval(value, next).map_or(value, |later| later.truncated(value.decimals)),
            ..self
        }
    }
}

impl Parsed<Time> {
    /// The same, with what is left of the fraction rounded into it.
    fn fitted(self, fractions: Fractions) -> Self {
        let micros = self.value.micros();
        if fractions == Fractions::Cut || !self.rest_is_half || micros.abs() >= Time::MICROS_MAX {
            return self;
        }
        let step = if micros < 0 { -1 } else { 1 };
        Parsed {
            value: Time::from_micros(micros + step, self.value.decimals()),
            ..self
        }
    }
}

/// Years of two digits below this are 20xx.
const YEAR_PIVOT: u32 = 70;
