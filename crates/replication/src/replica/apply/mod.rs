//! In-order parallel apply: what a primary committed is committed here, under its GTIDs, in its order, many transactions at a time.
//!
//! ```text
//!   push ──▶ lane (a thread for each domain)
//!              plan: map tables ▸ touched keys ▸ add to the round, or begin the next one
//!              ┌──────────── round ────────────┐
//!              │ chunk   chunk   chunk   chunk │──▶ workers: rows into transactions of ours, side by side
//!              └───────────────────────────────┘
//!              rounds, in order ──▶ commit_batch ──▶ log stage ──placed──▶ publish stage ──published──▶ progress
//! ```
//!
//! ## The protocol
//!
//! A *round* is a run of a domain's transactions, in the primary's order, of which no two touch a key in common ([`keys`]). They can be prepared in any
//! order, on any thread, and make one commit group. The first transaction that shares a key with the round ends it.
//!
//! | First | Then | Otherwise |
//! |---|---|---|
//! | the round's tables are locked (metadata) | its keys are worked out | the definition changes between plan and apply |
//! | everything that a transaction shares a key with is *placed* (in the pending overlay, its locks free) | it is prepared | it reads the row before, or waits for a lock that is not given back before its own turn |
//! | round N is handed to the commit queue | round N+1 is | the log is not in the primary's order |
//! | every transaction of a round is prepared | the round is handed over | a failure in its midst leaves a hole |
//! | all rounds before are published | a statement runs (DDL, statement format) | it reads a state that the primary never had |
//!
//! So a dependent transaction lands in a later group, no two transactions of one commit id touch the same key, and nobody waits for a row lock of another applied
//! transaction. While a round is synced and published the next one is prepared; what of it depends on nothing that is under way is prepared even before.
//!
//! **Local transactions** give way: an applied transaction takes the lock of one that has not begun to commit, which gets 1213.
//!
//! **Failures.** A transaction that cannot be prepared is tried once more when everything before it is published, alone; what failed for a reason of the
//! moment succeeds then. If it fails again the connection stops: what is before is committed, it and what is behind leave nothing. After the cause is mended the
//! receiver asks its primary again, from where the log says.
//!
//! **Domains** have a lane each and wait for nothing of each other, if there are workers; else one lane keeps the primary's order. At most [`LANES_MAX`] lanes; domains beyond share one, which keeps more order than is
//! needed.
//!
//! **Limits.** Received and not yet planned: `slave_parallel_max_queued` for each worker; [`Applier::push`] waits while there is more. Planned: [`round`]'s limits,
//! times the rounds that are under way. One transaction may be larger: then it is alone.
//!
//! [`lanes`]: to which domain's. [`lane`]: the domain's thread. [`plan`]: tables and keys. [`round`]: transactions that go together. [`worker`]: preparing.
//! [`pipeline`]: handing over, in order. [`statements`]: what runs through SQL. [`load_files`]: what LOAD DATA reads. [`progress`], [`status`]: how far it has come.

mod lane;
mod lanes;
mod load_files;
mod pipeline;
mod plan;
mod progress;
mod queue;
mod round;
mod shared;
mod statement_errors;
mod statements;
mod status;
mod worker;

pub use shared::Stopped;
pub use statements::{LoadedFile, ReplicatedStatement, StatementRunner, StatementRunners};
pub use status::{ApplierState, ApplierStatus, ApplyError, GroupCounts};

use crate::replica::received::Received;
use lanes::Lanes;
use paceline_apply::replicated::{RowOptions, StatementCounts, TableFilter};
use paceline_sql::catalog::CatalogHandle;
use paceline_txn::TransactionManager;
use parking_lot::RwLock;
use std::sync::Arc;

/// The most lanes of one connection.
pub const LANES_MAX: usize = 64;

/// `slave_parallel_mode`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
pub enum ParallelMode {
    /// One transaction at a time is prepared; they still share syncs.
    None,
    /// What the primary committed together is prepared together (its commit ids).
    Conservative,
    /// What touches no key in common is prepared together.
    #[default]
    Optimistic,
}

/// What is logged of how far a connection has come.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
pub enum KeptPosition {
    /// The transactions' GTIDs: `MASTER_USE_GTID`.
    #[default]
    Gtid,
    /// Also the place in the primary's log, with every transaction: where a connection without GTIDs goes on.
    FileAndGtid,
}

