//! Locks: access to rows, keys, ranges and metadata, and the waits between owners.
//!
//! One manager serves rows, index keys, key ranges and metadata, because a deadlock can involve any mix of
//! them.
//!
//! ```text
//!   LockManager
//!    ├─ rows       LockTable    key → holders, queue          (shared, exclusive)
//!    ├─ ranges     RangeTable   index → owners, their ranges  (shared; SERIALIZABLE only)
//!    ├─ metadata   LockTable    database, table → holders     (read, write, read only, exclusive)
//!    └─ deadlock   walks from a waiter to its blockers, over all three
//! ```
//!
//! `README.md` in this folder describes the protocol, its orderings and what fails otherwise.

mod deadlock;
mod holders;
pub(crate) mod metadata;
mod mode;
pub(crate) mod owner;
mod range;
mod table;
mod waits;

pub use deadlock::{Deadlock, DeadlockHook, DeadlockMember};
pub use metadata::{MetadataGuard, MetadataKind, MetadataLock, MetadataMode, MetadataObject};
pub use mode::{LockMode, LockOutcome, LockWait};
pub use waits::{RowLock, RowLockWait};

use crate::error::{Error, Result};
use crate::interrupt::AwaitedLock;
use crate::status::LockCounters;
use owner::{LockOwner, TableKind, WaitOutcome};
use paceline_storage::{IndexId, KeyRange};
use range::{RangeRequestOutcome, RangeTable};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, OnceLock};
use std::time::{Duration, Instant};
pub(crate) use table::HeldLock;
use table::{LockRequestOutcome, LockTable, OnConflict, Wakeups};

/// Longest wait of a request, derived from [`LockWait`] and the transaction's options.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum WaitLimit {
    /// No wait: 1205.
    None,
    /// No wait: the row is skipped.
    Skip,
    /// At most this long.
    For(Duration),
}

impl WaitLimit {
    pub(crate) fn new(wait: LockWait, default: Duration) -> Self {
        match wait {
            LockWait::Default => WaitLimit::For(default),
            LockWait::NoWait => WaitLimit::None,
            LockWait::SkipLocked => WaitLimit::Skip,
            LockWait::Timeout(time) => WaitLimit::For(time),
        }
    }

    fn on_conflict(self) -> OnConflict {
        match self {
            WaitLimit::For(time) if !time.is_zero() => OnConflict::Queue,
            _ => OnConflict::Return,
        }
    }

    fn deadline(self) -> Option<Instant> {
        match self {
            WaitLimit::For(time) => Instant::now().checked_add(time),
            WaitLimit::None | WaitLimit::Skip => Some(Instant::now()),
        }
    }
}

/// Number of a transaction's first key locks that are not counted, and number that is counted at a time
/// afterwards: most transactions never touch the shared counter.
const LOCKS_COUNTED_AT_A_TIME: usize = 1024;

/// Row, key and range locks that a transaction holds. They are released all at once.
pub(crate) struct HeldLocks {
    keys: Vec<HeldLock>,
    /// Indexes of which it holds ranges.
    ranges: Vec<IndexId>,
    /// Number of key locks that it may hold before more are counted.
    keys_counted: usize,
}

impl Default for HeldLocks {
    fn default() -> Self {
        HeldLocks {
            keys: Vec::new(),
            ranges: Vec::new(),
            keys_counted: LOCKS_COUNTED_AT_A_TIME,
        }
    }
}

impl HeldLocks {
    /// Returns whether there is nothing to release.
    pub(crate) fn is_empty(&self) -> bool {
        self.keys.is_empty() && self.ranges.is_empty() && self.keys_counted == LOCKS_COUNTED_AT_A_TIME
    }
}

/// All locks of the server.
pub(crate) struct LockManager {
    rows: LockTable,
    ranges: RangeTable,
    metadata: LockTable,
    deadlock: deadlock::Detector,
    deadlock_hook: OnceLock<DeadlockHook>,
    /// Key locks of transactions that hold many.
    keys_counted: AtomicUsize,
    keys_max: AtomicUsize,
    pub(crate) counters: LockCounters,
}

