//! Changes a row, with images in our own layout. Every way of applying rows ends here.
//!
//! ```text
//!   row key: lock, read, compare ─▶ unique keys: lock, look up ─▶ write set ─▶ lock the written keys ─▶ our own event
//! ```

use super::ExecMode;
use super::failure::{Failure, HandlerError};
use super::table::MappedTable;
use paceline_catalog::foreign_key::{ForeignKeyRun, RunMode};
use paceline_catalog::{TableDefinition, duplicate_entry};
use paceline_storage::{Row, RowPlacement};
use paceline_txn::{LockMode, LockWait, RowChange, Transaction, WriteMark};
use paceline_types::error_code::{ER_DUP_ENTRY, ER_KEY_NOT_FOUND};
use paceline_types::{TimeZone, Value, ValueRef};

/// Changes rows. Reuses its buffers from one row to the next.
#[derive(Default)]
pub(super) struct RowChanger {
    /// Key of the row that is being changed.
    key: Vec<u8>,
    /// A unique key.
    unique: Vec<u8>,
    /// The same unique key before the change.
    unique_before: Vec<u8>,
    /// True if foreign key actions are performed here: the primary's events do not contain the rows that they changed
    /// there.
    does_actions: bool,
}

/// Result of searching for the row of an image.
enum RowLookup {
    /// The row is at [`RowChanger::key`], locked, and equals the image.
    Same,
    /// The row at [`RowChanger::key`], locked, differs from the image: this is its own image.
    Other(Vec<u8>),
    /// No row was found.
    Missing(HandlerError),
}

impl RowChanger {
    /// Sets whether foreign key actions are performed here. They are not if the next events contain the rows that the
    /// actions changed on the primary.
    pub(super) fn set_does_actions(&mut self, does_actions: bool) {
        self.does_actions = does_actions;
    }

    /// Performs the foreign key actions of a row change. Refuses nothing: the primary has checked the keys.
    fn run_foreign_key_actions(
        &self,
        table: &MappedTable,
        before: &[u8],
        after: Option<&[u8]>,
        transaction: &mut Transaction,
    ) -> Result<(), Failure> {
        if let (true, Some(keys)) = (self.does_actions, table.foreign_keys()) {
            ForeignKeyRun::new(keys, RunMode::ActionsOnly, table.metadata()).row_changed(
                table.definition(),
                before,
                after,
                transaction,
            )?;
        }
        Ok(())
    }

    /// Inserts a row. Returns whether anything was changed.
    pub(super) fn insert(
        &mut self,
        table: &MappedTable,
        after: &[u8],
        transaction: &mut Transaction,
    ) -> Result<bool, Failure> {
        if keeps_nothing(table) {
            transaction.log_row(table.logged(), RowChange::Insert { after })?;
            return Ok(true);
        }
        let schema = table.schema();
        if let RowPlacement::Key(index) = schema.clustered() {
            self.unique.clear();
            schema.append_row_key(after, &mut self.unique)?;
            self.lock_new_unique_key(table, index, after, transaction)?;
        }
        for index in table.other_unique() {
            self.unique.clear();
            if schema.append_unique_key(*index, after, &mut self.unique)? {
                self.lock_new_unique_key(table, *index, after, transaction)?;
            }
        }
        let mark = transaction.write_mark();
        schema.row_change(None, Some(after), transaction.write_set_mut()?)?;
        self.lock_entries(table, mark, transaction)?;
        transaction.log_row(table.logged(), RowChange::Insert { after })?;
        observe_auto_increment(table.definition(), after);
        Ok(true)
    }

    /// Locks `self.unique` for the new row. If another row holds it, that row is a duplicate or is deleted, depending
    /// on the mode.
    fn lock_new_unique_key(
        &mut self,
        table: &MappedTable,
        index: usize,
        after: &[u8],
        transaction: &mut Transaction,
    ) -> Result<(), Failure> {
        transaction.lock(&self.unique, LockMode::Exclusive, LockWait::Default)?;
        let schema = table.schema();
        match transaction.probe_newest(&self.unique)? {
            None => return Ok(()),
            Some(_) if table.exec_mode() == ExecMode::Strict => {
                return Err(duplicate(table.definition(), index, after));
            }
            Some(value) => {
                self.key.clear();
                schema.append_row_key_of_entry(index, &self.unique, &value, &mut self.key)?;
            }
        }
        transaction.lock(&self.key, LockMode::Exclusive, LockWait::Default)?;
        if let Some(existing) = transaction.newest_image(schema, &self.key)? {
            self.delete_selected(table, &existing, transaction)?;
        }
        Ok(())
    }

