//! Privileges on one table or view, on its columns, and on one routine.

use super::PrivilegeSet;
use paceline_syntax::RoutineType;
use serde::{Deserialize, Serialize};

/// Privileges on a table or view: one row of `mysql.tables_priv`, and those of `mysql.columns_priv` for it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct TableGrant {
    /// Name of the database.
    pub database: String,
    /// Name of the table, which need not exist.
    pub table: String,
    /// `user@host` of the last grantor.
    pub grantor: String,
    /// Privileges on the whole table.
    #[serde(rename = "access")]
    pub privileges: PrivilegeSet,
    /// Privileges on single columns, in the order of the grants.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub columns: Vec<(String, PrivilegeSet)>,
}

impl TableGrant {
    /// Returns the privileges that the account has on at least one column.
    pub fn on_any_column(&self) -> PrivilegeSet {
        let all = self.columns.iter();
        all.fold(PrivilegeSet::NONE, |set, (_, privileges)| set.union(*privileges))
    }

    /// Returns the privileges on a single column.
    pub fn on_column(&self, column: &str) -> PrivilegeSet {
        let known = self.columns.iter().find(|(name, _)| is_same_column(name, column));
        known.map_or(PrivilegeSet::NONE, |(_, privileges)| *privileges)
    }

    /// Adds privileges on a column.
    pub fn grant_on_column(&mut self, column: &str, privileges: PrivilegeSet) {
        match self
            .columns
            .iter_mut()
            .find(|(name, _)| is_same_column(name, column))
        {
            Some((_, had)) => *had = had.union(privileges),
            None => self.columns.push((column.to_owned(), privileges)),
        }
    }

    /// Removes privileges on a column. Returns whether the column had any privilege.
    pub fn revoke_on_column(&mut self, column: &str, privileges: PrivilegeSet) -> bool {
        let Some(place) = self
            .columns
            .iter()
            .position(|(name, _)| is_same_column(name, column))
        else {
            return false;
        };
        let rest = self.columns[place].1.minus(privileges);
        match rest.is_empty() {
            true => drop(self.columns.remove(place)),
            false => self.columns[place].1 = rest,
        }
        true
    }

    /// Returns whether it contains no privilege.
    pub fn is_empty(&self) -> bool {
        self.privileges.is_empty() && self.columns.is_empty()
    }
}

fn is_same_column(one: &str, other: &str) -> bool {
    paceline_catalog::same_name(one, other)
}

/// Privileges on a routine: one row of `mysql.procs_priv`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct RoutineGrant {
    /// Name of the database.
    pub database: String,
    /// Kind of the routine.
    #[serde(with = "routine_type")]
    pub kind: RoutineType,
    /// Name of the routine, compared without case.
    pub name: String,
    /// `user@host` of the last grantor.
    pub grantor: String,
    /// Privileges on the routine.
    #[serde(rename = "access")]
    pub privileges: PrivilegeSet,
}

impl RoutineGrant {
    /// Returns whether it is for this routine.
    pub fn is_for(&self, database: &str, kind: RoutineType, name: &str) -> bool {
        self.kind == kind && self.database == database && paceline_catalog::same_name(&self.name, name)
    }
}

mod routine_type {
    use paceline_syntax::RoutineType;
    use serde::{Deserialize, Deserializer, Serializer};

    pub(super) fn serialize<S: Serializer>(kind: &RoutineType, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(kind.name())
    }

    pub(super) fn deserialize<'de, D: Deserializer<'de>>(deserializer: D) -> Result<RoutineType, D::Error> {
        let name = String::deserialize(deserializer)?;
        [RoutineType::Procedure, RoutineType::Function]
            .into_iter()
            .find(|kind| kind.name() == name)
            .ok_or_else(|| serde::de::Error::custom("no kind of routine"))
    }
}
