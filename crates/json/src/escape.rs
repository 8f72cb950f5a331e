//! Escapes in JSON strings.

use crate::error::{Error, Result};
use std::borrow::Cow;

/// Digits of a control character in hexadecimal: MariaDB writes `\u001F`.
const MARIADB_DIGITS: &[u8; 16] = b"0123456789ABCDEF";
/// MySQL writes `\u001f`.
const MYSQL_DIGITS: &[u8; 16] = b"0123456789abcdef";

/// Escapes the characters that a JSON string cannot contain, as MariaDB does.
pub fn escape(text: &str) -> String {
    let mut out = Vec::with_capacity(text.len());
    append_escaped(text.as_bytes(), MARIADB_DIGITS, &mut out);
    String::from_utf8(out).expect("escapes are ASCII and replace ASCII")
}

/// Escapes the characters that a JSON string cannot contain, as MySQL does.
pub(crate) fn escape_as_mysql(text: String) -> String {
    if !text.bytes().any(is_escaped) {
        return text;
    }
    let mut out = Vec::with_capacity(text.len() + 8);
    append_escaped(text.as_bytes(), MYSQL_DIGITS, &mut out);
    String::from_utf8(out).expect("escapes are ASCII and replace ASCII")
}

/// Appends a string in quotes, with MySQL's escapes.
///
/// # Errors
/// `MalformedDocument` for bytes that are not UTF-8, which MySQL never writes.
pub(crate) fn append_mysql_string(bytes: &[u8], out: &mut Vec<u8>) -> Result<()> {
    if std::str::from_utf8(bytes).is_err() {
        return Err(Error::MalformedDocument);
    }
    out.push(b'"');
    append_escaped(bytes, MYSQL_DIGITS, out);
    out.push(b'"');
    Ok(())
}

fn is_escaped(byte: u8) -> bool {
    matches!(byte, b'"' | b'\\' | 0..0x20)
}

fn append_escaped(bytes: &[u8], digits: &[u8; 16], out: &mut Vec<u8>) {
    for &byte in bytes {
        match byte {
            b'"' => out.extend_from_slice(b"\\\""),
            b'\\' => out.extend_from_slice(b"\\\\"),
            b'\n' => out.extend_from_slice(b"\\n"),
            b'\r' => out.extend_from_slice(b"\\r"),
            b'\t' => out.extend_from_slice(b"\\t"),
            0x08 => out.extend_from_slice(b"\\b"),
            0x0C => out.extend_from_slice(b"\\f"),
            0..0x20 => {
                out.extend_from_slice(b"\\u00");
                out.push(digits[usize::from(byte >> 4)]);
                out.push(digits[usize::from(byte & 0xF)]);
            }
            _ => out.push(byte),
        }
    }
}

/// Decodes the escapes of a string. What is not an escape of JSON is read as MariaDB reads it: the character after the
/// backslash, or U+FFFD for half of a surrogate pair.
pub fn unescape(escaped: &str) -> Cow<'_, str> {
    decode(escaped).0
}

/// Decodes the escapes of a string. `None` if there is one that JSON does not have.
pub(crate) fn unescape_exact(escaped: &str) -> Option<Cow<'_, str>> {
    let (text, is_exact) = decode(escaped);
    is_exact.then_some(text)
}

/// Decodes a string, and returns whether all escapes are JSON's.
fn decode(escaped: &str) -> (Cow<'_, str>, bool) {
    if !escaped.contains('\\') {
        return (Cow::Borrowed(escaped), true);
    }
    let mut out = String::with_capacity(escaped.len());
    let mut is_exact = true;
    let mut rest = escaped.chars();
    while let Some(character) = rest.next() {
        if character != '\\' {
            out.push(character);
            continue;
        }
        match rest.next() {
            Some('n') => out.push('\n'),
            Some('r') => out.push('\r'),
            Some('t') => out.push('\t'),
            Some('b') => out.push('\u{8}'),
            Some('f') => out.push('\u{c}'),
            Some('u') => out.push(take_character(&mut rest, &mut is_exact)),
            Some(other) => {
                is_exact &= matches!(other, '"' | '\\' | '/');
                out.push(other);
            }
            None => is_exact = false,
        }
    }
    (Cow::Owned(out), is_exact)
}

/// Decodes the character of one `\uXXXX`, or of two that are a surrogate pair. The first `\u` has been read.
fn take_character(rest: &mut std::str::Chars<'_>, is_exact: &mut bool) -> char {
    let mut code = take_unit(rest, is_exact);
    if (0xD800..0xDC00).contains(&code) {
        let mut ahead = rest.clone();
        if ahead.next() == Some('\\') && ahead.next() == Some('u') {
            let low = take_unit(&mut ahead, is_exact);
            if (0xDC00..0xE000).contains(&low) {
                code = 0x10000 + ((code - 0xD800) << 10) + (low - 0xDC00);
                *rest = ahead;
            }
        }
    }
    let character = char::from_u32(code);
    *is_exact &= character.is_some();
    character.unwrap_or(char::REPLACEMENT_CHARACTER)
}

fn take_unit(rest: &mut std::str::Chars<'_>, is_exact: &mut bool) -> u32 {
    let digits: String = rest.by_ref().take(4).collect();
    *is_exact &= digits.len() == 4 && digits.bytes().all(|digit| digit.is_ascii_hexdigit());
    u32::from_str_radix(&digits, 16).unwrap_or(u32::from(char::REPLACEMENT_CHARACTER))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn escaped_text_decodes_to_the_original() {
        let text = "tab\t \"quote\" \\ \u{1} ü 😀";
        assert_eq!(unescape(&escape(text)), text);
        assert_eq!(unescape(r"\ud83d\ude00"), "😀");
    }

    #[test]
    fn mariadb_and_mysql_write_digits_differently() {
        assert_eq!(escape("\u{1f}\n\"é"), r#"\u001F\n\"é"#);
        assert_eq!(escape_as_mysql("\u{1f}\n\"é".to_owned()), r#"\u001f\n\"é"#);
    }

    #[test]
    fn all_escapes_of_json() {
        let text = "\"\\/\u{8}\u{c}\n\r\t€😀x";
        assert_eq!(
            unescape_exact(r#"\"\\\/\b\f\n\r\t\u20aC\ud83d\ude00x"#).unwrap(),
            text
        );
    }

    #[test]
    fn invalid_escapes_are_read_leniently_or_refused() {
        for (bad, lenient) in [
            (r"\", ""),
            (r"\x", "x"),
            (r"\u12", "\u{12}"),
            (r"\ud83d", "\u{FFFD}"),
            (r"\ude00", "\u{FFFD}"),
            (r"\ud83d\u0041", "\u{FFFD}A"),
            (r"\u+123", "\u{123}"),
            (r"\uzzzz", "\u{FFFD}"),
        ] {
            assert_eq!(unescape_exact(bad), None, "{bad:?}");
            assert_eq!(unescape(bad), lenient, "{bad:?}");
        }
    }
}
