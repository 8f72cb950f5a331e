//! The cursor over tokens, shared by all parts of the grammar.

use std::collections::VecDeque;
use std::ops::Range;

use paceline_types::error_code;

use super::program::ProgramScope;
use crate::ast::TableName;
use crate::clear_password::ClearPassword;
use crate::error::{Error, Result};
use crate::features::Features;
use crate::lexer::{Lexer, Token, TokenSpan};
use crate::statement::SelectInto;
use crate::{ParseOptions, ProgramBodies, syntax_error};
use paceline_types::{ErrorCode, MemoryCharge, SqlMode};

/// Maximum length of the name of a database, table, column or index, in characters.
pub(super) const NAME_LENGTH_MAX: usize = 64;

/// Maximum number of operators of one precedence in a row without parentheses. (AND and OR have no such
/// limit.)
pub(super) const CHAIN_MAX: usize = 600;

/// Stack that one level may need, in bytes.
const STACK_RESERVE_BYTES: usize = 128 << 10;
/// Size of an additional stack segment, in bytes.
const STACK_STEP_BYTES: usize = 1 << 20;

/// Approximate size of what a token becomes in the tree and in the plan, in bytes.
const TOKEN_BYTES: usize = 256;

/// Number of copies of each byte of the text: in the receive buffer, in the statement's text, and in the
/// tree.
const COPIES_OF_TEXT: usize = 3;

/// Memory is requested in steps of this size. A statement that needs less requests none.
pub(super) const MEMORY_STEP_BYTES: usize = 256 << 10;

/// State of parsing one statement.
pub(crate) struct Parser<'a> {
    lexer: Lexer<'a>,
    current: TokenSpan,
    ahead: VecDeque<TokenSpan>,
    /// Start of the first statement's text. If its first word is inside a `/*! …`, the text starts there.
    pub(super) text_start: usize,
    options: &'a ParseOptions,
    depth: u32,
    /// Maximum height of the tree parsed since the current level began. Consecutive operators increase the
    /// height without nesting in the text.
    height: u32,
    /// The same for UNION and the other set operators.
    pub(super) set_height: u32,
    /// Number of tokens taken, with those counted for copies.
    tokens: usize,
    /// Memory that the tokens may take before more is requested.
    memory_bytes_granted: usize,
    memory: Option<MemoryCharge>,
    previous_end: usize,
    /// Offset up to which line feeds have been counted, and their number.
    counted_to: usize,
    lines_before: u32,
    /// Number of `?` so far.
    pub(super) parameters: usize,
    /// Number of queries around the cursor.
    pub(super) query_depth: u32,
    /// Number of SELECTs around the cursor.
    pub(super) select_depth: u32,
    /// `INTO` of the outermost query.
    pub(super) into: Option<SelectInto>,
    /// Number of INTO clauses at the end of queries so far.
    pub(super) late_intos: usize,
    /// Names of the program around the cursor.
    pub(super) program: Option<Box<ProgramScope>>,
    /// Features used so far.
    pub(super) features: Features,
    /// Passwords in clear text so far.
    pub(super) clear_passwords: Vec<ClearPassword>,
}

impl<'a> Parser<'a> {
    pub(crate) fn new(text: &'a [u8], options: &'a ParseOptions) -> Self {
        let mut lexer = Lexer::new(text, options.sql_mode);
        let current = lexer.next();
        let text_start = lexer.version_comment().unwrap_or(current.start);
        Self {
            lexer,
            text_start,
            current,
            ahead: VecDeque::new(),
            options,
            depth: 0,
            height: 0,
            set_height: 0,
            tokens: 0,
            memory_bytes_granted: MEMORY_STEP_BYTES,
            memory: options.memory.as_ref().map(MemoryCharge::new),
            previous_end: 0,
            counted_to: 0,
            lines_before: 0,
            parameters: 0,
            query_depth: 0,
            select_depth: 0,
            into: None,
            late_intos: 0,
            program: None,
            features: Features::default(),
            clear_passwords: Vec::new(),
        }
    }

    /// Returns the offset of the `!` of each skipped version comment within `text`.
    pub(crate) fn take_skipped_versions(&mut self, text: std::ops::Range<usize>) -> Vec<usize> {
        let mut marks = self.lexer.take_skipped_versions();
        marks.retain(|mark| text.contains(mark));
        marks
    }

    /// Returns whether stored programs are not looked at.
    pub(super) fn has_opaque_programs(&self) -> bool {
        self.options.programs == ProgramBodies::Opaque
    }

