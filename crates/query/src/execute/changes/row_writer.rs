//! Changes of single rows: unique keys, indexes, row events.
//!
//! All changes of rows use this module, so that locks, unique checks, index entries and row events are always
//! consistent:
//!
//! ```text
//!   unique keys: lock, look ─▶ write set (row and index entries) ─▶ lock what was written ─▶ row event with whole images
//!   foreign keys: parents, index by index ─┘                              actions, checks of children ─┘
//! ```
//! [`paceline_catalog::foreign_key`] implements the actions and checks of foreign keys.

use std::sync::Arc;

use paceline_binlog::LoggedTable;
use paceline_storage::{Row, TableSchema};
use paceline_txn::{LockMode, LockWait, RowChange, Transaction};
use paceline_types::error_code::{ER_DUP_ENTRY, ER_RECORD_FILE_FULL, ER_UNKNOWN_ERROR};
use paceline_types::table_map_metadata::RowMetadata;
use paceline_types::{TimeZone, Value};

use super::assignment::Ignore;
use super::auto_increment::know_next;
use crate::error::{Error, Result};
use crate::execute::context::RowHandle;
use crate::plan::tree::SelectPlan;
use paceline_catalog::foreign_key::{
    ForeignKeyRun, ForeignKeys, Parent, ResolvedKey, RunMode, is_foreign_key_error,
};
use paceline_catalog::{RowCounts, TableDefinition, duplicate_entry};
use paceline_expression::session::{BinlogFormat, SessionContext};

/// State shared by the row writers of a statement.
#[derive(Debug, Clone)]
pub(crate) struct WriteOptions {
    /// Foreign keys of the tables that the statement changes, if they are checked (`foreign_key_checks`).
    pub foreign_keys: Option<Arc<ForeignKeys>>,
    /// Metadata of the table maps in the log.
    pub metadata: RowMetadata,
    /// Whether changes count in the statistics of users.
    pub user_statistics: bool,
}

impl WriteOptions {
    /// Returns whether actions of foreign keys may change rows besides the statement itself.
    pub fn may_act(&self) -> bool {
        self.foreign_keys.as_ref().is_some_and(|keys| keys.may_act())
    }
}

/// Writer for the rows of one table.
pub(crate) struct RowWriter<'d> {
    pub definition: &'d TableDefinition,
    schema: &'d TableSchema,
    /// The table in the log; `None` for a temporary table.
    logged: Option<&'d LoggedTable>,
    /// Unique indexes to check, in the order of the checks.
    unique: Vec<usize>,
    /// Foreign keys of the table, if there are any and they are checked.
    foreign_keys: Option<Arc<ForeignKeys>>,
    /// Whether the tables that actions may change must still be announced in the log.
    announcement_is_due: bool,
    metadata: RowMetadata,
    key: Vec<u8>,
    image: Vec<u8>,
    /// Index by which the statement finds the rows.
    found_by: Option<usize>,
    /// Rows that were changed.
    written: RowCounts,
    user_statistics: bool,
}

impl Drop for RowWriter<'_> {
    fn drop(&mut self) {
        if self.written.writes() > 0 {
            (self.definition).count_writes(self.found_by, self.written, self.user_statistics);
        }
    }
}

/// Result of an insert.
#[derive(Debug)]
pub(crate) enum InsertOutcome {
    /// The row was inserted.
    Done,
    /// A unique index already contains the key.
    Duplicate {
        /// Position of the index in the definition.
        index: usize,
        /// Clustered key of the conflicting row.
        row_key: Vec<u8>,
    },
}

/// Result of an update.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum UpdateOutcome {
    /// The row already had these values.
    Unchanged,
    /// The row was changed.
    Changed,
    /// This unique index already contains the new key.
    Duplicate(usize),
}

/// Warns that an UPDATE or DELETE of tables that keep nothing finds no rows to log, as in MariaDB.
pub(crate) fn warn_of_nothing<'t>(
    session: &mut SessionContext,
    statement: &str,
    tables: impl Iterator<Item = &'t TableDefinition>,
) {
    if session.settings.binlog_format != BinlogFormat::Row {
        return;
    }
    let names: Vec<&str> = tables
        .filter(|table| !table.schema().stores_rows())
        .map(|table| table.name())
        .collect();
    if !names.is_empty() {
        let message = format!(
            "Row events are not logged for {statement} statements that modify BLACKHOLE tables in row format. Table(s): '{}.'",
            names.join(",")
        );
        session.diagnostics.warn(ER_UNKNOWN_ERROR, message);
    }
}

