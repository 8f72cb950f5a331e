//! Measurements of an execution, for the ANALYZE statement: what was read of each table, how often, and how long it
//! took.
//!
//! Parts of the plan are known by their address: the plan lives as long as its execution. Nothing is measured unless
//! the statement asks for it.

use std::collections::HashMap;
use std::ops::ControlFlow;
use std::time::{Duration, Instant};

use paceline_types::Value;

use super::query::Consumer;
use super::run::Exec;
use super::table_reader::{Visit, read_table};
use crate::error::Result;
use crate::plan::tree::{JoinStep, SelectPlan, SetPlan, TableAccess};

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
    /// Time for checking conditions on them, and for all that follows.
    visit_time: Duration,
    /// Time for what follows.
    later_time: Duration,
}

impl AccessMeasure {
    /// The reading of a query's result.
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
    /// A single execution.
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
pub(crate) struct ExecutionTrace {
    accesses: HashMap<usize, AccessMeasure>,
    queries: HashMap<usize, QueryMeasure>,
}

fn identity<T>(part: &T) -> usize {
    std::ptr::from_ref(part).addr()
}

impl ExecutionTrace {
    /// Returns what was measured of a table access; `None` if it was never used.
    pub fn access(&self, access: &TableAccess) -> Option<AccessMeasure> {
        self.accesses.get(&identity(access)).copied()
    }

    /// Returns what was measured of a query block; `None` if it was never executed.
    pub fn select(&self, select: &SelectPlan) -> Option<QueryMeasure> {
        self.queries.get(&identity(select)).copied()
    }

    /// Returns what was measured of a set operation; `None` if it was never executed.
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

    /// Counts a row that a table access read and whose conditions did not hold.
    pub fn note_rejected(&mut self, access: &TableAccess) {
        self.accesses.entry(identity(access)).or_default().rows += 1;
    }
}

/// Reads a table like [`read_table`], and measures it.
pub(super) fn read_measured(
    exec: &mut Exec<'_, '_>,
    plan: &SelectPlan,
    access: &TableAccess,
    step: &JoinStep,
    row: &mut [Value],
    visit: Visit<'_>,
) -> Result<ControlFlow<()>> {
    let started = Instant::now();
    let (mut rows, mut visits) = (0, Duration::ZERO);
    let flow = read_table(exec, plan, access, step, row, &mut |exec, row| {
        let visited = Instant::now();
        rows += 1;
        let flow = visit(exec, row);
        visits += visited.elapsed();
        flow
    });
    if let Some(trace) = &mut exec.runtime.trace {
        let measure = trace.accesses.entry(identity(access)).or_default();
        measure.loops += 1;
        measure.rows += rows;
        measure.read_time += started.elapsed().saturating_sub(visits);
        measure.visit_time += visits;
    }
    flow
}

/// Runs the steps after a table for a row that met the conditions on it.
pub(super) fn run_later_steps(
    exec: &mut Exec<'_, '_>,
    access: &TableAccess,
    run: impl FnOnce(&mut Exec<'_, '_>) -> Result<ControlFlow<()>>,
) -> Result<ControlFlow<()>> {
    let started = Instant::now();
    let flow = run(exec);
    if let Some(trace) = &mut exec.runtime.trace {
        let measure = trace.accesses.entry(identity(access)).or_default();
        measure.rows_passed += 1;
        measure.later_time += started.elapsed();
    }
    flow
}

/// Runs a query block or a set operation, and measures it if the statement is measured.
pub(super) fn measure_query<T, R>(
    exec: &mut Exec<'_, '_>,
    part: &T,
    consumer: Consumer<'_>,
    run: impl FnOnce(&mut Exec<'_, '_>, Consumer<'_>) -> Result<R>,
) -> Result<R> {
    if exec.runtime.trace.is_none() {
        return run(exec, consumer);
    }
    let started = Instant::now();
    let mut rows = 0;
    let result = run(exec, &mut |exec, row| {
        rows += 1;
        consumer(exec, row)
    });
    if let Some(trace) = &mut exec.runtime.trace {
        let measure = trace.queries.entry(identity(part)).or_default();
        measure.loops += 1;
        measure.rows += rows;
        measure.time += started.elapsed();
    }
    result
}
