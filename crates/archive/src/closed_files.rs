//! Files that are closed, between the writer that closes them and the keeper that takes them over.
//!
//! A file is out of use a moment before it is finished (cut to its length, no longer marked as in use), and only then may it change its form. So the
//! writer closes a file, and the keeper lists those that are closed, one at a time.

use parking_lot::{Mutex, MutexGuard};
use tokio::sync::Notify;

/// See the module's head.
#[derive(Debug, Default)]
pub struct ClosedFiles {
    bell: Notify,
    closing: Mutex<()>,
}

impl ClosedFiles {
    /// Held while a file is closed, and while files are listed.
    pub fn lock(&self) -> MutexGuard<'_, ()> {
        self.closing.lock()
    }

    /// Another file was closed.
    pub fn ring(&self) {
        self.bell.notify_one();
    }

    /// Ends when another file was closed since the last time.
    pub async fn wait(&self) {
        self.bell.notified().await;
    }
}
