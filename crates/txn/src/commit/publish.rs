//! The publish stage: applies an acknowledged group to the engines, makes it part of the snapshot that readers
//! share, and notifies its sessions.
//!
//! Groups are pushed in log order and leave in log order. Every thread that has made progress (the leader after
//! its sync, semi-sync after an acknowledgement) calls [`Core::publish`]. One thread does the work and takes
//! the others' groups along.

use super::core::{Core, FatalOnPanic};
use super::log_stage::WrittenGroup;
use super::published_position::PublishedMoves;
use super::{CommitPlace, PlacedTransaction};
use crate::error::Error;
use crate::sync_point::CommitStep;
use paceline_storage::{BuildId, FrozenWriteSet};
use paceline_types::LogPosition;
use parking_lot::{Condvar, Mutex};
use std::collections::VecDeque;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::task::Waker;

/// Most transactions published as one batch.
const BATCH_TRANSACTIONS_MAX: usize = 4096;

#[derive(Default)]
struct State {
    groups: VecDeque<WrittenGroup>,
    /// A thread is publishing.
    busy: bool,
    /// Nothing is published any more.
    has_ended: bool,
}

/// Groups that wait to be published, and waiters for a publication.
#[derive(Default)]
pub(crate) struct Publisher {
    state: Mutex<State>,
    idle: Condvar,
    waiting: Mutex<Vec<(LogPosition, Waker)>>,
    engine_failed: AtomicBool,
    /// Copy of [`State::has_ended`].
    has_ended: AtomicBool,
}

impl Publisher {
    /// Appends a group. Called in log order, under the log stage's mutex.
    pub(crate) fn push(&self, group: WrittenGroup) {
        let mut state = self.state.lock();
        if let Some(last) = state.groups.back() {
            assert!(last.end <= group.end, "groups are published in log order");
        }
        if state.has_ended {
            drop(state);
            return group.end_undecided();
        }
        state.groups.push_back(group);
    }

    /// Takes acknowledged groups from the front.
    fn take(state: &mut State, acknowledged: LogPosition) -> Vec<WrittenGroup> {
        let mut taken: Vec<WrittenGroup> = Vec::new();
        let mut transactions = 0;
        while let Some(group) = state.groups.front() {
            transactions += group.transactions.len();
            if group.end > acknowledged || (!taken.is_empty() && transactions > BATCH_TRANSACTIONS_MAX) {
                break;
            }
            taken.extend(state.groups.pop_front());
        }
        taken
    }

    /// Wakes `waker` when everything up to `position` is published. The caller must check afterwards whether it
    /// is already.
    pub(crate) fn wake_at(&self, position: LogPosition, waker: &Waker) {
        self.waiting.lock().push((position, waker.clone()));
    }

    fn wake_waiting(&self, published: LogPosition) {
        let mut waiting = self.waiting.lock();
        if waiting.is_empty() {
            return;
        }
        let mut ready = Vec::new();
        waiting.retain(|(position, waker)| {
            let is_ready = *position <= published;
            if is_ready {
                ready.push(waker.clone());
            }
            !is_ready
        });
        drop(waiting);
        ready.into_iter().for_each(Waker::wake);
    }
}

impl WrittenGroup {
    /// Ends a group that will not be published here.
    fn end_undecided(self) {
        for transaction in self.transactions {
            transaction.report(Err(Error::Undecided));
        }
    }
}

impl Core {
    /// Publishes the acknowledged groups. If another thread is publishing, that thread does it.
    pub(crate) fn publish(&self) {
        let mut state = self.publisher.state.lock();
        loop {
            if state.busy || state.has_ended {
                return;
            }
            let groups = Publisher::take(&mut state, self.positions.acknowledged());
            if groups.is_empty() {
                self.publisher.idle.notify_all();
                return;
            }
            state.busy = true;
            drop(state);
            let _fatal = FatalOnPanic::new(self);
            self.publish_batch(groups);
            state = self.publisher.state.lock();
            state.busy = false;
        }
    }

    /// Publishes everything up to `position`, or waits, blocking the thread, for the thread that does. If
    /// earlier transactions still wait for replicas, the thread that acknowledges them will publish, and this
    /// returns at once.
    pub(crate) fn publish_up_to(&self, position: LogPosition) {
        self.publish();
        if self.positions.acknowledged() >= position {
            self.wait_published_blocking(position);
        }
    }

    /// Ends publishing after what is acknowledged: sessions whose transactions are in the log and not acknowledged get
    /// [`Error::Undecided`]. Returns the number of these transactions.
    pub(crate) fn end_publishing(&self) -> usize {
        self.wait_until_published();
        let undecided = {
            let mut state = self.publisher.state.lock();
            state.has_ended = true;
            self.publisher.has_ended.store(true, Ordering::Release);
            // Another thread may publish what was acknowledged since.
            while state.busy {
                self.publisher
                    .idle
                    .wait_for(&mut state, std::time::Duration::from_millis(50));
            }
            std::mem::take(&mut state.groups)
        };
        let count = undecided.iter().map(|group| group.transactions.len()).sum();
        undecided.into_iter().for_each(WrittenGroup::end_undecided);
        self.wake_all_waiting();
        count
    }

    /// Waits until nothing that is acknowledged is left to publish.
    pub(crate) fn wait_until_published(&self) {
        self.publish();
        let mut state = self.publisher.state.lock();
        while state.busy
            || state
                .groups
                .front()
                .is_some_and(|group| group.end <= self.positions.acknowledged())
        {
            self.publisher
                .idle
                .wait_for(&mut state, std::time::Duration::from_millis(50));
        }
    }

