//! Estimates of the number of entries in a key range, and a sample of them, from a few hundred entries.
//!
//! Neither engine counts its entries, and RocksDB knows only the sizes of files, while much of a table may be
//! in memtables. A survey therefore samples the merged view itself. It repeatedly halves the range between the
//! bytes of its first key and its end, and finds by one seek whether the upper half has entries:
//!
//! ```text
//!   split     the heaviest interval first, by its length times the density of the entries at its start, until there are enough strata
//!   descend   in each stratum: halve, follow one half at random, and let it stand for both (its weight is divided by its probability)
//!   leaf      an interval of at most RUN entries: they are visited one by one, with the weight
//! ```
//!
//! Every entry's expected weight is 1, so the sum of weights estimates the number of entries for any
//! distribution of keys; the densities only reduce the variance. A generator with a fixed seed chooses the
//! halves: the same data yields the same figures, and the same plans.

use crate::cursor::Cursor;
use crate::error::Result;
use crate::key::{Direction, KeyRange};
use crate::snapshot::StorageSnapshot;

/// Most entries of a leaf, and number of entries that determine the density.
const RUN: usize = 16;
/// Lowest probability of following either half of an interval.
const PROBABILITY_MIN: f64 = 0.1;
/// Most halvings until both halves have entries: the number of bits of the longest keys.
const HALVINGS_MAX: usize = 8 * 3_500;
/// Keeps sums of masses finite.
const MASS_MAX: f64 = 1e200;
/// Most entries visited in an interval that cannot be halved.
const UNDIVIDED_MAX: usize = 1_024;

/// Entry visited by a survey.
#[derive(Debug)]
pub struct SurveyedEntry<'a> {
    /// Key of the entry.
    pub key: &'a [u8],
    /// Value, preceded by its version.
    pub value: &'a [u8],
    /// Number of entries that it represents; zero for one that only shows what follows the previous one.
    pub weight: f64,
    /// Whether it is the immediate successor of the entry visited before it.
    pub is_successor: bool,
}

/// Keys from `start`, which exists, up to `end` (excluded).
struct Interval {
    start: Vec<u8>,
    end: Vec<u8>,
    weight: f64,
    /// Estimated number of entries, from the density at its start.
    mass: f64,
    /// Whether the run at its start is the whole interval.
    is_leaf: bool,
}

struct Survey<'v> {
    cursor: Cursor,
    visit: &'v mut dyn FnMut(SurveyedEntry<'_>) -> Result<()>,
    random: u64,
    total: f64,
}

impl StorageSnapshot {
    /// Estimates the number of entries in a range, which must lie within one engine, and visits the entries of
    /// the sample: at most sixteen from each of `strata` parts of the range, and one more with weight zero.
    /// More are visited where keys are too close to be divided.
    ///
    /// # Errors
    /// If a table file cannot be read or is corrupt; errors of `visit`.
    pub fn survey(
        &self,
        range: KeyRange,
        strata: usize,
        visit: &mut dyn FnMut(SurveyedEntry<'_>) -> Result<()>,
    ) -> Result<f64> {
        let start = range.start.clone();
        let end = match self.scan(range.clone(), Direction::Backward).next()? {
            // The smallest key above the last one: the common prefix of all keys need not be halved.
            Some((last, _)) => [last, &[0]].concat(),
            None => return Ok(0.0),
        };
        let mut survey = Survey {
            cursor: self.scan(range, Direction::Forward),
            visit,
            random: 0x9e37_79b9_7f4a_7c15,
            total: 0.0,
        };
        if let Some(whole) = survey.interval(&start, &end, 1.0)? {
            survey.run(whole, strata)?;
        }
        Ok(survey.total)
    }
}

impl Survey<'_> {
    fn run(&mut self, whole: Interval, strata: usize) -> Result<()> {
        let mut intervals = vec![whole];
        while intervals.len() < strata {
            let heaviest = (0..intervals.len())
                .filter(|&number| !intervals[number].is_leaf)
                .max_by(|&left, &right| intervals[left].mass.total_cmp(&intervals[right].mass));
            let Some(heaviest) = heaviest else { break };
            match self.split(intervals.swap_remove(heaviest))? {
                Split::Halves(lower, upper) => intervals.extend([lower, upper]),
                Split::Whole(whole) => intervals.push(whole),
            }
        }
        // In key order.
        intervals.sort_by(|left, right| left.start.cmp(&right.start));
        intervals
            .into_iter()
            .try_for_each(|interval| self.descend(interval))
    }

    /// Follows halves at random down to a leaf.
    fn descend(&mut self, mut interval: Interval) -> Result<()> {
        while !interval.is_leaf {
            interval = match self.split(interval)? {
                Split::Whole(whole) => whole,
                Split::Halves(lower, upper) => {
                    let share = lower.mass / (lower.mass + upper.mass);
                    let share = share.clamp(PROBABILITY_MIN, 1.0 - PROBABILITY_MIN);
                    let (half, probability) = if self.random() < share {
                        (lower, share)
                    } else {
                        (upper, 1.0 - share)
                    };
                    Interval {
                        weight: half.weight / probability,
                        ..half
                    }
                }
            };
        }
        self.cursor.seek(&interval.start);
        let (mut is_successor, mut handed_out) = (false, 0);
        while let Some((key, value)) = self.cursor.next()? {
            // The entry after the last one is visited too. Intervals end where the keys' bytes change, and so
            // do groups.
            let is_beyond = key >= interval.end.as_slice();
            let weight = if is_beyond { 0.0 } else { interval.weight };
            self.total += weight;
            let entry = SurveyedEntry {
                key,
                value,
                weight,
                is_successor,
            };
            (self.visit)(entry)?;
            handed_out += 1;
            if is_beyond || handed_out > UNDIVIDED_MAX {
                break;
            }
            is_successor = true;
        }
        Ok(())
    }

