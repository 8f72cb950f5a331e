//! Dates and times as numbers and back: Unix time, seconds of a time, periods; conversion between time zones.

use paceline_types::decimal::Rounding;
use paceline_types::temporal::Fractions;
use paceline_types::{Decimal, Time, TimeZone, Value};

use super::temporal_fraction::{ReadAs, argument_fraction, text_fraction};
use super::temporal_parts::real_day;
use crate::context::EvalContext;
use crate::error::Result;
use crate::errors;
use crate::eval::convert;
use crate::expr_type::{Class, ExprType};
use crate::functions::arguments::some;
use crate::tree::{Args, BindCall, ExprKind, Function, pure, steady};

pub(super) static FUNCTIONS: &[Function] = &[
    steady("unix_timestamp", (0, 1), bind_unix_timestamp, eval_unix_timestamp),
    steady("from_unixtime", (1, 2), bind_from_unixtime, eval_from_unixtime),
    pure(
        "sec_to_time",
        (1, 1),
        |call| Ok(ExprType::time(argument_fraction(call, 0, ReadAs::Number)).nullable()),
        eval_sec_to_time,
    ),
    pure("time_to_sec", (1, 1), bind_time_to_sec, eval_time_to_sec),
    pure(
        "convert_tz",
        (3, 3),
        |call| Ok(ExprType::datetime(argument_fraction(call, 0, ReadAs::DateTime)).nullable()),
        eval_convert_tz,
    ),
    pure(
        "period_add",
        (2, 2),
        |call| Ok(call.with_nullability(ExprType::int(6))),
        eval_period_add,
    ),
    pure(
        "period_diff",
        (2, 2),
        |call| Ok(call.with_nullability(ExprType::int(6))),
        eval_period_diff,
    ),
];

fn bind_unix_timestamp(call: &mut BindCall<'_>) -> Result<ExprType> {
    let Some(argument) = call.args.first() else {
        return Ok(ExprType::bigint(17));
    };
    if argument.ty.is_parameter() && matches!(argument.kind, ExprKind::Parameter(_)) {
        // The parameter's value determines the type.
        return Ok(ExprType::parameter());
    }
    Ok(match argument_fraction(call, 0, ReadAs::DateTime) {
        0 => ExprType::bigint(17),
        decimals => ExprType::decimal(16 + u32::from(decimals), u32::from(decimals)),
    }
    .nullable())
}

fn eval_unix_timestamp(args: &Args<'_>, context: &mut EvalContext<'_>) -> Result<Value> {
    if args.len() == 0 {
        return Ok(Value::Int(context.session.statement.start_seconds()));
    }
    let value = args.value(0, context)?;
    let (seconds, micros) = match &*value {
        Value::Timestamp(timestamp) => (i64::from(timestamp.seconds), timestamp.micros),
        other => {
            let operand = &args.call.args[0];
            let converted =
                context.convert_operand(operand, |context| convert::to_datetime(other, context))?;
            let Some(datetime) = converted else {
                return Ok(Value::Null);
            };
            if datetime.is_zero() {
                return Ok(Value::Null);
            }
            let seconds = context
                .session
                .settings
                .time_zone
                .to_utc(datetime)
                .filter(|seconds| (0..=i64::from(i32::MAX)).contains(seconds));
            match seconds {
                // Second 0 itself represents the zero date.
                Some(0) if datetime.micros == 0 => return Ok(Value::Null),
                Some(seconds) => (seconds, datetime.micros),
                None => return Ok(Value::Null),
            }
        }
    };
    let decimals = match &*value {
        _ if !args.ty.is_parameter() => args.ty.decimals(),
        Value::Text(text) => text_fraction(text, ReadAs::DateTime, context.session.settings.date_modes()),
        other => ExprType::of_value(other, context.session.settings.collation_connection)
            .decimals()
            .min(6),
    };
    if args.ty.class() == Class::Int || decimals == 0 {
        return Ok(Value::Int(seconds));
    }
    let text = format!("{seconds}.{micros:06}");
    let number: Decimal = text.parse()?;
    Ok(Value::Decimal(
        number.round(i32::from(decimals), Rounding::Truncate),
    ))
}

/// Returns how `sql_mode` treats fraction digits that do not fit.
pub(super) fn fraction_rounding(context: &EvalContext<'_>) -> Rounding {
    match context.session.settings.date_modes().fractions {
        Fractions::Cut => Rounding::Truncate,
        Fractions::Rounded => Rounding::HalfUp,
    }
}

fn bind_from_unixtime(call: &mut BindCall<'_>) -> Result<ExprType> {
    if call.args.len() > 1 {
        let length = super::temporal_format::format_length(call, 1);
        return Ok(call.connection_text(length).nullable());
    }
    Ok(ExprType::datetime(argument_fraction(call, 0, ReadAs::Number)).nullable())
}

fn eval_from_unixtime(args: &Args<'_>, context: &mut EvalContext<'_>) -> Result<Value> {
    let number = some!(args.decimal(0, context)?);
    if number.is_negative() {
        return Ok(Value::Null);
    }
    if number >= Decimal::from(1i64 << 31) {
        context.warn_truncated("unixtime", &Value::Text(number.to_string()))?;
        return Ok(Value::Null);
    }
    let micros = number
        .round(6, fraction_rounding(context))
        .mul(&Decimal::from(1_000_000i64))?
        .to_i64()?;
    let seconds = micros / 1_000_000;
    let local = context
        .session
        .settings
        .time_zone
        .to_local(seconds)
        .with_micros((micros % 1_000_000) as u32, 6);
    if args.len() > 1 {
        let format = some!(args.text(1, context)?);
        let locale = context.session.settings.time_locale;
        let text = super::temporal_format::format_datetime(local, &format, locale);
        return Ok(text.map_or(Value::Null, Value::Text));
    }
    let decimals = match args.ty_of(0).class() {
        // The number of digits of a text is not known before.
        Class::String if local.micros == 0 => 0,
        _ => args.ty.decimals().min(6),
    };
    Ok(Value::DateTime(local.truncated(decimals)))
}

