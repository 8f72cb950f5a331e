//! JSON functions on text. Unchanged parts keep their spelling.

use std::borrow::Cow;

use paceline_json::modify::{self, Change};
use paceline_json::{DEPTH_MAX, Fault, KeyMatch, Kind, Path, PathFault, Step, escape, unescape};
use paceline_types::error_code::{
    ER_JSON_DEPTH, ER_JSON_EOS, ER_JSON_ONE_OR_ALL, ER_JSON_PATH_DEPTH, ER_JSON_PATH_EMPTY, ER_JSON_PATH_EOS,
    ER_JSON_PATH_NO_WILDCARD, ER_JSON_PATH_SYNTAX, ER_JSON_SYNTAX, ER_WRONG_PARAMCOUNT_TO_NATIVE_FCT,
};
use paceline_types::{BlobSize, Collation, DataType, Value};

use super::string::{overflows, too_long};
use crate::context::EvalContext;
use crate::error::{Error, Result};
use crate::errors;
use crate::eval::convert;
use crate::expr_type::{Class, ExprType, Repertoire, TypeNote};
use crate::functions::arguments::some;
use crate::rules::CollationMix;
use crate::session::Level;
use crate::tree::{Args, BindCall, Function, MANY, pure};

/// A parsed document, which owns its parts.
type Node = paceline_json::Node<'static>;

/// JSON_EXTRACT if a number is expected (MariaDB's `Item_func_json_extract::val_real`): the digits at the start of a
/// string or number, 1 for true, 0 for anything else.
static EXTRACTED_NUMBER: Function = pure("json_extract", (2, MANY), bind_json, |args, context| {
    let node = some!(extracted(args, context)?);
    Ok(Value::Text(match &node.kind {
        Kind::Number(text) | Kind::String(text) => number_prefix(text).to_owned(),
        Kind::Boolean(true) => "1".to_owned(),
        _ => "0".to_owned(),
    }))
});

/// JSON_EXTRACT in a comparison with text (MariaDB's `Arg_comparator::compare_json_str`): a string without quotes and
/// escapes.
static EXTRACTED_TEXT: Function = pure("json_extract", (2, MANY), bind_json, |args, context| {
    let node = some!(extracted(args, context)?);
    Ok(match &node.kind {
        Kind::String(escaped) => Value::Text(unescape(escaped).into_owned()),
        _ => json(&node),
    })
});

pub(super) static FUNCTIONS: &[Function] = &[
    pure(
        "json_valid",
        (1, 1),
        |_| Ok(ExprType::boolean().nullable()),
        |args, context| {
            if args.value(0, context)?.is_null() {
                return Ok(Value::Null);
            }
            Ok(Value::Int(i64::from(
                examined(args, 0, Level::Note, context)?.is_some(),
            )))
        },
    ),
    Function {
        as_number: Some(&EXTRACTED_NUMBER),
        as_temporal: None,
        as_compared: Some(&EXTRACTED_TEXT),
        ..pure("json_extract", (2, MANY), bind_json, eval_extract)
    },
    pure("json_value", (2, 2), bind_json, eval_value),
    pure("json_query", (2, 2), bind_json, eval_query),
    pure("json_unquote", (1, 1), bind_quotes, eval_unquote),
    pure("json_quote", (1, 1), bind_quotes, eval_quote),
    pure("json_array", (0, MANY), bind_json_made, eval_array),
    pure("json_object", (0, MANY), bind_object, eval_object),
    pure("json_set", (3, MANY), bind_pairs, |args, context| {
        eval_change(args, context, Change::Set)
    }),
    pure("json_insert", (3, MANY), bind_pairs, |args, context| {
        eval_change(args, context, Change::Insert)
    }),
    pure("json_replace", (3, MANY), bind_pairs, |args, context| {
        eval_change(args, context, Change::Replace)
    }),
    pure("json_remove", (2, MANY), bind_json, eval_remove),
    pure("json_array_append", (3, MANY), bind_pairs, eval_array_append),
    pure("json_array_insert", (3, MANY), bind_pairs, eval_array_insert),
    pure("json_contains", (2, 3), bind_boolean, eval_contains),
    pure("json_contains_path", (3, MANY), bind_boolean, eval_contains_path),
    pure("json_overlaps", (2, 2), bind_boolean, eval_overlaps),
    pure("json_exists", (2, 2), bind_boolean, eval_exists),
    pure("json_equals", (2, 2), bind_boolean, eval_equals),
    pure(
        "json_length",
        (1, 2),
        |_| Ok(ExprType::int32(10).nullable()),
        eval_length,
    ),
    pure(
        "json_depth",
        (1, 1),
        |call| Ok(call.with_nullability(ExprType::int32(10))),
        |args, context| {
            let (_, node) = some!(document(args, 0, context)?);
            Ok(Value::Int(node.depth() as i64))
        },
    ),
    pure(
        "json_type",
        (1, 1),
        |_| Ok(ExprType::text(12, Collation::Utf8mb3GeneralCi).nullable()),
        eval_type,
    ),
    pure("json_keys", (1, 2), bind_json, eval_keys),
    pure("json_search", (3, MANY), bind_json, eval_search),
    pure("json_merge", (2, MANY), bind_json, |args, context| {
        eval_merge(args, context, modify::merge_preserve)
    }),
    pure("json_merge_preserve", (2, MANY), bind_json, |args, context| {
        eval_merge(args, context, modify::merge_preserve)
    }),
    pure("json_merge_patch", (2, MANY), bind_json, eval_merge_patch),
    pure("json_compact", (1, 1), bind_json, |args, context| {
        reformat(args, context, Node::write_compact)
    }),
    pure(
        "json_normalize",
        (1, 1),
        // One digit can become five characters.
        |call| Ok(ExprType::text(call.length(0).saturating_mul(5), Collation::Utf8mb4Bin).nullable()),
        |args, context| reformat(args, context, Node::write_normalized),
    ),
    pure("json_loose", (1, 1), bind_json, |args, context| {
        reformat(args, context, Node::write_loose)
    }),
    pure("json_detailed", (1, 2), bind_json, eval_detailed),
    pure("json_pretty", (1, 2), bind_json, eval_detailed),
];

