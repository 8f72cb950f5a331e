//! The clock of a member: milliseconds since this machine has started, in sleep as well.
//!
//! `CLOCK_MONOTONIC`, and with it [`std::time::Instant`], stands still while a machine sleeps. A primary that wakes up
//! would believe that its reads are still new, though others have long elected another. `CLOCK_BOOTTIME` goes on. It
//! never goes back, and its value means nothing on another machine.

use paceline_cluster::Millis;
use rustix::time::{ClockId, clock_gettime};

/// Returns the time now. It is at least 1, so that 0 is always past.
pub fn now() -> Millis {
    let time = clock_gettime(ClockId::Boottime);
    let seconds = u64::try_from(time.tv_sec).expect("the clock began at 0");
    let milliseconds = u64::try_from(time.tv_nsec / 1_000_000).expect("the clock began at 0");
    Millis(seconds * 1000 + milliseconds + 1)
}

#[cfg(test)]
mod tests {
    use super::now;
    use paceline_cluster::Millis;

    #[test]
    fn time_goes_on() {
        let first = now();
        assert!(first > Millis(0));
        while now() == first {
            std::thread::yield_now();
        }
        assert!(now() > first);
    }
}
