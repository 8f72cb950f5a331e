//! The primary's side: what a replica is sent, and what it acknowledges.
//!
//! ```text
//!   session ── user variables, COM_REGISTER_SLAVE, COM_BINLOG_DUMP ──▶ DumpRequest
//!                                                                         │ start: where, or why not
//!                                                                         ▼
//!   Log ──▶ SharedLog ──chunks──▶ Stream: filter ─▶ compatible, made up ─▶ socket
//!            (read once)             ▲                                       │
//!                                    └── acknowledgements ──▶ SemiSync ◀─────┘
//! ```
//!
//! - [`request`]: what a replica asks for. [`refusal`]: what it is told if it does not get it.
//! - `start`: GTID position or file and offset become a place in the log. `filter`: what of the log it gets.
//! - `made_up`, `compatible`: events that stand in no file, and events for servers that do not know ours.
//! - [`served`](ServedLog): the log that is served, whoever writes it.
//! - `shared_log`: the log as many streams read it. [`stream`]: one replica's stream.
//! - [`semi_sync`]: transactions that wait for replicas. [`replicas`]: who is there.
//!
//! What a replica can see of all this is what MariaDB 10.11 does (sql/sql_repl.cc): the order of events, which are made up, the numbers
//! and texts of errors.
//!
//! Orderings that must hold:
//!
//! | First | Then | Otherwise |
//! |---|---|---|
//! | a group is durable | it is sent | a replica has what a crash of the primary takes back |
//! | semi-sync has been told of a group | it is sent | an acknowledgement comes before the wait for it, and is missed |
//! | the lease is taken | the place is looked up | the file is purged between the two |

pub mod refusal;
pub mod replicas;
pub mod request;
pub mod semi_sync;
pub mod stream;

mod compatible;
mod filter;
mod made_up;
mod served;
mod shared_log;
mod start;

pub use refusal::Refusal;
pub use replicas::{Registration, Replicas};
pub use request::{DumpRequest, MarkedForSkip, Registered};
pub use semi_sync::{SemiSync, SemiSyncAcknowledger, SemiSyncMode, SemiSyncSettings, TooFewReplicas};
pub use served::ServedLog;
pub use stream::{Ended, Host, Link};

use paceline_txn::TransactionManager;
use paceline_types::LogPosition;
use shared_log::SharedLog;
use std::sync::Arc;

/// What all streams of a server share.
pub struct Primary {
    served: ServedLog,
    shared: SharedLog,
    replicas: Arc<Replicas>,
    semi_sync: Arc<SemiSync>,
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
    /// Serves the log of this manager, whose acknowledger is the other end of `semi_sync`.
    pub fn new(transactions: Arc<TransactionManager>, semi_sync: Arc<SemiSync>) -> Self {
        semi_sync.connect(&transactions);
        Self::of_log(ServedLog::of_manager(&transactions), semi_sync)
    }

    /// Serves a log that nobody's commits wait for: nothing asks replicas to acknowledge.
    pub fn of_archive(served: ServedLog) -> Self {
        Self::of_log(served, SemiSync::new())
    }

    fn of_log(served: ServedLog, semi_sync: Arc<SemiSync>) -> Self {
        Primary {
            shared: SharedLog::new(served.log.clone()),
            served,
            replicas: Arc::default(),
            semi_sync,
        }
    }

    /// Who replicates from this server.
    pub fn replicas(&self) -> &Replicas {
        &self.replicas
    }

    /// Semi-synchronous replication.
    pub fn semi_sync(&self) -> &Arc<SemiSync> {
        &self.semi_sync
    }

    /// What would be an event's length if one started there.
    fn length_at(&self, position: LogPosition) -> Option<u32> {
        self.shared.log().peek_length(position)
    }
}