fn eval_sec_to_time(args: &Args<'_>, context: &mut EvalContext<'_>) -> Result<Value> {
    let value = args.value(0, context)?;
    let number = match *value {
        // MariaDB truncates to nanoseconds: 11.01 becomes 11.009999999.
        Value::Double(seconds) if seconds.abs() < 1e9 => {
            let whole = seconds.abs().floor();
            let nanos = ((seconds.abs() - whole) * 1e9) as i64;
            let number = Decimal::from(whole as i64 * 1_000_000_000 + nanos)
                .div(&Decimal::from(1_000_000_000i64), 9)?
                .unwrap_or(Decimal::ZERO);
            if seconds < 0.0 { number.neg() } else { number }
        }
        _ => some!(args.decimal(0, context)?),
    };
    let micros = number
        .round(6, fraction_rounding(context))
        .mul(&Decimal::from(1_000_000i64))
        .and_then(|micros| micros.to_i64());
    let limit = if number.is_negative() {
        i64::MIN / 2
    } else {
        i64::MAX / 2
    };
    let micros = micros.unwrap_or(limit);
    let decimals = args.ty.decimals().min(6);
    let time = Time::from_micros(micros, decimals);
    if time.micros() != micros {
        match &*value {
            Value::Double(_) => context.warn_truncated("seconds", &value)?,
            _ => context.warn_truncated("seconds", &Value::Text(number.to_string()))?,
        }
    }
    Ok(Value::Time(time.truncated(decimals)))
}

fn bind_time_to_sec(call: &mut BindCall<'_>) -> Result<ExprType> {
    Ok(match argument_fraction(call, 0, ReadAs::Time) {
        0 => ExprType::bigint(17),
        decimals => ExprType::decimal(16 + u32::from(decimals), u32::from(decimals)),
    }
    .nullable())
}

fn eval_time_to_sec(args: &Args<'_>, context: &mut EvalContext<'_>) -> Result<Value> {
    let time = some!(args.time(0, context)?);
    if args.ty.class() == Class::Int {
        return Ok(Value::Int(time.micros() / 1_000_000));
    }
    // The type determines the digits shown. The value itself has six or none.
    if time.micros() % 1_000_000 == 0 {
        return Ok(Value::Decimal(Decimal::from(time.micros() / 1_000_000)));
    }
    let number = Decimal::from(time.micros())
        .div(&Decimal::from(1_000_000i64), 6)?
        .unwrap_or(Decimal::ZERO);
    // The type has its own number of digits; the value has six.
    Ok(Value::Decimal(number.round(6, Rounding::Truncate)))
}

fn eval_convert_tz(args: &Args<'_>, context: &mut EvalContext<'_>) -> Result<Value> {
    let datetime = some!(args.datetime(0, context)?);
    let from = some!(args.text(1, context)?);
    let to = some!(args.text(2, context)?);
    let (Ok(from), Ok(to)) = (TimeZone::parse(&from), TimeZone::parse(&to)) else {
        return Ok(Value::Null);
    };
    some!(real_day(datetime.date));
    let decimals = args.ty.decimals().min(6);
    // A time outside of the range of TIMESTAMP is not converted.
    let Some(seconds) = from
        .to_utc(datetime)
        .filter(|seconds| (1..=i64::from(i32::MAX)).contains(seconds))
    else {
        return Ok(Value::DateTime(datetime.truncated(decimals)));
    };
    Ok(Value::DateTime(
        to.to_local(seconds)
            .with_micros(datetime.micros, 6)
            .truncated(decimals),
    ))
}

/// Converts a period YYYYMM or YYMM to months.
fn months_of_period(period: i64) -> i64 {
    if period == 0 {
        return 0;
    }
    let year = match period / 100 {
        year @ 0..=69 => year + 2000,
        year @ 70..=99 => year + 1900,
        year => year,
    };
    year * 12 + period % 100 - 1
}

fn period_of_months(months: i64) -> i64 {
    if months == 0 {
        return 0;
    }
    let year = match months / 12 {
        year @ 0..=69 => year + 2000,
        year @ 70..=99 => year + 1900,
        year => year,
    };
    year * 100 + months % 12 + 1
}

fn checked_period(args: &Args<'_>, index: usize, context: &mut EvalContext<'_>) -> Result<Option<i64>> {
    let Some(period) = args.int(index, context)? else {
        return Ok(None);
    };
    if period < 0 {
        use paceline_types::error_code::ER_WRONG_ARGUMENTS;
        return Err(errors::error(ER_WRONG_ARGUMENTS, &[&args.name()]));
    }
    Ok(Some(period))
}

fn eval_period_add(args: &Args<'_>, context: &mut EvalContext<'_>) -> Result<Value> {
    let period = some!(checked_period(args, 0, context)?);
    let months = some!(args.int(1, context)?);
    if period == 0 {
        return Ok(Value::Int(0));
    }
    // Computed with 32 bits, as in MariaDB.
    let months = (months_of_period(period) as i32).wrapping_add(months as i32);
    Ok(Value::Int(period_of_months(i64::from(months as u32))))
}

fn eval_period_diff(args: &Args<'_>, context: &mut EvalContext<'_>) -> Result<Value> {
    let left = some!(checked_period(args, 0, context)?);
    let right = some!(checked_period(args, 1, context)?);
    Ok(Value::Int(months_of_period(left) - months_of_period(right)))
}
