//! Reads: one row by a unique key, and the rows of a part of an index.

use crate::bounds::{IndexBounds, append_key};
use crate::row::{RowRef, ViewHandle};
use crate::view::TableView;
use crate::{Error, Result};
use paceline_storage::{Direction, KeyRange, RowPlacement};
use paceline_txn::{LockMode, LockOutcome, LockWait, Scan, Transaction};
use paceline_types::Value;
use paceline_types::convert::ConvertContext;
use paceline_types::error_code::ER_WRONG_VALUE_COUNT_ON_ROW;
use std::borrow::Cow;
use std::sync::Arc;

/// State that a read sees, and its locks. Rows that are read under lock are published before they are returned
/// (invariant 6).
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
                let of_value = |value| RowRef::of_value(ViewHandle::Shared(self.clone()), value);
                value.map(of_value).transpose()
            }
            ReadMode::Locked { mode, wait } => match self.lock_row(transaction, &found, mode, wait)? {
                LockOutcome::Skipped => Ok(None),
                LockOutcome::Granted => {
                    let newest = transaction.get_newest(&found).map(drop);
                    newest.map_err(|error| definition.transaction_error(error))?;
                    transaction.wait_reads_published();
                    let row = transaction.get_newest(&found);
                    let row = row.map_err(|error| definition.transaction_error(error))?;
                    let Some(row) = row else { return Ok(None) };
                    // The row may have left the unique key while its lock was waited for.
                    if schema.clustered() != RowPlacement::Key(index) {
                        let (mut wanted, mut now) = (Vec::new(), Vec::new());
                        append_key(self, index, key, context, &mut wanted)?;
                        let image = schema.row_image(&row)?;
                        let has_key = schema.append_unique_key(index, &image, &mut now)?;
                        if !has_key || wanted != now {
                            return Ok(None);
                        }
                    }
                    RowRef::of_value(ViewHandle::Shared(self.clone()), row).map(Some)
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

    /// Scans parts of an index, one after the other, each in the index's order or backwards, with one cursor. Of each
    /// part there are at most `limit` rows.
    ///
    /// # Errors
    /// Those of the bounds' values; those of locks under SERIALIZABLE.
    pub fn scan<'t>(
        self: &Arc<Self>,
        transaction: &'t mut Transaction,
        parts: &IndexParts<'_>,
        mode: ReadMode,
        context: &ConvertContext<'_>,
    ) -> Result<RowScan<'t>> {
        let cursor = self.open_cursor(transaction, parts, mode, context)?;
        Ok(RowScan { cursor, transaction })
    }

    /// Opens a cursor before the rows of [`scan`](Self::scan). The transaction is free between two rows.
    ///
    /// # Errors
    /// Those of `scan`.
    pub fn open_cursor(
        self: &Arc<Self>,
        transaction: &mut Transaction,
        parts: &IndexParts<'_>,
        mode: ReadMode,
        context: &ConvertContext<'_>,
    ) -> Result<IndexCursor> {
        let &IndexParts {
            index,
            bounds,
            direction,
            limit,
        } = parts;
        let ranges = bounds.iter().map(|bounds| bounds.range(self, index, context));
        let mut ranges = ranges.collect::<Result<Vec<KeyRange>>>()?;
        ranges.retain(|range| !range.is_empty());
        let start = ranges.iter().map(|range| &range.start).min();
        let end = ranges.iter().map(|range| &range.end).max();
        let all = start
            .zip(end)
            .map(|(start, end)| KeyRange::new(start.clone(), end.clone()));
        let scan = match all {
            None => Ok(None),
            Some(all) => match mode {
                // Only the parts are locked.
                ReadMode::Snapshot if transaction.reads_lock() => ranges
                    .iter()
                    .try_for_each(|range| transaction.lock_range(range, LockWait::Default).map(drop))
                    .and_then(|()| transaction.scan_newest(all, direction).map(Some)),
                ReadMode::Snapshot => transaction.scan(all, direction).map(Some),
                ReadMode::Locked { .. } => transaction.scan_newest(all, direction).map(Some),
            },
        };
        let scan = scan.map_err(|error| self.definition().transaction_error(error))?;
        let rows = scan.map(|scan| PartScan {
            // The only part is all of the scan.
            is_placed: ranges.len() == 1,
            scan,
            parts: ranges,
            part: 0,
            direction,
            left: limit,
            limit,
        });
        Ok(self.cursor_of(rows, index, mode))
    }

    /// Opens a cursor that [`IndexCursor::move_to`] places at the beginning of one part of an index after another.
    /// Opening it costs as much as opening one for a part; each further part costs a seek. `None`: a cursor for each
    /// part costs less, because rows are locked, or because a cursor copies the transaction's own changes.
    ///
    /// # Errors
    /// If the transaction has ended.
    pub fn open_moving_cursor(
        self: &Arc<Self>,
        transaction: &mut Transaction,
        index: usize,
        direction: Direction,
    ) -> Result<Option<IndexCursor>> {
        if transaction.reads_lock() || transaction.has_writes() {
            return Ok(None);
        }
        let schema = self.definition().schema();
        let all = schema.indexes()[index].id.range();
        let scan = transaction.scan(all, direction);
        let scan = scan.map_err(|error| self.definition().transaction_error(error))?;
        let rows = PartScan {
            scan,
            parts: Vec::new(),
            part: 0,
            is_placed: false,
            direction,
            left: 0,
            limit: 0,
        };
        Ok(Some(self.cursor_of(Some(rows), index, ReadMode::Snapshot)))
    }

    fn cursor_of(self: &Arc<Self>, rows: Option<PartScan>, index: usize, mode: ReadMode) -> IndexCursor {
        IndexCursor {
            view: self.clone(),
            rows,
            index,
            is_clustered: self.definition().schema().clustered() == RowPlacement::Key(index),
            mode,
            row_key: Vec::with_capacity(32),
            image: Vec::new(),
            place: RowPlace::None,
            rows_read: 0,
        }
    }
}

