//! SET in all its forms.

use super::account::password_function;
use super::parser::Parser;
use crate::ast::VariableScope;
use crate::error::Result;
use crate::lexer::Token;
use crate::statement::*;
use paceline_types::{AccessMode, IsolationLevel};

impl Parser<'_> {
    pub(super) fn set(&mut self) -> Result<Statement> {
        self.expect_word("SET")?;
        if self.is_word("STATEMENT") && !self.is_at(1, &Token::Equal) && !self.is_at(1, &Token::Assign) {
            self.advance();
            let items = self.comma_separated(Self::set_item)?;
            self.expect_word("FOR")?;
            let statement = Box::new(self.statement()?);
            return Ok(Statement::SetStatement { items, statement });
        }
        // GLOBAL and SESSION also apply to the variables after them, until the next such word.
        let mut scope = VariableScope::Default;
        let mut items = vec![self.set_item_in(&mut scope)?];
        while self.accept(&Token::Comma) {
            items.push(self.set_item_in(&mut scope)?);
        }
        Ok(Statement::Set(items))
    }

    fn set_item(&mut self) -> Result<SetItem> {
        self.set_item_in(&mut VariableScope::Default)
    }

    /// `last` is the scope of the items before; it becomes the scope of this item.
    fn set_item_in(&mut self, last: &mut VariableScope) -> Result<SetItem> {
        if let Token::UserVariable(name) = self.peek() {
            let name = name.clone();
            self.advance();
            self.assign()?;
            return Ok(SetItem::UserVariable {
                name,
                value: self.expr()?,
            });
        }
        if let Some(assignment) = self.program_assignment()? {
            return Ok(assignment);
        }
        if self.accept(&Token::AtAt) {
            let mut scope = VariableScope::Default;
            if self.is_at(1, &Token::Dot) && self.is_any_word(&["GLOBAL", "SESSION", "LOCAL"]) {
                scope = if self.is_word("GLOBAL") {
                    VariableScope::Global
                } else {
                    VariableScope::Session
                };
                self.advance();
                self.advance();
            }
            return self.variable_assignment(scope);
        }
        // No variable has this name, but mariadb-admin sends SET PASSWORD = '*hash'.
        if self.accept_word("PASSWORD") {
            return self.set_password();
        }
        if !self.is_followed_by_assignment() {
            if self.accept_word("NAMES") {
                return self.set_names();
            }
            if self.accept_words(&["CHARACTER", "SET"])
                || self.accept_words(&["CHAR", "SET"])
                || self.accept_word("CHARSET")
            {
                let charset = if self.accept_word("DEFAULT") {
                    None
                } else {
                    Some(self.collation_name()?)
                };
                return Ok(SetItem::CharacterSet(charset));
            }
            if self.accept_word("TRANSACTION") {
                return self.set_transaction(TransactionScope::Next);
            }
            if self.is_word("ROLE") || (self.is_word("DEFAULT") && self.is_word_at(1, "ROLE")) {
                // SET ROLE {NONE | role}, SET DEFAULT ROLE {NONE | role} [FOR account]
                let is_default = self.accept_word("DEFAULT");
                self.advance();
                let role = match self.accept_word("NONE") {
                    true => None,
                    false => Some(self.role_name()?),
                };
                if !is_default {
                    return Ok(SetItem::Role(role));
                }
                let account = match self.accept_word("FOR") {
                    true => Some(self.account_name()?),
                    false => None,
                };
                return Ok(SetItem::DefaultRole { role, account });
            }
            if self.is_any_word(&["GLOBAL", "SESSION", "LOCAL"]) {
                let global = self.is_word("GLOBAL");
                self.advance();
                if self.accept_word("TRANSACTION") {
                    let scope = if global {
                        TransactionScope::Global
                    } else {
                        TransactionScope::Session
                    };
                    return self.set_transaction(scope);
                }
                *last = if global {
                    VariableScope::Global
                } else {
                    VariableScope::Session
                };
            }
        }
        self.variable_assignment(*last)
    }

    /// Returns whether an assignment follows: a variable may be named like the words above.
    fn is_followed_by_assignment(&mut self) -> bool {
        self.is_at(1, &Token::Equal) || self.is_at(1, &Token::Assign)
    }

    pub(super) fn assign(&mut self) -> Result<()> {
        if self.accept(&Token::Assign) {
            Ok(())
        } else {
            self.expect_token(&Token::Equal)
        }
    }

    fn variable_assignment(&mut self, scope: VariableScope) -> Result<SetItem> {
        let mut base = None;
        let mut name = if self.accept_word("DEFAULT") {
            "default".to_owned()
        } else {
            self.identifier()?
        };
        if self.accept(&Token::Dot) {
            base = Some(std::mem::replace(&mut name, self.identifier_after_dot()?));
        }
        self.assign()?;
        Ok(SetItem::Variable {
            scope,
            base,
            name,
            value: self.set_value()?,
        })
    }

    fn set_value(&mut self) -> Result<SetValue> {
        let ends = self.is_at(1, &Token::Comma)
            || self.is_at(1, &Token::End)
            || self.is_at(1, &Token::Semicolon)
            || self.is_word_at(1, "FOR");
        if ends {
            if self.accept_word("DEFAULT") {
                return Ok(SetValue::Default);
            }
            if self.is_at_program_variable() {
                return self.expr().map(SetValue::Expr);
            }
            if self.is_identifier() || self.is_any_word(&["ON", "ALL", "BINARY", "ROW", "SYSTEM"]) {
                return Ok(SetValue::Word(self.identifier_after_dot()?));
            }
        }
        self.expr().map(SetValue::Expr)
    }

    fn set_names(&mut self) -> Result<SetItem> {
        if self.accept_word("DEFAULT") {
            return Ok(SetItem::Names {
                charset: None,
                collation: None,
            });
        }
        let charset = Some(self.collation_name()?);
        let collation = if self.accept_word("COLLATE") && !self.accept_word("DEFAULT") {
            Some(self.collation_name()?)
        } else {
            None
        };
        Ok(SetItem::Names { charset, collation })
    }

    fn set_transaction(&mut self, scope: TransactionScope) -> Result<SetItem> {
        let mut isolation = None;
        let mut access = None;
        loop {
            if isolation.is_none() && self.accept_words(&["ISOLATION", "LEVEL"]) {
                isolation = Some(self.isolation_level()?);
            } else if access.is_none() && self.accept_words(&["READ", "ONLY"]) {
                access = Some(AccessMode::ReadOnly);
            } else if access.is_none() && self.accept_words(&["READ", "WRITE"]) {
                access = Some(AccessMode::ReadWrite);
            } else {
                return Err(self.error());
            }
            if !self.accept(&Token::Comma) {
                return Ok(SetItem::Transaction {
                    scope,
                    isolation,
                    access,
                });
            }
        }
    }

    fn isolation_level(&mut self) -> Result<IsolationLevel> {
        if self.accept_word("SERIALIZABLE") {
            return Ok(IsolationLevel::Serializable);
        }
        if self.accept_word("REPEATABLE") {
            self.expect_word("READ")?;
            return Ok(IsolationLevel::RepeatableRead);
        }
        self.expect_word("READ")?;
        if self.accept_word("COMMITTED") {
            return Ok(IsolationLevel::ReadCommitted);
        }
        self.expect_word("UNCOMMITTED")?;
        Ok(IsolationLevel::ReadUncommitted)
    }

    fn set_password(&mut self) -> Result<SetItem> {
        let account = if self.accept_word("FOR") {
            Some(self.account_name()?)
        } else {
            None
        };
        self.assign()?;
        Ok(SetItem::Password {
            account,
            password: password_function(self, "")?,
        })
    }
}
