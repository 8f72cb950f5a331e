//! JSON documents as text, parsed only where a value is searched or changed.
//!
//! ```text
//!   {"a": 1, "bb": [1, {"c": 2}], "long": "…"}          one piece of text
//!      ├ "a"     1                                       opened: a piece for each member,
//!      ├ "bb"    [1, {"c": 2}]
//!      └ "long"  "…"
//! ```
//! A value is kept as its original text until a path leads into it; then it is split one level deep. A change of a
//! large document therefore costs one pass over each level of the path and a copy, and every unchanged number and
//! string keeps its spelling. Members are in MySQL's order, by length and then by bytes, and are written with MySQL's
//! spaces.

use crate::error::{Error, Result};
use crate::json_binary::append_string;
use std::borrow::Cow;

/// Value in a document.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum JsonNode<'a> {
    /// A value that has not been opened.
    Text(Cow<'a, [u8]>),
    /// An opened array.
    Array(Vec<JsonNode<'a>>),
    /// An opened object.
    Object(JsonMembers<'a>),
}

/// Members of an object, ordered by their keys. Keys are unique.
#[derive(Clone, Debug, PartialEq, Eq, Default)]
pub(crate) struct JsonMembers<'a>(Vec<(Vec<u8>, JsonNode<'a>)>);

impl<'a> JsonNode<'a> {
    /// Opens an object or array. A scalar stays as it is.
    ///
    /// # Errors
    /// `MalformedJson` if the text is not a JSON value.
    pub(crate) fn open(&mut self) -> Result<()> {
        let JsonNode::Text(text) = self else {
            return Ok(());
        };
        let is_container = text
            .trim_ascii_start()
            .first()
            .is_some_and(|byte| matches!(byte, b'{' | b'['));
        if is_container {
            *self = match std::mem::take(text) {
                Cow::Borrowed(text) => divide(text, Cow::Borrowed)?,
                Cow::Owned(text) => divide(&text, |piece| Cow::Owned(piece.to_vec()))?,
            };
        }
        Ok(())
    }

    /// Appends the value as text.
    pub(crate) fn append(&self, out: &mut Vec<u8>) {
        match self {
            JsonNode::Text(text) => out.extend_from_slice(text),
            JsonNode::Array(elements) => {
                out.push(b'[');
                for (number, element) in elements.iter().enumerate() {
                    if number > 0 {
                        out.extend_from_slice(b", ");
                    }
                    element.append(out);
                }
                out.push(b']');
            }
            JsonNode::Object(JsonMembers(members)) => {
                out.push(b'{');
                for (number, (key, value)) in members.iter().enumerate() {
                    if number > 0 {
                        out.extend_from_slice(b", ");
                    }
                    append_string(key, out);
                    out.extend_from_slice(b": ");
                    value.append(out);
                }
                out.push(b'}');
            }
        }
    }
}

impl<'a> JsonMembers<'a> {
    fn find(&self, key: &[u8]) -> std::result::Result<usize, usize> {
        self.0
            .binary_search_by(|(known, _)| (known.len(), known.as_slice()).cmp(&(key.len(), key)))
    }

    /// Returns the value of a key.
    pub(crate) fn get_mut(&mut self, key: &[u8]) -> Option<&mut JsonNode<'a>> {
        let at = self.find(key).ok()?;
        Some(&mut self.0[at].1)
    }

    /// Adds a member. Returns false if the key exists.
    pub(crate) fn insert(&mut self, key: &[u8], value: JsonNode<'a>) -> bool {
        match self.find(key) {
            Ok(_) => false,
            Err(at) => {
                self.0.insert(at, (key.to_vec(), value));
                true
            }
        }
    }

    /// Removes a member. Returns false if the key does not exist.
    pub(crate) fn remove(&mut self, key: &[u8]) -> bool {
        let found = self.find(key);
        if let Ok(at) = found {
            self.0.remove(at);
        }
        found.is_ok()
    }

    /// Sorts members that were read from a text. If a key occurs more than once, its last value counts, as in MySQL.
    fn in_order(mut members: Vec<(Vec<u8>, JsonNode<'a>)>) -> Self {
        let order = |key: &[u8], other: &[u8]| (key.len(), key).cmp(&(other.len(), other));
        if !members.is_sorted_by(|(key, _), (next, _)| order(key, next).is_lt()) {
            members.reverse();
            members.sort_by(|(key, _), (other, _)| order(key, other));
            members.dedup_by(|(key, _), (kept, _)| key == kept);
        }
        JsonMembers(members)
    }
}

/// Splits the text of an object or array one level deep.
fn divide<'t, 'a>(text: &'t [u8], keep: impl Fn(&'t [u8]) -> Cow<'a, [u8]>) -> Result<JsonNode<'a>> {
    let mut rest = text.trim_ascii();
    let opening = take_byte(&mut rest).ok_or(Error::MalformedJson)?;
    let closing = if opening == b'{' { b'}' } else { b']' };
    let (mut members, mut elements) = (Vec::new(), Vec::new());
    rest = rest.trim_ascii_start();
    if rest.first() != Some(&closing) {
        loop {
            let key = match opening {
                b'{' => {
                    let key = take_value(&mut rest)?;
                    if take_byte(&mut rest) != Some(b':') {
                        return Err(Error::MalformedJson);
                    }
                    Some(unquote(key)?)
                }
                _ => None,
            };
            let value = JsonNode::Text(keep(take_value(&mut rest)?));
            match key {
                Some(key) => members.push((key, value)),
                None => elements.push(value),
            }
            match rest.first() {
                Some(b',') => rest = &rest[1..],
                _ => break,
            }
        }
    }
    if rest != [closing] {
        return Err(Error::MalformedJson);
    }
    Ok(match opening {
        b'{' => JsonNode::Object(JsonMembers::in_order(members)),
        _ => JsonNode::Array(elements),
    })
}

