//! Locks on key ranges. SERIALIZABLE uses them to keep rows from appearing among those that it has read.
//!
//! A range lock is shared and covers every key in the range, whether it exists or not. It conflicts with
//! exclusive *key* locks, which writers take in the lock table, key by key, also for keys that they insert. The
//! two sides meet like this:
//!
//! ```text
//!   writer                                   reader of a range
//!   1. exclusive lock on the key             1. register the range (count goes up)
//!   2. count of ranges > 0?                  2. owners of exclusive locks inside? (all shards)
//!      then: is there a range around it?        those are its blockers; none: granted
//! ```
//!
//! Each side first publishes and then checks, and both pass the mutex of the key's shard, so at least one sees
//! the other. If both do, the reader waits for the writer, which had its lock first: a writer waits only for
//! ranges that do not name it as a blocker. A writer that comes while a range waits queues after it, so that
//! readers are not starved.
//!
//! While no transaction reads ranges, all this costs a writer one load.
//!
//! Searching all shards is expensive, and every writer has to check the ranges. The ranges of one owner in an
//! index are therefore kept disjoint: adjacent ones are merged, and when there are [`RANGES_MAX`] of them the
//! next one becomes the whole index.

use super::mode::Mode;
use super::owner::{LockOwner, WaitTarget};
use super::table::{LockTable, OnConflict, Wakeups};
use super::waits::{RowLock, RowLockWait};
use paceline_storage::{IndexId, KeyRange};
use parking_lot::Mutex;
use std::collections::{BTreeMap, HashMap};
use std::ops::Bound;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

/// Most ranges that an owner may have in an index; its next one becomes the whole index.
pub(super) const RANGES_MAX: usize = 1024;

/// Ranges of one owner in an index.
struct OwnerRanges {
    owner: Arc<LockOwner>,
    /// Start to end; no two are adjacent or overlap.
    ranges: BTreeMap<Vec<u8>, Vec<u8>>,
}

impl OwnerRanges {
    /// Returns the last range that begins at or before `key`.
    fn last_up_to(&self, key: &[u8]) -> Option<(&Vec<u8>, &Vec<u8>)> {
        let up_to_key = (Bound::Unbounded, Bound::Included(key));
        self.ranges.range::<[u8], _>(up_to_key).next_back()
    }

    fn covers(&self, range: &KeyRange) -> bool {
        self.last_up_to(&range.start)
            .is_some_and(|(_, end)| *end >= range.end)
    }

    fn stops(&self, writer: &Arc<LockOwner>, key: &[u8]) -> bool {
        !Arc::ptr_eq(&self.owner, writer) && self.last_up_to(key).is_some_and(|(_, end)| end.as_slice() > key)
    }

    fn add(&mut self, KeyRange { mut start, mut end }: KeyRange) {
        while let Some((other, other_end)) = self.last_up_to(&end)
            && *other_end >= start
        {
            let other = other.clone();
            end = end.max(self.ranges.remove(&other).expect("it was found"));
            start = start.min(other);
        }
        self.ranges.insert(start, end);
    }
}

/// A requested range that is not granted yet.
struct Waiting {
    owner: Arc<LockOwner>,
    range: KeyRange,
    /// Owners of exclusive locks inside the range when it was requested. Granted when none is left.
    blockers: Vec<Arc<LockOwner>>,
}

impl Waiting {
    fn stops(&self, writer: &Arc<LockOwner>, key: &[u8]) -> bool {
        !Arc::ptr_eq(&self.owner, writer)
            && self.range.contains(key)
            && !self.blockers.iter().any(|blocker| Arc::ptr_eq(blocker, writer))
    }

    fn row_lock_wait(&self) -> RowLockWait {
        RowLockWait {
            key: self.range.start.as_slice().into(),
            wanted: RowLock::new(&self.owner, Mode::Read),
            blockers: locks(self.blockers.iter(), Mode::Exclusive),
        }
    }
}

struct Writer {
    owner: Arc<LockOwner>,
    key: Box<[u8]>,
}

#[derive(Default)]
struct IndexRanges {
    /// One entry per owner.
    held: Vec<OwnerRanges>,
    /// At most one per owner, in order of arrival.
    waiting: Vec<Waiting>,
    /// Writers that wait for ranges, in order of arrival.
    writers: Vec<Writer>,
}

