//! Exact decimal numbers: DECIMAL columns, literals with a point, SUM and AVG.
//!
//! A [`Decimal`] is an array of nine words of nine decimal digits, with the point between two words, as in MariaDB:
//!
//! ```text
//!   1234567890.12   integer_digits 10, scale 2
//!   words  [ 1 │ 234567890 │ 120000000 │ … ]
//!                          ^ the point
//! ```
//!
//! This is our own representation instead of crate `bigdecimal`, because MariaDB's results depend on this layout: the
//! number of digits of a quotient (whole words), where a product is cut (nine words), and the packed form in the
//! binlog, which is these words with the outer ones shortened. It is also small (40 bytes) and needs no heap, and an
//! addition takes a few nanoseconds, which matters for SUM over a million rows.

mod arithmetic;
mod binary;
mod text;

pub use text::{DecimalText, Loss};

use crate::error::{Error, Result};
use std::cmp::Ordering;
use std::hash::{Hash, Hasher};

/// Maximum number of words of a number.
pub(crate) const WORDS: usize = 9;
/// Digits in a word.
pub(crate) const WORD_DIGITS: usize = 9;
/// Exclusive upper bound of a word.
pub(crate) const BASE: u32 = 1_000_000_000;
/// Powers of ten that fit in a word.
pub(crate) const POWERS: [u32; 10] = [
    1,
    10,
    100,
    1_000,
    10_000,
    100_000,
    1_000_000,
    10_000_000,
    100_000_000,
    BASE,
];

/// Maximum number of digits of a DECIMAL column.
pub const MAX_PRECISION: u8 = 65;
/// Maximum number of digits after the point of a DECIMAL column.
pub const MAX_SCALE: u8 = 38;

/// Treatment of the digits that [`Decimal::round`] drops.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Rounding {
    /// To the nearest number, half away from zero. MariaDB does this everywhere except in the functions named below.
    HalfUp,
    /// Towards zero: TRUNCATE.
    Truncate,
    /// Up: CEILING. Only to a scale of 0 or more.
    Ceiling,
    /// Down: FLOOR. Only to a scale of 0 or more.
    Floor,
}

/// An exact decimal number with its scale: 1.50 prints with both decimals, and equals 1.5.
#[derive(Clone, Copy)]
pub struct Decimal {
    /// Words of the integer part, then words of the fraction, then zeros.
    words: [u32; WORDS],
    /// Digits before the point, without leading zeros.
    integer_digits: u8,
    /// Digits after the point.
    scale: u8,
    /// Never set for zero.
    negative: bool,
}

/// A word buffer large enough for every intermediate result. The point is after `integer_words` words.
struct Wide<'a> {
    words: &'a [u32],
    integer_words: usize,
}

impl Decimal {
    /// The number 0.
    pub const ZERO: Decimal = Decimal {
        words: [0; WORDS],
        integer_digits: 0,
        scale: 0,
        negative: false,
    };

    /// Returns the number of digits after the point.
    pub const fn scale(&self) -> u8 {
        self.scale
    }

    /// Returns the number of digits before the point without leading zeros: 0 for 0.5.
    pub const fn integer_digits(&self) -> u8 {
        self.integer_digits
    }

    /// Returns the number of digits needed to write the number: at least 1.
    pub fn precision(&self) -> u8 {
        (self.integer_digits + self.scale).max(1)
    }

    /// Returns whether the number is below zero.
    pub const fn is_negative(&self) -> bool {
        self.negative
    }

    /// Returns whether the number is zero.
    pub fn is_zero(&self) -> bool {
        self.words == [0; WORDS]
    }

    /// Returns the number with the opposite sign.
    pub fn neg(&self) -> Decimal {
        Decimal {
            negative: !self.negative && !self.is_zero(),
            ..*self
        }
    }

    /// Returns the number without its sign.
    pub const fn abs(&self) -> Decimal {
        Decimal {
            negative: false,
            ..*self
        }
    }

    /// Returns the largest number with this precision and scale: 99.9 for (3, 1).
    ///
    /// # Panics
    /// If it needs more than nine words, or the scale is above the precision.
    pub fn max_value(precision: u8, scale: u8) -> Decimal {
        assert!(scale <= precision);
        let digits = usize::from(precision - scale);
        let (whole, odd) = (digits / WORD_DIGITS, digits % WORD_DIGITS);
        let mut out = Decimal {
            integer_digits: digits as u8,
            scale,
            ..Decimal::ZERO
        };
        let mut at = 0;
        if odd > 0 {
            out.words[0] = POWERS[odd] - 1;
            at = 1;
        }
        for _ in 0..whole + usize::from(scale) / WORD_DIGITS {
            out.words[at] = BASE - 1;
            at += 1;
        }
        let odd = usize::from(scale) % WORD_DIGITS;
        if odd > 0 {
            out.words[at] = BASE - POWERS[WORD_DIGITS - odd];
        }
        out
    }

