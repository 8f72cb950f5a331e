//! Comparison and the four operations, computed word by word.

use super::{BASE, Decimal, MAX_SCALE, Rounding, WORD_DIGITS, WORDS, Wide};
use crate::error::Result;
use std::cmp::Ordering;

/// Size of a dividend of nine words after the shift for the scales of the divisor and the result.
const DIVISION_WORDS: usize = 6 * WORDS;

impl Decimal {
    pub(super) fn compare_magnitudes(&self, other: &Decimal) -> Ordering {
        // Neither has leading zeros, so the number with more words is larger. Fractions compare from the left; missing
        // words are zeros.
        self.integer_words()
            .cmp(&other.integer_words())
            .then_with(|| self.words.cmp(&other.words))
    }

    /// Returns the sum. Its scale is the larger one.
    ///
    /// # Errors
    /// `OutOfRange` beyond 81 digits before the point.
    pub fn add(&self, other: &Decimal) -> Result<Decimal> {
        if self.negative == other.negative {
            return self.add_magnitudes(other, self.negative);
        }
        match self.compare_magnitudes(other) {
            Ordering::Less => other.subtract_magnitude(self, other.negative),
            _ => self.subtract_magnitude(other, self.negative),
        }
    }

    /// Returns the difference. Its scale is the larger one.
    ///
    /// # Errors
    /// `OutOfRange` beyond 81 digits before the point.
    pub fn sub(&self, other: &Decimal) -> Result<Decimal> {
        self.add(&other.neg())
    }

    fn add_magnitudes(&self, other: &Decimal, negative: bool) -> Result<Decimal> {
        let integer_words = self.integer_words().max(other.integer_words()) + 1;
        let fraction_words = self.fraction_words().max(other.fraction_words());
        let mut sum = [0u32; 2 * WORDS + 1];
        let mut carry = 0;
        for at in (0..integer_words + fraction_words).rev() {
            let word = self.word(at, integer_words) + other.word(at, integer_words) + carry;
            (sum[at], carry) = if word >= BASE { (word - BASE, 1) } else { (word, 0) };
        }
        Wide {
            words: &sum,
            integer_words,
        }
        .narrow(self.scale.max(other.scale), negative)
    }

    /// Subtracts a number whose magnitude is not larger.
    fn subtract_magnitude(&self, smaller: &Decimal, negative: bool) -> Result<Decimal> {
        let integer_words = self.integer_words();
        let fraction_words = self.fraction_words().max(smaller.fraction_words());
        let mut difference = [0u32; 2 * WORDS];
        let mut borrow = 0;
        for at in (0..integer_words + fraction_words).rev() {
            let (have, less) = (
                self.word(at, integer_words),
                smaller.word(at, integer_words) + borrow,
            );
            (difference[at], borrow) = if have < less {
                (have + BASE - less, 1)
            } else {
                (have - less, 0)
            };
        }
        debug_assert_eq!(borrow, 0);
        Wide {
            words: &difference,
            integer_words,
        }
        .narrow(self.scale.max(smaller.scale), negative)
    }

    /// Returns the word at index `at` of an array with the point after `integer_words` words.
    #[inline]
    fn word(&self, at: usize, integer_words: usize) -> u32 {
        let own = self.integer_words();
        match (at + own).checked_sub(integer_words) {
            Some(index) if index < WORDS => self.words[index],
            _ => 0,
        }
    }

