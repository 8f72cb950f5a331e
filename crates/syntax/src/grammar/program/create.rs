//! CREATE PROCEDURE, CREATE FUNCTION, CREATE TRIGGER, CALL.

use super::super::parser::Parser;
use super::scope::{DeclaredKind, ProgramKind, ProgramScope};
use crate::ast::{Expr, Literal};
use crate::error::{Error, Result};
use crate::lexer::Token;
use crate::statement::definition::{CreateLoadableFunction, DdlStatement, LoadableType, ViewSecurity};
use crate::statement::*;
use paceline_types::error_code::*;

/// Options between CREATE and the kind of object.
pub(in crate::grammar) struct CreateOptions {
    pub or_replace: bool,
    pub definer: Option<AccountName>,
}

impl Parser<'_> {
    /// Parses `CALL procedure[(argument, …)]`.
    pub(in crate::grammar) fn call(&mut self) -> Result<Statement> {
        self.expect_word("CALL")?;
        let procedure = self.program_name()?;
        let mut arguments = Vec::new();
        if self.accept(&Token::LeftParen) && !self.accept(&Token::RightParen) {
            arguments = self.comma_separated(Self::expr)?;
            self.expect_token(&Token::RightParen)?;
        }
        Ok(Statement::Call { procedure, arguments })
    }

    /// Parses a routine, a trigger or an event, from the word that says its kind. `None` if none follows.
    pub(in crate::grammar) fn create_program(&mut self, options: CreateOptions) -> Result<Option<Statement>> {
        if self.has_opaque_programs() {
            return Ok(None);
        }
        let start = self.position();
        if self.accept_word("TRIGGER") {
            return self.create_trigger(options, start).map(Some);
        }
        if self.accept_word("EVENT") {
            return self.create_event(options, start).map(Some);
        }
        let aggregation = match self.accept_word("AGGREGATE") {
            true if self.is_word("FUNCTION") => Aggregation::Group,
            true => return Err(self.error()),
            false => Aggregation::None,
        };
        let kind = match self.accept_any_word(&["PROCEDURE", "FUNCTION"]) {
            Some("PROCEDURE") => ProgramKind::Procedure,
            Some(_) => ProgramKind::Function,
            None => return Ok(None),
        };
        self.create_routine(options, kind, aggregation).map(Some)
    }

    fn create_routine(
        &mut self,
        options: CreateOptions,
        kind: ProgramKind,
        aggregation: Aggregation,
    ) -> Result<Statement> {
        let if_not_exists = self.if_not_exists(options.or_replace)?;
        let name = self.program_name()?;
        // A function of a library has neither a database nor a definer.
        if kind == ProgramKind::Function && self.is_word("RETURNS") {
            if name.database.is_some() || options.definer.is_some() {
                return Err(self.error());
            }
            return self.create_loadable_function(CreateLoadableFunction {
                or_replace: options.or_replace,
                if_not_exists,
                name: name.name,
                aggregation,
                returns: LoadableType::String,
                library: String::new(),
            });
        }
        let mut scope = ProgramScope::new(kind);
        scope.aggregation = aggregation;
        let mut parameters = Vec::new();
        self.expect_token(&Token::LeftParen)?;
        // MariaDB keeps the text between the parentheses; of a function only from the first parameter on.
        let start = match kind {
            ProgramKind::Function => self.position(),
            _ => self.previous_end(),
        };
        if !self.is(&Token::RightParen) {
            parameters = self.comma_separated(|parser| parser.routine_parameter(&mut scope))?;
        }
        let parameters_text = self.slice(start..self.position());
        self.expect_token(&Token::RightParen)?;
        let mut kind = match kind {
            ProgramKind::Function => {
                self.expect_word("RETURNS")?;
                let start = self.position();
                let returns = self.declared_type()?;
                RoutineKind::Function {
                    returns,
                    returns_text: self.text_since(start),
                    has_return: false,
                    aggregation,
                }
            }
            _ => RoutineKind::Procedure,
        };
        let characteristics = self.characteristics()?;
        let start = self.position();
        let is_of_rows = matches!(
            kind,
            RoutineKind::Function {
                aggregation: Aggregation::None,
                ..
            }
        );
        let module = match is_of_rows && self.accept_words(&["LANGUAGE", "WASM"]) {
            true => Some(self.module_source()?),
            false => None,
        };
        let (mut returns, mut fetches_group) = (module.is_some(), false);
        let program = self.program(scope, |parser| {
            if module.is_some() {
                return Ok(LocatedStatement {
                    line: 1,
                    statement: ProgramStatement::Return(Expr::Literal(Literal::Null)),
                });
            }
            let body = match parser.scope().kind {
                ProgramKind::Function => parser.function_body()?,
                _ => parser.program_statement()?,
            };
            returns |= parser.scope().has_return;
            fetches_group = parser.scope().fetches_group;
            Ok(body)
        })?;
        if let RoutineKind::Function { has_return, .. } = &mut kind {
            *has_return = returns;
        }
        if aggregation == Aggregation::Group && !fetches_group {
            return Err(Error::new(ER_INVALID_AGGREGATE_FUNCTION, &[]));
        }
        Ok(Statement::Ddl(DdlStatement::CreateRoutine(Box::new(Routine {
            or_replace: options.or_replace,
            if_not_exists,
            definer: options.definer,
            name,
            kind,
            parameters,
            characteristics,
            program,
            module,
            parameters_text,
            body_text: self.text_since(start),
        }))))
    }

    /// Parses `RETURNS type SONAME 'library'`.
    fn create_loadable_function(&mut self, mut create: CreateLoadableFunction) -> Result<Statement> {
        self.expect_word("RETURNS")?;
        create.returns = match self.accept_any_word(&["STRING", "REAL", "DECIMAL", "INTEGER", "INT"]) {
            Some("STRING") => LoadableType::String,
            Some("REAL") => LoadableType::Real,
            Some("DECIMAL") => LoadableType::Decimal,
            Some(_) => LoadableType::Integer,
            None => return Err(self.error()),
        };
        self.expect_word("SONAME")?;
        create.library = self.text()?;
        Ok(Statement::Ddl(DdlStatement::CreateLoadableFunction(Box::new(
            create,
        ))))
    }

    /// Parses `AS 'module'` and `AS FILE 'name'`.
    fn module_source(&mut self) -> Result<ModuleSource> {
        self.expect_word("AS")?;
        match self.accept_word("FILE") {
            true => self.text().map(ModuleSource::File),
            false => self.text_bytes().map(ModuleSource::Bytes),
        }
    }

    fn routine_parameter(&mut self, scope: &mut ProgramScope) -> Result<RoutineParameter> {
        let is_procedure = scope.kind == ProgramKind::Procedure;
        let mode = match self.accept_any_word(&["IN", "OUT", "INOUT"]) {
            Some("OUT" | "INOUT") if !is_procedure => return Err(self.error()),
            Some("OUT") => RoutineParameter::Out,
            Some("INOUT") => RoutineParameter::InOut,
            _ => RoutineParameter::In,
        };
        let name = self.checked_identifier()?;
        if scope.declares_variable(&name) {
            return Err(Error::new(ER_SP_DUP_PARAM, &[&name]));
        }
        let kind = match self.declared_kind()? {
            DeclaredKind::Simple(kind) => kind,
            DeclaredKind::Row(_) => return Err(Error::unsupported("parameters of type ROW")),
        };
        let variable = scope.add_variable(name, kind)?;
        scope.show_variable(variable);
        Ok(mode)
    }

    fn characteristics(&mut self) -> Result<Characteristics> {
        let mut found = Characteristics::default();
        loop {
            if self.accept_word("COMMENT") {
                found.comment = Some(self.text()?);
            } else if self.is_word("LANGUAGE") && self.is_word_at(1, "WASM") {
                return Ok(found);
            } else if self.accept_phrase(&["LANGUAGE", "SQL"])? {
            } else if self.accept_words(&["NO", "SQL"]) {
                found.data_access = Some(DataAccess::NoSql);
            } else if self.accept_words(&["CONTAINS", "SQL"]) {
                found.data_access = Some(DataAccess::ContainsSql);
            } else if self.accept_words(&["READS", "SQL", "DATA"]) {
                found.data_access = Some(DataAccess::ReadsSqlData);
            } else if self.accept_words(&["MODIFIES", "SQL", "DATA"]) {
                found.data_access = Some(DataAccess::ModifiesSqlData);
            } else if self.accept_words(&["SQL", "SECURITY"]) {
                found.security = Some(match self.accept_any_word(&["DEFINER", "INVOKER"]) {
                    Some("INVOKER") => ViewSecurity::Invoker,
                    Some(_) => ViewSecurity::Definer,
                    None => return Err(self.error()),
                });
            } else if self.accept_word("DETERMINISTIC") {
                found.deterministic = Some(true);
            } else if self.accept_words(&["NOT", "DETERMINISTIC"]) {
                found.deterministic = Some(false);
            } else {
                return Ok(found);
            }
        }
    }

    /// Parses `ALTER PROCEDURE` and `ALTER FUNCTION`, after ALTER. `None` if neither follows.
    pub(in crate::grammar) fn alter_routine(&mut self) -> Result<Option<Statement>> {
        if self.has_opaque_programs() {
            return Ok(None);
        }
        let kind = match self.accept_any_word(&["PROCEDURE", "FUNCTION"]) {
            Some("PROCEDURE") => RoutineType::Procedure,
            Some(_) => RoutineType::Function,
            None => return Ok(None),
        };
        let name = self.program_name()?;
        let characteristics = self.characteristics()?;
        Ok(Some(Statement::Ddl(DdlStatement::AlterRoutine {
            kind,
            name,
            characteristics,
        })))
    }

    fn create_trigger(&mut self, options: CreateOptions, first: usize) -> Result<Statement> {
        let if_not_exists = self.if_not_exists(options.or_replace)?;
        let name = self.program_name()?;
        let time = match self.accept_any_word(&["BEFORE", "AFTER"]) {
            Some("BEFORE") => TriggerTime::Before,
            Some(_) => TriggerTime::After,
            None => return Err(self.error()),
        };
        let event = match self.accept_any_word(&["INSERT", "UPDATE", "DELETE"]) {
            Some("INSERT") => TriggerEvent::Insert,
            Some("UPDATE") => TriggerEvent::Update,
            Some(_) => TriggerEvent::Delete,
            None => return Err(self.error()),
        };
        let on = self.position();
        self.expect_word("ON")?;
        let table = self.table_name()?;
        let on_table = on - first..on + self.text_since(on).len() - first;
        self.expect_words(&["FOR", "EACH", "ROW"])?;
        let after_row = self.previous_end() - first;
        let order = match self.accept_any_word(&["FOLLOWS", "PRECEDES"]) {
            Some("FOLLOWS") => Some((TriggerOrder::Follows, self.identifier()?)),
            Some(_) => Some((TriggerOrder::Precedes, self.identifier()?)),
            None => None,
        };
        let order_text = after_row..self.previous_end() - first;
        let start = self.position();
        let scope = ProgramScope::new(ProgramKind::Trigger { time, event });
        let program = self.program(scope, Self::program_statement)?;
        Ok(Statement::Ddl(DdlStatement::CreateTrigger(Box::new(Trigger {
            or_replace: options.or_replace,
            if_not_exists,
            definer: options.definer,
            name,
            table,
            time,
            event,
            order,
            program,
            text: self.text_since(first),
            on_table,
            order_text,
            body_text: self.text_since(start),
        }))))
    }
}
