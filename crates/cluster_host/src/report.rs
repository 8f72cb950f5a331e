//! State of a member as it tells it to others: for `SHOW CLUSTER STATUS` and `paceline cluster status`.
//!
//! A member is asked over its port for messages ([`crate::messages::inquire`]), so only those that know the cluster's
//! secret can ask, and a member that opens its tables for minutes still answers. The answer is JSON: a member of
//! another version is shown, too. Unknown fields are passed over; missing ones have a default.
//!
//! # Alternatives considered
//! *Reports with the pulses*, or to each member once a second: they cost something for ever, a format with a version,
//! and are a second old when somebody looks. *Positions in etcd*: a write per member and second into a disk that
//! elections wait for, and nothing while etcd is away.

use crate::clock;
use crate::peer_view::PeerView;
use paceline_cluster::{LogIndex, MemberId, RoleName, Status};
use serde::{Deserialize, Serialize};

/// Maximum length of a report, in bytes.
pub const REPORT_BYTES_MAX: usize = 1 << 18;

/// Stage of a member's process.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Stage {
    /// It has its log alone: an archive, or a server whose tables are not opened yet.
    #[default]
    Log,
    /// It has opened its tables.
    Tables,
}

/// Distance of another log's end from the end of this one.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Lag {
    /// Bytes of this log, about.
    pub bytes: u64,
    /// Milliseconds since the first transaction that the other lacks became durable here, about.
    pub ms: u64,
}

/// Part of a report that the host of the log knows.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct HostReport {
    /// Stage.
    pub stage: Stage,
    /// GTID position of the log's end.
    pub gtid_position: String,
    /// For each log index of the question: how far it is from the end of this log. `None`: unknown.
    pub lags: Vec<Option<Lag>>,
    /// Thing that its clients wait for, if the member is the primary: to be let in, or to commit, for long.
    pub clients_wait: Option<String>,
    /// Why the member that this one follows does not send its log.
    pub not_served: Option<String>,
}

/// Another member, as the one that reports knows it.
#[derive(Clone, PartialEq, Eq, Debug, Default, Serialize, Deserialize)]
#[serde(default)]
pub struct PeerReport {
    /// Identity.
    pub id: u32,
    /// Milliseconds since a message of it came.
    pub silent_ms: u64,
    /// Durable end of its log, as it has said last.
    pub log_index: Option<u64>,
    /// Distance of its log in bytes, if this member is the primary and knows it.
    pub lag_bytes: Option<u64>,
    /// Distance of its log in milliseconds.
    pub lag_ms: Option<u64>,
}

/// State of a member.
#[derive(Clone, PartialEq, Eq, Debug, Default, Serialize, Deserialize)]
#[serde(default)]
pub struct MemberReport {
    /// Identity.
    pub id: u32,
    /// Version of the program.
    pub version: String,
    /// Stage of its process.
    pub stage: Stage,
    /// Role, in words.
    pub role: String,
    /// Whether it is the primary of its epoch.
    pub is_primary: bool,
    /// The promised epoch.
    pub epoch: Option<u64>,
    /// Durable end of its log.
    pub log_index: u64,
    /// End of the published part of its log.
    pub published_index: u64,
    /// GTID position of the log's end.
    pub gtid_position: String,
    /// Thing that it waits for.
    pub waits: Option<String>,
    /// Members from which it has heard.
    pub peers: Vec<PeerReport>,
}

impl MemberReport {
    /// Returns the report of a member from its state.
    pub(crate) fn new(
        id: MemberId,
        version: String,
        status: &Status,
        peers: &[PeerView],
        host: impl FnOnce(&[LogIndex]) -> HostReport,
    ) -> MemberReport {
        let is_primary = status.role == RoleName::Primary;
        let known: Vec<LogIndex> = peers.iter().filter_map(|peer| peer.end).collect();
        // Ends that others have reported say something only beside the log of the primary.
        let host = host(if is_primary { &known } else { &[] });
        let mut lags = host.lags.into_iter();
        let peers = peers.iter().map(|peer| {
            let lag = peer.end.and_then(|_| lags.next()).flatten();
            PeerReport {
                id: peer.id.0,
                silent_ms: clock::now().0.saturating_sub(peer.heard.0),
                log_index: peer.end.map(|end| end.0),
                lag_bytes: lag.map(|lag| lag.bytes),
                lag_ms: lag.map(|lag| lag.ms),
            }
        });
        MemberReport {
            id: id.0,
            version,
            stage: host.stage,
            role: status.role.to_string(),
            is_primary,
            epoch: status.epoch.map(|epoch| epoch.0),
            log_index: status.end.0,
            published_index: status.published.0,
            gtid_position: host.gtid_position,
            waits: match &status.waits {
                Some(wait) => Some(wait.to_string()),
                None if is_primary => host.clients_wait,
                None => host.not_served,
            },
            peers: peers.collect(),
        }
    }

    /// Returns the peer with this identity.
    pub fn peer(&self, member: MemberId) -> Option<&PeerReport> {
        self.peers.iter().find(|peer| peer.id == member.0)
    }

    /// Returns the report as a text.
    pub fn encode(&self) -> String {
        serde_json::to_string(self).expect("numbers and texts can be written")
    }

    /// Reads a report.
    ///
    /// # Errors
    /// It is none.
    pub fn decode(text: &str) -> Result<MemberReport, serde_json::Error> {
        serde_json::from_str(text)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use paceline_cluster::{Epoch, Millis};

    #[test]
    fn a_report_is_read_as_it_was_written_and_other_versions_are_understood() {
        let status = Status {
            role: RoleName::Primary,
            epoch: Some(Epoch(7)),
            primary: Some(MemberId(1)),
            end: LogIndex(90),
            published: LogIndex(80),
            needed: LogIndex(0),
            waits: None,
        };
        let peer = |id, end| PeerView {
            id: MemberId(id),
            heard: Millis(1),
            end,
        };
        let peers = [peer(2, None), peer(3, Some(LogIndex(85)))];
        let report = MemberReport::new(MemberId(1), "9".to_owned(), &status, &peers, |ends| {
            assert_eq!(ends, [LogIndex(85)]);
            HostReport {
                stage: Stage::Tables,
                gtid_position: "0-1-90".to_owned(),
                lags: vec![Some(Lag { bytes: 500, ms: 20 })],
                clients_wait: Some("for others".to_owned()),
                not_served: Some("of no interest".to_owned()),
            }
        });
        assert_eq!(report.waits.as_deref(), Some("for others"));
        assert_eq!(report.peer(MemberId(2)).unwrap().lag_bytes, None);
        assert_eq!(report.peer(MemberId(3)).unwrap().lag_bytes, Some(500));
        assert_eq!(MemberReport::decode(&report.encode()).unwrap(), report);
        let other = MemberReport::decode(r#"{"id": 4, "mood": "good", "peers": [{"id": 1}]}"#).unwrap();
        assert_eq!((other.id, other.epoch, other.stage), (4, None, Stage::Log));
        assert!(MemberReport::decode("7").is_err());
    }
}
