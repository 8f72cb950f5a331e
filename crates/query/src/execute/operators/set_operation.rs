//! UNION, EXCEPT and INTERSECT.

use hashbrown::{HashMap, HashSet};
use std::ops::ControlFlow;

use paceline_types::Value;

use super::arrangement::{Arrangement, Counting, arranged};
use crate::error::Result;
use crate::execute::collections::distinct::{Distinct, row_key};
use crate::execute::context::{Consumer, Execution};
use crate::plan::measurements::Collection;
use crate::plan::tree::{SetOperation, SetPlan};
use paceline_expression::ExprType;

/// Executes one side of a set operation and converts its values to the common types.
fn run_side(
    exec: &mut Execution<'_, '_>,
    set: &SetPlan,
    side: usize,
    outer: &[Value],
    consumer: Consumer<'_>,
) -> Result<bool> {
    let mut converted = Vec::new();
    let mut stopped = false;
    exec.run_query(&set.sides[side], outer, &mut |exec, row| {
        let flow = match &set.conversions[side] {
            None => consumer(exec, row)?,
            Some(conversions) => {
                converted.clear();
                for conversion in conversions {
                    converted.push(exec.eval(conversion, row)?);
                }
                consumer(exec, &converted)?
            }
        };
        stopped |= flow.is_break();
        Ok(flow)
    })?;
    Ok(stopped)
}

/// Executes a set operation. `outer` is the row of the query around it. Returns the value of FOUND_ROWS() if
/// `counting` asks for it and it differs from the number of rows.
///
/// MariaDB collects the distinct rows of a statement in a temporary table before it applies the limit, so FOUND_ROWS()
/// counts all of them, whether or not SQL_CALC_FOUND_ROWS is said. The rows of UNION ALL are sent as they come: only
/// those sent are counted, whatever is said.
pub(crate) fn run(
    exec: &mut Execution<'_, '_>,
    set: &SetPlan,
    types: &[ExprType],
    outer: &[Value],
    counting: Counting,
    consumer: Consumer<'_>,
) -> Result<Option<u64>> {
    let is_collected = set.operation != SetOperation::UnionAll;
    let arrangement = Arrangement {
        order: &set.order,
        limit: &set.limit,
        counts_found_rows: counting == Counting::OfStatement && is_collected,
    };
    arranged(
        exec,
        &arrangement,
        types,
        consumer,
        &mut |exec, consumer| match set.operation {
            SetOperation::UnionAll => {
                for side in 0..set.sides.len() {
                    if run_side(exec, set, side, outer, consumer)? {
                        break;
                    }
                }
                Ok(())
            }
            SetOperation::Union => {
                let mut distinct = Distinct::new(types, exec.state.reserve(set, Collection::Distinct));
                let (mut compared, mut different) = (0, 0);
                for side in 0..set.sides.len() {
                    let stopped = run_side(exec, set, side, outer, &mut |exec, row| {
                        compared += 1;
                        if distinct.is_new(row)? {
                            different += 1;
                            consumer(exec, row)
                        } else {
                            Ok(ControlFlow::Continue(()))
                        }
                    })?;
                    if stopped {
                        break;
                    }
                }
                exec.session.counts.count_temporary(compared);
                exec.session.counts.count_temporary_read(different, true);
                Ok(())
            }
            SetOperation::Except
            | SetOperation::ExceptAll
            | SetOperation::Intersect
            | SetOperation::IntersectAll => {
                let mut memory = exec.state.reserve(set, Collection::Distinct);
                let mut right: HashMap<Vec<u8>, u64> = HashMap::new();
                let (mut compared, mut wanted_rows) = (0, 0);
                run_side(exec, set, 1, outer, &mut |_, row| {
                    let key = row_key(row, types);
                    compared += 1;
                    memory.take(key.len() + 48)?;
                    *right.entry(key).or_default() += 1;
                    Ok(ControlFlow::Continue(()))
                })?;
                let mut seen: HashSet<Vec<u8>> = HashSet::new();
                run_side(exec, set, 0, outer, &mut |exec, row| {
                    let key = row_key(row, types);
                    let there = right.get_mut(&key);
                    let wanted = match (set.operation, there) {
                        (SetOperation::Except, None) | (SetOperation::Intersect, Some(_)) => {
                            memory.take(key.len() + 48)?;
                            seen.insert(key)
                        }
                        (SetOperation::ExceptAll, None) => true,
                        (SetOperation::ExceptAll, Some(count)) if *count == 0 => true,
                        (SetOperation::ExceptAll, Some(count)) => {
                            *count -= 1;
                            false
                        }
                        (SetOperation::IntersectAll, Some(count)) if *count > 0 => {
                            *count -= 1;
                            true
                        }
                        _ => false,
                    };
                    if wanted {
                        wanted_rows += 1;
                        consumer(exec, row)
                    } else {
                        Ok(ControlFlow::Continue(()))
                    }
                })?;
                exec.session.counts.count_temporary(compared);
                exec.session.counts.count_temporary_read(wanted_rows, true);
                Ok(())
            }
        },
    )
}
