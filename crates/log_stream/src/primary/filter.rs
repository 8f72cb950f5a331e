//! Selection of the events that a replica receives.
//!
//! ```text
//!            ┌ local domain, or the replica has it ──▶ the whole group is skipped
//!   Gtid ────┤
//!            └ otherwise ─────────────────────────▶ sent, in a form that the replica understands
//! ```
//!
//! A start by GTID names one GTID for each domain. In each domain everything up to exactly this GTID is skipped; then
//! its entry is removed, and the rest of the domain is sent. `START SLAVE UNTIL` skips everything after its end in each
//! domain, and ends the stream after the last one. The source is MariaDB's `send_event_to_slave` (sql/sql_repl.cc).
//!
//! Only this server needs the local domain and the events of type 28. A tool that reads whole files receives them too.

use super::artificial_event::FormatChange;
use super::refusal::Refusal;
use super::request::GroupRecords;
use super::request::{
    Annotations, Capability, DumpRequest, GtidStrictness, MarkedEvents, ReaderKind, StartAt,
};
use paceline_binlog::event::{EventFlags, EventType, GtidEvent, GtidFlags, GtidListEvent, RawEvent};
use paceline_binlog::log::{EventRole, Grouping};
use paceline_binlog::{GtidPosition, GtidState, LOCAL_DOMAIN};
use paceline_types::{DomainId, Gtid};
use std::collections::BTreeMap;

/// Position of a replica in a domain.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) struct StartEntry {
    /// Last transaction that the replica has.
    pub gtid: Gtid,
    /// Relation of that transaction to the log.
    pub kind: StartKind,
}

/// Relation of a replica's start in a domain to the log.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum StartKind {
    /// The transaction is in the log, or will be.
    InLog,
    /// The transaction is this server's own position as a replica. It may be in a hole.
    OwnPosition,
    /// The log has no transaction of this domain.
    EmptyDomain,
}

/// Progress of a replica towards its UNTIL.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(super) enum UntilProgress {
    /// The replica has no UNTIL.
    NoUntil,
    /// These domains have not reached it.
    Until(GtidPosition),
    /// All domains have reached it. The stream ends after the current group.
    EndsBehindGroup,
    /// The end has been reached.
    Reached,
}

/// Treatment of an event.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Verdict {
    /// It is sent as it is in the log.
    Send,
    /// The replica does not know it: an event of the same length without effect is sent.
    SendDummy,
    /// The replica does not know GTIDs: BEGIN is sent.
    SendBegin,
    /// It is skipped.
    LeaveOut,
}

/// Action after an event.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum NextAction {
    /// None.
    Continue,
    /// The GTID state is sent: the replica's position has moved although it received nothing.
    SendState,
    /// The GTID state is sent with the information that UNTIL is reached. Then the stream ends.
    End,
}

/// Filter of one replica's stream; see the module comment.
#[derive(Debug)]
pub(super) struct GroupFilter {
    kind: ReaderKind,
    capability: Capability,
    annotations: Annotations,
    marked: MarkedEvents,
    group_records: GroupRecords,
    strict: GtidStrictness,
    uses_gtids: bool,
    entries: BTreeMap<DomainId, StartEntry>,
    until: UntilProgress,
    /// GTID state at the stream's position, maintained while the replica may need it.
    state: GtidState,
    grouping: Grouping,
    /// The current group is skipped.
    leaves_out: bool,
    tells_state: bool,
}

impl GroupFilter {
    pub fn new(request: &DumpRequest, entries: BTreeMap<DomainId, StartEntry>, until: UntilProgress) -> Self {
        let (uses_gtids, strict) = match &request.start {
            StartAt::Gtid(start) => (true, start.strict),
            StartAt::Position { .. } => (false, GtidStrictness::HolesAllowed),
        };
        let until = match until {
            UntilProgress::Until(left) if left.is_empty() => UntilProgress::Reached,
            other => other,
        };
        GroupFilter {
            kind: request.kind,
            capability: request.capability,
            annotations: request.annotations,
            marked: request.marked,
            group_records: request.group_records,
            strict,
            uses_gtids,
            entries,
            until,
            state: GtidState::new(),
            grouping: Grouping::Outside,
            leaves_out: false,
            tells_state: false,
        }
    }

