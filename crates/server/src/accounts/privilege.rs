//! Sets of privileges, and MariaDB's names of them.

use paceline_expression::session::Privilege;
use serde::{Deserialize, Serialize};

/// All privileges with their names, in MariaDB's order.
pub const ALL: &[(Privilege, &str)] = &[
    (Privilege::Select, "SELECT"),
    (Privilege::Insert, "INSERT"),
    (Privilege::Update, "UPDATE"),
    (Privilege::Delete, "DELETE"),
    (Privilege::Create, "CREATE"),
    (Privilege::Drop, "DROP"),
    (Privilege::Reload, "RELOAD"),
    (Privilege::Shutdown, "SHUTDOWN"),
    (Privilege::Process, "PROCESS"),
    (Privilege::File, "FILE"),
    (Privilege::GrantOption, "GRANT OPTION"),
    (Privilege::References, "REFERENCES"),
    (Privilege::Index, "INDEX"),
    (Privilege::Alter, "ALTER"),
    (Privilege::ShowDatabases, "SHOW DATABASES"),
    (Privilege::Super, "SUPER"),
    (Privilege::CreateTemporaryTables, "CREATE TEMPORARY TABLES"),
    (Privilege::LockTables, "LOCK TABLES"),
    (Privilege::Execute, "EXECUTE"),
    (Privilege::ReplicationSlave, "REPLICATION SLAVE"),
    (Privilege::BinlogMonitor, "BINLOG MONITOR"),
    (Privilege::CreateView, "CREATE VIEW"),
    (Privilege::ShowView, "SHOW VIEW"),
    (Privilege::CreateRoutine, "CREATE ROUTINE"),
    (Privilege::AlterRoutine, "ALTER ROUTINE"),
    (Privilege::CreateUser, "CREATE USER"),
    (Privilege::Event, "EVENT"),
    (Privilege::Trigger, "TRIGGER"),
    (Privilege::CreateTablespace, "CREATE TABLESPACE"),
    (Privilege::DeleteHistory, "DELETE HISTORY"),
    (Privilege::SetUser, "SET USER"),
    (Privilege::FederatedAdmin, "FEDERATED ADMIN"),
    (Privilege::ConnectionAdmin, "CONNECTION ADMIN"),
    (Privilege::ReadOnlyAdmin, "READ_ONLY ADMIN"),
    (Privilege::ReplicationSlaveAdmin, "REPLICATION SLAVE ADMIN"),
    (Privilege::ReplicationMasterAdmin, "REPLICATION MASTER ADMIN"),
    (Privilege::BinlogAdmin, "BINLOG ADMIN"),
    (Privilege::BinlogReplay, "BINLOG REPLAY"),
    (Privilege::SlaveMonitor, "SLAVE MONITOR"),
];

/// Privileges that can be granted on a database.
const OF_DATABASES: &[Privilege] = &[
    Privilege::Select,
    Privilege::Insert,
    Privilege::Update,
    Privilege::Delete,
    Privilege::Create,
    Privilege::Drop,
    Privilege::GrantOption,
    Privilege::References,
    Privilege::Index,
    Privilege::Alter,
    Privilege::CreateTemporaryTables,
    Privilege::LockTables,
    Privilege::Execute,
    Privilege::CreateView,
    Privilege::ShowView,
    Privilege::CreateRoutine,
    Privilege::AlterRoutine,
    Privilege::Event,
    Privilege::Trigger,
    Privilege::DeleteHistory,
];

/// A set of privileges: one bit each, in the order of [`ALL`], which is also that of `access` in MariaDB's
/// `mysql.global_priv`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(transparent)]
pub struct PrivilegeSet(pub u64);

const fn bit(privilege: Privilege) -> u64 {
    1 << privilege as u64
}

