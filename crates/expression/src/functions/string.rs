//! String functions: building, cutting, searching, changing.
//!
//! A binary result counts bytes: each byte of its arguments is treated as a character ([`Args::view`]).

use std::borrow::Cow;

use paceline_types::error_code::ER_WARN_ALLOWED_PACKET_OVERFLOWED;
use paceline_types::{Collation, Value};

use crate::context::EvalContext;
use crate::error::Result;
use crate::eval::convert;
use crate::expr_type::{Class, ExprType};
use crate::functions::arguments::some;
use crate::rules::CollationMix;
use crate::tree::{Args, BindCall, Expr, Function, MANY, pure};
use crate::typing::reading::read_as_number;

/// Maximum length of text in a function's type, in characters.
pub(super) const LONGEST: u64 = 16_777_216;

pub(super) static FUNCTIONS: &[Function] = &[
    pure("concat", (1, MANY), bind_concat, eval_concat),
    pure("concat_ws", (2, MANY), bind_concat_ws, eval_concat_ws),
    pure("substr", (2, 3), bind_substr, eval_substr),
    pure("substring", (2, 3), bind_substr, eval_substr),
    pure("mid", (2, 3), bind_substr, eval_substr),
    pure(
        "substring_index",
        (3, 3),
        |call| call.text(call.length(0), &[0, 1]),
        eval_substring_index,
    ),
    pure("left", (2, 2), bind_left, eval_left),
    pure("right", (2, 2), bind_left, eval_right),
    pure("lpad", (2, 3), bind_pad, |args, context| {
        pad(args, context, Side::Left)
    }),
    pure("rpad", (2, 3), bind_pad, |args, context| {
        pad(args, context, Side::Right)
    }),
    pure("trim", (1, 2), bind_trim, |args, context| {
        trim(args, context, true, true)
    }),
    pure("ltrim", (1, 2), bind_trim, |args, context| {
        trim(args, context, true, false)
    }),
    pure("rtrim", (1, 2), bind_trim, |args, context| {
        trim(args, context, false, true)
    }),
    pure("upper", (1, 1), bind_first, |args, context| {
        change_case(args, context, Collation::upper)
    }),
    pure("ucase", (1, 1), bind_first, |args, context| {
        change_case(args, context, Collation::upper)
    }),
    pure("lower", (1, 1), bind_first, |args, context| {
        change_case(args, context, Collation::lower)
    }),
    pure("lcase", (1, 1), bind_first, |args, context| {
        change_case(args, context, Collation::lower)
    }),
    pure("length", (1, 1), bind_length, eval_length),
    pure("octet_length", (1, 1), bind_length, eval_length),
    pure("lengthb", (1, 1), bind_length, eval_length),
    pure(
        "bit_length",
        (1, 1),
        |call| Ok(call.with_nullability(ExprType::int(11))),
        |args, context| {
            Ok(args
                .bytes(0, context)?
                .map_or(Value::Null, |bytes| Value::Int(8 * bytes.len() as i64)))
        },
    ),
    pure("char_length", (1, 1), bind_length, eval_char_length),
    pure("character_length", (1, 1), bind_length, eval_char_length),
    pure("instr", (2, 2), bind_search, |args, context| {
        locate(args, context, 0, 1, None)
    }),
    pure("locate", (2, 3), bind_search, |args, context| {
        let from = if args.len() > 2 { Some(2) } else { None };
        locate(args, context, 1, 0, from)
    }),
    pure("position", (2, 2), bind_search, |args, context| {
        locate(args, context, 1, 0, None)
    }),
    pure("replace", (3, 3), bind_replace, eval_replace),
    pure("repeat", (2, 2), bind_repeat, eval_repeat),
    pure("reverse", (1, 1), bind_first, eval_reverse),
    pure("space", (1, 1), bind_space, eval_space),
    pure("strcmp", (2, 2), bind_strcmp, eval_strcmp),
    pure("field", (2, MANY), bind_field, eval_field),
    pure(
        "find_in_set",
        (2, 2),
        |call| {
            call.compared_collation(2)?;
            Ok(call.with_nullability(ExprType::int(3)))
        },
        eval_find_in_set,
    ),
    Function {
        as_number: Some(&ELT_NUMBER),
        decimal_of_text: true,
        ..pure("elt", (2, MANY), bind_elt, eval_elt)
    },
    pure("make_set", (2, MANY), bind_make_set, eval_make_set),
    pure(
        "export_set",
        (3, 5),
        |call| {
            let separator = if call.args.len() > 3 { call.length(3) } else { 1 };
            let bit = call.length(1).max(call.length(2));
            let length = bit
                .saturating_mul(64)
                .saturating_add(separator.saturating_mul(63));
            call.text(length, &[1, 2, 3])
        },
        eval_export_set,
    ),
    pure(
        "insert",
        (4, 4),
        |call| call.text(call.length(0) + call.length(3), &[0, 3]),
        eval_insert,
    ),
    pure(
        "quote",
        (1, 1),
        |call| call.text(2 * call.length(0) + 2, &[0]),
        eval_quote,
    ),
    pure(
        "soundex",
        (1, 1),
        |call| call.text(call.length(0).max(4), &[0]),
        eval_soundex,
    ),
];

