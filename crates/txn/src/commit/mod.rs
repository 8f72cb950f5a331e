//! The commit pipeline: from a session's finished transaction to one that every reader sees.
//!
//! ```text
//!  session      queue        log stage (one leader at a time)                      publish stage (in log order)
//!  encode ───▶ [ R R R ] ──▶ place · write · overlay · release locks · sync ──▶ [ group ] ──▶ engines · snapshot · forget · notify
//!                             written                        durable    acknowledged              published
//! ```
//!
//! While one group is synced the next one collects in the queue. It is written as soon as the sync is done,
//! while the group before it is published. The crate's README has the protocol, and what fails if its orderings
//! are broken.
//!
//! - [`queue`]: the queue and its leader.
//! - [`log_stage`]: places, writes and syncs a group.
//! - [`large`]: the differences for a transaction that has grown large.
//! - [`publish`]: makes groups visible, in order, and notifies their sessions.
//! - [`ticket`]: a session's wait.
//! - [`batch`]: submission and report of a replica's transactions, many at once.

pub(crate) mod acknowledge;
pub(crate) mod batch;
pub(crate) mod large;
pub(crate) mod log_stage;
pub(crate) mod publish;
pub(crate) mod queue;
pub(crate) mod ticket;

use crate::error::Result;
use crate::lock::metadata::TransactionMetadata;
use crate::lock::owner::LockOwner;
use crate::lock::{HeldLocks, LockManager, MetadataGuard};
use crate::session::Session;
use crate::transaction::{GtidChoice, Replication};
use batch::Batch;
use large::BuiltRows;
use paceline_binlog::EventGroupBuffer;
use paceline_storage::{BuildId, CompleteWriteSet, FrozenWriteSet, RowFiles};
use paceline_types::{Gtid, Version};
use std::sync::Arc;
use std::time::Instant;
use ticket::Ticket;

/// GTID and version of a placed transaction.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Committed {
    /// `None` for a transaction that is not replicated.
    pub(crate) gtid: Option<Gtid>,
    pub(crate) version: Version,
}

/// Metadata locks that a session keeps until its transaction is published. They travel through the pipeline, so
/// they are released even if the session is dropped meanwhile.
#[derive(Default)]
pub(crate) struct Kept {
    pub(crate) _metadata: TransactionMetadata,
    pub(crate) _guards: [Option<MetadataGuard>; 2],
    /// Locks that a whole batch shares.
    pub(crate) _shared: Option<Arc<Vec<MetadataGuard>>>,
}

impl Kept {
    pub(crate) fn of(guard: MetadataGuard) -> Self {
        Kept {
            _guards: [Some(guard), None],
            ..Kept::default()
        }
    }
}

/// Attachments of a transaction from the queue to its end. Boxed, as it is passed from stage to stage.
pub(crate) struct Escort {
    pub(crate) locks: TravellingLocks,
    pub(crate) on_publish: Option<OnPublish>,
    /// Builds that become visible with the transaction.
    pub(crate) builds: Vec<BuildId>,
    pub(crate) _kept: Kept,
    pub(crate) queued_at: Instant,
}

impl Escort {
    pub(crate) fn new(session: &Session, held: HeldLocks, kept: Kept) -> Box<Self> {
        Box::new(Escort {
            locks: TravellingLocks {
                manager: session.locks.clone(),
                owner: session.owner.clone(),
                held,
            },
            on_publish: None,
            builds: Vec::new(),
            _kept: kept,
            queued_at: Instant::now(),
        })
    }
}

/// Result that a session receives.
pub(crate) struct Outcome {
    pub(crate) result: Result<Committed>,
    /// Dropped by the session, or with the ticket.
    pub(crate) _escort: Option<Box<Escort>>,
}

/// Receiver of a transaction's result.
#[derive(Clone)]
pub(crate) enum Reply {
    /// The session that waits for the transaction.
    Session(Arc<Ticket<Outcome>>),
    /// The batch that the transaction is part of.
    Batch(Arc<Batch>),
}

impl Reply {
    /// Reports that the transaction is placed and its locks are free.
    pub(crate) fn placed(&self) {
        match self {
            Reply::Session(_) => {}
            Reply::Batch(batch) => batch.placed(),
        }
    }

