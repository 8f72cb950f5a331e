//! Changes of single rows: unique keys, indexes, the log.
//!
//! Every way of changing a row comes through here, so that locks, unique checks, index entries and row events always go together:
//!
//! ```text
//!   unique keys: lock, look ─▶ write set (row and index entries) ─▶ lock what was written ─▶ row event with whole images
//! ```

use paceline_binlog::LoggedTable;
use paceline_storage::{Direction, KeyRange, Row, RowReader, TableSchema};
use paceline_txn::{LockMode, LockWait, RowChange, Transaction};
use paceline_types::Value;
use paceline_types::error_code::{ER_DUP_ENTRY, ER_RECORD_FILE_FULL};

use super::run::{Exec, RowHandle};
use super::table_reader::transaction_error;
use crate::catalog::TableDefinition;
use crate::error::{Error, Result};

/// Writes rows of one table.
pub(crate) struct RowWriter<'d> {
    pub definition: &'d TableDefinition,
    schema: &'d TableSchema,
    /// How the log names it; none for a temporary table.
    logged: Option<&'d LoggedTable>,
    /// The unique indexes that may be violated, in the order in which they are looked at.
    unique: Vec<usize>,
    key: Vec<u8>,
    image: Vec<u8>,
}

/// What an insert came to.
#[derive(Debug)]
pub(crate) enum Inserted {
    /// The row is in.
    Done,
    /// This unique index has such a key already.
    Duplicate {
        /// Which index.
        index: usize,
        /// Where the row is that has it.
        row_key: Vec<u8>,
    },
}

/// What an update came to.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum Updated {
    /// The row was the same already.
    Unchanged,
    /// It has changed.
    Changed,
    /// This unique index has the new key already.
    Duplicate(usize),
}

impl<'d> RowWriter<'d> {
    /// For inserting, or for updating anything.
    pub fn new(exec: &mut Exec<'_, '_>, definition: &'d TableDefinition) -> Self {
        Self::with_unique(exec, definition, |_| true)
    }

    /// For updating these columns only.
    pub fn for_columns(exec: &mut Exec<'_, '_>, definition: &'d TableDefinition, columns: &[usize]) -> Self {
        Self::with_unique(exec, definition, |index| {
            definition.indexes()[index]
                .parts
                .iter()
                .any(|part| columns.contains(&part.column))
        })
    }

    fn with_unique(
        exec: &mut Exec<'_, '_>,
        definition: &'d TableDefinition,
        wanted: impl Fn(usize) -> bool,
    ) -> Self {
        let unique = (0..definition.indexes().len())
            .filter(|&index| definition.indexes()[index].kind.is_unique() && wanted(index))
            .collect();
        let metadata = exec.session.settings.binlog_row_metadata;
        RowWriter {
            definition,
            schema: definition.schema(),
            logged: (!definition.is_temporary()).then(|| definition.logged(metadata)),
            unique,
            key: Vec::with_capacity(64),
            image: Vec::with_capacity(256),
        }
    }

