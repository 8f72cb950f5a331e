//! The transaction manager: the state that a server's sessions share.

use crate::background::Background;
use crate::commit::acknowledge::{Acknowledger, ImmediateAcknowledger};
use crate::commit::log_stage::LogStage;
use crate::commit::publish::Publisher;
use crate::commit::queue::CommitQueue;
use crate::config::{Config, SyncBinlog};
use crate::error::{Error, Result};
use crate::event_cache::BufferPool;
use crate::interrupt::Interrupt;
use crate::lock::{LockManager, RowLockWait};
use crate::log_lease::LeaseRegistry;
use crate::overlay::Overlay;
use crate::positions::{Durability, PositionCells, Positions};
use crate::replica::PublishedPosition;
use crate::sendable::{SendLimit, SendLimitWait};
use crate::session::Session;
use crate::status::{CommitCounters, Status};
use crate::sync_point::SyncPoints;
use crate::transaction::{PublicationWait, Transaction, TransactionOptions};
use arc_swap::ArcSwap;
use paceline_binlog::log::SyncMode;
use paceline_binlog::{GtidState, Log};
use paceline_storage::{LogBarrier, Storage, StorageSnapshot};
use paceline_types::{LogPosition, Version};
use parking_lot::{Mutex, RwLock};
use std::sync::Arc;
use std::sync::OnceLock;
use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering};
use std::time::{SystemTime, UNIX_EPOCH};

/// Returns the current time in seconds since 1970, as in event headers.
pub(crate) fn unix_seconds() -> u32 {
    let seconds = SystemTime::now()
        .duration_since(UNIX_EPOCH)
        .map_or(0, |time| time.as_secs());
    u32::try_from(seconds).unwrap_or(u32::MAX)
}

/// Called once when the log has failed (invariant 4), with the reason. In a server it must not return: the
/// process ends.
pub type FatalHook = Box<dyn Fn(&str) + Send + Sync>;

/// Parts that a manager is built from.
pub struct ManagerParts {
    /// The log, recovered and opened.
    pub log: Log,
    /// GTID state that recovery found.
    pub state: GtidState,
    /// The engines, replayed up to the end of the log.
    pub storage: Arc<Storage>,
    /// The settings.
    pub config: Config,
    /// Decides when durable transactions are acknowledged: [`ImmediateAcknowledger`] without semi-sync.
    pub acknowledger: Box<dyn Acknowledger>,
    /// Called when the log fails. The default prints the reason and aborts the process.
    pub fatal_hook: FatalHook,
}

impl ManagerParts {
    /// Returns parts without semi-sync and with the default settings. A failed log aborts the process.
    pub fn new(log: Log, state: GtidState, storage: Arc<Storage>) -> Self {
        ManagerParts {
            log,
            state,
            storage,
            config: Config::default(),
            acknowledger: Box::new(ImmediateAcknowledger),
            fatal_hook: Box::new(|reason| {
                eprintln!(
                    "[ERROR] {reason}; the server stops, because a log that failed once is not to be trusted"
                );
                std::process::abort();
            }),
        }
    }
}

/// State shared by everything in this crate.
pub(crate) struct Core {
    config: ArcSwap<Config>,
    pub(crate) log: Log,
    pub(crate) log_stage: Mutex<LogStage>,
    pub(crate) storage: Arc<Storage>,
    /// Snapshot that readers use: the engines at `positions.published()`.
    published: RwLock<Arc<StorageSnapshot>>,
    pub(crate) positions: PositionCells,
    pub(crate) replica: PublishedPosition,
    /// Last published GTID of each domain.
    pub(crate) logged: PublishedPosition,
    pub(crate) sendable: Arc<SendLimit>,
    pub(crate) overlay: Overlay,
    pub(crate) locks: Arc<LockManager>,
    pub(crate) queue: CommitQueue,
    pub(crate) publisher: Publisher,
    pub(crate) acknowledger: Box<dyn Acknowledger>,
    pub(crate) background: Background,
    pub(crate) leases: LeaseRegistry,
    pub(crate) counters: CommitCounters,
    pub(crate) buffers: Arc<BufferPool>,
    pub(crate) open_transactions: AtomicUsize,
    pub(crate) sync_points: SyncPoints,
    /// Last mark of a large transaction's rows: the ordinal of the log file at that time, and its number.
    pub(crate) last_mark: Mutex<Option<(u32, u16)>>,
    next_xid: AtomicU64,
    next_session: AtomicU64,
    poisoned: OnceLock<Error>,
    fatal_hook: FatalHook,
}

