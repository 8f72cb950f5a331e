//! Context of a statement about accounts: all that its result depends on.

use crate::accounts::Accounts;
use paceline_catalog::Catalog;
use paceline_expression::session::{SqlMode, VirtualTables};

/// Context of a statement about accounts.
#[derive(Debug, Clone, Copy)]
pub struct AccountContext<'a> {
    /// Accounts before the statement.
    pub accounts: &'a Accounts,
    /// `CURRENT_USER()` of the session: user and host.
    pub current: (&'a str, &'a str),
    /// `CURRENT_ROLE()` of the session.
    pub current_role: Option<&'a str>,
    /// Tables and views, for privileges on them.
    pub catalog: &'a Catalog,
    /// Tables that the server computes, likewise.
    pub virtual_tables: &'a dyn VirtualTables,
    /// The current database.
    pub database: Option<&'a str>,
    /// Whether GRANT creates missing accounts.
    pub missing_accounts: MissingAccounts,
    /// `sql_mode`, for names in messages.
    pub sql_mode: SqlMode,
    /// Start of the statement in seconds since 1970.
    pub now_seconds: i64,
}

/// Effect of GRANT on a missing account.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum MissingAccounts {
    /// `NO_AUTO_CREATE_USER`: 1133, unless the statement sets a password.
    Refused,
    /// GRANT creates the account.
    Made,
}

impl MissingAccounts {
    /// Returns the behaviour for an `sql_mode`.
    pub fn of_sql_mode(mode: SqlMode) -> Self {
        match mode.contains(SqlMode::NO_AUTO_CREATE_USER) {
            true => MissingAccounts::Refused,
            false => MissingAccounts::Made,
        }
    }
}
