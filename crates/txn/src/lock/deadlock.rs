//! Deadlock detection: finds cycles of waiting owners, and chooses the member to roll back.
//!
//! A waiter searches for a cycle through itself after it has joined its queue: the owner that closes a cycle is
//! the last to join, and finds all other members waiting. (One exception: a waiter that gives up uncovers the
//! one before it to those after it; when it leaves, it searches again on their behalf.) Edges are not stored;
//! the walk reads them from the queues.
//!
//! A long queue on a hot row moves while it is walked. An owner that was seen before the walker may have been
//! granted the lock, committed and queued again, after the walker, when its own edges are read. That looks like
//! a cycle but is none. A cycle is therefore checked a second time ([`is_confirmed`]): every member must still be in
//! the wait in which it was found, and must again wait for the next member. A waiting owner releases no lock
//! and leaves no queue, so all edges of the second check exist at the same time, as long as all members have
//! waited throughout. Only a waiter that gives up at that moment (time-out, KILL) can still break the cycle;
//! then one transaction too many is rolled back.
//!
//! The victim is the lightest member (fewest rows changed plus locks held), as in InnoDB; among equals the one
//! that searches.

use super::owner::LockOwner;
use super::waits::RowLockWait;
use parking_lot::Mutex;
use std::collections::HashSet;
use std::sync::Arc;

/// Member of a deadlock that was found.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct DeadlockMember {
    /// [`Session::id`](crate::Session::id) of the member.
    pub session_id: u64,
    /// Its wait, if it waits for a row.
    pub wait: Option<RowLockWait>,
}

/// A deadlock that was found, for users who look for its cause.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Deadlock {
    /// Each member waits for the next, the last for the first.
    pub members: Vec<DeadlockMember>,
    /// Index of the member that is rolled back.
    pub victim: usize,
}

/// Function that is told of deadlocks. It is called while all members still wait.
pub type DeadlockHook = Box<dyn Fn(&Deadlock) + Send + Sync>;

/// Runs one search at a time, so that two members of one cycle do not choose two victims.
#[derive(Default)]
pub(super) struct Detector {
    search_lock: Mutex<()>,
}

impl Detector {
    /// Breaks every cycle that `owner`, which has just joined a queue, closes. Returns their number. `describe` is
    /// called with the members of each cycle and the index of the victim while all of them wait, and `tell` with its
    /// result as soon as the victim cannot be granted its lock any more.
    pub(super) fn resolve<D>(
        &self,
        owner: &Arc<LockOwner>,
        mut read: impl ReadBlockers,
        describe: impl Fn(&[Member], usize) -> D,
        tell: impl Fn(D),
    ) -> u64 {
        let _search = self.search_lock.lock();
        let mut cycles = 0;
        while let Some(cycle) = find_cycle(owner, &mut read) {
            if !is_confirmed(&cycle, &mut read) {
                continue;
            }
            cycles += 1;
            let index = choose_victim(&cycle);
            let victim = &cycle[index].owner;
            let description = describe(&cycle, index);
            if victim.choose_as_victim() {
                tell(description);
                victim.wake();
            }
            // If the victim could not be chosen, its wait is over: the cycle is broken anyway, and the next
            // search will not find it.
        }
        cycles
    }
}

/// Waiting owner in a cycle, and the number of its wait.
pub(super) struct Member {
    pub(super) owner: Arc<LockOwner>,
    wait: u64,
}

/// Reads from the queues the owners that an owner waits for, and the number of its wait.
pub(super) trait ReadBlockers:
    FnMut(&Arc<LockOwner>, &mut Vec<Arc<LockOwner>>) -> Option<u64>
{
}
impl<F: FnMut(&Arc<LockOwner>, &mut Vec<Arc<LockOwner>>) -> Option<u64>> ReadBlockers for F {}

/// Returns an apparent cycle through `start`: its members in order, `start` first.
fn find_cycle(start: &Arc<LockOwner>, read: &mut impl ReadBlockers) -> Option<Vec<Member>> {
    struct Step {
        member: Member,
        blockers: Vec<Arc<LockOwner>>,
    }
    let mut step = |owner: Arc<LockOwner>| {
        let mut blockers = Vec::new();
        let wait = read(&owner, &mut blockers)?;
        let member = Member { owner, wait };
        Some(Step { member, blockers })
    };
    let mut seen = HashSet::from([start.id()]);
    let mut path = vec![step(start.clone())?];
    while let Some(last) = path.last_mut() {
        match last.blockers.pop() {
            None => {
                path.pop();
            }
            Some(next) if Arc::ptr_eq(&next, start) => {
                return Some(path.into_iter().map(|step| step.member).collect());
            }
            Some(next) => {
                if seen.insert(next.id()) {
                    path.extend(step(next));
                }
            }
        }
    }
    None
}

