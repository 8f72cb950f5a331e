//! Which of several servers is the primary.

use crate::options::{Address, Candidates};
use crate::shared::ArchiveShared;
use paceline_replication::replica::definition::Definition;
use paceline_replication::replica::error::SourceError;
use paceline_replication::replica::options::ReplicaOptions;
use paceline_replication::replica::source::{Source, Writable};
use paceline_types::DomainId;
use std::sync::Arc;
use std::time::Duration;

/// After so long without an event or a heartbeat a connection is given up.
const NET_TIMEOUT: Duration = Duration::from_secs(20);
/// How often a primary without news tells that it lives.
const HEARTBEAT_MS: u64 = 5_000;
/// What its error messages say of how often it tries: it never gives up.
const RETRIES_SHOWN: u64 = 100_000;
/// The longest packet, in bytes: the longest that the protocol's servers allow.
const PACKET_MAX: usize = 1 << 30;

/// How a candidate is connected to.
pub fn definition(shared: &ArchiveShared, address: &Address) -> Definition {
    Definition {
        host: address.host.clone(),
        port: address.port,
        user: shared.account.user.clone(),
        password: shared.account.password.clone(),
        heartbeat_period_ms: Some(HEARTBEAT_MS),
        connect_retry_seconds: 5,
        tls: shared.source_tls.clone(),
        ..Definition::default()
    }
}

/// What the archive is to its primaries: a replica that acknowledges.
pub fn replica_options(shared: &ArchiveShared) -> ReplicaOptions {
    ReplicaOptions {
        server_id: shared.server_id,
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
        semi_sync: shared.semi_sync == crate::options::SemiSync::Acknowledge,
        retry_count: RETRIES_SHOWN,
        filters: Arc::default(),
    }
}

/// A connection to the candidate that is to be followed.
pub struct Chosen {
    /// The connection.
    pub source: Source,
    /// To whom.
    pub address: Address,
}

/// Connects to the first candidate that takes writes, or else to the first that answers, those in `unfit` last.
///
/// # Errors
/// The first one's error, if none answers.
pub async fn choose(
    shared: &ArchiveShared,
    candidates: &Candidates,
    unfit: Option<&Address>,
) -> Result<Chosen, (Address, SourceError)> {
    let options = replica_options(shared);
    let only_one = candidates.0.len() == 1;
    let mut replica = None;
    let mut failure = None;
    for address in &candidates.0 {
        let definition = definition(shared, address);
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
                let chosen = Chosen {
                    source,
                    address: address.clone(),
                };
                if writable == Writable::Yes && unfit != Some(address) {
                    return Ok(chosen);
                }
                replica.get_or_insert(chosen);
            }
            Err(error) => {
                failure.get_or_insert((address.clone(), error));
            }
        }
    }
    match (replica, failure) {
        (Some(chosen), _) => Ok(chosen),
        (None, Some(failure)) => Err(failure),
        (None, None) => unreachable!("there is at least one candidate"),
    }
}