/// Privileges that can be granted on a table or view.
const OF_TABLES: &[Privilege] = &[
    Privilege::Select,
    Privilege::Insert,
    Privilege::Update,
    Privilege::Delete,
    Privilege::Create,
    Privilege::Drop,
    Privilege::GrantOption,
    Privilege::References,
    Privilege::Index,
    Privilege::Alter,
    Privilege::CreateView,
    Privilege::ShowView,
    Privilege::Trigger,
    Privilege::DeleteHistory,
];

/// Privileges that can be granted on a routine.
const OF_ROUTINES: &[Privilege] = &[
    Privilege::Execute,
    Privilege::AlterRoutine,
    Privilege::GrantOption,
];

impl PrivilegeSet {
    /// The empty set (`USAGE`).
    pub const NONE: PrivilegeSet = PrivilegeSet(0);

    /// Returns all privileges, including `GRANT OPTION`.
    pub fn everything() -> PrivilegeSet {
        PrivilegeSet((1 << ALL.len()) - 1)
    }

    /// Returns the privileges of `ALL PRIVILEGES ON *.*`.
    pub fn all_global() -> PrivilegeSet {
        Self::everything().without(Privilege::GrantOption)
    }

    /// Returns the privileges of `ALL PRIVILEGES ON db.*`.
    pub fn all_of_database() -> PrivilegeSet {
        Self::grantable_on_database().without(Privilege::GrantOption)
    }

    /// Returns the privileges for reading and changing rows.
    pub const fn rows() -> PrivilegeSet {
        // The first four of the list.
        PrivilegeSet(0b1111)
    }

    /// Returns the privileges that can be granted on a database.
    pub fn grantable_on_database() -> PrivilegeSet {
        PrivilegeSet::of(OF_DATABASES)
    }

    /// Returns the privileges that can be granted on a table or view.
    pub fn grantable_on_table() -> PrivilegeSet {
        PrivilegeSet::of(OF_TABLES)
    }

    /// Returns the privileges that can be granted on a column.
    pub fn grantable_on_column() -> PrivilegeSet {
        PrivilegeSet::of(&[
            Privilege::Select,
            Privilege::Insert,
            Privilege::Update,
            Privilege::References,
        ])
    }

    /// Returns the privileges that can be granted on a routine.
    pub fn grantable_on_routine() -> PrivilegeSet {
        PrivilegeSet::of(OF_ROUTINES)
    }

    /// Returns the set of these privileges.
    pub fn of(privileges: &[Privilege]) -> PrivilegeSet {
        let all = privileges.iter();
        all.fold(PrivilegeSet::NONE, |set, privilege| set.with(*privilege))
    }

    /// Looks up a privilege by its name in upper case, or by its old name.
    pub fn named(name: &str) -> Option<Privilege> {
        let name = match name {
            "REPLICATION CLIENT" => "BINLOG MONITOR",
            "REPLICA MONITOR" => "SLAVE MONITOR",
            "REPLICATION REPLICA" => "REPLICATION SLAVE",
            "REPLICATION REPLICA ADMIN" => "REPLICATION SLAVE ADMIN",
            "READ ONLY ADMIN" => "READ_ONLY ADMIN",
            "DELETE VERSIONING ROWS" => "DELETE HISTORY",
            other => other,
        };
        ALL.iter()
            .find(|(_, known)| *known == name)
            .map(|(privilege, _)| *privilege)
    }

