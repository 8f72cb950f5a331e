//! The primary's side of replication: events to replicas, and acknowledgements from them.
//!
//! ```text
//!   session ── user variables, COM_REGISTER_SLAVE, COM_BINLOG_DUMP ──▶ DumpRequest
//!                                                                         │ start: the position, or a refusal
//!                                                                         ▼
//!   Log ──▶ SharedLog ──chunks──▶ Stream: filter ─▶ compatible, made_up ─▶ socket
//!            (read once)             ▲                                       │
//!                                    └── acknowledgements ──▶ SemiSync ◀─────┘
//! ```
//!
//! - [`request`]: a replica's request. [`refusal`]: the reason for which a request is refused.
//! - `start`: finds the position for a GTID position, or for a file and offset. `filter`: selects the events.
//! - `made_up`, `compatible`: artificial events, and replacements of events that a server does not know.
//! - [`served`](ServedLog): the served log, independent of its writer.
//! - `shared_log`: reading of the log by many streams. [`stream`]: one replica's stream.
//! - [`semi_sync`]: transactions that wait for replicas. [`replica_registry`]: the connected replicas.
//!
//! Everything that a replica can observe is as in MariaDB 10.11 (sql/sql_repl.cc): the order of events, the artificial
//! events, and the numbers and texts of errors.
//!
//! Orderings that must hold:
//!
//! | First | Then | Otherwise |
//! |---|---|---|
//! | a group is durable | it is sent | a replica has transactions that the primary loses in a crash |
//! | semi-sync knows a group | it is sent | its acknowledgement arrives before the wait begins, and is missed |
//! | the lease is taken | the position is searched | the file is purged in between |

pub mod refusal;
pub mod replica_registry;
pub mod request;
pub mod semi_sync;
pub mod stream;

mod artificial_event;
mod compatible;
mod filter;
mod served;
mod shared_log;
mod start;

pub use refusal::Refusal;
pub use replica_registry::{Registration, ReplicaRegistry, StreamStatus};
pub use request::{DumpRequest, MarkedEvents, RegistrationState};
pub use semi_sync::{
    Fallback, SemiSync, SemiSyncAcknowledger, SemiSyncMode, SemiSyncSettings, TooFewReplicas,
};
pub use served::ServedLog;
pub use stream::{Host, Link, StreamEnd};

use paceline_txn::{SendLimit, TransactionManager};
use paceline_types::LogPosition;
use shared_log::SharedLog;
use std::sync::{Arc, OnceLock};

/// State shared by all streams of a server.
pub struct Primary {
    served: ServedLog,
    shared: SharedLog,
    replicas: Arc<ReplicaRegistry>,
    semi_sync: Arc<SemiSync>,
    /// In a cluster: how far the log is acknowledged.
    acknowledged: OnceLock<Arc<SendLimit>>,
}

impl std::fmt::Debug for Primary {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Primary")
            .field("replicas", &self.replicas)
            .field("semi_sync", &self.semi_sync)
            .finish_non_exhaustive()
    }
}

impl Primary {
    /// Serves the log of this manager. `semi_sync` belongs to its acknowledger.
    pub fn new(transactions: Arc<TransactionManager>, semi_sync: Arc<SemiSync>) -> Self {
        semi_sync.connect(&transactions);
        Self::of_log(ServedLog::of_manager(&transactions), semi_sync)
    }

    /// Serves a log without local commits: replicas are not asked to acknowledge.
    pub fn of_archive(served: ServedLog) -> Self {
        Self::of_log(served, SemiSync::new())
    }

    fn of_log(served: ServedLog, semi_sync: Arc<SemiSync>) -> Self {
        Primary {
            shared: SharedLog::new(served.log.clone()),
            served,
            replicas: Arc::default(),
            semi_sync,
            acknowledged: OnceLock::new(),
        }
    }

    /// Sends to readers that are no members of the cluster only what the cluster has acknowledged: what is cut off
    /// after a change of the primary, they must never have had.
    pub fn limit_outsiders(&self, acknowledged: Arc<SendLimit>) {
        let _ = self.acknowledged.set(acknowledged);
    }

    /// Returns how far the log may be sent to a reader.
    fn limit_of(&self, request: &DumpRequest) -> Arc<SendLimit> {
        match (request.member, self.acknowledged.get()) {
            (None, Some(acknowledged)) => acknowledged.clone(),
            _ => self.served.sendable.clone(),
        }
    }

    /// Returns the registry of the connected replicas.
    pub fn replicas(&self) -> &ReplicaRegistry {
        &self.replicas
    }

    /// Returns the state of semi-synchronous replication.
    pub fn semi_sync(&self) -> &Arc<SemiSync> {
        &self.semi_sync
    }

    /// Returns the length field of an event at this position, whether or not an event starts there.
    fn length_at(&self, position: LogPosition) -> Option<u32> {
        self.shared.log().peek_length(position)
    }
}
