//! DATE_FORMAT, TIME_FORMAT, STR_TO_DATE, GET_FORMAT, with MariaDB's `%` letters.

use std::fmt::Write;

use paceline_types::error_code::{ER_UNKNOWN_LOCALE, ER_WRONG_VALUE_FOR_TYPE};
use paceline_types::temporal::{
    DateModes, WeekMode, date_from_day_number, day_number, day_of_year, week_and_year, weekday,
};
use paceline_types::{DataType, Date, DateTime, Locale, Time, Value};

use crate::context::EvalContext;
use crate::error::Result;
use crate::eval::convert;
use crate::expr_type::{ExprType, Repertoire};
use crate::functions::arguments::some;
use crate::tree::{Args, BindCall, Function, pure, steady};

pub(super) static FUNCTIONS: &[Function] = &[
    // The names in the result depend on `lc_time_names`.
    steady("date_format", (2, 3), bind_formatted, |args, context| {
        let value = args.value(0, context)?;
        let datetime = match &*value {
            // A time is not combined with the current date here.
            Value::Time(time) if !time.is_negative() && time.hours() < 24 => {
                let (hour, minute) = (time.hours() as u8, time.minute() as u8);
                DateTime::new(Date::ZERO, hour, minute, time.second() as u8)
                    .with_micros(time.microsecond(), time.decimals())
            }
            other => {
                let operand = &args.call.args[0];
                some!(context.convert_operand(operand, |context| convert::to_datetime(other, context))?)
            }
        };
        let format = some!(args.text(1, context)?);
        if matches!(&*value, Value::Time(_)) && names_a_day(&format) {
            return Ok(Value::Null);
        }
        let locale = match args.len() {
            3 => locale_named(args, 2, context)?,
            _ => context.session.settings.time_locale,
        };
        Ok(format_datetime(datetime, &format, locale).map_or(Value::Null, Value::Text))
    }),
    pure("time_format", (2, 2), bind_formatted, |args, context| {
        let time = some!(args.time(0, context)?);
        let format = some!(args.text(1, context)?);
        Ok(format_time(time, &format).map_or(Value::Null, Value::Text))
    }),
    pure("str_to_date", (2, 2), bind_str_to_date, eval_str_to_date),
    pure(
        "get_format",
        (2, 2),
        |call| Ok(call.connection_text(17).nullable()),
        eval_get_format,
    ),
];

/// Returns whether a format contains letters that need a complete date: the day of the year, the name of the day or
/// month.
fn names_a_day(format: &str) -> bool {
    let mut characters = format.chars();
    while let Some(character) = characters.next() {
        if character == '%' && matches!(characters.next(), Some('j' | 'W' | 'a' | 'w' | 'M' | 'b')) {
            return true;
        }
    }
    false
}

fn bind_formatted(call: &mut BindCall<'_>) -> Result<ExprType> {
    let locale = call.session.settings.time_locale;
    let repertoire = match names_are_ascii(locale) {
        true => call.args[1].ty.repertoire,
        false => Repertoire::Full,
    };
    let ty = call.connection_text(format_length(call, 1));
    Ok(ty.with_repertoire(repertoire).nullable())
}

/// Returns whether a locale's names of days and months are ASCII.
pub(super) fn names_are_ascii(locale: &Locale) -> bool {
    let days = locale.days.iter().chain(&locale.short_days);
    let months = locale.months.iter().chain(&locale.short_months);
    days.chain(months).all(|name| name.is_ascii())
}

/// Returns the maximum length of a formatted time in characters.
pub(super) fn format_length(call: &BindCall<'_>, index: usize) -> u64 {
    let Some(Value::Text(format)) = call.args[index].as_literal() else {
        return call.length(index).saturating_mul(10).min(255);
    };
    let mut length = 0;
    let mut characters = format.chars();
    while let Some(character) = characters.next() {
        if character != '%' {
            length += 1;
            continue;
        }
        length += match characters.next() {
            Some('M' | 'W') => 64,
            Some('D' | 'Y' | 'x' | 'X') => 4,
            Some('a' | 'b') => 32,
            Some('j') => 3,
            Some(
                'u' | 'U' | 'v' | 'V' | 'y' | 'm' | 'd' | 'h' | 'i' | 'I' | 'l' | 'p' | 'S' | 's' | 'c' | 'e',
            ) => 2,
            Some('k' | 'H') => 7,
            Some('r') => 11,
            Some('T') => 8,
            Some('f') => 6,
            _ => 1,
        };
    }
    length
}