    pub(super) fn sql_mode(&self) -> SqlMode {
        self.options.sql_mode
    }

    #[inline]
    pub(super) fn peek(&self) -> &Token {
        &self.current.token
    }

    /// Returns the token `n` places ahead; 0 is the current one.
    pub(super) fn peek_at(&mut self, n: usize) -> &TokenSpan {
        if n == 0 {
            return &self.current;
        }
        while self.ahead.len() < n {
            let token = self.lexer.next();
            self.ahead.push_back(token);
        }
        &self.ahead[n - 1]
    }

    /// Takes the current token.
    pub(super) fn advance(&mut self) -> TokenSpan {
        let next = match self.ahead.pop_front() {
            Some(token) => token,
            None => self.lexer.next(),
        };
        let taken = std::mem::replace(&mut self.current, next);
        self.previous_end = taken.end;
        self.tokens += 1;
        taken
    }

    /// Returns the start of the current token.
    pub(super) fn position(&self) -> usize {
        self.current.start
    }

    /// Returns the line of the current token, from 1.
    pub(super) fn line(&mut self) -> u32 {
        let place = self.current.start;
        if place < self.counted_to {
            (self.counted_to, self.lines_before) = (0, 0);
        }
        let between = &self.lexer.text()[self.counted_to..place];
        self.lines_before += between.iter().filter(|&&byte| byte == b'\n').count() as u32;
        self.counted_to = place;
        self.lines_before + 1
    }

    /// Returns the end of the last token taken.
    pub(super) fn previous_end(&self) -> usize {
        self.previous_end
    }

    /// Returns the whole text.
    pub(super) fn source(&self) -> &[u8] {
        self.lexer.text()
    }

    /// Returns the text of a range. Invalid UTF-8 is replaced.
    pub(super) fn slice(&self, range: Range<usize>) -> String {
        String::from_utf8_lossy(&self.lexer.text()[range]).into_owned()
    }

    /// Returns the text from which MariaDB makes names: without the marks of executed comments, and without
    /// comments that are not executed.
    pub(super) fn executed_text(&self, range: Range<usize>) -> String {
        let text = self.lexer.text();
        let mut marks: Vec<_> = (self.lexer.comment_marks().iter())
            .filter(|mark| range.contains(&mark.start))
            .collect();
        if marks.is_empty() {
            return self.slice(range);
        }
        marks.sort_unstable_by_key(|mark| mark.start);
        let (mut executed, mut at) = (Vec::new(), range.start);
        for mark in marks.into_iter().filter(|mark| mark.end <= range.end) {
            executed.extend_from_slice(text.get(at..mark.start).unwrap_or_default());
            at = at.max(mark.end);
        }
        executed.extend_from_slice(&text[at..range.end]);
        String::from_utf8_lossy(&executed).into_owned()
    }

    /// Returns the text from `start` to the last token taken.
    pub(super) fn text_since(&self, start: usize) -> String {
        self.slice(start..self.previous_end.max(start))
    }

