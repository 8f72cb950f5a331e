//! `BEGIN … END` and its declarations.

use super::super::parser::Parser;
use super::control::check_cursor_query;
use super::scope::{DeclaredKind, Stage};
use crate::ast::ColumnName;
use crate::error::{Error, Result};
use crate::lexer::Token;
use crate::statement::definition::TypeSpec;
use crate::statement::*;
use paceline_types::error_code::*;
use std::collections::HashSet;

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
            self.expect_token(&Token::Semicolon)?;
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
            self.expect_token(&Token::Semicolon)?;
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
        self.scope().begin_stage(Stage::Variables)?;
        let mut declared = HashSet::new();
        for name in &names {
            if !declared.insert(name.to_lowercase()) || self.scope().declares_variable(name) {
                return Err(Error::new(ER_SP_DUP_VAR, &[name]));
            }
        }
        let declared = self.declared_kind()?;
        let before_value = self.tokens();
        let value = match self.accept_word("DEFAULT") {
            true => Some(self.expr()?),
            false => None,
        };
        let line = self.line();
        // Each variable has a copy.
        let tokens = declared.tokens() + self.tokens() - before_value;
        self.count_copies(names.len() * tokens)?;
        for name in names {
            let variable = self.scope().declare_variable(name, &declared)?;
            self.scope().show_variable(variable);
            block.initial.push(InitialValue {
                line,
                variable,
                value: value.clone(),
            });
        }
        Ok(())
    }

    /// Parses a type, `TYPE OF column` or `TYPE OF variable`, `ROW (…)`, `ROW TYPE OF cursor` or `ROW TYPE OF table`.
    pub(super) fn declared_kind(&mut self) -> Result<DeclaredKind> {
        if self.accept_words(&["ROW", "TYPE", "OF"]) {
            return self.row_type_of();
        }
        if self.is_word("ROW") && self.is_at(1, &Token::LeftParen) {
            self.advance();
            return self.row_fields();
        }
        if self.is_word("TYPE") && self.is_word_at(1, "OF") && !self.is_at(3, &Token::Dot) {
            self.expect_words(&["TYPE", "OF"])?;
            let name = self.identifier()?;
            return match self.program.as_mut().and_then(|scope| scope.variable(&name)) {
                Some(variable) => Ok(self.scope().kind_of(variable)),
                None => Err(Error::new(ER_SP_UNDECLARED_VAR, &[&name])),
            };
        }
        self.simple_kind().map(DeclaredKind::Simple)
    }

    /// Parses a type, or `TYPE OF column`.
    fn simple_kind(&mut self) -> Result<VariableKind> {
        if self.accept_words(&["TYPE", "OF"]) {
            let first = self.identifier()?;
            self.expect_token(&Token::Dot)?;
            let second = self.identifier_after_dot()?;
            let (database, table, name) = match self.accept(&Token::Dot) {
                true => (Some(first), second, self.identifier_after_dot()?),
                false => (None, first, second),
            };
            return Ok(VariableKind::TypeOf(ColumnName {
                database,
                table: Some(table),
                name,
            }));
        }
        self.declared_type().map(VariableKind::Typed)
    }

    /// Parses the fields of a row, at the parenthesis.
    fn row_fields(&mut self) -> Result<DeclaredKind> {
        self.expect_token(&Token::LeftParen)?;
        let mut fields: Vec<(String, VariableKind)> = Vec::new();
        let mut names = HashSet::new();
        loop {
            let name = self.identifier()?;
            if self.is_word("ROW") {
                return Err(self.error());
            }
            if !names.insert(name.to_lowercase()) {
                return Err(Error::new(ER_DUP_FIELDNAME, &[&name]));
            }
            let kind = VariableKind::Typed(self.declared_type()?);
            fields.push((name, kind));
            if !self.accept(&Token::Comma) {
                break;
            }
        }
        self.expect_token(&Token::RightParen)?;
        Ok(DeclaredKind::Row(fields))
    }

    /// Parses the name of a cursor or a table, after `ROW TYPE OF`.
    fn row_type_of(&mut self) -> Result<DeclaredKind> {
        let table = self.table_name()?;
        let Some(scope) = self.program.as_mut() else {
            return Err(Error::unsupported("parameters of type ROW TYPE OF"));
        };
        if table.database.is_none()
            && let Ok(cursor) = scope.cursor(&table.name)
        {
            return Ok(DeclaredKind::Simple(VariableKind::RowOf { cursor }));
        }
        let cursor = scope.add_cursor(SqlStatement {
            statement: Statement::Query(Box::new(QueryStatement::of_table(table))),
            text: String::new(),
        });
        Ok(DeclaredKind::Simple(VariableKind::RowOf { cursor }))
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
                if parser.is_any_word(&["OUT", "INOUT"]) {
                    return Err(Error::unsupported("OUT/INOUT cursor parameter"));
                }
                let _ = parser.accept_word("IN");
                let name = parser.identifier()?;
                if parser.scope().declares_variable(&name) {
                    return Err(Error::new(ER_SP_DUP_PARAM, &[&name]));
                }
                let kind = parser.simple_kind()?;
                let variable = parser.scope().add_variable(name, kind)?;
                parser.scope().show_variable(variable);
                Ok(variable)
            })?;
            self.expect_token(&Token::RightParen)?;
        }
        self.expect_word("FOR")?;
        let start = self.position();
        if !self.is_any_word(&["SELECT", "WITH", "VALUES"]) && !self.is(&Token::LeftParen) {
            return Err(self.error());
        }
        let statement = self.statement()?;
        self.scope().end_block();
        check_cursor_query(&statement)?;
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

