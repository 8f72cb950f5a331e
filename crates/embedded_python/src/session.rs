//! Sessions.

use crate::closable::Closable;
use crate::errors::Result;
use crate::process_bound::ProcessBound;
use crate::scan::{Locking, ScanOptions, check_no_prefix, deliver, prefixes_of};
use crate::session_cell::SessionCell;
use crate::statement::{Affected, parameters_of, rows_to_python};
use crate::table::Table;
use crate::transaction::{Transaction, transaction_options};
use crate::values::{from_key, from_sequence, row_to_python};
use paceline_embedded::Value;
use pyo3::prelude::*;
use pyo3::types::{PyDict, PyList, PyTuple};
use std::sync::Arc;

/// Number of rows of a batch that are made into values before the interpreter's lock is released for them.
const BATCH_ROWS: usize = 128;

/// A session of the program: one thread uses it at a time. Each call is a transaction of its own, which has committed,
/// durably, when it returns. `begin` begins one of several calls.
#[pyclass(frozen, module = "paceline")]
pub struct Session {
    cell: ProcessBound<Arc<SessionCell>>,
}

impl Session {
    pub fn new(cell: Arc<SessionCell>) -> Session {
        Session {
            cell: ProcessBound::new(cell),
        }
    }

    /// Runs a call without the interpreter's lock.
    fn call<T: Send>(
        &self,
        python: Python<'_>,
        call: impl Send + FnOnce(&mut paceline_embedded::Session) -> Result<T>,
    ) -> Result<T> {
        let cell = self.cell.get()?;
        python.detach(|| cell.call(call))
    }
}

#[pymethods]
impl Session {
    /// Executes a text that is one statement, with values for its parameters (`?`).
    #[pyo3(signature = (text, parameters = None, /))]
    fn execute(
        &self,
        python: Python<'_>,
        text: &str,
        parameters: Option<&Bound<'_, PyAny>>,
    ) -> PyResult<Affected> {
        let values = parameters_of(parameters)?;
        let done = self.call(python, |session| Ok(session.execute(text, values)?));
        Ok(done?.into())
    }

    /// Executes a query and returns its rows: a list of tuples.
    #[pyo3(signature = (text, parameters = None, /))]
    fn query(
        &self,
        python: Python<'_>,
        text: &str,
        parameters: Option<&Bound<'_, PyAny>>,
    ) -> PyResult<Py<PyList>> {
        let values = parameters_of(parameters)?;
        let rows = self.call(python, |session| Ok(session.query(text, values)?))?;
        rows_to_python(python, rows)
    }

    /// Returns a handle of a table, "database.table" or one of the database of USE: with these columns, in this order,
    /// or with all.
    #[pyo3(signature = (name, columns = None, /))]
    fn table(&self, python: Python<'_>, name: &str, columns: Option<Vec<String>>) -> PyResult<Table> {
        let find = |session: &paceline_embedded::Session| {
            Ok(match &columns {
                Some(columns) => {
                    session.table_columns(name, &columns.iter().map(String::as_str).collect::<Vec<_>>())?
                }
                None => session.table(name)?,
            })
        };
        let cell = self.cell.get()?;
        Ok(Table::new(python.detach(|| cell.look(find))?))
    }

