//! WEIGHT_STRING: the weights that a collation compares.

use paceline_types::Collation;
use paceline_types::Value;

use crate::context::EvalContext;
use crate::error::Result;
use crate::expr_type::{Class, ExprType};
use crate::functions::arguments::some;
use crate::tree::{Args, BindCall, Function, pure};
use paceline_syntax::weight_flags;

/// Arguments: the text, the maximum number of bytes, the number of weights, flags; see the parser.
pub(super) static FUNCTIONS: &[Function] = &[pure("weight_string", (4, 4), bind, eval)];

fn bind(call: &mut BindCall<'_>) -> Result<ExprType> {
    let weights = match call.constant_int(2) {
        Some(weights @ 1..) => weights as u64,
        _ => call.length(0),
    };
    let bytes = match call.constant_int(1) {
        Some(bytes @ 1..) => bytes as u64,
        _ => weights.saturating_mul(call.args[0].ty.collation().weight_bytes_max()),
    };
    Ok(ExprType::bytes(bytes).nullable())
}

fn eval(args: &Args<'_>, context: &mut EvalContext<'_>) -> Result<Value> {
    let ty = args.ty_of(0);
    if matches!(ty.class(), Class::Int | Class::Decimal | Class::Double) {
        return Ok(Value::Null);
    }
    let limit = |number: i64| usize::try_from(number).unwrap_or(usize::MAX);
    let (most, count) = (some!(args.int(1, context)?), some!(args.int(2, context)?));
    let flags = some!(args.int(3, context)?) as u64;
    let count = (count > 0).then(|| limit(count).min(context.session.settings.max_allowed_packet));
    let mut weights = match ty.collation() {
        Collation::Binary => {
            let mut bytes = some!(args.bytes(0, context)?).into_owned();
            if let Some(count) = count {
                bytes.resize(count, 0);
            }
            bytes
        }
        collation => collation.weight_string(&some!(args.text(0, context)?), count),
    };
    if flags & weight_flags::DESCENDING != 0 {
        weights.iter_mut().for_each(|byte| *byte = !*byte);
    }
    if flags & weight_flags::REVERSE != 0 {
        weights.reverse();
    }
    if most > 0 {
        weights.truncate(limit(most));
    }
    Ok(Value::Bytes(weights))
}
