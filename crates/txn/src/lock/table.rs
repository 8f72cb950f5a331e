//! The lock table: key → holders and waiters, in shards.
//!
//! ```text
//!   hash(key) ──▶ shard (mutex) ──▶ entry { key, holders: [owner mode]…, queue: [owner mode]… }
//! ```
//!
//! An uncontended lock costs one hash, one shard mutex and one insertion without an allocation; its release
//! costs the same. A waiter is queued in order of arrival; an upgrade goes before owners that hold nothing. A
//! request is granted when it is compatible with every holder and with every request queued before it, so none
//! overtakes a waiter that it would delay.
//!
//! Owners are woken after the shard's mutex is released: functions that grant locks return the owners to wake.

use super::holders::Holders;
use super::mode::Mode;
use super::owner::{LockOwner, TableKind, WaitTarget};
use super::waits::{RowLock, RowLockWait};
use hashbrown::HashTable;
use hashbrown::hash_table::Entry as TableEntry;
use parking_lot::Mutex;
use smallvec::SmallVec;
use std::collections::VecDeque;
use std::hash::BuildHasher;
use std::sync::Arc;

const SHARDS: usize = 256;

/// Longest key, in bytes, that is stored without an allocation.
const KEY_INLINE: usize = 32;

/// Reference to a lock that an owner holds, needed to release it.
#[derive(Clone, Copy, Debug)]
pub(crate) struct HeldLock {
    hash: u64,
    entry: u64,
}

/// Owners whose wait is over. Wake them when no mutex is held.
pub(crate) type Wakeups = SmallVec<[Arc<LockOwner>; 4]>;

struct Request {
    owner: Arc<LockOwner>,
    mode: Mode,
    kind: RequestKind,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum RequestKind {
    New,
    /// The owner is among the holders with a weaker mode.
    Upgrade,
}

struct Entry {
    id: u64,
    hash: u64,
    key: SmallVec<[u8; KEY_INLINE]>,
    holders: Holders,
    /// Absent until an owner first waits for the lock. Boxed because most locks never have one, and entries are
    /// moved.
    #[allow(clippy::box_collection)]
    queue: Option<Box<VecDeque<Request>>>,
}

impl Entry {
    fn is_compatible_with_holders(&self, owner: &Arc<LockOwner>, mode: Mode) -> bool {
        self.holders
            .are_compatible_with(mode, self.holders.mode_of(owner))
    }

    fn is_compatible_with_queue(&self, mode: Mode) -> bool {
        self.queue
            .as_ref()
            .is_none_or(|queue| queue.iter().all(|request| mode.is_compatible_with(request.mode)))
    }

    fn has_queue(&self) -> bool {
        self.queue.as_ref().is_some_and(|queue| !queue.is_empty())
    }

    /// Returns the wait of a request in the queue.
    fn wait_of(&self, request: &Request) -> RowLockWait {
        RowLockWait {
            key: self.key.as_slice().into(),
            wanted: RowLock::new(&request.owner, request.mode),
            blockers: self.row_locks_of(blockers(self, &request.owner)),
        }
    }

    /// Returns the locks of these owners, held or requested.
    fn row_locks_of<'o>(&self, owners: impl Iterator<Item = &'o Arc<LockOwner>>) -> Vec<RowLock> {
        let wanted = |owner: &Arc<LockOwner>| {
            let mut queue = self.queue.iter().flat_map(|queue| queue.iter());
            let request = queue.find(|request| Arc::ptr_eq(&request.owner, owner))?;
            Some(request.mode)
        };
        owners
            .filter_map(|owner| {
                let mode = self.holders.mode_of(owner).or_else(|| wanted(owner))?;
                Some(RowLock::new(owner, mode))
            })
            .collect()
    }

    /// Grants the lock to the requests at the head of the queue that are compatible now.
    fn grant(&mut self, wakeups: &mut Wakeups) {
        while let Some(request) = self.queue.as_ref().and_then(|queue| queue.front()) {
            let (owner, mode, kind) = (request.owner.clone(), request.mode, request.kind);
            if !self.is_compatible_with_holders(&owner, mode) {
                break;
            }
            self.queue.as_mut().expect("it has a front").pop_front();
            // A waiter that has timed out or was chosen as a victim meanwhile is skipped.
            if !owner.grant() {
                continue;
            }
            match kind {
                RequestKind::New => self.holders.add(owner.clone(), mode),
                RequestKind::Upgrade => self.holders.change(&owner, mode),
            }
            if self.has_queue() {
                owner.mark_awaited();
            }
            wakeups.push(owner);
        }
    }
}

