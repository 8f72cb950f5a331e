//! Changes of a JSON document in the form that MySQL logs with `binlog_row_value_options=PARTIAL_JSON`, and their
//! application to a document's text.
//!
//! ```text
//!   diff   operation (1) | path: length (packed), text | value: length (packed), binary form      a removal has no value
//!
//!   0 replace   the value at the path, which must exist
//!   1 insert    a member that does not exist, or an element before the one at the path; at the end if the array is shorter
//!   2 remove    an existing member or element
//! ```
//! Each change applies to the result of the changes before it. The source is MySQL's `Json_diff_vector`. Paths have
//! SQL's syntax without wildcards: `$.key`, `$."any key"`, `$[3]`, `$[last-1]`, and never `$` alone.
//! [`crate::binary`] reads the values.
//!
//! ```
//! use paceline_json::diff::append_changed_json;
//! let mut text = Vec::new();
//! append_changed_json(br#"{"a": 1, "c": [2]}"#, b"\x01\x03$.b\x02\x04\x01\x02\x06$.c[0]", &mut text)?;
//! assert_eq!(text, br#"{"a": 1, "b": true, "c": []}"#);
//! # Ok::<(), paceline_json::Error>(())
//! ```

use crate::binary::append_json_text;
use crate::error::{Error, Result};
use crate::escape::unescape_exact;
use crate::node::{Kind, Node};
use crate::open::{find_member, insert_member, unquote};
use crate::path::Index;
use paceline_types::packed::Reader;

/// Maximum length of a path: no document in MySQL is deeper (`JSON_DOCUMENT_MAX_DEPTH`).
const LEGS_MAX: usize = 100;

/// Operation of a change.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Operation {
    Replace,
    Insert,
    Remove,
}

/// One step of a path.
#[derive(Clone, PartialEq, Eq, Debug)]
enum Leg {
    /// Key without escapes.
    Member(String),
    Element(Index),
}

/// Appends the text of a document after changes. Without any changes the text is copied.
///
/// # Errors
/// `MalformedDiff` if the changes are malformed; `DiffNotApplied` if they do not fit the document, or if a part
/// of it that they look into is not JSON.
pub fn append_changed_json(document: &[u8], diffs: &[u8], out: &mut Vec<u8>) -> Result<()> {
    if diffs.is_empty() {
        out.extend_from_slice(document);
        return Ok(());
    }
    let mut root = Node::unparsed(std::str::from_utf8(document).map_err(|_| Error::DiffNotApplied)?);
    let mut rest = Reader::new(diffs, || Error::MalformedDiff);
    while !rest.is_empty() {
        apply_next(&mut root, &mut rest)?;
    }
    let mut text = String::with_capacity(document.len() + diffs.len());
    root.write_loose(&mut text);
    out.extend_from_slice(text.as_bytes());
    Ok(())
}

/// Reads the next change and applies it.
fn apply_next(root: &mut Node<'_>, rest: &mut Reader<'_, Error>) -> Result<()> {
    let operation = match rest.byte()? {
        0 => Operation::Replace,
        1 => Operation::Insert,
        2 => Operation::Remove,
        _ => return Err(Error::MalformedDiff),
    };
    let mut legs = parse_path(rest.counted()?)?;
    let last = legs.pop().ok_or(Error::MalformedDiff)?;
    let value = match operation {
        Operation::Remove => None,
        Operation::Replace | Operation::Insert => {
            let mut text = Vec::new();
            append_json_text(rest.counted()?, &mut text).map_err(|_| Error::MalformedDiff)?;
            let text = String::from_utf8(text).map_err(|_| Error::MalformedDiff)?;
            Some(Node::unparsed(text))
        }
    };
    let mut parent = root;
    for leg in &legs {
        parent = child(parent, leg)?;
    }
    parent.open()?;
    let is_done = match (operation, value, &mut parent.kind, last) {
        (Operation::Replace, Some(value), _, last) => {
            *child(parent, &last)? = value;
            true
        }
        (Operation::Insert, Some(value), Kind::Object(members), Leg::Member(key)) => {
            insert_member(members, key, value)
        }
        (Operation::Insert, Some(value), Kind::Array(elements), Leg::Element(index)) => {
            elements.insert(index.gap(elements.len()), value);
            true
        }
        (Operation::Remove, _, Kind::Object(members), Leg::Member(key)) => {
            let found = find_member(members, &key);
            found.map(|at| members.remove(at)).is_ok()
        }
        (Operation::Remove, _, Kind::Array(elements), Leg::Element(index)) => {
            let found = index.element(elements.len());
            found.map(|at| elements.remove(at)).is_some()
        }
        _ => false,
    };
    is_done.then_some(()).ok_or(Error::DiffNotApplied)
}

