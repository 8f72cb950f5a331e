//! Constants that comparisons want as a time or a day and time: converted, and warned of, once an execution however many rows there are.
//! In no table of functions: no statement can call these.

use paceline_types::Value;

use super::arguments::Args;
use super::{Function, steady};
use crate::error::Result;
use crate::expr::context::EvalContext;
use crate::expr::eval::convert;
use crate::expr::expr_type::ExprType;

/// A constant as a TIME is compared with it.
pub(crate) static COMPARED_TIME: Function = steady(
    "time",
    (1, 1),
    |_| Ok(ExprType::time(0)),
    |args, context| {
        once(args, context, |value, context| {
            Ok(convert::to_time_for_comparison(value, context)?.map_or(Value::Null, Value::Time))
        })
    },
);

/// A constant as a DATETIME is compared with it.
pub(crate) static COMPARED_DATETIME: Function = steady(
    "datetime",
    (1, 1),
    |_| Ok(ExprType::datetime(0)),
    |args, context| {
        once(args, context, |value, context| {
            Ok(convert::to_datetime_for_comparison(value, context)?.map_or(Value::Null, Value::DateTime))
        })
    },
);

fn once(
    args: &Args<'_>,
    context: &mut EvalContext<'_>,
    convert: fn(&Value, &mut EvalContext<'_>) -> Result<Value>,
) -> Result<Value> {
    if let Some(value) = context.state.constants.get(&args.call.id) {
        return Ok(value.clone());
    }
    let value = convert(&*args.value(0, context)?, context)?;
    context.state.constants.insert(args.call.id, value.clone());
    Ok(value)
}
