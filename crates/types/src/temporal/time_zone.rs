//! Time zones: fixed offsets, the system's zone, and named zones from the system's zone database.

use super::{Date, DateTime, calendar};
use crate::error::{Error, Result};
use std::borrow::Cow;
use std::fmt;

/// A time zone, as a value of the variable `time_zone`. Cheap to clone.
#[derive(Clone, PartialEq)]
pub struct TimeZone {
    name: Cow<'static, str>,
    rule: Rule,
}

#[derive(Clone, PartialEq)]
enum Rule {
    /// Fixed offset in seconds east of UTC.
    Offset(i32),
    /// Rules from the zone database.
    Database(jiff::tz::TimeZone),
}

/// Name of the system's zone.
const SYSTEM: &str = "SYSTEM";

/// Day number of 1970-01-01.
const EPOCH_DAY: i64 = 719_528;
const DAY_SECONDS: i64 = 86_400;

impl TimeZone {
    /// UTC.
    pub const UTC: TimeZone = TimeZone {
        name: Cow::Borrowed("UTC"),
        rule: Rule::Offset(0),
    };

    /// Returns the zone of this machine (or of the environment variable `TZ`), named `SYSTEM`.
    pub fn system() -> TimeZone {
        let zone = jiff::tz::TimeZone::system();
        let rule = match zone.to_fixed_offset() {
            Ok(offset) => Rule::Offset(offset.seconds()),
            Err(_) => Rule::Database(zone),
        };
        TimeZone {
            name: Cow::Borrowed(SYSTEM),
            rule,
        }
    }

    /// Parses `SYSTEM`, an offset from `-12:59` to `+14:00`, or a name from the zone database.
    ///
    /// # Errors
    /// `UnknownTimeZone` (1298) for any other text.
    pub fn parse(name: &str) -> Result<TimeZone> {
        if name.eq_ignore_ascii_case(SYSTEM) {
            return Ok(TimeZone::system());
        }
        if name.eq_ignore_ascii_case("UTC") {
            return Ok(TimeZone::UTC);
        }
        let unknown = || Error::UnknownTimeZone(name.to_owned());
        if name.starts_with(['+', '-']) {
            let seconds = parse_offset(name).ok_or_else(unknown)?;
            let minutes = seconds.unsigned_abs() / 60;
            let sign = if seconds < 0 { '-' } else { '+' };
            let name = format!("{sign}{:02}:{:02}", minutes / 60, minutes % 60);
            return Ok(TimeZone {
                name: Cow::Owned(name),
                rule: Rule::Offset(seconds),
            });
        }
        let zone = jiff::tz::TimeZone::get(name).map_err(|_| unknown())?;
        let name = zone.iana_name().unwrap_or(name).to_owned();
        Ok(TimeZone {
            name: Cow::Owned(name),
            rule: Rule::Database(zone),
        })
    }

    /// Returns the name that `@@time_zone` shows.
    pub fn name(&self) -> &str {
        &self.name
    }

    fn is_system(&self) -> bool {
        self.name == SYSTEM
    }

    /// Returns the offset in seconds east of UTC at an instant, given in seconds since 1970.
    pub fn offset_at(&self, seconds: i64) -> i32 {
        match &self.rule {
            Rule::Offset(offset) => *offset,
            Rule::Database(zone) => {
                jiff::Timestamp::from_second(seconds).map_or(0, |instant| zone.to_offset(instant).seconds())
            }
        }
    }

    /// Converts an instant, given in seconds since 1970, to local time.
    pub fn to_local(&self, seconds: i64) -> DateTime {
        let local = seconds + i64::from(self.offset_at(seconds));
        let days = EPOCH_DAY + local.div_euclid(DAY_SECONDS);
        let date = u32::try_from(days).map_or(Date::ZERO, calendar::date_from_day_number);
        DateTime::from_date_and_micros(date, local.rem_euclid(DAY_SECONDS) * 1_000_000, 0)
    }