impl LockManager {
    pub(crate) fn new() -> Self {
        LockManager {
            rows: LockTable::new(TableKind::Rows),
            ranges: RangeTable::default(),
            metadata: LockTable::new(TableKind::Metadata),
            deadlock: deadlock::Detector::default(),
            deadlock_hook: OnceLock::new(),
            keys_counted: AtomicUsize::new(0),
            keys_max: AtomicUsize::new(usize::MAX),
            counters: LockCounters::default(),
        }
    }

    /// Returns all waits for rows. The parts of the lock tables are read one after the other, so they may be
    /// inconsistent.
    pub(crate) fn row_lock_waits(&self) -> Vec<RowLockWait> {
        let mut waits = Vec::new();
        self.rows.row_lock_waits(&mut waits);
        self.ranges.row_lock_waits(&mut waits);
        waits
    }

    /// Sets the function that is told of deadlocks. Only the first one counts.
    pub(crate) fn on_deadlock(&self, hook: DeadlockHook) {
        let _ = self.deadlock_hook.set(hook);
    }

    /// Sets the limit of key locks that all sessions may hold together.
    pub(crate) fn set_keys_max(&self, keys_max: usize) {
        self.keys_max.store(keys_max, Ordering::Relaxed);
    }

    /// Locks a key. A new lock is added to `held`.
    ///
    /// # Errors
    /// [`Error::LockWaitTimeout`], [`Error::Deadlock`], [`Error::Interrupted`]; [`Error::TooManyLocks`], where
    /// the key stays locked until `held` is released.
    pub(crate) fn lock_key(
        &self,
        owner: &Arc<LockOwner>,
        held: &mut HeldLocks,
        key: &[u8],
        mode: LockMode,
        wait_limit: WaitLimit,
    ) -> Result<LockOutcome> {
        let lock = match self
            .rows
            .request(owner, key, mode.into(), wait_limit.on_conflict())
        {
            // The owner may hold only the key: the wait for the ranges around it may have failed.
            LockRequestOutcome::AlreadyHeld if mode == LockMode::Exclusive && !self.ranges.is_empty() => {
                return self.wait_for_ranges(owner, key, wait_limit);
            }
            LockRequestOutcome::AlreadyHeld => return Ok(LockOutcome::Granted),
            LockRequestOutcome::New(lock) => Some(lock),
            LockRequestOutcome::Upgraded => None,
            LockRequestOutcome::Busy => return self.busy(wait_limit),
            LockRequestOutcome::Queued { held: lock, is_new } => {
                self.wait(
                    owner,
                    AwaitedLock::Row,
                    wait_limit,
                    &self.counters.row_lock_waits,
                    |wakeups| self.rows.cancel(owner, lock, wakeups),
                )?;
                is_new.then_some(lock)
            }
        };
        held.keys.extend(lock);
        owner.set_weight(owner.weight() + 1);
        if held.keys.len() > held.keys_counted {
            self.count_more(owner, held)?;
        }
        if mode == LockMode::Exclusive && !self.ranges.is_empty() {
            return self.wait_for_ranges(owner, key, wait_limit);
        }
        Ok(LockOutcome::Granted)
    }

    /// Reserves more locks from the limit of all sessions. Appliers have no limit: what a primary has committed
    /// must be applied.
    #[cold]
    fn count_more(&self, owner: &Arc<LockOwner>, held: &mut HeldLocks) -> Result<()> {
        if owner.is_applier() {
            held.keys_counted = usize::MAX;
            return Ok(());
        }
        let before = self
            .keys_counted
            .fetch_add(LOCKS_COUNTED_AT_A_TIME, Ordering::Relaxed);
        held.keys_counted += LOCKS_COUNTED_AT_A_TIME;
        let keys_max = self.keys_max.load(Ordering::Relaxed);
        match before + LOCKS_COUNTED_AT_A_TIME > keys_max {
            true => Err(Error::TooManyLocks { keys_max }),
            false => Ok(()),
        }
    }

    #[cold]
    fn wait_for_ranges(
        &self,
        owner: &Arc<LockOwner>,
        key: &[u8],
        wait_limit: WaitLimit,
    ) -> Result<LockOutcome> {
        // The key stays locked if this fails; it is released with the rest when the transaction ends.
        if !self.ranges.writer_must_wait(owner, key, wait_limit.on_conflict()) {
            return Ok(LockOutcome::Granted);
        }
        if wait_limit.on_conflict() == OnConflict::Return {
            return self.busy(wait_limit);
        }
        self.wait(
            owner,
            AwaitedLock::Row,
            wait_limit,
            &self.counters.row_lock_waits,
            |_| {
                self.ranges.cancel_writer(owner, key);
                Wakeups::new()
            },
        )?;
        Ok(LockOutcome::Granted)
    }

