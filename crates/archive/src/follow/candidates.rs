//! Finds the primary among several candidates.

use crate::context::ArchiveContext;
use crate::options::{Address, Candidates};
use paceline_log_stream::primary::request::{GroupRecords, MemberReader};
use paceline_log_stream::source::definition::Definition;
use paceline_log_stream::source::error::SourceError;
use paceline_log_stream::source::options::ReplicaOptions;
use paceline_log_stream::source::{Source, Writable};
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
pub fn definition(context: &ArchiveContext, address: &Address, reader: Option<MemberReader>) -> Definition {
    Definition {
        host: address.host.clone(),
        port: address.port,
        user: context.account.user.clone(),
        password: context.account.password.clone().into(),
        heartbeat_period_ms: Some(HEARTBEAT_MS),
        connect_retry_seconds: 5,
        tls: context.source_tls.clone(),
        reader,
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
        compression: Default::default(),
        group_records: GroupRecords::Sent,
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

/// Preference for a candidate that answers. The least is the best.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
enum Preference {
    /// It accepts writes.
    Writable,
    /// It is `read_only`.
    ReadOnly,
    /// It has refused to send what follows the archive's position.
    Refused,
}

impl Preference {
    fn of(writable: Writable, is_refused: bool) -> Self {
        match (is_refused, writable) {
            (true, _) => Preference::Refused,
            (false, Writable::Yes) => Preference::Writable,
            (false, Writable::No) => Preference::ReadOnly,
        }
    }
}

/// The best of the candidates seen up to now; of equal ones the first.
#[derive(Debug)]
struct Best<T>(Option<(Preference, T)>);

impl<T> Best<T> {
    /// Offers a candidate. Returns whether no other can be better.
    fn offer(&mut self, preference: Preference, candidate: T) -> bool {
        if self.0.as_ref().is_none_or(|(best, _)| preference < *best) {
            self.0 = Some((preference, candidate));
        }
        preference == Preference::Writable
    }
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
    reader: Option<MemberReader>,
) -> Result<ConnectedCandidate, (Address, SourceError)> {
    let options = ReplicaOptions {
        // A member that leads later gets back what it has written itself. GTIDs tell what is here already.
        replicate_same_server_id: reader.is_some(),
        ..replica_options(context)
    };
    let only_one = candidates.0.len() == 1;
    let mut best = Best(None);
    let mut failure = None;
    for address in &candidates.0 {
        let definition = definition(context, address, reader);
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
                if best.offer(Preference::of(writable, refused == Some(address)), chosen) {
                    break;
                }
            }
            Err(error) => {
                failure.get_or_insert((address.clone(), error));
            }
        }
    }
    match (best.0, failure) {
        (Some((_, chosen)), _) => Ok(chosen),
        (None, Some(failure)) => Err(failure),
        (None, None) => unreachable!("there is at least one candidate"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use Writable::{No, Yes};

    /// Returns the number of the chosen candidate and how many were asked. Each is its answer and whether it has
    /// refused.
    fn choose(candidates: &[(Writable, bool)]) -> (usize, usize) {
        let mut best = Best(None);
        let mut asked = 0;
        for (number, (writable, is_refused)) in candidates.iter().enumerate() {
            asked += 1;
            if best.offer(Preference::of(*writable, *is_refused), number) {
                break;
            }
        }
        (best.0.unwrap().1, asked)
    }

    #[test]
    fn the_first_candidate_that_accepts_writes_is_followed() {
        assert_eq!(choose(&[(No, false), (Yes, false), (Yes, false)]), (1, 2));
        assert_eq!(choose(&[(Yes, false), (No, false)]), (0, 1));
    }

    #[test]
    fn without_a_primary_the_first_that_answers_is_followed() {
        assert_eq!(choose(&[(No, false), (No, false)]), (0, 2));
        assert_eq!(choose(&[(No, false)]), (0, 1));
    }

    #[test]
    fn a_candidate_that_has_refused_is_the_last_resort() {
        assert_eq!(choose(&[(Yes, true), (No, false), (No, false)]), (1, 3));
        assert_eq!(choose(&[(Yes, true), (No, false), (Yes, false)]), (2, 3));
        assert_eq!(choose(&[(Yes, true)]), (0, 1));
    }
}
