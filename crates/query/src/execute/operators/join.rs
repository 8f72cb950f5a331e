//! Nested loops of a join.

use std::ops::ControlFlow;

use paceline_types::Value;

use super::join_buffer::BufferedTable;
use super::measure::{measure_access, run_later_steps};
use super::table_access;
use crate::error::Result;
use crate::execute::context::{Execution, Visit};
use crate::plan::measurements::MeasuredAccess;
use crate::plan::tree::{AccessPath, JoinKind, JoinStep, SelectPlan, StepSource, TableAccess};

/// Calls `emit` for each row of a block's joins, until it breaks. Counts the rows for `ROWNUM()`.
pub(crate) fn join_block(
    exec: &mut Execution<'_, '_>,
    plan: &SelectPlan,
    row: &mut [Value],
    emit: Visit<'_>,
) -> Result<ControlFlow<()>> {
    let Some(slot) = plan.row_number else {
        return join(exec, plan, &plan.steps, row, emit);
    };
    let mut number = 1;
    row[slot] = Value::UInt(number);
    join(exec, plan, &plan.steps, row, &mut |exec, row| {
        let flow = emit(exec, row)?;
        number += 1;
        row[slot] = Value::UInt(number);
        Ok(flow)
    })
}

/// Calls `visit` for each row of a table, wherever its rows come from.
fn read_table(
    exec: &mut Execution<'_, '_>,
    plan: &SelectPlan,
    access: &TableAccess,
    step: &JoinStep,
    measured: Option<&MeasuredAccess>,
    row: &mut [Value],
    visit: Visit<'_>,
) -> Result<ControlFlow<()>> {
    let read = |exec: &mut Execution<'_, '_>, visit: Visit<'_>| match &access.path {
        AccessPath::Hash { keys, source } => {
            let mut read_source = |exec: &mut Execution<'_, '_>, row: &mut [Value], visit: Visit<'_>| {
                join(exec, plan, std::slice::from_ref(source), row, visit)
            };
            let buffered = BufferedTable {
                plan,
                access,
                step,
                keys,
                measured,
            };
            buffered.read(exec, row, &mut read_source, visit)
        }
        _ => table_access::read(exec, plan, access, step, measured, row, visit),
    };
    measure_access(exec, measured, visit, read)
}

/// Calls `emit` for each row that the steps produce in `row`, until it breaks.
pub(crate) fn join(
    exec: &mut Execution<'_, '_>,
    plan: &SelectPlan,
    steps: &[JoinStep],
    row: &mut [Value],
    emit: Visit<'_>,
) -> Result<ControlFlow<()>> {
    let Some((step, rest)) = steps.split_first() else {
        return emit(exec, row);
    };
    let mut matched = false;
    let semi = step.kind == JoinKind::Semi;
    // A break by a semi-join only ends the loop over its own table.
    let mut done = false;
    let measured = match &step.source {
        StepSource::Table(access) => exec.measured(access),
        StepSource::Nest(_) => None,
    };
    let flow = {
        let mut visit = |exec: &mut Execution<'_, '_>, row: &mut [Value]| -> Result<ControlFlow<()>> {
            let held = std::mem::take(&mut exec.state.conditions_held);
            if !step.on.is_empty() && !exec.all_true(&step.on, row)? {
                return Ok(ControlFlow::Continue(()));
            }
            matched = true;
            if held < step.filter.len() && !exec.all_true(&step.filter[held..], row)? {
                return Ok(ControlFlow::Continue(()));
            }
            let flow = run_later_steps(exec, measured.as_ref(), |exec| join(exec, plan, rest, row, emit))?;
            if semi {
                done = flow.is_break();
                return Ok(ControlFlow::Break(()));
            }
            Ok(flow)
        };
        match &step.source {
            StepSource::Table(access) => {
                read_table(exec, plan, access, step, measured.as_ref(), row, &mut visit)?
            }
            StepSource::Nest(inner) => join(exec, plan, inner, row, &mut visit)?,
        }
    };
    if semi {
        return Ok(if done {
            ControlFlow::Break(())
        } else {
            ControlFlow::Continue(())
        });
    }
    if flow.is_break() || matched || step.kind != JoinKind::Left {
        return Ok(flow);
    }
    step.source.for_each_access(&mut |access| {
        row[plan.tables[access.table].slots.clone()].fill(Value::Null);
        if let Some(handle) = exec.state.row_handles.get_mut(access.table)
            && plan.keep_row_handles
        {
            handle.present = false;
        }
    });
    if !step.filter.is_empty() && !exec.all_true(&step.filter, row)? {
        return Ok(ControlFlow::Continue(()));
    }
    join(exec, plan, rest, row, emit)
}
