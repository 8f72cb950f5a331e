//! Start position of a replica's stream.
//!
//! A replica that names a file and offset starts there. One that names a GTID position starts at the earliest position
//! after which it misses a transaction of any domain; the [filter](super::filter) then skips the transactions that it
//! has, domain by domain. The rules, and the refused positions, are those of MariaDB's `check_slave_start_position` and
//! `gtid_find_binlog_file` (sql/sql_repl.cc).

use super::artificial_event::FormatChange;
use super::filter::{GroupFilter, StartEntry, StartKind, UntilProgress};
use super::refusal::Refusal;
use super::request::{AheadOfLog, DumpRequest, GtidStart, StartAt};
use paceline_binlog::log::Log;
use paceline_binlog::{GtidPosition, GtidState};
use paceline_types::{DomainId, Gtid, LogPosition, ServerId};
use std::collections::BTreeMap;

/// Start of a replica's stream.
#[derive(Debug)]
pub(super) struct Start {
    /// Start of the file in which the stream begins.
    pub file: LogPosition,
    /// First event that is considered after the file's head.
    pub from: LogPosition,
    /// Offset that is announced to the replica first.
    pub announced_offset: u64,
    /// Change of the first Format_description.
    pub format: FormatChange,
    /// Whether the GTID list of the file is sent.
    pub head: HeadList,
    /// GTID state at `from`, if the replica needs it: in the middle of a file.
    pub state: Option<GtidState>,
    /// Filter of the stream.
    pub filter: GroupFilter,
}

/// Whether the GTID list at the head of the first file is sent, if the events after it are not.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum HeadList {
    /// It is sent.
    Sent,
    /// It is not sent: the replica knows its position in the file.
    LeftOut,
}

/// State of the log and this server that a start depends on.
pub(super) struct Surroundings<'a> {
    pub log: &'a Log,
    /// Id of this server.
    pub server_id: ServerId,
    /// GTID position up to which this server has replicated itself (`gtid_slave_pos`).
    pub replicated: &'a GtidPosition,
    /// Position up to which the log may be sent.
    pub limit: LogPosition,
}

impl Start {
    /// Finds the start for a request.
    ///
    /// # Errors
    /// The reason to send to the replica if there is none.
    pub fn find(around: &Surroundings<'_>, request: &DumpRequest) -> Result<Self, Refusal> {
        match &request.start {
            StartAt::Position { file, offset } => by_position(around, request, file, *offset),
            StartAt::Gtid(start) => by_gtid(around, request, start),
        }
    }
}

fn by_position(
    around: &Surroundings<'_>,
    request: &DumpRequest,
    name: &str,
    offset: u64,
) -> Result<Start, Refusal> {
    let files = around.log.files();
    let base = name.rsplit('/').next().unwrap_or(name);
    let known = match base {
        "" => files.first(),
        base => files.iter().find(|file| file.name == base),
    };
    let file = known.ok_or(Refusal::NoSuchFile)?;
    let beginning = LogPosition::new(file.ordinal, 4);
    let length = if file.ordinal == around.limit.ordinal() {
        around.limit.offset()
    } else {
        file.length
    };
    if offset < 4 || offset > length {
        return Err(Refusal::ImpossiblePosition {
            file: base.to_owned(),
            offset,
        });
    }
    let from = LogPosition::new(file.ordinal, offset);
    let state = match offset {
        4 => None,
        _ => around.log.state_at(from).ok(),
    };
    Ok(Start {
        file: beginning,
        from,
        announced_offset: offset,
        format: match offset {
            4 => FormatChange::None,
            _ => FormatChange::MidFile,
        },
        head: HeadList::LeftOut,
        state,
        filter: GroupFilter::new(request, BTreeMap::new(), UntilProgress::NoUntil),
    })
}

fn by_gtid(around: &Surroundings<'_>, request: &DumpRequest, start: &GtidStart) -> Result<Start, Refusal> {
    let state = around.log.state();
    let mut until = start.until.clone();
    let mut entries = check_position(around, &state, start, &mut until)?;
    let position: GtidPosition = entries.values().map(|entry| entry.gtid).collect();
    let place = around.log.locate_start(&position).map_err(|error| match error {
        paceline_binlog::Error::Purged => Refusal::Purged,
        other => Refusal::Other(other.to_string()),
    })?;
    // Remove what the replica reached before the start of the file; then what it reached where the stream starts.
    entries.retain(|domain_id, entry| place.file_state.last(*domain_id) != Some(entry.gtid));
    let format = match entries.values().all(|entry| entry.kind != StartKind::InLog) {
        true => FormatChange::None,
        false => FormatChange::Reconnect,
    };
    entries.retain(|_, entry| !is_reached(&place.state, entry.gtid));
    let until = match until {
        None => UntilProgress::NoUntil,
        Some(until) => UntilProgress::Until(
            until
                .iter()
                .filter(|gtid| !is_reached(&place.state, *gtid))
                .collect(),
        ),
    };
    let is_mid_file = place.state != place.file_state;
    let mut filter = GroupFilter::new(request, entries, until);
    filter.set_state(place.state.clone());
    Ok(Start {
        file: place.file,
        from: place.from,
        announced_offset: 4,
        format,
        head: HeadList::Sent,
        state: is_mid_file.then_some(place.state),
        filter,
    })
}

/// Returns whether the log has reached a GTID, or a higher number of the same server.
fn is_reached(state: &GtidState, gtid: Gtid) -> bool {
    state
        .last_of(gtid.domain_id, gtid.server_id)
        .is_some_and(|last| last.sequence >= gtid.sequence)
}

/// Checks a replica's position against the log. Removes domains from `until` whose end is before their start.
fn check_position(
    around: &Surroundings<'_>,
    state: &GtidState,
    start: &GtidStart,
    until: &mut Option<GtidPosition>,
) -> Result<BTreeMap<DomainId, StartEntry>, Refusal> {
    let mut entries = BTreeMap::new();
    for gtid in start.position.iter() {
        let domain_id = gtid.domain_id;
        let is_own_position = around.replicated.get(domain_id) == Some(gtid);
        let mut put = |gtid: Gtid, kind: StartKind| {
            entries.insert(domain_id, StartEntry { gtid, kind });
        };
        if is_reached(state, gtid) {
            put(
                gtid,
                match is_own_position {
                    true => StartKind::OwnPosition,
                    false => StartKind::InLog,
                },
            );
            continue;
        }
        if is_own_position {
            // The last transaction that this server replicated is not in its log (it was skipped, or the position was
            // set). Everything after it is its own.
            let own = state.last_of(domain_id, around.server_id);
            if own.is_some_and(|own| own.sequence > gtid.sequence) {
                let fake = Gtid::new(domain_id, around.server_id, gtid.sequence);
                put(fake, StartKind::OwnPosition);
            } else if let Some(last) = state.last(domain_id) {
                put(last, StartKind::InLog);
            }
            continue;
        }
        let Some(last) = state.last(domain_id) else {
            // Another primary serves this domain. If it appears here later, the position is checked again.
            put(gtid, StartKind::EmptyDomain);
            continue;
        };
        if start.ahead == AheadOfLog::Accepted && last.sequence < gtid.sequence {
            put(gtid, StartKind::InLog);
            continue;
        }
        if let Some(until) = until {
            let end = until.get(domain_id);
            if end.is_none_or(|end| is_reached(state, end)) {
                until.remove(domain_id);
                put(gtid, StartKind::InLog);
                continue;
            }
        }
        return Err(Refusal::not_in_log(state, gtid));
    }
    Ok(entries)
}