    pub(crate) fn done(&self, outcome: Outcome) {
        match self {
            Reply::Session(ticket) => ticket.done(outcome),
            Reply::Batch(batch) => batch.done(outcome),
        }
    }

    /// Asks the session to lead the next group. Returns false if there is no session: the caller must lead.
    pub(crate) fn offer_leadership(&self) -> bool {
        match self {
            Reply::Session(ticket) => ticket.offer_leadership(),
            Reply::Batch(_) => false,
        }
    }
}

/// Row locks that travel with a commit until they are released.
pub(crate) struct TravellingLocks {
    pub(crate) manager: Arc<LockManager>,
    pub(crate) owner: Arc<LockOwner>,
    pub(crate) held: HeldLocks,
}

impl TravellingLocks {
    pub(crate) fn release(&mut self) {
        self.manager.release(&self.owner, &mut self.held);
    }
}

impl Drop for TravellingLocks {
    fn drop(&mut self) {
        self.release();
    }
}

/// Called with a transaction's version when it is in the engines, before any reader can see it.
pub type OnPublish = Box<dyn FnOnce(Version) + Send>;

/// Rows that a transaction writes.
pub(crate) enum Rows {
    InMemory(CompleteWriteSet),
    /// In table files as well as in memory.
    Built(Box<BuiltRows>),
}

impl Rows {
    /// Assigns the transaction's version. Returns its rows, and its table files if there are any.
    pub(crate) fn place(self, version: Version) -> (Arc<FrozenWriteSet>, Option<RowFiles>) {
        match self {
            Rows::InMemory(writes) => (writes.placed_at(version), None),
            Rows::Built(built) => (Arc::new(built.set.placed_at(version)), Some(built.files)),
        }
    }
}

/// How a transaction releases its row locks and reports its end.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Ending {
    /// The log stage releases the locks (the publish stage, if they are not released early), and the
    /// publisher's thread notifies the waiters.
    AtOnce,
    /// Both are done in a separate thread once the transaction is published: no other commit waits while
    /// thousands of locks are released.
    Aside,
}

impl Ending {
    /// Number of keys from which on a thread costs less than it saves on the commit path: releasing a lock
    /// takes 0.2 to 1 µs.
    const ASIDE_FROM: usize = 4096;

    pub(crate) fn of(writes: &FrozenWriteSet) -> Self {
        match writes.len() < Self::ASIDE_FROM {
            true => Ending::AtOnce,
            false => Ending::Aside,
        }
    }
}

/// Transaction in the queue.
pub(crate) struct CommitRequest {
    pub(crate) events: EventGroupBuffer,
    pub(crate) rows: Rows,
    pub(crate) gtid: GtidChoice,
    pub(crate) replication: Replication,
    pub(crate) reply: Reply,
    pub(crate) escort: Box<Escort>,
}

impl CommitRequest {
    /// Ends the request without a log position.
    pub(crate) fn fail(self, error: crate::Error) {
        let CommitRequest {
            reply, mut escort, ..
        } = self;
        escort.locks.release();
        reply.placed();
        reply.done(Outcome {
            result: Err(error),
            _escort: Some(escort),
        });
    }
}

/// Transaction that has its position in the log.
pub(crate) struct PlacedTransaction {
    pub(crate) committed: Committed,
    /// Whether it came from a primary.
    pub(crate) is_replicated: bool,
    pub(crate) writes: Arc<FrozenWriteSet>,
    /// Table files with the rows of `writes`, for a large transaction.
    pub(crate) built: Option<RowFiles>,
    pub(crate) reply: Reply,
    pub(crate) escort: Box<Escort>,
    pub(crate) ending: Ending,
}

impl PlacedTransaction {
    pub(crate) fn tell(self, result: Result<Committed>) {
        if self.ending == Ending::Aside {
            return self.tell_aside(result);
        }
        let PlacedTransaction {
            reply, mut escort, ..
        } = self;
        escort.locks.release();
        reply.done(Outcome {
            result,
            _escort: Some(escort),
        });
    }
}

#[cfg(test)]
mod tests;