    /// Rounds to `scale` digits after the point; a negative scale rounds before the point. A scale larger than the
    /// number's appends zeros, as far as nine words allow.
    pub fn round(&self, scale: i32, rounding: Rounding) -> Decimal {
        let have = i32::from(self.scale);
        if scale >= have {
            if scale == have {
                return *self;
            }
            let room = (WORDS - self.integer_words()) * WORD_DIGITS;
            return Decimal {
                scale: scale.min(room as i32) as u8,
                ..*self
            };
        }
        // One spare word at the front, for a carry out of the first word.
        let mut words = [0u32; WORDS + 1];
        words[1..].copy_from_slice(&self.words);
        let integer_words = self.integer_words() as i32 + 1;
        // The index of the word with the last kept digit, counted from the point, and the number of its digits that are
        // kept.
        let (at, kept) = (
            scale.div_euclid(WORD_DIGITS as i32),
            scale.rem_euclid(WORD_DIGITS as i32) as usize,
        );
        let cut = integer_words + at;
        if cut < 0 {
            return Decimal::ZERO;
        }
        let cut = cut as usize;
        let unit = POWERS[WORD_DIGITS - kept];
        let word = words.get(cut).copied().unwrap_or(0);
        let dropped = word % unit;
        let rest_is_zero = dropped == 0 && words[(cut + 1).min(WORDS + 1)..].iter().all(|&w| w == 0);
        let away = match rounding {
            Rounding::HalfUp => dropped >= unit / 2,
            Rounding::Truncate => false,
            Rounding::Ceiling => !rest_is_zero && !self.negative,
            Rounding::Floor => !rest_is_zero && self.negative,
        };
        if cut <= WORDS {
            words[cut] -= dropped;
            words[cut + 1..].fill(0);
        }
        if away {
            let mut add = if kept == 0 { 1 } else { unit };
            let mut position = if kept == 0 { cut as i32 - 1 } else { cut as i32 };
            while add > 0 && position >= 0 {
                let sum = words[position as usize] + add;
                (words[position as usize], add) = if sum >= BASE { (sum - BASE, 1) } else { (sum, 0) };
                position -= 1;
            }
        }
        let scale = scale.max(0) as u8;
        let wide = Wide {
            words: &words,
            integer_words: integer_words as usize,
        };
        wide.narrow(scale, self.negative)
            .unwrap_or_else(|_| Decimal::max_value(81 - scale, scale))
    }

    /// Rounds half away from zero to an integer.
    ///
    /// # Errors
    /// `OutOfRange` if it does not fit.
    pub fn to_i64(&self) -> Result<i64> {
        let whole = self.round(0, Rounding::HalfUp);
        let magnitude = whole.magnitude().ok_or(Error::OutOfRange { kind: "BIGINT" })?;
        let number = if whole.negative { -magnitude } else { magnitude };
        i64::try_from(number).map_err(|_| Error::OutOfRange { kind: "BIGINT" })
    }

    /// Rounds half away from zero to an unsigned integer.
    ///
    /// # Errors
    /// `OutOfRange` if it does not fit.
    pub fn to_u64(&self) -> Result<u64> {
        let whole = self.round(0, Rounding::HalfUp);
        let magnitude = whole.magnitude().ok_or(Error::OutOfRange {
            kind: "BIGINT UNSIGNED",
        })?;
        let number = if whole.negative { -magnitude } else { magnitude };
        u64::try_from(number).map_err(|_| Error::OutOfRange {
            kind: "BIGINT UNSIGNED",
        })
    }

    /// Returns the integer part, if it has at most 36 digits.
    fn magnitude(&self) -> Option<i128> {
        let words = self.integer();
        (words.len() <= 4).then(|| {
            words
                .iter()
                .fold(0, |sum, &word| sum * i128::from(BASE) + i128::from(word))
        })
    }

    /// Returns the nearest double.
    pub fn to_f64(&self) -> f64 {
        // Both parts and the power of ten are exact as doubles, so one division rounds correctly.
        if self.precision() <= 15 && self.scale <= 15 {
            let mut number = 0u64;
            for &word in self.integer() {
                number = number * u64::from(BASE) + u64::from(word);
            }
            let mut left = usize::from(self.scale);
            for &word in self.fraction() {
                let digits = left.min(WORD_DIGITS);
                number = number * u64::from(POWERS[digits]) + u64::from(word / POWERS[WORD_DIGITS - digits]);
                left -= digits;
            }
            let number = number as f64 / 10f64.powi(i32::from(self.scale));
            return if self.negative { -number } else { number };
        }
        self.to_string().parse().unwrap_or(f64::INFINITY)
    }

    /// Converts a double to the nearest decimal, from its shortest decimal text, as MariaDB does.
    ///
    /// # Errors
    /// `OutOfRange` for a number with more than 81 digits before the point, and for infinity and NaN.
    pub fn from_f64(number: f64) -> Result<Decimal> {
        let text = format!("{number:e}");
        match Decimal::parse_prefix(&text) {
            Some(read) if read.loss != Loss::Overflow => Ok(read.value),
            _ => Err(Error::OutOfRange { kind: "DECIMAL" }),
        }
    }