impl<'d> RowWriter<'d> {
    /// Creates a writer for inserting, or for updating any columns.
    pub fn new(options: &WriteOptions, definition: &'d TableDefinition) -> Self {
        Self::with_unique(options, definition, |_| true)
    }

    /// Creates a writer for updating these columns only.
    pub fn for_columns(options: &WriteOptions, definition: &'d TableDefinition, columns: &[usize]) -> Self {
        Self::with_unique(options, definition, |index| {
            definition.indexes()[index]
                .parts
                .iter()
                .any(|part| columns.contains(&part.column))
        })
    }

    fn with_unique(
        options: &WriteOptions,
        definition: &'d TableDefinition,
        wanted: impl Fn(usize) -> bool,
    ) -> Self {
        // A table that keeps nothing has no duplicates.
        let keeps_rows = definition.schema().stores_rows();
        let unique = (0..definition.indexes().len())
            .filter(|_| keeps_rows)
            .filter(|&index| definition.indexes()[index].kind.is_unique() && wanted(index))
            .collect();
        let metadata = options.metadata;
        RowWriter {
            definition,
            schema: definition.schema(),
            logged: (!definition.is_temporary()).then(|| definition.logged(metadata)),
            unique,
            foreign_keys: (options.foreign_keys.clone()).filter(|keys| keys.of(definition).is_some()),
            announcement_is_due: options.may_act(),
            metadata,
            key: Vec::with_capacity(64),
            image: Vec::with_capacity(256),
            found_by: None,
            written: RowCounts::default(),
            user_statistics: options.user_statistics,
        }
    }

    /// Sets the index by which the statement finds the rows of one of a plan's tables.
    pub fn found_by(mut self, select: &SelectPlan, table: usize) -> Self {
        for step in &select.steps {
            step.source.for_each_access(&mut |access| {
                if access.table == table {
                    self.found_by = access.path.index();
                }
            });
        }
        self
    }

    /// Writes the table map before any rows, for statements that change several tables.
    pub fn announce(&mut self, transaction: &mut Transaction) {
        if let Some(logged) = self.logged {
            transaction.map_table(logged);
        }
        if std::mem::take(&mut self.announcement_is_due)
            && let Some(keys) = self.foreign_keys.clone()
        {
            self.key_run(&keys).announce(transaction);
        }
    }

