//! Values that belong to the process that made them.

use crate::errors::{CallError, Result};
use std::sync::OnceLock;

/// Process that has opened the first database. RocksDB's threads are in it, and in no child of a fork.
static FIRST_PROCESS: OnceLock<u32> = OnceLock::new();

/// Notes that this process opens a database.
///
/// # Errors
/// [`CallError::OtherProcess`] in a child of a process that has opened one.
pub fn begin_process() -> Result<()> {
    let process = std::process::id();
    match *FIRST_PROCESS.get_or_init(|| process) == process {
        true => Ok(()),
        false => Err(CallError::OtherProcess),
    }
}

/// A value of this process. A child of a fork cannot reach it, and does not destroy it: threads that its destructor
/// would wait for do not exist there, and a lock in it may have been held at the fork.
pub struct ProcessBound<T> {
    /// `None` only in the destructor.
    value: Option<T>,
    process: u32,
}

impl<T> ProcessBound<T> {
    pub fn new(value: T) -> ProcessBound<T> {
        ProcessBound {
            value: Some(value),
            process: std::process::id(),
        }
    }

    /// Returns the value.
    ///
    /// # Errors
    /// [`CallError::OtherProcess`].
    pub fn get(&self) -> Result<&T> {
        match &self.value {
            Some(value) if self.process == std::process::id() => Ok(value),
            _ => Err(CallError::OtherProcess),
        }
    }
}

impl<T> Drop for ProcessBound<T> {
    fn drop(&mut self) {
        if self.process != std::process::id() {
            std::mem::forget(self.value.take());
        }
    }
}
