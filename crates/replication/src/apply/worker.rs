//! Workers: threads that prepare transactions of any lane.
//!
//! Chunks are taken in the order in which they were dispatched. A chunk therefore only waits for chunks that were taken
//! before it, and the first of those waits for nothing: some worker always makes progress. A lane has at most
//! `slave_domain_parallel_threads` workers at a time. When it has reached that limit, its further chunks wait, and
//! chunks of other lanes are taken first.

use super::options::{ApplierParts, KeptPosition, ParallelMode};
use super::pipeline::Pipeline;
use super::round::{Chunk, PlannedTransaction, PreparedTransaction};
use super::shared::Shared;
use crate::received::ReceivedGroup;
use paceline_apply::replicated::{Failure, ReplicatedRows, RowApplier, RowsOutcome};
use paceline_binlog::event::{EventFlags, RawEvent};
use paceline_binlog::group::StatementOptions;
use paceline_txn::{
    GtidChoice, Interrupt, IsolationLevel, Replication, SequenceSource, Session, SourceMark, Transaction,
    TransactionManager, TransactionOptions,
};
use parking_lot::{Condvar, Mutex};
use std::collections::VecDeque;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::thread::JoinHandle;

#[derive(Default)]
struct State {
    /// Chunks with the pipelines of their lanes.
    chunks: VecDeque<(Arc<Pipeline>, Chunk)>,
    /// Number of workers of each lane that has any.
    busy: Vec<(Arc<Pipeline>, usize)>,
    idle: usize,
    is_stopping: bool,
}

impl State {
    /// Takes the first chunk of a lane with fewer than `lane_workers_max` workers.
    fn take(&mut self, lane_workers_max: usize) -> Option<(Arc<Pipeline>, Chunk)> {
        let free = self
            .chunks
            .iter()
            .position(|(pipeline, _)| self.workers_of(pipeline) < lane_workers_max)?;
        let (pipeline, chunk) = self.chunks.remove(free)?;
        match self
            .busy
            .iter_mut()
            .find(|(lane, _)| Arc::ptr_eq(lane, &pipeline))
        {
            Some((_, workers)) => *workers += 1,
            None => self.busy.push((pipeline.clone(), 1)),
        }
        Some((pipeline, chunk))
    }

    fn workers_of(&self, pipeline: &Arc<Pipeline>) -> usize {
        let lane = self.busy.iter().find(|(lane, _)| Arc::ptr_eq(lane, pipeline));
        lane.map_or(0, |(_, workers)| *workers)
    }

    /// Records that a worker of this lane is free again.
    fn give_back(&mut self, pipeline: &Arc<Pipeline>) {
        self.busy.retain_mut(|(lane, workers)| {
            if Arc::ptr_eq(lane, pipeline) {
                *workers -= 1;
            }
            *workers > 0
        });
    }
}

/// Workers of an applier.
pub(super) struct Pool {
    state: Mutex<State>,
    changed: Condvar,
    threads: Mutex<Vec<JoinHandle<()>>>,
    /// Number of threads that were started.
    workers: AtomicUsize,
    lane_workers_max: usize,
}

impl Pool {
    pub(super) fn start(shared: &Arc<Shared>) -> Arc<Self> {
        let parts = &shared.parts;
        let workers = match parts.options.mode {
            ParallelMode::None => 0,
            _ => parts.options.workers,
        };
        let pool = Arc::new(Pool {
            state: Mutex::default(),
            changed: Condvar::new(),
            threads: Mutex::default(),
            workers: AtomicUsize::new(0),
            lane_workers_max: match parts.options.domain_workers {
                0 => usize::MAX,
                limit => limit,
            },
        });
        for number in 0..workers {
            let worker = Worker::new(parts, &shared.interrupt);
            let thread = {
                let (pool, shared) = (pool.clone(), shared.clone());
                std::thread::Builder::new()
                    .name(format!("apply-worker-{number}"))
                    // The same as for the server's workers: statements of any depth are planned here.
                    .stack_size(8 << 20)
                    .spawn(move || {
                        shared.note_thread();
                        pool.work(worker);
                    })
            };
            match thread {
                Ok(thread) => {
                    pool.threads.lock().push(thread);
                    pool.workers.fetch_add(1, Ordering::Relaxed);
                }
                // Without workers the lanes prepare everything themselves.
                Err(error) => {
                    tracing::warn!("worker {number} of the applier could not be started: {error}");
                    break;
                }
            }
        }
        pool
    }

    /// Returns the maximum number of threads for a lane besides its own.
    pub(super) fn lane_workers(&self) -> usize {
        self.workers.load(Ordering::Relaxed).min(self.lane_workers_max)
    }

    /// Adds a lane's chunks for the workers.
    pub(super) fn add(&self, pipeline: &Arc<Pipeline>, chunks: Vec<Chunk>) {
        let count = chunks.len();
        let idle = {
            let mut state = self.state.lock();
            state
                .chunks
                .extend(chunks.into_iter().map(|chunk| (pipeline.clone(), chunk)));
            state.idle
        };
        for _ in 0..count.min(idle) {
            self.changed.notify_one();
        }
    }

    fn work(&self, mut worker: Worker) {
        loop {
            let (pipeline, chunk) = {
                let mut state = self.state.lock();
                loop {
                    if let Some(taken) = state.take(self.lane_workers_max) {
                        break taken;
                    }
                    if state.is_stopping && state.chunks.is_empty() {
                        return;
                    }
                    state.idle += 1;
                    self.changed.wait(&mut state);
                    state.idle -= 1;
                }
            };
            worker.prepare(&pipeline, chunk);
            let waits = {
                let mut state = self.state.lock();
                state.give_back(&pipeline);
                let may_have_waited = self.lane_workers_max < self.workers.load(Ordering::Relaxed);
                may_have_waited && !state.chunks.is_empty() || state.is_stopping
            };
            if waits {
                self.changed.notify_all();
            }
        }
    }

