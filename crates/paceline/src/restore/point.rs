//! Finds the point in time: the position at which the log is cut.
//!
//! ```text
//!   log   ──[ in the tables ]──┬── 0-1-7 ── 0-1-8 ── 1-4-3 ── 0-1-9 ──▶ end of the backup
//!                       earliest
//!   --until 0-1-8         keeps 0-1-8 and everything written before it, in all domains
//!   --until 0-1-8,1-4-3   keeps everything up to 1-4-3; 0-1-8,1-4-9 is refused if 0-1-9 was written before 1-4-9: it was never a state
//!   --until TIME          keeps everything before the first transaction that is later than TIME
//!   --stop-before 0-1-9   keeps everything up to 1-4-3
//! ```
//! A state of a server is one position in its log. So a list that names several domains still means one position.

use crate::backup::error::{Error, Result};
use jiff::civil::DateTime;
use jiff::tz::TimeZone;
use paceline_binlog::log::GroupLocation;
use paceline_binlog::{GtidPosition, GtidState};
use paceline_types::{Gtid, LogPosition};

/// The requested point in time.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Target {
    /// The end of the backup.
    End,
    /// After these GTIDs.
    Until(GtidPosition),
    /// After all transactions up to this time, in seconds since 1970.
    Time(i64),
    /// Before this GTID.
    Before(Gtid),
}

impl Target {
    /// Parses `--until` and `--stop-before`.
    ///
    /// # Errors
    /// [`Error::Usage`].
    pub fn parse(until: Option<&str>, stop_before: Option<&str>) -> Result<Self> {
        match (until, stop_before) {
            (None, None) => Ok(Target::End),
            (Some(_), Some(_)) => Err(Error::Usage(
                "--until and --stop-before name two different points".into(),
            )),
            (None, Some(gtid)) => {
                let gtid = gtid.trim().parse().map_err(|_| {
                    Error::Usage(format!(
                        "--stop-before: '{gtid}' is not a GTID (DOMAIN-SERVER-NUMBER)"
                    ))
                })?;
                Ok(Target::Before(gtid))
            }
            (Some(text), None) => match text.trim().parse::<GtidPosition>() {
                Ok(list) if !list.is_empty() => Ok(Target::Until(list)),
                _ => seconds(text.trim()).map(Target::Time).ok_or_else(|| {
                    Error::Usage(format!(
                        "--until: '{text}' is neither a list of GTIDs (DOMAIN-SERVER-NUMBER, …) nor a time \
                         ('YYYY-MM-DD HH:MM:SS' in the local time zone, or with an offset as in 2026-01-31T12:00:00Z)"
                    ))
                }),
            },
        }
    }
}

/// Parses a time; returns seconds since 1970.
fn seconds(text: &str) -> Option<i64> {
    if let Ok(instant) = text.parse::<jiff::Timestamp>() {
        return Some(instant.as_second());
    }
    let local: DateTime = text.parse().ok()?;
    let zoned = local.to_zoned(TimeZone::system()).ok()?;
    Some(zoned.timestamp().as_second())
}

/// A point in time in the log.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Point {
    /// Position at which the log is cut.
    pub cut: LogPosition,
    /// GTID state at this position.
    pub state: GtidState,
    /// Time of the last transaction before it; `None` if the log contains none.
    pub last_timestamp: Option<u32>,
}

/// Searches the point while the log's groups are passed in order.
#[derive(Debug)]
pub struct Search {
    target: Target,
    /// Log position of the tables: the earliest possible point.
    tables: LogPosition,
    /// State after all groups passed.
    state: GtidState,
    last_timestamp: Option<u32>,
    /// Creation time of the first file, in seconds since 1970. Everything before the file is at most as late.
    begun: u32,
    /// State of the tables and a time at which it was current, once all groups in the tables have been passed.
    earliest: Option<(GtidState, u32)>,
    /// GTIDs of a requested list that have not been passed yet.
    missing: Vec<Gtid>,
    found: Option<Point>,
}

impl Search {
    /// Starts before the first file. `before` is the state there, `begun` the file's creation time in seconds since
    /// 1970.
    pub fn new(target: Target, tables: LogPosition, before: GtidState, begun: u32) -> Self {
        let missing = match &target {
            Target::Until(list) => list.iter().collect(),
            _ => Vec::new(),
        };
        Search {
            target,
            tables,
            state: before,
            last_timestamp: None,
            begun,
            earliest: None,
            missing,
            found: None,
        }
    }

    /// Returns whether the point has been found.
    pub fn is_over(&self) -> bool {
        self.found.is_some()
    }

