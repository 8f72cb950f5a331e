//! Reader of stored tables: reads one by the access path of the plan, and decodes its rows to the block's slots.
//!
//! *Snapshot reads* return the state that the transaction sees. *Locking reads* work on the newest state: a candidate
//! is found without a lock, checked, locked, read again under the lock, and checked again by the join loop, so rows
//! that do not match are not locked. Conditions that must be evaluated only once per row are left to the join loop.
//! Under SERIALIZABLE the ranges are locked too.

use std::cell::{Cell, RefCell};
use std::collections::HashSet;
use std::ops::ControlFlow;

use paceline_storage::{Direction, KeyRange, RowPlacement, TableSchema};
use paceline_txn::{IsolationLevel, LockMode, LockOutcome, LockWait, ScanEntry};
use paceline_types::{DataType, Value, ValueRef};

use super::row_batch::RowBatch;
use crate::error::Result;
use crate::execute::collections::memory::Reservation;
use crate::execute::context::{ALL_CONDITIONS, Execution, Visit};
use crate::plan::measurements::MeasuredAccess;
use crate::plan::range::{
    ColumnTest, NearestValue, RangeCondition, RangeContext, index_ranges, nearest_value,
};
use crate::plan::tree::{
    AccessPath, Covering, JoinKind, JoinStep, LockPatience, LockStrength, LookupPart, ReadMode,
    ScanDirection, SelectPlan, TableAccess, TableInstance,
};
use paceline_catalog::TableDefinition;
use paceline_expression::session::ReadStart;
use paceline_expression::{Expr, ExprKind};

/// Number of rows in the first batch when the number of keys is known.
const ROWS_AT_FIRST: usize = 8;

/// Decodes the used columns of a row image to a table's slots.
pub(crate) fn decode(schema: &TableSchema, image: &[u8], used: &[usize], slots: &mut [Value]) -> Result<()> {
    let mut columns = schema.image(image).columns();
    let mut at = 0;
    for &column in used {
        while at < column {
            columns.skip_column()?;
            at += 1;
        }
        columns.next_into(&mut slots[column])?;
        at += 1;
    }
    Ok(())
}

/// Reader of a stored table for one step of a join.
pub(crate) struct BaseReader<'p> {
    plan: &'p SelectPlan,
    pub(super) access: &'p TableAccess,
    step: &'p JoinStep,
    instance: &'p TableInstance,
    pub(super) definition: &'p TableDefinition,
    pub(super) schema: &'p TableSchema,
    measured: Option<&'p MeasuredAccess>,
    /// Whether several indexes are read, which may contain the same row.
    union: bool,
    /// Rows passed on so far, if a row may be found again; otherwise `None`.
    given: RefCell<Option<EmittedRows>>,
    /// Whether the current ranges contain only rows that meet the condition.
    exact: Cell<bool>,
    /// How entries are read without their rows, if that is possible now.
    covering: Cell<Option<&'p Covering>>,
}

/// Keys of the rows that a reader has passed on.
struct EmittedRows {
    keys: HashSet<Vec<u8>>,
    memory: Reservation,
}

impl EmittedRows {
    fn new(exec: &Execution<'_, '_>) -> Self {
        EmittedRows {
            keys: HashSet::new(),
            memory: exec.state.memory.part(),
        }
    }

    /// Adds a row. Returns whether it is new.
    ///
    /// # Errors
    /// 1290 or 1041 beyond the session's memory limit.
    fn insert(&mut self, row_key: &[u8]) -> Result<bool> {
        if self.keys.contains(row_key) {
            return Ok(false);
        }
        self.memory.take(row_key.len() + 48)?;
        Ok(self.keys.insert(row_key.to_vec()))
    }
}

/// Key of a lookup from its values.
enum LookupKey {
    /// No row can match.
    Nothing,
    /// The index cannot be used: all rows are candidates.
    All,
    /// All keys with this prefix.
    Prefix(Vec<u8>),
}

