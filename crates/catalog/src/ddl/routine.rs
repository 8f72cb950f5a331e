//! CREATE, ALTER and DROP of procedures and functions.
//!
//! A routine is logged in MariaDB's normal form, with an explicit definer; SHOW CREATE shows the same text without the
//! database. MariaDB requires functions to be declared deterministic where its log is on (1418), because its log may
//! contain their calls. This log contains rows, so nothing is required.

use paceline_types::error_code::*;
use paceline_types::{Charset, DataType};

use super::normal_form::{quote_identifier, quote_text, write_definer};
use super::plan::{LoggedStatement, Planner};
use crate::column_type::resolve_type;
use crate::error::{Error, Result};
use crate::{CatalogChange, ProgramEnvironment, RoutineDescription, ViewSecurity};
use paceline_expression::session::SessionContext;
use paceline_syntax::{
    Aggregation, Characteristics, DataAccess, Program, Routine, RoutineKind, RoutineType, TableName,
    UserName, VariableKind,
};
use paceline_types::Collation;

/// Maximum length of the name of a routine, a trigger or an event, in characters.
pub(super) const NAME_LENGTH_MAX: usize = 64;

impl Planner<'_> {
    pub(super) fn create_routine(&mut self, routine: &Routine) -> Result<()> {
        let (database, name) = self.qualified(&routine.name)?;
        let is_function = matches!(routine.kind, RoutineKind::Function { .. });
        if is_function && self.catalog.loadable_function(&name).is_some() {
            return Err(Error::new(ER_UDF_EXISTS, &[&name]));
        }
        let collation = self.database(&database)?.definition().collation;
        if name.is_empty() || name.ends_with(' ') {
            return Err(Error::new(ER_SP_WRONG_NAME, &[&name]));
        }
        if name.chars().count() > NAME_LENGTH_MAX {
            return Err(Error::new(ER_TOO_LONG_IDENT, &[&name]));
        }
        let kind = routine.kind.routine_type();
        if let RoutineKind::Function {
            has_return: false, ..
        } = &routine.kind
        {
            return Err(Error::new(ER_SP_NORETURN, &[&format!("{database}.{name}")]));
        }
        let returns = match &routine.kind {
            RoutineKind::Procedure => String::new(),
            RoutineKind::Function { returns, .. } => {
                returned_type(&resolve_type("", returns, collation, self.session)?)
            }
        };
        self.check_types(&routine.program, collation)?;
        let now = self.session.statement.start_micros / 1_000_000;
        let given = &routine.characteristics;
        let description = RoutineDescription {
            environment: ProgramEnvironment::of(self.session, collation.name()),
            parameters: routine.parameters_text.clone(),
            returns,
            body: routine.body_text.clone(),
            comment: given.comment.clone().unwrap_or_default(),
            deterministic: given.deterministic.unwrap_or(false),
            data_access: given.data_access.unwrap_or_default(),
            aggregation: match routine.kind {
                RoutineKind::Procedure => Aggregation::None,
                RoutineKind::Function { aggregation, .. } => aggregation,
            },
            security: given.security.unwrap_or_default(),
            definer: self.definer(routine.definer.as_ref())?,
            created_seconds: now,
            modified_seconds: now,
            kind,
            database,
            name,
        };
        self.plan.logged = LoggedStatement::Rewritten(logged_text(routine, &description));
        let known = self
            .catalog
            .routine(kind, &description.database, &description.name);
        match known.cloned() {
            Some(known) if routine.or_replace => {
                let (database, name) = (known.database.clone(), known.name.clone());
                self.change(CatalogChange::DropRoutine { kind, database, name })?;
            }
            Some(_) => {
                let error = Error::new(ER_SP_ALREADY_EXISTS, &[&kind.name(), &description.name]);
                return self.note_or_fail(routine.if_not_exists.into(), error);
            }
            None => {}
        }
        self.change(CatalogChange::PutRoutine(Box::new(description)))
    }

    /// Checks the declared types of a program's variables.
    fn check_types(&mut self, program: &Program, collation: Collation) -> Result<()> {
        for variable in &program.variables {
            if let VariableKind::Typed(spec) = &variable.kind {
                resolve_type(&variable.name, spec, collation, self.session)?;
            }
        }
        Ok(())
    }

    /// Returns the account of a DEFINER clause, as [`definer_account`] does.
    pub(super) fn definer(&self, definer: Option<&paceline_syntax::AccountName>) -> Result<(String, String)> {
        definer_account(definer, self.session)
    }

    pub(super) fn alter_routine(
        &mut self,
        kind: RoutineType,
        name: &TableName,
        new: &Characteristics,
    ) -> Result<()> {
        let (database, name) = self.qualified(name)?;
        let Some(known) = self.catalog.routine(kind, &database, &name) else {
            return Err(no_such_routine(kind, &database, &name));
        };
        let mut description = known.description().clone();
        if let Some(comment) = &new.comment {
            description.comment.clone_from(comment);
        }
        if let Some(deterministic) = new.deterministic {
            description.deterministic = deterministic;
        }
        if let Some(data_access) = new.data_access {
            description.data_access = data_access;
        }
        if let Some(security) = new.security {
            description.security = security;
        }
        description.modified_seconds = self.session.statement.start_micros / 1_000_000;
        self.change(CatalogChange::PutRoutine(Box::new(description)))
    }

    pub(super) fn drop_routine(
        &mut self,
        kind: RoutineType,
        if_exists: bool,
        name: &TableName,
    ) -> Result<()> {
        // A name without a database means what it means in a call.
        if kind == RoutineType::Function && name.database.is_none() {
            if self.catalog.loadable_function(&name.name).is_some() {
                return self.drop_loadable_function(&name.name);
            }
            if self.session.database.is_none() {
                let missing = Error::new(ER_SP_DOES_NOT_EXIST, &[&"FUNCTION (UDF)", &name.name]);
                return self.note_or_fail(if_exists.into(), missing);
            }
        }
        let (database, name) = self.qualified(name)?;
        match self.catalog.routine(kind, &database, &name) {
            Some(known) => {
                let name = known.name.clone();
                self.change(CatalogChange::DropRoutine { kind, database, name })
            }
            None => self.note_or_fail(if_exists.into(), no_such_routine(kind, &database, &name)),
        }
    }

    /// Drops the routines of a database that is dropped.
    pub(super) fn drop_routines(&mut self, database: &str) -> Result<()> {
        let known = self.catalog.database(database).cloned();
        for routine in known.iter().flat_map(|database| database.routines()) {
            self.change(CatalogChange::DropRoutine {
                kind: routine.kind,
                database: database.to_owned(),
                name: routine.name.clone(),
            })?;
        }
        Ok(())
    }
}

