//! Measures operators, for the ANALYZE statement.

use std::ops::ControlFlow;
use std::time::Duration;

use paceline_types::Value;

use crate::error::Result;
use crate::execute::context::{Consumer, Execution, Visit};
use crate::plan::measurements::{MeasuredAccess, since, update};

/// Reads a table, and measures it if the statement is measured.
pub(super) fn measure_access(
    exec: &mut Execution<'_, '_>,
    measured: Option<&MeasuredAccess>,
    visit: Visit<'_>,
    read: impl FnOnce(&mut Execution<'_, '_>, Visit<'_>) -> Result<ControlFlow<()>>,
) -> Result<ControlFlow<()>> {
    let Some(measured) = measured else {
        return read(exec, visit);
    };
    let clock = measured.clock;
    measured.update(|measure| measure.loops += 1);
    let started = clock.now();
    let mut visits = Duration::ZERO;
    let flow = read(exec, &mut |exec, row: &mut [Value]| {
        let visited = clock.now();
        measured.update(|measure| measure.rows += 1);
        let flow = visit(exec, row);
        visits += since(visited);
        flow
    });
    measured.update(|measure| {
        measure.read_time += since(started).saturating_sub(visits);
        measure.visit_time += visits;
    });
    flow
}

/// Runs the steps after a table for a row that met the conditions on it, and measures them if the statement is
/// measured.
pub(super) fn run_later_steps(
    exec: &mut Execution<'_, '_>,
    measured: Option<&MeasuredAccess>,
    run: impl FnOnce(&mut Execution<'_, '_>) -> Result<ControlFlow<()>>,
) -> Result<ControlFlow<()>> {
    let Some(measured) = measured else {
        return run(exec);
    };
    measured.update(|measure| measure.rows_passed += 1);
    let started = measured.clock.now();
    let flow = run(exec);
    measured.update(|measure| measure.later_time += since(started));
    flow
}

/// Runs a query block or a set operation, and measures it if the statement is measured.
pub(super) fn measure_query<T, R>(
    exec: &mut Execution<'_, '_>,
    part: &T,
    consumer: Consumer<'_>,
    run: impl FnOnce(&mut Execution<'_, '_>, Consumer<'_>) -> Result<R>,
) -> Result<R> {
    let Some(measurements) = &mut exec.state.measurements else {
        return run(exec, consumer);
    };
    let clock = measurements.clock();
    let measure = measurements.query_mut(part);
    update(&measure, |measure| measure.loops += 1);
    let started = clock.now();
    let result = run(exec, &mut |exec, row| {
        update(&measure, |measure| measure.rows += 1);
        consumer(exec, row)
    });
    update(&measure, |measure| measure.time += since(started));
    result
}
