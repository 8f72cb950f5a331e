//! Text and numbers read as temporal values, as liberally as MariaDB does.
//!
//! A date may have any punctuation between its parts (`2024/1/31`, `24.01.31`), or none at all (`20240131123456`); a year of two digits is
//! 1970 to 2069. A time may have days in front (`1 12:30`), be a number (`123000`), or stand in a datetime. What follows the value
//! and was not understood is reported, not refused: the caller decides by `sql_mode`.

use super::{Date, DateModes, DateTime, Time};

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
    fn whole(value: T) -> Self {
        Parsed {
            value,
            truncated: false,
            clipped: false,
            fraction_cut: false,
            has_time: true,
        }
    }
}

/// Years of two digits below this are 20xx.
const YEAR_PIVOT: u32 = 70;

/// Reads bytes from the left.
struct Reader<'a> {
    bytes: &'a [u8],
    /// How many numbers were read.
    fields: usize,
}

/// A part was not there though the text goes on: reading stops.
struct Stop;

impl Reader<'_> {
    fn peek(&self) -> Option<u8> {
        self.bytes.first().copied()
    }

    fn skip_spaces(&mut self) {
        let spaces = self.bytes.iter().take_while(|b| is_space(**b)).count();
        self.bytes = &self.bytes[spaces..];
    }

    /// Takes the digits that come next, at most so many. Large numbers saturate.
    fn digits(&mut self, most: usize) -> (u64, usize) {
        let count = self
            .bytes
            .iter()
            .take(most)
            .take_while(|b| b.is_ascii_digit())
            .count();
        let number = self.bytes[..count].iter().fold(0u64, |number, digit| {
            number.saturating_mul(10).saturating_add(u64::from(digit - b'0'))
        });
        self.bytes = &self.bytes[count..];
        (number, count)
    }

    /// A number; nothing at the end of the text.
    fn number(&mut self, into: &mut u32) -> Result<(), Stop> {
        if self.bytes.is_empty() {
            return Ok(());
        }
        let (number, count) = self.digits(usize::MAX);
        if count == 0 {
            return Err(Stop);
        }
        *into = u32::try_from(number).unwrap_or(u32::MAX);
        self.fields += 1;
        Ok(())
    }

    /// Exactly so many digits; nothing at the end of the text.
    fn exact(&mut self, into: &mut u32, count: usize) -> Result<(), Stop> {
        if self.bytes.is_empty() {
            return Ok(());
        }
        let (number, read) = self.digits(count);
        if read == 0 {
            return Err(Stop);
        }
        *into = number as u32;
        self.fields += 1;
        if read == count { Ok(()) } else { Err(Stop) }
    }

    fn punctuation(&mut self) -> Result<(), Stop> {
        match self.peek() {
            None => Ok(()),
            Some(byte) if byte.is_ascii_punctuation() => {
                self.bytes = &self.bytes[1..];
                Ok(())
            }
            Some(_) => Err(Stop),
        }
    }

    /// Between date and time: a `T`, spaces, or (where nothing but a datetime is wanted) any punctuation.
    fn separator(&mut self, accept: Accept) -> Result<(), Stop> {
        match self.peek() {
            None => Ok(()),
            Some(b'T') => {
                self.bytes = &self.bytes[1..];
                Ok(())
            }
            Some(byte) if byte.is_ascii_punctuation() => {
                if accept == Accept::DateTimeInTime {
                    self.fields = 0;
                    return Err(Stop);
                }
                self.bytes = &self.bytes[1..];
                Ok(())
            }
            Some(byte) if is_space(byte) => {
                self.skip_spaces();
                Ok(())
            }
            Some(_) => Err(Stop),
        }
    }

    /// The digits after a point: microseconds, how many digits there were (at most 6), and whether more were cut.
    fn fraction(&mut self) -> (u32, u8, bool) {
        let (number, count) = self.digits(6);
        let micros = (count..6).fold(number as u32, |number, _| number * 10);
        let (_, more) = self.digits(usize::MAX);
        (micros, count as u8, more > 0)
    }

    /// Whether only spaces are left.
    fn only_spaces(&self) -> bool {
        self.bytes.iter().all(|b| is_space(*b))
    }
}

