//! AUTO_INCREMENT values for the rows of an INSERT or LOAD DATA.

use paceline_storage::{Direction, IndexId};
use paceline_types::data_type::Sign;
use paceline_types::{DataType, ErrorCode, Value};

use super::run::Exec;
use crate::catalog::{TableDefinition, counted, following, is_numbered};
use crate::error::{Error, Result};

/// Values that a statement has and has not used yet. A value whose row did not go in serves the next row.
pub(super) struct Interval {
    next: u64,
    remaining: u64,
    /// It began with INSERT_ID: its values follow each other to the statement's end, whatever the counter says, as those did that its primary made.
    given: bool,
    /// How many rows are still to come, where the statement tells.
    expected: Option<u64>,
    /// How many values the next reservation takes where it does not.
    batch: u64,
}

/// Values reserved at once for rows whose number is not known, at most.
const BATCH_MAX: u64 = 65_535;

impl Interval {
    /// Nothing is reserved yet. `expected` is the number of rows, where it is known.
    pub fn new(expected: Option<u64>) -> Self {
        Interval {
            next: 0,
            remaining: 0,
            given: false,
            expected,
            batch: 1,
        }
    }

    /// Gives the AUTO_INCREMENT column its value where the row has none; tells the one that was made.
    pub fn generate(
        &mut self,
        exec: &mut Exec<'_, '_>,
        table: &TableDefinition,
        row: &mut [Value],
    ) -> Result<Option<u64>> {
        let Some(column) = table.auto_increment_column() else {
            return Ok(None);
        };
        if !is_numbered(&row[column], exec.session.settings.sql_mode) {
            self.observe(exec, table, column, &row[column])?;
            return Ok(None);
        }
        let value = self.next_value(exec, table, column)?;
        row[column] = match &table.columns()[column].data_type {
            DataType::Integer(integer) if integer.sign == Sign::Unsigned => Value::UInt(value),
            DataType::Integer(_) => Value::Int(value as i64),
            DataType::Float(_) => Value::Float(value as f32),
            _ => Value::Double(value as f64),
        };
        Ok(Some(value))
    }

    /// A row has this value already.
    pub fn observe(
        &mut self,
        exec: &mut Exec<'_, '_>,
        table: &TableDefinition,
        column: usize,
        value: &Value,
    ) -> Result<()> {
        observe(exec, table, column, value)?;
        if let Some(value) = counted(value)
            && value >= self.next
        {
            // Reserved values below a given one are left out.
            match self.given {
                true => self.step_over(exec, value),
                false => self.remaining = 0,
            }
        }
        Ok(())
    }

    fn next_value(&mut self, exec: &mut Exec<'_, '_>, table: &TableDefinition, column: usize) -> Result<u64> {
        find_next(exec, table, column)?;
        let max = match &table.columns()[column].data_type {
            DataType::Integer(integer) if integer.sign == Sign::Unsigned => integer.width.unsigned_max(),
            DataType::Integer(integer) => integer.width.signed_range().1 as u64,
            DataType::Float(_) => 1 << 24,
            _ => 1 << 53,
        };
        if let Some(value) = exec.session.statement.insert_id.take() {
            (self.next, self.remaining, self.given) = (value, u64::MAX, true);
        }
        if self.remaining == 0 {
            let settings = &exec.session.settings;
            let (increment, offset) = (
                settings.auto_increment_increment.max(1),
                settings.auto_increment_offset,
            );
            let wanted = self.expected.unwrap_or(self.batch).max(1);
            let counter = table.auto_increment();
            let reserved = match counter.reserve(wanted, increment, offset, max) {
                Some(first) => Some((first, wanted)),
                None => counter.reserve(1, increment, offset, max).map(|first| (first, 1)),
            };
            let (first, count) = reserved.ok_or_else(|| out_of_range(exec, table, column))?;
            (self.next, self.remaining) = (first, count);
            self.batch = (self.batch * 2).min(BATCH_MAX);
        }
        if self.given {
            if self.next > max {
                return Err(out_of_range(exec, table, column));
            }
            table.auto_increment().observe(self.next);
        }
        Ok(self.next)
    }

