//! `date + INTERVAL n unit`.

use super::{DateTime, Time};

/// The units of an INTERVAL.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[allow(missing_docs)] // MariaDB's keywords
pub enum IntervalUnit {
    Year,
    Quarter,
    Month,
    Week,
    Day,
    Hour,
    Minute,
    Second,
    Microsecond,
    YearMonth,
    DayHour,
    DayMinute,
    DaySecond,
    DayMicrosecond,
    HourMinute,
    HourSecond,
    HourMicrosecond,
    MinuteSecond,
    MinuteMicrosecond,
    SecondMicrosecond,
}

/// An amount of time: months (of uneven length) and microseconds.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
pub struct Interval {
    /// Years and months.
    pub months: i64,
    /// Days and below, in microseconds.
    pub micros: i128,
}

impl Interval {
    /// Reads the text of `INTERVAL 'text' unit`, such as `'1:30'` for MINUTE_SECOND; parts that are missing are those on the left.
    pub fn parse(_text: &str, _unit: IntervalUnit) -> Interval {
        todo!()
    }

    /// `INTERVAL number unit`, for units of one part.
    pub fn from_number(_number: i64, _unit: IntervalUnit) -> Interval {
        todo!()
    }

    /// The other way.
    pub fn negated(self) -> Interval {
        Interval {
            months: -self.months,
            micros: -self.micros,
        }
    }
}

/// Adds an interval; a day past the month's end becomes its last day. `None` outside the years 0 to 9999.
pub fn add_interval(_datetime: DateTime, _interval: Interval) -> Option<DateTime> {
    todo!()
}

/// Adds an interval to a time. `None` past 838:59:59, or for an interval with months.
pub fn add_interval_to_time(_time: Time, _interval: Interval) -> Option<Time> {
    todo!()
}
