//! One SELECT: join, grouping, HAVING, window functions, projection, DISTINCT, ORDER BY, LIMIT.

use hashbrown::HashSet;
use std::ops::ControlFlow;

use paceline_types::Value;

use super::aggregation::{aggregate, store};
use super::join::join_block;
use super::limit::{LimitGate, RowLimit, finish_sorted};
use super::outer_row::row_with_outer;
use super::sort_key::{append_output_sort_key, append_sort_key};
use super::window::WindowRows;
use crate::error::Result;
use crate::execute::collections::distinct::Distinct;
use crate::execute::collections::memory::Reservation;
use crate::execute::collections::sorter::{SortedRows, Sorter};
use crate::execute::context::{Consumer, Execution};
use crate::plan::measurements::Collection;
use crate::plan::slot_names::BlockNames;
use crate::plan::tree::{
    AccessPath, GroupStrategy, JoinKind, JoinStep, QueryPlan, SelectPlan, SortKey, StepSource, TableSource,
};
use paceline_expression::ExprKind;
use paceline_syntax::ast::Ties;

/// Returns the plan, or its alternative if the values have other kinds than the plan's order assumes.
pub(crate) fn usable_plan<'p>(
    exec: &mut Execution<'_, '_>,
    plan: &'p SelectPlan,
    row: &[Value],
) -> Result<&'p SelectPlan> {
    let Some(otherwise) = &plan.otherwise else {
        return Ok(plan);
    };
    for assumed in &otherwise.assumed {
        let value = exec.eval(&assumed.value, row)?;
        if !assumed.holds(value, &mut exec.context()) {
            return Ok(&otherwise.select);
        }
    }
    Ok(plan)
}

/// Executes the SELECT of a query. `outer` is the row of the query around it.
pub(crate) fn run(
    exec: &mut Execution<'_, '_>,
    plan: &SelectPlan,
    query: &QueryPlan,
    outer: &[Value],
    consumer: Consumer<'_>,
) -> Result<Option<u64>> {
    let types = &query.types[..];
    let names = BlockNames::new(plan, exec.names()).with_columns(&query.columns);
    let exec = &mut exec.with_names(&names);
    let mut row = row_with_outer(plan.slot_count, &plan.outer, outer);
    if let Some(slot) = plan.row_number {
        row[slot] = Value::UInt(1);
    }
    let plan = usable_plan(exec, plan, &row)?;
    let mut limit = RowLimit::new(exec, &plan.limit)?;
    if limit.count == 0 && !plan.count_found_rows {
        return Ok(None);
    }
    let ties = limit.ties(&plan.limit, &plan.order);
    let by_output = plan
        .order
        .iter()
        .all(|item| matches!(item.key, SortKey::Output(_)));
    let movable = can_move(plan, by_output);
    let mut gate = LimitGate::new(limit, plan.count_found_rows);
    let mut distinct = plan
        .distinct
        .then(|| Distinct::new(types, exec.state.reserve(plan, Collection::Distinct)));
    // The order of DISTINCT's keys.
    let by_row = plan.order.len() == plan.projection.len()
        && (plan.order.iter().enumerate()).all(|(place, item)| {
            matches!(item.key, SortKey::Output(output) if output == place) && !item.descending
        });
    // Rows that DISTINCT has compared, and those that were new.
    let (mut compared, mut different) = (0, 0);
    let mut output: Vec<Value> = Vec::with_capacity(plan.projection.len());
    let mut large = exec.state.memory.part();
    let mut key = Vec::new();
    let mut sorter = plan.order.first().map(|item| {
        let first = if plan.count_found_rows || ties == Ties::Kept {
            None
        } else {
            limit.needed()
        };
        Sorter::new(first, exec.state.reserve(item, Collection::Sort))
    });
    {
        // Processes each row after grouping and window functions.
        let mut finish = |exec: &mut Execution<'_, '_>, row: &mut [Value]| -> Result<ControlFlow<()>> {
            if let Some(sorter) = &mut sorter {
                key.clear();
                match &mut distinct {
                    None => {
                        append_sort_key(exec, &plan.order, &plan.projection, types, row, &mut key)?;
                        if sorter.rejects(&key) {
                            return Ok(ControlFlow::Continue(()));
                        }
                        project(exec, plan, movable, row, &mut output, &mut large)?;
                    }
                    Some(distinct) => {
                        project(exec, plan, movable, row, &mut output, &mut large)?;
                        compared += 1;
                        if !distinct.is_new(&output)? {
                            return Ok(ControlFlow::Continue(()));
                        }
                        different += 1;
                        if by_row {
                            key.extend_from_slice(distinct.key());
                        } else if by_output {
                            append_output_sort_key(exec, &plan.order, types, &output, &mut key)?;
                        } else {
                            append_sort_key(exec, &plan.order, &plan.projection, types, row, &mut key)?;
                        }
                    }
                }
                sorter.push(&key, std::mem::take(&mut output))?;
                return Ok(ControlFlow::Continue(()));
            }
            if distinct.is_none() && !gate.admits() {
                return Ok(gate.flow());
            }
            project(exec, plan, movable, row, &mut output, &mut large)?;
            if let Some(distinct) = &mut distinct {
                compared += 1;
                if !distinct.is_new(&output)? {
                    return Ok(gate.flow());
                }
                different += 1;
                if !gate.admits() {
                    return Ok(gate.flow());
                }
            }
            if consumer(exec, &output)?.is_break() {
                return Ok(ControlFlow::Break(()));
            }
            Ok(gate.flow())
        };
        let mut windows = (plan.windows.as_ref()).map(|windows| WindowRows::new(exec, windows));
        let mut take = |exec: &mut Execution<'_, '_>, row: &mut [Value]| -> Result<ControlFlow<()>> {
            store(exec, &plan.once, row)?;
            if !plan.having.is_empty() && !exec.all_true(&plan.having, row)? {
                return Ok(ControlFlow::Continue(()));
            }
            match &mut windows {
                None => finish(exec, row),
                Some(windows) => {
                    windows.add(exec, row)?;
                    Ok(ControlFlow::Continue(()))
                }
            }
        };
        let runnable = plan.impossible.is_none() && exec.all_true(&plan.constant_conditions, &row)?;
        match &plan.aggregation {
            Some(aggregation) => aggregate(exec, plan, aggregation, &mut row, runnable, &mut take)?,
            None if runnable => {
                let _ = join_block(exec, plan, &mut row, &mut take)?;
            }
            None => {}
        }
        if let Some(windows) = windows {
            windows.finish(exec, &mut row, &mut finish)?;
        }
    }
    if plan.distinct {
        exec.session.counts.count_temporary(compared);
        exec.session.counts.count_temporary_read(different, true);
    }
    if let Some(sorter) = sorter {
        sorter.count(sorted_rows(plan), &mut exec.session.counts);
        finish_sorted(exec, sorter, &mut gate, ties, consumer)?;
    }
    // Rows before OFFSET also count as found.
    Ok((plan.count_found_rows || limit.offset > 0).then_some(gate.seen()))
}

