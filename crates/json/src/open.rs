//! Opening of values that are kept as text.
//!
//! ```text
//!   {"a": 1, "bb": [1, {"c": 2}], "long": "…"}          one piece of text
//!      ├ "a"     1                                       opened: a piece for each member,
//!      ├ "bb"    [1, {"c": 2}]
//!      └ "long"  "…"
//! ```
//! A value is kept as its original text until a path leads into it; then it is split one level deep. A change of a
//! large document therefore costs one pass over each level of the path and a copy, and every unchanged number and
//! string keeps its spelling. Members of an opened object are in MySQL's order, by length and then by bytes, and their
//! keys have MySQL's escapes.

use crate::error::{Error, Result};
use crate::escape::{escape_as_mysql, unescape, unescape_exact};
use crate::node::{Kind, Node};
use std::borrow::Cow;

impl Node<'_> {
    /// Opens an object or array. A scalar stays as it is.
    ///
    /// # Errors
    /// `DiffNotApplied` if the text is not a JSON value.
    pub(crate) fn open(&mut self) -> Result<()> {
        let Kind::Unparsed(text) = &mut self.kind else {
            return Ok(());
        };
        if text.trim_ascii_start().starts_with(['{', '[']) {
            self.kind = match std::mem::take(text) {
                Cow::Borrowed(text) => divide(text, Cow::Borrowed)?,
                Cow::Owned(text) => divide(&text, |piece| Cow::Owned(piece.to_owned()))?,
            };
        }
        Ok(())
    }
}

/// Returns the index of a key among the members of an opened object, or the index where it would be. `key` has no
/// escapes.
pub(crate) fn find_member(members: &[(String, Node<'_>)], key: &str) -> std::result::Result<usize, usize> {
    members.binary_search_by(|(known, _)| in_order(&unescape(known), key))
}

/// Inserts a member into an opened object. Returns false if the key exists.
pub(crate) fn insert_member<'t>(members: &mut Vec<(String, Node<'t>)>, key: String, value: Node<'t>) -> bool {
    match find_member(members, &key) {
        Ok(_) => false,
        Err(at) => {
            members.insert(at, (escape_as_mysql(key), value));
            true
        }
    }
}

/// Compares keys as MySQL does: by length, then by bytes.
fn in_order(key: &str, other: &str) -> std::cmp::Ordering {
    (key.len(), key).cmp(&(other.len(), other))
}

/// Sorts members that were read from a text. If a key occurs more than once, its last value counts, as in MySQL.
fn sort_members<'t>(mut members: Vec<(String, Node<'t>)>) -> Vec<(String, Node<'t>)> {
    if !members.is_sorted_by(|(key, _), (next, _)| in_order(key, next).is_lt()) {
        members.reverse();
        members.sort_by(|(key, _), (other, _)| in_order(key, other));
        members.dedup_by(|(key, _), (kept, _)| key == kept);
    }
    members
}

/// Splits the text of an object or array one level deep.
fn divide<'t, 'a>(text: &'t str, keep: impl Fn(&'t str) -> Cow<'a, str>) -> Result<Kind<'a>> {
    let mut rest = text.trim_ascii();
    let is_object = rest.starts_with('{');
    let closing = if is_object { "}" } else { "]" };
    let (mut members, mut elements) = (Vec::new(), Vec::new());
    rest = rest[1..].trim_ascii_start();
    if !rest.starts_with(closing) {
        loop {
            let key = match is_object {
                true => {
                    let key = take_value(&mut rest)?;
                    rest = rest.strip_prefix(':').ok_or(Error::DiffNotApplied)?;
                    Some(unquote(key).ok_or(Error::DiffNotApplied)?)
                }
                false => None,
            };
            let value = Node::unparsed(keep(take_value(&mut rest)?));
            match key {
                Some(key) => members.push((key.into_owned(), value)),
                None => elements.push(value),
            }
            match rest.strip_prefix(',') {
                Some(behind) => rest = behind,
                None => break,
            }
        }
    }
    if rest != closing {
        return Err(Error::DiffNotApplied);
    }
    if !is_object {
        return Ok(Kind::Array(elements));
    }
    let mut members = sort_members(members);
    for (key, _) in &mut members {
        *key = escape_as_mysql(std::mem::take(key));
    }
    Ok(Kind::Object(members))
}

