//! One account or role, and its catalog record.
//!
//! ```text
//!   account of a session
//!     own record      global, databases, tables, routines
//!     inherited       ├─ the current role, with all roles granted to it, as one account
//!                     └─ PUBLIC, likewise
//! ```
//! The global privileges of the inherited accounts are added to `global`; the others are asked for one after the other.

use super::authentication::AuthenticationRecord;
use super::object_grant::{RoutineGrant, TableGrant};
use super::require::RequireRecord;
use super::resource_limits::StatementTime;
use super::{Authentication, PasswordAge, PrivilegeSet, Require, ResourceLimits, host};
use paceline_catalog::ddl::push_escaped;
use paceline_expression::session::Privilege;
use paceline_expression::session::SqlMode;
use paceline_syntax::RoutineType;
use paceline_wire::authentication::NativePassword;
use serde::{Deserialize, Deserializer, Serialize};
use std::sync::Arc;

/// User name of the account that stands for everybody. It is a role, and inherited by every session.
pub const PUBLIC: &str = "PUBLIC";

/// A role that an account, or another role, has been granted.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct RoleGrant {
    /// Name of the role.
    pub role: String,
    /// `WITH ADMIN OPTION`: the grantee may grant the role to others.
    pub admin: bool,
}

/// An account that another one may act as: `GRANT PROXY`. Only PAM logs such a client in, which this server does not
/// have; the grants are kept because clients read them.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct ProxyGrant {
    /// User of the proxied account; empty for any.
    pub user: String,
    /// Host of the proxied account.
    pub host: String,
    /// `WITH GRANT OPTION`.
    pub grant_option: bool,
    /// Account that granted it, as `user@host`.
    pub grantor: String,
}

/// Privileges on one table from all sources.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct TablePrivileges {
    /// Those on the whole table, without those on its database.
    pub whole: PrivilegeSet,
    /// Those on at least one column.
    pub any_column: PrivilegeSet,
}

/// An account.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Account {
    /// The user name; empty matches any user.
    pub user: String,
    /// The host pattern in lower case.
    pub host: String,
    /// Authentication methods.
    pub authentication: Authentication,
    /// `REQUIRE`: required encryption of the connection.
    pub require: Require,
    /// Global privileges.
    pub global: PrivilegeSet,
    /// Privileges on databases: pattern and privileges, in the order of the grants.
    pub databases: Vec<(String, PrivilegeSet)>,
    /// Privileges on tables and columns, in the order of the grants.
    pub tables: Vec<TableGrant>,
    /// Privileges on routines, in the order of the grants.
    pub routines: Vec<RoutineGrant>,
    /// Accounts that it may stand for, in the order of the grants.
    pub proxies: Vec<ProxyGrant>,
    /// Whether it is a role: it has no host and cannot log in.
    pub is_role: bool,
    /// Roles granted to it, in the order of the grants.
    pub roles: Vec<RoleGrant>,
    /// Role that a session has after the login; empty for none.
    pub default_role: String,
    /// Of a session's account: the current role and PUBLIC, with all roles that they have.
    pub inherited: Vec<Arc<Account>>,
    /// `ACCOUNT LOCK`: the account cannot log in.
    pub locked: bool,
    /// `WITH MAX_USER_CONNECTIONS`; 0 means no limit, a negative number no connection.
    pub user_connections_max: i32,
    /// Limits on what its sessions do in an hour.
    pub limits: ResourceLimits,
    /// `WITH MAX_STATEMENT_TIME` in seconds; 0 means no limit.
    pub statement_time: StatementTime,
    /// `PASSWORD EXPIRE`.
    pub password_age: PasswordAge,
}