#[derive(Default)]
struct ShardState {
    entries: HashTable<Entry>,
    next_id: u64,
}

/// A shard keeps its memory up to room for this many entries.
const KEPT_CAPACITY: usize = 1024;

impl ShardState {
    /// Shrinks the shard after a transaction that had locked millions of keys.
    fn give_back_memory(&mut self) {
        let (used, room) = (self.entries.len(), self.entries.capacity());
        if room > KEPT_CAPACITY && used < room / 8 {
            self.entries.shrink_to(used * 2, |entry| entry.hash);
        }
    }
}

#[repr(align(128))]
#[derive(Default)]
struct Shard(Mutex<ShardState>);

pub(crate) enum LockRequestOutcome {
    /// Held now, and not held before.
    New(HeldLock),
    /// Already held in this mode or a stronger one.
    AlreadyHeld,
    /// Held in a weaker mode before, and in this one now.
    Upgraded,
    /// Queued: [`LockOwner::wait`] must follow, and [`LockTable::cancel`] if that fails. Once granted, the lock
    /// is `held`, new to the owner unless it was an upgrade.
    Queued { held: HeldLock, is_new: bool },
    /// The lock is not free, and the request was not to be queued.
    Busy,
}

/// Whether a lock is held, or only requested.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum IsHeld {
    Yes,
    No,
}

/// Whether a request that cannot be granted joins the queue.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum OnConflict {
    Queue,
    Return,
}

pub(crate) struct LockTable {
    kind: TableKind,
    hasher: hashbrown::DefaultHashBuilder,
    shards: Box<[Shard]>,
}

impl LockTable {
    pub(crate) fn new(kind: TableKind) -> Self {
        LockTable {
            kind,
            hasher: Default::default(),
            shards: (0..SHARDS).map(|_| Shard::default()).collect(),
        }
    }

    fn shard(&self, hash: u64) -> &Mutex<ShardState> {
        // The table inside the shard uses the lowest and the highest bits.
        &self.shards[(hash >> 40) as usize % SHARDS].0
    }

    /// Requests a lock. An applier's request goes before those of sessions, and takes the lock from sessions
    /// whose transactions may be undone.
    pub(crate) fn request(
        &self,
        owner: &Arc<LockOwner>,
        key: &[u8],
        mode: Mode,
        on_conflict: OnConflict,
    ) -> LockRequestOutcome {
        let mut doomed = Wakeups::new();
        let requested = self.request_in_shard(owner, key, mode, on_conflict, &mut doomed);
        for victim in doomed {
            victim.wake();
        }
        requested
    }

    fn request_in_shard(
        &self,
        owner: &Arc<LockOwner>,
        key: &[u8],
        mode: Mode,
        on_conflict: OnConflict,
        doomed: &mut Wakeups,
    ) -> LockRequestOutcome {
        let hash = self.hasher.hash_one(key);
        let mut guard = self.shard(hash).lock();
        let shard = &mut *guard;
        let entry = shard.entries.entry(
            hash,
            |entry| entry.hash == hash && entry.key.as_slice() == key,
            |entry| entry.hash,
        );
        let mut occupied = match entry {
            TableEntry::Vacant(vacant) => {
                let id = shard.next_id;
                shard.next_id += 1;
                let mut holders = Holders::default();
                holders.add(owner.clone(), mode);
                vacant.insert(Entry {
                    id,
                    hash,
                    key: SmallVec::from_slice(key),
                    holders,
                    queue: None,
                });
                return LockRequestOutcome::New(HeldLock { hash, entry: id });
            }
            TableEntry::Occupied(occupied) => occupied,
        };
        let entry = occupied.get_mut();
        let held = HeldLock {
            hash,
            entry: entry.id,
        };
        let own = entry.holders.mode_of(owner);
        let takes = owner.is_applier() && self.kind == TableKind::Rows;
        if takes && !entry.holders.are_compatible_with(mode, own) {
            entry.holders.doom_conflicting(mode, owner, doomed);
        }
        let (mode, kind) = match own {
            Some(held_mode) => {
                if held_mode.covers(mode) {
                    return LockRequestOutcome::AlreadyHeld;
                }
                let mode = held_mode.join(mode);
                if entry.holders.are_compatible_with(mode, own) {
                    entry.holders.change(owner, mode);
                    if entry.has_queue() {
                        // The requests queued there may wait for it from now on.
                        owner.mark_awaited();
                    }
                    return LockRequestOutcome::Upgraded;
                }
                (mode, RequestKind::Upgrade)
            }
            None => {
                if entry.holders.are_compatible_with(mode, None)
                    && (takes || entry.is_compatible_with_queue(mode))
                {
                    entry.holders.add(owner.clone(), mode);
                    if entry.has_queue() {
                        owner.mark_awaited();
                    }
                    return LockRequestOutcome::New(held);
                }
                (mode, RequestKind::New)
            }
        };
        if on_conflict == OnConflict::Return {
            return LockRequestOutcome::Busy;
        }
        owner.start_wait(WaitTarget::Key {
            table: self.kind,
            hash,
            entry: held.entry,
        });
        let queue = entry.queue.get_or_insert_default();
        let at = match kind {
            RequestKind::New if takes => queue
                .iter()
                .position(|request| !request.owner.is_applier())
                .unwrap_or(queue.len()),
            RequestKind::New => queue.len(),
            RequestKind::Upgrade => queue
                .iter()
                .position(|request| request.kind == RequestKind::New)
                .unwrap_or(queue.len()),
        };
        queue.insert(
            at,
            Request {
                owner: owner.clone(),
                mode,
                kind,
            },
        );
        for blocker in blockers(entry, owner) {
            blocker.mark_awaited();
        }
        if kind == RequestKind::Upgrade {
            // The requests after an upgrade already waited for its owner, as a holder.
            owner.mark_awaited();
        }
        LockRequestOutcome::Queued {
            held,
            is_new: kind == RequestKind::New,
        }
    }