/// Parts of an index to be scanned.
#[derive(Debug, Clone, Copy)]
pub struct IndexParts<'b> {
    /// Position of the index in the table's definition.
    pub index: usize,
    /// The parts, in the order in which they are scanned.
    pub bounds: &'b [IndexBounds],
    /// Direction within each part.
    pub direction: Direction,
    /// Maximum number of rows of each part.
    pub limit: u64,
}

/// The entries of an index in its parts.
struct PartScan {
    scan: Scan,
    /// Parts that are not empty.
    parts: Vec<KeyRange>,
    part: usize,
    /// Whether the scan is in the current part, or at its beginning.
    is_placed: bool,
    direction: Direction,
    /// Number of rows that may still come of the current part.
    left: u64,
    limit: u64,
}

impl PartScan {
    /// Moves to the next entry.
    fn advance(&mut self) -> Result<bool> {
        while let Some(part) = self.parts.get(self.part) {
            if self.left > 0 {
                if !self.is_placed {
                    self.scan.seek(match self.direction {
                        Direction::Forward => &part.start,
                        Direction::Backward => &part.end,
                    });
                    self.is_placed = true;
                }
                if self.scan.advance()?
                    && let Some(entry) = self.scan.entry()
                {
                    if part.contains(entry.key) {
                        return Ok(true);
                    }
                    // The end of a part is not in it. A backward seek may find it.
                    if self.direction == Direction::Backward && entry.key >= &part.end[..] {
                        continue;
                    }
                }
            }
            self.part += 1;
            self.is_placed = false;
            self.left = self.limit;
        }
        Ok(false)
    }
}

/// A running scan. It sees the rows as they were when it began, except those that it locks.
pub struct RowScan<'t> {
    cursor: IndexCursor,
    transaction: &'t mut Transaction,
}

impl RowScan<'_> {
    /// Moves to the next row and lends it; `None` at the end. With `SkipLocked` it passes over locked rows.
    ///
    /// # Errors
    /// Those of [`TableView::get`].
    #[allow(clippy::should_implement_trait)] // it lends
    pub fn next(&mut self) -> Result<Option<RowRef<'_>>> {
        match self.cursor.advance(self.transaction)? {
            true => Ok(self.cursor.row()),
            false => Ok(None),
        }
    }
}

/// A running scan that has its transaction only while it moves. It sees what [`RowScan`] sees.
pub struct IndexCursor {
    view: Arc<TableView>,
    /// `None` if there is nothing in the parts.
    rows: Option<PartScan>,
    index: usize,
    is_clustered: bool,
    mode: ReadMode,
    row_key: Vec<u8>,
    /// Image of a row that another index has led to, or that is locked.
    image: Vec<u8>,
    place: RowPlace,
    rows_read: u64,
}