    /// Halves an interval that is not a leaf. If the upper half is empty, shortens the interval until it can be
    /// halved or is a leaf.
    fn split(&mut self, mut interval: Interval) -> Result<Split> {
        for _ in 0..HALVINGS_MAX {
            let Some(middle) = middle(&interval.start, &interval.end) else {
                break;
            };
            match self.interval(&middle, &interval.end, interval.weight)? {
                Some(upper) => {
                    // An interval that begins at an existing entry is not empty; in a snapshot it stays so.
                    return Ok(match self.interval(&interval.start, &middle, interval.weight)? {
                        Some(lower) => Split::Halves(lower, upper),
                        None => Split::Whole(upper),
                    });
                }
                None => interval.end = middle,
            }
        }
        interval.is_leaf = true;
        Ok(Split::Whole(interval))
    }

    /// Returns the interval of the entries from `start` to `end`; `None` if there are none.
    fn interval(&mut self, start: &[u8], end: &[u8], weight: f64) -> Result<Option<Interval>> {
        self.cursor.seek(start);
        let mut run: Vec<Vec<u8>> = Vec::with_capacity(RUN);
        let mut is_leaf = true;
        while let Some((key, _)) = self.cursor.next()? {
            if key >= end {
                break;
            }
            if run.len() == RUN {
                is_leaf = false;
                break;
            }
            run.push(key.to_vec());
        }
        if run.is_empty() {
            return Ok(None);
        }
        let count = run.len() as f64;
        let mass = if is_leaf {
            count
        } else {
            let shared = shared_length(&run[0], end);
            // The median of the gaps: `1`, `10`, `100`, `1000`, `1001` are close to each other with few
            // exceptions.
            let mut gaps: Vec<f64> = run
                .windows(2)
                .map(|pair| distance(&pair[0], &pair[1], shared))
                .collect();
            gaps.sort_by(f64::total_cmp);
            let gap = gaps[gaps.len() / 2].max(f64::MIN_POSITIVE);
            // Much too large where entries form groups, but equally so everywhere: masses are only compared
            // with each other. A lower maximum would make them all the same.
            (distance(&run[0], end, shared) / gap).clamp(count, MASS_MAX)
        };
        Ok(Some(Interval {
            start: run.swap_remove(0),
            end: end.to_vec(),
            weight,
            mass,
            is_leaf,
        }))
    }

    /// Returns a pseudo-random number in [0, 1): xorshift64.
    fn random(&mut self) -> f64 {
        self.random ^= self.random << 13;
        self.random ^= self.random >> 7;
        self.random ^= self.random << 17;
        (self.random >> 11) as f64 / (1u64 << 53) as f64
    }
}

enum Split {
    Halves(Interval, Interval),
    /// An interval that cannot be halved.
    Whole(Interval),
}

/// Returns the length of the common prefix of two keys, in bytes.
fn shared_length(low: &[u8], high: &[u8]) -> usize {
    low.iter().zip(high).take_while(|(a, b)| a == b).count()
}

/// Returns the distance between two keys, read as fractions in base 256 that begin at byte `from`. The
/// subtraction starts where the keys differ, so that small distances are exact.
fn distance(low: &[u8], high: &[u8], from: usize) -> f64 {
    let shared = shared_length(low, high);
    let number = |key: &[u8]| {
        (0..16).fold(0.0, |number, place| {
            number * 256.0 + f64::from(key.get(shared + place).copied().unwrap_or(0))
        })
    };
    let places = i32::try_from(shared.saturating_sub(from) + 16).unwrap_or(i32::MAX);
    (number(high) - number(low)).max(0.0) * 256f64.powi(-places)
}

/// Returns a key about half-way between two, above the lower one; `None` if no key lies between them.
fn middle(low: &[u8], high: &[u8]) -> Option<Vec<u8>> {
    let shared = shared_length(low, high);
    let longest = low.len().max(high.len()) + 1;
    let mut length = shared + 8;
    loop {
        let length_now = length.min(longest);
        let byte = |key: &[u8], place: usize| u16::from(key.get(place).copied().unwrap_or(0));
        // (low + high) / 2, byte by byte from the right, with room for the carry in front.
        let mut sum = vec![0u16; length_now + 1];
        let mut carry = 0;
        for place in (0..length_now).rev() {
            let total = byte(low, place) + byte(high, place) + carry;
            sum[place + 1] = total & 0xff;
            carry = total >> 8;
        }
        sum[0] = carry;
        let mut middle = Vec::with_capacity(length_now);
        for place in 1..=length_now {
            middle.push(((sum[place] >> 1) | ((sum[place - 1] & 1) << 7)) as u8);
        }
        if middle.as_slice() > low && middle.as_slice() < high {
            return Some(middle);
        }
        if length_now == longest {
            return None;
        }
        length += 8;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn middles_lie_between_their_bounds() {
        assert_eq!(middle(b"a", b"c"), Some(b"b\0".to_vec()));
        for (low, high) in [
            (&b"a"[..], &b"b"[..]),
            (b"a\xff\xff", b"b"),
            (b"", b"\xff"),
            (b"ab", b"ab\x01"),
            (b"\0\0\0\x05\x7f\xff\xff\xff", b"\0\0\0\x05\x80\0\0\x01"),
        ] {
            let found = middle(low, high).unwrap();
            assert!(
                low < found.as_slice() && found.as_slice() < high,
                "{low:?} {found:?} {high:?}"
            );
        }
        assert_eq!(middle(b"ab", b"ab\0"), None);
    }
}
