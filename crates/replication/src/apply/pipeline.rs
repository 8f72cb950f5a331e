//! Hands rounds over to the commit queue in order, and tracks which are placed and which are published.
//!
//! ```text
//!   dispatched ─▶ complete (every transaction prepared) ─▶ handed over ─▶ placed ─▶ published
//! ```
//!
//! **A failure** in round F: the rounds before it continue. Of round F the transactions before the failure are handed
//! over. The rest and all later rounds are abandoned: their transactions are dropped, and the lane plans them again
//! when nothing is in progress any more.
//!
//! **In a cluster** nothing is published before the cluster has acknowledged it, perhaps never. When the applier is
//! stopped it does not wait for that: it ends when everything handed over is placed.

use super::progress::PushNumber;
use super::queue::{Item, LaneQueue};
use super::round::{PreparedTransaction, Round, RoundNumber};
use super::shared::Shared;
use crate::obstacle::{Activity, ObservedLane, Obstacle, SharedActivity};
use paceline_txn::{BatchObserver, CommitStream, Transaction};
use paceline_types::Version;
use parking_lot::{Condvar, Mutex, MutexGuard};
use std::collections::{BTreeMap, VecDeque};
use std::sync::Arc;
use std::sync::atomic::{AtomicU8, AtomicU64, Ordering};
use std::time::Duration;

/// Maximum number of rounds that are dispatched and not published.
const UNPUBLISHED_MAX: u64 = 8;
/// Maximum number of rounds that are dispatched and not placed.
const UNPLACED_MAX: u64 = 3;

/// How often a lane that waits for a publication, which a cluster may withhold, checks whether the applier is stopped.
const STOP_LOOK: Duration = Duration::from_millis(20);

/// Reason why the latest round is small.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
#[repr(u8)]
pub(super) enum SmallRound {
    /// It is not, or there was nothing more to add.
    No = 0,
    /// The next transaction touches one of its keys.
    Conflict = 1,
    /// The next transaction belongs to another commit group of the primary.
    CommitGroup = 2,
}

/// How a lane's wait has ended.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum DrainResult {
    /// Nothing is in progress.
    Completely,
    /// The applier is stopped. Everything that was handed over is placed, and not all of it is published.
    GivenUp,
}

/// Value of `failed_at` while no round has failed.
const NEVER: RoundNumber = RoundNumber::MAX;

struct State {
    dispatched: RoundNumber,
    /// Number of rounds that the workers have finished.
    completed: u64,
    /// The next round to hand over.
    next: RoundNumber,
    complete: BTreeMap<RoundNumber, Arc<Round>>,
    /// Number of batches given to the commit queue, of those that are placed, and of those that have ended.
    handed_over: u64,
    batches_placed: u64,
    ended: u64,
    /// Transactions to plan again, by round.
    abandoned: BTreeMap<RoundNumber, Vec<Item>>,
    /// Error of the commit queue for a transaction.
    refused: Option<paceline_txn::Error>,
}

/// The pipeline of one lane.
pub(super) struct Pipeline {
    shared: Arc<Shared>,
    queue: Arc<LaneQueue>,
    state: Mutex<State>,
    changed: Condvar,
    /// Locked while rounds are handed over, which keeps them in order.
    handing_over: Mutex<CommitStream>,
    placed: AtomicU64,
    /// First round that has failed.
    failed_at: AtomicU64,
    /// Activity of the lane's thread.
    pub(super) activity: SharedActivity,
    /// A [`SmallRound`].
    small_round: AtomicU8,
}

impl Pipeline {
    pub(super) fn new(shared: Arc<Shared>, queue: Arc<LaneQueue>) -> Arc<Self> {
        Arc::new(Pipeline {
            shared,
            queue,
            state: Mutex::new(State {
                dispatched: 0,
                completed: 0,
                next: 1,
                complete: BTreeMap::new(),
                handed_over: 0,
                batches_placed: 0,
                ended: 0,
                abandoned: BTreeMap::new(),
                refused: None,
            }),
            changed: Condvar::new(),
            handing_over: Mutex::new(CommitStream::new()),
            placed: AtomicU64::new(0),
            failed_at: AtomicU64::new(NEVER),
            activity: SharedActivity::default(),
            small_round: AtomicU8::new(SmallRound::No as u8),
        })
    }

    /// Returns the last round up to which all are placed.
    pub(super) fn placed(&self) -> RoundNumber {
        self.placed.load(Ordering::Acquire)
    }

