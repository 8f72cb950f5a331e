//! Waits for row locks with their blockers, for users who look for what blocks a statement.

use super::mode::Mode;
use super::owner::LockOwner;
use super::{LockManager, LockMode};
use std::sync::Arc;

/// A row lock, held or requested.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct RowLock {
    /// [`Session::id`](crate::Session::id) of its owner.
    pub session_id: u64,
    /// Mode in which it is held or requested.
    pub mode: LockMode,
}

/// A session that waits for a row or for a range of keys.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RowLockWait {
    /// The key, or the start of the range.
    pub key: Box<[u8]>,
    /// Requested lock.
    pub wanted: RowLock,
    /// Blockers: locks that are held, or requested earlier.
    pub blockers: Vec<RowLock>,
}

impl RowLock {
    pub(super) fn new(owner: &Arc<LockOwner>, mode: Mode) -> Self {
        RowLock {
            session_id: owner.id(),
            mode: match mode {
                Mode::Exclusive => LockMode::Exclusive,
                Mode::Read | Mode::Write | Mode::ReadOnly => LockMode::Shared,
            },
        }
    }
}

impl LockManager {
    /// Returns all waits for rows. The parts of the lock tables are read one after the other, so they may be
    /// inconsistent.
    pub(crate) fn row_lock_waits(&self) -> Vec<RowLockWait> {
        let mut waits = Vec::new();
        self.rows.row_lock_waits(&mut waits);
        self.ranges.row_lock_waits(&mut waits);
        waits
    }
}
