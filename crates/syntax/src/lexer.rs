//! Lexer: from bytes to tokens.
//!
//! Tokens are made on demand: a text of several megabytes is never held as tokens. The text is bytes, not
//! characters, because a client may send a binary string unescaped. Rules and quirks are those of
//! `sql/sql_lex.cc`.

use std::ops::Range;

use super::reserved::is_reserved;
use paceline_types::SqlMode;

/// Version that `/*!NNNNN … */` is compared with.
const SERVER_VERSION: u32 = 101_100;

/// A token and its place in the text.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct TokenSpan {
    pub token: Token,
    /// Offset of the first byte.
    pub start: usize,
    /// Offset after the last byte.
    pub end: usize,
}

/// Kinds of tokens.
#[derive(Debug, Clone, PartialEq)]
pub(crate) enum Token {
    /// A word without quotes.
    Word {
        /// Whether it must be quoted to be a name.
        reserved: bool,
    },
    /// An identifier in backticks, or in double quotes with ANSI_QUOTES.
    Quoted(String),
    /// A string that is valid UTF-8.
    Text(String),
    /// A string that is not valid UTF-8.
    Bytes(Vec<u8>),
    /// `N'…'`.
    National(String),
    /// Digits.
    Integer,
    /// Digits with a decimal point.
    Decimal,
    /// A number with an exponent.
    Float,
    /// `x'…'` or `0x…`: the digits.
    Hex(String),
    /// `b'…'` or `0b…`: the digits.
    Bits(String),
    /// `@name`.
    UserVariable(String),
    /// `@@`.
    AtAt,
    /// `@` without a name after it.
    At,
    /// `?`
    Parameter,
    Comma,
    LeftParen,
    RightParen,
    LeftBrace,
    RightBrace,
    Dot,
    /// `..` of a range.
    DotDot,
    Semicolon,
    Colon,
    Assign,
    Plus,
    Minus,
    Star,
    Slash,
    Percent,
    Caret,
    Tilde,
    Exclamation,
    Ampersand,
    AmpersandAmpersand,
    Pipe,
    PipePipe,
    Equal,
    NullSafeEqual,
    NotEqual,
    Less,
    LessEqual,
    Greater,
    GreaterEqual,
    ShiftLeft,
    ShiftRight,
    /// Anything that the grammar does not know: a syntax error wherever it stands.
    Invalid,
    /// End of the text.
    End,
}

/// Comment whose content may be executed: `/*! … */`, `/*M! … */`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct VersionComment {
    /// Length of its mark without the version.
    pub(crate) mark: usize,
    /// Length of its mark with the version.
    pub(crate) head: usize,
    /// Whether it is for this version. If not, it is skipped with the comments in it.
    pub(crate) is_executed: bool,
}

impl VersionComment {
    /// Reads the head of a comment that begins with `/*`; `None` for a plain comment.
    pub(crate) fn read(text: &[u8]) -> Option<VersionComment> {
        let (mark, mariadb_only) = match text.get(2..)? {
            [b'!', ..] => (3, false),
            [b'M', b'!', ..] => (4, true),
            _ => return None,
        };
        let digits = text[mark..].iter().take(6);
        let digits = digits.take_while(|byte| byte.is_ascii_digit()).count();
        if digits < 5 {
            return Some(VersionComment {
                mark,
                head: mark,
                is_executed: true,
            });
        }
        let head = mark + digits;
        let version = text[mark..head]
            .iter()
            .fold(0, |number, byte| number * 10 + u32::from(byte - b'0'));
        // MariaDB never had the versions 50700 to 99999; they are MySQL's (sql_lex.cc).
        let is_executed =
            version <= SERVER_VERSION && (mariadb_only || !(50_700..=99_999).contains(&version));
        Some(VersionComment {
            mark,
            head,
            is_executed,
        })
    }