impl Core {
    pub(crate) fn config(&self) -> Arc<Config> {
        self.config.load_full()
    }

    pub(crate) fn published_snapshot(&self) -> Arc<StorageSnapshot> {
        self.published.read().clone()
    }

    /// Makes `snapshot` the one that readers use.
    pub(crate) fn publish_snapshot(&self, snapshot: StorageSnapshot) {
        let snapshot = Arc::new(snapshot);
        let before = std::mem::replace(&mut *self.published.write(), snapshot);
        // Released after the lock: readers must not wait for it.
        drop(before);
    }

    pub(crate) fn next_xid(&self) -> u64 {
        self.next_xid.fetch_add(1, Ordering::Relaxed)
    }

    /// Returns the error of every operation after the log has failed.
    pub(crate) fn poisoned(&self) -> Option<Error> {
        self.poisoned.get().cloned()
    }

    /// Declares the log failed: from now on nothing is written or acknowledged.
    pub(crate) fn fatal(&self, reason: &str) -> Error {
        let error = Error::Fatal(reason.into());
        if self.poisoned.set(error.clone()).is_ok() {
            tracing::error!("{reason}");
            (self.fatal_hook)(reason);
            self.wake_all_waiting();
        }
        error
    }
}

impl LogBarrier for Core {
    fn make_durable(&self, position: LogPosition) -> LogPosition {
        // With sync_binlog=1 everything that is published is durable. Otherwise sync what has been written so
        // far.
        if self.positions.durable() < position
            && let Err(reason) = self.sync_in_background()
        {
            self.fatal(&reason);
        }
        self.positions.durable()
    }
}

/// Passes the engines' requests for a durable log on, without keeping the manager alive.
struct Barrier(std::sync::Weak<Core>);

impl LogBarrier for Barrier {
    fn make_durable(&self, position: LogPosition) -> LogPosition {
        match self.0.upgrade() {
            Some(core) => core.make_durable(position),
            // The manager has closed, and the log with it: everything in it is durable.
            None => position,
        }
    }
}

/// Begins transactions; owns the log and the commit pipeline. Dropping it closes it.
pub struct TransactionManager {
    core: Arc<Core>,
}

impl TransactionManager {
    /// Starts with a recovered log and the engines that have replayed it.
    ///
    /// # Panics
    /// If the engines are ahead of the end of the log, or the log is not synced: recovery has not been run.
    pub fn open(parts: ManagerParts) -> Self {
        let ManagerParts {
            log,
            state,
            storage,
            config,
            acknowledger,
            fatal_hook,
        } = parts;
        let start = log.written();
        assert_eq!(log.durable(), start, "recovery syncs what it has accepted");
        assert!(
            storage.position() <= start,
            "the engines are at {}, ahead of the log's end {start}",
            storage.position()
        );
        // Between the engine's last transaction and the end of the log there are only events of the log itself.
        storage.apply(&[], start).expect("an empty batch can be applied");
        let snapshot = storage.snapshot();
        let replicated = log.replica_state().position;
        let stage = LogStage::new(state.clone(), &replicated);
        let replica = PublishedPosition::new(replicated);
        let logged = PublishedPosition::new(state.position());
        let core = Arc::new(Core {
            config: ArcSwap::from_pointee(config.clone()),
            log,
            log_stage: Mutex::new(stage),
            storage,
            published: RwLock::new(Arc::new(snapshot)),
            positions: PositionCells::new(start),
            replica,
            logged,
            sendable: Arc::new(SendLimit::new(start)),
            overlay: Overlay::default(),
            locks: Arc::new(LockManager::new()),
            queue: CommitQueue::default(),
            publisher: Publisher::default(),
            acknowledger,
            background: Background::default(),
            leases: LeaseRegistry::default(),
            counters: CommitCounters::default(),
            buffers: Arc::default(),
            open_transactions: AtomicUsize::new(0),
            sync_points: SyncPoints::new(),
            last_mark: Mutex::new(None),
            next_xid: AtomicU64::new(1),
            next_session: AtomicU64::new(1),
            poisoned: OnceLock::new(),
            fatal_hook,
        });
        core.storage
            .set_log_barrier(Arc::new(Barrier(Arc::downgrade(&core))));
        core.log.set_file_size_max(config.max_binlog_size);
        core.background.start(&core);
        let manager = TransactionManager { core };
        if let Err(error) = manager.set_config(config) {
            // The settings already apply, and the log does not follow them.
            let reason = format!("the binary log's settings cannot be applied: {error}");
            drop(manager.core.fatal(&reason));
        }
        manager
    }