    /// Returns the row with this key, or None: the primary key or, without one, the first unique key without NULL, or
    /// that of a unique index.
    #[pyo3(signature = (table, key, /, index = None))]
    fn get<'py>(
        &self,
        python: Python<'py>,
        table: &Table,
        key: &Bound<'py, PyAny>,
        index: Option<&str>,
    ) -> PyResult<Option<Bound<'py, PyTuple>>> {
        let (table, key) = (table.inner()?, from_key(key)?);
        let row = self.call(python, |session| {
            Ok(session.get_by(table, index, key, |row| row.values())?)
        })?;
        row.map(|row| row_to_python(python, &row)).transpose()
    }

    /// Reads a part of an index, in its order or backward: returns a list of rows, or calls the function `visit` with
    /// each row until it returns False.
    #[pyo3(signature = (table, /, **options))]
    fn scan(
        &self,
        python: Python<'_>,
        table: &Table,
        options: Option<&Bound<'_, PyDict>>,
    ) -> PyResult<Py<PyAny>> {
        let options = ScanOptions::read(options, Locking::Refused)?;
        let (cell, table) = (self.cell.get()?, table.inner()?);
        Ok(deliver(python, &options, |scan, visit| {
            cell.call(|session| Ok(session.scan(table, scan, visit)?))
        })?)
    }

    /// Repeats a scan for each of these values of the index's first columns, with one cursor and one snapshot. The
    /// limit is that of each part.
    #[pyo3(signature = (table, prefixes, /, **options))]
    fn scan_each(
        &self,
        python: Python<'_>,
        table: &Table,
        prefixes: &Bound<'_, PyAny>,
        options: Option<&Bound<'_, PyDict>>,
    ) -> PyResult<Py<PyAny>> {
        let options = ScanOptions::read(options, Locking::Refused)?;
        check_no_prefix(&options)?;
        let prefixes = prefixes_of(prefixes)?;
        let (cell, table) = (self.cell.get()?, table.inner()?);
        Ok(deliver(python, &options, |scan, visit| {
            cell.call(|session| Ok(session.scan_each(table, scan, prefixes, visit)?))
        })?)
    }

    /// Inserts a row: the values of the handle's columns.
    fn insert(&self, python: Python<'_>, table: &Table, row: &Bound<'_, PyAny>) -> PyResult<Affected> {
        let (table, row) = (table.inner()?, from_sequence(row)?);
        Ok(self
            .call(python, |session| Ok(session.insert(table, row)?))?
            .into())
    }

    /// Inserts a row in the place of those that have one of its unique values (REPLACE).
    fn replace(&self, python: Python<'_>, table: &Table, row: &Bound<'_, PyAny>) -> PyResult<Affected> {
        let (table, row) = (table.inner()?, from_sequence(row)?);
        Ok(self
            .call(python, |session| Ok(session.replace(table, row)?))?
            .into())
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
        let done = self.call(python, |session| Ok(session.update(table, key, row)?));
        Ok(done?.into())
    }

    /// Deletes the row with this key.
    fn delete(&self, python: Python<'_>, table: &Table, key: &Bound<'_, PyAny>) -> PyResult<Affected> {
        let (table, key) = (table.inner()?, from_key(key)?);
        Ok(self
            .call(python, |session| Ok(session.delete(table, key)?))?
            .into())
    }

    /// Inserts the rows of an iterable in one transaction: all or none, with one wait for the log. Returns their
    /// number.
    fn insert_all(slf: &Bound<'_, Self>, table: &Table, rows: &Bound<'_, PyAny>) -> PyResult<u64> {
        let python = slf.py();
        let (cell, table) = (slf.get().cell.get()?, table.inner()?);
        let mut rows = rows.try_iter()?;
        let transaction = Transaction::begin(python, cell.clone(), transaction_options(None, false)?)?;
        let mut count = 0;
        loop {
            let batch: PyResult<Vec<Vec<Value>>> = (rows.by_ref().take(BATCH_ROWS))
                .map(|row| from_sequence(&row?))
                .collect();
            let batch = batch?;
            if batch.is_empty() {
                break;
            }
            count += transaction.insert_rows(python, table, batch)?;
        }
        transaction.end_with_commit(python)?;
        Ok(count)
    }

    /// Begins a transaction. As a context manager it commits at the end of the block, and is rolled back by an
    /// exception.
    #[pyo3(signature = (*, isolation = None, read_only = false))]
    fn begin(&self, python: Python<'_>, isolation: Option<&str>, read_only: bool) -> PyResult<Transaction> {
        let options = transaction_options(isolation, read_only)?;
        Ok(Transaction::begin(python, self.cell.get()?.clone(), options)?)
    }

    /// Calls a function with a transaction, commits it, and returns what the function has returned. If the transaction
    /// conflicts with another one (1213, 1020), the function is called again: at most `attempts` times in all.
    #[pyo3(signature = (function, /, attempts = 1, *, isolation = None, read_only = false))]
    fn transact<'py>(
        &self,
        python: Python<'py>,
        function: &Bound<'py, PyAny>,
        attempts: u64,
        isolation: Option<&str>,
        read_only: bool,
    ) -> PyResult<Bound<'py, PyAny>> {
        let options = transaction_options(isolation, read_only)?;
        let mut attempt = 1;
        loop {
            let transaction = Transaction::begin(python, self.cell.get()?.clone(), options)?;
            let transaction = Bound::new(python, transaction)?;
            let done = function.call1((&transaction,)).and_then(|value| {
                transaction.get().end_with_commit(python)?;
                Ok(value)
            });
            match done {
                Ok(value) => return Ok(value),
                Err(error) => {
                    transaction.get().roll_back_if_open(python)?;
                    if attempt >= attempts || !is_conflict(python, &error) {
                        return Err(error);
                    }
                    attempt += 1;
                }
            }
        }
    }

    /// Ends the call that another thread makes with this session: it gets 1317. Without one it does nothing.
    fn interrupt(&self) -> PyResult<()> {
        self.cell.get()?.interrupt();
        Ok(())
    }

    /// Closes the session. Its open transaction is rolled back. A second close does nothing.
    fn close(&self, python: Python<'_>) -> PyResult<()> {
        // In a child of fork there is nothing to close.
        let Ok(cell) = self.cell.get() else {
            return Ok(());
        };
        python.detach(|| cell.close());
        Ok(())
    }

    fn __enter__(slf: Py<Self>) -> Py<Self> {
        slf
    }

    #[pyo3(signature = (*_error))]
    fn __exit__(&self, python: Python<'_>, _error: &Bound<'_, PyTuple>) -> PyResult<()> {
        self.close(python)
    }
}

/// Returns whether an exception is that of a transaction that was rolled back because of another one.
fn is_conflict(python: Python<'_>, error: &PyErr) -> bool {
    let number = || -> PyResult<i64> {
        let class = python.import("paceline.errors")?.getattr("Error")?;
        if !error.value(python).is_instance(&class)? {
            return Ok(0);
        }
        error.value(python).getattr("args")?.get_item(0)?.extract()
    };
    matches!(number(), Ok(1213 | 1020))
}