/// An account in the form of its record.
#[derive(Debug, Serialize, Deserialize)]
struct AccountRecord {
    user: String,
    host: String,
    access: u64,
    #[serde(flatten)]
    authentication: AuthenticationRecord,
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    account_locked: bool,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    databases: Vec<(String, PrivilegeSet)>,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    tables: Vec<TableGrant>,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    routines: Vec<RoutineGrant>,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    proxies: Vec<ProxyGrant>,
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    is_role: bool,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    roles: Vec<RoleGrant>,
    #[serde(default, skip_serializing_if = "String::is_empty")]
    default_role: String,
    #[serde(default, deserialize_with = "clamped")]
    max_user_connections: i32,
    #[serde(flatten)]
    limits: ResourceLimits,
    #[serde(default, skip_serializing_if = "StatementTime::is_unlimited")]
    max_statement_time: StatementTime,
    #[serde(flatten)]
    password_age: PasswordAge,
    #[serde(flatten)]
    require: RequireRecord,
}

/// Reads a number of MAX_USER_CONNECTIONS; greater ones are the greatest that there is.
fn clamped<'de, D: Deserializer<'de>>(deserializer: D) -> Result<i32, D::Error> {
    let number = serde_json::Number::deserialize(deserializer)?;
    let greatest = i64::from(i32::MAX);
    let number = number.as_i64().unwrap_or(greatest);
    Ok(number.clamp(i32::MIN.into(), greatest) as i32)
}

impl Account {
    /// Creates an account without a password and without privileges.
    pub fn new(user: impl Into<String>, host: impl Into<String>) -> Account {
        Account {
            user: user.into(),
            host: host.into(),
            authentication: NativePassword::Empty.into(),
            require: Require::Nothing,
            global: PrivilegeSet::NONE,
            databases: vec![],
            tables: vec![],
            routines: vec![],
            proxies: vec![],
            is_role: false,
            roles: vec![],
            default_role: String::new(),
            inherited: vec![],
            locked: false,
            user_connections_max: 0,
            limits: ResourceLimits::default(),
            statement_time: StatementTime::default(),
            password_age: PasswordAge::default(),
        }
    }

    /// Creates a role without privileges.
    pub fn role(name: impl Into<String>) -> Account {
        Account {
            is_role: true,
            ..Account::new(name, "")
        }
    }

    /// Returns the account of all clients under `--skip-grant-tables`: it has no name and all privileges.
    pub fn of_skipped() -> Account {
        Account {
            global: PrivilegeSet::everything(),
            ..Account::new("", "")
        }
    }

    /// Returns the account of the program around an embedded server: it owns the directory, and may do everything.
    pub fn of_embedding_program() -> Account {
        Account {
            global: PrivilegeSet::everything(),
            ..Account::new("root", "localhost")
        }
    }

    /// Returns the account of the other members of a cluster, which is in no list.
    pub fn of_member(user: &str) -> Account {
        Account {
            global: PrivilegeSet::everything(),
            ..Account::new(user, "%")
        }
    }

    /// Encodes the record.
    pub fn to_record(&self) -> Vec<u8> {
        serde_json::to_vec(&AccountRecord {
            user: self.user.clone(),
            host: self.host.clone(),
            access: self.global.0,
            authentication: self.authentication.to_record(),
            account_locked: self.locked,
            databases: self.databases.clone(),
            tables: self.tables.clone(),
            routines: self.routines.clone(),
            proxies: self.proxies.clone(),
            is_role: self.is_role,
            roles: self.roles.clone(),
            default_role: self.default_role.clone(),
            max_user_connections: self.user_connections_max,
            limits: self.limits,
            max_statement_time: self.statement_time,
            password_age: self.password_age,
            require: self.require.to_record(),
        })
        .expect("an account is plain data")
    }

    /// Returns whether limits on connections and on wrong passwords do not concern it: it could raise them.
    pub fn ignores_limits_of_connections(&self) -> bool {
        self.global.has(Privilege::Super) || self.global.has(Privilege::ConnectionAdmin)
    }