/// Place of a cursor's row.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum RowPlace {
    /// It is before the first row, or at the end.
    None,
    /// The entry of the index is the row.
    Entry,
    /// [`IndexCursor::image`].
    Image,
}

impl IndexCursor {
    /// Places the cursor before the first of at most `limit` rows of a part of its index. It must be one that
    /// [`TableView::open_moving_cursor`] has opened.
    ///
    /// # Errors
    /// Those of the bounds' values.
    pub fn move_to(&mut self, bounds: &IndexBounds, limit: u64, context: &ConvertContext<'_>) -> Result<()> {
        let range = bounds.range(&self.view, self.index, context)?;
        let rows = self.rows.as_mut().expect("a moving cursor has its index");
        rows.parts.clear();
        if !range.is_empty() {
            rows.parts.push(range);
        }
        (rows.part, rows.is_placed) = (0, false);
        (rows.left, rows.limit) = (limit, limit);
        self.place = RowPlace::None;
        Ok(())
    }

    /// Returns the row that it is on.
    pub fn row(&self) -> Option<RowRef<'_>> {
        match self.place {
            RowPlace::None => None,
            RowPlace::Image => Some(RowRef::of_image(&self.view, &self.image)),
            RowPlace::Entry => {
                let entry = self.rows.as_ref()?.scan.entry()?;
                Some(RowRef::of_image(&self.view, entry.payload()))
            }
        }
    }

    /// Moves to the next row. Returns whether there is one. With `SkipLocked` it passes over locked rows.
    ///
    /// # Errors
    /// Those of [`TableView::get`].
    pub fn advance(&mut self, transaction: &mut Transaction) -> Result<bool> {
        let view = &*self.view;
        let definition = view.definition();
        let schema = definition.schema();
        self.place = RowPlace::None;
        let Some(rows) = &mut self.rows else {
            return Ok(false);
        };
        loop {
            if !rows.advance()? {
                return Ok(false);
            }
            self.rows_read += 1;
            if self.is_clustered && self.mode == ReadMode::Snapshot {
                rows.left -= 1;
                let entry = rows.scan.entry().expect("the scan is on an entry");
                self.place = match schema.row_image(entry.value)? {
                    Cow::Borrowed(_) => RowPlace::Entry,
                    Cow::Owned(image) => {
                        self.image = image;
                        RowPlace::Image
                    }
                };
                return Ok(true);
            }
            let entry = rows.scan.entry().expect("the scan is on an entry");
            self.row_key.clear();
            schema.append_row_key_of_entry(self.index, entry.key, entry.value, &mut self.row_key)?;
            let mark = transaction.lock_mark();
            let row = match self.mode {
                ReadMode::Snapshot => transaction.get(&self.row_key),
                ReadMode::Locked { mode, wait } => {
                    if view.lock_row(transaction, &self.row_key, mode, wait)? == LockOutcome::Skipped {
                        continue;
                    }
                    transaction.get_newest(&self.row_key)
                }
            };
            // Copied, because the borrow of this row must not last while others are looked for.
            let is_there = match row.map_err(|error| definition.transaction_error(error))? {
                Some(row) => {
                    self.image.clear();
                    self.image.extend_from_slice(&schema.row_image(&row)?);
                    true
                }
                None => false,
            };
            if is_there && self.mode == ReadMode::Snapshot {
                break;
            }
            if is_there && self.is_clustered {
                transaction.wait_reads_published();
                break;
            }
            // It may have moved within the index while its lock was waited for.
            if is_there {
                let mut now = Vec::with_capacity(entry.key.len());
                schema.append_entry_key(self.index, &self.image, &self.row_key, &mut now)?;
                if now == entry.key {
                    transaction.wait_reads_published();
                    break;
                }
            }
            transaction.unlock_since(mark);
        }
        rows.left -= 1;
        self.place = RowPlace::Image;
        Ok(true)
    }
}

impl Drop for IndexCursor {
    fn drop(&mut self) {
        let definition = self.view.definition();
        definition.count_read(Some(self.index), self.rows_read, false);
    }
}
