//! Finds the primary among several candidates.

use crate::context::ArchiveContext;
use crate::options::{Address, Candidates};
use paceline_replication::replica::definition::Definition;
use paceline_replication::replica::error::SourceError;
use paceline_replication::replica::options::ReplicaOptions;
use paceline_replication::replica::source::{Source, Writable};
use paceline_types::DomainId;
use std::sync::Arc;
use std::time::Duration;

/// A connection is given up after this time without an event or a heartbeat.
const NET_TIMEOUT: Duration = Duration::from_secs(20);
/// Heartbeat period that is requested from primaries.
const HEARTBEAT_MS: u64 = 5_000;
/// Number of retries shown in error messages. A follower never gives up.
const RETRIES_SHOWN: u64 = 100_000;
/// Maximum packet length in bytes: the highest that servers of the protocol allow.
const PACKET_MAX: usize = 1 << 30;

/// Returns the connection settings for a candidate.
pub fn definition(context: &ArchiveContext, address: &Address) -> Definition {
    Definition {
        host: address.host.clone(),
        port: address.port,
        user: context.account.user.clone(),
        password: context.account.password.clone().into(),
        heartbeat_period_ms: Some(HEARTBEAT_MS),
        connect_retry_seconds: 5,
        tls: context.source_tls.clone(),
        ..Definition::default()
    }
}

/// Returns the archive's identity and options towards its primaries: those of a replica that may acknowledge.
pub fn replica_options(context: &ArchiveContext) -> ReplicaOptions {
    ReplicaOptions {
        server_id: context.server_id,
        domain_id: DomainId(0),
        report_host: String::new(),
        report_user: String::new(),
        report_password: String::new(),
        report_port: 0,
        net_timeout: NET_TIMEOUT,
        packet_max: PACKET_MAX,
        gtid_strict_mode: false,
        gtid_ignore_duplicates: false,
        replicate_same_server_id: false,
        marked_for_skip: Default::default(),
        semi_sync: context.semi_sync == crate::options::SemiSync::Acknowledge,
        retry_count: RETRIES_SHOWN,
        filters: Arc::default(),
    }
}

/// A connection to the chosen candidate.
pub struct ConnectedCandidate {
    /// The connection.
    pub source: Source,
    /// Address of the candidate.
    pub address: Address,
}

/// Connects to the first candidate that accepts writes, or else to the first that answers. `refused` is chosen only if
/// no other candidate answers.
///
/// # Errors
/// The error of the first candidate, if none answers.
pub async fn connect_best(
    context: &ArchiveContext,
    candidates: &Candidates,
    refused: Option<&Address>,
) -> Result<ConnectedCandidate, (Address, SourceError)> {
    let options = replica_options(context);
    let only_one = candidates.0.len() == 1;
    let mut replica = None;
    let mut last_resort = None;
    let mut failure = None;
    for address in &candidates.0 {
        let definition = definition(context, address);
        let connected = async {
            let mut source = Source::connect(&definition, &options).await?;
            let writable = match only_one {
                true => Writable::Yes,
                false => source.writable().await?,
            };
            Ok((source, writable))
        };
        match connected.await {
            Ok((source, writable)) => {
                let chosen = ConnectedCandidate {
                    source,
                    address: address.clone(),
                };
                if refused == Some(address) {
                    last_resort.get_or_insert(chosen);
                    continue;
                }
                if writable == Writable::Yes {
                    return Ok(chosen);
                }
                replica.get_or_insert(chosen);
            }
            Err(error) => {
                failure.get_or_insert((address.clone(), error));
            }
        }
    }
    match (replica.or(last_resort), failure) {
        (Some(chosen), _) => Ok(chosen),
        (None, Some(failure)) => Err(failure),
        (None, None) => unreachable!("there is at least one candidate"),
    }
}
