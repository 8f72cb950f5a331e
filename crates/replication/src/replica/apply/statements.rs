//! What runs through SQL: DDL, and transactions that a primary logged as statements.
//!
//! The server implements [`StatementRunner`] with a session of its own. It gets one transaction at a time, when everything before it in its domain is
//! published, and nothing of the domain runs beside it.

use paceline_apply::replicated::Failure;
use paceline_binlog::event::{
    EventFlags, EventHeader, ExecuteLoadQueryEvent, FormatDescription, IntvarKind, QueryEvent, RandEvent,
    UserVarEvent,
};
use paceline_txn::{GtidChoice, Interrupt, Replication, Transaction};
use paceline_types::ServerId;

/// A statement with everything that its primary's session gave it.
#[derive(Clone, Debug)]
pub struct ReplicatedStatement<'a> {
    /// Its text and its session's settings.
    pub query: &'a QueryEvent<'a>,
    /// The server that ran it: with the connection's id there ([`QueryEvent::connection_id`]) it tells whose temporary tables it sees.
    pub server_id: ServerId,
    /// The flags of its event.
    pub event_flags: EventFlags,
    /// When it began, in seconds since 1970.
    pub timestamp_seconds: u32,
    /// [`FormatDescription::tells_explicit_defaults`].
    pub tells_explicit_defaults: bool,
    /// `INSERT_ID` and `LAST_INSERT_ID`.
    pub intvars: &'a [(IntvarKind, u64)],
    /// The seeds of `RAND()`.
    pub rand: Option<RandEvent>,
    /// User variables that it reads.
    pub user_variables: &'a [UserVarEvent<'a>],
    /// Of LOAD DATA: what it reads.
    pub file: Option<LoadedFile<'a>>,
}

/// The file that LOAD DATA has read on the primary.
#[derive(Clone, Copy, Debug)]
pub struct LoadedFile<'a> {
    /// The statement: its text names the primary's file, and [`ExecuteLoadQueryEvent::text_with`] another one.
    pub event: &'a ExecuteLoadQueryEvent<'a>,
    /// The file's bytes, in order.
    pub blocks: &'a [&'a [u8]],
}

/// What events say of the statement behind them.
pub(super) struct StatementContext<'g> {
    tells_explicit_defaults: bool,
    pub(super) intvars: Vec<(IntvarKind, u64)>,
    pub(super) rand: Option<RandEvent>,
    pub(super) user_variables: Vec<UserVarEvent<'g>>,
}

impl<'g> StatementContext<'g> {
    /// Nothing is said yet, in events of that format.
    pub(super) fn new(format: &FormatDescription) -> Self {
        StatementContext {
            tells_explicit_defaults: format.tells_explicit_defaults(),
            intvars: vec![],
            rand: None,
            user_variables: vec![],
        }
    }

    /// The statement; its event has that header.
    pub(super) fn of<'a>(&'a self, query: &'a QueryEvent<'a>, header: &EventHeader) -> ReplicatedStatement<'a>
    where
        'g: 'a,
    {
        ReplicatedStatement {
            query,
            server_id: header.server_id,
            event_flags: header.flags,
            timestamp_seconds: header.timestamp,
            tells_explicit_defaults: self.tells_explicit_defaults,
            intvars: &self.intvars,
            rand: self.rand,
            user_variables: &self.user_variables,
            file: None,
        }
    }

    /// What was said was for a statement that is done.
    pub(super) fn clear(&mut self) {
        self.intvars.clear();
        self.rand = None;
        self.user_variables.clear();
    }
}

/// Runs the statements of one domain. Its functions block the thread, which is none of the runtime's.
pub trait StatementRunner: Send {
    /// A transaction begins, which is to be committed under this GTID, and for those. It began on the primary at that time, in seconds since 1970.
    fn begin(&mut self, gtid: GtidChoice, replication: Replication, timestamp_seconds: u32);

    /// Runs a statement. One that commits by itself (DDL) is committed when this returns; a CREATE TABLE … SELECT as
    /// [`make_table`](StatementRunner::make_table) tells.
    ///
    /// # Errors
    /// Whatever our SQL says against it. What it changed is undone.
    fn statement(&mut self, statement: &ReplicatedStatement<'_>) -> Result<(), Failure>;

    /// Makes a table whose rows follow in the same transaction (`CREATE TABLE … SELECT`). Nothing of it may be replicated twice: the table is made by a
    /// group that is in no GTID state and is sent to nobody, and the transaction carries the definition's text in front of the rows. Where the table is there
    /// already, and empty, a crash has come between the two.
    ///
    /// # Errors
    /// As [`StatementRunner::statement`].
    fn make_table(&mut self, statement: &ReplicatedStatement<'_>) -> Result<(), Failure>;

    /// The running transaction, for rows among its statements.
    ///
    /// # Errors
    /// If none can be begun.
    fn transaction(&mut self) -> Result<&mut Transaction, Failure>;

    /// Commits what is not committed yet, and waits until it is published. Even if there is nothing, the GTID is logged, unless a statement has done it
    /// already.
    ///
    /// # Errors
    /// If it cannot be committed.
    fn commit(&mut self) -> Result<(), Failure>;

    /// Undoes what is not committed, as the primary did: temporary tables that came and went stay as they are.
    fn rollback(&mut self);

    /// The transaction cannot be applied, and will come again: it has done nothing, neither to temporary tables. What has committed by itself stays.
    fn give_up(&mut self);
}

/// Makes a runner for each domain.
pub trait StatementRunners: Send + Sync {
    /// A runner, whose waits for locks end when `interrupt` is raised.
    fn runner(&self, interrupt: Interrupt) -> Box<dyn StatementRunner>;

    /// The connection's primary has started anew, and everything before that is applied: the temporary tables of its sessions go.
    fn primary_restarted(&self);
}
