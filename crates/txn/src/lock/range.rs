//! Locks on key ranges: how SERIALIZABLE keeps rows from appearing between those that it read.
//!
//! A range lock is shared and covers every key in it, there or not. It stands against exclusive *key* locks, which writers
//! take in the lock table, key by key, also for keys that they insert. The two meet like this:
//!
//! ```text
//!   writer                                   reader of a range
//!   1. exclusive lock on the key             1. register the range (count goes up)
//!   2. count of ranges > 0?                  2. who holds an exclusive lock inside? (all shards)
//!      then: is there a range around it?        those are its blockers; none: granted
//! ```
//!
//! Each publishes first and looks then, and both go through the mutex of the key's shard, so at least one sees the
//! other. If both do, the reader waits for the writer, who had his lock before: a writer waits only for ranges that do not
//! name him as a blocker. A writer who comes while a range waits stands behind it, so that readers are not starved.
//!
//! While nobody reads ranges, all this costs a writer is one load.

use super::owner::{LockOwner, WaitTarget};
use super::table::{LockTable, Wakeups};
use paceline_storage::{IndexId, KeyRange};
use parking_lot::Mutex;
use std::collections::HashMap;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

struct RangeLock {
    id: u64,
    range: KeyRange,
    owner: Arc<LockOwner>,
    /// Who had exclusive locks inside when it came; granted when nobody is left.
    blockers: Vec<Arc<LockOwner>>,
    granted: bool,
}

impl RangeLock {
    /// Whether a writer must wait for this range before he writes `key`.
    fn stops(&self, writer: &Arc<LockOwner>, key: &[u8]) -> bool {
        !Arc::ptr_eq(&self.owner, writer)
            && self.range.contains(key)
            && (self.granted || !self.blockers.iter().any(|blocker| Arc::ptr_eq(blocker, writer)))
    }
}

struct Writer {
    owner: Arc<LockOwner>,
    key: Box<[u8]>,
}

#[derive(Default)]
struct IndexRanges {
    locks: Vec<RangeLock>,
    /// Writers that wait for ranges, in order of arrival.
    writers: Vec<Writer>,
}

#[derive(Default)]
struct State {
    indexes: HashMap<IndexId, IndexRanges>,
    next_id: u64,
}

/// All range locks.
#[derive(Default)]
pub(crate) struct RangeTable {
    /// Ranges held or waited for. Writers look here before they take the mutex.
    count: AtomicUsize,
    state: Mutex<State>,
}

/// A range lock that an owner holds or waits for.
#[derive(Clone, Copy, Debug)]
pub(crate) struct HeldRange {
    index: IndexId,
    id: u64,
}

/// What became of a request for a range.
pub(crate) enum RangeRequested {
    New(HeldRange),
    AlreadyHeld,
    Queued(HeldRange),
    Busy,
}

impl RangeTable {
    pub(crate) fn is_empty(&self) -> bool {
        self.count.load(Ordering::SeqCst) == 0
    }

    /// Asks for a shared lock on a range.
    pub(crate) fn request(
        &self,
        owner: &Arc<LockOwner>,
        range: &KeyRange,
        keys: &LockTable,
        if_busy: super::table::IfBusy,
    ) -> RangeRequested {
        let index = range.index();
        let mut guard = self.state.lock();
        let state = &mut *guard;
        let ranges = state.indexes.entry(index).or_default();
        let covers = |lock: &RangeLock| {
            Arc::ptr_eq(&lock.owner, owner) && lock.range.start <= range.start && lock.range.end >= range.end
        };
        if range.is_empty() || ranges.locks.iter().any(covers) {
            return RangeRequested::AlreadyHeld;
        }
        let held = HeldRange {
            index,
            id: state.next_id,
        };
        state.next_id += 1;
        // Registered before the keys are looked at: see the module's head.
        self.count.fetch_add(1, Ordering::SeqCst);
        let mut blockers: Vec<Arc<LockOwner>> = Vec::new();
        keys.for_each_exclusive(|key, holder| {
            if range.contains(key)
                && !Arc::ptr_eq(holder, owner)
                && !blockers.iter().any(|known| Arc::ptr_eq(known, holder))
                // A writer that waits for other ranges has not written the key, and will ask about this one too.
                && !ranges.writers.iter().any(|writer| Arc::ptr_eq(&writer.owner, holder) && *writer.key == *key)
            {
                blockers.push(holder.clone());
            }
        });
        let granted = blockers.is_empty();
        if !granted && if_busy == super::table::IfBusy::Return {
            self.count.fetch_sub(1, Ordering::SeqCst);
            return RangeRequested::Busy;
        }
        if !granted {
            owner.start_wait(WaitTarget::Range { range: held.id });
            for blocker in &blockers {
                blocker.mark_awaited();
            }
        }
        let lock = RangeLock {
            id: held.id,
            range: range.clone(),
            owner: owner.clone(),
            blockers,
            granted,
        };
        // Writers who wait for other ranges wait for this one from now on.
        if ranges
            .writers
            .iter()
            .any(|writer| lock.stops(&writer.owner, &writer.key))
        {
            owner.mark_awaited();
        }
        ranges.locks.push(lock);
        if granted {
            RangeRequested::New(held)
        } else {
            RangeRequested::Queued(held)
        }
    }

