//! Parts of dates and times: YEAR, WEEK, HOUR, DAYNAME, EXTRACT …

use paceline_types::temporal::{
    IntervalUnit, ParsedTemporal, WeekMode, day_number, day_of_year, parse_time, week_and_year, weekday,
};
use paceline_types::{Date, DateTime, Time, Value};

use super::arguments::{Args, BindCall, some};
use super::temporal::unit_named;
use super::{Function, pure};
use crate::error::Result;
use crate::expr::context::EvalContext;
use crate::expr::errors;
use crate::expr::expr_type::ExprType;

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
    pure(
        "dayname",
        (1, 1),
        |call| Ok(call.connection_text(9).nullable()),
        |args, context| {
            let datetime = some!(args.real_datetime(0, context)?);
            Ok(whole(datetime.date).map_or(Value::Null, |date| {
                Value::Text(DAYS[weekday(date) as usize].to_owned())
            }))
        },
    ),
    pure(
        "monthname",
        (1, 1),
        |call| Ok(call.connection_text(9).nullable()),
        |args, context| {
            let datetime = some!(args.datetime(0, context)?);
            let name = usize::from(datetime.date.month)
                .checked_sub(1)
                .and_then(|month| MONTHS.get(month));
            Ok(name.map_or(Value::Null, |name| Value::Text((*name).to_owned())))
        },
    ),
    pure("extract", (2, 2), bind_extract, eval_extract),
];

/// From Monday.
pub(super) const DAYS: [&str; 7] = [
    "Monday",
    "Tuesday",
    "Wednesday",
    "Thursday",
    "Friday",
    "Saturday",
    "Sunday",
];
pub(super) const MONTHS: [&str; 12] = [
    "January",
    "February",
    "March",
    "April",
    "May",
    "June",
    "July",
    "August",
    "September",
    "October",
    "November",
    "December",
];

fn whole(date: Date) -> Option<Date> {
    (date.month != 0 && date.day != 0 && day_number(date) > 0).then_some(date)
}

fn date_part(args: &Args<'_>, context: &mut EvalContext<'_>, part: fn(Date) -> i64) -> Result<Value> {
    Ok(args
        .datetime(0, context)?
        .map_or(Value::Null, |datetime| Value::Int(part(datetime.date))))
}

/// A part that dates with zeros do not have.
fn whole_date_part(args: &Args<'_>, context: &mut EvalContext<'_>, part: fn(Date) -> i64) -> Result<Value> {
    let datetime = some!(args.datetime(0, context)?);
    Ok(whole(datetime.date).map_or(Value::Null, |date| Value::Int(part(date))))
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
    let datetime = some!(args.datetime(0, context)?);
    let mode = week_mode(args, context)?;
    let date = some!(whole(datetime.date));
    Ok(Value::Int(i64::from(
        week_and_year(date, WeekMode::from_number(mode)).0,
    )))
}

fn eval_yearweek(args: &Args<'_>, context: &mut EvalContext<'_>) -> Result<Value> {
    let datetime = some!(args.datetime(0, context)?);
    let mode = if args.len() > 1 {
        (args.int(1, context)?.unwrap_or(0) & 7) as u32
    } else {
        0
    };
    let date = some!(whole(datetime.date));
    let (week, year) = week_and_year(date, WeekMode::from_number(mode | 2));
    Ok(Value::Int(i64::from(year.wrapping_mul(100).wrapping_add(week))))
}

fn bind_extract(call: &mut BindCall<'_>) -> Result<ExprType> {
    use IntervalUnit as U;
    let word = match call.args[0].as_literal() {
        Some(Value::Text(text)) => text.as_str(),
        _ => "",
    };
    let width = match unit_named(word).ok_or_else(|| errors::syntax_near(word))? {
        U::Year => 4,
        U::YearMonth => 6,
        U::Quarter | U::Month | U::Week | U::Day | U::Hour | U::Minute | U::Second => 2,
        U::Microsecond => 6,
        U::DayHour | U::HourMinute | U::MinuteSecond => 4,
        U::DayMinute | U::HourSecond => 6,
        U::DaySecond => 8,
        U::DayMicrosecond => 20,
        U::HourMicrosecond => 14,
        U::MinuteMicrosecond => 11,
        U::SecondMicrosecond => 9,
    };
    Ok(if width > 10 {
        ExprType::bigint(width)
    } else {
        ExprType::int(width)
    }
    .nullable())
}

fn eval_extract(args: &Args<'_>, context: &mut EvalContext<'_>) -> Result<Value> {
    use IntervalUnit as U;
    let unit = unit_named(args.keyword(0)).ok_or_else(|| errors::syntax_near(args.keyword(0)))?;
    let of_date = matches!(
        unit,
        U::Year | U::YearMonth | U::Quarter | U::Month | U::Week | U::Day
    ) || (matches!(unit, U::DayHour | U::DayMinute | U::DaySecond | U::DayMicrosecond)
        && args.ty_of(1).class().is_temporal()
        && args.ty_of(1).class() != crate::expr::expr_type::Class::Time);
    if of_date {
        let datetime = some!(args.datetime(1, context)?);
        return Ok(extract_from_date(unit, datetime, context).map_or(Value::Null, Value::Int));
    }
    if matches!(unit, U::DayHour | U::DayMinute | U::DaySecond | U::DayMicrosecond)
        && let Value::Text(text) = &*args.value(1, context)?
        && let Some(ParsedTemporal::DateTime(parsed)) = parse_time(text)
    {
        return Ok(extract_from_date(unit, parsed.value, context).map_or(Value::Null, Value::Int));
    }
    let time = some!(args.time(1, context)?);
    let sign = if time.is_negative() { -1 } else { 1 };
    let (days, hours) = match unit {
        U::DayHour | U::DayMinute | U::DaySecond | U::DayMicrosecond => {
            (i64::from(time.hours() / 24), i64::from(time.hours() % 24))
        }
        _ => (0, i64::from(time.hours())),
    };
    let (minutes, seconds, micros) = (
        i64::from(time.minute()),
        i64::from(time.second()),
        i64::from(time.microsecond()),
    );
    Ok(Value::Int(
        sign * time_number(unit, days, hours, minutes, seconds, micros),
    ))
}

/// The number that EXTRACT makes of the parts of a unit.
fn time_number(unit: IntervalUnit, days: i64, hours: i64, minutes: i64, seconds: i64, micros: i64) -> i64 {
    use IntervalUnit as U;
    match unit {
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
