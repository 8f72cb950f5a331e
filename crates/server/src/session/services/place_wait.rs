//! `MASTER_POS_WAIT()`: waits for a position in a primary's log.

use crate::errors::interrupted;
use crate::registry::SessionHandle;
use paceline_replication::connection::Connection;
use paceline_replication::received::SourcePosition;
use paceline_syntax::Result;
use std::cmp::Ordering;
use std::time::{Duration, Instant};

/// Interval at which the connection's position is checked.
const LOOK_EVERY: Duration = Duration::from_millis(5);

/// Splits the name of a log file into base name and number.
fn parts(file: &str) -> Option<(&str, u64)> {
    let (directory_and_base, number) = file.rsplit_once('.')?;
    let base = directory_and_base.rsplit('/').next()?;
    Some((base, number.parse().ok()?))
}

/// Compares two source positions; `None` if they are in different logs.
fn compare(place: &SourcePosition, wanted: &SourcePosition) -> Option<Ordering> {
    let ((base, number), (wanted_base, wanted_number)) = (parts(&place.file)?, parts(&wanted.file)?);
    let order = (number, place.offset).cmp(&(wanted_number, wanted.offset));
    (base == wanted_base).then_some(order)
}

/// Waits until the connection has applied everything up to a position. Returns how often the connection's own position
/// has moved meanwhile, or -1 after the timeout (`None` means no limit). Returns `None` if its applier is not running
/// or ends, or if the position is in an unknown log.
///
/// # Errors
/// The errors of KILL.
pub fn wait_until_applied(
    connection: &Connection,
    shared: &SessionHandle,
    wanted: &SourcePosition,
    timeout: Option<Duration>,
) -> Result<Option<i64>> {
    if parts(&wanted.file).is_none() {
        return Ok(None);
    }
    let deadline = timeout.and_then(|timeout| Instant::now().checked_add(timeout));
    let mut seen: Option<SourcePosition> = None;
    let mut moves = 0;
    shared.update(|activity| activity.state = "Waiting for the slave SQL thread to advance position");
    let waited = loop {
        if !connection.applier_runs() {
            break Ok(None);
        }
        let status = connection.status();
        let place = status.applier.position.or(status.recorded);
        // The position of a connection that has received nothing is unknown.
        if let Some(place) = place.as_ref().filter(|place| !place.file.is_empty()) {
            match compare(place, wanted) {
                None => break Ok(None),
                Some(Ordering::Less) => {}
                Some(_) => break Ok(Some(moves)),
            }
        }
        if place != seen {
            moves += i64::from(seen.is_some());
            seen = place;
        }
        let left = match deadline {
            None => LOOK_EVERY,
            Some(deadline) => match deadline.checked_duration_since(Instant::now()) {
                None | Some(Duration::ZERO) => break Ok(Some(-1)),
                Some(left) => left.min(LOOK_EVERY),
            },
        };
        let slept = tokio::task::block_in_place(|| shared.interrupt.sleep(left));
        if slept.is_err()
            && let Some(reason) = shared.interrupt.raised()
        {
            break Err(interrupted(reason));
        }
    };
    shared.update(|activity| activity.state = "executing");
    waited
}

#[cfg(test)]
mod tests {
    use super::*;

    fn place(file: &str, offset: u64) -> SourcePosition {
        SourcePosition {
            file: file.into(),
            offset,
        }
    }

    #[test]
    fn positions_are_compared_by_number_and_offset() {
        let than = |one: &str, offset, other: &str, other_offset| {
            compare(&place(one, offset), &place(other, other_offset))
        };
        assert_eq!(than("bin.000009", 4, "bin.000010", 4), Some(Ordering::Less));
        assert_eq!(than("bin.1000000", 4, "bin.999999", 900), Some(Ordering::Greater));
        assert_eq!(
            than("bin.000001", 500, "./bin.000001", 500),
            Some(Ordering::Equal)
        );
        assert_eq!(than("bin.000001", 500, "other.000001", 4), None);
        assert_eq!(than("bin.000001", 500, "bin", 4), None);
    }
}
