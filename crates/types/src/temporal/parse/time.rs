//! Parsing of text as a time, as an interval of days to seconds, or as a datetime if it looks like one.

use super::datetime::{NoDateTime, read_datetime};
use super::reader::{Accept, Body, Fraction, Reader, find_body};
use super::{ParseResult, ParsedTemporal};
use crate::temporal::{DateModes, DateTime, Time};

/// Maximum number of hours in an interval of days to seconds: 9999 years and a day.
const INTERVAL_HOURS_MAX: u64 = 87_649_415;

/// Kind of value that a text is parsed for.
#[derive(Clone, Copy, PartialEq, Eq)]
enum ParseTarget {
    /// TIME: '10-11-12' is ten seconds and unparsed text.
    Time,
    /// Hours, minutes and seconds of EXTRACT: '10-11-12' is a date.
    IntervalHours,
    /// Days of EXTRACT: '101112' is a date, too.
    IntervalDays,
}

/// Returns whether a text may be a datetime where another value is expected.
fn is_datetime_candidate(bytes: &[u8], target: ParseTarget) -> bool {
    // The shortest date is '1-1-1'. For TIME, a blank or a T must follow it.
    let shortest = if target == ParseTarget::Time { 6 } else { 5 };
    if bytes.len() >= 12 {
        return true;
    }
    if bytes.len() < shortest && target != ParseTarget::IntervalDays {
        return false;
    }
    let mut has_punctuation = false;
    for byte in bytes {
        match byte {
            b'T' => return true,
            // A blank may separate date and time, or days and hours.
            b' ' => return has_punctuation,
            b':' => has_punctuation = true,
            byte if byte.is_ascii_punctuation() => {
                if target != ParseTarget::Time {
                    return true;
                }
                has_punctuation = true;
            }
            _ => {}
        }
    }
    target == ParseTarget::IntervalDays && !has_punctuation
}

/// Parses a time (`'-1 12:30:00.5'`, `'123000'`), or a datetime if the text looks like one.
pub fn parse_time(text: &str) -> Option<ParsedTemporal> {
    parse_time_under(text, DateModes::default())
}

/// Like [`parse_time`], but a datetime's date must be allowed by the modes.
pub fn parse_time_under(text: &str, modes: DateModes) -> Option<ParsedTemporal> {
    match read_time_or_datetime(text, modes, ParseTarget::Time)? {
        TimeOrDateTime::DateTime(read) => Some(ParsedTemporal::DateTime(read.fitted(modes.fractions))),
        TimeOrDateTime::Time(read) => Some(ParsedTemporal::Time(read.into_time().fitted(modes.fractions))),
    }
}

/// An interval of days to seconds, which may exceed TIME, or a datetime if the text looks like one.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum IntervalOrDateTime {
    /// An interval such as `900:00:00` or `40 12:00:00`, in microseconds.
    Interval(ParseResult<i64>),
    /// A datetime such as `2024-01-31 12:30`.
    DateTime(ParseResult<DateTime>),
}

/// Parts that EXTRACT takes from a text. They decide which texts are dates.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ExtractedPart {
    /// Hours, minutes, seconds, microseconds.
    Time,
    /// Days, or days and hours.
    Days,
}

/// Parses the argument of EXTRACT.
pub fn parse_extract_source(text: &str, modes: DateModes, part: ExtractedPart) -> Option<IntervalOrDateTime> {
    let target = match part {
        ExtractedPart::Time => ParseTarget::IntervalHours,
        ExtractedPart::Days => ParseTarget::IntervalDays,
    };
    Some(match read_time_or_datetime(text, modes, target)? {
        TimeOrDateTime::DateTime(read) => IntervalOrDateTime::DateTime(read),
        TimeOrDateTime::Time(read) => IntervalOrDateTime::Interval(read.into_micros()?),
    })
}

/// Parses an interval of days to seconds for ADDTIME. The result is in microseconds. Returns `None` if the text looks
/// like a date.
pub fn parse_day_second(text: &str) -> Option<ParseResult<i64>> {
    let body = find_body(text)?;
    if is_datetime_candidate(body.bytes, ParseTarget::Time)
        && let (Ok(_), _) = read_datetime(&body, DateModes::default(), Accept::DateTimeInTime)
    {
        return None;
    }
    let (read, rest) = read_time(&body)?;
    // Only the first number of '2001-01-01' would be parsed.
    match rest.first() {
        Some(b'-') => None,
        _ => read.into_micros(),
    }
}

/// A parsed time of any length.
pub(super) struct ReadTime {
    pub negative: bool,
    /// Hours, with those of the days.
    pub hours: u64,
    pub minutes: u64,
    pub seconds: u64,
    pub fraction: Fraction,
    pub truncated: bool,
}

impl ReadTime {
    fn parsed<T>(&self, value: T) -> ParseResult<T> {
        ParseResult {
            value,
            truncated: self.truncated,
            clipped: self.hours > Time::HOURS_MAX,
            fraction_cut: self.fraction.cut,
            rest_is_half: self.fraction.rest_is_half,
            has_time: true,
        }
    }

