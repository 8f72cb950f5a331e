//! Decimal numbers as text.

use super::{BASE, Decimal, POWERS, WORD_DIGITS, WORDS, Wide, digits_of};
use crate::error::{Error, Result};
use std::fmt;
use std::str::FromStr;

/// Loss when a number was read from a text.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Loss {
    /// Nothing.
    None,
    /// Digits of the fraction that did not fit.
    Truncated,
    /// More than 81 digits before the point: the value is the largest number.
    Overflow,
}

/// A number at the beginning of a text.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct DecimalText {
    /// The number.
    pub value: Decimal,
    /// Length of its text in bytes, with the blanks before it.
    pub length: usize,
    /// Digits that did not fit.
    pub loss: Loss,
}

impl Decimal {
    /// Reads the number at the start of `text` after any blanks: digits with or without a point, with or without an
    /// exponent. Returns `None` if there is no number.
    pub fn parse_prefix(text: &str) -> Option<DecimalText> {
        let bytes = text.as_bytes();
        let mut at = bytes.iter().take_while(|b| b.is_ascii_whitespace()).count();
        let negative = match bytes.get(at) {
            Some(b'-') => {
                at += 1;
                true
            }
            Some(b'+') => {
                at += 1;
                false
            }
            _ => false,
        };
        let count = |from: usize| bytes[from..].iter().take_while(|b| b.is_ascii_digit()).count();
        let integer_start = at;
        at += count(at);
        let integer = &bytes[integer_start..at];
        let mut fraction: &[u8] = &[];
        if bytes.get(at) == Some(&b'.') {
            let digits = count(at + 1);
            if digits > 0 || !integer.is_empty() {
                fraction = &bytes[at + 1..at + 1 + digits];
                at += 1 + digits;
            }
        }
        if integer.is_empty() && fraction.is_empty() {
            return None;
        }
        let mut exponent = 0i64;
        if matches!(bytes.get(at), Some(b'e' | b'E')) {
            let sign = usize::from(matches!(bytes.get(at + 1), Some(b'+' | b'-')));
            let digits = count(at + 1 + sign);
            if digits > 0 {
                let end = at + 1 + sign + digits;
                exponent =
                    text[at + 1..end]
                        .parse()
                        .unwrap_or(if bytes[at + 1] == b'-' { -10_000 } else { 10_000 });
                at = end;
            }
        }
        let (value, loss) = build(integer, fraction, exponent.clamp(-10_000, 10_000), negative);
        Some(DecimalText {
            value,
            length: at,
            loss,
        })
    }

    /// Appends the text: `-123.40`, with as many decimals as the scale and at least one digit before the point.
    pub fn append_text(&self, out: &mut Vec<u8>) {
        if self.negative {
            out.push(b'-');
        }
        let integer = self.integer();
        match integer.split_first() {
            None => out.push(b'0'),
            Some((&first, rest)) => {
                append_digits(first, digits_of(first).max(1), out);
                for &word in rest {
                    append_digits(word, WORD_DIGITS, out);
                }
            }
        }
        if self.scale > 0 {
            out.push(b'.');
            let mut left = usize::from(self.scale);
            for &word in self.fraction() {
                let digits = left.min(WORD_DIGITS);
                append_digits(word / POWERS[WORD_DIGITS - digits], digits, out);
                left -= digits;
            }
        }
    }
}

/// Appends exactly `digits` digits.
fn append_digits(word: u32, digits: usize, out: &mut Vec<u8>) {
    let mut text = [b'0'; WORD_DIGITS];
    let mut rest = word;
    for digit in text[..digits].iter_mut().rev() {
        *digit = b'0' + (rest % 10) as u8;
        rest /= 10;
    }
    out.extend_from_slice(&text[..digits]);
}

/// Builds a number from digits. The point is moved to the right by `exponent`.
fn build(integer: &[u8], fraction: &[u8], exponent: i64, negative: bool) -> (Decimal, Loss) {
    let zeros = integer.iter().take_while(|&&digit| digit == b'0').count();
    let integer = &integer[zeros..];
    let total = (integer.len() + fraction.len()) as i64;
    let digit = |n: i64| -> u32 {
        let n = match usize::try_from(n) {
            Ok(n) => n,
            Err(_) => return 0,
        };
        let byte = if n < integer.len() {
            integer.get(n)
        } else {
            fraction.get(n - integer.len())
        };
        byte.map_or(0, |byte| u32::from(byte - b'0'))
    };
    // Index of the point among the digits. The first digit that is not zero determines the number of digits before the
    // point.
    let point = integer.len() as i64 + exponent;
    let leading = (0..total).take_while(|&n| digit(n) == 0).count() as i64;
    if leading == total {
        let scale = (fraction.len() as i64 - exponent).clamp(0, (WORDS * WORD_DIGITS) as i64);
        return (
            Decimal {
                scale: scale as u8,
                ..Decimal::ZERO
            },
            Loss::None,
        );
    }
    let integer_digits = (point - leading).max(0) as usize;
    let integer_words = integer_digits.div_ceil(WORD_DIGITS);
    if integer_words > WORDS {
        let largest = Decimal {
            words: [BASE - 1; WORDS],
            integer_digits: 81,
            scale: 0,
            negative,
        };
        return (largest, Loss::Overflow);
    }
    let wanted_scale = (total - point).max(0) as usize;
    let scale = wanted_scale.min((WORDS - integer_words) * WORD_DIGITS);
    let mut words = [0u32; WORDS];
    let first = point - (integer_words * WORD_DIGITS) as i64;
    for (n, word) in words[..integer_words + scale.div_ceil(WORD_DIGITS)]
        .iter_mut()
        .enumerate()
    {
        let from = first + (n * WORD_DIGITS) as i64;
        *word = (from..from + WORD_DIGITS as i64).fold(0, |sum, n| sum * 10 + digit(n));
    }
    let lost = (point + scale as i64..total).any(|n| digit(n) != 0);
    let value = Wide {
        words: &words,
        integer_words,
    }
    .narrow(scale as u8, negative)
    .unwrap_or(Decimal::ZERO);
    (value, if lost { Loss::Truncated } else { Loss::None })
}

impl FromStr for Decimal {
    type Err = Error;

    /// Reads a whole text as a number, except for blanks around it.
    fn from_str(text: &str) -> Result<Self> {
        match Decimal::parse_prefix(text) {
            Some(read) if text[read.length..].trim_end().is_empty() && read.loss != Loss::Overflow => {
                Ok(read.value)
            }
            _ => Err(Error::InvalidDecimal(text.to_owned())),
        }
    }
}

impl fmt::Display for Decimal {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut out = Vec::with_capacity(84);
        self.append_text(&mut out);
        f.write_str(&String::from_utf8_lossy(&out))
    }
}

impl fmt::Debug for Decimal {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}
