//! REGEXP and related functions.

use std::borrow::Cow;
use std::ops::Range;
use std::sync::Arc;

use paceline_types::error_code::{ER_REGEXP_ERROR, ER_UNKNOWN_ERROR};
use paceline_types::{Collation, Value};

use super::string::{LONGEST, too_long};
use crate::context::EvalContext;
use crate::error::Result;
use crate::errors;
use crate::expr_type::ExprType;
use crate::functions::arguments::some;
use crate::regex::{CompiledPattern, Groups};
use crate::rules::CollationMix;
use crate::tree::{Args, BindCall, Function, pure};

pub(super) static FUNCTIONS: &[Function] = &[
    pure("regexp", (2, 2), bind_match, eval_match),
    pure(
        "regexp_replace",
        (3, 3),
        |call| Ok(call.text(LONGEST, &[0, 1, 2])?.nullable()),
        eval_replace,
    ),
    pure(
        "regexp_substr",
        (2, 2),
        |call| {
            let ty = call.text(call.length(0), &[0, 1])?;
            Ok(with_patterns_nullability(ty, call))
        },
        eval_substr,
    ),
    pure(
        "regexp_instr",
        (2, 2),
        |call| {
            let ty = call.with_nullability(ExprType::int32(11));
            Ok(with_patterns_nullability(ty, call))
        },
        eval_instr,
    ),
];

fn bind_match(call: &mut BindCall<'_>) -> Result<ExprType> {
    let types: Vec<&ExprType> = call.args.iter().map(|arg| &arg.ty).collect();
    CollationMix::for_comparison(&types, call.connection(), "regexp")?;
    let ty = call.with_nullability(ExprType::boolean());
    Ok(with_patterns_nullability(ty, call))
}

/// Makes a type nullable if the pattern is not constant: the result is NULL if it cannot be compiled.
fn with_patterns_nullability(ty: ExprType, call: &BindCall<'_>) -> ExprType {
    match call.args[1].is_constant_during_execution() {
        true => ty,
        false => ty.nullable(),
    }
}

/// Returns the collation that determines case sensitivity and what a character is: that of all arguments together.
fn collation(args: &Args<'_>, context: &EvalContext<'_>) -> Collation {
    let types: Vec<&ExprType> = (0..args.len()).map(|index| args.ty_of(index)).collect();
    CollationMix::of(&types, context.session.settings.collation_connection, "regexp")
        .map_or(Collation::Utf8mb4Bin, |(collation, _)| collation)
}

/// Returns the compiled pattern. It is compiled once, and again when its text changes. `None` for NULL, and as in
/// MariaDB if it cannot be compiled and is not constant.
///
/// # Errors
/// 1139 if a constant pattern cannot be compiled.
fn pattern(args: &Args<'_>, context: &mut EvalContext<'_>) -> Result<Option<Arc<CompiledPattern>>> {
    let id = args.call.id;
    let last = context.state.regexes.get(&id).cloned();
    let last_is_none = last.is_none();
    let collation = match &last {
        Some(last) => last.collation(),
        None => collation(args, context),
    };
    let Some(source) = subject(args, 1, collation, context)? else {
        return Ok(None);
    };
    if let Some(last) = last.filter(|last| last.is_of(&source)) {
        return Ok(Some(last));
    }
    let options = &context.session.settings.regex_options;
    let compiled = CompiledPattern::new(&source, collation, &options.prefix);
    if options.has_extra && last_is_none {
        let message = "PCRE2 doesn't support the EXTRA flag. Ignored.";
        context.session.diagnostics.warn(ER_UNKNOWN_ERROR, message);
    }
    match compiled {
        Ok(pattern) => {
            let pattern = Arc::new(pattern);
            context.state.regexes.insert(id, pattern.clone());
            Ok(Some(pattern))
        }
        Err(text) if args.call.args[1].is_constant_during_execution() => {
            Err(errors::error(ER_REGEXP_ERROR, &[&text]))
        }
        Err(_) => Ok(None),
    }
}

/// Returns an argument in the form that patterns of a collation match.
fn subject<'a>(
    args: &Args<'a>,
    index: usize,
    collation: Collation,
    context: &mut EvalContext<'_>,
) -> Result<Option<Cow<'a, [u8]>>> {
    if collation == Collation::Binary {
        return args.bytes(index, context);
    }
    Ok(args.text(index, context)?.map(|text| match text {
        Cow::Borrowed(text) => Cow::Borrowed(text.as_bytes()),
        Cow::Owned(text) => Cow::Owned(text.into_bytes()),
    }))
}

