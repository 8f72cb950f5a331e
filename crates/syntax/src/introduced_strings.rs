//! Strings with an introducer, `_latin1'…'`, in a client's text.
//!
//! MariaDB takes the bytes between the quotes as they arrive: an introducer says what they are, it converts nothing.
//! The parser's text is UTF-8, so these bytes would be lost where the client's character set is another one, or where
//! the introducer names another one than the client's. Such strings become `_latin1 x'…'` before the text is
//! converted. The rewritten text is the statement from then on: the log, a routine's body and the process list have
//! it too, and it means the same to a server that reads it in another character set.
//!
//! Rejected: to keep the bytes in the syntax tree alone. The log has the text in UTF-8, so replicas would read other
//! bytes.

use std::borrow::Cow;
use std::fmt::Write;

use super::lexer::{Lexer, Token};
use paceline_types::{Charset, SqlMode};

/// Converts a client's text to UTF-8. Bytes that are no text stay as they are.
pub fn text_of_client(text: &[u8], client: Charset, sql_mode: SqlMode) -> Cow<'_, [u8]> {
    if text.is_ascii() {
        return Cow::Borrowed(text);
    }
    let rewritten = with_written_bytes(text, client, sql_mode);
    match client {
        Charset::Latin1 => Cow::Owned(Charset::Latin1.decode(&rewritten).into_owned().into_bytes()),
        _ => rewritten,
    }
}

/// Replaces the strings whose bytes the conversion to UTF-8 would change.
fn with_written_bytes(text: &[u8], client: Charset, sql_mode: SqlMode) -> Cow<'_, [u8]> {
    let is_affected = |name: &[u8]| {
        let name = std::str::from_utf8(name).ok();
        name.and_then(Charset::from_name)
            .is_some_and(|named| match client {
                Charset::Latin1 => named != Charset::Latin1,
                _ => matches!(named, Charset::Latin1 | Charset::Ascii),
            })
    };
    let mentions = memchr::memchr_iter(b'_', text).any(|at| {
        let rest = &text[at + 1..];
        let length = rest.iter().position(|byte| !byte.is_ascii_alphanumeric());
        length.is_some_and(|length| is_affected(&rest[..length]))
    });
    if !mentions {
        return Cow::Borrowed(text);
    }
    let mut lexer = Lexer::new(text, sql_mode);
    let mut out = Vec::new();
    let mut copied = 0;
    let mut token = lexer.next();
    loop {
        let is_introducer = matches!(token.token, Token::Word { .. })
            && text[token.start..token.end]
                .strip_prefix(b"_")
                .is_some_and(is_affected);
        let next = lexer.next();
        if !is_introducer {
            if matches!(token.token, Token::End) || token.end <= token.start {
                break;
            }
            token = next;
            continue;
        }
        let start = next.start;
        let mut end = None;
        let mut bytes = Vec::new();
        token = next;
        // Adjacent strings are one.
        loop {
            match token.token {
                Token::Text(part) => bytes.extend_from_slice(part.as_bytes()),
                Token::Bytes(part) => bytes.extend_from_slice(&part),
                _ => break,
            }
            end = Some(token.end);
            token = lexer.next();
        }
        let Some(end) = end.filter(|_| !bytes.is_ascii()) else {
            continue;
        };
        let mut literal = String::with_capacity(bytes.len() * 2 + 4);
        literal.push_str(" x'");
        for byte in bytes {
            let _ = write!(literal, "{byte:02X}");
        }
        literal.push('\'');
        out.extend_from_slice(&text[copied..start]);
        out.extend_from_slice(literal.as_bytes());
        copied = end;
    }
    if copied == 0 {
        return Cow::Borrowed(text);
    }
    out.extend_from_slice(&text[copied..]);
    Cow::Owned(out)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(text: &[u8], client: Charset) -> String {
        let text = text_of_client(text, client, SqlMode::DEFAULT);
        String::from_utf8(text.into_owned()).unwrap()
    }

    #[test]
    fn bytes_behind_an_introducer_are_those_that_arrived() {
        let text = b"select _binary'\xe4\\'\\0', '\xe4', _latin1'\xe4', _UTF8MB4 '\xc3' '\xa4' x";
        assert_eq!(
            read(text, Charset::Latin1),
            "select _binary x'E42700', 'ä', _latin1'ä', _UTF8MB4  x'C3A4' x"
        );
        let text = "select _latin1'ä', _utf8'ä', _binary'ä', `_latin1'ä'`, /* _latin1'ä' */ _latin1'a'";
        assert_eq!(
            read(text.as_bytes(), Charset::Utf8mb4),
            text.replacen("_latin1'ä'", "_latin1 x'C3A4'", 1)
        );
    }

    #[test]
    fn other_texts_stay_as_they_are() {
        for text in ["select _latin1'a'", "select 'ä', _utf8mb4'ä'", "_latin1 'ä"] {
            assert_eq!(read(text.as_bytes(), Charset::Utf8mb4), text);
        }
    }
}
