//! `BEGIN … END` and its declarations.

use super::super::parser::Parser;
use super::scope::Stage;
use crate::error::{Error, Result};
use crate::lexer::Token;
use crate::statement::definition::TypeSpec;
use crate::statement::*;
use paceline_types::error_code::*;

/// Words that end a list of statements.
const ENDS: &[&str] = &["END", "ELSE", "ELSEIF", "WHEN", "UNTIL"];

impl Parser<'_> {
    /// Parses `declarations statements END [label]`, after BEGIN.
    pub(super) fn block(&mut self, label: Option<String>) -> Result<ProgramStatement> {
        let is_labelled = label.is_some();
        let label = self.scope().begin_label(label, false)?;
        self.scope().begin_block();
        let mut block = Block {
            label,
            initial: Vec::new(),
            cursors: self.scope().cursors.len()..0,
            handlers: Vec::new(),
            statements: Vec::new(),
        };
        while self.accept_word("DECLARE") {
            self.declaration(&mut block)?;
            self.expect(&Token::Semicolon)?;
        }
        block.statements = self.program_statements()?;
        self.expect_word("END")?;
        block.cursors.end = self.scope().cursors.len();
        self.scope().end_block();
        self.end_of_labelled(is_labelled)?;
        Ok(ProgramStatement::Block(block))
    }

    /// Parses the label after the end of a statement, which can stand there only if the statement begins with one.
    pub(super) fn end_of_labelled(&mut self, is_labelled: bool) -> Result<()> {
        let name = match is_labelled && self.is_identifier() {
            true => Some(self.identifier()?),
            false => None,
        };
        self.scope().end_label(name)
    }

    /// Parses statements, each with its semicolon, up to the word that ends them.
    pub(super) fn program_statements(&mut self) -> Result<Vec<LocatedStatement>> {
        let mut statements = Vec::new();
        while !self.is_any_word(ENDS) {
            statements.push(self.program_statement()?);
            self.expect(&Token::Semicolon)?;
        }
        Ok(statements)
    }

    fn declaration(&mut self, block: &mut Block) -> Result<()> {
        if let Some(action) = self.accept_any_word(&["CONTINUE", "EXIT"]) {
            return self.handler(
                block,
                match action {
                    "CONTINUE" => HandlerAction::Continue,
                    _ => HandlerAction::Exit,
                },
            );
        }
        let names = self.comma_separated(Self::identifier)?;
        if let [name] = &names[..] {
            if self.accept_word("CONDITION") {
                self.scope().begin_stage(Stage::Variables)?;
                self.expect_word("FOR")?;
                let condition = self.condition_value()?;
                return self.scope().declare_condition(name.clone(), condition);
            }
            if self.accept_word("CURSOR") {
                return self.cursor(name.clone());
            }
        }
        self.variables(names, block)
    }

    /// Parses the type and value of variables.
    fn variables(&mut self, names: Vec<String>, block: &mut Block) -> Result<()> {
        let line = self.line();
        self.scope().begin_stage(Stage::Variables)?;
        for (index, name) in names.iter().enumerate() {
            let again = names[..index]
                .iter()
                .any(|before| before.eq_ignore_ascii_case(name));
            if again || self.scope().declares_variable(name) {
                return Err(Error::new(ER_SP_DUP_VAR, &[name]));
            }
        }
        let kind = self.variable_kind()?;
        let value = match self.accept_word("DEFAULT") {
            true => Some(self.expr()?),
            false => None,
        };
        for name in names {
            let variable = self.scope().add_variable(name, kind.clone());
            self.scope().show_variable(variable);
            block.initial.push(InitialValue {
                line,
                variable,
                value: value.clone(),
            });
        }
        Ok(())
    }

    /// Parses a type, or `TYPE OF column`.
    pub(super) fn variable_kind(&mut self) -> Result<VariableKind> {
        if self.accept_words(&["TYPE", "OF"]) {
            return match self.expr()? {
                crate::ast::Expr::Column(column) if column.table.is_some() => {
                    Ok(VariableKind::TypeOf(column))
                }
                _ => Err(self.error()),
            };
        }
        if self.is_word("ROW") {
            return Err(Error::unsupported("variables of type ROW"));
        }
        self.declared_type().map(VariableKind::Typed)
    }

    /// Parses a type with its collation.
    pub(super) fn declared_type(&mut self) -> Result<TypeSpec> {
        let mut spec = self.type_spec()?;
        if self.accept_word("COLLATE") {
            self.declared_collation(&mut spec)?;
        }
        Ok(spec)
    }

    /// Parses the declaration of a cursor, after CURSOR.
    fn cursor(&mut self, name: String) -> Result<()> {
        self.scope().begin_stage(Stage::Cursors)?;
        self.scope().begin_block();
        let mut parameters = Vec::new();
        if self.accept(&Token::LeftParen) {
            parameters = self.comma_separated(|parser| {
                let name = parser.identifier()?;
                if parser.scope().declares_variable(&name) {
                    return Err(Error::new(ER_SP_DUP_PARAM, &[&name]));
                }
                let kind = parser.variable_kind()?;
                let variable = parser.scope().add_variable(name, kind);
                parser.scope().show_variable(variable);
                Ok(variable)
            })?;
            self.expect(&Token::RightParen)?;
        }
        self.expect_word("FOR")?;
        let start = self.position();
        if !self.is_any_word(&["SELECT", "WITH", "VALUES"]) && !self.is(&Token::LeftParen) {
            return Err(self.error());
        }
        let statement = self.statement()?;
        self.scope().end_block();
        match &statement {
            Statement::Query(query) if query.into.is_none() => {}
            Statement::Query(_) => return Err(Error::new(ER_SP_BAD_CURSOR_SELECT, &[])),
            _ => return Err(Error::new(ER_SP_BAD_CURSOR_QUERY, &[])),
        }
        let text = self.text_since(start);
        self.scope().declare_cursor(Cursor {
            name,
            parameters,
            query: SqlStatement { statement, text },
        })
    }

    /// Parses a handler, after its action.
    fn handler(&mut self, block: &mut Block, action: HandlerAction) -> Result<()> {
        self.scope().begin_stage(Stage::Handlers)?;
        self.expect_words(&["HANDLER", "FOR"])?;
        let conditions = self.comma_separated(Self::handled_condition)?;
        self.scope().declare_handler(&conditions)?;
        self.scope().begin_handler();
        let statement = self.program_statement()?;
        self.scope().end_handler();
        block.handlers.push(Handler {
            action,
            conditions,
            statement: Box::new(statement),
        });
        Ok(())
    }
}