/// Returns a JSON string literal.
pub(crate) fn json_quote(text: &str) -> String {
    format!("\"{}\"", escape(text))
}

/// Appends a value as JSON: numbers and JSON text unchanged, other text in quotes.
pub(crate) fn append_json_value(value: &Value, ty: &ExprType, context: &EvalContext<'_>, out: &mut String) {
    match value {
        Value::Null => out.push_str("null"),
        Value::Int(truth) if ty.note == TypeNote::Boolean => {
            out.push_str(if *truth == 0 { "false" } else { "true" })
        }
        Value::Int(_)
        | Value::UInt(_)
        | Value::Double(_)
        | Value::Float(_)
        | Value::Decimal(_)
        | Value::Year(_) => {
            out.push_str(&convert::typed_text(value, ty, context));
        }
        Value::Text(text) if ty.note == TypeNote::Json || ty.data_type == DataType::Json => {
            out.push_str(text)
        }
        other => out.push_str(&json_quote(&convert::typed_text(other, ty, context))),
    }
}

/// Returns the type of JSON built by a function. Other JSON functions insert it without quotes.
fn bind_json_made(call: &mut BindCall<'_>) -> Result<ExprType> {
    if call.args.is_empty() {
        return Ok(ExprType {
            note: TypeNote::Json,
            ..ExprType::text(0, call.connection())
        });
    }
    let length = length_of_elements(call);
    let types: Vec<&ExprType> = call.args.iter().map(|arg| &arg.ty).collect();
    let collation = match CollationMix::of(&types, call.connection(), call.name)?.0 {
        Collation::Binary => call.connection(),
        collation => collation,
    };
    Ok(ExprType {
        note: TypeNote::Json,
        ..ExprType::text(length, collation)
    })
}

/// Returns the length of an array of the arguments: a text may have a backslash before each character, and anything
/// may be NULL.
fn length_of_elements(call: &BindCall<'_>) -> u64 {
    let length_of = |ty: &ExprType| match ty.class() {
        Class::Int | Class::Decimal | Class::Double | Class::Null => ty.max_characters(),
        _ if ty.is_json() => ty.max_characters(),
        _ => ty.max_characters().saturating_mul(2),
    };
    call.args
        .iter()
        .map(|arg| length_of(&arg.ty).max(4).saturating_add(4))
        .fold(2, u64::saturating_add)
}