impl<'p> BaseReader<'p> {
    pub fn new(
        plan: &'p SelectPlan,
        access: &'p TableAccess,
        step: &'p JoinStep,
        instance: &'p TableInstance,
        definition: &'p TableDefinition,
        measured: Option<&'p MeasuredAccess>,
    ) -> Self {
        BaseReader {
            plan,
            access,
            step,
            instance,
            definition,
            schema: definition.schema(),
            measured,
            union: false,
            given: RefCell::new(None),
            exact: Cell::new(false),
            covering: Cell::new(None),
        }
    }

    /// Calls `visit` for each row on the access path.
    pub fn read(
        &self,
        exec: &mut Execution<'_, '_>,
        row: &mut [Value],
        visit: Visit<'_>,
    ) -> Result<ControlFlow<()>> {
        self.covering.set(self.usable_covering(exec, row)?);
        match &self.access.path {
            AccessPath::All => {
                // In the order of the primary key, MariaDB would read that index.
                let by = match self.schema.clustered() {
                    _ if !self.access.key_only && self.direction() == Direction::Forward => {
                        (None, ReadStart::Table)
                    }
                    RowPlacement::Key(index) => (Some(index), ReadStart::End),
                    _ => (None, ReadStart::Table),
                };
                self.scan(exec, by, self.schema.rows_range(), row, visit)
            }
            AccessPath::Index { index } => {
                let range = self.schema.indexes()[*index].id.range();
                self.scan(exec, (Some(*index), ReadStart::End), range, row, visit)
            }
            AccessPath::Lookup { index, key, unique } => match self.lookup_key(exec, *index, key, row)? {
                LookupKey::Nothing => Ok(ControlFlow::Continue(())),
                LookupKey::All => {
                    let range = self.schema.rows_range();
                    self.scan(exec, (None, ReadStart::Table), range, row, visit)
                }
                LookupKey::Prefix(prefix) if *unique => self.read_unique(exec, *index, &prefix, row, visit),
                LookupKey::Prefix(prefix) => {
                    let range = KeyRange::prefix(&prefix);
                    self.scan(exec, (Some(*index), ReadStart::Key), range, row, visit)
                }
            },
            AccessPath::Range { index, condition } => self.read_ranges(exec, *index, condition, row, visit),
            AccessPath::Union { parts } => {
                let union = BaseReader {
                    union: true,
                    given: RefCell::new(None),
                    exact: Cell::new(false),
                    covering: Cell::new(None),
                    ..*self
                };
                for (index, condition) in parts {
                    if union.read_ranges(exec, *index, condition, row, visit)?.is_break() {
                        return Ok(ControlFlow::Break(()));
                    }
                }
                Ok(ControlFlow::Continue(()))
            }
            AccessPath::Hash { .. } => unreachable!("a join buffer is read by the join"),
        }
    }

    fn read_ranges(
        &self,
        exec: &mut Execution<'_, '_>,
        index: usize,
        condition: &RangeCondition,
        row: &mut [Value],
        visit: Visit<'_>,
    ) -> Result<ControlFlow<()>> {
        let mut ranges = {
            let mut context = exec.context();
            let mut context = RangeContext {
                eval: &mut context,
                row,
                known: None,
            };
            index_ranges(self.schema, index, condition, &mut context)?
        };
        if self.access.direction == ScanDirection::Backward {
            ranges.reverse();
        }
        self.exact.set(self.is_exact(exec, index, condition, row)?);
        let secondary = self.secondary(index);
        let start = |range: &KeyRange| {
            let whole = self.schema.indexes()[index].id.range();
            let is_unbounded = match self.direction() {
                Direction::Forward => range.start == whole.start,
                Direction::Backward => range.end == whole.end,
            };
            if is_unbounded {
                ReadStart::End
            } else {
                ReadStart::Key
            }
        };
        if self.plan.read == ReadMode::Snapshot && !exec.state.transaction.reads_lock() && !ranges.is_empty()
        {
            let is_one_row =
                |range: &KeyRange| secondary.is_none() && !self.union && self.schema.is_one_key(index, range);
            let (mut rest, mut first_is_one) = (&ranges[..], is_one_row(&ranges[0]));
            while !rest.is_empty() {
                let other = rest.iter().position(|range| is_one_row(range) != first_is_one);
                let (now, later) = rest.split_at(other.unwrap_or(rest.len()));
                let flow = match first_is_one {
                    true => self.read_keys(exec, index, now, row, visit)?,
                    false => {
                        let mut rows = 0;
                        let flow =
                            self.scan_snapshot(exec, secondary, now, self.direction(), row, visit, &mut rows);
                        self.count(exec, (Some(index), start(&now[0])), rows, &flow);
                        flow?
                    }
                };
                if flow.is_break() {
                    return Ok(flow);
                }
                (rest, first_is_one) = (later, !first_is_one);
            }
            return Ok(ControlFlow::Continue(()));
        }
        for range in ranges {
            let start = start(&range);
            if self
                .scan(exec, (Some(index), start), range, row, visit)?
                .is_break()
            {
                return Ok(ControlFlow::Break(()));
            }
        }
        Ok(ControlFlow::Continue(()))
    }

