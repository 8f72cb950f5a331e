//! The form of a statement's text that other people may see.
//!
//! Logs, the process list and traces keep statements. They must not keep passwords: each password is replaced
//! by the hash that the server stores, so that the statement keeps its meaning. A comment for other versions
//! (`/*!110000 … */`) becomes a plain comment, as in MariaDB: a replica of such a version must not execute
//! what this server has skipped.

use std::borrow::Cow;
use std::ops::Range;

use super::ParsedStatement;

/// A password that a statement contains in clear text.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ClearPassword {
    /// The bytes of the text that the hash replaces.
    pub text: Range<usize>,
    /// The password itself, with the string's escapes resolved.
    pub password: String,
    /// Name of the authentication plugin whose hash replaces it; empty for the default one.
    pub plugin: String,
    /// The notation of the hash that replaces it.
    pub hash_form: HashForm,
}

/// Notation of a password's hash in the place of the password.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum HashForm {
    /// `PASSWORD '*hash'`, after IDENTIFIED BY.
    WordAndString,
    /// `'*hash'`, instead of `PASSWORD('secret')`.
    String,
    /// Nothing: the statement needs the password itself, and its hash is stored nowhere (MASTER_PASSWORD).
    Hidden,
}

impl ParsedStatement {
    /// Returns the statement's own part of `whole`, with each password replaced by its hash, and with skipped
    /// version comments turned into plain comments. `hash` returns the hash for a plugin and a password.
    ///
    /// A hash consists of letters, digits and an asterisk, so it needs no escapes in any SQL mode.
    pub fn text_to_show<'a>(&self, whole: &'a [u8], hash: impl Fn(&str, &str) -> String) -> Cow<'a, [u8]> {
        if self.clear_passwords.is_empty() && self.skipped_versions.is_empty() {
            return Cow::Borrowed(&whole[self.text.clone()]);
        }
        let passwords = self.clear_passwords.iter().map(|secret| {
            let shown = match secret.hash_form {
                HashForm::WordAndString => format!("PASSWORD '{}'", hash(&secret.plugin, &secret.password)),
                HashForm::String => format!("'{}'", hash(&secret.plugin, &secret.password)),
                HashForm::Hidden => "'<secret>'".to_owned(),
            };
            (secret.text.clone(), shown)
        });
        let comments = self
            .skipped_versions
            .iter()
            .map(|&at| (at..at + 1, " ".to_owned()));
        let mut replaced: Vec<(Range<usize>, String)> = passwords.chain(comments).collect();
        replaced.sort_by_key(|(range, _)| range.start);
        let mut shown = Vec::with_capacity(self.text.len() + 64);
        let mut copied = self.text.start;
        for (range, with) in replaced {
            shown.extend_from_slice(&whole[copied..range.start]);
            shown.extend_from_slice(with.as_bytes());
            copied = range.end;
        }
        shown.extend_from_slice(&whole[copied..self.text.end]);
        Cow::Owned(shown)
    }
}

#[cfg(test)]
mod tests {
    use super::super::{ParseOptions, parse};

    fn shown(text: &str) -> String {
        let parsed = parse(text.as_bytes(), &ParseOptions::default()).unwrap();
        let texts = parsed.iter().map(|statement| {
            let text = statement.text_to_show(text.as_bytes(), |plugin, password| {
                let stars = if plugin.is_empty() { "*" } else { "**" };
                format!("{stars}{}", password.len())
            });
            String::from_utf8(text.into_owned()).unwrap()
        });
        texts.collect::<Vec<_>>().join("; ")
    }

    #[test]
    fn passwords_are_replaced_by_hashes() {
        for (written, expected) in [
            (
                "CREATE USER a@b /* c */ IDENTIFIED  BY 'it''s' , c IDENTIFIED BY \"\" ACCOUNT LOCK",
                "CREATE USER a@b /* c */ IDENTIFIED  BY PASSWORD '*4' , c IDENTIFIED BY PASSWORD '*0' ACCOUNT LOCK",
            ),
            (
                "SELECT 'secret'; ALTER USER a IDENTIFIED BY 'secret'; GRANT ALL ON *.* TO a IDENTIFIED BY 'xy'",
                "SELECT 'secret'; ALTER USER a IDENTIFIED BY PASSWORD '*6'; \
                 GRANT ALL ON *.* TO a IDENTIFIED BY PASSWORD '*2'",
            ),
            (
                "CREATE USER a IDENTIFIED VIA mysql_native_password USING PASSWORD ( 'secret' )",
                "CREATE USER a IDENTIFIED VIA mysql_native_password USING '**6'",
            ),
            (
                "ALTER USER a IDENTIFIED VIA unix_socket OR ed25519 USING PASSWORD('secret') OR nosuch AS PASSWORD('x')",
                "ALTER USER a IDENTIFIED VIA unix_socket OR ed25519 USING '**6' OR nosuch AS '**1'",
            ),
            (
                "CHANGE MASTER TO MASTER_USER='r', MASTER_PASSWORD = 'secret', MASTER_PORT=3306",
                "CHANGE MASTER TO MASTER_USER='r', MASTER_PASSWORD = '<secret>', MASTER_PORT=3306",
            ),
            (
                "SET PASSWORD FOR a = PASSWORD('secret')",
                "SET PASSWORD FOR a = '*6'",
            ),
            (
                "SET STATEMENT max_statement_time = 1 FOR CREATE USER a /*!40101 IDENTIFIED BY 'secret' */",
                "SET STATEMENT max_statement_time = 1 FOR CREATE USER a /*!40101 IDENTIFIED BY PASSWORD '*6' */",
            ),
            (
                "CREATE USER a IDENTIFIED BY PASSWORD '*2470C0C06DEE42FD1618BB99005ADCA2EC9D1E19'",
                "CREATE USER a IDENTIFIED BY PASSWORD '*2470C0C06DEE42FD1618BB99005ADCA2EC9D1E19'",
            ),
            (
                "SELECT 1 /*!99999 + 2 */ /*!50000 + 3 */; /*!999999 x */ DO 1 /*M!999999 y /* z */ */ + 1 /*!888888 + 5 */",
                "SELECT 1 /* 99999 + 2 */ /*!50000 + 3 */; DO 1 /*M 999999 y /* z */ */ + 1 /* 888888 + 5 */",
            ),
            (
                "SET PASSWORD /*!999999 a */ FOR a = PASSWORD('secret') /*!999999 b */",
                "SET PASSWORD /* 999999 a */ FOR a = '*6' /* 999999 b */",
            ),
        ] {
            assert_eq!(shown(written), expected);
        }
    }
}
