//! Insertion of rows, for INSERT and LOAD DATA: builds a row from values and defaults; inserts, replaces or updates.

use paceline_types::Value;

use crate::error::Result;
use crate::execute::changes::assignment::{
    Ignore, NullRule, Strictness, assign_column, assigned_value, check_constraints, implicit_default,
    invalid_default, missing_default, passes_view_check, stored_value,
};
use crate::execute::changes::auto_increment::{Interval, as_id};
use crate::execute::changes::row_writer::{InsertOutcome, RowWriter, UpdateOutcome, WriteOptions};
use crate::execute::context::{Execution, RowHandle};
use crate::execute::interface::{AffectedRows, Outcome, RowSink};
use crate::execute::programs::Triggers;
use crate::plan::{AssignmentPlan, DefaultPlan, InsertPlan, InsertRows};
use paceline_catalog::foreign_key::is_foreign_key_error;
use paceline_catalog::{TableDefinition, ViewDefinition};
use paceline_expression::session::SqlMode;
use paceline_expression::{Expr, ExprType, as_assigned};
use paceline_syntax::TriggerEvent;

/// Progress of an INSERT.
struct Progress {
    records: u64,
    copied: u64,
    updated: u64,
    /// Rows for which ON DUPLICATE KEY UPDATE ran, changed or not.
    touched: u64,
    deleted: u64,
    /// First generated AUTO_INCREMENT value of an inserted row.
    generated: Option<u64>,
    /// AUTO_INCREMENT value of the last inserted or updated row.
    last_value: u64,
    rows_sent: u64,
}

/// Triggers that an INSERT or REPLACE may run.
struct InsertTriggers<'p> {
    insert: Triggers<'p>,
    update: Triggers<'p>,
    delete: Triggers<'p>,
}

/// A running INSERT, or the insertion of the rows of a LOAD DATA.
pub(super) struct Insertion<'p> {
    plan: &'p InsertPlan,
    table: &'p TableDefinition,
    writer: RowWriter<'p>,
    triggers: InsertTriggers<'p>,
    strictness: Strictness,
    ignore: Ignore,
    /// Treatment of check constraints: as in MariaDB, IGNORE skips rows of a list, but not a single row.
    ignore_checks: Ignore,
    null_rule: NullRule,
    /// Treatment of columns that the statement does not name and that have no default.
    missing_defaults: Strictness,
    /// Row for evaluation: the new row, and after it the row of the INSERT for ON DUPLICATE KEY UPDATE.
    row: Vec<Value>,
    /// Initial row, if values refer to columns that may not have their values yet.
    initial: Option<Vec<Value>>,
    /// Columns that get their defaults after all values are known.
    pending: Vec<usize>,
    /// Whether a row was begun before the current one.
    is_begun: bool,
    progress: Progress,
    returned: Vec<Value>,
    interval: Interval,
}

impl<'p> Insertion<'p> {
    /// Creates an insertion. `expected` is the number of rows, if it is known.
    pub fn new(
        exec: &Execution<'_, '_>,
        plan: &'p InsertPlan,
        options: &WriteOptions,
        expected: Option<u64>,
    ) -> Self {
        let ignore = Ignore::from(plan.ignore);
        let mut row = vec![Value::Null; plan.slot_count];
        for other in plan.view.iter().flat_map(|view| &view.others) {
            let values = initial_row(&other.definition, &other.defaults);
            row[other.first_slot..][..values.len()].clone_from_slice(&values);
        }
        Insertion {
            plan,
            table: &plan.table,
            writer: RowWriter::new(options, &plan.table),
            triggers: InsertTriggers {
                insert: Triggers::of(&plan.table, TriggerEvent::Insert),
                update: Triggers::of(&plan.table, TriggerEvent::Update),
                delete: Triggers::of(&plan.table, TriggerEvent::Delete),
            },
            strictness: Strictness::new(exec.session.settings.sql_mode, ignore),
            ignore,
            ignore_checks: ignore,
            null_rule: NullRule::BySqlMode,
            missing_defaults: Strictness::new(exec.session.settings.sql_mode, ignore),
            row,
            initial: plan.reads_row.then(|| initial_row(&plan.table, &plan.defaults)),
            pending: Vec::new(),
            is_begun: false,
            progress: Progress {
                records: 0,
                copied: 0,
                updated: 0,
                touched: 0,
                deleted: 0,
                generated: None,
                last_value: 0,
                rows_sent: 0,
            },
            returned: Vec::new(),
            interval: Interval::new(expected),
        }
    }

