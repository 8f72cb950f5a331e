//! REGEXP and related functions.

use paceline_types::{Collation, Value};

use super::arguments::{Args, BindCall, some};
use super::string::too_long;
use super::{Function, pure};
use crate::bind::CollationMix;
use crate::context::EvalContext;
use crate::error::Result;
use crate::eval::with_pattern;
use crate::expr_type::ExprType;

pub(super) static FUNCTIONS: &[Function] = &[
    pure("regexp", (2, 2), bind_match, eval_match),
    pure(
        "regexp_replace",
        (3, 3),
        |call| call.text(call.length(0).max(255) * 4, &[0, 1, 2]),
        eval_replace,
    ),
    pure(
        "regexp_substr",
        (2, 2),
        |call| call.text(call.length(0), &[0, 1]),
        eval_substr,
    ),
    pure(
        "regexp_instr",
        (2, 2),
        |call| Ok(call.with_nullability(ExprType::int32(11))),
        eval_instr,
    ),
];

fn bind_match(call: &mut BindCall<'_>) -> Result<ExprType> {
    let types: Vec<&ExprType> = call.args.iter().map(|arg| &arg.ty).collect();
    CollationMix::for_comparison(&types, call.connection(), "regexp")?;
    Ok(call.with_nullability(ExprType::boolean()))
}

/// Returns the collation that determines case sensitivity.
fn collation(args: &Args<'_>, context: &EvalContext<'_>) -> Collation {
    let types = [args.ty_of(0), args.ty_of(1)];
    CollationMix::of(&types, context.session.settings.collation_connection, "regexp")
        .map_or(Collation::Utf8mb4Bin, |(collation, _)| collation)
}

fn eval_match(args: &Args<'_>, context: &mut EvalContext<'_>) -> Result<Value> {
    let text = some!(args.text(0, context)?);
    let pattern = some!(args.text(1, context)?);
    let collation = collation(args, context);
    let found = with_pattern(args.call.id, &pattern, collation, context, |regex| {
        regex.is_match(&text)
    })?;
    Ok(Value::Int(i64::from(found)))
}

fn eval_replace(args: &Args<'_>, context: &mut EvalContext<'_>) -> Result<Value> {
    let text = some!(args.text(0, context)?);
    let pattern = some!(args.text(1, context)?);
    let replacement = some!(args.text(2, context)?);
    if pattern.is_empty() {
        return Ok(args.text_value(text));
    }
    let collation = collation(args, context);
    // MariaDB refers to groups by `\1`, the crate by `${1}`.
    let mut template = String::with_capacity(replacement.len());
    let mut characters = replacement.chars().peekable();
    while let Some(character) = characters.next() {
        match character {
            '\\' => match characters.next() {
                Some(digit @ '0'..='9') => {
                    template.push_str("${");
                    template.push(digit);
                    template.push('}');
                }
                Some('$') => template.push_str("$$"),
                Some(other) => template.push(other),
                None => template.push('\\'),
            },
            '$' => template.push_str("$$"),
            other => template.push(other),
        }
    }
    let length_max = context.session.settings.max_allowed_packet;
    let replaced = with_pattern(args.call.id, &pattern, collation, context, |regex| {
        replace_all(regex, &text, &template, length_max)
    })?;
    match replaced {
        Some(replaced) => Ok(args.text_value(replaced)),
        None => too_long(args, context),
    }
}

/// Replaces every match in the text. Returns `None` if the result exceeds `length_max` bytes.
fn replace_all(regex: &regex::Regex, text: &str, template: &str, length_max: usize) -> Option<String> {
    let mut out = String::new();
    let mut end = 0;
    for captures in regex.captures_iter(text) {
        let found = captures.get_match();
        out.push_str(&text[end..found.start()]);
        captures.expand(template, &mut out);
        end = found.end();
        if out.len() > length_max {
            return None;
        }
    }
    out.push_str(&text[end..]);
    Some(out)
}

fn eval_substr(args: &Args<'_>, context: &mut EvalContext<'_>) -> Result<Value> {
    let text = some!(args.text(0, context)?);
    let pattern = some!(args.text(1, context)?);
    let collation = collation(args, context);
    let found = with_pattern(args.call.id, &pattern, collation, context, |regex| {
        regex
            .find(&text)
            .map_or_else(String::new, |found| found.as_str().to_owned())
    })?;
    Ok(args.text_value(found))
}

fn eval_instr(args: &Args<'_>, context: &mut EvalContext<'_>) -> Result<Value> {
    let text = some!(args.text(0, context)?);
    let pattern = some!(args.text(1, context)?);
    let collation = collation(args, context);
    let at = with_pattern(args.call.id, &pattern, collation, context, |regex| {
        regex
            .find(&text)
            .map_or(0, |found| text[..found.start()].chars().count() + 1)
    })?;
    Ok(Value::Int(at as i64))
}
