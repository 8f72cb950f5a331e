//! Sessions that several Python objects share: the session and its transaction.

use crate::closable::Closable;
use crate::errors::{CallError, Result};
use paceline_embedded::Interrupter;
use parking_lot::Mutex;

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

    /// Begins a transaction and returns its number.
    ///
    /// # Errors
    /// Those of [`SessionCell::call`].
    pub fn begin(&self, options: paceline_embedded::TransactionOptions) -> Result<u64> {
        let mut state = self.state.try_lock().ok_or(CallError::InUse)?;
        match state.parts()? {
            (_, Some(_)) => Err(CallError::InTransaction),
            (session, None) => {
                session.begin(options)?.suspend();
                state.begun += 1;
                state.open = Some(state.begun);
                Ok(state.begun)
            }
        }
    }

    /// Runs a call of the transaction with this number.
    ///
    /// # Errors
    /// Those of the call; a session in use or closed; a transaction that is over.
    pub fn call_within<T>(
        &self,
        number: u64,
        call: impl FnOnce(&mut paceline_embedded::Transaction<'_>) -> Result<T>,
    ) -> Result<T> {
        let mut state = self.state.try_lock().ok_or(CallError::InUse)?;
        match state.parts()? {
            (session, Some(open)) if open == number => {
                let mut transaction = session.resume();
                let done = call(&mut transaction);
                transaction.suspend();
                done
            }
            _ => Err(CallError::TransactionOver),
        }
    }

    /// Ends the transaction with this number.
    ///
    /// # Errors
    /// Those of the end; a session in use or closed; a transaction that is over.
    pub fn end<T>(
        &self,
        number: u64,
        end: impl FnOnce(paceline_embedded::Transaction<'_>) -> paceline_embedded::Result<T>,
    ) -> Result<T> {
        let mut state = self.state.try_lock().ok_or(CallError::InUse)?;
        match state.parts()? {
            (session, Some(open)) if open == number => {
                let done = end(session.resume());
                state.open = None;
                Ok(done?)
            }
            _ => Err(CallError::TransactionOver),
        }
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
}

impl Closable for SessionCell {
    fn begin_close(&self) {
        self.interrupter.end_session();
    }

    fn close(&self) {
        self.state.lock().session = None;
    }
}
