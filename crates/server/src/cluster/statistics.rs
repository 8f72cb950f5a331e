//! Values of a member at one moment, for the status variables and metrics.

use super::{Cluster, GateState, WaitingCommits};
use paceline_cluster::RoleName;

/// The values. A server without a cluster has zeros.
#[derive(Clone, Copy, Debug, Default)]
pub struct ClusterStatistics {
    /// The promised epoch.
    pub epoch: u64,
    /// Whether this member is the primary and clients' changes are accepted.
    pub is_primary: bool,
    /// Log holders.
    pub holders: u64,
    /// Copies that a transaction needs.
    pub copies: u64,
    /// Commits that wait.
    pub waiting: WaitingCommits,
    /// Acknowledged end of the log, as far as known.
    pub acknowledged: u64,
    /// Durable end of the log.
    pub end: u64,
    /// Later epochs that were promised since the start of the process.
    pub epochs_promised: u64,
    /// Whether etcd answers.
    pub etcd_answers: bool,
    /// Rest of the time in which reads are new, in milliseconds.
    pub lease_ms: u64,
}

impl ClusterStatistics {
    /// Takes the values.
    pub fn of(cluster: &Cluster) -> Self {
        let handle = &cluster.membership.handle;
        let status = handle.status();
        let known = handle.etcd_state();
        let configuration = known.as_ref().map(|known| known.established_configuration());
        ClusterStatistics {
            epoch: status.epoch.map_or(0, |epoch| epoch.0),
            is_primary: status.role == RoleName::Primary && cluster.gate.state() == GateState::Open,
            holders: configuration.map_or(0, |configuration| configuration.holders().len() as u64),
            copies: configuration.map_or(0, |configuration| configuration.copies() as u64),
            waiting: cluster.held.waiting(),
            acknowledged: status.published.0,
            end: status.end.0,
            epochs_promised: cluster.epochs_promised(),
            etcd_answers: known.is_some() && !handle.is_etcd_away(),
            lease_ms: cluster.reads.remaining_ms(),
        }
    }
}
