//! Statements that a session may not execute although it has the privileges: after the password has expired, and
//! beyond the limits of its account. Almost no session has restrictions, so the check is one comparison.

use crate::accounts::resource_limits::{Effect, SessionUse};
use paceline_syntax::{AccountStatement, Error, Result, Statement};
use paceline_types::error_code::ER_MUST_CHANGE_PASSWORD;

/// Restrictions of a session.
#[derive(Debug, Default)]
pub struct Restrictions {
    /// The password has expired: only a new one can be set.
    pub must_change_password: bool,
    /// Counters of an account with limits.
    pub hourly_use: Option<SessionUse>,
}

impl Restrictions {
    /// Checks whether the session may execute a statement.
    ///
    /// # Errors
    /// 1820 if the password has expired; 1226 for too many statements in the hour.
    #[cold]
    pub fn check(&self, statement: &Statement) -> Result<()> {
        if let Some(hourly_use) = &self.hourly_use {
            hourly_use.count_statement(effect(statement))?;
        }
        let sets_password = matches!(
            statement,
            Statement::Set(_) | Statement::Account(AccountStatement::Alter { .. })
        );
        match self.must_change_password && !sets_password {
            true => Err(Error::new(ER_MUST_CHANGE_PASSWORD, &[])),
            false => Ok(()),
        }
    }
}

/// Returns whether MariaDB counts a statement as a change.
fn effect(statement: &Statement) -> Effect {
    match statement {
        Statement::Insert(_)
        | Statement::Update(_)
        | Statement::Delete(_)
        | Statement::LoadData(_)
        | Statement::Ddl(_)
        | Statement::Account(_) => Effect::Changes,
        _ => Effect::Reads,
    }
}