    pub(crate) fn core(&self) -> &Arc<Core> {
        &self.core
    }

    /// Creates a session with the flag that stops it.
    pub fn session(&self, interrupt: Interrupt) -> Session {
        let id = self.core.next_session.fetch_add(1, Ordering::Relaxed);
        Session::new(id, interrupt, self.core.locks.clone())
    }

    /// Creates a session of an applier. Its transactions come from a primary and are committed in batches
    /// ([`TransactionManager::commit_batch`]). Several can be in progress at the same time if they touch
    /// nothing in common. They never wait for a session's transaction unless it is committing; otherwise that
    /// one gets 1213.
    pub fn applier_session(&self, interrupt: Interrupt) -> Session {
        let id = self.core.next_session.fetch_add(1, Ordering::Relaxed);
        Session::of_applier(id, interrupt, self.core.locks.clone())
    }

    /// Begins a transaction of a session, which must have no other.
    pub fn begin(&self, session: &Session, options: TransactionOptions) -> Transaction {
        Transaction::new(self.core.clone(), session.clone(), options)
    }

    /// `START TRANSACTION WITH CONSISTENT SNAPSHOT`: begins a transaction and takes its snapshot at once. The
    /// snapshot's log position is [`Transaction::snapshot_version`]; [`TransactionManager::coordinates`] turns
    /// it into `binlog_snapshot_file` and `_position`, [`TransactionManager::gtid_state_at`] into the GTID
    /// position.
    pub fn begin_with_snapshot(&self, session: &Session, options: TransactionOptions) -> Transaction {
        let mut transaction = self.begin(session, options);
        transaction.snapshot();
        transaction
    }

    /// Returns the published state, as readers see it.
    pub fn snapshot(&self) -> Arc<StorageSnapshot> {
        self.core.published_snapshot()
    }

    /// Returns the four positions at one moment.
    pub fn positions(&self) -> Positions {
        self.core.positions.read()
    }

    /// Returns the log, for reading.
    pub fn log(&self) -> &Log {
        &self.core.log
    }

    /// Returns the engines.
    pub fn storage(&self) -> &Arc<Storage> {
        &self.core.storage
    }

    /// Returns the current settings.
    pub fn config(&self) -> Arc<Config> {
        self.core.config()
    }

    /// Changes settings while the server runs.
    ///
    /// # Errors
    /// [`Error::LogFull`] if the log has no room to record its new sync mode; nothing has changed then. Other
    /// errors are fatal.
    pub fn set_config(&self, config: Config) -> Result<()> {
        let _stage = self.core.log_stage.lock();
        let mode = match config.sync_binlog {
            SyncBinlog::EveryGroup => SyncMode::EachGroup,
            SyncBinlog::Background => SyncMode::Deferred,
        };
        // First, because there may be no room for it.
        match self.core.log.set_sync_mode(mode) {
            Ok(()) => {}
            Err(error @ paceline_binlog::Error::NoSpace { .. }) => return Err(error.into()),
            Err(error) => return Err(self.core.fatal(&format!("cannot sync the binary log: {error}"))),
        }
        self.core.log.set_file_size_max(config.max_binlog_size);
        self.core.locks.set_keys_max(config.row_locks_max);
        self.core
            .storage
            .temporary()
            .set_bytes_max(config.temporary_tables_max);
        self.core
            .positions
            .advance_durable(self.core.log.durable().min(self.core.positions.written()));
        self.core.sendable.advance(self.core.positions.durable());
        self.core.config.store(Arc::new(config));
        self.core.background.wake_for_settings();
        Ok(())
    }