    /// Sets the GTID state at the start of the stream.
    pub fn set_state(&mut self, state: GtidState) {
        self.state = state;
    }

    /// Returns whether UNTIL was reached before anything was sent.
    pub fn is_over(&self) -> bool {
        self.until == UntilProgress::Reached
    }

    /// Returns the change to the Format_description of a file that the stream enters.
    pub fn format_change(&self) -> FormatChange {
        match self.entries.values().any(|entry| entry.kind == StartKind::InLog) {
            true => FormatChange::Reconnect,
            false => FormatChange::None,
        }
    }

    /// Returns the Gtid_list event that contains the GTID state.
    pub fn list(&self, then: NextAction) -> GtidListEvent {
        const UNTIL_REACHED: u8 = 1;
        GtidListEvent {
            flags: if then == NextAction::End { UNTIL_REACHED } else { 0 },
            ..GtidListEvent::of_state(&self.state)
        }
    }

    /// Decides about the next event. `log_state` returns the GTID state of the whole log; it is only called if needed.
    ///
    /// # Errors
    /// If the replica's position is not in the log.
    pub fn take(
        &mut self,
        event: &RawEvent<'_>,
        log_state: impl Fn() -> GtidState,
    ) -> Result<(Verdict, NextAction), Refusal> {
        if self.kind == ReaderKind::Tool {
            return Ok((self.verdict(event), NextAction::Continue));
        }
        let role = match self.grouping.observe(event) {
            Ok(role) => role,
            Err(_) => {
                // The stream began in the middle of a group.
                self.grouping = Grouping::Outside;
                EventRole::Inside
            }
        };
        if role == EventRole::Begins {
            self.begin_group(event, log_state)?;
        }
        let verdict = if self.leaves_out && role != EventRole::Control {
            self.omission()
        } else {
            self.verdict(event)
        };
        let mut then = NextAction::Continue;
        if role == EventRole::Ends {
            self.leaves_out = false;
            if self.tells_state {
                self.tells_state = false;
                then = NextAction::SendState;
            }
            if self.until == UntilProgress::EndsBehindGroup {
                self.until = UntilProgress::Reached;
                then = NextAction::End;
            }
        }
        Ok((verdict, then))
    }

    /// Decides about a whole group.
    fn begin_group(
        &mut self,
        event: &RawEvent<'_>,
        log_state: impl Fn() -> GtidState,
    ) -> Result<(), Refusal> {
        let corrupt = |_| Refusal::Other("Failed to read Gtid_log_event: corrupt binlog".to_owned());
        let gtid = GtidEvent::decode(event.body(), event.header().server_id)
            .map_err(corrupt)?
            .gtid;
        if gtid.domain_id == LOCAL_DOMAIN {
            self.leaves_out = true;
            return Ok(());
        }
        if !self.uses_gtids || (self.entries.is_empty() && self.until == UntilProgress::NoUntil) {
            return Ok(());
        }
        self.state.update(gtid);
        self.hold_against_start(gtid, log_state)?;
        self.hold_against_until(gtid);
        Ok(())
    }

    fn hold_against_start(&mut self, gtid: Gtid, log_state: impl Fn() -> GtidState) -> Result<(), Refusal> {
        let Some(entry) = self.entries.get_mut(&gtid.domain_id) else {
            return Ok(());
        };
        let has = entry.gtid;
        if entry.kind == StartKind::EmptyDomain {
            let state = log_state();
            let known = state.last_of(has.domain_id, has.server_id);
            if known.is_none_or(|known| known.sequence < has.sequence) {
                return Err(Refusal::not_in_log(&state, has));
            }
            entry.kind = StartKind::InLog;
        }
        let same_server = gtid.server_id == has.server_id;
        if !same_server || gtid.sequence <= has.sequence {
            self.leaves_out = true;
        }
        if same_server && gtid.sequence >= has.sequence {
            let is_hole = gtid.sequence > has.sequence && entry.kind != StartKind::OwnPosition;
            if is_hole && self.strict == GtidStrictness::NoHoles {
                return Err(Refusal::Hole(has));
            }
            self.tells_state = true;
            self.entries.remove(&gtid.domain_id);
        }
        Ok(())
    }