    fn publish_batch(&self, groups: Vec<WrittenGroup>) {
        let (end, durable_at) = groups
            .last()
            .map(|group| (group.end, group.durable_at))
            .expect("a batch is not empty");
        let moves = PublishedMoves::of(&groups);
        let transactions = groups.into_iter().map(|group| group.transactions);
        let transactions = transactions.reduce(|mut all, more| {
            all.extend(more);
            all
        });
        let transactions = transactions.expect("a batch is not empty");
        if self.make_visible(transactions, end, &moves) {
            self.counters.publish_time.record(durable_at.elapsed());
        }
    }

    /// Updates engine, snapshot, overlay and sessions, in this order. Returns false if the engine has failed.
    fn make_visible(
        &self,
        mut transactions: Vec<PlacedTransaction>,
        end: LogPosition,
        moves: &PublishedMoves,
    ) -> bool {
        // After a group that an engine has refused nothing is applied: the next start replays the log.
        let applied = match self.publisher.engine_failed.load(Ordering::Acquire) {
            false => self.apply_to_engines(&mut transactions, end),
            true => Err("the tables have failed".to_owned()),
        };
        if let Err(message) = applied {
            self.publisher.engine_failed.store(true, Ordering::Release);
            let error = self.fatal(&message);
            transactions
                .into_iter()
                .for_each(|transaction| transaction.report(Err(error.clone())));
            return false;
        }
        self.sync_points.reach(CommitStep::Applied);
        for transaction in &mut transactions {
            if let Some(on_publish) = transaction.attachments.on_publish.take() {
                on_publish(transaction.committed.version);
            }
        }
        let snapshot = self.storage.snapshot();
        assert_eq!(
            snapshot.position(),
            end,
            "the shared snapshot holds exactly what is published"
        );
        self.publish_snapshot(snapshot);
        self.positions.advance_published(end);
        // Only now: a reader that misses a row in the overlay finds it in the snapshot that it loads then.
        self.overlay
            .forget(transactions.iter().map(|transaction| &transaction.writes));
        self.advance_gtids(moves);
        self.sync_points.reach(CommitStep::Published);
        self.publisher.wake_waiting(end);
        for transaction in transactions {
            self.counters
                .commit_time
                .record(transaction.attachments.queued_at.elapsed());
            let committed = transaction.committed;
            transaction.report(Ok(committed));
        }
        self.sync_points.reach(CommitStep::SessionsNotified);
        true
    }

    /// Moves the GTID positions. Waiters for a GTID find it in the snapshot that they load now.
    fn advance_gtids(&self, moves: &PublishedMoves) {
        self.replica.advance(&moves.replicated);
        self.logged.advance(&moves.logged);
    }

    fn apply_to_engines(
        &self,
        transactions: &mut [PlacedTransaction],
        end: LogPosition,
    ) -> Result<(), String> {
        let failed =
            |error: paceline_storage::Error| format!("cannot apply a commit group to the tables: {error}");
        let mut sets: Vec<Arc<FrozenWriteSet>> = Vec::with_capacity(transactions.len());
        let mut reached = LogPosition::ZERO;
        for transaction in transactions.iter_mut() {
            let version = transaction.committed.version;
            assert!(version > reached, "transactions become visible in log order");
            if let Some(files) = &transaction.built {
                if !sets.is_empty() {
                    self.storage.apply(&sets, reached).map_err(failed)?;
                    sets.clear();
                }
                reached = version;
                self.storage
                    .apply_built(files, &transaction.writes, version)
                    .map_err(failed)?;
                continue;
            }
            reached = version;
            sets.push(transaction.writes.clone());
            // A build is activated in a step of its own, at its position.
            let builds: Vec<BuildId> = std::mem::take(&mut transaction.attachments.builds);
            if !builds.is_empty() {
                self.storage.activate(&builds, &sets, version).map_err(failed)?;
                sets.clear();
            }
        }
        self.storage.apply(&sets, end).map_err(failed)
    }

    /// Waits until `position` is published, blocking the thread.
    pub(crate) fn wait_published_blocking(&self, position: LogPosition) {
        if self.positions.published() < position {
            super::ticket::block_on(std::future::poll_fn(|context| {
                self.poll_published(position, context)
            }));
        }
    }

    /// Returns ready when `position` is published, or nothing will be published any more.
    pub(crate) fn poll_published(
        &self,
        position: LogPosition,
        context: &mut std::task::Context<'_>,
    ) -> std::task::Poll<()> {
        let is_over = || {
            self.positions.published() >= position
                || self.poisoned().is_some()
                || self.publisher.has_ended.load(Ordering::Acquire)
        };
        if !is_over() {
            self.publisher.wake_at(position, context.waker());
            if !is_over() {
                return std::task::Poll::Pending;
            }
        }
        std::task::Poll::Ready(())
    }

    /// Returns the outcome of a transaction that logged nothing.
    pub(crate) fn nothing_committed(&self) -> CommitPlace {
        CommitPlace {
            gtid: None,
            version: self.positions.published(),
        }
    }

    /// Wakes all waiters for a publication: the server has failed, and nothing more will be published.
    pub(crate) fn wake_all_waiting(&self) {
        self.publisher.wake_waiting(LogPosition::MAX);
    }
}
