//! UPDATE of one table or several tables.
//!
//! Rows are changed while the search is running, unless the search could then find changed rows again. In that case
//! they are collected first: with ORDER BY, with several tables, or if a column of the searched index changes. If a
//! subquery would see the changes, all values are computed before the first row is written.

use std::collections::HashSet;
use std::ops::ControlFlow;
use std::sync::Arc;

use paceline_storage::RowPlacement;
use paceline_types::Value;

use super::row_search::{FoundRow, collect, for_each_row, reads_backwards, usable_plan};
use super::safe_updates::check_update;
use crate::error::Result;
use crate::execute::changes::assignment::{
    Ignore, NullRule, Strictness, assign_column, assigned_value, check_constraints, check_types,
    passes_view_check, stored_value,
};
use crate::execute::changes::auto_increment;
use crate::execute::changes::row_writer::{RowWriter, UpdateOutcome, WriteOptions, warn_of_nothing};
use crate::execute::collections::memory::row_bytes;
use crate::execute::context::{Execution, RowHandle};
use crate::execute::interface::{AffectedRows, Outcome};
use crate::execute::operators::limit::RowLimit;
use crate::execute::programs::Triggers;
use crate::plan::slot_names::BlockNames;
use crate::plan::tree::{AccessPath, SelectPlan, StepSource};
use crate::plan::{AssignmentPlan, UpdatePlan, UpdateTarget};
use paceline_expression::session::SqlMode;
use paceline_syntax::TriggerEvent;

/// A table that is updated.
struct Target<'p> {
    plan: &'p UpdateTarget,
    writer: RowWriter<'p>,
    triggers: Triggers<'p>,
    /// With several tables: the rows that have been processed.
    seen: HashSet<Vec<u8>>,
}

/// A running UPDATE.
struct UpdateRun<'p> {
    targets: Vec<Target<'p>>,
    several: bool,
    /// Whether all assignments of a single table see the row as it was found, like those of several tables; otherwise
    /// each sees the earlier assignments.
    simultaneous: bool,
    /// Whether a row may change between the search and its update: by an action of a foreign key, or under another name
    /// of the table.
    others_change: bool,
    strictness: Strictness,
    ignore: Ignore,
    matched: u64,
    changed: u64,
}

/// Executes an UPDATE.
pub(super) fn execute(
    exec: &mut Execution<'_, '_>,
    plan: &UpdatePlan,
    options: &WriteOptions,
    affected: AffectedRows,
) -> Result<Outcome> {
    check_update(&exec.session.settings, plan)?;
    let names = BlockNames::new(&plan.select, None);
    let exec = &mut exec.with_names(&names);
    let select = usable_plan(exec, &plan.select)?;
    let tables = plan.targets.iter().map(|target| &*target.definition);
    warn_of_nothing(exec.session, "UPDATE", tables);
    let ignore = Ignore::from(plan.ignore);
    let mut targets = Vec::with_capacity(plan.targets.len());
    for target in &plan.targets {
        let columns: Vec<usize> = target
            .assignments
            .iter()
            .chain(&target.on_update)
            .map(|assignment| assignment.column)
            .collect();
        let triggers = Triggers::of(&target.definition, TriggerEvent::Update);
        // A trigger may change any column.
        let writer = match triggers.has_before() {
            true => RowWriter::new(options, &target.definition),
            false => RowWriter::for_columns(options, &target.definition, &columns),
        };
        targets.push(Target {
            plan: target,
            writer: writer.found_by(select, target.table),
            triggers,
            seen: HashSet::new(),
        });
    }
    let strictness = Strictness::new(exec.session.settings.sql_mode, ignore);
    for target in &plan.targets {
        let assigned = target.assignments.iter();
        let assigned = assigned.map(|assignment| (assignment.column, &assignment.value.ty));
        check_types(exec, &target.definition, assigned, strictness)?;
    }
    let several = !select.is_of_one_table();
    if plan.targets.len() > 1 {
        for target in &mut targets {
            target.writer.announce(exec.state.transaction);
        }
    }
    let by_name = names_a_table_twice(&plan.targets);
    let sql_mode = exec.session.settings.sql_mode;
    let mut updating = UpdateRun {
        targets,
        several,
        simultaneous: sql_mode.contains(SqlMode::SIMULTANEOUS_ASSIGNMENT),
        others_change: by_name || options.may_act(),
        strictness,
        ignore,
        matched: 0,
        changed: 0,
    };
    exec.session.diagnostics.reset_row();
    // A trigger may change a column of the index that is searched.
    let changes_more = updating.targets.iter().any(|target| target.triggers.has_before());
    let is_safe =
        !plan.reads_changed && !changes_more && !moves(select, &plan.targets) && !reads_backwards(select);
    if select.order.is_empty() && !several && is_safe {
        let limit = RowLimit::new(exec, &select.limit)?;
        if limit.count > 0 {
            // As in MariaDB, rows are searched before strict mode begins if there is an order.
            let mode = exec.mode;
            if plan.is_ordered {
                exec.mode = exec.mode.lenient();
            }
            for_each_row(exec, select, &mut |exec, row| {
                let searching = std::mem::replace(&mut exec.mode, mode);
                let handle = std::mem::take(&mut exec.state.row_handles[0]);
                updating.update_row(exec, row, &handle)?;
                exec.state.row_handles[0] = handle;
                exec.mode = searching;
                exec.session.diagnostics.next_row();
                Ok(if updating.matched >= limit.count {
                    ControlFlow::Break(())
                } else {
                    ControlFlow::Continue(())
                })
            })?;
            exec.mode = mode;
        }
    } else if plan.reads_changed || by_name {
        let found = collect(exec, select)?;
        updating.update_in_two_passes(exec, found)?;
    } else {
        // As in MariaDB, the rows of a single table are searched before strict mode begins, if they are collected
        // first.
        let mode = exec.mode;
        if !several {
            exec.mode = exec.mode.lenient();
        }
        let found = collect(exec, select)?;
        exec.mode = mode;
        for mut found in found {
            updating.update_found(exec, &mut found)?;
            exec.session.diagnostics.next_row();
        }
    }
    let warnings = exec.session.diagnostics.warning_count();
    let info = info(updating.matched, updating.changed, warnings);
    let affected_rows = match affected {
        AffectedRows::Changed => updating.changed,
        AffectedRows::Found => updating.matched,
    };
    let last_insert_id = exec.session.statement.explicit_last_insert_id.unwrap_or(0);
    Ok(Outcome {
        affected_rows,
        last_insert_id,
        info,
        ..Outcome::default()
    })
}

