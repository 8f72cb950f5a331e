//! Requests of replicas: COM_BINLOG_DUMP, and the user variables set before it in the session.
//!
//! | user variable | meaning |
//! |---|---|
//! | `@slave_connect_state` | GTID position to start from; without it the command's file and offset count |
//! | `@slave_gtid_strict_mode` | no start in a hole |
//! | `@slave_gtid_ignore_duplicates` | the replica may be ahead of this server, through another connection |
//! | `@slave_until_gtid` | where to stop |
//! | `@mariadb_slave_capability` | events that the replica understands |
//! | `@master_binlog_checksum` | the replica supports checksums, and the algorithm that it expects |
//! | `@master_heartbeat_period` | nanoseconds without an event after which a heartbeat is sent |
//! | `@rpl_semi_sync_slave` | the replica acknowledges |
//! | `@paceline_cluster_member`, `@paceline_cluster_epoch` | a member of a cluster reads in that epoch. Not in MariaDB |
//! | `@paceline_log_format` | newest version of the log's format that the member reads ([`program_version::LOG_FORMAT`]). Not in MariaDB |
//! | `@paceline_group_records` | it stores the rows of statements that are sent as text: an archive. Not in MariaDB |
//!
//! The sources are MariaDB's `get_master_version_and_clock` (sql/slave.cc), which sets them, and `init_binlog_sender`
//! (sql/sql_repl.cc).

use super::refusal::Refusal;
use paceline_binlog::GtidPosition;
use paceline_binlog::event::ChecksumAlgorithm;
use paceline_program_version as program_version;
use paceline_types::{ServerId, Value};
use paceline_wire::command::BinlogDump;
use std::fmt;
use std::time::Duration;

/// BINLOG_SEND_ANNOTATE_ROWS_EVENT: the replica wants the statements of row changes.
const SEND_ANNOTATE_ROWS: u16 = 2;

/// Whether a Paceline also sends the records that belong to event groups: the rows of statements that it sends as text.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub enum GroupRecords {
    /// It does not: a replica executes the text.
    #[default]
    LeftOut,
    /// It does: an archive stores what recovery needs.
    Sent,
}

/// Returns the value of a user variable of the session, by its name in lower case.
pub type VariableLookup<'v> = dyn Fn(&str) -> Option<&'v Value> + 'v;

/// Events that a replica understands (`MARIA_SLAVE_CAPABILITY_…`).
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub struct Capability(pub i64);

impl Capability {
    /// Annotate_rows events.
    pub const ANNOTATE: Self = Self(1);
    /// A stream with omitted events.
    pub const TOLERATE_HOLES: Self = Self(2);
    /// Binlog_checkpoint events.
    pub const BINLOG_CHECKPOINT: Self = Self(3);
    /// GTIDs.
    pub const GTID: Self = Self(4);
}

/// Start of a stream.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum StartAt {
    /// At a file and offset. An empty name means the first file.
    Position {
        /// Name of the file.
        file: String,
        /// Offset in the file in bytes.
        offset: u64,
    },
    /// After a GTID position.
    Gtid(GtidStart),
}

/// Text for messages.
impl fmt::Display for StartAt {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            StartAt::Position { file, offset } => write!(f, "'{file}' at {offset} on"),
            StartAt::Gtid(start) => write!(f, "'{}' on", start.position),
        }
    }
}

/// Start by GTID.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct GtidStart {
    /// Position of the replica.
    pub position: GtidPosition,
    /// Position to stop at.
    pub until: Option<GtidPosition>,
    /// Whether a start in a hole is refused.
    pub strict: GtidStrictness,
    /// Treatment of a position ahead of this server's log.
    pub ahead: AheadOfLog,
}

/// `@slave_gtid_strict_mode`.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub enum GtidStrictness {
    /// A position may name a GTID that is not in the log although later ones are.
    #[default]
    HolesAllowed,
    /// Such a position is refused with 1951.
    NoHoles,
}