/// Returns the length of a part of a document or of a result built from it, in characters. The lengths are MariaDB's:
/// a result can be longer.
fn length_of_part(call: &BindCall<'_>) -> u64 {
    let document = call.length(0);
    let twice = document.saturating_mul(2);
    let lengths = |from: usize, more: u64| {
        let indexes = (from..call.args.len()).step_by(2);
        indexes
            .map(|index| call.length(index) + more)
            .fold(0, u64::saturating_add)
    };
    match call.name {
        "json_value" | "json_query" | "json_keys" | "json_compact" | "json_remove" => document,
        "json_set" | "json_insert" | "json_replace" => {
            let values = (0..call.args.len() - 1).step_by(2);
            let values = values.map(|index| call.length(index) + 4);
            document
                .saturating_add(lengths(1, 6))
                .saturating_add(values.fold(0, u64::saturating_add))
        }
        "json_array_append" | "json_array_insert" => document.saturating_add(lengths(2, 4)),
        "json_merge" | "json_merge_preserve" | "json_merge_patch" => length_of_elements(call),
        "json_extract" if call.args.len() > 2 => {
            twice.saturating_add(2).saturating_mul(call.args.len() as u64 - 1)
        }
        "json_search" => {
            let ty = &call.args[0].ty;
            let width = u64::from(ty.charset().max_bytes_per_character());
            ty.max_bytes().saturating_mul(ty.max_bytes()) / width
        }
        "json_detailed" | "json_pretty" => BlobSize::Long.max_bytes(),
        _ => twice,
    }
}

/// Returns the type of a part of a document or of a result built from it: it has the document's collation, or the
/// connection's if the document is not text.
fn bind_json(call: &mut BindCall<'_>) -> Result<ExprType> {
    let document = &call.args[0].ty;
    let characters = length_of_part(call);
    let is_text = document.class() == Class::String
        && !document.is_parameter()
        && document.collation() != Collation::Binary;
    let ty = match is_text {
        true => ExprType::text(characters, document.collation()).with_coercibility(document.coercibility),
        false => ExprType::text(characters, call.connection()),
    };
    let note = match call.name {
        "json_value" => TypeNote::Plain,
        _ => TypeNote::Json,
    };
    Ok(ExprType {
        note,
        ..ty.nullable()
    })
}

/// Returns the type of JSON_QUOTE and JSON_UNQUOTE, which have other rules for the collation.
fn bind_quotes(call: &mut BindCall<'_>) -> Result<ExprType> {
    let length = call.length(0);
    // Each character can become two code units with \u. MariaDB treats the result of JSON_UNQUOTE as ASCII,
    // whatever it contains.
    let (length, repertoire) = match call.name {
        "json_quote" => (length.saturating_mul(12).saturating_add(2), Repertoire::Full),
        _ => (length, Repertoire::Ascii),
    };
    let ty = ExprType::text(length, Collation::Utf8mb4Bin);
    Ok(ty.with_repertoire(repertoire).nullable())
}

fn bind_boolean(_call: &mut BindCall<'_>) -> Result<ExprType> {
    Ok(ExprType::boolean().nullable())
}

fn bind_object(call: &mut BindCall<'_>) -> Result<ExprType> {
    if call.args.len() % 2 == 1 {
        return Err(errors::error(ER_WRONG_PARAMCOUNT_TO_NATIVE_FCT, &[&call.written]));
    }
    bind_json_made(call)
}

fn bind_pairs(call: &mut BindCall<'_>) -> Result<ExprType> {
    if call.args.len().is_multiple_of(2) {
        return Err(errors::error(ER_WRONG_PARAMCOUNT_TO_NATIVE_FCT, &[&call.written]));
    }
    bind_json(call)
}

/// Returns the text and tree of a JSON argument. `None` for NULL, and with a warning for invalid JSON.
fn document<'a>(
    args: &Args<'a>,
    index: usize,
    context: &mut EvalContext<'_>,
) -> Result<Option<(Cow<'a, str>, Node)>> {
    examined(args, index, Level::Warning, context)
}

/// Like [`document`], without a warning for invalid JSON, for JSON_VALUE and JSON_QUERY.
fn quiet_document<'a>(args: &Args<'a>, context: &mut EvalContext<'_>) -> Result<Option<Node>> {
    Ok(args.text(0, context)?.and_then(|text| Node::parse(&text).ok()))
}

/// Like [`document`], with a note or a warning for invalid JSON.
fn examined<'a>(
    args: &Args<'a>,
    index: usize,
    level: Level,
    context: &mut EvalContext<'_>,
) -> Result<Option<(Cow<'a, str>, Node)>> {
    match args.text(index, context)? {
        Some(text) => parsed(text, args, index, level, context),
        None => Ok(None),
    }
}

