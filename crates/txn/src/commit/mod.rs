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
//! - [`epoch_start`]: the start of an epoch, which takes no part in the queue.
//! - [`ticket`]: a session's wait.
//! - [`batch`]: submission and report of a replica's transactions, many at once.
//! - [`core`]: the state that they share. [`background`]: threads for checkpoints and for deferred syncs.
//! - [`published_position`]: GTID positions as far as they are published, and the waits for them.

pub(crate) mod acknowledge;
pub(crate) mod background;
pub(crate) mod batch;
pub(crate) mod core;
pub(crate) mod epoch_start;
pub(crate) mod large;
pub(crate) mod log_stage;
pub(crate) mod marks;
pub(crate) mod publish;
pub(crate) mod published_position;
pub(crate) mod queue;
pub(crate) mod ticket;

use crate::error::Result;
use crate::lock::metadata::TransactionMetadataLocks;
use crate::lock::owner::LockOwner;
use crate::lock::{HeldLocks, LockManager, MetadataGuard};
use crate::options::{GtidChoice, Replication};
use crate::session::Session;
use batch::Batch;
use large::BuiltRows;
use paceline_binlog::EventGroupBuffer;
use paceline_storage::{BuildId, FrozenWriteSet, RowFiles, SealedWriteSet};
use paceline_types::{Gtid, Version};
use std::sync::Arc;
use std::time::Instant;
use ticket::Ticket;

/// GTID and version of a placed transaction.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct CommitPlace {
    /// `None` for a transaction that is not replicated.
    pub(crate) gtid: Option<Gtid>,
    pub(crate) version: Version,
}

/// Metadata locks that a session keeps until its transaction is published. They travel through the pipeline, so
/// they are released even if the session is dropped meanwhile.
#[derive(Default)]
pub(crate) struct RetainedMetadataLocks {
    pub(crate) _metadata: TransactionMetadataLocks,
    pub(crate) _guards: [Option<MetadataGuard>; 2],
    /// Locks that a whole batch shares.
    pub(crate) _shared: Option<Arc<Vec<MetadataGuard>>>,
}

impl RetainedMetadataLocks {
    pub(crate) fn of(guard: MetadataGuard) -> Self {
        RetainedMetadataLocks {
            _guards: [Some(guard), None],
            ..RetainedMetadataLocks::default()
        }
    }
}

/// Attachments of a transaction from the queue to its end. Boxed, as it is passed from stage to stage.
pub(crate) struct CommitAttachments {
    pub(crate) locks: TransferredLocks,
    pub(crate) on_publish: Option<OnPublish>,
    /// Builds that become visible with the transaction.
    pub(crate) builds: Vec<BuildId>,
    pub(crate) _retained: RetainedMetadataLocks,
    pub(crate) queued_at: Instant,
}

impl CommitAttachments {
    pub(crate) fn new(session: &Session, held: HeldLocks, kept: RetainedMetadataLocks) -> Box<Self> {
        Box::new(CommitAttachments {
            locks: TransferredLocks {
                manager: session.locks.clone(),
                owner: session.owner.clone(),
                held,
            },
            on_publish: None,
            builds: Vec::new(),
            _retained: kept,
            queued_at: Instant::now(),
        })
    }
}

/// Result that a session receives.
pub(crate) struct Outcome {
    pub(crate) result: Result<CommitPlace>,
    /// Dropped by the session, or with the ticket.
    pub(crate) _attachments: Option<Box<CommitAttachments>>,
}

/// Receiver of a transaction's result.
#[derive(Clone)]
pub(crate) enum ResultReceiver {
    /// The session that waits for the transaction.
    Session(Arc<Ticket<Outcome>>),
    /// The batch that the transaction is part of.
    Batch(Arc<Batch>),
}

impl ResultReceiver {
    /// Reports that the transaction is placed and its locks are free.
    pub(crate) fn report_placed(&self) {
        match self {
            ResultReceiver::Session(_) => {}
            ResultReceiver::Batch(batch) => batch.report_placed(),
        }
    }

    pub(crate) fn deliver(&self, outcome: Outcome) {
        match self {
            ResultReceiver::Session(ticket) => ticket.deliver(outcome),
            ResultReceiver::Batch(batch) => batch.deliver(outcome),
        }
    }

