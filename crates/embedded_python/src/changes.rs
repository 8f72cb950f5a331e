//! Following the log.

use crate::closable::{Closable, ObjectList};
use crate::errors::{CallError, Result};
use crate::process_bound::ProcessBound;
use crate::scan::{Delivery, Wanted};
use crate::values::row_to_python;
use paceline_embedded::{ChangeRef, Gtid, Value};
use parking_lot::Mutex;
use pyo3::prelude::*;
use pyo3::types::{PyList, PyTuple};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

/// Longest wait until a signal of the program (Ctrl-C), or a close, is seen. A transaction is seen at once.
const SIGNALS_SEEN_WITHIN: Duration = Duration::from_millis(100);

/// A stream of the log, or one of its transactions, that a close of the database ends.
pub struct StreamCell<T> {
    /// `None` after the close.
    stream: Mutex<Option<T>>,
    is_closing: AtomicBool,
    /// Noun for the error of a closed one.
    what: &'static str,
}

impl<T: Send> StreamCell<T> {
    pub fn new(stream: T, what: &'static str) -> StreamCell<T> {
        StreamCell {
            stream: Mutex::new(Some(stream)),
            is_closing: AtomicBool::new(false),
            what,
        }
    }

    fn call<R>(&self, call: impl FnOnce(&mut T) -> Result<R>) -> Result<R> {
        if self.is_closing.load(Ordering::Relaxed) {
            return Err(CallError::Closed(self.what));
        }
        let mut stream = self.stream.try_lock().ok_or(CallError::InUse)?;
        stream.as_mut().map_or(Err(CallError::Closed(self.what)), call)
    }
}

impl<T: Send> Closable for StreamCell<T> {
    fn begin_close(&self) {
        self.is_closing.store(true, Ordering::Relaxed);
    }

    fn close(&self) {
        *self.stream.lock() = None;
    }
}

/// The committed transactions from a position on: an iterator that waits for the next one.
#[pyclass(frozen, module = "paceline")]
pub struct Changes {
    cell: ProcessBound<Arc<StreamCell<paceline_embedded::Changes>>>,
    /// The database's objects, of which each transaction becomes one.
    objects: Arc<ObjectList>,
    timeout: Option<Duration>,
}

impl Changes {
    pub fn new(
        cell: Arc<StreamCell<paceline_embedded::Changes>>,
        objects: Arc<ObjectList>,
        timeout: Option<Duration>,
    ) -> Changes {
        Changes {
            cell: ProcessBound::new(cell),
            objects,
            timeout,
        }
    }
}

#[pymethods]
impl Changes {
    /// GTID position after the last transaction that was returned. The next stream continues there.
    #[getter]
    fn position(&self, python: Python<'_>) -> PyResult<String> {
        let cell = self.cell.get()?;
        Ok(python.detach(|| cell.call(|stream| Ok(stream.position())))?)
    }

    fn __iter__(slf: Py<Self>) -> Py<Self> {
        slf
    }

    fn __next__(&self, python: Python<'_>) -> PyResult<Option<LoggedTransaction>> {
        let cell = self.cell.get()?;
        let end = self.timeout.map(|timeout| Instant::now() + timeout);
        loop {
            let rest = end.map(|end| end.saturating_duration_since(Instant::now()));
            let wait = rest.map_or(SIGNALS_SEEN_WITHIN, |rest| rest.min(SIGNALS_SEEN_WITHIN));
            let next = python.detach(|| {
                cell.call(|stream| {
                    let next = stream.next(Some(wait))?;
                    // In the list before a close can take the stream: it finds the transaction, too.
                    Ok(next.map(|transaction| LoggedTransaction::new(transaction, &self.objects)))
                })
            })?;
            if next.is_some() {
                return Ok(next);
            }
            python.check_signals()?;
            if rest.is_some_and(|rest| rest.is_zero()) {
                return Ok(None);
            }
        }
    }