    /// Records that replicas have acknowledged the log up to `position` (semi-sync), and publishes that
    /// part.
    pub fn acknowledge(&self, position: LogPosition) {
        let position = position.min(self.core.positions.durable());
        if position > self.core.positions.acknowledged() {
            self.core
                .positions
                .advance_acknowledged(position, Durability::Required);
        }
        self.core.publish();
    }

    /// Returns the position up to which the log may be sent to replicas: the end of its durable part.
    pub fn sendable(&self) -> LogPosition {
        self.core.sendable.position()
    }

    /// Completes when the log may be sent beyond `position`.
    pub fn sendable_past(&self, position: LogPosition) -> SendLimitWait {
        self.core.sendable.past(position)
    }

    /// Returns the handle that senders of the log wait on.
    pub fn sendable_handle(&self) -> Arc<SendLimit> {
        self.core.sendable.clone()
    }

    /// Returns the leases on the log.
    pub fn leases(&self) -> LeaseRegistry {
        self.core.leases.clone()
    }

    /// Completes when `version` is published: the caller's next snapshot contains it.
    pub fn published_up_to(&self, version: Version) -> PublicationWait {
        PublicationWait::new(self.core.clone(), version)
    }

    /// Returns the error of every commit if the log has failed.
    pub fn failure(&self) -> Option<Error> {
        self.core.poisoned()
    }

    /// Returns the waits for rows with their blockers.
    pub fn row_lock_waits(&self) -> Vec<RowLockWait> {
        self.core.locks.row_lock_waits()
    }

    /// Returns the counters and histograms.
    pub fn status(&self) -> Status {
        let core = &self.core;
        let read = |counter: &AtomicU64| counter.load(Ordering::Relaxed);
        let (commit, lock) = (&core.counters, &core.locks.counters);
        Status {
            binlog_commits: read(&commit.commits),
            binlog_group_commits: read(&commit.group_commits),
            binlog_group_commit_trigger_count: read(&commit.trigger_count),
            binlog_group_commit_trigger_lock_wait: read(&commit.trigger_lock_wait),
            binlog_group_commit_trigger_timeout: read(&commit.trigger_timeout),
            binlog_cache_disk_use: read(&commit.cache_disk_use),
            binlog_bytes_written: read(&commit.log_bytes),
            rollbacks: read(&commit.rollbacks),
            checkpoints: read(&commit.checkpoints),
            group_size: commit.group_size.read(),
            sync_usec: commit.sync_time.read(),
            publish_usec: commit.publish_time.read(),
            commit_usec: commit.commit_time.read(),
            row_lock_waits: read(&lock.row_lock_waits),
            metadata_lock_waits: read(&lock.metadata_lock_waits),
            current_lock_waits: read(&lock.current_waits),
            lock_wait_timeouts: read(&lock.timeouts),
            deadlocks: read(&lock.deadlocks),
            lock_wait_usec: lock.wait_time.read(),
            locked_keys: core.locks.locked_keys() as u64,
            pending_rows: core.overlay.len() as u64,
            open_transactions: core.open_transactions.load(Ordering::Relaxed) as u64,
        }
    }

    /// Returns the steps of the commit pipeline at which tests can stop; see [`SyncPoints`].
    pub fn sync_points(&self) -> &SyncPoints {
        &self.core.sync_points
    }

    /// Shuts down cleanly: waits for the commits in the queue, publishes, flushes the engines, closes the log.
    /// Later commits get [`Error::Closed`].
    ///
    /// # Errors
    /// If the engines cannot be flushed or the log cannot be closed. The next start replays the log then.
    pub fn close(&self) -> Result<()> {
        let core = &self.core;
        if !core.background.stop(core) {
            return Ok(());
        }
        if let Some(error) = core.poisoned() {
            return Err(error);
        }
        core.wait_until_published();
        core.storage.flush()?;
        let _stage = core.log_stage.lock();
        core.log.close(unix_seconds())?;
        Ok(())
    }
}

impl Drop for TransactionManager {
    fn drop(&mut self) {
        if let Err(error) = self.close() {
            tracing::warn!("the transaction manager was not closed cleanly: {error}");
        }
    }
}
