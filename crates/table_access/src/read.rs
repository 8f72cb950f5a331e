//! Reads: one row by a unique key, and the rows of a part of an index.

use crate::bounds::{IndexBounds, append_key};
use crate::row::{RowRef, ViewHandle};
use crate::view::TableView;
use crate::{Error, Result};
use paceline_storage::{Direction, RowPlacement};
use paceline_txn::{LockMode, LockOutcome, LockWait, Scan, Transaction};
use paceline_types::Value;
use paceline_types::convert::ConvertContext;
use paceline_types::error_code::ER_WRONG_VALUE_COUNT_ON_ROW;
use std::sync::Arc;

/// What a read sees, and what it locks.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum ReadMode {
    /// The transaction's snapshot, without locks; shared locks under SERIALIZABLE.
    #[default]
    Snapshot,
    /// The newest state, each row locked.
    Locked {
        /// Shared or exclusive.
        mode: LockMode,
        /// Behaviour at a row that another transaction has locked.
        wait: LockWait,
    },
}

impl TableView {
    /// Reads the row with this key of a unique index.
    ///
    /// # Errors
    /// 1136 if the index has another number of columns, or is not unique; those of a key's values
    /// ([`IndexBounds`]); those of locks; 1020 if a row to be locked has changed since the transaction's snapshot.
    pub fn get<'t>(
        self: &Arc<Self>,
        transaction: &'t mut Transaction,
        index: usize,
        key: &[Value],
        mode: ReadMode,
        context: &ConvertContext<'_>,
    ) -> Result<Option<RowRef<'t>>> {
        let definition = self.definition();
        let schema = definition.schema();
        let declared = &schema.indexes()[index];
        if key.len() != declared.parts.len() || !definition.indexes()[index].kind.is_unique() {
            return Err(Error::new(ER_WRONG_VALUE_COUNT_ON_ROW, &[&1]));
        }
        let mut found = Vec::with_capacity(32);
        append_key(self, index, key, context, &mut found)?;
        if schema.clustered() != RowPlacement::Key(index) {
            // NULL is in no unique key: such a row is not found by it.
            if key.iter().any(Value::is_null) {
                return Ok(None);
            }
            let mut row_key = Vec::with_capacity(32);
            let entry = match mode {
                ReadMode::Snapshot => transaction.get(&found),
                ReadMode::Locked { .. } => transaction.probe_newest(&found),
            };
            let Some(entry) = entry.map_err(|error| definition.transaction_error(error))? else {
                return Ok(None);
            };
            schema.append_row_key_of_entry(index, &found, &entry, &mut row_key)?;
            found = row_key;
        }
        definition.count_read(Some(index), 1, false);
        match mode {
            ReadMode::Snapshot => {
                let value = transaction.get(&found);
                let value = value.map_err(|error| definition.transaction_error(error))?;
                Ok(value.map(|value| RowRef::of_value(ViewHandle::Shared(self.clone()), value)))
            }
            ReadMode::Locked { mode, wait } => match self.lock_row(transaction, &found, mode, wait)? {
                LockOutcome::Skipped => Ok(None),
                LockOutcome::Granted => {
                    let row = transaction.get_newest(&found);
                    let row = row.map_err(|error| definition.transaction_error(error))?;
                    let Some(row) = row else { return Ok(None) };
                    // The row may have left the unique key while its lock was waited for.
                    if schema.clustered() != RowPlacement::Key(index) {
                        let (mut wanted, mut now) = (Vec::new(), Vec::new());
                        append_key(self, index, key, context, &mut wanted)?;
                        let has_key = schema.append_unique_key(index, row.payload(), &mut now)?;
                        if !has_key || wanted != now {
                            return Ok(None);
                        }
                    }
                    Ok(Some(RowRef::of_value(ViewHandle::Shared(self.clone()), row)))
                }
            },
        }
    }

    fn lock_row(
        &self,
        transaction: &mut Transaction,
        key: &[u8],
        mode: LockMode,
        wait: LockWait,
    ) -> Result<LockOutcome> {
        let locked = transaction.lock(key, mode, wait);
        locked.map_err(|error| self.definition().transaction_error(error))
    }

    /// Scans a part of an index in its order, or backwards.
    ///
    /// # Errors
    /// Those of the bounds' values; those of locks under SERIALIZABLE.
    pub fn scan<'t>(
        self: &Arc<Self>,
        transaction: &'t mut Transaction,
        index: usize,
        bounds: &IndexBounds,
        direction: Direction,
        mode: ReadMode,
        context: &ConvertContext<'_>,
    ) -> Result<RowScan<'t>> {
        let range = bounds.range(self, index, context)?;
        let scan = match (range.is_empty(), mode) {
            (true, _) => Ok(None),
            (false, ReadMode::Snapshot) => transaction.scan(range, direction).map(Some),
            (false, ReadMode::Locked { .. }) => transaction.scan_newest(range, direction).map(Some),
        };
        let scan = scan.map_err(|error| self.definition().transaction_error(error))?;
        Ok(RowScan {
            view: self.clone(),
            transaction,
            scan,
            index,
            is_clustered: self.definition().schema().clustered() == RowPlacement::Key(index),
            mode,
            row_key: Vec::with_capacity(32),
            rows_read: 0,
        })
    }
}