    /// Sets the rules for an INSERT of one row, which are stricter.
    pub fn be_single_row(&mut self) {
        if self.ignore == Ignore::No {
            self.null_rule = NullRule::Refuse;
        }
        self.ignore_checks = Ignore::No;
    }

    /// Sets the rules for LOAD DATA: a column without a default is a warning, also in strict mode.
    pub fn be_loading(&mut self) {
        self.missing_defaults = Strictness::Lenient;
    }

    /// Returns the number of rows so far.
    pub fn records(&self) -> u64 {
        self.progress.records
    }

    /// Returns the treatment of problems.
    pub fn strictness(&self) -> Strictness {
        self.strictness
    }

    /// Sets a column of the row to a value of the column's type.
    pub fn set(&mut self, column: usize, value: Value) {
        self.row[column] = value;
    }

    /// Fills the row from a list of values.
    pub fn take_values(&mut self, exec: &mut Execution<'_, '_>, values: &[Option<Expr>]) -> Result<()> {
        self.begin_row(exec, values.is_empty())?;
        for (value, &column) in values.iter().zip(&self.plan.columns) {
            match value {
                Some(expr) if !exec.is_default(expr) => self.assign_expr(exec, column, expr)?,
                _ => self.fill_default(exec, column, None)?,
            }
        }
        if let Some(column) = self.table.auto_increment_column()
            && self.initial.is_some()
            && !self.plan.columns.contains(&column)
        {
            self.row[column] = Value::Null;
        }
        Ok(())
    }

    /// Fills the row from a row of a query.
    pub fn take_row(
        &mut self,
        exec: &mut Execution<'_, '_>,
        types: &[ExprType],
        values: &[Value],
    ) -> Result<()> {
        self.begin_row(exec, false)?;
        for ((value, ty), &column) in values.iter().zip(types).zip(&self.plan.columns) {
            let target = &self.table.columns()[column].data_type;
            self.assign(exec, column, as_assigned(value.clone(), ty, target))?;
        }
        let read = &values[self.plan.columns.len()..];
        for (slot, value) in self.plan.source_slots.clone().zip(read) {
            self.row[slot] = value.clone();
        }
        Ok(())
    }

    /// Begins a row with the defaults of the columns without values.
    pub fn begin_row(&mut self, exec: &mut Execution<'_, '_>, all_defaults: bool) -> Result<()> {
        exec.tick()?;
        self.pending.clear();
        let columns = self.table.columns().len();
        let view = self.plan.view.as_ref().map(|view| &*view.view);
        self.row[..columns].fill(Value::Null);
        for column in 0..columns {
            if !all_defaults && self.plan.columns.contains(&column) {
                continue;
            }
            match self.plan.defaults[column] {
                // The first row's warning is for all.
                DefaultPlan::None if self.is_begun && !self.triggers.insert.has_before() => {
                    self.row[column] = implicit_default(&self.table.columns()[column].data_type);
                }
                _ => self.fill_default(exec, column, view)?,
            }
        }
        self.is_begun = true;
        if let Some(initial) = &self.initial
            && !all_defaults
        {
            self.row[..columns].clone_from_slice(initial);
        }
        Ok(())
    }

