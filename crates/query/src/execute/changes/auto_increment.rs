//! AUTO_INCREMENT values for the rows of an INSERT or LOAD DATA.

use paceline_storage::{Direction, IndexId};
use paceline_txn::Transaction;
use paceline_types::data_type::Sign;
use paceline_types::error_code::ER_AUTOINC_READ_FAILED;
use paceline_types::{DataType, ErrorCode, Value};

use crate::error::{Error, Result};
use paceline_catalog::{AutoIncrement, TableDefinition, counted, following, is_numbered};
use paceline_expression::session::SessionContext;

/// Reserved values of a statement that are not used yet. If a row is not inserted, its value is used for the next row.
pub(crate) struct Interval {
    next: u64,
    remaining: u64,
    /// The values began with INSERT_ID. They are consecutive until the end of the statement, whatever the counter's
    /// state, as they were on the primary.
    given: bool,
    /// Number of rows still to come, if the statement knows it.
    expected: Option<u64>,
    /// Number of values in the next reservation, if it does not.
    batch: u64,
    /// Next value on a server that executes the statement's text with the same first value.
    replayed: u64,
}

/// Maximum number of values reserved at once for an unknown number of rows.
const BATCH_MAX: u64 = 65_535;

impl Interval {
    /// Creates an interval without reserved values. `expected` is the number of rows, if it is known.
    pub fn new(expected: Option<u64>) -> Self {
        Interval {
            next: 0,
            remaining: 0,
            given: false,
            expected,
            batch: 1,
            replayed: 0,
        }
    }

    /// Generates a value for the AUTO_INCREMENT column, if the row has none. Returns the generated value.
    pub fn generate(
        &mut self,
        transaction: &mut Transaction,
        session: &mut SessionContext,
        table: &TableDefinition,
        row: &mut [Value],
    ) -> Result<Option<u64>> {
        let Some(column) = table.auto_increment_column() else {
            return Ok(None);
        };
        if !is_numbered(&row[column], session.settings.sql_mode) {
            self.observe(transaction, session, table, column, &row[column])?;
            return Ok(None);
        }
        let value = self.next_value(transaction, session, table, column)?;
        // A nullable column stays NULL, and the number is used up.
        if row[column].is_null() && table.columns()[column].nullable {
            return Ok(Some(value));
        }
        row[column] = match &table.columns()[column].data_type {
            DataType::Integer(integer) if integer.sign == Sign::Unsigned => Value::UInt(value),
            DataType::Integer(_) => Value::Int(value as i64),
            DataType::Float(_) => Value::Float(value as f32),
            _ => Value::Double(value as f64),
        };
        Ok(Some(value))
    }

    /// Records that a row has an explicit value.
    pub fn observe(
        &mut self,
        transaction: &mut Transaction,
        session: &SessionContext,
        table: &TableDefinition,
        column: usize,
        value: &Value,
    ) -> Result<()> {
        observe(transaction, table, column, value)?;
        if let Some(value) = counted(value)
            && value >= self.next
        {
            self.replayed = self.following(session, value);
            // Skip reserved values below an explicit one.
            match self.given {
                true => self.step_over(session, value),
                false => self.remaining = 0,
            }
        }
        Ok(())
    }

    fn next_value(
        &mut self,
        transaction: &mut Transaction,
        session: &mut SessionContext,
        table: &TableDefinition,
        column: usize,
    ) -> Result<u64> {
        find_next(transaction, table, column)?;
        let max = match &table.columns()[column].data_type {
            DataType::Integer(integer) if integer.sign == Sign::Unsigned => integer.width.unsigned_max(),
            DataType::Integer(integer) => integer.width.signed_range().1 as u64,
            DataType::Float(_) => 1 << 24,
            _ => 1 << 53,
        };
        if let Some(value) = session.statement.insert_id.take() {
            (self.next, self.remaining, self.given) = (value, u64::MAX, true);
            self.record(session);
        }
        if self.remaining == 0 {
            let settings = &session.settings;
            let (increment, offset) = (
                settings.auto_increment_increment.max(1),
                settings.auto_increment_offset,
            );
            let wanted = self.expected.unwrap_or(self.batch).max(1);
            // As in MariaDB, a table that keeps nothing begins each statement with 1.
            let of_statement = AutoIncrement::default();
            let counter = match table.schema().stores_rows() {
                true => table.auto_increment(),
                false => {
                    of_statement.next(self.next, || Ok(0))?;
                    &of_statement
                }
            };
            let reserved = match counter.reserve(wanted, increment, offset, max) {
                Some(first) => Some((first, wanted)),
                None => counter.reserve(1, increment, offset, max).map(|first| (first, 1)),
            };
            let (first, count) = reserved.ok_or_else(|| out_of_range(session, table, column))?;
            // MariaDB takes the largest number for the failure of an engine.
            if first == u64::MAX {
                return Err(Error::new(ER_AUTOINC_READ_FAILED, &[]));
            }
            (self.next, self.remaining) = (first, count);
            self.batch = (self.batch * 2).min(BATCH_MAX);
            self.record(session);
        }
        if self.given {
            if self.next > max {
                return Err(out_of_range(session, table, column));
            }
            table.auto_increment().observe(self.next);
        }
        Ok(self.next)
    }

