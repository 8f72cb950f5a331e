//! DELETE, from one table or several.

use std::collections::HashSet;
use std::ops::ControlFlow;

use super::query::Window;
use super::row_writer::RowWriter;
use super::run::{Exec, RowHandle};
use super::update::{collect, for_each_row};
use super::{Outcome, RowSink};
use crate::error::Result;
use crate::plan::{DeletePlan, ResultColumn};

/// Runs a DELETE.
pub(super) fn execute(
    exec: &mut Exec<'_, '_>,
    plan: &DeletePlan,
    columns: &[ResultColumn],
    sink: &mut dyn RowSink,
) -> Result<Outcome> {
    super::safe_updates::check_delete(exec, plan)?;
    let select = &*plan.select;
    let mut writers: Vec<(usize, RowWriter<'_>)> = Vec::with_capacity(plan.targets.len());
    for (table, definition) in &plan.targets {
        writers.push((*table, RowWriter::for_columns(exec, definition, &[])));
    }
    if writers.len() > 1 {
        for (_, writer) in &mut writers {
            writer.announce(exec);
        }
    }
    if plan.returning.is_some() {
        sink.columns(columns)?;
    }
    let mut deleted = 0;
    let mut sent = 0;
    if select.tables.len() == 1 && select.order.is_empty() {
        let window = Window::new(exec, &select.limit)?;
        let (_, writer) = &mut writers[0];
        if window.count > 0 {
            for_each_row(exec, select, &mut |exec, row| {
                let handle = std::mem::take(&mut exec.runtime.handles[0]);
                let done = delete_row(exec, plan, writer, &handle)?;
                exec.runtime.handles[0] = handle;
                if !done {
                    return Ok(ControlFlow::Continue(()));
                }
                deleted += 1;
                if let Some(returning) = &plan.returning {
                    let values = returning
                        .iter()
                        .map(|expr| exec.eval(expr, row))
                        .collect::<Result<Vec<_>>>()?;
                    sink.row(&values)?;
                    sent += 1;
                }
                Ok(if deleted >= window.count {
                    ControlFlow::Break(())
                } else {
                    ControlFlow::Continue(())
                })
            })?;
        }
    } else {
        let acts = exec
            .runtime
            .foreign_keys
            .as_ref()
            .is_some_and(|keys| keys.may_act());
        // Of all targets: a table may be among them under two names.
        let mut seen = HashSet::new();
        for mut found in collect(exec, select)? {
            exec.tick()?;
            for (table, writer) in &mut writers {
                let handle = &mut found.handles[*table];
                if !handle.present || !seen.insert(handle.key.clone()) {
                    continue;
                }
                // Actions of foreign keys may have changed or deleted it since.
                if acts && !writer.refresh(exec, handle)? {
                    continue;
                }
                if !delete_row(exec, plan, writer, handle)? {
                    continue;
                }
                deleted += 1;
                if let Some(returning) = &plan.returning {
                    let values = returning
                        .iter()
                        .map(|expr| exec.eval(expr, &found.row))
                        .collect::<Result<Vec<_>>>()?;
                    sink.row(&values)?;
                    sent += 1;
                }
            }
        }
    }
    Ok(Outcome {
        result_set: plan.returning.is_some(),
        affected_rows: deleted,
        rows_sent: sent,
        ..Outcome::default()
    })
}

/// Deletes a row. False: a foreign key keeps it, and IGNORE passes over it with a warning.
fn delete_row(
    exec: &mut Exec<'_, '_>,
    plan: &DeletePlan,
    writer: &mut RowWriter<'_>,
    handle: &RowHandle,
) -> Result<bool> {
    let done = writer.or_passed_over(exec, plan.ignore.into(), |writer, exec| {
        writer.delete(exec, handle)
    })?;
    if let Err(error) = &done {
        exec.session.diagnostics.warn(error.code(), error.message());
    }
    Ok(done.is_ok())
}