    /// Converts local time to seconds since 1970, without its fraction. A local time that the clock skips becomes the
    /// second of the change ([`TimeZone::to_local`] of it then differs); of a local time that occurs twice, the first
    /// instant is returned, in the system's zone the second one. Returns `None` for a date with zero parts.
    pub fn to_utc(&self, local: DateTime) -> Option<i64> {
        let date = local.date;
        if date.month == 0 || date.day == 0 {
            return None;
        }
        let days = i64::from(calendar::day_number(date)) - EPOCH_DAY;
        let as_utc = days * DAY_SECONDS + local.micros_of_day().div_euclid(1_000_000);
        match &self.rule {
            Rule::Offset(offset) => Some(as_utc - i64::from(*offset)),
            Rule::Database(zone) => {
                use jiff::tz::AmbiguousOffset;
                let civil = jiff::Timestamp::from_second(as_utc)
                    .ok()?
                    .to_zoned(jiff::tz::TimeZone::UTC)
                    .datetime();
                match zone.to_ambiguous_timestamp(civil).offset() {
                    AmbiguousOffset::Unambiguous { offset } => Some(as_utc - i64::from(offset.seconds())),
                    // MariaDB asks the system's library for its own zone, and finds the second instant.
                    AmbiguousOffset::Fold { after, .. } if self.is_system() => {
                        Some(as_utc - i64::from(after.seconds()))
                    }
                    AmbiguousOffset::Fold { before, .. } => Some(as_utc - i64::from(before.seconds())),
                    AmbiguousOffset::Gap { before, .. } => {
                        // The instant computed with the offset from before the change is after the change.
                        let after =
                            jiff::Timestamp::from_second(as_utc - i64::from(before.seconds())).ok()?;
                        let change = zone
                            .preceding(after.saturating_add(jiff::SignedDuration::from_secs(1)).ok()?)
                            .next();
                        Some(change.map_or(after.as_second(), |change| change.timestamp().as_second()))
                    }
                }
            }
        }
    }
}

/// Parses `+1:00` or `-12:59` as seconds.
fn parse_offset(text: &str) -> Option<i32> {
    let (negative, rest) = match text.as_bytes().first()? {
        b'+' => (false, &text[1..]),
        b'-' => (true, &text[1..]),
        _ => return None,
    };
    let (hours, minutes) = rest.split_once(':')?;
    let number = |part: &str, digits: std::ops::RangeInclusive<usize>| -> Option<i32> {
        (digits.contains(&part.len()) && part.bytes().all(|b| b.is_ascii_digit()))
            .then(|| part.parse().ok())?
    };
    let (hours, minutes) = (number(hours, 1..=2)?, number(minutes, 2..=2)?);
    let total = hours * 60 + minutes;
    let allowed = if negative {
        total <= 12 * 60 + 59
    } else {
        total <= 14 * 60
    };
    (minutes < 60 && allowed).then_some(if negative { -total * 60 } else { total * 60 })
}

impl fmt::Debug for TimeZone {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "TimeZone({})", self.name)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn local(text: &str) -> DateTime {
        let number = |range: std::ops::Range<usize>| text[range].parse::<u16>().unwrap();
        let date = Date::new(number(0..4), number(5..7) as u8, number(8..10) as u8);
        DateTime::new(
            date,
            number(11..13) as u8,
            number(14..16) as u8,
            number(17..19) as u8,
        )
    }

    #[test]
    fn offsets_within_mariadbs_limits_are_time_zones() {
        assert_eq!(TimeZone::parse("+1:00").unwrap().name(), "+01:00");
        assert_eq!(
            TimeZone::parse("-03:30").unwrap().to_local(0),
            local("1969-12-31 20:30:00")
        );
        for bad in [
            "+14:01",
            "-13:00",
            "+1",
            "+01:60",
            "1:00",
            "+001:00",
            "Mars/Olympus",
        ] {
            assert!(TimeZone::parse(bad).is_err(), "{bad}");
        }
        assert_eq!(
            TimeZone::UTC.to_local(1_700_000_000),
            local("2023-11-14 22:13:20")
        );
        assert_eq!(
            TimeZone::UTC.to_utc(local("2038-01-19 03:14:07")),
            Some(i64::from(i32::MAX))
        );
        assert_eq!(TimeZone::UTC.to_utc(DateTime::ZERO), None);
    }

    /// Needs the zone database (Debian: tzdata). Without it named zones are unknown, as in a MariaDB without its time
    /// zone tables.
    #[test]
    fn named_zones_have_clock_changes() {
        let Ok(zone) = TimeZone::parse("Europe/Berlin") else {
            assert!(!std::path::Path::new("/usr/share/zoneinfo/Europe/Berlin").exists());
            return;
        };
        assert_eq!(zone.to_local(1_700_000_000), local("2023-11-14 23:13:20"));
        assert_eq!(zone.to_utc(local("2023-07-01 02:00:00")), Some(1_688_169_600));
        // Skipped local time: the clock changes from 02:00 to 03:00.
        assert_eq!(zone.to_utc(local("2023-03-26 02:30:00")), Some(1_679_792_400));
        assert_eq!(zone.to_local(1_679_792_400), local("2023-03-26 03:00:00"));
        // Ambiguous local time: the first instant is in summer time.
        assert_eq!(zone.to_utc(local("2023-10-29 02:30:00")), Some(1_698_539_400));
        let system = TimeZone {
            name: Cow::Borrowed(SYSTEM),
            ..zone
        };
        assert_eq!(system.to_utc(local("2023-10-29 02:30:00")), Some(1_698_543_000));
    }
}
