//! Sessions that several Python objects share: the session and its transaction.

use crate::closable::Closable;
use crate::errors::{CallError, Result};
use paceline_embedded::{Gtid, Interrupter, Transaction, TransactionOptions};
use parking_lot::Mutex;
use std::sync::Arc;

/// A session that its Python objects share.
pub struct SessionCell {
    state: Mutex<SessionState>,
    interrupter: Interrupter,
}

/// State of a session.
pub struct SessionState {
    /// `None` after the close.
    session: Option<paceline_embedded::Session>,
    /// Number of the open transaction.
    open: Option<u64>,
    /// Number of transactions that have begun.
    begun: u64,
}

impl SessionCell {
    pub fn new(session: paceline_embedded::Session) -> SessionCell {
        SessionCell {
            interrupter: session.interrupter(),
            state: Mutex::new(SessionState {
                session: Some(session),
                open: None,
                begun: 0,
            }),
        }
    }

    /// Runs a call of the session itself.
    ///
    /// # Errors
    /// Those of the call; a session in use, or closed, or with an open transaction.
    pub fn call<T>(&self, call: impl FnOnce(&mut paceline_embedded::Session) -> Result<T>) -> Result<T> {
        let mut state = self.state.try_lock().ok_or(CallError::InUse)?;
        match state.parts()? {
            (_, Some(_)) => Err(CallError::InTransaction),
            (session, None) => call(session),
        }
    }

    /// Runs a call that leaves an open transaction alone.
    ///
    /// # Errors
    /// Those of the call; a session in use, or closed.
    pub fn look<T>(&self, call: impl FnOnce(&paceline_embedded::Session) -> Result<T>) -> Result<T> {
        let mut state = self.state.try_lock().ok_or(CallError::InUse)?;
        let (session, _) = state.parts()?;
        call(session)
    }

    /// Ends the call that another thread makes.
    pub fn interrupt(&self) {
        self.interrupter.end_call();
    }
}

impl SessionState {
    fn parts(&mut self) -> Result<(&mut paceline_embedded::Session, Option<u64>)> {
        let session = self.session.as_mut().ok_or(CallError::Closed("session"))?;
        Ok((session, self.open))
    }

    fn transaction(&mut self, number: u64) -> Result<Transaction<'_>> {
        match self.parts()? {
            (session, Some(open)) if open == number => Ok(session.resume()),
            _ => Err(CallError::TransactionOver),
        }
    }
}

impl Closable for SessionCell {
    fn begin_close(&self) {
        self.interrupter.end_session();
    }

    fn close(&self) {
        self.state.lock().session = None;
    }
}

/// A transaction of a session. Dropping it rolls it back.
pub struct OpenTransaction {
    cell: Arc<SessionCell>,
    number: u64,
}

impl OpenTransaction {
    /// Begins one.
    ///
    /// # Errors
    /// Those of [`SessionCell::call`].
    pub fn begin(cell: &Arc<SessionCell>, options: TransactionOptions) -> Result<OpenTransaction> {
        let mut state = cell.state.try_lock().ok_or(CallError::InUse)?;
        match state.parts()? {
            (_, Some(_)) => Err(CallError::InTransaction),
            (session, None) => {
                session.begin(options)?.suspend();
                state.begun += 1;
                state.open = Some(state.begun);
                Ok(OpenTransaction {
                    cell: cell.clone(),
                    number: state.begun,
                })
            }
        }
    }

    /// Runs a call within it.
    ///
    /// # Errors
    /// Those of the call; a session in use or closed; a transaction that is over.
    pub fn call<T>(&self, call: impl FnOnce(&mut Transaction<'_>) -> Result<T>) -> Result<T> {
        let mut state = self.cell.state.try_lock().ok_or(CallError::InUse)?;
        let mut transaction = state.transaction(self.number)?;
        let done = call(&mut transaction);
        transaction.suspend();
        done
    }

    /// Commits it and returns its GTID.
    ///
    /// # Errors
    /// Those of the commit; a session in use or closed; a transaction that is over.
    pub fn commit(&self) -> Result<Option<Gtid>> {
        self.end(|transaction| transaction.commit())
    }

    /// Rolls it back.
    ///
    /// # Errors
    /// A session in use or closed; a transaction that is over.
    pub fn roll_back(&self) -> Result<()> {
        self.end(|transaction| {
            transaction.roll_back();
            Ok(())
        })
    }

    fn end<T>(&self, end: impl FnOnce(Transaction<'_>) -> paceline_embedded::Result<T>) -> Result<T> {
        let mut state = self.cell.state.try_lock().ok_or(CallError::InUse)?;
        let done = end(state.transaction(self.number)?);
        state.open = None;
        Ok(done?)
    }
}

impl Drop for OpenTransaction {
    fn drop(&mut self) {
        // An error means that it is over.
        let _ = self.roll_back();
    }
}
