//! The stage between durable and published: waiting for replicas, where semi-sync asks for it.

use paceline_types::LogPosition;

/// Decides up to where the log is acknowledged. It stops no sync: it is told what is durable, and says when that is enough.
pub trait Acknowledger: Send + Sync {
    /// The log is durable here up to `durable`. Returns up to where it is acknowledged now; what is acknowledged later is told with
    /// [`crate::TransactionManager::acknowledge`]. Called in log order, by the leader: it must not block.
    fn made_durable(&self, durable: LogPosition) -> LogPosition;
}

/// No replica is waited for: durable is acknowledged.
#[derive(Clone, Copy, Debug, Default)]
pub struct AcknowledgeAtOnce;

impl Acknowledger for AcknowledgeAtOnce {
    fn made_durable(&self, durable: LogPosition) -> LogPosition {
        durable
    }
}
