//! Current privileges of a session's account.

use super::statements::{AccountContext, MissingAccounts};
use super::{Account, Accounts, PrivilegeSet, SessionPrivileges, SharedAccounts};
use crate::information_schema::is_for_everybody;
use paceline_catalog::Catalog;
use paceline_expression::session::{Privilege, PrivilegeTarget, SessionContext};
use paceline_syntax::{Error, Result, RoutineType};
use paceline_types::error_code::*;
use std::sync::Arc;

/// Privileges of a session's account, for the checks of its statements.
#[derive(Clone, Copy)]
pub struct Authority<'a> {
    privileges: &'a SessionPrivileges,
    accounts: &'a SharedAccounts,
    session: &'a SessionContext,
}

impl<'a> Authority<'a> {
    /// Creates it from a session's privileges, the server's accounts, and the session's names of itself.
    pub fn new(
        privileges: &'a SessionPrivileges,
        accounts: &'a SharedAccounts,
        session: &'a SessionContext,
    ) -> Self {
        Authority {
            privileges,
            accounts,
            session,
        }
    }

    /// Returns the account with the session's privileges.
    pub fn account(self) -> Arc<Account> {
        self.privileges.account(self.accounts)
    }

    /// Returns the server's accounts.
    pub fn accounts(self) -> &'a SharedAccounts {
        self.accounts
    }

    /// Returns `CURRENT_USER()`: user and host.
    pub fn current_user(self) -> (&'a str, &'a str) {
        let account = &self.session.current_user;
        (&account.user, &account.host)
    }

    /// Returns the host of `USER()`.
    pub fn client_host(self) -> &'a str {
        &self.session.user.host
    }

    /// Returns `CURRENT_ROLE()`.
    pub fn current_role(self) -> Option<&'a str> {
        self.session.current_role.as_deref()
    }

    /// Returns the context for the names of accounts in a statement.
    pub fn names<'b>(self, accounts: &'b Accounts, catalog: &'b Catalog) -> AccountContext<'b>
    where
        'a: 'b,
    {
        AccountContext {
            accounts,
            current: self.current_user(),
            current_role: self.current_role(),
            catalog,
            virtual_tables: &*self.session.services.virtual_tables,
            database: self.database(),
            missing_accounts: MissingAccounts::of_sql_mode(self.session.settings.sql_mode),
            sql_mode: self.session.settings.sql_mode,
            now_seconds: self.session.statement.start_seconds(),
        }
    }

    /// Returns the name of a column of a table that the server computes.
    pub fn virtual_column(self, database: &str, table: &str, column: usize) -> Option<String> {
        let columns = self.session.services.virtual_tables.columns(database, table)?;
        Some(columns.get(column)?.name.clone())
    }

    /// Returns the current database.
    pub fn database(self) -> Option<&'a str> {
        self.session.database.as_deref()
    }

    /// Returns the privileges in a database.
    pub fn privileges_in(self, database: &str) -> PrivilegeSet {
        self.privileges.within(database, self.database(), self.accounts)
    }

    /// Checks that the account has at least one of these global privileges.
    ///
    /// # Errors
    /// 1227.
    pub fn require_any(self, privileges: &[Privilege]) -> Result<()> {
        self.privileges.require_any(privileges, self.accounts)
    }

    /// Checks a privilege.
    ///
    /// # Errors
    /// 1227 if a global privilege is missing, 1044 for one on a database, 1142 for one on a table.
    pub fn check(self, privilege: Privilege, target: PrivilegeTarget<'_>) -> Result<()> {
        let database = match target {
            PrivilegeTarget::Global => return self.require_any(&[privilege]),
            PrivilegeTarget::Database(database) | PrivilegeTarget::Table { database, .. } => database,
        };
        if self.privileges_in(database).has(privilege) || is_for_everybody(privilege, database) {
            return Ok(());
        }
        match target {
            // LOCK TABLES can only be granted on whole databases.
            PrivilegeTarget::Table { table, .. } if privilege != Privilege::LockTables => {
                let missing = PrivilegeSet::of(&[privilege]);
                match missing.minus(self.account().on_table(database, table).whole) {
                    rest if rest.is_empty() => Ok(()),
                    rest => Err(self.denied(rest, database, table)),
                }
            }
            _ => Err(Error::new(
                ER_DBACCESS_DENIED_ERROR,
                &[
                    &self.session.current_user.user,
                    &self.session.current_user.host,
                    &database,
                ],
            )),
        }
    }

    /// Checks privileges on a whole table.
    ///
    /// # Errors
    /// 1142 with all privileges that the account does not have.
    pub fn check_table(self, privileges: &[Privilege], database: &str, table: &str) -> Result<()> {
        let missing = self.missing_on_table(PrivilegeSet::of(privileges), database, table);
        match missing.is_empty() {
            true => Ok(()),
            false => Err(self.denied(missing, database, table)),
        }
    }

    /// Checks privileges on a table, or on any of its columns.
    ///
    /// # Errors
    /// 1142 with all privileges that the account does not have.
    pub fn check_any_column(self, privileges: &[Privilege], database: &str, table: &str) -> Result<()> {
        let missing = self.missing_on_table(PrivilegeSet::of(privileges), database, table);
        if missing.is_empty() {
            return Ok(());
        }
        let missing = missing.minus(self.account().on_table(database, table).any_column);
        match missing.is_empty() {
            true => Ok(()),
            false => Err(self.denied(missing, database, table)),
        }
    }

    /// Checks SELECT on a column; `None` is one that the table does not have.
    ///
    /// # Errors
    /// 1142 without any privilege on the table or one of its columns, otherwise 1143.
    pub fn check_column(self, database: &str, table: &str, column: Option<&str>) -> Result<()> {
        let select = PrivilegeSet::of(&[Privilege::Select]);
        let may_read_all = is_for_everybody(Privilege::Select, database)
            || self.missing_on_table(select, database, table).is_empty();
        if may_read_all {
            return Ok(());
        }
        let granted = self.account().on_table(database, table);
        if granted.whole.union(granted.any_column).is_empty() {
            return Err(self.denied(select, database, table));
        }
        match column {
            Some(column) if !(self.account().on_column(database, table, column)).has(Privilege::Select) => {
                Err(self.column_denied(select, column, table))
            }
            _ => Ok(()),
        }
    }

    /// Returns the privileges that the account has neither on a table nor on its database.
    pub fn missing_on_table(self, needed: PrivilegeSet, database: &str, table: &str) -> PrivilegeSet {
        let missing = needed.minus(self.privileges_in(database));
        match missing.is_empty() {
            true => missing,
            false => missing.minus(self.account().on_table(database, table).whole),
        }
    }

    /// Returns whether the account has any privilege on a table or one of its columns. Others do not see the table.
    pub fn can_see_table(self, database: &str, table: &str) -> bool {
        let of_tables = PrivilegeSet::grantable_on_table();
        if !self.privileges_in(database).intersection(of_tables).is_empty() {
            return true;
        }
        let granted = self.account().on_table(database, table);
        !granted.whole.union(granted.any_column).is_empty()
    }

    /// Returns the privileges on a column: those on its database, its table and itself.
    pub fn privileges_on_column(self, database: &str, table: &str, column: &str) -> PrivilegeSet {
        let account = self.account();
        self.privileges_in(database)
            .union(account.on_table(database, table).whole)
            .union(account.on_column(database, table, column))
    }

    /// Returns whether the account has a privilege on a routine: EXECUTE or ALTER ROUTINE.
    pub fn has_on_routine(self, privilege: Privilege, database: &str, kind: RoutineType, name: &str) -> bool {
        self.privileges_in(database).has(privilege)
            || (self.account().on_routine(database, kind, name)).has(privilege)
    }

    /// Returns 1142 for missing privileges on a table.
    pub fn denied(self, missing: PrivilegeSet, database: &str, table: &str) -> Error {
        self.denied_to(&missing.denied(), database, table)
    }

    /// Returns 1142 for a command on a table.
    pub fn denied_to(self, command: &str, database: &str, table: &str) -> Error {
        let (user, host) = self.shown_user();
        Error::new(
            ER_TABLEACCESS_DENIED_ERROR,
            &[&command, &user, &host, &database, &table],
        )
    }

    /// Returns user and host as messages about tables show them: with the client's host. A role's program has neither.
    fn shown_user(self) -> (&'a str, &'a str) {
        match self.current_user() {
            ("", "") => ("", ""),
            (user, _) => (user, self.client_host()),
        }
    }

    /// Returns 1143 for missing privileges on a column.
    pub fn column_denied(self, missing: PrivilegeSet, column: &str, table: &str) -> Error {
        let (user, host) = self.shown_user();
        Error::new(
            ER_COLUMNACCESS_DENIED_ERROR,
            &[&missing.denied(), &user, &host, &column, &table],
        )
    }

    /// Checks whether the account may know that a database exists.
    ///
    /// # Errors
    /// 1044.
    pub fn check_visible(self, database: &str) -> Result<()> {
        match self.can_see(database) {
            true => Ok(()),
            false => Err(Error::new(
                ER_DBACCESS_DENIED_ERROR,
                &[
                    &self.session.current_user.user,
                    &self.session.current_user.host,
                    &database,
                ],
            )),
        }
    }

    /// Returns whether the account may know that a database exists.
    pub fn can_see(self, database: &str) -> bool {
        database.eq_ignore_ascii_case("information_schema") || self.account().can_see(database)
    }
}