fn is_space(byte: u8) -> bool {
    byte == b' ' || (9..=13).contains(&byte)
}

/// What a datetime is read for.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Accept {
    /// As a date or datetime.
    Any,
    /// To find out whether a text that should be a time is a datetime.
    DateTimeInTime,
}

/// Reads a date with or without a time. `None` if it is none, or one that the modes forbid.
pub fn parse_datetime(text: &str, modes: DateModes) -> Option<Parsed<DateTime>> {
    read_datetime(text, modes, Accept::Any).ok()
}

/// Why a text is no datetime.
enum NoDateTime {
    /// It does not look like one.
    Other,
    /// It does, but there is no such day or time, or the modes forbid it.
    Invalid,
}

/// Whether so many digits, followed by this, are a date without punctuation.
fn ends_run(next: Option<&u8>, digits: usize) -> bool {
    match next {
        None => true,
        Some(b'.') => digits >= 12,
        Some(_) => false,
    }
}

fn read_datetime(text: &str, modes: DateModes, accept: Accept) -> Result<Parsed<DateTime>, NoDateTime> {
    let mut reader = Reader {
        bytes: text.as_bytes(),
        fields: 0,
    };
    reader.skip_spaces();
    if !reader.peek().is_some_and(|byte| byte.is_ascii_digit()) {
        return Err(NoDateTime::Other);
    }
    let [mut year, mut month, mut day, mut hour, mut minute, mut second] = [0u32; 6];
    let run = reader
        .bytes
        .iter()
        .take_while(|b| b.is_ascii_digit() || **b == b'T')
        .count();
    let year_digits;
    let stopped = if ends_run(reader.bytes.get(run), run) {
        // Only digits, perhaps with a T between date and time.
        year_digits = if run == 4 || run == 8 || run >= 14 { 4 } else { 2 };
        (|| {
            reader.exact(&mut year, year_digits)?;
            reader.exact(&mut month, 2)?;
            reader.exact(&mut day, 2)?;
            if reader.peek() == Some(b'T') {
                reader.bytes = &reader.bytes[1..];
            }
            reader.exact(&mut hour, 2)?;
            reader.exact(&mut minute, 2)?;
            reader.exact(&mut second, 2)
        })()
    } else {
        let before = reader.bytes.len();
        let first = reader.number(&mut year);
        year_digits = before - reader.bytes.len();
        first.and_then(|()| {
            reader.punctuation()?;
            reader.number(&mut month)?;
            reader.punctuation()?;
            reader.number(&mut day)?;
            reader.separator(accept)?;
            reader.number(&mut hour)?;
            reader.punctuation()?;
            reader.number(&mut minute)?;
            reader.punctuation()?;
            reader.number(&mut second)
        })
    };
    let mut truncated = stopped.is_err();
    let (mut micros, mut decimals, mut fraction_cut) = (0, 0, false);
    if !truncated && reader.peek() == Some(b'.') {
        if reader.fields < 6 {
            truncated = true;
        } else {
            reader.bytes = &reader.bytes[1..];
            (micros, decimals, fraction_cut) = reader.fraction();
        }
    }
    let is_zero = [year, month, day, hour, minute, second, micros]
        .iter()
        .all(|&part| part == 0);
    if year_digits == 2 && !is_zero {
        year += if year < YEAR_PIVOT { 2000 } else { 1900 };
    }
    if reader.fields < 3 {
        return Err(NoDateTime::Other);
    }
    if year > 9999 || month > 12 || day > 31 || hour > 23 || minute > 59 || second > 59 {
        return Err(NoDateTime::Invalid);
    }
    let date = Date::new(year as u16, month as u8, day as u8);
    if !date.is_valid(modes) {
        return Err(NoDateTime::Invalid);
    }
    let value = DateTime::new(date, hour as u8, minute as u8, second as u8).with_micros(micros, decimals);
    Ok(Parsed {
        value,
        truncated: truncated || !reader.only_spaces(),
        clipped: false,
        fraction_cut,
        has_time: reader.fields > 3,
    })
}