impl IndexRanges {
    fn is_empty(&self) -> bool {
        self.held.is_empty() && self.waiting.is_empty() && self.writers.is_empty()
    }

    fn held_by(&mut self, owner: &Arc<LockOwner>) -> Option<&mut OwnerRanges> {
        self.held.iter_mut().find(|held| Arc::ptr_eq(&held.owner, owner))
    }

    /// Returns the owners whose ranges a writer must wait for before it writes `key`.
    fn stopping(&self, writer: &Arc<LockOwner>, key: &[u8]) -> impl Iterator<Item = &Arc<LockOwner>> {
        let held = self.held.iter().filter(move |held| held.stops(writer, key));
        let waiting = self
            .waiting
            .iter()
            .filter(move |waiting| waiting.stops(writer, key));
        held.map(|held| &held.owner)
            .chain(waiting.map(|waiting| &waiting.owner))
    }

    fn row_lock_wait_of_writer(&self, writer: &Writer) -> RowLockWait {
        RowLockWait {
            key: writer.key.clone(),
            wanted: RowLock::new(&writer.owner, Mode::Exclusive),
            blockers: locks(self.stopping(&writer.owner, &writer.key), Mode::Read),
        }
    }

    fn grant_writers(&mut self, wakeups: &mut Wakeups) {
        let (stopped, free): (Vec<_>, Vec<_>) = std::mem::take(&mut self.writers)
            .into_iter()
            .partition(|writer| self.stopping(&writer.owner, &writer.key).next().is_some());
        self.writers = stopped;
        for writer in free {
            if writer.owner.grant() {
                wakeups.push(writer.owner);
            }
        }
    }
}

/// All range locks.
#[derive(Default)]
pub(crate) struct RangeTable {
    /// Number of owners of ranges, summed over the indexes, plus waiting ranges. Writers read it before they
    /// take the mutex.
    count: AtomicUsize,
    indexes: Mutex<HashMap<IndexId, IndexRanges>>,
}

pub(crate) enum RangeRequestOutcome {
    /// Held now. The index may have been among the owner's before.
    Granted,
    AlreadyHeld,
    /// [`LockOwner::wait`] must follow, and [`RangeTable::cancel`] if that fails.
    Queued,
    Busy,
}

impl RangeTable {
    pub(crate) fn is_empty(&self) -> bool {
        self.count.load(Ordering::SeqCst) == 0
    }

    /// Requests a shared lock on a range.
    pub(crate) fn request(
        &self,
        owner: &Arc<LockOwner>,
        range: &KeyRange,
        keys: &LockTable,
        on_conflict: OnConflict,
    ) -> RangeRequestOutcome {
        if range.is_empty() {
            return RangeRequestOutcome::AlreadyHeld;
        }
        let index = range.index();
        let mut indexes = self.indexes.lock();
        let ranges = indexes.entry(index).or_default();
        let range = match ranges.held_by(owner) {
            Some(held) if held.covers(range) => return RangeRequestOutcome::AlreadyHeld,
            Some(held) if held.ranges.len() >= RANGES_MAX => index.range(),
            _ => range.clone(),
        };
        // Registered before the keys are searched: see the module's head.
        self.count.fetch_add(1, Ordering::SeqCst);
        let mut blockers: Vec<Arc<LockOwner>> = Vec::new();
        keys.for_each_exclusive(|key, holder| {
            if range.contains(key)
                && !Arc::ptr_eq(holder, owner)
                && !blockers.iter().any(|known| Arc::ptr_eq(known, holder))
                // A writer that waits for other ranges has not written the key, and will check this one too.
                && !ranges.writers.iter().any(|writer| Arc::ptr_eq(&writer.owner, holder) && *writer.key == *key)
            {
                blockers.push(holder.clone());
            }
        });
        let granted = blockers.is_empty();
        if !granted && on_conflict == OnConflict::Return {
            self.count.fetch_sub(1, Ordering::SeqCst);
            return RangeRequestOutcome::Busy;
        }
        if !granted {
            owner.start_wait(WaitTarget::Range { index });
            for blocker in &blockers {
                blocker.mark_awaited();
            }
        }
        let waiting = Waiting {
            owner: owner.clone(),
            range,
            blockers,
        };
        // Writers that wait for other ranges wait for this one from now on.
        if ranges
            .writers
            .iter()
            .any(|writer| waiting.stops(&writer.owner, &writer.key))
        {
            owner.mark_awaited();
        }
        if granted {
            self.hold(ranges, waiting);
            RangeRequestOutcome::Granted
        } else {
            ranges.waiting.push(waiting);
            RangeRequestOutcome::Queued
        }
    }