#[cfg(test)]
pub(crate) mod tests {
    use super::*;

    /// A session with its privileges, for tests of checks.
    pub(crate) struct Holder {
        pub(crate) privileges: SessionPrivileges,
        pub(crate) accounts: SharedAccounts,
        pub(crate) session: SessionContext,
    }

    impl Holder {
        /// Creates a session of `u@%` with the current database `d`, these global privileges and these privileges on
        /// databases.
        pub(crate) fn new(global: &[Privilege], databases: &[(&str, &[Privilege])]) -> Holder {
            let set = |privileges: &[Privilege]| {
                let all = privileges.iter();
                all.fold(PrivilegeSet::NONE, |set, privilege| set.with(*privilege))
            };
            let mut account = Account::new("u", "%");
            account.global = set(global);
            account.databases = databases
                .iter()
                .map(|(name, privileges)| ((*name).to_owned(), set(privileges)))
                .collect();
            let accounts = SharedAccounts::of(vec![account.clone(), Account::new("root", "localhost")]);
            let privileges = SessionPrivileges::default();
            privileges.log_in(account, &accounts);
            privileges.enter("d", &accounts);
            let mut session = SessionContext::new(1, Default::default());
            session.current_user.user = "u".to_owned();
            session.current_user.host = "%".to_owned();
            session.user.user = "u".to_owned();
            session.user.host = "localhost".to_owned();
            session.database = Some("d".to_owned());
            Holder {
                privileges,
                accounts,
                session,
            }
        }

