//! Finding deadlocks: who waits for me, through whom, and who of them shall give way.
//!
//! A waiter looks for a cycle through itself after it has joined its queue: whoever closes a cycle is the last to join, and
//! finds all its other members waiting. (One exception: a waiter that gives up uncovers the one before it to those behind it;
//! when it leaves it looks again for them.) Edges are not stored: they are read off the queues while walking.
//!
//! While a long queue on a hot row is walked, it moves: who was seen before me may have got the lock, committed and queued again, behind me, when its own edges
//! are read. That looks like a cycle and is none. So a cycle is looked at twice ([`stands`]): every member must still be in the wait in which it was found, and
//! wait for the next member at a second look. Nobody who waits releases a lock or leaves a queue; so all edges of the second look stand together, as long as
//! all members have waited throughout. Only a waiter that gives up right then (time-out, KILL) can still break the cycle, and then one transaction too
//! many is rolled back.
//!
//! The victim is the lightest member (fewest rows changed plus locks held), as in InnoDB; among equals the one that asks.

use super::LockManager;
use super::owner::LockOwner;
use parking_lot::Mutex;
use std::collections::HashSet;
use std::sync::Arc;

/// One search at a time, so that two members of one cycle do not choose two victims.
#[derive(Default)]
pub(super) struct Detector {
    turn: Mutex<()>,
}

impl Detector {
    /// Breaks every cycle that `owner`, who has just joined a queue, closes. Returns how many there were.
    pub(super) fn resolve(&self, locks: &LockManager, owner: &Arc<LockOwner>) -> u64 {
        let _turn = self.turn.lock();
        let mut read = |owner: &Arc<LockOwner>, into: &mut Vec<_>| locks.blockers_of(owner, into);
        let mut cycles = 0;
        while let Some(cycle) = find_cycle(owner, &mut read) {
            if !stands(&cycle, &mut read) {
                continue;
            }
            cycles += 1;
            let victim = choose_victim(&cycle);
            if victim.choose_as_victim() {
                victim.wake();
            }
            // If it could not be chosen its wait is over: the cycle is broken all the same, as the next look will show.
        }
        cycles
    }
}

/// A waiting owner of a cycle, and the number of its wait.
struct Member {
    owner: Arc<LockOwner>,
    wait: u64,
}

/// Reads off the queues for whom an owner waits, and the number of its wait: [`LockManager::blockers_of`].
trait ReadBlockers: FnMut(&Arc<LockOwner>, &mut Vec<Arc<LockOwner>>) -> Option<u64> {}
impl<F: FnMut(&Arc<LockOwner>, &mut Vec<Arc<LockOwner>>) -> Option<u64>> ReadBlockers for F {}

/// What looks like a cycle through `start`: its members in order, `start` first.
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

/// Whether all of a cycle's edges stand together. See the module's head.
fn stands(cycle: &[Member], read: &mut impl ReadBlockers) -> bool {
    let next = cycle.iter().cycle().skip(1);
    let waits_for_next = |(member, next): (&Member, &Member)| {
        let mut blockers = Vec::new();
        read(&member.owner, &mut blockers) == Some(member.wait)
            && blockers.iter().any(|blocker| Arc::ptr_eq(blocker, &next.owner))
    };
    cycle.iter().zip(next).all(waits_for_next)
        && cycle.iter().all(|member| member.owner.is_in_wait(member.wait))
}

fn choose_victim(cycle: &[Member]) -> &Arc<LockOwner> {
    // `min_by_key` keeps the first of equals, which is the one that asks.
    cycle
        .iter()
        .map(|member| &member.owner)
        .min_by_key(|owner| owner.weight())
        .expect("a cycle has members")
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::interrupt::Interrupt;
    use crate::lock::mode::Mode;
    use crate::lock::owner::WaitOutcome;
    use crate::lock::table::{HeldLock, IfBusy, Requested, Wakeups};

    const HOT: &[u8] = b"hot";

    fn owners<const N: usize>() -> [Arc<LockOwner>; N] {
        std::array::from_fn(|n| LockOwner::new(n as u64 + 1, Interrupt::new()))
    }

    /// Asks for a key exclusively. Whether it is held at once, and as what.
    fn ask(locks: &LockManager, owner: &Arc<LockOwner>, key: &[u8]) -> (bool, HeldLock) {
        match locks.rows.request(owner, key, Mode::Exclusive, IfBusy::Queue) {
            Requested::New(held) => (true, held),
            Requested::Queued { held, .. } => (false, held),
            _ => panic!("nobody asks twice"),
        }
    }

    fn release(locks: &LockManager, owner: &Arc<LockOwner>, held: HeldLock) {
        locks.rows.release(owner, held, &mut Wakeups::new());
    }

    #[test]
    fn a_queue_that_moves_while_it_is_walked_is_no_cycle() {
        let locks = LockManager::new();
        let [holder, first, second, walker, last] = owners();
        let held = ask(&locks, &holder, HOT).1;
        let of_first = ask(&locks, &first, HOT).1;
        for waiter in [&second, &walker, &last] {
            assert!(!ask(&locks, waiter, HOT).0);
        }
        let mut has_moved = false;
        let mut read = |owner: &Arc<LockOwner>, into: &mut Vec<Arc<LockOwner>>| {
            // Before the walk reads for whom the first waits, he and the holder have been served, and he has come again.
            if Arc::ptr_eq(owner, &first) && !std::mem::replace(&mut has_moved, true) {
                release(&locks, &holder, held);
                assert_eq!(first.wait(None), WaitOutcome::Granted);
                release(&locks, &first, of_first);
                assert_eq!(second.wait(None), WaitOutcome::Granted);
                assert!(!ask(&locks, &first, HOT).0);
            }
            locks.blockers_of(owner, into)
        };
        let seen = find_cycle(&walker, &mut read).expect("it looks like a cycle");
        assert_eq!(seen.len(), 4);
        assert!(!stands(&seen, &mut read));
        assert!(find_cycle(&walker, &mut read).is_none());
        assert_eq!(locks.deadlock.resolve(&locks, &walker), 0);
    }

    #[test]
    fn a_wait_that_was_left_for_another_breaks_a_cycle() {
        let locks = LockManager::new();
        let [one, other] = owners();
        ask(&locks, &one, b"a");
        let held = ask(&locks, &other, b"b").1;
        let waiting = ask(&locks, &one, b"b").1;
        ask(&locks, &other, b"a");
        let mut read = |owner: &Arc<LockOwner>, into: &mut Vec<_>| locks.blockers_of(owner, into);
        let cycle = find_cycle(&one, &mut read).expect("each waits for the other");
        assert!(stands(&cycle, &mut read));
        // It gives up, and waits for the same again.
        let long_ago = std::time::Instant::now();
        assert_eq!(one.wait(Some(long_ago)), WaitOutcome::TimedOut);
        let _nobody_behind = locks.rows.cancel(&one, waiting, &mut Wakeups::new());
        ask(&locks, &one, b"b");
        assert!(!stands(&cycle, &mut read));
        assert_eq!(locks.deadlock.resolve(&locks, &one), 1);
        assert_eq!(one.wait(None), WaitOutcome::Victim);
        release(&locks, &other, held);
    }
}