    /// Stores a column's default. `view` is the view that the statement names, if it does not name the column.
    fn fill_default(
        &mut self,
        exec: &mut Execution<'_, '_>,
        column: usize,
        view: Option<&ViewDefinition>,
    ) -> Result<()> {
        self.row[column] = match &self.plan.defaults[column] {
            DefaultPlan::Value(value) => {
                // A warning is for all rows.
                if let Some(error) = invalid_default(exec, self.table, column, value) {
                    match self.strictness {
                        Strictness::Strict => return Err(error),
                        Strictness::Lenient if self.progress.records == 0 => {
                            exec.session.diagnostics.warn(error.code(), error.message());
                        }
                        Strictness::Lenient => {}
                    }
                }
                value.clone()
            }
            DefaultPlan::AutoIncrement => Value::Null,
            // A trigger may give it a value.
            DefaultPlan::None if self.triggers.insert.has_before() => Value::Null,
            DefaultPlan::None if self.is_updated(column) => {
                implicit_default(&self.table.columns()[column].data_type)
            }
            DefaultPlan::None => missing_default(exec, self.table, column, self.missing_defaults, view)?,
            DefaultPlan::Expr(_) => {
                self.pending.push(column);
                Value::Null
            }
        };
        Ok(())
    }

    /// Returns whether a column needs no default because ON DUPLICATE KEY UPDATE of a list of rows names it.
    fn is_updated(&self, column: usize) -> bool {
        let mut updated = self.plan.on_duplicate.iter();
        matches!(self.plan.source, InsertRows::Values(_))
            && updated.any(|assignment| assignment.column == column)
    }

    /// Returns the treatment of NULL in ON DUPLICATE KEY UPDATE: only a list of several rows is lenient.
    fn null_rule_of_update(&self) -> NullRule {
        let is_list = matches!(&self.plan.source, InsertRows::Values(rows) if rows.len() > 1);
        match is_list || self.ignore == Ignore::Yes {
            true => NullRule::BySqlMode,
            false => NullRule::Refuse,
        }
    }

    /// Returns a column's default, for ON DUPLICATE KEY UPDATE.
    fn default_value(&self, exec: &mut Execution<'_, '_>, column: usize) -> Result<Value> {
        match &self.plan.defaults[column] {
            DefaultPlan::Value(value) => Ok(value.clone()),
            DefaultPlan::AutoIncrement => Ok(Value::Int(0)),
            DefaultPlan::None => missing_default(exec, self.table, column, self.missing_defaults, None),
            DefaultPlan::Expr(expr) => assigned_value(exec, expr, &self.row, self.table, column),
        }
    }

    /// Evaluates defaults that are expressions over the row after the other columns have their values, then the
    /// generated columns.
    fn complete(&mut self, exec: &mut Execution<'_, '_>) -> Result<()> {
        self.pending.sort_unstable();
        for column in std::mem::take(&mut self.pending) {
            if let DefaultPlan::Expr(expr) = &self.plan.defaults[column] {
                self.assign_expr(exec, column, expr)?;
            }
        }
        self.generate(exec)
    }

    /// Computes the generated columns.
    fn generate(&mut self, exec: &mut Execution<'_, '_>) -> Result<()> {
        for AssignmentPlan { column, value } in &self.plan.generated {
            let value = assigned_value(exec, value, &self.row, self.table, *column)?;
            self.row[*column] =
                stored_value(exec, self.table, *column, value, self.strictness, self.null_rule)?;
        }
        Ok(())
    }