fn bind_length(call: &mut BindCall<'_>) -> Result<ExprType> {
    Ok(call.with_nullability(ExprType::int32(10)))
}

fn bind_first(call: &mut BindCall<'_>) -> Result<ExprType> {
    call.text(call.length(0), &[0])
}

fn all(call: &BindCall<'_>) -> Vec<usize> {
    (0..call.args.len()).collect()
}

/// Handles a result longer than `max_allowed_packet`: returns NULL with warning 1301.
pub(super) fn too_long(args: &Args<'_>, context: &mut EvalContext<'_>) -> Result<Value> {
    let limit = context.session.settings.max_allowed_packet;
    let message = ER_WARN_ALLOWED_PACKET_OVERFLOWED.message(&[&args.name(), &limit]);
    context.warn(ER_WARN_ALLOWED_PACKET_OVERFLOWED, message)?;
    Ok(Value::Null)
}

/// Returns the result, unless it is longer than `max_allowed_packet`.
pub(super) fn within_packet(value: Value, args: &Args<'_>, context: &mut EvalContext<'_>) -> Result<Value> {
    match &value {
        Value::Text(text) if overflows(text.len(), context) => too_long(args, context),
        Value::Bytes(bytes) if overflows(bytes.len(), context) => too_long(args, context),
        _ => Ok(value),
    }
}

/// Returns whether a result of this many bytes is too long.
pub(super) fn overflows(bytes: usize, context: &EvalContext<'_>) -> bool {
    bytes > context.session.settings.max_allowed_packet
}

fn bind_concat(call: &mut BindCall<'_>) -> Result<ExprType> {
    let length = (0..call.args.len())
        .map(|index| call.length(index))
        .fold(0, u64::saturating_add);
    call.text(length, &all(call))
}

fn eval_concat(args: &Args<'_>, context: &mut EvalContext<'_>) -> Result<Value> {
    if args.is_binary() {
        let mut out = Vec::new();
        for index in 0..args.len() {
            out.extend_from_slice(&some!(args.bytes(index, context)?));
            if overflows(out.len(), context) {
                return too_long(args, context);
            }
        }
        return Ok(Value::Bytes(out));
    }
    let mut out = String::new();
    for index in 0..args.len() {
        out.push_str(&some!(args.text(index, context)?));
        if overflows(out.len(), context) {
            return too_long(args, context);
        }
    }
    Ok(Value::Text(out))
}

fn bind_concat_ws(call: &mut BindCall<'_>) -> Result<ExprType> {
    let separators = call
        .length(0)
        .saturating_mul(call.args.len().saturating_sub(2) as u64);
    let length = (1..call.args.len())
        .map(|index| call.length(index))
        .fold(separators, u64::saturating_add);
    let nullable = call.args[0].ty.nullable;
    Ok(call.text(length, &all(call))?.with_nullable(nullable))
}

