//! A transaction, as its session uses it: reads, locks and private writes.
//!
//! ```text
//!   non-locking read   own writes ▸ snapshot            (RR: one for all; RC: one per statement)
//!   locking read       own writes ▸ pending overlay ▸ published state
//!   write              lock ▸ own writes + events       (private until commit; a rollback is a drop)
//!   temporary tables   own writes ▸ their space         (no locks, no events: [`temporary`])
//! ```
//!
//! All of this runs in the session's own thread and blocks no other; only [`commit`] interacts with other
//! sessions.

mod commit;
mod locking;
mod read;
mod row;
mod scan;
mod snapshot_delta;
mod temporary;
mod temporary_changes;
mod write;

pub use commit::{CommitFuture, CommitOutcome, PublicationWait};
pub use locking::LockMark;
pub use row::RowValue;
pub use scan::{Scan, ScanEntry};
pub use temporary_changes::TemporaryMark;
pub use write::{RowMark, WriteMark};

use crate::commit::core::Core;
use crate::commit::marks::OpenMark;
use crate::error::{Error, Result};
use crate::event_cache::{EventCache, EventMark, StatementText};
use crate::lock::metadata::TransactionMetadataLocks;
use crate::lock::{HeldLocks, MetadataGuard, MetadataMode, MetadataObject, WaitLimit};
use crate::options::{GtidChoice, TransactionOptions};
use crate::session::Session;
use paceline_binlog::EpochMark;
use paceline_binlog::event::{EventFlags, GtidFlags, QueryEvent};
use paceline_binlog::group::StatementOptions;
use paceline_storage::{Mark, StorageSnapshot, WriteSet};
use paceline_types::{AccessMode, IsolationLevel, LogPosition, Version};
use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::Duration;
use temporary_changes::TemporaryChanges;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum State {
    Active,
    /// Undone by an error; to be dropped.
    RolledBack,
}

/// Position in the transaction to roll back to.
#[derive(Clone, Copy)]
struct TransactionMark {
    writes: Mark,
    events: EventMark,
    snapshot_delta: Mark,
    temporary: TemporaryMark,
}

/// State of a transaction before a nested statement: see [`Transaction::begin_nested_statement`].
pub struct NestedMark(TransactionMark);

struct Savepoint {
    name: String,
    mark: TransactionMark,
    metadata_locks: usize,
}

