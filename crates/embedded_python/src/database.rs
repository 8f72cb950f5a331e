//! Open databases.

use crate::changes::{Changes, StreamCell};
use crate::closable::{Closable, ObjectList};
use crate::errors::{CallError, Result};
use crate::process_bound::{ProcessBound, begin_process};
use crate::scan::seconds;
use crate::session::Session;
use crate::session_cell::SessionCell;
use paceline_embedded::{ListenAddress, Options};
use parking_lot::RwLock;
use pyo3::prelude::*;
use std::os::fd::IntoRawFd;
use std::path::PathBuf;
use std::sync::Arc;

/// An open database. Its methods wait without the interpreter's lock.
#[pyclass(frozen)]
pub struct Database {
    opened: ProcessBound<OpenedDatabase>,
}

struct OpenedDatabase {
    /// `None` after the close. Held for reading during a call.
    database: RwLock<Option<paceline_embedded::Database>>,
    objects: Arc<ObjectList>,
}

impl OpenedDatabase {
    fn call<T>(
        &self,
        call: impl FnOnce(&paceline_embedded::Database) -> paceline_embedded::Result<T>,
    ) -> Result<T> {
        let database = self.database.read();
        let database = database.as_ref().ok_or(CallError::Closed("database"))?;
        Ok(call(database)?)
    }

    /// Makes an object. A close waits until it is in the list, and ends it then.
    fn make<C: Closable + 'static>(
        &self,
        make: impl FnOnce(&paceline_embedded::Database) -> paceline_embedded::Result<C>,
    ) -> Result<Arc<C>> {
        self.call(|database| {
            let object = Arc::new(make(database)?);
            self.objects.add(&object);
            Ok(object)
        })
    }

    fn close(&self) -> Result<()> {
        let Some(database) = self.database.write().take() else {
            return Ok(());
        };
        self.objects.close();
        Ok(database.close()?)
    }
}

#[pymethods]
impl Database {
    /// Opens the database in a directory; creates it if it does not exist. Options are those of the server, with their
    /// values; None for an option without one.
    #[new]
    fn new(
        python: Python<'_>,
        directory: PathBuf,
        options: Vec<(String, Option<String>)>,
    ) -> PyResult<Database> {
        begin_process()?;
        let mut all = Options::new();
        for (name, value) in options {
            all = match value {
                Some(value) => all.set(&name, &value),
                None => all.argument(&format!("--{name}")),
            };
        }
        let opened = python.detach(|| paceline_embedded::Database::open(directory, all));
        let database = opened.map_err(CallError::from)?;
        Ok(Database {
            opened: ProcessBound::new(OpenedDatabase {
                database: RwLock::new(Some(database)),
                objects: Arc::new(ObjectList::new()),
            }),
        })
    }

    /// Returns the descriptor of a new connection of the client protocol, which is the caller's.
    fn connect(&self, python: Python<'_>) -> PyResult<i32> {
        let opened = self.opened.get()?;
        let connection = python.detach(|| opened.call(|database| database.connect()))?;
        Ok(connection.into_raw_fd())
    }

    /// Begins a session of the program.
    fn session<'py>(&self, python: Python<'py>) -> PyResult<Bound<'py, Session>> {
        let opened = self.opened.get()?;
        let cell = python.detach(|| opened.make(|database| Ok(SessionCell::new(database.session()?))))?;
        Bound::new(python, Session::initializer(cell))
    }

    /// Follows the log from a GTID position on.
    fn changes(
        &self,
        python: Python<'_>,
        position: &str,
        timeout: Option<&Bound<'_, PyAny>>,
    ) -> PyResult<Changes> {
        let timeout = timeout.map(seconds).transpose()?;
        let opened = self.opened.get()?;
        let cell = python.detach(|| {
            opened.make(|database| Ok(StreamCell::new(database.changes(position)?, "change stream")))
        })?;
        Ok(Changes::new(cell, opened.objects.clone(), timeout))
    }

    /// GTID position of what is committed now.
    fn position(&self, python: Python<'_>) -> PyResult<String> {
        let opened = self.opened.get()?;
        Ok(python.detach(|| opened.call(|database| Ok(database.position())))?)
    }

    /// Lets other programs connect: through a UNIX socket if the address has a `/`, otherwise over TCP. Returns the
    /// port, 0 for a UNIX socket.
    fn listen(&self, python: Python<'_>, address: String, port: u16) -> PyResult<u16> {
        let opened = self.opened.get()?;
        let address = match address.contains('/') {
            true => ListenAddress::Socket(PathBuf::from(address)),
            false => ListenAddress::Tcp { address, port },
        };
        match python.detach(|| opened.call(|database| database.listen(address)))? {
            ListenAddress::Tcp { port, .. } => Ok(port),
            ListenAddress::Socket(_) => Ok(0),
        }
    }

    /// Stops to listen on all addresses. Connections that exist go on.
    fn stop_listening(&self, python: Python<'_>) -> PyResult<()> {
        let opened = self.opened.get()?;
        python.detach(|| {
            opened.call(|database| {
                database.stop_listening();
                Ok(())
            })
        })?;
        Ok(())
    }

    /// Closes the database: ends its connections, sessions and streams, flushes the tables, closes the log. A second
    /// close does nothing.
    fn close(&self, python: Python<'_>) -> PyResult<()> {
        // In a child of fork there is nothing to close.
        let Ok(opened) = self.opened.get() else {
            return Ok(());
        };
        python.detach(|| opened.close())?;
        Ok(())
    }
}