    /// Runs the triggers before the insertion. After them, a column that is NOT NULL must have a value.
    ///
    /// # Errors
    /// The errors of the triggers; 1364 for a column without value and default, 1048 for NULL.
    fn run_before_triggers(&mut self, exec: &mut Execution<'_, '_>) -> Result<()> {
        let columns = self.table.columns().len();
        // To triggers, a number that will be generated is 0.
        let numbered = self.table.auto_increment_column();
        let numbered = numbered.filter(|column| self.row[*column].is_null());
        if let Some(column) = numbered {
            self.row[column] = Value::Int(0);
        }
        let mut assigned = Vec::new();
        let row = &mut self.row[..columns];
        self.triggers
            .insert
            .before_noting(exec, &[], row, &mut assigned)?;
        if let Some(column) = numbered
            && as_id(&self.row[column]) == 0
        {
            self.row[column] = Value::Null;
        }
        let view = self.plan.view.as_ref().map(|view| &*view.view);
        for column in 0..columns {
            let definition = &self.table.columns()[column];
            let is_generated =
                definition.generated.is_some() || self.table.auto_increment_column() == Some(column);
            if is_generated || definition.nullable || !self.row[column].is_null() {
                continue;
            }
            let has_value = self.plan.columns.contains(&column) || assigned.contains(&column);
            self.row[column] = match (&self.plan.defaults[column], has_value) {
                (DefaultPlan::None, false) => {
                    missing_default(exec, self.table, column, self.strictness, view)?
                }
                _ => assign_column(
                    exec,
                    self.table,
                    column,
                    Value::Null,
                    self.strictness,
                    self.null_rule,
                )?,
            };
        }
        self.generate(exec)
    }

    /// Runs the triggers after the insertion of the row.
    fn run_after_triggers(&self, exec: &mut Execution<'_, '_>) -> Result<()> {
        let columns = self.table.columns().len();
        self.triggers.insert.after(exec, &[], &self.row[..columns])
    }

    /// Deletes a row that REPLACE replaces.
    fn delete_replaced(&mut self, exec: &mut Execution<'_, '_>, old: &RowHandle) -> Result<()> {
        let triggers = self.triggers.delete;
        if triggers.is_empty() {
            return self.writer.delete(exec.state.transaction, old);
        }
        let values = self.table.schema().decode_row(&old.image)?;
        triggers.before(exec, &values, &mut [])?;
        self.writer.delete(exec.state.transaction, old)?;
        triggers.after(exec, &values, &[])
    }

    /// Assigns an expression's value to a column of the row.
    pub fn assign_expr(&mut self, exec: &mut Execution<'_, '_>, column: usize, expr: &Expr) -> Result<()> {
        let value = assigned_value(exec, expr, &self.row, self.table, column)?;
        self.assign(exec, column, value)
    }

    /// Assigns a value of any type to a column of the row.
    pub fn assign(&mut self, exec: &mut Execution<'_, '_>, column: usize, value: Value) -> Result<()> {
        let may_be_null_yet = self.triggers.insert.has_before();
        if value.is_null() && (may_be_null_yet || self.table.auto_increment_column() == Some(column)) {
            self.row[column] = Value::Null;
            return Ok(());
        }
        let is_kept = self.table.columns()[column].generated.is_some()
            && !self.plan.generated.iter().any(|made| made.column == column);
        let assign = match is_kept {
            true => stored_value,
            false => assign_column,
        };
        self.row[column] = assign(exec, self.table, column, value, self.strictness, self.null_rule)?;
        Ok(())
    }

