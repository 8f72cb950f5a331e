//! Hides passwords and their hashes in a statement's text.

use std::borrow::Cow;

/// Words after which a string is a secret.
const BEFORE_SECRETS: [&str; 5] = [
    "IDENTIFIED",
    "PASSWORD",
    "OLD_PASSWORD",
    "MASTER_PASSWORD",
    "SECRET",
];

/// Words after which a string is a secret in a statement about accounts.
const IN_AUTHENTICATION: [&str; 3] = ["BY", "USING", "AS"];

/// Returns the text with `'*****'` in place of passwords and of their hashes. The text need not be a valid statement:
/// one that was refused may contain a password too.
pub fn without_secrets(text: &[u8]) -> Cow<'_, [u8]> {
    let mentions = |word: &[u8]| {
        text.windows(word.len())
            .any(|window| window.eq_ignore_ascii_case(word))
    };
    if !mentions(b"identified") && !mentions(b"password") && !mentions(b"secret") {
        return Cow::Borrowed(text);
    }
    let mut out = Vec::with_capacity(text.len());
    let mut is_about_accounts = false;
    let mut comes_secret = false;
    let mut at = 0;
    while at < text.len() {
        let byte = text[at];
        let end = match byte {
            b'\'' | b'"' => {
                let end = end_of_string(text, at);
                if comes_secret {
                    out.extend_from_slice(b"'*****'");
                    comes_secret = false;
                    at = end;
                    continue;
                }
                end
            }
            b'`' => end_of_string(text, at),
            _ if is_word(byte) => {
                let length = text[at..].iter().take_while(|byte| is_word(**byte)).count();
                let word = String::from_utf8_lossy(&text[at..at + length]).to_uppercase();
                is_about_accounts |= word == "IDENTIFIED";
                comes_secret |= BEFORE_SECRETS.contains(&word.as_str())
                    || is_about_accounts && IN_AUTHENTICATION.contains(&word.as_str());
                at + length
            }
            _ => at + 1,
        };
        out.extend_from_slice(&text[at..end]);
        at = end;
    }
    Cow::Owned(out)
}

fn is_word(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || byte == b'_' || byte >= 0x80
}

/// Returns the end of the string that begins at `start`; the end of the text if it is not closed.
fn end_of_string(text: &[u8], start: usize) -> usize {
    let quote = text[start];
    let mut at = start + 1;
    while at < text.len() {
        match text[at] {
            b'\\' if quote != b'`' => at += 1,
            // Two quotes within a string are one.
            byte if byte == quote && text.get(at + 1) == Some(&quote) => at += 1,
            byte if byte == quote => return at + 1,
            _ => {}
        }
        at += 1;
    }
    text.len()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn passwords_are_hidden() {
        for (given, shown) in [
            ("select 'a' as 'b'", "select 'a' as 'b'"),
            (
                "create user a identified by 'it''s', b@'h' identified by \"x\\\"y\"",
                "create user a identified by '*****', b@'h' identified by '*****'",
            ),
            (
                "alter user a identified via ed25519 using 'h' or mysql_native_password as 'i'",
                "alter user a identified via ed25519 using '*****' or mysql_native_password as '*****'",
            ),
            (
                "create user u@localhost identified by PASSWORD '*14E6'",
                "create user u@localhost identified by PASSWORD '*****'",
            ),
            (
                "set password for a = password('x')",
                "set password for a = password('*****')",
            ),
            (
                "change master to master_host='h', master_password='x'",
                "change master to master_host='h', master_password='*****'",
            ),
            (
                "create user a identified by 'open",
                "create user a identified by '*****'",
            ),
            (
                "select * from passwords where a = 'b'",
                "select * from passwords where a = 'b'",
            ),
        ] {
            assert_eq!(String::from_utf8_lossy(&without_secrets(given.as_bytes())), shown);
        }
    }
}
