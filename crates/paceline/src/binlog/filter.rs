//! Selects events: by position, GTID, time, server and domain.
//!
//! GTIDs select whole event groups. Before the first GTID of the first file all events pass, because a reader needs
//! them for any part of the file. If an event group is not selected, everything up to the next group is skipped with
//! it.
//!
//! Transactions that are not replicated ([`LOCAL_DOMAIN`]) have sequence numbers without a relation to their position.
//! They count as after a start position once everything that the position names has been read.

use super::error::{Error, Result};
use super::options::{Bound, Options, Strictness};
use super::source::LoggedEvent;
use paceline_binlog::event::{Event, EventType, GtidListEvent};
use paceline_binlog::{GtidPosition, LOCAL_DOMAIN};
use paceline_types::{Gtid, ServerId};
use std::collections::BTreeSet;

/// Decision about an event.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Verdict {
    /// The event is selected.
    Pass,
    /// The event is not selected.
    Skip,
    /// Neither the event nor anything after it is selected.
    Stop,
}

/// A set of ids, or its complement.
#[derive(Clone, Debug)]
enum Ids {
    All,
    Only(BTreeSet<u32>),
    AllBut(BTreeSet<u32>),
}

impl Ids {
    fn of(only: impl IntoIterator<Item = u32>, but: &[u32]) -> Self {
        let only: BTreeSet<_> = only.into_iter().collect();
        match (only.is_empty(), but) {
            (false, _) => Ids::Only(only),
            (true, []) => Ids::All,
            (true, but) => Ids::AllBut(but.iter().copied().collect()),
        }
    }

    fn has(&self, id: u32) -> bool {
        match self {
            Ids::All => true,
            Ids::Only(ids) => ids.contains(&id),
            Ids::AllBut(ids) => !ids.contains(&id),
        }
    }
}

/// The state of selecting events.
#[derive(Clone, Debug)]
pub struct Filter {
    /// Number of events at the start that are still to be skipped, counting all events.
    events_to_skip: u64,
    start: Option<Bound>,
    stop: Option<Bound>,
    start_time: Option<u32>,
    stop_time: Option<u32>,
    domains: Ids,
    servers: Ids,
    /// Only events of this server are selected, if it is set.
    server: Option<ServerId>,
    strictness: Strictness,
    /// Last GTID read in each domain.
    last_read: GtidPosition,
    group: Verdict,
}

impl Filter {
    /// Creates the filter for the options.
    pub fn new(options: &Options) -> Result<Self> {
        Ok(Filter {
            events_to_skip: options.offset,
            start: options.start()?,
            stop: options.stop()?,
            start_time: options.start_time()?,
            stop_time: options.stop_time()?,
            domains: Ids::of(options.do_domain_ids.iter().copied(), &options.ignore_domain_ids),
            servers: Ids::of(options.do_server_ids.iter().copied(), &options.ignore_server_ids),
            server: options.server_id.map(ServerId),
            strictness: options.strictness(),
            last_read: GtidPosition::new(),
            group: Verdict::Pass,
        })
    }

    /// Returns whether the selection depends on GTIDs.
    pub fn looks_at_gtids(&self) -> bool {
        matches!(self.start, Some(Bound::Gtids(_)))
            || matches!(self.stop, Some(Bound::Gtids(_)))
            || !matches!((&self.domains, &self.servers), (Ids::All, Ids::All))
            || self.server.is_some()
    }

    /// Returns the offset at which reading of the first file starts, if one is given.
    pub fn start_offset(&self) -> Option<u64> {
        match self.start {
            Some(Bound::Offset(offset)) => Some(offset),
            _ => None,
        }
    }

    /// Returns the GTIDs after which to start, if given.
    pub fn start_gtids(&self) -> Option<&GtidPosition> {
        match &self.start {
            Some(Bound::Gtids(position)) => Some(position),
            _ => None,
        }
    }

    /// Returns the offset at which to stop in the last file, if given.
    pub fn stop_offset(&self) -> Option<u64> {
        match self.stop {
            Some(Bound::Offset(offset)) => Some(offset),
            _ => None,
        }
    }

    /// Sets the GTID state at the beginning of the first file. Fails if the start position is before this state.
    pub fn begin_with(&mut self, list: &GtidListEvent) -> Result<()> {
        if self.last_read.is_empty() {
            self.last_read = list.state().position();
            for expected in self.start_gtids().into_iter().flat_map(GtidPosition::iter) {
                match self.last_read.get(expected.domain_id) {
                    Some(found) if found.sequence > expected.sequence => {
                        return Err(Error::MissingStart {
                            domain: expected.domain_id,
                            expected,
                            found,
                        });
                    }
                    _ => {}
                }
            }
        }
        Ok(())
    }

