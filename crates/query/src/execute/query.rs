//! Execution of queries: blocks, set operations, lists of values.

use hashbrown::{HashMap, HashSet};
use std::ops::ControlFlow;
use std::rc::Rc;

use paceline_types::Value;
use paceline_types::error_code::ER_QUERY_RESULT_INCOMPLETE;

use super::aggregation::aggregate;
use super::distinct::Distinct;
use super::join::join_block;
use super::memory::{Reservation, row_bytes};
use super::run::{Exec, Rows};
use super::sorter::Sorter;
use super::temporary_key;
use super::trace::measure_query;
use super::window::WindowRows;
use crate::error::Result;
use crate::plan::tree::{
    JoinKind, JoinStep, Limit, OuterReference, QueryBody, QueryPlan, RecursivePlan, SelectPlan, SetOperation,
    SetPlan, SortItem, SortKey, StepSource, ValuesPlan,
};
use paceline_expression::{Expr, ExprKind, ExprType};
use paceline_syntax::ast::Ties;

/// Consumer of a query's rows.
pub(crate) type Consumer<'c> = &'c mut dyn FnMut(&mut Exec<'_, '_>, &[Value]) -> Result<ControlFlow<()>>;

/// Executes a query. `outer` is the row of the enclosing query. Returns the value of FOUND_ROWS() if it differs from
/// the number of returned rows: with SQL_CALC_FOUND_ROWS the number of rows without LIMIT, and in any case including
/// the rows before OFFSET.
pub(crate) fn run(
    exec: &mut Exec<'_, '_>,
    plan: &QueryPlan,
    outer: &[Value],
    consumer: Consumer<'_>,
) -> Result<Option<u64>> {
    match &plan.body {
        QueryBody::Select(select) => measure_query(exec, &**select, consumer, |exec, consumer| {
            run_select(exec, select, &plan.types, outer, consumer)
        }),
        QueryBody::Set(set) => measure_query(exec, &**set, consumer, |exec, consumer| {
            run_set(exec, set, &plan.types, outer, consumer)
        }),
        QueryBody::Values(values) => run_values(exec, values, &plan.types, outer, consumer),
        QueryBody::Recursive(recursive) => {
            run_recursive(exec, recursive, &plan.types, consumer).map(|()| None)
        }
    }
}

/// Executes the query of a statement like [`run`]. Without its own LIMIT it returns at most `rows_max` rows.
pub(crate) fn run_statement(
    exec: &mut Exec<'_, '_>,
    plan: &QueryPlan,
    rows_max: u64,
    consumer: Consumer<'_>,
) -> Result<Option<u64>> {
    let is_limited = |limit: &Limit| limit.count.is_some() || limit.offset.is_some();
    if rows_max == u64::MAX || plan.limit().is_some_and(is_limited) {
        return run(exec, plan, &[], consumer);
    }
    let window = Window {
        offset: 0,
        count: rows_max,
    };
    let mut gate = Gate::new(window, plan.counts_found_rows());
    if gate.flow().is_break() {
        return Ok(None);
    }
    run(exec, plan, &[], &mut |exec, row| {
        if gate.admits() && consumer(exec, row)?.is_break() {
            return Ok(ControlFlow::Break(()));
        }
        Ok(gate.flow())
    })
}

/// Values of OFFSET and LIMIT.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Window {
    pub offset: u64,
    pub count: u64,
}

impl Window {
    pub fn new(exec: &mut Exec<'_, '_>, limit: &Limit) -> Result<Self> {
        let offset = limit
            .offset
            .as_ref()
            .map(|expr| limit_number(exec, expr))
            .transpose()?
            .unwrap_or(0);
        let count = limit
            .count
            .as_ref()
            .map(|expr| limit_number(exec, expr))
            .transpose()?
            .unwrap_or(u64::MAX);
        Ok(Window { offset, count })
    }

