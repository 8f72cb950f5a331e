//! Syntax: from text to [`Statement`], by MariaDB's grammar.
//!
//! ```text
//! bytes ──lexer──▶ tokens with byte offsets ──grammar──▶ Statement
//! ```
//!
//! The lexer knows MariaDB's comments (`/*!40101 … */` is executed), strings, numbers, variables and the SQL modes that
//! change them. The grammar is a recursive-descent parser that builds [`Statement`]; queries and expressions within it
//! are [`ast`]'s. Both are ours: MariaDB's 1064 quotes the text from the token that does not fit, SQL modes change
//! tokens as well as grammar, and texts are bytes rather than UTF-8. No library gives all three (docs/decisions/0025).
//!
//! * `a SOUNDS LIKE b` is `SOUNDEX(a) = SOUNDEX(b)`; `POSITION(a IN b)` is `LOCATE(a, b)`; `SUBSTRING` in all its forms
//!   is `SUBSTR(a, b[, c])`; `MEDIAN(x) OVER (…)` is `PERCENTILE_CONT(0.5) WITHIN GROUP (ORDER BY x) OVER (…)`.
//! * `FROM DUAL` is no table at all.
//!
//! ```text
//!   lexer, reserved    tokens                         statement   statements that are no queries
//!   grammar            the parser, a file for each    ast         queries and expressions
//!                      kind of statement              mysql       MySQL's statements in the log, as MariaDB's
//! ```
//! The crate knows nothing of tables or sessions. What the parser needs of a session is in [`ParseOptions`].
#![forbid(unsafe_code)]

pub mod ast;
mod clear_password;
mod error;
mod grammar;
mod lexer;
mod mysql;
mod objects;
mod reserved;
pub mod stack;
mod statement;

use std::ops::Range;
use std::sync::Arc;

use paceline_types::{SessionMemory, SqlMode, error_code};

use self::ast::Expr;
use self::grammar::Parser;
use self::lexer::Token;

pub use ast::{ColumnName, TableName, VariableScope, single_table};
pub use clear_password::{ClearPassword, HashForm};
pub use error::{Error, Result};
pub use grammar::{is_aggregate, weight_flags};
pub use mysql::{MySqlSession, MySqlStatement, translate_mysql};
pub use objects::{StatementObjects, statement_objects};
pub use statement::definition::{self, DdlStatement};
pub use statement::*;

/// The name that MariaDB has for the column that identifies a table's rows.
pub const ROW_ID: &str = "_rowid";

/// What changes the meaning of a text.
#[derive(Debug, Clone)]
pub struct ParseOptions {
    /// The session's SQL mode.
    pub sql_mode: SqlMode,
    /// The deepest nesting of expressions and queries; parentheses around parentheses do not count.
    pub depth_max: u32,
    /// What the statement's tree counts against while it is made; `None` for the server's own texts.
    pub memory: Option<Arc<SessionMemory>>,
}

impl Default for ParseOptions {
    fn default() -> Self {
        Self {
            sql_mode: SqlMode::DEFAULT,
            depth_max: 2_400,
            memory: None,
        }
    }
}

impl ParseOptions {
    /// For what was accepted and is read again: its normal form nests deeper than what was written, and limits may have
    /// been others.
    pub fn of_stored() -> Self {
        Self {
            depth_max: 6_000,
            ..Self::default()
        }
    }
}

/// A statement and where it stands.
#[derive(Debug, Clone, PartialEq)]
pub struct ParsedStatement {
    /// The statement.
    pub statement: Statement,
    /// Its text within the whole: bytes, without the semicolon and the space around it.
    pub text: Range<usize>,
    /// How many `?` it has.
    pub parameters: usize,
    /// About what its tree takes, and the plan that is made of it, in bytes.
    pub memory_bytes: usize,
    /// Where the next statement starts; `None` when this was the last.
    pub next: Option<usize>,
    /// The passwords that the text gives in clear; where they stand is counted within the whole text.
    pub clear_passwords: Vec<ClearPassword>,
    /// Where the `!` stands in comments that were not executed, as they are for other versions; counted likewise.
    pub skipped_versions: Vec<usize>,
}

/// Parses the first statement of a text.
///
/// MariaDB runs a text's statements one by one and parses each only when those before it are done: a syntax error in
/// the second does not keep the first from running. Call this again with the text from [`ParsedStatement::next`] on.
///
/// # Errors
/// 1064 with MariaDB's words, 1065 for an empty text, 1290 or 1041 for one whose tree the session has no memory for.
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

/// Returns whether a text has nothing but semicolons and space, which MariaDB cuts off at the end of a command.
fn is_blank(text: &[u8]) -> bool {
    text.iter()
        .all(|byte| *byte == b';' || byte.is_ascii_whitespace())
}

/// Parses a text of one statement or several.
///
/// # Errors
/// As [`parse_first`], for any of them.
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

/// 1064 at a place of a text, in MariaDB's words.
#[cold]
pub fn syntax_error(text: &[u8], position: usize) -> Error {
    let position = position.min(text.len());
    let near = String::from_utf8_lossy(&text[position..]);
    let line = 1 + text[..position].iter().filter(|&&byte| byte == b'\n').count();
    let message = error_code::ER_SYNTAX_ERROR.message(&[]);
    Error::new(error_code::ER_PARSE_ERROR, &[&message, &near, &line])
}
