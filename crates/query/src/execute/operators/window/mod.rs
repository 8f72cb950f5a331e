//! Window functions, computed on the rows after HAVING and before DISTINCT, ORDER BY and LIMIT.
//!
//! ```text
//!   rows ─▶ sort by the keys of the first functions ─▶ partitions ─▶ results beside the rows ─▶ sort for the next functions … ─▶ rows
//! ```
//!
//! A row is stored as the slots that are read later. The sort key tells how many leading keys a row shares with the
//! previous one, so the ends of partitions and the peers are found without comparing values again. Sorting is stable:
//! rows with equal keys stay in the order of arrival.
//!
//! # Limits
//! Sorts continue in temporary files, like those of ORDER BY. A partition (the largest one of the functions that share
//! a sort) is in memory with the functions' arguments and results, and is charged to the statement: 1290 or 1041 beyond
//! the limits. If all functions only look back, a piece of the partition is sufficient ([`running`]): for row numbers,
//! ranks and running sums, a partition can have any number of rows.

mod aggregate;
mod compute;
mod frame;
mod loadable;
mod running;

use std::ops::ControlFlow;

use paceline_types::Value;

use self::compute::Input;
use self::running::{PIECE_ROWS, RunningWindow, piece_keys};
use crate::error::Result;
use crate::execute::collections::memory::{Reservation, row_bytes};
use crate::execute::collections::sorter::{SortedRows, Sorter};
use crate::execute::collections::temporary_key::append_ordered;
use crate::execute::context::{Execution, Visit};
use crate::plan::measurements::Collection;
use crate::plan::tree::{WindowPlan, WindowSort};

/// Rows of a block with window functions.
pub(crate) struct WindowRows<'p> {
    plan: &'p WindowPlan,
    first: Stage<'p>,
}

impl<'p> WindowRows<'p> {
    /// Creates it without rows.
    pub fn new(exec: &mut Execution<'_, '_>, plan: &'p WindowPlan) -> Self {
        WindowRows {
            plan,
            first: Stage::new(exec, &plan.sorts[0], plan.kept.clone()),
        }
    }

    /// Adds a row.
    ///
    /// # Errors
    /// Errors of the keys; 1038.
    pub fn add(&mut self, exec: &mut Execution<'_, '_>, row: &[Value]) -> Result<()> {
        self.first.add(exec, row)
    }

    /// Computes the functions, and passes every row to `emit` in `row`, until it breaks.
    ///
    /// # Errors
    /// Errors of the functions; 1038, 1041, 1290, 1317 …
    pub fn finish(self, exec: &mut Execution<'_, '_>, row: &mut [Value], emit: Visit<'_>) -> Result<()> {
        let mut stage = self.first;
        let rows = stage.sorter.rows();
        exec.session.counts.count_temporary(rows);
        exec.session.counts.count_temporary_read(rows, true);
        for next in &self.plan.sorts[1..] {
            let mut columns = stage.columns.clone();
            for function in &stage.sort.functions {
                columns.push(function.slot);
                columns.extend(function.rounded.map(|(slot, _)| slot));
            }
            let mut following = Stage::new(exec, next, columns);
            stage.run(exec, row, &mut |exec, row| {
                following.add(exec, row)?;
                Ok(ControlFlow::Continue(()))
            })?;
            stage = following;
        }
        stage.run(exec, row, emit)
    }
}

/// One sort, and the functions computed on it.
struct Stage<'p> {
    sort: &'p WindowSort,
    /// Slots of a stored row.
    columns: Vec<usize>,
    sorter: Sorter,
    key: Vec<u8>,
    ends: Vec<u32>,
}

impl<'p> Stage<'p> {
    fn new(exec: &mut Execution<'_, '_>, sort: &'p WindowSort, columns: Vec<usize>) -> Self {
        Stage {
            sort,
            columns,
            sorter: Sorter::new(None, exec.state.reserve(sort, Collection::Sort)),
            key: Vec::new(),
            ends: Vec::new(),
        }
    }

    fn add(&mut self, exec: &mut Execution<'_, '_>, row: &[Value]) -> Result<()> {
        exec.tick()?;
        self.key.clear();
        self.ends.clear();
        for key in &self.sort.keys {
            let value = key.expr.eval_ref(row, &mut exec.context())?;
            append_ordered(&value, &key.expr.ty, key.order, &mut self.key);
            self.ends.push(self.key.len() as u32);
        }
        // After the key, append the end of each part. It is the same for equal keys, so it does not affect the order.
        for end in &self.ends {
            self.key.extend_from_slice(&end.to_le_bytes());
        }
        let values = self.columns.iter().map(|&slot| row[slot].clone()).collect();
        self.sorter.push(&self.key, values)
    }

