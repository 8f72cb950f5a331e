//! Times in picoseconds, the unit of `performance_schema`.

use paceline_types::Value;

/// Picoseconds in a nanosecond.
const PICOSECONDS: u64 = 1000;

/// Returns a time.
fn time(nanos: u64) -> Value {
    Value::UInt(nanos.saturating_mul(PICOSECONDS))
}

/// Returns the columns of timed operations: their number, and the sum, minimum, average and maximum of their times.
pub(super) fn timed(count: u64, nanos: u64, nanos_min: u64, nanos_max: u64) -> [Value; 5] {
    let shortest = if count > 0 { nanos_min } else { 0 };
    let average = nanos / count.max(1);
    [
        Value::UInt(count),
        time(nanos),
        time(shortest),
        time(average),
        time(nanos_max),
    ]
}
