//! What the threads of an applier share: lanes, the queue's limit, progress, the error.

use super::lane::Lane;
use super::progress::{Progress, PushNumber, Pushed};
use super::queue::{Item, LaneQueue, Pass, Work};
use super::status::{ApplierState, ApplierStatus, ApplyError, GroupCounts};
use super::worker::Pool;
use super::{ApplierParts, KeptPosition, LANES_MAX};
use crate::replica::received::{Received, SourcePosition};
use paceline_apply::replicated::Failure;
use paceline_sql::plan::Statistics;
use paceline_txn::{Interrupt, InterruptReason};
use paceline_types::{DomainId, Gtid};
use parking_lot::Mutex;
use std::collections::HashMap;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, AtomicUsize, Ordering};
use std::thread::JoinHandle;
use std::time::SystemTime;
use tokio::sync::Notify;

/// The applier takes nothing any more.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("the applier has stopped")]
pub struct Stopped;

/// What a queued transaction takes beside its events, in bytes.
const ITEM_BYTES: usize = 256;

#[derive(Default)]
struct Lanes {
    /// How many have not ended.
    living: usize,
    /// By the lane's number: the domain, or what domains share when there are too many.
    queues: HashMap<u32, Arc<LaneQueue>>,
    threads: Vec<JoinHandle<()>>,
}

/// See the module's head.
pub(super) struct Shared {
    pub(super) parts: ApplierParts,
    pub(super) statistics: Arc<Statistics>,
    pub(super) pool: Arc<Pool>,
    /// Ends waits for locks when the applier is stopped.
    pub(super) interrupt: Interrupt,
    lanes: Mutex<Lanes>,
    progress: Mutex<Progress>,
    queued_bytes: AtomicUsize,
    space: Notify,
    /// Everything that was pushed is done.
    idle: Notify,
    is_stopping: AtomicBool,
    error: Mutex<Option<ApplyError>>,
    error_raised: Notify,
    pub(super) rounds: AtomicU64,
    pub(super) retries: AtomicU64,
}

impl Shared {
    pub(super) fn start(parts: ApplierParts) -> Arc<Self> {
        let statistics = Arc::new(Statistics::new(parts.manager.clone()));
        let interrupt = Interrupt::new();
        let pool = Pool::start(&parts, &statistics, &interrupt);
        Arc::new(Shared {
            statistics,
            pool,
            interrupt,
            lanes: Mutex::default(),
            progress: Mutex::default(),
            queued_bytes: AtomicUsize::new(0),
            space: Notify::new(),
            idle: Notify::new(),
            is_stopping: AtomicBool::new(false),
            error: Mutex::new(None),
            error_raised: Notify::new(),
            rounds: AtomicU64::new(0),
            retries: AtomicU64::new(0),
            parts,
        })
    }

    pub(super) fn is_stopping(&self) -> bool {
        self.is_stopping.load(Ordering::Acquire)
    }

    pub(super) async fn push(self: &Arc<Self>, received: Received) -> Result<(), Stopped> {
        let (work, end, timestamp_seconds, counts, bytes) = match received {
            Received::Position(end) => {
                if self.is_stopping() {
                    return Err(Stopped);
                }
                self.progress.lock().pass(end);
                return Ok(());
            }
            Received::PrimaryRestarted => {
                // What its sessions did before may still need their tables.
                self.until_idle().await?;
                self.parts.statements.primary_restarted();
                return Ok(());
            }
            Received::Passed {
                gtid,
                source_end,
                executed,
            } => (
                Work::Pass(Pass {
                    gtid,
                    end: source_end.clone(),
                    executed,
                }),
                source_end,
                None,
                GroupCounts::default(),
                ITEM_BYTES,
            ),
            Received::Group(group) => {
                let end = group.source_end.clone();
                let timestamp = group.group.events().next().map(|event| event.header().timestamp);
                let bytes = group.group.bytes().len() + ITEM_BYTES;
                // What cannot be read is told of when it is applied.
                let flags = group.group.gtid_event().map(|event| event.flags);
                let counts = flags.map_or_else(|_| GroupCounts::default(), GroupCounts::of);
                (Work::Apply(group), end, timestamp, counts, bytes)
            }
        };
        self.room_for(bytes).await?;
        let gtid = work.gtid();
        let queue = self.lane(self.lane_of(gtid))?;
        let pushed = Pushed {
            gtid,
            timestamp_seconds,
            counts,
        };
        let number = self.progress.lock().push(end, pushed);
        queue.push(Item { number, work, bytes });
        Ok(())
    }

    /// Waits until everything pushed is done.
    async fn until_idle(&self) -> Result<(), Stopped> {
        loop {
            let idle = self.idle.notified();
            if self.is_stopping() {
                return Err(Stopped);
            }
            if self.progress.lock().is_idle() {
                return Ok(());
            }
            idle.await;
        }
    }

