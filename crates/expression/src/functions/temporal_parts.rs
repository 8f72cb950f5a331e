//! Parts of dates and times: YEAR, WEEK, HOUR, DAYNAME, EXTRACT and others.

use paceline_types::convert::number_to_interval;
use paceline_types::temporal::{
    ExtractedPart, IntervalOrDateTime, IntervalUnit, ParseResult, WeekMode, day_number, day_of_year,
    parse_extract_source, week_and_year, weekday,
};
use paceline_types::{Date, DateTime, Time, Value};

use super::temporal_format::names_are_ascii;
use crate::context::EvalContext;
use crate::error::Result;
use crate::errors;
use crate::eval::convert;
use crate::expr_type::ExprType;
use crate::functions::arguments::some;
use crate::tree::{Args, BindCall, Function, pure, steady};

pub(super) static FUNCTIONS: &[Function] = &[
    pure(
        "year",
        (1, 1),
        |_| Ok(ExprType::int(4).nullable()),
        |args, context| date_part(args, context, |date| i64::from(date.year)),
    ),
    pure(
        "quarter",
        (1, 1),
        |_| Ok(ExprType::int(1).nullable()),
        |args, context| date_part(args, context, |date| (i64::from(date.month) + 2) / 3),
    ),
    pure(
        "month",
        (1, 1),
        |_| Ok(ExprType::int(2).nullable()),
        |args, context| date_part(args, context, |date| i64::from(date.month)),
    ),
    pure(
        "day",
        (1, 1),
        |_| Ok(ExprType::int(2).nullable()),
        |args, context| date_part(args, context, |date| i64::from(date.day)),
    ),
    pure(
        "dayofmonth",
        (1, 1),
        |_| Ok(ExprType::int(2).nullable()),
        |args, context| date_part(args, context, |date| i64::from(date.day)),
    ),
    pure(
        "dayofweek",
        (1, 1),
        |_| Ok(ExprType::int(1).nullable()),
        |args, context| whole_date_part(args, context, |date| i64::from((weekday(date) + 1) % 7) + 1),
    ),
    pure(
        "weekday",
        (1, 1),
        |_| Ok(ExprType::int(1).nullable()),
        |args, context| whole_date_part(args, context, |date| i64::from(weekday(date))),
    ),
    pure(
        "dayofyear",
        (1, 1),
        |_| Ok(ExprType::int(3).nullable()),
        |args, context| whole_date_part(args, context, |date| i64::from(day_of_year(date))),
    ),
    pure("week", (1, 2), |_| Ok(ExprType::int(2).nullable()), eval_week),
    pure(
        "weekofyear",
        (1, 1),
        |_| Ok(ExprType::int(2).nullable()),
        |args, context| {
            whole_date_part(args, context, |date| {
                i64::from(week_and_year(date, WeekMode::from_number(3)).0)
            })
        },
    ),
    pure(
        "yearweek",
        (1, 2),
        |_| Ok(ExprType::int(6).nullable()),
        eval_yearweek,
    ),
    pure(
        "hour",
        (1, 1),
        |_| Ok(ExprType::int(2).nullable()),
        |args, context| time_part(args, context, |time| i64::from(time.hours())),
    ),
    pure(
        "minute",
        (1, 1),
        |_| Ok(ExprType::int(2).nullable()),
        |args, context| time_part(args, context, |time| i64::from(time.minute())),
    ),
    pure(
        "second",
        (1, 1),
        |_| Ok(ExprType::int(2).nullable()),
        |args, context| time_part(args, context, |time| i64::from(time.second())),
    ),
    pure(
        "microsecond",
        (1, 1),
        |_| Ok(ExprType::int(6).nullable()),
        |args, context| time_part(args, context, |time| i64::from(time.microsecond())),
    ),
    // The names in the result depend on `lc_time_names`.
    steady(
        "dayname",
        (1, 1),
        |call| {
            let characters = call.session.settings.time_locale.day_characters_max();
            Ok(bind_name(call, characters))
        },
        |args, context| {
            let datetime = some!(args.real_datetime(0, context)?);
            let names = &context.session.settings.time_locale.days;
            Ok(Value::Text(names[weekday(datetime.date) as usize].to_owned()))
        },
    ),
    steady(
        "monthname",
        (1, 1),
        |call| {
            let characters = call.session.settings.time_locale.month_characters_max();
            Ok(bind_name(call, characters))
        },
        |args, context| {
            let datetime = some!(args.datetime(0, context)?);
            let name = usize::from(datetime.date.month)
                .checked_sub(1)
                .and_then(|month| context.session.settings.time_locale.months.get(month));
            Ok(name.map_or(Value::Null, |name| Value::Text((*name).to_owned())))
        },
    ),
    pure("extract", (2, 2), bind_extract, eval_extract),
];