    pub fn into_time(self) -> ParseResult<Time> {
        let (value, _) = time_from_parts(
            self.negative,
            self.hours,
            self.minutes,
            self.seconds,
            self.fraction.micros,
            self.fraction.decimals,
        );
        self.parsed(value)
    }

    pub fn into_micros(self) -> Option<ParseResult<i64>> {
        if self.hours > INTERVAL_HOURS_MAX {
            return None;
        }
        let seconds = self.hours * 3600 + self.minutes * 60 + self.seconds;
        let micros = seconds as i64 * 1_000_000 + i64::from(self.fraction.micros);
        Some(self.parsed(if self.negative { -micros } else { micros }))
    }
}

enum TimeOrDateTime {
    Time(ReadTime),
    DateTime(ParseResult<DateTime>),
}

fn read_time_or_datetime(text: &str, modes: DateModes, target: ParseTarget) -> Option<TimeOrDateTime> {
    let body = find_body(text)?;
    if is_datetime_candidate(body.bytes, target) {
        let (read, rest) = read_datetime(&body, modes, Accept::DateTimeInTime);
        // A date may also be a time if it contains a colon and no T.
        let seen = &body.bytes[..body.bytes.len() - rest.len()];
        let may_be_time = seen.contains(&b':') && !seen.contains(&b'T');
        match read {
            Ok(read) if read.has_time || !may_be_time => {
                return (!body.negative).then_some(TimeOrDateTime::DateTime(read));
            }
            Err(NoDateTime::Invalid { has_time }) if has_time || !may_be_time => return None,
            // For the days of EXTRACT, a number is a date or invalid.
            Err(NoDateTime::Other)
                if target == ParseTarget::IntervalDays
                    && rest.is_empty()
                    && seen
                        .iter()
                        .all(|byte| *byte != b'T' && !byte.is_ascii_punctuation()) =>
            {
                return None;
            }
            _ => {}
        }
    }
    let (read, _) = read_time(&body)?;
    Some(TimeOrDateTime::Time(read))
}

/// Parses `[days ]hours:minutes:seconds.fraction`, or a number such as 123000. Also returns the rest of the text.
fn read_time<'a>(body: &Body<'a>) -> Option<(ReadTime, &'a [u8])> {
    const NUMBER_MAX: u64 = 42_949_672_955_958;
    let mut reader = Reader::new(body.bytes);
    let (number, _) = reader.digits(usize::MAX);
    if number > NUMBER_MAX {
        return None;
    }
    let before_spaces = reader.bytes.len();
    reader.skip_spaces();
    let spaces = before_spaces - reader.bytes.len();
    // In order: days, hours, minutes, seconds.
    let mut parts = [0u64; 4];
    let mut next = None;
    if reader.bytes.len() > 1 && spaces > 0 && reader.peek_is_digit(0) {
        parts[0] = number;
        next = Some(1);
    } else if reader.peek() == Some(b':') && reader.peek_is_digit(1) {
        parts[1] = number;
        next = Some(2);
        reader.advance();
    } else {
        parts = [0, number / 10_000, number / 100 % 100, number % 100];
    }
    if let Some(mut part) = next {
        loop {
            (parts[part], _) = reader.digits(usize::MAX);
            part += 1;
            if part == 4 || reader.peek() != Some(b':') || !reader.peek_is_digit(1) {
                break;
            }
            reader.advance();
        }
    }
    let mut fraction = Fraction::default();
    if reader.peek() == Some(b'.') {
        reader.advance();
        fraction = reader.fraction();
    }
    let [days, hours, minutes, seconds] = parts;
    // A number with an exponent is not a time.
    let exponent = matches!(reader.bytes, [b'e' | b'E', digit, ..] if digit.is_ascii_digit())
        || matches!(reader.bytes, [b'e' | b'E', b'+' | b'-', digit, ..] if digit.is_ascii_digit());
    let hours = days.saturating_mul(24).saturating_add(hours);
    let most = u64::from(u32::MAX);
    if parts.iter().any(|&part| part > most) || hours > most || minutes > 59 || seconds > 59 || exponent {
        return None;
    }
    let read = ReadTime {
        negative: body.negative,
        hours,
        minutes,
        seconds,
        truncated: body.truncated || fraction.garbage || !reader.bytes.is_empty(),
        fraction,
    };
    Some((read, reader.bytes))
}

/// Returns a time, and whether it was clipped.
pub(super) fn time_from_parts(
    negative: bool,
    hours: u64,
    minutes: u64,
    seconds: u64,
    micros: u32,
    decimals: u8,
) -> (Time, bool) {
    let sign = if negative { -1 } else { 1 };
    if hours > Time::HOURS_MAX {
        return (Time::from_micros(sign * Time::MICROS_MAX, decimals), true);
    }
    let whole = (hours * 3600 + minutes * 60 + seconds) as i64;
    (
        Time::from_micros(sign * (whole * 1_000_000 + i64::from(micros)), decimals),
        false,
    )
}