/// Returns the error of a document that is not JSON: the argument with this number, from 1, of a function.
pub fn document_error(fault: Fault, argument: usize, function: &str) -> Error {
    match fault {
        Fault::End => Error::new(ER_JSON_EOS, &[&argument, &function]),
        Fault::Syntax(at) => Error::new(ER_JSON_SYNTAX, &[&argument, &function, &(at + 1)]),
        Fault::Depth(at) => Error::new(ER_JSON_DEPTH, &[&DEPTH_MAX, &argument, &function, &at]),
    }
}

/// Returns the error of a malformed path: the argument with this number, from 1, of a function.
pub fn path_error(fault: PathFault, argument: usize, function: &str) -> Error {
    match fault {
        PathFault::End => Error::new(ER_JSON_PATH_EOS, &[&argument, &function]),
        PathFault::Syntax(at) => Error::new(ER_JSON_PATH_SYNTAX, &[&argument, &function, &(at + 1)]),
        PathFault::Depth(at) => Error::new(ER_JSON_PATH_DEPTH, &[&DEPTH_MAX, &argument, &function, &at]),
    }
}

/// Parses the text of an argument; `None`, with a note or a warning, for invalid JSON.
fn parsed<'a>(
    text: Cow<'a, str>,
    args: &Args<'_>,
    index: usize,
    level: Level,
    context: &mut EvalContext<'_>,
) -> Result<Option<(Cow<'a, str>, Node)>> {
    match Node::parse(&text) {
        Ok(node) => Ok(Some((text, node))),
        Err(fault) => {
            let name = match args.name() {
                "json_merge" => "json_merge_preserve",
                name => name,
            };
            let error = document_error(fault, index + 1, name);
            match level {
                Level::Note => context.session.diagnostics.note(error.code(), error.message()),
                _ => context.warn(error.code(), error.message().to_owned())?,
            }
            Ok(None)
        }
    }
}

/// Returns a path argument. `None` for NULL, and with a warning for an invalid path.
fn path(args: &Args<'_>, index: usize, context: &mut EvalContext<'_>) -> Result<Option<Path>> {
    let Some(text) = args.text(index, context)? else {
        return Ok(None);
    };
    match Path::parse(&text) {
        Ok(path) => Ok(Some(path)),
        Err(fault) => {
            let error = path_error(fault, index + 1, args.name());
            context.warn(error.code(), error.message().to_owned())?;
            Ok(None)
        }
    }
}

/// Returns a path argument without wildcards.
fn exact_path(args: &Args<'_>, index: usize, context: &mut EvalContext<'_>) -> Result<Option<Path>> {
    let Some(path) = path(args, index, context)? else {
        return Ok(None);
    };
    if path.has_wildcard() {
        let message = ER_JSON_PATH_NO_WILDCARD.message(&[&(index + 1), &args.name()]);
        context.warn(ER_JSON_PATH_NO_WILDCARD, message)?;
        return Ok(None);
    }
    Ok(Some(path))
}

/// Returns an argument as a value to insert into a document.
fn value_node(args: &Args<'_>, index: usize, context: &mut EvalContext<'_>) -> Result<Node> {
    let value = args.shown(index, context)?;
    let mut text = String::new();
    append_json_value(&value, args.ty_of(index), context, &mut text);
    Ok(Node::parse(&text).unwrap_or_else(|_| Node::string(&convert::text_of(&value, context))))
}

fn json(node: &Node) -> Value {
    let mut out = String::new();
    node.write_loose(&mut out);
    Value::Text(out)
}

fn eval_extract(args: &Args<'_>, context: &mut EvalContext<'_>) -> Result<Value> {
    Ok(json(&some!(extracted(args, context)?)))
}

/// Returns the result of JSON_EXTRACT: one value, or an array of all values for several paths or a wildcard.
fn extracted(args: &Args<'_>, context: &mut EvalContext<'_>) -> Result<Option<Node>> {
    let Some((_, root)) = document(args, 0, context)? else {
        return Ok(None);
    };
    let mut found = Vec::new();
    let mut several = args.len() > 2;
    for index in 1..args.len() {
        let Some(path) = path(args, index, context)? else {
            return Ok(None);
        };
        let matching = path.find(&root, KeyMatch::Written).into_iter();
        // Of members with the same key the first one counts.
        match path.has_wildcard() {
            true => found.extend(matching.cloned()),
            false => found.extend(matching.take(1).cloned()),
        }
        several |= path.has_wildcard();
    }
    if found.is_empty() {
        return Ok(None);
    }
    Ok(Some(if several {
        Node::new(Kind::Array(found))
    } else {
        found.swap_remove(0)
    }))
}

