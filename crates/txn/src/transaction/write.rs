//! Writes: into the private write set, and into the binlog cache.

use super::{Transaction, TransactionMark};
use crate::error::Result;
use crate::event_cache::RowChange;
use crate::lock::{LockMode, LockOutcome, LockWait};
use paceline_binlog::LoggedTable;
use paceline_binlog::event::RowsFlags;
use paceline_storage::{
    Direction, EngineKind, KeyRange, Row, RowReader, TableSchema, ValueVersion, WriteSet,
};

impl Transaction {
    /// Returns the write set for changes. The caller must hold an exclusive lock on every key that it writes.
    /// Keys that the statement's lock step does not know one by one (entries of secondary indexes) are locked
    /// by [`Transaction::lock_written_since`].
    ///
    /// # Errors
    /// [`crate::Error::RolledBack`].
    pub fn write_set_mut(&mut self) -> Result<&mut WriteSet> {
        self.check_active()?;
        Ok(&mut self.writes)
    }

    /// Returns what the transaction has written so far.
    pub fn write_set(&self) -> &WriteSet {
        &self.writes
    }

    /// Sets the value of a key (without version). Locks the key exclusively first, if it is not locked yet.
    ///
    /// # Errors
    /// Those of [`Transaction::lock`].
    pub fn put(&mut self, key: &[u8], payload: &[u8]) -> Result<()> {
        self.lock(key, LockMode::Exclusive, LockWait::Default)?;
        self.writes.put(key, payload);
        Ok(())
    }

    /// Deletes a key. Locks it exclusively first, if it is not locked yet.
    ///
    /// # Errors
    /// Those of [`Transaction::lock`].
    pub fn delete(&mut self, key: &[u8]) -> Result<()> {
        self.lock(key, LockMode::Exclusive, LockWait::Default)?;
        self.writes.delete(key);
        Ok(())
    }

    /// Logs a row change. A statement must be running.
    ///
    /// # Errors
    /// [`crate::Error::CacheFull`] (1197): the statement must be rolled back.
    pub fn log_row(&mut self, table: &LoggedTable, change: RowChange<'_>) -> Result<()> {
        self.check_active()?;
        assert!(self.statement.is_some(), "rows are logged by statements");
        self.session.owner.count_row();
        let written = self.writes.memory_bytes();
        self.events.log_row(&self.core, table, change, written)?;
        self.session
            .owner
            .set_change_bytes(written + self.events.memory_bytes());
        if self.events.is_large() {
            self.spill_writes()?;
        }
        Ok(())
    }

    /// Continues the rows of a large transaction in a file, like its events.
    fn spill_writes(&mut self) -> Result<()> {
        if !self.writes.is_spilled() && !self.rows_stay_in_memory {
            match (self.core.storage.spill_file(), self.core.next_mark()) {
                (Ok(file), Some(mark)) => {
                    self.writes.spill_to(file, ValueVersion::Mark(mark.mark()));
                    self.open_mark = Some(mark);
                }
                (Ok(_), None) => self.rows_stay_in_memory = true,
                (Err(error), _) => {
                    tracing::warn!("the rows of a large transaction stay in memory: {error}");
                    self.rows_stay_in_memory = true;
                }
            }
        }
        Ok(self.writes.write_spilled()?)
    }

    /// Announces a table whose rows the statement may change. Statements that change several tables call this
    /// for each of them, before their first row: a replica opens all tables of a statement with its first rows
    /// event.
    pub fn map_table(&mut self, table: &LoggedTable) {
        self.events.map_table(table);
    }

    /// Marks the rows of the running statement as complete with respect to foreign keys: a replica neither
    /// checks foreign keys for them nor executes their actions ([`RowsFlags::NO_FOREIGN_KEY_CHECKS`]). Must be
    /// called before the statement's first row.
    pub fn set_no_foreign_key_checks(&mut self) {
        self.events
            .add_row_flags(RowsFlags(RowsFlags::NO_FOREIGN_KEY_CHECKS));
    }

    /// Returns a mark within the running statement to roll back to: the effects of one row may be undone
    /// without the statement (IGNORE). In the log the statement ends here and continues as another one.
    pub fn row_mark(&mut self) -> RowMark {
        RowMark(self.mark())
    }

    /// Undoes what the statement has written since the mark. Locks stay.
    pub fn roll_back_to_row(&mut self, mark: RowMark) {
        self.roll_back_to(mark.0);
    }