    /// Returns the offset of the end of a skipped comment, whose content begins at `from`; `None` without an end.
    pub(crate) fn end(text: &[u8], from: usize) -> Option<usize> {
        let mut depth = 1;
        let mut at = from;
        while depth > 0 {
            match text.get(at..)? {
                [b'/', b'*', ..] => {
                    depth += 1;
                    at += 2;
                }
                [b'*', b'/', ..] => {
                    depth -= 1;
                    at += 2;
                }
                [] => return None,
                _ => at += 1,
            }
        }
        Some(at)
    }
}

#[derive(Debug, Clone)]
pub(crate) struct Lexer<'a> {
    text: &'a [u8],
    at: usize,
    sql_mode: SqlMode,
    /// Set inside `/*! … */`, whose end is skipped like white space.
    in_version_comment: bool,
    /// Start of the last such comment.
    version_comment_start: usize,
    /// Parts of the text that never belong to a name made from it: the marks around executed comments, and
    /// comments for other versions.
    comment_marks: Vec<Range<usize>>,
    /// Offset of the `!` of each comment that is for newer versions, or for MySQL.
    skipped_versions: Vec<usize>,
    /// Set after a point, where every word is a name: `t.select`, `t.1a`.
    after_dot: bool,
}

/// Returns whether the byte can be part of a word.
const fn is_word_byte(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || byte == b'_' || byte == b'$' || byte >= 0x80
}

impl<'a> Lexer<'a> {
    pub(crate) fn new(text: &'a [u8], sql_mode: SqlMode) -> Self {
        Self {
            text,
            at: 0,
            sql_mode,
            in_version_comment: false,
            version_comment_start: 0,
            comment_marks: Vec::new(),
            skipped_versions: Vec::new(),
            after_dot: false,
        }
    }