    /// Returns the product. Its scale is the sum of both scales, rounded to at most 38.
    ///
    /// # Errors
    /// `OutOfRange` beyond 81 digits before the point.
    pub fn mul(&self, other: &Decimal) -> Result<Decimal> {
        let (a, b) = (self.significant(), other.significant());
        let mut product = [0u32; 2 * WORDS + 1];
        for (i, &x) in a.iter().enumerate().rev() {
            let mut carry = 0u64;
            for (j, &y) in b.iter().enumerate().rev() {
                let sum = u64::from(x) * u64::from(y) + u64::from(product[i + j + 1]) + carry;
                product[i + j + 1] = (sum % u64::from(BASE)) as u32;
                carry = sum / u64::from(BASE);
            }
            product[i] = carry as u32;
        }
        let scale = self.scale + other.scale;
        let integer_words = self.integer_words() + other.integer_words();
        let whole = Wide {
            words: &product,
            integer_words,
        }
        .narrow(scale, self.negative != other.negative)?;
        Ok(if scale > MAX_SCALE {
            whole.round(i32::from(MAX_SCALE), Rounding::HalfUp)
        } else {
            whole
        })
    }

    /// Returns all used words.
    fn significant(&self) -> &[u32] {
        &self.words[..self.integer_words() + self.fraction_words()]
    }

    /// Returns the quotient. It has at least `scale_increment` (`div_precision_increment`, 4) more decimals than the
    /// dividend: like MariaDB, this computes whole words and cuts after the last digit without rounding. `1/3` is
    /// 0.333333333 here; the column that shows it has the dividend's scale plus `scale_increment`, and rounds it to
    /// 0.3333.
    ///
    /// Returns `None` for a division by zero.
    ///
    /// # Errors
    /// `OutOfRange` beyond 81 digits before the point.
    pub fn div(&self, other: &Decimal, scale_increment: u8) -> Result<Option<Decimal>> {
        if other.is_zero() {
            return Ok(None);
        }
        let (own, others) = (self.fraction_words(), other.fraction_words());
        let surplus = (own + others) * WORD_DIGITS - usize::from(self.scale) - usize::from(other.scale);
        let increment = usize::from(scale_increment).saturating_sub(surplus);
        let fraction_words = own + others + increment.div_ceil(WORD_DIGITS);
        // The dividend as an integer. The shift makes the quotient's last word its last word of fraction.
        let shift = fraction_words + others - own;
        let mut dividend = [0u32; DIVISION_WORDS];
        let used = self.significant().len();
        dividend[..used].copy_from_slice(self.significant());
        let length = used + shift;
        let mut quotient = [0u32; DIVISION_WORDS];
        let digits = divide(&mut dividend[..length], other.significant(), &mut quotient);
        // A quotient below one gets leading words of zeros.
        let mut padded = [0u32; DIVISION_WORDS + 4 * WORDS];
        let integer_words = digits.saturating_sub(fraction_words);
        let zeros = fraction_words.saturating_sub(digits);
        padded[zeros..zeros + digits].copy_from_slice(&quotient[..digits]);
        let scale = (fraction_words * WORD_DIGITS).min(usize::from(u8::MAX)) as u8;
        let wide = Wide {
            words: &padded,
            integer_words,
        };
        wide.narrow(scale, self.negative != other.negative).map(Some)
    }

    /// Returns the integer part of the quotient (DIV), or `None` for a division by zero.
    ///
    /// # Errors
    /// `OutOfRange` beyond 81 digits.
    pub fn div_integer(&self, other: &Decimal) -> Result<Option<Decimal>> {
        Ok(self
            .div(other, 0)?
            .map(|quotient| quotient.round(0, Rounding::Truncate)))
    }

    /// Returns the remainder, which has the dividend's sign and the larger scale, or `None` for a division by zero.
    ///
    /// # Errors
    /// None in practice: the remainder is smaller than the dividend.
    pub fn rem(&self, other: &Decimal) -> Result<Option<Decimal>> {
        if other.is_zero() {
            return Ok(None);
        }
        // Convert both to integers of the same scale.
        let fraction_words = self.fraction_words().max(other.fraction_words());
        let integer = |number: &Decimal, out: &mut [u32; DIVISION_WORDS]| {
            let used = number.significant().len();
            out[..used].copy_from_slice(number.significant());
            number.integer_words() + fraction_words
        };
        let (mut dividend, mut divisor) = ([0u32; DIVISION_WORDS], [0u32; DIVISION_WORDS]);
        let (length, divisor_length) = (integer(self, &mut dividend), integer(other, &mut divisor));
        let mut quotient = [0u32; DIVISION_WORDS];
        divide(&mut dividend[..length], &divisor[..divisor_length], &mut quotient);
        let wide = Wide {
            words: &dividend,
            integer_words: self.integer_words(),
        };
        wide.narrow(self.scale.max(other.scale), self.negative).map(Some)
    }
}