/// Reads a time (`'-1 12:30:00.5'`, `'123000'`), or a datetime where the text looks like one.
pub fn parse_time(text: &str) -> Option<ParsedTemporal> {
    parse_time_under(text, DateModes::default())
}

/// As [`parse_time`], where a datetime's day must be one that the modes let pass.
pub fn parse_time_under(text: &str, modes: DateModes) -> Option<ParsedTemporal> {
    let mut reader = Reader {
        bytes: text.as_bytes(),
        fields: 0,
    };
    reader.skip_spaces();
    let negative = reader.peek() == Some(b'-');
    if negative || reader.peek() == Some(b'+') {
        reader.bytes = &reader.bytes[1..];
    } else if reader.bytes.len() >= 12 {
        match read_datetime(text, modes, Accept::DateTimeInTime) {
            Ok(found) => return Some(ParsedTemporal::DateTime(found)),
            Err(NoDateTime::Invalid) => return None,
            Err(NoDateTime::Other) => {}
        }
    }
    if negative {
        reader.skip_spaces();
    }
    if !reader.peek()?.is_ascii_digit() {
        return None;
    }
    let (number, _) = reader.digits(usize::MAX);
    let after_number = reader.bytes;
    reader.skip_spaces();
    let next_is_digit = |bytes: &[u8], at: usize| bytes.get(at).is_some_and(u8::is_ascii_digit);
    // Days, hours, minutes, seconds.
    let mut parts = [0u64; 4];
    let mut next = None;
    if reader.bytes.len() > 1 && reader.bytes.len() < after_number.len() && next_is_digit(reader.bytes, 0) {
        parts[0] = number;
        next = Some(1);
    } else if reader.peek() == Some(b':') && next_is_digit(reader.bytes, 1) {
        parts[1] = number;
        next = Some(2);
        reader.bytes = &reader.bytes[1..];
    } else {
        reader.bytes = after_number;
        parts = [0, number / 10_000, number / 100 % 100, number % 100];
    }
    if let Some(mut part) = next {
        loop {
            (parts[part], _) = reader.digits(usize::MAX);
            part += 1;
            if part == 4 || reader.peek() != Some(b':') || !next_is_digit(reader.bytes, 1) {
                break;
            }
            reader.bytes = &reader.bytes[1..];
        }
    }
    let (mut micros, mut decimals, mut fraction_cut) = (0, 0, false);
    if reader.peek() == Some(b'.') {
        reader.bytes = &reader.bytes[1..];
        (micros, decimals, fraction_cut) = reader.fraction();
    }
    let [days, hours, minutes, seconds] = parts;
    // A number with an exponent is not a time.
    let exponent = matches!(reader.bytes, [b'e' | b'E', next, ..] if next.is_ascii_digit() || matches!(next, b'+' | b'-'));
    if parts.iter().any(|&part| part > u64::from(u32::MAX)) {
        return None;
    }
    if minutes > 59 || seconds > 59 || exponent {
        return None;
    }
    let hours = days.saturating_mul(24).saturating_add(hours);
    let (value, clipped) = time_from_parts(negative, hours, minutes, seconds, micros, decimals);
    Some(ParsedTemporal::Time(Parsed {
        value,
        truncated: !reader.only_spaces(),
        clipped,
        fraction_cut,
        has_time: true,
    }))
}

/// A time, and whether it had to be clipped.
fn time_from_parts(
    negative: bool,
    hours: u64,
    minutes: u64,
    seconds: u64,
    micros: u32,
    decimals: u8,
) -> (Time, bool) {
    let sign = if negative { -1 } else { 1 };
    if hours > 838 {
        return (Time::from_micros(sign * Time::MICROS_MAX, decimals), true);
    }
    let whole = (hours * 3600 + minutes * 60 + seconds) as i64;
    (
        Time::from_micros(sign * (whole * 1_000_000 + i64::from(micros)), decimals),
        false,
    )
}