    /// Deletes a row. Returns whether anything was changed.
    pub(super) fn delete(
        &mut self,
        table: &MappedTable,
        before: &[u8],
        transaction: &mut Transaction,
    ) -> Result<bool, Failure> {
        if keeps_nothing(table) {
            transaction.log_row(table.logged(), RowChange::Delete { before })?;
            return Ok(true);
        }
        match self.locate(table, before, transaction)? {
            RowLookup::Same => self.delete_selected(table, before, transaction)?,
            RowLookup::Other(found) if table.exec_mode() == ExecMode::Idempotent => {
                self.delete_selected(table, &found, transaction)?;
            }
            RowLookup::Other(_) => return Err(missing(table, HandlerError::RecordChanged)),
            RowLookup::Missing(_) if passes_over_missing(table) => return Ok(false),
            RowLookup::Missing(error) => return Err(missing(table, error)),
        }
        Ok(true)
    }

    /// Updates a row. Returns whether anything was changed.
    pub(super) fn update(
        &mut self,
        table: &MappedTable,
        before: &[u8],
        after: &[u8],
        transaction: &mut Transaction,
    ) -> Result<bool, Failure> {
        if keeps_nothing(table) {
            transaction.log_row(table.logged(), RowChange::Update { before, after })?;
            return Ok(true);
        }
        match self.locate(table, before, transaction)? {
            RowLookup::Same => self.update_selected(table, before, after, transaction),
            RowLookup::Other(found) if table.exec_mode() == ExecMode::Idempotent => {
                self.update_selected(table, &found, after, transaction)
            }
            RowLookup::Other(_) => Err(missing(table, HandlerError::RecordChanged)),
            RowLookup::Missing(_) if passes_over_missing(table) => Ok(false),
            RowLookup::Missing(error) => Err(missing(table, error)),
        }
    }

    /// Selects the row for the next change: the one at `key`, which must be locked.
    pub(super) fn select_row(&mut self, key: &[u8]) {
        self.key.clear();
        self.key.extend_from_slice(key);
    }

    /// Deletes the row selected with [`Self::select_row`]. `before` is its image.
    pub(super) fn delete_selected(
        &mut self,
        table: &MappedTable,
        before: &[u8],
        transaction: &mut Transaction,
    ) -> Result<(), Failure> {
        let mark = transaction.write_mark();
        let row = Row {
            image: before,
            key: Some(&self.key),
        };
        table
            .schema()
            .row_change(Some(row), None, transaction.write_set_mut()?)?;
        self.lock_entries(table, mark, transaction)?;
        transaction.log_row(table.logged(), RowChange::Delete { before })?;
        self.run_foreign_key_actions(table, before, None, transaction)
    }

    /// Updates the row selected with [`Self::select_row`]. `before` is its image. Returns whether anything was changed.
    pub(super) fn update_selected(
        &mut self,
        table: &MappedTable,
        before: &[u8],
        after: &[u8],
        transaction: &mut Transaction,
    ) -> Result<bool, Failure> {
        let schema = table.schema();
        if let RowPlacement::Key(index) = schema.clustered() {
            self.unique.clear();
            schema.append_row_key(after, &mut self.unique)?;
            if self.unique != self.key && !self.lock_changed_unique_key(table, index, after, transaction)? {
                return Ok(false);
            }
        }
        for index in table.other_unique() {
            self.unique.clear();
            self.unique_before.clear();
            if !schema.append_unique_key(*index, after, &mut self.unique)? {
                continue;
            }
            let had = schema.append_unique_key(*index, before, &mut self.unique_before)?;
            if (!had || self.unique != self.unique_before)
                && !self.lock_changed_unique_key(table, *index, after, transaction)?
            {
                return Ok(false);
            }
        }
        let mark = transaction.write_mark();
        let row = Row {
            image: before,
            key: Some(&self.key),
        };
        schema.row_change(Some(row), Some(after), transaction.write_set_mut()?)?;
        self.lock_entries(table, mark, transaction)?;
        transaction.log_row(table.logged(), RowChange::Update { before, after })?;
        observe_auto_increment(table.definition(), after);
        self.run_foreign_key_actions(table, before, Some(after), transaction)?;
        Ok(true)
    }