    /// Grants a range, which is counted already, to its owner.
    fn hold(&self, ranges: &mut IndexRanges, Waiting { owner, range, .. }: Waiting) {
        match ranges.held_by(&owner) {
            Some(held) => {
                held.add(range);
                self.count.fetch_sub(1, Ordering::SeqCst);
            }
            None => ranges.held.push(OwnerRanges {
                owner,
                ranges: BTreeMap::from([(range.start, range.end)]),
            }),
        }
    }

    /// Returns whether a writer with an exclusive lock on `key` must wait for a range around it. Queues the
    /// writer then, unless `on_conflict` forbids it.
    pub(crate) fn writer_must_wait(
        &self,
        owner: &Arc<LockOwner>,
        key: &[u8],
        on_conflict: OnConflict,
    ) -> bool {
        let Some(index) = IndexId::of_key(key) else {
            return false;
        };
        let mut doomed = Wakeups::new();
        let mut indexes = self.indexes.lock();
        let Some(ranges) = indexes.get_mut(&index) else {
            return false;
        };
        if owner.is_applier() {
            // It waits for no session's range, unless that session is committing.
            let mut take_from = |victim: &Arc<LockOwner>| {
                let gives_way = victim.doom();
                if gives_way {
                    doomed.push(victim.clone());
                }
                gives_way
            };
            let before = ranges.held.len() + ranges.waiting.len();
            ranges
                .held
                .retain(|held| !(held.stops(owner, key) && take_from(&held.owner)));
            ranges
                .waiting
                .retain(|waiting| !(waiting.stops(owner, key) && take_from(&waiting.owner)));
            let gone = before - ranges.held.len() - ranges.waiting.len();
            self.count.fetch_sub(gone, Ordering::SeqCst);
        }
        let mut stopped = false;
        for other in ranges.stopping(owner, key) {
            stopped = true;
            other.mark_awaited();
        }
        if stopped && on_conflict == OnConflict::Queue {
            owner.start_wait(WaitTarget::InsideRange { key: key.into() });
            ranges.writers.push(Writer {
                owner: owner.clone(),
                key: key.into(),
            });
        }
        drop(indexes);
        for victim in doomed {
            victim.wake();
        }
        stopped
    }

    /// Withdraws a writer that gave up waiting for ranges.
    pub(crate) fn cancel_writer(&self, owner: &Arc<LockOwner>, key: &[u8]) {
        let Some(index) = IndexId::of_key(key) else { return };
        if let Some(ranges) = self.indexes.lock().get_mut(&index) {
            ranges.writers.retain(|writer| !Arc::ptr_eq(&writer.owner, owner));
        }
    }

    /// Withdraws an owner that gave up waiting for a range.
    pub(crate) fn cancel(&self, owner: &Arc<LockOwner>, index: IndexId, wakeups: &mut Wakeups) {
        let mut indexes = self.indexes.lock();
        let Some(ranges) = indexes.get_mut(&index) else {
            return;
        };
        let before = ranges.waiting.len();
        ranges
            .waiting
            .retain(|waiting| !Arc::ptr_eq(&waiting.owner, owner));
        self.count
            .fetch_sub(before - ranges.waiting.len(), Ordering::SeqCst);
        ranges.grant_writers(wakeups);
        if ranges.is_empty() {
            indexes.remove(&index);
        }
    }

    /// Releases all ranges of an owner in these indexes.
    pub(crate) fn release(&self, owner: &Arc<LockOwner>, of: &[IndexId], wakeups: &mut Wakeups) {
        let mut indexes = self.indexes.lock();
        for index in of {
            let Some(ranges) = indexes.get_mut(index) else {
                continue;
            };
            let before = ranges.held.len();
            ranges.held.retain(|held| !Arc::ptr_eq(&held.owner, owner));
            self.count.fetch_sub(before - ranges.held.len(), Ordering::SeqCst);
            ranges.grant_writers(wakeups);
            if ranges.is_empty() {
                indexes.remove(index);
            }
        }
    }