    /// Records whether the latest round is small, and why.
    pub(super) fn note_small_round(&self, reason: SmallRound) {
        self.small_round.store(reason as u8, Ordering::Relaxed);
    }

    /// Returns the last dispatched round; 0 for none.
    pub(super) fn last_dispatched(&self) -> RoundNumber {
        self.state.lock().dispatched
    }

    pub(super) fn has_failed(&self) -> bool {
        self.failed_at.load(Ordering::Acquire) != NEVER
    }

    /// Returns whether a round should no longer be prepared.
    pub(super) fn is_abandoned(&self, number: RoundNumber) -> bool {
        self.failed_at.load(Ordering::Acquire) <= number
    }

    /// Waits for room and returns the number of a new round. Returns `None` if a round has failed, or the applier is
    /// stopped while there may never be room.
    pub(super) fn dispatch(&self) -> Option<RoundNumber> {
        let mut state = self.state.lock();
        loop {
            if self.has_failed() {
                return None;
            }
            let unpublished = state.dispatched - state.completed + state.handed_over - state.ended
                + state.complete.len() as u64;
            if unpublished < UNPUBLISHED_MAX && state.dispatched - self.placed() < UNPLACED_MAX {
                state.dispatched += 1;
                return Some(state.dispatched);
            }
            if self.is_given_up(&state) {
                return None;
            }
            self.wait_for_change(&mut state);
        }
    }

    /// Waits for a change of the state, or of the applier's if that alone may end the wait.
    fn wait_for_change(&self, state: &mut MutexGuard<'_, State>) {
        match self.shared.parts.manager.may_hold_back() {
            true => drop(self.changed.wait_for(state, STOP_LOOK)),
            false => self.changed.wait(state),
        }
    }

    /// Returns whether the applier is stopped, and only waits for what may never be published.
    fn is_given_up(&self, state: &State) -> bool {
        self.shared.is_stopping()
            && state.completed == state.dispatched
            && state.complete.is_empty()
            && state.batches_placed == state.handed_over
            && self.shared.parts.manager.may_hold_back()
    }

    /// Returns whether nothing is in progress.
    pub(super) fn is_empty(&self) -> bool {
        let state = self.state.lock();
        state.completed == state.dispatched && state.ended == state.handed_over && state.complete.is_empty()
    }

    /// Waits until round `number` is placed, on behalf of a transaction of round `of`. Returns false if `of` is
    /// abandoned.
    pub(super) fn wait_placed(&self, number: RoundNumber, of: RoundNumber) -> bool {
        if self.placed() >= number {
            return true;
        }
        let mut state = self.state.lock();
        loop {
            if self.is_abandoned(of) {
                return false;
            }
            if self.placed() >= number {
                return true;
            }
            self.changed.wait(&mut state);
        }
    }

    /// Records that a transaction of this round cannot be prepared.
    pub(super) fn fail(&self, number: RoundNumber) {
        {
            let _state = self.state.lock();
            self.failed_at.fetch_min(number, Ordering::AcqRel);
        }
        self.changed.notify_all();
        self.queue.nudge();
    }

    /// Records that every transaction of a round has been through its worker, and hands rounds over.
    pub(super) fn complete(self: &Arc<Self>, round: Arc<Round>) {
        {
            let mut state = self.state.lock();
            state.completed += 1;
            state.complete.insert(round.number, round);
        }
        let stream = self.handing_over.lock();
        loop {
            let round = {
                let mut state = self.state.lock();
                let next = state.next;
                match state.complete.remove(&next) {
                    None => break,
                    Some(round) => {
                        state.next += 1;
                        // Counted before it is known whether there is anything to commit, so that the pipeline never
                        // looks empty.
                        state.handed_over += 1;
                        round
                    }
                }
            };
            self.hand_over(&round, &stream);
        }
        drop(stream);
        self.changed.notify_all();
    }

