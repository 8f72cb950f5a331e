//! Settings of transactions and commits, under MariaDB's names where MariaDB has the setting.

use std::time::Duration;

/// Leader of a commit group (`paceline_commit_leader`). See docs/decisions/ for the measurement behind the
/// default.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
pub enum LeaderMode {
    /// The first session of the group leads it in its own task, in place.
    Inline,
    /// A dedicated thread leads every group.
    Thread,
    /// In place while one session commits alone, by the thread as soon as several do.
    #[default]
    Adaptive,
}

/// Publisher of a group while more wait to be written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum PublishThread {
    /// The log thread, between two groups: no additional thread to switch to.
    LogThread,
    /// A dedicated thread, while the log thread writes the next group.
    Publisher,
}

impl Default for PublishThread {
    /// The log thread where the machine has few processors: there the switch costs more than the overlap gains.
    fn default() -> Self {
        match std::thread::available_parallelism() {
            Ok(processors) if processors.get() > 4 => PublishThread::Publisher,
            _ => PublishThread::LogThread,
        }
    }
}

/// When row locks are released (`paceline_early_lock_release`).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
pub enum LockRelease {
    /// When the transaction is placed in the log, before the sync.
    #[default]
    Early,
    /// When the transaction is published.
    AfterPublish,
}

/// `sync_binlog`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
pub enum SyncBinlog {
    /// 0: a commit returns when it is written; the log is synced in the background (see
    /// [`Config::sync_interval`]).
    Background,
    /// 1: a commit returns when it is durable.
    #[default]
    EveryGroup,
}

/// `gtid_strict_mode`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
pub enum GtidStrictMode {
    /// A GTID lower than the last one of its domain is logged with a warning.
    #[default]
    Off,
    /// A GTID lower than the last one of its domain is refused with 1950.
    On,
}

/// Approximate size of a row lock in bytes, with the keys of the change that it protects. Measured with an
/// insert of 1.6 million rows with two indexes.
pub const ROW_LOCK_BYTES: u64 = 512;

/// Settings of the manager. All of them can be changed while the server runs
/// ([`crate::TransactionManager::set_config`]).
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Config {
    /// Leader of a commit group.
    pub leader_mode: LeaderMode,
    /// Publisher of groups when the log thread leads.
    pub publish_thread: PublishThread,
    /// When row locks are released.
    pub lock_release: LockRelease,
    /// `sync_binlog`.
    pub sync_binlog: SyncBinlog,
    /// Longest time that written transactions stay unsynced under [`SyncBinlog::Background`].
    pub sync_interval: Duration,
    /// `binlog_commit_wait_count`: a group waits until this many transactions are queued …
    pub binlog_commit_wait_count: u32,
    /// `binlog_commit_wait_usec`: … or until this much time has passed.
    pub binlog_commit_wait: Duration,
    /// `gtid_strict_mode`.
    pub gtid_strict_mode: GtidStrictMode,
    /// `max_binlog_size`, bytes: a file that has reached it is closed after the group that reached it.
    pub max_binlog_size: u64,
    /// `binlog_expire_logs_seconds`: closed files older than this are purged. `None` (0): never.
    pub binlog_expire_after: Option<Duration>,
    /// Bytes of log after which a checkpoint is made; an eighth of it suffices when the last checkpoint is ten
    /// seconds old. It bounds what a restart replays, and how many versions of a hot row a scan has to skip in
    /// the memtable.
    pub checkpoint_log_bytes: u64,
    /// Most transactions in one commit group.
    pub group_transactions_max: usize,
    /// Most bytes of log in one commit group (a larger transaction is a group of its own).
    pub group_bytes_max: usize,
    /// `max_binlog_cache_size`, bytes: most events of one transaction (1197 beyond).
    pub max_binlog_cache_size: u64,
    /// `paceline_row_locks_max`: most row locks held by all sessions together (1206 beyond). Each takes about
    /// [`ROW_LOCK_BYTES`], with the change that it protects.
    pub row_locks_max: usize,
    /// `binlog_large_commit_threshold`, bytes: a transaction with more events, or whose rows and index entries
    /// take more memory, continues in a file of its own, which becomes the log's next file.
    pub large_transaction_bytes: u64,
    /// `binlog_row_event_max_size`, bytes: a rows event is closed before it would exceed this size.
    pub binlog_row_event_max_size: usize,
}

impl Default for Config {
    fn default() -> Self {
        Config {
            leader_mode: LeaderMode::default(),
            publish_thread: PublishThread::default(),
            lock_release: LockRelease::default(),
            sync_binlog: SyncBinlog::default(),
            sync_interval: Duration::from_millis(100),
            binlog_commit_wait_count: 0,
            binlog_commit_wait: Duration::from_micros(100_000),
            gtid_strict_mode: GtidStrictMode::default(),
            max_binlog_size: 1 << 30,
            binlog_expire_after: None,
            checkpoint_log_bytes: 64 << 20,
            group_transactions_max: 4096,
            group_bytes_max: 32 << 20,
            max_binlog_cache_size: 4 << 30,
            row_locks_max: usize::MAX,
            large_transaction_bytes: 64 << 20,
            binlog_row_event_max_size: 8192,
        }
    }
}
