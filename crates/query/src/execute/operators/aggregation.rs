//! GROUP BY and aggregates.
//!
//! A group stores those slots of its first row that are read later, and an accumulator for each aggregate. When the
//! group is complete, both are copied to the block's row, which HAVING, the select list and ORDER BY then treat like
//! any other row.
//!
//! WITH ROLLUP adds a group for each shorter prefix of the keys. Such a group sorts after its members.
//!
//! When the session's memory is used up, two operations continue in files, by sorting:
//!
//! ```text
//!   rows of new groups   ─▶ sorted by the group's key ─▶ grouped in that order, between the groups that are in memory
//!   COUNT(DISTINCT …)    ─▶ the keys seen, sorted     ─▶ different ones are counted
//! ```

use hashbrown::HashMap;
use std::borrow::Cow;
use std::ops::ControlFlow;
use std::time::Instant;

use paceline_types::Value;

use super::join::{join, join_block};
use crate::error::{Error, Result};
use crate::execute::collections::memory::Reservation;
use crate::execute::collections::sorter::{RUN_BYTES_MIN, SortedRows, Sorter};
use crate::execute::collections::temporary_key;
use crate::execute::context::{Execution, Visit};
use crate::plan::measurements::Collection;
use crate::plan::tree::{Aggregation, GroupStrategy, JoinStep, SelectPlan};
use paceline_expression::{Accumulator, Aggregate, CountedKeys, Expr, SortOrder, as_computed};

/// Collected data of a group.
struct Group {
    /// Stored slots of its first row.
    kept: Vec<Value>,
    accumulators: Vec<Accumulator>,
    /// Number of its group keys: fewer for a row of WITH ROLLUP.
    keys: usize,
    memory: Reservation,
    /// Sorters for the keys of each COUNT(DISTINCT …) that did not fit in memory.
    counted: Vec<(usize, Sorter)>,
}

impl Group {
    fn new(exec: &mut Execution<'_, '_>, aggregation: &Aggregation, row: &[Value], keys: usize) -> Self {
        Group {
            kept: aggregation.kept.iter().map(|&slot| row[slot].clone()).collect(),
            accumulators: aggregation
                .aggregates
                .iter()
                .map(|(aggregate, _)| aggregate.accumulator())
                .collect(),
            keys,
            memory: exec.state.reserve(aggregation, Collection::Groups),
            counted: Vec::new(),
        }
    }

    fn add(&mut self, exec: &mut Execution<'_, '_>, aggregation: &Aggregation, row: &[Value]) -> Result<()> {
        for (number, (aggregate, _)) in aggregation.aggregates.iter().enumerate() {
            let grown = self.accumulators[number].add(aggregate, row, &mut exec.context())?;
            if grown > 0
                && let Err(refused) = self.memory.take(grown)
            {
                self.count_in_file(exec, aggregation, number, (grown, refused))?;
            }
        }
        Ok(())
    }

    /// Continues a COUNT(DISTINCT …) in a file. `uncharged` bytes of its keys are not charged yet.
    #[cold]
    fn count_in_file(
        &mut self,
        exec: &mut Execution<'_, '_>,
        aggregation: &Aggregation,
        number: usize,
        (uncharged, refused): (usize, Error),
    ) -> Result<()> {
        let Some(keys) = self.accumulators[number].take_counted_keys() else {
            return Err(refused);
        };
        let bytes = keys.memory_bytes();
        if bytes < RUN_BYTES_MIN {
            return Err(refused);
        }
        self.memory.give_back(bytes - uncharged);
        let known = self.counted.iter().position(|(known, _)| *known == number);
        let place = known.unwrap_or_else(|| {
            let sorter = Sorter::new(None, exec.state.reserve(aggregation, Collection::Groups));
            self.counted.push((number, sorter));
            self.counted.len() - 1
        });
        let sorter = &mut self.counted[place].1;
        push_keys(sorter, keys)?;
        // Free the memory for the following keys.
        sorter.spill()
    }

