//! Stored programs: blocks and control statements, declarations, SIGNAL, and what creates programs.
//!
//! While a program is parsed, [`ProgramScope`] knows the names of its variables; expressions and other statements ask
//! it (see [`crate::statement::Program`] for what a name becomes).

mod block;
mod condition;
mod control;
mod create;
mod event;
mod scope;

pub(super) use create::CreateOptions;
pub(super) use scope::{ProgramKind, ProgramScope};

use super::parser::Parser;
use crate::ast::Expr;
use crate::error::{Error, Result};
use crate::lexer::Token;
use crate::statement::definition::DdlStatement;
use crate::statement::*;
use paceline_types::error_code::*;

impl Parser<'_> {
    /// Parses the statements of a program with `scope`, and returns it.
    fn program(
        &mut self,
        scope: ProgramScope,
        body: impl FnOnce(&mut Self) -> Result<LocatedStatement>,
    ) -> Result<Program> {
        let parameters = scope.variables.len();
        let outer = self.program.replace(Box::new(scope));
        let body = body(self);
        let scope = std::mem::replace(&mut self.program, outer).expect("set above");
        let body = body?;
        let scope = *scope;
        Ok(Program {
            variables: scope.variables,
            parameters,
            cursors: scope.cursors,
            body,
        })
    }

    /// Returns the scope of the program around the cursor.
    fn scope(&mut self) -> &mut ProgramScope {
        self.program.as_mut().expect("only called within a program")
    }

    /// Parses `BEGIN NOT ATOMIC … END`, after BEGIN.
    pub(super) fn compound_statement(&mut self) -> Result<Statement> {
        self.expect_words(&["NOT", "ATOMIC"])?;
        let program = self.program(ProgramScope::new(ProgramKind::Procedure), |parser| {
            let line = parser.line();
            let statement = parser.block(None)?;
            Ok(LocatedStatement { line, statement })
        })?;
        Ok(Statement::Compound(Box::new(CompoundStatement { program })))
    }

    /// Parses a control statement outside a program.
    pub(super) fn control_statement(&mut self) -> Result<Statement> {
        if self.program.is_some() {
            return Err(self.error());
        }
        let program = self.program(ProgramScope::new(ProgramKind::Procedure), Self::program_statement)?;
        Ok(Statement::Compound(Box::new(CompoundStatement { program })))
    }

    /// Returns the variable that a name means, as an expression. `None` if it can only be a column.
    ///
    /// # Errors
    /// 1327 where there can be no columns.
    pub(super) fn variable_named(&mut self, name: &str) -> Result<Option<Expr>> {
        let has_columns = self.query_depth > 0;
        let Some(scope) = &mut self.program else {
            return Ok(None);
        };
        match scope.variable(name) {
            Some(variable) => {
                scope.uses += 1;
                Ok(Some(Expr::Parameter(variable)))
            }
            None if has_columns || scope.has_columns => Ok(None),
            None => Err(Error::new(ER_SP_UNDECLARED_VAR, &[&name])),
        }
    }

    /// Returns how often variables of the program around the cursor have been named.
    pub(super) fn variable_uses(&self) -> usize {
        self.program.as_ref().map_or(0, |scope| scope.uses)
    }

    /// Returns the variable of a row's field, or of a column of NEW or OLD.
    ///
    /// # Errors
    /// 4082, 1363.
    pub(super) fn qualified_variable(&mut self, row: &str, column: &str) -> Result<Option<Expr>> {
        let Some(scope) = &mut self.program else {
            return Ok(None);
        };
        if let Some(variable) = scope.variable(row)
            && let Some(field) = scope.row_field(variable, column)?
        {
            scope.uses += 1;
            return Ok(Some(Expr::Parameter(field)));
        }
        match scope.trigger_row(row) {
            Some(row) => scope
                .trigger_column(row, column)
                .map(|variable| Some(Expr::Parameter(variable))),
            None => Ok(None),
        }
    }

    /// Parses the target of INTO and of GET DIAGNOSTICS.
    ///
    /// # Errors
    /// 1327.
    pub(super) fn target(&mut self) -> Result<Target> {
        if let Token::UserVariable(name) = self.peek() {
            let name = name.clone();
            self.advance();
            return Ok(Target::User(name));
        }
        if self.program.is_none() {
            return Err(match self.is_identifier() {
                true => {
                    let name = self.identifier()?;
                    Error::new(ER_SP_UNDECLARED_VAR, &[&name])
                }
                false => self.error(),
            });
        }
        let mut variable = self.plain_variable()?;
        if self.accept(&Token::Dot) {
            let field = self.identifier_after_dot()?;
            match self.scope().row_field(variable, &field)? {
                Some(field) => variable = field,
                None => return Err(self.error()),
            }
        }
        Ok(Target::Variable(variable))
    }

    /// Parses the name of a variable that gets a value, and returns its number.
    ///
    /// # Errors
    /// 1327.
    fn plain_variable(&mut self) -> Result<usize> {
        let name = self.identifier()?;
        let variable = self.scope().variable(&name);
        variable.ok_or_else(|| Error::new(ER_SP_UNDECLARED_VAR, &[&name]))
    }

    /// Parses the name of a variable, or a column of NEW, that SET gives a value.
    ///
    /// # Errors
    /// 1327; 1105 for a part of a variable; 1362, 1363 for a column of NEW or OLD.
    fn assigned_variable(&mut self) -> Result<usize> {
        if !self.is_at(1, &Token::Dot) {
            return self.plain_variable();
        }
        let name = self.identifier()?;
        self.advance();
        let column = self.identifier_after_dot()?;
        let scope = self.scope();
        if let Some(variable) = scope.variable(&name) {
            if let Some(field) = scope.row_field(variable, &column)? {
                return Ok(field);
            }
            let message = format!("'{name}' is not a row variable");
            return Err(Error::with_message(ER_UNKNOWN_ERROR, message));
        }
        match scope.trigger_row(&name) {
            Some(row) => scope.assigned_trigger_column(row, &column),
            None => Err(Error::new(ER_SP_UNDECLARED_VAR, &[&name])),
        }
    }

    /// Checks that a program may contain a statement.
    ///
    /// # Errors
    /// 1314, 1303, 1357; within functions and triggers also 1336, 1415, 1422, 1445.
    fn check_allowed(&mut self, statement: &Statement) -> Result<()> {
        let forbidden = |what: &str| Err(Error::new(ER_SP_BADSTATEMENT, &[&what]));
        match statement {
            Statement::Use(_) => return forbidden("USE"),
            Statement::LockTables(_) => return forbidden("LOCK"),
            Statement::UnlockTables => return forbidden("UNLOCK"),
            Statement::LoadData(_) => return forbidden("LOAD DATA"),
            Statement::Help(_) => return forbidden("HELP"),
            Statement::Handler(_) => return forbidden("HANDLER"),
            Statement::Unsupported(what) => return Err(Error::unsupported(what)),
            Statement::TableMaintenance {
                operation: TableMaintenance::Check,
                ..
            } => return forbidden("CHECK"),
            Statement::Ddl(DdlStatement::CreateView(view)) if view.mode == definition::ViewMode::Alter => {
                return forbidden("ALTER VIEW");
            }
            Statement::Ddl(DdlStatement::CreateRoutine(routine)) => {
                return Err(Error::new(
                    ER_SP_NO_RECURSIVE_CREATE,
                    &[&routine.kind.routine_type().name()],
                ));
            }
            Statement::Ddl(DdlStatement::CreateLoadableFunction(_)) => {
                return Err(Error::new(ER_SP_NO_RECURSIVE_CREATE, &[&"FUNCTION"]));
            }
            Statement::Ddl(DdlStatement::CreateTrigger(_)) => {
                return Err(Error::new(ER_SP_NO_RECURSIVE_CREATE, &[&"TRIGGER"]));
            }
            Statement::Ddl(
                DdlStatement::AlterRoutine { kind, .. } | DdlStatement::DropRoutine { kind, .. },
            ) => {
                return Err(Error::new(ER_SP_NO_DROP_SP, &[&kind.name()]));
            }
            _ => {}
        }
        let kind = self.scope().kind;
        match kind.is_within_statement() {
            true => self.check_allowed_within_statement(kind, statement),
            false => Ok(()),
        }
    }

    fn check_allowed_within_statement(&self, kind: ProgramKind, statement: &Statement) -> Result<()> {
        let not_here = |what: &str| Err(Error::new(ER_STMT_NOT_ALLOWED_IN_SF_OR_TRG, &[&what]));
        let returns_rows = match statement {
            Statement::Query(query) => query.into.is_none(),
            Statement::Insert(insert) => !insert.returning.is_empty(),
            Statement::Delete(delete) => !delete.returning.is_empty(),
            Statement::Show(_)
            | Statement::Explain(_)
            | Statement::TableMaintenance { .. }
            | Statement::ChecksumTable { .. } => true,
            _ => false,
        };
        if returns_rows {
            let place = match kind {
                ProgramKind::Trigger { .. } => "trigger",
                _ => "function",
            };
            return Err(Error::new(ER_SP_NO_RETSET, &[&place]));
        }
        let is_password = |item: &SetItem| match item {
            // As in MariaDB.
            SetItem::Password { .. } | SetItem::DefaultRole { .. } => true,
            SetItem::Variable { name, .. } => name.eq_ignore_ascii_case("autocommit"),
            _ => false,
        };
        match statement {
            Statement::Prepare { .. }
            | Statement::Execute { .. }
            | Statement::ExecuteImmediate { .. }
            | Statement::Deallocate(_) => not_here("Dynamic SQL"),
            Statement::Flush { .. } => not_here("FLUSH"),
            Statement::Reset(_) => not_here("RESET"),
            Statement::Set(items) if items.iter().any(is_password) => {
                Err(Error::new(ER_SP_CANT_SET_AUTOCOMMIT, &[]))
            }
            Statement::Ddl(DdlStatement::CreateTable(table)) if table.temporary => Ok(()),
            Statement::Ddl(DdlStatement::DropTables { temporary: true, .. }) => Ok(()),
            Statement::Ddl(_)
            | Statement::Account(_)
            | Statement::Plugin(_)
            | Statement::Transaction(
                TransactionStatement::Start { .. }
                | TransactionStatement::Commit(_)
                | TransactionStatement::Rollback(_),
            ) => Err(Error::new(ER_COMMIT_NOT_ALLOWED_IN_SF_OR_TRG, &[])),
            _ => Ok(()),
        }
    }
}
