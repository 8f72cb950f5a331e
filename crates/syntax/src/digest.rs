//! Digest of a statement: the part shared by statements that differ only in literals, white space, comments and case.
//!
//! ```text
//!   select a from T where a in (1, 2) -- x     ─▶  SELECT `a` FROM `T` WHERE `a` IN (...)
//!   INSERT INTO t VALUES (1,'a'), (2,'b')      ─▶  INSERT INTO `t` VALUES (...) /* , ... */
//! ```
//!
//! The text is that of MariaDB's `performance_schema` in most cases (docs/differences.md has the others). Its rules:
//!
//! * A literal, NULL, a sign before a literal where no value precedes it, and `?` are `?`.
//! * Literals that follow each other in a list are `?, ...`.
//! * A list in parentheses that has only literals is `(?)` or `(...)`; such lists that follow each other get
//!   ` /* , ... */`.
//! * Keywords are in upper case, names in backticks. Comments are left out.
//!
//! Every statement of a client has its digest computed, so the digest itself comes from a scanner that makes no text,
//! looks up no keyword and allocates nothing for usual statements: it folds a hash over the tokens. The text is made
//! only when a digest is seen for the first time. So that both agree, they share the scanner and the rules; they differ
//! in what they do with the tokens.
//!
//! Limits: after [`TOKENS_MAX`] tokens the rest of the statement does not count. The text ends after [`TEXT_MAX`] bytes
//! with `...`.
//!
//! Rejected: the parser's lexer. It copies strings and knows each word, which a digest does not need, and a second pass
//! with it costs as much as the parser. Hashing in the parser's own pass: the parser looks ahead and goes back, and the
//! rules for lists need the tokens on a stack.

use crate::lexer::VersionComment;
use smallvec::SmallVec;
use std::collections::HashSet;
use std::sync::OnceLock;

/// Maximum number of tokens that count.
const TOKENS_MAX: usize = 1024;

/// Maximum length of the text in bytes.
const TEXT_MAX: usize = 1024;

/// Parts of the SQL mode that a digest depends on.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct DigestMode {
    /// ANSI_QUOTES: double quotes enclose names.
    pub ansi_quotes: bool,
    /// NO_BACKSLASH_ESCAPES.
    pub no_backslash_escapes: bool,
}

/// Kind of a token, or of several that the rules have made one.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Kind {
    /// A word without quotes.
    Word,
    /// A name in quotes, without them.
    Name,
    /// `@name`.
    UserVariable,
    /// Operator or punctuation other than those below.
    Operator,
    Comma,
    Open,
    Close,
    /// `?`
    Literal,
    /// `?, ...`
    Literals,
    /// `(?)`
    Row,
    /// `(?) /* , ... */`
    Rows,
    /// `(...)`
    LongRow,
    /// `(...) /* , ... */`
    LongRows,
}

/// A token in the text.
#[derive(Debug, Clone, Copy)]
struct Token {
    kind: Kind,
    hash: u64,
    start: usize,
    end: usize,
}

/// Tokens after the rules were applied.
type Tokens = SmallVec<[Token; 32]>;

/// Returns the digest of a statement: equal for two statements exactly if their texts by [`digest_text`] are, but for
/// the case of names, except by chance.
pub fn digest(text: &[u8], mode: DigestMode) -> u64 {
    let mut scanner = Scanner::new(text, mode);
    scanner.run();
    let tokens = scanner.tokens.iter();
    tokens.fold(0, |hash, token| {
        // A name is the same with and without quotes.
        let kind = if token.kind == Kind::Name {
            Kind::Word
        } else {
            token.kind
        };
        mix(hash, token.hash ^ kind as u64)
    })
}