    /// Passes a group.
    ///
    /// # Errors
    /// [`Error::Target`] if the requested state never existed.
    pub fn pass(&mut self, group: &GroupLocation) -> Result<()> {
        if self.is_over() {
            return Ok(());
        }
        if group.end > self.tables {
            self.pass_tables();
            if self.is_over() {
                return Ok(());
            }
        }
        let is_in_tables = group.end <= self.tables;
        let stops_here = match &self.target {
            Target::End | Target::Until(_) => false,
            Target::Time(seconds) => i64::from(group.timestamp) > *seconds,
            Target::Before(gtid) => group.gtid == *gtid,
        };
        if stops_here && !is_in_tables {
            self.found = Some(self.point(group.start.max(self.tables)));
            return Ok(());
        }
        if stops_here {
            // The point is before the tables. The groups up to the tables' position are only passed to report the
            // earliest point.
            self.missing = vec![group.gtid];
            self.target = Target::Until(GtidPosition::new());
        }
        self.state.update(group.gtid);
        self.last_timestamp = Some(group.timestamp);
        if stops_here || is_in_tables {
            return Ok(());
        }
        // An empty list means that the point is known to be before the tables.
        if let Target::Until(list) = &self.target
            && !list.is_empty()
        {
            self.missing.retain(|gtid| *gtid != group.gtid);
            if self.missing.is_empty() {
                let point = self.point(group.end);
                let past: Vec<Gtid> = list
                    .iter()
                    .filter_map(|wanted| point.state.last(wanted.domain_id).filter(|last| *last != wanted))
                    .collect();
                if let Some(last) = past.first() {
                    return Err(Error::Target(format!(
                        "{list} was never a state of this server: when all of these were written, {last} was already written too. \
                         Restore to an earlier point and replicate the rest (START SLAVE UNTIL stops each domain separately)"
                    )));
                }
                self.found = Some(point);
            }
        }
        Ok(())
    }

    /// Called when all groups in the tables have been passed.
    fn pass_tables(&mut self) {
        if self.earliest.is_some() {
            return;
        }
        let time = self.last_timestamp.unwrap_or(self.begun);
        self.earliest = Some((self.state.clone(), time));
        if let Target::Time(seconds) = self.target
            && i64::from(time) > seconds
        {
            // The tables may contain later transactions, which are in no file of this backup.
            self.target = Target::Until(GtidPosition::new());
        }
        if let Target::Until(list) = &self.target
            && !list.is_empty()
        {
            let state = &self.state;
            self.missing
                .retain(|gtid| state.last(gtid.domain_id) != Some(*gtid));
            if self.missing.is_empty() {
                self.found = Some(self.point(self.tables));
            }
        }
    }

    fn point(&self, cut: LogPosition) -> Point {
        Point {
            cut,
            state: self.state.clone(),
            last_timestamp: self.last_timestamp,
        }
    }

    /// Ends the search. All groups up to `end` have been passed.
    ///
    /// # Errors
    /// [`Error::Target`].
    pub fn finish(mut self, end: LogPosition) -> Result<Point> {
        self.pass_tables();
        if let Some(point) = self.found {
            return Ok(point);
        }
        let (earliest, time) = self.earliest.clone().unwrap_or_default();
        let too_early = |what: String| {
            Err(Error::Target(format!(
                "{what} is before the tables of this backup. The earliest point that it can be restored to is '{}' ({}); for an \
                 earlier point, use an earlier backup",
                earliest.position(),
                time_text(time)
            )))
        };
        let not_there = |what: String| {
            Err(Error::Target(format!(
                "{what} is not in this backup, which reaches from '{}' to '{}'",
                earliest.position(),
                self.state.position()
            )))
        };
        let reached = |gtid: &Gtid| {
            earliest
                .highest_sequence(gtid.domain_id)
                .is_some_and(|highest| highest >= gtid.sequence)
        };
        match &self.target {
            Target::End | Target::Time(_) => Ok(self.point(end)),
            Target::Before(gtid) if reached(gtid) => too_early(gtid.to_string()),
            Target::Before(gtid) => not_there(gtid.to_string()),
            Target::Until(list) if list.is_empty() => too_early(match self.missing.first() {
                Some(gtid) => format!("the requested point, before {gtid},"),
                None => "the requested point".into(),
            }),
            Target::Until(list) => {
                let missing: Vec<String> = self.missing.iter().map(Gtid::to_string).collect();
                match self.missing.iter().any(reached) {
                    true => too_early(list.to_string()),
                    false => not_there(missing.join(",")),
                }
            }
        }
    }
}