    /// Locks the keys added to the write set since the mark: entries of secondary indexes, which must respect the
    /// ranges that SERIALIZABLE readers hold. Most changes write only the row's own key, which is locked already.
    fn lock_entries(
        &mut self,
        table: &MappedTable,
        since: WriteMark,
        transaction: &mut Transaction,
    ) -> Result<(), Failure> {
        let writes = transaction.write_set();
        let is_row_alone =
            writes.len() == since.entries() + 1 && writes.nth_key(since.entries()).0 == self.key;
        if !is_row_alone || matches!(table.schema().clustered(), RowPlacement::RowId(_)) {
            transaction.lock_written_since(since)?;
        }
        Ok(())
    }

    /// Locks `self.unique` for a row whose key changes to it. Returns false if another row holds it and the update is
    /// skipped.
    fn lock_changed_unique_key(
        &mut self,
        table: &MappedTable,
        index: usize,
        after: &[u8],
        transaction: &mut Transaction,
    ) -> Result<bool, Failure> {
        transaction.lock(&self.unique, LockMode::Exclusive, LockWait::Default)?;
        match transaction.probe_newest(&self.unique)? {
            None => Ok(true),
            Some(_) if table.exec_mode() == ExecMode::Idempotent => Ok(false),
            Some(_) => Err(duplicate(table.definition(), index, after)),
        }
    }

    /// Finds and locks the row of an image.
    fn locate(
        &mut self,
        table: &MappedTable,
        image: &[u8],
        transaction: &mut Transaction,
    ) -> Result<RowLookup, Failure> {
        let schema = table.schema();
        if let RowPlacement::Key(_) = schema.clustered() {
            self.key.clear();
            schema.append_row_key(image, &mut self.key)?;
            transaction.lock(&self.key, LockMode::Exclusive, LockWait::Default)?;
            let Some(row) = transaction.probe_newest(&self.key)? else {
                return Ok(RowLookup::Missing(HandlerError::KeyNotFound));
            };
            let found = schema.row_image(&row)?;
            return Ok(match *found == *image {
                true => RowLookup::Same,
                false => RowLookup::Other(found.into_owned()),
            });
        }
        match transaction.lock_row_like(schema, image)? {
            None => Ok(RowLookup::Missing(HandlerError::EndOfFile)),
            Some(found) => {
                self.key = found;
                Ok(RowLookup::Same)
            }
        }
    }
}

/// Returns whether the table keeps no rows. As in MariaDB, changes of rows that it never had are logged: replicas of
/// such a server may have them.
fn keeps_nothing(table: &MappedTable) -> bool {
    !table.schema().stores_rows()
}

/// Returns whether missing rows are skipped.
pub(super) fn passes_over_missing(table: &MappedTable) -> bool {
    table.exec_mode() == ExecMode::Idempotent || table.may_miss_rows()
}

/// Returns error 1032 for a missing row.
pub(super) fn missing(table: &MappedTable, error: HandlerError) -> Failure {
    let message = ER_KEY_NOT_FOUND.message(&[&table.definition().name()]);
    Failure::of_row(ER_KEY_NOT_FOUND, message, error)
}

/// Returns error 1032 for a row that was searched by the key of the table, or everywhere in a table without one.
pub(super) fn not_found(table: &MappedTable) -> Failure {
    let error = match table.schema().clustered() {
        RowPlacement::Key(_) | RowPlacement::Single(_) => HandlerError::KeyNotFound,
        RowPlacement::RowId(_) => HandlerError::EndOfFile,
    };
    missing(table, error)
}

/// Returns error 1062 for a unique key that is taken.
fn duplicate(definition: &TableDefinition, index: usize, image: &[u8]) -> Failure {
    let image = definition.schema().image(image);
    let entry = duplicate_entry(definition.description(), index, &TimeZone::UTC, |column| {
        image.column(column).unwrap_or(ValueRef::Null)
    });
    let message = format!(
        "Duplicate entry '{entry}' for key '{}'",
        definition.indexes()[index].name
    );
    Failure::of_row(ER_DUP_ENTRY, message, HandlerError::DuplicateKey)
}

/// Makes the counter of generated values account for the row's AUTO_INCREMENT value.
fn observe_auto_increment(definition: &TableDefinition, image: &[u8]) {
    let Some(column) = definition.auto_increment_column() else {
        return;
    };
    if definition.auto_increment().known().is_none() {
        return; // The counter will be initialized from the data.
    }
    if let Ok(value) = definition.schema().image(image).column(column) {
        match value.into_owned() {
            Value::Int(value) => definition
                .auto_increment()
                .observe(u64::try_from(value).unwrap_or(0)),
            Value::UInt(value) => definition.auto_increment().observe(value),
            _ => {}
        }
    }
}
