//! A transaction, from its session's side: what it sees, what it locks, what it will write.
//!
//! ```text
//!   non-locking read   own writes ▸ snapshot            (RR: one for all; RC: one a statement)
//!   locking read       own writes ▸ pending overlay ▸ published state
//!   write              lock ▸ own writes + events       (private until commit; a rollback is a drop)
//!   temporary tables   own writes ▸ their space         (no locks, no events: [`temporary`])
//! ```
//!
//! Everything here runs in the session's own thread and blocks nothing but it; only [`commit`] meets the others.

mod commit;
mod locking;
mod newer;
mod read;
mod row;
mod scan;
mod temporary;
mod write;

pub use commit::{CommitFuture, CommitOutcome, Settled};
pub use locking::LockMark;
pub use row::RowValue;
pub use scan::{Scan, ScanEntry};
pub use temporary::TemporaryMark;
pub use write::{RowMark, WriteMark};

use crate::error::{Error, Result};
use crate::event_cache::{EventCache, EventMark};
use crate::lock::metadata::TransactionMetadata;
use crate::lock::{HeldLocks, MetadataGuard, MetadataMode, MetadataObject, Patience};
use crate::manager::Core;
use crate::session::Session;
use paceline_binlog::event::{EventFlags, GtidFlags, QueryEvent};
use paceline_binlog::group::StatementOptions;
use paceline_binlog::{ExecutedMove, SourcePosition};
use paceline_storage::{Mark, StorageSnapshot, WriteSet};
use paceline_types::{DomainId, Gtid, LogPosition, SequenceNumber, ServerId, Version};
use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::Duration;
use temporary::TemporaryChanges;

/// What a transaction sees of others.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Default)]
pub enum IsolationLevel {
    /// Served as READ COMMITTED.
    ReadUncommitted,
    /// A snapshot for each statement.
    ReadCommitted,
    /// One snapshot, taken by the first non-locking read. See [`SnapshotIsolation`] for writes.
    #[default]
    RepeatableRead,
    /// Reads lock what they read, and the gaps between.
    Serializable,
}

/// What becomes of a write, or a locking read, under REPEATABLE READ of a row that has changed since the snapshot
/// (`innodb_snapshot_isolation`).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
pub enum SnapshotIsolation {
    /// It gets 1020, and the transaction is rolled back.
    #[default]
    On,
    /// It works on the newest version: the snapshot is for plain reads only.
    Off,
}

/// READ WRITE or READ ONLY.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
pub enum AccessMode {
    /// May write.
    #[default]
    ReadWrite,
    /// Writes get 1792.
    ReadOnly,
}

/// How long the transaction lasts.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
pub enum Lifetime {
    /// One statement (`autocommit=1` outside BEGIN). Under SERIALIZABLE its plain reads take a snapshot and lock nothing, as in InnoDB.
    SingleStatement,
    /// Until COMMIT or ROLLBACK.
    #[default]
    Explicit,
}

/// Which GTID a transaction is to get.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum GtidChoice {
    /// The next of a domain (`gtid_domain_id`, `server_id`).
    Next {
        /// `gtid_domain_id`.
        domain_id: DomainId,
        /// `server_id`.
        server_id: ServerId,
    },
    /// This one (`gtid_seq_no`).
    Given(Gtid),
    /// This one, under which a primary has committed it: its Gtid event is marked with
    /// [`EventFlags::REPLICATED`](paceline_binlog::event::EventFlags::REPLICATED), and `gtid_slave_pos` moves to it with the transaction.
    Replicated(Gtid),
    /// The same, of a connection that has only the place in its primary's log to go on from: that is logged with the transaction.
    ReplicatedFrom(Gtid, Arc<SourceMark>),
}

/// A connection's place in its primary's log.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SourceMark {
    /// The connection's name; empty for the default one.
    pub connection: Arc<str>,
    /// The place.
    pub position: SourcePosition,
    /// What becomes of the connection's set of MySQL's GTIDs.
    pub executed: Option<ExecutedMove>,
    /// Whose the transaction's number is.
    pub numbers: Numbers,
}

/// Who gives the sequence numbers of a primary's transactions.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Numbers {
    /// The primary.
    Primarys,
    /// This server, when it commits them, as the primary has no GTIDs of MariaDB's kind: the next of the domain, which sessions here and other primaries
    /// may write, too.
    Ours,
}

