//! Masks passwords and their hashes in the text of a statement, for logs.
//!
//! ```text
//!   set password for 'u'@'h' = '*14E6'          ─▶  set password for 'u'@'h' = '*****'
//!   create user a identified by 's' typo        ─▶  create user a identified '*****'
//! ```
//!
//! The text is read with the parser's lexer, so strings, comments and names are what they are for the parser, in the
//! same SQL mode. A word such as IDENTIFIED or PASSWORD makes the strings after it secret. How far depends on whether
//! the parser has understood the text:
//!
//! * Parsed: strings up to the end of the statement. In a list of accounts, or of options of CHANGE MASTER, only up to
//!   the next comma, because names follow there. A string before `@` or after FOR is the name of an account.
//! * Refused: the whole rest of the text, because it may contain a password without quotes, or one with a quote in it.
//!   The misspelled word may be IDENTIFIED itself. So all strings in a statement about accounts are hidden too.
//!
//! A comment that contains such a word is hidden as a whole.
//!
//! Rejected: positions from the grammar, as in [`ClearPassword`](crate::ClearPassword). A refused text has none, and
//! hashes, the arguments of functions, and passwords in an application's tables are not among them.

use std::borrow::Cow;

use paceline_types::SqlMode;

use crate::lexer::{Lexer, Token};

/// Shown in place of a secret.
const MASK: &[u8] = b"'*****'";

/// Shown in place of a comment with a secret.
const COMMENT_MASK: &[u8] = b" /* ***** */ ";

/// Whether the parser has understood a text.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum TextOrigin {
    /// It has, so the words have their meaning.
    Parsed,
    /// It has refused the text with an error.
    Refused,
}

/// Returns the text with `'*****'` in place of passwords and of their hashes. Less than the whole text may be returned
/// if it has more than `bytes_max` bytes, but never fewer than these.
///
/// ```
/// use paceline_syntax::{TextOrigin, mask_secrets};
/// use paceline_types::SqlMode;
///
/// let text = b"set password = password('x')";
/// let masked = mask_secrets(text, SqlMode::DEFAULT, TextOrigin::Parsed, usize::MAX);
/// assert_eq!(&*masked, b"set password = password('*****')");
/// ```
pub fn mask_secrets(text: &[u8], sql_mode: SqlMode, origin: TextOrigin, bytes_max: usize) -> Cow<'_, [u8]> {
    // Nothing is masked before the first such word.
    if origin == TextOrigin::Parsed && !mentions_secret(&text[..text.len().min(bytes_max)]) {
        return Cow::Borrowed(text);
    }
    let mut masking = Masking {
        lexer: Lexer::new(text, sql_mode),
        text,
        origin,
        out: Vec::with_capacity(text.len().min(bytes_max)),
        statement: StatementKind::Other,
        words: 0,
        depth: 0,
        hides: false,
        is_after_for: false,
    };
    while masking.out.len() < bytes_max && masking.step() {}
    Cow::Owned(masking.out)
}

/// Returns whether [`mask_secrets`] has masked something in this text; also if the client's text looks like that.
pub fn has_mask(masked: &[u8]) -> bool {
    memchr::memmem::find(masked, MASK).is_some()
}

/// Returns whether a text contains a word that secrets follow, as a part of a longer word, string or comment too.
pub fn mentions_secret(text: &[u8]) -> bool {
    const WORDS: [&[u8]; 3] = [b"identified", b"password", b"secret"];
    let begins = |rest: &[u8], word: &[u8]| {
        rest.get(..word.len())
            .is_some_and(|begin| begin.eq_ignore_ascii_case(word))
    };
    (0..text.len()).any(|at| {
        matches!(text[at] | 0x20, b'i' | b'p' | b's') && WORDS.iter().any(|word| begins(&text[at..], word))
    })
}

/// Returns whether a secret follows this word.
fn precedes_secret(word: &[u8]) -> bool {
    let word = word.to_ascii_uppercase();
    word == b"IDENTIFIED" || word.ends_with(b"PASSWORD") || word.windows(6).any(|part| part == b"SECRET")
}

/// Meaning of a statement's strings, by its first words.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum StatementKind {
    /// CREATE or ALTER, of anything so far.
    Definition,
    /// CREATE USER, ALTER USER, GRANT, or CREATE SERVER.
    Account,
    /// CHANGE MASTER.
    Replication,
    /// PREPARE or EXECUTE: its strings are statements.
    Preparation,
    Other,
}

