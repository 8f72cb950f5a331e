//! Transactions of several calls.

use crate::errors::{CallError, Result};
use crate::process_bound::ProcessBound;
use crate::scan::{Locking, ScanOptions, check_no_prefix, deliver, prefixes_of, read_mode};
use crate::session_cell::SessionCell;
use crate::statement::{Affected, parameters_of, rows_to_python};
use crate::table::Table;
use crate::values::{from_key, from_sequence, row_to_python};
use paceline_embedded::{IsolationLevel, TransactionOptions, Value};
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use pyo3::types::{PyDict, PyList, PyTuple};
use std::sync::Arc;

/// Returns the options of a transaction.
pub fn transaction_options(isolation: Option<&str>, read_only: bool) -> PyResult<TransactionOptions> {
    let mut options = TransactionOptions::new();
    if let Some(level) = isolation {
        options = options.isolation(match level.to_ascii_uppercase().as_str() {
            "READ UNCOMMITTED" => IsolationLevel::ReadUncommitted,
            "READ COMMITTED" => IsolationLevel::ReadCommitted,
            "REPEATABLE READ" => IsolationLevel::RepeatableRead,
            "SERIALIZABLE" => IsolationLevel::Serializable,
            _ => {
                return Err(PyValueError::new_err(format!(
                    "there is no isolation level '{level}'"
                )));
            }
        });
    }
    Ok(if read_only { options.read_only() } else { options })
}

/// A transaction of several calls. Without a commit it is rolled back.
///
/// A conflict with another transaction (1213, 1020) has rolled it back when the call returns. After other errors the
/// call is undone, and the transaction continues.
#[pyclass(frozen, module = "paceline")]
pub struct Transaction {
    open: ProcessBound<OpenTransaction>,
}

/// A transaction of a session. Dropping it rolls it back.
struct OpenTransaction {
    cell: Arc<SessionCell>,
    number: u64,
}

impl Drop for OpenTransaction {
    fn drop(&mut self) {
        // An error means that it is over.
        let _ = self.cell.end(self.number, |transaction| {
            transaction.roll_back();
            Ok(())
        });
    }
}

impl Transaction {
    /// Begins one.
    ///
    /// # Errors
    /// Those of the session.
    pub fn begin(
        python: Python<'_>,
        cell: Arc<SessionCell>,
        options: TransactionOptions,
    ) -> Result<Transaction> {
        let number = python.detach(|| cell.begin(options))?;
        let open = ProcessBound::new(OpenTransaction { cell, number });
        Ok(Transaction { open })
    }

    /// Runs a call without the interpreter's lock.
    fn call<T: Send>(
        &self,
        python: Python<'_>,
        call: impl Send + FnOnce(&mut paceline_embedded::Transaction<'_>) -> Result<T>,
    ) -> Result<T> {
        let open = self.open.get()?;
        python.detach(|| open.cell.call_within(open.number, call))
    }

    /// Inserts rows and returns their number.
    ///
    /// # Errors
    /// Those of the first row that fails.
    pub fn insert_rows(
        &self,
        python: Python<'_>,
        table: &paceline_embedded::Table,
        rows: Vec<Vec<Value>>,
    ) -> Result<u64> {
        self.call(python, |transaction| {
            let mut count = 0;
            for row in rows {
                count += transaction.insert(table, row)?.rows;
            }
            Ok(count)
        })
    }

    /// Commits it and returns its GTID.
    ///
    /// # Errors
    /// Those of the commit.
    pub fn end_with_commit(&self, python: Python<'_>) -> Result<Option<String>> {
        let open = self.open.get()?;
        let gtid = python.detach(|| open.cell.end(open.number, |transaction| transaction.commit()))?;
        Ok(gtid.map(|gtid| gtid.to_string()))
    }

    /// Rolls it back, unless it is over.
    ///
    /// # Errors
    /// A session in use.
    pub fn roll_back_if_open(&self, python: Python<'_>) -> Result<()> {
        match self.roll_back(python) {
            Err(CallError::TransactionOver | CallError::Closed(_)) => Ok(()),
            done => done,
        }
    }

    fn roll_back(&self, python: Python<'_>) -> Result<()> {
        let open = self.open.get()?;
        python.detach(|| {
            open.cell.end(open.number, |transaction| {
                transaction.roll_back();
                Ok(())
            })
        })
    }
}

#[pymethods]
impl Transaction {
    /// Executes a statement within the transaction. One that commits by itself, such as CREATE TABLE, ends it.
    #[pyo3(signature = (text, parameters = None, /))]
    fn execute(
        &self,
        python: Python<'_>,
        text: &str,
        parameters: Option<&Bound<'_, PyAny>>,
    ) -> PyResult<Affected> {
        let values = parameters_of(parameters)?;
        let done = self.call(python, |transaction| Ok(transaction.execute(text, values)?));
        Ok(done?.into())
    }

    /// Executes a query within the transaction and returns its rows: a list of tuples.
    #[pyo3(signature = (text, parameters = None, /))]
    fn query(
        &self,
        python: Python<'_>,
        text: &str,
        parameters: Option<&Bound<'_, PyAny>>,
    ) -> PyResult<Py<PyList>> {
        let values = parameters_of(parameters)?;
        let rows = self.call(python, |transaction| Ok(transaction.query(text, values)?))?;
        rows_to_python(python, rows)
    }