/// Returns the text of a statement's digest.
pub fn digest_text(text: &[u8], mode: DigestMode) -> String {
    let mut scanner = Scanner::new(text, mode);
    scanner.run();
    let tokens = &scanner.tokens;
    let mut shown = String::new();
    for (number, token) in tokens.iter().enumerate() {
        let word = String::from_utf8_lossy(&text[token.start..token.end]);
        let next = tokens.get(number + 1).map(|next| next.kind);
        let after_dot = number > 0 && is_dot(text, &tokens[number - 1]);
        match token.kind {
            Kind::Word => match keyword(&word, next) {
                Some(keyword) if !after_dot => shown.push_str(&keyword),
                _ => push_name(&mut shown, &word),
            },
            Kind::Name => push_name(&mut shown, &word),
            Kind::UserVariable => shown.push_str("@?"),
            Kind::Operator | Kind::Comma | Kind::Open | Kind::Close => shown.push_str(&word),
            Kind::Literal => shown.push('?'),
            Kind::Literals => shown.push_str("?, ..."),
            Kind::Row => shown.push_str("(?)"),
            Kind::Rows => shown.push_str("(?) /* , ... */"),
            Kind::LongRow => shown.push_str("(...)"),
            Kind::LongRows => shown.push_str("(...) /* , ... */"),
        }
        // As in MariaDB, `@@` and the name after it are not separated.
        if word != "@@" {
            shown.push(' ');
        }
        if shown.len() > TEXT_MAX {
            let fits = |end: &usize| shown.is_char_boundary(*end);
            shown.truncate((0..=TEXT_MAX).rev().find(fits).unwrap_or(0));
            shown.push_str("...");
            break;
        }
    }
    shown
}

fn is_dot(text: &[u8], token: &Token) -> bool {
    token.kind == Kind::Operator && &text[token.start..token.end] == b"."
}

fn push_name(shown: &mut String, name: &str) {
    shown.push('`');
    shown.push_str(name);
    shown.push('`');
}

/// The words of MariaDB's `information_schema.KEYWORDS`, in order.
static KEYWORDS: &str = include_str!("keywords.txt");

/// Functions whose names MariaDB's lexer knows if a parenthesis follows.
static FUNCTIONS: [&str; 46] = [
    "ADDDATE",
    "BIT_AND",
    "BIT_OR",
    "BIT_XOR",
    "CAST",
    "COUNT",
    "CUME_DIST",
    "CURDATE",
    "CURTIME",
    "DATE_ADD",
    "DATE_FORMAT",
    "DATE_SUB",
    "DENSE_RANK",
    "EXTRACT",
    "FIRST_VALUE",
    "GROUP_CONCAT",
    "JSON_ARRAYAGG",
    "JSON_OBJECTAGG",
    "LAG",
    "LEAD",
    "MAX",
    "MEDIAN",
    "MID",
    "MIN",
    "NOW",
    "NTH_VALUE",
    "NTILE",
    "PERCENTILE_CONT",
    "PERCENTILE_DISC",
    "PERCENT_RANK",
    "POSITION",
    "RANK",
    "ROW_NUMBER",
    "SESSION_USER",
    "STD",
    "STDDEV",
    "STDDEV_POP",
    "STDDEV_SAMP",
    "SUBDATE",
    "SUBSTR",
    "SUBSTRING",
    "SUM",
    "SYSDATE",
    "SYSTEM_USER",
    "TRIM",
    "VARIANCE",
];

/// Words with the same meaning as another one, which MariaDB shows instead.
static SYNONYMS: [(&str, &str); 14] = [
    ("BOOL", "BOOLEAN"),
    ("CHARACTER", "CHAR"),
    ("DATABASE", "SCHEMA"),
    ("DATABASES", "SCHEMAS"),
    ("DAY", "SQL_TSI_DAY"),
    ("DEC", "DECIMAL"),
    ("HOUR", "SQL_TSI_HOUR"),
    ("INT", "INTEGER"),
    ("INT4", "INTEGER"),
    ("MINUTE", "SQL_TSI_MINUTE"),
    ("MONTH", "SQL_TSI_MONTH"),
    ("SECOND", "SQL_TSI_SECOND"),
    ("VARCHAR", "VARCHARACTER"),
    ("YEAR", "SQL_TSI_YEAR"),
];