struct Masking<'a> {
    lexer: Lexer<'a>,
    text: &'a [u8],
    origin: TextOrigin,
    out: Vec<u8>,
    statement: StatementKind,
    /// Number of words so far.
    words: usize,
    /// Number of open parentheses.
    depth: usize,
    /// Whether strings are secret.
    hides: bool,
    is_after_for: bool,
}

impl Masking<'_> {
    /// Copies or masks a token and what is before it. Returns false at the end.
    fn step(&mut self) -> bool {
        let before = self.lexer.end();
        let token = self.lexer.next();
        self.comments(before, token.start);
        let bytes = &self.text[token.start..token.end];
        let is_after_for = std::mem::take(&mut self.is_after_for);
        match token.token {
            Token::End => {
                self.out.extend_from_slice(bytes);
                return false;
            }
            // For example a string or a comment that is not closed: it can contain anything.
            Token::Invalid if self.hides || mentions_secret(bytes) => {
                self.out.extend_from_slice(MASK);
                return false;
            }
            Token::Word { .. } => return self.word(bytes),
            Token::Quoted(_) | Token::UserVariable(_) if precedes_secret(bytes_of_name(bytes)) => {
                self.out.extend_from_slice(bytes);
                return self.begin_secret();
            }
            Token::Equal | Token::Assign if self.is_refused_account() => {
                self.out.extend_from_slice(bytes);
                return self.begin_secret();
            }
            Token::LeftParen => self.depth += 1,
            Token::RightParen => self.depth = self.depth.saturating_sub(1),
            Token::Comma if self.depth == 0 && self.lists_names() => self.hides = false,
            Token::Semicolon if self.origin == TextOrigin::Parsed => {
                self.hides = false;
                self.words = 0;
                self.depth = 0;
            }
            _ if is_string(bytes) && self.is_secret(bytes, is_after_for) => {
                self.out.extend_from_slice(MASK);
                return true;
            }
            _ => {}
        }
        self.out.extend_from_slice(bytes);
        // At the end of an open comment the lexer stays.
        token.token != Token::Invalid || self.lexer.end() < self.text.len()
    }

    fn word(&mut self, word: &[u8]) -> bool {
        self.out.extend_from_slice(word);
        self.words += 1;
        let upper = word.to_ascii_uppercase();
        self.is_after_for = upper == b"FOR";
        self.statement = match (self.words, &upper[..]) {
            (1, b"CREATE" | b"ALTER") => StatementKind::Definition,
            (1, b"GRANT") => StatementKind::Account,
            (1, b"CHANGE") => StatementKind::Replication,
            (1, b"PREPARE" | b"EXECUTE") => StatementKind::Preparation,
            (1, _) => StatementKind::Other,
            // At most four words: CREATE OR REPLACE USER.
            (2..=4, b"USER" | b"SERVER") if self.statement == StatementKind::Definition => {
                StatementKind::Account
            }
            // SET STATEMENT … FOR CREATE USER.
            (_, b"IDENTIFIED") => StatementKind::Account,
            _ => self.statement,
        };
        let is_clause = matches!(&upper[..], b"BY" | b"USING" | b"AS") && self.is_refused_account();
        match is_clause || precedes_secret(&upper) {
            true => self.begin_secret(),
            false => true,
        }
    }

    /// Hides the strings from here on; the whole rest of a refused text. Returns false at the end.
    fn begin_secret(&mut self) -> bool {
        self.hides = true;
        if self.origin == TextOrigin::Parsed {
            return true;
        }
        if !self.text[self.lexer.end()..].trim_ascii().is_empty() {
            self.out.push(b' ');
            self.out.extend_from_slice(MASK);
        }
        false
    }

    /// Copies white space and comments.
    fn comments(&mut self, start: usize, end: usize) {
        let gap = &self.text[start..end];
        let has_string = || gap.iter().any(|byte| matches!(byte, b'\'' | b'"'));
        self.out
            .extend_from_slice(match mentions_secret(gap) || self.hides && has_string() {
                true => COMMENT_MASK,
                false => gap,
            });
    }

    fn is_secret(&mut self, string: &[u8], is_after_for: bool) -> bool {
        if self.statement == StatementKind::Preparation && mentions_secret(string) {
            // The values after USING may be the secret.
            self.hides = true;
            return true;
        }
        if self.is_refused_account() {
            return true;
        }
        let is_account = is_after_for || self.text.get(self.lexer.end()) == Some(&b'@');
        self.hides && !is_account
    }

    fn is_refused_account(&self) -> bool {
        self.origin == TextOrigin::Refused
            && matches!(
                self.statement,
                StatementKind::Account | StatementKind::Replication
            )
    }

    /// Returns whether names follow a comma outside of parentheses.
    fn lists_names(&self) -> bool {
        matches!(
            self.statement,
            StatementKind::Account | StatementKind::Replication
        )
    }
}