/// Returns the child that a step leads to. Here a scalar is not an array of one element.
fn child<'n, 't>(parent: &'n mut Node<'t>, leg: &Leg) -> Result<&'n mut Node<'t>> {
    parent.open()?;
    let found = match (&mut parent.kind, leg) {
        (Kind::Object(members), Leg::Member(key)) => {
            let found = find_member(members, key);
            found.ok().map(|at| &mut members[at].1)
        }
        (Kind::Array(elements), Leg::Element(index)) => {
            let found = index.element(elements.len());
            found.map(|at| &mut elements[at])
        }
        _ => None,
    };
    found.ok_or(Error::DiffNotApplied)
}

fn parse_path(path: &[u8]) -> Result<Vec<Leg>> {
    let text = std::str::from_utf8(path).map_err(|_| Error::MalformedDiff)?;
    let mut rest = text.trim_ascii().strip_prefix('$').ok_or(Error::MalformedDiff)?;
    let mut legs = Vec::new();
    loop {
        rest = rest.trim_ascii_start();
        let (leg, behind) = match rest.as_bytes().first() {
            None => return Ok(legs),
            Some(b'.') => take_member(rest[1..].trim_ascii_start()),
            Some(b'[') => take_element(&rest[1..]),
            Some(_) => None,
        }
        .ok_or(Error::MalformedDiff)?;
        if legs.len() >= LEGS_MAX {
            return Err(Error::MalformedDiff);
        }
        legs.push(leg);
        rest = behind;
    }
}

/// Parses a key, quoted or not. Both forms can contain escapes.
fn take_member(text: &str) -> Option<(Leg, &str)> {
    let bytes = text.as_bytes();
    let is_quoted = bytes.first() == Some(&b'"');
    let mut end = usize::from(is_quoted);
    loop {
        match bytes.get(end) {
            Some(b'\\') => end += 2,
            Some(b'"') if is_quoted => {
                end += 1;
                break;
            }
            None if is_quoted => return None,
            None => break,
            Some(b'.' | b'[' | b'*' | b' ' | b'\t' | b'\n' | b'\r') if !is_quoted => break,
            Some(_) => end += 1,
        }
    }
    let (name, rest) = text.split_at_checked(end)?;
    let key = match is_quoted {
        true => unquote(name)?,
        false if name.is_empty() => return None,
        false => unescape_exact(name)?,
    };
    Some((Leg::Member(key.into_owned()), rest))
}

/// Parses an array position after its opening bracket.
fn take_element(text: &str) -> Option<(Leg, &str)> {
    let (within, rest) = text.split_once(']')?;
    let within = within.trim_ascii();
    let number = |digits: &str| {
        let digits = digits.trim_ascii();
        let is_number = digits.bytes().all(|byte| byte.is_ascii_digit());
        is_number
            .then(|| digits.parse::<u32>().ok())
            .flatten()
            .map(|number| number as usize)
    };
    let index = match within.strip_prefix("last") {
        Some("") => Index::FromEnd(0),
        Some(back) => Index::FromEnd(number(back.trim_ascii_start().strip_prefix('-')?)?),
        None => Index::FromStart(number(within)?),
    };
    Some((Leg::Element(index), rest))
}

#[cfg(test)]
mod tests;
