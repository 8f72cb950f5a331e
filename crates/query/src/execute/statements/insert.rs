//! INSERT and REPLACE.

use std::ops::ControlFlow;

use super::insertion::Insertion;
use crate::error::Result;
use crate::execute::changes::assignment::{Strictness, check_types};
use crate::execute::changes::row_writer::WriteOptions;
use crate::execute::collections::memory::row_bytes;
use crate::execute::context::Execution;
use crate::execute::interface::{AffectedRows, Outcome, RowSink};
use crate::execute::operators::query;
use crate::plan::{InsertPlan, InsertRows, ResultColumn};

/// Executes an INSERT or REPLACE.
pub(super) fn execute(
    exec: &mut Execution<'_, '_>,
    plan: &InsertPlan,
    options: &WriteOptions,
    affected: AffectedRows,
    columns: &[ResultColumn],
    sink: &mut dyn RowSink,
) -> Result<Outcome> {
    let one_row = matches!(&plan.source, InsertRows::Values(rows) if rows.len() == 1);
    let expected = match &plan.source {
        InsertRows::Values(rows) => Some(rows.len() as u64),
        InsertRows::Query(_) | InsertRows::File => None,
    };
    let mut insertion = Insertion::new(exec, plan, options, expected);
    if one_row {
        insertion.be_single_row();
    }
    if plan.returning.is_some() {
        sink.columns(columns)?;
    }
    exec.session.diagnostics.reset_row();
    check_source_types(exec, plan, insertion.strictness())?;
    match &plan.source {
        // LOAD DATA passes its lines to the insertion.
        InsertRows::File => {}
        InsertRows::Values(rows) => {
            for values in rows {
                insertion.take_values(exec, values)?;
                insertion.insert(exec, sink)?;
            }
        }
        InsertRows::Query(query) if plan.reads_changed => {
            let mut rows = Vec::new();
            query::run(exec, query, &[], &mut |exec, row| {
                exec.state.memory.charge(row_bytes(row))?;
                rows.push(row.to_vec());
                Ok(ControlFlow::Continue(()))
            })?;
            for row in rows {
                insertion.take_row(exec, &query.types, &row)?;
                insertion.insert(exec, sink)?;
            }
        }
        InsertRows::Query(query) => {
            query::run(exec, query, &[], &mut |exec, row| {
                insertion.take_row(exec, &query.types, row)?;
                insertion.insert(exec, sink)?;
                Ok(ControlFlow::Continue(()))
            })?;
        }
    }
    Ok(insertion.outcome(exec, affected, one_row))
}

/// Checks the types of the values, of several rows only the first, as MariaDB does, and those of ON DUPLICATE KEY
/// UPDATE.
fn check_source_types(exec: &mut Execution<'_, '_>, plan: &InsertPlan, strictness: Strictness) -> Result<()> {
    let columns = plan.columns.iter().copied();
    match &plan.source {
        InsertRows::Values(rows) => {
            let values = rows.first().into_iter().flatten();
            let typed = columns
                .zip(values)
                .filter_map(|(column, value)| Some((column, &value.as_ref()?.ty)));
            check_types(exec, &plan.table, typed, strictness)?;
        }
        InsertRows::Query(query) => {
            check_types(exec, &plan.table, columns.zip(&query.types), strictness)?;
        }
        InsertRows::File => {}
    }
    let updated = plan.on_duplicate.iter();
    let updated = updated.map(|assignment| (assignment.column, &assignment.value.ty));
    check_types(exec, &plan.table, updated, strictness)
}
