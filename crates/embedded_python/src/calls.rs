//! Calls that a session and a transaction have in common: statements, and rows by their keys.

use crate::errors::Result;
use crate::process_bound::ProcessBound;
use crate::scan::{Locking, ScanOptions, check_no_prefix, deliver, prefixes_of, read_mode};
use crate::session_cell::{OpenTransaction, SessionCell};
use crate::statement::{Affected, parameters_of, rows_to_python};
use crate::table::Table;
use crate::values::{from_key, from_sequence, row_to_python};
use paceline_embedded::{CollectedRows, ReadMode, RowError, RowRef, Scan, Value};
use pyo3::prelude::*;
use pyo3::types::{PyDict, PyList, PyTuple};
use std::sync::Arc;

type Visitor<'v> = &'v mut dyn FnMut(RowRef<'_>) -> Result<bool, RowError>;

/// A session of which each call is a transaction, or a transaction of several calls.
pub trait Calls {
    fn execute(&mut self, text: &str, values: Vec<Value>) -> Result<paceline_embedded::Affected>;
    fn query(&mut self, text: &str, values: Vec<Value>) -> Result<CollectedRows>;
    fn get(
        &mut self,
        table: &paceline_embedded::Table,
        index: Option<&str>,
        key: Vec<Value>,
        mode: ReadMode,
    ) -> Result<Option<Vec<Value>>>;
    fn scan(&mut self, table: &paceline_embedded::Table, scan: &Scan<'_>, visit: Visitor<'_>) -> Result<()>;
    fn scan_each(
        &mut self,
        table: &paceline_embedded::Table,
        scan: &Scan<'_>,
        prefixes: Vec<Vec<Value>>,
        visit: Visitor<'_>,
    ) -> Result<()>;
    fn change(
        &mut self,
        table: &paceline_embedded::Table,
        change: RowChange,
    ) -> Result<paceline_embedded::Affected>;
}

/// Change of one row.
pub enum RowChange {
    Insert(Vec<Value>),
    Replace(Vec<Value>),
    Update { key: Vec<Value>, row: Vec<Value> },
    Delete { key: Vec<Value> },
}

/// Implements what has the same form for both.
macro_rules! same_calls {
    () => {
        fn execute(&mut self, text: &str, values: Vec<Value>) -> Result<paceline_embedded::Affected> {
            Ok(self.execute(text, values)?)
        }

        fn query(&mut self, text: &str, values: Vec<Value>) -> Result<CollectedRows> {
            Ok(self.query(text, values)?)
        }

        fn scan(
            &mut self,
            table: &paceline_embedded::Table,
            scan: &Scan<'_>,
            visit: Visitor<'_>,
        ) -> Result<()> {
            Ok(self.scan(table, scan, visit)?)
        }

        fn scan_each(
            &mut self,
            table: &paceline_embedded::Table,
            scan: &Scan<'_>,
            prefixes: Vec<Vec<Value>>,
            visit: Visitor<'_>,
        ) -> Result<()> {
            Ok(self.scan_each(table, scan, prefixes, visit)?)
        }

        fn change(
            &mut self,
            table: &paceline_embedded::Table,
            change: RowChange,
        ) -> Result<paceline_embedded::Affected> {
            Ok(match change {
                RowChange::Insert(row) => self.insert(table, row)?,
                RowChange::Replace(row) => self.replace(table, row)?,
                RowChange::Update { key, row } => self.update(table, key, row)?,
                RowChange::Delete { key } => self.delete(table, key)?,
            })
        }
    };
}

impl Calls for paceline_embedded::Session {
    fn get(
        &mut self,
        table: &paceline_embedded::Table,
        index: Option<&str>,
        key: Vec<Value>,
        mode: ReadMode,
    ) -> Result<Option<Vec<Value>>> {
        assert_eq!(mode, ReadMode::Snapshot, "a lock would end with the call");
        Ok(self.get_by(table, index, key, |row| row.values())?)
    }

    same_calls!();
}

impl Calls for paceline_embedded::Transaction<'_> {
    fn get(
        &mut self,
        table: &paceline_embedded::Table,
        index: Option<&str>,
        key: Vec<Value>,
        mode: ReadMode,
    ) -> Result<Option<Vec<Value>>> {
        let row = self.get_by(table, index, key, mode)?;
        let values = row.map(|row| row.values()).transpose();
        Ok(values.map_err(paceline_embedded::Error::from)?)
    }

    same_calls!();
}

/// Object of Python that calls go to.
enum Callee {
    Session(Arc<SessionCell>),
    Transaction(Arc<OpenTransaction>),
}

/// Base of the classes `Session` and `Transaction`.
#[pyclass(frozen, subclass, module = "paceline", name = "_Calls")]
pub struct PyCalls {
    callee: ProcessBound<Callee>,
}