    fn run(self, exec: &mut Execution<'_, '_>, row: &mut [Value], emit: Visit<'_>) -> Result<()> {
        let Stage {
            sort,
            columns,
            sorter,
            ..
        } = self;
        let mut running: Vec<RunningWindow<'_>> = Vec::new();
        let (keys, fewest) = match piece_keys(&sort.functions) {
            Some(keys) => {
                running.extend(sort.functions.iter().map(RunningWindow::new));
                (keys, PIECE_ROWS)
            }
            None => {
                let partitions = sort.functions.iter().map(|function| function.partition);
                (partitions.min().unwrap_or(0), 1)
            }
        };
        let mut partition = Partition::new(exec, sort);
        let mut last: Vec<u8> = Vec::new();
        let mut flow = ControlFlow::Continue(());
        sorter.count(SortedRows::Temporary, &mut exec.session.counts);
        sorter.finish_keyed(&mut |key, values| {
            exec.tick()?;
            let shared = if partition.rows.is_empty() {
                0
            } else {
                shared_keys(&last, key, sort.keys.len())
            };
            if shared < keys && partition.rows.len() >= fewest {
                let complete = std::mem::replace(&mut partition, Partition::new(exec, sort));
                flow = complete.finish(exec, sort, &mut running, &columns, row, emit)?;
                if flow.is_break() {
                    return Ok(flow);
                }
            }
            last.clear();
            last.extend_from_slice(key);
            partition.add(values, shared)?;
            Ok(ControlFlow::Continue(()))
        })?;
        if flow.is_continue() {
            let _ = partition.finish(exec, sort, &mut running, &columns, row, emit)?;
        }
        Ok(())
    }
}

/// Returns the number of leading parts that two keys share, of `count`.
fn shared_keys(left: &[u8], right: &[u8], count: usize) -> usize {
    let end = |key: &[u8], part: usize| {
        let at = key.len() - 4 * (count - part);
        u32::from_le_bytes([key[at], key[at + 1], key[at + 2], key[at + 3]]) as usize
    };
    let mut start = 0;
    for part in 0..count {
        let stop = end(left, part);
        if stop != end(right, part) || left[start..stop] != right[start..stop] {
            return part;
        }
        start = stop;
    }
    count
}

/// Rows that are computed together: a partition of the functions of a sort, or a piece of one.
struct Partition {
    rows: Vec<Vec<Value>>,
    /// For each row, the number of leading keys that it shares with the previous one; 0 for the first.
    shared: Vec<usize>,
    memory: Reservation,
}

impl Partition {
    fn new(exec: &mut Execution<'_, '_>, sort: &WindowSort) -> Self {
        Partition {
            rows: Vec::new(),
            shared: Vec::new(),
            memory: exec.state.reserve(sort, Collection::Partition),
        }
    }

    fn add(&mut self, row: Vec<Value>, shared: usize) -> Result<()> {
        // This also covers the row's entry in an aggregate's queue.
        self.memory.take(row_bytes(&row) + 2 * size_of::<usize>())?;
        self.rows.push(row);
        self.shared.push(shared);
        Ok(())
    }

    /// Computes the functions, or continues those in `running`, and passes the rows on.
    fn finish(
        mut self,
        exec: &mut Execution<'_, '_>,
        sort: &WindowSort,
        running: &mut [RunningWindow<'_>],
        columns: &[usize],
        row: &mut [Value],
        emit: Visit<'_>,
    ) -> Result<ControlFlow<()>> {
        let functions = &sort.functions;
        let mut inputs: Vec<Input> = functions.iter().map(Input::new).collect();
        for values in &mut self.rows {
            exec.tick()?;
            exchange(row, columns, values);
            for (input, function) in inputs.iter_mut().zip(functions) {
                self.memory.take(input.add(exec, sort, function, row)?)?;
            }
            exchange(row, columns, values);
        }
        let mut results = Vec::with_capacity(functions.len());
        for (number, (input, function)) in inputs.iter().zip(functions).enumerate() {
            let mut values = match running.get_mut(number) {
                Some(running) => running.compute(exec, input, &self.shared)?,
                None => compute::compute(exec, function, input, &self.shared)?,
            };
            self.memory.take(row_bytes(&values))?;
            values.reverse();
            results.push(values);
        }
        drop(inputs);
        for mut values in self.rows {
            exchange(row, columns, &mut values);
            for (values, function) in results.iter_mut().zip(functions) {
                let value = values.pop().unwrap_or_default();
                if let Some((slot, scale)) = function.rounded {
                    row[slot] = compute::rounded(&value, scale);
                }
                row[function.slot] = value;
            }
            if emit(exec, row)?.is_break() {
                return Ok(ControlFlow::Break(()));
            }
        }
        Ok(ControlFlow::Continue(()))
    }
}

/// Swaps a stored row's values with those of the block's row.
fn exchange(row: &mut [Value], columns: &[usize], values: &mut [Value]) {
    for (slot, value) in columns.iter().zip(values) {
        std::mem::swap(&mut row[*slot], value);
    }
}

#[cfg(test)]
mod tests {
    use super::shared_keys;

    fn key(parts: &[&[u8]]) -> Vec<u8> {
        let mut key = parts.concat();
        let mut end = 0;
        for part in parts {
            end += part.len() as u32;
            key.extend(end.to_le_bytes());
        }
        key
    }

    #[test]
    fn keys_are_compared_part_by_part() {
        assert_eq!(shared_keys(&key(&[b"a", b"bc"]), &key(&[b"a", b"bc"]), 2), 2);
        assert_eq!(shared_keys(&key(&[b"a", b"bc"]), &key(&[b"a", b"bd"]), 2), 1);
        // The same bytes, but different parts.
        assert_eq!(shared_keys(&key(&[b"a", b"bc"]), &key(&[b"ab", b"c"]), 2), 0);
        assert_eq!(shared_keys(&key(&[]), &key(&[]), 0), 0);
    }
}