/// Returns whether all edges of a cycle exist at the same time. See the module's head.
fn is_confirmed(cycle: &[Member], read: &mut impl ReadBlockers) -> bool {
    let next = cycle.iter().cycle().skip(1);
    let waits_for_next = |(member, next): (&Member, &Member)| {
        let mut blockers = Vec::new();
        read(&member.owner, &mut blockers) == Some(member.wait)
            && blockers.iter().any(|blocker| Arc::ptr_eq(blocker, &next.owner))
    };
    cycle.iter().zip(next).all(waits_for_next)
        && cycle.iter().all(|member| member.owner.is_in_wait(member.wait))
}

/// Returns the index of the victim.
fn choose_victim(cycle: &[Member]) -> usize {
    // `min_by_key` returns the first of equals, which is the owner that searches.
    let weights = cycle.iter().map(|member| member.owner.weight()).enumerate();
    let lightest = weights.min_by_key(|(_, weight)| *weight);
    lightest.map(|(index, _)| index).expect("a cycle has members")
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::interrupt::Interrupt;
    use crate::lock::LockManager;
    use crate::lock::mode::Mode;
    use crate::lock::owner::WaitOutcome;
    use crate::lock::table::{HeldLock, LockRequestOutcome, OnConflict, Wakeups};

    const HOT: &[u8] = b"hot";

    fn owners<const N: usize>() -> [Arc<LockOwner>; N] {
        std::array::from_fn(|n| LockOwner::new(n as u64 + 1, Interrupt::new()))
    }

    /// Requests a key exclusively. Returns whether it was granted at once, and the lock.
    fn request(locks: &LockManager, owner: &Arc<LockOwner>, key: &[u8]) -> (bool, HeldLock) {
        match locks.rows.request(owner, key, Mode::Exclusive, OnConflict::Queue) {
            LockRequestOutcome::New(held) => (true, held),
            LockRequestOutcome::Queued { held, .. } => (false, held),
            _ => panic!("an owner asks once"),
        }
    }

    fn release(locks: &LockManager, owner: &Arc<LockOwner>, held: HeldLock) {
        locks.rows.release(owner, held, &mut Wakeups::new());
    }

    #[test]
    fn a_queue_that_moves_during_the_walk_is_no_cycle() {
        let locks = LockManager::new();
        let [holder, first, second, walker, last] = owners();
        let held = request(&locks, &holder, HOT).1;
        let of_first = request(&locks, &first, HOT).1;
        for waiter in [&second, &walker, &last] {
            assert!(!request(&locks, waiter, HOT).0);
        }
        let mut has_moved = false;
        let mut read = |owner: &Arc<LockOwner>, into: &mut Vec<Arc<LockOwner>>| {
            // Before the walk reads the blockers of `first`, both `first` and the holder have been served, and
            // `first` has queued again.
            if Arc::ptr_eq(owner, &first) && !std::mem::replace(&mut has_moved, true) {
                release(&locks, &holder, held);
                assert_eq!(first.wait(None), WaitOutcome::Granted);
                release(&locks, &first, of_first);
                assert_eq!(second.wait(None), WaitOutcome::Granted);
                assert!(!request(&locks, &first, HOT).0);
            }
            locks.blockers_of(owner, into)
        };
        let seen = find_cycle(&walker, &mut read).expect("it looks like a cycle");
        assert_eq!(seen.len(), 4);
        assert!(!is_confirmed(&seen, &mut read));
        assert!(find_cycle(&walker, &mut read).is_none());
        assert_eq!(locks.deadlock.resolve(&walker, &mut read, |_, _| (), |()| ()), 0);
    }

    #[test]
    fn a_cycle_with_an_abandoned_wait_does_not_stand() {
        let locks = LockManager::new();
        let [one, other] = owners();
        request(&locks, &one, b"a");
        let held = request(&locks, &other, b"b").1;
        let waiting = request(&locks, &one, b"b").1;
        request(&locks, &other, b"a");
        let mut read = |owner: &Arc<LockOwner>, into: &mut Vec<_>| locks.blockers_of(owner, into);
        let cycle = find_cycle(&one, &mut read).expect("each waits for the other");
        assert!(is_confirmed(&cycle, &mut read));
        // It gives up, and waits for the same key again.
        let long_ago = std::time::Instant::now();
        assert_eq!(one.wait(Some(long_ago)), WaitOutcome::TimedOut);
        let _nobody_behind = locks.rows.cancel(&one, waiting, &mut Wakeups::new());
        request(&locks, &one, b"b");
        assert!(!is_confirmed(&cycle, &mut read));
        assert_eq!(locks.deadlock.resolve(&one, read, |_, _| (), |()| ()), 1);
        assert_eq!(one.wait(None), WaitOutcome::Victim);
        release(&locks, &other, held);
    }
}