    /// Inserts the row.
    pub fn insert(&mut self, exec: &mut Execution<'_, '_>, sink: &mut dyn RowSink) -> Result<()> {
        self.complete(exec)?;
        if self.triggers.insert.has_before() {
            self.run_before_triggers(exec)?;
        }
        self.progress.records += 1;
        // The row is checked before its AUTO_INCREMENT value counts.
        if !self.passes_view_check(exec)?
            || !check_constraints(exec, self.table, &self.plan.checks, &self.row, self.ignore_checks)?
        {
            // As in MariaDB it does not count in the warnings' row numbers.
            self.interval.next_row();
            return Ok(());
        }
        let generated =
            self.interval
                .generate(exec.state.transaction, exec.session, self.table, &mut self.row)?;
        let columns = self.table.columns().len();
        exec.session.counts.handler_write += 1;
        if self.table.is_sequence() {
            let (database, name) = (self.table.database(), self.table.name());
            let functions = exec.session.services.functions.clone();
            functions.insert_sequence_row(exec.session, database, name, &self.row[..columns])?;
            self.progress.copied += 1;
            exec.session.diagnostics.next_row();
            return self.send(exec, sink);
        }
        loop {
            let inserted = match self.writer.insert(exec.state.transaction, &self.row[..columns]) {
                // Nothing has been written yet.
                Err(error) if self.ignore == Ignore::Yes && is_foreign_key_error(&error) => {
                    exec.session.diagnostics.warn(error.code(), error.message());
                    break;
                }
                inserted => inserted?,
            };
            match inserted {
                InsertOutcome::Done => {
                    self.progress.copied += 1;
                    self.interval.take(exec.session, generated);
                    self.note_value(generated);
                    self.run_after_triggers(exec)?;
                    self.send(exec, sink)?;
                    break;
                }
                InsertOutcome::Duplicate { index, row_key }
                    if self.plan.replace
                        && self.triggers.delete.is_empty()
                        && self.is_last_unique(index)
                        && !self.writer.is_referenced() =>
                {
                    if self.replace_in_place(exec, &row_key)? {
                        self.progress.copied += 1;
                        self.interval.take(exec.session, generated);
                        self.note_value(generated);
                        self.run_after_triggers(exec)?;
                        self.send(exec, sink)?;
                        break;
                    }
                }
                InsertOutcome::Duplicate { row_key, .. } if self.plan.replace => {
                    if let Some(old) = self.writer.conflicting_row(exec.state.transaction, &row_key)? {
                        let counts = &mut exec.session.counts;
                        counts.handler_read_key += 1;
                        counts.rows_read += 1;
                        counts.handler_delete += 1;
                        // The row is written again.
                        counts.handler_write += 1;
                        self.delete_replaced(exec, &old)?;
                        self.progress.deleted += 1;
                    }
                }
                InsertOutcome::Duplicate { row_key, .. } if !self.plan.on_duplicate.is_empty() => {
                    if self.update_existing(exec, &row_key)? {
                        self.send(exec, sink)?;
                        break;
                    }
                }
                InsertOutcome::Duplicate { index, .. } => {
                    let error = self.writer.duplicate_error(
                        &exec.session.settings.time_zone,
                        index,
                        &self.row[..columns],
                    );
                    if self.ignore == Ignore::No {
                        return Err(error);
                    }
                    exec.session.diagnostics.warn(error.code(), error.message());
                    break;
                }
            }
        }
        exec.session.diagnostics.next_row();
        self.interval.next_row();
        Ok(())
    }

    /// Checks the new row against the view that the statement names. As in MariaDB an AUTO_INCREMENT column without a
    /// value is 0 there.
    fn passes_view_check(&mut self, exec: &mut Execution<'_, '_>) -> Result<bool> {
        let Some(check) = self.plan.view.as_ref().and_then(|view| view.check.as_ref()) else {
            return Ok(true);
        };
        let counter = self.table.auto_increment_column();
        let missing = counter.filter(|column| self.row[*column].is_null());
        if let Some(column) = missing {
            self.row[column] = implicit_default(&self.table.columns()[column].data_type);
        }
        let passes = passes_view_check(exec, Some(check), &self.row, self.ignore_checks);
        if let Some(column) = missing {
            self.row[column] = Value::Null;
        }
        passes
    }

    /// Returns whether no unique index follows this one.
    fn is_last_unique(&self, index: usize) -> bool {
        !self.table.indexes()[index + 1..]
            .iter()
            .any(|later| later.kind.is_unique())
    }