    /// Asks the session to lead the next group. Returns false if there is no session: the caller must lead.
    pub(crate) fn offer_leadership(&self) -> bool {
        match self {
            ResultReceiver::Session(ticket) => ticket.offer_leadership(),
            ResultReceiver::Batch(_) => false,
        }
    }
}

/// Row locks that travel with a commit until they are released.
pub(crate) struct TransferredLocks {
    pub(crate) manager: Arc<LockManager>,
    pub(crate) owner: Arc<LockOwner>,
    pub(crate) held: HeldLocks,
}

impl TransferredLocks {
    pub(crate) fn release(&mut self) {
        self.manager.release(&self.owner, &mut self.held);
    }
}

impl Drop for TransferredLocks {
    fn drop(&mut self) {
        self.release();
    }
}

/// Called with a transaction's version when it is in the engines, before any reader can see it.
pub type OnPublish = Box<dyn FnOnce(Version) + Send>;

/// Rows that a transaction writes.
pub(crate) enum CommitRows {
    InMemory(SealedWriteSet),
    /// In table files as well as in memory.
    Built(Box<BuiltRows>),
}

impl CommitRows {
    /// Assigns the transaction's version. Returns its rows, and its table files if there are any.
    pub(crate) fn place(self, version: Version) -> (Arc<FrozenWriteSet>, Option<RowFiles>) {
        match self {
            CommitRows::InMemory(writes) => (writes.placed_at(version), None),
            CommitRows::Built(built) => (Arc::new(built.set.placed_at(version)), Some(built.files)),
        }
    }
}

/// How a transaction releases its row locks and reports its end.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Completion {
    /// The log stage releases the locks (the publish stage, if they are not released early), and the
    /// publisher's thread notifies the waiters.
    Inline,
    /// Both are done in a separate thread once the transaction is published: no other commit waits while
    /// thousands of locks are released.
    OwnThread,
}

impl Completion {
    /// Number of keys from which on a thread costs less than it saves on the commit path: releasing a lock
    /// takes 0.2 to 1 µs.
    const OWN_THREAD_MIN_KEYS: usize = 4096;

    pub(crate) fn of(writes: &FrozenWriteSet) -> Self {
        match writes.len() < Self::OWN_THREAD_MIN_KEYS {
            true => Completion::Inline,
            false => Completion::OwnThread,
        }
    }
}

/// Transaction in the queue.
pub(crate) struct CommitRequest {
    pub(crate) events: EventGroupBuffer,
    pub(crate) rows: CommitRows,
    pub(crate) gtid: GtidChoice,
    pub(crate) replication: Replication,
    pub(crate) receiver: ResultReceiver,
    pub(crate) attachments: Box<CommitAttachments>,
}

impl CommitRequest {
    /// Ends the request without a log position.
    pub(crate) fn fail(self, error: crate::Error) {
        let CommitRequest {
            receiver,
            mut attachments,
            ..
        } = self;
        attachments.locks.release();
        receiver.report_placed();
        receiver.deliver(Outcome {
            result: Err(error),
            _attachments: Some(attachments),
        });
    }
}

/// Transaction that has its position in the log.
pub(crate) struct PlacedTransaction {
    pub(crate) committed: CommitPlace,
    /// Whether it came from a primary.
    pub(crate) is_replicated: bool,
    pub(crate) writes: Arc<FrozenWriteSet>,
    /// Table files with the rows of `writes`, for a large transaction.
    pub(crate) built: Option<RowFiles>,
    pub(crate) receiver: ResultReceiver,
    pub(crate) attachments: Box<CommitAttachments>,
    pub(crate) completion: Completion,
}

impl PlacedTransaction {
    pub(crate) fn report(self, result: Result<CommitPlace>) {
        if self.completion == Completion::OwnThread {
            return self.report_in_thread(result);
        }
        let PlacedTransaction {
            receiver,
            mut attachments,
            ..
        } = self;
        attachments.locks.release();
        receiver.deliver(Outcome {
            result,
            _attachments: Some(attachments),
        });
    }
}

#[cfg(test)]
mod tests;
