//! State shared by the threads of an applier: the queues' limit, progress, the error, and the stop flag.

use super::options::{ApplierParts, KeptPosition};
use super::progress::{Progress, PushNumber, PushedItem};
use super::queue::LaneQueue;
use super::status::{ApplierState, ApplierStatus, ApplyError};
use crate::obstacle::{ObservedLane, Obstacle};
use crate::received::SourcePosition;
use paceline_apply::replicated::Failure;
use paceline_txn::{Interrupt, InterruptReason};
use paceline_types::{DomainId, Gtid};
use parking_lot::Mutex;
use std::sync::atomic::{AtomicBool, AtomicU64, AtomicUsize, Ordering};
use std::sync::{Arc, Weak};
use std::time::SystemTime;
use tokio::sync::Notify;

/// The applier accepts nothing any more.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("the applier has stopped")]
pub struct ApplierStopped;

/// Shared state of an applier; see the module comment.
pub(super) struct Shared {
    pub(super) parts: ApplierParts,
    /// Ends lock waits when the applier is stopped.
    pub(super) interrupt: Interrupt,
    /// Queues of the lanes, which are closed when the applier is stopped.
    queues: Mutex<Vec<Arc<LaneQueue>>>,
    /// The lanes with their numbers. They hold this state.
    lanes: Mutex<Vec<(u32, Weak<dyn ObservedLane>)>>,
    /// The system's ids of the threads.
    threads: Mutex<Vec<u32>>,
    /// The receiver waits for room.
    is_full: AtomicBool,
    progress: Mutex<Progress>,
    queued_bytes: AtomicUsize,
    space: Notify,
    /// Notified when everything pushed is done.
    idle: Notify,
    /// Notified when more is done.
    advanced: Notify,
    is_stopping: AtomicBool,
    error: Mutex<Option<ApplyError>>,
    error_raised: Notify,
    pub(super) rounds: AtomicU64,
    pub(super) retries: AtomicU64,
}

impl Shared {
    pub(super) fn new(parts: ApplierParts) -> Self {
        Shared {
            interrupt: Interrupt::new(),
            queues: Mutex::default(),
            lanes: Mutex::default(),
            threads: Mutex::default(),
            is_full: AtomicBool::new(false),
            progress: Mutex::default(),
            queued_bytes: AtomicUsize::new(0),
            space: Notify::new(),
            idle: Notify::new(),
            advanced: Notify::new(),
            is_stopping: AtomicBool::new(false),
            error: Mutex::new(None),
            error_raised: Notify::new(),
            rounds: AtomicU64::new(0),
            retries: AtomicU64::new(0),
            parts,
        }
    }

    pub(super) fn is_stopping(&self) -> bool {
        self.is_stopping.load(Ordering::Acquire)
    }

    /// Creates the queue of a new lane. It is closed when the applier is stopped.
    pub(super) fn new_queue(&self) -> Result<Arc<LaneQueue>, ApplierStopped> {
        let mut queues = self.queues.lock();
        if self.is_stopping() {
            return Err(ApplierStopped);
        }
        let queue = Arc::new(LaneQueue::default());
        queues.push(queue.clone());
        Ok(queue)
    }

    /// Records that an item is added to a queue.
    pub(super) fn pushed(&self, end: SourcePosition, pushed: PushedItem) -> PushNumber {
        self.progress.lock().push(end, pushed)
    }

    /// Records that the primary's log has been read up to here and contains nothing for this replica.
    pub(super) fn pass(&self, end: SourcePosition) {
        self.progress.lock().pass(end);
    }

    /// Waits until everything pushed is done.
    pub(super) async fn until_idle(&self) -> Result<(), ApplierStopped> {
        loop {
            let idle = self.idle.notified();
            if self.is_stopping() {
                return Err(ApplierStopped);
            }
            if self.progress.lock().is_idle() {
                return Ok(());
            }
            idle.await;
        }
    }

    pub(super) fn is_idle(&self) -> bool {
        self.progress.lock().is_idle()
    }

    pub(super) fn pushed_count(&self) -> PushNumber {
        self.progress.lock().pushed_count()
    }

    pub(super) fn done_count(&self) -> PushNumber {
        self.progress.lock().done_count()
    }

    /// Waits until the first `count` items are done.
    pub(super) async fn until_done(&self, count: PushNumber) -> Result<(), ApplierStopped> {
        loop {
            let advanced = self.advanced.notified();
            if self.done_count() >= count {
                return Ok(());
            }
            if self.is_stopping() {
                return Err(ApplierStopped);
            }
            advanced.await;
        }
    }

    /// Waits until `bytes` more bytes may be queued. An item larger than the limit is accepted when the queue is empty.
    pub(super) async fn room_for(&self, bytes: usize) -> Result<(), ApplierStopped> {
        loop {
            let waiting = self.space.notified();
            if self.is_stopping() {
                return Err(ApplierStopped);
            }
            let queued = self.queued_bytes.load(Ordering::Acquire);
            if queued == 0 || queued + bytes <= self.parts.options.queued_bytes_max {
                // No race: only one task pushes.
                self.queued_bytes.fetch_add(bytes, Ordering::AcqRel);
                return Ok(());
            }
            self.is_full.store(true, Ordering::Relaxed);
            waiting.await;
            self.is_full.store(false, Ordering::Relaxed);
        }
    }

    /// Records that a lane has taken this many bytes from its queue.
    pub(super) fn unqueued(&self, bytes: usize) {
        let before = self.queued_bytes.fetch_sub(bytes, Ordering::AcqRel);
        debug_assert!(before >= bytes, "what is taken off was queued");
        self.space.notify_one();
    }