    pub(crate) fn text(&self) -> &'a [u8] {
        self.text
    }

    /// Returns the offset after the last token.
    pub(crate) fn end(&self) -> usize {
        self.at
    }

    /// Returns the offset of the `!` of each `/*!…*/` skipped so far.
    pub(crate) fn take_skipped_versions(&mut self) -> Vec<usize> {
        std::mem::take(&mut self.skipped_versions)
    }

    /// Returns the marks of executed comments, and skipped comments: see the field [`Lexer::comment_marks`].
    /// A part of the text that was read twice appears twice.
    pub(crate) fn comment_marks(&self) -> &[Range<usize>] {
        &self.comment_marks
    }

    /// Returns the start of the executed comment that the lexer is in.
    pub(crate) fn version_comment(&self) -> Option<usize> {
        self.in_version_comment.then_some(self.version_comment_start)
    }

    #[inline]
    fn byte(&self, offset: usize) -> u8 {
        self.text.get(self.at + offset).copied().unwrap_or(0)
    }

    /// Returns the next token. At the end of the text this is always [`Token::End`].
    pub(crate) fn next(&mut self) -> TokenSpan {
        let previous_end = self.at;
        if let Err(start) = self.skip_space() {
            self.at = self.text.len();
            return TokenSpan {
                token: Token::Invalid,
                start,
                end: self.at,
            };
        }
        let start = self.at;
        // Directly after a point any word is a name; after space it is not.
        self.after_dot &= start == previous_end;
        let token = self.scan();
        self.after_dot = token == Token::Dot;
        TokenSpan {
            token,
            start,
            end: self.at,
        }
    }

    /// Skips white space and comments.
    ///
    /// # Errors
    /// The start of a comment that does not end.
    fn skip_space(&mut self) -> Result<(), usize> {
        loop {
            match self.byte(0) {
                b' ' | b'\t' | b'\n' | b'\r' | 0x0b | 0x0c => self.at += 1,
                b'#' => self.skip_line(),
                b'-' if self.byte(1) == b'-' && (self.byte(2) <= b' ' || self.byte(2) == 0x7f) => {
                    self.skip_line()
                }
                b'/' if self.byte(1) == b'*' => self.comment()?,
                b'*' if self.in_version_comment && self.byte(1) == b'/' => {
                    self.in_version_comment = false;
                    self.comment_marks.push(self.at..self.at + 2);
                    self.at += 2;
                }
                _ => return Ok(()),
            }
        }
    }

    fn skip_line(&mut self) {
        let rest = &self.text[self.at..];
        self.at += memchr::memchr(b'\n', rest).unwrap_or(rest.len());
    }

    /// Skips a comment, or enters an executed one. The lexer is at `/*`.
    fn comment(&mut self) -> Result<(), usize> {
        let start = self.at;
        // One that is executed may begin within another one. The first end ends both.
        let version = VersionComment::read(&self.text[start..]);
        let Some(version) = version else {
            // A plain comment. Plain comments do not nest.
            let body = self.at + 2;
            let found =
                memchr::memmem::find(self.text.get(body..).unwrap_or_default(), b"*/").ok_or(start)?;
            self.at = body + found + 2;
            return Ok(());
        };
        self.at += version.head;
        if version.is_executed {
            self.in_version_comment = true;
            self.version_comment_start = start;
        } else {
            self.skipped_versions.push(start + version.mark - 1);
            self.at = VersionComment::end(self.text, self.at).ok_or(start)?;
        }
        self.comment_marks.push(start..self.at);
        Ok(())
    }

    fn scan(&mut self) -> Token {
        if self.at >= self.text.len() {
            // MariaDB reports a syntax error for a version comment that does not end.
            return if self.in_version_comment {
                Token::Invalid
            } else {
                Token::End
            };
        }
        let byte = self.byte(0);
        match byte {
            b'\'' => self.string(),
            b'"' if self.sql_mode.contains(SqlMode::ANSI_QUOTES) => self.quoted_identifier(b'"'),
            b'"' => self.string(),
            b'`' => self.quoted_identifier(b'`'),
            b'[' if self.sql_mode.contains(SqlMode::MSSQL) => self.quoted_identifier(b']'),
            b'0'..=b'9' => self.number_or_word(),
            b'.' if !self.after_dot && self.byte(1).is_ascii_digit() && !self.follows_name() => {
                self.number_or_word()
            }
            b'@' => self.variable(),
            b'x' | b'X' | b'b' | b'B' | b'n' | b'N' if self.byte(1) == b'\'' && !self.after_dot => {
                self.prefixed_string()
            }
            _ if is_word_byte(byte) => self.word(),
            _ => self.operator(byte),
        }
    }

    /// Returns whether the byte before belongs to a name: then `t.1` is a name and its column.
    fn follows_name(&self) -> bool {
        self.at > 0 && (is_word_byte(self.text[self.at - 1]) || self.text[self.at - 1] == b'`')
    }

    fn word(&mut self) -> Token {
        let rest = &self.text[self.at..];
        let length = rest
            .iter()
            .position(|&byte| !is_word_byte(byte))
            .unwrap_or(rest.len());
        self.at += length;
        let word = &rest[..length];
        if std::str::from_utf8(word).is_err() {
            return Token::Invalid;
        }
        Token::Word {
            reserved: !self.after_dot && is_reserved(word),
        }
    }

    fn number_or_word(&mut self) -> Token {
        let start = self.at;
        if self.after_dot {
            return self.word();
        }
        if self.byte(0) == b'0' && matches!(self.byte(1), b'x' | b'b') {
            let is_digit: fn(&u8) -> bool = if self.byte(1) == b'x' {
                u8::is_ascii_hexdigit
            } else {
                |byte| matches!(byte, b'0' | b'1')
            };
            let rest = &self.text[start + 2..];
            let length = rest.iter().position(|byte| !is_digit(byte)).unwrap_or(rest.len());
            let ends = rest.get(length).is_none_or(|&byte| !is_word_byte(byte));
            if length > 0 && ends {
                let digits = String::from_utf8_lossy(&rest[..length]).into_owned();
                let token = if self.byte(1) == b'x' {
                    Token::Hex(digits)
                } else {
                    Token::Bits(digits)
                };
                self.at += 2 + length;
                return token;
            }
            return self.word();
        }
        self.skip_digits();
        let mut token = Token::Integer;
        if self.byte(0) == b'.' && self.byte(1) != b'.' {
            token = Token::Decimal;
            self.at += 1;
            self.skip_digits();
        }
        if matches!(self.byte(0), b'e' | b'E') {
            let sign = usize::from(matches!(self.byte(1), b'+' | b'-'));
            if self.byte(1 + sign).is_ascii_digit() {
                self.at += 1 + sign;
                self.skip_digits();
                if token == Token::Decimal || !is_word_byte(self.byte(0)) {
                    return Token::Float;
                }
            }
        }
        if token == Token::Integer && is_word_byte(self.byte(0)) {
            self.at = start;
            return self.word();
        }
        token
    }

    fn skip_digits(&mut self) {
        while self.byte(0).is_ascii_digit() {
            self.at += 1;
        }
    }

    fn quoted_identifier(&mut self, quote: u8) -> Token {
        let mut name = Vec::new();
        let mut at = self.at + 1;
        loop {
            let Some(found) = memchr::memchr(quote, &self.text[at..]) else {
                self.at = self.text.len();
                return Token::Invalid;
            };
            name.extend_from_slice(&self.text[at..at + found]);
            at += found + 1;
            if self.text.get(at) != Some(&quote) {
                break;
            }
            name.push(quote);
            at += 1;
        }
        self.at = at;
        match String::from_utf8(name) {
            Ok(name) if !name.contains('\0') => Token::Quoted(name),
            _ => Token::Invalid,
        }
    }

    fn string(&mut self) -> Token {
        match self.string_bytes() {
            Some(bytes) => match String::from_utf8(bytes) {
                Ok(text) => Token::Text(text),
                Err(error) => Token::Bytes(error.into_bytes()),
            },
            None => Token::Invalid,
        }
    }

    /// Reads a string from its opening quote on.
    fn string_bytes(&mut self) -> Option<Vec<u8>> {
        let quote = self.byte(0);
        let escapes = !self.sql_mode.contains(SqlMode::NO_BACKSLASH_ESCAPES);
        let mut bytes = Vec::new();
        let mut at = self.at + 1;
        loop {
            let rest = &self.text[at..];
            let found = if escapes {
                memchr::memchr2(quote, b'\\', rest)
            } else {
                memchr::memchr(quote, rest)
            };
            let Some(found) = found else {
                self.at = self.text.len();
                return None;
            };
            bytes.extend_from_slice(&rest[..found]);
            at += found + 1;
            if rest[found] == quote {
                if self.text.get(at) != Some(&quote) {
                    break;
                }
                bytes.push(quote);
                at += 1;
                continue;
            }
            let Some(&escaped) = self.text.get(at) else {
                self.at = self.text.len();
                return None;
            };
            at += 1;
            match escaped {
                b'n' => bytes.push(b'\n'),
                b't' => bytes.push(b'\t'),
                b'r' => bytes.push(b'\r'),
                b'b' => bytes.push(8),
                b'0' => bytes.push(0),
                b'Z' => bytes.push(26),
                // LIKE interprets these escapes itself.
                b'_' | b'%' => bytes.extend([b'\\', escaped]),
                _ => bytes.push(escaped),
            }
        }
        self.at = at;
        Some(bytes)
    }

    /// Reads `x'…'`, `b'…'` or `n'…'`.
    fn prefixed_string(&mut self) -> Token {
        let prefix = self.byte(0).to_ascii_lowercase();
        self.at += 1;
        if prefix == b'n' {
            return match self.string() {
                Token::Text(text) => Token::National(text),
                _ => Token::Invalid,
            };
        }
        let rest = &self.text[self.at + 1..];
        let is_digit: fn(&u8) -> bool = if prefix == b'x' {
            u8::is_ascii_hexdigit
        } else {
            |byte| matches!(byte, b'0' | b'1')
        };
        let length = rest.iter().position(|byte| !is_digit(byte)).unwrap_or(rest.len());
        if rest.get(length) != Some(&b'\'') || (prefix == b'x' && length % 2 == 1) {
            self.at += 1 + length;
            return Token::Invalid;
        }
        self.at += length + 2;
        let digits = String::from_utf8_lossy(&rest[..length]).into_owned();
        if prefix == b'x' {
            Token::Hex(digits)
        } else {
            Token::Bits(digits)
        }
    }

    /// Reads `@…`.
    fn variable(&mut self) -> Token {
        self.at += 1;
        match self.byte(0) {
            b'@' => {
                self.at += 1;
                Token::AtAt
            }
            b'\'' | b'"' => match self.string() {
                Token::Text(name) => Token::UserVariable(name),
                _ => Token::Invalid,
            },
            b'`' => match self.quoted_identifier(b'`') {
                Token::Quoted(name) => Token::UserVariable(name),
                other => other,
            },
            byte if is_word_byte(byte) || byte == b'.' => {
                let rest = &self.text[self.at..];
                let length = rest
                    .iter()
                    .position(|&byte| !is_word_byte(byte) && byte != b'.')
                    .unwrap_or(rest.len());
                self.at += length;
                match std::str::from_utf8(&rest[..length]) {
                    Ok(name) => Token::UserVariable(name.to_owned()),
                    Err(_) => Token::Invalid,
                }
            }
            _ => Token::At,
        }
    }

    fn operator(&mut self, byte: u8) -> Token {
        let (token, length) = match (byte, self.byte(1), self.byte(2)) {
            (b',', ..) => (Token::Comma, 1),
            (b'(', ..) => (Token::LeftParen, 1),
            (b')', ..) => (Token::RightParen, 1),
            (b'{', ..) => (Token::LeftBrace, 1),
            (b'}', ..) => (Token::RightBrace, 1),
            (b'.', b'.', _) => (Token::DotDot, 2),
            (b'.', ..) => (Token::Dot, 1),
            (b';', ..) => (Token::Semicolon, 1),
            (b'?', ..) => (Token::Parameter, 1),
            (b':', b'=', _) => (Token::Assign, 2),
            (b':', ..) => (Token::Colon, 1),
            (b'+', ..) => (Token::Plus, 1),
            (b'-', ..) => (Token::Minus, 1),
            (b'*', ..) => (Token::Star, 1),
            (b'/', ..) => (Token::Slash, 1),
            (b'%', ..) => (Token::Percent, 1),
            (b'^', ..) => (Token::Caret, 1),
            (b'~', ..) => (Token::Tilde, 1),
            (b'&', b'&', _) => (Token::AmpersandAmpersand, 2),
            (b'&', ..) => (Token::Ampersand, 1),
            (b'|', b'|', _) => (Token::PipePipe, 2),
            (b'|', ..) => (Token::Pipe, 1),
            (b'=', ..) => (Token::Equal, 1),
            (b'<', b'=', b'>') => (Token::NullSafeEqual, 3),
            (b'<', b'=', _) => (Token::LessEqual, 2),
            (b'<', b'>', _) => (Token::NotEqual, 2),
            (b'<', b'<', _) => (Token::ShiftLeft, 2),
            (b'<', ..) => (Token::Less, 1),
            (b'>', b'=', _) => (Token::GreaterEqual, 2),
            (b'>', b'>', _) => (Token::ShiftRight, 2),
            (b'>', ..) => (Token::Greater, 1),
            (b'!', b'=', _) => (Token::NotEqual, 2),
            (b'!', ..) => (Token::Exclamation, 1),
            // MariaDB's lexer takes a zero byte at the end for the end of the text.
            (0, ..) if is_blank(&self.text[self.at + 1..]) => {
                self.at = self.text.len();
                return Token::End;
            }
            _ => (Token::Invalid, 1),
        };
        self.at += length;
        token
    }
}

