//! Locking keys and ranges for a transaction. Those of temporary tables are nobody else's: nothing is locked there.

use super::Transaction;
use super::temporary::is_temporary;
use crate::error::Result;
use crate::lock::{Granted, LockManager, LockMode, LockWait, Patience};
use paceline_storage::KeyRange;

/// How many key locks a transaction held at some moment: see [`Transaction::unlock_since`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct LockMark(usize);

impl Transaction {
    /// Locks a key of an index, whether there is such a row or not, until the transaction ends. Blocks the thread while it
    /// waits. After it, [`Transaction::get_newest`] reads what the lock protects.
    ///
    /// # Errors
    /// [`crate::Error::LockWaitTimeout`] (1205; the statement is to be rolled back), [`crate::Error::Deadlock`] (1213; the
    /// transaction *is* rolled back), [`crate::Error::TooManyLocks`] (1206; so it is), [`crate::Error::Interrupted`].
    pub fn lock(&mut self, key: &[u8], mode: LockMode, wait: LockWait) -> Result<Granted> {
        self.check_active()?;
        if is_temporary(key) {
            return Ok(Granted::Granted);
        }
        let patience = Patience::new(wait, self.options.row_lock_timeout);
        let locked = self
            .session
            .locks
            .lock_key(&self.session.owner, &mut self.held, key, mode, patience);
        self.undo_if_victim(locked)
    }

    /// Locks a range against writers (shared next-key lock), existing keys and gaps alike. Only SERIALIZABLE needs it.
    ///
    /// # Errors
    /// As [`Transaction::lock`].
    pub fn lock_range(&mut self, range: &KeyRange, wait: LockWait) -> Result<Granted> {
        self.check_active()?;
        if is_temporary(&range.start) {
            return Ok(Granted::Granted);
        }
        let patience = Patience::new(wait, self.options.row_lock_timeout);
        let locked = self
            .session
            .locks
            .lock_range(&self.session.owner, &mut self.held, range, patience);
        self.undo_if_victim(locked)
    }

    /// The key locks held now.
    pub fn lock_mark(&self) -> LockMark {
        LockMark(LockManager::key_locks_held(&self.held))
    }

    /// Gives back the key locks taken since the mark: for a row that was locked and then found not to match (what InnoDB does below
    /// REPEATABLE READ). Nothing may have been written under them.
    pub fn unlock_since(&mut self, mark: LockMark) {
        self.session
            .locks
            .release_newest(&self.session.owner, &mut self.held, mark.0);
    }
}