/// Returns the number at the start of a text, or `0`: MariaDB reads it without a warning.
fn number_prefix(text: &str) -> &str {
    let text = text.trim_start_matches(|character: char| character.is_ascii_whitespace());
    let bytes = text.as_bytes();
    let digits = |from: usize| {
        bytes[from..]
            .iter()
            .take_while(|byte| byte.is_ascii_digit())
            .count()
    };
    let sign = |at: usize| usize::from(matches!(bytes.get(at), Some(b'+' | b'-')));
    let start = sign(0);
    let whole = digits(start);
    let mut end = start + whole;
    let mut fraction = 0;
    if bytes.get(end) == Some(&b'.') {
        fraction = digits(end + 1);
        end += 1 + fraction;
    }
    if whole + fraction == 0 {
        return "0";
    }
    if let Some(b'e' | b'E') = bytes.get(end) {
        let exponent = end + 1 + sign(end + 1);
        let count = digits(exponent.min(bytes.len()));
        if count > 0 {
            end = exponent + count;
        }
    }
    &text[..end]
}

/// Computes JSON_VALUE: the first scalar at the path, without quotes.
fn eval_value(args: &Args<'_>, context: &mut EvalContext<'_>) -> Result<Value> {
    let root = some!(quiet_document(args, context)?);
    let path = some!(exact_path(args, 1, context)?);
    let scalar = path
        .find(&root, KeyMatch::Decoded)
        .into_iter()
        .find_map(|node| match node.kind {
            Kind::Null => None,
            Kind::Boolean(truth) => Some(if truth { "1".to_owned() } else { "0".to_owned() }),
            _ => node.scalar_text().map(Cow::into_owned),
        });
    Ok(scalar.map_or(Value::Null, Value::Text))
}

/// Computes JSON_QUERY: the first object or array at the path.
fn eval_query(args: &Args<'_>, context: &mut EvalContext<'_>) -> Result<Value> {
    let (text, root) = some!(document(args, 0, context)?);
    let path = some!(path(args, 1, context)?);
    let found = path
        .find(&root, KeyMatch::Decoded)
        .into_iter()
        .find(|node| matches!(node.kind, Kind::Array(_) | Kind::Object(_)));
    Ok(found.map_or(Value::Null, |node| {
        Value::Text(text[node.span.clone()].to_owned())
    }))
}

fn eval_unquote(args: &Args<'_>, context: &mut EvalContext<'_>) -> Result<Value> {
    let text = some!(args.text(0, context)?);
    if !text.starts_with('"') {
        return Ok(Value::Text(text.into_owned()));
    }
    match Node::parse(&text) {
        Ok(Node {
            kind: Kind::String(escaped),
            ..
        }) => Ok(Value::Text(unescape(&escaped).into_owned())),
        Ok(_) => Ok(Value::Text(text.into_owned())),
        Err(_) => {
            document(args, 0, context)?;
            Ok(Value::Text(text.into_owned()))
        }
    }
}

fn eval_quote(args: &Args<'_>, context: &mut EvalContext<'_>) -> Result<Value> {
    let value = args.value(0, context)?;
    // Numbers are not quoted. Anything else is text; in a binary string each byte is the character with this number.
    Ok(match &*value {
        Value::Null => Value::Null,
        _ if matches!(
            convert::class_of(&value),
            Class::Int | Class::Decimal | Class::Double
        ) =>
        {
            Value::Null
        }
        Value::Text(text) => Value::Text(json_quote(text)),
        Value::Bytes(bytes) => Value::Text(json_quote(&convert::latin_view_of(bytes))),
        other => Value::Text(json_quote(&convert::typed_text(other, args.ty_of(0), context))),
    })
}

fn eval_array(args: &Args<'_>, context: &mut EvalContext<'_>) -> Result<Value> {
    let mut out = String::from("[");
    for index in 0..args.len() {
        if index > 0 {
            out.push_str(", ");
        }
        append_json_value(
            &*args.shown(index, context)?,
            args.ty_of(index),
            context,
            &mut out,
        );
        if overflows(out.len(), context) {
            return too_long(args, context);
        }
    }
    out.push(']');
    Ok(Value::Text(out))
}