/// Returns how the rows were found that are sorted.
pub(crate) fn sorted_rows(plan: &SelectPlan) -> SortedRows {
    let is_grouped =
        (plan.aggregation.as_ref()).is_some_and(|how| !matches!(how.strategy, GroupStrategy::Ordered));
    if plan.windows.is_some() || plan.distinct || is_grouped {
        return SortedRows::Temporary;
    }
    let Some(StepSource::Table(access)) = plan.steps.first().map(|step| &step.source) else {
        return SortedRows::OfScan;
    };
    match (&plan.tables[access.table].source, &access.path) {
        (
            TableSource::Base(_),
            AccessPath::Lookup { .. } | AccessPath::Range { .. } | AccessPath::Union { .. },
        ) => SortedRows::OfRange,
        (TableSource::Base(_) | TableSource::Series(_), _) => SortedRows::OfScan,
        _ => SortedRows::Temporary,
    }
}

/// Size in bytes below which a value is not charged while a row is built.
const LARGE_VALUE_BYTES: usize = 64 << 10;

/// Returns whether a row's values may be moved to the output, because they are not read again.
fn can_move(plan: &SelectPlan, by_output: bool) -> bool {
    let [
        JoinStep {
            kind: JoinKind::Inner,
            source: StepSource::Table(access),
            ..
        },
    ] = &plan.steps[..]
    else {
        return false;
    };
    if plan.aggregation.is_some()
        || plan.windows.is_some()
        || (plan.distinct && !plan.order.is_empty() && !by_output)
    {
        return false;
    }
    let slots = &plan.tables[access.table].slots;
    let mut taken = HashSet::new();
    plan.projection.iter().all(|expr| match expr.kind {
        ExprKind::Column(slot) => slots.contains(&slot) && taken.insert(slot),
        _ => false,
    })
}

fn project(
    exec: &mut Execution<'_, '_>,
    plan: &SelectPlan,
    movable: bool,
    row: &mut [Value],
    output: &mut Vec<Value>,
    large: &mut Reservation,
) -> Result<()> {
    if movable {
        // Give the previous row's values back, to reuse their memory.
        output.resize(plan.projection.len(), Value::Null);
        for (value, expr) in output.iter_mut().zip(&plan.projection) {
            if let ExprKind::Column(slot) = expr.kind {
                std::mem::swap(value, &mut row[slot]);
            }
        }
        return Ok(());
    }
    output.clear();
    large.clear();
    for expr in &plan.projection {
        let value = if plan.unrounded {
            exec.eval_unrounded(expr, row)?
        } else {
            exec.eval(expr, row)?
        };
        // Each of many values can be large: once here, and once in the row's packet.
        let bytes = value.memory_bytes();
        if bytes > LARGE_VALUE_BYTES {
            large.take(2 * bytes)?;
        }
        output.push(value);
    }
    Ok(())
}