    /// Returns the text of the current token.
    pub(super) fn current_text(&self) -> &'a [u8] {
        &self.lexer.text()[self.current.start..self.current.end]
    }

    /// Returns the text of a word at or before the cursor.
    pub(super) fn word_text(&self, token: &TokenSpan) -> String {
        self.slice(token.start..token.end)
    }

    /// Returns error 1064 at the current token.
    #[cold]
    pub(crate) fn error(&self) -> Error {
        // In MariaDB the parser sees a comma only after the lexer has passed it; the error is reported after
        // the comma.
        let comma = usize::from(self.current.token == Token::Comma);
        self.error_at(self.current.start + comma)
    }

    /// Returns error 1064 at a position.
    #[cold]
    pub(super) fn error_at(&self, position: usize) -> Error {
        syntax_error(self.lexer.text(), position)
    }

    // Words ------------------------------------------------------------------------------------------------------

    /// Returns whether the current token is this word, unquoted. `word` is in capitals.
    #[inline]
    pub(super) fn is_word(&self, word: &str) -> bool {
        matches!(self.current.token, Token::Word { .. })
            && self.current.end - self.current.start == word.len()
            && self.current_text().eq_ignore_ascii_case(word.as_bytes())
    }

    /// Returns whether the token `n` places ahead is this word.
    pub(super) fn is_word_at(&mut self, n: usize, word: &str) -> bool {
        let TokenSpan { token, start, end } = self.peek_at(n);
        let (is_word, range) = (matches!(token, Token::Word { .. }), *start..*end);
        is_word && self.lexer.text()[range].eq_ignore_ascii_case(word.as_bytes())
    }

    /// Returns whether the current token is one of these words.
    pub(super) fn is_any_word(&self, words: &[&str]) -> bool {
        words.iter().any(|word| self.is_word(word))
    }

    /// Takes this word if it is the current token.
    pub(super) fn accept_word(&mut self, word: &str) -> bool {
        let found = self.is_word(word);
        if found {
            self.advance();
        }
        found
    }

    /// Takes these words if they are the next tokens: all of them or none.
    pub(super) fn accept_words(&mut self, words: &[&str]) -> bool {
        let found = words.iter().enumerate().all(|(n, word)| self.is_word_at(n, word));
        if found {
            for _ in words {
                self.advance();
            }
        }
        found
    }

    /// Takes these words if the first of them is the current token; the others must follow.
    ///
    /// # Errors
    /// 1064 at the first one that does not.
    pub(super) fn accept_phrase(&mut self, words: &[&str]) -> Result<bool> {
        let Some((first, rest)) = words.split_first() else {
            return Ok(false);
        };
        if !self.accept_word(first) {
            return Ok(false);
        }
        self.expect_words(rest)?;
        Ok(true)
    }

    /// Takes the current token if it is one of these words.
    pub(super) fn accept_any_word(&mut self, words: &[&'static str]) -> Option<&'static str> {
        let found = words.iter().copied().find(|word| self.is_word(word))?;
        self.advance();
        Some(found)
    }

    /// Takes this word.
    pub(super) fn expect_word(&mut self, word: &str) -> Result<()> {
        if self.accept_word(word) {
            Ok(())
        } else {
            Err(self.error())
        }
    }

    /// Takes these words.
    pub(super) fn expect_words(&mut self, words: &[&str]) -> Result<()> {
        words.iter().try_for_each(|word| self.expect_word(word))
    }

    // Other tokens -----------------------------------------------------------------------------------------------

    /// Returns whether the token `n` places ahead is this one.
    pub(super) fn is_at(&mut self, n: usize, token: &Token) -> bool {
        self.peek_at(n).token == *token
    }

    /// Returns whether the current token is this one.
    #[inline]
    pub(crate) fn is(&self, token: &Token) -> bool {
        self.current.token == *token
    }

    /// Takes this token if it is the current one.
    #[inline]
    pub(super) fn accept(&mut self, token: &Token) -> bool {
        let found = self.is(token);
        if found {
            self.advance();
        }
        found
    }

    /// Takes this token.
    pub(super) fn expect_token(&mut self, token: &Token) -> Result<()> {
        if self.accept(token) {
            Ok(())
        } else {
            Err(self.error())
        }
    }

    /// Returns whether the statement ends here.
    pub(super) fn is_end(&self) -> bool {
        matches!(self.current.token, Token::End | Token::Semicolon)
    }

    /// Parses `item, item, …`.
    pub(super) fn comma_separated<T>(
        &mut self,
        mut item: impl FnMut(&mut Self) -> Result<T>,
    ) -> Result<Vec<T>> {
        let mut items = vec![item(self)?];
        while self.accept(&Token::Comma) {
            items.push(item(self)?);
        }
        Ok(items)
    }

    /// Parses `(item, item, …)`.
    pub(super) fn parenthesized<T>(&mut self, item: impl FnMut(&mut Self) -> Result<T>) -> Result<Vec<T>> {
        self.expect_token(&Token::LeftParen)?;
        let items = self.comma_separated(item)?;
        self.expect_token(&Token::RightParen)?;
        Ok(items)
    }

    // Depth ------------------------------------------------------------------------------------------------------

    /// Parses something one level deeper. If the thread's stack is nearly full, it grows: no text from a
    /// client may end the server.
    #[inline]
    pub(super) fn deeper<T>(&mut self, parse: impl FnOnce(&mut Self) -> Result<T>) -> Result<T> {
        self.depth += 1;
        if self.depth > self.options.depth_max {
            return Err(too_deep(self.options.depth_max));
        }
        if self.memory_bytes() > self.memory_bytes_granted {
            self.ask_for_memory()?;
        }
        let beside = std::mem::take(&mut self.height);
        let result = stacker::maybe_grow(STACK_RESERVE_BYTES, STACK_STEP_BYTES, || parse(self));
        self.height = beside.max(self.height + 1);
        self.depth -= 1;
        result
    }

    /// Records that the expression parsed since the level began becomes an operand.
    ///
    /// # Errors
    /// 1436 when the tree is too high: code that walks the tree is recursive.
    #[inline]
    pub(super) fn grow_higher(&mut self) -> Result<()> {
        self.height += 1;
        match self.height > self.options.depth_max {
            true => Err(too_deep(self.options.depth_max)),
            false => Ok(()),
        }
    }

    #[cold]
    fn ask_for_memory(&mut self) -> Result<()> {
        self.memory_bytes_granted = self.memory_bytes() + MEMORY_STEP_BYTES;
        match &mut self.memory {
            Some(memory) => memory.set(self.memory_bytes_granted),
            None => Ok(()),
        }
    }

    /// Returns the number of tokens taken, with those counted for copies.
    pub(super) fn tokens(&self) -> usize {
        self.tokens
    }

    /// Counts tokens of which the tree gets another copy.
    ///
    /// # Errors
    /// 1041 when the client may not have the memory.
    pub(super) fn count_copies(&mut self, tokens: usize) -> Result<()> {
        self.tokens = self.tokens.saturating_add(tokens);
        match self.memory_bytes() > self.memory_bytes_granted {
            true => self.ask_for_memory(),
            false => Ok(()),
        }
    }

    /// Returns the approximate size of the text up to here, its tree and its plan, in bytes.
    pub(super) fn memory_bytes(&self) -> usize {
        self.tokens * TOKEN_BYTES + self.previous_end * COPIES_OF_TEXT
    }

    // Names ------------------------------------------------------------------------------------------------------

    /// Returns whether the current token can be a name.
    pub(super) fn is_identifier(&self) -> bool {
        matches!(
            self.current.token,
            Token::Word { reserved: false } | Token::Quoted(_)
        )
    }

    /// Takes a name.
    pub(super) fn identifier(&mut self) -> Result<String> {
        if !self.is_identifier() {
            return Err(self.error());
        }
        let token = self.advance();
        Ok(self.name_of(token))
    }

    /// Takes a name after a point, where reserved words are names too.
    pub(super) fn identifier_after_dot(&mut self) -> Result<String> {
        if !matches!(self.current.token, Token::Word { .. } | Token::Quoted(_)) {
            return Err(self.error());
        }
        let token = self.advance();
        Ok(self.name_of(token))
    }

    fn name_of(&self, token: TokenSpan) -> String {
        match token.token {
            Token::Quoted(name) => name,
            _ => self.slice(token.start..token.end),
        }
    }

    /// Parses `[database.]table` and checks the lengths. `.table` is a table of the current database.
    ///
    /// # Errors
    /// 1064, 1102, 1103.
    pub(super) fn table_name(&mut self) -> Result<TableName> {
        self.object_name(checked_table_name)
    }

    /// Takes the name of a routine or trigger, perhaps with its database.
    ///
    /// # Errors
    /// 1064, 1059, 1102, 1458.
    pub(super) fn program_name(&mut self) -> Result<TableName> {
        self.object_name(checked_program_name)
    }

    fn object_name(&mut self, checked: fn(String) -> Result<String>) -> Result<TableName> {
        if self.accept(&Token::Dot) {
            return Ok(TableName::new(checked(self.identifier_after_dot()?)?));
        }
        let first = self.identifier()?;
        Ok(if self.accept(&Token::Dot) {
            let database = checked_database_name(first)?;
            TableName::qualified(database, checked(self.identifier_after_dot()?)?)
        } else {
            TableName::new(checked(first)?)
        })
    }

    /// Takes a name and checks its length.
    ///
    /// # Errors
    /// 1064, 1059.
    pub(super) fn checked_identifier(&mut self) -> Result<String> {
        checked_name(self.identifier()?)
    }

    /// Takes a name or a string.
    pub(super) fn identifier_or_text(&mut self) -> Result<String> {
        if matches!(self.current.token, Token::Text(_)) {
            self.text()
        } else {
            self.identifier()
        }
    }

    // Literals ---------------------------------------------------------------------------------------------------

    /// Takes a string.
    pub(super) fn text(&mut self) -> Result<String> {
        match &mut self.current.token {
            Token::Text(text) => {
                let text = std::mem::take(text);
                self.advance();
                Ok(text)
            }
            // Names and comments are kept in this character set.
            Token::Bytes(bytes) => {
                let chunk = bytes.utf8_chunks().next();
                let valid = chunk.map_or("", |chunk| chunk.valid());
                Err(Error::new(
                    error_code::ER_INVALID_CHARACTER_STRING,
                    &[&"utf8mb3", &valid],
                ))
            }
            _ => Err(self.error()),
        }
    }

    /// Takes a string that need not be UTF-8.
    pub(super) fn text_bytes(&mut self) -> Result<Vec<u8>> {
        match &mut self.current.token {
            Token::Text(text) => {
                let text = std::mem::take(text);
                self.advance();
                Ok(text.into_bytes())
            }
            Token::Bytes(bytes) => {
                let bytes = std::mem::take(bytes);
                self.advance();
                Ok(bytes)
            }
            Token::Hex(digits) => {
                let bytes = hex_bytes(digits);
                self.advance();
                Ok(bytes)
            }
            _ => Err(self.error()),
        }
    }

    /// Takes a whole number. A number beyond 64 bits becomes the largest one, as in MariaDB.
    ///
    /// # Errors
    /// 1064 for anything else.
    pub(super) fn number(&mut self) -> Result<u64> {
        match &self.current.token {
            Token::Integer => {
                let text = String::from_utf8_lossy(self.current_text()).into_owned();
                self.advance();
                Ok(text.parse().unwrap_or(u64::MAX))
            }
            Token::Hex(digits) => {
                let number = u64::from_str_radix(digits, 16).unwrap_or(u64::MAX);
                self.advance();
                Ok(number)
            }
            _ => Err(self.error()),
        }
    }

    /// Takes an optional `=`.
    pub(super) fn accept_equal(&mut self) {
        self.accept(&Token::Equal);
    }
}

/// Returns the bytes of hexadecimal digits. With an odd number of digits, the first byte has only one.
pub(super) fn hex_bytes(digits: &str) -> Vec<u8> {
    let nibbles: Vec<u8> = digits
        .bytes()
        .map(|digit| (digit as char).to_digit(16).unwrap_or(0) as u8)
        .collect();
    let (first, rest) = nibbles.split_at(nibbles.len() % 2);
    first
        .iter()
        .copied()
        .chain(rest.chunks_exact(2).map(|pair| pair[0] << 4 | pair[1]))
        .collect()
}

/// Returns the name if it is not too long.
///
/// # Errors
/// 1059.
pub(super) fn checked_name(name: String) -> Result<String> {
    not_too_long(name, error_code::ER_TOO_LONG_IDENT)
}

/// Returns the name of a table if it is one: not empty, without a space at its end, and not too long.
///
/// # Errors
/// 1103.
fn checked_table_name(name: String) -> Result<String> {
    not_too_long(
        whole(name, error_code::ER_WRONG_TABLE_NAME)?,
        error_code::ER_WRONG_TABLE_NAME,
    )
}

/// Returns the name of a table, perhaps with its database, if both are names.
///
/// # Errors
/// 1102, 1103.
pub(super) fn checked_qualified_name(name: TableName) -> Result<TableName> {
    Ok(TableName {
        database: name.database.map(checked_database_name).transpose()?,
        name: checked_table_name(name.name)?,
    })
}

/// Returns the name of a database if it is one: not empty, without a space at its end, and not too long.
///
/// # Errors
/// 1102.
pub(super) fn checked_database_name(name: String) -> Result<String> {
    not_too_long(
        whole(name, error_code::ER_WRONG_DB_NAME)?,
        error_code::ER_WRONG_DB_NAME,
    )
}

/// Returns the name of a routine or trigger if it is one.
///
/// # Errors
/// 1458, 1059.
fn checked_program_name(name: String) -> Result<String> {
    checked_name(whole(name, error_code::ER_SP_WRONG_NAME)?)
}

/// Returns the name if it is not empty and has no space at its end.
fn whole(name: String, code: ErrorCode) -> Result<String> {
    match name.is_empty() || name.ends_with(' ') {
        true => Err(Error::new(code, &[&name])),
        false => Ok(name),
    }
}

/// Returns the name of a column that gets another name, if it is not too long.
///
/// # Errors
/// 1166.
pub(super) fn checked_column_name(name: String) -> Result<String> {
    not_too_long(name, error_code::ER_WRONG_COLUMN_NAME)
}

fn not_too_long(name: String, code: ErrorCode) -> Result<String> {
    if name.len() > NAME_LENGTH_MAX && name.chars().count() > NAME_LENGTH_MAX {
        return Err(Error::new(code, &[&name]));
    }
    Ok(name)
}

/// Returns error 1436 for nesting that is too deep. MariaDB measures its stack; this parser counts levels.
#[cold]
pub(super) fn too_deep(levels: u32) -> Error {
    Error::with_message(
        error_code::ER_STACK_OVERRUN_NEED_MORE,
        format!("Thread stack overrun:  the statement is nested deeper than {levels} levels"),
    )
}