impl GtidChoice {
    /// What the session variables say: `gtid_seq_no` 0 means the next.
    pub fn new(domain_id: DomainId, server_id: ServerId, gtid_seq_no: SequenceNumber) -> Self {
        match gtid_seq_no {
            SequenceNumber(0) => GtidChoice::Next { domain_id, server_id },
            sequence => GtidChoice::Given(Gtid::new(domain_id, server_id, sequence)),
        }
    }

    /// The GTID, where it is known before there is a place for it.
    pub fn given(&self) -> Option<Gtid> {
        match self {
            GtidChoice::Next { .. } => None,
            GtidChoice::Given(gtid) | GtidChoice::Replicated(gtid) | GtidChoice::ReplicatedFrom(gtid, _) => {
                Some(*gtid)
            }
        }
    }

    /// Whether it came from a primary.
    pub fn is_replicated(&self) -> bool {
        matches!(self, GtidChoice::Replicated(_) | GtidChoice::ReplicatedFrom(..))
    }

    /// The server where the transaction is born.
    pub fn server_id(&self) -> ServerId {
        match self {
            GtidChoice::Next { server_id, .. } => *server_id,
            GtidChoice::Given(gtid) | GtidChoice::Replicated(gtid) | GtidChoice::ReplicatedFrom(gtid, _) => {
                gtid.server_id
            }
        }
    }
}

/// Whether a transaction is for replicas (`sql_log_bin`, `skip_replication`).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
pub enum Replication {
    /// It is.
    #[default]
    Replicated,
    /// It is for those that want it (`replicate_events_marked_for_skip`): all its events are flagged LOG_EVENT_SKIP_REPLICATION_F.
    Marked,
    /// It is logged for this server only: LOG_EVENT_SKIP_REPLICATION_F in the reserved domain, in no GTID state.
    LocalOnly,
}

/// How a transaction begins.
#[derive(Clone, Debug)]
pub struct TransactionOptions {
    /// What it sees.
    pub isolation: IsolationLevel,
    /// `innodb_snapshot_isolation`.
    pub snapshot_isolation: SnapshotIsolation,
    /// What it may do.
    pub access: AccessMode,
    /// How long it lasts.
    pub lifetime: Lifetime,
    /// `innodb_lock_wait_timeout`: for rows.
    pub row_lock_timeout: Duration,
    /// `lock_wait_timeout`: for metadata.
    pub metadata_lock_timeout: Duration,
    /// Its GTID.
    pub gtid: GtidChoice,
    /// `sql_log_bin`, `skip_replication`.
    pub replication: Replication,
}

