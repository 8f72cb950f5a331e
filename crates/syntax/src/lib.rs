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
//!   digest             statements without literals
//!   secret_mask        statements without passwords, for logs
//!   grammar            the parser, one file for       ast         queries and expressions
//!                      each kind of statement         mysql       MySQL's logged statements in MariaDB's form
//! ```
//! The crate knows nothing of tables or sessions. [`ParseOptions`] holds the session state that parsing
//! depends on.
#![forbid(unsafe_code)]

pub mod ast;
mod clear_password;
pub mod digest;
mod error;
mod features;
mod grammar;
mod introduced_strings;
mod lexer;
mod mysql;
mod objects;
mod omitted_values;
mod options;
mod parameter_places;
mod parsed_statement;
mod reserved;
mod secret_mask;
pub mod stack;
mod statement;

use paceline_types::error_code;

use self::ast::Expr;
use self::grammar::Parser;
use self::lexer::{Token, is_blank};

pub use ast::{ColumnName, ROW_ID, TableName, VariableScope};
pub use clear_password::{ClearPassword, HashForm};
pub use error::{Error, Result, syntax_error};
pub use features::Features;
pub use grammar::{is_aggregate, weight_flags};
pub use introduced_strings::text_of_client;
pub use mysql::{MySqlSession, MySqlStatement, translate_mysql};
pub use objects::{StatementObjects, statement_objects};
pub use omitted_values::with_omitted_values;
pub use options::{ParseOptions, ProgramBodies};
pub use parameter_places::parameter_places;
pub use parsed_statement::ParsedStatement;
pub use secret_mask::{TextOrigin, has_mask, mask_secrets, mentions_secret};
pub use statement::definition::{self, DdlStatement};
pub use statement::*;

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
            late_intos: 0,
            memory_bytes: 0,
            next: None,
            clear_passwords: Vec::new(),
            features: Features::default(),
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
