//! CREATE, ALTER and DROP SEQUENCE, and the values of sequences.

use super::parser::Parser;
use crate::ast::{Expr, SequenceOperation, SequenceValue};
use crate::error::{Error, Result};
use crate::lexer::Token;
use crate::statement::Statement;
use crate::statement::definition::*;
use paceline_types::error_code::ER_DUP_ARGUMENT;

/// Statement that contains the clauses of a sequence.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Clauses {
    Create,
    Alter,
}

impl Parser<'_> {
    /// Parses CREATE SEQUENCE after this word.
    pub(super) fn create_sequence(&mut self, or_replace: bool, temporary: bool) -> Result<Statement> {
        let if_not_exists = self.if_not_exists(or_replace)?;
        let name = self.table_name()?;
        let values = self.sequence_clauses(Clauses::Create)?;
        let options = self.table_options()?;
        Ok(Statement::Ddl(DdlStatement::CreateSequence(Box::new(
            CreateSequence {
                or_replace,
                temporary,
                if_not_exists,
                name,
                values,
                options,
            },
        ))))
    }

    /// Parses ALTER SEQUENCE after this word.
    pub(super) fn alter_sequence(&mut self) -> Result<Statement> {
        let if_exists = self.accept_phrase(&["IF", "EXISTS"])?;
        let name = self.table_name()?;
        let values = self.sequence_clauses(Clauses::Alter)?;
        if values == SequenceSpec::default() {
            return Err(self.error());
        }
        Ok(Statement::Ddl(DdlStatement::AlterSequence(Box::new(
            AlterSequence {
                if_exists,
                name,
                values,
            },
        ))))
    }

    /// Parses DROP SEQUENCE after this word.
    pub(super) fn drop_sequences(&mut self, temporary: bool) -> Result<Statement> {
        let if_exists = self.accept_phrase(&["IF", "EXISTS"])?;
        let sequences = self.comma_separated(Self::table_name)?;
        Ok(Statement::Ddl(DdlStatement::DropSequences {
            temporary,
            if_exists,
            sequences,
        }))
    }

    fn sequence_clauses(&mut self, statement: Clauses) -> Result<SequenceSpec> {
        let mut spec = SequenceSpec::default();
        loop {
            if self.accept_word("MINVALUE") {
                self.accept_equal();
                spec.minimum = Some(SequenceBound::Value(self.signed()?));
            } else if self.accept_words(&["NO", "MINVALUE"]) {
                if matches!(spec.minimum, Some(SequenceBound::Value(_))) {
                    return Err(Error::new(ER_DUP_ARGUMENT, &[&"MINVALUE"]));
                }
                spec.minimum = Some(SequenceBound::Default);
            } else if self.accept_word("MAXVALUE") {
                self.accept_equal();
                refuse_second(spec.maximum)?;
                spec.maximum = Some(SequenceBound::Value(self.signed()?));
            } else if self.accept_words(&["NO", "MAXVALUE"]) {
                refuse_second(spec.maximum)?;
                spec.maximum = Some(SequenceBound::Default);
            } else if self.accept_word("START") {
                self.accept_equal_or("WITH");
                spec.start = Some(self.signed()?);
            } else if self.accept_word("INCREMENT") {
                self.accept_equal_or("BY");
                spec.increment = Some(self.signed()?);
            } else if self.accept_word("CACHE") {
                self.accept_equal();
                spec.cache = Some(self.signed()?);
            } else if self.accept_word("NOCACHE") {
                spec.cache = Some(0);
            } else if self.accept_word("CYCLE") {
                spec.cycle = Some(true);
            } else if self.accept_word("NOCYCLE") {
                spec.cycle = Some(false);
            } else if statement == Clauses::Create && self.is_word("RESTART") {
                return Err(self.error());
            } else if self.accept_word("RESTART") {
                let is_value = self.is_word("WITH")
                    || [Token::Equal, Token::Plus, Token::Minus, Token::Integer]
                        .iter()
                        .any(|token| self.is(token));
                self.accept_equal_or("WITH");
                spec.restart = Some(match is_value {
                    true => SequenceRestart::With(self.signed()?),
                    false => SequenceRestart::Start,
                });
            } else {
                return Ok(spec);
            }
        }
    }

    /// Takes an optional `=`, or a word in its place.
    fn accept_equal_or(&mut self, word: &str) {
        if !self.accept_word(word) {
            self.accept_equal();
        }
    }

    /// Takes a whole number with an optional sign.
    ///
    /// # Errors
    /// 1064 for anything else, and for a number beyond 63 bits.
    fn signed(&mut self) -> Result<i64> {
        let is_negative = self.accept(&Token::Minus);
        if !is_negative {
            self.accept(&Token::Plus);
        }
        let error = self.error();
        let number = i64::try_from(self.number()?).map_err(|_| error)?;
        Ok(if is_negative { -number } else { number })
    }

    /// Parses `NEXT VALUE FOR s` or `PREVIOUS VALUE FOR s`, if one starts here.
    pub(super) fn sequence_value(&mut self) -> Result<Option<Expr>> {
        let operation = if self.is_word("NEXT") {
            SequenceOperation::Next
        } else if self.is_word("PREVIOUS") {
            SequenceOperation::Last
        } else {
            return Ok(None);
        };
        if !self.is_word_at(1, "VALUE") || !self.is_word_at(2, "FOR") {
            return Ok(None);
        }
        for _ in 0..3 {
            self.advance();
        }
        let sequence = self.table_name()?;
        Ok(Some(value(sequence, operation)))
    }

    /// Parses NEXTVAL, LASTVAL or SETVAL, each with its parentheses.
    pub(super) fn sequence_function(&mut self) -> Result<Expr> {
        let operation = match self.is_word("LASTVAL") {
            true => SequenceOperation::Last,
            false => SequenceOperation::Next,
        };
        let sets = self.is_word("SETVAL");
        self.advance();
        self.expect_token(&Token::LeftParen)?;
        let sequence = self.table_name()?;
        let operation = match sets {
            true => self.setval_arguments()?,
            false => operation,
        };
        self.expect_token(&Token::RightParen)?;
        Ok(value(sequence, operation))
    }

    fn setval_arguments(&mut self) -> Result<SequenceOperation> {
        self.expect_token(&Token::Comma)?;
        let value = self.signed()?;
        let (mut is_used, mut round) = (true, 0);
        if self.accept(&Token::Comma) {
            is_used = if self.accept_word("TRUE") {
                true
            } else if self.accept_word("FALSE") {
                false
            } else {
                self.number()? != 0
            };
            if self.accept(&Token::Comma) {
                round = self.number()?;
            }
        }
        Ok(SequenceOperation::Set {
            value,
            is_used,
            round,
        })
    }
}

fn value(sequence: crate::ast::TableName, operation: SequenceOperation) -> Expr {
    Expr::Sequence(Box::new(SequenceValue { sequence, operation }))
}

/// Returns 1225 for a second MAXVALUE.
fn refuse_second(maximum: Option<SequenceBound>) -> Result<()> {
    match maximum {
        Some(SequenceBound::Value(_)) => Err(Error::new(ER_DUP_ARGUMENT, &[&"MAXVALUE"])),
        _ => Ok(()),
    }
}