/// `@slave_gtid_ignore_duplicates`.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub enum AheadOfLog {
    /// Refused with 1945.
    #[default]
    Refused,
    /// Accepted: the replica has the transactions from another server, and they will arrive here as well.
    Accepted,
}

/// Member of a cluster that reads the log, as it introduces itself.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct MemberReader {
    /// Identity of the member.
    pub member: u32,
    /// Epoch that it follows, or prepares as a candidate.
    pub epoch: u64,
}

/// Kind of reader.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum ReaderKind {
    /// A server that applies the events.
    Replica,
    /// A tool that wants the files unchanged (`mariadb-binlog --read-from-remote-server`).
    Tool,
}

/// Action at the end of the log.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum AtEnd {
    /// Wait for more events.
    Wait,
    /// End the stream.
    Stop,
}

/// Whether Annotate_rows events are sent.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Annotations {
    /// They are sent.
    Wanted,
    /// They are skipped, if the replica tolerates omitted events.
    NotWanted,
}

/// Whether events with the flag LOG_EVENT_SKIP_REPLICATION_F are sent.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum MarkedEvents {
    /// They are sent; the replica decides.
    Sent,
    /// They are not sent (`SET skip_replication=1` in the replica's session).
    Omitted,
}

/// Whether a replica acknowledges received transactions.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Acknowledges {
    /// It acknowledges (semi-synchronous replication).
    Yes,
    /// It does not acknowledge.
    No,
}

/// A replica's request.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct DumpRequest {
    /// Server id of the replica; 0 for a tool.
    pub server_id: ServerId,
    /// Start of the stream.
    pub start: StartAt,
    /// File and offset in the command, for messages.
    pub asked: (String, u64),
    /// Kind of reader.
    pub kind: ReaderKind,
    /// Action at the end of the log.
    pub at_end: AtEnd,
    /// Events that the replica understands.
    pub capability: Capability,
    /// Checksum algorithm that the replica expects; `None`: it does not support checksums.
    pub checksum: Option<ChecksumAlgorithm>,
    /// Time without an event after which a heartbeat is sent; `None`: never.
    pub heartbeat: Option<Duration>,
    /// Whether annotations are sent.
    pub annotations: Annotations,
    /// Whether events that are marked not to be replicated are sent.
    pub marked: MarkedEvents,
    /// Whether the records that belong to event groups are sent.
    pub group_records: GroupRecords,
    /// Whether the replica acknowledges.
    pub acknowledges: Acknowledges,
    /// The member of a cluster that reads; `None` for all other readers.
    pub member: Option<MemberReader>,
}

/// Whether a session has registered as a replica (COM_REGISTER_SLAVE).
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum RegistrationState {
    /// It has registered with this server id.
    As(ServerId),
    /// It has not registered.
    No,
}