/// Returns the type of a day's or month's name.
fn bind_name(call: &BindCall<'_>, characters: u64) -> ExprType {
    match names_are_ascii(call.session.settings.time_locale) {
        true => call.ascii_text(characters),
        false => call.connection_text(characters),
    }
    .nullable()
}

fn whole(date: Date) -> Option<Date> {
    (date.month != 0 && date.day != 0 && day_number(date) > 0).then_some(date)
}

fn date_part(args: &Args<'_>, context: &mut EvalContext<'_>, part: fn(Date) -> i64) -> Result<Value> {
    Ok(args
        .datetime(0, context)?
        .map_or(Value::Null, |datetime| Value::Int(part(datetime.date))))
}

/// Evaluates a part that dates with zeros do not have.
fn whole_date_part(args: &Args<'_>, context: &mut EvalContext<'_>, part: fn(Date) -> i64) -> Result<Value> {
    let datetime = some!(args.real_datetime(0, context)?);
    Ok(Value::Int(part(datetime.date)))
}

fn time_part(args: &Args<'_>, context: &mut EvalContext<'_>, part: fn(Time) -> i64) -> Result<Value> {
    Ok(args
        .time(0, context)?
        .map_or(Value::Null, |time| Value::Int(part(time))))
}

fn week_mode(args: &Args<'_>, context: &mut EvalContext<'_>) -> Result<u32> {
    if args.len() > 1 {
        return Ok((args.int(1, context)?.unwrap_or(0) & 7) as u32);
    }
    Ok(u32::from(context.session.settings.default_week_format) & 7)
}

fn eval_week(args: &Args<'_>, context: &mut EvalContext<'_>) -> Result<Value> {
    let datetime = some!(args.real_datetime(0, context)?);
    let mode = week_mode(args, context)?;
    Ok(Value::Int(i64::from(
        week_and_year(datetime.date, WeekMode::from_number(mode)).0,
    )))
}

fn eval_yearweek(args: &Args<'_>, context: &mut EvalContext<'_>) -> Result<Value> {
    let datetime = some!(args.real_datetime(0, context)?);
    let mode = if args.len() > 1 {
        (args.int(1, context)?.unwrap_or(0) & 7) as u32
    } else {
        0
    };
    let (week, year) = week_and_year(datetime.date, WeekMode::from_number(mode | 2));
    Ok(Value::Int(i64::from(year.wrapping_mul(100).wrapping_add(week))))
}

