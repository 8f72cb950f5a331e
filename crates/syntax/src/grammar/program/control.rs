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
        let statement = self.deeper(Self::any_program_statement)?;
        let line = self.line();
        Ok(LocatedStatement { line, statement })
    }

    fn located_expr(&mut self) -> Result<LocatedExpr> {
        let expr = self.expr()?;
        let line = self.line();
        Ok(LocatedExpr { line, expr })
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
            self.scope().check_cursor_arguments(cursor, arguments.len())?;
            return Ok(ProgramStatement::Open { cursor, arguments });
        }
        if self.accept_words(&["FETCH", "GROUP", "NEXT", "ROW"]) {
            if self.scope().aggregation == Aggregation::None {
                return Err(Error::new(ER_NOT_AGGREGATE_FUNCTION, &[]));
            }
            self.scope().fetches_group = true;
            return Ok(ProgramStatement::FetchGroup);
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
            parsed.while_true = Some(self.located_expr()?);
            self.expect_word("DO")?;
        }
        parsed.statements = self.program_statements()?;
        if word == "REPEAT" {
            self.expect_word("UNTIL")?;
            parsed.until = Some(self.located_expr()?);
        }
        self.expect_word("END")?;
        self.expect_word(word)?;
        self.end_of_labelled(is_labelled)?;
        Ok(Some(ProgramStatement::Loop(Box::new(parsed))))
    }

    /// Parses `variable IN [REVERSE] rows DO statements END FOR`, after FOR.
    fn for_statement(&mut self, label: Label) -> Result<ProgramStatement> {
        let name = self.identifier()?;
        self.expect_word("IN")?;
        // The rows of a query have one direction only, but the word is accepted.
        let reverse = self.accept_word("REVERSE");
        if self.is_subquery() {
            self.expect_token(&Token::LeftParen)?;
            let start = self.position();
            let statement = self.statement()?;
            let text = self.text_since(start);
            self.expect_token(&Token::RightParen)?;
            check_cursor_query(&statement)?;
            self.scope().begin_block();
            let cursor = self.scope().add_cursor(SqlStatement { statement, text });
            return self.for_rows(label, name, cursor, Vec::new());
        }
        if self.is_identifier() && (self.is_word_at(1, "DO") || self.is_at(1, &Token::LeftParen)) {
            let cursor = self
                .peeked_name()
                .and_then(|name| self.scope().cursor(&name).ok());
            if let Some(cursor) = cursor {
                self.advance();
                let arguments = match self.is(&Token::LeftParen) {
                    true => self.parenthesized(Self::expr)?,
                    false => Vec::new(),
                };
                self.scope().check_cursor_arguments(cursor, arguments.len())?;
                self.scope().begin_block();
                return self.for_rows(label, name, cursor, arguments);
            }
            if self.is_word_at(1, "DO") {
                // A variable, or nothing that is known.
                let other = self.identifier()?;
                return Err(match self.scope().variable(&other) {
                    Some(_) => Error::new(ER_SP_CURSOR_MISMATCH, &[&other]),
                    None => Error::new(ER_SP_UNDECLARED_VAR, &[&other]),
                });
            }
        }
        let from = self.located_expr()?;
        self.expect_token(&Token::DotDot)?;
        let to = self.located_expr()?;
        self.expect_word("DO")?;
        self.scope().begin_block();
        let last = self.scope().add_variable(String::new(), VariableKind::Counter)?;
        let variable = self.scope().add_variable(name, VariableKind::Counter)?;
        self.scope().show_variable(variable);
        let statements = self.for_body()?;
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

    /// Parses a FOR loop over the rows of a cursor, in a block of its own, from DO on.
    fn for_rows(
        &mut self,
        label: Label,
        name: String,
        cursor: usize,
        arguments: Vec<Expr>,
    ) -> Result<ProgramStatement> {
        let line = self.line();
        self.expect_word("DO")?;
        let kind = VariableKind::RowOf { cursor };
        let variable = self.scope().add_variable(name, kind)?;
        self.scope().show_variable(variable);
        let statements = self.for_body()?;
        Ok(ProgramStatement::ForRows(Box::new(ForRows {
            label,
            line,
            variable,
            cursor,
            arguments,
            statements,
        })))
    }

    /// Parses the statements of a FOR loop, which end its block.
    fn for_body(&mut self) -> Result<Vec<LocatedStatement>> {
        let statements = self.program_statements()?;
        self.expect_words(&["END", "FOR"])?;
        self.scope().end_block();
        Ok(statements)
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
            let condition = self.located_expr()?;
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
            false => Some(self.located_expr()?),
        };
        self.expect_word("WHEN")?;
        let branches = self.branches("WHEN")?;
        let otherwise = match self.accept_word("ELSE") {
            true => Some(self.nonempty_statements()?),
            false => None,
        };
        let end_line = self.line();
        self.expect_words(&["END", "CASE"])?;
        Ok(ProgramStatement::Case {
            operand,
            branches,
            otherwise,
            end_line,
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
        if !self.is_at_program_variable() {
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

    /// Returns whether the current token names a variable of the program around the cursor, or its NEW or OLD.
    pub(in crate::grammar) fn is_at_program_variable(&mut self) -> bool {
        if self.program.is_none() {
            return false;
        }
        let Some(name) = self.peeked_name() else {
            return false;
        };
        let is_qualified = self.is_at(1, &Token::Dot);
        let scope = self.scope();
        scope.variable(&name).is_some() || (is_qualified && scope.trigger_row(&name).is_some())
    }

    /// Returns the name at the cursor.
    fn peeked_name(&mut self) -> Option<String> {
        match self.peek() {
            Token::Quoted(name) => Some(name.clone()),
            Token::Word { .. } => Some(String::from_utf8_lossy(self.current_text()).into_owned()),
            _ => None,
        }
    }

    /// Parses the name of a variable, or of a field, as the value of LIMIT.
    ///
    /// # Errors
    /// 1327; 1691 for a variable that is not an integer.
    pub(in crate::grammar) fn limit_variable(&mut self) -> Result<Expr> {
        let name = self.identifier()?;
        let variable = self.program.as_ref().and_then(|scope| scope.variable(&name));
        let Some(mut variable) = variable else {
            return Err(Error::new(ER_SP_UNDECLARED_VAR, &[&name]));
        };
        if self.accept(&Token::Dot) {
            let field = self.identifier_after_dot()?;
            match self.scope().row_field(variable, &field)? {
                Some(field) => variable = field,
                None => return Err(Error::new(ER_SP_UNDECLARED_VAR, &[&name])),
            }
        }
        match self.scope().is_integer(variable) {
            true => Ok(Expr::Parameter(variable)),
            false => Err(Error::new(ER_WRONG_SPVAR_TYPE_IN_LIMIT, &[])),
        }
    }
}

/// Checks the query of a cursor.
///
/// # Errors
/// 1323 for another statement, 1324 for INTO.
pub(super) fn check_cursor_query(statement: &Statement) -> Result<()> {
    match statement {
        Statement::Query(query) if query.into.is_none() => Ok(()),
        Statement::Query(_) => Err(Error::new(ER_SP_BAD_CURSOR_SELECT, &[])),
        _ => Err(Error::new(ER_SP_BAD_CURSOR_QUERY, &[])),
    }
}