    /// Copies the group to the row.
    fn finish(
        mut self,
        exec: &mut Execution<'_, '_>,
        aggregation: &Aggregation,
        row: &mut [Value],
    ) -> Result<()> {
        for (slot, value) in aggregation.kept.iter().zip(self.kept) {
            row[*slot] = value;
        }
        for (accumulator, (aggregate, slot)) in self.accumulators.iter_mut().zip(&aggregation.aggregates) {
            row[*slot] = accumulator.finish(aggregate, &mut exec.context())?;
        }
        if !self.counted.is_empty() {
            self.memory.clear();
        }
        for (number, mut sorter) in self.counted {
            if let Some(keys) = self.accumulators[number].take_counted_keys() {
                push_keys(&mut sorter, keys)?;
            }
            row[aggregation.aggregates[number].1] = Value::Int(different_keys(exec, sorter)?);
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

fn push_keys(sorter: &mut Sorter, keys: CountedKeys) -> Result<()> {
    keys.0
        .into_iter()
        .try_for_each(|key| sorter.push(&key, Vec::new()))
}

/// Returns the number of different keys.
fn different_keys(exec: &mut Execution<'_, '_>, sorter: Sorter) -> Result<i64> {
    let mut count = 0;
    let mut last: Option<Vec<u8>> = None;
    sorter.finish_keyed(&mut |key, _| {
        exec.tick()?;
        match &mut last {
            Some(last) if *last == key => {}
            Some(last) => {
                last.clear();
                last.extend_from_slice(key);
                count += 1;
            }
            None => {
                last = Some(key.to_vec());
                count += 1;
            }
        }
        Ok(ControlFlow::Continue(()))
    })?;
    Ok(count)
}

/// Groups the rows of the block's joins, and passes the groups to `emit`. Without `runnable` there are no rows.
pub(crate) fn aggregate(
    exec: &mut Execution<'_, '_>,
    plan: &SelectPlan,
    aggregation: &Aggregation,
    row: &mut [Value],
    runnable: bool,
    emit: Visit<'_>,
) -> Result<()> {
    match &aggregation.strategy {
        GroupStrategy::Single => {
            let mut group: Option<Group> = None;
            if runnable {
                let _ = join_block(exec, plan, row, &mut |exec, row| {
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
                // No rows: all columns are NULL.
                for table in &plan.tables {
                    row[table.slots.clone()].fill(Value::Null);
                }
                Group::new(exec, aggregation, row, 0)
            });
            group.finish(exec, aggregation, row)?;
            show_computed(aggregation, row);
            let _ = emit(exec, row)?;
            Ok(())
        }
        GroupStrategy::IndexEnds(ends) => index_ends(exec, plan, aggregation, ends, row, runnable, emit),
        _ if !runnable => Ok(()),
        GroupStrategy::Ordered if aggregation.rollup.is_none() => ordered(exec, plan, aggregation, row, emit),
        GroupStrategy::Ordered | GroupStrategy::Hash => hashed(exec, plan, aggregation, row, emit),
    }
}

/// Evaluates values that the following steps read from their slots.
pub(super) fn store(exec: &mut Execution<'_, '_>, values: &[(Expr, usize)], row: &mut [Value]) -> Result<()> {
    for (expr, slot) in values {
        row[*slot] = exec.eval(expr, row)?;
    }
    Ok(())
}

fn group_key(
    exec: &mut Execution<'_, '_>,
    aggregation: &Aggregation,
    row: &mut [Value],
    key: &mut Vec<u8>,
) -> Result<()> {
    store(exec, &aggregation.per_row, row)?;
    key.clear();
    for group in &aggregation.groups {
        let value = group.eval_ref(row, &mut exec.context())?;
        temporary_key::append(&value, &group.ty, key);
    }
    Ok(())
}

fn ordered(
    exec: &mut Execution<'_, '_>,
    plan: &SelectPlan,
    aggregation: &Aggregation,
    row: &mut [Value],
    emit: Visit<'_>,
) -> Result<()> {
    let mut current: Option<(Vec<u8>, Group)> = None;
    let mut key = Vec::new();
    // The joins continue with their row while a finished group is emitted in another one.
    let mut shown = row.to_vec();
    let flow = join_block(exec, plan, row, &mut |exec, row| {
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

/// Byte before a key of WITH ROLLUP. The bytes of a descending key are inverted.
const KEY_MARK: u8 = 0;
/// Byte in its place in a row that summarizes the key. It sorts after all keys of its group.
const ROLLUP_MARK: u8 = 1;

/// Groups by key, and a sorter for rows of groups that did not fit in memory.
struct HashedGroups {
    groups: HashMap<Vec<u8>, Group>,
    /// Memory reserved for the sorter.
    spare: Reservation,
    rest: Option<Sorter>,
    /// Number of rows that were grouped.
    rows: u64,
}

/// Size of the groups in bytes from which memory is reserved for a sort.
const SPARE_FROM_BYTES: usize = 2 * SPARE_BYTES;
const SPARE_BYTES: usize = 2 * RUN_BYTES_MIN;

impl HashedGroups {
    /// Adds a row to the group with this key. `keys` is the number of the group's keys.
    fn add(
        &mut self,
        exec: &mut Execution<'_, '_>,
        aggregation: &Aggregation,
        key: &[u8],
        keys: usize,
        row: &[Value],
    ) -> Result<()> {
        self.rows += 1;
        if let Some(group) = self.groups.get_mut(key) {
            return group.add(exec, aggregation, row);
        }
        if self.rest.is_none() {
            let mut group = Group::new(exec, aggregation, row, keys);
            let bytes: usize = group.kept.iter().map(Value::memory_bytes).sum();
            let bytes = key.len() + bytes + 64 * aggregation.aggregates.len() + 96;
            match group.memory.take(bytes) {
                Ok(()) => {
                    group.add(exec, aggregation, row)?;
                    self.groups.insert(key.to_vec(), group);
                    return self.reserve_spare(bytes);
                }
                Err(refused) if self.spare.bytes() < SPARE_BYTES => return Err(refused),
                Err(_) => {
                    self.spare.clear();
                    let memory = exec.state.reserve(aggregation, Collection::Groups);
                    self.rest = Some(Sorter::new(None, memory));
                }
            }
        }
        let mut stored = Vec::with_capacity(row.len() + 1);
        stored.extend_from_slice(row);
        stored.push(Value::UInt(keys as u64));
        match &mut self.rest {
            Some(rest) => rest.push(key, stored),
            None => unreachable!("made above"),
        }
    }

    fn reserve_spare(&mut self, bytes_per_group: usize) -> Result<()> {
        if self.spare.bytes() == 0 && self.groups.len().saturating_mul(bytes_per_group) > SPARE_FROM_BYTES {
            return self.spare.take(SPARE_BYTES);
        }
        Ok(())
    }

    /// Counts the groups as the rows of a temporary table, which MariaDB makes for them. If they do not fit in memory,
    /// those in memory count.
    fn count(&self, exec: &mut Execution<'_, '_>, plan: &SelectPlan) {
        let counts = &mut exec.session.counts;
        let groups = self.groups.len() as u64;
        counts.count_temporary(groups);
        counts.handler_read_key += self.rows;
        // The group of such a row is found and changed.
        counts.handler_tmp_update += self.rows - groups;
        counts.rows_tmp_read += self.rows - groups;
        counts.count_temporary_read(groups, true);
        if let Some(rest) = &self.rest {
            counts.created_tmp_disk_tables += 1;
            rest.count(SortedRows::OfScan, counts);
        } else if plan.notes.filesort && plan.order.is_empty() {
            // The order of the groups.
            counts.sort_scan += 1;
            counts.sort_rows += groups;
            counts.handler_read_rnd += groups;
            counts.rows_tmp_read += groups;
        }
    }

    /// Passes on all groups in the order of their keys.
    fn finish(
        self,
        exec: &mut Execution<'_, '_>,
        aggregation: &Aggregation,
        row: &mut [Value],
        emit: Visit<'_>,
    ) -> Result<()> {
        let started = exec.state.measurements.is_some().then(Instant::now);
        let mut sorted: Vec<(Vec<u8>, Group)> = self.groups.into_iter().collect();
        sorted.sort_unstable_by(|(left, _), (right, _)| left.cmp(right));
        if let (Some(started), Some(measure)) = (started, self.spare.measure()) {
            measure.add_sorts(|sorts| {
                sorts.loops += 1;
                sorts.rows += sorted.len() as u64;
                sorts.time += started.elapsed();
            });
        }
        let mut sorted = sorted.into_iter().peekable();
        if let Some(rest) = self.rest {
            let mut current: Option<(Vec<u8>, Group)> = None;
            let mut flow = ControlFlow::Continue(());
            rest.finish_keyed(&mut |key, mut stored| {
                exec.tick()?;
                let keys = match stored.pop() {
                    Some(Value::UInt(keys)) => keys as usize,
                    _ => unreachable!("pushed after the row"),
                };
                if let Some((_, group)) = current.as_mut().filter(|(known, _)| *known == key) {
                    group.add(exec, aggregation, &stored)?;
                    return Ok(flow);
                }
                let complete = current.take().into_iter();
                let before = std::iter::from_fn(|| sorted.next_if(|(known, _)| **known < *key));
                for (_, group) in complete.chain(before) {
                    group.finish(exec, aggregation, row)?;
                    flow = emit(exec, row)?;
                    if flow.is_break() {
                        return Ok(flow);
                    }
                }
                let mut group = Group::new(exec, aggregation, &stored, keys);
                group.add(exec, aggregation, &stored)?;
                current = Some((key.to_vec(), group));
                Ok(flow)
            })?;
            if flow.is_break() {
                return Ok(());
            }
            if let Some((_, group)) = current {
                group.finish(exec, aggregation, row)?;
                if emit(exec, row)?.is_break() {
                    return Ok(());
                }
            }
        }
        for (_, group) in sorted {
            exec.tick()?;
            group.finish(exec, aggregation, row)?;
            if emit(exec, row)?.is_break() {
                break;
            }
        }
        Ok(())
    }
}

fn hashed(
    exec: &mut Execution<'_, '_>,
    plan: &SelectPlan,
    aggregation: &Aggregation,
    row: &mut [Value],
    emit: Visit<'_>,
) -> Result<()> {
    let mut groups = HashedGroups {
        groups: HashMap::new(),
        spare: exec.state.reserve(aggregation, Collection::Groups),
        rest: None,
        rows: 0,
    };
    let all = aggregation.groups.len();
    let mut key = Vec::new();
    let _ = join_block(exec, plan, row, &mut |exec, row| {
        let Some(directions) = &aggregation.rollup else {
            group_key(exec, aggregation, row, &mut key)?;
            groups.add(exec, aggregation, &key, all, row)?;
            return Ok(ControlFlow::Continue(()));
        };
        store(exec, &aggregation.per_row, row)?;
        key.clear();
        for (number, (group, direction)) in aggregation.groups.iter().zip(directions).enumerate() {
            let length = key.len();
            key.push(ROLLUP_MARK);
            groups.add(exec, aggregation, &key, number, row)?;
            key.truncate(length);
            key.push(KEY_MARK);
            let value = group.eval_ref(row, &mut exec.context())?;
            temporary_key::append(&value, &group.ty, &mut key);
            if *direction == SortOrder::Descending {
                key[length + 1..].iter_mut().for_each(|byte| *byte = !*byte);
            }
        }
        groups.add(exec, aggregation, &key, all, row)?;
        Ok(ControlFlow::Continue(()))
    })?;
    groups.count(exec, plan);
    groups.finish(exec, aggregation, row, emit)
}

/// Reads MIN and MAX, each from the first row of its own access.
fn index_ends(
    exec: &mut Execution<'_, '_>,
    plan: &SelectPlan,
    aggregation: &Aggregation,
    ends: &[Vec<JoinStep>],
    row: &mut [Value],
    runnable: bool,
    emit: Visit<'_>,
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
    show_computed(aggregation, row);
    let _ = emit(exec, row)?;
    Ok(())
}

/// Converts the aggregates of a query without GROUP BY, whose results are computed values: BIT and YEAR become numbers.
/// Groups, in contrast, are rows of a temporary table.
fn show_computed(aggregation: &Aggregation, row: &mut [Value]) {
    for (_, slot) in &aggregation.aggregates {
        row[*slot] = as_computed(Cow::Owned(std::mem::take(&mut row[*slot]))).into_owned();
    }
}

fn first_value(exec: &mut Execution<'_, '_>, aggregate: &Aggregate, row: &[Value]) -> Result<Value> {
    exec.eval(&aggregate.args[0], row)
}
