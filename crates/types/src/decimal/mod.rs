//! Exact decimal numbers of up to 65 digits, 38 of them after the point.

use crate::error::Result;
use std::cmp::Ordering;
use std::fmt;
use std::str::FromStr;

/// What [`Decimal::round`] does with the digits it drops.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Rounding {
    /// To the nearest, half away from zero: what MariaDB does everywhere but in the functions named below.
    HalfUp,
    /// Towards zero: TRUNCATE.
    Truncate,
    /// Up: CEILING.
    Ceiling,
    /// Down: FLOOR.
    Floor,
}

/// An exact decimal number that remembers its scale: 1.50 prints with both decimals, and equals 1.5.
#[derive(Clone, Copy)]
pub struct Decimal {
    /// Base 10^9 words, words of the integer part first; the point is between words.
    pub(crate) words: [u32; WORDS],
    /// Digits before the point, 0 if there are none but zeros.
    pub(crate) integer_digits: u8,
    /// Digits after the point.
    pub(crate) scale: u8,
    pub(crate) negative: bool,
}

/// How many words of nine digits a number has at most.
pub(crate) const WORDS: usize = 9;

/// The most digits that a DECIMAL column can have.
pub const MAX_PRECISION: u8 = 65;
/// The most digits after the point that a DECIMAL column can have.
pub const MAX_SCALE: u8 = 38;

impl Decimal {
    /// 0.
    pub const ZERO: Decimal = Decimal {
        words: [0; WORDS],
        integer_digits: 0,
        scale: 0,
        negative: false,
    };

    /// Digits after the point.
    pub fn scale(&self) -> u8 {
        self.scale
    }
    /// All digits that are needed to write it: at least 1.
    pub fn precision(&self) -> u8 {
        todo!()
    }
    /// Whether it is below zero.
    pub fn is_negative(&self) -> bool {
        todo!()
    }
    /// Whether it is zero.
    pub fn is_zero(&self) -> bool {
        todo!()
    }
    /// The largest number of that precision and scale: 99.9 for (3, 1).
    pub fn max_value(_precision: u8, _scale: u8) -> Decimal {
        todo!()
    }
    /// Reads the number at the start of `text` (blanks before it are skipped) and says how many bytes it took.
    /// `None` if there is none. `1e3` and the like are read too.
    pub fn parse_prefix(_text: &str) -> Option<(Decimal, usize)> {
        todo!()
    }
    /// The nearest decimal to a double, as MariaDB makes it: from the shortest text that stands for the double.
    pub fn from_f64(_number: f64) -> Result<Decimal> {
        todo!()
    }
    /// The nearest double.
    pub fn to_f64(&self) -> f64 {
        todo!()
    }
    /// Rounds half away from zero to an integer. `Err` if it does not fit (1690 or 1264, by the caller).
    pub fn to_i64(&self) -> Result<i64> {
        todo!()
    }
    /// Rounds half away from zero to an unsigned integer.
    pub fn to_u64(&self) -> Result<u64> {
        todo!()
    }
    /// Rounds to `scale` digits after the point; a negative scale rounds before it.
    pub fn round(&self, _scale: i32, _rounding: Rounding) -> Decimal {
        todo!()
    }
    /// The sum; its scale is the larger one. `Err(OutOfRange)` past 81 digits.
    pub fn add(&self, _other: &Decimal) -> Result<Decimal> {
        todo!()
    }
    /// The difference.
    pub fn sub(&self, _other: &Decimal) -> Result<Decimal> {
        todo!()
    }
    /// The product; its scale is the sum of both (at most 38).
    pub fn mul(&self, _other: &Decimal) -> Result<Decimal> {
        todo!()
    }
    /// The quotient with at least `scale_increment` more decimals than the dividend (`div_precision_increment`, 4), as many
    /// as MariaDB computes (a multiple of nine); the result of an expression is then rounded to its column's scale.
    /// `None` for a division by zero.
    pub fn div(&self, _other: &Decimal, _scale_increment: u8) -> Result<Option<Decimal>> {
        todo!()
    }
    /// The remainder with the dividend's sign. `None` for a division by zero.
    pub fn rem(&self, _other: &Decimal) -> Result<Option<Decimal>> {
        todo!()
    }
    /// The number with the other sign.
    pub fn neg(&self) -> Decimal {
        todo!()
    }
    /// The number without its sign.
    pub fn abs(&self) -> Decimal {
        todo!()
    }
    /// Appends MariaDB's packed form for a DECIMAL(precision, scale) column, whose bytes sort as the numbers do.
    pub fn append_binary(&self, _precision: u8, _scale: u8, _out: &mut Vec<u8>) {
        todo!()
    }
    /// How many bytes the packed form of DECIMAL(precision, scale) has.
    pub const fn binary_length(_precision: u8, _scale: u8) -> usize {
        0
    }
    /// The inverse of [`Decimal::append_binary`].
    pub fn from_binary(_bytes: &[u8], _precision: u8, _scale: u8) -> Option<Decimal> {
        todo!()
    }
    /// Appends its text.
    pub fn append_text(&self, _out: &mut Vec<u8>) {
        todo!()
    }
}

impl From<i64> for Decimal {
    fn from(_number: i64) -> Self {
        todo!()
    }
}
impl From<u64> for Decimal {
    fn from(_number: u64) -> Self {
        todo!()
    }
}
impl FromStr for Decimal {
    type Err = crate::Error;
    fn from_str(_text: &str) -> Result<Self> {
        todo!()
    }
}
impl fmt::Display for Decimal {
    fn fmt(&self, _f: &mut fmt::Formatter<'_>) -> fmt::Result {
        todo!()
    }
}
impl fmt::Debug for Decimal {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
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
    fn cmp(&self, _other: &Self) -> Ordering {
        todo!()
    }
}
impl std::hash::Hash for Decimal {
    fn hash<H: std::hash::Hasher>(&self, _state: &mut H) {
        todo!()
    }
}
