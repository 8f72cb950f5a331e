//! CONVERT of a number to a character set. It is not in the function table, so statements cannot call it by a name.

use crate::context::EvalContext;
use crate::error::Result;
use crate::eval::cast::cast;
use crate::expr_type::ExprType;
use crate::tree::{Args, BindCall, CastTarget, Function, pure};
use paceline_types::Value;

/// The text of a number. Where a number or a date is wanted, it is the number itself.
pub(crate) static CONVERTED_NUMBER: Function = Function {
    as_number: Some(&NUMBER),
    as_temporal: Some(&NUMBER),
    ..pure("convert", (1, 1), bind, eval_text)
};

static NUMBER: Function = pure("convert", (1, 1), bind, |args, context| {
    args.value(0, context).map(std::borrow::Cow::into_owned)
});

fn bind(call: &mut BindCall<'_>) -> Result<ExprType> {
    Ok(call.args[0].ty.clone())
}

fn eval_text(args: &Args<'_>, context: &mut EvalContext<'_>) -> Result<Value> {
    let number = args.call.args[0].eval_shown(&args.frame, context)?;
    let target = CastTarget::Char {
        length: None,
        collation: args.ty.collation(),
    };
    cast(number, args.ty_of(0), &target, context).map(std::borrow::Cow::into_owned)
}
