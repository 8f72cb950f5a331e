//! Subqueries in expressions, and their results during an execution.

mod results;

use crate::expr_type::ExprType;

pub(crate) use results::{CachedRows, ROW_BYTES, SubqueryResults};

/// Index of a subquery's plan among those of its statement.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SubqueryId(usize);

impl SubqueryId {
    /// Names the plan at this index.
    pub fn new(index: usize) -> Self {
        SubqueryId(index)
    }

    /// Returns the index.
    pub fn index(self) -> usize {
        self.0
    }
}

/// A subquery in an expression. Its plan belongs to the statement's plan; a [`crate::NestedRunner`] finds it by `id`.
#[derive(Clone, Debug)]
pub struct Subquery {
    /// Name of the subquery within the statement; also the key of its cached result.
    pub id: SubqueryId,
    /// Types of the result columns.
    pub columns: Vec<ExprType>,
    /// Dependency on outer rows, which decides whether the subquery runs for each row or once per statement.
    pub correlation: Correlation,
    /// Slots of the outer row that it reads.
    pub outer_slots: Vec<usize>,
}

/// Dependency of a subquery on outer rows.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Correlation {
    /// Returns the same rows throughout a statement.
    Uncorrelated,
    /// Returns the same rows for equal outer rows.
    Correlated,
    /// May return different rows each time, or has a side effect: it runs for each row.
    Volatile,
}