fn bind_extract(call: &mut BindCall<'_>) -> Result<ExprType> {
    use IntervalUnit as U;
    let word = match call.args[0].as_literal() {
        Some(Value::Text(text)) => text.as_str(),
        _ => "",
    };
    let unit = unit_named(word).ok_or_else(|| errors::syntax_near(word))?;
    // Digits of days: those of a month, or of an interval. All widths have room for a sign.
    let days = match call.args[1].ty.class().is_temporal() {
        true => 2,
        false => 7,
    };
    let width = match unit {
        U::Quarter => 2,
        U::Month | U::Week | U::Hour | U::Minute | U::Second => 3,
        U::Year | U::HourMinute | U::MinuteSecond => 5,
        U::YearMonth | U::HourSecond | U::Microsecond => 7,
        U::SecondMicrosecond => 9,
        U::MinuteMicrosecond => 11,
        U::HourMicrosecond => 13,
        U::Day => days + 1,
        U::DayHour => days + 3,
        U::DayMinute => days + 5,
        U::DaySecond => days + 7,
        U::DayMicrosecond => days + 13,
    };
    Ok(if width > 10 {
        ExprType::bigint(width)
    } else {
        ExprType::int32(width)
    }
    .nullable())
}

fn eval_extract(args: &Args<'_>, context: &mut EvalContext<'_>) -> Result<Value> {
    use IntervalUnit as U;
    let unit = unit_named(args.keyword(0)).ok_or_else(|| errors::syntax_near(args.keyword(0)))?;
    let value = args.value(1, context)?;
    let of_date = matches!(unit, U::Year | U::YearMonth | U::Quarter | U::Month | U::Week);
    let operand = &args.call.args[1];
    if of_date && !matches!(&*value, Value::Time(_)) {
        let datetime = context.convert_operand(operand, |context| convert::to_datetime(&value, context))?;
        return Ok(extract_from_date(unit, some!(datetime), context).map_or(Value::Null, Value::Int));
    }
    let source = context.convert_operand(operand, |context| extract_source(unit, &value, context))?;
    let micros = match some!(source) {
        IntervalOrDateTime::DateTime(read) => {
            return Ok(extract_from_date(unit, read.value, context).map_or(Value::Null, Value::Int));
        }
        // A time has no year.
        IntervalOrDateTime::Interval(_) if of_date => return Ok(Value::Int(0)),
        IntervalOrDateTime::Interval(read) => read.value,
    };
    let magnitude = micros.unsigned_abs() as i64;
    let seconds = magnitude / 1_000_000;
    let number = time_number(
        unit,
        seconds / 86_400,
        seconds / 3600 % 24,
        seconds / 60 % 60,
        seconds % 60,
        magnitude % 1_000_000,
    );
    Ok(Value::Int(if micros < 0 { -number } else { number }))
}

/// Returns the source of EXTRACT for units other than year, month and week: an interval, whose full days are days, or a
/// datetime.
fn extract_source(
    unit: IntervalUnit,
    value: &Value,
    context: &mut EvalContext<'_>,
) -> Result<Option<IntervalOrDateTime>> {
    use IntervalUnit as U;
    let part = match unit {
        U::Day | U::DayHour | U::DayMinute | U::DaySecond | U::DayMicrosecond => ExtractedPart::Days,
        _ => ExtractedPart::Time,
    };
    let value = &*convert::bits_as_text(value, context);
    let read = match value {
        Value::Null => return Ok(None),
        Value::Time(time) => Some(IntervalOrDateTime::Interval(ParseResult::whole(time.micros()))),
        Value::Year(year) => number_to_interval(&Value::Int(i64::from(*year) * 10_000)),
        Value::Date(_) | Value::DateTime(_) | Value::Timestamp(_) => {
            let datetime = convert::to_datetime(value, context)?;
            return Ok(datetime.map(|datetime| IntervalOrDateTime::DateTime(ParseResult::whole(datetime))));
        }
        Value::Text(_) | Value::Bytes(_) | Value::Enum(_) | Value::Set(_) => {
            let text = convert::text_of(value, context);
            parse_extract_source(&text, context.lax_convert_context().date_modes, part)
        }
        _ => number_to_interval(value),
    };
    let (kind, truncated, fraction_cut) = match &read {
        None => {
            context.warn_incorrect("interval", value)?;
            return Ok(None);
        }
        Some(IntervalOrDateTime::Interval(read)) => ("time", read.truncated, read.fraction_cut),
        Some(IntervalOrDateTime::DateTime(read)) => match read.has_time {
            true => ("datetime", read.truncated, read.fraction_cut),
            false => ("date", read.truncated, read.fraction_cut),
        },
    };
    if truncated {
        context.warn_truncated(kind, value)?;
    } else if fraction_cut {
        context.note_truncated(kind, value);
    }
    Ok(read)
}

