//! The state that the stages of the pipeline, its background threads and the transactions share.

use super::acknowledge::{Acknowledger, ImmediateAcknowledger, UnreportedTransactions};
use super::background::Background;
use super::log_stage::LogStage;
use super::marks::Marks;
use super::publish::Publisher;
use super::published_position::PublishedPosition;
use super::queue::CommitQueue;
use crate::buffer_pool::BufferPool;
use crate::config::Config;
use crate::error::Error;
use crate::lock::LockManager;
use crate::log_lease::LeaseRegistry;
use crate::overlay::Overlay;
use crate::positions::PositionCells;
use crate::sendable::SendLimit;
use crate::status::CommitCounters;
use crate::sync_point::SyncPoints;
use arc_swap::ArcSwap;
use paceline_binlog::{GtidState, Log};
use paceline_storage::{LogBarrier, Storage, StorageSnapshot};
use paceline_types::LogPosition;
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
    pub(crate) unreported: UnreportedTransactions,
    pub(crate) background: Background,
    pub(crate) leases: LeaseRegistry,
    pub(crate) counters: CommitCounters,
    pub(crate) buffers: Arc<BufferPool>,
    pub(crate) open_transactions: AtomicUsize,
    pub(crate) sync_points: SyncPoints,
    pub(crate) marks: Arc<Marks>,
    next_xid: AtomicU64,
    next_session: AtomicU64,
    poisoned: OnceLock<Error>,
    fatal_hook: FatalHook,
}

impl Core {
    /// Starts with a recovered log and the engines that have replayed it.
    ///
    /// # Panics
    /// If the engines are ahead of the end of the log, or the log is not synced: recovery has not been run.
    pub(crate) fn open(parts: ManagerParts) -> Arc<Self> {
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
            config: ArcSwap::from_pointee(config),
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
            unreported: UnreportedTransactions::default(),
            background: Background::default(),
            leases: LeaseRegistry::default(),
            counters: CommitCounters::default(),
            buffers: Arc::default(),
            open_transactions: AtomicUsize::new(0),
            sync_points: SyncPoints::new(),
            marks: Arc::default(),
            next_xid: AtomicU64::new(1),
            next_session: AtomicU64::new(1),
            poisoned: OnceLock::new(),
            fatal_hook,
        });
        core.storage
            .set_log_barrier(Arc::new(Barrier(Arc::downgrade(&core))));
        core.log.set_file_size_max(core.config().max_binlog_size);
        core.background.start(&core);
        core
    }

    pub(crate) fn config(&self) -> Arc<Config> {
        self.config.load_full()
    }

    pub(crate) fn store_config(&self, config: Config) {
        self.config.store(Arc::new(config));
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

    pub(crate) fn next_session(&self) -> u64 {
        self.next_session.fetch_add(1, Ordering::Relaxed)
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

/// Turns a panic of a thread that leads or publishes, also a session's, into a fatal error: others would wait forever.
pub(crate) struct FatalOnPanic<'c> {
    core: &'c Core,
    /// A destructor may lead while its thread unwinds because of something else.
    was_panicking: bool,
}

impl<'c> FatalOnPanic<'c> {
    /// Guards the work until it is dropped.
    pub(crate) fn new(core: &'c Core) -> Self {
        FatalOnPanic {
            core,
            was_panicking: std::thread::panicking(),
        }
    }
}

impl Drop for FatalOnPanic<'_> {
    fn drop(&mut self) {
        if std::thread::panicking() && !self.was_panicking {
            self.core
                .fatal("a thread of the commit pipeline has failed; see the message before");
        }
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