    /// Decodes a record.
    pub fn from_record(bytes: &[u8]) -> Option<Account> {
        let record: AccountRecord = serde_json::from_slice(bytes).ok()?;
        Some(Account {
            user: record.user,
            host: record.host,
            authentication: Authentication::from_record(&record.authentication)?,
            require: Require::from_record(record.require),
            global: PrivilegeSet(record.access),
            databases: record.databases,
            tables: record.tables,
            routines: record.routines,
            proxies: record.proxies,
            is_role: record.is_role,
            roles: record.roles,
            default_role: record.default_role,
            inherited: vec![],
            locked: record.account_locked,
            user_connections_max: record.max_user_connections,
            limits: record.limits,
            statement_time: record.max_statement_time,
            password_age: record.password_age,
        })
    }

    /// Returns the account that has this description in `mysql.global_priv`, and the privileges on objects and the
    /// roles of `of`. `None` if it describes no account.
    pub fn described(of: &Account, description: &str) -> Option<Account> {
        let mut record: serde_json::Map<String, serde_json::Value> =
            serde_json::from_str(description).ok()?;
        record.insert("user".to_owned(), of.user.clone().into());
        record.insert("host".to_owned(), of.host.clone().into());
        record.entry("access").or_insert_with(|| 0.into());
        let described = Account::from_record(&serde_json::to_vec(&record).ok()?)?;
        let everything = PrivilegeSet::all_global().with(Privilege::GrantOption);
        Some(Account {
            global: described.global.intersection(everything),
            databases: of.databases.clone(),
            tables: of.tables.clone(),
            routines: of.routines.clone(),
            proxies: of.proxies.clone(),
            roles: of.roles.clone(),
            ..described
        })
    }

    /// Returns the name as SHOW GRANTS and errors about roles show it: `user@host`, or the role's.
    pub fn shown(&self) -> String {
        match self.is_role {
            true => self.user.clone(),
            false => format!("{}@{}", self.user, self.host),
        }
    }

    /// Returns `'user'@'host'` in quotes, as errors and information_schema show it.
    pub fn quoted(&self) -> String {
        quoted(&self.user, &self.host)
    }

    /// Returns the account's privileges in a database: those of the most specific matching pattern, and the global
    /// ones.
    pub fn privileges_in(&self, database: &str) -> PrivilegeSet {
        self.privileges_where(|pattern| host::like_exactly(pattern, database))
    }

    /// Returns the account's privileges in all databases that a pattern matches. Only its own patterns that match at
    /// least these databases count.
    pub fn privileges_in_all(&self, granted: &str) -> PrivilegeSet {
        self.privileges_where(|pattern| host::covers(pattern, granted))
    }

    fn privileges_where(&self, matches: impl Fn(&str) -> bool) -> PrivilegeSet {
        let mut all = self.global;
        for source in self.sources() {
            let matching = source.databases.iter().filter(|(pattern, _)| matches(pattern));
            let best = matching.min_by_key(|(pattern, _)| host::specificity(pattern));
            all = all.union(best.map_or(PrivilegeSet::NONE, |(_, set)| *set));
        }
        all
    }

    /// Returns the accounts whose privileges on objects it has: itself, and the inherited ones.
    fn sources(&self) -> impl Iterator<Item = &Account> {
        std::iter::once(self).chain(self.inherited.iter().map(|account| &**account))
    }

    /// Returns the grants on a table.
    fn table_grants(&self, database: &str, table: &str) -> impl Iterator<Item = &TableGrant> {
        self.sources()
            .flat_map(|source| &source.tables)
            .filter(move |grant| grant.database == database && grant.table == table)
    }

    /// Returns the privileges on a table and on its columns, without those on its database.
    pub fn on_table(&self, database: &str, table: &str) -> TablePrivileges {
        let mut all = TablePrivileges::default();
        for grant in self.table_grants(database, table) {
            all.whole = all.whole.union(grant.privileges);
            all.any_column = all.any_column.union(grant.on_any_column());
        }
        all
    }