    /// Starts another file, or another stream from a server: events before its first transaction belong to no group.
    pub fn begin_part(&mut self) {
        self.group = Verdict::Pass;
    }

    /// Decides about the next event. `stop_offset` is the offset at which to stop in its file.
    pub fn judge(&mut self, event: &LoggedEvent<'_>, stop_offset: Option<u64>) -> Result<Verdict> {
        let header = event.header();
        let past_stop = self.stop_time.is_some_and(|stop| header.timestamp >= stop)
            || stop_offset.is_some_and(|stop| event.offset >= stop);
        if header.event_type == EventType::FORMAT_DESCRIPTION {
            self.events_to_skip = self.events_to_skip.saturating_sub(1);
            return Ok(if past_stop { Verdict::Stop } else { Verdict::Pass });
        }
        if header.event_type == EventType::GTID {
            let decoded = event.decode();
            if let Ok(Event::Gtid(gtid)) = decoded {
                self.group = self.judge_group(gtid.gtid)?;
                if self.group == Verdict::Stop {
                    return Ok(Verdict::Stop);
                }
            }
        }
        if self.events_to_skip > 0 {
            self.events_to_skip -= 1;
            return Ok(Verdict::Skip);
        }
        if self.start_time.is_some_and(|start| header.timestamp < start) {
            return Ok(Verdict::Skip);
        }
        // Times may go backwards: after the first event in range, all events pass regardless of their times.
        self.start_time = None;
        if self.group == Verdict::Skip {
            return Ok(Verdict::Skip);
        }
        let is_others = self.server.is_some_and(|server| header.server_id != server);
        if is_others && header.event_type != EventType::ROTATE {
            return Ok(Verdict::Skip);
        }
        Ok(if past_stop { Verdict::Stop } else { Verdict::Pass })
    }

    fn judge_group(&mut self, gtid: Gtid) -> Result<Verdict> {
        let past = |bound: &Option<Bound>, otherwise: bool| match bound {
            Some(Bound::Gtids(position)) => match position.get(gtid.domain_id) {
                Some(last) => gtid.sequence > last.sequence,
                None => otherwise,
            },
            _ => otherwise,
        };
        // If the stop names some domains, transactions of other domains are not selected.
        let stops_here = matches!(self.stop, Some(Bound::Gtids(_)));
        if stops_here && self.stop_is_reached() {
            return Ok(Verdict::Stop);
        }
        let ids = self.domains.has(gtid.domain_id.0) && self.servers.has(gtid.server_id.0);
        let verdict = |in_range| match in_range && ids {
            true => Verdict::Pass,
            false => Verdict::Skip,
        };
        if gtid.domain_id == LOCAL_DOMAIN {
            return Ok(verdict(self.start_is_reached()));
        }
        if self.strictness == Strictness::Strict
            && let Some(before) = self.last_read.get(gtid.domain_id)
            && before.sequence >= gtid.sequence
        {
            return Err(Error::OutOfOrder { gtid, before });
        }
        self.last_read.set(gtid);
        Ok(verdict(past(&self.start, true) && !past(&self.stop, stops_here)))
    }

    /// Returns whether everything up to the first transaction after the start can be skipped without reading it.
    pub fn may_jump(&self) -> bool {
        self.group == Verdict::Skip
            && self.start_gtids().is_some()
            && self.start_time.is_none()
            && self.events_to_skip == 0
    }

    /// Returns whether a transaction is, or may be followed by one that is, after the start. Otherwise it is counted as
    /// read. (Of skipped transactions only the last one of each domain is passed to this function. Transactions after
    /// the very last one before the start must all be examined.)
    pub fn is_after_start(&mut self, gtid: Gtid) -> bool {
        if gtid.domain_id == LOCAL_DOMAIN {
            return self.start_is_reached();
        }
        let last = self.start_gtids().and_then(|start| start.get(gtid.domain_id));
        let is_before = last.is_some_and(|last| gtid.sequence < last.sequence);
        if is_before {
            self.last_read.advance(gtid);
        }
        !is_before
    }

    fn start_is_reached(&self) -> bool {
        self.start_gtids()
            .is_none_or(|start| self.last_read.covers(start))
    }

    fn stop_is_reached(&self) -> bool {
        match &self.stop {
            Some(Bound::Gtids(stop)) => self.last_read.covers(stop),
            _ => false,
        }
    }