/// Returns whether the statement may move a row to a part of the index that has not been searched yet.
fn moves(select: &SelectPlan, targets: &[UpdateTarget]) -> bool {
    let [step] = &select.steps[..] else {
        return true;
    };
    let (StepSource::Table(access), [target]) = (&step.source, targets) else {
        return true;
    };
    let index = match &access.path {
        // A single scan sees the state at its start.
        AccessPath::All | AccessPath::Index { .. } | AccessPath::Lookup { .. } => return false,
        AccessPath::Range { index, .. } => *index,
        AccessPath::Hash { .. } | AccessPath::Union { .. } => return true,
    };
    let definition = &target.definition;
    let clustered = match definition.schema().clustered() {
        RowPlacement::Key(index) => definition.indexes()[index].parts.as_slice(),
        RowPlacement::RowId(_) | RowPlacement::Single(_) => &[],
    };
    let mut parts = definition.indexes()[index].parts.iter().chain(clustered);
    let assigned = || target.assignments.iter().chain(&target.on_update);
    parts.any(|part| assigned().any(|assignment| assignment.column == part.column))
}

/// Returns whether one table is updated under several names.
fn names_a_table_twice(targets: &[UpdateTarget]) -> bool {
    targets.iter().enumerate().any(|(number, target)| {
        let is_same = |other: &UpdateTarget| Arc::ptr_eq(&other.definition, &target.definition);
        targets[..number].iter().any(is_same)
    })
}

impl UpdateTarget {
    /// Evaluates an assignment on a joined row.
    fn assigned(
        &self,
        exec: &mut Execution<'_, '_>,
        assignment: &AssignmentPlan,
        row: &[Value],
        strictness: Strictness,
    ) -> Result<Value> {
        let padded;
        let row = match self.padding.is_empty() {
            true => row,
            false => {
                let mut copy = row.to_vec();
                crate::plan::tree::pad(&mut copy, &self.padding);
                padded = copy;
                &padded
            }
        };
        let value = assigned_value(exec, &assignment.value, row, &self.definition, assignment.column)?;
        assign_column(
            exec,
            &self.definition,
            assignment.column,
            value,
            strictness,
            NullRule::BySqlMode,
        )
    }

    /// Evaluates all assignments on a joined row.
    fn values(
        &self,
        exec: &mut Execution<'_, '_>,
        row: &[Value],
        strictness: Strictness,
    ) -> Result<Vec<Value>> {
        let assigned = |assignment| self.assigned(exec, assignment, row, strictness);
        self.assignments.iter().map(assigned).collect()
    }

