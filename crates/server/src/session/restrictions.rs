//! What a session may not do although it has the privileges: after the password has expired, and beyond the limits of
//! its account. Almost no session has restrictions, so the check is one comparison.

use super::state::SessionState;
use crate::accounts::resource_limits::{Effect, SessionUse};
use crate::variables::Variable;
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

impl SessionState {
    /// Checks whether the session may execute a statement of its client now.
    ///
    /// # Errors
    /// 1820 if the password has expired; 1226 for too many statements in the hour.
    #[inline]
    pub(super) fn check_restrictions(&self, statement: &Statement) -> Result<()> {
        match &self.restrictions {
            None => Ok(()),
            Some(restrictions) => restrictions.check(statement),
        }
    }

    /// Returns whether the password has expired.
    pub(super) fn must_change_password(&self) -> bool {
        (self.restrictions.as_ref()).is_some_and(|restrictions| restrictions.must_change_password)
    }

    /// Ends the restriction to setting a password, if the account has a new one.
    pub(super) fn heed_new_password(&mut self) {
        if !self.must_change_password() {
            return;
        }
        let accounts = self.server.accounts.load();
        let current = &self.context.current_user;
        let lifetime = self.server.globals.number(Variable::DefaultPasswordLifetime);
        let now = self.context.statement.start_seconds();
        let has_expired = (accounts.get(&current.user, &current.host))
            .is_none_or(|account| account.password_age.has_expired(lifetime, now));
        if let Some(restrictions) = &mut self.restrictions {
            restrictions.must_change_password = has_expired;
        }
    }
}

impl Restrictions {
    #[cold]
    fn check(&self, statement: &Statement) -> Result<()> {
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