/// A running scan. It sees the rows as they were when it began, except those that it locks.
pub struct RowScan<'t> {
    view: Arc<TableView>,
    transaction: &'t mut Transaction,
    /// `None` if there is nothing in the range.
    scan: Option<Scan>,
    index: usize,
    is_clustered: bool,
    mode: ReadMode,
    row_key: Vec<u8>,
    rows_read: u64,
}

impl RowScan<'_> {
    /// Moves to the next row and lends it; `None` at the end. With `SkipLocked` it passes over locked rows.
    ///
    /// # Errors
    /// Those of [`TableView::get`].
    #[allow(clippy::should_implement_trait)] // it lends
    pub fn next(&mut self) -> Result<Option<RowRef<'_>>> {
        match self.mode {
            ReadMode::Snapshot => self.next_of_snapshot(),
            ReadMode::Locked { mode, wait } => self.next_locked(mode, wait),
        }
    }

    /// Returns the transaction, for example to wait for the publication of what was read under lock.
    pub fn transaction(&mut self) -> &mut Transaction {
        self.transaction
    }

    fn next_of_snapshot(&mut self) -> Result<Option<RowRef<'_>>> {
        let view = &*self.view;
        let Some(scan) = &mut self.scan else {
            return Ok(None);
        };
        loop {
            if !scan.advance()? {
                return Ok(None);
            }
            self.rows_read += 1;
            if self.is_clustered {
                let entry = scan.entry().expect("the scan is on an entry");
                return Ok(Some(RowRef::of_image(view, entry.payload())));
            }
            let entry = scan.entry().expect("the scan is on an entry");
            self.row_key.clear();
            let schema = view.definition().schema();
            schema.append_row_key_of_entry(self.index, entry.key, entry.value, &mut self.row_key)?;
            // The borrow of a found row must not last while others are looked for.
            let exists = self.transaction.get(&self.row_key);
            if exists
                .map_err(|error| view.definition().transaction_error(error))?
                .is_some()
            {
                break;
            }
        }
        let value = self.transaction.get(&self.row_key);
        let value = value.map_err(|error| view.definition().transaction_error(error))?;
        Ok(value.map(|value| RowRef::of_value(ViewHandle::Borrowed(view), value)))
    }

    fn next_locked(&mut self, mode: LockMode, wait: LockWait) -> Result<Option<RowRef<'_>>> {
        let view = &*self.view;
        let definition = view.definition();
        let Some(scan) = &mut self.scan else {
            return Ok(None);
        };
        let schema = definition.schema();
        loop {
            if !scan.advance()? {
                return Ok(None);
            }
            self.rows_read += 1;
            let entry = scan.entry().expect("the scan is on an entry");
            self.row_key.clear();
            schema.append_row_key_of_entry(self.index, entry.key, entry.value, &mut self.row_key)?;
            let mark = self.transaction.lock_mark();
            let locked = view.lock_row(self.transaction, &self.row_key, mode, wait)?;
            if locked == LockOutcome::Skipped {
                continue;
            }
            let row = self.transaction.get_newest(&self.row_key);
            let row = row.map_err(|error| definition.transaction_error(error))?;
            let is_there = match &row {
                None => false,
                Some(_) if self.is_clustered => true,
                // It may have moved within the index while its lock was waited for.
                Some(row) => {
                    let mut now = Vec::with_capacity(entry.key.len());
                    schema.append_entry_key(self.index, row.payload(), &self.row_key, &mut now)?;
                    now == entry.key
                }
            };
            drop(row);
            if is_there {
                break;
            }
            self.transaction.unlock_since(mark);
        }
        let row = self.transaction.get_newest(&self.row_key);
        let row = row.map_err(|error| definition.transaction_error(error))?;
        Ok(row.map(|row| RowRef::of_value(ViewHandle::Borrowed(view), row)))
    }
}

impl Drop for RowScan<'_> {
    fn drop(&mut self) {
        let definition = self.view.definition();
        definition.count_read(Some(self.index), self.rows_read, false);
    }
}
