//! FOREIGN KEY and REFERENCES.

use super::parser::Parser;
use crate::error::Result;
use crate::lexer::Token;
use crate::statement::definition::ForeignKeySpec;
use crate::statement::definition::ReferentialAction;

impl Parser<'_> {
    /// Parses the rest of `FOREIGN KEY`.
    pub(super) fn foreign_key(&mut self, constraint_name: Option<String>) -> Result<ForeignKeySpec> {
        let if_not_exists = self.accept_phrase(&["IF", "NOT", "EXISTS"])?;
        let index_name = match self.is_identifier() {
            true => Some(self.checked_identifier()?),
            false => None,
        };
        let columns = self.parenthesized(Self::identifier)?;
        self.references(ForeignKeySpec {
            constraint_name,
            index_name,
            if_not_exists,
            columns,
            table: crate::TableName::new(String::new()),
            referenced_columns: Vec::new(),
            on_delete: ReferentialAction::Restrict,
            on_update: ReferentialAction::Restrict,
        })
    }

    /// Parses `[CONSTRAINT [name]] REFERENCES …` after a column, if it stands here.
    pub(super) fn column_references(&mut self, column: &str) -> Result<Option<ForeignKeySpec>> {
        let mut constraint_name = None;
        if self.is_word("CONSTRAINT") {
            if self.is_word_at(1, "REFERENCES") {
                self.advance();
            } else if self.is_word_at(2, "REFERENCES") {
                self.advance();
                constraint_name = Some(self.checked_identifier()?);
            }
        }
        if !self.is_word("REFERENCES") {
            return Ok(None);
        }
        let key = ForeignKeySpec {
            constraint_name,
            index_name: None,
            if_not_exists: false,
            columns: vec![column.to_owned()],
            table: crate::TableName::new(String::new()),
            referenced_columns: Vec::new(),
            on_delete: ReferentialAction::Restrict,
            on_update: ReferentialAction::Restrict,
        };
        self.references(key).map(Some)
    }

    /// Parses `REFERENCES table [(columns)] [MATCH …] [ON DELETE …] [ON UPDATE …]`.
    fn references(&mut self, mut key: ForeignKeySpec) -> Result<ForeignKeySpec> {
        self.expect_word("REFERENCES")?;
        key.table = self.table_name()?;
        if self.is(&Token::LeftParen) {
            key.referenced_columns = self.parenthesized(Self::identifier)?;
        }
        if self.accept_word("MATCH") && self.accept_any_word(&["FULL", "PARTIAL", "SIMPLE"]).is_none() {
            return Err(self.error());
        }
        let (mut has_delete, mut has_update) = (false, false);
        while self.is_word("ON") {
            let (known, action) = match (self.is_word_at(1, "DELETE"), self.is_word_at(1, "UPDATE")) {
                (true, _) => (&mut has_delete, &mut key.on_delete),
                (_, true) => (&mut has_update, &mut key.on_update),
                _ => return Err(self.error()),
            };
            self.advance();
            if std::mem::replace(known, true) {
                return Err(self.error());
            }
            self.advance();
            *action = self.referential_action()?;
        }
        Ok(key)
    }

    fn referential_action(&mut self) -> Result<ReferentialAction> {
        if self.accept_word("RESTRICT") || self.accept_words(&["SET", "DEFAULT"]) {
            return Ok(ReferentialAction::Restrict);
        }
        if self.accept_word("CASCADE") {
            return Ok(ReferentialAction::Cascade);
        }
        if self.accept_words(&["SET", "NULL"]) {
            return Ok(ReferentialAction::SetNull);
        }
        match self.accept_words(&["NO", "ACTION"]) {
            true => Ok(ReferentialAction::NoAction),
            false => Err(self.error()),
        }
    }
}
