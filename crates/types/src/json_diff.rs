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
//! [`crate::json_binary`] reads the values.
//!
//! ```
//! use paceline_types::json_diff::append_changed_json;
//! let mut text = Vec::new();
//! append_changed_json(br#"{"a": 1, "c": [2]}"#, b"\x01\x03$.b\x02\x04\x01\x02\x06$.c[0]", &mut text)?;
//! assert_eq!(text, br#"{"a": 1, "b": true, "c": []}"#);
//! # Ok::<(), paceline_types::Error>(())
//! ```

use crate::error::{Error, Result};
use crate::json_binary::append_json_text;
use crate::json_text::{JsonNode, unescape, unquote};
use crate::packed::Reader;
use std::borrow::Cow;

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
    Member(Vec<u8>),
    Element(Place),
}

/// Position in an array.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Place {
    FromStart(usize),
    /// 0 is the last element.
    FromEnd(usize),
}

impl Place {
    /// Returns the index of the existing element at this position.
    fn element(self, length: usize) -> Option<usize> {
        match self {
            Place::FromStart(at) => (at < length).then_some(at),
            Place::FromEnd(back) => length.checked_sub(1)?.checked_sub(back),
        }
    }

    /// Returns the index for an insertion: an end of the array, if the position is beyond it.
    fn gap(self, length: usize) -> usize {
        match self {
            Place::FromStart(at) => at.min(length),
            Place::FromEnd(back) => length.saturating_sub(1).saturating_sub(back),
        }
    }
}

/// Appends the text of a document after changes. Without any changes the text is copied.
///
/// # Errors
/// `MalformedJsonDiff` if the changes are malformed; `JsonDiffNotApplied` if they do not fit the document, or if a part
/// of it that they look into is not JSON.
pub fn append_changed_json(document: &[u8], diffs: &[u8], out: &mut Vec<u8>) -> Result<()> {
    let mut root = JsonNode::Text(Cow::Borrowed(document));
    let mut rest = Reader::new(diffs, || Error::MalformedJsonDiff);
    while !rest.is_empty() {
        apply_next(&mut root, &mut rest)?;
    }
    root.append(out);
    Ok(())
}

/// Reads the next change and applies it.
fn apply_next(root: &mut JsonNode<'_>, rest: &mut Reader<'_>) -> Result<()> {
    let operation = match rest.byte()? {
        0 => Operation::Replace,
        1 => Operation::Insert,
        2 => Operation::Remove,
        _ => return Err(Error::MalformedJsonDiff),
    };
    let mut legs = parse_path(rest.counted()?)?;
    let last = legs.pop().ok_or(Error::MalformedJsonDiff)?;
    let value = match operation {
        Operation::Remove => None,
        Operation::Replace | Operation::Insert => {
            let mut text = Vec::new();
            append_json_text(rest.counted()?, &mut text).map_err(|_| Error::MalformedJsonDiff)?;
            Some(JsonNode::Text(Cow::Owned(text)))
        }
    };
    let mut parent = root;
    for leg in &legs {
        parent = child(parent, leg)?;
    }
    parent.open().map_err(|_| Error::JsonDiffNotApplied)?;
    let is_done = match (operation, value, parent, &last) {
        (Operation::Replace, Some(value), parent, last) => {
            *child(parent, last)? = value;
            true
        }
        (Operation::Insert, Some(value), JsonNode::Object(members), Leg::Member(key)) => {
            members.insert(key, value)
        }
        (Operation::Insert, Some(value), JsonNode::Array(elements), Leg::Element(place)) => {
            elements.insert(place.gap(elements.len()), value);
            true
        }
        (Operation::Remove, _, JsonNode::Object(members), Leg::Member(key)) => members.remove(key),
        (Operation::Remove, _, JsonNode::Array(elements), Leg::Element(place)) => {
            let found = place.element(elements.len());
            found.map(|at| elements.remove(at)).is_some()
        }
        _ => false,
    };
    is_done.then_some(()).ok_or(Error::JsonDiffNotApplied)
}

/// Returns the child that a step leads to. Here a scalar is not an array of one element.
fn child<'n, 'a>(parent: &'n mut JsonNode<'a>, leg: &Leg) -> Result<&'n mut JsonNode<'a>> {
    parent.open().map_err(|_| Error::JsonDiffNotApplied)?;
    let found = match (parent, leg) {
        (JsonNode::Object(members), Leg::Member(key)) => members.get_mut(key),
        (JsonNode::Array(elements), Leg::Element(place)) => {
            place.element(elements.len()).and_then(|at| elements.get_mut(at))
        }
        _ => None,
    };
    found.ok_or(Error::JsonDiffNotApplied)
}

/// Parses a path.
fn parse_path(path: &[u8]) -> Result<Vec<Leg>> {
    let text = std::str::from_utf8(path).map_err(|_| Error::MalformedJsonDiff)?;
    let mut rest = text
        .trim_ascii()
        .strip_prefix('$')
        .ok_or(Error::MalformedJsonDiff)?;
    let mut legs = Vec::new();
    loop {
        rest = rest.trim_ascii_start();
        let (leg, behind) = match rest.as_bytes().first() {
            None => return Ok(legs),
            Some(b'.') => take_member(rest[1..].trim_ascii_start()),
            Some(b'[') => take_element(&rest[1..]),
            Some(_) => None,
        }
        .ok_or(Error::MalformedJsonDiff)?;
        if legs.len() >= LEGS_MAX {
            return Err(Error::MalformedJsonDiff);
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
        true => unquote(name.as_bytes()).ok()?,
        false if name.is_empty() => return None,
        false => unescape(name.as_bytes()).ok()?,
    };
    Some((Leg::Member(key), rest))
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
    let place = match within.strip_prefix("last") {
        Some("") => Place::FromEnd(0),
        Some(back) => Place::FromEnd(number(back.trim_ascii_start().strip_prefix('-')?)?),
        None => Place::FromStart(number(within)?),
    };
    Some((Leg::Element(place), rest))
}

#[cfg(test)]
mod tests;