/// Returns how MariaDB shows a word that is a keyword.
fn keyword(word: &str, next: Option<Kind>) -> Option<String> {
    let upper = word.to_ascii_uppercase();
    let is_call = matches!(next, Some(Kind::Open | Kind::Row | Kind::LongRow));
    static KNOWN: OnceLock<HashSet<&str>> = OnceLock::new();
    let known = KNOWN.get_or_init(|| KEYWORDS.lines().collect());
    let is_known = known.contains(upper.as_str()) || (is_call && FUNCTIONS.contains(&upper.as_str()));
    let shown = SYNONYMS.iter().find(|(other, _)| *other == upper);
    is_known.then(|| shown.map_or(upper.clone(), |(_, shown)| (*shown).to_owned()))
}

/// Mixes a value into a hash.
#[inline]
fn mix(hash: u64, value: u64) -> u64 {
    let product = u128::from(hash ^ 0x9e37_79b9_7f4a_7c15) * u128::from(value ^ 0xe703_7ed1_a0b4_28db);
    (product as u64) ^ ((product >> 64) as u64)
}

/// Hashes a word regardless of the case of its ASCII letters.
#[inline]
fn hash_of(word: &[u8]) -> u64 {
    let mut parts = word.chunks_exact(8);
    let hash = (&mut parts).fold(word.len() as u64, |hash, part| {
        mix(
            hash,
            lower(u64::from_le_bytes(part.try_into().unwrap_or_default())),
        )
    });
    let rest = parts.remainder().iter();
    let rest = rest.fold(0, |rest, byte| (rest << 8) | u64::from(*byte));
    mix(hash, lower(rest))
}

/// Returns eight bytes with the letters in lower case. If one of them is not ASCII, all are left as they are. A few
/// characters that are no letters become others, which names hardly have: `@` and `[`.
#[inline]
fn lower(bytes: u64) -> u64 {
    const NOT_ASCII: u64 = 0x8080_8080_8080_8080;
    const CASE: u64 = 0x2020_2020_2020_2020;
    if bytes & NOT_ASCII == 0 {
        bytes | CASE
    } else {
        bytes
    }
}

const fn is_word_byte(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || byte == b'_' || byte == b'$' || byte >= 0x80
}

/// Scans a statement and applies the rules.
struct Scanner<'a> {
    text: &'a [u8],
    mode: DigestMode,
    at: usize,
    in_version_comment: bool,
    tokens: Tokens,
}

impl<'a> Scanner<'a> {
    fn new(text: &'a [u8], mode: DigestMode) -> Self {
        Scanner {
            text,
            mode,
            at: 0,
            in_version_comment: false,
            tokens: Tokens::new(),
        }
    }

    /// Scans the whole statement.
    fn run(&mut self) {
        while self.tokens.len() < TOKENS_MAX && self.step() {}
    }

    fn byte(&self, ahead: usize) -> u8 {
        self.text.get(self.at + ahead).copied().unwrap_or(0)
    }

    /// Reads the next token. Returns false at the end.
    #[inline]
    fn step(&mut self) -> bool {
        let Some(&byte) = self.text.get(self.at) else {
            return false;
        };
        let start = self.at;
        match byte {
            _ if byte.is_ascii_whitespace() => self.at += 1,
            b'0'..=b'9' => self.number(),
            b'.' if self.byte(1).is_ascii_digit() && !self.follows_name() => self.number(),
            _ if is_word_byte(byte) => self.word(),
            b'\'' => self.string(byte),
            b'"' if !self.mode.ansi_quotes => self.string(byte),
            b'"' | b'`' => self.name(byte),
            b'#' => self.skip_line(),
            b'-' if self.byte(1) == b'-' && (self.byte(2) <= b' ') => self.skip_line(),
            b'/' if self.byte(1) == b'*' => self.comment(),
            // The end of an executed comment.
            b'*' if self.in_version_comment && self.byte(1) == b'/' => {
                self.in_version_comment = false;
                self.at += 2;
            }
            b'?' => {
                self.at += 1;
                self.literal(start);
            }
            b'(' => {
                self.at += 1;
                self.push(Kind::Open, 1, start);
            }
            b')' => {
                self.at += 1;
                self.close(start);
            }
            b',' => {
                self.at += 1;
                self.push(Kind::Comma, 2, start);
            }
            b'@' => self.variable(),
            _ => self.operator(),
        }
        true
    }