/// Removes a value and the spaces around it from the front. Only its end is searched; its contents are not checked.
fn take_value<'t>(rest: &mut &'t str) -> Result<&'t str> {
    let trimmed = rest.trim_ascii_start();
    let text = trimmed.as_bytes();
    let mut depth = 0usize;
    let mut at = 0;
    loop {
        match text.get(at).ok_or(Error::DiffNotApplied)? {
            b'"' => at += string_length(&text[at..])?,
            b'{' | b'[' => {
                depth += 1;
                at += 1;
            }
            b'}' | b']' if depth > 0 => {
                depth -= 1;
                at += 1;
            }
            b',' | b':' if depth > 0 => at += 1,
            byte if byte.is_ascii_whitespace() => at += 1,
            b'}' | b']' | b',' | b':' => return Err(Error::DiffNotApplied),
            _ => {
                let is_end = |byte: &u8| {
                    byte.is_ascii_whitespace()
                        || matches!(byte, b'"' | b'{' | b'[' | b'}' | b']' | b',' | b':')
                };
                at += text[at..].iter().position(is_end).ok_or(Error::DiffNotApplied)?;
            }
        }
        if depth == 0 {
            break;
        }
    }
    // A value ends beside an ASCII character, so this is the boundary of a character.
    let (value, after) = trimmed.split_at(at);
    *rest = after.trim_ascii_start();
    Ok(value)
}

/// Returns the length of a string with its quotes.
fn string_length(text: &[u8]) -> Result<usize> {
    let mut at = 1;
    loop {
        match text.get(at).ok_or(Error::DiffNotApplied)? {
            b'"' => return Ok(at + 1),
            b'\\' => at += 2,
            _ => at += 1,
        }
    }
}

/// Decodes a string in quotes. `None` if it is not a valid string.
pub(crate) fn unquote(text: &str) -> Option<Cow<'_, str>> {
    unescape_exact(text.strip_prefix('"')?.strip_suffix('"')?)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn opened(text: &str) -> Result<Node<'_>> {
        let mut node = Node::unparsed(text);
        node.open()?;
        Ok(node)
    }

    fn written(node: &Node<'_>) -> String {
        let mut out = String::new();
        node.write_loose(&mut out);
        out
    }

    #[test]
    fn opened_values_are_written_as_they_were() {
        for text in [
            "{}",
            "[]",
            "17",
            r#""text""#,
            "null",
            r#"{"": {}, "a": -1.5e10, "bb": [1, {"c": "}]\"\\"}], "\u0001€": "\n"}"#,
            r#"[[[]], {}, "a,b", true]"#,
        ] {
            assert_eq!(written(&opened(text).unwrap()), text);
        }
    }

    #[test]
    fn order_spaces_and_repeated_keys() {
        let node = opened(" { \"bb\" :1,\"a\": [ 1 , 2 ]\n,\"a\":\"\\u0061\" ,\"\\u00e9\":0} ").unwrap();
        assert_eq!(written(&node), r#"{"a": "\u0061", "bb": 1, "é": 0}"#);
        let mut array = Node::unparsed("[1,[2 , 3], {\"b\":1,\"a\":2}]".to_owned());
        array.open().unwrap();
        // Elements stay closed and are written in their original form.
        assert_eq!(written(&array), r#"[1, [2 , 3], {"b":1,"a":2}]"#);
    }

    #[test]
    fn damage_is_an_error() {
        for bad in [
            "{",
            "[",
            "[1",
            "[1,",
            "[1,]",
            "[,1]",
            "[1 2]",
            "[1]]",
            "[1}",
            "{]",
            "{\"a\"}",
            "{\"a\":}",
            "{\"a\":1,}",
            "{a:1}",
            "{1:2}",
            "[\"a]",
            "{\"a\\\":1}",
            "[1:2]",
            "{\"a\":1 \"b\":2}",
            "[[1]",
            "{\"\\ud800\":1}",
            "[1] x",
        ] {
            assert!(opened(bad).is_err(), "{bad}");
        }
    }
}
