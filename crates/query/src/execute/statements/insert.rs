//! INSERT and REPLACE.

use std::ops::ControlFlow;

use super::insertion::Insertion;
use crate::error::{Error, Result};
use crate::execute::bulk::{ImpossibleDates, ParameterSets};
use crate::execute::changes::assignment::{Strictness, check_types};
use crate::execute::changes::row_writer::WriteOptions;
use crate::execute::collections::memory::row_bytes;
use crate::execute::context::Execution;
use crate::execute::interface::{AffectedRows, Outcome, RowSink};
use crate::execute::operators::query;
use crate::plan::{InsertPlan, InsertRows, ResultColumn};
use paceline_types::error_code::ER_UNSUPPORTED_PS;

/// Results of an INSERT, and their destination.
pub(super) struct Sent<'s> {
    /// Columns of RETURNING.
    pub columns: &'s [ResultColumn],
    /// Meaning of the number of affected rows.
    pub affected: AffectedRows,
    pub sink: &'s mut dyn RowSink,
}

/// Executes an INSERT or REPLACE, of values perhaps for several sets of parameters.
pub(super) fn execute(
    exec: &mut Execution<'_, '_>,
    plan: &InsertPlan,
    options: &WriteOptions,
    sets: Option<&mut (dyn ParameterSets + '_)>,
    sent: Sent<'_>,
) -> Result<Outcome> {
    let Sent {
        columns,
        affected,
        sink,
    } = sent;
    let one_row = matches!(&plan.source, InsertRows::Values(rows) if rows.len() == 1);
    let expected = match &plan.source {
        InsertRows::Values(rows) if sets.is_none() => Some(rows.len() as u64),
        InsertRows::Values(_) | InsertRows::Query(_) | InsertRows::File => None,
    };
    let exec = &mut exec.with_names(plan.table.description());
    let mut insertion = Insertion::new(exec, plan, options, expected);
    if one_row {
        insertion.be_single_row();
    }
    if plan.returning.is_some() {
        sink.columns(columns)?;
    }
    if let Some(sets) = sets {
        insert_sets(exec, plan, &mut insertion, sets, sink)?;
        let one_row = insertion.records() == 1;
        return Ok(insertion.outcome(exec, affected, one_row));
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

/// Inserts the values once for each set of parameters.
fn insert_sets(
    exec: &mut Execution<'_, '_>,
    plan: &InsertPlan,
    insertion: &mut Insertion<'_>,
    sets: &mut (dyn ParameterSets + '_),
    sink: &mut dyn RowSink,
) -> Result<()> {
    let InsertRows::Values(rows) = &plan.source else {
        return Err(Error::new(ER_UNSUPPORTED_PS, &[]));
    };
    exec.session.diagnostics.reset_row();
    check_source_types(exec, plan, insertion.strictness())?;
    loop {
        let of_set = &mut exec.with_parameters(sets.current());
        for values in rows {
            insertion.take_values(of_set, values)?;
            insertion.insert(of_set, sink)?;
        }
        // As in MariaDB, which decodes the first set before the statement begins, and the others within it.
        let impossible = match insertion.strictness() {
            Strictness::Strict => ImpossibleDates::Refused,
            Strictness::Lenient => ImpossibleDates::Warned(&mut exec.session.diagnostics),
        };
        if !sets.advance(impossible)? {
            return Ok(());
        }
    }
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
