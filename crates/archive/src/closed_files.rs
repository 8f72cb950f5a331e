//! Hands closed files from the writer to the retention task.
//!
//! When the log switches to a new file, the old file is finished a moment later (cut to its length, no longer marked as
//! in use). Only then may the retention task change its form. So the writer closes a file, and the retention task lists
//! the closed ones, under a common lock.

use parking_lot::{Mutex, MutexGuard};
use tokio::sync::Notify;

/// A lock for closing and listing files, and a signal for each closed file.
#[derive(Debug, Default)]
pub struct ClosedFiles {
    closed: Notify,
    closing: Mutex<()>,
}

impl ClosedFiles {
    /// Locks. The writer holds the lock while it closes a file, the retention task while it lists the files.
    pub fn lock(&self) -> MutexGuard<'_, ()> {
        self.closing.lock()
    }

    /// Signals that a file was closed.
    pub fn notify(&self) {
        self.closed.notify_one();
    }

    /// Waits until a file was closed since the last call.
    pub async fn wait(&self) {
        self.closed.notified().await;
    }
}
