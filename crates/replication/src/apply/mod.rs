//! In-order parallel apply: commits a primary's transactions with their GTIDs and in their order, many at a time.
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
//! A *round* is a run of a domain's transactions, in the primary's order, in which no two touch the same key
//! ([`keys`]). They can be prepared in any order, on any thread, and form one commit group. The first transaction that
//! shares a key with the round ends it.
//!
//! | First | Then | Otherwise |
//! |---|---|---|
//! | the round's tables are locked (metadata) | its keys are computed | the definition changes between plan and apply |
//! | all transactions that share a key with it are *placed* | a transaction is prepared | it reads an old row, or waits for a lock |
//! | round N is handed to the commit queue | round N+1 is handed over | the log is not in the primary's order |
//! | every transaction of a round is prepared | the round is handed over | a failure in its middle leaves a hole |
//! | all previous rounds are published | a statement runs (DDL, statement format) | it reads a state that the primary never had |
//!
//! A placed transaction is in the pending overlay and its locks are released. A transaction that waited for a lock of a
//! transaction that is not placed could wait forever, because that lock may be released only after its own turn.
//!
//! A dependent transaction is therefore in a later group, no two transactions with the same commit id touch the same
//! key, and no applied transaction waits for a row lock of another. While a round is synced and published the next one
//! is prepared; transactions of it that depend on nothing in progress are prepared even earlier.
//!
//! **Local transactions** give way: an applied transaction takes the lock of a local one that has not begun to commit.
//! The local transaction fails with 1213.
//!
//! **Failures.** A transaction that cannot be prepared is retried once, alone, when everything before it is published;
//! a temporary problem is then gone. If it fails again the connection stops: everything before it is committed, and it
//! and all later transactions leave nothing. After the cause is repaired, the receiver requests the transactions again,
//! from the position in the log.
//!
//! **Domains** have one lane each and do not wait for each other, if there are workers; else one lane keeps the
//! primary's order. There are at most [`LANES_MAX`] lanes. Further domains share one, which keeps more order than
//! needed.
//!
//! **Limits.** Received and not yet planned: `slave_parallel_max_queued` per worker; [`Applier::push`] waits while
//! there is more. Planned: the limits of [`round`], times the rounds in progress. A single transaction may be larger:
//! then it is alone.
//!
//! [`lanes`]: distribution to the lanes. [`lane`]: the thread of a domain. [`plan`]: tables and keys. [`round`]:
//! transactions that are committed together. [`worker`]: preparation. [`pipeline`]: handing over, in order.
//! [`statements`]: transactions that run through SQL. [`load_files`]: files of LOAD DATA. [`progress`], [`status`]: how
//! far the applier has come.

mod lane;
mod lanes;
mod load_files;
mod options;
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

pub use options::{ApplierOptions, ApplierParts, KeptPosition, LANES_MAX, ParallelMode, SharedRowOptions};
pub use shared::ApplierStopped;
pub use statements::{LoadedFile, ReplicatedStatement, StatementRunner, StatementRunners};
pub use status::{ApplierState, ApplierStatus, ApplyError, GroupCounts};

use crate::received::ReceivedItem;
use lanes::Lanes;
use std::sync::Arc;

/// Applier of one connection: from START SLAVE to STOP SLAVE, or to an error.
pub struct Applier {
    lanes: Arc<Lanes>,
}

impl Applier {
    /// Starts the threads.
    pub fn start(parts: ApplierParts) -> Self {
        Applier {
            lanes: Lanes::start(parts),
        }
    }

    /// Adds a received item, in the primary's order. Waits while too much is queued.
    ///
    /// # Errors
    /// [`ApplierStopped`] if an error has ended the applier or [`Applier::stop`] was called; see [`Applier::status`].
    pub async fn push(&self, received: ReceivedItem) -> Result<(), ApplierStopped> {
        self.lanes.push(received).await
    }

    /// Returns how far the applier has come.
    pub fn status(&self) -> ApplierStatus {
        self.lanes.shared.status()
    }

    /// Returns whether everything pushed is published, or the applier has ended.
    pub fn is_settled(&self) -> bool {
        self.lanes.is_settled()
    }

    /// Waits until everything pushed is published.
    ///
    /// # Errors
    /// [`ApplierStopped`] if the applier ends first.
    pub async fn until_idle(&self) -> Result<(), ApplierStopped> {
        self.lanes.shared.until_idle().await
    }

    /// Returns the number of items that were pushed, for [`Applier::until_done`].
    pub fn pushed_count(&self) -> u64 {
        self.lanes.shared.pushed_count()
    }

    /// Returns the number of items that are done and precede all unfinished ones.
    pub fn done_count(&self) -> u64 {
        self.lanes.shared.done_count()
    }

    /// Waits until the first `count` items are done.
    ///
    /// # Errors
    /// [`ApplierStopped`] if the applier ends first.
    pub async fn until_done(&self, count: u64) -> Result<(), ApplierStopped> {
        self.lanes.shared.until_done(count).await
    }

    /// Waits until an error has ended the applier.
    pub async fn failed(&self) {
        self.lanes.shared.failed().await;
    }

    /// Ends the applier after a whole transaction, without waiting for those that are only queued. In a cluster it does
    /// not wait until what it has logged is published, either: when this returns, nothing more of it reaches the log.
    pub async fn stop(&self) {
        self.lanes.stop().await;
    }
}

impl Drop for Applier {
    fn drop(&mut self) {
        self.lanes.request_stop();
    }
}
