//! A parsed statement, and the form of its text that other people may see.
//!
//! Logs, the process list and traces keep statements. They must not keep passwords: each password is replaced
//! by the hash that the server stores, so that the statement keeps its meaning. A comment for other versions
//! (`/*!110000 … */`) becomes a plain comment, as in MariaDB: a replica of such a version must not execute
//! what this server has skipped.

use std::borrow::Cow;
use std::ops::Range;

use crate::clear_password::{ClearPassword, HashForm};
use crate::features::Features;
use crate::statement::Statement;

/// A statement and its place in the text.
#[derive(Debug, Clone, PartialEq)]
pub struct ParsedStatement {
    /// The syntax tree.
    pub statement: Statement,
    /// Bytes of the statement within the whole text, without the semicolon and the white space around it.
    pub text: Range<usize>,
    /// Number of `?` placeholders.
    pub parameters: usize,
    /// Number of INTO clauses at the end of its queries, also those of a program: MariaDB accepts this place with a
    /// warning.
    pub late_intos: usize,
    /// Approximate size of the tree and of the plan made from it, in bytes.
    pub memory_bytes: usize,
    /// Offset of the next statement; `None` after the last one.
    pub next: Option<usize>,
    /// Features that it uses.
    pub features: Features,
    /// Passwords in clear text. Their ranges refer to the whole text.
    pub clear_passwords: Vec<ClearPassword>,
    /// Offset of the `!` of each comment that was skipped because it is for other versions. Refers to the
    /// whole text.
    pub skipped_versions: Vec<usize>,
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
    use crate::{ParseOptions, parse};

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