/// Returns error 1305.
pub fn no_such_routine(kind: RoutineType, database: &str, name: &str) -> Error {
    Error::new(
        ER_SP_DOES_NOT_EXIST,
        &[&kind.name(), &format!("{database}.{name}")],
    )
}

/// Returns the type of a function's value in the form of SHOW CREATE FUNCTION.
fn returned_type(data_type: &DataType) -> String {
    let mut text = data_type.to_string();
    let has_charset =
        data_type.is_text() || matches!(data_type, DataType::Enum { .. } | DataType::Set { .. });
    let collation = data_type.collation();
    if has_charset && collation.charset() != Charset::Binary {
        text.push_str(" CHARSET ");
        text.push_str(collation.charset().name());
        text.push_str(" COLLATE ");
        text.push_str(collation.name());
    }
    text
}

fn logged_text(routine: &Routine, description: &RoutineDescription) -> String {
    let mut text = "CREATE ".to_owned();
    if routine.or_replace {
        text.push_str("OR REPLACE ");
    }
    let if_not_exists = if routine.if_not_exists {
        "IF NOT EXISTS "
    } else {
        ""
    };
    write_routine(
        description,
        if_not_exists,
        routine.name.database.as_deref(),
        &mut text,
    );
    text
}

/// Returns the statement of SHOW CREATE PROCEDURE and SHOW CREATE FUNCTION.
pub fn show_create_routine(routine: &RoutineDescription) -> String {
    let mut text = "CREATE ".to_owned();
    write_routine(routine, "", None, &mut text);
    text
}

fn write_routine(
    routine: &RoutineDescription,
    if_not_exists: &str,
    database: Option<&str>,
    text: &mut String,
) {
    write_definer(&routine.definer, text);
    if routine.aggregation == Aggregation::Group {
        text.push_str(" AGGREGATE");
    }
    text.push(' ');
    text.push_str(routine.kind.name());
    text.push(' ');
    text.push_str(if_not_exists);
    if let Some(database) = database {
        quote_identifier(database, text);
        text.push('.');
    }
    quote_identifier(&routine.name, text);
    text.push('(');
    text.push_str(&routine.parameters);
    text.push(')');
    if !routine.returns.is_empty() {
        text.push_str(" RETURNS ");
        text.push_str(&routine.returns);
    }
    text.push('\n');
    match routine.data_access {
        DataAccess::ContainsSql => {}
        other => {
            text.push_str("    ");
            text.push_str(other.name());
            text.push('\n');
        }
    }
    if routine.deterministic {
        text.push_str("    DETERMINISTIC\n");
    }
    if routine.security == ViewSecurity::Invoker {
        text.push_str("    SQL SECURITY INVOKER\n");
    }
    if !routine.comment.is_empty() {
        text.push_str("    COMMENT ");
        quote_text(&routine.comment, text);
        text.push('\n');
    }
    text.push_str(&routine.body);
}

/// Returns the account of a DEFINER clause; without one it is that of the session. A role has an empty host.
///
/// # Errors
/// 1446 for the current role if there is none, 1959 for PUBLIC.
pub fn definer_account(
    definer: Option<&paceline_syntax::AccountName>,
    session: &SessionContext,
) -> Result<(String, String)> {
    let current = &session.current_user;
    match definer.map(|definer| (&definer.user, &definer.host)) {
        None | Some((UserName::Current, _)) => Ok((current.user.clone(), current.host.clone())),
        Some((UserName::Name(user), host)) => {
            let host = if host.is_empty() { "%" } else { host };
            Ok((user.clone(), host.to_ascii_lowercase()))
        }
        Some((UserName::Unqualified(user), _)) => {
            let is_role = session.services.privileges.is_role(user);
            let host = if is_role { "" } else { "%" };
            Ok((user.clone(), host.to_owned()))
        }
        Some((UserName::CurrentRole, _)) => match &session.current_role {
            Some(role) => Ok((role.clone(), String::new())),
            None => Err(Error::new(ER_MALFORMED_DEFINER, &[])),
        },
        Some((UserName::Public, _)) => Err(Error::new(ER_INVALID_ROLE, &[&"public"])),
    }
}
