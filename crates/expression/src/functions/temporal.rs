//! Dates and times made of parts and of each other, day numbers, differences in days and units.

use paceline_types::temporal::{self, IntervalUnit, date_from_day_number, day_number};
use paceline_types::{Date, Decimal, Time, Value};

use super::date_arithmetic::{absolute_micros, day_second, from_absolute_micros};
use super::temporal_fraction::{ReadAs, argument_fraction};
use super::temporal_parts::{real_day, unit_named};
use crate::context::EvalContext;
use crate::error::Result;
use crate::errors;
use crate::expr_type::ExprType;
use crate::functions::arguments::some;
use crate::tree::{Args, BindCall, Function, pure, steady};

pub(super) static FUNCTIONS: &[Function] = &[
    pure(
        "datediff",
        (2, 2),
        |_| Ok(ExprType::int32(8).nullable()),
        eval_datediff,
    ),
    pure(
        "timestampdiff",
        (3, 3),
        |_| Ok(ExprType::bigint(21).nullable()),
        eval_timestampdiff,
    ),
    pure("timestamp", (1, 2), bind_timestamp, eval_timestamp),
    pure(
        "date",
        (1, 1),
        |_| Ok(ExprType::date().nullable()),
        |args, context| {
            Ok(args
                .day(0, context)?
                .map_or(Value::Null, |datetime| Value::Date(datetime.date)))
        },
    ),
    pure(
        "time",
        (1, 1),
        |call| Ok(ExprType::time(argument_fraction(call, 0, ReadAs::Time)).nullable()),
        |args, context| {
            let time = some!(args.time(0, context)?);
            Ok(Value::Time(time.truncated(args.ty.decimals())))
        },
    ),
    pure(
        "makedate",
        (2, 2),
        |_| Ok(ExprType::date().nullable()),
        eval_makedate,
    ),
    pure(
        "maketime",
        (3, 3),
        |call| Ok(ExprType::time(argument_fraction(call, 2, ReadAs::Number)).nullable()),
        eval_maketime,
    ),
    // Never folded: its zero date is treated differently from that of a literal (`real_datetime_of`).
    steady(
        "from_days",
        (1, 1),
        |call| Ok(call.with_nullability(ExprType::date())),
        |args, context| {
            let number = some!(args.int(0, context)?);
            Ok(Value::Date(date_from_day_number(
                u32::try_from(number).unwrap_or(0),
            )))
        },
    ),
    pure(
        "to_days",
        (1, 1),
        |_| Ok(ExprType::int(6).nullable()),
        |args, context| {
            let datetime = some!(args.real_datetime(0, context)?);
            Ok(Value::Int(i64::from(day_number(datetime.date))))
        },
    ),
    pure(
        "to_seconds",
        (1, 1),
        |_| Ok(ExprType::bigint(12).nullable()),
        |args, context| {
            let datetime = some!(args.real_datetime(0, context)?);
            let day = day_number(datetime.date);
            Ok(Value::Int(
                i64::from(day) * 86_400 + datetime.micros_of_day() / 1_000_000,
            ))
        },
    ),
    pure(
        "last_day",
        (1, 1),
        |_| Ok(ExprType::date().nullable()),
        |args, context| {
            let datetime = some!(args.day(0, context)?);
            Ok(temporal::last_day(datetime.date).map_or(Value::Null, Value::Date))
        },
    ),
];

fn eval_datediff(args: &Args<'_>, context: &mut EvalContext<'_>) -> Result<Value> {
    // Both are evaluated, even if the first is NULL.
    let left = args.real_datetime(0, context)?;
    let right = args.real_datetime(1, context)?;
    let (left, right) = (day_number(some!(left).date), day_number(some!(right).date));
    Ok(Value::Int(i64::from(left) - i64::from(right)))
}

