//! Hosts with a log in memory, and what tests of several members share.
#![allow(dead_code)]

pub mod etcd_server;
pub mod memory_host;

use paceline_cluster::MemberId;
use paceline_cluster_host::{ClusterHandle, KindText, MemberEntry};
use std::time::Duration;
use tokio::time::timeout;

/// Time after which a condition that does not come is a failure.
pub const PATIENCE: Duration = Duration::from_secs(30);

/// Waits until the member's status satisfies the condition.
pub async fn until_status(
    handle: &ClusterHandle,
    what: &str,
    mut condition: impl FnMut(&paceline_cluster::Status) -> bool,
) {
    let mut changes = handle.watch();
    let waited = timeout(PATIENCE, changes.wait_for(|status| condition(status))).await;
    match waited {
        Ok(Ok(_)) => {}
        Ok(Err(_)) => panic!("{what}: the member has ended"),
        Err(_) => panic!("{what}: {}", handle.status()),
    }
}

pub fn entry(id: u32, cluster_port: u16) -> MemberEntry {
    MemberEntry {
        id,
        name: format!("m{id}"),
        host: "127.0.0.1".to_owned(),
        port: 1,
        cluster_host: "127.0.0.1".to_owned(),
        cluster_port,
        kind: KindText::Server,
        zone: 0,
        priority: 0,
        version: "0".to_owned(),
        log_format: 1,
    }
}

pub fn member(id: u32) -> MemberId {
    MemberId(id)
}
