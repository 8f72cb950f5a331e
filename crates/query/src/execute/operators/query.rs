//! Queries: one SELECT, a set operation, a list of rows, or a recursive query.

use std::ops::ControlFlow;

use paceline_types::Value;

use super::arrangement::Counting;
use super::limit::{LimitGate, RowLimit};
use super::measure::measure_query;
use super::{recursive, select, set_operation, values};
use crate::error::Result;
use crate::execute::context::{Consumer, Execution};
use crate::plan::tree::{Limit, QueryBody, QueryPlan};

/// Executes a query within another one. `outer` is the row of the outer query.
pub(crate) fn run(
    exec: &mut Execution<'_, '_>,
    plan: &QueryPlan,
    outer: &[Value],
    consumer: Consumer<'_>,
) -> Result<Option<u64>> {
    run_counted(exec, plan, outer, Counting::Never, consumer)
}

/// Executes a query. `outer` is the row of the outer query. Returns the value of FOUND_ROWS() if it differs from
/// the number of returned rows: with SQL_CALC_FOUND_ROWS the number of rows without LIMIT, and in any case including
/// the rows before OFFSET.
fn run_counted(
    exec: &mut Execution<'_, '_>,
    plan: &QueryPlan,
    outer: &[Value],
    counting: Counting,
    consumer: Consumer<'_>,
) -> Result<Option<u64>> {
    match &plan.body {
        QueryBody::Select(block) => measure_query(exec, &**block, consumer, |exec, consumer| {
            select::run(exec, block, plan, outer, consumer)
        }),
        QueryBody::Set(set) => measure_query(exec, &**set, consumer, |exec, consumer| {
            set_operation::run(exec, set, &plan.types, outer, counting, consumer)
        }),
        QueryBody::Values(list) => values::run(exec, list, &plan.types, outer, consumer),
        QueryBody::Recursive(query) => recursive::run(exec, query, &plan.types, consumer).map(|()| None),
    }
}

/// Executes the query of a statement like [`run`]. Without its own LIMIT it returns at most `rows_max` rows.
pub(crate) fn run_statement(
    exec: &mut Execution<'_, '_>,
    plan: &QueryPlan,
    rows_max: u64,
    consumer: Consumer<'_>,
) -> Result<Option<u64>> {
    let is_limited = |limit: &Limit| limit.count.is_some() || limit.offset.is_some();
    if rows_max == u64::MAX || plan.limit().is_some_and(is_limited) {
        return run_counted(exec, plan, &[], Counting::OfStatement, consumer);
    }
    let limit = RowLimit {
        offset: 0,
        count: rows_max,
    };
    let mut gate = LimitGate::new(limit, plan.counts_found_rows());
    if gate.flow().is_break() {
        return Ok(None);
    }
    run_counted(exec, plan, &[], Counting::OfStatement, &mut |exec, row| {
        if gate.admits() && consumer(exec, row)?.is_break() {
            return Ok(ControlFlow::Break(()));
        }
        Ok(gate.flow())
    })
}