    /// A generated value has gone in.
    pub fn take(&mut self, exec: &Exec<'_, '_>, generated: Option<u64>) {
        if generated == Some(self.next) && self.remaining > 0 {
            self.remaining -= 1;
            self.step_over(exec, self.next);
        }
    }

    /// Goes on behind a value.
    fn step_over(&mut self, exec: &Exec<'_, '_>, value: u64) {
        let settings = &exec.session.settings;
        self.next = following(
            value,
            settings.auto_increment_increment.max(1),
            settings.auto_increment_offset,
        );
    }

    /// A row was dealt with.
    pub fn next_row(&mut self) {
        if let Some(expected) = &mut self.expected {
            *expected = expected.saturating_sub(1);
        }
    }
}

/// HA_ERR_AUTOINC_ERANGE, as MariaDB numbers it.
fn out_of_range(exec: &Exec<'_, '_>, table: &TableDefinition, column: usize) -> Error {
    let row = exec.session.diagnostics.current_row();
    let name = &table.columns()[column].name;
    let message = format!("Out of range value for column '{name}' at row {row}");
    Error::with_message(ErrorCode::from_number(167), message)
}

/// Tells the counter of a value that a row was given.
pub(super) fn observe(
    exec: &mut Exec<'_, '_>,
    table: &TableDefinition,
    column: usize,
    value: &Value,
) -> Result<()> {
    if let Some(value) = counted(value) {
        find_next(exec, table, column)?;
        table.auto_increment().observe(value);
    }
    Ok(())
}

/// Makes sure that the counter knows where the data ends.
fn find_next(exec: &mut Exec<'_, '_>, table: &TableDefinition, column: usize) -> Result<()> {
    table
        .auto_increment()
        .next(table.auto_increment_start, || highest_value(exec, table, column))?;
    Ok(())
}

/// A value as the OK packet tells it: negative ones wrap.
pub(super) fn as_id(value: &Value) -> u64 {
    match value {
        Value::Int(number) => *number as u64,
        value => counted(value).unwrap_or(0),
    }
}

/// A row's value is to go: the counter must know where it stands before, as it could find that value no more.
pub(super) fn know_next(exec: &mut Exec<'_, '_>, table: &TableDefinition) -> Result<()> {
    match table.auto_increment_column() {
        Some(column) if table.auto_increment().known().is_none() => find_next(exec, table, column),
        _ => Ok(()),
    }
}

/// The highest AUTO_INCREMENT value in the newest state, or of a row that is gone; 0 for none.
fn highest_value(exec: &mut Exec<'_, '_>, table: &TableDefinition, column: usize) -> Result<u64> {
    let gone = match table.schema().kept_number() {
        Some(kept) => exec
            .runtime
            .transaction
            .probe_newest(&kept.number_key())?
            .and_then(|value| IndexId::number_of(value.payload())),
        None => None,
    };
    Ok(highest_present(exec, table, column)?.max(gone.unwrap_or(0)))
}

/// The highest AUTO_INCREMENT value in the newest state; 0 for none.
fn highest_present(exec: &mut Exec<'_, '_>, table: &TableDefinition, column: usize) -> Result<u64> {
    let schema = table.schema();
    let Some(index) = table
        .indexes()
        .iter()
        .position(|index| index.parts[0].column == column)
    else {
        return Ok(0);
    };
    let transaction = &mut *exec.runtime.transaction;
    let mut scan = transaction.scan_newest(schema.indexes()[index].id.range(), Direction::Backward)?;
    let Some(entry) = scan.next()? else { return Ok(0) };
    let mut row_key = Vec::new();
    schema.append_row_key_of_entry(index, entry.key, entry.value, &mut row_key)?;
    let Some(row) = transaction.probe_newest(&row_key)? else {
        return Ok(0);
    };
    let value = schema.image(row.payload()).column(column)?.into_owned();
    Ok(counted(&value).unwrap_or(0))
}