    /// Tells the threads to end when nothing is left to prepare. The lanes have ended, so nothing will be added.
    pub(super) fn request_stop(&self) {
        self.state.lock().is_stopping = true;
        self.changed.notify_all();
    }

    /// Waits until the threads have ended.
    pub(super) fn join(&self) {
        for thread in std::mem::take(&mut *self.threads.lock()) {
            if thread.join().is_err() {
                tracing::error!("a worker of the applier has panicked");
            }
        }
    }
}

/// Prepares transactions, one at a time.
pub(super) struct Worker {
    manager: Arc<TransactionManager>,
    applier: RowApplier,
    interrupt: Interrupt,
    connection: Arc<str>,
    position: KeptPosition,
}

impl Worker {
    pub(super) fn new(parts: &ApplierParts, interrupt: &Interrupt) -> Self {
        Worker {
            manager: parts.manager.clone(),
            applier: RowApplier::new(
                &parts.options.rows.get(),
                parts.index_statistics.clone(),
                parts.statement_counts.clone(),
            ),
            interrupt: interrupt.clone(),
            connection: parts.connection.clone(),
            position: parts.options.position,
        }
    }

    /// Returns the GTID of a transaction, with the other positions to record.
    pub(super) fn gtid_choice(&self, received: &ReceivedGroup) -> GtidChoice {
        let gtid = received.group.gtid();
        let is_primarys = received.numbers == SequenceSource::Primary;
        if is_primarys && self.position == KeptPosition::Gtid && received.executed.is_none() {
            return GtidChoice::Replicated(gtid);
        }
        let mark = SourceMark {
            connection: self.connection.clone(),
            position: received.source_end.clone(),
            executed: received.executed.clone(),
            numbers: received.numbers,
        };
        GtidChoice::ReplicatedFrom(gtid, Arc::new(mark))
    }

    /// Returns whether the transaction is replicated further. If the primary has marked it (`skip_replication`), it is
    /// marked here too, because our replicas may skip it.
    pub(super) fn replication(received: &ReceivedGroup) -> Replication {
        let is_marked = |event: RawEvent<'_>| event.header().flags.contains(EventFlags::SKIP_REPLICATION);
        match received.group.events().next().is_some_and(is_marked) {
            true => Replication::Marked,
            false => Replication::Replicated,
        }
    }

    /// Prepares a chunk's transactions. They touch no common key, so they can share a session, which owns their locks.
    pub(super) fn prepare(&mut self, pipeline: &Arc<Pipeline>, chunk: Chunk) {
        let session = self.manager.applier_session(self.interrupt.clone());
        let Chunk { round, planned } = chunk;
        let mut prepared = Vec::with_capacity(planned.len());
        for (index, planned) in planned {
            let may_begin =
                !pipeline.is_abandoned(round.number) && pipeline.wait_placed(planned.after, round.number);
            let result = may_begin.then(|| self.try_transaction(&planned, &session));
            if matches!(result, Some(Err(_))) {
                pipeline.fail(round.number);
            }
            prepared.push(PreparedTransaction {
                index,
                planned,
                result,
            });
        }
        if round.chunk_done(prepared) {
            pipeline.complete(round);
        }
    }

    /// Like [`Worker::transaction`], but turns a panic into a failure, because the round must be completed.
    pub(super) fn try_transaction(
        &mut self,
        planned: &PlannedTransaction,
        session: &Session,
    ) -> Result<Box<Transaction>, Failure> {
        catch_unwind(AssertUnwindSafe(|| self.transaction(planned, session))).unwrap_or_else(|_| {
            Err(Failure::fatal(
                "the applier has panicked; the error log has the reason",
            ))
        })
    }

    /// Begins a transaction. It is boxed because it is moved several times.
    fn begin(&self, received: &ReceivedGroup, session: &Session) -> Box<Transaction> {
        let options = TransactionOptions {
            isolation: IsolationLevel::ReadCommitted,
            gtid: self.gtid_choice(received),
            replication: Self::replication(received),
            ..TransactionOptions::default()
        };
        Box::new(self.manager.begin(session, options))
    }

    /// Prepares a local transaction with the changes of the primary's transaction.
    fn transaction(
        &mut self,
        planned: &PlannedTransaction,
        session: &Session,
    ) -> Result<Box<Transaction>, Failure> {
        let mut transaction = self.begin(&planned.received, session);
        let received = &planned.received;
        if let Some(mark) = received.group.epoch_mark() {
            let first = received.group.events().next();
            transaction.start_epoch(mark, first.map_or(0, |event| event.header().timestamp))?;
            return Ok(transaction);
        }
        let rows = ReplicatedRows {
            group: &received.group,
            format: &received.format,
            tables: &planned.tables,
        };
        let outcome = self.applier.apply(&rows, &mut transaction)?;
        if outcome == RowsOutcome::RolledBack {
            drop(transaction);
            transaction = self.begin(received, session);
        }
        if !transaction.has_writes()
            && let Some(first) = received.group.events().next()
        {
            // Gives an empty group its timestamp.
            transaction.begin_replicated_statement(&StatementOptions {
                timestamp: first.header().timestamp,
                ..StatementOptions::default()
            })?;
            transaction.end_statement()?;
        }
        Ok(transaction)
    }
}
