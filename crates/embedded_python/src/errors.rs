//! Errors of calls, and the exceptions that they become: PyMySQL's classes, which the module has as its own.

use pyo3::prelude::*;
use pyo3::sync::PyOnceLock;

/// Result of a call.
pub type Result<T, E = CallError> = std::result::Result<T, E>;

/// Error of a call.
#[derive(Debug)]
pub enum CallError {
    /// An error of the database.
    Database(paceline_embedded::Error),
    /// Another thread, or the function that a scan calls, uses the session.
    InUse,
    /// A call of the session while a transaction of it is open.
    InTransaction,
    /// The transaction was committed or rolled back.
    TransactionOver,
    /// The object, or its database, was closed.
    Closed(&'static str),
    /// The object belongs to another process.
    OtherProcess,
    /// An argument or a value: the exception.
    Python(PyErr),
}

impl From<paceline_embedded::Error> for CallError {
    fn from(error: paceline_embedded::Error) -> CallError {
        CallError::Database(error)
    }
}

impl From<PyErr> for CallError {
    fn from(error: PyErr) -> CallError {
        CallError::Python(error)
    }
}

/// Number of the client library's error for a connection that cannot be made, which an open is.
const CR_CONNECTION_ERROR: u16 = 2002;
/// That for one that is no more.
const CR_SERVER_GONE_ERROR: u16 = 2006;
/// That for a call in the middle of another.
const CR_COMMANDS_OUT_OF_SYNC: u16 = 2014;
/// Number of the error that a replica gets for a position that it cannot read from.
const ER_MASTER_FATAL_ERROR_READING_BINLOG: u16 = 1236;
/// SQLSTATE of errors without one of their own.
const GENERAL_ERROR: &str = "HY000";

impl From<CallError> for PyErr {
    fn from(error: CallError) -> PyErr {
        Python::attach(|python| exception(python, &error).unwrap_or_else(|error| error))
    }
}

fn exception(python: Python<'_>, error: &CallError) -> PyResult<PyErr> {
    use paceline_embedded::Error;
    let client = |class, number, message: &str| made(python, class, number, GENERAL_ERROR, message);
    match error {
        CallError::Python(error) => Ok(error.clone_ref(python)),
        CallError::InUse => client(
            "ProgrammingError",
            CR_COMMANDS_OUT_OF_SYNC,
            "the session is in use by another call",
        ),
        CallError::InTransaction => client(
            "ProgrammingError",
            CR_COMMANDS_OUT_OF_SYNC,
            "a transaction of the session is open; its calls are those of the transaction",
        ),
        CallError::TransactionOver => client(
            "ProgrammingError",
            CR_COMMANDS_OUT_OF_SYNC,
            "the transaction was committed or rolled back",
        ),
        CallError::Closed(what) => client("InterfaceError", 0, &format!("the {what} is closed")),
        CallError::OtherProcess => client(
            "OperationalError",
            CR_SERVER_GONE_ERROR,
            "the database belongs to the parent of this process: a child of fork cannot use it, or open another one",
        ),
        CallError::Database(error) => {
            let text = error.to_string();
            match error {
                Error::Statement(_) => {
                    let number = error.number().unwrap_or_default();
                    made(
                        python,
                        "",
                        number,
                        error.sqlstate().unwrap_or(GENERAL_ERROR),
                        &text,
                    )
                }
                Error::Log(_) => client("OperationalError", ER_MASTER_FATAL_ERROR_READING_BINLOG, &text),
                Error::Open(_) | Error::InUse | Error::Listen(_) | Error::Connect(_) => {
                    client("OperationalError", CR_CONNECTION_ERROR, &text)
                }
            }
        }
    }
}

/// Returns the exception for a number: of the class, or without one of the class that PyMySQL has for the number.
fn made(python: Python<'_>, class: &str, number: u16, sqlstate: &str, message: &str) -> PyResult<PyErr> {
    static MAKER: PyOnceLock<Py<PyAny>> = PyOnceLock::new();
    let maker = MAKER.get_or_try_init(python, || {
        Ok::<_, PyErr>(python.import("paceline.errors")?.getattr("exception")?.unbind())
    })?;
    let exception = maker.bind(python).call1((class, number, sqlstate, message))?;
    Ok(PyErr::from_value(exception))
}

/// Returns the exception for a value that MariaDB's type does not have (1690).
pub fn out_of_range(python: Python<'_>, data_type: &str, value: &Bound<'_, PyAny>) -> PyErr {
    const ER_DATA_OUT_OF_RANGE: u16 = 1690;
    let shown = value.str().map(|text| text.to_string()).unwrap_or_default();
    let text = format!("{data_type} value is out of range in '{shown}'");
    made(python, "DataError", ER_DATA_OUT_OF_RANGE, "22003", &text).unwrap_or_else(|error| error)
}
