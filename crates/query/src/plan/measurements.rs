//! Measurements of a plan's execution for the ANALYZE statement: the rows and reads of each table, the time, and the
//! memory and sorts of the operations that collect rows.
//!
//! Parts of the plan are identified by their address, because the plan lives as long as its execution. Nothing is
//! measured unless the statement asks for it. Rows are counted as they come, so that another session can look at a
//! statement that is running (SHOW ANALYZE); times are added when an operation ends.

use std::cell::Cell;
use std::collections::HashMap;
use std::rc::Rc;
use std::time::{Duration, Instant};

use crate::address_hasher::HashAddress;

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

    /// Returns the percentage of the rows that met the conditions.
    pub fn filtered(&self) -> f64 {
        match self.rows {
            0 => 100.0,
            rows => self.rows_passed as f64 * 100.0 / rows as f64,
        }
    }

    /// Returns the time for checking conditions on rows.
    pub fn check_time(&self) -> Duration {
        self.visit_time.saturating_sub(self.later_time)
    }
}

/// Measurements of a table access, to add to them. Looked up once for each read, not for each row.
#[derive(Debug)]
pub(crate) struct MeasuredAccess {
    measure: Rc<Cell<AccessMeasure>>,
    pub clock: Clock,
}

impl MeasuredAccess {
    /// Adds to the measurements.
    pub fn update(&self, add: impl FnOnce(&mut AccessMeasure)) {
        update(&self.measure, add);
    }

    /// Counts a row that was read and whose conditions did not hold.
    pub fn note_rejected(&self) {
        self.update(|measure| measure.rows += 1);
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

/// Operation that collects rows, of one part of the plan.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(crate) enum Collection {
    /// ORDER BY, by its first item; the sort of window functions, by its [`WindowSort`](super::tree::WindowSort).
    Sort,
    /// Groups, by their [`Aggregation`](super::tree::Aggregation).
    Groups,
    /// Rows without duplicates, by the block or set operation.
    Distinct,
    /// A partition of window functions, by their sort.
    Partition,
    /// Rows kept by a join, by the access.
    JoinBuffer,
    /// Rows of a query that are computed first, by the query.
    Rows,
    /// Rows found before they are changed, by the search.
    Found,
}

/// Measurements of an operation that collects rows, in all its executions.
#[derive(Debug, Default)]
pub(crate) struct CollectionMeasure {
    bytes: Cell<usize>,
    bytes_max: Cell<usize>,
    sorts: Cell<SortMeasure>,
}

/// Measurements of sorts.
#[derive(Debug, Default, Clone, Copy)]
pub(crate) struct SortMeasure {
    /// Number of sorts.
    pub loops: u64,
    /// Number of sorts that kept only the first rows, in a heap.
    pub heaps: u64,
    /// Number of first rows that were wanted, if that is known.
    pub limit: Option<u64>,
    /// Number of sorted runs written to files.
    pub runs: u64,
    /// Sorted rows.
    pub rows: u64,
    /// Rows that were taken from the result.
    pub rows_taken: u64,
    /// Time from the begin of the collection until the rows were sorted.
    pub time: Duration,
    /// Time for sorting alone, with the writing of runs.
    pub sort_time: Duration,
}

impl CollectionMeasure {
    /// Counts memory.
    pub fn grow(&self, bytes: usize) {
        let now = self.bytes.get() + bytes;
        self.bytes.set(now);
        self.bytes_max.set(self.bytes_max.get().max(now));
    }

    /// Counts released memory.
    pub fn shrink(&self, bytes: usize) {
        self.bytes.set(self.bytes.get().saturating_sub(bytes));
    }

    /// Returns the maximum of the memory in bytes.
    pub fn bytes_max(&self) -> usize {
        self.bytes_max.get()
    }

    /// Returns the measurements of its sorts.
    pub fn sorts(&self) -> SortMeasure {
        self.sorts.get()
    }

    /// Adds to the measurements of its sorts.
    pub fn add_sorts(&self, add: impl FnOnce(&mut SortMeasure)) {
        update(&self.sorts, add);
    }
}

/// Measurements of a statement.
#[derive(Debug, Default)]
pub(crate) struct Measurements {
    accesses: HashMap<usize, Rc<Cell<AccessMeasure>>, HashAddress>,
    queries: HashMap<usize, Rc<Cell<QueryMeasure>>, HashAddress>,
    collections: HashMap<(usize, Collection), Rc<CollectionMeasure>, HashAddress>,
    clock: Clock,
}

/// Whether times are measured, which costs more than counting rows.
#[derive(Debug, Default, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Clock {
    #[default]
    Running,
    Stopped,
}

impl Clock {
    /// Returns the current time.
    pub fn now(self) -> Option<Instant> {
        (self == Clock::Running).then(Instant::now)
    }
}

/// Returns the time since then; zero while the clock is stopped.
pub(crate) fn since(started: Option<Instant>) -> Duration {
    started.map(|started| started.elapsed()).unwrap_or_default()
}

/// Adds to measurements.
pub(crate) fn update<M: Copy>(measure: &Cell<M>, add: impl FnOnce(&mut M)) {
    let mut value = measure.get();
    add(&mut value);
    measure.set(value);
}

fn identity<T>(part: &T) -> usize {
    std::ptr::from_ref(part).addr()
}

impl Measurements {
    /// Creates measurements of rows and reads without times, for the slow query log.
    pub fn of_rows() -> Self {
        Measurements {
            clock: Clock::Stopped,
            ..Measurements::default()
        }
    }

    /// Returns the clock.
    pub fn clock(&self) -> Clock {
        self.clock
    }

    /// Returns the measurements of a table access; `None` if it was never used.
    pub fn access(&self, access: &TableAccess) -> Option<AccessMeasure> {
        self.accesses.get(&identity(access)).map(|measure| measure.get())
    }

    /// Returns the measurements of a query block; `None` if it was never executed.
    pub fn select(&self, select: &SelectPlan) -> Option<QueryMeasure> {
        self.queries.get(&identity(select)).map(|measure| measure.get())
    }

    /// Returns the measurements of a set operation; `None` if it was never executed.
    pub fn set(&self, set: &SetPlan) -> Option<QueryMeasure> {
        self.queries.get(&identity(set)).map(|measure| measure.get())
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

    /// Returns the measurements of an operation that collects rows; `None` if it was never executed.
    pub fn collection<T>(&self, part: &T, collection: Collection) -> Option<&CollectionMeasure> {
        let found = self.collections.get(&(identity(part), collection));
        found.map(|measure| &**measure)
    }

    /// Returns the measurements of an operation that collects rows, to add to them.
    pub fn collection_mut<T>(&mut self, part: &T, collection: Collection) -> Rc<CollectionMeasure> {
        let place = self.collections.entry((identity(part), collection));
        place.or_default().clone()
    }

    /// Returns the measurements of a table access, to add to them.
    pub fn access_mut(&mut self, access: &TableAccess) -> MeasuredAccess {
        MeasuredAccess {
            measure: self.accesses.entry(identity(access)).or_default().clone(),
            clock: self.clock,
        }
    }

    /// Returns the measurements of a query block or a set operation, to add to them.
    pub fn query_mut<T>(&mut self, part: &T) -> Rc<Cell<QueryMeasure>> {
        self.queries.entry(identity(part)).or_default().clone()
    }
}