    /// Executes REPLACE for a row that conflicts in the last unique index only: as an update, which is also logged as
    /// one, as in MariaDB. An identical row is not changed. Returns false if the conflicting row has disappeared.
    fn replace_in_place(&mut self, exec: &mut Execution<'_, '_>, row_key: &[u8]) -> Result<bool> {
        let Some(old) = self.writer.conflicting_row(exec.state.transaction, row_key)? else {
            return Ok(false);
        };
        exec.session.counts.handler_read_key += 1;
        exec.session.counts.rows_read += 1;
        let columns = self.table.columns().len();
        match self
            .writer
            .update(exec.state.transaction, &old, &self.row[..columns])?
        {
            UpdateOutcome::Changed => {
                self.progress.deleted += 1;
                exec.session.counts.handler_update += 1;
            }
            UpdateOutcome::Unchanged => {}
            // Another key conflicts now. The caller's loop handles it.
            UpdateOutcome::Duplicate(_) => return Ok(false),
        }
        Ok(true)
    }

    fn note_value(&mut self, generated: Option<u64>) {
        if self.progress.generated.is_none() {
            self.progress.generated = generated;
        }
        if let Some(column) = self.table.auto_increment_column() {
            self.progress.last_value = as_id(&self.row[column]);
        }
    }

    /// Sends the RETURNING values.
    fn send(&mut self, exec: &mut Execution<'_, '_>, sink: &mut dyn RowSink) -> Result<()> {
        let Some(returning) = &self.plan.returning else {
            return Ok(());
        };
        self.returned.clear();
        for expr in returning {
            self.returned.push(exec.eval(expr, &self.row)?);
        }
        self.progress.rows_sent += 1;
        sink.row(&self.returned)
    }

    /// Executes ON DUPLICATE KEY UPDATE. Returns false if the conflicting row has disappeared.
    fn update_existing(&mut self, exec: &mut Execution<'_, '_>, row_key: &[u8]) -> Result<bool> {
        let Some(old) = self.writer.conflicting_row(exec.state.transaction, row_key)? else {
            return Ok(false);
        };
        exec.session.counts.handler_read_key += 1;
        exec.session.counts.rows_read += 1;
        let columns = self.table.columns().len();
        let existing = self.table.schema().decode_row(&old.image)?;
        let (current, rest) = self.row.split_at_mut(columns);
        for ((current, new), existing) in current.iter_mut().zip(rest).zip(existing) {
            *new = std::mem::replace(current, existing);
        }
        let before: Vec<Value> = self.row[..columns].to_vec();
        let sql_mode = exec.session.settings.sql_mode;
        let simultaneous = sql_mode.contains(SqlMode::SIMULTANEOUS_ASSIGNMENT);
        let mut assigned = Vec::new();
        for AssignmentPlan { column, value } in &self.plan.on_duplicate {
            let value = match exec.is_default(value) {
                false => assigned_value(exec, value, &self.row, self.table, *column)?,
                true => self.default_value(exec, *column)?,
            };
            let value = assign_column(
                exec,
                self.table,
                *column,
                value,
                self.strictness,
                self.null_rule_of_update(),
            )?;
            match simultaneous {
                true => assigned.push((*column, value)),
                false => self.row[*column] = value,
            }
        }
        for (column, value) in assigned {
            self.row[column] = value;
        }
        self.triggers
            .update
            .before(exec, &before, &mut self.row[..columns])?;
        if self.row[..columns] != before[..] {
            for AssignmentPlan { column, value } in &self.plan.on_update {
                let value = assigned_value(exec, value, &self.row, self.table, *column)?;
                self.row[*column] = stored_value(
                    exec,
                    self.table,
                    *column,
                    value,
                    self.strictness,
                    NullRule::BySqlMode,
                )?;
            }
        }
        let check = self.plan.view.as_ref().and_then(|view| view.check.as_ref());
        if self.row[..columns] != before[..] && !passes_view_check(exec, check, &self.row, self.ignore)?
            || !check_constraints(exec, self.table, &self.plan.checks, &self.row, self.ignore)?
        {
            return Ok(true);
        }
        self.progress.touched += 1;
        let row = &self.row[..columns];
        let updated =
            self.writer
                .or_passed_over(exec.state.transaction, self.ignore, |writer, transaction| {
                    writer.update(transaction, &old, row)
                })?;
        let updated = match updated {
            Ok(updated) => updated,
            Err(error) => {
                exec.session.diagnostics.warn(error.code(), error.message());
                return Ok(true);
            }
        };
        if !matches!(updated, UpdateOutcome::Duplicate(_)) {
            self.triggers.update.after(exec, &before, &self.row[..columns])?;
        }
        match updated {
            UpdateOutcome::Unchanged => {}
            UpdateOutcome::Changed => {
                self.progress.updated += 1;
                self.progress.copied += 1;
                exec.session.counts.handler_update += 1;
                if let Some(column) = self.table.auto_increment_column() {
                    self.progress.last_value = as_id(&self.row[column]);
                    if self.row[column] != before[column] {
                        let value = &self.row[column];
                        self.interval.observe(
                            exec.state.transaction,
                            exec.session,
                            self.table,
                            column,
                            value,
                        )?;
                    }
                }
            }
            UpdateOutcome::Duplicate(index) => {
                let error = self.writer.duplicate_error(
                    &exec.session.settings.time_zone,
                    index,
                    &self.row[..columns],
                );
                if self.ignore == Ignore::No {
                    return Err(error);
                }
                exec.session.diagnostics.warn(error.code(), error.message());
            }
        }
        Ok(true)
    }