/// Divides integers in base 10^9, most significant word first. Leaves the remainder in `dividend` and writes the
/// quotient to the start of `quotient`. Returns the number of words of the quotient: those of the dividend, minus those
/// of the divisor, plus one.
fn divide(dividend: &mut [u32], divisor: &[u32], quotient: &mut [u32]) -> usize {
    const B: u64 = BASE as u64;
    let zeros = divisor.iter().take_while(|&&word| word == 0).count();
    let divisor = &divisor[zeros..];
    let n = divisor.len();
    if dividend.len() < n {
        return 0;
    }
    let digits = dividend.len() - n + 1;
    if n == 1 {
        let mut rest = 0u64;
        for (word, digit) in dividend.iter_mut().zip(quotient.iter_mut()) {
            let value = rest * B + u64::from(*word);
            *digit = (value / u64::from(divisor[0])) as u32;
            rest = value % u64::from(divisor[0]);
            *word = 0;
        }
        if let Some(last) = dividend.last_mut() {
            *last = rest as u32;
        }
        return digits;
    }
    // Knuth's algorithm D: scale both numbers to make the divisor's first word at least half of the base.
    let factor = B / (u64::from(divisor[0]) + 1);
    let mut scaled_divisor = [0u32; DIVISION_WORDS];
    scale_by(divisor, factor, &mut scaled_divisor[..n]);
    let divisor = &scaled_divisor[..n];
    let mut rest = [0u32; DIVISION_WORDS + 1];
    let length = dividend.len() + 1;
    rest[0] = scale_by(dividend, factor, &mut rest[1..length]);
    let (first, second) = (u64::from(divisor[0]), u64::from(divisor[1]));
    for at in 0..digits {
        let top = u64::from(rest[at]) * B + u64::from(rest[at + 1]);
        let mut guess = (top / first).min(B - 1);
        let mut left = top - guess * first;
        while left < B && guess * second > left * B + u64::from(rest[at + 2]) {
            guess -= 1;
            left += first;
        }
        let mut borrow = 0u64;
        for i in (0..n).rev() {
            let take = guess * u64::from(divisor[i]) + borrow;
            let (low, high) = (take % B, take / B);
            let word = &mut rest[at + 1 + i];
            (*word, borrow) = match u64::from(*word).checked_sub(low) {
                Some(word) => (word as u32, high),
                None => ((u64::from(*word) + B - low) as u32, high + 1),
            };
        }
        if u64::from(rest[at]) < borrow {
            // The estimate was one too high.
            guess -= 1;
            let mut carry = 0;
            for i in (0..n).rev() {
                let sum = rest[at + 1 + i] + divisor[i] + carry;
                (rest[at + 1 + i], carry) = if sum >= BASE { (sum - BASE, 1) } else { (sum, 0) };
            }
        }
        rest[at] = 0;
        quotient[at] = guess as u32;
    }
    let mut carry = 0u64;
    for (word, &scaled) in dividend.iter_mut().zip(&rest[1..length]) {
        let value = carry * B + u64::from(scaled);
        *word = (value / factor) as u32;
        carry = value % factor;
    }
    digits
}

/// Multiplies by a number below the base. Returns the carry.
fn scale_by(words: &[u32], factor: u64, out: &mut [u32]) -> u32 {
    let mut carry = 0u64;
    for (&word, out) in words.iter().zip(out.iter_mut()).rev() {
        let value = u64::from(word) * factor + carry;
        *out = (value % u64::from(BASE)) as u32;
        carry = value / u64::from(BASE);
    }
    carry as u32
}
