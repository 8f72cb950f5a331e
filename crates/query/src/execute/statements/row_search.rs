//! Search for the rows that an UPDATE or DELETE changes.
//!
//! Rows are changed while the search is running ([`for_each_row`]), unless the search could then find changed rows
//! again: in that case they are collected first ([`collect`]).

use std::ops::ControlFlow;
use std::time::Instant;

use paceline_storage::RowPlacement;
use paceline_types::Value;

use crate::error::Result;
use crate::execute::collections::memory::row_bytes;
use crate::execute::collections::sorter::SortedRows;
use crate::execute::context::{Execution, RowHandle, Visit};
use crate::execute::operators::join::join_block;
use crate::execute::operators::limit::RowLimit;
use crate::execute::operators::select;
use crate::execute::operators::sort_key::append_sort_key;
use crate::plan::measurements::Collection;
use crate::plan::tree::{ScanDirection, SelectPlan, StepSource, TableSource};

/// A row that was found, to be changed later.
pub(super) struct FoundRow {
    pub key: Vec<u8>,
    pub row: Vec<Value>,
    pub handles: Vec<RowHandle>,
}

/// Returns the plan of the search for the current values. Warnings about the values are reported when the rows are
/// read.
pub(super) fn usable_plan<'p>(exec: &mut Execution<'_, '_>, plan: &'p SelectPlan) -> Result<&'p SelectPlan> {
    if plan.otherwise.is_none() {
        return Ok(plan);
    }
    let said = exec.session.diagnostics.clone();
    let mode = exec.mode;
    exec.mode = mode.lenient();
    let usable = select::usable_plan(exec, plan, &vec![Value::Null; plan.slot_count]);
    exec.mode = mode;
    exec.session.diagnostics = said;
    usable
}

/// Calls `visit` with each row that meets the conditions. Its location is in `row_handles`.
pub(super) fn for_each_row(
    exec: &mut Execution<'_, '_>,
    select: &SelectPlan,
    visit: Visit<'_>,
) -> Result<()> {
    exec.state.row_handles = vec![RowHandle::default(); select.tables.len()];
    let mut row = vec![Value::Null; select.slot_count];
    // As in MariaDB, strict mode does not apply to conditions that are known before a single table is read.
    let mode = exec.mode;
    if select.is_of_one_table() {
        exec.mode = exec.mode.lenient();
    }
    let runnable = select.impossible.is_none() && exec.all_true(&select.constant_conditions, &row)?;
    exec.mode = mode;
    if !runnable {
        return Ok(());
    }
    let _ = join_block(exec, select, &mut row, visit)?;
    Ok(())
}

/// Returns all matching rows, in order and limited, before anything is changed.
pub(super) fn collect(exec: &mut Execution<'_, '_>, select: &SelectPlan) -> Result<Vec<FoundRow>> {
    let limit = RowLimit::new(exec, &select.limit)?;
    let mut found: Vec<FoundRow> = Vec::new();
    if limit.count == 0 {
        return Ok(found);
    }
    for_each_row(exec, select, &mut |exec, row| {
        let mut key = Vec::new();
        append_sort_key(exec, &select.order, &select.projection, &[], row, &mut key)?;
        let handles = exec.state.row_handles.clone();
        let bytes: usize = handles
            .iter()
            .map(|handle| handle.key.len() + handle.image.len() + 64)
            .sum();
        let bytes = row_bytes(row) + bytes + key.len();
        exec.state.charge(select, Collection::Found, bytes)?;
        found.push(FoundRow {
            key,
            row: row.to_vec(),
            handles,
        });
        let enough = select.order.is_empty() && found.len() as u64 >= limit.count;
        Ok(if enough {
            ControlFlow::Break(())
        } else {
            ControlFlow::Continue(())
        })
    })?;
    if !select.order.is_empty() {
        let counts = &mut exec.session.counts;
        match select::sorted_rows(select) {
            SortedRows::OfRange => counts.sort_range += 1,
            SortedRows::OfScan | SortedRows::Temporary => counts.sort_scan += 1,
        }
        counts.sort_rows += limit.count.min(found.len() as u64);
        let started = exec.state.measurements.is_some().then(Instant::now);
        found.sort_by(|left, right| left.key.cmp(&right.key));
        if let (Some(started), Some(measurements)) = (started, &mut exec.state.measurements) {
            let measure = measurements.collection_mut(select, Collection::Found);
            measure.add_sorts(|sorts| {
                sorts.loops += 1;
                sorts.rows += found.len() as u64;
                sorts.time += started.elapsed();
            });
        }
        found.truncate(usize::try_from(limit.count).unwrap_or(usize::MAX));
    }
    // They are changed at their places later.
    exec.session.counts.handler_read_rnd += found.len() as u64;
    exec.session.counts.rows_read += found.len() as u64;
    Ok(found)
}

/// Returns whether rows of a table without a primary key are read backwards. Of identical rows the first is changed,
/// whichever was found, so the search would find it again.
pub(super) fn reads_backwards(select: &SelectPlan) -> bool {
    let [step] = &select.steps[..] else { return false };
    let StepSource::Table(access) = &step.source else {
        return false;
    };
    let TableSource::Base(definition) = &select.tables[access.table].source else {
        return false;
    };
    access.direction == ScanDirection::Backward
        && matches!(definition.schema().clustered(), RowPlacement::RowId(_))
}