    fn transaction<'x>(exec: &'x mut Exec<'_, '_>) -> &'x mut Transaction {
        exec.runtime.transaction
    }

    /// Names the table in the log ahead of its rows; for statements that change several tables.
    pub fn announce(&self, exec: &mut Exec<'_, '_>) {
        if let Some(logged) = self.logged {
            exec.runtime.transaction.map_table(logged);
        }
    }

    /// Encodes a row.
    fn encode(&mut self, values: &[Value]) -> Result<()> {
        self.image.clear();
        self.schema.encode_row(values, &mut self.image)?;
        Ok(())
    }

    /// Inserts a row whose values are of their columns' types.
    pub fn insert(&mut self, exec: &mut Exec<'_, '_>, values: &[Value]) -> Result<Inserted> {
        self.encode(values)?;
        let transaction = Self::transaction(exec);
        for &index in &self.unique {
            self.key.clear();
            if !self.schema.append_unique_key(index, &self.image, &mut self.key)? {
                continue;
            }
            transaction.lock(&self.key, LockMode::Exclusive, LockWait::Default)?;
            if let Some(value) = transaction.probe_newest(&self.key)? {
                let mut row_key = Vec::with_capacity(self.key.len());
                self.schema
                    .append_row_key_of_entry(index, &self.key, &value, &mut row_key)?;
                return Ok(Inserted::Duplicate { index, row_key });
            }
        }
        let change = RowChange::Insert { after: &self.image };
        self.write(transaction, None, Some(&self.image), change)?;
        Ok(Inserted::Done)
    }

    /// Locks the row that stands in an insert's way and reads it. `None` if it has gone.
    pub fn conflicting_row(&self, exec: &mut Exec<'_, '_>, row_key: &[u8]) -> Result<Option<RowHandle>> {
        let transaction = Self::transaction(exec);
        transaction.lock(row_key, LockMode::Exclusive, LockWait::Default)?;
        let value = transaction
            .get_newest(row_key)
            .map_err(|error| transaction_error(error, self.definition))?;
        Ok(value.map(|value| RowHandle {
            key: row_key.to_vec(),
            image: value.payload().to_vec(),
            present: true,
        }))
    }

    /// Gives a row new values.
    pub fn update(&mut self, exec: &mut Exec<'_, '_>, row: &RowHandle, values: &[Value]) -> Result<Updated> {
        self.encode(values)?;
        if self.image == row.image {
            return Ok(Updated::Unchanged);
        }
        let key = self.actual_row(exec, row)?;
        let key = key.as_deref().unwrap_or(&row.key);
        let transaction = Self::transaction(exec);
        for &index in &self.unique {
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
                return Ok(Updated::Duplicate(index));
            }
        }
        let before = Row {
            image: &row.image,
            key: Some(key),
        };
        let change = RowChange::Update {
            before: &row.image,
            after: &self.image,
        };
        self.write(transaction, Some(before), Some(&self.image), change)?;
        Ok(Updated::Changed)
    }

    /// Deletes a row.
    pub fn delete(&mut self, exec: &mut Exec<'_, '_>, row: &RowHandle) -> Result<()> {
        let key = self.actual_row(exec, row)?;
        let key = key.as_deref().unwrap_or(&row.key);
        let transaction = Self::transaction(exec);
        let before = Row {
            image: &row.image,
            key: Some(key),
        };
        let change = RowChange::Delete { before: &row.image };
        self.write(transaction, Some(before), None, change)
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

    /// In a table without a primary key: which of the rows that look the same is meant, locked.
    fn actual_row(&self, exec: &mut Exec<'_, '_>, row: &RowHandle) -> Result<Option<Vec<u8>>> {
        let transaction = Self::transaction(exec);
        loop {
            let mut reader = NewestRows {
                transaction: &mut *transaction,
            };
            let Some(found) = self.schema.find_row(&row.image, &mut reader)? else {
                return Ok(None);
            };
            if found == row.key {
                return Ok(None);
            }
            transaction.lock(&found, LockMode::Exclusive, LockWait::Default)?;
            // It may have gone while its lock was waited for; then another one is meant.
            let same = transaction
                .get_newest(&found)
                .map_err(|error| transaction_error(error, self.definition))?
                .is_some_and(|value| value.payload() == row.image);
            if same {
                return Ok(Some(found));
            }
        }
    }

    /// 1062 for a row that an insert or update was refused for.
    pub fn duplicate_error(&self, exec: &mut Exec<'_, '_>, index: usize, values: &[Value]) -> Error {
        let definition = &self.definition.indexes()[index];
        let mut text = Vec::new();
        for (number, part) in definition.parts.iter().enumerate() {
            if number > 0 {
                text.push(b'-');
            }
            let data_type = &self.definition.columns()[part.column].data_type;
            match (&values[part.column], part.prefix_length) {
                (Value::Null, _) => text.extend_from_slice(b"NULL"),
                (Value::Text(value), Some(prefix)) => {
                    text.extend(
                        value
                            .chars()
                            .take(prefix as usize)
                            .collect::<String>()
                            .into_bytes(),
                    );
                }
                (value, _) => {
                    let zone = &exec.session.settings.time_zone;
                    paceline_types::text::append_column_value(&value.as_ref(), data_type, zone, &mut text);
                }
            }
        }
        let text = String::from_utf8_lossy(&text);
        Error::with_message(
            ER_DUP_ENTRY,
            format!("Duplicate entry '{text}' for key '{}'", definition.name),
        )
    }
}

/// The newest state with the transaction's own writes.
struct NewestRows<'x> {
    transaction: &'x mut Transaction,
}

impl RowReader for NewestRows<'_> {
    type Error = Error;

    fn visit_keys(&mut self, range: KeyRange, visit: &mut dyn FnMut(&[u8]) -> bool) -> Result<()> {
        let mut scan = self.transaction.scan_newest(range, Direction::Forward)?;
        while let Some(entry) = scan.next()? {
            if !visit(entry.key) {
                break;
            }
        }
        Ok(())
    }

    fn get(&mut self, key: &[u8], value: &mut Vec<u8>) -> Result<bool> {
        match self.transaction.probe_newest(key)? {
            Some(found) => {
                value.clear();
                value.extend_from_slice(&found);
                Ok(true)
            }
            None => Ok(false),
        }
    }
}
