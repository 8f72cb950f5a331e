//! Scans: their options, and the way of their rows to the program.

use crate::errors::{CallError, Result};
use crate::values::{from_key, row_to_python};
use paceline_embedded::{LockMode, LockWait, ReadMode, RowError, RowRef, Scan, Value};
use pyo3::exceptions::{PyTypeError, PyValueError};
use pyo3::prelude::*;
use pyo3::types::{PyDict, PyList};
use std::time::Duration;

/// Number of rows that are read before the interpreter's lock is taken for them.
const BATCH_ROWS: usize = 128;
/// Size of the rows from which on they are passed on before there are as many.
const BATCH_BYTES: usize = 256 << 10;

/// Options of a scan, as values that the interpreter's lock is not needed for.
#[derive(Default)]
pub struct ScanOptions {
    index: Option<String>,
    prefix: Option<Vec<Value>>,
    at_least: Option<Vec<Value>>,
    after: Option<Vec<Value>>,
    at_most: Option<Vec<Value>>,
    before: Option<Vec<Value>>,
    is_backward: bool,
    limit: Option<u64>,
    mode: ReadMode,
    /// Function that is called with each row.
    visit: Option<Py<PyAny>>,
}

/// Whether rows may be locked: only within a transaction, because the locks would end with the call.
#[derive(Clone, Copy, PartialEq, Eq)]
pub enum Locking {
    Allowed,
    Refused,
}

impl ScanOptions {
    /// Reads them from the call's arguments.
    pub fn read(options: Option<&Bound<'_, PyDict>>, locking: Locking) -> PyResult<ScanOptions> {
        let mut read = ScanOptions::default();
        let (mut lock, mut wait) = (None, None);
        for (name, value) in options.into_iter().flatten() {
            let name = name.extract::<String>()?;
            if value.is_none() {
                continue;
            }
            let bound = || from_key(&value).map(Some);
            match name.as_str() {
                "index" => read.index = Some(value.extract()?),
                "prefix" => read.prefix = bound()?,
                "at_least" => read.at_least = bound()?,
                "after" => read.after = bound()?,
                "at_most" => read.at_most = bound()?,
                "before" => read.before = bound()?,
                "backward" => read.is_backward = value.extract()?,
                "limit" => read.limit = Some(value.extract()?),
                "visit" => read.visit = Some(value.unbind()),
                "lock" => lock = Some(value.extract::<String>()?),
                "wait" => wait = Some(value),
                _ => return Err(PyTypeError::new_err(format!("a scan has no option '{name}'"))),
            }
        }
        read.mode = read_mode(lock.as_deref(), wait.as_ref(), locking)?;
        Ok(read)
    }

    /// Returns the scan.
    pub fn scan(&self) -> Scan<'_> {
        let mut scan = match &self.index {
            Some(index) => Scan::index(index),
            None => Scan::rows(),
        };
        if let Some(values) = &self.prefix {
            scan = scan.prefix(&values[..]);
        }
        if let Some(values) = &self.at_least {
            scan = scan.at_least(&values[..]);
        }
        if let Some(values) = &self.after {
            scan = scan.after(&values[..]);
        }
        if let Some(values) = &self.at_most {
            scan = scan.at_most(&values[..]);
        }
        if let Some(values) = &self.before {
            scan = scan.before(&values[..]);
        }
        if self.is_backward {
            scan = scan.backward();
        }
        if let Some(rows) = self.limit {
            scan = scan.limit(rows);
        }
        scan.locking(self.mode)
    }

    /// Returns whether a prefix is among them.
    pub fn has_prefix(&self) -> bool {
        self.prefix.is_some()
    }
}

/// Returns how rows are read: `lock` is "shared" or "exclusive", `wait` "nowait", "skip locked" or seconds.
pub fn read_mode(
    lock: Option<&str>,
    wait: Option<&Bound<'_, PyAny>>,
    locking: Locking,
) -> PyResult<ReadMode> {
    let mode = match lock {
        None if wait.is_none() => return Ok(ReadMode::Snapshot),
        _ if locking == Locking::Refused => {
            return Err(PyTypeError::new_err("rows are locked within a transaction only"));
        }
        Some("shared") => LockMode::Shared,
        Some("exclusive") => LockMode::Exclusive,
        _ => return Err(PyValueError::new_err("lock is 'shared' or 'exclusive'")),
    };
    let wait = match wait {
        None => LockWait::Default,
        Some(wait) => match wait.extract::<String>().as_deref() {
            Ok("nowait") => LockWait::NoWait,
            Ok("skip locked") => LockWait::SkipLocked,
            Ok(_) => {
                return Err(PyValueError::new_err(
                    "wait is 'nowait', 'skip locked' or a number of seconds",
                ));
            }
            Err(_) => LockWait::Timeout(seconds(wait)?),
        },
    };
    Ok(ReadMode::Locked { mode, wait })
}

