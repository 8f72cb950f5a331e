//! Views: each makes a table from the latest reading and the one before it.

mod commits;
mod input;
mod locks;
mod replication;
mod sessions;
mod statements;
pub mod summary;
#[cfg(test)]
pub mod test_support;
mod transactions;

pub use input::{Idle, Input};

use super::reading::{Part, ROWS_MAX};
use super::table::{Direction, Sorting, Table};

/// A view.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, clap::ValueEnum)]
pub enum View {
    /// Sessions and their current statements.
    Sessions,
    /// Statements by their digest.
    Statements,
    /// Lock waits and their blockers.
    Locks,
    /// Open transactions.
    Transactions,
    /// The way of a commit, and the log.
    Commits,
    /// Primaries that the server follows, replicas that it feeds.
    Replication,
}

impl View {
    pub const ALL: [View; 6] = [
        View::Sessions,
        View::Statements,
        View::Locks,
        View::Transactions,
        View::Commits,
        View::Replication,
    ];

    pub fn title(self) -> &'static str {
        match self {
            View::Sessions => "Sessions",
            View::Statements => "Statements",
            View::Locks => "Locks",
            View::Transactions => "Transactions",
            View::Commits => "Commits",
            View::Replication => "Replication",
        }
    }

    /// Returns the position among all views.
    pub fn index(self) -> usize {
        View::ALL
            .iter()
            .position(|view| *view == self)
            .unwrap_or_default()
    }

    /// Returns the parts of a reading that the view needs besides the status.
    pub fn parts(self) -> &'static [Part] {
        match self {
            View::Sessions => &[Part::Sessions, Part::Transactions],
            View::Statements => &[Part::Statements],
            View::Locks => &[
                Part::LockWaits,
                Part::Locks,
                Part::Transactions,
                Part::MetadataLocks,
                Part::Sessions,
            ],
            View::Transactions => &[Part::Transactions, Part::Sessions],
            View::Commits => &[Part::Metrics],
            View::Replication => &[Part::Primaries, Part::Sessions],
        }
    }

    /// Returns the order of the rows until the user chooses another one.
    pub fn sorting(self) -> Sorting {
        let (column, direction) = match self {
            View::Sessions => (5, Direction::Descending),
            View::Statements => (0, Direction::Descending),
            View::Locks => (3, Direction::Descending),
            View::Transactions => (3, Direction::Descending),
            View::Commits => (usize::MAX, Direction::Ascending),
            View::Replication => (0, Direction::Ascending),
        };
        Sorting { column, direction }
    }

    /// Returns the view's table, unsorted.
    pub fn table(self, input: Input) -> Table {
        let mut table = match self {
            View::Sessions => sessions::table(input),
            View::Statements => statements::table(input),
            View::Locks => locks::table(input),
            View::Transactions => transactions::table(input),
            View::Commits => commits::table(input),
            View::Replication => replication::table(input),
        };
        for part in self.parts() {
            if input.reading.has_more(*part) {
                table.notes.push(format!(
                    "only {ROWS_MAX} rows of {} are read",
                    part.source(&input.reading.identity)
                ));
            }
        }
        table
    }
}

#[cfg(test)]
mod tests {
    use super::super::reading::Problem;
    use super::test_support::{input, reading};
    use super::*;

    #[test]
    fn every_row_has_a_cell_per_column_and_every_problem_a_note() {
        let empty = reading(0, &[], vec![]);
        for view in View::ALL {
            let table = view.table(input(&empty, &empty));
            assert!(
                table
                    .rows
                    .iter()
                    .all(|row| row.cells.len() == table.columns.len()),
                "{view:?}"
            );
            let denied = || Err(Problem::Denied("1227 (42000): PROCESS".into()));
            let parts = view.parts().iter().map(|part| (*part, denied())).collect();
            let refused = reading(0, &[], parts);
            let table = view.table(input(&refused, &refused));
            assert!(
                table
                    .notes
                    .iter()
                    .any(|note| note.contains("a privilege is missing: 1227 (42000): PROCESS")),
                "{view:?}: {:?}",
                table.notes
            );
        }
    }
}