impl Default for TransactionOptions {
    fn default() -> Self {
        TransactionOptions {
            isolation: IsolationLevel::default(),
            snapshot_isolation: SnapshotIsolation::default(),
            access: AccessMode::default(),
            lifetime: Lifetime::default(),
            row_lock_timeout: Duration::from_secs(50),
            metadata_lock_timeout: Duration::from_secs(86_400),
            gtid: GtidChoice::Next {
                domain_id: DomainId(0),
                server_id: ServerId(1),
            },
            replication: Replication::default(),
        }
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum State {
    Active,
    /// Undone by 1213; waits to be dropped.
    RolledBack,
}

/// A place in the transaction to roll back to.
#[derive(Clone, Copy)]
struct TransactionMark {
    writes: Mark,
    events: EventMark,
    newer: Mark,
    temporary: TemporaryMark,
}

struct Savepoint {
    name: String,
    mark: TransactionMark,
    metadata_locks: usize,
}

/// A running transaction. Dropping it rolls it back.
pub struct Transaction {
    core: Arc<Core>,
    session: Session,
    options: TransactionOptions,
    state: State,
    /// What non-locking reads see, as soon as there was one.
    snapshot: Option<Arc<StorageSnapshot>>,
    /// What the last locking read saw as published; kept so that rows can be lent from it.
    newest: Option<Arc<StorageSnapshot>>,
    writes: WriteSet,
    /// There is no file to be had for its rows: they stay in memory.
    rows_stay_in_memory: bool,
    events: EventCache,
    /// What plain reads see of others' changes since the snapshot: see [`newer`].
    newer: WriteSet,
    /// What it does to temporary tables, as soon as it does.
    temporary: Option<Box<TemporaryChanges>>,
    held: HeldLocks,
    metadata: TransactionMetadata,
    /// Held in `Write` while a writing statement runs.
    statement_guard: Option<MetadataGuard>,
    statement: Option<TransactionMark>,
    savepoints: Vec<Savepoint>,
    /// The newest version read under lock that was not published then: no reply may leave before it is.
    newest_read: Version,
    /// The place in the log that it looks back to; its write set is then what takes back everything since.
    looks_back_to: Option<Version>,
}

impl Transaction {
    pub(crate) fn new(core: Arc<Core>, session: Session, options: TransactionOptions) -> Self {
        session.owner.begin();
        core.open_transactions.fetch_add(1, Ordering::Relaxed);
        let events = EventCache::new(&core.config(), &options, &core.buffers);
        Transaction {
            core,
            session,
            options,
            state: State::Active,
            snapshot: None,
            newest: None,
            writes: WriteSet::new(),
            rows_stay_in_memory: false,
            events,
            newer: WriteSet::new(),
            temporary: None,
            held: HeldLocks::default(),
            metadata: TransactionMetadata::default(),
            statement_guard: None,
            statement: None,
            savepoints: Vec::new(),
            newest_read: LogPosition::ZERO,
            looks_back_to: None,
        }
    }

    /// How long it waits for locks from now on: for rows and for metadata.
    pub fn set_lock_timeouts(&mut self, rows: Duration, metadata: Duration) {
        self.options.row_lock_timeout = rows;
        self.options.metadata_lock_timeout = metadata;
    }

    /// `START TRANSACTION WITH CONSISTENT SNAPSHOT AT GTID`: from now on its snapshot is read as it was before the changes that `undo`
    /// takes back. `version` is the place in the log before the first of them: newer definitions of tables get 1412.
    ///
    /// # Panics
    /// If it is not read only at REPEATABLE READ, with its snapshot taken: what takes back must never be committed.
    pub fn look_back(&mut self, undo: WriteSet, version: Version) {
        assert!(
            self.options.access == AccessMode::ReadOnly
                && self.options.isolation == IsolationLevel::RepeatableRead
                && !self.has_writes()
                && self.snapshot.is_some(),
            "who looks back only reads"
        );
        self.writes = undo;
        self.looks_back_to = Some(version);
    }

    /// What it sees of others.
    pub fn isolation(&self) -> IsolationLevel {
        self.options.isolation
    }

    /// What it was begun with.
    pub fn options(&self) -> &TransactionOptions {
        &self.options
    }

    /// The session that it belongs to.
    pub fn session(&self) -> &Session {
        &self.session
    }

    /// Changes the GTID that the commit will ask for.
    pub fn set_gtid(&mut self, gtid: GtidChoice) {
        self.events.set_server_id(gtid.server_id());
        self.options.gtid = gtid;
    }

    /// Whether it has changed anything.
    pub fn has_writes(&self) -> bool {
        (!self.writes.is_empty() && self.looks_back_to.is_none()) || !self.events.is_empty()
    }

    /// Whether an error has undone the whole of it ([`Error::rollback_scope`]); a new one must be begun then.
    pub fn is_rolled_back(&self) -> bool {
        self.state == State::RolledBack
    }

    /// The version of its snapshot, if one was taken. A table whose definition is newer gets 1412.
    pub fn snapshot_version(&self) -> Option<Version> {
        self.looks_back_to
            .or_else(|| self.snapshot.as_ref().map(|snapshot| snapshot.position()))
    }

    /// A statement begins. `annotation` is its text for `binlog_annotate_row_events`; it is logged if the statement logs rows.
    /// `timestamp_seconds` is the statement's time for the event headers.
    ///
    /// # Errors
    /// [`Error::RolledBack`].
    pub fn begin_statement(&mut self, annotation: Option<&str>, timestamp_seconds: u32) -> Result<()> {
        self.check_active()?;
        assert!(self.statement.is_none(), "the statement before has not ended");
        if self.options.isolation <= IsolationLevel::ReadCommitted {
            self.snapshot = None;
        }
        self.events.begin_statement(annotation, timestamp_seconds);
        self.statement = Some(self.mark());
        Ok(())
    }

    /// A statement of a primary begins: with its time, its text and the flags of its rows events, as the primary's log has them. Row
    /// changes follow, and [`Transaction::end_statement`].
    ///
    /// # Errors
    /// [`Error::RolledBack`].
    pub fn begin_replicated_statement(&mut self, statement: &StatementOptions<'_>) -> Result<()> {
        self.check_active()?;
        assert!(self.statement.is_none(), "the statement before has not ended");
        self.events.begin_replicated_statement(statement);
        self.statement = Some(self.mark());
        Ok(())
    }

    /// Logs the text of a definition that another group has done, in front of the rows that belong to it: CREATE TABLE … SELECT of a primary.
    ///
    /// # Errors
    /// [`Error::RolledBack`].
    pub fn log_definition(
        &mut self,
        query: &QueryEvent<'_>,
        flags: EventFlags,
        timestamp_seconds: u32,
    ) -> Result<()> {
        self.check_active()?;
        self.events.log_definition(query, flags, timestamp_seconds);
        Ok(())
    }

    /// Whether a statement has begun and not ended.
    pub fn is_in_statement(&self) -> bool {
        self.statement.is_some()
    }

    /// The flags that the Gtid event is to have, where they are not those of any transaction (at first: transactional, parallel apply
    /// allowed). Only before the first event.
    pub fn set_gtid_flags(&mut self, flags: GtidFlags) {
        self.events.set_gtid_flags(flags);
    }

    /// The statement succeeded.
    ///
    /// # Errors
    /// [`Error::CacheFull`]: its last events do not fit; the statement must be rolled back.
    pub fn end_statement(&mut self) -> Result<()> {
        if self.statement.is_some() {
            self.events.end_statement(&self.core)?;
            self.statement = None;
        }
        self.statement_guard = None;
        Ok(())
    }

    /// The statement failed: undoes what it wrote. Its locks stay, as in InnoDB. An error can tell of what was read under lock
    /// (1062 does), so this waits until that is published, blocking the thread; there is rarely something to wait for.
    pub fn rollback_statement(&mut self) {
        self.core.wait_published_blocking(self.newest_read);
        if let Some(mark) = self.statement.take() {
            self.roll_back_to(mark);
            self.events.abandon_statement();
        }
        self.statement_guard = None;
    }

    /// Logs a statement that stands as text between the transaction's rows (SAVEPOINT), unless there are none yet.
    ///
    /// # Errors
    /// [`Error::RolledBack`]; [`Error::CacheFull`], with nothing logged.
    pub fn log_statement(&mut self, query: &QueryEvent<'_>, timestamp_seconds: u32) -> Result<()> {
        self.check_active()?;
        assert!(self.statement.is_none(), "the statement before has not ended");
        if self.events.is_empty() {
            return Ok(());
        }
        let mark = self.events.mark();
        let logged = self.events.log_statement(&self.core, query, timestamp_seconds);
        if logged.is_err() {
            self.events.rollback_to(mark);
        }
        logged
    }

    /// `SAVEPOINT name`: replaces one of the same name.
    pub fn savepoint(&mut self, name: &str) {
        self.savepoints
            .retain(|savepoint| !savepoint.name.eq_ignore_ascii_case(name));
        let mark = self.mark();
        self.savepoints.push(Savepoint {
            name: name.to_owned(),
            mark,
            metadata_locks: self.metadata.len(),
        });
    }

    /// `ROLLBACK TO SAVEPOINT name`: the savepoint stays, later ones go. Row locks stay.
    ///
    /// # Errors
    /// [`Error::NoSuchSavepoint`] (1305).
    pub fn rollback_to_savepoint(&mut self, name: &str) -> Result<()> {
        let at = self.find_savepoint(name)?;
        self.savepoints.truncate(at + 1);
        let savepoint = &self.savepoints[at];
        let (mark, metadata_locks) = (savepoint.mark, savepoint.metadata_locks);
        self.roll_back_to(mark);
        self.metadata.release_newest(metadata_locks);
        Ok(())
    }

    /// `RELEASE SAVEPOINT name`: it and later ones go.
    ///
    /// # Errors
    /// [`Error::NoSuchSavepoint`] (1305).
    pub fn release_savepoint(&mut self, name: &str) -> Result<()> {
        let at = self.find_savepoint(name)?;
        self.savepoints.truncate(at);
        Ok(())
    }

    fn find_savepoint(&self, name: &str) -> Result<usize> {
        let found = self
            .savepoints
            .iter()
            .position(|savepoint| savepoint.name.eq_ignore_ascii_case(name));
        found.ok_or_else(|| Error::NoSuchSavepoint(name.to_owned()))
    }

    /// Locks a table or database until the transaction ends (savepoints aside). Blocks the thread while it waits.
    ///
    /// # Errors
    /// [`Error::LockWaitTimeout`], [`Error::Deadlock`] (the transaction is rolled back), [`Error::Interrupted`].
    pub fn lock_metadata(&mut self, object: MetadataObject<'_>, mode: MetadataMode) -> Result<()> {
        self.check_active()?;
        let patience = Patience::For(self.options.metadata_lock_timeout);
        let locked = self
            .metadata
            .lock(&self.session.locks, &self.session.owner, object, mode, patience);
        self.undo_if_victim(locked)
    }

    /// To be called by every statement that will write, before it locks tables: waits for a global read lock to end.
    ///
    /// # Errors
    /// As [`Transaction::lock_metadata`]; [`Error::ReadOnlyTransaction`] (1792).
    pub fn begin_writing(&mut self) -> Result<()> {
        self.check_active()?;
        if self.options.access == AccessMode::ReadOnly {
            return Err(Error::ReadOnlyTransaction);
        }
        if self.statement_guard.is_none() {
            let timeout = self.options.metadata_lock_timeout;
            let locked = self
                .session
                .lock_metadata(MetadataObject::Global, MetadataMode::Write, timeout);
            self.statement_guard = Some(self.undo_if_victim(locked)?);
        }
        Ok(())
    }

    /// Undoes everything and gives all locks back.
    pub fn rollback(mut self) {
        self.undo();
    }

    fn mark(&mut self) -> TransactionMark {
        TransactionMark {
            writes: self.writes.mark(),
            events: self.events.mark(),
            newer: self.newer.mark(),
            temporary: self.temporary_mark(),
        }
    }

    fn roll_back_to(&mut self, mark: TransactionMark) {
        self.writes.rollback_to(mark.writes);
        self.events.rollback_to(mark.events);
        self.newer.rollback_to(mark.newer);
        self.roll_back_temporary(mark.temporary);
    }

    fn check_active(&mut self) -> Result<()> {
        match self.state {
            State::Active if self.session.owner.is_doomed() => {
                // An applied transaction has taken a lock of it.
                self.core.locks.counters.deadlocks.fetch_add(1, Ordering::Relaxed);
                self.undo();
                Err(Error::Deadlock)
            }
            State::Active => Ok(()),
            State::RolledBack => Err(Error::RolledBack),
        }
    }

    /// A deadlock's victim gives everything back before its session hears of it. So does a transaction that has locked too much, or
    /// that would write over a change which its snapshot does not have.
    fn undo_if_victim<T>(&mut self, result: Result<T>) -> Result<T> {
        if matches!(
            result,
            Err(Error::Deadlock | Error::TooManyLocks { .. } | Error::SnapshotConflict { .. })
        ) {
            self.undo();
        }
        result
    }

    fn undo(&mut self) {
        if self.state == State::RolledBack {
            return;
        }
        self.state = State::RolledBack;
        if self.has_writes() {
            self.core.counters.rollbacks.fetch_add(1, Ordering::Relaxed);
        }
        self.writes = WriteSet::new();
        self.events.clear();
        self.newer = WriteSet::new();
        self.temporary = None;
        self.statement = None;
        self.statement_guard = None;
        self.savepoints.clear();
        self.snapshot = None;
        self.session.locks.release(&self.session.owner, &mut self.held);
        self.metadata = TransactionMetadata::default();
        self.session.owner.forget_doom();
    }
}

impl Drop for Transaction {
    fn drop(&mut self) {
        self.undo();
        self.core.open_transactions.fetch_sub(1, Ordering::Relaxed);
    }
}

#[cfg(test)]
mod tests;
