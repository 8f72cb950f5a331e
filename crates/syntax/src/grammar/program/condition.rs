//! Conditions: of handlers, of SIGNAL and RESIGNAL; GET DIAGNOSTICS.

use super::super::parser::Parser;
use crate::ast::Expr;
use crate::error::{Error, Result};
use crate::lexer::Token;
use crate::statement::*;
use paceline_types::error_code::*;

impl Parser<'_> {
    /// Parses the value of a declared condition: the number of an error, or a state.
    pub(super) fn condition_value(&mut self) -> Result<ConditionValue> {
        if self.accept_word("SQLSTATE") {
            let _ = self.accept_word("VALUE");
            return self.sqlstate().map(ConditionValue::SqlState);
        }
        let number = self.number()?;
        match number {
            0 => Err(Error::new(ER_WRONG_VALUE, &[&"CONDITION", &number])),
            _ => Ok(ConditionValue::Error(number)),
        }
    }

    /// Parses a state, which cannot be that of success.
    ///
    /// # Errors
    /// 1407.
    fn sqlstate(&mut self) -> Result<String> {
        let state = self.text()?;
        let is_valid = state.len() == 5
            && state
                .bytes()
                .all(|byte| byte.is_ascii_digit() || byte.is_ascii_uppercase());
        match is_valid && !state.starts_with("00") {
            true => Ok(state),
            false => Err(Error::new(ER_SP_BAD_SQLSTATE, &[&state])),
        }
    }

    /// Parses one condition of a handler.
    pub(super) fn handled_condition(&mut self) -> Result<ConditionValue> {
        if self.accept_word("SQLWARNING") {
            return Ok(ConditionValue::Warning);
        }
        if self.accept_phrase(&["NOT", "FOUND"])? {
            return Ok(ConditionValue::NotFound);
        }
        if self.accept_word("SQLEXCEPTION") {
            return Ok(ConditionValue::Exception);
        }
        if self.is_word("SQLSTATE") || self.is(&Token::Integer) {
            return self.condition_value();
        }
        let name = self.identifier()?;
        self.scope().condition(&name)
    }

    /// Parses SIGNAL and RESIGNAL.
    pub(in crate::grammar) fn signal(&mut self) -> Result<Statement> {
        let resignal = self.accept_word("RESIGNAL");
        if !resignal {
            self.expect_word("SIGNAL")?;
        }
        let condition = if self.accept_word("SQLSTATE") {
            let _ = self.accept_word("VALUE");
            Some(ConditionValue::SqlState(self.sqlstate()?))
        } else if self.is_identifier() {
            let name = self.identifier()?;
            let condition = match &self.program {
                Some(scope) => scope.condition(&name)?,
                None => return Err(Error::new(ER_SP_COND_MISMATCH, &[&name])),
            };
            match condition {
                ConditionValue::SqlState(_) => Some(condition),
                _ => return Err(Error::new(ER_SIGNAL_BAD_CONDITION_TYPE, &[])),
            }
        } else if resignal {
            None
        } else {
            return Err(self.error());
        };
        let mut items: Vec<(SignalItem, Expr)> = Vec::new();
        if self.accept_word("SET") {
            loop {
                let item = self.signal_item()?;
                if items.iter().any(|(known, _)| *known == item) {
                    return Err(Error::new(ER_DUP_SIGNAL_SET, &[&item.name()]));
                }
                self.expect_token(&Token::Equal)?;
                items.push((item, self.simple_value()?));
                if !self.accept(&Token::Comma) {
                    break;
                }
            }
        }
        Ok(Statement::Signal(Box::new(Signal {
            resignal,
            condition,
            items,
        })))
    }

    /// Parses a value of SIGNAL or GET DIAGNOSTICS: a literal or a variable, but no function.
    fn simple_value(&mut self) -> Result<Expr> {
        let is_name = self.is_identifier() && !self.is_introduced_string();
        if is_name && self.program.is_some() && !self.is_at(1, &Token::Dot) {
            let name = self.identifier()?;
            return match self.variable_named(&name)? {
                Some(variable) => Ok(variable),
                None => Err(Error::new(ER_SP_UNDECLARED_VAR, &[&name])),
            };
        }
        let refused = self.error();
        match self.operand()? {
            value @ (Expr::Literal(_)
            | Expr::Introduced { .. }
            | Expr::TemporalLiteral { .. }
            | Expr::UserVariable(_)
            | Expr::SystemVariable { .. }
            | Expr::Column(_)) => Ok(value),
            // A column of NEW or OLD, or a field of a ROW. A program has no placeholders.
            value @ Expr::Parameter(_) if self.program.is_some() => Ok(value),
            _ => Err(refused),
        }
    }

    fn signal_item(&mut self) -> Result<SignalItem> {
        let found = SignalItem::ALL.iter().find(|(_, name)| self.is_word(name));
        let Some((item, _)) = found else {
            return Err(self.error());
        };
        self.advance();
        Ok(*item)
    }

    /// Parses `GET [CURRENT] DIAGNOSTICS …`.
    pub(in crate::grammar) fn get_diagnostics(&mut self) -> Result<Statement> {
        self.expect_word("GET")?;
        let _ = self.accept_word("CURRENT");
        self.expect_word("DIAGNOSTICS")?;
        let information = if self.accept_word("CONDITION") {
            let number = self.simple_value()?;
            let items = self.comma_separated(|parser| {
                let target = parser.target()?;
                parser.expect_token(&Token::Equal)?;
                let item = match parser.accept_word("RETURNED_SQLSTATE") {
                    true => ConditionItem::ReturnedSqlState,
                    false => ConditionItem::Signal(parser.signal_item()?),
                };
                Ok((target, item))
            })?;
            DiagnosticsInformation::Condition { number, items }
        } else {
            DiagnosticsInformation::Statement(self.comma_separated(|parser| {
                let target = parser.target()?;
                parser.expect_token(&Token::Equal)?;
                match parser.accept_any_word(&["NUMBER", "ROW_COUNT"]) {
                    Some("NUMBER") => Ok((target, StatementItem::Number)),
                    Some(_) => Ok((target, StatementItem::RowCount)),
                    None => Err(parser.error()),
                }
            })?)
        };
        Ok(Statement::GetDiagnostics(Box::new(GetDiagnostics {
            information,
        })))
    }
}
