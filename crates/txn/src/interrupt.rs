//! How a session's current work is stopped: `KILL QUERY`, `KILL`, shutdown, the statement's time limit.
//!
//! The session checks the flag between rows; a lock wait or a `SLEEP` is woken at once. A killed query clears
//! the flag when the statement ends ([`Interrupt::clear_query`]); a killed connection stays killed. A
//! statement's time limit is a deadline of the same flag, by the monotonic clock, so every wait ends with it.

use crate::error::{Error, Result};
use crate::interrupt_reason::InterruptReason;
use parking_lot::{Condvar, Mutex};
use std::sync::atomic::{AtomicU8, AtomicU32, AtomicU64, Ordering};
use std::sync::{Arc, LazyLock};
use std::time::{Duration, Instant};

/// Kind of lock that a session waits for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u8)]
pub enum AwaitedLock {
    /// A row, or a range of keys.
    Row = 1,
    /// A table, or the name of a foreign key.
    Table = 2,
    /// A database.
    Database = 3,
    /// The server as a whole, or its commits: the global read lock.
    Server = 4,
    /// A name (`GET_LOCK()`).
    Name = 5,
}

/// Origin of [`State::deadline`].
static CLOCK_START: LazyLock<Instant> = LazyLock::new(Instant::now);
/// Value of [`State::deadline`] without a deadline.
const NEVER: u64 = u64::MAX;

struct State {
    /// 0, or an [`InterruptReason`].
    raised: AtomicU8,
    /// Deadline of the statement, in microseconds since [`CLOCK_START`]; or [`NEVER`].
    deadline: AtomicU64,
    /// The latest [`AwaitedLock`]: for the process list.
    awaited_lock: AtomicU8,
    /// Number of waits for locks.
    lock_waits: AtomicU32,
    /// Held by a waiting session while it checks its condition. It is beside the flag so that raising the flag
    /// wakes the wait.
    gate: Mutex<()>,
    wake: Condvar,
}

impl Default for State {
    fn default() -> Self {
        State {
            raised: AtomicU8::new(0),
            deadline: AtomicU64::new(NEVER),
            awaited_lock: AtomicU8::new(0),
            lock_waits: AtomicU32::new(0),
            gate: Mutex::new(()),
            wake: Condvar::new(),
        }
    }
}

