//! Operands that are needed in two forms at once, as the text that a function returns and as the number that it
//! represents. The function's arguments are evaluated once and passed to both functions. With a second copy of the
//! operand in the tree, the innermost of n nested operands would be copied 2ⁿ times.

use std::borrow::Cow;

use paceline_types::Value;

use crate::context::EvalContext;
use crate::error::Result;
use crate::eval::cast::cast;
use crate::eval::check_length;
use crate::eval::compare::read_operand;
use crate::eval::convert::hex_number;
use crate::expr_type::TypeNote;
use crate::rules::compared_charset;
use crate::tree::{Args, Call, Comparison, Expr, ExprKind, Frame, Function, Reading};

impl Reading {
    /// Returns whether the compared form is the returned form.
    pub fn is_plain(&self) -> bool {
        self.function.is_none() && self.target.is_none() && !self.is_rounded && self.constant.is_none()
    }

    /// Returns the operand's value in the returned form and in the compared form.
    pub fn values<'a>(
        &self,
        operand: &'a Expr,
        frame: &Frame<'a>,
        context: &mut EvalContext<'_>,
    ) -> Result<(Cow<'a, Value>, Cow<'a, Value>)> {
        if let Some(constant) = &self.constant {
            return Ok((operand.eval_in(frame, context)?, Cow::Owned(constant.clone())));
        }
        let (returned, mut compared) = match (&operand.kind, self.function) {
            (ExprKind::Call(call), Some(function)) => twice(operand, call, function, frame, context)?,
            _ => {
                let value = operand.eval_in(frame, context)?;
                (value.clone(), value)
            }
        };
        if self.is_rounded {
            compared = operand.as_shown(compared);
        }
        if let Some(target) = &self.target {
            compared = cast(operand.as_shown(compared), &operand.ty, target, context)?;
        }
        Ok((returned, compared))
    }
}

/// Operand of several comparisons. A comparison with a number uses its number, the others its text.
pub(super) struct SharedOperand<'a> {
    operand: &'a Expr,
    value: Cow<'a, Value>,
    number: Option<Cow<'a, Value>>,
}

impl<'a> SharedOperand<'a> {
    pub fn new<'b>(
        operand: &'a Expr,
        rules: impl Iterator<Item = &'b Comparison>,
        frame: &Frame<'a>,
        context: &mut EvalContext<'_>,
    ) -> Result<Self> {
        let mut rules = rules;
        let (value, number) = match &operand.kind {
            ExprKind::Call(call) if call.has_number_function() && rules.any(Comparison::is_numeric) => {
                let (value, number) = twice(operand, call, call.number_function(), frame, context)?;
                (value, Some(number))
            }
            ExprKind::Literal(value @ Value::Bytes(bytes))
                if operand.ty.note == TypeNote::HexLiteral && rules.any(Comparison::is_numeric) =>
            {
                (Cow::Borrowed(value), Some(Cow::Owned(hex_number(bytes))))
            }
            _ => (operand.eval_in(frame, context)?, None),
        };
        Ok(SharedOperand {
            operand,
            value,
            number,
        })
    }

    /// Returns whether the operand is NULL in every comparison.
    pub fn is_null(&self) -> bool {
        self.value.is_null() && self.number.as_ref().is_none_or(|number| number.is_null())
    }

    /// Returns whether a comparison uses the text, though it compares numbers.
    fn keeps_text(&self, by: &Comparison) -> bool {
        match &self.operand.kind {
            ExprKind::Call(call) => *by == Comparison::Decimal && call.function.decimal_of_text,
            _ => false,
        }
    }

    /// Returns the value for all comparisons, if they use the same form.
    pub fn single(&self) -> Option<&Value> {
        self.number.is_none().then_some(&*self.value)
    }

    /// Returns the value for a comparison by this rule.
    pub fn compared_by(&self, by: &Comparison, context: &mut EvalContext<'_>) -> Result<Cow<'_, Value>> {
        match &self.number {
            None => read_operand(by, self.operand, Cow::Borrowed(&*self.value), context),
            Some(number) if by.is_numeric() && !self.keeps_text(by) => Ok(Cow::Borrowed(number)),
            Some(_) => match compared_charset(&self.operand.ty, by) {
                None => Ok(Cow::Borrowed(&self.value)),
                Some(target) => cast(Cow::Borrowed(&*self.value), &self.operand.ty, &target, context),
            },
        }
    }
}

/// Evaluates a call's own function and another one on the same arguments, each of which is evaluated once.
fn twice<'a>(
    operand: &Expr,
    call: &Call,
    other: &'static Function,
    frame: &Frame<'a>,
    context: &mut EvalContext<'_>,
) -> Result<(Cow<'a, Value>, Cow<'a, Value>)> {
    let args = call.args.iter().map(|arg| {
        let value = arg.eval_in(frame, context)?.into_owned();
        Ok(Expr::literal(value, arg.ty.clone()))
    });
    let call = Call {
        function: call.function,
        args: args.collect::<Result<_>>()?,
        id: call.id,
        compared: None,
        stored: None,
        loadable: None,
    };
    let args = Args {
        call: &call,
        ty: &operand.ty,
        frame: Frame {
            row: &[],
            parameters: &[],
        },
    };
    let own = (call.function.eval)(&args, context)?;
    check_length(&own, context)?;
    let others = (other.eval)(&args, context)?;
    check_length(&others, context)?;
    Ok((Cow::Owned(own), Cow::Owned(others)))
}
