//! The part of the Python module `paceline` that is the server.
//!
//! ```text
//!   paceline.connect(directory)      paceline/__init__.py
//!      │
//!      ├─▶ Database                  this crate: opens, connects, listens, closes
//!      │        │ a descriptor
//!      └─▶ PyMySQL over that descriptor: DB-API 2.0
//! ```
//!
//! PyMySQL is the driver, because it is given a connected socket by its caller, is only Python, and programs know it. A
//! DB-API of our own over typed rows would have to repeat its conversions of values and classes of errors.

mod static_destructors;

use paceline_embedded::{ListenAddress, Options};
use parking_lot::Mutex;
use pyo3::exceptions::{PyOSError, PyValueError};
use pyo3::prelude::*;
use std::os::fd::IntoRawFd;
use std::path::PathBuf;

/// An open database. Its methods block without holding the interpreter.
#[pyclass(frozen)]
struct Database {
    /// `None` after the close.
    database: Mutex<Option<paceline_embedded::Database>>,
}

#[pymethods]
impl Database {
    /// Opens the database in a directory; creates it if it does not exist. Options are those of the server, with their
    /// values; `None` for an option without one.
    #[new]
    fn new(
        python: Python<'_>,
        directory: PathBuf,
        options: Vec<(String, Option<String>)>,
    ) -> PyResult<Database> {
        let mut all = Options::new();
        for (name, value) in options {
            all = match value {
                Some(value) => all.set(&name, &value),
                None => all.argument(&format!("--{name}")),
            };
        }
        let opened = python.detach(|| paceline_embedded::Database::open(directory, all));
        let database = opened.map_err(|error| PyOSError::new_err(error.to_string()))?;
        Ok(Database {
            database: Mutex::new(Some(database)),
        })
    }

    /// Returns the descriptor of a new connection of the client protocol, which is the caller's.
    fn connect(&self, python: Python<'_>) -> PyResult<i32> {
        let database = self.open_database()?;
        let connected = python.detach(|| database.connect());
        let connection = connected.map_err(|error| PyOSError::new_err(error.to_string()))?;
        Ok(connection.into_raw_fd())
    }

    /// Lets other programs connect: through a UNIX socket if the address has a `/`, otherwise over TCP. Returns the port,
    /// 0 for a UNIX socket.
    #[pyo3(signature = (address, port = 0))]
    fn listen(&self, python: Python<'_>, address: String, port: u16) -> PyResult<u16> {
        let database = self.open_database()?;
        let address = match address.contains('/') {
            true => ListenAddress::Socket(PathBuf::from(address)),
            false => ListenAddress::Tcp { address, port },
        };
        match python.detach(|| database.listen(address)) {
            Ok(ListenAddress::Tcp { port, .. }) => Ok(port),
            Ok(ListenAddress::Socket(_)) => Ok(0),
            Err(error) => Err(PyOSError::new_err(error.to_string())),
        }
    }

    /// Stops to listen on all addresses. Connections that exist go on.
    fn stop_listening(&self, python: Python<'_>) -> PyResult<()> {
        let database = self.open_database()?;
        python.detach(|| database.stop_listening());
        Ok(())
    }

    /// Closes the database: ends all connections, flushes the tables, closes the log. A second close does nothing.
    fn close(&self, python: Python<'_>) -> PyResult<()> {
        let Some(database) = self.database.lock().take() else {
            return Ok(());
        };
        let closed = python.detach(|| database.close());
        closed.map_err(|error| PyOSError::new_err(error.to_string()))
    }
}

impl Database {
    /// Returns the database.
    ///
    /// # Errors
    /// `ValueError` after the close, as Python's files do.
    fn open_database(&self) -> PyResult<paceline_embedded::Database> {
        let database = self.database.lock().clone();
        database.ok_or_else(|| PyValueError::new_err("the database is closed"))
    }
}

/// The module.
#[pymodule]
fn _native(module: &Bound<'_, PyModule>) -> PyResult<()> {
    module.add_class::<Database>()
}
