//! Conversion of numbers to dates, times and intervals.

use super::reader::Fraction;
use super::time::{IntervalOrDateTime, ReadTime, time_from_parts};
use super::{ParseResult, YEAR_PIVOT};
use crate::temporal::{Date, DateModes, DateTime, Time};

/// Reads a number such as 20240131 or 240131123000. `micros` is the fraction of the number.
pub fn datetime_from_number(number: i64, micros: u32, modes: DateModes) -> Option<DateTime> {
    const PIVOT: i64 = YEAR_PIVOT as i64;
    const DAY: i64 = 1_000_000;
    const SHORT_20XX_MAX: i64 = (PIVOT - 1) * 10_000 + 1231;
    const SHORT_19XX_MIN: i64 = PIVOT * 10_000 + 101;
    const LONG_20XX_MAX: i64 = (PIVOT - 1) * 10_000_000_000 + 1_231_235_959;
    const LONG_19XX_MIN: i64 = PIVOT * 10_000_000_000 + 101_000_000;
    let full = match number {
        // YYMMDD
        101..=SHORT_20XX_MAX => (number + 20_000_000) * DAY,
        SHORT_19XX_MIN..=991_231 => (number + 19_000_000) * DAY,
        // YYYYMMDD
        10_000_101..=99_991_231 => number * DAY,
        // YYMMDDhhmmss
        101_000_000..=LONG_20XX_MAX => number + 20_000_000_000_000,
        LONG_19XX_MIN..=991_231_235_959 => number + 19_000_000_000_000,
        // YYYYMMDDhhmmss
        0 | 991_231_235_960.. => number,
        _ => return None,
    };
    let (day, time) = (full / DAY, full % DAY);
    let year = u16::try_from(day / 10_000).ok().filter(|&year| year <= 9999)?;
    let date = Date::new(year, (day / 100 % 100) as u8, (day % 100) as u8);
    let (hour, minute, second) = (time / 10_000, time / 100 % 100, time % 100);
    (date.is_valid(modes) && hour < 24 && minute < 60 && second < 60)
        .then(|| DateTime::new(date, hour as u8, minute as u8, second as u8).with_micros(micros, 0))
}

/// Reads a number such as -123000; it is clipped beyond 838:59:59. A number with more digits than a time is read as a
/// datetime. `micros` is the fraction of the number.
pub fn time_from_number(number: i64, micros: u32) -> Option<ParseResult<Time>> {
    // A number beyond the last datetime is clipped like a time, not read as a datetime.
    const LAST_DATETIME: i64 = 99_991_231_235_959;
    if number > LAST_DATETIME {
        let (value, _) = time_from_parts(false, u64::MAX, 0, 0, 0, 6);
        return Some(ParseResult {
            clipped: true,
            ..ParseResult::whole(value)
        });
    }
    if number > 9_999_999 {
        return datetime_from_number(number, micros, DateModes::default())
            .map(|v| ParseResult::whole(v.time()));
    }
    let magnitude = number.unsigned_abs();
    if magnitude % 100 > 59 || magnitude / 100 % 100 > 59 {
        return None;
    }
    if magnitude > 9_999_999 {
        let (value, clipped) = time_from_parts(true, u64::MAX, 0, 0, 0, 6);
        return Some(ParseResult {
            clipped,
            ..ParseResult::whole(value)
        });
    }
    let (hours, minutes, seconds) = (magnitude / 10_000, magnitude / 100 % 100, magnitude % 100);
    let (value, clipped) = time_from_parts(number < 0, hours, minutes, seconds, micros, 0);
    Some(ParseResult {
        clipped,
        ..ParseResult::whole(value)
    })
}

/// Reads a number as EXTRACT and ADDTIME do: 9000000 is 900 hours, and only a number of more than twelve digits is a
/// datetime. `micros` is the fraction of the number. Returns `None` if the number is out of range.
pub fn interval_from_number(number: i64, micros: u32) -> Option<IntervalOrDateTime> {
    const LONGEST: i64 = 999_999_995_959;
    const LAST_DATETIME: i64 = 99_991_231_235_959;
    if (LONGEST + 1..=LAST_DATETIME).contains(&number) {
        let datetime = datetime_from_number(number, micros, DateModes::default())?;
        return Some(IntervalOrDateTime::DateTime(ParseResult::whole(datetime)));
    }
    let magnitude = number.unsigned_abs();
    let read = ReadTime {
        negative: number < 0,
        hours: magnitude / 10_000,
        minutes: magnitude / 100 % 100,
        seconds: magnitude % 100,
        fraction: Fraction {
            micros,
            ..Fraction::default()
        },
        truncated: false,
    };
    if read.minutes > 59 || read.seconds > 59 {
        return None;
    }
    read.into_micros().map(IntervalOrDateTime::Interval)
}
