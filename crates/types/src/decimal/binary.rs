//! MariaDB's packed form of DECIMAL(precision, scale): fixed length, big-endian; the bytes sort as the numbers do.
//!
//! The digits on each side of the point form groups of nine, counted from the point. A whole group takes four bytes, an
//! incomplete group as many as its digits need. The first bit is inverted; in a negative number all other bits are
//! inverted too.

use super::{Decimal, POWERS, Rounding, WORD_DIGITS, WORDS, digits_of};

/// Number of bytes for a group, by its number of digits.
const BYTES_OF_DIGITS: [usize; WORD_DIGITS + 1] = [0, 1, 1, 2, 2, 3, 3, 4, 4, 4];

impl Decimal {
    /// Returns the length of the packed form of DECIMAL(precision, scale) in bytes.
    pub const fn binary_length(precision: u8, scale: u8) -> usize {
        let integer = precision.saturating_sub(scale) as usize;
        let scale = scale as usize;
        4 * (integer / WORD_DIGITS)
            + BYTES_OF_DIGITS[integer % WORD_DIGITS]
            + 4 * (scale / WORD_DIGITS)
            + BYTES_OF_DIGITS[scale % WORD_DIGITS]
    }

    /// Appends MariaDB's packed form for a column of DECIMAL(precision, scale). A number that does not fit is rounded
    /// and clipped.
    pub fn append_binary(&self, precision: u8, scale: u8, out: &mut Vec<u8>) {
        let mut number = if self.scale > scale {
            self.round(i32::from(scale), Rounding::HalfUp)
        } else {
            *self
        };
        let integer = usize::from(precision - scale);
        if usize::from(number.integer_digits) > integer {
            number = Decimal {
                negative: number.negative,
                ..Decimal::max_value(precision, scale)
            };
        }
        let start = out.len();
        let mut put = |word: u32, bytes: usize| out.extend_from_slice(&word.to_be_bytes()[4 - bytes..]);

        let groups = integer.div_ceil(WORD_DIGITS);
        let missing = groups - number.integer_words();
        for group in 0..groups {
            let bytes = match integer % WORD_DIGITS {
                odd if group == 0 && odd > 0 => BYTES_OF_DIGITS[odd],
                _ => 4,
            };
            put(
                if group < missing {
                    0
                } else {
                    number.words[group - missing]
                },
                bytes,
            );
        }
        let mut left = usize::from(scale);
        let mut fraction = number.fraction().iter();
        while left > 0 {
            let digits = left.min(WORD_DIGITS);
            let word = fraction.next().copied().unwrap_or(0);
            put(word / POWERS[WORD_DIGITS - digits], BYTES_OF_DIGITS[digits]);
            left -= digits;
        }
        if number.negative {
            out[start..].iter_mut().for_each(|byte| *byte = !*byte);
        }
        if let Some(first) = out.get_mut(start) {
            *first ^= 0x80;
        }
    }

    /// Decodes the form of [`Decimal::append_binary`]. Returns `None` if the length is wrong or a group is greater than
    /// its digits allow.
    pub fn from_binary(bytes: &[u8], precision: u8, scale: u8) -> Option<Decimal> {
        if bytes.len() != Self::binary_length(precision, scale) || precision < scale {
            return None;
        }
        let (integer, scale_digits) = (usize::from(precision - scale), usize::from(scale));
        let groups = integer.div_ceil(WORD_DIGITS);
        if groups + scale_digits.div_ceil(WORD_DIGITS) > WORDS {
            return None;
        }
        let negative = bytes.first()? & 0x80 == 0;
        let mask = if negative { u32::MAX } else { 0 };
        let mut rest = bytes;
        let mut first = true;
        let mut take = |digits: usize| {
            let (group, after) = rest.split_at(BYTES_OF_DIGITS[digits]);
            rest = after;
            let (mut word, unused_bits) = match *group {
                [a] => (u32::from(a), 24),
                [a, b] => (u32::from(u16::from_be_bytes([a, b])), 16),
                [a, b, c] => (u32::from_be_bytes([0, a, b, c]), 8),
                [a, b, c, d] => (u32::from_be_bytes([a, b, c, d]), 0),
                _ => return None,
            };
            word ^= mask >> unused_bits;
            if std::mem::take(&mut first) {
                word ^= 0x8000_0000 >> unused_bits;
            }
            (word < POWERS[digits]).then_some(word)
        };
        let mut number = Decimal {
            scale,
            ..Decimal::ZERO
        };
        let mut used = 0;
        for group in 0..groups {
            let word = take(match integer % WORD_DIGITS {
                odd if group == 0 && odd > 0 => odd,
                _ => WORD_DIGITS,
            })?;
            // Leading zeros take no word.
            if used > 0 || word != 0 {
                number.words[used] = word;
                used += 1;
            }
        }
        if used > 0 {
            number.integer_digits = ((used - 1) * WORD_DIGITS + digits_of(number.words[0])) as u8;
        }
        let mut left = scale_digits;
        let mut is_zero = used == 0;
        while left > 0 {
            let digits = left.min(WORD_DIGITS);
            let word = take(digits)? * POWERS[WORD_DIGITS - digits];
            is_zero &= word == 0;
            number.words[used] = word;
            used += 1;
            left -= digits;
        }
        number.negative = negative && !is_zero;
        Some(number)
    }
}