    /// Returns what happens with ties. Without an order all rows are: then there is no limit.
    fn ties(&mut self, limit: &Limit, order: &[SortItem]) -> Ties {
        if limit.ties == Ties::Kept && order.is_empty() && self.count > 0 {
            self.count = u64::MAX;
            return Ties::Cut;
        }
        limit.ties
    }

    /// Returns the number of rows that must be produced.
    pub fn needed(self) -> Option<u64> {
        (self.count < u64::MAX).then(|| self.offset.saturating_add(self.count))
    }
}

fn limit_number(exec: &mut Exec<'_, '_>, expr: &Expr) -> Result<u64> {
    use paceline_types::error_code::ER_WRONG_ARGUMENTS;
    // Only a parameter can be anything else than a number that fits.
    let wrong = || crate::Error::new(ER_WRONG_ARGUMENTS, &[&"EXECUTE"]);
    match exec.eval(expr, &[])? {
        Value::Int(number) => u64::try_from(number).map_err(|_| wrong()),
        Value::UInt(number) => Ok(number),
        Value::Null => Ok(0),
        // Text counts as far as it is a number.
        Value::Text(text) => {
            let text = text.trim_start();
            let (is_negative, digits) = match text.strip_prefix('-') {
                Some(rest) => (true, rest),
                None => (false, text),
            };
            let end = digits.find(|c: char| !c.is_ascii_digit()).unwrap_or(digits.len());
            match digits[..end].parse().unwrap_or(0) {
                0 => Ok(0),
                _ if is_negative => Err(wrong()),
                number => Ok(number),
            }
        }
        Value::Decimal(number) => number.to_u64().map_err(|_| wrong()),
        _ => Err(wrong()),
    }
}

/// Filter that passes the rows of a window.
struct Gate {
    window: Window,
    passed: u64,
    seen: u64,
    /// Whether to continue counting after the window.
    count_all: bool,
}

impl Gate {
    fn new(window: Window, count_all: bool) -> Self {
        Gate {
            window,
            passed: 0,
            seen: 0,
            count_all,
        }
    }

    /// Returns whether the next row is in the window.
    fn admits(&mut self) -> bool {
        self.seen += 1;
        if self.seen <= self.window.offset || self.passed >= self.window.count {
            return false;
        }
        self.passed += 1;
        true
    }

    /// Returns whether the window has all its rows.
    fn is_passed(&self) -> bool {
        self.passed >= self.window.count
    }

    fn flow(&self) -> ControlFlow<()> {
        if self.is_passed() && !self.count_all {
            ControlFlow::Break(())
        } else {
            ControlFlow::Continue(())
        }
    }
}

/// Returns the plan, or its alternative if the values have other kinds than the plan's order assumes.
pub(super) fn allowed<'p>(
    exec: &mut Exec<'_, '_>,
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

/// A row of `slot_count` slots that are NULL, but for those that take the outer query's values.
fn row_with_outer(slot_count: usize, references: &[OuterReference], outer: &[Value]) -> Vec<Value> {
    let mut row = vec![Value::Null; slot_count];
    for reference in references {
        row[reference.to] = outer[reference.from].clone();
    }
    row
}