fn eval_concat_ws(args: &Args<'_>, context: &mut EvalContext<'_>) -> Result<Value> {
    let separator = some!(args.view(0, context)?);
    let mut out = String::new();
    let mut first = true;
    for index in 1..args.len() {
        let Some(text) = args.view(index, context)? else {
            continue;
        };
        if !first {
            out.push_str(&separator);
        }
        first = false;
        out.push_str(&text);
        if overflows(out.len(), context) {
            return too_long(args, context);
        }
    }
    Ok(args.text_of_view(out))
}

/// Returns the byte offset of character `index`, or the end of the text.
fn offset_of(text: &str, index: usize) -> usize {
    if text.is_ascii() {
        index.min(text.len())
    } else {
        text.char_indices().nth(index).map_or(text.len(), |(at, _)| at)
    }
}

fn eval_substr(args: &Args<'_>, context: &mut EvalContext<'_>) -> Result<Value> {
    let text = some!(args.view(0, context)?);
    let start = some!(args.count(1, context)?);
    let length = if args.len() > 2 {
        some!(args.count(2, context)?)
    } else {
        i64::MAX
    };
    let characters = text.chars().count() as i64;
    if length <= 0 || start == 0 || start > characters || start < -characters {
        return Ok(args.text_of_view(""));
    }
    let start = if start < 0 { characters + start } else { start - 1 };
    let length = length.min(characters - start);
    let from = offset_of(&text, start as usize);
    let to = from + offset_of(&text[from..], length as usize);
    Ok(args.text_of_view(&text[from..to]))
}

fn eval_substring_index(args: &Args<'_>, context: &mut EvalContext<'_>) -> Result<Value> {
    let text = some!(args.view(0, context)?);
    let delimiter = some!(args.view(1, context)?);
    let count = some!(args.int(2, context)?);
    if count == 0 || delimiter.is_empty() || text.is_empty() {
        return Ok(args.text_of_view(""));
    }
    let nth = usize::try_from(count.unsigned_abs() - 1).unwrap_or(usize::MAX);
    let part = if count > 0 {
        text.match_indices(&*delimiter)
            .nth(nth)
            .map_or(&*text, |(at, _)| &text[..at])
    } else {
        text.rmatch_indices(&*delimiter)
            .nth(nth)
            .map_or(&*text, |(at, _)| &text[at + delimiter.len()..])
    };
    Ok(args.text_of_view(part))
}

fn bind_substr(call: &mut BindCall<'_>) -> Result<ExprType> {
    let length = call.length(0);
    let length = match call.constant_int(1) {
        // Counted from the end.
        Some(start) if start < 0 => match start.unsigned_abs() {
            start if start > length => 0,
            start => start,
        },
        Some(0) => 0,
        Some(start) => length.saturating_sub(start as u64 - 1),
        None => length,
    };
    let count = match call.args.len() {
        3 => call.constant_int(2),
        _ => None,
    };
    call.text(
        count.map_or(length, |count| length.min(count.max(0) as u64)),
        &[0],
    )
}

fn bind_left(call: &mut BindCall<'_>) -> Result<ExprType> {
    let length = call.length(0);
    let length = call
        .constant_int(1)
        .map_or(length, |count| length.min(count.max(0) as u64));
    call.text(length, &[0])
}

fn eval_left(args: &Args<'_>, context: &mut EvalContext<'_>) -> Result<Value> {
    let text = some!(args.view(0, context)?);
    let count = some!(args.count(1, context)?);
    let end = offset_of(&text, usize::try_from(count.max(0)).unwrap_or(usize::MAX));
    Ok(args.text_of_view(&text[..end]))
}

fn eval_right(args: &Args<'_>, context: &mut EvalContext<'_>) -> Result<Value> {
    let text = some!(args.view(0, context)?);
    let count = usize::try_from(some!(args.count(1, context)?).max(0)).unwrap_or(usize::MAX);
    let skip = text.chars().count().saturating_sub(count);
    Ok(args.text_of_view(&text[offset_of(&text, skip)..]))
}