    fn with_entry<R>(&self, held: HeldLock, change: impl FnOnce(&mut Entry) -> R) -> Option<R> {
        let mut shard = self.shard(held.hash).lock();
        let mut found = shard
            .entries
            .find_entry(held.hash, |entry| entry.id == held.entry)
            .ok()?;
        let result = change(found.get_mut());
        if found.get().holders.is_empty() {
            assert!(!found.get().has_queue(), "a free lock has no waiters");
            found.remove();
            shard.give_back_memory();
        }
        Some(result)
    }

    /// Removes a request that was not granted from the queue. Returns the waiters for which it was the nearest
    /// before them: a deadlock search that reached it has ended there, and must be repeated.
    #[must_use]
    pub(crate) fn cancel(&self, owner: &Arc<LockOwner>, held: HeldLock, wakeups: &mut Wakeups) -> Wakeups {
        let uncovered = self.with_entry(held, |entry| {
            let followers = entry
                .queue
                .as_ref()
                .map(|queue| followers(queue, owner))
                .unwrap_or_default();
            if let Some(queue) = entry.queue.as_mut() {
                queue.retain(|request| !Arc::ptr_eq(&request.owner, owner));
            }
            entry.grant(wakeups);
            followers
        });
        uncovered.unwrap_or_default()
    }

    pub(crate) fn release(&self, owner: &Arc<LockOwner>, held: HeldLock, wakeups: &mut Wakeups) {
        let found = self.with_entry(held, |entry| {
            entry.holders.remove(owner);
            entry.grant(wakeups);
        });
        assert!(
            found.is_some() || owner.is_doomed(),
            "a lock that is held has an entry"
        );
    }

    /// Weakens a lock, for requests that are compatible with the weaker mode.
    pub(crate) fn downgrade(
        &self,
        owner: &Arc<LockOwner>,
        held: HeldLock,
        mode: Mode,
        wakeups: &mut Wakeups,
    ) {
        self.with_entry(held, |entry| {
            let before = entry
                .holders
                .mode_of(owner)
                .expect("an owner that downgrades a lock holds it");
            assert!(before.covers(mode), "a downgrade goes down");
            entry.holders.change(owner, mode);
            entry.grant(wakeups);
        });
    }

    /// Appends the owners that block `owner`, which is queued at this entry.
    pub(crate) fn blockers_of(
        &self,
        owner: &Arc<LockOwner>,
        hash: u64,
        entry: u64,
        into: &mut Vec<Arc<LockOwner>>,
    ) {
        let shard = self.shard(hash).lock();
        if let Some(entry) = shard.entries.find(hash, |candidate| candidate.id == entry) {
            into.extend(blockers(entry, owner).cloned());
        }
    }

    /// Calls `visit` with every exclusively held key and its holder. Shards are locked one at a time.
    pub(crate) fn for_each_exclusive(&self, mut visit: impl FnMut(&[u8], &Arc<LockOwner>)) {
        for shard in &self.shards {
            let shard = shard.0.lock();
            for entry in shard.entries.iter() {
                for holder in entry
                    .holders
                    .iter()
                    .filter(|holder| holder.mode == Mode::Exclusive)
                {
                    visit(&entry.key, &holder.owner);
                }
            }
        }
    }

