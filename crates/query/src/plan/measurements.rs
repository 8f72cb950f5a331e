//! Measurements of a plan's execution for the ANALYZE statement: the rows and reads of each table, and the time.
//!
//! Parts of the plan are identified by their address, because the plan lives as long as its execution. Nothing is
//! measured unless the statement asks for it.

use std::collections::HashMap;
use std::time::Duration;

use super::tree::{SelectPlan, SetPlan, TableAccess};

/// Measurements of one table access.
#[derive(Debug, Default, Clone, Copy)]
pub(crate) struct AccessMeasure {
    /// Number of times that the table was read.
    pub loops: u64,
    /// Rows that were read, in all loops.
    pub rows: u64,
    /// Rows that met the conditions on the table.
    pub rows_passed: u64,
    /// Time for finding and reading rows.
    pub read_time: Duration,
    /// Time for checking conditions on the rows, and for all later steps.
    pub visit_time: Duration,
    /// Time for the later steps.
    pub later_time: Duration,
}

impl AccessMeasure {
    /// Creates the measurements of reading a query's result.
    pub fn of_result(result: QueryMeasure) -> Self {
        AccessMeasure {
            loops: result.loops,
            rows: result.rows,
            rows_passed: result.rows,
            ..AccessMeasure::default()
        }
    }

    /// Returns the time for checking conditions on rows.
    pub fn check_time(&self) -> Duration {
        self.visit_time.saturating_sub(self.later_time)
    }
}

/// Measurements of one query block, or of a set operation.
#[derive(Debug, Default, Clone, Copy)]
pub(crate) struct QueryMeasure {
    /// Number of executions.
    pub loops: u64,
    /// Rows of its result, in all loops.
    pub rows: u64,
    /// Time from its beginning to its end, in all loops.
    pub time: Duration,
}

impl QueryMeasure {
    /// Creates the measurements of a single execution.
    pub fn once(time: Duration) -> Self {
        QueryMeasure {
            loops: 1,
            rows: 0,
            time,
        }
    }
}

/// Measurements of a statement.
#[derive(Debug, Default)]
pub(crate) struct Measurements {
    accesses: HashMap<usize, AccessMeasure>,
    queries: HashMap<usize, QueryMeasure>,
}

fn identity<T>(part: &T) -> usize {
    std::ptr::from_ref(part).addr()
}

impl Measurements {
    /// Returns the measurements of a table access; `None` if it was never used.
    pub fn access(&self, access: &TableAccess) -> Option<AccessMeasure> {
        self.accesses.get(&identity(access)).copied()
    }

    /// Returns the measurements of a query block; `None` if it was never executed.
    pub fn select(&self, select: &SelectPlan) -> Option<QueryMeasure> {
        self.queries.get(&identity(select)).copied()
    }

    /// Returns the measurements of a set operation; `None` if it was never executed.
    pub fn set(&self, set: &SetPlan) -> Option<QueryMeasure> {
        self.queries.get(&identity(set)).copied()
    }

    /// Returns whether any table of a block was read.
    pub fn has_read(&self, select: &SelectPlan) -> bool {
        let mut read = false;
        for step in &select.steps {
            step.source
                .for_each_access(&mut |access| read |= self.access(access).is_some());
        }
        read
    }

    /// Returns the measurements of a table access, to add to them.
    pub fn access_mut(&mut self, access: &TableAccess) -> &mut AccessMeasure {
        self.accesses.entry(identity(access)).or_default()
    }

    /// Returns the measurements of a query block or a set operation, to add to them.
    pub fn query_mut<T>(&mut self, part: &T) -> &mut QueryMeasure {
        self.queries.entry(identity(part)).or_default()
    }

    /// Counts a row that a table access read and the conditions rejected.
    pub fn note_rejected(&mut self, access: &TableAccess) {
        self.access_mut(access).rows += 1;
    }
}
