//! Hand-over of a primary that is about to stop.
//!
//! A primary that simply stops is replaced when the others notice its closed connections; until another has opened,
//! nobody can write. A planned switch costs a part of a second. So a primary that is told to stop (SIGTERM, SHUTDOWN)
//! hands over first, to the best server that is near enough to take over at once, and stops when it follows that server
//! or when the switch has failed.
//!
//! It does so while elections are paused, too: nobody would replace it then, not even itself after a restart.

use super::Cluster;
use paceline_cluster::{EtcdState, HolderKind, MemberId, RoleName};
use paceline_cluster_host::report::MemberReport;
use std::cmp::Reverse;

/// Longest time since a message of a server that can take over, in milliseconds.
const SILENT_MS_MAX: u64 = 1000;
/// Longest distance of a server that can take over, in milliseconds. Commits wait until it has caught up.
const LAG_MS_MAX: u64 = 1000;

/// Makes another server the primary if this one is, and logs the outcome.
pub async fn hand_over(cluster: &Cluster) {
    let handle = &cluster.membership.handle;
    let status = handle.status();
    if status.role != RoleName::Primary || status.waits.is_some() {
        return;
    }
    let Some(known) = handle.etcd_state() else {
        return;
    };
    let Some(target) = best_target(&known, &handle.report()) else {
        tracing::warn!("cluster: this primary stops without a successor: no other server has its whole log");
        return;
    };
    let name = cluster.name_of(target);
    tracing::info!("cluster: {name} becomes the primary before this server stops");
    match handle.switch(target).await {
        Ok(()) => tracing::info!("cluster: handed over to {name}"),
        Err(failure) => tracing::warn!("cluster: {name} was not made the primary: {failure}"),
    }
}

/// Returns the server that can take over at once: the first in [`EtcdState::primary_order`], but of those that differ
/// only by their numbers the one with the longest log.
fn best_target(known: &EtcdState, own: &MemberReport) -> Option<MemberId> {
    let servers = known.established_configuration().holders().iter();
    let servers = servers.filter(|holder| holder.kind == HolderKind::Server && holder.id.0 != own.id);
    let near = servers.filter_map(|holder| {
        let peer = own.peer(holder.id)?;
        let is_near = peer.silent_ms <= SILENT_MS_MAX && peer.lag_ms.is_some_and(|lag| lag <= LAG_MS_MAX);
        let (format, priority, id) = known.primary_order(holder);
        is_near.then_some((format, priority, Reverse(peer.log_index), id))
    });
    near.min().map(|(_, _, _, id)| id)
}

#[cfg(test)]
mod tests {
    use super::*;
    use paceline_cluster::{
        Claimer, Configuration, Elections, Epoch, EpochRecord, Holder, ListedMember, Origin, Progress,
    };
    use paceline_cluster_host::report::PeerReport;

    #[test]
    fn the_best_server_that_is_near_takes_over() {
        let holder = |id, kind, priority| Holder {
            id: MemberId(id),
            kind,
            zone: 0,
            priority,
        };
        let server = HolderKind::Server;
        let holders = vec![
            holder(1, server, 9),
            holder(2, server, 1),
            holder(3, server, 1),
            holder(4, HolderKind::Archive, 5),
            holder(5, server, 7),
        ];
        let configuration = Configuration::new(holders, 3, 1).unwrap();
        let mut known = EtcdState {
            records: vec![EpochRecord {
                epoch: Epoch(1),
                primary: MemberId(1),
                configuration,
                origin: Origin::Regular,
                progress: Progress::Opened,
            }],
            claimer: Claimer::Gone,
            wanted: None,
            elections: Elections::Active,
            members: Vec::new(),
        };
        let peer = |id, log_index, lag_ms, silent_ms| PeerReport {
            id,
            log_index: Some(log_index),
            lag_ms,
            silent_ms,
            ..PeerReport::default()
        };
        let report = |peers| MemberReport {
            id: 1,
            peers,
            ..MemberReport::default()
        };
        let best = |known: &EtcdState, peers| best_target(known, &report(peers)).map(|id| id.0);
        let (second, third) = (peer(2, 10, Some(0), 20), peer(3, 12, Some(0), 20));
        let archive = peer(4, 12, Some(0), 20);
        assert_eq!(best(&known, vec![]), None);
        assert_eq!(best(&known, vec![archive.clone()]), None);
        assert_eq!(
            best(&known, vec![second.clone(), third.clone(), archive]),
            Some(3)
        );
        assert_eq!(
            best(
                &known,
                vec![second.clone(), third.clone(), peer(5, 11, Some(300), 20)]
            ),
            Some(5)
        );
        assert_eq!(
            best(
                &known,
                vec![second.clone(), third.clone(), peer(5, 11, Some(3000), 20)]
            ),
            Some(3),
            "behind"
        );
        assert_eq!(
            best(&known, vec![second.clone(), peer(5, 11, None, 20)]),
            Some(2),
            "unknown"
        );
        let silent = vec![second.clone(), peer(5, 12, Some(0), 5000)];
        assert_eq!(best(&known, silent), Some(2), "silent");
        known.members = [(2, 1), (3, 1), (5, 2)]
            .map(|(id, log_format)| ListedMember {
                id: MemberId(id),
                log_format,
            })
            .to_vec();
        let upgraded = vec![second, third, peer(5, 12, Some(0), 20)];
        assert_eq!(best(&known, upgraded), Some(3), "others do not read its log");
    }
}