/// Returns the locale named by an argument; `en_US` with warning 1649 if the name is unknown.
pub(super) fn locale_named(
    args: &Args<'_>,
    index: usize,
    context: &mut EvalContext<'_>,
) -> Result<&'static Locale> {
    let name = args.text(index, context)?;
    if let Some(locale) = name.as_deref().and_then(Locale::from_name) {
        return Ok(locale);
    }
    let name = name.as_deref().unwrap_or("NULL");
    context.warn(ER_UNKNOWN_LOCALE, ER_UNKNOWN_LOCALE.message(&[&name]))?;
    Ok(Locale::english())
}

/// Returns the day of the week, counted from Monday. Dates whose year and month are both 0 have none.
fn known_weekday(date: Date) -> Option<u32> {
    (date.year != 0 || date.month != 0).then(|| weekday(date))
}

/// Returns the day of the year. Dates with month 0 or year 0 have none.
fn known_day_of_year(date: Date) -> Option<u32> {
    (date.year != 0 && date.month != 0).then(|| day_of_year(date))
}

/// Computes DATE_FORMAT. Returns `None` (NULL) if a letter has no value for the date.
pub(super) fn format_datetime(datetime: DateTime, format: &str, locale: &Locale) -> Option<String> {
    let date = datetime.date;
    let mut out = String::with_capacity(format.len() * 2);
    let mut letters = format.chars();
    while let Some(letter) = letters.next() {
        if letter != '%' {
            out.push(letter);
            continue;
        }
        let Some(letter) = letters.next() else {
            out.push('%');
            break;
        };
        match letter {
            'M' => out.push_str(locale.months.get(usize::from(date.month).checked_sub(1)?)?),
            'b' => out.push_str(locale.short_months.get(usize::from(date.month).checked_sub(1)?)?),
            'W' => out.push_str(locale.days[known_weekday(date)? as usize]),
            'a' => out.push_str(locale.short_days[known_weekday(date)? as usize]),
            'D' => {
                let suffix = match date.day {
                    11..=19 => "th",
                    day => match day % 10 {
                        1 => "st",
                        2 => "nd",
                        3 => "rd",
                        _ => "th",
                    },
                };
                let _ = write!(out, "{}{suffix}", date.day);
            }
            'Y' => push(&mut out, u32::from(date.year), 4),
            'y' => push(&mut out, u32::from(date.year) % 100, 2),
            'm' => push(&mut out, u32::from(date.month), 2),
            'c' => push(&mut out, u32::from(date.month), 1),
            'd' => push(&mut out, u32::from(date.day), 2),
            'e' => push(&mut out, u32::from(date.day), 1),
            'j' => push(&mut out, known_day_of_year(date)?, 3),
            'U' | 'u' | 'V' | 'v' => {
                let mode = match letter {
                    'U' => 0,
                    'u' => 1,
                    'V' => 2,
                    _ => 3,
                };
                push(&mut out, week_and_year(date, WeekMode::from_number(mode)).0, 2);
            }
            'X' | 'x' => {
                let mode = if letter == 'X' { 2 } else { 3 };
                push(&mut out, week_and_year(date, WeekMode::from_number(mode)).1, 4);
            }
            'w' => push(&mut out, (known_weekday(date)? + 1) % 7, 1),
            other => push_time(
                &mut out,
                other,
                u32::from(datetime.hour),
                u32::from(datetime.minute),
                u32::from(datetime.second),
                datetime.micros,
            ),
        }
    }
    Some(out)
}

/// Computes TIME_FORMAT. Letters of the date become zeros, or the result is NULL if they need a date.
fn format_time(time: Time, format: &str) -> Option<String> {
    let mut out = String::with_capacity(format.len() * 2);
    if time.is_negative() {
        out.push('-');
    }
    let mut letters = format.chars();
    while let Some(letter) = letters.next() {
        if letter != '%' {
            out.push(letter);
            continue;
        }
        let Some(letter) = letters.next() else {
            out.push('%');
            break;
        };
        match letter {
            'M' | 'b' | 'W' | 'a' | 'D' | 'w' | 'j' | 'U' | 'u' | 'V' | 'v' | 'X' | 'x' | 'Y' | 'y' | 'm'
            | 'd' | 'c' | 'e' => {
                return None;
            }
            other => push_time(
                &mut out,
                other,
                time.hours(),
                time.minute(),
                time.second(),
                time.microsecond(),
            ),
        }
    }
    Some(out)
}

fn push(out: &mut String, number: u32, width: usize) {
    let _ = write!(out, "{number:0width$}");
}

