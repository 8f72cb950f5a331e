//! Text to [`Statement`]: MariaDB's grammar.
//!
//! ```text
//! bytes ──lexer──▶ tokens with byte offsets ──grammar──▶ Statement
//! ```
//!
//! The lexer knows MariaDB's comments (`/*!40101 … */` is executed), strings, numbers, variables and the SQL modes that change
//! them. The grammar is a recursive-descent parser of ours that builds `sqlparser`'s tree for queries and expressions, so that
//! whoever walks it finds a well-known vocabulary; `sqlparser`'s own grammar takes too much that MariaDB refuses, and reads some
//! of it with another meaning.
//!
//! # Conventions within `sqlparser`'s tree
//! * A user variable is `Expr::Identifier` with the value `@name` and no quotes; a system variable `@@name`, `@@global.name` or
//!   `@@session.name` likewise. `@a := expr` is a `BinaryOp` with `Assignment`.
//! * `?` is `Value::Placeholder("?")`, in the order of the text.
//! * `||` is `Or`, or `StringConcat` with PIPES_AS_CONCAT; `&&` is `And`; `!=` and `<>` are `NotEq`; `<=>` is `Spaceship`;
//!   `DIV` is `MyIntegerDivide`; `MOD` and `%` are `Modulo`.
//! * Strings of any kind are `Value::SingleQuotedString`; `x'41'` and `0x41` are `Value::HexStringLiteral`; `b'1'` and `0b1` are
//!   `Value::SingleQuotedByteStringLiteral` with the digits. A string that is not valid UTF-8 is a `HexStringLiteral`
//!   behind the prefix `_binary` (`Expr::Prefixed`), as is every string after an introducer.
//! * A result column's name is its text. Where a select item is neither named nor a plain column, it is an `ExprWithAlias` whose
//!   alias has [`GENERATED_NAME`] for its quotes.
//! * `BINARY expr` is a `Cast` to `Binary(None)`; `CONVERT(expr USING charset)` is `Convert` with the character set.
//! * `DEFAULT` as a function's lone argument or value is `Expr::Identifier` `DEFAULT` without quotes.
//! * `FROM DUAL` is no table at all.

pub mod definition;
mod lexer;
mod reserved;
mod statement;

use std::ops::Range;

use crate::error::{Error, Result};
use crate::session::SqlMode;

pub use definition::DdlStatement;
pub use statement::*;

/// The quotes of an alias that nobody wrote: the text of the select item.
pub const GENERATED_NAME: char = '\u{0}';

/// What changes the meaning of a text.
#[derive(Debug, Clone)]
pub struct ParseOptions {
    /// The session's SQL mode.
    pub sql_mode: SqlMode,
    /// The deepest nesting of expressions and queries.
    pub depth_max: u32,
}

impl Default for ParseOptions {
    fn default() -> Self {
        Self {
            sql_mode: SqlMode::DEFAULT,
            depth_max: 200,
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
    /// Where the next statement starts; `None` when this was the last.
    pub next: Option<usize>,
}

/// Parses the first statement of a text.
///
/// MariaDB runs a text's statements one by one and parses each only when those before it are done: a syntax error in the second does
/// not keep the first from running. Call this again with the text from [`ParsedStatement::next`] on.
///
/// # Errors
/// 1064 with MariaDB's words, 1065 for an empty text.
pub fn parse_first(text: &[u8], options: &ParseOptions) -> Result<ParsedStatement> {
    let _ = (text, options);
    Err(Error::unsupported("parse"))
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
        let next = parsed.next;
        statements.push(parsed);
        match next {
            Some(next) => offset = next,
            None => return Ok(statements),
        }
    }
}
