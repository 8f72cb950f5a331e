//! Waits for row locks with their blockers, for users who look for what blocks a statement.

use super::mode::{LockMode, Mode};
use super::owner::LockOwner;
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