enum Side {
    Left,
    Right,
}

fn bind_pad(call: &mut BindCall<'_>) -> Result<ExprType> {
    let length = call
        .constant_int(1)
        .map_or(LONGEST, |length| length.clamp(0, LONGEST as i64) as u64);
    let indexes: &[usize] = if call.args.len() > 2 { &[0, 2] } else { &[0] };
    Ok(call.text(length, indexes)?.nullable())
}

fn pad(args: &Args<'_>, context: &mut EvalContext<'_>, side: Side) -> Result<Value> {
    let text = some!(args.view(0, context)?);
    let length = some!(args.count(1, context)?);
    let filler = if args.len() > 2 {
        some!(args.view(2, context)?)
    } else {
        Cow::Borrowed(" ")
    };
    if length < 0 {
        return Ok(Value::Null);
    }
    let length = usize::try_from(length).unwrap_or(usize::MAX);
    let have = text.chars().count();
    if length <= have {
        return Ok(args.text_of_view(&text[..offset_of(&text, length)]));
    }
    if overflows(length, context) {
        return too_long(args, context);
    }
    if filler.is_empty() {
        return Ok(Value::Null);
    }
    let padding: String = filler.chars().cycle().take(length - have).collect();
    Ok(args.text_of_view(match side {
        Side::Left => padding + &text,
        Side::Right => text.into_owned() + &padding,
    }))
}

fn bind_trim(call: &mut BindCall<'_>) -> Result<ExprType> {
    call.text(call.length(0), &[0, 1])
}

fn trim(args: &Args<'_>, context: &mut EvalContext<'_>, leading: bool, trailing: bool) -> Result<Value> {
    let text = some!(args.view(0, context)?);
    let what = if args.len() > 1 {
        some!(args.view(1, context)?)
    } else {
        Cow::Borrowed(" ")
    };
    let mut rest = &*text;
    if !what.is_empty() {
        if leading {
            while let Some(shorter) = rest.strip_prefix(&*what) {
                rest = shorter;
            }
        }
        if trailing {
            while let Some(shorter) = rest.strip_suffix(&*what) {
                rest = shorter;
            }
        }
    }
    Ok(args.text_of_view(rest))
}

fn change_case(
    args: &Args<'_>,
    context: &mut EvalContext<'_>,
    change: fn(Collation, &str) -> String,
) -> Result<Value> {
    let collation = args.ty.collation();
    let change = |text: &str| change(collation, text);
    if args.is_binary() {
        let bytes = some!(args.bytes(0, context)?);
        return Ok(Value::Bytes(bytes.into_owned()));
    }
    let text = some!(args.text(0, context)?);
    if text.is_ascii() {
        return Ok(Value::Text(change(&text)));
    }
    // One character becomes one character: ß does not change.
    let changed = text.chars().map(|character| {
        let changed = change(character.encode_utf8(&mut [0; 4]));
        let mut characters = changed.chars();
        match (characters.next(), characters.next()) {
            (Some(one), None) => one,
            _ => character,
        }
    });
    Ok(Value::Text(changed.collect()))
}

fn eval_length(args: &Args<'_>, context: &mut EvalContext<'_>) -> Result<Value> {
    Ok(args
        .bytes(0, context)?
        .map_or(Value::Null, |bytes| Value::Int(bytes.len() as i64)))
}

fn eval_char_length(args: &Args<'_>, context: &mut EvalContext<'_>) -> Result<Value> {
    let value = args.shown(0, context)?;
    Ok(match &*value {
        Value::Null => Value::Null,
        Value::Text(text) => Value::Int(text.chars().count() as i64),
        Value::Bytes(bytes) => Value::Int(bytes.len() as i64),
        other => Value::Int(convert::typed_text(other, args.ty_of(0), context).chars().count() as i64),
    })
}

