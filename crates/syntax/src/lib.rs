//! Syntax: from text to [`Statement`], by MariaDB's grammar.
//!
//! ```text
//! bytes ──lexer──▶ tokens with byte offsets ──grammar──▶ Statement
//! ```
//!
//! The lexer knows MariaDB's comments (`/*!40101 … */` is executed), strings, numbers, variables, and the SQL
//! modes that change them. The grammar is a recursive-descent parser. It builds a [`Statement`]; queries and
//! expressions in it are trees of [`ast`]. Lexer and grammar are our own because no library meets three
//! needs: MariaDB's 1064 quotes the text from the token that does not fit, SQL modes change tokens as well as
//! grammar, and texts are bytes rather than UTF-8 (docs/decisions/0025).
//!
//! Some spellings are resolved while parsing:
//!
//! * `a SOUNDS LIKE b` becomes `SOUNDEX(a) = SOUNDEX(b)`; `POSITION(a IN b)` becomes `LOCATE(a, b)`; every
//!   form of `SUBSTRING` becomes `SUBSTR(a, b[, c])`; `MEDIAN(x) OVER (…)` becomes `PERCENTILE_CONT(0.5)
//!   WITHIN GROUP (ORDER BY x) OVER (…)`.
//! * `FROM DUAL` becomes an empty FROM.
//!
//! ```text
//!   lexer, reserved    tokens                         statement   statements other than queries
//!   grammar            the parser, one file for       ast         queries and expressions
//!                      each kind of statement         mysql       MySQL's logged statements in MariaDB's form
//! ```
//! The crate knows nothing of tables or sessions. [`ParseOptions`] holds the session state that parsing
//! depends on.
#![forbid(unsafe_code)]

pub mod ast;
mod clear_password;
mod error;
mod grammar;
mod lexer;
mod mysql;
mod objects;
mod parameter_places;
mod reserved;
pub mod stack;
mod statement;

use std::ops::Range;
use std::sync::Arc;

use paceline_types::{SessionMemory, SqlMode, error_code};

use self::ast::Expr;
use self::grammar::Parser;
use self::lexer::Token;

pub use ast::{ColumnName, TableName, VariableScope};
pub use clear_password::{ClearPassword, HashForm};
pub use error::{Error, Result};
pub use grammar::{is_aggregate, weight_flags};
pub use mysql::{MySqlSession, MySqlStatement, translate_mysql};
pub use objects::{StatementObjects, statement_objects};
pub use parameter_places::parameter_places;
pub use statement::definition::{self, DdlStatement};
pub use statement::*;

/// MariaDB's alias for the column that identifies a table's rows.
pub const ROW_ID: &str = "_rowid";

/// Settings that change the meaning of a text.
#[derive(Debug, Clone)]
pub struct ParseOptions {
    /// SQL mode, which changes tokens as well as grammar.
    pub sql_mode: SqlMode,
    /// Deepest nesting of expressions and queries. Redundant parentheses do not count.
    pub depth_max: u32,
    /// Memory account that the statement's tree is charged to; `None` for the server's own texts.
    pub memory: Option<Arc<SessionMemory>>,
    /// Treatment of CREATE PROCEDURE, FUNCTION and TRIGGER.
    pub programs: ProgramBodies,
}

/// Treatment of statements that create stored programs.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ProgramBodies {
    /// They are parsed.
    Parsed,
    /// Their text is not looked at: another server has created them, whose language can be larger.
    Opaque,
}

impl Default for ParseOptions {
    fn default() -> Self {
        Self {
            sql_mode: SqlMode::DEFAULT,
            depth_max: 2_400,
            memory: None,
            programs: ProgramBodies::Parsed,
        }
    }
}

impl ParseOptions {
    /// Returns the options for a text that was accepted before and stored. Its normal form may nest deeper
    /// than the original text, and the limits may have been different then.
    pub fn of_stored() -> Self {
        Self {
            depth_max: 6_000,
            ..Self::default()
        }
    }
}

