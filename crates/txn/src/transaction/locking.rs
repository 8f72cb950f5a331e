//! Locks of a transaction on keys and ranges. Temporary tables belong to one session, so nothing in them is
//! locked.

use super::Transaction;
use super::temporary_changes::is_temporary;
use crate::error::Result;
use crate::lock::{LockManager, LockMode, LockOutcome, LockWait, WaitLimit};
use paceline_storage::KeyRange;

/// Number of key locks that a transaction held at some moment: see [`Transaction::unlock_since`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct LockMark(usize);

impl Transaction {
    /// Locks a key of an index until the transaction ends, whether such a row exists or not. Blocks the thread
    /// while it waits. Afterwards [`Transaction::get_newest`] reads what the lock protects.
    ///
    /// # Errors
    /// [`crate::Error::LockWaitTimeout`] (1205; the statement must be rolled back), [`crate::Error::Deadlock`]
    /// (1213; the transaction *is* rolled back), [`crate::Error::TooManyLocks`] (1206; it is rolled back too),
    /// [`crate::Error::Interrupted`].
    pub fn lock(&mut self, key: &[u8], mode: LockMode, wait: LockWait) -> Result<LockOutcome> {
        self.check_active()?;
        if is_temporary(key) {
            return Ok(LockOutcome::Granted);
        }
        let wait_limit = WaitLimit::new(wait, self.options.row_lock_timeout);
        let locked = self
            .session
            .locks
            .lock_key(&self.session.owner, &mut self.held, key, mode, wait_limit);
        self.undo_if_victim(locked)
    }

    /// Locks a range against writers (shared next-key lock), existing keys and gaps alike. Only SERIALIZABLE
    /// needs it.
    ///
    /// # Errors
    /// Those of [`Transaction::lock`].
    pub fn lock_range(&mut self, range: &KeyRange, wait: LockWait) -> Result<LockOutcome> {
        self.check_active()?;
        if is_temporary(&range.start) {
            return Ok(LockOutcome::Granted);
        }
        let wait_limit = WaitLimit::new(wait, self.options.row_lock_timeout);
        let locked = self
            .session
            .locks
            .lock_range(&self.session.owner, &mut self.held, range, wait_limit);
        self.undo_if_victim(locked)
    }

    /// Returns the number of key locks held now.
    pub fn lock_mark(&self) -> LockMark {
        LockMark(LockManager::key_locks_held(&self.held))
    }

    /// Releases the key locks taken since the mark: for a row that was locked and then did not match (as InnoDB
    /// does below REPEATABLE READ). Nothing may have been written under them.
    pub fn unlock_since(&mut self, mark: LockMark) {
        self.session
            .locks
            .release_newest(&self.session.owner, &mut self.held, mark.0);
    }
}
