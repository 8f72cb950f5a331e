//! Privileges and roles of accounts, as the tables show them.

/// An account's privilege, as the privilege tables show it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct GrantedPrivilege {
    /// The account: `'user'@'host'`.
    pub grantee: String,
    /// Object of the privilege.
    pub object: GrantedObject,
    /// Name such as `SELECT`; `USAGE` for an account without privileges.
    pub privilege: String,
    /// Whether the account may grant it.
    pub grantable: bool,
}

/// Object of a privilege in the privilege tables.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum GrantedObject {
    /// The server.
    Global,
    /// A database, as a pattern.
    Database(String),
    /// Database and table.
    Table(String, String),
    /// Database, table and column.
    Column(String, String, String),
}

/// A role that an account, or another role, may use.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ApplicableRole {
    /// `user@host`, or a role.
    pub grantee: String,
    /// Name of the role.
    pub role: String,
    /// Whether the grantee may grant it.
    pub grantable: bool,
    /// Whether it is the account's default role; `None` if the grantee is a role.
    pub is_default: Option<bool>,
}

/// The session's privileges on the columns of one table, as COLUMNS shows them.
#[derive(Clone, Debug, Default)]
pub struct ColumnPrivileges {
    /// Those on columns without privileges of their own.
    pub of_all: String,
    /// Those on other columns, by name.
    pub of_some: Vec<(String, String)>,
}

impl ColumnPrivileges {
    /// Returns the privileges on a column: `select,insert,update,references` or a part of it. `None` if the session may
    /// not see the column.
    pub fn of(&self, column: &str) -> Option<&str> {
        let known = self
            .of_some
            .iter()
            .find(|(name, _)| name.eq_ignore_ascii_case(column));
        let privileges = known.map_or(&self.of_all, |(_, privileges)| privileges);
        (!privileges.is_empty()).then_some(privileges)
    }
}

/// Part of a procedure or function that an account may see.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum RoutineAccess {
    /// Nothing: it must seem not to exist.
    Hidden,
    /// All but the body.
    WithoutBody,
    /// Everything.
    Whole,
}