/// Returns whether a token is a string; also one in double quotes, which the mode may have made a name.
fn is_string(token: &[u8]) -> bool {
    matches!(
        token,
        [b'\'' | b'"', ..] | [b'x' | b'X' | b'b' | b'B' | b'n' | b'N', b'\'', ..] | [b'0', b'x' | b'b', ..]
    )
}

/// Returns a name or variable without the bytes around it.
fn bytes_of_name(token: &[u8]) -> &[u8] {
    let is_mark = |byte: &u8| matches!(byte, b'@' | b'`' | b'"' | b'\'' | b'[' | b']');
    let start = token
        .iter()
        .position(|byte| !is_mark(byte))
        .unwrap_or(token.len());
    let length = token[start..].iter().take_while(|byte| !is_mark(byte)).count();
    &token[start..start + length]
}

#[cfg(test)]
mod tests {
    use super::*;

    fn masked_in(text: &str, sql_mode: SqlMode, origin: TextOrigin) -> String {
        String::from_utf8_lossy(&mask_secrets(text.as_bytes(), sql_mode, origin, usize::MAX)).into_owned()
    }

    fn parsed(text: &str) -> String {
        masked_in(text, SqlMode::DEFAULT, TextOrigin::Parsed)
    }

    fn refused(text: &str) -> String {
        masked_in(text, SqlMode::DEFAULT, TextOrigin::Refused)
    }

    #[test]
    fn passwords_and_hashes_of_accounts_are_hidden() {
        for (given, shown) in [
            (
                "create user a identified by 'it''s', 'b'@'h' identified by \"x\\\"y\"",
                "create user a identified by '*****', 'b'@'h' identified by '*****'",
            ),
            (
                "alter user a identified via ed25519 using 'h' or mysql_native_password as 'i'",
                "alter user a identified via ed25519 using '*****' or mysql_native_password as '*****'",
            ),
            (
                "alter user a identified via ed25519 using password('h'), 'b' account lock",
                "alter user a identified via ed25519 using password('*****'), 'b' account lock",
            ),
            (
                "create or replace user u@localhost identified by PASSWORD '*14E6'",
                "create or replace user u@localhost identified by PASSWORD '*****'",
            ),
            (
                "grant all on *.* to 'u'@'%' identified by password '*14E6' with grant option",
                "grant all on *.* to 'u'@'%' identified by password '*****' with grant option",
            ),
            (
                "set statement max_statement_time=1 for create user 'a' identified by 'x'",
                "set statement max_statement_time=1 for create user 'a' identified by '*****'",
            ),
            (
                "create user a identified by x'41'",
                "create user a identified by '*****'",
            ),
        ] {
            assert_eq!(parsed(given), shown);
        }
    }

    #[test]
    fn set_password_hides_the_password_and_shows_the_account() {
        for (given, shown) in [
            (
                "SET PASSWORD FOR 'u'@'h' = '*HASH'",
                "SET PASSWORD FOR 'u'@'h' = '*****'",
            ),
            (
                "SET PASSWORD FOR 'u' = PASSWORD('x')",
                "SET PASSWORD FOR 'u' = PASSWORD('*****')",
            ),
            ("set password = '*HASH'", "set password = '*****'"),
            (
                "set password for a = old_password(\"x\")",
                "set password for a = old_password('*****')",
            ),
        ] {
            assert_eq!(parsed(given), shown);
        }
    }

    #[test]
    fn other_secrets_are_hidden() {
        for (given, shown) in [
            (
                "change master 'c' to master_password='x', master_log_file='binlog.1'",
                "change master 'c' to master_password='*****', master_log_file='binlog.1'",
            ),
            (
                "create server s foreign data wrapper mysql options (user 'u', password 'x')",
                "create server s foreign data wrapper mysql options (user 'u', password '*****')",
            ),
            (
                "set global s3_secret_key = 'x'",
                "set global s3_secret_key = '*****'",
            ),
            ("set @password = 'x'", "set @password = '*****'"),
            (
                "insert into u (name, `password`) values ('a', 'x'), ('b', 'y')",
                "insert into u (name, `password`) values ('*****', '*****'), ('*****', '*****')",
            ),
            (
                "execute immediate 'create user a identified by ''x'''",
                "execute immediate '*****'",
            ),
            (
                "execute immediate 'insert into u (password) values (?)' using 'x'; select 'a'",
                "execute immediate '*****' using '*****'; select 'a'",
            ),
            (
                "prepare p from 'set password = ?'; select 'a'",
                "prepare p from '*****'; select 'a'",
            ),
        ] {
            assert_eq!(parsed(given), shown);
        }
    }

