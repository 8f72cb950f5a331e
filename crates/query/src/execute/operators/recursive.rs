//! `WITH RECURSIVE`.

use std::ops::ControlFlow;
use std::rc::Rc;

use paceline_types::Value;
use paceline_types::error_code::ER_QUERY_RESULT_INCOMPLETE;

use crate::error::Result;
use crate::execute::collections::distinct::Distinct;
use crate::execute::collections::memory::row_bytes;
use crate::execute::context::{Consumer, Execution};
use crate::plan::measurements::Collection;
use crate::plan::tree::{QueryPlan, RecursivePlan};
use paceline_expression::{Expr, ExprType};

/// Executes a recursive query: the anchor, then the step on the rows of the last round until there are none.
pub(crate) fn run(
    exec: &mut Execution<'_, '_>,
    plan: &RecursivePlan,
    types: &[ExprType],
    consumer: Consumer<'_>,
) -> Result<()> {
    let distinct_types: Vec<ExprType> = match plan.cycle.is_empty() {
        true => types.to_vec(),
        false => plan.cycle.iter().map(|&column| types[column].clone()).collect(),
    };
    let memory = exec.state.reserve(plan, Collection::Rows);
    let mut distinct = (!plan.keep_duplicates).then(|| Distinct::new(&distinct_types, memory));
    let mut memory = exec.state.reserve(plan, Collection::Rows);
    let mut all: Vec<Vec<Value>> = Vec::new();
    let mut round: Vec<Vec<Value>> = Vec::new();
    let mut collect = |exec: &mut Execution<'_, '_>,
                       query: &QueryPlan,
                       conversions: &[Expr],
                       round: &mut Vec<Vec<Value>>| {
        exec.run_query(query, &[], &mut |exec, row| {
            let row = match conversions.is_empty() {
                true => row.to_vec(),
                false => conversions
                    .iter()
                    .map(|conversion| exec.eval(conversion, row))
                    .collect::<Result<Vec<_>>>()?,
            };
            let new = match &mut distinct {
                Some(distinct) if plan.cycle.is_empty() => distinct.is_new(&row)?,
                Some(distinct) => {
                    let cycle = plan.cycle.iter();
                    let values: Vec<Value> = cycle.map(|&column| row[column].clone()).collect();
                    distinct.is_new(&values)?
                }
                None => true,
            };
            if new {
                memory.take(row_bytes(&row))?;
                round.push(row);
            }
            Ok(ControlFlow::Continue(()))
        })
    };
    collect(exec, &plan.anchor, &plan.conversions[0], &mut round)?;
    let rounds_max = exec.session.settings.max_recursive_iterations;
    let mut rounds = 0;
    while !round.is_empty() {
        if rounds == rounds_max {
            // As in MariaDB, it is not checked whether another round would return rows.
            let message = ER_QUERY_RESULT_INCOMPLETE.message(&[&"max_recursive_iterations =", &rounds_max]);
            exec.session.diagnostics.warn(ER_QUERY_RESULT_INCOMPLETE, message);
            all.append(&mut round);
            break;
        }
        rounds += 1;
        let last = Rc::new(std::mem::take(&mut round));
        all.extend(last.iter().cloned());
        exec.state.derived.begin_round(plan.table, last, &plan.readers);
        // Rows kept from the last round are outdated.
        exec.state.join_buffers.clear();
        collect(exec, &plan.step, &plan.conversions[1], &mut round)?;
    }
    exec.state.derived.end_rounds(plan.table);
    exec.session.counts.count_temporary(all.len() as u64);
    for row in &all {
        if consumer(exec, row)?.is_break() {
            break;
        }
    }
    Ok(())
}
