//! The step between durable and published: the wait for replicas, where semi-sync asks for it.

use paceline_types::LogPosition;

/// Extent of newly durable log.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct DurableExtent {
    /// Position up to which the log is durable here.
    pub durable: LogPosition,
    /// End of the last new transaction that is sent to replicas. `None` if there is none: only events of the
    /// log itself or local transactions, for which no replica can be waited for.
    pub replicated: Option<LogPosition>,
    /// End of the last new transaction that was made here, for which a client waits. A transaction from a
    /// primary is safe there and waits for no replica: a replica that waited for replicas of its own would
    /// delay its primary's commits.
    pub own: Option<LogPosition>,
    /// Number of new transactions that were made here.
    pub transactions: u64,
}

/// Decides up to which position the log is acknowledged. It does not delay syncs: it is notified of the
/// durable position, and decides when that suffices.
pub trait Acknowledger: Send + Sync {
    /// Called when more of the log is durable here. Returns the position up to which it is acknowledged now;
    /// later acknowledgements are reported through [`crate::TransactionManager::acknowledge`]. The leader calls
    /// this in log order: it must not block. The new part of the log is sent to replicas when this has
    /// returned.
    fn on_durable(&self, made: DurableExtent) -> LogPosition;
}

/// Acknowledges everything that is durable, without waiting for replicas.
#[derive(Clone, Copy, Debug, Default)]
pub struct ImmediateAcknowledger;

impl Acknowledger for ImmediateAcknowledger {
    fn on_durable(&self, made: DurableExtent) -> LogPosition {
        made.durable
    }
}
