//! How a session is told to stop what it does: `KILL QUERY`, `KILL`, shutdown.
//!
//! The session checks the flag between rows; a lock wait or a `SLEEP` is woken at once. A killed query clears the flag when
//! the statement ends ([`Interrupt::clear_query`]); a killed connection stays killed.

use crate::error::{Error, Result};
use parking_lot::{Condvar, Mutex};
use std::sync::Arc;
use std::sync::atomic::{AtomicU8, Ordering};
use std::time::{Duration, Instant};

/// Why a session must stop. A higher reason overrides a lower one.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
#[repr(u8)]
pub enum InterruptReason {
    /// `KILL QUERY`: the statement ends with 1317.
    Query = 1,
    /// `KILL`: the connection ends, the statement with 1927.
    Connection = 2,
    /// The server stops: 1053.
    Shutdown = 3,
}

#[derive(Default)]
struct State {
    /// 0, or an [`InterruptReason`].
    raised: AtomicU8,
    /// What the session's wait reads under [`State::gate`]; kept with the flag so that raising it wakes the wait.
    gate: Mutex<()>,
    wake: Condvar,
}

/// A session's stop flag; clones share it. Cheap to check (one relaxed load).
#[derive(Clone, Default)]
pub struct Interrupt {
    state: Arc<State>,
}

impl std::fmt::Debug for Interrupt {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_tuple("Interrupt").field(&self.raised()).finish()
    }
}

impl Interrupt {
    /// A flag that is not raised.
    pub fn new() -> Self {
        Self::default()
    }

    /// Raises the flag and wakes the session if it waits.
    pub fn raise(&self, reason: InterruptReason) {
        let _gate = self.state.gate.lock();
        self.state.raised.fetch_max(reason as u8, Ordering::SeqCst);
        self.state.wake.notify_all();
    }

    /// Forgets a `KILL QUERY`: to be called when a statement ends.
    pub fn clear_query(&self) {
        let query = InterruptReason::Query as u8;
        let _ = self
            .state
            .raised
            .compare_exchange(query, 0, Ordering::SeqCst, Ordering::SeqCst);
    }

    /// Whether both are the same flag.
    pub(crate) fn is_same(&self, other: &Interrupt) -> bool {
        Arc::ptr_eq(&self.state, &other.state)
    }

    /// What was raised.
    #[inline]
    pub fn raised(&self) -> Option<InterruptReason> {
        match self.state.raised.load(Ordering::Relaxed) {
            0 => None,
            1 => Some(InterruptReason::Query),
            2 => Some(InterruptReason::Connection),
            _ => Some(InterruptReason::Shutdown),
        }
    }

    /// An error if the flag is raised.
    ///
    /// # Errors
    /// [`Error::Interrupted`] with the reason.
    #[inline]
    pub fn check(&self) -> Result<()> {
        match self.raised() {
            None => Ok(()),
            Some(reason) => Err(Error::Interrupted(reason)),
        }
    }

    /// Sleeps in the calling thread, or until the flag is raised.
    ///
    /// # Errors
    /// [`Error::Interrupted`] if the flag was raised before the time was over.
    pub fn sleep(&self, duration: Duration) -> Result<()> {
        match self.wait_until(Instant::now().checked_add(duration), || false) {
            Waited::Interrupted(reason) => Err(Error::Interrupted(reason)),
            Waited::Ready | Waited::TimedOut => Ok(()),
        }
    }

    /// Waits until `ready` says so, the flag is raised or `deadline` (`None`: never) has passed. What `ready` reads must be
    /// changed before [`Interrupt::notify`] is called.
    pub(crate) fn wait_until(&self, deadline: Option<Instant>, mut ready: impl FnMut() -> bool) -> Waited {
        let mut gate = self.state.gate.lock();
        loop {
            if ready() {
                return Waited::Ready;
            }
            if let Some(reason) = self.raised() {
                return Waited::Interrupted(reason);
            }
            match deadline {
                None => self.state.wake.wait(&mut gate),
                Some(deadline) => {
                    if self.state.wake.wait_until(&mut gate, deadline).timed_out() {
                        return if ready() { Waited::Ready } else { Waited::TimedOut };
                    }
                }
            }
        }
    }

    /// Wakes a [`Interrupt::wait_until`] so that it looks again.
    pub(crate) fn notify(&self) {
        drop(self.state.gate.lock());
        self.state.wake.notify_all();
    }
}

/// How a wait ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Waited {
    Ready,
    TimedOut,
    Interrupted(InterruptReason),
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_sleep_is_woken() {
        let interrupt = Interrupt::new();
        let other = interrupt.clone();
        let sleeper = std::thread::spawn(move || other.sleep(Duration::from_secs(60)));
        std::thread::sleep(Duration::from_millis(20));
        interrupt.raise(InterruptReason::Query);
        assert!(matches!(
            sleeper.join().unwrap(),
            Err(Error::Interrupted(InterruptReason::Query))
        ));
        interrupt.clear_query();
        assert!(interrupt.check().is_ok());
    }

    #[test]
    fn a_killed_connection_stays_killed() {
        let interrupt = Interrupt::new();
        interrupt.raise(InterruptReason::Connection);
        interrupt.raise(InterruptReason::Query);
        interrupt.clear_query();
        assert_eq!(interrupt.raised(), Some(InterruptReason::Connection));
    }
}
