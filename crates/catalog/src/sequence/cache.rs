//! The state of a sequence in memory, shared by all sessions.

use std::time::Duration;

use parking_lot::{Condvar, Mutex};

use super::SequencePosition;

/// Interval in which a waiting session looks whether it was killed.
const CHECK_INTERVAL: Duration = Duration::from_millis(20);

/// State of one sequence in memory. Each definition has its own: ALTER and RENAME begin with an empty one.
#[derive(Debug, Default)]
pub struct SequenceCache {
    state: Mutex<State>,
    change_ended: Condvar,
}

#[derive(Debug, Default)]
struct State {
    /// `None` until the row is read, and while a session changes it.
    position: Option<SequencePosition>,
    is_changing: bool,
    /// Number of times that the position was forgotten.
    forgotten: u64,
}

impl SequenceCache {
    /// Takes a reserved value; `None` if the row must be read or written first.
    pub fn take(&self) -> Option<i64> {
        self.state.lock().position.as_mut()?.take()
    }

    /// Forgets the position: the row must be read again. The caller has locked the row's key for a change of its own,
    /// or values may be lost.
    pub fn forget(&self) {
        let mut state = self.state.lock();
        state.position = None;
        state.forgotten += 1;
    }

    /// Begins a change when no other session is making one. `check` is called repeatedly during the wait.
    ///
    /// # Errors
    /// Those of `check`.
    pub fn begin_change<E>(&self, mut check: impl FnMut() -> Result<(), E>) -> Result<SequenceChange<'_>, E> {
        let mut state = self.state.lock();
        while state.is_changing {
            self.change_ended.wait_for(&mut state, CHECK_INTERVAL);
            if state.is_changing {
                check()?;
            }
        }
        state.is_changing = true;
        Ok(SequenceChange {
            position: state.position.take(),
            forgotten: state.forgotten,
            cache: self,
        })
    }
}

/// Right of one session to change a sequence. If it is dropped without [`SequenceChange::finish`], the row is read
/// again.
#[derive(Debug)]
pub struct SequenceChange<'c> {
    cache: &'c SequenceCache,
    position: Option<SequencePosition>,
    forgotten: u64,
}

impl SequenceChange<'_> {
    /// Returns the position at the beginning, if it is known.
    pub fn position(&self) -> Option<SequencePosition> {
        self.position
    }

    /// Ends the change with a new position, whose row is published.
    pub fn finish(self, position: SequencePosition) {
        let mut state = self.cache.state.lock();
        if state.forgotten == self.forgotten {
            state.position = Some(position);
        }
        drop(state);
    }
}

impl Drop for SequenceChange<'_> {
    fn drop(&mut self) {
        self.cache.state.lock().is_changing = false;
        self.cache.change_ended.notify_all();
    }
}