fn bind_search(call: &mut BindCall<'_>) -> Result<ExprType> {
    // The order of INSTR's arguments in MariaDB's errors, where it is called LOCATE.
    let order = if call.name == "instr" { [0, 1] } else { [1, 0] };
    call.compared_collation_of(&order, "locate")?;
    Ok(call.with_nullability(ExprType::int32(11)))
}

/// Returns the collation for comparing two arguments.
fn search_collation(args: &Args<'_>, context: &EvalContext<'_>) -> Collation {
    let types = [args.ty_of(0), args.ty_of(1)];
    CollationMix::of(&types, context.session.settings.collation_connection, args.name())
        .map_or(Collation::Utf8mb4Bin, |(collation, _)| collation)
}

fn locate(
    args: &Args<'_>,
    context: &mut EvalContext<'_>,
    haystack: usize,
    needle: usize,
    from: Option<usize>,
) -> Result<Value> {
    let collation = search_collation(args, context);
    let (haystack, needle) = if collation == Collation::Binary {
        (
            Cow::Owned(convert::latin_view_of(&some!(args.bytes(haystack, context)?))),
            Cow::Owned(convert::latin_view_of(&some!(args.bytes(needle, context)?))),
        )
    } else {
        (
            some!(args.text(haystack, context)?),
            some!(args.text(needle, context)?),
        )
    };
    let start = match from {
        Some(from) => some!(args.count(from, context)?),
        None => 1,
    };
    let characters = haystack.chars().count() as i64;
    if from.is_some() && (start < 1 || start > characters) {
        return Ok(Value::Int(0));
    }
    let skipped = offset_of(&haystack, (start - 1) as usize);
    let found = find(&haystack[skipped..], &needle, collation);
    Ok(Value::Int(found.map_or(0, |at| {
        start + haystack[skipped..skipped + at].chars().count() as i64
    })))
}

/// Returns the byte offset of the first occurrence of `needle` in `haystack`.
pub(super) fn find(haystack: &str, needle: &str, collation: Collation) -> Option<usize> {
    if needle.is_empty() {
        return Some(0);
    }
    if collation.is_bin() {
        return haystack.find(needle);
    }
    if collation.charset().max_bytes_per_character() > 1 {
        // Only a match with as many bytes as the needle counts: É finds é, but e does not.
        return haystack
            .char_indices()
            .map(|(at, _)| at)
            .find(|at| matches!(haystack.get(*at..*at + needle.len()), Some(piece) if collation.equals_unpadded(piece, needle)));
    }
    let count = needle.chars().count();
    let ends: Vec<usize> = haystack
        .char_indices()
        .map(|(at, _)| at)
        .chain(std::iter::once(haystack.len()))
        .collect();
    (0..ends.len().saturating_sub(count))
        .map(|at| (ends[at], ends[at + count]))
        .find(|(from, to)| characters_equal(&haystack[*from..*to], needle, collation))
        .map(|(from, _)| from)
}

/// Returns whether two texts with the same number of characters are equal, including trailing spaces.
fn characters_equal(left: &str, right: &str, collation: Collation) -> bool {
    if left == right {
        return true;
    }
    left.chars().zip(right.chars()).all(|(left, right)| {
        left == right || {
            let (mut a, mut b) = ([0; 4], [0; 4]);
            (left == ' ') == (right == ' ')
                && collation.equals(left.encode_utf8(&mut a), right.encode_utf8(&mut b))
        }
    })
}

fn bind_replace(call: &mut BindCall<'_>) -> Result<ExprType> {
    call.compared_collation(3)?;
    let grown = call.length(0).saturating_mul(call.length(2).max(1));
    call.text(grown.min(LONGEST).max(call.length(0)), &[0, 1, 2])
}