    /// Ends the stream: the files of the log that it needs may be purged from then on.
    fn close(&self, python: Python<'_>) -> PyResult<()> {
        // In a child of fork there is nothing to close.
        let Ok(cell) = self.cell.get() else {
            return Ok(());
        };
        cell.begin_close();
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

/// A committed transaction of the log.
#[pyclass(frozen, module = "paceline")]
pub struct LoggedTransaction {
    cell: ProcessBound<Arc<StreamCell<paceline_embedded::LoggedTransaction>>>,
    gtid: Gtid,
    seconds: u32,
}

impl LoggedTransaction {
    fn new(transaction: paceline_embedded::LoggedTransaction, objects: &ObjectList) -> LoggedTransaction {
        let (gtid, seconds) = (transaction.gtid(), transaction.seconds());
        let cell = Arc::new(StreamCell::new(transaction, "database"));
        objects.add(&cell);
        LoggedTransaction {
            cell: ProcessBound::new(cell),
            gtid,
            seconds,
        }
    }
}

#[pymethods]
impl LoggedTransaction {
    /// Its GTID.
    #[getter]
    fn gtid(&self) -> String {
        self.gtid.to_string()
    }

    /// Time when it was logged, in seconds since 1970.
    #[getter]
    fn seconds(&self) -> u32 {
        self.seconds
    }

    /// Returns its changes, in order, as a list. With a function it calls the function with each, until it returns
    /// False: so a large transaction needs no more memory than a small one.
    #[pyo3(signature = (visit = None, /))]
    fn changes(&self, python: Python<'_>, visit: Option<Py<PyAny>>) -> PyResult<Py<PyAny>> {
        let cell = self.cell.get()?;
        let list = PyList::empty(python).unbind();
        python.detach(|| {
            let mut delivery = Delivery::new(&list, visit.as_ref(), |python, change: &OwnedChange| {
                Ok(change.to_python(python)?.into_any())
            });
            let mut is_ended = false;
            cell.call(|transaction| {
                let all = transaction.for_each(|change| {
                    if !is_ended {
                        let change = OwnedChange::new(&change);
                        let bytes = change.bytes();
                        is_ended = delivery.push(change, bytes) == Wanted::Nothing;
                    }
                    Ok(())
                });
                Ok(all?)
            })?;
            delivery.end()
        })?;
        Ok(match visit {
            Some(_) => python.None(),
            None => list.into_any(),
        })
    }

    fn __repr__(&self) -> String {
        format!("<paceline.LoggedTransaction {}>", self.gtid)
    }
}

/// A change without the borrow of its transaction.
struct OwnedChange {
    database: String,
    table: Option<String>,
    columns: Vec<String>,
    before: Option<Vec<Value>>,
    after: Option<Vec<Value>>,
    statement: Option<String>,
}

impl OwnedChange {
    fn new(change: &ChangeRef<'_>) -> OwnedChange {
        match change {
            ChangeRef::Row(row) => OwnedChange {
                database: row.database.to_owned(),
                table: Some(row.table.to_owned()),
                columns: row.columns.to_vec(),
                before: row.before.map(<[Value]>::to_vec),
                after: row.after.map(<[Value]>::to_vec),
                statement: None,
            },
            ChangeRef::Statement { database, text } => OwnedChange {
                database: (*database).to_owned(),
                table: None,
                columns: Vec::new(),
                before: None,
                after: None,
                statement: Some((*text).to_owned()),
            },
        }
    }

    fn bytes(&self) -> usize {
        let rows = [&self.before, &self.after];
        let of_rows = rows
            .into_iter()
            .flatten()
            .flatten()
            .map(Value::memory_bytes)
            .sum::<usize>();
        of_rows + self.statement.as_ref().map_or(0, String::len)
    }

    fn to_python(&self, python: Python<'_>) -> PyResult<Py<Change>> {
        let row = |row: &Option<Vec<Value>>| {
            let row = row.as_ref().map(|row| row_to_python(python, row));
            Ok::<_, PyErr>(row.transpose()?.map(Bound::unbind))
        };
        let kind = match (&self.before, &self.after) {
            (None, None) => "statement",
            (None, Some(_)) => "insert",
            (Some(_), None) => "delete",
            (Some(_), Some(_)) => "update",
        };
        let change = Change {
            kind,
            database: self.database.clone(),
            table: self.table.clone(),
            columns: PyTuple::new(python, &self.columns)?.unbind(),
            before: row(&self.before)?,
            after: row(&self.after)?,
            statement: self.statement.clone(),
        };
        Py::new(python, change)
    }
}

/// A change of a row, or a statement that is logged as text (CREATE TABLE and others).
#[pyclass(frozen, get_all, module = "paceline")]
pub struct Change {
    /// "insert", "update", "delete" or "statement".
    kind: &'static str,
    /// Database of the table; default database of the statement.
    database: String,
    /// Name of the table; None for a statement.
    table: Option<String>,
    /// Names of the columns; empty if they are not known.
    columns: Py<PyTuple>,
    /// The row before; None for an insert.
    before: Option<Py<PyTuple>>,
    /// The row after; None for a delete.
    after: Option<Py<PyTuple>>,
    /// Text of the statement.
    statement: Option<String>,
}

#[pymethods]
impl Change {
    fn __repr__(&self) -> String {
        match (&self.table, &self.statement) {
            (Some(table), _) => format!("<paceline.Change {} {}.{table}>", self.kind, self.database),
            (None, Some(text)) => format!("<paceline.Change {text:?}>"),
            (None, None) => String::from("<paceline.Change>"),
        }
    }
}