    /// Returns MariaDB's name of a privilege.
    pub fn name(privilege: Privilege) -> &'static str {
        ALL.iter()
            .find(|(known, _)| *known == privilege)
            .map_or("", |(_, name)| *name)
    }

    /// Returns whether the privilege is in the set.
    pub fn has(self, privilege: Privilege) -> bool {
        self.0 & bit(privilege) != 0
    }

    /// Returns the set with the privilege added.
    #[must_use]
    pub fn with(self, privilege: Privilege) -> PrivilegeSet {
        PrivilegeSet(self.0 | bit(privilege))
    }

    /// Returns the set with the privilege removed.
    #[must_use]
    pub fn without(self, privilege: Privilege) -> PrivilegeSet {
        PrivilegeSet(self.0 & !bit(privilege))
    }

    /// Returns the union of both sets.
    #[must_use]
    pub fn union(self, other: PrivilegeSet) -> PrivilegeSet {
        PrivilegeSet(self.0 | other.0)
    }

    /// Returns the privileges that are not in the other set.
    #[must_use]
    pub fn minus(self, other: PrivilegeSet) -> PrivilegeSet {
        PrivilegeSet(self.0 & !other.0)
    }

    /// Returns whether all privileges of `other` are in the set.
    pub fn includes(self, other: PrivilegeSet) -> bool {
        self.0 & other.0 == other.0
    }

    /// Returns the privileges that are in both sets.
    #[must_use]
    pub fn intersection(self, other: PrivilegeSet) -> PrivilegeSet {
        PrivilegeSet(self.0 & other.0)
    }

    /// Returns the set as an error names what is missing.
    pub fn denied(self) -> String {
        let named = ALL.iter().filter(|(privilege, _)| self.has(*privilege));
        let names: Vec<&str> = named.map(|(privilege, _)| Self::command(*privilege)).collect();
        names.join(", ")
    }

    /// Returns the name of a privilege in errors.
    pub fn command(privilege: Privilege) -> &'static str {
        match privilege {
            Privilege::GrantOption => "GRANT",
            other => Self::name(other),
        }
    }

    /// Returns whether the set is empty.
    pub fn is_empty(self) -> bool {
        self.0 == 0
    }

    /// Returns the names, without `GRANT OPTION`.
    pub fn names(self) -> impl Iterator<Item = &'static str> {
        ALL.iter()
            .filter(move |(privilege, _)| self.has(*privilege) && *privilege != Privilege::GrantOption)
            .map(|(_, name)| *name)
    }

    /// Returns all names of the set as `SHOW GRANTS` lists them.
    pub fn listed_in_full(self) -> String {
        match self.without(Privilege::GrantOption).is_empty() {
            true => "USAGE".to_owned(),
            false => self.names().collect::<Vec<_>>().join(", "),
        }
    }

    /// Returns the set as `SHOW GRANTS` lists it. `all` is the meaning of `ALL PRIVILEGES`.
    pub fn listed(self, all: PrivilegeSet) -> String {
        let set = self.without(Privilege::GrantOption);
        if set.is_empty() {
            "USAGE".to_owned()
        } else if set.includes(all) {
            "ALL PRIVILEGES".to_owned()
        } else {
            set.names().collect::<Vec<_>>().join(", ")
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sets_list_as_mariadb_lists_them() {
        let set = PrivilegeSet::NONE
            .with(Privilege::BinlogMonitor)
            .with(Privilege::Reload)
            .with(Privilege::ReplicationSlave);
        assert_eq!(
            set.listed(PrivilegeSet::all_global()),
            "RELOAD, REPLICATION SLAVE, BINLOG MONITOR"
        );
        assert_eq!(
            PrivilegeSet::everything().listed(PrivilegeSet::all_global()),
            "ALL PRIVILEGES"
        );
        assert_eq!(
            PrivilegeSet::NONE
                .with(Privilege::GrantOption)
                .listed(PrivilegeSet::all_global()),
            "USAGE"
        );
        assert_eq!(
            PrivilegeSet::named("REPLICATION CLIENT"),
            Some(Privilege::BinlogMonitor)
        );
        assert_eq!(PrivilegeSet::named("NONSENSE"), None);
    }

    #[test]
    fn the_list_has_the_order_of_the_type() {
        for (number, (privilege, _)) in ALL.iter().enumerate() {
            assert_eq!(*privilege as usize, number);
        }
    }

    /// `access` of an account with SUPER and GRANT OPTION in MariaDB's `mysql.global_priv`.
    #[test]
    fn bits_are_those_of_mariadb() {
        assert_eq!(
            PrivilegeSet::NONE
                .with(Privilege::Super)
                .with(Privilege::GrantOption)
                .0,
            33_792
        );
    }
}