fn push_time(out: &mut String, letter: char, hour: u32, minute: u32, second: u32, micros: u32) {
    let half = if (hour % 24).is_multiple_of(12) {
        12
    } else {
        hour % 24 % 12
    };
    let noon = if hour % 24 < 12 { "AM" } else { "PM" };
    match letter {
        'H' => push(out, hour, 2),
        'k' => push(out, hour, 1),
        'h' | 'I' => push(out, half, 2),
        'l' => push(out, half, 1),
        'i' => push(out, minute, 2),
        'S' | 's' => push(out, second, 2),
        'f' => push(out, micros, 6),
        'p' => out.push_str(noon),
        'r' => {
            let _ = write!(out, "{half:02}:{minute:02}:{second:02} {noon}");
        }
        'T' => {
            let _ = write!(out, "{hour:02}:{minute:02}:{second:02}");
        }
        other => out.push(other),
    }
}

/// Returns which parts a format of STR_TO_DATE contains: date, time, fraction.
fn format_parts(format: &str) -> (bool, bool, bool) {
    let (mut date, mut time, mut fraction) = (false, false, false);
    let mut letters = format.chars();
    while let Some(letter) = letters.next() {
        if letter != '%' {
            continue;
        }
        match letters.next() {
            Some(
                'a' | 'b' | 'c' | 'D' | 'd' | 'e' | 'j' | 'M' | 'm' | 'U' | 'u' | 'V' | 'v' | 'W' | 'w' | 'X'
                | 'x' | 'Y' | 'y',
            ) => {
                date = true;
            }
            Some('f') => {
                time = true;
                fraction = true;
            }
            Some('H' | 'h' | 'I' | 'i' | 'k' | 'l' | 'p' | 'r' | 'S' | 's' | 'T') => time = true,
            _ => {}
        }
    }
    (date, time, fraction)
}

fn bind_str_to_date(call: &mut BindCall<'_>) -> Result<ExprType> {
    let Some(Value::Text(format)) = call.args[1].as_literal() else {
        return Ok(ExprType::datetime(6).nullable());
    };
    let (date, time, fraction) = format_parts(format);
    let decimals = if fraction { 6 } else { 0 };
    Ok(match (date, time) {
        (_, false) => ExprType::date(),
        (false, true) => ExprType::time(decimals),
        (true, true) => ExprType::datetime(decimals),
    }
    .nullable())
}

fn eval_str_to_date(args: &Args<'_>, context: &mut EvalContext<'_>) -> Result<Value> {
    let text = some!(args.text(0, context)?);
    let format = some!(args.text(1, context)?);
    let parsed = Reader::new(&text).read(&format);
    let decimals = args.ty.decimals().min(6);
    let modes = context.session.settings.date_modes();
    let value = parsed.and_then(|(parts, rest)| {
        let rest_is_blank = rest.trim().is_empty();
        let value = match &args.ty.data_type {
            DataType::Time { .. } => {
                let hours = i64::from(parts.day) * 24 + i64::from(parts.hour);
                let micros =
                    ((hours * 60 + i64::from(parts.minute)) * 60 + i64::from(parts.second)) * 1_000_000;
                Value::Time(Time::from_micros(micros + i64::from(parts.micros), decimals))
            }
            data_type => {
                let date = Date::new(parts.year, parts.month, parts.day);
                let zero_in_date = date.month == 0 || date.day == 0;
                let modes = DateModes {
                    allow_invalid_dates: true,
                    ..modes
                };
                if !date.is_valid(modes) || (zero_in_date && (modes.no_zero_in_date || modes.no_zero_date)) {
                    return None;
                }

                let datetime = DateTime::new(date, parts.hour, parts.minute, parts.second)
                    .with_micros(parts.micros, decimals);
                if *data_type == DataType::Date {
                    Value::Date(date)
                } else {
                    Value::DateTime(datetime)
                }
            }
        };
        Some((value, rest_is_blank))
    });
    match value {
        Some((value, rest_is_blank)) => {
            if !rest_is_blank {
                context.warn_truncated(kind(&args.ty.data_type), &Value::Text(text.into_owned()))?;
            }
            Ok(value)
        }
        None => {
            let message = ER_WRONG_VALUE_FOR_TYPE.message(&[&"datetime", &text, &"str_to_date"]);
            context.warn(ER_WRONG_VALUE_FOR_TYPE, message)?;
            Ok(Value::Null)
        }
    }
}

fn kind(data_type: &DataType) -> &'static str {
    match data_type {
        DataType::Date => "date",
        DataType::Time { .. } => "time",
        _ => "datetime",
    }
}

