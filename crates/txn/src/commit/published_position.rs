//! The published part of a GTID position, and the waits for it.
//!
//! It moves in the publish stage, in log order, after the shared snapshot is taken and before any session is notified:
//! the next snapshot contains what it covers.

use super::core::Core;
use super::log_stage::WrittenGroup;
use crate::error::{Error, Result};
use crate::interrupt::{Interrupt, WaitResult};
use paceline_binlog::{GtidPosition, PositionChange};
use paceline_types::Gtid;
use parking_lot::Mutex;
use std::future::Future;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll, Waker};
use std::time::Instant;

/// Outcome of a wait for a GTID position.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum PositionWaitOutcome {
    /// The position is reached: the next snapshot contains it.
    Reached,
    /// The time-out has passed.
    TimedOut,
}

/// Published GTID position and the waits for it.
pub(crate) struct PublishedPosition {
    position: Mutex<GtidPosition>,
    waiting: Mutex<Vec<(GtidPosition, Waiter)>>,
}

/// A thread or task that waits for a position.
enum Waiter {
    Thread(Interrupt),
    Task(Waker),
}

impl PublishedPosition {
    pub(crate) fn new(position: GtidPosition) -> Self {
        PublishedPosition {
            position: Mutex::new(position),
            waiting: Mutex::default(),
        }
    }

    pub(crate) fn get(&self) -> GtidPosition {
        self.position.lock().clone()
    }

    fn covers(&self, wanted: &GtidPosition) -> bool {
        self.position.lock().covers(wanted)
    }

    /// Applies the moves and wakes the waiters whose position is reached.
    pub(crate) fn advance(&self, moves: &[PositionChange]) {
        if moves.is_empty() {
            return;
        }
        {
            let mut position = self.position.lock();
            moves.iter().for_each(|step| step.apply(&mut position));
        }
        let mut waiting = self.waiting.lock();
        // A thread removes itself from the list.
        waiting.retain(|(wanted, waiter)| {
            if !self.covers(wanted) {
                return true;
            }
            match waiter {
                Waiter::Thread(interrupt) => interrupt.notify(),
                Waiter::Task(waker) => waker.wake_by_ref(),
            }
            matches!(waiter, Waiter::Thread(_))
        });
    }

    pub(crate) fn wait(
        &self,
        wanted: &GtidPosition,
        deadline: Option<Instant>,
        interrupt: &Interrupt,
    ) -> Result<PositionWaitOutcome> {
        if self.covers(wanted) {
            return Ok(PositionWaitOutcome::Reached);
        }
        self.waiting
            .lock()
            .push((wanted.clone(), Waiter::Thread(interrupt.clone())));
        let waited = interrupt.wait_until(deadline, || self.covers(wanted));
        {
            let mut waiting = self.waiting.lock();
            let own = waiting.iter().position(|(position, waiter)| {
                matches!(waiter, Waiter::Thread(other) if other.is_same(interrupt)) && position == wanted
            });
            if let Some(at) = own {
                waiting.swap_remove(at);
            }
        }
        match waited {
            WaitResult::Ready => Ok(PositionWaitOutcome::Reached),
            WaitResult::TimedOut => Ok(PositionWaitOutcome::TimedOut),
            WaitResult::Interrupted(reason) => Err(Error::Interrupted(reason)),
        }
    }
}

/// Wait of a task until a position is replicated and published.
#[must_use = "nothing is awaited before it is polled"]
pub struct ReplicationWait {
    core: Arc<Core>,
    wanted: GtidPosition,
}

impl ReplicationWait {
    pub(crate) fn new(core: Arc<Core>, wanted: GtidPosition) -> Self {
        ReplicationWait { core, wanted }
    }
}

impl Future for ReplicationWait {
    type Output = ();

    fn poll(self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<()> {
        let position = &self.core.replica;
        if position.covers(&self.wanted) {
            return Poll::Ready(());
        }
        {
            let mut waiting = position.waiting.lock();
            let is_own =
                |waiter: &Waiter| matches!(waiter, Waiter::Task(waker) if waker.will_wake(context.waker()));
            waiting.retain(|(wanted, waiter)| !(is_own(waiter) && *wanted == self.wanted));
            waiting.push((self.wanted.clone(), Waiter::Task(context.waker().clone())));
        }
        match position.covers(&self.wanted) {
            true => Poll::Ready(()),
            false => Poll::Pending,
        }
    }
}

/// Moves of GTID positions by groups that are published together.
pub(crate) struct PublishedMoves {
    /// Moves of `gtid_slave_pos`, in order.
    pub(crate) replicated: Vec<PositionChange>,
    /// Moves of the last GTID of each domain.
    pub(crate) logged: Vec<PositionChange>,
}

impl PublishedMoves {
    /// Returns the moves of groups that are published together.
    pub(crate) fn of(groups: &[WrittenGroup]) -> Self {
        let mut logged = Vec::new();
        for transaction in groups.iter().flat_map(|group| &group.transactions) {
            if let Some(gtid) = transaction.committed.gtid {
                note(&mut logged, gtid);
            }
        }
        PublishedMoves {
            replicated: replica_moves(groups),
            logged: match logged.is_empty() {
                true => Vec::new(),
                false => vec![PositionChange::To(logged)],
            },
        }
    }
}

/// Returns the moves of `gtid_slave_pos` by groups that are published together, in order.
fn replica_moves(groups: &[WrittenGroup]) -> Vec<PositionChange> {
    let mut moves: Vec<PositionChange> = Vec::new();
    for group in groups {
        for transaction in &group.transactions {
            let Some(gtid) = transaction.committed.gtid.filter(|_| transaction.is_replicated) else {
                continue;
            };
            match moves.last_mut() {
                Some(PositionChange::To(gtids)) => note(gtids, gtid),
                _ => moves.push(PositionChange::To(vec![gtid])),
            }
        }
        if group.moves != PositionChange::None {
            moves.push(group.moves.clone());
        }
    }
    moves
}

fn note(gtids: &mut Vec<Gtid>, gtid: Gtid) {
    match gtids.iter_mut().find(|known| known.domain_id == gtid.domain_id) {
        Some(known) => *known = gtid,
        None => gtids.push(gtid),
    }
}