    fn key_run<'k>(&self, keys: &'k ForeignKeys) -> ForeignKeyRun<'k> {
        ForeignKeyRun::new(keys, RunMode::Full, self.metadata)
    }

    /// Returns whether foreign keys of other tables refer to this table, so that a change may be forbidden or change
    /// other rows.
    pub fn is_referenced(&self) -> bool {
        let keys = self
            .foreign_keys
            .as_ref()
            .and_then(|keys| keys.of(self.definition));
        keys.is_some_and(|keys| !keys.referring.is_empty())
    }

    /// Checks the parents of a row to be written, for the foreign keys that use these indexes.
    fn check_parents(
        &self,
        transaction: &mut Transaction,
        before: Option<&[u8]>,
        indexes: std::ops::Range<usize>,
    ) -> Result<()> {
        let Some(keys) = &self.foreign_keys else {
            return Ok(());
        };
        let Some(own) = keys.of(self.definition).filter(|keys| !keys.own.is_empty()) else {
            return Ok(());
        };
        let wanted = |key: &ResolvedKey| indexes.contains(&key.index);
        self.key_run(keys)
            .check_parents(own, before, &self.image, wanted, transaction)
    }

    /// Checks whether references to the row forbid an update, for the foreign keys that use these indexes.
    fn check_children(
        &self,
        transaction: &mut Transaction,
        before: &[u8],
        indexes: std::ops::Range<usize>,
    ) -> Result<()> {
        if !self.is_referenced() {
            return Ok(());
        }
        let Some((keys, own)) = self
            .foreign_keys
            .as_ref()
            .and_then(|keys| Some((keys, keys.of(self.definition)?)))
        else {
            return Ok(());
        };
        let wanted = |parent: &Parent| indexes.contains(&parent.index);
        self.key_run(keys)
            .check_children(own, before, &self.image, wanted, transaction)
    }

    /// Executes the actions of other tables' foreign keys after the row was written.
    fn follow(&self, transaction: &mut Transaction, before: &[u8], after: Option<&[u8]>) -> Result<()> {
        if !self.is_referenced() {
            return Ok(());
        }
        let Some(keys) = &self.foreign_keys else {
            return Ok(());
        };
        self.key_run(keys)
            .row_changed(self.definition, before, after, transaction)
    }

    /// Encodes a row.
    fn encode(&mut self, values: &[Value]) -> Result<()> {
        self.image.clear();
        self.schema.encode_row(values, &mut self.image)?;
        Ok(())
    }

    /// Inserts a row. The values must have their columns' types.
    pub fn insert(&mut self, transaction: &mut Transaction, values: &[Value]) -> Result<InsertOutcome> {
        self.encode(values)?;
        let mut checked = 0;
        for place in 0..self.unique.len() {
            let index = self.unique[place];
            self.check_parents(transaction, None, checked..index + 1)?;
            checked = index + 1;
            self.key.clear();
            if !self.schema.append_unique_key(index, &self.image, &mut self.key)? {
                continue;
            }
            transaction.lock(&self.key, LockMode::Exclusive, LockWait::Default)?;
            if let Some(value) = transaction.probe_newest(&self.key)? {
                let mut row_key = Vec::with_capacity(self.key.len());
                self.schema
                    .append_row_key_of_entry(index, &self.key, &value, &mut row_key)?;
                return Ok(InsertOutcome::Duplicate { index, row_key });
            }
        }
        self.check_parents(transaction, None, checked..usize::MAX)?;
        self.announce_if_due(transaction);
        let change = RowChange::Insert { after: &self.image };
        self.write(transaction, None, Some(&self.image), change)?;
        self.written.inserts += 1;
        Ok(InsertOutcome::Done)
    }

    /// Locks and reads the row that conflicts with an insert. Returns `None` if it has disappeared.
    pub fn conflicting_row(
        &self,
        transaction: &mut Transaction,
        row_key: &[u8],
    ) -> Result<Option<RowHandle>> {
        transaction.lock(row_key, LockMode::Exclusive, LockWait::Default)?;
        let value = transaction
            .get_newest(row_key)
            .map_err(|error| self.definition.transaction_error(error))?;
        let Some(value) = value else { return Ok(None) };
        Ok(Some(RowHandle {
            key: row_key.to_vec(),
            image: self.schema.row_image(&value)?.into_owned(),
            present: true,
        }))
    }

    /// Changes the values of a row.
    pub fn update(
        &mut self,
        transaction: &mut Transaction,
        row: &RowHandle,
        values: &[Value],
    ) -> Result<UpdateOutcome> {
        self.encode(values)?;
        if self.image == row.image {
            return Ok(UpdateOutcome::Unchanged);
        }
        let key = self.actual_row(transaction, row)?;
        let key = key.as_deref().unwrap_or(&row.key);
        let mut checked = 0;
        for place in 0..self.unique.len() {
            let index = self.unique[place];
            self.check_children(transaction, &row.image, checked..index + 1)?;
            self.check_parents(transaction, Some(&row.image), checked..index + 1)?;
            checked = index + 1;
            self.key.clear();
            if !self.schema.append_unique_key(index, &self.image, &mut self.key)? {
                continue;
            }
            let mut before = Vec::with_capacity(self.key.len());
            if self.schema.append_unique_key(index, &row.image, &mut before)? && before == self.key {
                continue;
            }
            transaction.lock(&self.key, LockMode::Exclusive, LockWait::Default)?;
            if transaction.probe_newest(&self.key)?.is_some() {
                return Ok(UpdateOutcome::Duplicate(index));
            }
        }
        self.check_children(transaction, &row.image, checked..usize::MAX)?;
        self.check_parents(transaction, Some(&row.image), checked..usize::MAX)?;
        know_next(transaction, self.definition)?;
        self.announce_if_due(transaction);
        let before = Row {
            image: &row.image,
            key: Some(key),
        };
        let change = RowChange::Update {
            before: &row.image,
            after: &self.image,
        };
        self.write(transaction, Some(before), Some(&self.image), change)?;
        self.written.updates += 1;
        self.follow(transaction, &row.image, Some(&self.image))?;
        Ok(UpdateOutcome::Changed)
    }

    /// Deletes a row.
    pub fn delete(&mut self, transaction: &mut Transaction, row: &RowHandle) -> Result<()> {
        let key = self.actual_row(transaction, row)?;
        let key = key.as_deref().unwrap_or(&row.key);
        know_next(transaction, self.definition)?;
        self.announce_if_due(transaction);
        let before = Row {
            image: &row.image,
            key: Some(key),
        };
        let change = RowChange::Delete { before: &row.image };
        self.write(transaction, Some(before), None, change)?;
        self.written.deletes += 1;
        self.follow(transaction, &row.image, None)
    }

    fn announce_if_due(&mut self, transaction: &mut Transaction) {
        if self.announcement_is_due {
            self.announce(transaction);
        }
    }

    /// Runs `change`, which foreign keys may forbid. If IGNORE is set it is undone then, and the inner result is the
    /// error.
    pub fn or_passed_over<T>(
        &mut self,
        transaction: &mut Transaction,
        ignore: Ignore,
        change: impl FnOnce(&mut Self, &mut Transaction) -> Result<T>,
    ) -> Result<std::result::Result<T, Error>> {
        if ignore == Ignore::No || self.foreign_keys.is_none() {
            return change(self, transaction).map(Ok);
        }
        // Only actions can have done something before the failure.
        let mark = self.is_referenced().then(|| transaction.row_mark());
        match change(self, transaction) {
            Err(error) if is_foreign_key_error(&error) => {
                if let Some(mark) = mark {
                    transaction.roll_back_to_row(mark);
                }
                Ok(Err(error))
            }
            done => done.map(Ok),
        }
    }

    /// Updates the image of a row that was found earlier, because actions may have changed or deleted it. Returns false
    /// if it has disappeared.
    pub fn refresh(&self, transaction: &mut Transaction, row: &mut RowHandle) -> Result<bool> {
        match transaction.newest_image(self.schema, &row.key)? {
            Some(image) => {
                row.image = image;
                Ok(true)
            }
            // An identical row may have been deleted under its key.
            None => Ok(self.schema.find_row(&row.image, transaction)?.is_some()),
        }
    }

    /// Writes a row with its index entries, and logs it.
    fn write(
        &self,
        transaction: &mut Transaction,
        before: Option<Row<'_>>,
        after: Option<&[u8]>,
        change: RowChange<'_>,
    ) -> Result<()> {
        let written = transaction.write_row(self.schema, before, after);
        match self.logged {
            Some(logged) => {
                written?;
                Ok(transaction.log_row(logged, change)?)
            }
            None => written.map_err(|error| match error.error_code() {
                ER_RECORD_FILE_FULL => Error::new(ER_RECORD_FILE_FULL, &[&self.definition.name()]),
                _ => error.into(),
            }),
        }
    }

    /// Locks the row that is meant in a table without a primary key, among identical rows. Returns its key.
    fn actual_row(&self, transaction: &mut Transaction, row: &RowHandle) -> Result<Option<Vec<u8>>> {
        let meant = transaction.lock_row_like(self.schema, &row.image);
        meant.map_err(|error| self.definition.transaction_error(error))
    }

    /// Returns 1062 for the row of a rejected insert or update.
    pub fn duplicate_error(&self, zone: &TimeZone, index: usize, values: &[Value]) -> Error {
        let entry = duplicate_entry(self.definition.description(), index, zone, |column| {
            values[column].as_ref()
        });
        let name = &self.definition.indexes()[index].name;
        Error::with_message(
            ER_DUP_ENTRY,
            format!("Duplicate entry '{entry}' for key '{name}'"),
        )
    }
}
