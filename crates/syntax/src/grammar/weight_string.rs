//! `WEIGHT_STRING(text [AS {CHAR|BINARY}(n)] [LEVEL …])`. It becomes a call with four arguments, as in
//! MariaDB: the text, the maximum number of bytes of the result, the number of weights, and flags. 0 means no
//! limit.

use super::parser::Parser;
use crate::ast::{CastType, Expr};
use crate::error::Result;
use crate::lexer::Token;

/// Flags of the fourth argument, for the first level of weights.
pub mod weight_flags {
    /// Weights are complemented.
    pub const DESCENDING: u64 = 0x100;
    /// Bytes are in reverse order.
    pub const REVERSE: u64 = 0x1_0000;
}

impl Parser<'_> {
    /// Parses the call. The cursor is at the word.
    pub(super) fn weight_string(&mut self) -> Result<Expr> {
        self.advance();
        self.expect_token(&Token::LeftParen)?;
        let mut text = self.expr()?;
        let mut numbers = [0; 3];
        if self.accept(&Token::Comma) {
            numbers[0] = self.number()?;
            for number in &mut numbers[1..] {
                self.expect_token(&Token::Comma)?;
                *number = self.number()?;
            }
        } else {
            if self.accept_word("AS") {
                if self.accept_word("BINARY") {
                    text = Expr::Cast {
                        operand: Box::new(text),
                        target: CastType::Binary(Some(self.parenthesized_length()?)),
                    };
                } else {
                    self.expect_word("CHAR")?;
                    numbers[1] = self.parenthesized_length()?;
                }
            }
            if self.accept_word("LEVEL") {
                numbers[2] = self.weight_levels()?;
            }
        }
        self.expect_token(&Token::RightParen)?;
        let numbers = numbers.map(|number| Expr::number(number.to_string()));
        Ok(Expr::call(
            "WEIGHT_STRING",
            [text].into_iter().chain(numbers).collect(),
        ))
    }

    /// Parses `(n)`, where n is at least 1.
    fn parenthesized_length(&mut self) -> Result<u64> {
        self.expect_token(&Token::LeftParen)?;
        if self.current_text() == b"0" {
            return Err(self.error());
        }
        let length = self.number()?;
        self.expect_token(&Token::RightParen)?;
        Ok(length)
    }

    /// Parses the levels and returns them as flags. Every collation has only one level of weights, which
    /// stands for the others too.
    fn weight_levels(&mut self) -> Result<u64> {
        self.number()?;
        if self.accept(&Token::Minus) {
            self.number()?;
            return Ok(0);
        }
        let mut flags = 0;
        loop {
            if self.accept_any_word(&["ASC", "DESC"]) == Some("DESC") {
                flags |= weight_flags::DESCENDING;
            }
            if self.accept_word("REVERSE") {
                flags |= weight_flags::REVERSE;
            }
            if !self.accept(&Token::Comma) {
                return Ok(flags);
            }
            self.number()?;
        }
    }
}
