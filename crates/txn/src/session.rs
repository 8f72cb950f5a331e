//! A session as locks and interrupts see it. It runs one transaction at a time.

use crate::error::Result;
use crate::interrupt::Interrupt;
use crate::lock::owner::{LockOwner, OwnerKind};
use crate::lock::{LockManager, MetadataGuard, MetadataMode, MetadataObject, WaitLimit};
use std::sync::Arc;
use std::time::{Duration, Instant};

/// A session. Clones refer to the same session.
#[derive(Clone)]
pub struct Session {
    pub(crate) owner: Arc<LockOwner>,
    pub(crate) locks: Arc<LockManager>,
}

/// Progress of a session's last transaction.
#[derive(Clone, Copy, Debug)]
pub struct TransactionProgress {
    /// Number of the transaction within the session.
    pub number: u64,
    /// Locks and changed rows: of a deadlock's transactions, the one with the lowest weight is rolled back.
    pub weight: u64,
    /// Number of changed rows.
    pub rows_changed: u64,
    /// Memory of the changes in bytes: rows and events that are not in a file.
    pub change_bytes: u64,
    /// Number of row, key and range locks held.
    pub locks: u64,
    /// Start of the current wait for a lock.
    pub waits_since: Option<Instant>,
}

impl Session {
    pub(crate) fn new(id: u64, interrupt: Interrupt, locks: Arc<LockManager>) -> Self {
        Session {
            owner: LockOwner::new(id, interrupt),
            locks,
        }
    }

    pub(crate) fn of_applier(id: u64, interrupt: Interrupt, locks: Arc<LockManager>) -> Self {
        Session {
            owner: LockOwner::of_kind(id, interrupt, OwnerKind::Applier),
            locks,
        }
    }

    /// Returns the flag that `KILL` raises.
    pub fn interrupt(&self) -> &Interrupt {
        self.owner.interrupt()
    }

    /// Returns the session's number since the server started.
    pub fn id(&self) -> u64 {
        self.owner.id()
    }

    /// Returns the progress of the last transaction, for display.
    pub fn progress(&self) -> TransactionProgress {
        let (weight, rows_changed) = (self.owner.weight(), self.owner.rows_changed());
        TransactionProgress {
            number: self.owner.transactions(),
            weight,
            rows_changed,
            change_bytes: self.owner.change_bytes(),
            locks: weight.saturating_sub(rows_changed),
            waits_since: self.owner.waits_since(),
        }
    }

    /// Returns whether the session waits for a lock now (`SHOW PROCESSLIST`).
    pub fn is_waiting_for_lock(&self) -> bool {
        self.owner.is_parked()
    }

    /// Locks an object until the guard is dropped: `LOCK TABLES`, DDL. Blocks the thread while it waits.
    ///
    /// # Errors
    /// [`crate::Error::LockWaitTimeout`] (`timeout` is `lock_wait_timeout`), [`crate::Error::Deadlock`],
    /// [`crate::Error::Interrupted`].
    pub fn lock_metadata(
        &self,
        object: MetadataObject<'_>,
        mode: MetadataMode,
        timeout: Duration,
    ) -> Result<MetadataGuard> {
        self.locks
            .lock_metadata(&self.owner, object, mode, WaitLimit::For(timeout))
    }

    /// `FLUSH TABLES WITH READ LOCK`: waits for writing statements to end, then blocks new ones and commits
    /// until the guard is dropped.
    ///
    /// # Errors
    /// As [`Session::lock_metadata`].
    pub fn global_read_lock(&self, timeout: Duration) -> Result<GlobalReadLock> {
        let statements = self.lock_metadata(MetadataObject::Global, MetadataMode::ReadOnly, timeout)?;
        let commits = self.lock_metadata(MetadataObject::Commit, MetadataMode::ReadOnly, timeout)?;
        Ok(GlobalReadLock {
            _commits: commits,
            _statements: statements,
        })
    }
}

/// Guard that keeps every other session from writing until it is dropped.
#[must_use = "the lock is given back when the guard is dropped"]
pub struct GlobalReadLock {
    _commits: MetadataGuard,
    _statements: MetadataGuard,
}