/// Running transaction. Dropping it rolls it back.
pub struct Transaction {
    core: Arc<Core>,
    session: Session,
    options: TransactionOptions,
    state: State,
    /// Snapshot of non-locking reads, once there was one.
    snapshot: Option<Arc<StorageSnapshot>>,
    /// Published state that the last locking read used; kept so that rows can be borrowed from it.
    newest: Option<Arc<StorageSnapshot>>,
    writes: WriteSet,
    /// Set when no file is available for its rows: they stay in memory.
    rows_stay_in_memory: bool,
    events: EventCache,
    /// Changes by others since the snapshot that plain reads see nevertheless: see [`snapshot_delta`].
    snapshot_delta: WriteSet,
    /// Changes to temporary tables, once there are any.
    temporary: Option<Box<TemporaryChanges>>,
    held: HeldLocks,
    metadata: TransactionMetadataLocks,
    /// Held in `Write` while a writing statement runs.
    statement_guard: Option<MetadataGuard>,
    /// Mark of its rows, from the time on when they are in a file.
    open_mark: Option<OpenMark>,
    /// Whether a statement was allowed to write; it need not have found anything to change.
    has_begun_writing: bool,
    statement: Option<TransactionMark>,
    /// Whether the running statement is logged as text.
    logs_text: bool,
    savepoints: Vec<Savepoint>,
    /// Newest version that was read under lock and was not published then: no reply may be sent before it is.
    newest_read: Version,
    /// Log position that its reads are set back to. If set, the write set undoes every change since then.
    as_of_version: Option<Version>,
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
            snapshot_delta: WriteSet::new(),
            temporary: None,
            held: HeldLocks::default(),
            metadata: TransactionMetadataLocks::default(),
            statement_guard: None,
            open_mark: None,
            has_begun_writing: false,
            statement: None,
            logs_text: false,
            savepoints: Vec::new(),
            newest_read: LogPosition::ZERO,
            as_of_version: None,
        }
    }

    /// Sets the time limits for later waits for row locks and metadata locks.
    pub fn set_lock_timeouts(&mut self, rows: Duration, metadata: Duration) {
        self.options.row_lock_timeout = rows;
        self.options.metadata_lock_timeout = metadata;
    }

    /// `START TRANSACTION WITH CONSISTENT SNAPSHOT AT GTID`: from now on its snapshot is read as it was before
    /// the changes that `undo` reverts. `version` is the log position before the first of them: tables with
    /// newer definitions get 1412.
    ///
    /// # Panics
    /// If the transaction is not read only at REPEATABLE READ with its snapshot taken: the undo changes must
    /// never be committed.
    pub fn read_as_of(&mut self, undo: WriteSet, version: Version) {
        assert!(
            self.options.access == AccessMode::ReadOnly
                && self.options.isolation == IsolationLevel::RepeatableRead
                && !self.has_writes()
                && self.snapshot.is_some(),
            "a transaction on an earlier state only reads"
        );
        self.writes = undo;
        self.as_of_version = Some(version);
    }

    /// Returns the isolation level.
    pub fn isolation(&self) -> IsolationLevel {
        self.options.isolation
    }

    /// Returns the options that it was begun with.
    pub fn options(&self) -> &TransactionOptions {
        &self.options
    }

    /// Returns the session that it belongs to.
    pub fn session(&self) -> &Session {
        &self.session
    }

    /// Changes the GTID that the commit will request.
    pub fn set_gtid(&mut self, gtid: GtidChoice) {
        self.events.set_server_id(gtid.server_id());
        self.options.gtid = gtid;
    }

    /// Returns whether it has changed anything.
    pub fn has_writes(&self) -> bool {
        (!self.writes.is_empty() && self.as_of_version.is_none()) || !self.events.is_empty()
    }

    /// Returns whether an error has undone the whole transaction ([`Error::rollback_scope`]); a new one must be
    /// begun then.
    pub fn is_rolled_back(&self) -> bool {
        self.state == State::RolledBack
    }

    /// Returns the version of its snapshot, if one was taken. A table whose definition is newer gets 1412.
    pub fn snapshot_version(&self) -> Option<Version> {
        self.as_of_version
            .or_else(|| self.snapshot.as_ref().map(|snapshot| snapshot.position()))
    }

    /// Begins a statement. `annotation` is its text for `binlog_annotate_row_events`, which is logged if the
    /// statement logs rows. `timestamp_seconds` is the statement's time in the event headers.
    ///
    /// # Errors
    /// [`Error::RolledBack`]; [`Error::Deadlock`] if an applied transaction has taken one of its locks.
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

    /// Begins a statement that readers of the log get as text ([`Transaction::log_text`]). Until it ends, locking reads
    /// lock the ranges that they read: a replica executes the text after all transactions that precede it in the
    /// log, and must find what was found here. `annotation` is logged if the text is given up.
    ///
    /// # Errors
    /// Those of [`Transaction::begin_statement`].
    pub fn begin_text_statement(&mut self, annotation: Option<&str>, timestamp_seconds: u32) -> Result<()> {
        self.begin_statement(None, timestamp_seconds)?;
        self.events.begin_text_statement(annotation, timestamp_seconds);
        self.logs_text = true;
        Ok(())
    }

    /// Logs the text of the running statement, which [`Transaction::begin_text_statement`] has begun, after its rows.
    ///
    /// # Errors
    /// [`Error::RolledBack`]; [`Error::CacheFull`]: the statement must be rolled back.
    pub fn log_text(&mut self, text: &StatementText<'_>) -> Result<()> {
        self.check_active()?;
        assert!(self.logs_text, "the statement was begun as one with text");
        self.events.statement_text(&self.core, text)
    }

    /// Logs the rows of the running statement, which [`Transaction::begin_text_statement`] has begun, in place of its
    /// text.
    ///
    /// # Errors
    /// [`Error::RolledBack`]; [`Error::TextOfLarge`], [`Error::CacheFull`]: the statement must be rolled back.
    pub fn log_rows_instead_of_text(&mut self) -> Result<()> {
        self.check_active()?;
        match &self.statement {
            Some(begin) => self.events.rows_instead_of_text(&self.core, begin.events),
            None => Ok(()),
        }
    }

    /// Returns whether locking reads lock the ranges that they read, so that nothing can appear in them.
    pub fn locks_ranges(&self) -> bool {
        self.logs_text || self.options.isolation == IsolationLevel::Serializable
    }

    /// Begins a statement of a primary, with its time, its text and the flags of its rows events, as they are
    /// in the primary's log. Row changes must follow, and [`Transaction::end_statement`].
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

    /// Logs the text of a definition that another group has executed, before the rows that belong to it: CREATE
    /// TABLE … SELECT of a primary.
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

    /// Begins a statement of a function or trigger, within another statement. Returns the state to undo it to.
    ///
    /// # Errors
    /// Those of [`Transaction::begin_statement`].
    pub fn begin_nested_statement(&mut self) -> Result<NestedMark> {
        self.check_active()?;
        debug_assert!(
            self.statement.is_some(),
            "a nested statement is part of another one"
        );
        Ok(NestedMark(self.mark()))
    }

    /// Ends a statement of a function or trigger. What follows in the log is another row statement.
    pub fn end_nested_statement(&mut self) {
        self.events.mark();
    }

    /// Undoes a failed statement of a function or trigger. Its locks stay.
    pub fn rollback_nested_statement(&mut self, mark: NestedMark) {
        self.core.wait_published_blocking(self.newest_read);
        // A victim's transaction has been undone as a whole.
        if self.state == State::Active {
            self.roll_back_to(mark.0);
        }
    }

    /// Returns whether a statement has begun and not ended.
    pub fn is_in_statement(&self) -> bool {
        self.statement.is_some()
    }

    /// Sets the flags of the Gtid event (default: transactional, parallel apply allowed). Only before the first
    /// event.
    pub fn set_gtid_flags(&mut self, flags: GtidFlags) {
        self.events.set_gtid_flags(flags);
    }

    /// Makes this transaction, which must have changed nothing, the start of an epoch that a primary has logged.
    /// `timestamp_seconds` is the time of the event.
    ///
    /// # Errors
    /// [`Error::RolledBack`].
    pub fn start_epoch(&mut self, mark: EpochMark, timestamp_seconds: u32) -> Result<()> {
        self.check_active()?;
        assert!(
            self.events.is_empty() && self.writes.is_empty(),
            "the start of an epoch is a group by itself"
        );
        self.events.start_epoch(mark, timestamp_seconds);
        Ok(())
    }

    /// Ends a statement that succeeded.
    ///
    /// # Errors
    /// [`Error::CacheFull`] if its last events do not fit; the statement must be rolled back.
    pub fn end_statement(&mut self) -> Result<()> {
        if self.statement.is_some() {
            self.events.end_statement(&self.core)?;
            self.statement = None;
        }
        self.logs_text = false;
        self.statement_guard = None;
        Ok(())
    }

    /// Ends a statement that failed: undoes its writes. Its locks stay, as in InnoDB. An error may reveal a row
    /// that was read under lock (1062 does), so this first waits until that row is published, blocking the
    /// thread; usually it already is.
    pub fn rollback_statement(&mut self) {
        self.core.wait_published_blocking(self.newest_read);
        if let Some(mark) = self.statement.take() {
            self.roll_back_to(mark);
            self.events.abandon_statement();
        }
        self.logs_text = false;
        self.statement_guard = None;
    }

    /// Logs a statement as text between the transaction's rows (SAVEPOINT), unless there are none yet.
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

    /// `SAVEPOINT name`: replaces a savepoint of the same name.
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

    /// `ROLLBACK TO SAVEPOINT name`: the savepoint stays, later ones are removed. Row locks stay.
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

    /// `RELEASE SAVEPOINT name`: removes it and later ones.
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

    /// Locks a table or database until the transaction ends, or is rolled back to an earlier savepoint. Blocks
    /// the thread while it waits.
    ///
    /// # Errors
    /// [`Error::LockWaitTimeout`], [`Error::Deadlock`] (the transaction is rolled back), [`Error::Interrupted`].
    pub fn lock_metadata(&mut self, object: MetadataObject<'_>, mode: MetadataMode) -> Result<()> {
        self.check_active()?;
        let wait_limit = WaitLimit::For(self.options.metadata_lock_timeout);
        let locked = self
            .metadata
            .lock(&self.session.locks, &self.session.owner, object, mode, wait_limit);
        self.undo_if_victim(locked)
    }

    /// Must be called by every statement that will write, before it locks tables: waits for a global read lock
    /// to end.
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
        self.has_begun_writing = true;
        Ok(())
    }

    /// Returns whether statements of the transaction could have changed rows, and none has.
    pub fn has_changed_nothing(&self) -> bool {
        self.has_begun_writing && !self.has_writes()
    }

    /// Undoes everything and releases all locks.
    pub fn rollback(mut self) {
        self.undo();
    }

    fn mark(&mut self) -> TransactionMark {
        TransactionMark {
            writes: self.writes.mark(),
            events: self.events.mark(),
            snapshot_delta: self.snapshot_delta.mark(),
            temporary: self.temporary_mark(),
        }
    }

    fn roll_back_to(&mut self, mark: TransactionMark) {
        self.writes.rollback_to(mark.writes);
        self.events.rollback_to(mark.events);
        self.snapshot_delta.rollback_to(mark.snapshot_delta);
        self.roll_back_temporary(mark.temporary);
    }

    fn check_active(&mut self) -> Result<()> {
        match self.state {
            State::Active if self.session.owner.is_doomed() => {
                // An applied transaction has taken one of its locks.
                self.core.locks.counters.deadlocks.fetch_add(1, Ordering::Relaxed);
                self.undo();
                Err(Error::Deadlock)
            }
            State::Active => Ok(()),
            State::RolledBack => Err(Error::RolledBack),
        }
    }

    /// Rolls the transaction back if `result` is an error that demands it: a deadlock's victim releases
    /// everything before its session learns of it. So does a transaction that has locked too much, or that
    /// would overwrite a change that its snapshot does not contain.
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
        self.open_mark = None;
        self.events.clear();
        self.snapshot_delta = WriteSet::new();
        self.temporary = None;
        self.statement = None;
        self.logs_text = false;
        self.statement_guard = None;
        self.savepoints.clear();
        self.snapshot = None;
        self.session.locks.release(&self.session.owner, &mut self.held);
        self.metadata = TransactionMetadataLocks::default();
        self.session.owner.forget_doom();
    }
}

impl Drop for Transaction {
    fn drop(&mut self) {
        self.undo();
        self.session.owner.set_change_bytes(0);
        self.core.open_transactions.fetch_sub(1, Ordering::Relaxed);
    }
}

#[cfg(test)]
mod tests;
