//! Where the time of the processors went.

use crate::machine;
use nix::sys::resource::{UsageWho, getrusage};
use nix::sys::time::TimeValLike;
use std::fs;
use std::io;
use std::time::Instant;

/// State of the clocks and counters at a moment.
#[derive(Debug, Clone, Copy)]
pub struct Moment {
    time: Instant,
    user_s: f64,
    system_s: f64,
    /// Voluntary and involuntary context switches of this process.
    switches: f64,
    /// Idle time of all processors of the machine, in ticks, and all their time.
    idle: f64,
    all: f64,
}

/// The time between two moments, and how it was used.
#[derive(Debug, Clone, Copy)]
pub struct Interval {
    pub seconds: f64,
    /// Context switches of this process.
    pub switches: f64,
    /// Share of the processors' time that this process spent outside of the kernel, from 0 to 1.
    pub user: f64,
    /// Share that it spent in the kernel.
    pub system: f64,
    /// Share in which processors of the machine had nothing to do.
    pub idle: f64,
}

impl Interval {
    /// Returns the share of other processes.
    pub fn others(&self) -> f64 {
        // Idle time is counted in ticks, and all of these at slightly different times.
        (1.0 - self.user - self.system - self.idle).max(0.0)
    }
}

impl Moment {
    /// Reads all of them.
    ///
    /// # Errors
    /// Those of reading /proc.
    pub fn now() -> io::Result<Self> {
        let time = Instant::now();
        let usage = getrusage(UsageWho::RUSAGE_SELF)?;
        let seconds = |time: nix::sys::time::TimeVal| time.num_microseconds() as f64 / 1e6;
        let text = fs::read_to_string("/proc/stat")?;
        let line = text.lines().next().unwrap_or_default();
        let ticks: Vec<f64> = line
            .split_whitespace()
            .skip(1)
            .filter_map(|field| field.parse().ok())
            .collect();
        let &[
            user,
            nice,
            system,
            idle,
            io_wait,
            interrupt,
            soft_interrupt,
            steal,
            ..,
        ] = ticks.as_slice()
        else {
            return Err(io::Error::other(format!("/proc/stat: {line}")));
        };
        Ok(Moment {
            time,
            user_s: seconds(usage.user_time()),
            system_s: seconds(usage.system_time()),
            switches: (usage.voluntary_context_switches() + usage.involuntary_context_switches()) as f64,
            idle: idle + io_wait,
            all: user + nice + system + idle + io_wait + interrupt + soft_interrupt + steal,
        })
    }

    /// Returns the interval since an earlier moment.
    pub fn since(&self, earlier: &Moment) -> Interval {
        let seconds = (self.time - earlier.time).as_secs_f64();
        let processor_s = seconds * machine::processors() as f64;
        let ticks = self.all - earlier.all;
        Interval {
            seconds,
            switches: self.switches - earlier.switches,
            user: (self.user_s - earlier.user_s) / processor_s,
            system: (self.system_s - earlier.system_s) / processor_s,
            idle: match ticks > 0.0 {
                true => (self.idle - earlier.idle) / ticks,
                false => 0.0,
            },
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::hint::black_box;

    #[test]
    fn work_is_user_time() {
        let begin = Moment::now().unwrap();
        (0..20_000_000_u64).for_each(|round| _ = black_box(round));
        let interval = Moment::now().unwrap().since(&begin);
        assert!(interval.user > 0.0 && interval.seconds > 0.0, "{interval:?}");
        assert!((0.0..=1.0).contains(&interval.idle), "{interval:?}");
    }
}