    fn hold_against_until(&mut self, gtid: Gtid) {
        let UntilProgress::Until(until) = &mut self.until else {
            return;
        };
        match until.get(gtid.domain_id) {
            // This domain has reached its end.
            None => self.leaves_out = true,
            Some(end) if end.server_id == gtid.server_id && gtid.sequence >= end.sequence => {
                until.remove(gtid.domain_id);
                if gtid.sequence > end.sequence {
                    self.leaves_out = true;
                }
                if until.is_empty() {
                    self.until = UntilProgress::EndsBehindGroup;
                }
            }
            Some(_) => {}
        }
    }

    /// Returns the verdict for an event that the replica does not need.
    fn omission(&self) -> Verdict {
        match self.capability >= Capability::TOLERATE_HOLES || self.uses_gtids {
            true => Verdict::LeaveOut,
            false => Verdict::SendDummy,
        }
    }

    fn verdict(&self, event: &RawEvent<'_>) -> Verdict {
        let event_type = event.event_type();
        let is_marked = event.header().flags.contains(EventFlags::SKIP_REPLICATION);
        if is_marked && self.marked == MarkedEvents::Omitted {
            return Verdict::LeaveOut;
        }
        if !event_type.is_sent_to_replicas() && self.kind == ReaderKind::Replica {
            if self.group_records == GroupRecords::Sent && event.is_part_of_group() {
                return Verdict::Send;
            }
            return self.omission();
        }
        if event_type == EventType::ANNOTATE_ROWS && self.annotations == Annotations::NotWanted {
            return match self.capability {
                capability if capability >= Capability::TOLERATE_HOLES => Verdict::LeaveOut,
                capability if capability >= Capability::ANNOTATE => Verdict::Send,
                _ => Verdict::SendDummy,
            };
        }
        if event_type == EventType::GTID && self.capability < Capability::GTID {
            let flags = GtidEvent::decode(event.body(), event.header().server_id)
                .map_or(GtidFlags::NONE, |gtid| gtid.flags);
            return match flags.contains(GtidFlags::STANDALONE) {
                // A standalone statement has no BEGIN.
                true => self.omission(),
                false => Verdict::SendBegin,
            };
        }
        self.understood(event_type)
    }