fn eval_timestampdiff(args: &Args<'_>, context: &mut EvalContext<'_>) -> Result<Value> {
    use IntervalUnit as U;
    let unit = unit_named(args.keyword(0)).ok_or_else(|| errors::syntax_near(args.keyword(0)))?;
    let from = some!(args.real_datetime(1, context)?);
    let to = some!(args.real_datetime(2, context)?);
    let micros = absolute_micros(to) - absolute_micros(from);
    let months = || {
        let (early, late, sign) = if micros < 0 { (to, from, -1) } else { (from, to, 1) };
        let index = |date: Date| i64::from(date.year) * 12 + i64::from(date.month);
        let mut months = index(late.date) - index(early.date);
        if (late.date.day, late.micros_of_day()) < (early.date.day, early.micros_of_day()) {
            months -= 1;
        }
        months * sign
    };
    Ok(Value::Int(match unit {
        U::Year => months() / 12,
        U::Quarter => months() / 3,
        U::Month => months(),
        U::Week => micros / (7 * 86_400_000_000),
        U::Day => micros / 86_400_000_000,
        U::Hour => micros / 3_600_000_000,
        U::Minute => micros / 60_000_000,
        U::Second => micros / 1_000_000,
        U::Microsecond => micros,
        _ => return Err(errors::syntax_near(args.keyword(0))),
    }))
}

fn bind_timestamp(call: &mut BindCall<'_>) -> Result<ExprType> {
    let decimals = (0..call.args.len())
        .map(|index| match index {
            0 => argument_fraction(call, index, ReadAs::DateTime),
            _ => argument_fraction(call, index, ReadAs::Time),
        })
        .max()
        .unwrap_or(0);
    Ok(ExprType::datetime(decimals).nullable())
}

fn eval_timestamp(args: &Args<'_>, context: &mut EvalContext<'_>) -> Result<Value> {
    let datetime = some!(args.datetime(0, context)?);
    let decimals = args.ty.decimals().min(6);
    if args.len() == 1 {
        return Ok(Value::DateTime(datetime.truncated(decimals)));
    }
    let value = args.value(1, context)?;
    let added = some!(day_second(&value, context)?);
    some!(real_day(datetime.date));
    let sum = from_absolute_micros(absolute_micros(datetime) + added, decimals);
    Ok(sum.map_or(Value::Null, Value::DateTime))
}

fn eval_makedate(args: &Args<'_>, context: &mut EvalContext<'_>) -> Result<Value> {
    // Both are evaluated, even if the first is NULL.
    let year = args.int(0, context)?;
    let day = args.int(1, context)?;
    let (year, day) = (some!(year), some!(day));
    if !(0..=9999).contains(&year) || day <= 0 {
        return Ok(Value::Null);
    }
    let year = two_digit_year(year);
    let number = i64::from(day_number(Date::new(year as u16, 1, 1))).saturating_add(day - 1);
    Ok(match u32::try_from(number) {
        Ok(number) if (366..=temporal::DAY_NUMBER_MAX).contains(&number) => {
            Value::Date(date_from_day_number(number))
        }
        _ => Value::Null,
    })
}

/// Converts 0 to 69 to 2000 to 2069, and 70 to 99 to 1970 to 1999.
fn two_digit_year(year: i64) -> i64 {
    match year {
        0..=69 => year + 2000,
        70..=99 => year + 1900,
        year => year,
    }
}

fn eval_maketime(args: &Args<'_>, context: &mut EvalContext<'_>) -> Result<Value> {
    // All are evaluated, even if the first is NULL.
    let hour = args.wide_int(0, context)?;
    let minute = args.int(1, context)?;
    let second = args.decimal(2, context)?;
    let (hour, minute, second) = (some!(hour), some!(minute), some!(second));
    if !(0..60).contains(&minute) || second.is_negative() || second >= Decimal::from(60i64) {
        return Ok(Value::Null);
    }
    let micros = second
        .round(6, super::temporal_number::fraction_rounding(context))
        .mul(&Decimal::from(1_000_000i64))?
        .to_i64()?;
    let magnitude = i64::try_from(hour.unsigned_abs())
        .unwrap_or(i64::MAX)
        .saturating_mul(3_600_000_000)
        .saturating_add(minute * 60_000_000 + micros);
    let total = if hour < 0 { -magnitude } else { magnitude };
    let result = Time::from_micros(total, args.ty.decimals().min(6));
    if result.micros() != total {
        let text = format!("{hour:02}:{minute:02}:{:02}", micros / 1_000_000);
        context.warn_truncated("time", &Value::Text(text))?;
    }
    Ok(Value::Time(result.truncated(args.ty.decimals().min(6))))
}