    /// Waits until so many bytes may be queued; more than is allowed at all may be when nothing else is.
    async fn room_for(&self, bytes: usize) -> Result<(), Stopped> {
        loop {
            let waiting = self.space.notified();
            if self.is_stopping() {
                return Err(Stopped);
            }
            let queued = self.queued_bytes.load(Ordering::Acquire);
            if queued == 0 || queued + bytes <= self.parts.options.queued_bytes_max {
                // One task pushes.
                self.queued_bytes.fetch_add(bytes, Ordering::AcqRel);
                return Ok(());
            }
            waiting.await;
        }
    }

    /// A lane has taken so many bytes off its queue.
    pub(super) fn unqueued(&self, bytes: usize) {
        let before = self.queued_bytes.fetch_sub(bytes, Ordering::AcqRel);
        debug_assert!(before >= bytes, "what is taken off was queued");
        self.space.notify_one();
    }

    /// Which lane a transaction goes to: its domain's. Where the place in the primary's log is kept, one for all domains: that place must
    /// never be ahead of what is committed.
    fn lane_of(&self, gtid: Gtid) -> DomainId {
        match self.parts.options.position {
            KeptPosition::Gtid => gtid.domain_id,
            KeptPosition::FileAndGtid => DomainId(0),
        }
    }

    fn lane(self: &Arc<Self>, domain_id: DomainId) -> Result<Arc<LaneQueue>, Stopped> {
        let mut lanes = self.lanes.lock();
        if let Some(queue) = lanes.queues.get(&domain_id.0) {
            return Ok(queue.clone());
        }
        let number = match lanes.queues.len() < LANES_MAX {
            true => domain_id.0,
            false => {
                let known = lanes.queues.keys().copied();
                known.min().expect("there are lanes")
            }
        };
        if let Some(queue) = lanes.queues.get(&number) {
            return Ok(queue.clone());
        }
        if self.is_stopping() {
            return Err(Stopped);
        }
        let queue = Arc::new(LaneQueue::default());
        let lane = Lane::new(self.clone(), queue.clone());
        let thread = std::thread::Builder::new()
            .name(format!("apply-{number}"))
            .spawn(move || lane.run());
        match thread {
            Ok(thread) => {
                lanes.threads.push(thread);
                lanes.living += 1;
            }
            Err(error) => {
                self.raise(Failure::fatal(error), None, None);
                return Err(Stopped);
            }
        }
        lanes.queues.insert(number, queue.clone());
        Ok(queue)
    }

    /// These are published.
    pub(super) fn done(&self, numbers: impl IntoIterator<Item = PushNumber>) {
        let mut progress = self.progress.lock();
        progress.done(numbers);
        if progress.is_idle() {
            self.idle.notify_waiters();
        }
    }

    /// An error ends the applier. The first one counts.
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

    /// Makes all threads end.
    pub(super) fn request_stop(&self) {
        self.is_stopping.store(true, Ordering::Release);
        self.interrupt.raise(InterruptReason::Connection);
        {
            let lanes = self.lanes.lock();
            lanes.queues.values().for_each(|queue| queue.close());
            if lanes.living == 0 {
                self.pool.request_stop();
            }
        }
        self.idle.notify_waiters();
        self.space.notify_waiters();
        self.space.notify_one();
    }

    /// A lane's thread ends. With the last one the workers do.
    pub(super) fn lane_ended(&self) {
        let mut lanes = self.lanes.lock();
        lanes.living -= 1;
        if lanes.living == 0 && self.is_stopping() {
            self.pool.request_stop();
        }
    }

    pub(super) async fn stop(self: &Arc<Self>) {
        self.request_stop();
        let shared = self.clone();
        let ended = tokio::task::spawn_blocking(move || shared.join());
        if let Err(error) = ended.await {
            tracing::error!("the applier's threads could not be awaited: {error}");
        }
    }

    fn join(&self) {
        let threads = std::mem::take(&mut self.lanes.lock().threads);
        for thread in threads {
            if thread.join().is_err() {
                tracing::error!("a thread of the applier has panicked");
            }
        }
        self.pool.join();
    }

    pub(super) fn status(&self) -> ApplierStatus {
        let mut status = ApplierStatus {
            queued_bytes: self.queued_bytes.load(Ordering::Relaxed) as u64,
            rounds: self.rounds.load(Ordering::Relaxed),
            retried_transactions: self.retries.load(Ordering::Relaxed),
            error: self.error.lock().clone(),
            ..ApplierStatus::default()
        };
        let progress = self.progress.lock();
        progress.tell(&mut status);
        status.state = match (self.is_stopping(), progress.is_idle()) {
            (true, _) => ApplierState::Stopped,
            (false, true) => ApplierState::Idle,
            (false, false) => ApplierState::Applying,
        };
        status
    }
}
