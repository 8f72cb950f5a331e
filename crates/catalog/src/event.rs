//! Events: programs that run at their times.
//!
//! The catalog knows when an event is meant to run; the server's scheduler runs it. When it ran last is not part of
//! the record: the log would grow with every run. A one-time event that has run is dropped or disabled by a statement
//! of its own, which is logged.
//!
//! Like a [routine](crate::RoutineDefinition), an event is parsed when it first runs.

use std::fmt;
use std::ops::Deref;
use std::sync::{Arc, OnceLock};

use paceline_program::Code;
use paceline_types::error_code::ER_SP_PROC_TABLE_CORRUPT;
use paceline_types::temporal::{Interval, IntervalUnit, TimeZone, add_interval};
use serde::{Deserialize, Serialize};

use crate::error::{Error, Result};
use crate::routine::ProgramEnvironment;
use paceline_syntax::definition::DdlStatement;
use paceline_syntax::{EventCompletion, EventStatus, Statement, parse_first};

/// An event in the form of its catalog record.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[allow(missing_docs)] // A field whose name says all needs no comment.
pub struct EventDescription {
    pub database: String,
    pub name: String,
    pub schedule: EventTimes,
    pub completion: EventCompletion,
    pub status: EventStatus,
    pub comment: String,
    /// Text of the body.
    pub body: String,
    /// `DEFINER`: user and host.
    pub definer: (String, String),
    pub environment: ProgramEnvironment,
    /// Name of the time zone of the session that created it, in which its intervals are counted.
    pub time_zone: String,
    /// Number of the server on which it was created.
    pub originator: u32,
    /// Time of creation in seconds since 1970.
    pub created_seconds: i64,
    /// Time of the last change in seconds since 1970.
    pub modified_seconds: i64,
}

/// Times at which an event runs, in seconds since 1970.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub enum EventTimes {
    /// `AT`: once.
    At(i64),
    /// `EVERY`.
    Every {
        /// Distance of two runs, in the smallest part of the unit; positive.
        value: u64,
        /// Name of the unit.
        unit: String,
        /// First run.
        starts: i64,
        /// No run is after this time.
        ends: Option<i64>,
    },
}

/// Maximum distance of two runs, in the smallest part of its unit.
pub(crate) const INTERVAL_MAX: u64 = 1_000_000_000;

impl EventTimes {
    /// Returns the first time of a run that is not before `from`, all in seconds since 1970. `None` if there is none.
    pub fn next(&self, from: i64, zone: &TimeZone) -> Option<i64> {
        match self {
            EventTimes::At(time) => (*time >= from).then_some(*time),
            EventTimes::Every {
                value,
                unit,
                starts,
                ends,
            } => {
                let next = match *starts >= from {
                    true => *starts,
                    false => next_multiple(*value, event_unit(unit)?, *starts, from, zone)?,
                };
                ends.is_none_or(|ends| next <= ends).then_some(next)
            }
        }
    }
}

/// Returns the first `starts + n * interval` that is not before `from`, which is later than `starts`.
fn next_multiple(value: u64, unit: IntervalUnit, starts: i64, from: i64, zone: &TimeZone) -> Option<i64> {
    let (months, micros) = smallest_part(unit);
    if months > 0 {
        let start = zone.to_local(starts);
        let until = zone.to_local(from);
        let step = i64::try_from(value).ok()?.checked_mul(months)?;
        let months_of =
            |time: paceline_types::DateTime| i64::from(time.date.year) * 12 + i64::from(time.date.month) - 1;
        let mut multiple = (months_of(until) - months_of(start)) / step;
        loop {
            let interval = Interval {
                months: multiple.checked_mul(step)?,
                micros: 0,
            };
            let time = zone.to_utc(add_interval(start, interval)?)?;
            if time >= from {
                return Some(time);
            }
            multiple += 1;
        }
    }
    let step = i64::try_from(i128::from(value) * micros / 1_000_000).ok()?;
    let day = 86_400;
    if step % day != 0 {
        let passed = (from - starts + step - 1) / step;
        return starts.checked_add(passed.checked_mul(step)?);
    }
    // Whole days keep the time of day, when clocks change, too.
    let start = zone.to_local(starts);
    let mut multiple = (from - starts).div_euclid(step).max(1) - 1;
    loop {
        let interval = Interval {
            months: 0,
            micros: i128::from(multiple) * i128::from(step) * 1_000_000,
        };
        let time = zone.to_utc(add_interval(start, interval)?)?;
        if time >= from {
            return Some(time);
        }
        multiple += 1;
    }
}

