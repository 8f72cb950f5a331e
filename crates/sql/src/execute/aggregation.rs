//! GROUP BY and aggregates.
//!
//! A group keeps the slots of its first row that are read later, and an accumulator for each aggregate. When it is complete both go
//! back into the block's row, which then looks like any other row to HAVING, the select list and ORDER BY.
//!
//! WITH ROLLUP keeps, besides the groups, one for each shorter list of keys; it sorts behind its members.

use hashbrown::HashMap;
use std::ops::ControlFlow;

use paceline_types::Value;

use super::join::{Emit, join};
use super::memory::Reservation;
use super::run::Exec;
use super::temporary_key;
use crate::error::Result;
use crate::expr::{Accumulator, Aggregate};
use crate::plan::tree::{Aggregation, GroupStrategy, JoinStep, SelectPlan};

/// What a group has gathered.
struct Group {
    /// The kept slots of its first row.
    kept: Vec<Value>,
    accumulators: Vec<Accumulator>,
    /// How many group keys it has: fewer for a line of WITH ROLLUP.
    keys: usize,
    memory: Reservation,
}

impl Group {
    fn new(exec: &Exec<'_, '_>, aggregation: &Aggregation, row: &[Value], keys: usize) -> Self {
        Group {
            kept: aggregation.kept.iter().map(|&slot| row[slot].clone()).collect(),
            accumulators: aggregation
                .aggregates
                .iter()
                .map(|(aggregate, _)| aggregate.accumulator())
                .collect(),
            keys,
            memory: exec.runtime.memory.part(),
        }
    }

    fn add(&mut self, exec: &mut Exec<'_, '_>, aggregation: &Aggregation, row: &[Value]) -> Result<()> {
        for (accumulator, (aggregate, _)) in self.accumulators.iter_mut().zip(&aggregation.aggregates) {
            let grown = accumulator.add(aggregate, row, &mut exec.context())?;
            if grown > 0 {
                self.memory.take(grown)?;
            }
        }
        Ok(())
    }

    /// Puts the group into the row.
    fn finish(mut self, exec: &mut Exec<'_, '_>, aggregation: &Aggregation, row: &mut [Value]) -> Result<()> {
        for (slot, value) in aggregation.kept.iter().zip(self.kept) {
            row[*slot] = value;
        }
        for (accumulator, (aggregate, slot)) in self.accumulators.iter_mut().zip(&aggregation.aggregates) {
            row[*slot] = accumulator.finish(aggregate, &mut exec.context())?;
        }
        for (number, slot) in aggregation.group_slots.iter().enumerate() {
            row[*slot] = if number < self.keys {
                exec.eval(&aggregation.groups[number], row)?
            } else {
                Value::Null
            };
        }
        Ok(())
    }
}

/// Groups the rows that the block's joins make, and gives the groups to `emit`. Without `runnable` there are no rows.
pub(crate) fn aggregate(
    exec: &mut Exec<'_, '_>,
    plan: &SelectPlan,
    aggregation: &Aggregation,
    row: &mut [Value],
    runnable: bool,
    emit: Emit<'_>,
) -> Result<()> {
    match &aggregation.strategy {
        GroupStrategy::Single => {
            let mut group: Option<Group> = None;
            if runnable {
                let _ = join(exec, plan, &plan.steps, row, &mut |exec, row| {
                    if group.is_none() {
                        group = Some(Group::new(exec, aggregation, row, 0));
                    }
                    if let Some(group) = &mut group {
                        group.add(exec, aggregation, row)?;
                    }
                    Ok(ControlFlow::Continue(()))
                })?;
            }
            let group = group.unwrap_or_else(|| {
                // No rows: every column is NULL.
                for table in &plan.tables {
                    row[table.slots.clone()].fill(Value::Null);
                }
                Group::new(exec, aggregation, row, 0)
            });
            group.finish(exec, aggregation, row)?;
            let _ = emit(exec, row)?;
            Ok(())
        }
        GroupStrategy::IndexEnds(ends) => index_ends(exec, plan, aggregation, ends, row, runnable, emit),
        _ if !runnable => Ok(()),
        GroupStrategy::Ordered if !aggregation.rollup => ordered(exec, plan, aggregation, row, emit),
        GroupStrategy::Ordered | GroupStrategy::Hash => hashed(exec, plan, aggregation, row, emit),
    }
}

fn group_key(
    exec: &mut Exec<'_, '_>,
    aggregation: &Aggregation,
    row: &[Value],
    key: &mut Vec<u8>,
) -> Result<()> {
    key.clear();
    for group in &aggregation.groups {
        let value = group.eval_ref(row, &mut exec.context())?;
        temporary_key::append(&value, &group.ty, key);
    }
    Ok(())
}