    /// Stores these values in a joined row.
    fn put(&self, row: &mut [Value], values: Vec<Value>) {
        for (assignment, value) in self.assignments.iter().zip(values) {
            assign(&mut row[self.base + assignment.column], value);
        }
    }
}

impl UpdateRun<'_> {
    /// Updates the location of a row that may have changed since it was found. Returns false if it has disappeared.
    fn is_still_there(
        &self,
        exec: &mut Execution<'_, '_>,
        number: usize,
        row: &mut [Value],
        handle: &mut RowHandle,
    ) -> Result<bool> {
        if !self.others_change {
            return Ok(true);
        }
        let target = &self.targets[number];
        let found = handle.image.clone();
        if !target.writer.refresh(exec.state.transaction, handle)? {
            return Ok(false);
        }
        if handle.image != found {
            let values = target.plan.definition.schema().decode_row(&handle.image)?;
            let start = target.plan.base;
            row[start..start + values.len()].clone_from_slice(&values);
        }
        Ok(true)
    }

    /// Changes a row of a single table.
    fn update_row(
        &mut self,
        exec: &mut Execution<'_, '_>,
        row: &mut [Value],
        handle: &RowHandle,
    ) -> Result<()> {
        self.matched += 1;
        let plan = self.targets[0].plan;
        if self.simultaneous {
            let values = plan.values(exec, row, self.strictness)?;
            plan.put(row, values);
        } else {
            for assignment in &plan.assignments {
                let value = plan.assigned(exec, assignment, row, self.strictness)?;
                assign(&mut row[plan.base + assignment.column], value);
            }
        }
        self.write_row(exec, 0, row, handle)
    }

    /// Changes a row that was collected.
    fn update_found(&mut self, exec: &mut Execution<'_, '_>, found: &mut FoundRow) -> Result<()> {
        if self.several {
            for (number, values) in self.values(exec, found)? {
                self.write_values(exec, number, found, values)?;
            }
            return Ok(());
        }
        let mut handle = std::mem::take(&mut found.handles[0]);
        if self.is_still_there(exec, 0, &mut found.row, &mut handle)? {
            self.update_row(exec, &mut found.row, &handle)?;
        }
        Ok(())
    }

    /// Returns the assigned values of each table's row that has not been processed yet, by the table's index.
    fn values(&mut self, exec: &mut Execution<'_, '_>, found: &FoundRow) -> Result<Vec<(usize, Vec<Value>)>> {
        let mut made = Vec::with_capacity(self.targets.len());
        for (number, target) in self.targets.iter_mut().enumerate() {
            let handle = &found.handles[target.plan.table];
            if !handle.present || !target.seen.insert(handle.key.clone()) {
                continue;
            }
            self.matched += 1;
            made.push((number, target.plan.values(exec, &found.row, self.strictness)?));
        }
        Ok(made)
    }

    /// Writes the assigned values to one table's row.
    fn write_values(
        &mut self,
        exec: &mut Execution<'_, '_>,
        number: usize,
        found: &mut FoundRow,
        values: Vec<Value>,
    ) -> Result<()> {
        let plan = self.targets[number].plan;
        let FoundRow { row, handles, .. } = found;
        let handle = &mut handles[plan.table];
        if !self.is_still_there(exec, number, row, handle)? {
            return Ok(());
        }
        plan.put(row, values);
        self.write_row(exec, number, row, handle)
    }

    /// Computes all values before anything is written, as MariaDB does for a table with several names and for one that
    /// subqueries read. The values follow from the rows as they were found. They are written in the order of the names
    /// in FROM, to each row in the state after the previous names.
    fn update_in_two_passes(&mut self, exec: &mut Execution<'_, '_>, mut found: Vec<FoundRow>) -> Result<()> {
        let mut assigned: Vec<Vec<(usize, Vec<Value>)>> = self.targets.iter().map(|_| Vec::new()).collect();
        for (place, found) in found.iter().enumerate() {
            exec.tick()?;
            for (number, values) in self.values(exec, found)? {
                exec.state.memory.charge(row_bytes(&values))?;
                assigned[number].push((place, values));
            }
            exec.session.diagnostics.next_row();
        }
        exec.session.diagnostics.reset_row();
        let mut names: Vec<usize> = (0..self.targets.len()).collect();
        names.sort_by_key(|&number| self.targets[number].plan.table);
        for number in names {
            for (place, values) in std::mem::take(&mut assigned[number]) {
                exec.tick()?;
                self.write_values(exec, number, &mut found[place], values)?;
                exec.session.diagnostics.next_row();
            }
        }
        Ok(())
    }

    /// Writes a row that has its assigned values, with the values derived from them.
    fn write_row(
        &mut self,
        exec: &mut Execution<'_, '_>,
        number: usize,
        row: &mut [Value],
        handle: &RowHandle,
    ) -> Result<()> {
        let target = &mut self.targets[number];
        let definition = &*target.plan.definition;
        let slots = {
            let start = target.plan.base;
            start..start + definition.columns().len()
        };
        // Values that are written back have their stored form.
        crate::plan::tree::unpad(row, &target.plan.padding);
        let triggers = target.triggers;
        let old = match triggers.is_empty() {
            true => Vec::new(),
            false => definition.schema().decode_row(&handle.image)?,
        };
        if triggers.has_before() {
            let generated = target.plan.on_update.iter().filter(|made| {
                let column = &definition.columns()[made.column];
                column.generated.is_some()
            });
            for made in generated {
                let value = assigned_value(exec, &made.value, row, definition, made.column)?;
                row[slots.start + made.column] = stored_value(
                    exec,
                    definition,
                    made.column,
                    value,
                    self.strictness,
                    NullRule::BySqlMode,
                )?;
            }
            triggers.before(exec, &old, &mut row[slots.clone()])?;
        }
        if !target.plan.on_update.is_empty() && !same_image(definition, &row[slots.clone()], &handle.image)? {
            for assignment in &target.plan.on_update {
                let value = assigned_value(exec, &assignment.value, row, definition, assignment.column)?;
                let value = stored_value(
                    exec,
                    definition,
                    assignment.column,
                    value,
                    self.strictness,
                    NullRule::BySqlMode,
                )?;
                assign(&mut row[slots.start + assignment.column], value);
            }
        }
        let values = &row[slots.clone()];
        let check = target.plan.view_check.as_ref();
        if check.is_some()
            && !same_image(definition, values, &handle.image)?
            && !passes_view_check(exec, check, row, self.ignore)?
        {
            self.matched -= 1;
            return Ok(());
        }
        if !check_constraints(exec, definition, &target.plan.checks, values, self.ignore)? {
            return Ok(());
        }
        let updated =
            target
                .writer
                .or_passed_over(exec.state.transaction, self.ignore, |writer, transaction| {
                    writer.update(transaction, handle, values)
                })?;
        // IGNORE keeps a row that foreign keys protect, without a warning.
        let Ok(updated) = updated else { return Ok(()) };
        if !matches!(updated, UpdateOutcome::Duplicate(_)) {
            triggers.after(exec, &old, values)?;
        }
        match updated {
            UpdateOutcome::Unchanged => {}
            UpdateOutcome::Changed => {
                self.changed += 1;
                exec.session.counts.handler_update += 1;
                let counting = definition.auto_increment_column();
                if let Some(column) = counting.filter(|column| target.plan.assigns(*column)) {
                    auto_increment::observe(exec.state.transaction, definition, column, &values[column])?;
                }
            }
            // IGNORE keeps the row unchanged, without a warning.
            UpdateOutcome::Duplicate(_) if self.ignore == Ignore::Yes => {}
            UpdateOutcome::Duplicate(index) => {
                return Err(target
                    .writer
                    .duplicate_error(&exec.session.settings.time_zone, index, values));
            }
        }
        Ok(())
    }
}

/// Stores a value in a row. A zero is no other zero for its sign: the row stays as it was.
fn assign(place: &mut Value, value: Value) {
    let is_same = match (&*place, &value) {
        (Value::Double(before), Value::Double(after)) => before == after,
        (Value::Float(before), Value::Float(after)) => before == after,
        _ => false,
    };
    if !is_same {
        *place = value;
    }
}

fn same_image(
    definition: &paceline_catalog::TableDefinition,
    values: &[Value],
    image: &[u8],
) -> Result<bool> {
    let mut encoded = Vec::with_capacity(image.len());
    definition.schema().encode_row(values, &mut encoded)?;
    Ok(encoded == image)
}

/// Returns the info text for the client. Every update creates it, and `format!` would take 900 instructions.
fn info(matched: u64, changed: u64, warnings: u64) -> String {
    let mut number = itoa::Buffer::new();
    let mut info = String::with_capacity(64);
    for (name, count) in [
        ("Rows matched: ", matched),
        ("  Changed: ", changed),
        ("  Warnings: ", warnings),
    ] {
        info.push_str(name);
        info.push_str(number.format(count));
    }
    info
}
