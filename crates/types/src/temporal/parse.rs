//! Text and numbers read as temporal values, as liberally as MariaDB does.

use super::{DateModes, DateTime, Time};

/// What was read, and whether something was left over or lost on the way.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Parsed<T> {
    /// The value.
    pub value: T,
    /// The rest of the text was not understood, or a time was clipped: 1265 or 1292 by the caller.
    pub truncated: bool,
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

/// Reads a date with or without a time. `None` if it is none, or one that the modes forbid.
pub fn parse_datetime(_text: &str, _modes: DateModes) -> Option<Parsed<DateTime>> {
    todo!()
}

/// Reads a time (`'-1 12:30:00.5'`, `'123000'`), or a datetime where the text looks like one.
pub fn parse_time(_text: &str) -> Option<ParsedTemporal> {
    todo!()
}

/// Reads a number such as 20240131 or 240131123000.
pub fn datetime_from_number(_number: i64, _micros: u32, _modes: DateModes) -> Option<DateTime> {
    todo!()
}

/// Reads a number such as -123000; past 838:59:59 it is clipped and truncated.
pub fn time_from_number(_number: i64, _micros: u32) -> Option<Parsed<Time>> {
    todo!()
}