    /// Locks a range against writers (shared next-key lock).
    ///
    /// # Errors
    /// As [`LockManager::lock_key`].
    pub(crate) fn lock_range(
        &self,
        owner: &Arc<LockOwner>,
        held: &mut HeldLocks,
        range: &KeyRange,
        wait_limit: WaitLimit,
    ) -> Result<LockOutcome> {
        match self
            .ranges
            .request(owner, range, &self.rows, wait_limit.on_conflict())
        {
            RangeRequestOutcome::AlreadyHeld => return Ok(LockOutcome::Granted),
            RangeRequestOutcome::Granted => {}
            RangeRequestOutcome::Busy => return self.busy(wait_limit),
            RangeRequestOutcome::Queued => {
                self.wait(
                    owner,
                    AwaitedLock::Row,
                    wait_limit,
                    &self.counters.row_lock_waits,
                    |wakeups| {
                        self.ranges.cancel(owner, range.index(), wakeups);
                        Wakeups::new()
                    },
                )?;
            }
        }
        if !held.ranges.contains(&range.index()) {
            held.ranges.push(range.index());
        }
        owner.set_weight(owner.weight() + 1);
        Ok(LockOutcome::Granted)
    }

    /// Releases everything that a transaction holds, and wakes the owners that are granted it.
    pub(crate) fn release(&self, owner: &Arc<LockOwner>, held: &mut HeldLocks) {
        if held.is_empty() {
            return;
        }
        let mut wakeups = Wakeups::new();
        for lock in held.keys.drain(..) {
            self.rows.release(owner, lock, &mut wakeups);
        }
        if held.keys_counted > LOCKS_COUNTED_AT_A_TIME {
            if !owner.is_applier() {
                let counted = held.keys_counted - LOCKS_COUNTED_AT_A_TIME;
                self.keys_counted.fetch_sub(counted, Ordering::Relaxed);
            }
            held.keys_counted = LOCKS_COUNTED_AT_A_TIME;
            held.keys = Vec::new();
        }
        if !held.ranges.is_empty() {
            self.ranges.release(owner, &held.ranges, &mut wakeups);
            held.ranges.clear();
        }
        if !self.ranges.is_empty() {
            self.ranges.keys_released(owner, &self.rows, &mut wakeups);
        }
        for woken in wakeups {
            woken.wake();
        }
    }

    /// Releases the newest key locks, down to `keep` of them: for rows that did not match (READ COMMITTED).
    pub(crate) fn release_newest(&self, owner: &Arc<LockOwner>, held: &mut HeldLocks, keep: usize) {
        let mut wakeups = Wakeups::new();
        while held.keys.len() > keep {
            let lock = held.keys.pop().expect("more than are kept");
            self.rows.release(owner, lock, &mut wakeups);
        }
        if !self.ranges.is_empty() {
            self.ranges.keys_released(owner, &self.rows, &mut wakeups);
        }
        for woken in wakeups {
            woken.wake();
        }
    }

    pub(crate) fn key_locks_held(held: &HeldLocks) -> usize {
        held.keys.len()
    }

    fn busy(&self, wait_limit: WaitLimit) -> Result<LockOutcome> {
        match wait_limit {
            WaitLimit::Skip => Ok(LockOutcome::Skipped),
            WaitLimit::None | WaitLimit::For(_) => {
                self.counters.timeouts.fetch_add(1, Ordering::Relaxed);
                Err(Error::LockWaitTimeout)
            }
        }
    }

    /// Breaks the cycles that `owner`, which has just joined a queue, closes. Returns their number.
    fn resolve_deadlocks(&self, owner: &Arc<LockOwner>) -> u64 {
        self.deadlock.resolve(
            owner,
            |owner, blockers| self.blockers_of(owner, blockers),
            |cycle, victim| self.deadlock_hook.get().map(|_| self.describe(cycle, victim)),
            |deadlock| {
                if let (Some(hook), Some(deadlock)) = (self.deadlock_hook.get(), deadlock) {
                    hook(&deadlock);
                }
            },
        )
    }