fn eval_replace(args: &Args<'_>, context: &mut EvalContext<'_>) -> Result<Value> {
    let text = some!(args.view(0, context)?);
    let from = some!(args.view(1, context)?);
    // The replacement is not evaluated if the searched text is empty.
    if from.is_empty() {
        return Ok(args.text_of_view(text));
    }
    let to = some!(args.view(2, context)?);
    // Compute the length before building the text, because it can be the product of both lengths.
    if to.len() > from.len() {
        let places = text.matches(&*from).count();
        let added = places.saturating_mul(to.len() - from.len());
        if overflows(text.len().saturating_add(added), context) {
            return too_long(args, context);
        }
    }
    Ok(args.text_of_view(text.replace(&*from, &to)))
}

fn bind_repeat(call: &mut BindCall<'_>) -> Result<ExprType> {
    let count = call.constant_int(1).map_or(LONGEST, |count| count.max(0) as u64);
    Ok(call
        .text(call.length(0).saturating_mul(count).min(LONGEST), &[0])?
        .nullable())
}

fn eval_repeat(args: &Args<'_>, context: &mut EvalContext<'_>) -> Result<Value> {
    let text = some!(args.view(0, context)?);
    let count = usize::try_from(some!(args.count(1, context)?).max(0)).unwrap_or(usize::MAX);
    if overflows(text.len().saturating_mul(count), context) {
        return too_long(args, context);
    }
    Ok(args.text_of_view(if text.is_empty() {
        String::new()
    } else {
        text.repeat(count)
    }))
}

fn eval_reverse(args: &Args<'_>, context: &mut EvalContext<'_>) -> Result<Value> {
    let text = some!(args.view(0, context)?);
    Ok(args.text_of_view(text.chars().rev().collect::<String>()))
}

fn bind_space(call: &mut BindCall<'_>) -> Result<ExprType> {
    let length = call
        .constant_int(0)
        .map_or(LONGEST, |count| count.clamp(0, LONGEST as i64) as u64);
    Ok(call.ascii_text(length).nullable())
}

fn eval_space(args: &Args<'_>, context: &mut EvalContext<'_>) -> Result<Value> {
    let count = usize::try_from(some!(args.count(0, context)?).max(0)).unwrap_or(usize::MAX);
    if overflows(count, context) {
        too_long(args, context)
    } else {
        Ok(Value::Text(" ".repeat(count)))
    }
}

fn bind_strcmp(call: &mut BindCall<'_>) -> Result<ExprType> {
    call.compared_collation(2)?;
    Ok(call.with_nullability(ExprType::int(2)))
}

fn eval_strcmp(args: &Args<'_>, context: &mut EvalContext<'_>) -> Result<Value> {
    let collation = search_collation(args, context);
    let ordering = if collation == Collation::Binary {
        some!(args.bytes(0, context)?).cmp(&some!(args.bytes(1, context)?))
    } else {
        collation.compare(&some!(args.text(0, context)?), &some!(args.text(1, context)?))
    };
    Ok(Value::Int(ordering as i64))
}

/// Returns whether FIELD compares texts. Dates among texts are treated as texts.
fn are_compared_as_texts(args: &[Expr]) -> bool {
    let is_text = |arg: &Expr| {
        matches!(
            arg.ty.class(),
            Class::String | Class::Null | Class::FixedBinary(_)
        )
    };
    args.iter()
        .all(|arg| is_text(arg) || arg.ty.class().is_temporal())
        && args.iter().any(is_text)
}

fn bind_field(call: &mut BindCall<'_>) -> Result<ExprType> {
    if are_compared_as_texts(&call.args) {
        call.compared_collation(call.args.len())?;
    } else {
        call.args.iter_mut().for_each(read_as_number);
    }
    Ok(ExprType::int(3))
}

