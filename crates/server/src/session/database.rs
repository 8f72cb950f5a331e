//! The current database of a session.

use super::state::SessionState;
use crate::variables::{Variable, VariableValue, apply_to_session};
use crate::virtual_tables::{EMPTY_DATABASES, virtual_database};
use paceline_catalog::Catalog;
use paceline_syntax::{Error, Result};
use paceline_types::Collation;
use paceline_types::error_code::*;
use paceline_wire::session_state::StateChange;

/// Database that was current before that of a prepared statement.
pub struct LeftDatabase(Option<String>);

impl SessionState {
    /// Changes the current database.
    ///
    /// # Errors
    /// 1049 if it does not exist; 1044 if the account may not see it; 1046 for an empty name.
    pub(super) fn use_database(&mut self, name: &str) -> Result<()> {
        if name.is_empty() {
            return Err(Error::new(ER_NO_DB_ERROR, &[]));
        }
        let virtual_name = virtual_database(name);
        let account = self.services.account();
        if virtual_name != Some("information_schema") && !account.can_see(name) {
            let current = &self.context.current_user;
            return Err(Error::new(
                ER_DBACCESS_DENIED_ERROR,
                &[&current.user, &current.host, &name],
            ));
        }
        let Some((name, collation)) = self.find_database(name) else {
            return Err(Error::new(ER_BAD_DB_ERROR, &[&name]));
        };
        if self
            .services
            .values
            .lock()
            .get(Variable::SessionTrackSchema)
            .as_bool()
        {
            self.changes.add(&StateChange::Schema(name.clone()));
        }
        self.tracking.note_state_change();
        self.services.enter_database(&name);
        self.set_database(Some((name, collation)));
        Ok(())
    }

    /// Sets the current role. The caller has checked that the account has it.
    pub(super) fn set_role(&mut self, role: Option<String>) {
        let database = self.context.database.as_deref();
        self.services.set_role(role.as_deref(), database);
        self.context.current_role = role;
    }

    /// Returns the spelling of a database's name and its collation, if it exists.
    pub(super) fn find_database(&self, name: &str) -> Option<(String, Collation)> {
        find_database(name, &self.server.catalog.load())
    }

    /// Sets or clears the current database.
    pub(super) fn set_database(&mut self, database: Option<(String, Collation)>) {
        let (name, collation) = match database {
            Some((name, collation)) => (Some(name), collation),
            None => (None, self.context.settings.collation_server),
        };
        self.set_database_collation(collation);
        self.shared.update(|activity| activity.database.clone_from(&name));
        self.context.database = name;
    }

    /// Sets `collation_database`, which follows the current database.
    pub(super) fn set_database_collation(&mut self, collation: Collation) {
        let setting = VariableValue::Text(collation.name().into());
        let mut values = self.services.values.lock();
        values.set(Variable::CollationDatabase, setting.clone());
        apply_to_session(
            &mut self.context,
            &mut values,
            Variable::CollationDatabase,
            &setting,
        );
    }

    /// Makes a prepared statement's database the current one. Returns `None` if it already is: nothing is restored
    /// then, and a USE in the statement stays in effect, as in MariaDB.
    pub(super) fn enter_database(&mut self, database: Option<&str>) -> Option<LeftDatabase> {
        if self.context.database.as_deref() == database {
            return None;
        }
        let left = LeftDatabase(self.context.database.take());
        self.force_database(database);
        Some(left)
    }

    /// Restores the database that was current before [`Self::enter_database`].
    pub(super) fn return_to_database(&mut self, left: Option<LeftDatabase>) {
        if let Some(LeftDatabase(database)) = left {
            self.force_database(database.as_deref());
        }
    }

    /// Changes the database like USE, but without a privilege check. If the database no longer exists, no database is
    /// current, and a note is added.
    fn force_database(&mut self, name: Option<&str>) {
        let found = name.and_then(|name| self.find_database(name));
        if let (Some(name), None) = (name, &found) {
            let message = ER_BAD_DB_ERROR.message(&[&name]);
            self.context.diagnostics.note(ER_BAD_DB_ERROR, message);
        }
        self.set_database(found);
    }
}

/// Returns the spelling of a database's name and its collation, if it exists.
fn find_database(name: &str, catalog: &Catalog) -> Option<(String, Collation)> {
    if let Some(name) = virtual_database(name) {
        return Some((name.to_owned(), Collation::Utf8mb3GeneralCi));
    }
    match catalog.database(name) {
        Some(database) => Some((database.name().to_owned(), database.definition().collation)),
        None => {
            let empty = EMPTY_DATABASES.into_iter().find(|known| *known == name)?;
            Some((empty.to_owned(), Collation::Utf8mb3GeneralCi))
        }
    }
}
