//! Writing: into the private write set, and into the binlog cache.

use super::{Transaction, TransactionMark};
use crate::error::Result;
use crate::event_cache::RowChange;
use crate::lock::{Granted, LockMode, LockWait};
use paceline_binlog::LoggedTable;
use paceline_binlog::event::RowsFlags;
use paceline_storage::{
    Direction, EngineKind, KeyRange, Row, RowReader, TableSchema, ValueVersion, WriteSet,
};

impl Transaction {
    /// What the transaction will write. Whoever writes a key has locked it exclusively; keys that the lock step of a
    /// statement does not know one by one (entries of secondary indexes) are locked by [`Transaction::lock_written_since`].
    ///
    /// # Errors
    /// [`crate::Error::RolledBack`].
    pub fn write_set_mut(&mut self) -> Result<&mut WriteSet> {
        self.check_active()?;
        Ok(&mut self.writes)
    }

    /// What the transaction has written so far.
    pub fn write_set(&self) -> &WriteSet {
        &self.writes
    }

    /// Gives a key a value (without version). The key is locked exclusively first, if it is not yet.
    ///
    /// # Errors
    /// Those of [`Transaction::lock`].
    pub fn put(&mut self, key: &[u8], payload: &[u8]) -> Result<()> {
        self.lock(key, LockMode::Exclusive, LockWait::Default)?;
        self.writes.put(key, payload);
        Ok(())
    }

    /// Deletes a key, which is locked exclusively first, if it is not yet.
    ///
    /// # Errors
    /// Those of [`Transaction::lock`].
    pub fn delete(&mut self, key: &[u8]) -> Result<()> {
        self.lock(key, LockMode::Exclusive, LockWait::Default)?;
        self.writes.delete(key);
        Ok(())
    }

    /// Logs a row's change. The statement is running.
    ///
    /// # Errors
    /// [`crate::Error::CacheFull`] (1197): the statement is to be rolled back.
    pub fn log_row(&mut self, table: &LoggedTable, change: RowChange<'_>) -> Result<()> {
        self.check_active()?;
        assert!(self.statement.is_some(), "rows are logged by statements");
        self.session.owner.count_row();
        let written = self.writes.memory_bytes();
        self.events.log_row(&self.core, table, change, written)?;
        if self.events.is_large() {
            self.spill_writes()?;
        }
        Ok(())
    }

    /// A large transaction's rows go on in a file, as its events do.
    fn spill_writes(&mut self) -> Result<()> {
        if !self.writes.is_spilled() && !self.rows_stay_in_memory {
            match (self.core.storage.spill_file(), self.core.next_mark()) {
                (Ok(file), Some(mark)) => self.writes.spill_to(file, ValueVersion::Mark(mark)),
                (Ok(_), None) => self.rows_stay_in_memory = true,
                (Err(error), _) => {
                    tracing::warn!("the rows of a large transaction stay in memory: {error}");
                    self.rows_stay_in_memory = true;
                }
            }
        }
        Ok(self.writes.write_spilled()?)
    }

    /// Announces a table whose rows the statement may change. Statements that change several tables call it for each, before
    /// their first row: a replica opens all tables of a statement with its first rows event.
    pub fn map_table(&mut self, table: &LoggedTable) {
        self.events.map_table(table);
    }

    /// The rows of the running statement are what foreign keys left of it: who applies them neither checks foreign keys nor does what they ask for
    /// ([`RowsFlags::NO_FOREIGN_KEY_CHECKS`]). To be called before the statement's first row.
    pub fn set_no_foreign_key_checks(&mut self) {
        self.events
            .add_row_flags(RowsFlags(RowsFlags::NO_FOREIGN_KEY_CHECKS));
    }

    /// A place within the running statement to come back to: what one row brings with it may be undone without the statement
    /// (IGNORE). To the log the statement ends here and goes on as another.
    pub fn row_mark(&mut self) -> RowMark {
        RowMark(self.mark())
    }

    /// Undoes what the statement has written since the mark. Locks stay.
    pub fn roll_back_to_row(&mut self, mark: RowMark) {
        self.roll_back_to(mark.0);
    }

    /// The keys in the write set, as a place for [`Transaction::lock_written_since`].
    pub fn write_mark(&self) -> WriteMark {
        WriteMark(self.writes.len())
    }

    /// Locks, exclusively, every key that came into the write set since the mark: what makes a new entry of a secondary index
    /// respect the ranges that SERIALIZABLE readers hold. Keys locked before cost little; keys that carry the id of a row
    /// without a primary key are locked under this session's name, since others cannot mean them.
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
                Granted::Granted,
                "a lock that may be waited for is not skipped"
            );
        }
        Ok(())
    }
}

/// A place within a statement: see [`Transaction::row_mark`].
#[derive(Clone, Copy)]
pub struct RowMark(TransactionMark);

/// How many keys a write set had at some moment.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct WriteMark(usize);

impl WriteMark {
    /// That number.
    pub fn entries(self) -> usize {
        self.0
    }
}

impl Transaction {
    /// Writes a row with all its index entries, and locks those entries that were not locked one by one. The row's own key and the
    /// values of unique keys, before and after, are locked and checked by the caller; the change is logged by
    /// [`Transaction::log_row`], unless the table is temporary.
    ///
    /// # Errors
    /// If an image is not one of this table; [`crate::Error::Storage`] (1114) where temporary tables have no room; those of [`Transaction::lock`].
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
            self.note_newer_row(schema, before, after)?;
        }
        let mark = self.write_mark();
        schema.row_change(before, after, &mut self.writes)?;
        self.lock_written_since(mark)
    }

    /// In a table without a key to live under, the row that is meant by an image, locked exclusively: of those that look the same the first, as for who
    /// replays the log ([`TableSchema::find_row`]). `None` if there is none, or the table has a key.
    ///
    /// # Errors
    /// Those of [`Transaction::lock`] and [`Transaction::get_newest`].
    pub fn lock_row_like(&mut self, schema: &TableSchema, image: &[u8]) -> Result<Option<Vec<u8>>> {
        while let Some(found) = schema.find_row(image, self)? {
            self.lock(&found, LockMode::Exclusive, LockWait::Default)?;
            // It may have gone while its lock was waited for; then another one is meant.
            let newest = self.get_newest(&found)?;
            if newest.is_some_and(|row| row.payload() == image) {
                return Ok(Some(found));
            }
        }
        Ok(None)
    }
}

/// What [`TableSchema::find_row`] needs: the newest state under this transaction's own writes.
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
