//! Times in the time zone of the session.

use super::sources::Sources;
use paceline_types::{Timestamp, Value};

/// Returns a time in seconds since 1970.
pub(super) fn of_seconds(sources: &dyn Sources, seconds: i64) -> Value {
    u32::try_from(seconds).map_or(Value::Null, |seconds| {
        Value::DateTime(Timestamp::new(seconds, 0, 0).to_datetime(&sources.time_zone()))
    })
}

/// Returns the second of a time in microseconds since 1970.
pub(super) fn of_micros(sources: &dyn Sources, micros: i64) -> Value {
    of_seconds(sources, micros / 1_000_000)
}
