//! Translation of a MySQL server's statements into MariaDB's SQL, for a replica that follows a MySQL primary.
//!
//! MySQL 8 logs a definition as its client wrote it. Most of it means the same here. The rest is changed in
//! the text, token by token; everything else stays byte for byte:
//!
//! | MySQL's | becomes |
//! |---|---|
//! | a collation of Unicode 9.0 | [the nearest one we have](Collation::instead_of_mysql) |
//! | `CHARACTER SET utf8mb4` alone | the same with MySQL's default collation for it, or our replacement |
//! | an index's `INVISIBLE`, `VISIBLE` | `IGNORED`, nothing |
//! | a column's `VISIBLE`, `/*!80023 INVISIBLE */` | nothing, `INVISIBLE` |
//! | `ENCRYPTION`, `SECONDARY_ENGINE` and similar options | nothing |
//! | `START TRANSACTION` at the end of a CREATE TABLE: rows follow in the same transaction | nothing |
//! | statements about MySQL's accounts, tablespaces, servers … | [`MySqlStatement::ItsOwn`] |
//!
//! Features that MariaDB lacks entirely (such as functional key parts) stay in the text. Executing it then
//! reports a syntax error at the right place.

use super::lexer::{Lexer, Token, TokenSpan};
use paceline_types::SqlMode;
use paceline_types::{Charset, Collation};
use std::borrow::Cow;
use std::ops::Range;

/// Session state that MySQL logged with a statement's text.
#[derive(Debug, Clone, Copy)]
pub struct MySqlSession {
    /// SQL mode that the text was written for.
    pub sql_mode: SqlMode,
    /// `default_collation_for_utf8mb4`, or the nearest collation that we have.
    pub utf8mb4_collation: Collation,
}

/// A statement of a MySQL server.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum MySqlStatement<'a> {
    /// A statement to execute, as MariaDB's SQL.
    Text(Cow<'a, [u8]>),
    /// A statement about objects that only MySQL has: its accounts, tablespaces, components.
    ItsOwn,
}

/// Translates a statement of a MySQL server.
pub fn translate_mysql<'a>(text: &'a [u8], session: &MySqlSession) -> MySqlStatement<'a> {
    let mut words = Words::new(text, session.sql_mode);
    if words.is_its_own() {
        return MySqlStatement::ItsOwn;
    }
    if !words.is_definition() {
        return MySqlStatement::Text(Cow::Borrowed(text));
    }
    words.translate(session);
    MySqlStatement::Text(words.apply())
}

/// The tokens of a text and the edits to make in it.
struct Words<'a> {
    text: &'a [u8],
    tokens: Vec<TokenSpan>,
    edits: Vec<(Range<usize>, Cow<'static, str>)>,
}

/// State of one level of parentheses, up to the current token.
struct Level {
    /// First token of the current item. Items are separated by commas.
    item: usize,
    /// Offset after a character set that has no collation yet.
    charset_end: Option<usize>,
    has_collation: bool,
    /// Set for the type of a CAST, which takes no collation.
    is_cast: bool,
}

impl Level {
    fn new(item: usize, is_cast: bool) -> Self {
        Level {
            item,
            charset_end: None,
            has_collation: false,
            is_cast,
        }
    }
}

/// Words that are followed by a name.
const BEFORE_NAMES: [&str; 14] = [
    "ADD",
    "AFTER",
    "ALTER",
    "CHANGE",
    "COLUMN",
    "CONSTRAINT",
    "DROP",
    "EXISTS",
    "INDEX",
    "INTO",
    "KEY",
    "MODIFY",
    "TABLE",
    "TO",
];

/// Words that can begin an index definition.
const INDEX_WORDS: [&str; 6] = ["INDEX", "KEY", "UNIQUE", "FULLTEXT", "SPATIAL", "PRIMARY"];

/// Options that MariaDB does not have. Each takes one value.
const OPTIONS: [&str; 6] = [
    "ENCRYPTION",
    "COMPRESSION",
    "SECONDARY_ENGINE",
    "ENGINE_ATTRIBUTE",
    "SECONDARY_ENGINE_ATTRIBUTE",
    "AUTOEXTEND_SIZE",
];

