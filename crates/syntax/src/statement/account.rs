//! Accounts and privileges.

use super::program::RoutineType;
use crate::ast::TableName;

/// `'user'@'host'`.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct AccountName {
    /// User part of the name.
    pub user: UserName,
    /// Host part of the name in lower case; `%` if absent.
    pub host: String,
}

/// The user part of an account.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub enum UserName {
    /// A name.
    Name(String),
    /// `CURRENT_USER`.
    Current,
    /// A name without a host, where a role is possible: the role of this name, or the user at any host.
    Unqualified(String),
    /// `CURRENT_ROLE`.
    CurrentRole,
    /// `PUBLIC`: everybody.
    Public,
}

/// A role in a statement.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum RoleName {
    /// A name.
    Name(String),
    /// `CURRENT_ROLE`.
    Current,
}

/// A password as written in a statement.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum PasswordSpec {
    /// `IDENTIFIED BY 'secret'`, `PASSWORD('secret')`.
    Plain(String),
    /// `IDENTIFIED BY PASSWORD '*hash'`, `'*hash'`.
    Hash(String),
}

/// Authentication of an account.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Authentication {
    /// `IDENTIFIED BY`, with the default plugin.
    Password(PasswordSpec),
    /// `IDENTIFIED VIA plugin [USING 'string' | USING PASSWORD('secret')] [OR …]`.
    Plugins(Vec<AuthenticationPlugin>),
}

/// One of an account's authentication plugins.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct AuthenticationPlugin {
    pub plugin: String,
    /// Argument of the plugin.
    pub credential: Option<PasswordSpec>,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct AccountSpec {
    pub account: AccountName,
    /// `IDENTIFIED …`.
    pub authentication: Option<Authentication>,
}

/// `REQUIRE`, `WITH`, `ACCOUNT LOCK`, `PASSWORD EXPIRE`.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct AccountOptions {
    /// `REQUIRE NONE | SSL | X509 | …`.
    pub require: Option<TlsRequirement>,
    /// `WITH MAX_QUERIES_PER_HOUR n …`: name in capitals, and value; `MAX_STATEMENT_TIME` in microseconds.
    pub limits: Vec<(String, u64)>,
    /// `WITH MAX_USER_CONNECTIONS n`; a negative number allows none.
    pub user_connections: Option<i32>,
    /// `ACCOUNT LOCK` or `UNLOCK`.
    pub locked: Option<bool>,
    /// `PASSWORD EXPIRE …`.
    pub password_expire: Option<PasswordExpire>,
}

/// `REQUIRE …`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum TlsRequirement {
    /// `NONE`.
    None,
    /// `SSL`.
    Ssl,
    /// `X509`.
    X509,
    /// At least one of `SUBJECT`, `ISSUER`, `CIPHER`.
    Specified {
        subject: Option<String>,
        issuer: Option<String>,
        cipher: Option<String>,
    },
}

/// `PASSWORD EXPIRE …`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum PasswordExpire {
    /// Now.
    Now,
    /// `NEVER`.
    Never,
    /// `DEFAULT`.
    Default,
    /// `INTERVAL n DAY`.
    Days(u32),
}

/// Statements about accounts and privileges.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum AccountStatement {
    /// `CREATE USER`.
    Create {
        or_replace: bool,
        if_not_exists: bool,
        accounts: Vec<AccountSpec>,
        /// Options for all of the accounts.
        options: AccountOptions,
    },
    /// `ALTER USER`.
    Alter {
        if_exists: bool,
        accounts: Vec<AccountSpec>,
        /// Options for all of the accounts.
        options: AccountOptions,
    },
    /// `DROP USER`.
    Drop {
        if_exists: bool,
        accounts: Vec<AccountName>,
    },
    /// `RENAME USER`.
    Rename(Vec<(AccountName, AccountName)>),
    /// `GRANT`.
    Grant {
        privileges: Vec<PrivilegeSpec>,
        /// Object of the privileges.
        level: PrivilegeLevel,
        accounts: Vec<AccountSpec>,
        /// `REQUIRE`, `WITH`.
        options: AccountOptions,
        /// `WITH GRANT OPTION`.
        grant_option: bool,
    },
    /// `REVOKE`.
    Revoke {
        privileges: Vec<PrivilegeSpec>,
        /// Object of the privileges.
        level: PrivilegeLevel,
        accounts: Vec<AccountName>,
    },
    /// `CREATE ROLE`.
    CreateRoles {
        or_replace: bool,
        if_not_exists: bool,
        roles: Vec<String>,
        /// `WITH ADMIN`; `None` is the current account.
        admin: Option<AccountName>,
    },
    /// `DROP ROLE`.
    DropRoles { if_exists: bool, roles: Vec<String> },
    /// `GRANT role TO`.
    GrantRole {
        role: RoleName,
        accounts: Vec<AccountSpec>,
        /// `WITH ADMIN OPTION`.
        admin_option: bool,
    },
    /// `REVOKE role FROM`.
    RevokeRole {
        role: RoleName,
        accounts: Vec<AccountName>,
        /// `ADMIN OPTION FOR`: only this is revoked.
        only_admin_option: bool,
    },
    /// `SET DEFAULT ROLE` as a statement of its own.
    SetDefaultRole {
        /// `None` is `NONE`.
        role: Option<RoleName>,
        /// `None` is the current account.
        account: Option<AccountName>,
    },
    /// `GRANT PROXY ON account TO`.
    GrantProxy {
        /// The account that others may stand for.
        proxied: AccountName,
        accounts: Vec<AccountSpec>,
        /// `WITH GRANT OPTION`.
        grant_option: bool,
    },
    /// `REVOKE PROXY ON account FROM`.
    RevokeProxy {
        proxied: AccountName,
        accounts: Vec<AccountName>,
    },
    /// `REVOKE ALL PRIVILEGES, GRANT OPTION FROM`.
    RevokeAll(Vec<AccountName>),
    /// `SET PASSWORD` as a statement of its own.
    SetPassword {
        /// `None` is the current account.
        account: Option<AccountName>,
        password: PasswordSpec,
    },
}

/// A privilege, with columns if it is for columns.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PrivilegeSpec {
    /// In capitals, with single spaces: `SELECT`, `CREATE TEMPORARY TABLES`, `ALL PRIVILEGES`, `USAGE`, `GRANT OPTION`.
    pub privilege: String,
    /// Empty: the whole object.
    pub columns: Vec<String>,
}

/// Object that a privilege is for.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum PrivilegeLevel {
    /// `*.*`.
    Global,
    /// `db.*`; `*` (the current database) has no name. Wildcards as written.
    Database(Option<String>),
    /// `db.table` or `table`.
    Table(TableName),
    /// `FUNCTION`, `PROCEDURE`.
    Routine(RoutineType, TableName),
}