    /// Creates a number from units of 10^−scale: 12345 with scale 2 is 123.45.
    pub fn from_scaled(unscaled: i128, scale: u8) -> Decimal {
        assert!(scale <= MAX_SCALE, "scale above {MAX_SCALE}");
        let (mut rest, odd) = (unscaled.unsigned_abs(), usize::from(scale) % WORD_DIGITS);
        let mut words = [0u32; WORDS + 1];
        let mut at = words.len();
        if odd > 0 {
            at -= 1;
            words[at] = (rest % u128::from(POWERS[odd])) as u32 * POWERS[WORD_DIGITS - odd];
            rest /= u128::from(POWERS[odd]);
        }
        while rest > 0 {
            at -= 1;
            words[at] = (rest % u128::from(BASE)) as u32;
            rest /= u128::from(BASE);
        }
        let fraction_words = usize::from(scale).div_ceil(WORD_DIGITS);
        let wide = Wide {
            words: &words,
            integer_words: words.len() - fraction_words,
        };
        wide.narrow(scale, unscaled < 0).unwrap_or(Decimal::ZERO)
    }

    fn integer_words(&self) -> usize {
        usize::from(self.integer_digits).div_ceil(WORD_DIGITS)
    }

    fn fraction_words(&self) -> usize {
        usize::from(self.scale).div_ceil(WORD_DIGITS)
    }

    /// Returns the words before the point.
    fn integer(&self) -> &[u32] {
        &self.words[..self.integer_words()]
    }

    /// Returns the words after the point.
    fn fraction(&self) -> &[u32] {
        let start = self.integer_words();
        &self.words[start..start + self.fraction_words()]
    }
}

/// Returns the number of digits of a word without leading zeros.
fn digits_of(word: u32) -> usize {
    POWERS
        .iter()
        .position(|&power| word < power)
        .unwrap_or(WORD_DIGITS)
}

impl Wide<'_> {
    /// Converts to nine words, with `scale` digits of fraction or as many as fit.
    fn narrow(&self, scale: u8, negative: bool) -> Result<Decimal> {
        let skipped = self.words[..self.integer_words]
            .iter()
            .take_while(|&&word| word == 0)
            .count();
        let integer_words = self.integer_words - skipped;
        if integer_words > WORDS {
            return Err(Error::OutOfRange { kind: "DECIMAL" });
        }
        let scale = usize::from(scale).min((WORDS - integer_words) * WORD_DIGITS);
        let used = integer_words + scale.div_ceil(WORD_DIGITS);
        let from = &self.words[skipped..(skipped + used).min(self.words.len())];
        let mut out = Decimal {
            scale: scale as u8,
            ..Decimal::ZERO
        };
        out.words[..from.len()].copy_from_slice(from);
        let odd = scale % WORD_DIGITS;
        if odd > 0 {
            let unit = POWERS[WORD_DIGITS - odd];
            out.words[used - 1] -= out.words[used - 1] % unit;
        }
        if integer_words > 0 {
            out.integer_digits = ((integer_words - 1) * WORD_DIGITS + digits_of(out.words[0])) as u8;
        }
        out.negative = negative && !out.is_zero();
        Ok(out)
    }
}

impl From<i64> for Decimal {
    fn from(number: i64) -> Self {
        let magnitude = Decimal::from(number.unsigned_abs());
        Decimal {
            negative: number < 0,
            ..magnitude
        }
    }
}

impl From<u64> for Decimal {
    fn from(number: u64) -> Self {
        const B: u64 = BASE as u64;
        let words = [
            (number / B / B) as u32,
            (number / B % B) as u32,
            (number % B) as u32,
        ];
        let skipped = words.iter().take_while(|&&word| word == 0).count();
        let mut out = Decimal::ZERO;
        out.words[..3 - skipped].copy_from_slice(&words[skipped..]);
        if skipped < 3 {
            out.integer_digits = ((2 - skipped) * WORD_DIGITS + digits_of(out.words[0])) as u8;
        }
        out
    }
}

impl PartialEq for Decimal {
    fn eq(&self, other: &Self) -> bool {
        self.cmp(other) == Ordering::Equal
    }
}

impl Eq for Decimal {}

impl PartialOrd for Decimal {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl Ord for Decimal {
    fn cmp(&self, other: &Self) -> Ordering {
        match (self.negative, other.negative) {
            (false, true) => Ordering::Greater,
            (true, false) => Ordering::Less,
            (false, false) => self.compare_magnitudes(other),
            (true, true) => other.compare_magnitudes(self),
        }
    }
}

impl Hash for Decimal {
    fn hash<H: Hasher>(&self, state: &mut H) {
        // Equal numbers may differ in scale: ignore trailing zero words.
        let used = self
            .words
            .iter()
            .rposition(|&word| word != 0)
            .map_or(0, |last| last + 1);
        self.negative.hash(state);
        self.integer_digits.hash(state);
        self.words[..used].hash(state);
    }
}

#[cfg(test)]
mod tests;