/// Parts parsed by STR_TO_DATE.
#[derive(Clone, Copy, Default)]
struct Parts {
    year: u16,
    month: u8,
    day: u8,
    hour: u8,
    minute: u8,
    second: u8,
    micros: u32,
}

/// Parser of a text by a format (MariaDB's `extract_date_time`).
struct Reader<'t> {
    rest: &'t str,
    parts: Parts,
    twelve_hours: bool,
    afternoon: bool,
    day_of_year: Option<u32>,
    week: Option<(u32, bool, bool)>,
    week_year: Option<u32>,
    weekday: Option<u32>,
}

impl<'t> Reader<'t> {
    fn new(rest: &'t str) -> Self {
        Reader {
            rest,
            parts: Parts::default(),
            twelve_hours: false,
            afternoon: false,
            day_of_year: None,
            week: None,
            week_year: None,
            weekday: None,
        }
    }

    fn number(&mut self, digits: usize) -> Option<u32> {
        let length = self
            .rest
            .bytes()
            .take(digits)
            .take_while(u8::is_ascii_digit)
            .count();
        let (number, rest) = self.rest.split_at(length);
        self.rest = rest;
        number.parse().ok()
    }

    /// Parses one of the names, in full or by its first three letters.
    fn name(&mut self, names: &[&str], short: bool) -> Option<u32> {
        for (index, name) in names.iter().enumerate() {
            let name = if short { &name[..3] } else { name };
            if self
                .rest
                .get(..name.len())
                .is_some_and(|start| start.eq_ignore_ascii_case(name))
            {
                self.rest = &self.rest[name.len()..];
                return Some(index as u32);
            }
        }
        None
    }

    fn read(mut self, format: &str) -> Option<(Parts, &'t str)> {
        let mut letters = format.chars().peekable();
        while let Some(letter) = letters.next() {
            // Spaces before each element are skipped. If nothing is left, the remaining parts are zero.
            if self.rest.trim_start().is_empty() && !letter.is_whitespace() {
                self.rest = "";
                break;
            }
            if letter == '%' && letters.peek().is_some() {
                self.rest = self.rest.trim_start();
                self.letter(letters.next()?)?;
            } else if letter.is_whitespace() {
                self.rest = self.rest.trim_start();
            } else {
                self.rest = self.rest.strip_prefix(letter)?;
            }
        }
        self.finish()
    }

    fn letter(&mut self, letter: char) -> Option<()> {
        match letter {
            'Y' => {
                let before = self.rest.len();
                let year = self.number(4)?;
                self.parts.year = if before - self.rest.len() <= 2 {
                    two_digits(year)
                } else {
                    year as u16
                };
            }
            'y' => {
                let year = self.number(2)?;
                self.parts.year = two_digits(year);
            }
            'm' | 'c' => self.parts.month = self.number(2)?.try_into().ok()?,
            'M' => self.parts.month = self.name(&Locale::english().months, false)? as u8 + 1,
            'b' => self.parts.month = self.name(&Locale::english().months, true)? as u8 + 1,
            'd' | 'e' => self.parts.day = self.number(2)?.try_into().ok()?,
            'D' => {
                self.parts.day = self.number(2)?.try_into().ok()?;
                self.rest = self.rest.get(2..).unwrap_or("");
            }
            'H' | 'k' => self.parts.hour = self.number(2)?.try_into().ok()?,
            'h' | 'I' | 'l' => {
                self.twelve_hours = true;
                self.parts.hour = self.number(2)?.try_into().ok()?;
            }
            'i' => self.parts.minute = self.number(2)?.try_into().ok()?,
            's' | 'S' => self.parts.second = self.number(2)?.try_into().ok()?,
            'f' => {
                let before = self.rest.len();
                let number = self.number(6)?;
                let digits = before - self.rest.len();
                self.parts.micros = number * 10u32.pow(6 - digits as u32);
            }
            'p' => {
                let word = self.rest.get(..2)?;
                if word.eq_ignore_ascii_case("PM") {
                    self.afternoon = true;
                } else if !word.eq_ignore_ascii_case("AM") {
                    return None;
                }
                self.twelve_hours = true;
                self.rest = &self.rest[2..];
            }
            'W' => self.weekday = Some(self.name(&Locale::english().days, false)? + 1),
            'a' => self.weekday = Some(self.name(&Locale::english().days, true)? + 1),
            'w' => {
                let day = self.number(1)?;
                if day >= 7 {
                    return None;
                }
                self.weekday = Some(if day == 0 { 7 } else { day });
            }
            'j' => self.day_of_year = Some(self.number(3)?),
            'U' | 'u' | 'V' | 'v' => {
                let number = self.number(2)?;
                if number > 53 {
                    return None;
                }
                self.week = Some((number, matches!(letter, 'U' | 'V'), matches!(letter, 'V' | 'v')));
            }
            'X' | 'x' => self.week_year = Some(self.number(4)?),
            'r' => {
                self.read_nested("%I:%i:%S %p")?;
            }
            'T' => {
                self.read_nested("%H:%i:%S")?;
            }
            '%' => self.rest = self.rest.strip_prefix('%')?,
            '.' => self.rest = self.rest.trim_start_matches(|c: char| c.is_ascii_punctuation()),
            '@' => self.rest = self.rest.trim_start_matches(char::is_alphabetic),
            '#' => self.rest = self.rest.trim_start_matches(|c: char| c.is_ascii_digit()),
            _ => return None,
        }
        Some(())
    }