    fn hand_over(self: &Arc<Self>, round: &Round, stream: &CommitStream) {
        let (prepared, guards) = round.take();
        let follows_failure = self.failed_at.load(Ordering::Acquire) < round.number;
        let mut transactions: Vec<Box<Transaction>> = Vec::with_capacity(prepared.len());
        let mut pushes: Vec<PushNumber> = Vec::with_capacity(prepared.len());
        let mut rest: Vec<Item> = Vec::new();
        for PreparedTransaction { planned, result, .. } in prepared {
            match result {
                Some(Ok(transaction)) if rest.is_empty() && !follows_failure => {
                    transactions.push(transaction);
                    pushes.push(planned.number);
                }
                // This drops the transaction and its locks.
                _ => rest.push(planned.into_item()),
            }
        }
        if !rest.is_empty() {
            self.state.lock().abandoned.insert(round.number, rest);
        }
        if transactions.is_empty() {
            let mut state = self.state.lock();
            state.batches_placed += 1;
            state.ended += 1;
            return;
        }
        self.shared.rounds.fetch_add(1, Ordering::Relaxed);
        let observer = Arc::new(RoundObserver {
            pipeline: self.clone(),
            number: round.number,
            pushes: Mutex::new(pushes),
        });
        self.shared
            .parts
            .manager
            .commit_batch(stream, transactions, Arc::new(guards), observer);
    }

    /// Waits until nothing is in progress, or until the applier is stopped and only waits for what may never be
    /// published.
    pub(super) fn drain(&self) -> DrainResult {
        let mut state = self.state.lock();
        while state.completed < state.dispatched
            || state.ended < state.handed_over
            || !state.complete.is_empty()
        {
            if self.is_given_up(&state) {
                return DrainResult::GivenUp;
            }
            self.wait_for_change(&mut state);
        }
        DrainResult::Completely
    }

    /// Returns the transactions to plan again after a failure, when nothing is in progress, in order; or the error of
    /// the commit queue.
    pub(super) fn recover(&self) -> Result<VecDeque<Item>, paceline_txn::Error> {
        let mut state = self.state.lock();
        debug_assert!(state.completed == state.dispatched && state.ended == state.handed_over);
        let abandoned = std::mem::take(&mut state.abandoned);
        if let Some(error) = state.refused.take() {
            return Err(error);
        }
        state.next = state.dispatched + 1;
        self.placed.store(state.dispatched, Ordering::Release);
        self.failed_at.store(NEVER, Ordering::Release);
        Ok(abandoned.into_values().flatten().collect())
    }
}

impl ObservedLane for Pipeline {
    fn obstacle(&self) -> Obstacle {
        let (is_preparing, is_committing) = {
            let state = self.state.lock();
            (
                state.completed < state.dispatched,
                state.ended < state.handed_over,
            )
        };
        if self.shared.interrupt.awaited_lock().is_some() {
            return Obstacle::Lock;
        }
        match self.activity.get() {
            Activity::Definition => return Obstacle::Definition,
            Activity::Statement => return Obstacle::Statement,
            Activity::Commit => return self.shared.obstacle_of_commit(),
            Activity::Rows => {}
        }
        if is_preparing || is_committing {
            let reason = self.small_round.load(Ordering::Relaxed);
            if reason == SmallRound::Conflict as u8 {
                return Obstacle::Conflicts;
            } else if reason == SmallRound::CommitGroup as u8 {
                return Obstacle::CommitGroups;
            }
        }
        match is_committing {
            true => self.shared.obstacle_of_commit(),
            false => self.shared.obstacle_of_work(),
        }
    }
}

/// Observer of a round's commit.
struct RoundObserver {
    pipeline: Arc<Pipeline>,
    number: RoundNumber,
    pushes: Mutex<Vec<PushNumber>>,
}

impl BatchObserver for RoundObserver {
    fn placed(&self) {
        let pipeline = &self.pipeline;
        {
            let mut state = pipeline.state.lock();
            state.batches_placed += 1;
            pipeline.placed.fetch_max(self.number, Ordering::AcqRel);
        }
        pipeline.changed.notify_all();
    }

    fn ended(&self, result: paceline_txn::Result<Version>) {
        let pipeline = &self.pipeline;
        let is_published = result.is_ok();
        if is_published {
            pipeline.shared.done(std::mem::take(&mut *self.pushes.lock()));
        }
        {
            let mut state = pipeline.state.lock();
            state.ended += 1;
            if let Err(error) = result {
                // Later transactions only get the error that an earlier one failed.
                let is_consequence = matches!(error, paceline_txn::Error::Aborted);
                if state.refused.is_none() || !is_consequence {
                    state.refused.get_or_insert(error);
                }
                pipeline.failed_at.store(0, Ordering::Release);
            }
        }
        pipeline.changed.notify_all();
        if !is_published {
            pipeline.queue.nudge();
        }
    }
}
