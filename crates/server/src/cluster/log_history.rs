//! Times at which the log grew: the distance of another member's log in bytes and in time is computed from them.
//!
//! ```text
//!   sample   since       when the first extent of it became durable
//!            index       log index of its end: the next sample begins there
//!            bytes       bytes of the log up to there, counted from the start of the process
//! ```
//! A sample collects the extents of [`STEP`]. When there are [`SAMPLES_MAX`] of them, pairs in the older half become
//! one: old growth is known less exactly, but never forgotten while the process lives.

use paceline_cluster_host::report::Lag;
use paceline_types::{LogIndex, LogPosition};
use std::collections::VecDeque;
use std::time::{Duration, Instant};

/// Time of the extents in one sample, when it is made.
const STEP: Duration = Duration::from_millis(100);
/// Maximum number of samples.
const SAMPLES_MAX: usize = 512;

#[derive(Clone, Copy, Debug)]
struct Sample {
    since: Instant,
    index: LogIndex,
    bytes: u64,
}

/// Growth of the log since the start of the process.
#[derive(Debug)]
pub struct LogHistory {
    samples: VecDeque<Sample>,
    /// End of the log at the start.
    first: LogIndex,
    /// End of the log.
    position: LogPosition,
    bytes: u64,
}

impl LogHistory {
    /// Creates the history of a log that ends here.
    pub fn new(index: LogIndex, position: LogPosition) -> Self {
        LogHistory {
            samples: VecDeque::new(),
            first: index,
            position,
            bytes: 0,
        }
    }

    /// Adds an extent that is durable now.
    pub fn add(&mut self, index: LogIndex, position: LogPosition, now: Instant) {
        // The end of the file before, after its last group, is not counted.
        let from = match position.ordinal() == self.position.ordinal() {
            true => self.position.offset(),
            false => 0,
        };
        self.bytes += position.offset().saturating_sub(from);
        self.position = position;
        let bytes = self.bytes;
        match self.samples.back_mut() {
            Some(last) if now.duration_since(last.since) < STEP => (last.index, last.bytes) = (index, bytes),
            _ => {
                if self.samples.len() >= SAMPLES_MAX {
                    self.thin();
                }
                self.samples.push_back(Sample {
                    since: now,
                    index,
                    bytes,
                });
            }
        }
    }

    /// Makes one of each pair in the older half.
    fn thin(&mut self) {
        let older: Vec<_> = self.samples.drain(..SAMPLES_MAX / 2).collect();
        for pair in older.chunks(2).rev() {
            let (first, last) = (pair[0], pair[pair.len() - 1]);
            self.samples.push_front(Sample {
                since: first.since,
                ..last
            });
        }
    }

    /// Returns the distance of a log that ends at `end`. It is a lower bound if that end is older than this process.
    pub fn lag(&self, end: LogIndex, now: Instant) -> Lag {
        let at = self.samples.partition_point(|sample| sample.index <= end);
        let Some(lacked) = self.samples.get(at) else {
            return Lag::default();
        };
        let before = at.checked_sub(1).and_then(|at| self.samples.get(at));
        let (index, bytes) = before.map_or((self.first, 0), |sample| (sample.index, sample.bytes));
        let (part, whole) = (end.0.saturating_sub(index.0), (lacked.index.0 - index.0).max(1));
        let present = u128::from(lacked.bytes - bytes) * u128::from(part) / u128::from(whole);
        let present = bytes + u64::try_from(present).expect("a part of a 64-bit number");
        Lag {
            bytes: self.bytes - present,
            ms: u64::try_from(now.duration_since(lacked.since).as_millis()).unwrap_or(u64::MAX),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bytes_and_time_of_what_is_lacked() {
        let begin = Instant::now();
        let at = |ms| begin + Duration::from_millis(ms);
        let mut history = LogHistory::new(LogIndex(10), LogPosition::new(1, 1000));
        assert_eq!(history.lag(LogIndex(3), at(0)), Lag::default());
        history.add(LogIndex(20), LogPosition::new(1, 2000), at(0));
        history.add(LogIndex(30), LogPosition::new(1, 3000), at(50));
        history.add(LogIndex(40), LogPosition::new(2, 600), at(500));
        assert_eq!(history.lag(LogIndex(40), at(600)), Lag::default());
        assert_eq!(history.lag(LogIndex(30), at(600)), Lag { bytes: 600, ms: 100 });
        assert_eq!(history.lag(LogIndex(35), at(600)), Lag { bytes: 300, ms: 100 });
        assert_eq!(history.lag(LogIndex(20), at(600)), Lag { bytes: 1600, ms: 600 });
        assert_eq!(history.lag(LogIndex(1), at(600)), Lag { bytes: 2600, ms: 600 });
    }

    #[test]
    fn the_history_is_bounded_and_reaches_back_to_its_beginning() {
        let begin = Instant::now();
        let mut history = LogHistory::new(LogIndex(0), LogPosition::new(1, 0));
        let count = 20 * SAMPLES_MAX as u64;
        for index in 1..=count {
            let now = begin + STEP * u32::try_from(index).unwrap();
            history.add(LogIndex(index), LogPosition::new(1, index * 10), now);
        }
        assert!(history.samples.len() <= SAMPLES_MAX);
        let now = begin + STEP * u32::try_from(count).unwrap();
        assert_eq!(history.lag(LogIndex(count - 3), now), Lag { bytes: 30, ms: 200 });
        let oldest = history.lag(LogIndex(0), now);
        assert_eq!((oldest.bytes, oldest.ms), (10 * count, (count - 1) * 100));
    }
}