        pub(crate) fn authority(&self) -> Authority<'_> {
            Authority::new(&self.privileges, &self.accounts, &self.session)
        }
    }

    /// Returns number and message of an error; 0 and no message for success.
    pub(crate) fn outcome_of(done: Result<()>) -> (u16, String) {
        match done {
            Ok(()) => (0, String::new()),
            Err(error) => (error.code().number(), error.message().to_owned()),
        }
    }

    #[test]
    fn a_missing_privilege_is_named_as_in_mariadb() {
        let holder = Holder::new(&[Privilege::Process], &[("d", &[Privilege::Select])]);
        let authority = holder.authority();
        assert_eq!(
            outcome_of(authority.require_any(&[Privilege::Super, Privilege::Process])).0,
            0
        );
        assert_eq!(
            outcome_of(authority.require_any(&[Privilege::Super, Privilege::BinlogAdmin])),
            (
                1227,
                "Access denied; you need (at least one of) the SUPER, BINLOG ADMIN privilege(s) for this operation".into()
            )
        );
        assert_eq!(
            outcome_of(authority.check_table(&[Privilege::Select], "d", "t")).0,
            0
        );
        assert_eq!(
            outcome_of(authority.check_table(&[Privilege::Select, Privilege::Insert], "d", "t")),
            (
                1142,
                "INSERT command denied to user 'u'@'localhost' for table `d`.`t`".into()
            )
        );
        // LOCK TABLES is a privilege on a database.
        let denied = (1044, "Access denied for user 'u'@'%' to database 'd'".to_owned());
        assert_eq!(
            outcome_of(authority.check(Privilege::LockTables, PrivilegeTarget::Database("d"))),
            denied
        );
        assert_eq!(
            outcome_of(authority.check(Privilege::Drop, PrivilegeTarget::Database("d"))),
            denied
        );
    }

    #[test]
    fn a_database_is_visible_with_any_privilege_in_it() {
        let holder = Holder::new(&[Privilege::Process], &[("d", &[Privilege::Index])]);
        let authority = holder.authority();
        assert!(authority.can_see("d") && authority.can_see("INFORMATION_SCHEMA") && !authority.can_see("e"));
        assert_eq!(outcome_of(authority.check_visible("e")).0, 1044);
        assert!(
            Holder::new(&[Privilege::ShowDatabases], &[])
                .authority()
                .can_see("e")
        );
    }
}
