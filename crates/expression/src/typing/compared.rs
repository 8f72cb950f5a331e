//! Conversion of constants for comparisons to a number, time, datetime or UUID: once per execution, with its warning,
//! however many rows there are. These functions are not in the function table, so statements cannot call them.
//!
//! MariaDB converts the constants of an IN list before the statement runs, so an invalid one causes a warning even in a
//! strict write. Such lists have separate functions.

use paceline_types::{DataType, FixedBinaryType, Value};

use crate::context::EvalContext;
use crate::error::Result;
use crate::eval::convert;
use crate::expr_type::ExprType;
use crate::tree::{Args, EvalFn, Function, pure, steady};

/// Converts a constant for the comparison with a TIME.
pub(crate) static COMPARED_TIME: Function = time(|args, context| once(args, context, to_time));
/// Like [`COMPARED_TIME`], in an IN list.
static LISTED_TIME: Function = time(|args, context| once_before(args, context, to_time));
/// Converts a constant for the comparison with a DATETIME.
pub(crate) static COMPARED_DATETIME: Function = datetime(|args, context| once(args, context, to_datetime));
/// Like [`COMPARED_DATETIME`], in an IN list.
static LISTED_DATETIME: Function = datetime(|args, context| once_before(args, context, to_datetime));
/// Converts a constant for the comparison with a DECIMAL.
pub(crate) static COMPARED_DECIMAL: Function = decimal(|args, context| once(args, context, to_decimal));
/// Like [`COMPARED_DECIMAL`], in an IN list.
static LISTED_DECIMAL: Function = decimal(|args, context| once_before(args, context, to_decimal));
/// Converts a constant for the comparison with a DOUBLE.
pub(crate) static COMPARED_DOUBLE: Function = double(|args, context| once(args, context, to_double));
/// Like [`COMPARED_DOUBLE`], in an IN list.
static LISTED_DOUBLE: Function = double(|args, context| once_before(args, context, to_double));
/// Converts a constant for the comparison with a UUID.
static COMPARED_UUID: Function = uuid(|args, context| once(args, context, to_uuid));
/// Like [`COMPARED_UUID`], in an IN list.
static LISTED_UUID: Function = uuid(|args, context| once_before(args, context, to_uuid));
/// Converts a constant for the comparison with an INET6.
static COMPARED_INET6: Function = inet6(|args, context| once(args, context, to_inet6));
/// Like [`COMPARED_INET6`], in an IN list.
static LISTED_INET6: Function = inet6(|args, context| once_before(args, context, to_inet6));
/// Converts a constant for the comparison with an INET4.
static COMPARED_INET4: Function = inet4(|args, context| once(args, context, to_inet4));
/// Like [`COMPARED_INET4`], in an IN list.
static LISTED_INET4: Function = inet4(|args, context| once_before(args, context, to_inet4));

/// Returns the function that converts a constant for the comparison with a value of this type.
pub(crate) fn compared_fixed_binary(data_type: FixedBinaryType) -> &'static Function {
    match data_type {
        FixedBinaryType::Uuid => &COMPARED_UUID,
        FixedBinaryType::Inet6 => &COMPARED_INET6,
        FixedBinaryType::Inet4 => &COMPARED_INET4,
    }
}

/// Returns the IN list variant of a function for a single comparison; `None` for any other function.
pub(crate) fn listed(function: &'static Function) -> Option<&'static Function> {
    [
        (&COMPARED_TIME, &LISTED_TIME),
        (&COMPARED_DATETIME, &LISTED_DATETIME),
        (&COMPARED_DECIMAL, &LISTED_DECIMAL),
        (&COMPARED_DOUBLE, &LISTED_DOUBLE),
        (&COMPARED_UUID, &LISTED_UUID),
        (&COMPARED_INET6, &LISTED_INET6),
        (&COMPARED_INET4, &LISTED_INET4),
    ]
    .into_iter()
    .find_map(|(compared, listed)| std::ptr::eq(function, compared).then_some(listed))
}

/// Converts the operand of a cast to a date that is compared. A value that is not a date becomes the zero date.
pub(crate) static LENIENT_DATETIME: Function = pure(
    "datetime",
    (1, 1),
    |_| Ok(ExprType::datetime(6)),
    |args, context| to_datetime(&*args.value(0, context)?, context),
);

/// Like [`LENIENT_DATETIME`], for a cast to a time.
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

const fn uuid(eval: EvalFn) -> Function {
    steady("uuid", (1, 1), |_| Ok(fixed_binary(FixedBinaryType::Uuid)), eval)
}

const fn inet6(eval: EvalFn) -> Function {
    steady(
        "inet6",
        (1, 1),
        |_| Ok(fixed_binary(FixedBinaryType::Inet6)),
        eval,
    )
}

const fn inet4(eval: EvalFn) -> Function {
    steady(
        "inet4",
        (1, 1),
        |_| Ok(fixed_binary(FixedBinaryType::Inet4)),
        eval,
    )
}

fn fixed_binary(data_type: FixedBinaryType) -> ExprType {
    ExprType::new(DataType::FixedBinary(data_type)).nullable()
}

fn to_uuid(value: &Value, context: &mut EvalContext<'_>) -> Result<Value> {
    to_fixed_binary(value, FixedBinaryType::Uuid, context)
}

fn to_inet6(value: &Value, context: &mut EvalContext<'_>) -> Result<Value> {
    to_fixed_binary(value, FixedBinaryType::Inet6, context)
}

fn to_inet4(value: &Value, context: &mut EvalContext<'_>) -> Result<Value> {
    to_fixed_binary(value, FixedBinaryType::Inet4, context)
}

fn to_fixed_binary(
    value: &Value,
    data_type: FixedBinaryType,
    context: &mut EvalContext<'_>,
) -> Result<Value> {
    Ok(convert::to_fixed_binary(value, data_type, context)?.map_or(Value::Null, Value::FixedBinary))
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