fn eval_object(args: &Args<'_>, context: &mut EvalContext<'_>) -> Result<Value> {
    let mut out = String::from("{");
    for index in (0..args.len()).step_by(2) {
        if index > 0 {
            out.push_str(", ");
        }
        let key = args.text(index, context)?.unwrap_or_default();
        out.push_str(&json_quote(&key));
        out.push_str(": ");
        append_json_value(
            &*args.shown(index + 1, context)?,
            args.ty_of(index + 1),
            context,
            &mut out,
        );
        if overflows(out.len(), context) {
            return too_long(args, context);
        }
    }
    out.push('}');
    Ok(Value::Text(out))
}

fn eval_change(args: &Args<'_>, context: &mut EvalContext<'_>, change: Change) -> Result<Value> {
    let (_, mut root) = some!(document(args, 0, context)?);
    for index in (1..args.len()).step_by(2) {
        let path = some!(exact_path(args, index, context)?);
        let value = value_node(args, index + 1, context)?;
        modify::change(&mut root, &path, value, change);
    }
    Ok(json(&root))
}

fn eval_remove(args: &Args<'_>, context: &mut EvalContext<'_>) -> Result<Value> {
    let (_, mut root) = some!(document(args, 0, context)?);
    for index in 1..args.len() {
        let path = some!(exact_path(args, index, context)?);
        if path.steps.is_empty() {
            let message = ER_JSON_PATH_EMPTY.message(&[&(index + 1), &args.name()]);
            context.warn(ER_JSON_PATH_EMPTY, message)?;
            return Ok(Value::Null);
        }
        modify::remove(&mut root, &path);
    }
    Ok(json(&root))
}

fn eval_array_append(args: &Args<'_>, context: &mut EvalContext<'_>) -> Result<Value> {
    let (_, mut root) = some!(document(args, 0, context)?);
    for index in (1..args.len()).step_by(2) {
        let path = some!(exact_path(args, index, context)?);
        let value = value_node(args, index + 1, context)?;
        let Some(node) = modify::descend_mut(&mut root, &path.steps) else {
            return Ok(Value::Null);
        };
        match &mut node.kind {
            Kind::Array(items) => items.push(value),
            _ => {
                let first = std::mem::replace(node, Node::new(Kind::Null));
                node.kind = Kind::Array(vec![first, value]);
            }
        }
    }
    Ok(json(&root))
}

fn eval_array_insert(args: &Args<'_>, context: &mut EvalContext<'_>) -> Result<Value> {
    use paceline_types::error_code::ER_JSON_PATH_ARRAY;
    let (_, mut root) = some!(document(args, 0, context)?);
    for index in (1..args.len()).step_by(2) {
        let path = some!(exact_path(args, index, context)?);
        let value = value_node(args, index + 1, context)?;
        if path.steps.is_empty() {
            return Ok(Value::Null);
        }
        let Some((Step::Index(at), before)) = path.steps.split_last() else {
            let message = ER_JSON_PATH_ARRAY.message(&[&(index + 1), &args.name()]);
            context.warn(ER_JSON_PATH_ARRAY, message)?;
            return Ok(Value::Null);
        };
        let Some(node) = modify::descend_mut(&mut root, before) else {
            continue;
        };
        if let Kind::Array(items) = &mut node.kind {
            items.insert(at.gap(items.len()), value);
        }
    }
    Ok(json(&root))
}

fn eval_contains(args: &Args<'_>, context: &mut EvalContext<'_>) -> Result<Value> {
    let (_, root) = some!(document(args, 0, context)?);
    let (_, wanted) = some!(document(args, 1, context)?);
    if args.len() < 3 {
        return Ok(Value::Int(i64::from(modify::contains(&root, &wanted))));
    }
    let path = some!(exact_path(args, 2, context)?);
    Ok(match path.find(&root, KeyMatch::Decoded).first() {
        Some(node) => Value::Int(i64::from(modify::contains(node, &wanted))),
        None => Value::Null,
    })
}