    /// Records that these items are published.
    pub(super) fn done(&self, numbers: impl IntoIterator<Item = PushNumber>) {
        let mut progress = self.progress.lock();
        progress.done(numbers);
        self.advanced.notify_waiters();
        if progress.is_idle() {
            self.idle.notify_waiters();
        }
    }

    /// Ends the applier with an error. Only the first error counts.
    pub(super) fn raise(&self, failure: Failure, gtid: Option<Gtid>, position: Option<SourcePosition>) {
        {
            let mut error = self.error.lock();
            if error.is_some() || self.is_stopping() {
                return;
            }
            let file = position.as_ref().map_or("", |position| &position.file);
            let text = failure.text(file);
            tracing::error!(
                "replication {}: {text} (error {}, transaction {})",
                self.parts.connection,
                failure.code,
                gtid.map(|gtid| gtid.to_string()).unwrap_or_default()
            );
            *error = Some(ApplyError {
                code: failure.code,
                text,
                gtid,
                position,
                time: SystemTime::now(),
            });
        }
        self.request_stop();
        self.error_raised.notify_waiters();
    }

    pub(super) async fn failed(&self) {
        loop {
            let raised = self.error_raised.notified();
            if self.error.lock().is_some() {
                return;
            }
            raised.await;
        }
    }

    /// Tells the lanes to end.
    pub(super) fn request_stop(&self) {
        self.is_stopping.store(true, Ordering::Release);
        self.interrupt.raise(InterruptReason::Connection);
        self.queues.lock().iter().for_each(|queue| queue.close());
        self.advanced.notify_waiters();
        self.idle.notify_waiters();
        self.space.notify_waiters();
        self.space.notify_one();
    }

    /// Returns the lane of a transaction: its domain. Without workers there is one lane for all domains, in the
    /// primary's order, as in MariaDB: a table may be created in one domain and filled in another. The same applies if
    /// the position in the primary's log is recorded, because it must never be ahead of the committed transactions.
    pub(super) fn lane_of(&self, gtid: Gtid) -> DomainId {
        let options = &self.parts.options;
        match options.position {
            KeptPosition::Gtid if options.workers > 0 => gtid.domain_id,
            KeptPosition::Gtid | KeptPosition::FileAndGtid => DomainId(0),
        }
    }

    /// Adds a lane.
    pub(super) fn add_lane(&self, number: u32, lane: Weak<dyn ObservedLane>) {
        self.lanes.lock().push((number, lane));
    }

    /// Notes the calling thread as one of the applier's.
    pub(super) fn note_thread(&self) {
        let thread = std::fs::read_link("/proc/thread-self").ok();
        let id = thread.and_then(|path| path.file_name()?.to_str()?.parse::<u32>().ok());
        self.threads.lock().extend(id);
    }

    /// Returns the obstacle of the oldest unfinished transaction.
    fn obstacle(&self) -> Obstacle {
        let oldest = self.progress.lock().oldest();
        let Some(gtid) = oldest else {
            return Obstacle::Nothing;
        };
        let own = self.lane_of(gtid).0;
        let lane = {
            let lanes = self.lanes.lock();
            let found = lanes.iter().find(|(number, _)| *number == own);
            // Of more domains than there may be lanes, the others share the first lane.
            let found = found.or_else(|| lanes.iter().min_by_key(|(number, _)| *number));
            found.and_then(|(_, lane)| lane.upgrade())
        };
        lane.map_or(Obstacle::Nothing, |lane| lane.obstacle())
    }

    /// Returns the obstacle of a transaction that is being committed.
    pub(super) fn obstacle_of_commit(&self) -> Obstacle {
        let positions = self.parts.manager.positions();
        if positions.published < positions.acknowledged {
            self.obstacle_of_work()
        } else if positions.acknowledged < positions.durable {
            Obstacle::Acknowledgement
        } else {
            // It is synced, or even being written.
            Obstacle::Disk
        }
    }

    /// Returns the obstacle of threads that do not wait for each other.
    pub(super) fn obstacle_of_work(&self) -> Obstacle {
        match self.threads.lock().iter().any(|id| waits_for_the_disk(*id)) {
            true => Obstacle::Disk,
            false => Obstacle::Rows,
        }
    }

    pub(super) fn status(&self) -> ApplierStatus {
        let obstacle = self.obstacle();
        let mut status = ApplierStatus {
            obstacle,
            is_full: self.is_full.load(Ordering::Relaxed),
            queued_bytes: self.queued_bytes.load(Ordering::Relaxed) as u64,
            rounds: self.rounds.load(Ordering::Relaxed),
            retried_transactions: self.retries.load(Ordering::Relaxed),
            error: self.error.lock().clone(),
            ..ApplierStatus::default()
        };
        let progress = self.progress.lock();
        progress.fill(&mut status);
        status.state = match (self.is_stopping(), progress.is_idle()) {
            (true, _) => ApplierState::Stopped,
            (false, true) => ApplierState::Idle,
            (false, false) => ApplierState::Applying,
        };
        status
    }
}

/// Returns whether a thread of this process is in the state `D`: it waits for a block device.
fn waits_for_the_disk(id: u32) -> bool {
    let stat = std::fs::read_to_string(format!("/proc/self/task/{id}/stat"));
    // The name before it may contain anything.
    let state = stat.as_deref().ok().and_then(|stat| stat.rsplit_once(") "));
    state.is_some_and(|(_, rest)| rest.starts_with('D'))
}
