//! Time and cycles of one thread.
//!
//! The time is the processor time of the thread, so that others who want the processor do not count. Cycles are those
//! that the processor counts, if the machine has the counter. Most virtual machines do not; there they are ticks of the
//! time stamp counter, which has one frequency whatever the processor's is. Other processors have only the time.

use crate::statistics::Sample;
use perf_event::events::Hardware;
use perf_event::{Builder, Counter};
use rustix::time::{ClockId, clock_gettime};
use std::io;
use std::time::Instant;

/// Time and cycles of a piece of work.
#[derive(Debug, Clone, Copy)]
pub struct Cost {
    /// Processor time of the thread.
    pub seconds: f64,
    /// Cycles or ticks.
    pub cycles: Option<f64>,
}

/// A clock of the thread that made it.
pub struct CycleClock(Source);

enum Source {
    Hardware(Box<Counter>),
    TimeStamp,
    Absent,
}

impl CycleClock {
    /// Takes the best counter that there is.
    pub fn open() -> Self {
        let counter = Builder::new().kind(Hardware::CPU_CYCLES).build();
        CycleClock(match counter {
            Ok(counter) => Source::Hardware(Box::new(counter)),
            Err(_) if time_stamp().is_some() => Source::TimeStamp,
            Err(_) => Source::Absent,
        })
    }

    /// Returns the name of its unit.
    pub fn unit(&self) -> &'static str {
        match self.0 {
            Source::Hardware(_) => "cycles",
            Source::TimeStamp => "TSC ticks",
            Source::Absent => "cycles (not counted)",
        }
    }

    /// Explains the unit.
    pub fn note(&self) -> &'static str {
        match self.0 {
            Source::Hardware(_) => "Cycles are counted by the processor (perf_event).",
            Source::TimeStamp => {
                "This machine counts no cycles (perf_event). Ticks are those of the time stamp counter, whose frequency is fixed."
            }
            Source::Absent => "This machine counts no cycles (perf_event), and has no time stamp counter.",
        }
    }

    /// Measures work of this thread.
    ///
    /// # Errors
    /// Those of reading the counter.
    pub fn measure(&mut self, work: impl FnOnce()) -> io::Result<Cost> {
        if let Source::Hardware(counter) = &mut self.0 {
            counter.reset()?;
            counter.enable()?;
        }
        let ticks = time_stamp();
        let (wall, begin) = (Instant::now(), thread_seconds());
        work();
        let (seconds, elapsed) = (thread_seconds() - begin, wall.elapsed().as_secs_f64());
        let cycles = match &mut self.0 {
            Source::Hardware(counter) => {
                counter.disable()?;
                Some(counter.read()? as f64)
            }
            // It ticks while others have the processor, too.
            Source::TimeStamp => {
                let ticked = time_stamp()
                    .zip(ticks)
                    .map(|(now, then)| now.wrapping_sub(then) as f64);
                ticked.map(|ticks| ticks * seconds / elapsed)
            }
            Source::Absent => None,
        };
        Ok(Cost { seconds, cycles })
    }
}

/// Returns the median of the cycles of at least one cost, if they were counted.
pub fn median_cycles(costs: &[Cost]) -> Option<f64> {
    let cycles: Option<Vec<f64>> = costs.iter().map(|cost| cost.cycles).collect();
    Some(Sample::new(cycles?).median())
}

/// Returns the processor time of this thread.
fn thread_seconds() -> f64 {
    let time = clock_gettime(ClockId::ThreadCPUTime);
    time.tv_sec as f64 + time.tv_nsec as f64 / 1e9
}

#[cfg(target_arch = "x86_64")]
#[allow(unsafe_code)]
fn time_stamp() -> Option<u64> {
    // SAFETY: every x86-64 processor has the instruction, and Linux allows it to programs.
    Some(unsafe { std::arch::x86_64::_rdtsc() })
}

#[cfg(not(target_arch = "x86_64"))]
fn time_stamp() -> Option<u64> {
    None
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::hint::black_box;

    #[test]
    fn twice_the_work_takes_longer() {
        let mut clock = CycleClock::open();
        let mut cost = |rounds: u64| {
            let work = || (0..rounds).for_each(|round| _ = black_box(round));
            clock.measure(work).unwrap()
        };
        let (little, much) = (cost(10_000), cost(10_000_000));
        assert!(much.seconds > little.seconds, "{little:?} {much:?}");
        assert!(much.cycles >= little.cycles, "{little:?} {much:?}");
    }
}