fn take_byte(rest: &mut &[u8]) -> Option<u8> {
    let (byte, behind) = rest.split_first()?;
    *rest = behind;
    Some(*byte)
}

/// Removes a value and the spaces around it from the front. Only its end is searched; its contents are not checked.
fn take_value<'t>(rest: &mut &'t [u8]) -> Result<&'t [u8]> {
    let text = rest.trim_ascii_start();
    let mut depth = 0usize;
    let mut at = 0;
    loop {
        match text.get(at).ok_or(Error::MalformedJson)? {
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
            b'}' | b']' | b',' | b':' => return Err(Error::MalformedJson),
            _ => {
                let is_end = |byte: &u8| {
                    byte.is_ascii_whitespace()
                        || matches!(byte, b'"' | b'{' | b'[' | b'}' | b']' | b',' | b':')
                };
                at += text[at..].iter().position(is_end).ok_or(Error::MalformedJson)?;
            }
        }
        if depth == 0 {
            break;
        }
    }
    *rest = text[at..].trim_ascii_start();
    Ok(&text[..at])
}

/// Returns the length of a string with its quotes.
fn string_length(text: &[u8]) -> Result<usize> {
    let mut at = 1;
    loop {
        match text.get(at).ok_or(Error::MalformedJson)? {
            b'"' => return Ok(at + 1),
            b'\\' => at += 2,
            _ => at += 1,
        }
    }
}

/// Decodes a string in quotes.
///
/// # Errors
/// `MalformedJson` if it is not a valid string.
pub(crate) fn unquote(text: &[u8]) -> Result<Vec<u8>> {
    match text {
        [b'"', within @ .., b'"'] => unescape(within),
        _ => Err(Error::MalformedJson),
    }
}

/// Decodes the contents of a string, without its quotes.
///
/// # Errors
/// `MalformedJson` if an escape is invalid.
pub(crate) fn unescape(text: &[u8]) -> Result<Vec<u8>> {
    let mut out = Vec::with_capacity(text.len());
    let mut rest = text;
    while let Some(byte) = take_byte(&mut rest) {
        if byte != b'\\' {
            out.push(byte);
            continue;
        }
        out.push(match take_byte(&mut rest).ok_or(Error::MalformedJson)? {
            byte @ (b'"' | b'\\' | b'/') => byte,
            b'b' => 0x08,
            b'f' => 0x0C,
            b'n' => b'\n',
            b'r' => b'\r',
            b't' => b'\t',
            b'u' => {
                let character = take_escaped_character(&mut rest)?;
                out.extend_from_slice(character.encode_utf8(&mut [0; 4]).as_bytes());
                continue;
            }
            _ => return Err(Error::MalformedJson),
        });
    }
    Ok(out)
}

/// Decodes the character of one `\uXXXX`, or of two that are a surrogate pair.
fn take_escaped_character(rest: &mut &[u8]) -> Result<char> {
    let first = take_unit(rest)?;
    let units = match rest.strip_prefix(b"\\u") {
        Some(behind) if (0xD800..0xDC00).contains(&first) => {
            *rest = behind;
            vec![first, take_unit(rest)?]
        }
        _ => vec![first],
    };
    match char::decode_utf16(units).next() {
        Some(Ok(character)) => Ok(character),
        _ => Err(Error::MalformedJson),
    }
}

fn take_unit(rest: &mut &[u8]) -> Result<u16> {
    let (digits, behind) = rest.split_at_checked(4).ok_or(Error::MalformedJson)?;
    *rest = behind;
    digits.iter().try_fold(0, |unit: u16, byte| {
        let digit = (*byte as char).to_digit(16).ok_or(Error::MalformedJson)?;
        Ok(unit << 4 | digit as u16)
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn opened(text: &str) -> Result<JsonNode<'_>> {
        let mut node = JsonNode::Text(Cow::Borrowed(text.as_bytes()));
        node.open()?;
        Ok(node)
    }

    fn written(node: &JsonNode<'_>) -> String {
        let mut out = Vec::new();
        node.append(&mut out);
        String::from_utf8(out).unwrap()
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
        let mut array = JsonNode::Text(Cow::Owned(b"[1,[2 , 3], {\"b\":1,\"a\":2}]".to_vec()));
        array.open().unwrap();
        // Elements stay closed and are written in their original form.
        assert_eq!(written(&array), r#"[1, [2 , 3], {"b":1,"a":2}]"#);
    }

    #[test]
    fn escapes() {
        assert_eq!(
            unescape(br#"\"\\\/\b\f\n\r\t\u20aC\ud83d\ude00x"#).unwrap(),
            "\"\\/\u{8}\u{c}\n\r\t€😀x".as_bytes()
        );
        for bad in [
            &br"\"[..],
            br"\x",
            br"\u12",
            br"\ud83d",
            br"\ude00",
            br"\ud83d\u0041",
            br"\u+123",
        ] {
            assert!(unescape(bad).is_err(), "{bad:?}");
        }
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