/// Stop flag of a session; clones share it. Cheap to check: two relaxed loads, and the clock while a deadline is set.
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
    /// Returns a flag that is not raised.
    pub fn new() -> Self {
        Self::default()
    }

    /// Raises the flag and wakes the session if it waits.
    pub fn raise(&self, reason: InterruptReason) {
        let _gate = self.state.gate.lock();
        self.state.raised.fetch_max(reason as u8, Ordering::SeqCst);
        self.state.wake.notify_all();
    }

    /// Limits the time of the statement that begins now. Only the session itself may call this, while it waits
    /// for nothing.
    pub fn set_deadline(&self, limit: Option<Duration>) {
        let deadline = limit
            .and_then(|limit| CLOCK_START.elapsed().checked_add(limit))
            .and_then(|deadline| u64::try_from(deadline.as_micros()).ok());
        self.state
            .deadline
            .store(deadline.unwrap_or(NEVER), Ordering::Relaxed);
    }

    fn deadline(&self) -> Option<Instant> {
        match self.state.deadline.load(Ordering::Relaxed) {
            NEVER => None,
            micros => CLOCK_START.checked_add(Duration::from_micros(micros)),
        }
    }

    /// Clears a `KILL QUERY` and a time limit. Called when a statement ends.
    pub fn clear_query(&self) {
        self.state.deadline.store(NEVER, Ordering::Relaxed);
        let query = InterruptReason::Query as u8;
        let _ = self
            .state
            .raised
            .compare_exchange(query, 0, Ordering::SeqCst, Ordering::SeqCst);
    }

    /// Returns whether both are the same flag.
    pub(crate) fn is_same(&self, other: &Interrupt) -> bool {
        Arc::ptr_eq(&self.state, &other.state)
    }

    /// Returns the kind of lock that the session waits for now.
    pub fn awaited_lock(&self) -> Option<AwaitedLock> {
        if self.state.lock_waits.load(Ordering::Relaxed) == 0 {
            return None;
        }
        match self.state.awaited_lock.load(Ordering::Relaxed) {
            1 => Some(AwaitedLock::Row),
            2 => Some(AwaitedLock::Table),
            3 => Some(AwaitedLock::Database),
            4 => Some(AwaitedLock::Server),
            5 => Some(AwaitedLock::Name),
            _ => None,
        }
    }

    /// Notes that a wait for a lock begins. The threads of an applier share a flag: the kind is that of the latest of
    /// their waits.
    pub(crate) fn begin_lock_wait(&self, kind: AwaitedLock) {
        self.state.lock_waits.fetch_add(1, Ordering::Relaxed);
        self.state.awaited_lock.store(kind as u8, Ordering::Relaxed);
    }

    /// Notes that a wait for a lock has ended.
    pub(crate) fn end_lock_wait(&self) {
        self.state.lock_waits.fetch_sub(1, Ordering::Relaxed);
    }

    /// Returns the reason that was raised, or a time-out.
    #[inline]
    pub fn raised(&self) -> Option<InterruptReason> {
        match self.state.raised.load(Ordering::Relaxed) {
            0 => match self.deadline() {
                Some(deadline) if Instant::now() >= deadline => Some(InterruptReason::StatementTimeout),
                _ => None,
            },
            1 => Some(InterruptReason::Query),
            2 => Some(InterruptReason::Connection),
            _ => Some(InterruptReason::Shutdown),
        }
    }

    /// Returns an error if the flag is raised.
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

    /// Sleeps in the calling thread for `duration`, or until the flag is raised.
    ///
    /// # Errors
    /// [`Error::Interrupted`] if the flag was raised before the time had passed.
    pub fn sleep(&self, duration: Duration) -> Result<()> {
        match self.wait_until(Instant::now().checked_add(duration), || false) {
            WaitResult::Interrupted(reason) => Err(Error::Interrupted(reason)),
            WaitResult::Ready | WaitResult::TimedOut => Ok(()),
        }
    }

    /// Waits until `ready` returns true, the flag is raised or `deadline` (`None`: never) has passed. Whatever
    /// `ready` reads must be changed before [`Interrupt::notify`] is called.
    pub(crate) fn wait_until(
        &self,
        deadline: Option<Instant>,
        mut ready: impl FnMut() -> bool,
    ) -> WaitResult {
        let statement_deadline = self.deadline();
        let first = deadline.into_iter().chain(statement_deadline).min();
        let mut gate = self.state.gate.lock();
        loop {
            if ready() {
                return WaitResult::Ready;
            }
            if let Some(reason) = self.raised() {
                return WaitResult::Interrupted(reason);
            }
            match first {
                None => self.state.wake.wait(&mut gate),
                Some(first) => {
                    if self.state.wake.wait_until(&mut gate, first).timed_out() {
                        return match ready() {
                            true => WaitResult::Ready,
                            false if Some(first) == deadline => WaitResult::TimedOut,
                            false => WaitResult::Interrupted(InterruptReason::StatementTimeout),
                        };
                    }
                }
            }
        }
    }

    /// Wakes a [`Interrupt::wait_until`], which checks its condition again.
    pub(crate) fn notify(&self) {
        drop(self.state.gate.lock());
        self.state.wake.notify_all();
    }
}

/// Outcome of a wait.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum WaitResult {
    Ready,
    TimedOut,
    Interrupted(InterruptReason),
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn raising_the_flag_wakes_a_sleep() {
        let interrupt = Interrupt::new();
        let other = interrupt.clone();
        let sleeper = std::thread::spawn(move || other.sleep(Duration::from_secs(60)));
        // Most often the other thread sleeps by then.
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
    fn a_statement_deadline_ends_a_wait() {
        let interrupt = Interrupt::new();
        interrupt.set_deadline(Some(Duration::from_millis(20)));
        assert!(interrupt.check().is_ok());
        let timeout = |result| matches!(result, Err(Error::Interrupted(InterruptReason::StatementTimeout)));
        assert!(timeout(interrupt.sleep(Duration::from_secs(60))));
        assert!(timeout(interrupt.check()));
        // A kill overrides the time-out.
        interrupt.raise(InterruptReason::Query);
        assert_eq!(interrupt.raised(), Some(InterruptReason::Query));
        interrupt.clear_query();
        assert!(interrupt.sleep(Duration::from_millis(30)).is_ok());
        // The earlier of the two deadlines applies.
        interrupt.set_deadline(Some(Duration::from_secs(60)));
        assert_eq!(
            interrupt.wait_until(Some(Instant::now() + Duration::from_millis(10)), || false),
            WaitResult::TimedOut
        );
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