    fn describe(&self, cycle: &[deadlock::Member], victim: usize) -> Deadlock {
        let members = cycle.iter().map(|member| DeadlockMember {
            session_id: member.owner.id(),
            wait: self.row_lock_wait_of(&member.owner),
        });
        Deadlock {
            members: members.collect(),
            victim,
        }
    }

    /// Returns the wait of an owner, if it waits for a row. Only the awaited place is searched.
    fn row_lock_wait_of(&self, owner: &Arc<LockOwner>) -> Option<RowLockWait> {
        match owner.waiting_for()?.1 {
            owner::WaitTarget::Key { table, hash, entry } => match table {
                TableKind::Rows => self.rows.row_lock_wait_of(owner, hash, entry),
                TableKind::Metadata => None,
            },
            target => self.ranges.row_lock_wait_of(owner, &target),
        }
    }

    /// Waits for a lock that is queued for. If the wait ends without it, `cancel` withdraws the request and
    /// returns the owners that must search for deadlocks again.
    fn wait(
        &self,
        owner: &Arc<LockOwner>,
        kind: AwaitedLock,
        wait_limit: WaitLimit,
        waits: &std::sync::atomic::AtomicU64,
        cancel: impl FnOnce(&mut Wakeups) -> Wakeups,
    ) -> Result<()> {
        waits.fetch_add(1, Ordering::Relaxed);
        let counters = &self.counters;
        let is_row = kind == AwaitedLock::Row;
        counters.current_waits.fetch_add(1, Ordering::Relaxed);
        if is_row {
            counters.current_row_waits.fetch_add(1, Ordering::Relaxed);
        }
        let start = Instant::now();
        if owner.is_awaited() {
            self.counters
                .deadlocks
                .fetch_add(self.resolve_deadlocks(owner), Ordering::Relaxed);
        }
        owner.interrupt().begin_lock_wait(kind);
        let outcome = owner.wait(wait_limit.deadline());
        owner.interrupt().end_lock_wait();
        let waited = start.elapsed();
        counters.current_waits.fetch_sub(1, Ordering::Relaxed);
        counters.wait_time.record(waited);
        if is_row {
            counters.current_row_waits.fetch_sub(1, Ordering::Relaxed);
            counters.row_wait_time.record(waited);
        }
        if outcome == WaitOutcome::Granted {
            return Ok(());
        }
        let mut wakeups = Wakeups::new();
        let uncovered = cancel(&mut wakeups);
        for woken in wakeups {
            woken.wake();
        }
        for waiter in uncovered.iter().filter(|waiter| waiter.is_awaited()) {
            self.counters
                .deadlocks
                .fetch_add(self.resolve_deadlocks(waiter), Ordering::Relaxed);
        }
        match outcome {
            WaitOutcome::Granted => unreachable!("returned above"),
            WaitOutcome::Victim => Err(Error::Deadlock),
            WaitOutcome::TimedOut => {
                self.counters.timeouts.fetch_add(1, Ordering::Relaxed);
                Err(Error::LockWaitTimeout)
            }
            WaitOutcome::Interrupted(reason) => Err(Error::Interrupted(reason)),
        }
    }

    /// Appends the owners that `owner` waits for now, and returns the number of that wait; `None` if it does
    /// not wait.
    fn blockers_of(&self, owner: &Arc<LockOwner>, into: &mut Vec<Arc<LockOwner>>) -> Option<u64> {
        let (number, target) = owner.waiting_for()?;
        match target {
            owner::WaitTarget::Key { table, hash, entry } => {
                let table = match table {
                    TableKind::Rows => &self.rows,
                    TableKind::Metadata => &self.metadata,
                };
                table.blockers_of(owner, hash, entry, into);
            }
            target => self.ranges.blockers_of(owner, &target, into),
        }
        Some(number)
    }

    /// Returns the memory of row locks, in bytes.
    pub(crate) fn row_lock_bytes(&self) -> usize {
        self.rows.memory_bytes()
    }

    /// Returns the number of keys that are locked now.
    pub(crate) fn locked_keys(&self) -> usize {
        self.rows.len()
    }
}

#[cfg(test)]
mod tests;
