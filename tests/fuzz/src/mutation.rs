//! Random changes of samples.
//!
//! Without coverage as a guide, a change must be likely to reach deep: most changes are small, samples are
//! spliced, and words of the target are inserted.

use rand::rngs::SmallRng;
use rand::seq::IndexedRandom;
use rand::{Rng, SeedableRng};

/// Maximum length of an input, in bytes.
const LENGTH_MAX: usize = 16_384;
/// Maximum number of changes of an input.
const CHANGES_MAX: usize = 6;
/// Bytes at which encodings branch.
const INTERESTING: &[u8] = &[0x00, 0x01, 0x7F, 0x80, 0xFB, 0xFC, 0xFD, 0xFE, 0xFF];

/// Generates inputs from samples. The same seed generates the same inputs.
pub struct Mutator<'s> {
    samples: &'s [Vec<u8>],
    words: &'s [&'s [u8]],
    random: SmallRng,
}

impl<'s> Mutator<'s> {
    /// Creates a mutator of at least one sample.
    pub fn new(samples: &'s [Vec<u8>], words: &'s [&'s [u8]], seed: u64) -> Self {
        assert!(!samples.is_empty(), "nothing to change");
        Self {
            samples,
            words,
            random: SmallRng::seed_from_u64(seed),
        }
    }

    /// Returns the next input.
    pub fn next_input(&mut self) -> Vec<u8> {
        let mut input = self.sample().clone();
        for _ in 0..self.random.random_range(1..=CHANGES_MAX) {
            self.change(&mut input);
        }
        input.truncate(LENGTH_MAX);
        input
    }

    fn sample(&mut self) -> &'s Vec<u8> {
        self.samples.choose(&mut self.random).expect("there is one")
    }

    fn place(&mut self, input: &[u8]) -> usize {
        self.random.random_range(0..=input.len())
    }

    fn change(&mut self, input: &mut Vec<u8>) {
        let at = self.place(input);
        match self.random.random_range(0..8) {
            0 if at < input.len() => input[at] ^= 1 << self.random.random_range(0..8),
            1 if at < input.len() => input[at] = *INTERESTING.choose(&mut self.random).expect("a constant"),
            2 => input.insert(at, self.random.random()),
            3 => {
                let end = (at + self.random.random_range(0..16)).min(input.len());
                input.drain(at..end);
            }
            4 => {
                let end = (at + self.random.random_range(0..32)).min(input.len());
                let copy = input[at..end].to_vec();
                let to = self.place(input);
                input.splice(to..to, copy);
            }
            5 => {
                let other = self.sample();
                let from = self.random.random_range(0..=other.len());
                input.truncate(at);
                input.extend_from_slice(&other[from..]);
            }
            6 => {
                if let Some(word) = self.words.choose(&mut self.random) {
                    input.splice(at..at, word.iter().copied());
                }
            }
            _ => input.truncate(at),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_seed_repeats_its_inputs() {
        let samples = [b"select 1".to_vec(), b"insert into t values (1)".to_vec()];
        let inputs = |seed| {
            let mut mutator = Mutator::new(&samples, &[b"null"], seed);
            (0..100).map(|_| mutator.next_input()).collect::<Vec<_>>()
        };
        assert_eq!(inputs(7), inputs(7));
        assert_ne!(inputs(7), inputs(8));
    }
}
