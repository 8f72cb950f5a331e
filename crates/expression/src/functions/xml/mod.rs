//! EXTRACTVALUE and UPDATEXML: [`document`] reads XML, [`xpath`] the query, [`evaluate`] finds nodes.
//!
//! The query has to be constant. Its errors (1105) are raised when the call is bound if it is known then, else at the
//! first evaluation. XML that cannot be read is NULL, with warning 1525. `$name` for a variable of a stored program
//! does not exist here: it is an unknown variable.
//!
//! # Limits
//! A query has 1,000 levels, a document 254. Sets of nodes are charged to the session's memory while they grow, and
//! KILL is seen within a step.

mod document;
mod evaluate;

use std::borrow::Cow;
use std::sync::Arc;

use paceline_types::error_code::{ER_UNKNOWN_ERROR, ER_WRONG_VALUE};
use paceline_types::{Collation, Value};

use self::document::{Document, NodeKind, XmlError};
use self::evaluate::{Evaluation, XValue};
use super::arguments::some;
use super::string::within_packet;
use crate::context::EvalContext;
use crate::error::{Error, Result};
use crate::eval::{check_interrupt, convert};
use crate::expr_type::ExprType;
use crate::tree::{Args, BindCall, Function, steady};
use crate::xpath::{self, ParsedQuery};

pub(super) static FUNCTIONS: &[Function] = &[
    // User variables in the query can change between two executions.
    steady("extractvalue", (2, 2), bind, eval_extract),
    steady("updatexml", (3, 3), bind, eval_update),
];

fn refused(message: String) -> Error {
    Error::with_message(ER_UNKNOWN_ERROR, message)
}

fn bind(call: &mut BindCall<'_>) -> Result<ExprType> {
    let collation = call.compared_collation(call.args.len())?;
    if !call.args[1].is_constant_during_execution() {
        return Err(refused("Only constant XPATH queries are supported".to_owned()));
    }
    if let Some(Value::Text(query)) = call.args[1].as_literal() {
        xpath::parse(query).map_err(refused)?;
    }
    let characters = (1 << 24) - 1;
    Ok(match collation {
        Collation::Binary => ExprType::bytes(u64::from(u32::MAX)).nullable(),
        collation => ExprType::text(characters, collation).nullable(),
    })
}

/// Evaluates an argument as text; bytes are characters of Latin-1.
fn text<'a>(args: &Args<'a>, index: usize, context: &mut EvalContext<'_>) -> Result<Option<Cow<'a, str>>> {
    if args.is_binary() {
        let bytes = args.bytes(index, context)?;
        return Ok(bytes.map(|bytes| Cow::Owned(convert::latin_view_of(&bytes))));
    }
    args.text(index, context)
}

/// Returns the query. It is parsed once, and again when its text changes.
fn query(args: &Args<'_>, context: &mut EvalContext<'_>) -> Result<Option<Arc<ParsedQuery>>> {
    let Some(query) = text(args, 1, context)? else {
        return Ok(None);
    };
    let id = args.call.id;
    if let Some(parsed) = context
        .state
        .xpaths
        .get(&id)
        .filter(|parsed| parsed.text == query)
    {
        return Ok(Some(parsed.clone()));
    }
    let parsed = Arc::new(ParsedQuery {
        xpath: xpath::parse(&query).map_err(refused)?,
        text: query.into_owned(),
    });
    context.state.xpaths.insert(id, parsed.clone());
    Ok(Some(parsed))
}

/// Reads a document. Returns `None` with warning 1525 if it is malformed.
fn read<'t>(text: &'t str, context: &mut EvalContext<'_>) -> Result<Option<Document<'t>>> {
    let read = document::read(text, &mut |bytes| {
        check_interrupt(context)?;
        context.session.memory.check_room(bytes)
    });
    match read {
        Ok(document) => Ok(Some(document)),
        Err(XmlError::Malformed(problem)) => {
            context.warn(ER_WRONG_VALUE, ER_WRONG_VALUE.message(&[&"XML", &problem]))?;
            Ok(None)
        }
        Err(XmlError::Interrupted(error)) => Err(error),
    }
}

fn eval_extract(args: &Args<'_>, context: &mut EvalContext<'_>) -> Result<Value> {
    let query = some!(query(args, context)?);
    let text = some!(text(args, 0, context)?);
    let document = some!(read(&text, context)?);
    let mut evaluation = Evaluation {
        document: &document,
        collation: args.ty.collation(),
        context,
        work: 0,
    };
    let value = evaluation.value(&query.xpath, None)?;
    let text = some!(evaluation.text(value)?);
    within_packet(args.text_of_view(text), args, context)
}

fn eval_update(args: &Args<'_>, context: &mut EvalContext<'_>) -> Result<Value> {
    let query = some!(query(args, context)?);
    let source = some!(text(args, 0, context)?);
    let document = some!(read(&source, context)?);
    let replacement = some!(text(args, 2, context)?);
    let mut evaluation = Evaluation {
        document: &document,
        collation: args.ty.collation(),
        context,
        work: 0,
    };
    let XValue::Nodes(nodes) = evaluation.value(&query.xpath, None)? else {
        return Ok(Value::Null);
    };
    // Only one node is replaced.
    let [selected] = &nodes[..] else {
        return Ok(args.text_of_view(source.into_owned()));
    };
    let node = &document.nodes[selected.node as usize];
    if node.level == 0 {
        return Ok(args.text_of_view(replacement.into_owned()));
    }
    let bracket = usize::from(node.kind == NodeKind::Tag);
    let before = source.get(..node.range().start.saturating_sub(bracket));
    let after = source.get(node.close as usize + bracket..);
    let updated = [
        before.unwrap_or_default(),
        &replacement,
        after.unwrap_or_default(),
    ]
    .concat();
    within_packet(args.text_of_view(updated), args, context)
}

#[cfg(test)]
mod tests {
    use std::convert::Infallible;

    use rand::rngs::SmallRng;
    use rand::seq::IndexedRandom;
    use rand::{Rng, SeedableRng};

    use super::*;

    const PIECES: &[&str] = &[
        "<",
        ">",
        "/",
        "a",
        "b",
        "=",
        "\"",
        "'",
        "!",
        "?",
        " ",
        "<!--",
        "-->",
        "<![CDATA[",
        "]]>",
        "[",
        "]",
        "(",
        ")",
        "::",
        "child",
        "count(",
        "1",
        "2.5",
        ".",
        "..",
        "@",
        "*",
        "|",
        "and ",
        "-",
        "$",
        ",",
        "ü",
        "\n",
    ];

    #[test]
    fn random_queries_and_documents_are_read_without_a_panic() {
        let mut random = SmallRng::seed_from_u64(1);
        for _ in 0..50_000 {
            let length = random.random_range(0..12);
            let text: String = (0..length)
                .map(|_| *PIECES.choose(&mut random).expect("not empty"))
                .collect();
            let _ = xpath::parse(&text);
            let _ = document::read(&text, &mut |_| Ok::<(), Infallible>(()));
        }
    }

    #[test]
    fn deep_queries_are_refused() {
        for (open, close) in [("(", ")"), ("a[", "]"), ("1+", ""), ("-", "")] {
            let query = open.repeat(100_000) + "1" + &close.repeat(100_000);
            assert!(xpath::parse(&query).is_err());
        }
        assert!(xpath::parse(&("a/".repeat(10_000) + "a")).is_ok());
    }
}