    /// Returns the verdict for events of the log itself.
    fn understood(&self, event_type: EventType) -> Verdict {
        let needs = match event_type {
            EventType::BINLOG_CHECKPOINT => Capability::BINLOG_CHECKPOINT,
            EventType::GTID_LIST => Capability::GTID,
            _ => return Verdict::Send,
        };
        match self.capability >= needs {
            true => Verdict::Send,
            false => self.omission(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::request::{RegistrationState, StartAt};
    use super::*;
    use paceline_binlog::event::{ChecksumAlgorithm, EventStamp, XidEvent, encode_event};
    use paceline_types::ServerId;
    use paceline_wire::command::BinlogDump;

    fn request(gtids: bool) -> DumpRequest {
        let dump = BinlogDump {
            offset: 4,
            flags: 0,
            server_id: 9,
            file: b"",
        };
        let mut request = DumpRequest::read(
            &dump,
            &|_| None,
            RegistrationState::As(ServerId(9)),
            MarkedEvents::Sent,
        )
        .unwrap();
        request.capability = Capability::GTID;
        if gtids {
            request.start = StartAt::Gtid(Default::default());
        }
        request
    }

    fn entry(text: &str, kind: StartKind) -> (DomainId, StartEntry) {
        let gtid: Gtid = text.parse().unwrap();
        (gtid.domain_id, StartEntry { gtid, kind })
    }

    /// Feeds transactions. Returns those that were sent, with `+` after one that the GTID state followed, and `!` at
    /// the end.
    fn sent(filter: &mut GroupFilter, gtids: &[&str]) -> Result<String, Refusal> {
        let log_state = || gtids.iter().map(|gtid| gtid.parse::<Gtid>().unwrap()).collect();
        let mut out = Vec::new();
        for text in gtids {
            let gtid: Gtid = text.parse().unwrap();
            let stamp = EventStamp {
                timestamp: 1,
                server_id: gtid.server_id,
                flags: EventFlags::NONE,
            };
            let (mut head, mut xid) = (Vec::new(), Vec::new());
            encode_event(
                &mut head,
                &stamp,
                100,
                &GtidEvent::new(gtid, GtidFlags::TRANSACTIONAL),
            );
            encode_event(&mut xid, &stamp, 200, &XidEvent { xid: 1 });
            let raw = |bytes| RawEvent::new(bytes, ChecksumAlgorithm::Crc32).unwrap();
            let (first, _) = filter.take(&raw(&head), log_state)?;
            let (second, then) = filter.take(&raw(&xid), log_state)?;
            assert_eq!(first, second, "{text}");
            let mark = match then {
                NextAction::Continue => "",
                NextAction::SendState => "+",
                NextAction::End => "!",
            };
            match first {
                Verdict::Send => out.push(format!("{text}{mark}")),
                _ if !mark.is_empty() => out.push(mark.to_owned()),
                _ => {}
            }
            if then == NextAction::End {
                break;
            }
        }
        Ok(out.join(" "))
    }

    #[test]
    fn each_domain_starts_at_its_own_position() {
        let entries = [entry("0-1-2", StartKind::InLog), entry("1-1-1", StartKind::InLog)].into();
        let mut filter = GroupFilter::new(&request(true), entries, UntilProgress::NoUntil);
        let log = ["0-1-1", "1-1-1", "2-1-1", "0-2-2", "0-1-2", "1-1-2", "0-1-3"];
        assert_eq!(sent(&mut filter, &log).unwrap(), "+ 2-1-1 + 1-1-2 0-1-3");
    }

    #[test]
    fn a_start_by_file_position_skips_only_the_local_domain() {
        let mut filter = GroupFilter::new(&request(false), BTreeMap::new(), UntilProgress::NoUntil);
        let log = ["0-1-1", "4294967295-1-1", "0-1-2"];
        assert_eq!(sent(&mut filter, &log).unwrap(), "0-1-1 0-1-2");
    }

    #[test]
    fn a_hole_is_refused_only_in_strict_mode() {
        let log = ["0-1-1", "0-1-3", "0-1-4"];
        let entries: BTreeMap<_, _> = [entry("0-1-2", StartKind::InLog)].into();
        let mut filter = GroupFilter::new(&request(true), entries.clone(), UntilProgress::NoUntil);
        assert_eq!(sent(&mut filter, &log).unwrap(), "0-1-3+ 0-1-4");
        let mut filter = GroupFilter::new(&request(true), entries, UntilProgress::NoUntil);
        filter.strict = GtidStrictness::NoHoles;
        assert_eq!(
            sent(&mut filter, &log).unwrap_err(),
            Refusal::Hole("0-1-2".parse().unwrap())
        );
        // A hole is possible where this server was as a replica.
        let entries = [entry("0-1-2", StartKind::OwnPosition)].into();
        let mut filter = GroupFilter::new(&request(true), entries, UntilProgress::NoUntil);
        filter.strict = GtidStrictness::NoHoles;
        assert_eq!(sent(&mut filter, &log).unwrap(), "0-1-3+ 0-1-4");
    }

    #[test]
    fn a_domain_is_checked_when_it_first_appears() {
        let entries = [entry("5-1-7", StartKind::EmptyDomain)].into();
        let mut filter = GroupFilter::new(&request(true), entries, UntilProgress::NoUntil);
        assert_eq!(
            sent(&mut filter, &["0-1-1", "5-1-1"]).unwrap_err(),
            Refusal::NotInLog("5-1-7".parse().unwrap())
        );
    }

    #[test]
    fn until_ends_each_domain_and_then_the_stream() {
        let until = UntilProgress::Until("0-1-2,1-1-2".parse().unwrap());
        let mut filter = GroupFilter::new(&request(true), BTreeMap::new(), until);
        let log = ["0-1-1", "2-1-1", "0-1-2", "1-1-1", "0-1-3", "1-1-2", "1-1-3"];
        assert_eq!(sent(&mut filter, &log).unwrap(), "0-1-1 0-1-2 1-1-1 1-1-2!");
        let over = GroupFilter::new(
            &request(true),
            BTreeMap::new(),
            UntilProgress::Until(GtidPosition::new()),
        );
        assert!(over.is_over());
    }
}