impl DumpRequest {
    /// Combines the command and the user variables that the session set before it.
    ///
    /// # Errors
    /// 1105 for an invalid GTID position.
    pub fn read(
        dump: &BinlogDump<'_>,
        variables: &VariableLookup<'_>,
        registered: RegistrationState,
        marked: MarkedEvents,
    ) -> Result<Self, Refusal> {
        let file = String::from_utf8_lossy(dump.file).into_owned();
        let asked = (file.clone(), u64::from(dump.offset));
        let start = match text(variables, "slave_connect_state") {
            Some(position) => StartAt::Gtid(GtidStart {
                position: position
                    .parse()
                    .map_err(|_| Refusal::MalformedRequest("start position from GTID state"))?,
                until: text(variables, "slave_until_gtid")
                    .map(|until| until.parse())
                    .transpose()
                    .map_err(|_| Refusal::MalformedRequest("UNTIL position sent from slave"))?,
                strict: match number(variables, "slave_gtid_strict_mode") {
                    0 => GtidStrictness::HolesAllowed,
                    _ => GtidStrictness::NoHoles,
                },
                ahead: match number(variables, "slave_gtid_ignore_duplicates") {
                    0 => AheadOfLog::Refused,
                    _ => AheadOfLog::Accepted,
                },
            }),
            None => StartAt::Position {
                file,
                offset: u64::from(dump.offset),
            },
        };
        let kind = match (registered, &start) {
            (RegistrationState::No, StartAt::Position { .. }) => ReaderKind::Tool,
            _ => ReaderKind::Replica,
        };
        let heartbeat = u64::try_from(number(variables, "master_heartbeat_period")).unwrap_or(0);
        Ok(Self {
            server_id: match registered {
                RegistrationState::As(server_id) => server_id,
                RegistrationState::No => ServerId(dump.server_id),
            },
            start,
            asked,
            kind,
            at_end: match dump.is_non_blocking() || dump.server_id == 0 {
                true => AtEnd::Stop,
                false => AtEnd::Wait,
            },
            capability: Capability(number(variables, "mariadb_slave_capability")),
            checksum: text(variables, "master_binlog_checksum").map(|name| {
                match name.eq_ignore_ascii_case("NONE") {
                    true => ChecksumAlgorithm::None,
                    false => ChecksumAlgorithm::Crc32,
                }
            }),
            heartbeat: (heartbeat > 0).then(|| Duration::from_nanos(heartbeat)),
            annotations: match dump.flags & SEND_ANNOTATE_ROWS {
                0 => Annotations::NotWanted,
                _ => Annotations::Wanted,
            },
            marked,
            group_records: match number(variables, "paceline_group_records") {
                0 => GroupRecords::LeftOut,
                _ => GroupRecords::Sent,
            },
            acknowledges: match number(variables, "rpl_semi_sync_slave") {
                0 => Acknowledges::No,
                _ => Acknowledges::Yes,
            },
            member: member(variables)?,
        })
    }
}

/// Returns the member of a cluster that the replica says to be. One that says nothing of the log's format is refused:
/// every version that knows clusters does.
fn member(variables: &VariableLookup<'_>) -> Result<Option<MemberReader>, Refusal> {
    if text(variables, "paceline_cluster_member").is_none() {
        return Ok(None);
    }
    let reads = u32::try_from(number(variables, "paceline_log_format")).unwrap_or(0);
    if reads < program_version::present().log_format {
        return Err(Refusal::LogFormat { reads });
    }
    let member = u32::try_from(number(variables, "paceline_cluster_member"));
    let epoch = u64::try_from(number(variables, "paceline_cluster_epoch"));
    match (member, epoch) {
        (Ok(member), Ok(epoch)) => Ok(Some(MemberReader { member, epoch })),
        _ => Err(Refusal::MalformedRequest("member of a cluster")),
    }
}

/// Returns a user variable's text, or `None` if it is NULL or was never set.
fn text(variables: &VariableLookup<'_>, name: &str) -> Option<String> {
    match variables(name)? {
        Value::Null => None,
        Value::Text(text) => Some(text.clone()),
        Value::Bytes(bytes) => Some(String::from_utf8_lossy(bytes).into_owned()),
        Value::Int(number) => Some(number.to_string()),
        Value::UInt(number) => Some(number.to_string()),
        _ => None,
    }
}

/// Returns a user variable's number as MariaDB reads it: the leading digits of a text, 0 without digits.
fn number(variables: &VariableLookup<'_>, name: &str) -> i64 {
    match variables(name) {
        Some(Value::Int(number)) => *number,
        Some(Value::UInt(number)) => i64::try_from(*number).unwrap_or(i64::MAX),
        Some(Value::Double(number)) => *number as i64,
        Some(Value::Decimal(number)) => number.to_f64() as i64,
        Some(Value::Text(text)) => leading_number(text.as_bytes()),
        Some(Value::Bytes(bytes)) => leading_number(bytes),
        _ => 0,
    }
}