    /// Returns the privileges on a column alone, without those on its table.
    pub fn on_column(&self, database: &str, table: &str, column: &str) -> PrivilegeSet {
        self.table_grants(database, table)
            .fold(PrivilegeSet::NONE, |set, grant| {
                set.union(grant.on_column(column))
            })
    }

    /// Returns the columns of a table on which it has privileges of their own, and these.
    pub fn columns_with_privileges(
        &self,
        database: &str,
        table: &str,
    ) -> impl Iterator<Item = (&str, PrivilegeSet)> {
        let mut all: Vec<(&str, PrivilegeSet)> = vec![];
        for (column, set) in self
            .table_grants(database, table)
            .flat_map(|grant| &grant.columns)
        {
            match all
                .iter_mut()
                .find(|(known, _)| known.eq_ignore_ascii_case(column))
            {
                Some((_, had)) => *had = had.union(*set),
                None => all.push((column, *set)),
            }
        }
        all.into_iter()
    }

    /// Returns the privileges on a routine, without those on its database.
    pub fn on_routine(&self, database: &str, kind: RoutineType, name: &str) -> PrivilegeSet {
        self.sources()
            .flat_map(|source| &source.routines)
            .filter(|grant| grant.is_for(database, kind, name))
            .fold(PrivilegeSet::NONE, |set, grant| set.union(grant.privileges))
    }

    /// Returns the account with the privileges of others.
    #[must_use]
    pub(super) fn with_inherited(mut self, inherited: Vec<Arc<Account>>) -> Account {
        for other in &inherited {
            self.global = self.global.union(other.global);
        }
        self.inherited = inherited;
        self
    }

    /// Adds the privileges of another account to its own.
    pub(super) fn absorb(&mut self, other: &Account) {
        self.global = self.global.union(other.global);
        for (pattern, set) in &other.databases {
            match self.databases.iter_mut().find(|(known, _)| known == pattern) {
                Some((_, had)) => *had = had.union(*set),
                None => self.databases.push((pattern.clone(), *set)),
            }
        }
        self.tables.extend(other.tables.iter().cloned());
        self.routines.extend(other.routines.iter().cloned());
    }

    /// Returns whether the account has a privilege on the contents of a database.
    pub fn may(&self, privilege: Privilege, database: &str) -> bool {
        self.privileges_in(database).has(privilege)
            || crate::information_schema::is_for_everybody(privilege, database)
    }

    /// Returns whether the account has any privilege in the database.
    pub fn can_see(&self, database: &str) -> bool {
        let here = self.privileges_in(database);
        !here
            .intersection(PrivilegeSet::grantable_on_database())
            .is_empty()
            || self.global.has(Privilege::ShowDatabases)
            || self.sources().any(|source| {
                (source.tables.iter()).any(|grant| grant.database == database && !grant.is_empty())
                    || (source.routines.iter())
                        .any(|grant| grant.database == database && !grant.privileges.is_empty())
            })
    }
}

/// Formats `'user'@'host'`.
pub fn quoted(user: &str, host: &str) -> String {
    format!("'{user}'@'{host}'")
}

/// Formats `'user'@'host'` for error 1396, or `'role'` without a host: with escapes, as in a statement of this mode.
pub fn escaped(user: &str, host: &str, mode: SqlMode) -> String {
    let mut text = String::new();
    escape(user, mode, &mut text);
    if !host.is_empty() {
        text.push('@');
        escape(host, mode, &mut text);
    }
    text
}

fn escape(name: &str, mode: SqlMode, out: &mut String) {
    if mode.contains(SqlMode::NO_BACKSLASH_ESCAPES) {
        out.push_str(&format!("'{}'", name.replace('\'', "''")));
        return;
    }
    out.push('\'');
    for character in name.chars() {
        match character {
            '\'' | '"' | '\\' => out.extend(['\\', character]),
            other => push_escaped(other, out),
        }
    }
    out.push('\'');
}
