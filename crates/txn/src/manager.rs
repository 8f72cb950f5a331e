//! The transaction manager: the state that a server's sessions share.

use crate::commit::acknowledge::WrittenTransactions;
use crate::commit::core::{Core, ManagerParts, unix_seconds};
use crate::config::{Config, SyncBinlog};
use crate::error::{Error, Result};
use crate::interrupt::Interrupt;
use crate::lock::{DeadlockHook, MetadataLock, RowLockWait};
use crate::log_lease::LeaseRegistry;
use crate::options::TransactionOptions;
use crate::positions::{Durability, Positions};
use crate::sendable::{SendLimit, SendLimitWait};
use crate::session::Session;
use crate::status::Status;
use crate::sync_point::SyncPoints;
use crate::transaction::{PublicationWait, Transaction};
use paceline_binlog::Log;
use paceline_binlog::log::SyncMode;
use paceline_storage::{MarkState, Storage, StorageSnapshot};
use paceline_types::{LogPosition, Version};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

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
        let config = parts.config.clone();
        let core = Core::open(parts);
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
        let id = self.core.next_session();
        Session::new(id, interrupt, self.core.locks.clone())
    }

    /// Creates a session of an applier. Its transactions come from a primary and are committed in batches
    /// ([`TransactionManager::commit_batch`]). Several can be in progress at the same time if they touch
    /// nothing in common. They never wait for a session's transaction unless it is committing; otherwise that
    /// one gets 1213.
    pub fn applier_session(&self, interrupt: Interrupt) -> Session {
        let id = self.core.next_session();
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

    /// Returns the marks of large transactions, for a change of a table's columns.
    pub fn mark_state(&self) -> MarkState {
        self.core.marks.state(self.core.log.written().ordinal())
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
            .positions
            .advance_durable(self.core.log.durable().min(self.core.positions.written()));
        match self.core.acknowledger.waits_for_sync() {
            true => self
                .core
                .acknowledge_durable_in_stage(WrittenTransactions::default()),
            false => self.core.sendable.advance(self.core.positions.durable()),
        }
        self.core.store_config(config);
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

    /// Returns all metadata locks, held and requested.
    pub fn metadata_locks(&self) -> Vec<MetadataLock> {
        self.core.locks.metadata_locks()
    }

    /// Sets the function that is told of each deadlock while its members still wait. It is called by a session that
    /// requests a lock, so it must be quick and must not lock anything that is held while locks are requested. Only the
    /// first function counts.
    pub fn on_deadlock(&self, hook: DeadlockHook) {
        self.core.locks.on_deadlock(hook);
    }

    /// Returns the memory of row locks in bytes; the changes under them are not included.
    pub fn row_lock_bytes(&self) -> u64 {
        self.core.locks.row_lock_bytes() as u64
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
            current_row_lock_waits: read(&lock.current_row_waits),
            current_lock_waits: read(&lock.current_waits),
            lock_wait_timeouts: read(&lock.timeouts),
            deadlocks: read(&lock.deadlocks),
            lock_wait_usec: lock.wait_time.read(),
            row_lock_wait_usec: lock.row_wait_time.read(),
            locked_keys: core.locks.locked_keys() as u64,
            pending_rows: core.overlay.len() as u64,
            open_transactions: core.open_transactions.load(Ordering::Relaxed) as u64,
        }
    }

    /// Returns the steps of the commit pipeline at which tests can stop; see [`SyncPoints`].
    pub fn sync_points(&self) -> &SyncPoints {
        &self.core.sync_points
    }

    /// Shuts down cleanly: waits for the commits in the queue, publishes what is acknowledged, flushes the engines,
    /// closes the log. Transactions that are not acknowledged are given up as by
    /// [`TransactionManager::give_up_unacknowledged`]. Later commits get [`Error::Closed`].
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
        let undecided = core.end_publishing();
        if undecided > 0 {
            tracing::warn!("{undecided} transactions are in the log and not acknowledged");
        }
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