    fn push(&mut self, kind: Kind, hash: u64, start: usize) {
        let end = self.at;
        self.tokens.push(Token {
            kind,
            hash,
            start,
            end,
        });
    }

    /// Returns the kind of the token that is so many before the end.
    fn last(&self, back: usize) -> Option<Kind> {
        let index = self.tokens.len().checked_sub(back + 1)?;
        Some(self.tokens[index].kind)
    }

    /// Replaces the last tokens by one.
    fn reduce(&mut self, count: usize, kind: Kind) {
        let first = self.tokens.len() - count;
        let start = self.tokens[first].start;
        self.tokens.truncate(first);
        self.push(kind, 3, start);
    }

    /// Returns whether the character before this one ends a name, so that a point after it qualifies it.
    fn follows_name(&self) -> bool {
        self.at > 0 && {
            let before = self.text[self.at - 1];
            is_word_byte(before) || before == b'`' || before == b'"'
        }
    }

    fn literal(&mut self, start: usize) {
        // Strings that follow each other are one.
        if self.last(0) == Some(Kind::Literal) {
            return;
        }
        if self.is_sign() {
            self.tokens.pop();
        }
        self.push(Kind::Literal, 3, start);
        if self.last(1) == Some(Kind::Comma) && matches!(self.last(2), Some(Kind::Literal | Kind::Literals)) {
            self.reduce(3, Kind::Literals);
        }
    }

    /// Returns whether the last token is the sign of a number: one after a comma, a parenthesis or a word that is no
    /// name.
    fn is_sign(&self) -> bool {
        let Some(sign) = self.tokens.last() else {
            return false;
        };
        if sign.kind != Kind::Operator || !matches!(&self.text[sign.start..sign.end], b"-" | b"+") {
            return false;
        }
        match self.tokens.len().checked_sub(2).map(|index| self.tokens[index]) {
            None => true,
            Some(before) => match before.kind {
                Kind::Comma | Kind::Open => true,
                Kind::Word => super::reserved::is_reserved(&self.text[before.start..before.end]),
                _ => false,
            },
        }
    }

    fn close(&mut self, start: usize) {
        let row = match (self.last(1), self.last(0)) {
            (Some(Kind::Open), Some(Kind::Literal)) => Some((Kind::Row, Kind::Rows)),
            (Some(Kind::Open), Some(Kind::Literals)) => Some((Kind::LongRow, Kind::LongRows)),
            _ => None,
        };
        self.push(Kind::Close, 4, start);
        let Some((row, rows)) = row else {
            return;
        };
        self.reduce(3, row);
        let before = self.last(2);
        if self.last(1) == Some(Kind::Comma) && (before == Some(row) || before == Some(rows)) {
            self.reduce(3, rows);
        }
    }

    fn number(&mut self) {
        let start = self.at;
        while is_word_byte(self.byte(0)) || self.byte(0) == b'.' {
            let is_exponent = matches!(self.byte(0), b'e' | b'E') && self.byte(1).is_ascii_punctuation();
            self.at += if is_exponent && matches!(self.byte(1), b'-' | b'+') {
                2
            } else {
                1
            };
        }
        // A name may begin with digits.
        let word = &self.text[start..self.at];
        let is_prefixed = matches!(word, [b'0', b'x' | b'X' | b'b' | b'B', ..]);
        let is_number = |byte: &u8| byte.is_ascii_digit() || matches!(byte, b'.' | b'e' | b'E' | b'-' | b'+');
        if is_prefixed || word.iter().all(is_number) {
            self.literal(start);
        } else {
            self.push(Kind::Word, hash_of(word), start);
        }
    }

