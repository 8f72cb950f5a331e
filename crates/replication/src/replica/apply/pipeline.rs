//! Handing rounds over to the commit queue, in order, and knowing which are placed and which published.
//!
//! ```text
//!   dispatched ─▶ complete (every transaction prepared) ─▶ handed over ─▶ placed ─▶ published
//! ```
//!
//! **A failure** in round F: rounds before it go on as ever. Of round F what stands before the failure is handed over; the rest, and all later rounds, are
//! abandoned: their transactions are dropped and planned again by the lane, when nothing is under way any more.

use super::progress::PushNumber;
use super::queue::{Item, LaneQueue};
use super::round::{Prepared, Round, RoundNumber};
use super::shared::Shared;
use paceline_txn::{BatchObserver, CommitStream, Transaction};
use paceline_types::Version;
use parking_lot::{Condvar, Mutex};
use std::collections::{BTreeMap, VecDeque};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

/// The most rounds that are dispatched and not published.
const UNPUBLISHED_MAX: u64 = 8;
/// The most rounds that are dispatched and not placed.
const UNPLACED_MAX: u64 = 3;

/// No round has failed.
const NEVER: RoundNumber = RoundNumber::MAX;

struct State {
    dispatched: RoundNumber,
    /// How many rounds have been through the workers.
    completed: u64,
    /// The round that is handed over next.
    next: RoundNumber,
    complete: BTreeMap<RoundNumber, Arc<Round>>,
    /// How many batches the commit queue was given, and how many of them have ended.
    handed_over: u64,
    ended: u64,
    /// What is to be planned again, by round.
    abandoned: BTreeMap<RoundNumber, Vec<Item>>,
    /// Why the commit queue has refused a transaction.
    refused: Option<paceline_txn::Error>,
}

/// The pipeline of one lane.
pub(super) struct Pipeline {
    shared: Arc<Shared>,
    queue: Arc<LaneQueue>,
    state: Mutex<State>,
    changed: Condvar,
    /// Held while rounds are handed over, so that they are in order.
    handing_over: Mutex<CommitStream>,
    placed: AtomicU64,
    /// The first round that has failed.
    failed_at: AtomicU64,
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
                ended: 0,
                abandoned: BTreeMap::new(),
                refused: None,
            }),
            changed: Condvar::new(),
            handing_over: Mutex::new(CommitStream::new()),
            placed: AtomicU64::new(0),
            failed_at: AtomicU64::new(NEVER),
        })
    }

    /// All rounds up to this one are placed.
    pub(super) fn placed(&self) -> RoundNumber {
        self.placed.load(Ordering::Acquire)
    }

    /// The round that was dispatched last; 0 for none.
    pub(super) fn last_dispatched(&self) -> RoundNumber {
        self.state.lock().dispatched
    }

    pub(super) fn has_failed(&self) -> bool {
        self.failed_at.load(Ordering::Acquire) != NEVER
    }

    /// Whether a round is not to be prepared any more.
    pub(super) fn is_abandoned(&self, number: RoundNumber) -> bool {
        self.failed_at.load(Ordering::Acquire) <= number
    }

    /// Takes a number for a round, when there is room. `None`: something has failed.
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
            self.changed.wait(&mut state);
        }
    }

    /// Whether nothing is under way.
    pub(super) fn is_empty(&self) -> bool {
        let state = self.state.lock();
        state.completed == state.dispatched && state.ended == state.handed_over && state.complete.is_empty()
    }

    /// Waits until a round is placed, for a transaction of round `of`. False: `of` is abandoned.
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

    /// A transaction of this round cannot be prepared.
    pub(super) fn fail(&self, number: RoundNumber) {
        {
            let _state = self.state.lock();
            self.failed_at.fetch_min(number, Ordering::AcqRel);
        }
        self.changed.notify_all();
        self.queue.nudge();
    }

    /// Every transaction of a round has been through its worker.
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
                        // Counted before it is known whether there is anything to commit, so that nobody takes the pipeline for empty.
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
        let is_behind_failure = self.failed_at.load(Ordering::Acquire) < round.number;
        let mut transactions: Vec<Box<Transaction>> = Vec::with_capacity(prepared.len());
        let mut pushes: Vec<PushNumber> = Vec::with_capacity(prepared.len());
        let mut rest: Vec<Item> = Vec::new();
        for Prepared { planned, result, .. } in prepared {
            match result {
                Some(Ok(transaction)) if rest.is_empty() && !is_behind_failure => {
                    transactions.push(transaction);
                    pushes.push(planned.number);
                }
                // The transaction is dropped here, and its locks with it.
                _ => rest.push(planned.into_item()),
            }
        }
        if !rest.is_empty() {
            self.state.lock().abandoned.insert(round.number, rest);
        }
        if transactions.is_empty() {
            self.state.lock().ended += 1;
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

    /// Waits until nothing is under way.
    pub(super) fn drain(&self) {
        let mut state = self.state.lock();
        while state.completed < state.dispatched
            || state.ended < state.handed_over
            || !state.complete.is_empty()
        {
            self.changed.wait(&mut state);
        }
    }

    /// After a failure, with nothing under way: what is to be planned again, in order; or why the commit queue takes nothing any more.
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

/// Told what becomes of a round.
struct RoundObserver {
    pipeline: Arc<Pipeline>,
    number: RoundNumber,
    pushes: Mutex<Vec<PushNumber>>,
}

impl BatchObserver for RoundObserver {
    fn placed(&self) {
        let pipeline = &self.pipeline;
        {
            let _state = pipeline.state.lock();
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
                // Those behind it are told only that something before them failed.
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