    /// Returns the outcome of LOAD DATA.
    pub fn loaded(self, exec: &mut Execution<'_, '_>) -> Outcome {
        let progress = self.progress;
        if let Some(generated) = progress.generated.filter(|_| self.plan.sets_last_insert_id()) {
            exec.session.last_insert_id = generated;
        }
        let warnings = exec.session.diagnostics.warning_count();
        Outcome {
            affected_rows: progress.copied + progress.deleted,
            info: format!(
                "Records: {}  Deleted: {}  Skipped: {}  Warnings: {warnings}",
                progress.records,
                progress.deleted,
                progress.records - progress.copied
            ),
            ..Outcome::default()
        }
    }

    pub fn outcome(self, exec: &mut Execution<'_, '_>, affected: AffectedRows, one_row: bool) -> Outcome {
        let progress = self.progress;
        if let Some(generated) = progress.generated.filter(|_| self.plan.sets_last_insert_id()) {
            exec.session.last_insert_id = generated;
        }
        let explicit = exec.session.statement.explicit_last_insert_id;
        let last_insert_id = match (progress.generated, explicit) {
            (Some(generated), _) => generated,
            (None, Some(explicit)) => explicit,
            (None, None) if progress.copied + progress.deleted > 0 => progress.last_value,
            (None, None) => 0,
        };
        let updated = match affected {
            AffectedRows::Changed => progress.updated,
            AffectedRows::Found => progress.touched,
        };
        let duplicates = match (self.ignore, &self.plan.source) {
            (Ignore::Yes, _) => progress.records - progress.copied,
            (Ignore::No, InsertRows::Values(_)) => progress.deleted + updated,
            // MariaDB reports changed rows here, even to a client that wants the number of found rows.
            (Ignore::No, _) => progress.deleted + progress.updated,
        };
        let warnings = exec.session.diagnostics.warning_count();
        let info = match one_row {
            true => String::new(),
            false => format!(
                "Records: {}  Duplicates: {duplicates}  Warnings: {warnings}",
                progress.records
            ),
        };
        Outcome {
            result_set: self.plan.returning.is_some(),
            affected_rows: progress.copied + progress.deleted + updated,
            last_insert_id,
            info,
            rows_sent: progress.rows_sent,
        }
    }
}

/// Returns the row of constant defaults, or implicit defaults for columns without one.
fn initial_row(table: &TableDefinition, defaults: &[DefaultPlan]) -> Vec<Value> {
    let columns = table.columns().iter().zip(defaults);
    columns
        .map(|(column, default)| match default {
            DefaultPlan::Value(value) => value.clone(),
            _ if column.nullable => Value::Null,
            _ => implicit_default(&column.data_type),
        })
        .collect()
}
