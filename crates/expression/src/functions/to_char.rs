//! TO_CHAR: a date in a format of Oracle's. What is not a word of the table, a character other than a letter or digit,
//! or in double quotes, is an error (3047): when the call is bound if the format is a literal, else a warning.

use std::fmt::Write;

use paceline_types::error_code::ER_STD_INVALID_ARGUMENT;
use paceline_types::temporal::weekday;
use paceline_types::{DateTime, Value};

use super::arguments::some;
use super::temporal_format::names_are_ascii;
use crate::context::EvalContext;
use crate::error::{Error, Result};
use crate::errors;
use crate::expr_type::{Class, ExprType, Repertoire};
use crate::tree::{Args, BindCall, Function, steady};

pub(super) static FUNCTIONS: &[Function] = &[
    // The names of days depend on a variable.
    steady("to_char", (1, 2), bind, eval),
];

const DEFAULT_FORMAT: &str = "YYYY-MM-DD HH24:MI:SS";

/// Bytes of a format.
const FORMAT_BYTES_MAX: usize = 144;

/// Bytes of the format that an error shows.
const SHOWN_MAX: usize = 8;

/// A part of a date.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Part {
    Era,
    EraWithPoints,
    Half,
    HalfWithPoints,
    DayName,
    Day,
    ShortDayName,
    Hour12,
    Hour24,
    Minute,
    Month,
    ShortMonthName,
    MonthName,
    Second,
    /// The last digits of the year.
    Year(u8),
    Literal(char),
}

/// Words of a format; the longer of two that start alike first.
const WORDS: [(&str, Part); 24] = [
    ("A.D.", Part::EraWithPoints),
    ("A.M.", Part::HalfWithPoints),
    ("AD", Part::Era),
    ("AM", Part::Half),
    ("B.C.", Part::EraWithPoints),
    ("BC", Part::Era),
    ("P.M.", Part::HalfWithPoints),
    ("PM", Part::Half),
    ("DAY", Part::DayName),
    ("DD", Part::Day),
    ("DY", Part::ShortDayName),
    ("HH12", Part::Hour12),
    ("HH24", Part::Hour24),
    ("HH", Part::Hour12),
    ("MI", Part::Minute),
    ("MM", Part::Month),
    ("MONTH", Part::MonthName),
    ("MON", Part::ShortMonthName),
    ("RRRR", Part::Year(4)),
    ("SS", Part::Second),
    ("YYYY", Part::Year(4)),
    ("YYY", Part::Year(3)),
    ("YY", Part::Year(2)),
    ("Y", Part::Year(1)),
];

/// Returns the parts of a format, or the text of error 3047.
fn parse(format: &str) -> std::result::Result<Vec<Part>, String> {
    if format.len() > FORMAT_BYTES_MAX {
        return Err("datetime format string is too long".to_owned());
    }
    let mut parts = Vec::new();
    let mut rest = format;
    while let Some(character) = rest.chars().next() {
        let starts = |word: &str| {
            rest.get(..word.len())
                .is_some_and(|start| start.eq_ignore_ascii_case(word))
        };
        let word = WORDS.iter().find(|(word, _)| starts(word));
        if let Some((word, part)) = word {
            parts.push(*part);
            rest = &rest[word.len()..];
            continue;
        }
        // RRR is no word.
        if starts("RR") && !starts("RRR") {
            parts.push(Part::Year(2));
            rest = &rest[2..];
            continue;
        }
        if character == '"' {
            let quoted = &rest[1..];
            let end = quoted.find('"');
            let text = &quoted[..end.unwrap_or(quoted.len())];
            parts.extend(text.chars().map(Part::Literal));
            rest = end.map_or("", |end| &quoted[end + 1..]);
            continue;
        }
        let is_variable = character == '&' && rest[1..].starts_with(|c: char| c.is_ascii_alphabetic());
        if !matches!(character, ' '..='~') || character.is_ascii_alphanumeric() || is_variable {
            let end = (0..=SHOWN_MAX.min(rest.len()))
                .rev()
                .find(|end| rest.is_char_boundary(*end));
            let shown = &rest[..end.unwrap_or(0)];
            return Err(format!("date format not recognized at {shown}"));
        }
        parts.push(Part::Literal(character));
        rest = &rest[1..];
    }
    Ok(parts)
}

fn invalid(problem: &str) -> Error {
    errors::error(ER_STD_INVALID_ARGUMENT, &[&problem, &"to_char"])
}

