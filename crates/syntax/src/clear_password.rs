//! A statement's text as others are shown it.
//!
//! A log, a list of sessions and a trace keep what they are shown; so in the place of a password they are shown the
//! hash that the server stores, in a statement that means the same. A comment for other versions (`/*!110000 … */`)
//! becomes a plain one, as in MariaDB: a replica of such a version must not execute what this server has not.

use std::borrow::Cow;
use std::ops::Range;

use super::ParsedStatement;

/// A password that a statement gives in clear.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ClearPassword {
    /// Where: the bytes that the hash replaces.
    pub text: Range<usize>,
    /// The password.
    pub password: String,
    /// How a hash is written in its place.
    pub hash_form: HashForm,
}

/// How a password's hash is written where the password stood.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum HashForm {
    /// `PASSWORD '*hash'`, behind IDENTIFIED BY.
    WordAndString,
    /// `'*hash'`, instead of `PASSWORD('secret')`.
    String,
    /// Not at all: it is needed as it is, and nobody stores its hash (MASTER_PASSWORD).
    Hidden,
}

impl ParsedStatement {
    /// The statement's own text out of the `whole` text, each password in it replaced by its hash, and what was not
    /// executed marked as a comment.
    ///
    /// A hash consists of letters, digits and the asterisk, so that it needs no escapes in any SQL mode.
    pub fn text_to_show<'a>(&self, whole: &'a [u8], hash: impl Fn(&str) -> String) -> Cow<'a, [u8]> {
        if self.clear_passwords.is_empty() && self.skipped_versions.is_empty() {
            return Cow::Borrowed(&whole[self.text.clone()]);
        }
        let passwords = self.clear_passwords.iter().map(|secret| {
            let shown = match secret.hash_form {
                HashForm::WordAndString => format!("PASSWORD '{}'", hash(&secret.password)),
                HashForm::String => format!("'{}'", hash(&secret.password)),
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
            let text = statement.text_to_show(text.as_bytes(), |password| format!("*{}", password.len()));
            String::from_utf8(text.into_owned()).unwrap()
        });
        texts.collect::<Vec<_>>().join("; ")
    }

    #[test]
    fn hashes_stand_for_passwords() {
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
                "CREATE USER a IDENTIFIED VIA mysql_native_password USING '*6'",
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
