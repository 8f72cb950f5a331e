//! How many entries a key range has, and what they are like, from a few hundred of them.
//!
//! Neither engine counts its entries, and RocksDB tells sizes of files only, while much of a table may be in memtables. So a survey asks the
//! merged view itself. It halves the range between the bytes of its first key and its end, again and again, and sees by one seek whether the upper half
//! has entries:
//!
//! ```text
//!   split     the heaviest interval first, by its length times the density of the entries at its start, until there are enough strata
//!   descend   in each stratum: halve, follow one half at random, and let it stand for both (its weight is divided by its probability)
//!   leaf      an interval of at most RUN entries: they are handed out one by one, with the weight
//! ```
//!
//! Every entry's expected weight is 1, so the sum of weights estimates the number of entries whatever the keys' distribution; the densities only make the
//! spread small. The halves are chosen by a generator with a fixed seed: the same data gives the same figures, and the same plans.

use crate::cursor::Cursor;
use crate::error::Result;
use crate::key::{Direction, KeyRange};
use crate::snapshot::StorageSnapshot;

/// Entries of a leaf at most, and those by which density is judged.
const RUN: usize = 16;
/// No side of a halved interval is followed less often than this.
const PROBABILITY_MIN: f64 = 0.1;
/// Halvings until there is something in both halves, at most: the bits of the longest keys.
const HALVINGS_MAX: usize = 8 * 3_500;
/// Keeps sums of masses finite.
const MASS_MAX: f64 = 1e200;
/// Entries of an interval that cannot be halved: more are not looked at.
const UNDIVIDED_MAX: usize = 1_024;

/// An entry that a survey met.
#[derive(Debug)]
pub struct SurveyedEntry<'a> {
    /// Its key.
    pub key: &'a [u8],
    /// Its value, version in front.
    pub value: &'a [u8],
    /// For how many entries it stands; zero for one that only shows what comes after the one before it.
    pub weight: f64,
    /// Whether nothing stands between it and the entry that was handed out before it.
    pub follows: bool,
}

/// Keys from `start`, which exists, up to `end`.
struct Interval {
    start: Vec<u8>,
    end: Vec<u8>,
    weight: f64,
    /// About how many entries, by the density at its start.
    mass: f64,
    /// Whether the run at its start is all of it.
    is_leaf: bool,
}

struct Survey<'v> {
    cursor: Cursor,
    visit: &'v mut dyn FnMut(SurveyedEntry<'_>) -> Result<()>,
    random: u64,
    total: f64,
}

impl StorageSnapshot {
    /// Estimates how many entries a range has, which must lie within one engine, and hands out those that were looked at: sixteen at most from each of
    /// `strata` parts of the range.
    ///
    /// # Errors
    /// If a table file cannot be read or is corrupt, and what `visit` returns.
    pub fn survey(
        &self,
        range: KeyRange,
        strata: usize,
        visit: &mut dyn FnMut(SurveyedEntry<'_>) -> Result<()>,
    ) -> Result<f64> {
        let start = range.start.clone();
        let end = match self.scan(range.clone(), Direction::Backward).next()? {
            // The least key above the last one: what all keys begin with need not be halved.
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
        // In the order of their keys.
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
        let (mut follows, mut handed_out) = (false, 0);
        while let Some((key, value)) = self.cursor.next()? {
            // The entry after the last is shown too. Intervals end where the keys' bytes change, and so where groups do.
            let is_beyond = key >= interval.end.as_slice();
            let weight = if is_beyond { 0.0 } else { interval.weight };
            self.total += weight;
            let entry = SurveyedEntry {
                key,
                value,
                weight,
                follows,
            };
            (self.visit)(entry)?;
            handed_out += 1;
            if is_beyond || handed_out > UNDIVIDED_MAX {
                break;
            }
            follows = true;
        }
        Ok(())
    }

    /// Halves an interval that is no leaf; or shortens it, where the upper half is empty, until it can be halved or is a leaf.
    fn split(&mut self, mut interval: Interval) -> Result<Split> {
        for _ in 0..HALVINGS_MAX {
            let Some(middle) = middle(&interval.start, &interval.end) else {
                break;
            };
            match self.interval(&middle, &interval.end, interval.weight)? {
                Some(upper) => {
                    // What begins at an entry that is there is not empty; under a snapshot it stays so.
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

    /// The interval of the entries from `start` to `end`; none if there is no entry.
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
            // The median of the gaps: `1`, `10`, `100`, `1000`, `1001` are near to each other but for a few.
            let mut gaps: Vec<f64> = run
                .windows(2)
                .map(|pair| distance(&pair[0], &pair[1], shared))
                .collect();
            gaps.sort_by(f64::total_cmp);
            let gap = gaps[gaps.len() / 2].max(f64::MIN_POSITIVE);
            // Much too large where entries stand in groups, but then everywhere: masses are only compared with each other. A lower limit
            // would make them all the same.
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

    /// A number from 0 up to 1: xorshift64.
    fn random(&mut self) -> f64 {
        self.random ^= self.random << 13;
        self.random ^= self.random >> 7;
        self.random ^= self.random << 17;
        (self.random >> 11) as f64 / (1u64 << 53) as f64
    }
}

enum Split {
    Halves(Interval, Interval),
    /// What cannot be halved.
    Whole(Interval),
}

/// Length of the beginning that two keys have in common, in bytes.
fn shared_length(low: &[u8], high: &[u8]) -> usize {
    low.iter().zip(high).take_while(|(a, b)| a == b).count()
}

/// The distance between two keys, read as fractions in base 256 that begin at byte `from`. Keys that begin alike are subtracted from where they differ, so
/// that small distances are exact.
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

/// A key about half-way between two, above the lower one; none where they are as near to each other as keys get.
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
    fn middles_lie_between() {
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