    fn word(&mut self) {
        let start = self.at;
        while is_word_byte(self.byte(0)) {
            self.at += 1;
        }
        let word = &self.text[start..self.at];
        // x'41', b'1', n'text' and _charset'text'.
        let introduces = word[0] == b'_' || matches!(word, [b'x' | b'X' | b'b' | b'B' | b'n' | b'N']);
        if introduces && self.byte(0) == b'\'' {
            return;
        }
        if word.eq_ignore_ascii_case(b"NULL") && !self.is_after_name_mark() {
            return self.literal(start);
        }
        self.push(Kind::Word, hash_of(word), start);
    }

    /// Returns whether NULL is a keyword here instead of a value: in IS NULL and NOT NULL.
    fn is_after_name_mark(&self) -> bool {
        self.tokens.last().is_some_and(|last| {
            let word = &self.text[last.start..last.end];
            last.kind == Kind::Word && (word.eq_ignore_ascii_case(b"IS") || word.eq_ignore_ascii_case(b"NOT"))
        })
    }

    fn string(&mut self, quote: u8) {
        let start = self.at;
        self.at += 1;
        while let Some(&byte) = self.text.get(self.at) {
            self.at += 1;
            if byte == b'\\' && !self.mode.no_backslash_escapes {
                self.at += 1;
            } else if byte == quote {
                if self.byte(0) != quote {
                    break;
                }
                self.at += 1;
            }
        }
        self.at = self.at.min(self.text.len());
        self.literal(start);
    }

    fn name(&mut self, quote: u8) {
        let start = self.at + 1;
        let after = self.end_of_name(start, quote);
        self.at = after - 1;
        self.push(Kind::Name, hash_of(&self.text[start..self.at]), start);
        self.at = after.min(self.text.len());
    }

    fn variable(&mut self) {
        let start = self.at;
        if self.byte(1) == b'@' {
            self.at += 2;
            return self.push(Kind::Operator, 5, start);
        }
        self.at += 1;
        match self.byte(0) {
            quote @ (b'\'' | b'"' | b'`') => {
                self.at = self.end_of_name(self.at + 1, quote).min(self.text.len());
            }
            _ => {
                while is_word_byte(self.byte(0)) || self.byte(0) == b'.' {
                    self.at += 1;
                }
            }
        }
        self.push(Kind::UserVariable, 6, start);
    }

    fn operator(&mut self) {
        let start = self.at;
        const LONG: [&[u8]; 12] = [
            b"<=>", b"->>", b"<=", b">=", b"<>", b"!=", b":=", b"&&", b"||", b"<<", b">>", b"->",
        ];
        let rest = &self.text[start..];
        let found = LONG.iter().find(|operator| rest.starts_with(operator));
        self.at += found.map_or(1, |operator| operator.len());
        let hash = self.text[start..self.at]
            .iter()
            .fold(7, |hash, byte| (hash << 8) | u64::from(*byte));
        self.push(Kind::Operator, hash, start);
    }

    fn skip_line(&mut self) {
        let rest = &self.text[self.at..];
        self.at += memchr::memchr(b'\n', rest).unwrap_or(rest.len());
    }

    /// Skips a comment; only the beginning of one whose content is executed.
    fn comment(&mut self) {
        let version = VersionComment::read(&self.text[self.at..]);
        let end = match version {
            Some(version) if version.is_executed => {
                self.in_version_comment = true;
                self.at += version.head;
                return;
            }
            Some(version) => VersionComment::end(self.text, self.at + version.head),
            None => {
                let body = self.at + 2;
                memchr::memmem::find(&self.text[body..], b"*/").map(|length| body + length + 2)
            }
        };
        self.at = end.unwrap_or(self.text.len());
    }