    /// Records the first value of a reservation, for the log of the statement's text.
    fn record(&mut self, session: &mut SessionContext) {
        let ids = &mut session.statement.generated_ids;
        match ids.first {
            None => ids.first = Some(self.next),
            Some(_) => ids.are_scattered |= self.next != self.replayed,
        }
        self.replayed = self.next;
    }

    /// Records that the row with a generated value was inserted.
    pub fn take(&mut self, session: &SessionContext, generated: Option<u64>) {
        if generated == Some(self.next) && self.remaining > 0 {
            self.remaining -= 1;
            self.step_over(session, self.next);
            self.replayed = self.next;
        }
    }

    /// Continues after a value.
    fn step_over(&mut self, session: &SessionContext, value: u64) {
        self.next = self.following(session, value);
    }

    fn following(&self, session: &SessionContext, value: u64) -> u64 {
        let settings = &session.settings;
        let increment = settings.auto_increment_increment.max(1);
        following(value, increment, settings.auto_increment_offset)
    }

    /// Counts a finished row.
    pub fn next_row(&mut self) {
        if let Some(expected) = &mut self.expected {
            *expected = expected.saturating_sub(1);
        }
    }
}

/// Returns HA_ERR_AUTOINC_ERANGE with MariaDB's number.
fn out_of_range(session: &SessionContext, table: &TableDefinition, column: usize) -> Error {
    let row = session.diagnostics.current_row();
    let name = &table.columns()[column].name;
    let message = format!("Out of range value for column '{name}' at row {row}");
    Error::with_message(ErrorCode::from_number(167), message)
}

/// Reports a row's value to the counter.
pub(crate) fn observe(
    transaction: &mut Transaction,
    table: &TableDefinition,
    column: usize,
    value: &Value,
) -> Result<()> {
    if let Some(value) = counted(value) {
        find_next(transaction, table, column)?;
        table.auto_increment().observe(value);
    }
    Ok(())
}

/// Initializes the counter from the data, if necessary.
fn find_next(transaction: &mut Transaction, table: &TableDefinition, column: usize) -> Result<()> {
    table.auto_increment().next(table.auto_increment_start, || {
        highest_value(transaction, table, column)
    })?;
    Ok(())
}

/// Returns a value as the OK packet contains it: negative values wrap around.
pub(crate) fn as_id(value: &Value) -> u64 {
    match value {
        Value::Int(number) => *number as u64,
        value => counted(value).unwrap_or(0),
    }
}

/// Initializes the counter before a row is removed, because afterwards the row's value could not be found any more.
pub(crate) fn know_next(transaction: &mut Transaction, table: &TableDefinition) -> Result<()> {
    match table.auto_increment_column() {
        Some(column) if table.auto_increment().known().is_none() => find_next(transaction, table, column),
        _ => Ok(()),
    }
}

/// Returns the highest AUTO_INCREMENT value of the newest rows and of deleted rows; 0 for none.
fn highest_value(transaction: &mut Transaction, table: &TableDefinition, column: usize) -> Result<u64> {
    let gone = match table.schema().counter_id() {
        Some(kept) => transaction
            .probe_newest(&kept.number_key())?
            .and_then(|value| IndexId::number_of(value.payload())),
        None => None,
    };
    Ok(highest_present(transaction, table, column)?.max(gone.unwrap_or(0)))
}

/// Returns the highest AUTO_INCREMENT value of the newest rows; 0 for none.
fn highest_present(transaction: &mut Transaction, table: &TableDefinition, column: usize) -> Result<u64> {
    let schema = table.schema();
    let Some(index) = table
        .indexes()
        .iter()
        .position(|index| index.parts[0].column == column)
    else {
        return Ok(0);
    };
    let mut scan = transaction.scan_newest(schema.indexes()[index].id.range(), Direction::Backward)?;
    let Some(entry) = scan.next()? else { return Ok(0) };
    let mut row_key = Vec::new();
    schema.append_row_key_of_entry(index, entry.key, entry.value, &mut row_key)?;
    let Some(row) = transaction.probe_newest(&row_key)? else {
        return Ok(0);
    };
    let image = schema.row_image(&row)?;
    let value = schema.image(&image).column(column)?.into_owned();
    Ok(counted(&value).unwrap_or(0))
}