/// Returns a duration of a number of seconds.
pub fn seconds(value: &Bound<'_, PyAny>) -> PyResult<Duration> {
    Duration::try_from_secs_f64(value.extract()?).map_err(|error| PyValueError::new_err(error.to_string()))
}

/// Items on their way to the program: to a list, or to a function. They are collected without the interpreter's lock.
pub struct Delivery<'a, T> {
    to: Destination<'a>,
    convert: fn(Python<'_>, &T) -> PyResult<Py<PyAny>>,
    items: Vec<T>,
    bytes: usize,
    rows_max: usize,
    /// Error of the function, or of a value that Python does not have.
    failed: Option<PyErr>,
}

#[derive(Clone, Copy)]
enum Destination<'a> {
    List(&'a Py<PyList>),
    Function(&'a Py<PyAny>),
}

/// Whether more items are wanted.
#[derive(Clone, Copy, PartialEq, Eq)]
pub enum Wanted {
    More,
    Nothing,
}

impl<'a, T> Delivery<'a, T> {
    /// Begins a delivery to the function, or to the list without one.
    pub fn new(
        list: &'a Py<PyList>,
        function: Option<&'a Py<PyAny>>,
        convert: fn(Python<'_>, &T) -> PyResult<Py<PyAny>>,
    ) -> Delivery<'a, T> {
        Delivery {
            to: function.map_or(Destination::List(list), Destination::Function),
            convert,
            items: Vec::new(),
            bytes: 0,
            rows_max: BATCH_ROWS,
            failed: None,
        }
    }

    /// Adds an item. Passes the batch on when it is full.
    pub fn push(&mut self, item: T, bytes: usize) -> Wanted {
        self.items.push(item);
        self.bytes += bytes;
        match self.items.len() >= self.rows_max || self.bytes >= BATCH_BYTES {
            true => self.flush(),
            false => Wanted::More,
        }
    }

    fn flush(&mut self) -> Wanted {
        self.bytes = 0;
        let passed = Python::attach(|python| {
            for item in self.items.drain(..) {
                let item = (self.convert)(python, &item)?;
                match self.to {
                    Destination::List(list) => list.bind(python).append(item)?,
                    Destination::Function(function) => {
                        let wants = function.bind(python).call1((item,))?;
                        if wants
                            .cast::<pyo3::types::PyBool>()
                            .is_ok_and(|wants| !wants.is_true())
                        {
                            return Ok(Wanted::Nothing);
                        }
                    }
                }
            }
            Ok(Wanted::More)
        });
        passed.unwrap_or_else(|error| {
            self.failed = Some(error);
            Wanted::Nothing
        })
    }

    /// Passes on the rest.
    ///
    /// # Errors
    /// Those of the function.
    pub fn end(mut self) -> Result<()> {
        if self.failed.is_none() && !self.items.is_empty() {
            self.flush();
        }
        self.failed.map_or(Ok(()), |error| Err(CallError::Python(error)))
    }
}

/// Runs a scan: `run` gets the scan and a visitor for it. Returns the list of the rows, or None if a function got them.
pub fn deliver<'py>(
    python: Python<'py>,
    options: &ScanOptions,
    run: impl Send + FnOnce(&Scan<'_>, &mut dyn FnMut(RowRef<'_>) -> Result<bool, RowError>) -> Result<()>,
) -> Result<Py<PyAny>> {
    let list = PyList::empty(python).unbind();
    python.detach(|| {
        let mut delivery = Delivery::new(&list, options.visit.as_ref(), |python, row: &Vec<Value>| {
            Ok(row_to_python(python, row)?.into_any().unbind())
        });
        if options.mode != ReadMode::Snapshot && options.visit.is_some() {
            // A row that the function does not want to see must not be locked.
            delivery.rows_max = 1;
        }
        let mut is_ended = false;
        run(&options.scan(), &mut |row| {
            let bytes = row.image().len();
            is_ended = delivery.push(row.values()?, bytes) == Wanted::Nothing;
            Ok(!is_ended)
        })?;
        delivery.end()
    })?;
    Ok(match options.visit {
        Some(_) => python.None(),
        None => list.into_any(),
    })
}

/// Returns the values of a list of prefixes.
pub fn prefixes_of(prefixes: &Bound<'_, PyAny>) -> PyResult<Vec<Vec<Value>>> {
    prefixes.try_iter()?.map(|prefix| from_key(&prefix?)).collect()
}

/// Refuses a prefix beside a list of prefixes.
pub fn check_no_prefix(options: &ScanOptions) -> PyResult<()> {
    match options.has_prefix() {
        true => Err(PyTypeError::new_err(
            "a scan of each prefix has no option 'prefix'",
        )),
        false => Ok(()),
    }
}
