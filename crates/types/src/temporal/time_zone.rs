//! Time zones: fixed offsets, the system's, and named ones of the system's zone database.

use super::DateTime;
use crate::error::Result;

/// A time zone as `time_zone` names it.
#[derive(Clone, Debug, PartialEq)]
pub struct TimeZone(());

impl TimeZone {
    /// UTC.
    pub const UTC: TimeZone = TimeZone(());

    /// Reads `SYSTEM`, `UTC`, an offset from `-12:59` to `+14:00`, or a zone's name.
    ///
    /// # Errors
    /// `UnknownTimeZone` (1298)
    pub fn parse(_name: &str) -> Result<TimeZone> {
        todo!()
    }

    /// As `@@time_zone` shows it.
    pub fn name(&self) -> &str {
        todo!()
    }

    /// The day and time that a clock in the zone shows at that second since 1970.
    pub fn to_local(&self, _seconds: i64) -> DateTime {
        todo!()
    }

    /// The second since 1970 at which a clock in the zone shows that day and time. In the hour that a clock skips it is the second
    /// at which the clock is put forward and `Gap`; in the hour that comes twice it is the first.
    pub fn to_utc(&self, _local: DateTime) -> Option<i64> {
        todo!()
    }
}