#[cfg(test)]
mod tests {
    use crate::{ParseOptions, parse_first};
    use paceline_types::error_code::ER_OUT_OF_RESOURCES;
    use paceline_types::{ServerMemory, SessionMemory};

    #[test]
    fn a_short_text_cannot_declare_millions_of_variables() {
        let list = |prefix: &str, count: usize, end: &str| {
            let names: Vec<String> = (0..count).map(|index| format!("{prefix}{index}{end}")).collect();
            names.join(",")
        };
        let error = |text: &str| match parse_first(text.as_bytes(), &ParseOptions::default()) {
            Ok(_) => 0,
            Err(error) => error.code().number(),
        };
        let fields = list("f", 5000, " int");
        for (declarations, expected) in [
            (format!("DECLARE r ROW({fields});"), 0),
            (format!("DECLARE {} ROW({fields});", list("v", 5000, "")), 1117),
            (
                format!(
                    "DECLARE r ROW({fields}); DECLARE {} TYPE OF r;",
                    list("v", 20, "")
                ),
                1117,
            ),
            ("DECLARE r ROW(a int, b int, A int);".to_owned(), 1060),
            ("DECLARE a, b, A int;".to_owned(), 1331),
        ] {
            let text = format!("BEGIN NOT ATOMIC {declarations} END");
            assert_eq!(error(&text), expected, "{declarations:.60}");
        }
    }

    #[test]
    fn copies_of_a_declaration_are_charged() {
        let names: Vec<String> = (0..1000).map(|index| format!("v{index}")).collect();
        let list = vec!["'12'"; 1000].join(",");
        for declaration in [format!("ENUM({list})"), format!("INT DEFAULT 1 IN ({list})")] {
            let text = format!("BEGIN NOT ATOMIC DECLARE {} {declaration}; END", names.join(","));
            let options = ParseOptions {
                memory: Some(SessionMemory::new(ServerMemory::new(64 << 20))),
                ..ParseOptions::default()
            };
            let error = parse_first(text.as_bytes(), &options).map(|_| ()).unwrap_err();
            assert_eq!(error.code(), ER_OUT_OF_RESOURCES);
        }
    }
}
