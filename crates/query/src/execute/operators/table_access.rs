//! Reads one table of a join, wherever its rows come from. ([`super::join_buffer`] reads tables with a join buffer.)

use std::ops::ControlFlow;

use paceline_expression::session::ReadStart;
use paceline_types::Value;

use super::derived;
use crate::error::Result;
use crate::execute::collections::derived_rows::Rows;
use crate::execute::context::{Execution, Visit};
use crate::execute::readers::{base_table::BaseReader, json_table, series, virtual_table};
use crate::plan::measurements::MeasuredAccess;
use crate::plan::tree::{JoinKind, JoinStep, SelectPlan, TableAccess, TableInstance, TableSource};

/// Calls `visit` for each row on the access path of a table.
pub(super) fn read(
    exec: &mut Execution<'_, '_>,
    plan: &SelectPlan,
    access: &TableAccess,
    step: &JoinStep,
    measured: Option<&MeasuredAccess>,
    row: &mut [Value],
    visit: Visit<'_>,
) -> Result<ControlFlow<()>> {
    let instance = &plan.tables[access.table];
    let rows: Rows = match &instance.source {
        TableSource::Base(definition) => {
            let reader = BaseReader::new(plan, access, step, instance, definition, measured);
            return reader.read(exec, row, visit);
        }
        TableSource::Series(numbers) => {
            let mut rows = 0;
            let flow = series::read(exec, numbers, instance.slots.start, row, visit, &mut rows);
            let has_ended = matches!(flow, Ok(ControlFlow::Continue(())));
            (exec.session.counts).count_read(ReadStart::End, false, rows, has_ended);
            return flow;
        }
        TableSource::Derived(query) => derived::rows_of(exec, query, instance.distinct)?,
        TableSource::Recursive(table) => exec.state.derived.round(*table),
        TableSource::Virtual { database, table } => {
            let conditions = match step.kind {
                JoinKind::Left => &step.on,
                JoinKind::Inner | JoinKind::Semi => &step.filter,
            };
            let rows = virtual_table::rows(exec, instance, (database, table), conditions, row)?;
            exec.session.counts.count_temporary(rows.len() as u64);
            Rows::new(rows)
        }
        TableSource::Json(json) => return json_table::read(exec, instance, json, row, visit),
        TableSource::MergedView => unreachable!("a merged view is not a step of a join"),
    };
    read_rows(exec, instance, &rows, row, visit)
}

fn read_rows(
    exec: &mut Execution<'_, '_>,
    instance: &TableInstance,
    rows: &[Vec<Value>],
    row: &mut [Value],
    visit: Visit<'_>,
) -> Result<ControlFlow<()>> {
    for (number, values) in rows.iter().enumerate() {
        exec.row_fetched()?;
        row[instance.slots.clone()].clone_from_slice(values);
        let flow = visit(exec, row);
        if !matches!(flow, Ok(ControlFlow::Continue(()))) {
            exec.session.counts.count_temporary_read(number as u64 + 1, false);
            return flow;
        }
    }
    exec.session.counts.count_temporary_read(rows.len() as u64, true);
    Ok(ControlFlow::Continue(()))
}