    /// Returns the row with this key, or None, perhaps under lock: `lock` is "shared" or "exclusive", `wait` "nowait",
    /// "skip locked" or a number of seconds.
    #[pyo3(signature = (table, key, /, index = None, *, lock = None, wait = None))]
    fn get<'py>(
        &self,
        python: Python<'py>,
        table: &Table,
        key: &Bound<'py, PyAny>,
        index: Option<&str>,
        lock: Option<&str>,
        wait: Option<&Bound<'py, PyAny>>,
    ) -> PyResult<Option<Bound<'py, PyTuple>>> {
        let (table, key, mode) = (table.inner()?, from_key(key)?, read_mode(lock, wait)?);
        let row = self.call(python, |transaction| {
            let row = transaction.get_by(table, index, key, mode)?;
            Ok(row
                .map(|row| row.values())
                .transpose()
                .map_err(paceline_embedded::Error::from)?)
        })?;
        row.map(|row| row_to_python(python, &row)).transpose()
    }

    /// Reads a part of an index, as the session's scan does, perhaps under lock.
    #[pyo3(signature = (table, /, **options))]
    fn scan(
        &self,
        python: Python<'_>,
        table: &Table,
        options: Option<&Bound<'_, PyDict>>,
    ) -> PyResult<Py<PyAny>> {
        let options = ScanOptions::read(options, Locking::Allowed)?;
        let (open, table) = (self.open.get()?, table.inner()?);
        Ok(deliver(python, &options, |scan, visit| {
            let within = |transaction: &mut paceline_embedded::Transaction<'_>| {
                Ok(transaction.scan(table, scan, visit)?)
            };
            open.cell.call_within(open.number, within)
        })?)
    }

    /// Repeats a scan for each of these values of the index's first columns.
    #[pyo3(signature = (table, prefixes, /, **options))]
    fn scan_each(
        &self,
        python: Python<'_>,
        table: &Table,
        prefixes: &Bound<'_, PyAny>,
        options: Option<&Bound<'_, PyDict>>,
    ) -> PyResult<Py<PyAny>> {
        let options = ScanOptions::read(options, Locking::Allowed)?;
        check_no_prefix(&options)?;
        let prefixes = prefixes_of(prefixes)?;
        let (open, table) = (self.open.get()?, table.inner()?);
        Ok(deliver(python, &options, |scan, visit| {
            let within = |transaction: &mut paceline_embedded::Transaction<'_>| {
                Ok(transaction.scan_each(table, scan, prefixes, visit)?)
            };
            open.cell.call_within(open.number, within)
        })?)
    }

    /// Inserts a row.
    fn insert(&self, python: Python<'_>, table: &Table, row: &Bound<'_, PyAny>) -> PyResult<Affected> {
        let (table, row) = (table.inner()?, from_sequence(row)?);
        let done = self.call(python, |transaction| Ok(transaction.insert(table, row)?));
        Ok(done?.into())
    }

    /// Inserts a row in the place of those that have one of its unique values (REPLACE).
    fn replace(&self, python: Python<'_>, table: &Table, row: &Bound<'_, PyAny>) -> PyResult<Affected> {
        let (table, row) = (table.inner()?, from_sequence(row)?);
        let done = self.call(python, |transaction| Ok(transaction.replace(table, row)?));
        Ok(done?.into())
    }

    /// Sets the handle's columns in the row with this key.
    fn update(
        &self,
        python: Python<'_>,
        table: &Table,
        key: &Bound<'_, PyAny>,
        row: &Bound<'_, PyAny>,
    ) -> PyResult<Affected> {
        let (table, key, row) = (table.inner()?, from_key(key)?, from_sequence(row)?);
        let done = self.call(python, |transaction| Ok(transaction.update(table, key, row)?));
        Ok(done?.into())
    }

    /// Deletes the row with this key.
    fn delete(&self, python: Python<'_>, table: &Table, key: &Bound<'_, PyAny>) -> PyResult<Affected> {
        let (table, key) = (table.inner()?, from_key(key)?);
        let done = self.call(python, |transaction| Ok(transaction.delete(table, key)?));
        Ok(done?.into())
    }

    /// Commits it: what was changed is in the log, synced, and visible to all. Returns the transaction's GTID, or None
    /// if it has changed nothing.
    fn commit(&self, python: Python<'_>) -> PyResult<Option<String>> {
        Ok(self.end_with_commit(python)?)
    }

    /// Undoes everything.
    fn rollback(&self, python: Python<'_>) -> PyResult<()> {
        Ok(self.roll_back(python)?)
    }

    fn __enter__(slf: Py<Self>) -> Py<Self> {
        slf
    }

    #[pyo3(signature = (class, *_error))]
    fn __exit__(
        &self,
        python: Python<'_>,
        class: &Bound<'_, PyAny>,
        _error: &Bound<'_, PyTuple>,
    ) -> PyResult<()> {
        if !class.is_none() {
            return Ok(self.roll_back_if_open(python)?);
        }
        // It may have been ended within the block.
        match self.end_with_commit(python) {
            Err(CallError::TransactionOver) => Ok(()),
            done => Ok(done.map(|_| ())?),
        }
    }
}
