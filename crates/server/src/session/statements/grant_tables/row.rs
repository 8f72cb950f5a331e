//! A row of a grant table, as texts.

use crate::accounts::PrivilegeSet;
use crate::mysql_tables::{privilege, privileges_of_words};

/// A row of a grant table: its columns' names and values, and the number that it had before the statement.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(super) struct GrantRow {
    /// Names and values.
    pub(super) cells: Vec<(String, String)>,
    /// Number before the statement. `None`: the statement has inserted it, or put it in the place of another.
    pub(super) number: Option<i64>,
}

impl GrantRow {
    pub(super) fn cell(&self, column: &str) -> &str {
        let found = self
            .cells
            .iter()
            .find(|(name, _)| name.eq_ignore_ascii_case(column));
        found.map_or("", |(_, value)| value)
    }

    pub(super) fn user(&self) -> &str {
        self.cell("User")
    }

    pub(super) fn host(&self) -> &str {
        self.cell("Host")
    }

    pub(super) fn is_of(&self, other: &GrantRow) -> bool {
        (self.user(), self.host()) == (other.user(), other.host())
    }

    /// Returns whether the rows have the same account and the same values in these columns.
    pub(super) fn is_same(&self, other: &GrantRow, columns: &[&str]) -> bool {
        self.is_of(other)
            && columns
                .iter()
                .all(|column| self.cell(column) == other.cell(column))
    }

    /// Returns the privileges of a row of `mysql.db`.
    pub(super) fn privileges(&self) -> PrivilegeSet {
        let granted = self.cells.iter().filter_map(|(column, value)| {
            let privilege = privilege(column.strip_suffix("_priv")?)?;
            value.eq_ignore_ascii_case("Y").then_some(privilege)
        });
        PrivilegeSet::of(&granted.collect::<Vec<_>>())
    }

    /// Returns the privileges that a column lists.
    pub(super) fn listed(&self, column: &str) -> PrivilegeSet {
        privileges_of_words(self.cell(column))
    }
}