/// Computes FIELD: compares strings, numbers, or doubles if the types are mixed.
fn eval_field(args: &Args<'_>, context: &mut EvalContext<'_>) -> Result<Value> {
    let needle = args.value(0, context)?;
    if needle.is_null() {
        return Ok(Value::Int(0));
    }
    let classes: Vec<Class> = args.call.args.iter().map(|arg| arg.ty.class()).collect();
    let texts = are_compared_as_texts(&args.call.args);
    let integers = classes
        .iter()
        .all(|class| matches!(class, Class::Int | Class::Null));
    let types: Vec<&ExprType> = args.call.args.iter().map(|arg| &arg.ty).collect();
    let (collation, _) = CollationMix::of(&types, context.session.settings.collation_connection, "field")?;
    for index in 1..args.len() {
        let value = args.value(index, context)?;
        if value.is_null() {
            continue;
        }
        let equal = if texts {
            if collation == Collation::Binary {
                convert::bytes_of(&needle, context) == convert::bytes_of(&value, context)
            } else {
                collation.equals(
                    &convert::text_of(&needle, context),
                    &convert::text_of(&value, context),
                )
            }
        } else if integers {
            convert::to_i128(&needle, context)? == convert::to_i128(&value, context)?
        } else {
            convert::to_double(&needle, context)? == convert::to_double(&value, context)?
        };
        if equal {
            return Ok(Value::Int(index as i64));
        }
    }
    Ok(Value::Int(0))
}

fn eval_find_in_set(args: &Args<'_>, context: &mut EvalContext<'_>) -> Result<Value> {
    let needle = some!(args.text(0, context)?);
    // For a constant, the position in the definition of the SET.
    if args.call.args[0].is_constant_during_execution()
        && let Value::Set(set) = &*args.value(1, context)?
    {
        let label = set
            .labels
            .find(&needle, search_collation(args, context))
            .filter(|label| set.bits >> (label - 1) & 1 == 1);
        return Ok(Value::Int(label.map_or(0, i64::from)));
    }
    let set = some!(args.text(1, context)?);
    // As in MariaDB, a text with more bytes than the set is not found, even if it is equal to a shorter one.
    if set.is_empty() || needle.contains(',') || needle.len() > set.len() {
        return Ok(Value::Int(0));
    }
    let collation = search_collation(args, context);
    let equal = |part: &str| match collation {
        Collation::Binary => part == needle,
        // Trailing spaces are significant here.
        collation => collation.equals_unpadded(part, &needle),
    };
    Ok(Value::Int(
        set.split(',').position(equal).map_or(0, |at| at as i64 + 1),
    ))
}

fn bind_elt(call: &mut BindCall<'_>) -> Result<ExprType> {
    let indexes: Vec<usize> = (1..call.args.len()).collect();
    let length = indexes.iter().map(|index| call.length(*index)).max().unwrap_or(0);
    Ok(call.text(length, &indexes)?.nullable())
}

fn eval_elt(args: &Args<'_>, context: &mut EvalContext<'_>) -> Result<Value> {
    // MariaDB uses 32 bits of the number.
    let index = some!(args.int(0, context)?) as u32;
    if index < 1 || index as usize >= args.len() {
        return Ok(Value::Null);
    }
    Ok(args
        .view(index as usize, context)?
        .map_or(Value::Null, |text| args.text_of_view(text)))
}

fn bind_make_set(call: &mut BindCall<'_>) -> Result<ExprType> {
    let indexes: Vec<usize> = (1..call.args.len()).collect();
    let separators = indexes.len() as u64 - 1;
    let length = indexes
        .iter()
        .map(|index| call.length(*index))
        .fold(separators, u64::saturating_add);
    let nullable = call.args[0].ty.nullable;
    Ok(call.text(length, &indexes)?.with_nullable(nullable))
}

/// ELT as a number: the number of the selected argument, not of its text.
static ELT_NUMBER: Function = pure("elt", (2, MANY), bind_elt, |args, context| {
    // MariaDB uses 32 bits of the number.
    let index = some!(args.int(0, context)?) as u32;
    if index < 1 || index as usize >= args.len() {
        return Ok(Value::Null);
    }
    Ok(args.value(index as usize, context)?.into_owned())
});

