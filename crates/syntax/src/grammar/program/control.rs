//! Statements of a program: control statements, cursors, and statements of SQL.

use super::super::parser::Parser;
use super::scope::ProgramKind;
use crate::ast::Expr;
use crate::error::{Error, Result};
use crate::lexer::Token;
use crate::statement::*;
use paceline_types::error_code::*;

/// Statements of SQL in which names outside of queries are variables.
const WITHOUT_COLUMNS: &[&str] = &["SET", "CALL", "DO", "SIGNAL", "RESIGNAL", "GET", "KILL"];

impl Parser<'_> {
    /// Parses one statement, without its semicolon.
    pub(super) fn program_statement(&mut self) -> Result<LocatedStatement> {
        let line = self.line();
        let statement = self.deeper(Self::any_program_statement)?;
        Ok(LocatedStatement { line, statement })
    }

    /// Parses the body of a function, which cannot be a statement of SQL.
    pub(super) fn function_body(&mut self) -> Result<LocatedStatement> {
        const FIRST_WORDS: &[&str] = &["BEGIN", "RETURN", "IF", "CASE", "LOOP", "WHILE", "REPEAT", "FOR"];
        match self.is_any_word(FIRST_WORDS) || self.is_at(1, &Token::Colon) {
            true => self.program_statement(),
            false => Err(self.error()),
        }
    }

    fn any_program_statement(&mut self) -> Result<ProgramStatement> {
        if self.is_identifier() && self.is_at(1, &Token::Colon) {
            let label = self.identifier()?;
            self.advance();
            return match self.labelled(Some(label))? {
                Some(statement) => Ok(statement),
                None => Err(self.error()),
            };
        }
        if let Some(statement) = self.labelled(None)? {
            return Ok(statement);
        }
        if self.accept_word("IF") {
            return self.if_statement();
        }
        if self.accept_word("CASE") {
            return self.case_statement();
        }
        if self.accept_word("LEAVE") {
            let name = self.identifier()?;
            return self.scope().label(&name, "LEAVE").map(ProgramStatement::Leave);
        }
        if self.accept_word("ITERATE") {
            let name = self.identifier()?;
            return self
                .scope()
                .label(&name, "ITERATE")
                .map(ProgramStatement::Iterate);
        }
        if self.accept_word("RETURN") {
            if self.scope().kind != ProgramKind::Function {
                return Err(Error::new(ER_SP_BADRETURN, &[]));
            }
            self.scope().has_return = true;
            return self.expr().map(ProgramStatement::Return);
        }
        if self.accept_word("OPEN") {
            let cursor = self.cursor_name()?;
            let arguments = match self.is(&Token::LeftParen) {
                true => self.parenthesized(Self::expr)?,
                false => Vec::new(),
            };
            return Ok(ProgramStatement::Open { cursor, arguments });
        }
        if self.accept_word("FETCH") {
            let _ = self.accept_words(&["NEXT", "FROM"]) || self.accept_word("FROM");
            let cursor = self.cursor_name()?;
            self.expect_word("INTO")?;
            let into = self.comma_separated(Self::plain_variable)?;
            return Ok(ProgramStatement::Fetch { cursor, into });
        }
        if self.accept_word("CLOSE") {
            let cursor = self.cursor_name()?;
            return Ok(ProgramStatement::Close { cursor });
        }
        let start = self.position();
        self.scope().has_columns = !self.is_any_word(WITHOUT_COLUMNS);
        let statement = self.statement()?;
        self.scope().has_columns = false;
        self.check_allowed(&statement)?;
        if let Statement::Set(items) = &statement
            && items
                .iter()
                .any(|item| matches!(item, SetItem::ProgramVariable { .. }))
        {
            let Statement::Set(items) = statement else {
                unreachable!("matched above")
            };
            return Ok(ProgramStatement::Assign(items));
        }
        Ok(ProgramStatement::Sql(Box::new(SqlStatement {
            statement,
            text: self.text_since(start),
        })))
    }

    fn cursor_name(&mut self) -> Result<usize> {
        let name = self.identifier()?;
        self.scope().cursor(&name)
    }

    /// Parses a statement that can have a label, if one begins here.
    fn labelled(&mut self, label: Option<String>) -> Result<Option<ProgramStatement>> {
        if self.accept_word("BEGIN") {
            self.accept_words(&["NOT", "ATOMIC"]);
            return self.block(label).map(Some);
        }
        let Some(word) = self.accept_any_word(&["LOOP", "WHILE", "REPEAT", "FOR"]) else {
            return Ok(None);
        };
        let is_labelled = label.is_some();
        let label = self.scope().begin_label(label, true)?;
        if word == "FOR" {
            let statement = self.for_statement(label)?;
            self.end_of_labelled(is_labelled)?;
            return Ok(Some(statement));
        }
        let mut parsed = Loop {
            label,
            while_true: None,
            statements: Vec::new(),
            until: None,
        };
        if word == "WHILE" {
            parsed.while_true = Some(self.expr()?);
            self.expect_word("DO")?;
        }
        parsed.statements = self.program_statements()?;
        if word == "REPEAT" {
            self.expect_word("UNTIL")?;
            parsed.until = Some(self.expr()?);
        }
        self.expect_word("END")?;
        self.expect_word(word)?;
        self.end_of_labelled(is_labelled)?;
        Ok(Some(ProgramStatement::Loop(Box::new(parsed))))
    }

    /// Parses `variable IN [REVERSE] from .. to DO statements END FOR`, after FOR.
    fn for_statement(&mut self, label: Label) -> Result<ProgramStatement> {
        let name = self.identifier()?;
        self.expect_word("IN")?;
        let reverse = self.accept_word("REVERSE");
        if self.is_subquery() || (self.is_identifier() && self.is_word_at(1, "DO")) {
            return Err(Error::unsupported("FOR over the rows of a query"));
        }
        let from = self.expr()?;
        self.expect(&Token::DotDot)?;
        let to = self.expr()?;
        self.expect_word("DO")?;
        self.scope().begin_block();
        let last = self.scope().add_variable(String::new(), VariableKind::Bound);
        let variable = self.scope().add_variable(name, VariableKind::Bound);
        self.scope().show_variable(variable);
        let statements = self.program_statements()?;
        self.expect_words(&["END", "FOR"])?;
        self.scope().end_block();
        Ok(ProgramStatement::ForRange(Box::new(ForRange {
            label,
            variable,
            last,
            reverse,
            from,
            to,
            statements,
        })))
    }

    fn if_statement(&mut self) -> Result<ProgramStatement> {
        let branches = self.branches("ELSEIF")?;
        let otherwise = match self.accept_word("ELSE") {
            true => self.nonempty_statements()?,
            false => Vec::new(),
        };
        self.expect_words(&["END", "IF"])?;
        Ok(ProgramStatement::If { branches, otherwise })
    }

    /// Parses `condition THEN statements`, and again after each `next`.
    fn branches(&mut self, next: &'static str) -> Result<Vec<Branch>> {
        let mut branches = Vec::new();
        loop {
            let condition = self.expr()?;
            self.expect_word("THEN")?;
            let statements = self.nonempty_statements()?;
            branches.push(Branch {
                condition,
                statements,
            });
            if !self.accept_word(next) {
                return Ok(branches);
            }
        }
    }

    fn case_statement(&mut self) -> Result<ProgramStatement> {
        let operand = match self.is_word("WHEN") {
            true => None,
            false => Some(self.expr()?),
        };
        self.expect_word("WHEN")?;
        let branches = self.branches("WHEN")?;
        let otherwise = match self.accept_word("ELSE") {
            true => Some(self.nonempty_statements()?),
            false => None,
        };
        self.expect_words(&["END", "CASE"])?;
        Ok(ProgramStatement::Case {
            operand,
            branches,
            otherwise,
        })
    }

    /// Parses one statement or more.
    fn nonempty_statements(&mut self) -> Result<Vec<LocatedStatement>> {
        let statements = self.program_statements()?;
        match statements.is_empty() {
            true => Err(self.error()),
            false => Ok(statements),
        }
    }

    /// Parses `variable = value` of SET, if the cursor is at a variable of the program.
    pub(in crate::grammar) fn program_assignment(&mut self) -> Result<Option<SetItem>> {
        if self.program.is_none() || !self.is_at_program_variable() {
            return Ok(None);
        }
        let variable = self.assigned_variable()?;
        self.assign()?;
        let ends = [Token::Semicolon, Token::Comma, Token::End]
            .iter()
            .any(|end| self.is_at(1, end));
        let value = match ends && self.accept_word("DEFAULT") {
            true => None,
            false => Some(self.expr()?),
        };
        Ok(Some(SetItem::ProgramVariable { variable, value }))
    }

    /// Returns whether the current token names a variable of the program, or NEW or OLD.
    fn is_at_program_variable(&mut self) -> bool {
        let name = match self.peek() {
            Token::Quoted(name) => name.clone(),
            Token::Word { .. } => String::from_utf8_lossy(self.current_text()).into_owned(),
            _ => return false,
        };
        let is_qualified = self.is_at(1, &Token::Dot);
        let scope = self.scope();
        scope.variable(&name).is_some() || (is_qualified && scope.trigger_row(&name).is_some())
    }

    /// Parses the name of a variable as the value of LIMIT.
    ///
    /// # Errors
    /// 1327.
    pub(in crate::grammar) fn limit_variable(&mut self) -> Result<Expr> {
        let name = self.identifier()?;
        let variable = self.program.as_ref().and_then(|scope| scope.variable(&name));
        match variable {
            Some(variable) => Ok(Expr::Parameter(variable)),
            None => Err(Error::new(ER_SP_UNDECLARED_VAR, &[&name])),
        }
    }
}