impl<'a> Words<'a> {
    fn new(text: &'a [u8], sql_mode: SqlMode) -> Self {
        let mut lexer = Lexer::new(text, sql_mode);
        let mut tokens = Vec::new();
        loop {
            let token = lexer.next();
            if matches!(token.token, Token::End | Token::Invalid) {
                break;
            }
            tokens.push(token);
        }
        Words {
            text,
            tokens,
            edits: Vec::new(),
        }
    }

    /// Returns whether the token is this word, unquoted.
    fn is(&self, at: usize, word: &str) -> bool {
        self.tokens.get(at).is_some_and(|token| {
            matches!(token.token, Token::Word { .. })
                && self.text[token.start..token.end].eq_ignore_ascii_case(word.as_bytes())
        })
    }

    fn is_any(&self, at: usize, words: &[&str]) -> bool {
        words.iter().any(|word| self.is(at, word))
    }

    fn begins_with(&self, words: &[&str]) -> bool {
        words.iter().enumerate().all(|(at, word)| self.is(at, word))
    }

    fn is_definition(&self) -> bool {
        self.is_any(0, &["CREATE", "ALTER"])
    }

    fn is_its_own(&self) -> bool {
        let objects = [
            "USER",
            "ROLE",
            "SERVER",
            "TABLESPACE",
            "UNDO",
            "LOGFILE",
            "RESOURCE",
            "SPATIAL",
            "INSTANCE",
            "LIBRARY",
        ];
        let is_soname = (0..self.tokens.len()).any(|at| self.is(at, "SONAME"));
        match () {
            // SPATIAL INDEX is not among them: it concerns a table.
            () if self.is_any(0, &["CREATE", "ALTER", "DROP", "RENAME"]) => {
                let after_replace = if self.begins_with(&["CREATE", "OR", "REPLACE"]) {
                    3
                } else {
                    1
                };
                self.is_any(after_replace, &objects) && !self.is(after_replace + 1, "INDEX")
                    || self.is(0, "CREATE") && is_soname
            }
            () if self.is(0, "SET") => {
                self.is(1, "PASSWORD") || self.begins_with(&["SET", "DEFAULT", "ROLE"])
            }
            () => self.is_any(
                0,
                &[
                    "GRANT",
                    "REVOKE",
                    "INSTALL",
                    "UNINSTALL",
                    "FLUSH",
                    "ANALYZE",
                    "OPTIMIZE",
                    "REPAIR",
                    "IMPORT",
                    "CLONE",
                ],
            ),
        }
    }