/// Reads a number such as 20240131 or 240131123000. `micros` is the number's fraction.
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

/// Reads a number such as -123000; past 838:59:59 it is clipped. A number of more digits than a time has is read as a datetime.
/// `micros` is the number's fraction.
pub fn time_from_number(number: i64, micros: u32) -> Option<Parsed<Time>> {
    // What does not fit BIGINT is clipped like a time, not read as a datetime.
    if number > 9_999_999 && number < i64::MAX {
        return datetime_from_number(number, micros, DateModes::default()).map(|v| Parsed::whole(v.time()));
    }
    let magnitude = number.unsigned_abs();
    if magnitude > 9_999_999 {
        let (value, clipped) = time_from_parts(number < 0, u64::MAX, 0, 0, 0, 6);
        return Some(Parsed {
            clipped,
            ..Parsed::whole(value)
        });
    }
    let (hours, minutes, seconds) = (magnitude / 10_000, magnitude / 100 % 100, magnitude % 100);
    if minutes > 59 || seconds > 59 {
        return None;
    }
    let (value, clipped) = time_from_parts(number < 0, hours, minutes, seconds, micros, 0);
    Some(Parsed {
        clipped,
        ..Parsed::whole(value)
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    /// As `CAST('…' AS DATETIME(6))` of MariaDB 10.11, `None` for NULL; `!` marks a warning.
    #[test]
    fn datetimes_as_mariadb() {
        for (text, expected) in [
            ("2024-01-31", Some("2024-01-31 00:00:00")),
            ("2024-1-3", Some("2024-01-03 00:00:00")),
            ("24-1-3", Some("2024-01-03 00:00:00")),
            ("70-1-3", Some("1970-01-03 00:00:00")),
            ("2024-01-31   12:34:56", Some("2024-01-31 12:34:56")),
            ("2024-01-31T12:34:56", Some("2024-01-31 12:34:56")),
            ("2024*01*31 12*34*56", Some("2024-01-31 12:34:56")),
            ("  2024-01-31", Some("2024-01-31 00:00:00")),
            (
                "2024-01-31 12:34:56.123456789",
                Some("2024-01-31 12:34:56.123456"),
            ),
            ("20240131.5", None),
            ("240131123456", Some("2024-01-31 12:34:56")),
            ("2401311234", Some("2024-01-31 12:34:00")),
            ("20240131 123456", None),
            ("20240131T123456", Some("2024-01-31 12:34:56")),
            ("20240131123456.789", Some("2024-01-31 12:34:56.789")),
            ("12-01", None),
            ("0-0-0", Some("0000-00-00 00:00:00")),
            ("1-1-1", Some("0001-01-01 00:00:00")),
            ("100-1-1", Some("0100-01-01 00:00:00")),
            ("00000101", Some("0000-01-01 00:00:00")),
            ("2024-01-31x", Some("2024-01-31 00:00:00!")),
            ("2024-01-31 12:34:56+01:00", Some("2024-01-31 12:34:56!")),
            ("2024-02-30", None),
            ("2024-01-31 25:00:00", None),
            ("10:11:12.13.14.15", Some("2010-11-12 13:14:15")),
            ("", None),
            ("x", None),
        ] {
            let read = parse_datetime(text, DateModes::default());
            let read = read.map(|p| format!("{}{}", p.value, if p.truncated { "!" } else { "" }));
            assert_eq!(read.as_deref(), expected, "{text:?}");
        }
    }

    /// As `CAST('…' AS TIME(6))` of MariaDB 10.11.
    #[test]
    fn times_as_mariadb() {
        for (text, expected) in [
            ("10:11:12", Some("10:11:12")),
            ("101112.5", Some("10:11:12.5")),
            ("1 1", Some("00:00:01!")),
            ("1 1:2", Some("25:02:00")),
            ("34 22:59:59", Some("838:59:59")),
            ("-1 10:00", Some("-34:00:00")),
            ("1:2:3.4567891", Some("01:02:03.456789")),
            (" 10:11 ", Some("10:11:00")),
            ("10:11:12abc", Some("10:11:12!")),
            ("", None),
            ("abc", None),
            (":10", None),
            ("1::2", Some("00:00:01!")),
            ("2024-01-31", Some("00:20:24!")),
            ("24-1-31 1:2:3", Some("01:02:03d")),
            ("2024-01-31 1:2", Some("01:02:00d")),
            ("8386000", None),
            ("12:34:56:78", Some("12:34:56!")),
            ("1e2", None),
            ("-", None),
            ("--1", None),
            ("- 1", Some("-00:00:01")),
            ("2 3:4:5.6", Some("51:04:05.6")),
            ("5.6", Some("00:00:05.6")),
            ("12:60:00", None),
        ] {
            let read = parse_time(text).map(|read| match read {
                ParsedTemporal::Time(p) => {
                    format!("{}{}", p.value, if p.truncated || p.clipped { "!" } else { "" })
                }
                ParsedTemporal::DateTime(p) => format!("{}d", p.value.time()),
            });
            assert_eq!(read.as_deref(), expected, "{text:?}");
        }
    }

    #[test]
    fn numbers_as_mariadb() {
        let datetime = |number| datetime_from_number(number, 0, DateModes::default()).map(|v| v.to_string());
        for (number, expected) in [
            (0, Some("0000-00-00 00:00:00")),
            (101, Some("2000-01-01 00:00:00")),
            (100, None),
            (691_231, Some("2069-12-31 00:00:00")),
            (700_101, Some("1970-01-01 00:00:00")),
            (1_000_101, None),
            (10_000_101, Some("1000-01-01 00:00:00")),
            (99_991_231, Some("9999-12-31 00:00:00")),
            (101_000_000, Some("2000-01-01 00:00:00")),
            (991_231_235_959, Some("1999-12-31 23:59:59")),
            (19_991_231_235_960, None),
            (-1, None),
            (i64::MAX, None),
        ] {
            assert_eq!(datetime(number).as_deref(), expected, "{number}");
        }
        for (number, expected) in [
            (101_112, Some("10:11:12")),
            (-101_112, Some("-10:11:12")),
            (20_240_131_101_112, Some("10:11:12")),
            (8_385_959, Some("838:59:59")),
            (8_386_000, None),
            (20_240_131, Some("00:00:00")),
            (20_241_301, None),
            (i64::MAX, Some("838:59:59.999999")),
        ] {
            assert_eq!(
                time_from_number(number, 0)
                    .map(|p| p.value.to_string())
                    .as_deref(),
                expected,
                "{number}"
            );
        }
    }

    proptest::proptest! {
        #[test]
        fn nothing_panics(text in "[0-9TeE:.,/ -]{0,24}", any in "\\PC{0,12}", number: i64) {
            for text in [text, any] {
                let _ = (parse_datetime(&text, DateModes::default()), parse_time(&text));
            }
            let _ = (datetime_from_number(number, 5, DateModes::default()), time_from_number(number, 5));
        }

        #[test]
        fn what_is_printed_is_read(micros in -Time::MICROS_MAX..=Time::MICROS_MAX, day in 366u32..=super::super::DAY_NUMBER_MAX) {
            let time = Time::from_micros(micros, 6);
            match parse_time(&time.to_string()) {
                Some(ParsedTemporal::Time(read)) => proptest::prop_assert_eq!(read, Parsed::whole(time)),
                other => proptest::prop_assert!(false, "{other:?}"),
            }
            let date = super::super::date_from_day_number(day);
            let datetime = DateTime::from_date_and_micros(date, micros.rem_euclid(86_400_000_000), 6);
            let read = parse_datetime(&datetime.to_string(), DateModes::default());
            proptest::prop_assert_eq!(read, Some(Parsed::whole(datetime)));
        }
    }
}