/// Combines the parts of a unit to EXTRACT's number.
fn time_number(unit: IntervalUnit, days: i64, hours: i64, minutes: i64, seconds: i64, micros: i64) -> i64 {
    use IntervalUnit as U;
    match unit {
        U::Day => days,
        U::Hour => hours,
        U::Minute => minutes,
        U::Second => seconds,
        U::Microsecond => micros,
        U::DayHour => days * 100 + hours,
        U::DayMinute => days * 10_000 + hours * 100 + minutes,
        U::DaySecond => days * 1_000_000 + hours * 10_000 + minutes * 100 + seconds,
        U::DayMicrosecond => {
            (days * 1_000_000 + hours * 10_000 + minutes * 100 + seconds) * 1_000_000 + micros
        }
        U::HourMinute => hours * 100 + minutes,
        U::HourSecond => hours * 10_000 + minutes * 100 + seconds,
        U::HourMicrosecond => (hours * 10_000 + minutes * 100 + seconds) * 1_000_000 + micros,
        U::MinuteSecond => minutes * 100 + seconds,
        U::MinuteMicrosecond => (minutes * 100 + seconds) * 1_000_000 + micros,
        _ => seconds * 1_000_000 + micros,
    }
}

fn extract_from_date(unit: IntervalUnit, datetime: DateTime, context: &EvalContext<'_>) -> Option<i64> {
    use IntervalUnit as U;
    let date = datetime.date;
    Some(match unit {
        U::Year => i64::from(date.year),
        U::YearMonth => i64::from(date.year) * 100 + i64::from(date.month),
        U::Quarter => (i64::from(date.month) + 2) / 3,
        U::Month => i64::from(date.month),
        U::Week => {
            let mode = u32::from(context.session.settings.default_week_format);
            i64::from(week_and_year(whole(date)?, WeekMode::from_number(mode)).0)
        }
        U::Day => i64::from(date.day),
        _ => time_number(
            unit,
            i64::from(date.day),
            i64::from(datetime.hour),
            i64::from(datetime.minute),
            i64::from(datetime.second),
            i64::from(datetime.micros),
        ),
    })
}

/// Looks up a unit by its name.
pub(super) fn unit_named(name: &str) -> Option<IntervalUnit> {
    use IntervalUnit as U;
    Some(match name {
        "YEAR" => U::Year,
        "QUARTER" => U::Quarter,
        "MONTH" => U::Month,
        "WEEK" => U::Week,
        "DAY" => U::Day,
        "HOUR" => U::Hour,
        "MINUTE" => U::Minute,
        "SECOND" => U::Second,
        "MICROSECOND" => U::Microsecond,
        "YEAR_MONTH" => U::YearMonth,
        "DAY_HOUR" => U::DayHour,
        "DAY_MINUTE" => U::DayMinute,
        "DAY_SECOND" => U::DaySecond,
        "DAY_MICROSECOND" => U::DayMicrosecond,
        "HOUR_MINUTE" => U::HourMinute,
        "HOUR_SECOND" => U::HourSecond,
        "HOUR_MICROSECOND" => U::HourMicrosecond,
        "MINUTE_SECOND" => U::MinuteSecond,
        "MINUTE_MICROSECOND" => U::MinuteMicrosecond,
        "SECOND_MICROSECOND" => U::SecondMicrosecond,
        _ => return None,
    })
}

/// Returns the day number of a date whose month and day are not zero.
pub(super) fn real_day(date: Date) -> Option<u32> {
    (date.month != 0 && date.day != 0).then(|| day_number(date))
}
