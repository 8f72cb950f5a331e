//! The served log as streams see it, independent of its writer: a server's transactions, or an archive.

use paceline_binlog::log::Log;
use paceline_txn::{LeaseRegistry, LogLease, SendLimit, TransactionManager};
use paceline_types::LogPosition;
use std::fmt;
use std::sync::Arc;

/// A log that is served to replicas.
#[derive(Clone)]
pub struct ServedLog {
    /// The log.
    pub log: Log,
    /// Position up to which it may be sent: never beyond the durable position.
    pub sendable: Arc<SendLimit>,
    /// Leases of the readers.
    pub leases: LeaseRegistry,
}

impl ServedLog {
    /// Returns the log of a transaction manager.
    pub fn of_manager(transactions: &TransactionManager) -> Self {
        ServedLog {
            log: transactions.log().clone(),
            sendable: transactions.sendable_handle(),
            leases: transactions.leases(),
        }
    }

    pub(super) fn sendable(&self) -> LogPosition {
        self.sendable.position()
    }

    pub(super) fn lease(&self, position: LogPosition, holder: String) -> LogLease {
        self.leases.take(position, holder)
    }
}

impl fmt::Debug for ServedLog {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("ServedLog")
            .field("sendable", &self.sendable)
            .finish_non_exhaustive()
    }
}
