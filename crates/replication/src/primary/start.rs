//! Where a replica is served from.
//!
//! A replica that names file and offset starts there. One that names a GTID position starts at the earliest place behind which it
//! misses something, in whichever domain; the [filter](super::filter) then leaves out, domain by domain, what it has. The rules, and
//! which positions are refused, are those of MariaDB's `check_slave_start_position` and `gtid_find_binlog_file` (sql/sql_repl.cc).

use super::filter::{GroupFilter, StartEntry, StartKind, UntilProgress};
use super::made_up::FormatChange;
use super::refusal::Refusal;
use super::request::{AheadOfLog, DumpRequest, GtidStart, StartAt};
use paceline_binlog::log::Log;
use paceline_binlog::{BinlogState, GtidPosition};
use paceline_types::{DomainId, Gtid, LogPosition, ServerId};
use std::collections::BTreeMap;

/// How a replica's stream begins.
#[derive(Debug)]
pub(super) struct Start {
    /// The beginning of the file that it starts in.
    pub file: LogPosition,
    /// The first event that is looked at behind the file's head.
    pub from: LogPosition,
    /// The offset that the replica is told at first.
    pub told_offset: u64,
    /// What is changed in the first Format_description.
    pub format: FormatChange,
    /// Whether the file's own GTID list is sent.
    pub head: HeadList,
    /// The GTID state at `from`, where the replica is told it: in mid-file.
    pub state: Option<BinlogState>,
    /// What it gets.
    pub filter: GroupFilter,
}

/// Whether the GTID list at the head of the first file is sent, when what follows it is not.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum HeadList {
    /// It is.
    Sent,
    /// It is not: the replica knows its place in the file.
    LeftOut,
}

/// What the log and this server say about a start.
pub(super) struct Surroundings<'a> {
    pub log: &'a Log,
    /// This server's id.
    pub server_id: ServerId,
    /// What this server has replicated itself (`gtid_slave_pos`).
    pub replicated: &'a GtidPosition,
    /// Up to where the log may be sent.
    pub limit: LogPosition,
}

impl Start {
    /// Finds the place.
    ///
    /// # Errors
    /// What the replica is told if there is none.
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
        told_offset: offset,
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
    // What the replica has reached before the file's beginning; then what it has reached where it starts.
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
        told_offset: 4,
        format,
        head: HeadList::Sent,
        state: is_mid_file.then_some(place.state),
        filter,
    })
}

/// Whether the log has come to a GTID, or past its number on the same server.
fn is_reached(state: &BinlogState, gtid: Gtid) -> bool {
    state
        .last_of(gtid.domain_id, gtid.server_id)
        .is_some_and(|last| last.sequence >= gtid.sequence)
}

/// Holds a replica's position against what the log has. Domains whose end was before their start go from `until`.
fn check_position(
    around: &Surroundings<'_>,
    state: &BinlogState,
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
            // What we replicated last is not in our own log (it was passed over, or set). Everything after it is ours.
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
            // Another primary serves this domain. If it turns up here after all, the position is checked again.
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
