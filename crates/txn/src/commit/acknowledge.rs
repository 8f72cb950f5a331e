//! The stage between durable and published: waiting for replicas, where semi-sync asks for it.

use paceline_types::LogPosition;

/// What has become durable.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct MadeDurable {
    /// The log is durable here up to there.
    pub durable: LogPosition,
    /// Where the last of the new transactions that replicas are sent ends. `None`: there is none, only events of the log itself or
    /// transactions that stay here, for which nobody can be waited.
    pub replicated: Option<LogPosition>,
    /// How many transactions that is.
    pub transactions: u64,
}

/// Decides up to where the log is acknowledged. It stops no sync: it is told what is durable, and says when that is enough.
pub trait Acknowledger: Send + Sync {
    /// More of the log is durable here. Returns up to where it is acknowledged now; what is acknowledged later is told with
    /// [`crate::TransactionManager::acknowledge`]. Called in log order, by the leader: it must not block. Replicas are sent what is new
    /// when it has returned.
    fn made_durable(&self, made: MadeDurable) -> LogPosition;
}

/// No replica is waited for: durable is acknowledged.
#[derive(Clone, Copy, Debug, Default)]
pub struct AcknowledgeAtOnce;

impl Acknowledger for AcknowledgeAtOnce {
    fn made_durable(&self, made: MadeDurable) -> LogPosition {
        made.durable
    }
}
