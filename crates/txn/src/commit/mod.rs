//! The commit pipeline: from a session's finished transaction to one that everyone sees.
//!
//! ```text
//!  session      queue        log stage (one leader at a time)                      publish stage (in log order)
//!  encode ───▶ [ R R R ] ──▶ place · write · overlay · release locks · sync ──▶ [ group ] ──▶ engines · snapshot · forget · tell
//!                             written                        durable    acknowledged              published
//! ```
//!
//! While one group is synced the next one queues; it is written as soon as the sync is done, while the group before it is
//! published. The README beside this file has the protocol and what goes wrong if its orderings are broken.
//!
//! - [`queue`]: the queue, and who leads.
//! - [`log_stage`]: places, writes and syncs a group.
//! - [`large`]: what is different for a transaction that has become large.
//! - [`publish`]: makes groups visible, in order, and tells their sessions.
//! - [`ticket`]: how a session waits.
//! - [`batch`]: how a replica's transactions are submitted and told, many at once.

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
use ticket::{Ticket, Work};

/// The place that a transaction got.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Committed {
    /// `None` for what is not replicated.
    pub(crate) gtid: Option<Gtid>,
    pub(crate) version: Version,
}

/// What a session keeps locked until its transaction is published. Travels through the pipeline, so that it is given back even if
/// the session goes away meanwhile.
#[derive(Default)]
pub(crate) struct Kept {
    pub(crate) _metadata: TransactionMetadata,
    pub(crate) _guards: [Option<MetadataGuard>; 2],
    /// Those that a whole batch shares.
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

/// What goes with a transaction from the queue to its end. Boxed, as it is handed from stage to stage.
pub(crate) struct Escort {
    pub(crate) locks: TravellingLocks,
    pub(crate) on_publish: Option<OnPublish>,
    /// What was built aside and becomes visible with it.
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

/// What a session gets back.
pub(crate) struct Outcome {
    pub(crate) result: Result<Committed>,
    /// Dropped by the session, or with the ticket.
    pub(crate) _escort: Option<Box<Escort>>,
}

/// Who is told what becomes of a transaction.
#[derive(Clone)]
pub(crate) enum Reply {
    /// The session that waits for it.
    Session(Arc<Ticket<Outcome>>),
    /// The batch that it is part of.
    Batch(Arc<Batch>),
}

impl Reply {
    /// It has its place, and its locks are free.
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

    /// Asks the session to do its part; false if there is none, and somebody else must.
    pub(crate) fn your_turn(&self, work: Work) -> bool {
        match self {
            Reply::Session(ticket) => ticket.your_turn(work),
            Reply::Batch(_) => false,
        }
    }
}

/// Row locks on their way to be released.
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

/// Called when a transaction is published, with its version, before anybody can see it.
pub type OnPublish = Box<dyn FnOnce(Version) + Send>;

/// What a transaction writes.
pub(crate) enum Rows {
    InMemory(CompleteWriteSet),
    /// In table files too.
    Built(Box<BuiltRows>),
}

impl Rows {
    /// With the transaction's version; and the table files, if there are any.
    pub(crate) fn place(self, version: Version) -> (Arc<FrozenWriteSet>, Option<RowFiles>) {
        match self {
            Rows::InMemory(writes) => (writes.placed_at(version), None),
            Rows::Built(built) => (Arc::new(built.set.placed_at(version)), Some(built.files)),
        }
    }
}

/// How a transaction ends.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Ending {
    /// Its row locks are released by the log stage, and who waits for it is told by the publisher's thread.
    AtOnce,
    /// Both, once it is published, in a thread of its own: nobody else's commit waits while thousands of locks are released.
    Aside,
}

impl Ending {
    /// From so many keys on, a thread costs less than what it takes off the commit path: a lock's release takes 0.2 to 1 µs.
    const ASIDE_FROM: usize = 4096;

    pub(crate) fn of(writes: &FrozenWriteSet) -> Self {
        match writes.len() < Self::ASIDE_FROM {
            true => Ending::AtOnce,
            false => Ending::Aside,
        }
    }
}

/// A transaction in the queue.
pub(crate) struct CommitRequest {
    pub(crate) events: EventGroupBuffer,
    pub(crate) rows: Rows,
    pub(crate) gtid: GtidChoice,
    pub(crate) replication: Replication,
    pub(crate) reply: Reply,
    pub(crate) escort: Box<Escort>,
}

impl CommitRequest {
    /// Ends it without a place in the log.
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

/// A transaction that has its place in the log.
pub(crate) struct PlacedTransaction {
    pub(crate) committed: Committed,
    /// It came from a primary.
    pub(crate) is_replicated: bool,
    pub(crate) writes: Arc<FrozenWriteSet>,
    /// Table files with the rows of `writes`, for a large one.
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