    fn read_nested(&mut self, format: &str) -> Option<()> {
        let mut letters = format.chars();
        while let Some(letter) = letters.next() {
            if self.rest.is_empty() {
                break;
            }
            match letter {
                '%' => {
                    self.rest = self.rest.trim_start();
                    self.letter(letters.next()?)?;
                }
                ' ' => self.rest = self.rest.trim_start(),
                other => self.rest = self.rest.strip_prefix(other)?,
            }
        }
        Some(())
    }

    fn finish(mut self) -> Option<(Parts, &'t str)> {
        if self.twelve_hours {
            if self.parts.hour > 12 || self.parts.hour < 1 {
                return None;
            }
            self.parts.hour = self.parts.hour % 12 + if self.afternoon { 12 } else { 0 };
        }
        if let Some(day) = self.day_of_year.filter(|day| *day > 0) {
            let number = day_number(Date::new(self.parts.year, 1, 1)) + day - 1;
            self.set_date(number);
        }
        if let (Some((week, sunday_first, strict)), Some(weekday_wanted)) = (self.week, self.weekday) {
            let year = if strict {
                self.week_year?
            } else {
                u32::from(self.parts.year)
            };
            let start = day_number(Date::new(u16::try_from(year).ok()?, 1, 1));
            let first_weekday = weekday(date_from_day_number(start));
            let number = if sunday_first {
                let base = if first_weekday == 6 { 0 } else { 7 };
                i64::from(start) + base - i64::from((first_weekday + 1) % 7)
                    + (i64::from(week) - 1) * 7
                    + i64::from(weekday_wanted % 7)
            } else {
                let base = if first_weekday <= 3 { 0 } else { 7 };
                i64::from(start) + base - i64::from(first_weekday)
                    + (i64::from(week) - 1) * 7
                    + i64::from(weekday_wanted)
                    - 1
            };
            self.set_date(u32::try_from(number).ok()?);
        }
        let parts = self.parts;
        if parts.month > 12 || parts.day > 31 || parts.hour > 23 || parts.minute > 59 || parts.second > 59 {
            return None;
        }
        Some((parts, self.rest))
    }

    fn set_date(&mut self, number: u32) {
        let date = date_from_day_number(number);
        (self.parts.year, self.parts.month, self.parts.day) = (date.year, date.month, date.day);
    }
}

fn two_digits(year: u32) -> u16 {
    match year {
        0..=69 => year as u16 + 2000,
        70..=99 => year as u16 + 1900,
        year => year as u16,
    }
}

fn eval_get_format(args: &Args<'_>, context: &mut EvalContext<'_>) -> Result<Value> {
    let region = some!(args.text(1, context)?);
    let formats = match args.keyword(0) {
        "DATE" => ["%m.%d.%Y", "%Y-%m-%d", "%Y-%m-%d", "%d.%m.%Y", "%Y%m%d"],
        "TIME" => ["%h:%i:%s %p", "%H:%i:%s", "%H:%i:%s", "%H.%i.%s", "%H%i%s"],
        _ => [
            "%Y-%m-%d %H.%i.%s",
            "%Y-%m-%d %H:%i:%s",
            "%Y-%m-%d %H:%i:%s",
            "%Y-%m-%d %H.%i.%s",
            "%Y%m%d%H%i%s",
        ],
    };
    let at = ["USA", "JIS", "ISO", "EUR", "INTERNAL"]
        .iter()
        .position(|name| region.eq_ignore_ascii_case(name));
    Ok(at.map_or(Value::Null, |at| Value::Text(formats[at].to_owned())))
}