    /// Returns the number of keys in the write set, for [`Transaction::lock_written_since`].
    pub fn write_mark(&self) -> WriteMark {
        WriteMark(self.writes.len())
    }

    /// Locks exclusively every key that was added to the write set since the mark, so that a new entry of a
    /// secondary index respects the ranges that SERIALIZABLE readers hold. Keys that are already locked cost
    /// little. Keys that contain the id of a row without a primary key are locked under this session's id,
    /// since no other transaction can refer to them.
    ///
    /// # Errors
    /// Those of [`Transaction::lock`].
    pub fn lock_written_since(&mut self, mark: WriteMark) -> Result<()> {
        let mut key = Vec::new();
        for number in mark.0..self.writes.len() {
            key.clear();
            let (bytes, is_placeholder) = self.writes.nth_key(number);
            key.extend_from_slice(bytes);
            if is_placeholder {
                key.extend_from_slice(&self.session.owner.id().to_be_bytes());
            }
            let granted = self.lock(&key, LockMode::Exclusive, LockWait::Default)?;
            assert_eq!(
                granted,
                LockOutcome::Granted,
                "a lock that may be waited for is not skipped"
            );
        }
        Ok(())
    }
}

/// Position within a statement: see [`Transaction::row_mark`].
#[derive(Clone, Copy)]
pub struct RowMark(TransactionMark);

/// Number of keys in a write set at some moment.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct WriteMark(usize);

impl WriteMark {
    /// Returns the number of keys.
    pub fn entries(self) -> usize {
        self.0
    }
}

impl Transaction {
    /// Writes a row with all its index entries, and locks those entries that were not locked one by one. The
    /// caller locks and checks the row's own key and the values of unique keys, before and after.
    /// [`Transaction::log_row`] logs the change, unless the table is temporary.
    ///
    /// # Errors
    /// If an image does not fit this table; [`crate::Error::Storage`] (1114) where temporary tables have no
    /// room; those of [`Transaction::lock`].
    pub fn write_row(
        &mut self,
        schema: &TableSchema,
        before: Option<Row<'_>>,
        after: Option<&[u8]>,
    ) -> Result<()> {
        self.check_active()?;
        if schema.clustered_id().engine() == EngineKind::Temporary {
            schema.row_change(before, after, self.temporary_writes().set_mut())?;
            return self.charge_temporary();
        }
        if self.writes_newer_rows() {
            self.record_newer_row(schema, before, after)?;
        }
        let mark = self.write_mark();
        schema.row_change(before, after, &mut self.writes)?;
        self.lock_written_since(mark)
    }

    /// Locks exclusively, and returns, the key of the row that an image refers to in a table without a primary
    /// key: the first of the identical ones, as in a replay of the log ([`TableSchema::find_row`]). Returns
    /// `None` if there is none, or the table has a key.
    ///
    /// # Errors
    /// Those of [`Transaction::lock`] and [`Transaction::get_newest`].
    pub fn lock_row_like(&mut self, schema: &TableSchema, image: &[u8]) -> Result<Option<Vec<u8>>> {
        while let Some(found) = schema.find_row(image, self)? {
            self.lock(&found, LockMode::Exclusive, LockWait::Default)?;
            // The row may have been deleted while its lock was waited for; then the image refers to another
            // one.
            let newest = self.get_newest(&found)?;
            if newest.is_some_and(|row| row.payload() == image) {
                return Ok(Some(found));
            }
        }
        Ok(None)
    }
}

/// Reads the newest state under this transaction's own writes, as [`TableSchema::find_row`] needs it.
impl RowReader for Transaction {
    type Error = crate::Error;

    fn visit_keys(&mut self, range: KeyRange, visit: &mut dyn FnMut(&[u8]) -> bool) -> Result<()> {
        let mut scan = self.scan_newest(range, Direction::Forward)?;
        while let Some(entry) = scan.next()? {
            if !visit(entry.key) {
                break;
            }
        }
        Ok(())
    }

    fn get(&mut self, key: &[u8], value: &mut Vec<u8>) -> Result<bool> {
        value.clear();
        match self.probe_newest(key)? {
            Some(found) => {
                value.extend_from_slice(&found);
                Ok(true)
            }
            None => Ok(false),
        }
    }
}