/// Returns the result for bytes of a text. They are not valid UTF-8 if `\C` has split a character.
fn value_of(bytes: &[u8], args: &Args<'_>) -> Value {
    match args.is_binary() {
        true => Value::Bytes(bytes.to_vec()),
        false => Value::Text(String::from_utf8_lossy(bytes).into_owned()),
    }
}

/// Returns the result of a search. If the search was given up, adds a warning and returns no match.
fn or_warning<T>(found: Result<Option<T>, String>, context: &mut EvalContext<'_>) -> Result<Option<T>> {
    match found {
        Ok(found) => Ok(found),
        Err(text) => {
            context.warn(ER_REGEXP_ERROR, ER_REGEXP_ERROR.message(&[&text]))?;
            Ok(None)
        }
    }
}

/// A text, and the first match in it.
struct FirstMatch<'a> {
    text: Cow<'a, [u8]>,
    found: Option<Range<usize>>,
    collation: Collation,
}

/// Searches the first argument. `None` for NULL.
fn first_match<'a>(args: &Args<'a>, context: &mut EvalContext<'_>) -> Result<Option<FirstMatch<'a>>> {
    let Some(pattern) = pattern(args, context)? else {
        return Ok(None);
    };
    let collation = pattern.collation();
    let Some(text) = subject(args, 0, collation, context)? else {
        return Ok(None);
    };
    let found = or_warning(pattern.find(&text, 0), context)?;
    Ok(Some(FirstMatch {
        text,
        found,
        collation,
    }))
}

fn eval_match(args: &Args<'_>, context: &mut EvalContext<'_>) -> Result<Value> {
    let first = some!(first_match(args, context)?);
    Ok(Value::Int(i64::from(first.found.is_some())))
}

/// Replaces matches until there is no further one, or one that is empty, as in MariaDB.
fn eval_replace(args: &Args<'_>, context: &mut EvalContext<'_>) -> Result<Value> {
    let pattern = some!(pattern(args, context)?);
    let text = some!(subject(args, 0, pattern.collation(), context)?);
    let template = some!(subject(args, 2, pattern.collation(), context)?);
    let length_max = context.session.settings.max_allowed_packet;
    let mut out = Vec::new();
    let mut end = 0;
    loop {
        let groups = or_warning(pattern.find_groups(&text, end), context)?;
        let Some(groups) = groups.filter(|groups| !groups[0].is_empty()) else {
            break;
        };
        out.extend_from_slice(&text[end..groups[0].start]);
        append_replacement(&template, &text, &groups, &mut out);
        end = groups[0].end;
        if out.len() > length_max {
            return too_long(args, context);
        }
    }
    out.extend_from_slice(&text[end..]);
    Ok(value_of(&out, args))
}

/// Appends a replacement, in which `\0` to `\9` are groups of the match. Other characters after a backslash are
/// themselves.
fn append_replacement(template: &[u8], text: &[u8], groups: &Groups, out: &mut Vec<u8>) {
    let mut bytes = template.iter();
    while let Some(&byte) = bytes.next() {
        match byte {
            b'\\' => match bytes.next() {
                Some(digit @ b'0'..=b'9') => {
                    out.extend_from_slice(&text[groups[usize::from(digit - b'0')].clone()]);
                }
                Some(&other) => out.push(other),
                None => {}
            },
            other => out.push(other),
        }
    }
}

fn eval_substr(args: &Args<'_>, context: &mut EvalContext<'_>) -> Result<Value> {
    let first = some!(first_match(args, context)?);
    Ok(value_of(&first.text[first.found.unwrap_or_default()], args))
}

fn eval_instr(args: &Args<'_>, context: &mut EvalContext<'_>) -> Result<Value> {
    let first = some!(first_match(args, context)?);
    let is_binary = first.collation == Collation::Binary;
    // Bytes that continue a character do not count.
    let is_character = |byte: &&u8| is_binary || **byte & 0xC0 != 0x80;
    let place = first.found.map_or(0, |found| {
        first.text[..found.start].iter().filter(is_character).count() + 1
    });
    Ok(Value::Int(place as i64))
}
