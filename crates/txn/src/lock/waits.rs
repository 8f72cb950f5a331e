//! Who waits for which row, and who keeps it waiting: for people who look for what blocks their statement.

use super::mode::Mode;
use super::owner::LockOwner;
use super::{LockManager, LockMode};
use std::sync::Arc;

/// A row lock, held or wanted.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct RowLock {
    /// [`Session::id`](crate::Session::id) of its owner.
    pub session_id: u64,
    /// How the owner has it or wants it.
    pub mode: LockMode,
}

/// A session that waits for a row or for a range of keys.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RowLockWait {
    /// The key, or where the range starts.
    pub key: Box<[u8]>,
    /// What it wants.
    pub wanted: RowLock,
    /// What it waits for: locks that are held, or wanted by those before it.
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
    /// All waits for rows. Each part of the lock tables is looked at by itself: they need not fit together.
    pub(crate) fn row_lock_waits(&self) -> Vec<RowLockWait> {
        let mut waits = Vec::new();
        self.rows.row_lock_waits(&mut waits);
        self.ranges.row_lock_waits(&mut waits);
        waits
    }
}
