//! DELETE from one table or several tables.

use std::collections::HashSet;
use std::ops::ControlFlow;

use paceline_types::Value;

use super::row_search::{collect, for_each_row, reads_backwards, usable_plan};
use super::safe_updates::check_delete;
use crate::error::Result;
use crate::execute::changes::row_writer::{RowWriter, WriteOptions, warn_of_nothing};
use crate::execute::context::{Execution, RowHandle};
use crate::execute::interface::{Outcome, RowSink};
use crate::execute::operators::limit::RowLimit;
use crate::execute::programs::Triggers;
use crate::plan::slot_names::BlockNames;
use crate::plan::{DeletePlan, ResultColumn};
use paceline_syntax::TriggerEvent;

/// Executes a DELETE.
pub(super) fn execute(
    exec: &mut Execution<'_, '_>,
    plan: &DeletePlan,
    options: &WriteOptions,
    columns: &[ResultColumn],
    sink: &mut dyn RowSink,
) -> Result<Outcome> {
    check_delete(&exec.session.settings, plan)?;
    let names = BlockNames::new(&plan.select, None);
    let exec = &mut exec.with_names(&names);
    let select = usable_plan(exec, &plan.select)?;
    let tables = plan.targets.iter().map(|(_, definition)| &**definition);
    warn_of_nothing(exec.session, "DELETE", tables);
    let mut writers: Vec<(usize, Deleter<'_>)> = Vec::with_capacity(plan.targets.len());
    for (table, definition) in &plan.targets {
        let deleter = Deleter {
            writer: RowWriter::for_columns(options, definition, &[]).found_by(select, *table),
            triggers: Triggers::of(definition, TriggerEvent::Delete),
        };
        writers.push((*table, deleter));
    }
    if writers.len() > 1 {
        for (_, deleter) in &mut writers {
            deleter.writer.announce(exec.state.transaction);
        }
    }
    if plan.returning.is_some() {
        sink.columns(columns)?;
    }
    let mut deleted = 0;
    let is_safe = !plan.reads_changed && !reads_backwards(select);
    if select.is_of_one_table() && select.order.is_empty() && is_safe {
        let limit = RowLimit::new(exec, &select.limit)?;
        let (_, deleter) = &mut writers[0];
        if limit.count > 0 {
            for_each_row(exec, select, &mut |exec, row| {
                let handle = std::mem::take(&mut exec.state.row_handles[0]);
                deleted += u64::from(delete_row(exec, plan, deleter, &handle, row, sink)?);
                exec.state.row_handles[0] = handle;
                Ok(if deleted >= limit.count {
                    ControlFlow::Break(())
                } else {
                    ControlFlow::Continue(())
                })
            })?;
        }
    } else {
        let acts = options.may_act();
        // Shared by all targets, because a table may have two names.
        let mut seen = HashSet::new();
        for mut found in collect(exec, select)? {
            exec.tick()?;
            for (table, deleter) in &mut writers {
                let handle = &mut found.handles[*table];
                if !handle.present || !seen.insert(handle.key.clone()) {
                    continue;
                }
                // Actions of foreign keys may have changed or deleted the row since.
                if acts && !deleter.writer.refresh(exec.state.transaction, handle)? {
                    continue;
                }
                deleted += u64::from(delete_row(exec, plan, deleter, handle, &found.row, sink)?);
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

/// Deletes rows of one table.
struct Deleter<'p> {
    writer: RowWriter<'p>,
    triggers: Triggers<'p>,
}

/// Deletes a row, and sends the RETURNING values. Returns false if a foreign key prevents it and IGNORE turns that into
/// a warning.
fn delete_row(
    exec: &mut Execution<'_, '_>,
    plan: &DeletePlan,
    deleter: &mut Deleter<'_>,
    handle: &RowHandle,
    row: &[Value],
    sink: &mut dyn RowSink,
) -> Result<bool> {
    // Subqueries in RETURNING still see the row.
    let mut returned = Vec::new();
    for expr in plan.returning.iter().flatten() {
        returned.push(exec.eval(expr, row)?);
    }
    let Deleter { writer, triggers } = deleter;
    let old = match triggers.is_empty() {
        true => Vec::new(),
        false => writer.definition.schema().decode_row(&handle.image)?,
    };
    triggers.before(exec, &old, &mut [])?;
    let ignore = plan.ignore.into();
    let done = writer.or_passed_over(exec.state.transaction, ignore, |writer, transaction| {
        writer.delete(transaction, handle)
    })?;
    if done.is_ok() {
        exec.session.counts.handler_delete += 1;
        triggers.after(exec, &old, &[])?;
    }
    match &done {
        Err(error) => exec.session.diagnostics.warn(error.code(), error.message()),
        Ok(()) if plan.returning.is_some() => sink.row(&returned)?,
        Ok(()) => {}
    }
    Ok(done.is_ok())
}