fn bind(call: &mut BindCall<'_>) -> Result<ExprType> {
    let ty = &call.args[0].ty;
    let is_date = match ty.class() {
        Class::Date | Class::Time | Class::DateTime => true,
        Class::String => !ty.is_long_text(),
        Class::Null => ty.is_parameter(),
        _ => false,
    };
    if !is_date {
        return Err(invalid(
            "data type of first argument must be type date/datetime/time or string",
        ));
    }
    let locale = call.session.settings.time_locale;
    let repertoire = match names_are_ascii(locale) {
        true => Repertoire::Ascii,
        false => Repertoire::Full,
    };
    let characters = match call.args.get(1).map(|format| (format, format.as_literal())) {
        Some((_, Some(Value::Null))) => 0,
        Some((format, None)) => format.ty.max_bytes().saturating_mul(10),
        Some((format, Some(literal))) => match literal {
            Value::Text(text) => {
                let parts = parse(text).map_err(|problem| invalid(&problem))?;
                // MariaDB counts bytes.
                let months = locale.month_characters_max() * 3;
                let days = locale.day_characters_max() * 3;
                let width = |part: &Part| match part {
                    Part::MonthName => months,
                    Part::DayName => days,
                    Part::Era | Part::Half | Part::Day | Part::Minute | Part::Month | Part::Second => 2,
                    Part::Hour12 | Part::Hour24 => 2,
                    Part::EraWithPoints | Part::HalfWithPoints => 4,
                    Part::ShortDayName | Part::ShortMonthName => 3,
                    Part::Year(digits) => u64::from(*digits),
                    Part::Literal(_) => 1,
                };
                parts.iter().map(width).sum()
            }
            _ => format.ty.max_bytes().saturating_mul(10),
        },
        None => 19,
    };
    Ok(ExprType::text(characters, call.connection())
        .with_repertoire(repertoire)
        .nullable())
}

fn eval(args: &Args<'_>, context: &mut EvalContext<'_>) -> Result<Value> {
    let datetime = match args.ty_of(0).class() {
        Class::Time => {
            let time = some!(args.time(0, context)?);
            (DateTime::ZERO, time.hours(), time.minute(), time.second())
        }
        _ => {
            let datetime = some!(args.datetime(0, context)?);
            let (hour, minute, second) = (datetime.hour, datetime.minute, datetime.second);
            (datetime, hour.into(), minute.into(), second.into())
        }
    };
    let format = match args.len() {
        1 => DEFAULT_FORMAT.into(),
        _ => some!(args.text(1, context)?),
    };
    let parts = match parse(&format) {
        Ok(parts) => parts,
        Err(problem) => {
            let message = ER_STD_INVALID_ARGUMENT.message(&[&problem, &"to_char"]);
            context.warn(ER_STD_INVALID_ARGUMENT, message)?;
            return Ok(Value::Null);
        }
    };
    let locale = context.session.settings.time_locale;
    let (datetime, hour, minute, second) = datetime;
    let date = datetime.date;
    let mut out = String::new();
    for part in parts {
        let month = usize::from(date.month).checked_sub(1);
        let day = (date.day != 0).then(|| weekday(date));
        let width = |characters: u64| usize::try_from(characters).unwrap_or(0);
        let written = match part {
            Part::Literal(character) => write!(out, "{character}"),
            Part::Era => write!(out, "{}", if date.year > 0 { "AD" } else { "BC" }),
            Part::EraWithPoints => write!(out, "{}", if date.year > 0 { "A.D." } else { "B.C." }),
            Part::Half => write!(out, "{}", if hour > 11 { "PM" } else { "AM" }),
            Part::HalfWithPoints => write!(out, "{}", if hour > 11 { "P.M." } else { "A.M." }),
            Part::Year(4) => write!(out, "{:04}", date.year),
            Part::Year(3) => write!(out, "{:03}", date.year % 1000),
            Part::Year(2) => write!(out, "{:02}", date.year % 100),
            Part::Year(_) => write!(out, "{}", date.year % 10),
            Part::Month => write!(out, "{:02}", date.month),
            Part::Day => write!(out, "{:02}", date.day),
            Part::Hour12 => write!(out, "{:02}", (hour + 11) % 12 + 1),
            Part::Hour24 => write!(out, "{hour:02}"),
            Part::Minute => write!(out, "{minute:02}"),
            Part::Second => write!(out, "{second:02}"),
            Part::MonthName => match month.and_then(|month| locale.months.get(month)) {
                Some(name) => write!(out, "{name:<0$}", width(locale.month_characters_max())),
                None => write!(out, "00"),
            },
            Part::ShortMonthName => match month.and_then(|month| locale.short_months.get(month)) {
                Some(name) => write!(out, "{name}"),
                None => write!(out, "00"),
            },
            Part::DayName => match day {
                Some(day) => write!(
                    out,
                    "{:<1$}",
                    locale.days[day as usize],
                    width(locale.day_characters_max())
                ),
                None => write!(out, "00"),
            },
            Part::ShortDayName => match day {
                Some(day) => write!(out, "{}", locale.short_days[day as usize]),
                None => write!(out, "00"),
            },
        };
        written.expect("a string takes all that is written");
    }
    Ok(Value::Text(out))
}