    /// Calls `visit` with every lock that is held or requested. Shards are locked one at a time.
    pub(super) fn for_each_lock(&self, mut visit: impl FnMut(&[u8], &Arc<LockOwner>, Mode, IsHeld)) {
        for shard in &self.shards {
            let shard = shard.0.lock();
            for entry in shard.entries.iter() {
                for holder in entry.holders.iter() {
                    visit(&entry.key, &holder.owner, holder.mode, IsHeld::Yes);
                }
                for request in entry.queue.iter().flat_map(|queue| queue.iter()) {
                    visit(&entry.key, &request.owner, request.mode, IsHeld::No);
                }
            }
        }
    }

    /// Appends the waits with their blockers.
    pub(super) fn row_lock_waits(&self, into: &mut Vec<RowLockWait>) {
        for shard in &self.shards {
            let shard = shard.0.lock();
            for entry in shard.entries.iter() {
                let requests = entry.queue.iter().flat_map(|queue| queue.iter());
                into.extend(requests.map(|request| entry.wait_of(request)));
            }
        }
    }

    /// Returns the wait of `owner`, which is queued at this entry.
    pub(super) fn row_lock_wait_of(
        &self,
        owner: &Arc<LockOwner>,
        hash: u64,
        entry: u64,
    ) -> Option<RowLockWait> {
        let shard = self.shard(hash).lock();
        let entry = shard.entries.find(hash, |candidate| candidate.id == entry)?;
        let mut requests = entry.queue.iter().flat_map(|queue| queue.iter());
        let request = requests.find(|request| Arc::ptr_eq(&request.owner, owner))?;
        Some(entry.wait_of(request))
    }

    /// Returns the memory of the table and of the references that owners keep, in bytes. Long keys are not included.
    pub(crate) fn memory_bytes(&self) -> usize {
        let of_shard = |shard: &Shard| {
            let entries = &shard.0.lock().entries;
            // A table of that capacity has an eighth more places.
            entries.capacity() / 7 * 8 * size_of::<Entry>() + entries.len() * 2 * size_of::<HeldLock>()
        };
        self.shards.iter().map(of_shard).sum()
    }

    /// Returns the number of locked keys.
    pub(crate) fn len(&self) -> usize {
        self.shards.iter().map(|shard| shard.0.lock().entries.len()).sum()
    }
}

/// Returns the owners that block `owner`, queued at `entry`: the conflicting holders, and the nearest
/// conflicting waiter before it (which in turn waits for those before it; one edge instead of all keeps a long
/// queue cheap).
fn blockers<'e>(entry: &'e Entry, owner: &Arc<LockOwner>) -> impl Iterator<Item = &'e Arc<LockOwner>> {
    let queue = entry.queue.as_deref();
    let position = queue.and_then(|queue| {
        queue
            .iter()
            .position(|request| Arc::ptr_eq(&request.owner, owner))
    });
    let wanted = position.and_then(|at| queue.map(|queue| queue[at].mode));
    let ahead = queue.and_then(|queue| nearest_ahead(queue, owner));
    let own = owner.clone();
    let holders = entry.holders.iter().filter(move |holder| {
        wanted.is_some_and(|wanted| !wanted.is_compatible_with(holder.mode))
            && !Arc::ptr_eq(&holder.owner, &own)
    });
    holders.map(|holder| &holder.owner).chain(ahead)
}

/// Returns the last conflicting request queued before that of `owner`.
fn nearest_ahead<'q>(queue: &'q VecDeque<Request>, owner: &Arc<LockOwner>) -> Option<&'q Arc<LockOwner>> {
    let at = queue
        .iter()
        .position(|request| Arc::ptr_eq(&request.owner, owner))?;
    let wanted = queue[at].mode;
    queue
        .range(..at)
        .rev()
        .find(|request| !wanted.is_compatible_with(request.mode))
        .map(|request| &request.owner)
}

/// Returns the waiters for which `owner` is the nearest conflicting one before them.
fn followers(queue: &VecDeque<Request>, owner: &Arc<LockOwner>) -> Wakeups {
    let mut followers = Wakeups::new();
    for request in queue
        .iter()
        .skip_while(|request| !Arc::ptr_eq(&request.owner, owner))
        .skip(1)
    {
        if nearest_ahead(queue, &request.owner).is_some_and(|ahead| Arc::ptr_eq(ahead, owner)) {
            followers.push(request.owner.clone());
        }
        if request.mode == Mode::Exclusive {
            // It is the nearest one for all requests after it.
            break;
        }
    }
    followers
}