impl PyCalls {
    pub fn of_session(cell: Arc<SessionCell>) -> PyCalls {
        PyCalls {
            callee: ProcessBound::new(Callee::Session(cell)),
        }
    }

    pub fn of_transaction(open: Arc<OpenTransaction>) -> PyCalls {
        PyCalls {
            callee: ProcessBound::new(Callee::Transaction(open)),
        }
    }

    /// Runs a call, without the interpreter's lock.
    fn call<T: Send>(
        &self,
        python: Python<'_>,
        call: impl Send + FnOnce(&mut dyn Calls) -> Result<T>,
    ) -> Result<T> {
        let callee = self.callee.get()?;
        python.detach(|| callee.call(call))
    }

    fn change(&self, python: Python<'_>, table: &Table, change: RowChange) -> PyResult<Affected> {
        let table = table.inner()?;
        Ok(self.call(python, |calls| calls.change(table, change))?.into())
    }

    fn locking(&self) -> Result<Locking> {
        Ok(match self.callee.get()? {
            Callee::Session(_) => Locking::Refused,
            Callee::Transaction(_) => Locking::Allowed,
        })
    }
}

impl Callee {
    fn call<T>(&self, call: impl FnOnce(&mut dyn Calls) -> Result<T>) -> Result<T> {
        match self {
            Callee::Session(cell) => cell.call(|session| call(session)),
            Callee::Transaction(open) => open.call(|transaction| call(transaction)),
        }
    }
}

#[pymethods]
impl PyCalls {
    /// Executes a text that is one statement, with values for its parameters (`?`). Within a transaction one that
    /// commits by itself, such as CREATE TABLE, ends it.
    #[pyo3(signature = (text, parameters = None, /))]
    fn execute(
        &self,
        python: Python<'_>,
        text: &str,
        parameters: Option<&Bound<'_, PyAny>>,
    ) -> PyResult<Affected> {
        let values = parameters_of(parameters)?;
        Ok(self.call(python, |calls| calls.execute(text, values))?.into())
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
        let rows = self.call(python, |calls| calls.query(text, values))?;
        rows_to_python(python, rows)
    }

    /// Returns the row with this key, or None: the primary key or, without one, the first unique key without NULL, or
    /// that of a unique index. A transaction may lock it: `lock` is "shared" or "exclusive", `wait` "nowait", "skip
    /// locked" or a number of seconds.
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
        let mode = read_mode(lock, wait, self.locking()?)?;
        let (table, key) = (table.inner()?, from_key(key)?);
        let row = self.call(python, |calls| calls.get(table, index, key, mode))?;
        row.map(|row| row_to_python(python, &row)).transpose()
    }

    /// Reads a part of an index, in its order or backward: returns a list of rows, or calls the function `visit` with
    /// each row until it returns False. A transaction may lock the rows.
    #[pyo3(signature = (table, /, **options))]
    fn scan(
        &self,
        python: Python<'_>,
        table: &Table,
        options: Option<&Bound<'_, PyDict>>,
    ) -> PyResult<Py<PyAny>> {
        let options = ScanOptions::read(options, self.locking()?)?;
        let (callee, table) = (self.callee.get()?, table.inner()?);
        Ok(deliver(python, &options, |scan, visit| {
            callee.call(|calls| calls.scan(table, scan, visit))
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
        let options = ScanOptions::read(options, self.locking()?)?;
        check_no_prefix(&options)?;
        let prefixes = prefixes_of(prefixes)?;
        let (callee, table) = (self.callee.get()?, table.inner()?);
        Ok(deliver(python, &options, |scan, visit| {
            callee.call(|calls| calls.scan_each(table, scan, prefixes, visit))
        })?)
    }

    /// Inserts a row: the values of the handle's columns.
    fn insert(&self, python: Python<'_>, table: &Table, row: &Bound<'_, PyAny>) -> PyResult<Affected> {
        self.change(python, table, RowChange::Insert(from_sequence(row)?))
    }

    /// Inserts a row in the place of those that have one of its unique values (REPLACE).
    fn replace(&self, python: Python<'_>, table: &Table, row: &Bound<'_, PyAny>) -> PyResult<Affected> {
        self.change(python, table, RowChange::Replace(from_sequence(row)?))
    }

    /// Sets the handle's columns in the row with this key.
    fn update(
        &self,
        python: Python<'_>,
        table: &Table,
        key: &Bound<'_, PyAny>,
        row: &Bound<'_, PyAny>,
    ) -> PyResult<Affected> {
        let (key, row) = (from_key(key)?, from_sequence(row)?);
        self.change(python, table, RowChange::Update { key, row })
    }

    /// Deletes the row with this key.
    fn delete(&self, python: Python<'_>, table: &Table, key: &Bound<'_, PyAny>) -> PyResult<Affected> {
        let key = from_key(key)?;
        self.change(python, table, RowChange::Delete { key })
    }
}