/// A statement and its place in the text.
#[derive(Debug, Clone, PartialEq)]
pub struct ParsedStatement {
    /// The syntax tree.
    pub statement: Statement,
    /// Bytes of the statement within the whole text, without the semicolon and the white space around it.
    pub text: Range<usize>,
    /// Number of `?` placeholders.
    pub parameters: usize,
    /// Approximate size of the tree and of the plan made from it, in bytes.
    pub memory_bytes: usize,
    /// Offset of the next statement; `None` after the last one.
    pub next: Option<usize>,
    /// Passwords in clear text. Their ranges refer to the whole text.
    pub clear_passwords: Vec<ClearPassword>,
    /// Offset of the `!` of each comment that was skipped because it is for other versions. Refers to the
    /// whole text.
    pub skipped_versions: Vec<usize>,
}

/// Parses the first statement of a text.
///
/// MariaDB executes the statements of a text one by one, and parses each only after those before it: a syntax
/// error in the second statement does not keep the first from running. To continue, call this again with the
/// text from [`ParsedStatement::next`] on.
///
/// # Errors
/// 1064 with MariaDB's message, 1065 for an empty text, 1290 or 1041 when the session has no memory left for
/// the tree.
pub fn parse_first(text: &[u8], options: &ParseOptions) -> Result<ParsedStatement> {
    let mut parser = Parser::new(text, options);
    if parser.is(&Token::End) {
        let only_comments = !text.trim_ascii().is_empty();
        if !only_comments {
            return Err(Error::new(error_code::ER_EMPTY_QUERY, &[]));
        }
        let whole = text.len();
        return Ok(ParsedStatement {
            statement: Statement::Empty,
            text: 0..whole,
            parameters: 0,
            memory_bytes: 0,
            next: None,
            clear_passwords: Vec::new(),
            skipped_versions: parser.take_skipped_versions(0..whole),
        });
    }
    if parser.is(&Token::Semicolon) {
        return Err(match is_blank(text) {
            true => Error::new(error_code::ER_EMPTY_QUERY, &[]),
            false => parser.error(),
        });
    }
    parser.parsed_statement(text)
}

/// Returns whether a text consists of semicolons and white space, which MariaDB removes from the end of a command.
fn is_blank(text: &[u8]) -> bool {
    text.iter()
        .all(|byte| *byte == b';' || byte.is_ascii_whitespace())
}

/// Parses a text of one or more statements.
///
/// # Errors
/// Those of [`parse_first`], for any of the statements.
pub fn parse(text: &[u8], options: &ParseOptions) -> Result<Vec<ParsedStatement>> {
    let mut statements = Vec::new();
    let mut offset = 0;
    loop {
        let mut parsed = parse_first(&text[offset..], options)?;
        parsed.text = parsed.text.start + offset..parsed.text.end + offset;
        parsed.next = parsed.next.map(|next| next + offset);
        for secret in &mut parsed.clear_passwords {
            secret.text = secret.text.start + offset..secret.text.end + offset;
        }
        for mark in &mut parsed.skipped_versions {
            *mark += offset;
        }
        let next = parsed.next;
        statements.push(parsed);
        match next {
            Some(next) => offset = next,
            None => return Ok(statements),
        }
    }
}

/// Parses an expression that stands alone: a stored default or check.
///
/// # Errors
/// 1064.
pub fn parse_expression(text: &str) -> Result<Expr> {
    let options = ParseOptions::of_stored();
    let mut parser = Parser::new(text.as_bytes(), &options);
    let expr = parser.expr()?;
    if parser.is(&Token::End) {
        Ok(expr)
    } else {
        Err(parser.error())
    }
}

/// Returns error 1064 at a position of a text, with MariaDB's message.
#[cold]
pub fn syntax_error(text: &[u8], position: usize) -> Error {
    let position = position.min(text.len());
    let near = String::from_utf8_lossy(&text[position..]);
    let line = 1 + text[..position].iter().filter(|&&byte| byte == b'\n').count();
    let message = error_code::ER_SYNTAX_ERROR.message(&[]);
    Error::new(error_code::ER_PARSE_ERROR, &[&message, &near, &line])
}
