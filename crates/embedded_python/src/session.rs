//! Sessions.

use crate::calls::PyCalls;
use crate::closable::Closable;
use crate::process_bound::ProcessBound;
use crate::session_cell::{OpenTransaction, SessionCell};
use crate::table::Table;
use crate::transaction::{Transaction, transaction_options};
use crate::values::from_sequence;
use paceline_embedded::Value;
use pyo3::prelude::*;
use pyo3::types::PyTuple;
use std::sync::Arc;

/// Number of rows of a batch that are made into values before the interpreter's lock is released for them.
const BATCH_ROWS: usize = 128;

/// A session of the program: one thread uses it at a time. Each call is a transaction of its own, which has committed,
/// durably, when it returns. `begin` begins one of several calls.
#[pyclass(frozen, extends = PyCalls, module = "paceline")]
pub struct Session {
    cell: ProcessBound<Arc<SessionCell>>,
}

impl Session {
    pub fn initializer(cell: Arc<SessionCell>) -> PyClassInitializer<Session> {
        let calls = PyCalls::of_session(cell.clone());
        PyClassInitializer::from(calls).add_subclass(Session {
            cell: ProcessBound::new(cell),
        })
    }
}

#[pymethods]
impl Session {
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

    /// Inserts the rows of an iterable in one transaction: all or none, with one wait for the log. Returns their
    /// number.
    fn insert_all(slf: &Bound<'_, Self>, table: &Table, rows: &Bound<'_, PyAny>) -> PyResult<u64> {
        let python = slf.py();
        let (cell, table) = (slf.get().cell.get()?, table.inner()?);
        let mut rows = rows.try_iter()?;
        let options = transaction_options(None, false)?;
        let transaction = python.detach(|| OpenTransaction::begin(cell, options))?;
        let mut count = 0;
        loop {
            let batch: PyResult<Vec<Vec<Value>>> = (rows.by_ref().take(BATCH_ROWS))
                .map(|row| from_sequence(&row?))
                .collect();
            let batch = batch?;
            if batch.is_empty() {
                break;
            }
            count += python.detach(|| {
                transaction.call(|transaction| {
                    let inserted = batch.into_iter().map(|row| transaction.insert(table, row));
                    let rows = inserted.map(|inserted| inserted.map(|affected| affected.rows));
                    Ok(rows.sum::<paceline_embedded::Result<u64>>()?)
                })
            })?;
        }
        python.detach(|| transaction.commit())?;
        Ok(count)
    }

    /// Begins a transaction. As a context manager it commits at the end of the block, and is rolled back by an
    /// exception.
    #[pyo3(signature = (*, isolation = None, read_only = false))]
    fn begin<'py>(
        &self,
        python: Python<'py>,
        isolation: Option<&str>,
        read_only: bool,
    ) -> PyResult<Bound<'py, Transaction>> {
        let options = transaction_options(isolation, read_only)?;
        Transaction::begin(python, self.cell.get()?, options)
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
            let transaction = Transaction::begin(python, self.cell.get()?, options)?;
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
