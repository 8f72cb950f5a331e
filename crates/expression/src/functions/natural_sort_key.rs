//! NATURAL_SORT_KEY: a text that sorts as its numbers do. Each number loses its zeros in front, and gets its number of
//! digits before it:
//!
//! | digits | before the number |
//! |---|---|
//! | 1 to 9 | `0` to `8` |
//! | 10 to 18 | `90` to `98` |
//! | 19 to 27 | `990` to `998` |
//! | more | `9990`, the number of digits of the next number less one, and the number of digits less one |

use std::fmt::Write;

use paceline_types::Value;

use super::arguments::some;
use super::string::{overflows, too_long};
use crate::context::EvalContext;
use crate::error::Result;
use crate::expr_type::ExprType;
use crate::tree::{Args, BindCall, Function, pure};

pub(super) static FUNCTIONS: &[Function] = &[pure("natural_sort_key", (1, 1), bind, eval)];

fn bind(call: &mut BindCall<'_>) -> Result<ExprType> {
    let length = call.length(0);
    let ty = call.text(length.saturating_add(length.div_ceil(2)), &[0])?;
    Ok(ty.nullable())
}

fn eval(args: &Args<'_>, context: &mut EvalContext<'_>) -> Result<Value> {
    let text = some!(args.view(0, context)?);
    let mut out = String::with_capacity(text.len() + text.len() / 2);
    let mut rest = &*text;
    while let Some(start) = rest.find(|c: char| c.is_ascii_digit()) {
        out.push_str(&rest[..start]);
        rest = &rest[start..];
        let end = rest.find(|c: char| !c.is_ascii_digit()).unwrap_or(rest.len());
        let number = match rest[..end].trim_start_matches('0') {
            "" => "0",
            number => number,
        };
        append_digit_count(number.len(), &mut out);
        out.push_str(number);
        rest = &rest[end..];
        if overflows(out.len(), context) {
            return too_long(args, context);
        }
    }
    out.push_str(rest);
    if overflows(out.len(), context) {
        return too_long(args, context);
    }
    Ok(args.text_of_view(out))
}

fn append_digit_count(count: usize, out: &mut String) {
    let more = count - 1;
    let written = match more {
        0..=8 => write!(out, "{more}"),
        9..=17 => write!(out, "9{}", more - 9),
        18..=26 => write!(out, "99{}", more - 18),
        _ => write!(out, "9990{}{more}", more.ilog10()),
    };
    written.expect("a string takes all that is written");
}