    /// Returns the offset after the end of a quoted name that begins at `from`, where its quote is doubled.
    fn end_of_name(&self, from: usize, quote: u8) -> usize {
        let mut at = from;
        while let Some(length) = memchr::memchr(quote, &self.text[at..]) {
            at += length + 1;
            if self.text.get(at) != Some(&quote) {
                return at;
            }
            at += 1;
        }
        self.text.len() + 1
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn shown(text: &str) -> String {
        digest_text(text.as_bytes(), DigestMode::default())
    }

    fn tokens(text: &str) -> usize {
        let mut scanner = Scanner::new(text.as_bytes(), DigestMode::default());
        scanner.run();
        scanner.tokens.len()
    }

    fn of(text: &str) -> u64 {
        digest(text.as_bytes(), DigestMode::default())
    }

    /// The texts are those of MariaDB 10.11.
    #[test]
    fn texts_are_mariadbs() {
        for (text, expected) in [
            ("create database d", "CREATE SCHEMA `d` "),
            (
                "create table t (a int primary key, b varchar(20), key k(b))",
                "CREATE TABLE `t` ( `a` INTEGER PRIMARY KEY , `b` VARCHARACTER (?) , KEY `k` ( `b` ) ) ",
            ),
            (
                "select a, B from t where a=5 and b='x'",
                "SELECT `a` , `B` FROM `t` WHERE `a` = ? AND `b` = ? ",
            ),
            (
                "SELECT * FROM d.t WHERE a IN (1,2,3)",
                "SELECT * FROM `d` . `t` WHERE `a` IN (...) ",
            ),
            (
                "select * from t where a in (1)",
                "SELECT * FROM `t` WHERE `a` IN (?) ",
            ),
            ("insert into t values (1,'a')", "INSERT INTO `t` VALUES (...) "),
            (
                "insert into t values (2,'a'),(3,'b'),(4,'c')",
                "INSERT INTO `t` VALUES (...) /* , ... */ ",
            ),
            (
                "insert into t (a) values (10)",
                "INSERT INTO `t` ( `a` ) VALUES (?) ",
            ),
            (
                "insert into t (a) values (11),(12)",
                "INSERT INTO `t` ( `a` ) VALUES (?) /* , ... */ ",
            ),
            (
                "select -1, +2, a - 1, a-1, -a from t",
                "SELECT ?, ... , `a` - ? , `a` - ? , - `a` FROM `t` ",
            ),
            (
                "select count(*), now(), concat(a,'x') from t group by b order by 1 limit 5, 10",
                "SELECT COUNT ( * ) , NOW ( ) , `concat` ( `a` , ? ) FROM `t` GROUP BY `b` ORDER BY ? LIMIT ?, ... ",
            ),
            ("/* c */ select /*!50000 1, */ 2 -- foo\n", "SELECT ?, ... "),
            (
                "set @x = 5, @@session.sql_mode=''",
                "SET @? = ? , @@SESSION . `sql_mode` = ? ",
            ),
            ("select @x, @@version", "SELECT @? , @@`version` "),
            (
                "select null, true, false, date '2020-01-01', interval 1 day + now()",
                "SELECT ? , TRUE , FALSE , DATE ? , INTERVAL ? SQL_TSI_DAY + NOW ( ) ",
            ),
            (
                "update t set b=null where a=1",
                "UPDATE `t` SET `b` = ? WHERE `a` = ? ",
            ),
            (
                "select a x from t as y where y.a between 1 and 5 or not (a<=>null) && 1 || 0",
                "SELECT `a` `x` FROM `t` AS `y` WHERE `y` . `a` BETWEEN ? AND ? OR NOT ( `a` <=> ? ) && ? || ? ",
            ),
            (
                "select case when a>1 then 'x' else 'y' end from t",
                "SELECT CASE WHEN `a` > ? THEN ? ELSE ? END FROM `t` ",
            ),
            ("call nosuch(1,2,'x')", "CALL `nosuch` (...) "),
            ("begin", "BEGIN "),
            ("show tables like 'x%'", "SHOW TABLES LIKE ? "),
            (
                "select * from t where (a,b) in ((1,2),(3,4))",
                "SELECT * FROM `t` WHERE ( `a` , `b` ) IN ( (...) /* , ... */ ) ",
            ),
            ("select 1 union all select 2", "SELECT ? UNION ALL SELECT ? "),
            ("explain select 1", "EXPLAIN SELECT ? "),
            (
                "select a from t where a = -5 and b = -  6",
                "SELECT `a` FROM `t` WHERE `a` = - ? AND `b` = - ? ",
            ),
            (
                "select database(), a.b.c from t",
                "SELECT SCHEMA ( ) , `a` . `b` . `c` FROM `t` ",
            ),
            ("do 1,2", "DO ?, ... "),
            ("select 2*/*c*/3", "SELECT ? * ? "),
        ] {
            assert_eq!(shown(text), expected, "{text}");
        }
    }

    #[test]
    fn statements_that_differ_in_literals_have_one_digest() {
        for (one, other) in [
            ("select a from t where a=5", "SELECT  a FROM t\nWHERE a = 'x' # c"),
            (
                "select * from t where a in (1,2)",
                "select * from t where a in ('a',null,-3, 0x41)",
            ),
            (
                "insert into t values (1,2),(3,4)",
                "insert into t values (1,2),(3,4),(5,6)",
            ),
            ("select `a` from t", "select a from `t`"),
            ("select 'it''s' , \"a\\\"b\"", "select ?, ?"),
            ("select 1e-5, .5", "select 1, 2"),
            ("select @a", "select @`b``c`"),
            (
                "select a /* x */ from t",
                "select /*! a */ /*!80000 x */ /*!999999 y */ from t",
            ),
        ] {
            assert_eq!(of(one), of(other), "{one}");
        }
        for (one, other) in [
            ("select a from t", "select b from t"),
            ("select a from t where a=1", "select a from t where a>1"),
            (
                "select a from t where a in (1)",
                "select a from t where a in (1,2)",
            ),
            ("select abcdefgh from t", "select abcdefghi from t"),
            ("select t.a", "select t . a . b"),
            ("select a, b", "select a b"),
            ("select 1, a", "select a, 1"),
            ("select a from 一", "select a from 丠"),
            ("select a from `a``b`", "select a from `a`"),
            ("select 2*a", "select 2*/*a*/b"),
        ] {
            assert_ne!(of(one), of(other), "{one}");
        }
    }

    #[test]
    fn the_sql_mode_says_what_quotes_and_backslashes_are() {
        let ansi = DigestMode {
            ansi_quotes: true,
            ..DigestMode::default()
        };
        assert_eq!(digest_text(b"select \"a\"", ansi), "SELECT `a` ");
        let plain = DigestMode {
            no_backslash_escapes: true,
            ..DigestMode::default()
        };
        assert_eq!(digest_text(b"select '\\' from t", plain), "SELECT ? FROM `t` ");
    }

    #[test]
    fn any_bytes_have_a_digest() {
        for text in [
            &b""[..],
            b"'",
            b"`",
            b"\"",
            b"/*",
            b"/*!",
            b"--",
            b"@",
            b"@'",
            b"@@",
            b"'\\",
            b"x'",
            b"1e",
            b"-",
            b"\xff\xfe",
            b"select 'a",
            b"(((",
            b")))",
            b",,,",
            b"1.",
            b".",
            b"/**",
            b"*/",
        ] {
            let (_, shown) = (
                digest(text, DigestMode::default()),
                digest_text(text, DigestMode::default()),
            );
            assert!(shown.len() <= TEXT_MAX + 3);
        }
    }

    #[test]
    fn long_statements_are_cut() {
        let many = format!("select {}", "a + ".repeat(10_000));
        assert!(shown(&many).ends_with("..."));
        assert_eq!(tokens(&many), TOKENS_MAX);
        let rows = format!("insert into t values {}(0,0)", "(1,'x'),".repeat(100_000));
        assert_eq!(shown(&rows), "INSERT INTO `t` VALUES (...) /* , ... */ ");
    }
}