/// Parses the argument `one` or `all`.
fn one_or_all(args: &Args<'_>, context: &mut EvalContext<'_>) -> Result<Option<bool>> {
    let Some(mode) = args.text(1, context)? else {
        return Ok(None);
    };
    if mode.eq_ignore_ascii_case("all") {
        Ok(Some(true))
    } else if mode.eq_ignore_ascii_case("one") {
        Ok(Some(false))
    } else {
        let message = ER_JSON_ONE_OR_ALL.message(&[&args.name()]);
        context.warn(ER_JSON_ONE_OR_ALL, message)?;
        Ok(None)
    }
}

fn eval_contains_path(args: &Args<'_>, context: &mut EvalContext<'_>) -> Result<Value> {
    let (_, root) = some!(document(args, 0, context)?);
    let all = some!(one_or_all(args, context)?);
    let mut found = 0;
    for index in 2..args.len() {
        let path = some!(path(args, index, context)?);
        found += usize::from(!path.find(&root, KeyMatch::Written).is_empty());
    }
    let wanted = if all { args.len() - 2 } else { 1 };
    Ok(Value::Int(i64::from(found >= wanted)))
}

fn eval_overlaps(args: &Args<'_>, context: &mut EvalContext<'_>) -> Result<Value> {
    let (_, left) = some!(document(args, 0, context)?);
    let (_, right) = some!(document(args, 1, context)?);
    Ok(Value::Int(i64::from(modify::overlaps(&left, &right))))
}

fn eval_equals(args: &Args<'_>, context: &mut EvalContext<'_>) -> Result<Value> {
    let (_, left) = some!(document(args, 0, context)?);
    let (_, right) = some!(document(args, 1, context)?);
    Ok(Value::Int(i64::from(left.equals(&right))))
}

fn eval_exists(args: &Args<'_>, context: &mut EvalContext<'_>) -> Result<Value> {
    let (_, root) = some!(document(args, 0, context)?);
    let path = some!(path(args, 1, context)?);
    Ok(Value::Int(i64::from(
        !path.find(&root, KeyMatch::Decoded).is_empty(),
    )))
}

fn eval_length(args: &Args<'_>, context: &mut EvalContext<'_>) -> Result<Value> {
    let (_, root) = some!(document(args, 0, context)?);
    let node = if args.len() > 1 {
        let path = some!(exact_path(args, 1, context)?);
        match path.find(&root, KeyMatch::Decoded).first() {
            Some(node) => (*node).clone(),
            None => return Ok(Value::Null),
        }
    } else {
        root
    };
    Ok(Value::Int(match &node.kind {
        Kind::Array(items) => items.len() as i64,
        Kind::Object(members) => members.len() as i64,
        _ => 1,
    }))
}

fn eval_type(args: &Args<'_>, context: &mut EvalContext<'_>) -> Result<Value> {
    let (_, node) = some!(document(args, 0, context)?);
    let name = match &node.kind {
        Kind::Null => "NULL",
        Kind::Boolean(_) => "BOOLEAN",
        Kind::Number(text) if text.contains(['.', 'e', 'E']) => "DOUBLE",
        Kind::Number(_) => "INTEGER",
        Kind::String(_) => "STRING",
        Kind::Array(_) => "ARRAY",
        Kind::Object(_) => "OBJECT",
        Kind::Unparsed(_) => unreachable!("a document is parsed whole"),
    };
    Ok(Value::Text(name.to_owned()))
}

fn eval_keys(args: &Args<'_>, context: &mut EvalContext<'_>) -> Result<Value> {
    let (_, root) = some!(document(args, 0, context)?);
    let node = if args.len() > 1 {
        let path = some!(exact_path(args, 1, context)?);
        path.find(&root, KeyMatch::Decoded)
            .first()
            .map(|node| (*node).clone())
    } else {
        Some(root)
    };
    let Some(Node {
        kind: Kind::Object(members),
        ..
    }) = node
    else {
        return Ok(Value::Null);
    };
    let mut keys: Vec<Node> = Vec::with_capacity(members.len());
    for (key, _) in members {
        let key = Node::new(Kind::String(key));
        if !keys.contains(&key) {
            keys.push(key);
        }
    }
    Ok(json(&Node::new(Kind::Array(keys))))
}