    /// Returns how entries can be read without their rows. This is impossible if rows are locked, or if the index
    /// cannot evaluate a condition that it should.
    fn usable_covering(&self, exec: &mut Execution<'_, '_>, row: &[Value]) -> Result<Option<&'p Covering>> {
        let Some(covering) = &self.access.covering else {
            return Ok(None);
        };
        if self.plan.read != ReadMode::Snapshot || exec.state.transaction.reads_lock() {
            return Ok(None);
        }
        for assumed in &covering.looked_for {
            let value = exec.eval_unrounded(&assumed.value, row)?;
            if !assumed.is_looked_for(value, &mut exec.context()) {
                return Ok(None);
            }
        }
        Ok(Some(&**covering))
    }

    /// Reads the rows with whole keys of the clustered index, many at a time.
    fn read_keys(
        &self,
        exec: &mut Execution<'_, '_>,
        index: usize,
        ranges: &[KeyRange],
        row: &mut [Value],
        visit: Visit<'_>,
    ) -> Result<ControlFlow<()>> {
        let mut batch = RowBatch::new(ROWS_AT_FIRST);
        for (number, range) in ranges.iter().enumerate() {
            exec.session.counts.handler_read_key += 1;
            batch.add(&range.start);
            if !batch.is_full() && number + 1 < ranges.len() {
                continue;
            }
            self.read_batch(exec, &mut batch)?;
            let rows = batch.images().count() as u64;
            exec.session.rows_examined += rows;
            exec.session.counts.rows_read += rows;
            self.definition
                .count_read(Some(index), rows, exec.session.user_statistics);
            if self.give_images(exec, &mut batch, row, visit)?.is_break() {
                return Ok(ControlFlow::Break(()));
            }
        }
        Ok(ControlFlow::Continue(()))
    }

    /// Reads the rows of a batch, whose index entries are counted as examined, and passes them to `visit`.
    fn give_batch(
        &self,
        exec: &mut Execution<'_, '_>,
        batch: &mut RowBatch,
        row: &mut [Value],
        visit: Visit<'_>,
    ) -> Result<ControlFlow<()>> {
        self.read_batch(exec, batch)?;
        self.give_images(exec, batch, row, visit)
    }

    fn read_batch(&self, exec: &mut Execution<'_, '_>, batch: &mut RowBatch) -> Result<()> {
        batch
            .read(self.schema, exec.state.transaction)
            .map_err(|error| self.definition.transaction_error(error))
    }

    /// Passes the rows of a batch to `visit`, in the order of the batch, which is empty afterwards.
    fn give_images(
        &self,
        exec: &mut Execution<'_, '_>,
        batch: &mut RowBatch,
        row: &mut [Value],
        visit: Visit<'_>,
    ) -> Result<ControlFlow<()>> {
        for image in batch.images() {
            exec.tick()?;
            if self.decode_passing(exec, image, row)? && visit(exec, row)?.is_break() {
                return Ok(ControlFlow::Break(()));
            }
        }
        batch.clear();
        Ok(ControlFlow::Continue(()))
    }

    fn direction(&self) -> Direction {
        match self.access.direction {
            ScanDirection::Forward => Direction::Forward,
            ScanDirection::Backward => Direction::Backward,
        }
    }

    /// Returns whether the only condition is on the integer column that leads the index, so that its ranges contain
    /// exactly the matching rows: a comparison, BETWEEN or IN, or several of them combined by OR.
    fn is_exact(
        &self,
        exec: &mut Execution<'_, '_>,
        index: usize,
        condition: &RangeCondition,
        row: &[Value],
    ) -> Result<bool> {
        let column = self.schema.indexes()[index].parts[0].column;
        let is_plain = self.step.on.is_empty()
            && self.step.kind == JoinKind::Inner
            && matches!(self.definition.columns()[column].data_type, DataType::Integer(_));
        let [filter] = &self.step.filter[..] else {
            return Ok(false);
        };
        if !is_plain || !is_implied_by(filter, condition, column) {
            return Ok(false);
        }
        let mut values = Vec::new();
        condition.for_each_value(&mut |value| values.push(value));
        for value in values {
            if !matches!(exec.eval(value, row)?, Value::Int(_)) {
                return Ok(false);
            }
        }
        Ok(true)
    }

    /// Returns whether another index has already passed the row on.
    fn is_repeated(&self, exec: &Execution<'_, '_>, row_key: &[u8]) -> Result<bool> {
        Ok(self.union && !self.record_emitted(exec, row_key)?)
    }

    /// Records that a row is passed on. Returns whether it is new.
    fn record_emitted(&self, exec: &Execution<'_, '_>, row_key: &[u8]) -> Result<bool> {
        self.given
            .borrow_mut()
            .get_or_insert_with(|| EmittedRows::new(exec))
            .insert(row_key)
    }

    /// Returns the index, unless it is the clustered index.
    fn secondary(&self, index: usize) -> Option<usize> {
        (self.schema.indexes()[index].id != self.schema.clustered_id()).then_some(index)
    }

    fn lookup_key(
        &self,
        exec: &mut Execution<'_, '_>,
        index: usize,
        key: &[LookupPart],
        row: &[Value],
    ) -> Result<LookupKey> {
        let parts = &self.schema.indexes()[index].parts;
        let mut values: Vec<Value> = Vec::with_capacity(key.len());
        for (lookup, part) in key.iter().zip(parts) {
            let column = &self.definition.columns()[part.column];
            let value = exec.eval_unrounded(&lookup.value, row)?;
            let mut context = exec.context();
            match nearest_value(&column.data_type, &lookup.by, value, &mut context) {
                NearestValue::Null if lookup.null_safe && column.nullable => values.push(Value::Null),
                NearestValue::Null | NearestValue::None => return Ok(LookupKey::Nothing),
                NearestValue::Unknown => return Ok(LookupKey::All),
                NearestValue::Exact(value) => values.push(value),
            }
        }
        let values: Vec<ValueRef<'_>> = values.iter().map(Value::as_ref).collect();
        let mut prefix = Vec::with_capacity(32);
        self.schema.append_key_prefix(index, &values, &mut prefix)?;
        Ok(LookupKey::Prefix(prefix))
    }

    fn slots<'r>(&self, row: &'r mut [Value]) -> &'r mut [Value] {
        &mut row[self.instance.slots.clone()]
    }

    fn decode(&self, image: &[u8], row: &mut [Value]) -> Result<()> {
        decode(self.schema, image, &self.instance.used, self.slots(row))?;
        if !self.instance.padding.is_empty() {
            self.instance.pad(self.slots(row));
        }
        Ok(())
    }

    fn read_unique(
        &self,
        exec: &mut Execution<'_, '_>,
        index: usize,
        key: &[u8],
        row: &mut [Value],
        visit: Visit<'_>,
    ) -> Result<ControlFlow<()>> {
        exec.row_fetched()?;
        exec.session.counts.handler_read_key += 1;
        let mut found = |exec: &mut Execution<'_, '_>, row: &mut [Value]| {
            exec.session.counts.rows_read += 1;
            self.definition
                .count_read(Some(index), 1, exec.session.user_statistics);
            visit(exec, row)
        };
        let visit = &mut found;
        let mut row_key = Vec::new();
        let row_key: &[u8] = match self.secondary(index) {
            None => key,
            Some(index) => {
                let transaction = &mut *exec.state.transaction;
                let entry = match self.plan.read.at(transaction.isolation()) {
                    ReadMode::Snapshot | ReadMode::Source(_) => transaction.get(key),
                    ReadMode::Locking { strength, wait } => {
                        // Lock the value itself: if it does not exist it must not appear, as with InnoDB's gap locks.
                        if transaction.isolation() >= IsolationLevel::RepeatableRead
                            && transaction.lock(key, lock_mode(strength), lock_wait(wait))?
                                == LockOutcome::Skipped
                        {
                            return Ok(ControlFlow::Continue(()));
                        }
                        transaction.probe_newest(key)
                    }
                };
                let Some(entry) = entry.map_err(|error| self.definition.transaction_error(error))? else {
                    return Ok(ControlFlow::Continue(()));
                };
                if let Some(covering) = self.covering.get() {
                    covering.reader.read(key, &entry, self.slots(row))?;
                    drop(entry);
                    if self.passes_rest(exec, covering, row)? {
                        return visit(exec, row);
                    }
                    return Ok(ControlFlow::Continue(()));
                }
                self.schema
                    .append_row_key_of_entry(index, key, &entry, &mut row_key)?;
                &row_key
            }
        };
        match self.plan.read.at(exec.state.transaction.isolation()) {
            ReadMode::Snapshot | ReadMode::Source(_) => {
                {
                    let value = exec.state.transaction.get(row_key);
                    match value.map_err(|error| self.definition.transaction_error(error))? {
                        Some(value) => self.decode(&self.schema.row_image(&value)?, row)?,
                        None => return Ok(ControlFlow::Continue(())),
                    }
                }
                visit(exec, row)
            }
            ReadMode::Locking { strength, wait } => {
                self.read_locked(exec, row_key, strength, wait, row, visit)
            }
        }
    }

    /// Locks a row, reads it again and passes it to `visit`.
    pub fn read_locked(
        &self,
        exec: &mut Execution<'_, '_>,
        row_key: &[u8],
        strength: LockStrength,
        wait: LockPatience,
        row: &mut [Value],
        visit: Visit<'_>,
    ) -> Result<ControlFlow<()>> {
        let transaction = &mut *exec.state.transaction;
        let mark = transaction.lock_mark();
        if transaction.lock(row_key, lock_mode(strength), lock_wait(wait))? == LockOutcome::Skipped {
            return Ok(ControlFlow::Continue(()));
        }
        let found = {
            let value = transaction.get_newest(row_key);
            match value.map_err(|error| self.definition.transaction_error(error))? {
                Some(value) => {
                    let image = self.schema.row_image(&value)?;
                    self.decode(&image, row)?;
                    if self.plan.keep_row_handles {
                        let handle = &mut exec.state.row_handles[self.access.table];
                        handle.key.clear();
                        handle.key.extend_from_slice(row_key);
                        handle.image.clear();
                        handle.image.extend_from_slice(&image);
                        handle.present = true;
                    }
                    true
                }
                None => false,
            }
        };
        if !found {
            // Below REPEATABLE READ the lock is released. From REPEATABLE READ on, the missing row must not appear, as
            // with InnoDB's gap locks.
            if exec.state.transaction.isolation() < IsolationLevel::RepeatableRead {
                exec.state.transaction.unlock_since(mark);
            }
            return Ok(ControlFlow::Continue(()));
        }
        visit(exec, row)
    }

    /// Passes the rows of a range to `visit`, and counts them. `by` is the index, and how its read starts.
    fn scan(
        &self,
        exec: &mut Execution<'_, '_>,
        by: (Option<usize>, ReadStart),
        range: KeyRange,
        row: &mut [Value],
        visit: Visit<'_>,
    ) -> Result<ControlFlow<()>> {
        let secondary = by.0.and_then(|index| self.secondary(index));
        let mut rows = 0;
        let flow = self.scan_range(exec, secondary, range, row, visit, &mut rows);
        self.count(exec, by, rows, &flow);
        flow
    }

    /// Counts a read of an index or of the table, also one that an error ended.
    fn count(
        &self,
        exec: &mut Execution<'_, '_>,
        (index, start): (Option<usize>, ReadStart),
        rows: u64,
        flow: &Result<ControlFlow<()>>,
    ) {
        let has_ended = matches!(flow, Ok(ControlFlow::Continue(())));
        let is_backward = self.direction() == Direction::Backward;
        exec.session
            .counts
            .count_read(start, is_backward, rows, has_ended);
        self.definition
            .count_read(index, rows, exec.session.user_statistics);
    }

    fn scan_range(
        &self,
        exec: &mut Execution<'_, '_>,
        secondary: Option<usize>,
        range: KeyRange,
        row: &mut [Value],
        visit: Visit<'_>,
        rows: &mut u64,
    ) -> Result<ControlFlow<()>> {
        let direction = self.direction();
        let (strength, wait) = match self.plan.read.at(exec.state.transaction.isolation()) {
            // The row of a sequence is never locked: a reservation of this session could not wait for itself.
            _ if self.definition.is_sequence() => {
                return self.scan_snapshot(exec, secondary, &[range], direction, row, visit, rows);
            }
            ReadMode::Snapshot | ReadMode::Source(_) => {
                return self.scan_snapshot(exec, secondary, &[range], direction, row, visit, rows);
            }
            ReadMode::Locking { strength, wait } => (strength, wait),
        };
        let locks_ranges = exec.state.transaction.locks_ranges();
        if locks_ranges {
            exec.state.transaction.lock_range(&range, lock_wait(wait))?;
        }
        // The range of a secondary index does not cover other columns. A row that does not match was also read, and
        // must not change.
        let reads_all = locks_ranges && secondary.is_some();
        let mut scan = exec.state.transaction.scan_newest(range, direction)?;
        let mut row_key = Vec::new();
        while scan.advance()? {
            exec.row_fetched()?;
            let Some(entry) = scan.entry() else { break };
            *rows += 1;
            row_key.clear();
            match secondary {
                None => {
                    row_key.extend_from_slice(entry.key);
                    self.decode(&self.schema.row_image(entry.value)?, row)?;
                }
                Some(index) => {
                    self.schema
                        .append_row_key_of_entry(index, entry.key, entry.value, &mut row_key)?;
                    let Some(value) = exec.state.transaction.probe_newest(&row_key)? else {
                        continue;
                    };
                    self.decode(&self.schema.row_image(&value)?, row)?;
                }
            }
            if !reads_all && !exec.all_true(self.step.candidate_conditions(), row)? {
                self.note_rejected();
                continue;
            }
            // A row that another session moves in a secondary index meanwhile is found again at its new place.
            let may_recur = self.union || secondary.is_some();
            if may_recur && !self.record_emitted(exec, &row_key)? {
                continue;
            }
            if self
                .read_locked(exec, &row_key, strength, wait, row, visit)?
                .is_break()
            {
                return Ok(ControlFlow::Break(()));
            }
        }
        Ok(ControlFlow::Continue(()))
    }

    /// Reads ranges of an index in the transaction's snapshot. The ranges are in the order of the scan.
    #[allow(clippy::too_many_arguments)] // One scan of one reader; a structure would be built for each call.
    fn scan_snapshot(
        &self,
        exec: &mut Execution<'_, '_>,
        secondary: Option<usize>,
        ranges: &[KeyRange],
        direction: Direction,
        row: &mut [Value],
        visit: Visit<'_>,
        rows: &mut u64,
    ) -> Result<ControlFlow<()>> {
        if let Some(loose) = self.access.loose
            && !exec.state.transaction.reads_lock()
        {
            for (number, range) in ranges.iter().enumerate() {
                count_range(exec, number);
                if self
                    .skip_through(exec, secondary, (range, loose), row, visit, rows)?
                    .is_break()
                {
                    return Ok(ControlFlow::Break(()));
                }
            }
            return Ok(ControlFlow::Continue(()));
        }
        let (Some(first), Some(last)) = (ranges.first(), ranges.last()) else {
            return Ok(ControlFlow::Continue(()));
        };
        // A single scan from the first to the last range, with seeks between them.
        let (lowest, highest) = match direction {
            Direction::Forward => (first, last),
            Direction::Backward => (last, first),
        };
        let hull = KeyRange::new(lowest.start.as_slice(), highest.end.as_slice());
        let transaction = &mut *exec.state.transaction;
        let scan = match self.definition.is_sequence() && !self.definition.is_temporary() {
            // No snapshot hides that values are gone.
            true => transaction.scan_newest(hull, direction),
            false => transaction.scan(hull, direction),
        };
        let mut scan = scan.map_err(|error| self.definition.transaction_error(error))?;
        let mut row_key = Vec::new();
        let mut batch = match secondary {
            Some(_) if self.fetches_rows() && !exec.state.transaction.reads_lock() => {
                Some(RowBatch::new(if ranges.len() > 1 { ROWS_AT_FIRST } else { 1 }))
            }
            _ => None,
        };
        for (number, range) in ranges.iter().enumerate() {
            count_range(exec, number);
            if ranges.len() > 1 {
                scan.seek(match direction {
                    Direction::Forward => &range.start,
                    Direction::Backward => &range.end,
                });
            }
            while scan.advance()? {
                exec.row_fetched()?;
                let Some(entry) = scan.entry() else { break };
                if ranges.len() > 1 && !range.contains(entry.key) {
                    match direction {
                        // The upper bound itself is not in the range.
                        Direction::Backward if entry.key >= range.end.as_slice() => continue,
                        _ => break,
                    }
                }
                *rows += 1;
                let flow = match (&mut batch, secondary) {
                    (Some(batch), Some(index)) => {
                        row_key.clear();
                        self.schema
                            .append_row_key_of_entry(index, entry.key, entry.value, &mut row_key)?;
                        if self.is_repeated(exec, &row_key)? {
                            continue;
                        }
                        batch.add(&row_key);
                        match batch.is_full() {
                            true => self.give_batch(exec, batch, row, visit)?,
                            false => ControlFlow::Continue(()),
                        }
                    }
                    _ => self.give_entry(exec, secondary, &entry, &mut row_key, row, visit)?,
                };
                if flow.is_break() {
                    return Ok(flow);
                }
            }
        }
        match &mut batch {
            Some(batch) => self.give_batch(exec, batch, row, visit),
            None => Ok(ControlFlow::Continue(())),
        }
    }

    /// Returns whether a secondary index leads to rows: it is not covering.
    fn fetches_rows(&self) -> bool {
        !self.access.key_only && self.covering.get().is_none()
    }

    /// Passes the row of an index entry to `visit`.
    pub(super) fn give_entry(
        &self,
        exec: &mut Execution<'_, '_>,
        secondary: Option<usize>,
        entry: &ScanEntry<'_>,
        row_key: &mut Vec<u8>,
        row: &mut [Value],
        visit: Visit<'_>,
    ) -> Result<ControlFlow<()>> {
        match secondary {
            _ if self.access.key_only => {}
            None if self.is_repeated(exec, entry.key)? => return Ok(ControlFlow::Continue(())),
            None => {
                if !self.decode_passing(exec, &self.schema.row_image(entry.value)?, row)? {
                    return Ok(ControlFlow::Continue(()));
                }
                return visit(exec, row);
            }
            Some(index) => {
                if let Some(covering) = self.covering.get() {
                    covering.reader.read(entry.key, entry.value, self.slots(row))?;
                    if !self.passes_rest(exec, covering, row)? {
                        return Ok(ControlFlow::Continue(()));
                    }
                    return visit(exec, row);
                }
                row_key.clear();
                self.schema
                    .append_row_key_of_entry(index, entry.key, entry.value, row_key)?;
                if self.is_repeated(exec, row_key)? {
                    return Ok(ControlFlow::Continue(()));
                }
                let value = exec
                    .state
                    .transaction
                    .get(row_key)
                    .map_err(|error| self.definition.transaction_error(error))?;
                let Some(value) = value else {
                    return Ok(ControlFlow::Continue(()));
                };
                self.decode(&self.schema.row_image(&value)?, row)?;
            }
        }
        exec.state.conditions_held = self.conditions_held();
        visit(exec, row)
    }

    /// Returns the number of conditions that the range alone guarantees.
    fn conditions_held(&self) -> usize {
        if self.exact.get() { ALL_CONDITIONS } else { 0 }
    }

    /// Decodes a row, beginning with the columns of the first conditions. Returns whether these hold; if not, the other
    /// columns are not decoded.
    fn decode_passing(&self, exec: &mut Execution<'_, '_>, image: &[u8], row: &mut [Value]) -> Result<bool> {
        let early = self.access.early.as_ref().filter(|_| !self.exact.get());
        let Some(early) = early else {
            self.decode(image, row)?;
            exec.state.conditions_held = self.conditions_held();
            return Ok(true);
        };
        decode(self.schema, image, &early.columns, self.slots(row))?;
        if !exec.all_true(&self.step.filter[..early.conditions], row)? {
            self.note_rejected();
            return Ok(false);
        }
        decode(self.schema, image, &early.later_columns, self.slots(row))?;
        exec.state.conditions_held = early.conditions;
        Ok(true)
    }

    /// Counts a row that was read and whose conditions did not hold, if the statement is measured.
    fn note_rejected(&self) {
        if let Some(measured) = self.measured {
            measured.note_rejected();
        }
    }

    /// Returns whether an index entry meets the remaining conditions. If these are the step's own, the join checks
    /// them.
    fn passes_rest(&self, exec: &mut Execution<'_, '_>, covering: &Covering, row: &[Value]) -> Result<bool> {
        let passes = match &covering.rest {
            Some(rest) => exec.all_true(rest, row)?,
            None => true,
        };
        if !passes {
            self.note_rejected();
        }
        exec.state.conditions_held = match passes && covering.rest.is_some() {
            true => ALL_CONDITIONS,
            false => self.conditions_held(),
        };
        Ok(passes)
    }
}