/// Returns whether a text consists of semicolons and white space, which MariaDB removes from the end of a command.
pub(crate) fn is_blank(text: &[u8]) -> bool {
    text.iter()
        .all(|byte| *byte == b';' || byte.is_ascii_whitespace())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn tokens(text: &str, sql_mode: SqlMode) -> Vec<Token> {
        let mut lexer = Lexer::new(text.as_bytes(), sql_mode);
        let mut tokens = Vec::new();
        loop {
            match lexer.next().token {
                Token::End => return tokens,
                Token::Invalid => {
                    tokens.push(Token::Invalid);
                    return tokens;
                }
                token => tokens.push(token),
            }
        }
    }

    const NAME: Token = Token::Word { reserved: false };
    const RESERVED: Token = Token::Word { reserved: true };

    fn text(value: &str) -> Token {
        Token::Text(value.to_owned())
    }

    #[test]
    fn numbers_and_similar_names() {
        use Token::*;
        let check =
            |source, expected: &[Token]| assert_eq!(tokens(source, SqlMode::DEFAULT), expected, "{source}");
        check(
            "1 1.5 .5 5. 1e3 1.5e-3 1e",
            &[Integer, Decimal, Decimal, Decimal, Float, Float, NAME],
        );
        check(
            "1a 0x4g 0x41 0b01 0b2",
            &[NAME, NAME, Hex("41".into()), Bits("01".into()), NAME],
        );
        check(
            "t.1 t.select a.b.c",
            &[NAME, Dot, NAME, NAME, Dot, NAME, NAME, Dot, NAME, Dot, NAME],
        );
        check(
            "x'4142' X'' b'101' x'4'",
            &[Hex("4142".into()), Hex("".into()), Bits("101".into()), Invalid],
        );
        check(
            "1-1 1--1 1-- 1",
            &[Integer, Minus, Integer, Integer, Minus, Minus, Integer, Integer],
        );
    }

    #[test]
    fn strings_are_tokens_without_quotes_and_escapes() {
        let check =
            |source, expected: &[Token]| assert_eq!(tokens(source, SqlMode::DEFAULT), expected, "{source}");
        check(
            r"'a''b' 'a\'b' 'a\nb\%\_\q'",
            &[text("a'b"), text("a'b"), text("a\nb\\%\\_q")],
        );
        check(
            r#""a""b" N'c' 'open"#,
            &[text("a\"b"), Token::National("c".into()), Token::Invalid],
        );
        assert_eq!(
            tokens(
                r#""a" 'b\'"#,
                SqlMode::ANSI_QUOTES.with(SqlMode::NO_BACKSLASH_ESCAPES)
            ),
            [Token::Quoted("a".into()), text("b\\")]
        );
        let mut lexer = Lexer::new(b"'\xff'", SqlMode::DEFAULT);
        assert_eq!(lexer.next().token, Token::Bytes(vec![0xff]));
    }

    #[test]
    fn comments_are_skipped_or_executed_by_their_version() {
        let check =
            |source, expected: &[Token]| assert_eq!(tokens(source, SqlMode::DEFAULT), expected, "{source}");
        check("1 # x\n/* y */ 2 -- z\n3--\n4", &[const { Token::Integer }; 4]);
        check(
            "/*!40101 1 */ /*! 2 */ /*M!100100 3 */ /*!50701 4 */ /*!999999 5 */ /*!50700 /* 6 */ 6 */ 7",
            &[const { Token::Integer }; 4],
        );
        check(
            "/*! 1 /* 2 */ 3 */ /*! 4 /*!999999 5 */ 6 */ /*! 7 /*!40101 8 */ 9",
            &[const { Token::Integer }; 7],
        );
        check("1 /* open", &[Token::Integer, Token::Invalid]);
        check("1 /*! 2", &[Token::Integer, Token::Integer, Token::Invalid]);
    }

    #[test]
    fn user_and_system_variables_are_tokens_with_their_names() {
        let check =
            |source, expected: &[Token]| assert_eq!(tokens(source, SqlMode::DEFAULT), expected, "{source}");
        let variable = |name: &str| Token::UserVariable(name.to_owned());
        check(
            "@a @'b c' @`d` @a.b$c",
            &[variable("a"), variable("b c"), variable("d"), variable("a.b$c")],
        );
        check(
            "@@global.x 'u'@'h' u@localhost",
            &[
                Token::AtAt,
                NAME,
                Token::Dot,
                NAME,
                text("u"),
                variable("h"),
                NAME,
                variable("localhost"),
            ],
        );
        check("select SELECT selects", &[RESERVED, RESERVED, NAME]);
    }
}
