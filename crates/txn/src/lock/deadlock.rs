//! Finding deadlocks: who waits for me, through whom, and who of them shall give way.
//!
//! A waiter looks for a cycle through itself after it has joined its queue: whoever closes a cycle is the last to join, and
//! finds all its other members waiting. (One exception: a waiter that gives up uncovers the one before it to those behind it;
//! when it leaves it looks again for them.) Edges are not stored: they are read off the queues while walking. Since nobody
//! releases a lock while waiting for another, an edge that was seen still stands when the cycle closes; only a waiter that
//! gives up (time-out, KILL) can break it meanwhile, and then one transaction too many is rolled back.
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
        let mut cycles = 0;
        while let Some(cycle) = find_cycle(locks, owner) {
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

/// The owners of a cycle through `start`, in order, `start` first.
fn find_cycle(locks: &LockManager, start: &Arc<LockOwner>) -> Option<Vec<Arc<LockOwner>>> {
    struct Step {
        owner: Arc<LockOwner>,
        blockers: Vec<Arc<LockOwner>>,
    }
    let step = |owner: Arc<LockOwner>| {
        let mut blockers = Vec::new();
        locks.blockers_of(&owner, &mut blockers);
        Step { owner, blockers }
    };
    let mut seen = HashSet::from([start.id()]);
    let mut path = vec![step(start.clone())];
    while let Some(last) = path.last_mut() {
        match last.blockers.pop() {
            None => {
                path.pop();
            }
            Some(next) if Arc::ptr_eq(&next, start) => {
                return Some(path.into_iter().map(|step| step.owner).collect());
            }
            Some(next) => {
                if seen.insert(next.id()) {
                    path.push(step(next));
                }
            }
        }
    }
    None
}

fn choose_victim(cycle: &[Arc<LockOwner>]) -> &Arc<LockOwner> {
    // `min_by_key` keeps the first of equals, which is the one that asks.
    cycle
        .iter()
        .min_by_key(|owner| owner.weight())
        .expect("a cycle has members")
}