/// Returns the length of the smallest part of a unit in months and in microseconds, of which one is 0. MariaDB stores
/// weeks in days and quarters in months.
pub(crate) fn smallest_part(unit: IntervalUnit) -> (i64, i128) {
    use IntervalUnit as U;
    let seconds = match unit {
        U::Year => return (12, 0),
        U::Quarter | U::Month | U::YearMonth => return (1, 0),
        U::Week | U::Day => 86_400,
        U::Hour | U::DayHour => 3600,
        U::Minute | U::DayMinute | U::HourMinute => 60,
        _ => 1,
    };
    (0, seconds * 1_000_000)
}

/// Returns the unit with this name.
pub(crate) fn event_unit(name: &str) -> Option<IntervalUnit> {
    use IntervalUnit as U;
    Some(match name {
        "YEAR" => U::Year,
        "QUARTER" => U::Quarter,
        "MONTH" => U::Month,
        "WEEK" => U::Week,
        "DAY" => U::Day,
        "HOUR" => U::Hour,
        "MINUTE" => U::Minute,
        "SECOND" => U::Second,
        "YEAR_MONTH" => U::YearMonth,
        "DAY_HOUR" => U::DayHour,
        "DAY_MINUTE" => U::DayMinute,
        "DAY_SECOND" => U::DaySecond,
        "HOUR_MINUTE" => U::HourMinute,
        "HOUR_SECOND" => U::HourSecond,
        "MINUTE_SECOND" => U::MinuteSecond,
        _ => return None,
    })
}

/// Definition of an event as the rest of the server uses it. Immutable; dereferences to its [`EventDescription`].
pub struct EventDefinition {
    description: EventDescription,
    compiled: OnceLock<Result<Arc<Code>>>,
}

impl EventDefinition {
    /// Creates a definition.
    pub fn new(description: EventDescription) -> Self {
        EventDefinition {
            description,
            compiled: OnceLock::new(),
        }
    }

    /// Returns the description in the catalog record.
    pub fn description(&self) -> &EventDescription {
        &self.description
    }

    /// Returns its time zone; the system's if its name is unknown here.
    pub fn zone(&self) -> TimeZone {
        TimeZone::parse(&self.time_zone).unwrap_or_else(|_| TimeZone::system())
    }

    /// Returns the compiled program.
    ///
    /// # Errors
    /// 1457 if this version cannot parse the text.
    pub fn compiled(&self) -> Result<Arc<Code>> {
        let compile = || {
            let text = format!("CREATE PROCEDURE x() {}", self.body);
            let options = self.environment.parse_options();
            match parse_first(text.as_bytes(), &options).map(|parsed| parsed.statement) {
                Ok(Statement::Ddl(DdlStatement::CreateRoutine(routine))) => {
                    Ok(Arc::new(Code::compile(&routine.program)))
                }
                _ => {
                    let name = format!("{}.{}", self.database, self.name);
                    Err(Error::new(ER_SP_PROC_TABLE_CORRUPT, &[&name, &-6]))
                }
            }
        };
        self.compiled.get_or_init(compile).clone()
    }
}

impl Deref for EventDefinition {
    type Target = EventDescription;

    fn deref(&self) -> &EventDescription {
        &self.description
    }
}

impl fmt::Debug for EventDefinition {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("EventDefinition")
            .field("description", &self.description)
            .finish_non_exhaustive()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn every(value: u64, unit: &str, starts: i64, ends: Option<i64>) -> EventTimes {
        EventTimes::Every {
            value,
            unit: unit.to_owned(),
            starts,
            ends,
        }
    }

    #[test]
    fn runs_are_multiples_of_the_interval() {
        let zone = TimeZone::UTC;
        let times = every(10, "SECOND", 100, Some(130));
        let next = |from| times.next(from, &zone);
        assert_eq!(next(0), Some(100));
        assert_eq!(
            (next(100), next(101), next(110)),
            (Some(100), Some(110), Some(110))
        );
        assert_eq!((next(121), next(131)), (Some(130), None));
        let once = EventTimes::At(50);
        assert_eq!((once.next(50, &zone), once.next(51, &zone)), (Some(50), None));
    }

    #[test]
    fn months_keep_their_day() {
        let zone = TimeZone::UTC;
        // 2026-01-31 00:00:00.
        let starts = 1_769_817_600;
        let times = every(1, "MONTH", starts, None);
        let february = times.next(starts + 1, &zone).unwrap();
        assert_eq!(zone.to_local(february).to_string(), "2026-02-28 00:00:00");
        let march = times.next(february + 1, &zone).unwrap();
        assert_eq!(zone.to_local(march).to_string(), "2026-03-31 00:00:00");
        let week = every(7, "WEEK", starts, None);
        assert_eq!(week.next(starts + 1, &zone), Some(starts + 7 * 86_400));
    }
}
