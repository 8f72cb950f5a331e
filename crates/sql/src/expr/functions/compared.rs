//! Constants that comparisons want as a number, a time or a day and time: converted, and warned of, once an execution however many rows there are.
//! In no table of functions: no statement can call these.
//!
//! MariaDB converts the constants of an IN list before the statement runs, so that a bad one is a warning even in a strict write: such a list has
//! functions of its own.

use paceline_types::Value;

use super::arguments::Args;
use super::{EvalFn, Function, pure, steady};
use crate::error::Result;
use crate::expr::context::EvalContext;
use crate::expr::eval::convert;
use crate::expr::expr_type::ExprType;

/// A constant as a TIME is compared with it.
pub(crate) static COMPARED_TIME: Function = time(|args, context| once(args, context, to_time));
/// As [`COMPARED_TIME`], in an IN list.
static LISTED_TIME: Function = time(|args, context| once_before(args, context, to_time));
/// A constant as a DATETIME is compared with it.
pub(crate) static COMPARED_DATETIME: Function = datetime(|args, context| once(args, context, to_datetime));
/// As [`COMPARED_DATETIME`], in an IN list.
static LISTED_DATETIME: Function = datetime(|args, context| once_before(args, context, to_datetime));
/// A constant as a DECIMAL is compared with it.
pub(crate) static COMPARED_DECIMAL: Function = decimal(|args, context| once(args, context, to_decimal));
/// As [`COMPARED_DECIMAL`], in an IN list.
static LISTED_DECIMAL: Function = decimal(|args, context| once_before(args, context, to_decimal));
/// A constant as a DOUBLE is compared with it.
pub(crate) static COMPARED_DOUBLE: Function = double(|args, context| once(args, context, to_double));
/// As [`COMPARED_DOUBLE`], in an IN list.
static LISTED_DOUBLE: Function = double(|args, context| once_before(args, context, to_double));

/// The function for a constant of an IN list, of the one for a single comparison; `None` for any other function.
pub(crate) fn listed(function: &'static Function) -> Option<&'static Function> {
    [
        (&COMPARED_TIME, &LISTED_TIME),
        (&COMPARED_DATETIME, &LISTED_DATETIME),
        (&COMPARED_DECIMAL, &LISTED_DECIMAL),
        (&COMPARED_DOUBLE, &LISTED_DOUBLE),
    ]
    .into_iter()
    .find_map(|(compared, listed)| std::ptr::eq(function, compared).then_some(listed))
}

/// The operand of a cast to a date that is compared: what is no date is the zero date.
pub(crate) static LENIENT_DATETIME: Function = pure(
    "datetime",
    (1, 1),
    |_| Ok(ExprType::datetime(6)),
    |args, context| to_datetime(&*args.value(0, context)?, context),
);

/// As [`LENIENT_DATETIME`], of a cast to a time.
pub(crate) static LENIENT_TIME: Function = pure(
    "time",
    (1, 1),
    |_| Ok(ExprType::time(6)),
    |args, context| to_time(&*args.value(0, context)?, context),
);

const fn time(eval: EvalFn) -> Function {
    steady("time", (1, 1), |_| Ok(ExprType::time(0)), eval)
}

const fn datetime(eval: EvalFn) -> Function {
    steady("datetime", (1, 1), |_| Ok(ExprType::datetime(0)), eval)
}

const fn decimal(eval: EvalFn) -> Function {
    steady("decimal", (1, 1), |_| Ok(ExprType::decimal(65, 38)), eval)
}

const fn double(eval: EvalFn) -> Function {
    steady("double", (1, 1), |_| Ok(ExprType::double()), eval)
}

fn to_time(value: &Value, context: &mut EvalContext<'_>) -> Result<Value> {
    Ok(convert::to_time_for_comparison(value, context)?.map_or(Value::Null, Value::Time))
}

fn to_datetime(value: &Value, context: &mut EvalContext<'_>) -> Result<Value> {
    Ok(convert::to_datetime_for_comparison(value, context)?.map_or(Value::Null, Value::DateTime))
}

fn to_decimal(value: &Value, context: &mut EvalContext<'_>) -> Result<Value> {
    convert::to_decimal(value, context).map(Value::Decimal)
}

fn to_double(value: &Value, context: &mut EvalContext<'_>) -> Result<Value> {
    convert::to_double(value, context).map(Value::Double)
}

type Conversion = fn(&Value, &mut EvalContext<'_>) -> Result<Value>;

fn once_before(args: &Args<'_>, context: &mut EvalContext<'_>, convert: Conversion) -> Result<Value> {
    let mode = context.mode;
    context.mode = mode.lenient();
    let value = once(args, context, convert);
    context.mode = mode;
    value
}

fn once(args: &Args<'_>, context: &mut EvalContext<'_>, convert: Conversion) -> Result<Value> {
    if let Some(value) = context.state.constants.get(&args.call.id) {
        return Ok(value.clone());
    }
    let value = convert(&*args.value(0, context)?, context)?;
    context.state.constants.insert(args.call.id, value.clone());
    Ok(value)
}