fn eval_search(args: &Args<'_>, context: &mut EvalContext<'_>) -> Result<Value> {
    let (_, root) = some!(document(args, 0, context)?);
    let all = some!(one_or_all(args, context)?);
    let wanted = some!(args.text(2, context)?);
    let escape = if args.len() > 3 {
        args.text(3, context)?
            .and_then(|text| text.chars().next())
            .or(Some('\\'))
    } else {
        Some('\\')
    };
    let mut starts = Vec::new();
    for index in 4..args.len() {
        starts.push(some!(path(args, index, context)?));
    }
    let mut found = Vec::new();
    search(&root, &mut "$".to_owned(), &wanted, escape, &mut found);
    if !starts.is_empty() {
        let allowed: Vec<std::ops::Range<usize>> = starts
            .iter()
            .flat_map(|path| path.find(&root, KeyMatch::Written))
            .map(|node| node.span.clone())
            .collect();
        found.retain(|(_, span)| {
            allowed
                .iter()
                .any(|outer| outer.start <= span.start && span.end <= outer.end)
        });
    }
    // The keys in these paths already have their escapes.
    let mut paths: Vec<Node> = found
        .into_iter()
        .map(|(path, _)| Node::new(Kind::String(path)))
        .collect();
    if !all {
        paths.truncate(1);
    }
    Ok(match paths.len() {
        0 => Value::Null,
        1 => json(&paths[0]),
        _ => json(&Node::new(Kind::Array(paths))),
    })
}

fn search(
    node: &Node,
    at: &mut String,
    wanted: &str,
    escape: Option<char>,
    found: &mut Vec<(String, std::ops::Range<usize>)>,
) {
    let length = at.len();
    match &node.kind {
        Kind::Array(items) => {
            for (index, item) in items.iter().enumerate() {
                at.push_str(&format!("[{index}]"));
                search(item, at, wanted, escape, found);
                at.truncate(length);
            }
        }
        Kind::Object(members) => {
            for (key, value) in members {
                at.push('.');
                at.push_str(key);
                search(value, at, wanted, escape, found);
                at.truncate(length);
            }
        }
        _ => {
            let text = node.scalar_text().unwrap_or_default();
            if Collation::Utf8mb4GeneralCi.like(&text, wanted, escape) {
                found.push((at.clone(), node.span.clone()));
            }
        }
    }
}

fn eval_merge(
    args: &Args<'_>,
    context: &mut EvalContext<'_>,
    merge: fn(Node, Node) -> Node,
) -> Result<Value> {
    // The first document is read with the second one, unless that is NULL.
    let mut first = Some(some!(args.text(0, context)?));
    let mut merged: Option<Node> = None;
    for index in 1..args.len() {
        let text = some!(args.text(index, context)?);
        if let Some(first) = first.take() {
            merged = Some(some!(parsed(first, args, 0, Level::Warning, context)?).1);
        }
        let (_, next) = some!(parsed(text, args, index, Level::Warning, context)?);
        merged = merged.map(|before| merge(before, next));
    }
    Ok(merged.as_ref().map_or(Value::Null, json))
}

/// Computes JSON_MERGE_PATCH. NULL makes the result unknown, until a document that is not an object replaces it.
fn eval_merge_patch(args: &Args<'_>, context: &mut EvalContext<'_>) -> Result<Value> {
    let mut merged: Option<Node> = None;
    let mut first = args.text(0, context)?;
    let mut second = args.text(1, context)?;
    if second.is_none() {
        // The first document is not read if NULL follows.
        first = None;
    }
    for index in 0..args.len() {
        let text = match index {
            0 => first.take(),
            1 => second.take(),
            _ => args.text(index, context)?,
        };
        let Some(text) = text else {
            merged = None;
            continue;
        };
        let (_, next) = some!(parsed(text, args, index, Level::Warning, context)?);
        let is_object = matches!(next.kind, Kind::Object(_));
        merged = match merged {
            None if index > 0 && is_object => None,
            None => Some(next),
            Some(before) => Some(modify::merge_patch(before, next)),
        };
    }
    Ok(merged.as_ref().map_or(Value::Null, json))
}

fn reformat(args: &Args<'_>, context: &mut EvalContext<'_>, write: fn(&Node, &mut String)) -> Result<Value> {
    let (_, node) = some!(document(args, 0, context)?);
    let mut out = String::new();
    write(&node, &mut out);
    Ok(Value::Text(out))
}

fn eval_detailed(args: &Args<'_>, context: &mut EvalContext<'_>) -> Result<Value> {
    let (_, node) = some!(document(args, 0, context)?);
    let indent = if args.len() > 1 {
        some!(args.int(1, context)?).clamp(0, 16) as usize
    } else {
        4
    };
    let mut out = String::new();
    node.write_detailed(indent, 0, &mut out);
    Ok(Value::Text(out))
}