fn ordered(
    exec: &mut Exec<'_, '_>,
    plan: &SelectPlan,
    aggregation: &Aggregation,
    row: &mut [Value],
    emit: Emit<'_>,
) -> Result<()> {
    let mut current: Option<(Vec<u8>, Group)> = None;
    let mut key = Vec::new();
    // The joins go on working on their row while a finished group is shown in another.
    let mut shown = row.to_vec();
    let flow = join(exec, plan, &plan.steps, row, &mut |exec, row| {
        group_key(exec, aggregation, row, &mut key)?;
        match &mut current {
            Some((known, group)) if *known == key => group.add(exec, aggregation, row)?,
            _ => {
                let mut group = Group::new(exec, aggregation, row, aggregation.groups.len());
                group.add(exec, aggregation, row)?;
                if let Some((_, complete)) = current.replace((key.clone(), group)) {
                    complete.finish(exec, aggregation, &mut shown)?;
                    return emit(exec, &mut shown);
                }
            }
        }
        Ok(ControlFlow::Continue(()))
    })?;
    if flow.is_continue()
        && let Some((_, group)) = current
    {
        group.finish(exec, aggregation, &mut shown)?;
        let _ = emit(exec, &mut shown)?;
    }
    Ok(())
}

/// What sorts behind every key of the group that it stands for.
const ROLLUP_MARK: u8 = 0xFF;

fn hashed(
    exec: &mut Exec<'_, '_>,
    plan: &SelectPlan,
    aggregation: &Aggregation,
    row: &mut [Value],
    emit: Emit<'_>,
) -> Result<()> {
    let mut groups: HashMap<Vec<u8>, Group> = HashMap::new();
    let mut key = Vec::new();
    let _ = join(exec, plan, &plan.steps, row, &mut |exec, row| {
        if !aggregation.rollup {
            group_key(exec, aggregation, row, &mut key)?;
            add_to_group(
                exec,
                aggregation,
                &mut groups,
                &key,
                aggregation.groups.len(),
                row,
            )?;
            return Ok(ControlFlow::Continue(()));
        }
        key.clear();
        for (number, group) in aggregation.groups.iter().enumerate() {
            let length = key.len();
            key.push(ROLLUP_MARK);
            add_to_group(exec, aggregation, &mut groups, &key, number, row)?;
            key.truncate(length);
            let value = group.eval_ref(row, &mut exec.context())?;
            temporary_key::append(&value, &group.ty, &mut key);
        }
        add_to_group(
            exec,
            aggregation,
            &mut groups,
            &key,
            aggregation.groups.len(),
            row,
        )?;
        Ok(ControlFlow::Continue(()))
    })?;
    let mut sorted: Vec<(Vec<u8>, Group)> = groups.into_iter().collect();
    sorted.sort_unstable_by(|(left, _), (right, _)| left.cmp(right));
    for (_, group) in sorted {
        exec.tick()?;
        group.finish(exec, aggregation, row)?;
        if emit(exec, row)?.is_break() {
            break;
        }
    }
    Ok(())
}

fn add_to_group(
    exec: &mut Exec<'_, '_>,
    aggregation: &Aggregation,
    groups: &mut HashMap<Vec<u8>, Group>,
    key: &[u8],
    keys: usize,
    row: &[Value],
) -> Result<()> {
    if let Some(group) = groups.get_mut(key) {
        return group.add(exec, aggregation, row);
    }
    let mut group = Group::new(exec, aggregation, row, keys);
    let bytes: usize = group.kept.iter().map(Value::memory_bytes).sum();
    group
        .memory
        .take(key.len() + bytes + 64 * aggregation.aggregates.len() + 96)?;
    group.add(exec, aggregation, row)?;
    groups.insert(key.to_vec(), group);
    Ok(())
}

/// MIN and MAX, each of the first row of its own access.
fn index_ends(
    exec: &mut Exec<'_, '_>,
    plan: &SelectPlan,
    aggregation: &Aggregation,
    ends: &[Vec<JoinStep>],
    row: &mut [Value],
    runnable: bool,
    emit: Emit<'_>,
) -> Result<()> {
    let mut results = Vec::with_capacity(ends.len());
    for (steps, (aggregate, _)) in ends.iter().zip(&aggregation.aggregates) {
        let mut value = Value::Null;
        if runnable {
            let _ = join(exec, plan, steps, row, &mut |exec, row| {
                value = first_value(exec, aggregate, row)?;
                Ok(ControlFlow::Break(()))
            })?;
        }
        results.push(value);
    }
    for (value, (_, slot)) in results.into_iter().zip(&aggregation.aggregates) {
        row[*slot] = value;
    }
    let _ = emit(exec, row)?;
    Ok(())
}

fn first_value(exec: &mut Exec<'_, '_>, aggregate: &Aggregate, row: &[Value]) -> Result<Value> {
    exec.eval(&aggregate.args[0], row)
}