    /// Returns the name that a token stands for: a word, or the contents of its quotes.
    fn name(&self, at: usize) -> Option<Cow<'_, str>> {
        let token = self.tokens.get(at)?;
        match &token.token {
            Token::Word { .. } => Some(String::from_utf8_lossy(&self.text[token.start..token.end])),
            Token::Quoted(name) | Token::Text(name) => Some(Cow::Borrowed(name)),
            _ => None,
        }
    }

    /// Returns the index of the token at `at`, or of the one after it if that is an equals sign.
    fn after_equal(&self, at: usize) -> usize {
        let is_equal = self
            .tokens
            .get(at)
            .is_some_and(|token| token.token == Token::Equal);
        at + usize::from(is_equal)
    }

    fn replace(&mut self, tokens: Range<usize>, with: impl Into<Cow<'static, str>>) {
        let (Some(first), Some(last)) = (self.tokens.get(tokens.start), self.tokens.get(tokens.end - 1))
        else {
            return;
        };
        self.edits.push((first.start..last.end, with.into()));
    }

    fn translate(&mut self, session: &MySqlSession) {
        let mut levels = vec![Level::new(0, false)];
        let mut at = 0;
        while at < self.tokens.len() {
            self.comments_before(at, &levels);
            let mut next = at + 1;
            match &self.tokens[at].token {
                Token::LeftParen => {
                    let is_cast = at > 0 && self.is_any(at - 1, &["CAST", "CONVERT"]);
                    levels.push(Level::new(at + 1, is_cast));
                }
                Token::RightParen => {
                    if levels.len() > 1
                        && let Some(level) = levels.pop()
                    {
                        self.end_item(&level, session);
                    }
                }
                Token::Comma => {
                    if let Some(level) = levels.last_mut() {
                        let ended = std::mem::replace(level, Level::new(at + 1, level.is_cast));
                        self.end_item(&ended, session);
                    }
                }
                Token::Word { .. } => next = self.word(at, &mut levels),
                _ => {}
            }
            at = next.max(at + 1);
        }
        self.comments_before(self.tokens.len(), &levels);
        for level in levels {
            self.end_item(&level, session);
        }
        let end = self.tokens.len();
        let is_table = self.begins_with(&["CREATE", "TABLE"]);
        if is_table && end >= 2 && self.is(end - 2, "START") && self.is(end - 1, "TRANSACTION") {
            self.replace(end - 2..end, "");
        }
    }

    /// Handles a word. Returns the index of the token to continue with.
    fn word(&mut self, at: usize, levels: &mut [Level]) -> usize {
        let depth = levels.len() - 1;
        let Some(level) = levels.last_mut() else {
            return at + 1;
        };
        if self.is(at, "COLLATE") {
            level.has_collation = true;
            let named = self.after_equal(at + 1);
            let instead = self
                .name(named)
                .and_then(|name| Collation::instead_of_mysql(&name));
            if let Some(collation) = instead {
                self.replace(named..named + 1, collation.name());
            }
            return named + 1;
        }
        let is_charset = self.is(at, "CHARSET")
            || self.is(at, "SET") && at > 0 && self.is_any(at - 1, &["CHARACTER", "CHAR"]);
        if is_charset {
            let named = self.after_equal(at + 1);
            let is_utf8mb4 = self
                .name(named)
                .is_some_and(|name| name.eq_ignore_ascii_case("utf8mb4"));
            if is_utf8mb4 {
                level.charset_end = Some(self.tokens[named].end);
                return named + 1;
            }
            return at + 1;
        }
        let item = level.item;
        if self.stands_for_a_name(at, item, depth) {
            return at + 1;
        }
        if self.is(at, "VISIBLE") {
            let instead = match self.is_altered_index(item) {
                true => "NOT IGNORED",
                false => "",
            };
            self.replace(at..at + 1, instead);
        } else if self.is(at, "INVISIBLE") && self.is_index(item) {
            self.replace(at..at + 1, "IGNORED");
        } else if depth <= 1 && self.is_any(at, &OPTIONS) {
            return self.drop_option(at, item);
        }
        at + 1
    }

    /// Returns whether only a name can stand here, so that the word is not a keyword.
    fn stands_for_a_name(&self, at: usize, item: usize, depth: usize) -> bool {
        if at == 0 {
            return false;
        }
        let before = &self.tokens[at - 1].token;
        // At the start of an item, an option of a database or of ALTER TABLE is a keyword; within parentheses
        // it is a column's name.
        let is_option = depth == 0 && self.is_any(at, &OPTIONS);
        (at == item && !is_option) || *before == Token::Dot || self.is_any(at - 1, &BEFORE_NAMES)
    }

    /// Returns the index of the token that says what an item is about: after `ALTER TABLE name`, ADD, ALTER
    /// and CONSTRAINT.
    fn subject(&self, item: usize) -> usize {
        let mut at = item;
        if item == 0 && self.begins_with(&["ALTER", "TABLE"]) {
            at = 3;
            if self.tokens.get(at).is_some_and(|token| token.token == Token::Dot) {
                at += 2;
            }
        }
        if self.is_any(at, &["ADD", "ALTER"]) {
            at += 1;
        }
        if self.is(at, "CONSTRAINT") {
            at += 1;
            if !self.is_any(at, &INDEX_WORDS) {
                at += 1;
            }
        }
        at
    }

    /// Returns whether an item defines or changes an index.
    fn is_index(&self, item: usize) -> bool {
        let creates = item == 0 && self.is(0, "CREATE") && self.is_any(1, &INDEX_WORDS);
        creates || self.is_any(self.subject(item), &INDEX_WORDS)
    }

    /// Returns whether an item is `ALTER INDEX name …`.
    fn is_altered_index(&self, item: usize) -> bool {
        let at = self.subject(item);
        at > 0 && self.is(at - 1, "ALTER") && self.is(at, "INDEX")
    }

    /// Removes an option with its value, and one comma beside it. Returns the index of the token to continue
    /// with.
    fn drop_option(&mut self, at: usize, item: usize) -> usize {
        let value = self.after_equal(at + 1);
        if value >= self.tokens.len() {
            return at + 1;
        }
        let is_default = at > 0 && self.is(at - 1, "DEFAULT");
        let mut first = at - usize::from(is_default);
        let mut end = value + 1;
        let is_comma = |at: usize| {
            self.tokens
                .get(at)
                .is_some_and(|token| token.token == Token::Comma)
        };
        if is_comma(end) && (first == item || item == 0) {
            end += 1;
        } else if end >= self.tokens.len() && first > 0 && is_comma(first - 1) {
            first -= 1;
        }
        self.replace(first..end, "");
        // Continue at the comma if it stays.
        value + 1
    }

    /// Replaces `/*!80023 INVISIBLE */` before a token: MySQL writes it into the statements that it
    /// generates.
    fn comments_before(&mut self, at: usize, levels: &[Level]) {
        let from = at.checked_sub(1).map_or(0, |before| self.tokens[before].end);
        let to = self.tokens.get(at).map_or(self.text.len(), |token| token.start);
        let Some(gap) = self.text.get(from..to) else {
            return;
        };
        let Some(start) = memchr::memmem::find(gap, b"/*!") else {
            return;
        };
        let Some(length) = memchr::memmem::find(&gap[start..], b"*/") else {
            return;
        };
        let digits = gap[start + 3..start + length]
            .iter()
            .take_while(|byte| byte.is_ascii_digit())
            .count();
        let content = gap[start + 3 + digits..start + length].trim_ascii();
        if !content.eq_ignore_ascii_case(b"INVISIBLE") {
            return;
        }
        let item = levels.last().map_or(0, |level| level.item);
        let instead = match self.is_index(item) {
            true => "IGNORED",
            false => "INVISIBLE",
        };
        self.edits
            .push((from + start..from + start + length + 2, instead.into()));
    }

    /// Adds MySQL's collation to the character set of an item that has ended.
    fn end_item(&mut self, level: &Level, session: &MySqlSession) {
        let collation = session.utf8mb4_collation;
        if let Some(end) = level.charset_end
            && !level.has_collation
            && !level.is_cast
            && collation != Charset::Utf8mb4.default_collation()
        {
            self.edits
                .push((end..end, format!(" COLLATE {}", collation.name()).into()));
        }
    }

    fn apply(mut self) -> Cow<'a, [u8]> {
        if self.edits.is_empty() {
            return Cow::Borrowed(self.text);
        }
        self.edits.sort_by_key(|(range, _)| (range.start, range.end));
        let mut out = Vec::with_capacity(self.text.len() + 64);
        let mut copied = 0;
        for (range, with) in self.edits {
            // Part of a range that was removed already.
            if range.start < copied {
                continue;
            }
            out.extend_from_slice(&self.text[copied..range.start]);
            out.extend_from_slice(with.as_bytes());
            copied = range.end;
        }
        out.extend_from_slice(&self.text[copied..]);
        Cow::Owned(out)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn translated(text: &str) -> String {
        let session = MySqlSession {
            sql_mode: SqlMode::DEFAULT,
            utf8mb4_collation: Collation::Utf8mb4Unicode520NopadCi,
        };
        match translate_mysql(text.as_bytes(), &session) {
            MySqlStatement::Text(text) => String::from_utf8(text.into_owned()).unwrap(),
            MySqlStatement::ItsOwn => "its own".to_owned(),
        }
    }

    #[test]
    fn features_that_mariadb_lacks_are_replaced() {
        let cases = [
            (
                "create table t (a char(3) collate utf8mb4_0900_as_cs, b text CHARACTER SET utf8mb4 NOT NULL, c text charset utf8mb4 collate utf8mb4_bin) \
                 ENGINE=InnoDB DEFAULT CHARSET=utf8mb4 COLLATE=utf8mb4_0900_ai_ci",
                "create table t (a char(3) collate utf8mb4_nopad_bin, b text CHARACTER SET utf8mb4 COLLATE utf8mb4_unicode_520_nopad_ci NOT NULL, \
                 c text charset utf8mb4 collate utf8mb4_bin) ENGINE=InnoDB DEFAULT CHARSET=utf8mb4 COLLATE=utf8mb4_unicode_520_nopad_ci",
            ),
            (
                "create table t (a int) default charset=`utf8mb4` comment 'collate utf8mb4_0900_as_cs'",
                "create table t (a int) default charset=`utf8mb4` COLLATE utf8mb4_unicode_520_nopad_ci comment 'collate utf8mb4_0900_as_cs'",
            ),
            (
                "create index x on u (s) invisible /* xid=26 */",
                "create index x on u (s) IGNORED /* xid=26 */",
            ),
            (
                "create table t (visible int visible, a int invisible, key (visible), unique k (a) INVISIBLE, key l (a) visible)",
                "create table t (visible int , a int invisible, key (visible), unique k (a) IGNORED, key l (a) )",
            ),
            (
                "alter table d.t alter index k invisible, alter index l visible, add key m (a) invisible, add b int invisible after visible",
                "alter table d.t alter index k IGNORED, alter index l NOT IGNORED, add key m (a) IGNORED, add b int invisible after visible",
            ),
            (
                "CREATE TABLE `gi` (\n  `my_row_id` bigint unsigned NOT NULL AUTO_INCREMENT /*!80023 INVISIBLE */,\n  PRIMARY KEY (`my_row_id`),\n  KEY `k` (`a`) /*!80000 INVISIBLE */\n)",
                "CREATE TABLE `gi` (\n  `my_row_id` bigint unsigned NOT NULL AUTO_INCREMENT INVISIBLE,\n  PRIMARY KEY (`my_row_id`),\n  KEY `k` (`a`) IGNORED\n)",
            ),
            (
                "CREATE TABLE `c` (\n  `id` int NOT NULL\n) START TRANSACTION",
                "CREATE TABLE `c` (\n  `id` int NOT NULL\n) ",
            ),
            (
                "create database d default character set utf8mb4 default encryption='N'",
                "create database d default character set utf8mb4 COLLATE utf8mb4_unicode_520_nopad_ci ",
            ),
            (
                "alter table t encryption='Y', add c int, secondary_engine = rapid",
                "alter table t  add c int",
            ),
            (
                "create table t (a int, encryption int, b char(5) generated always as (cast(a as char(5) charset utf8mb4)) stored)",
                "create table t (a int, encryption int, b char(5) generated always as (cast(a as char(5) charset utf8mb4)) stored)",
            ),
            (
                "alter table t convert to character set utf8mb4",
                "alter table t convert to character set utf8mb4 COLLATE utf8mb4_unicode_520_nopad_ci",
            ),
            (
                "insert into t values ('collate utf8mb4_0900_bin')",
                "insert into t values ('collate utf8mb4_0900_bin')",
            ),
        ];
        for (text, expected) in cases {
            assert_eq!(translated(text), expected);
        }
    }

    #[test]
    fn statements_about_mysql_itself_are_recognized() {
        for text in [
            "CREATE USER 'r'@'%' IDENTIFIED WITH 'caching_sha2_password' AS 'x'",
            "GRANT SELECT ON *.* TO r",
            "drop role a",
            "set password for r = 'x'",
            "alter instance rotate innodb master key",
            "create undo tablespace u add datafile 'u.ibu'",
            "CREATE FUNCTION f RETURNS INTEGER SONAME 'f.so'",
            "analyze table t",
            "flush tables",
        ] {
            assert_eq!(translated(text), "its own", "{text}");
        }
        for text in [
            "create spatial index i on t (g)",
            "create table user (a int)",
            "drop table `user`",
            "set names utf8mb4",
            "",
        ] {
            assert_eq!(translated(text), text);
        }
    }
}