    /// A writer has an exclusive lock on `key`: must he wait for a range around it? Then he is queued.
    pub(crate) fn writer_must_wait(
        &self,
        owner: &Arc<LockOwner>,
        key: &[u8],
        if_busy: super::table::IfBusy,
    ) -> bool {
        let Some(index) = IndexId::of_key(key) else {
            return false;
        };
        let mut doomed = Wakeups::new();
        let mut state = self.state.lock();
        let Some(ranges) = state.indexes.get_mut(&index) else {
            return false;
        };
        if owner.is_applier() {
            // It waits for no session's range, unless that commits.
            let before = ranges.locks.len();
            ranges.locks.retain(|lock| {
                let goes = lock.stops(owner, key) && lock.owner.doom();
                if goes {
                    doomed.push(lock.owner.clone());
                }
                !goes
            });
            self.count
                .fetch_sub(before - ranges.locks.len(), Ordering::SeqCst);
        }
        let mut stopped = false;
        for lock in ranges.locks.iter().filter(|lock| lock.stops(owner, key)) {
            stopped = true;
            lock.owner.mark_awaited();
        }
        if stopped && if_busy == super::table::IfBusy::Queue {
            owner.start_wait(WaitTarget::InsideRange { key: key.into() });
            ranges.writers.push(Writer {
                owner: owner.clone(),
                key: key.into(),
            });
        }
        drop(state);
        for victim in doomed {
            victim.wake();
        }
        stopped
    }

    /// A writer gave up waiting for ranges.
    pub(crate) fn cancel_writer(&self, owner: &Arc<LockOwner>, key: &[u8]) {
        let Some(index) = IndexId::of_key(key) else { return };
        if let Some(ranges) = self.state.lock().indexes.get_mut(&index) {
            ranges.writers.retain(|writer| !Arc::ptr_eq(&writer.owner, owner));
        }
    }

    /// Gives ranges back, or gives up waiting for one.
    pub(crate) fn release(&self, held: &[HeldRange], wakeups: &mut Wakeups) {
        let mut guard = self.state.lock();
        for range in held {
            let Some(ranges) = guard.indexes.get_mut(&range.index) else {
                continue;
            };
            let before = ranges.locks.len();
            ranges.locks.retain(|lock| lock.id != range.id);
            self.count
                .fetch_sub(before - ranges.locks.len(), Ordering::SeqCst);
            grant_writers(ranges, wakeups);
            if ranges.locks.is_empty() && ranges.writers.is_empty() {
                guard.indexes.remove(&range.index);
            }
        }
    }

    /// `owner` has released key locks: ranges that waited for it, and in which it holds none any more, may be granted.
    pub(crate) fn keys_released(&self, owner: &Arc<LockOwner>, keys: &LockTable, wakeups: &mut Wakeups) {
        let mut guard = self.state.lock();
        for ranges in guard.indexes.values_mut() {
            for lock in ranges.locks.iter_mut().filter(|lock| !lock.granted) {
                let at = lock
                    .blockers
                    .iter()
                    .position(|blocker| Arc::ptr_eq(blocker, owner));
                if let Some(at) = at.filter(|_| !holds_exclusive(owner, keys, &lock.range)) {
                    lock.blockers.swap_remove(at);
                }
                if lock.blockers.is_empty() && lock.owner.grant() {
                    lock.granted = true;
                    if !ranges.writers.is_empty() {
                        lock.owner.mark_awaited();
                    }
                    wakeups.push(lock.owner.clone());
                }
            }
            // A range whose owner gave up meanwhile is taken away by him.
        }
    }

    /// For whom an owner waits that waits for a range to become free, or for the ranges around a key.
    pub(crate) fn blockers_of(
        &self,
        owner: &Arc<LockOwner>,
        target: &WaitTarget,
        into: &mut Vec<Arc<LockOwner>>,
    ) {
        let state = self.state.lock();
        match target {
            WaitTarget::Range { range } => {
                let locks = state.indexes.values().flat_map(|ranges| &ranges.locks);
                if let Some(lock) = locks.into_iter().find(|lock| lock.id == *range && !lock.granted) {
                    into.extend(lock.blockers.iter().cloned());
                }
            }
            WaitTarget::InsideRange { key } => {
                let ranges = IndexId::of_key(key).and_then(|index| state.indexes.get(&index));
                if let Some(ranges) = ranges {
                    let stopping = ranges.locks.iter().filter(|lock| lock.stops(owner, key));
                    into.extend(stopping.map(|lock| lock.owner.clone()));
                }
            }
            WaitTarget::Key { .. } => unreachable!("key waits are the lock table's"),
        }
    }
}

fn holds_exclusive(owner: &Arc<LockOwner>, keys: &LockTable, range: &KeyRange) -> bool {
    let mut found = false;
    keys.for_each_exclusive(|key, holder| found |= Arc::ptr_eq(holder, owner) && range.contains(key));
    found
}

fn grant_writers(ranges: &mut IndexRanges, wakeups: &mut Wakeups) {
    let locks = &ranges.locks;
    ranges.writers.retain(|writer| {
        if locks.iter().any(|lock| lock.stops(&writer.owner, &writer.key)) {
            return true;
        }
        if writer.owner.grant() {
            wakeups.push(writer.owner.clone());
        }
        false
    });
}