fn run_select(
    exec: &mut Exec<'_, '_>,
    plan: &SelectPlan,
    types: &[ExprType],
    outer: &[Value],
    consumer: Consumer<'_>,
) -> Result<Option<u64>> {
    let mut row = row_with_outer(plan.slot_count, &plan.outer, outer);
    if let Some(slot) = plan.row_number {
        row[slot] = Value::UInt(1);
    }
    let plan = allowed(exec, plan, &row)?;
    let mut window = Window::new(exec, &plan.limit)?;
    if window.count == 0 && !plan.count_found_rows {
        return Ok(None);
    }
    let ties = window.ties(&plan.limit, &plan.order);
    let by_output = plan
        .order
        .iter()
        .all(|item| matches!(item.key, SortKey::Output(_)));
    let movable = can_move(plan, by_output);
    let mut gate = Gate::new(window, plan.count_found_rows);
    let mut distinct = plan
        .distinct
        .then(|| Distinct::new(types, exec.runtime.memory.part()));
    // The order of DISTINCT's keys.
    let by_row = plan.order.len() == plan.projection.len()
        && (plan.order.iter().enumerate()).all(|(place, item)| {
            matches!(item.key, SortKey::Output(output) if output == place) && !item.descending
        });
    let mut output: Vec<Value> = Vec::with_capacity(plan.projection.len());
    let mut large = exec.runtime.memory.part();
    let mut key = Vec::new();
    let mut sorter = (!plan.order.is_empty()).then(|| {
        let first = if plan.count_found_rows || ties == Ties::Kept {
            None
        } else {
            window.needed()
        };
        Sorter::new(first, exec.runtime.memory.part())
    });
    {
        // Processes each row after grouping and window functions.
        let mut finish = |exec: &mut Exec<'_, '_>, row: &mut [Value]| -> Result<ControlFlow<()>> {
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
                        if !distinct.is_new(&output)? {
                            return Ok(ControlFlow::Continue(()));
                        }
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
            if let Some(distinct) = &mut distinct
                && (!distinct.is_new(&output)? || !gate.admits())
            {
                return Ok(gate.flow());
            }
            if consumer(exec, &output)?.is_break() {
                return Ok(ControlFlow::Break(()));
            }
            Ok(gate.flow())
        };
        let mut windows = (plan.windows.as_ref()).map(|windows| WindowRows::new(exec, windows));
        let mut take = |exec: &mut Exec<'_, '_>, row: &mut [Value]| -> Result<ControlFlow<()>> {
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
    if let Some(sorter) = sorter {
        finish_sorted(exec, sorter, &mut gate, ties, consumer)?;
    }
    // Rows before OFFSET also count as found.
    Ok((plan.count_found_rows || window.offset > 0).then_some(gate.seen))
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
    exec: &mut Exec<'_, '_>,
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

/// Appends the sort key of a row.
pub(crate) fn append_sort_key(
    exec: &mut Exec<'_, '_>,
    order: &[SortItem],
    projection: &[Expr],
    types: &[ExprType],
    row: &[Value],
    key: &mut Vec<u8>,
) -> Result<()> {
    for item in order {
        let (expr, ty) = match &item.key {
            SortKey::Output(output) => (&projection[*output], &types[*output]),
            SortKey::Expr(expr) => (expr, &expr.ty),
        };
        let value = expr.eval_ref(row, &mut exec.context())?;
        append_sort_value(&value, ty, item.descending, key);
    }
    Ok(())
}

fn append_sort_value(value: &Value, ty: &ExprType, descending: bool, key: &mut Vec<u8>) {
    if descending {
        temporary_key::append_descending(value, ty, key);
    } else {
        temporary_key::append(value, ty, key);
    }
}

/// Appends the sort key of a finished row, whose own columns are the keys.
fn append_output_sort_key(
    exec: &mut Exec<'_, '_>,
    order: &[SortItem],
    types: &[ExprType],
    row: &[Value],
    key: &mut Vec<u8>,
) -> Result<()> {
    for item in order {
        match &item.key {
            SortKey::Output(output) => {
                append_sort_value(&row[*output], &types[*output], item.descending, key)
            }
            SortKey::Expr(expr) => {
                let value = exec.eval(expr, row)?;
                append_sort_value(&value, &expr.ty, item.descending, key);
            }
        }
    }
    Ok(())
}

/// Sorts rows, if there is a sort order, and applies the window.
fn arranged(
    exec: &mut Exec<'_, '_>,
    arrangement: &Arrangement<'_>,
    types: &[ExprType],
    consumer: Consumer<'_>,
    produce: &mut dyn FnMut(&mut Exec<'_, '_>, Consumer<'_>) -> Result<()>,
) -> Result<Option<u64>> {
    let &Arrangement {
        order,
        limit,
        counts_found_rows,
    } = arrangement;
    let mut window = Window::new(exec, limit)?;
    if window.count == 0 && !counts_found_rows {
        return Ok(None);
    }
    let ties = window.ties(limit, order);
    let mut gate = Gate::new(window, counts_found_rows);
    if order.is_empty() {
        produce(exec, &mut |exec, row| {
            if gate.admits() && consumer(exec, row)?.is_break() {
                return Ok(ControlFlow::Break(()));
            }
            Ok(gate.flow())
        })?;
        return Ok(counts_found_rows.then_some(gate.seen));
    }
    let first = window.needed().filter(|_| ties == Ties::Cut);
    let mut sorter = Sorter::new(first, exec.runtime.memory.part());
    let mut key = Vec::new();
    let mut found = 0;
    produce(exec, &mut |exec, row| {
        found += 1;
        key.clear();
        append_output_sort_key(exec, order, types, row, &mut key)?;
        sorter.push(&key, row.to_vec())?;
        Ok(ControlFlow::Continue(()))
    })?;
    finish_sorted(exec, sorter, &mut gate, ties, consumer)?;
    Ok(Some(found))
}

/// Passes the sorted rows in the gate's window to `consumer`. With ties kept also those after it whose sort keys are
/// that of its last row.
fn finish_sorted(
    exec: &mut Exec<'_, '_>,
    sorter: Sorter,
    gate: &mut Gate,
    ties: Ties,
    consumer: Consumer<'_>,
) -> Result<()> {
    let mut last_key: Option<Vec<u8>> = None;
    sorter.finish_keyed(&mut |key, row| {
        let is_tie = last_key.as_deref() == Some(key);
        let is_admitted = gate.admits();
        if (is_admitted || is_tie) && consumer(exec, &row)?.is_break() {
            return Ok(ControlFlow::Break(()));
        }
        if is_admitted && ties == Ties::Kept && gate.is_passed() {
            last_key = Some(key.to_vec());
            return Ok(ControlFlow::Continue(()));
        }
        Ok(if is_tie {
            ControlFlow::Continue(())
        } else {
            gate.flow()
        })
    })
}

/// How the rows of a set operation or of VALUES are arranged.
struct Arrangement<'p> {
    order: &'p [SortItem],
    limit: &'p Limit,
    /// Whether SQL_CALC_FOUND_ROWS asks how many rows there would be without the limit. What is sorted is counted
    /// anyway, as in MariaDB.
    counts_found_rows: bool,
}

fn run_values(
    exec: &mut Exec<'_, '_>,
    plan: &ValuesPlan,
    types: &[ExprType],
    outer: &[Value],
    consumer: Consumer<'_>,
) -> Result<Option<u64>> {
    let row = row_with_outer(plan.slot_count, &plan.outer, outer);
    let arrangement = Arrangement {
        order: &plan.order,
        limit: &plan.limit,
        counts_found_rows: false,
    };
    arranged(exec, &arrangement, types, consumer, &mut |exec, consumer| {
        for values in &plan.rows {
            let mut output = Vec::with_capacity(values.len());
            for value in values {
                output.push(exec.eval(value, &row)?);
            }
            if consumer(exec, &output)?.is_break() {
                break;
            }
        }
        Ok(())
    })
}

/// Executes one side of a set operation and converts its values to the common types.
fn run_side(
    exec: &mut Exec<'_, '_>,
    set: &SetPlan,
    side: usize,
    outer: &[Value],
    consumer: Consumer<'_>,
) -> Result<bool> {
    let mut converted = Vec::new();
    let mut stopped = false;
    run(exec, &set.sides[side], outer, &mut |exec, row| {
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

fn run_set(
    exec: &mut Exec<'_, '_>,
    set: &SetPlan,
    types: &[ExprType],
    outer: &[Value],
    consumer: Consumer<'_>,
) -> Result<Option<u64>> {
    let arrangement = Arrangement {
        order: &set.order,
        limit: &set.limit,
        // It is said in the first query, and meant for the whole.
        counts_found_rows: set.sides.first().is_some_and(QueryPlan::counts_found_rows),
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
                let mut distinct = Distinct::new(types, exec.runtime.memory.part());
                for side in 0..set.sides.len() {
                    let stopped = run_side(exec, set, side, outer, &mut |exec, row| {
                        if distinct.is_new(row)? {
                            consumer(exec, row)
                        } else {
                            Ok(ControlFlow::Continue(()))
                        }
                    })?;
                    if stopped {
                        break;
                    }
                }
                Ok(())
            }
            SetOperation::Except
            | SetOperation::ExceptAll
            | SetOperation::Intersect
            | SetOperation::IntersectAll => {
                let mut memory = exec.runtime.memory.part();
                let mut right: HashMap<Vec<u8>, u64> = HashMap::new();
                run_side(exec, set, 1, outer, &mut |_, row| {
                    let key = super::distinct::row_key(row, types);
                    memory.take(key.len() + 48)?;
                    *right.entry(key).or_default() += 1;
                    Ok(ControlFlow::Continue(()))
                })?;
                let mut seen: HashSet<Vec<u8>> = HashSet::new();
                run_side(exec, set, 0, outer, &mut |exec, row| {
                    let key = super::distinct::row_key(row, types);
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
                        consumer(exec, row)
                    } else {
                        Ok(ControlFlow::Continue(()))
                    }
                })?;
                Ok(())
            }
        },
    )
}

fn run_recursive(
    exec: &mut Exec<'_, '_>,
    plan: &RecursivePlan,
    types: &[ExprType],
    consumer: Consumer<'_>,
) -> Result<()> {
    let told_apart_by: Vec<ExprType> = match plan.cycle.is_empty() {
        true => types.to_vec(),
        false => plan.cycle.iter().map(|&column| types[column].clone()).collect(),
    };
    let memory = exec.runtime.memory.part();
    let mut distinct = (!plan.keep_duplicates).then(|| Distinct::new(&told_apart_by, memory));
    let mut memory = exec.runtime.memory.part();
    let mut all: Vec<Vec<Value>> = Vec::new();
    let mut round: Vec<Vec<Value>> = Vec::new();
    let mut collect =
        |exec: &mut Exec<'_, '_>, query: &QueryPlan, conversions: &[Expr], round: &mut Vec<Vec<Value>>| {
            run(exec, query, &[], &mut |exec, row| {
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
        exec.runtime.recursive.insert(plan.table, last);
        // Rows kept from the last round are outdated.
        exec.runtime.kept_rows.clear();
        let materialized = &mut exec.runtime.materialized;
        materialized.retain(|(id, _), _| !plan.readers.contains(id));
        collect(exec, &plan.step, &plan.conversions[1], &mut round)?;
    }
    exec.runtime.recursive.remove(&plan.table);
    for row in &all {
        if consumer(exec, row)?.is_break() {
            break;
        }
    }
    Ok(())
}

/// Returns all rows of a query without outer references, executed once per statement.
pub(crate) fn materialize(exec: &mut Exec<'_, '_>, plan: &QueryPlan, distinct: bool) -> Result<Rows> {
    if let Some(rows) = exec.runtime.materialized.get(&(plan.id, distinct)) {
        return Ok(rows.clone());
    }
    let mut rows = Vec::new();
    let mut seen = distinct.then(|| Distinct::new(&plan.types, exec.runtime.memory.part()));
    run(exec, plan, &[], &mut |exec, row| {
        if let Some(seen) = &mut seen
            && !seen.is_new(row)?
        {
            return Ok(ControlFlow::Continue(()));
        }
        exec.runtime.memory.charge(row_bytes(row))?;
        rows.push(row.to_vec());
        Ok(ControlFlow::Continue(()))
    })?;
    let rows = Rc::new(rows);
    exec.runtime
        .materialized
        .insert((plan.id, distinct), rows.clone());
    Ok(rows)
}