    /// Returns whether the start is after `next`, the GTID state at the beginning of a file. Then the files before it
    /// are not needed.
    pub fn starts_after(&self, next: &GtidListEvent) -> bool {
        let position = next.state().position();
        self.start_gtids().is_some_and(|start| {
            let (mut gtids, mut any) = (position.iter(), false);
            let all = gtids.all(|gtid| {
                any = true;
                start.reaches(gtid.domain_id, gtid.sequence)
            });
            // The end of the file may contain transactions that are not replicated and are after the start.
            all && any && !position.covers(start)
        })
    }

    /// Checks after all files were read whether the requested range was found. Returns a GTID that was not found if the
    /// log ends before the stop; everything up to the end of the log was then still selected.
    ///
    /// # Errors
    /// [`Error::StartNotReached`] if the log ends before the start.
    pub fn finish(&self) -> Result<Option<Gtid>> {
        let missing = |bound: &Option<Bound>| match bound {
            Some(Bound::Gtids(position)) => position
                .iter()
                .find(|gtid| !self.last_read.reaches(gtid.domain_id, gtid.sequence)),
            _ => None,
        };
        match missing(&self.start) {
            Some(gtid) => Err(Error::StartNotReached(gtid)),
            None => Ok(missing(&self.stop)),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::binlog::source::Checksums;
    use clap::Parser;
    use paceline_binlog::event::{
        EventFlags, EventStamp, FormatDescription, GtidEvent, GtidFlags, XidEvent, encode_event,
    };

    #[derive(Parser)]
    #[command(disable_help_flag = true, version)]
    struct CommandLine {
        #[command(flatten)]
        options: Options,
    }

    fn filter(arguments: &[&str]) -> Filter {
        let line = CommandLine::parse_from(["binlog"].iter().chain(arguments).chain(&["file"]));
        Filter::new(&line.options).unwrap()
    }

    /// Returns the transactions that pass. Each consists of a Gtid and an Xid event; their times are 1, 2, ….
    fn passed(arguments: &[&str], gtids: &[&str]) -> Vec<String> {
        let mut filter = filter(arguments);
        let format = FormatDescription::new("10.11.0-MariaDB", 0);
        let mut passed = Vec::new();
        for (number, text) in gtids.iter().enumerate() {
            let gtid: Gtid = text.parse().unwrap();
            let stamp = EventStamp {
                timestamp: number as u32 + 1,
                server_id: gtid.server_id,
                flags: EventFlags::NONE,
            };
            let (mut first, mut second) = (Vec::new(), Vec::new());
            encode_event(&mut first, &stamp, 4, &GtidEvent::new(gtid, GtidFlags::NONE));
            encode_event(&mut second, &stamp, 4, &XidEvent { xid: 1 });
            let mut verdicts = Vec::new();
            for bytes in [&first, &second] {
                let event = LoggedEvent::new(100 * number as u64, bytes, &format, Checksums::Verify).unwrap();
                verdicts.push(filter.judge(&event, filter.stop_offset()).unwrap());
            }
            assert!(
                verdicts[0] == verdicts[1] || verdicts[0] == Verdict::Stop,
                "{verdicts:?}"
            );
            match verdicts[0] {
                Verdict::Pass => passed.push(text.to_string()),
                Verdict::Skip => {}
                Verdict::Stop => break,
            }
        }
        passed
    }

    const LOG: [&str; 6] = ["0-1-1", "1-1-1", "0-2-2", "0-1-3", "1-1-2", "0-1-4"];

    #[test]
    fn a_gtid_in_a_position_bounds_its_own_domain_only() {
        assert_eq!(
            passed(&["--start-position=0-1-3"], &LOG),
            ["1-1-1", "1-1-2", "0-1-4"]
        );
        assert_eq!(
            passed(&["--start-position=0-1-3,1-1-1"], &LOG),
            ["1-1-2", "0-1-4"]
        );
        assert_eq!(passed(&["--stop-position=0-2-2"], &LOG), ["0-1-1", "0-2-2"]);
        assert_eq!(
            passed(&["--stop-position=0-2-2,1-1-2"], &LOG),
            ["0-1-1", "1-1-1", "0-2-2", "1-1-2"]
        );
    }

    #[test]
    fn transactions_that_are_not_replicated_are_selected_by_their_position() {
        let [one, two, three] = ["4294967295-1-7", "4294967295-1-8", "4294967295-1-1"];
        let log = [one, "0-1-1", "1-1-1", two, "0-1-2", "1-1-2", three, "0-1-3"];
        assert_eq!(passed(&[], &log), log);
        assert_eq!(
            passed(&["--start-position=0-1-2,1-1-1"], &log),
            ["1-1-2", three, "0-1-3"]
        );
        assert_eq!(passed(&["--start-position=1-1-1,0-1-1"], &log), log[3..]);
        assert_eq!(passed(&["--stop-position=0-1-2,1-1-1"], &log), log[..5]);
        assert_eq!(passed(&["--do-domain-ids=1"], &log), ["1-1-1", "1-1-2"]);
        let gtid = |text: &str| text.parse::<Gtid>().unwrap();
        let mut filter = filter(&["--start-position=0-1-2"]);
        let wanted: Vec<_> = log.iter().map(|text| filter.is_after_start(gtid(text))).collect();
        // In other domains everything is selected. The last transaction before the start is examined again.
        assert_eq!(wanted, [false, false, true, false, true, true, false, true]);
        filter.judge_group(gtid("0-1-2")).unwrap();
        assert!(filter.is_after_start(gtid(three)));
    }

    #[test]
    fn events_are_selected_by_server_domain_offset_and_time() {
        assert_eq!(passed(&["--do-server-ids=2"], &LOG), ["0-2-2"]);
        assert_eq!(passed(&["--server-id=2"], &LOG), ["0-2-2"]);
        assert_eq!(passed(&["--ignore-domain-ids=0"], &LOG), ["1-1-1", "1-1-2"]);
        assert_eq!(passed(&["--do-domain-ids=1,2"], &LOG), ["1-1-1", "1-1-2"]);
        assert_eq!(passed(&["--stop-position=200"], &LOG), ["0-1-1", "1-1-1"]);
        assert_eq!(passed(&["--stop-datetime=1970-01-01 00:00:00"], &LOG).len(), 0);
        assert_eq!(passed(&[], &LOG), LOG);
    }

    #[test]
    fn a_start_that_is_never_reached_is_an_error() {
        let mut filter = filter(&["--start-position=0-1-9"]);
        filter
            .begin_with(&GtidListEvent {
                gtids: vec!["0-1-5".parse().unwrap()],
                flags: 0,
            })
            .unwrap();
        assert!(matches!(filter.finish(), Err(Error::StartNotReached(gtid)) if gtid.to_string() == "0-1-9"));
    }

    #[test]
    fn sequence_numbers_must_grow_in_strict_mode_except_in_the_local_domain() {
        let gtid = |text: &str| text.parse::<Gtid>().unwrap();
        let mut strict = filter(&[]);
        for text in ["0-1-5", "1-1-3", "0-2-6"] {
            assert_eq!(strict.judge_group(gtid(text)).unwrap(), Verdict::Pass);
        }
        assert!(matches!(
            strict.judge_group(gtid("0-1-6")),
            Err(Error::OutOfOrder { .. })
        ));
        // A restarted server starts its local sequence numbers again.
        for text in ["4294967295-1-1", "4294967295-1-2", "4294967295-1-1"] {
            assert_eq!(strict.judge_group(gtid(text)).unwrap(), Verdict::Pass);
        }
        let mut lax = filter(&["--skip-gtid-strict-mode"]);
        for text in ["0-1-5", "0-1-5", "0-2-1"] {
            assert_eq!(lax.judge_group(gtid(text)).unwrap(), Verdict::Pass);
        }
    }

    #[test]
    fn files_that_begin_after_the_start_are_refused() {
        let mut filter = filter(&["--start-position=0-1-9"]);
        let list = GtidListEvent {
            gtids: vec!["0-1-10".parse().unwrap()],
            flags: 0,
        };
        assert!(matches!(
            filter.begin_with(&list),
            Err(Error::MissingStart { .. })
        ));
        assert!(!filter.starts_after(&list));
    }

    #[test]
    fn a_file_is_skipped_only_if_the_next_one_begins_before_the_start() {
        let starts_after = |start: &str, gtids: &[&str]| {
            filter(&[&format!("--start-position={start}")]).starts_after(&GtidListEvent {
                gtids: gtids.iter().map(|gtid| gtid.parse().unwrap()).collect(),
                flags: 0,
            })
        };
        assert!(starts_after("0-1-9", &["0-1-8"]));
        assert!(!starts_after("0-1-9", &["0-1-9"]));
        assert!(!starts_after("0-1-9", &["0-1-8", "1-1-1"]));
        assert!(!starts_after("0-1-9", &[]));
        assert!(starts_after("0-1-9,1-1-3", &["0-1-9", "1-1-2"]));
        assert!(!starts_after("0-1-9,1-1-3", &["0-1-9", "1-1-3"]));
    }
}