    /// Grants ranges that waited for `owner`, which has released key locks, if it holds none inside them any
    /// more and no other blocker is left.
    pub(crate) fn keys_released(&self, owner: &Arc<LockOwner>, keys: &LockTable, wakeups: &mut Wakeups) {
        let mut indexes = self.indexes.lock();
        for ranges in indexes.values_mut() {
            for mut waiting in std::mem::take(&mut ranges.waiting) {
                let mut blockers = waiting.blockers.iter();
                let at = blockers.position(|blocker| Arc::ptr_eq(blocker, owner));
                if let Some(at) = at.filter(|_| !holds_exclusive(owner, keys, &waiting.range)) {
                    waiting.blockers.swap_remove(at);
                }
                // A range whose owner has given up meanwhile is removed by that owner.
                if !waiting.blockers.is_empty() || !waiting.owner.grant() {
                    ranges.waiting.push(waiting);
                    continue;
                }
                if !ranges.writers.is_empty() {
                    waiting.owner.mark_awaited();
                }
                wakeups.push(waiting.owner.clone());
                self.hold(ranges, waiting);
            }
        }
    }

    /// Appends the waits with their blockers.
    pub(super) fn row_lock_waits(&self, into: &mut Vec<RowLockWait>) {
        let indexes = self.indexes.lock();
        for ranges in indexes.values() {
            into.extend(ranges.waiting.iter().map(Waiting::row_lock_wait));
            let writers = ranges.writers.iter();
            into.extend(writers.map(|writer| ranges.row_lock_wait_of_writer(writer)));
        }
    }

    /// Returns the wait of `owner`, which waits for a range to become free or for the ranges around a key.
    pub(super) fn row_lock_wait_of(
        &self,
        owner: &Arc<LockOwner>,
        target: &WaitTarget,
    ) -> Option<RowLockWait> {
        let indexes = self.indexes.lock();
        match target {
            WaitTarget::Range { index } => {
                let mut waiting = indexes.get(index)?.waiting.iter();
                let own = waiting.find(|waiting| Arc::ptr_eq(&waiting.owner, owner))?;
                Some(own.row_lock_wait())
            }
            WaitTarget::InsideRange { key } => {
                let ranges = indexes.get(&IndexId::of_key(key)?)?;
                let mut writers = ranges.writers.iter();
                let own = writers.find(|writer| Arc::ptr_eq(&writer.owner, owner))?;
                Some(ranges.row_lock_wait_of_writer(own))
            }
            WaitTarget::Key { .. } => unreachable!("key waits are the lock table's"),
        }
    }

    /// Appends the owners that block `owner`, which waits for a range to become free or for the ranges around a
    /// key.
    pub(crate) fn blockers_of(
        &self,
        owner: &Arc<LockOwner>,
        target: &WaitTarget,
        into: &mut Vec<Arc<LockOwner>>,
    ) {
        let indexes = self.indexes.lock();
        match target {
            WaitTarget::Range { index } => {
                let waiting = indexes.get(index).into_iter().flat_map(|ranges| &ranges.waiting);
                let mut own = waiting.filter(|waiting| Arc::ptr_eq(&waiting.owner, owner));
                into.extend(
                    own.next()
                        .into_iter()
                        .flat_map(|own| own.blockers.iter().cloned()),
                );
            }
            WaitTarget::InsideRange { key } => {
                let ranges = IndexId::of_key(key).and_then(|index| indexes.get(&index));
                if let Some(ranges) = ranges {
                    into.extend(ranges.stopping(owner, key).cloned());
                }
            }
            WaitTarget::Key { .. } => unreachable!("key waits are the lock table's"),
        }
    }
}

fn locks<'o>(owners: impl Iterator<Item = &'o Arc<LockOwner>>, mode: Mode) -> Vec<RowLock> {
    owners.map(|owner| RowLock::new(owner, mode)).collect()
}

fn holds_exclusive(owner: &Arc<LockOwner>, keys: &LockTable, range: &KeyRange) -> bool {
    let mut found = false;
    keys.for_each_exclusive(|key, holder| found |= Arc::ptr_eq(holder, owner) && range.contains(key));
    found
}
