//! The current date and time.

use paceline_types::{DateTime, TimeZone, Value};

use super::temporal_fraction::fraction;
use crate::context::EvalContext;
use crate::error::Result;
use crate::expr_type::ExprType;
use crate::tree::{Args, Function, steady, volatile};

pub(super) static FUNCTIONS: &[Function] = &[
    steady(
        "now",
        (0, 1),
        |call| Ok(ExprType::datetime(fraction(call, 0)?)),
        eval_now,
    ),
    steady(
        "current_timestamp",
        (0, 1),
        |call| Ok(ExprType::datetime(fraction(call, 0)?)),
        eval_now,
    ),
    steady(
        "localtime",
        (0, 1),
        |call| Ok(ExprType::datetime(fraction(call, 0)?)),
        eval_now,
    ),
    steady(
        "localtimestamp",
        (0, 1),
        |call| Ok(ExprType::datetime(fraction(call, 0)?)),
        eval_now,
    ),
    steady(
        "utc_timestamp",
        (0, 1),
        |call| Ok(ExprType::datetime(fraction(call, 0)?)),
        |args, context| {
            Ok(Value::DateTime(statement_time(
                &TimeZone::UTC,
                args.ty.decimals(),
                context,
            )))
        },
    ),
    volatile(
        "sysdate",
        (0, 1),
        |call| Ok(ExprType::datetime(fraction(call, 0)?)),
        |args, context| {
            let micros = crate::session::now_micros();
            let local = context
                .session
                .settings
                .time_zone
                .to_local(micros.div_euclid(1_000_000));
            Ok(Value::DateTime(
                local
                    .with_micros(micros.rem_euclid(1_000_000) as u32, 6)
                    .truncated(args.ty.decimals()),
            ))
        },
    )
    .depending_on_server(),
    steady(
        "curdate",
        (0, 0),
        |_| Ok(ExprType::date()),
        |_, context| Ok(Value::Date(session_time(0, context).date)),
    ),
    steady(
        "current_date",
        (0, 0),
        |_| Ok(ExprType::date()),
        |_, context| Ok(Value::Date(session_time(0, context).date)),
    ),
    steady(
        "utc_date",
        (0, 0),
        |_| Ok(ExprType::date()),
        |_, context| Ok(Value::Date(statement_time(&TimeZone::UTC, 0, context).date)),
    ),
    steady(
        "curtime",
        (0, 1),
        |call| Ok(ExprType::time(fraction(call, 0)?)),
        eval_curtime,
    ),
    steady(
        "current_time",
        (0, 1),
        |call| Ok(ExprType::time(fraction(call, 0)?)),
        eval_curtime,
    ),
    steady(
        "utc_time",
        (0, 1),
        |call| Ok(ExprType::time(fraction(call, 0)?)),
        |args, context| {
            Ok(Value::Time(
                statement_time(&TimeZone::UTC, args.ty.decimals(), context).time(),
            ))
        },
    ),
];

fn statement_time(zone: &TimeZone, decimals: u8, context: &EvalContext<'_>) -> DateTime {
    let statement = &context.session.statement;
    let micros = statement.start_micros.rem_euclid(1_000_000) as u32;
    zone.to_local(statement.start_seconds())
        .with_micros(micros, 6)
        .truncated(decimals)
}

/// Returns `NOW()` in the session's time zone.
pub(super) fn session_time(decimals: u8, context: &EvalContext<'_>) -> DateTime {
    statement_time(&context.session.settings.time_zone, decimals, context)
}

fn eval_now(args: &Args<'_>, context: &mut EvalContext<'_>) -> Result<Value> {
    context.session.statement.used_current_time = true;
    Ok(Value::DateTime(session_time(args.ty.decimals(), context)))
}

fn eval_curtime(args: &Args<'_>, context: &mut EvalContext<'_>) -> Result<Value> {
    Ok(Value::Time(session_time(args.ty.decimals(), context).time()))
}
