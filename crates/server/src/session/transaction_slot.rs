//! The current transaction of a session, if there is one.

use paceline_syntax::{Error, Result};
use paceline_txn::{AccessMode, IsolationLevel, Transaction};
use paceline_types::error_code::ER_UNKNOWN_ERROR;

/// Current transaction of a session.
#[derive(Default)]
pub struct TransactionSlot {
    pub(super) state: State,
    /// SET TRANSACTION for the next transaction: isolation and access.
    pub(super) next_isolation: Option<IsolationLevel>,
    pub(super) next_access: Option<AccessMode>,
}

/// Boxed, so that each statement's transaction reuses recently used memory. If it were stored in the session, its
/// memory would no longer be in the caches when many sessions take turns.
#[derive(Default)]
pub(super) enum State {
    #[default]
    None,
    /// Transaction of one statement.
    Single(Box<Transaction>),
    /// Transaction until COMMIT or ROLLBACK.
    Open(Box<Transaction>),
    /// Like `Open`, after an error that has undone the whole transaction (1213). The next statement begins another one.
    Undone,
}

impl TransactionSlot {
    /// Returns whether a transaction is open beyond the statement.
    pub fn is_open(&self) -> bool {
        matches!(self.state, State::Open(_))
    }

    /// Returns whether there is a transaction, including that of a single statement.
    pub fn is_active(&self) -> bool {
        matches!(self.state, State::Open(_) | State::Single(_))
    }

    /// Returns whether the open transaction has changed rows.
    pub fn has_writes(&self) -> bool {
        matches!(&self.state, State::Open(transaction) if transaction.has_writes())
    }

    /// Returns whether the transaction, open or of a single statement, has changed rows.
    pub fn changes_rows(&self) -> bool {
        match &self.state {
            State::Open(transaction) | State::Single(transaction) => transaction.has_writes(),
            State::None | State::Undone => false,
        }
    }

    /// Returns whether statements of the transaction could have changed rows, and none has.
    pub fn has_changed_nothing(&self) -> bool {
        match &self.state {
            State::Open(transaction) | State::Single(transaction) => transaction.has_changed_nothing(),
            State::None | State::Undone => false,
        }
    }

    /// Returns whether the open transaction is READ ONLY.
    pub fn is_read_only(&self) -> bool {
        matches!(&self.state, State::Open(transaction) if transaction.options().access == AccessMode::ReadOnly)
    }

    /// Returns the isolation level of the current transaction, if there is one.
    pub fn isolation(&self) -> Option<IsolationLevel> {
        match &self.state {
            State::Open(transaction) | State::Single(transaction) => Some(transaction.isolation()),
            State::None | State::Undone => None,
        }
    }

    /// Returns the current transaction.
    pub fn get_mut(&mut self) -> Option<&mut Transaction> {
        match &mut self.state {
            State::Open(transaction) | State::Single(transaction) => Some(transaction),
            State::None | State::Undone => None,
        }
    }

    /// Returns the current transaction, which the caller must have entered.
    ///
    /// # Errors
    /// 1105 if there is none.
    pub fn running(&mut self) -> Result<&mut Transaction> {
        self.get_mut().ok_or_else(|| Error::new(ER_UNKNOWN_ERROR, &[]))
    }

    /// Removes and returns the current transaction.
    pub(super) fn take(&mut self) -> Option<Box<Transaction>> {
        match std::mem::take(&mut self.state) {
            State::Open(transaction) | State::Single(transaction) => Some(transaction),
            State::None | State::Undone => None,
        }
    }

    /// Rolls back without a notification to the client, because the session ends.
    pub fn abandon(&mut self) {
        if let Some(transaction) = self.take() {
            transaction.rollback();
        }
    }

    /// Sets the options of SET TRANSACTION without SESSION or GLOBAL.
    pub fn set_next(&mut self, isolation: Option<IsolationLevel>, access: Option<AccessMode>) {
        self.next_isolation = isolation.or(self.next_isolation);
        self.next_access = access.or(self.next_access);
    }
}
