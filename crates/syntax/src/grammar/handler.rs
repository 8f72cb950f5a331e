//! HANDLER.

use super::parser::Parser;
use crate::error::Result;
use crate::lexer::Token;
use crate::statement::*;

impl Parser<'_> {
    pub(super) fn handler_statement(&mut self) -> Result<Statement> {
        self.expect_word("HANDLER")?;
        let table = self.table_name()?;
        if self.accept_word("OPEN") {
            let has_alias = self.accept_word("AS") || self.is_identifier();
            let alias = has_alias.then(|| self.identifier()).transpose()?;
            return Ok(Statement::Handler(Box::new(HandlerStatement::Open {
                table,
                alias,
            })));
        }
        if table.database.is_some() {
            return Err(self.error());
        }
        if self.accept_word("CLOSE") {
            return Ok(Statement::Handler(Box::new(HandlerStatement::Close(table.name))));
        }
        self.expect_word("READ")?;
        let (index, start) = self.handler_start()?;
        let selection = (self.accept_word("WHERE")).then(|| self.expr()).transpose()?;
        let limit = match self.is_word("LIMIT") {
            true => self.limit_clause()?,
            false => None,
        };
        Ok(Statement::Handler(Box::new(HandlerStatement::Read(
            HandlerRead {
                name: table.name,
                index,
                start,
                selection,
                limit,
            },
        ))))
    }

    fn handler_start(&mut self) -> Result<(Option<String>, HandlerStart)> {
        // An index may have such a name, and is followed by another word then.
        let is_named = matches!(
            self.peek_at(1).token,
            Token::Equal | Token::Less | Token::LessEqual | Token::Greater | Token::GreaterEqual
        ) || ["FIRST", "NEXT", "PREV", "LAST"]
            .iter()
            .any(|word| self.is_word_at(1, word));
        if !is_named && let Some(word) = self.accept_any_word(&["FIRST", "NEXT"]) {
            let start = match word {
                "FIRST" => HandlerStart::First,
                _ => HandlerStart::Next,
            };
            return Ok((None, start));
        }
        let index = Some(self.identifier()?);
        if let Some(word) = self.accept_any_word(&["FIRST", "NEXT", "PREV", "LAST"]) {
            let start = match word {
                "FIRST" => HandlerStart::First,
                "NEXT" => HandlerStart::Next,
                "PREV" => HandlerStart::Previous,
                _ => HandlerStart::Last,
            };
            return Ok((index, start));
        }
        let by = match self.peek() {
            Token::Equal => HandlerComparison::Equal,
            Token::GreaterEqual => HandlerComparison::GreaterOrEqual,
            Token::LessEqual => HandlerComparison::LessOrEqual,
            Token::Greater => HandlerComparison::Greater,
            Token::Less => HandlerComparison::Less,
            _ => return Err(self.error()),
        };
        self.advance();
        self.expect_token(&Token::LeftParen)?;
        let values = self.comma_separated(Self::expr)?;
        self.expect_token(&Token::RightParen)?;
        Ok((index, HandlerStart::Key { by, values }))
    }
}
