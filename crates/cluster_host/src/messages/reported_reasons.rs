//! Reasons for which connections ended, as far as the error log has them.
//!
//! A member that is refused comes again each second, for as long as the reason lasts: perhaps for days, when somebody
//! has emptied the directory of a log holder. The log has it once, and once more if it comes back after a pause.

use parking_lot::Mutex;
use std::collections::HashMap;
use std::net::IpAddr;
use std::time::{Duration, Instant};

/// Time without a repetition after which a reason counts as new. A dialer tries again within seconds.
const PAUSE_MIN: Duration = Duration::from_secs(60);
/// Maximum number of reasons that are remembered.
const REASONS_MAX: usize = 1024;

/// Reasons by address, with the time of the last repetition.
#[derive(Debug, Default)]
pub(super) struct ReportedReasons {
    seen: Mutex<HashMap<(IpAddr, String), Instant>>,
}

impl ReportedReasons {
    /// Notes a reason, and returns whether it is to be reported.
    pub(super) fn is_new(&self, address: IpAddr, reason: String, now: Instant) -> bool {
        let mut seen = self.seen.lock();
        if seen.len() >= REASONS_MAX {
            seen.retain(|_, last| now.duration_since(*last) < PAUSE_MIN);
        }
        if seen.len() >= REASONS_MAX {
            seen.clear();
        }
        let before = seen.insert((address, reason), now);
        before.is_none_or(|last| now.duration_since(last) >= PAUSE_MIN)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_reason_is_reported_once_while_it_lasts() {
        let reasons = ReportedReasons::default();
        let (one, other) = (IpAddr::from([10, 0, 0, 1]), IpAddr::from([10, 0, 0, 2]));
        let begin = Instant::now();
        let is_new = |address, reason: &str, seconds| {
            reasons.is_new(address, reason.to_owned(), begin + Duration::from_secs(seconds))
        };
        assert!(is_new(one, "a", 0));
        assert!(is_new(other, "a", 0) && is_new(one, "b", 0));
        for second in 1..1000 {
            assert!(!is_new(one, "a", second));
        }
        assert!(is_new(one, "a", 1060), "it has come back");
    }

    #[test]
    fn few_reasons_are_remembered() {
        let reasons = ReportedReasons::default();
        let now = Instant::now();
        for number in 0..10 * REASONS_MAX {
            reasons.is_new(IpAddr::from([10, 0, 0, 1]), number.to_string(), now);
        }
        assert!(reasons.seen.lock().len() <= REASONS_MAX);
    }
}
