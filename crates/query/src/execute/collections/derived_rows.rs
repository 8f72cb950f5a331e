//! Rows of queries that are computed once for all their uses in a statement.

use std::collections::HashMap;
use std::rc::Rc;

use paceline_types::Value;

/// All rows of a query.
pub(crate) type Rows = Rc<Vec<Vec<Value>>>;

/// Rows of derived tables, and of the last round of recursive queries.
#[derive(Debug, Default)]
pub(crate) struct DerivedRows {
    /// By query and whether duplicates were removed.
    derived: HashMap<(u64, bool), Rows>,
    /// By recursive table.
    rounds: HashMap<u64, Rows>,
}

impl DerivedRows {
    /// Returns the rows of a derived table, if they were computed. `distinct`: without duplicates.
    pub fn get(&self, query: u64, distinct: bool) -> Option<Rows> {
        self.derived.get(&(query, distinct)).cloned()
    }

    /// Adds the rows of a derived table.
    pub fn insert(&mut self, query: u64, distinct: bool, rows: Rows) {
        self.derived.insert((query, distinct), rows);
    }

    /// Returns the rows of the last round of a recursive table.
    pub fn round(&self, table: u64) -> Rows {
        self.rounds.get(&table).cloned().unwrap_or_default()
    }

    /// Begins a round of a recursive table, which reads the rows of the last one. The derived tables of the queries
    /// `readers` are computed again.
    pub fn begin_round(&mut self, table: u64, last: Rows, readers: &[u64]) {
        self.rounds.insert(table, last);
        self.derived.retain(|(query, _), _| !readers.contains(query));
    }

    /// Ends the last round of a recursive table.
    pub fn end_rounds(&mut self, table: u64) {
        self.rounds.remove(&table);
    }
}