/// Counts the search for the beginning of a range. The read as a whole counts that of the first one.
fn count_range(exec: &mut Execution<'_, '_>, number: usize) {
    exec.session.counts.handler_read_key += u64::from(number > 0);
}

/// Returns whether a range condition on one column is equivalent to an expression.
fn is_implied_by(expr: &Expr, condition: &RangeCondition, column: usize) -> bool {
    match (&expr.kind, condition) {
        (ExprKind::Or(parts), RangeCondition::Or(known)) => {
            parts.len() == known.len()
                && parts
                    .iter()
                    .zip(known)
                    .all(|(part, known)| is_implied_by(part, known, column))
        }
        (
            ExprKind::Compare { .. } | ExprKind::Between { .. } | ExprKind::InList { .. },
            RangeCondition::Column {
                column: tested,
                test: ColumnTest::Compare { .. } | ColumnTest::Between { .. } | ColumnTest::In(_),
            },
        ) => *tested == column,
        _ => false,
    }
}

fn lock_mode(strength: LockStrength) -> LockMode {
    match strength {
        LockStrength::Shared => LockMode::Shared,
        LockStrength::Exclusive => LockMode::Exclusive,
    }
}

fn lock_wait(patience: LockPatience) -> LockWait {
    match patience {
        LockPatience::Default => LockWait::Default,
        LockPatience::NoWait => LockWait::NoWait,
        LockPatience::SkipLocked => LockWait::SkipLocked,
        LockPatience::Seconds(seconds) => LockWait::Timeout(std::time::Duration::from_secs(seconds)),
    }
}
