//! DELETE from one table or several tables.

use std::collections::HashSet;
use std::ops::ControlFlow;

use paceline_types::Value;

use super::query::Window;
use super::row_writer::RowWriter;
use super::run::{Exec, RowHandle};
use super::update::{collect, for_each_row, meets_last_first, search_plan};
use super::{Outcome, RowSink};
use crate::error::Result;
use crate::plan::{DeletePlan, ResultColumn};

/// Executes a DELETE.
pub(super) fn execute(
    exec: &mut Exec<'_, '_>,
    plan: &DeletePlan,
    columns: &[ResultColumn],
    sink: &mut dyn RowSink,
) -> Result<Outcome> {
    super::safe_updates::check_delete(exec, plan)?;
    let select = search_plan(exec, &plan.select)?;
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
    let is_safe = !plan.reads_changed && !meets_last_first(select);
    if select.tables.len() == 1 && select.order.is_empty() && is_safe {
        let window = Window::new(exec, &select.limit)?;
        let (_, writer) = &mut writers[0];
        if window.count > 0 {
            for_each_row(exec, select, &mut |exec, row| {
                let handle = std::mem::take(&mut exec.runtime.handles[0]);
                deleted += u64::from(delete_row(exec, plan, writer, &handle, row, sink)?);
                exec.runtime.handles[0] = handle;
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
        // Shared by all targets, because a table may have two names.
        let mut seen = HashSet::new();
        for mut found in collect(exec, select)? {
            exec.tick()?;
            for (table, writer) in &mut writers {
                let handle = &mut found.handles[*table];
                if !handle.present || !seen.insert(handle.key.clone()) {
                    continue;
                }
                // Actions of foreign keys may have changed or deleted the row since.
                if acts && !writer.refresh(exec, handle)? {
                    continue;
                }
                deleted += u64::from(delete_row(exec, plan, writer, handle, &found.row, sink)?);
            }
        }
    }
    Ok(Outcome {
        result_set: plan.returning.is_some(),
        affected_rows: deleted,
        rows_sent: if plan.returning.is_some() { deleted } else { 0 },
        ..Outcome::default()
    })
}

/// Deletes a row, and sends the RETURNING values. Returns false if a foreign key prevents it and IGNORE turns that into
/// a warning.
fn delete_row(
    exec: &mut Exec<'_, '_>,
    plan: &DeletePlan,
    writer: &mut RowWriter<'_>,
    handle: &RowHandle,
    row: &[Value],
    sink: &mut dyn RowSink,
) -> Result<bool> {
    // Subqueries in RETURNING still see the row.
    let mut returned = Vec::new();
    for expr in plan.returning.iter().flatten() {
        returned.push(exec.eval(expr, row)?);
    }
    let done = writer.or_passed_over(exec, plan.ignore.into(), |writer, exec| {
        writer.delete(exec, handle)
    })?;
    match &done {
        Err(error) => exec.session.diagnostics.warn(error.code(), error.message()),
        Ok(()) if plan.returning.is_some() => sink.row(&returned)?,
        Ok(()) => {}
    }
    Ok(done.is_ok())
}