/// How rows are applied. It may change while appliers run: they heed it with the next table map. `skipped_errors` stays as it was when they began.
#[derive(Debug, Default)]
pub struct SharedRowOptions(RwLock<Arc<RowOptions>>);

impl SharedRowOptions {
    /// Shares these.
    pub fn new(options: RowOptions) -> Self {
        SharedRowOptions(RwLock::new(Arc::new(options)))
    }

    /// What they are now.
    pub fn get(&self) -> Arc<RowOptions> {
        self.0.read().clone()
    }

    /// Replaces them.
    pub fn set(&self, options: RowOptions) {
        *self.0.write() = Arc::new(options);
    }
}

/// How a connection's transactions are applied.
#[derive(Clone, Debug)]
pub struct ApplierOptions {
    /// `slave_parallel_threads`: threads that prepare transactions; 0: one thread does it all, in the primary's order, whatever the domains.
    pub workers: usize,
    /// `slave_domain_parallel_threads`: how many of them one domain may have at a time; 0: all.
    pub domain_workers: usize,
    /// `slave_parallel_mode`.
    pub mode: ParallelMode,
    /// The most bytes that are received and not planned yet.
    pub queued_bytes_max: usize,
    /// What is kept of the position.
    pub position: KeptPosition,
    /// How rows are applied, as the variables say now.
    pub rows: Arc<SharedRowOptions>,
}

impl Default for ApplierOptions {
    fn default() -> Self {
        ApplierOptions {
            workers: 0,
            domain_workers: 0,
            mode: ParallelMode::default(),
            queued_bytes_max: 16 << 20,
            position: KeptPosition::default(),
            rows: Arc::default(),
        }
    }
}

/// What an applier works with.
pub struct ApplierParts {
    /// The connection's name, for messages; empty for the default one.
    pub connection: Arc<str>,
    /// Transactions, the log, the engines.
    pub manager: Arc<TransactionManager>,
    /// Databases and tables.
    pub catalog: Arc<CatalogHandle>,
    /// Which tables are replicated.
    pub filter: Arc<dyn TableFilter>,
    /// How.
    pub options: ApplierOptions,
    /// Makes sessions for statements.
    pub statements: Arc<dyn StatementRunners>,
    /// Counts what is applied as rows.
    pub statement_counts: Arc<StatementCounts>,
}

/// The applier of one connection: from START SLAVE to STOP SLAVE, or to an error.
pub struct Applier {
    lanes: Arc<Lanes>,
}

impl Applier {
    /// Begins to apply.
    pub fn start(parts: ApplierParts) -> Self {
        Applier {
            lanes: Lanes::start(parts),
        }
    }

    /// Takes what was received, in the primary's order. Waits while too much is queued.
    ///
    /// # Errors
    /// [`Stopped`]: an error has ended it, or [`Applier::stop`] was called; [`Applier::status`] tells.
    pub async fn push(&self, received: Received) -> Result<(), Stopped> {
        self.lanes.push(received).await
    }

    /// How far it has come.
    pub fn status(&self) -> ApplierStatus {
        self.lanes.shared.status()
    }

    /// Everything that was pushed is published, or it does nothing any more.
    pub fn is_settled(&self) -> bool {
        self.lanes.is_settled()
    }

    /// Ready when everything that was pushed is published.
    ///
    /// # Errors
    /// [`Stopped`].
    pub async fn until_idle(&self) -> Result<(), Stopped> {
        self.lanes.shared.until_idle().await
    }

    /// How many things were pushed, for [`Applier::until_done`].
    pub fn pushed_count(&self) -> u64 {
        self.lanes.shared.pushed_count()
    }

    /// How many of them are done with nothing undone before them.
    pub fn done_count(&self) -> u64 {
        self.lanes.shared.done_count()
    }

    /// Ready when that many of the things pushed are done.
    ///
    /// # Errors
    /// [`Stopped`].
    pub async fn until_done(&self, count: u64) -> Result<(), Stopped> {
        self.lanes.shared.until_done(count).await
    }

    /// Ready when an error has ended it.
    pub async fn failed(&self) {
        self.lanes.shared.failed().await;
    }

    /// Ends behind a whole transaction, without waiting for what is only queued.
    pub async fn stop(&self) {
        self.lanes.stop().await;
    }
}

impl Drop for Applier {
    fn drop(&mut self) {
        self.lanes.request_stop();
    }
}