/// Returns a time as a text for users, in the local time zone.
pub fn time_text(seconds: u32) -> String {
    match jiff::Timestamp::from_second(i64::from(seconds)) {
        Ok(instant) => instant
            .to_zoned(TimeZone::system())
            .strftime("%Y-%m-%d %H:%M:%S")
            .to_string(),
        Err(_) => seconds.to_string(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Groups of 100 bytes each, from offset 1,000. The tables contain those up to 1,200: 0-1-1 and 1-4-1.
    fn groups() -> Vec<GroupLocation> {
        let gtids = [
            ("0-1-1", 10),
            ("1-4-1", 20),
            ("0-1-2", 30),
            ("1-4-2", 30),
            ("0-1-3", 40),
            ("0-2-5", 50),
        ];
        let place = |(number, (gtid, timestamp)): (usize, &(&str, u32))| GroupLocation {
            gtid: gtid.parse().unwrap(),
            timestamp: *timestamp,
            start: LogPosition::new(7, 1000 + number as u64 * 100),
            end: LogPosition::new(7, 1100 + number as u64 * 100),
        };
        gtids.iter().enumerate().map(place).collect()
    }

    fn search(target: Target) -> Result<Point> {
        let mut before = GtidState::new();
        before.update("3-1-9".parse().unwrap());
        let mut search = Search::new(target, LogPosition::new(7, 1200), before, 5);
        for group in groups() {
            search.pass(&group)?;
        }
        search.finish(LogPosition::new(7, 1600))
    }

    fn cut(until: Option<&str>, stop_before: Option<&str>) -> Result<(u64, String)> {
        let point = search(Target::parse(until, stop_before)?)?;
        Ok((point.cut.offset(), point.state.position().to_string()))
    }

    #[test]
    fn a_list_of_gtids_cuts_after_the_last_of_them() {
        let cases = [
            ("0-1-2", 1300, "0-1-2,1-4-1,3-1-9"),
            ("0-1-3", 1500, "0-1-3,1-4-2,3-1-9"),
            ("0-2-5", 1600, "0-2-5,1-4-2,3-1-9"),
            ("0-1-2,1-4-2", 1400, "0-1-2,1-4-2,3-1-9"),
            // Exactly the state of the tables, and a domain that has not changed since.
            ("0-1-1,1-4-1", 1200, "0-1-1,1-4-1,3-1-9"),
            ("0-1-1", 1200, "0-1-1,1-4-1,3-1-9"),
            ("0-1-3,3-1-9", 1500, "0-1-3,1-4-2,3-1-9"),
        ];
        for (until, offset, position) in cases {
            assert_eq!(
                cut(Some(until), None).unwrap(),
                (offset, position.to_owned()),
                "{until}"
            );
        }
        let problem = |until| cut(Some(until), None).unwrap_err().to_string();
        assert!(
            problem("0-1-3,1-4-1").contains("never a state"),
            "{}",
            problem("0-1-3,1-4-1")
        );
        assert!(problem("0-1-2,0-9-9").contains("neither a list"));
        assert!(problem("0-1-4").contains("not in this backup"));
        assert!(problem("9-1-1").contains("reaches from '0-1-1,1-4-1,3-1-9' to '0-2-5,1-4-2,3-1-9'"));
        assert!(
            problem("3-1-8").contains("earliest point that it can be restored to is '0-1-1,1-4-1,3-1-9'")
        );
    }

    #[test]
    fn a_time_cuts_before_the_first_later_transaction_and_a_stop_before_its_gtid() {
        let at = |seconds| search(Target::Time(seconds)).map(|point| point.cut.offset());
        assert_eq!(at(30).unwrap(), 1400);
        assert_eq!(at(29).unwrap(), 1200);
        assert_eq!(at(20).unwrap(), 1200);
        assert_eq!(at(49).unwrap(), 1500);
        assert_eq!(at(1000).unwrap(), 1600);
        let early = at(15).unwrap_err().to_string();
        assert!(early.contains("before 1-4-1, is before the tables"), "{early}");

        // The tables' log is in no file of the backup. Only the creation time of the first file is known.
        let behind = |seconds| {
            let mut search = Search::new(
                Target::Time(seconds),
                LogPosition::new(7, 1000),
                GtidState::new(),
                5,
            );
            for group in groups() {
                search.pass(&group)?;
            }
            search
                .finish(LogPosition::new(7, 1600))
                .map(|point| point.cut.offset())
        };
        assert_eq!(behind(5).unwrap(), 1000);
        assert_eq!(behind(10).unwrap(), 1100);
        let early = behind(4).unwrap_err().to_string();
        assert!(
            early.contains(&format!("requested point is before the tables of this backup. The earliest point that it can be restored to is '' ({})", time_text(5))),
            "{early}"
        );

        assert_eq!(cut(None, Some("0-1-2")).unwrap().0, 1200);
        assert_eq!(cut(None, Some("0-2-5")).unwrap().0, 1500);
        assert!(
            cut(None, Some("1-4-1"))
                .unwrap_err()
                .to_string()
                .contains("earliest point")
        );
        assert!(
            cut(None, Some("0-1-9"))
                .unwrap_err()
                .to_string()
                .contains("not in this backup")
        );
        assert_eq!(cut(None, None).unwrap().0, 1600);
    }

    #[test]
    fn times_are_parsed_in_local_time_or_with_an_offset() {
        let time = |text| match Target::parse(Some(text), None).unwrap() {
            Target::Time(seconds) => seconds,
            other => panic!("{other:?}"),
        };
        assert_eq!(time("1970-01-02T00:00:00Z"), 86_400);
        assert_eq!(time("1970-01-02 01:00:00+01:00"), 86_400);
        let local = time("2026-01-31 12:00:00");
        assert_eq!(time_text(local as u32), "2026-01-31 12:00:00");
        for wrong in ["", "yesterday", "0-1", "12:00"] {
            assert!(Target::parse(Some(wrong), None).is_err(), "{wrong}");
        }
        assert!(Target::parse(Some("0-1-1"), Some("0-1-2")).is_err());
        assert!(Target::parse(None, Some("0-1-1,1-1-1")).is_err());
    }
}
