//! Transactions that run through SQL: DDL, and those that the primary logged as statements.
//!
//! The server implements [`StatementRunner`] with its own session. A runner gets one transaction at a time, when
//! everything before it in its domain is published, and nothing else of the domain is in progress.

use paceline_apply::replicated::{Failure, FiringRows};
use paceline_binlog::event::{
    EventFlags, EventHeader, ExecuteLoadQueryEvent, FormatDescription, GtidFlags, IntvarKind, QueryEvent,
    RandEvent, UserVarEvent,
};
use paceline_txn::{GtidChoice, Interrupt, Replication, Transaction};
use paceline_types::ServerId;

/// A statement with the context of its session on the primary.
#[derive(Clone, Debug)]
pub struct ReplicatedStatement<'a> {
    /// Text, and settings of its session.
    pub query: &'a QueryEvent<'a>,
    /// Server that ran it. With the connection's id on that server ([`QueryEvent::connection_id`]) it determines the
    /// temporary tables that the statement sees.
    pub server_id: ServerId,
    /// Flags of its event.
    pub event_flags: EventFlags,
    /// Start of the statement in seconds since 1970.
    pub timestamp_seconds: u32,
    /// [`FormatDescription::states_explicit_defaults`].
    pub states_explicit_defaults: bool,
    /// Whether its transaction has changed only tables with transactions on the primary.
    pub is_transactional: bool,
    /// `INSERT_ID` and `LAST_INSERT_ID`.
    pub intvars: &'a [(IntvarKind, u64)],
    /// The seeds of `RAND()`.
    pub rand: Option<RandEvent>,
    /// User variables that the statement reads.
    pub user_variables: &'a [UserVarEvent<'a>],
    /// For LOAD DATA: the file that it reads.
    pub file: Option<LoadedFile<'a>>,
}

/// File that LOAD DATA read on the primary.
#[derive(Clone, Copy, Debug)]
pub struct LoadedFile<'a> {
    /// The statement. Its text names the primary's file; [`ExecuteLoadQueryEvent::text_with`] substitutes another name.
    pub event: &'a ExecuteLoadQueryEvent<'a>,
    /// Contents of the file, in order.
    pub blocks: &'a [&'a [u8]],
}

/// Context of the next statement, collected from the events before it.
pub(super) struct StatementContext<'g> {
    states_explicit_defaults: bool,
    is_transactional: bool,
    pub(super) intvars: Vec<(IntvarKind, u64)>,
    pub(super) rand: Option<RandEvent>,
    pub(super) user_variables: Vec<UserVarEvent<'g>>,
}

impl<'g> StatementContext<'g> {
    /// Creates an empty context for events of this format in a transaction with these flags.
    pub(super) fn new(format: &FormatDescription, flags: GtidFlags) -> Self {
        StatementContext {
            states_explicit_defaults: format.states_explicit_defaults(),
            is_transactional: flags.contains(GtidFlags::TRANSACTIONAL),
            intvars: vec![],
            rand: None,
            user_variables: vec![],
        }
    }

    /// Returns the statement. `header` is the header of its event.
    pub(super) fn of<'a>(&'a self, query: &'a QueryEvent<'a>, header: &EventHeader) -> ReplicatedStatement<'a>
    where
        'g: 'a,
    {
        ReplicatedStatement {
            query,
            server_id: header.server_id,
            event_flags: header.flags,
            timestamp_seconds: header.timestamp,
            states_explicit_defaults: self.states_explicit_defaults,
            is_transactional: self.is_transactional,
            intvars: &self.intvars,
            rand: self.rand,
            user_variables: &self.user_variables,
            file: None,
        }
    }

    /// Clears the context after a statement.
    pub(super) fn clear(&mut self) {
        self.intvars.clear();
        self.rand = None;
        self.user_variables.clear();
    }
}

/// Runs the statements of one domain. Its functions block the calling thread, which must not be a thread of the async
/// runtime.
pub trait StatementRunner: Send {
    /// Begins a transaction that will be committed with this GTID and `replication`. `timestamp_seconds` is its start
    /// on the primary, in seconds since 1970.
    fn begin(&mut self, gtid: GtidChoice, replication: Replication, timestamp_seconds: u32);

    /// Runs a statement. A statement that commits implicitly (DDL) is committed when this returns. For CREATE TABLE …
    /// SELECT see [`make_table`](StatementRunner::make_table).
    ///
    /// # Errors
    /// Any SQL error. The statement's changes are undone.
    fn statement(&mut self, statement: &ReplicatedStatement<'_>) -> Result<(), Failure>;

    /// Creates a table whose rows follow in the same transaction (`CREATE TABLE … SELECT`). Nothing of it may be
    /// replicated twice: the table is created by a group that is in no GTID state and is not sent to any replica, and
    /// the transaction contains the definition's text before the rows. If an empty table of this name exists, a crash
    /// occurred between the two.
    ///
    /// # Errors
    /// The errors of [`StatementRunner::statement`].
    fn make_table(&mut self, statement: &ReplicatedStatement<'_>) -> Result<(), Failure>;

    /// Changes rows and fires the triggers of their table.
    ///
    /// # Errors
    /// 1032 for a missing row; the errors of the change and of the triggers. The failed row and those after it are not
    /// changed.
    fn change_rows(&mut self, rows: &FiringRows) -> Result<(), Failure>;

    /// Returns the running transaction, for rows between its statements.
    ///
    /// # Errors
    /// If no transaction can be begun.
    fn transaction(&mut self) -> Result<&mut Transaction, Failure>;

    /// Commits the open transaction and waits until it is published. Even without changes the GTID is logged, unless a
    /// statement has logged it already.
    ///
    /// # Errors
    /// If it cannot be committed.
    fn commit(&mut self) -> Result<(), Failure>;

    /// Undoes uncommitted changes, as the primary did. Temporary tables that were created or dropped stay so.
    fn rollback(&mut self);

    /// Undoes a transaction that cannot be applied and will be retried. This also restores temporary tables. Implicitly
    /// committed changes stay.
    fn give_up(&mut self);
}

/// Creates a runner for each domain.
pub trait StatementRunners: Send + Sync {
    /// Creates a runner. Raising `interrupt` ends its lock waits.
    fn runner(&self, interrupt: Interrupt) -> Box<dyn StatementRunner>;

    /// Drops the temporary tables of the primary's sessions. The primary has restarted, and everything before the
    /// restart is applied.
    fn primary_restarted(&self);
}
