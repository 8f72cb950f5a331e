//! Parsing of text as a date, with or without a time.

use super::reader::{Accept, Body, Fraction, Reader, find_body};
use super::{ParseResult, YEAR_PIVOT};
use crate::temporal::{Date, DateModes, DateTime};

/// Parses a date with or without a time. Returns `None` if the text is not a date, or the modes forbid it.
pub fn parse_datetime(text: &str, modes: DateModes) -> Option<ParseResult<DateTime>> {
    let body = find_body(text)?;
    let (read, _) = read_datetime(&body, modes, Accept::Any);
    Some(read.ok().filter(|_| !body.negative)?.fitted(modes.fractions))
}

/// Reason why a text is not a datetime.
pub(super) enum NoDateTime {
    /// It does not have the form of a datetime.
    Other,
    /// It has the form, but the date or time does not exist or the modes forbid it.
    Invalid { has_time: bool },
}

/// Returns the number of digits if the text has only digits, optionally with a T between date and time and a fraction
/// at the end.
fn run_of_digits(bytes: &[u8]) -> Option<usize> {
    let mut reader = Reader::new(bytes);
    let (_, mut digits) = reader.digits(usize::MAX);
    if reader.peek() == Some(b'T') {
        reader.advance();
        digits += reader.digits(usize::MAX).1;
    }
    if reader.peek() == Some(b'.') && digits >= 12 {
        reader.advance();
        reader.digits(usize::MAX);
    }
    reader.bytes.is_empty().then_some(digits)
}

/// Parses a datetime. Also returns the rest of the text.
pub(super) fn read_datetime<'a>(
    body: &Body<'a>,
    modes: DateModes,
    accept: Accept,
) -> (Result<ParseResult<DateTime>, NoDateTime>, &'a [u8]) {
    let mut reader = Reader::new(body.bytes);
    let [mut year, mut month, mut day, mut hour, mut minute, mut second] = [0u32; 6];
    let year_digits;
    let stopped = if let Some(digits) = run_of_digits(body.bytes) {
        year_digits = if digits == 4 || digits == 8 || digits >= 14 {
            4
        } else {
            2
        };
        (|| {
            reader.number(&mut year, year_digits)?;
            reader.number(&mut month, 2)?;
            reader.number(&mut day, 2)?;
            if reader.peek() == Some(b'T') {
                reader.advance();
            }
            reader.number(&mut hour, 2)?;
            reader.number(&mut minute, 2)?;
            reader.number(&mut second, 2)
        })()
    } else {
        let before = reader.bytes.len();
        let first = reader.number(&mut year, usize::MAX);
        year_digits = before - reader.bytes.len();
        first.and_then(|()| {
            reader.punctuation()?;
            reader.number(&mut month, usize::MAX)?;
            reader.punctuation()?;
            reader.number(&mut day, usize::MAX)?;
            reader.separator(accept)?;
            reader.number(&mut hour, usize::MAX)?;
            reader.punctuation()?;
            reader.number(&mut minute, usize::MAX)?;
            reader.punctuation()?;
            reader.number(&mut second, usize::MAX)
        })
    };
    let fields = reader.fields;
    if fields < 3 {
        return (Err(NoDateTime::Other), reader.bytes);
    }
    let mut truncated = stopped.is_err();
    let mut fraction = Fraction::default();
    if !truncated && reader.peek() == Some(b'.') {
        reader.advance();
        fraction = reader.fraction();
        truncated = fraction.garbage;
    }
    let is_zero = [year, month, day, hour, minute, second, fraction.micros]
        .iter()
        .all(|&part| part == 0);
    if year_digits == 2 && !is_zero {
        year += if year < YEAR_PIVOT { 2000 } else { 1900 };
    }
    let invalid = NoDateTime::Invalid { has_time: fields > 3 };
    if year > 9999 || month > 12 || day > 31 || hour > 23 || minute > 59 || second > 59 {
        return (Err(invalid), reader.bytes);
    }
    let date = Date::new(year as u16, month as u8, day as u8);
    if !date.is_valid(modes) {
        return (Err(invalid), reader.bytes);
    }
    let value = DateTime::new(date, hour as u8, minute as u8, second as u8)
        .with_micros(fraction.micros, fraction.decimals);
    let read = ParseResult {
        value,
        truncated: body.truncated || truncated || !reader.bytes.is_empty(),
        clipped: false,
        fraction_cut: fraction.cut,
        rest_is_half: fraction.rest_is_half,
        has_time: fields > 3,
    };
    (Ok(read), reader.bytes)
}