fn leading_number(bytes: &[u8]) -> i64 {
    let digits = bytes.iter().take_while(|byte| byte.is_ascii_digit());
    digits.fold(0i64, |number, digit| {
        number.saturating_mul(10).saturating_add(i64::from(digit - b'0'))
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::HashMap;

    fn variables(list: &[(&'static str, Value)]) -> HashMap<&'static str, Value> {
        list.iter().cloned().collect()
    }

    fn dump(flags: u16, server_id: u32) -> BinlogDump<'static> {
        BinlogDump {
            offset: 4,
            flags,
            server_id,
            file: b"bin.000001",
        }
    }

    #[test]
    fn a_replica_with_gtids() {
        let set = variables(&[
            ("slave_connect_state", Value::Text("0-1-5,2-1-1".into())),
            ("slave_gtid_strict_mode", Value::Text("1".into())),
            ("mariadb_slave_capability", Value::Int(4)),
            ("master_binlog_checksum", Value::Text("CRC32".into())),
            ("master_heartbeat_period", Value::Int(5_000_000_000)),
        ]);
        let request = DumpRequest::read(
            &dump(2, 7),
            &|name| set.get(name),
            RegistrationState::As(ServerId(7)),
            MarkedEvents::Sent,
        )
        .unwrap();
        let StartAt::Gtid(start) = &request.start else {
            panic!("{request:?}")
        };
        assert_eq!(start.position.to_string(), "0-1-5,2-1-1");
        assert_eq!(
            (start.strict, start.ahead, &start.until),
            (GtidStrictness::NoHoles, AheadOfLog::Refused, &None)
        );
        assert_eq!(
            (request.kind, request.at_end, request.capability),
            (ReaderKind::Replica, AtEnd::Wait, Capability::GTID)
        );
        assert_eq!(request.heartbeat, Some(Duration::from_secs(5)));
        assert_eq!(request.annotations, Annotations::Wanted);
        assert_eq!(request.checksum, Some(ChecksumAlgorithm::Crc32));
    }

    #[test]
    fn a_member_that_reads_only_an_older_log_is_refused() {
        let read = |format: Option<i64>| {
            let mut set = variables(&[
                ("paceline_cluster_member", Value::Int(9)),
                ("paceline_cluster_epoch", Value::Int(3)),
            ]);
            set.extend(format.map(|format| ("paceline_log_format", Value::Int(format))));
            let lookup = |name: &str| set.get(name);
            DumpRequest::read(&dump(0, 7), &lookup, RegistrationState::No, MarkedEvents::Sent)
        };
        let member = MemberReader { member: 9, epoch: 3 };
        assert_eq!(
            read(Some(i64::from(program_version::LOG_FORMAT))).unwrap().member,
            Some(member)
        );
        assert_eq!(
            read(Some(i64::from(program_version::LOG_FORMAT) + 1))
                .unwrap()
                .member,
            Some(member)
        );
        for older in [None, Some(i64::from(program_version::LOG_FORMAT) - 1)] {
            assert_eq!(read(older).unwrap_err(), Refusal::LogFormat { reads: 0 });
        }
    }

    #[test]
    fn a_dump_request_without_registration_is_a_tools() {
        let request =
            DumpRequest::read(&dump(0, 0), &|_| None, RegistrationState::No, MarkedEvents::Sent).unwrap();
        assert_eq!(
            (request.kind, request.at_end, request.checksum),
            (ReaderKind::Tool, AtEnd::Stop, None)
        );
        assert_eq!(request.capability, Capability(0));
    }

    #[test]
    fn an_invalid_position_is_refused() {
        let set = variables(&[("slave_connect_state", Value::Text("0-1".into()))]);
        let refused = DumpRequest::read(
            &dump(0, 7),
            &|name| set.get(name),
            RegistrationState::No,
            MarkedEvents::Sent,
        )
        .unwrap_err();
        assert_eq!(refused.code().number(), 1105);
    }
}
