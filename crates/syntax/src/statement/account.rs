//! Accounts and privileges.

use crate::ast::TableName;

/// `'user'@'host'`.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct AccountName {
    /// Who.
    pub user: UserName,
    /// From where; `%` when not said. In lower case.
    pub host: String,
}

/// The user part of an account.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub enum UserName {
    /// A name.
    Name(String),
    /// `CURRENT_USER`.
    Current,
    /// `PUBLIC`, `CURRENT_ROLE` or a role without a host.
    Role(String),
}

/// A password, as a statement gives it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum PasswordSpec {
    /// `IDENTIFIED BY 'secret'`, `PASSWORD('secret')`.
    Plain(String),
    /// `IDENTIFIED BY PASSWORD '*hash'`, `'*hash'`.
    Hash(String),
}

/// How an account proves itself.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Authentication {
    /// `IDENTIFIED BY`: the default plugin.
    Password(PasswordSpec),
    /// `IDENTIFIED VIA plugin [USING 'string' | USING PASSWORD('secret')] [OR …]`.
    Plugins(Vec<AuthenticationPlugin>),
}

/// One of an account's authentication plugins.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct AuthenticationPlugin {
    /// The plugin's name.
    pub plugin: String,
    /// What it is given.
    pub credential: Option<PasswordSpec>,
}

/// An account and what a statement says of it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct AccountSpec {
    /// The account.
    pub account: AccountName,
    /// `IDENTIFIED …`.
    pub authentication: Option<Authentication>,
}

/// `REQUIRE`, `WITH`, `ACCOUNT LOCK`, `PASSWORD EXPIRE`.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct AccountOptions {
    /// `REQUIRE NONE | SSL | X509 | …`.
    pub require: Option<TlsRequirement>,
    /// `WITH MAX_QUERIES_PER_HOUR n …`: name in capitals and value.
    pub limits: Vec<(String, u64)>,
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
    /// `SUBJECT`, `ISSUER`, `CIPHER`.
    Specified {
        /// `SUBJECT`.
        subject: Option<String>,
        /// `ISSUER`.
        issuer: Option<String>,
        /// `CIPHER`.
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
        /// `OR REPLACE`.
        or_replace: bool,
        /// `IF NOT EXISTS`.
        if_not_exists: bool,
        /// The accounts.
        accounts: Vec<AccountSpec>,
        /// Options for all of them.
        options: AccountOptions,
    },
    /// `ALTER USER`.
    Alter {
        /// `IF EXISTS`.
        if_exists: bool,
        /// The accounts.
        accounts: Vec<AccountSpec>,
        /// Options for all of them.
        options: AccountOptions,
    },
    /// `DROP USER`.
    Drop {
        /// `IF EXISTS`.
        if_exists: bool,
        /// The accounts.
        accounts: Vec<AccountName>,
    },
    /// `RENAME USER`.
    Rename(Vec<(AccountName, AccountName)>),
    /// `GRANT`.
    Grant {
        /// The privileges.
        privileges: Vec<PrivilegeSpec>,
        /// On what.
        level: PrivilegeLevel,
        /// To whom.
        accounts: Vec<AccountSpec>,
        /// `REQUIRE`, `WITH`.
        options: AccountOptions,
        /// `WITH GRANT OPTION`.
        grant_option: bool,
    },
    /// `REVOKE`.
    Revoke {
        /// The privileges.
        privileges: Vec<PrivilegeSpec>,
        /// On what.
        level: PrivilegeLevel,
        /// From whom.
        accounts: Vec<AccountName>,
    },
    /// `REVOKE ALL PRIVILEGES, GRANT OPTION FROM`.
    RevokeAll(Vec<AccountName>),
    /// `SET PASSWORD`: where it stands alone.
    SetPassword {
        /// The account; none means one's own.
        account: Option<AccountName>,
        /// The password.
        password: PasswordSpec,
    },
}

/// A privilege, with columns where it was given for columns.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PrivilegeSpec {
    /// In capitals, with single spaces: `SELECT`, `CREATE TEMPORARY TABLES`, `ALL PRIVILEGES`, `USAGE`, `GRANT OPTION`.
    pub privilege: String,
    /// The columns; empty means all of the object.
    pub columns: Vec<String>,
}

/// On what a privilege is given.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum PrivilegeLevel {
    /// `*.*`.
    Global,
    /// `db.*`; `*` (the current database) has no name. Wildcards as written.
    Database(Option<String>),
    /// `db.table` or `table`.
    Table(TableName),
    /// `FUNCTION`, `PROCEDURE`, `PACKAGE`.
    Routine(TableName),
}