    #[test]
    fn a_text_without_secrets_is_unchanged() {
        for text in [
            "select 'a' as 'b'",
            "select * from passwords where a = 'b'",
            "select 'password', 'identified by', 'x'",
            "select 'a' -- don't ask\n, 'b'",
        ] {
            assert_eq!(parsed(text), text);
            assert_eq!(refused(text), text);
        }
    }

    #[test]
    fn comments_are_not_mistaken_for_strings() {
        for (given, shown) in [
            (
                "/* don't */ create user a identified by 'x'",
                "/* don't */ create user a identified by '*****'",
            ),
            (
                "-- don't\ncreate user a identified by 'x' # it's",
                "-- don't\ncreate user a identified by '*****' /* ***** */ ",
            ),
            (
                "create user a /*!100100 identified by 'x' */",
                "create user a /*!100100 identified by '*****' */",
            ),
            (
                "/*!999999 don't */ create user a identified by 'x'",
                "/*!999999 don't */ create user a identified by '*****'",
            ),
            (
                "select 1 /*!999999 identified by 'x' */, 'a'",
                "select 1 /* ***** */ , 'a'",
            ),
            (
                "select '--', 1 from t; create user a identified by '/*'",
                "select '--', 1 from t; create user a identified by '*****'",
            ),
        ] {
            assert_eq!(parsed(given), shown);
        }
    }

    #[test]
    fn the_sql_mode_says_where_a_string_ends() {
        let text = r"create user 'a\' identified by 'x', 'b' identified by 'y\'";
        assert_eq!(
            masked_in(text, SqlMode::NO_BACKSLASH_ESCAPES, TextOrigin::Parsed),
            r"create user 'a\' identified by '*****', 'b' identified by '*****'"
        );
        let text = r#"create user "a'b" identified by 'x'"#;
        for mode in [SqlMode::DEFAULT, SqlMode::ANSI_QUOTES] {
            let shown = r#"create user "a'b" identified by '*****'"#;
            assert_eq!(masked_in(text, mode, TextOrigin::Parsed), shown);
        }
        // A statement that was prepared in another mode.
        assert_eq!(
            masked_in(r#"set password = "x""#, SqlMode::ANSI_QUOTES, TextOrigin::Parsed),
            "set password = '*****'"
        );
    }

    #[test]
    fn the_rest_of_a_refused_text_is_hidden() {
        for (given, shown) in [
            (
                "CREATE USER a IDENTIFIED BY 's' typo",
                "CREATE USER a IDENTIFIED '*****'",
            ),
            (
                "create user a identified by s",
                "create user a identified '*****'",
            ),
            (
                "create user a identified by 'pa'ss'",
                "create user a identified '*****'",
            ),
            (
                "create user a identified by 'open",
                "create user a identified '*****'",
            ),
            (
                "create user a identifed by s",
                "create user a identifed by '*****'",
            ),
            (
                "create user 'a' identifed 's'",
                "create user '*****' identifed '*****'",
            ),
            (
                "grant all on *.* to a identifed via p using 's'",
                "grant all on *.* to a identifed via p using '*****'",
            ),
            (
                "change master to master_host 'h', master_pasword = s",
                "change master to master_host '*****', master_pasword = '*****'",
            ),
            ("set password 's'", "set password '*****'"),
            ("set password", "set password"),
            ("selec 1; set password = 's'", "selec 1; set password '*****'"),
            ("/* open password 's'", "'*****'"),
            ("selec 'a", "selec 'a"),
            ("selec 'a identified by s", "selec '*****'"),
        ] {
            assert_eq!(refused(given), shown);
        }
    }

    #[test]
    fn any_bytes_are_masked_up_to_the_limit() {
        for text in [
            &b""[..],
            b"'",
            b"\xff password '\xff",
            b"x'",
            b"0x",
            b"password\0",
            b"/*!",
        ] {
            for origin in [TextOrigin::Parsed, TextOrigin::Refused] {
                mask_secrets(text, SqlMode::DEFAULT, origin, usize::MAX);
            }
        }
        let many = format!("set password = 'x'{}", ", 'y'".repeat(1000));
        let masked = mask_secrets(many.as_bytes(), SqlMode::DEFAULT, TextOrigin::Parsed, 30);
        assert!((30..60).contains(&masked.len()));
    }
}