fn eval_make_set(args: &Args<'_>, context: &mut EvalContext<'_>) -> Result<Value> {
    let bits = some!(args.int(0, context)?);
    let mut parts = Vec::new();
    for index in 1..args.len().min(65) {
        if bits >> (index - 1) & 1 == 1
            && let Some(text) = args.view(index, context)?
        {
            parts.push(text);
        }
    }
    Ok(args.text_of_view(parts.join(",")))
}

fn eval_export_set(args: &Args<'_>, context: &mut EvalContext<'_>) -> Result<Value> {
    let bits = some!(args.wide_int(0, context)?) as u64;
    let on = some!(args.view(1, context)?);
    let off = some!(args.view(2, context)?);
    let separator = if args.len() > 3 {
        some!(args.view(3, context)?)
    } else {
        Cow::Borrowed(",")
    };
    let count = if args.len() > 4 {
        some!(args.int(4, context)?)
    } else {
        64
    };
    let count = if (0..=64).contains(&count) { count } else { 64 };
    let parts: Vec<&str> = (0..count)
        .map(|bit| if bits >> bit & 1 == 1 { &*on } else { &*off })
        .collect();
    let length = parts
        .iter()
        .map(|part| part.len() + separator.len())
        .sum::<usize>();
    if overflows(length.saturating_sub(separator.len()), context) {
        return too_long(args, context);
    }
    Ok(args.text_of_view(parts.join(&separator)))
}

fn eval_insert(args: &Args<'_>, context: &mut EvalContext<'_>) -> Result<Value> {
    let text = some!(args.view(0, context)?);
    let position = some!(args.count(1, context)?);
    let length = some!(args.count(2, context)?);
    let new = some!(args.view(3, context)?);
    let characters = text.chars().count() as i64;
    if position < 1 || position > characters {
        return Ok(args.text_of_view(text));
    }
    let left = characters - (position - 1);
    let length = if length < 0 || length > left { left } else { length };
    let from = offset_of(&text, (position - 1) as usize);
    let to = from + offset_of(&text[from..], length as usize);
    if overflows(text.len() - (to - from) + new.len(), context) {
        return too_long(args, context);
    }
    Ok(args.text_of_view(format!("{}{new}{}", &text[..from], &text[to..])))
}

fn eval_quote(args: &Args<'_>, context: &mut EvalContext<'_>) -> Result<Value> {
    let Some(text) = args.view(0, context)? else {
        return Ok(Value::Text("NULL".to_owned()));
    };
    let mut out = String::with_capacity(text.len() + 2);
    out.push('\'');
    for character in text.chars() {
        match character {
            '\0' => out.push_str("\\0"),
            '\u{1a}' => out.push_str("\\Z"),
            '\'' | '\\' => {
                out.push('\\');
                out.push(character);
            }
            other => out.push(other),
        }
    }
    out.push('\'');
    within_packet(args.text_of_view(out), args, context)
}

fn eval_soundex(args: &Args<'_>, context: &mut EvalContext<'_>) -> Result<Value> {
    let text = some!(args.view(0, context)?);
    let code = |character: char| match character.to_ascii_uppercase() {
        'B' | 'F' | 'P' | 'V' => '1',
        'C' | 'G' | 'J' | 'K' | 'Q' | 'S' | 'X' | 'Z' => '2',
        'D' | 'T' => '3',
        'L' => '4',
        'M' | 'N' => '5',
        'R' => '6',
        _ => '0',
    };
    // In MariaDB every character from À on is a letter and is kept. In a binary string such a byte is not a letter.
    let is_binary = args.is_binary();
    let mut letters = text
        .chars()
        .filter(|character| character.is_ascii_alphabetic() || (!is_binary && *character >= 'À'));
    let Some(first) = letters.next() else {
        return Ok(args.text_of_view(""));
    };
    let mut out = first.to_ascii_uppercase().to_string();
    let mut last = code(first);
    // Vowels do not separate two equal codes.
    for digit in letters.map(code) {
        if digit != '0' && digit != last {
            out.push(digit);
            last = digit;
        }
    }
    while out.chars().count() < 4 {
        out.push('0');
    }
    Ok(args.text_of_view(out))
}
