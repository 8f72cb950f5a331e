//! Transactions of several calls.

use crate::calls::PyCalls;
use crate::errors::{CallError, Result};
use crate::process_bound::ProcessBound;
use crate::session_cell::{OpenTransaction, SessionCell};
use paceline_embedded::{IsolationLevel, TransactionOptions};
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use pyo3::types::PyTuple;
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
#[pyclass(frozen, extends = PyCalls, module = "paceline")]
pub struct Transaction {
    open: ProcessBound<Arc<OpenTransaction>>,
}

impl Transaction {
    /// Begins one.
    ///
    /// # Errors
    /// Those of the session.
    pub fn begin<'py>(
        python: Python<'py>,
        cell: &Arc<SessionCell>,
        options: TransactionOptions,
    ) -> PyResult<Bound<'py, Transaction>> {
        let open = Arc::new(python.detach(|| OpenTransaction::begin(cell, options))?);
        let calls = PyClassInitializer::from(PyCalls::of_transaction(open.clone()));
        let open = ProcessBound::new(open);
        Bound::new(python, calls.add_subclass(Transaction { open }))
    }

    /// Commits it and returns its GTID.
    ///
    /// # Errors
    /// Those of the commit.
    pub fn end_with_commit(&self, python: Python<'_>) -> Result<Option<String>> {
        let open = self.open.get()?;
        let gtid = python.detach(|| open.commit())?;
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
        python.detach(|| open.roll_back())
    }
}

#[pymethods]
impl Transaction {
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
