//! Comparison, hashing and sort keys of all collations.
//!
//! A collation converts a text to a sequence of weights. PAD SPACE compares as if the shorter text continued with
//! spaces: when one text ends, the result depends on whether the other continues with something below or above a space.
//! A sort key must express this in its bytes alone. Its end marker therefore lies between two codes for a space. The
//! lower one is used in a run of spaces that is followed by something below a space, the higher one in a run that is
//! followed by something above it.
//!
//! ```text
//!   weight:    … 0x1f │ 0x20 (space)                    │ 0x21 …
//!   code:      … 0x1f │ 0x20 low │ 0x21 end │ 0x22 high │ 0x23 …
//!
//!   'a\t'  a 09 end      <   'a', 'a '  a end      <   'a b'  a high b end
//! ```
//!
//! Trailing spaces have no codes. No key is a prefix of another, because the end marker occurs once, at the end. A code
//! takes one byte below 0x80, two bytes below 0x7F80, else three: a key of English text is one byte longer than the
//! text.

use std::cmp::Ordering;
use std::hash::Hasher;

/// Treatment of trailing spaces in comparisons.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Padding {
    /// The shorter text compares as if it continued with spaces: `'a' = 'a '`.
    PadSpace,
    /// A space compares like any other character.
    NoPad,
}

/// Weights of the ASCII characters in a collation.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Ascii {
    /// The character's own number.
    Number,
    /// The number of the upper case letter.
    Capital,
    /// The weight in the collation's table.
    Table,
}

impl Ascii {
    #[inline]
    fn weight(self, byte: u8) -> u8 {
        if self == Ascii::Capital {
            byte.to_ascii_uppercase()
        } else {
            byte
        }
    }
}

/// Weights of one collation.
pub(super) trait Order {
    /// Weight of a space.
    const SPACE: u32;
    /// Weights of the ASCII characters. Most texts have no others.
    const ASCII: Ascii;
    /// Returns the weights of a text in order.
    fn weights(text: &str) -> impl Iterator<Item = u32>;
}

/// `utf8mb4_general_ci`; also `ascii_general_ci`, which is the same for ASCII text.
pub(super) struct GeneralCi;
/// `utf8mb3_general_mysql500_ci`: `general_ci` from before `ß` became equal to `s`.
pub(super) struct GeneralMysql500;
/// Order by code point.
pub(super) struct CodePoints;
/// `latin1_swedish_ci`.
pub(super) struct Latin1Swedish;
/// `latin1_bin`.
pub(super) struct Latin1Bytes;

macro_rules! one_weight_each {
    ($order:ty, $ascii:ident, $weight:expr) => {
        impl Order for $order {
            const SPACE: u32 = 0x20;
            const ASCII: Ascii = Ascii::$ascii;
            #[inline]
            fn weights(text: &str) -> impl Iterator<Item = u32> {
                text.chars().map($weight)
            }
        }
    };
}
one_weight_each!(GeneralCi, Capital, |c| u32::from(super::general_ci::weight(c)));
one_weight_each!(GeneralMysql500, Capital, |c| match c {
    'ß' => 0xdf,
    c => u32::from(super::general_ci::weight(c)),
});
one_weight_each!(CodePoints, Number, |c| c as u32);
one_weight_each!(Latin1Swedish, Capital, |c| u32::from(
    super::latin1::swedish_weight(c)
));
one_weight_each!(Latin1Bytes, Number, |c| u32::from(super::latin1::bin_weight(c)));

/// Compares the ASCII characters at the start of both texts. Returns the order if they decide it, else the rest of both
/// texts.
#[inline]
fn compare_ascii<'a, O: Order>(a: &'a str, b: &'a str) -> Result<(&'a str, &'a str), Ordering> {
    if O::ASCII == Ascii::Table {
        return Ok((a, b));
    }
    let mut at = 0;
    for (&x, &y) in a.as_bytes().iter().zip(b.as_bytes()) {
        if !(x | y).is_ascii() {
            break;
        }
        if x != y {
            match O::ASCII.weight(x).cmp(&O::ASCII.weight(y)) {
                Ordering::Equal => {}
                unequal => return Err(unequal),
            }
        }
        at += 1;
    }
    Ok((&a[at..], &b[at..]))
}

/// Compares as if the shorter text continued with spaces.
pub(super) fn compare_padded<O: Order>(a: &str, b: &str) -> Ordering {
    let (a, b) = match compare_ascii::<O>(a, b) {
        Ok(left) => left,
        Err(order) => return order,
    };
    let (mut a, mut b) = (O::weights(a), O::weights(b));
    loop {
        let (x, y) = (a.next(), b.next());
        if x.is_none() && y.is_none() {
            return Ordering::Equal;
        }
        match x.unwrap_or(O::SPACE).cmp(&y.unwrap_or(O::SPACE)) {
            Ordering::Equal => {}
            unequal => return unequal,
        }
    }
}

/// Compares with trailing spaces.
pub(super) fn compare_unpadded<O: Order>(a: &str, b: &str) -> Ordering {
    match compare_ascii::<O>(a, b) {
        Ok((a, b)) => O::weights(a).cmp(O::weights(b)),
        Err(order) => order,
    }
}

/// Returns whether two characters are equal.
pub(super) fn same<O: Order>(a: char, b: char) -> bool {
    let (mut x, mut y) = ([0; 4], [0; 4]);
    O::weights(a.encode_utf8(&mut x)).eq(O::weights(b.encode_utf8(&mut y)))
}

/// Combines weights into one number before the caller's hasher gets it, because a hasher is slow for four bytes at a
/// time.
#[derive(Default)]
struct Mixer(u64);

impl Mixer {
    #[inline]
    fn add(&mut self, weight: u32) {
        const FACTOR: u64 = 0x9e37_79b9_7f4a_7c15;
        self.0 = (self.0.rotate_left(5) ^ u64::from(weight)).wrapping_mul(FACTOR);
    }
}

/// Hashes the weights except trailing spaces.
pub(super) fn hash_padded<O: Order>(text: &str, state: &mut impl Hasher) {
    let mut mixer = Mixer::default();
    let mut spaces = 0;
    for weight in O::weights(text) {
        if weight == O::SPACE {
            spaces += 1;
            continue;
        }
        for _ in 0..std::mem::take(&mut spaces) {
            mixer.add(O::SPACE);
        }
        mixer.add(weight);
    }
    state.write_u64(mixer.0);
}

/// Hashes all weights.
pub(super) fn hash_unpadded<O: Order>(text: &str, state: &mut impl Hasher) {
    let mut mixer = Mixer::default();
    O::weights(text).for_each(|weight| mixer.add(weight));
    state.write_u64(mixer.0);
}

/// Appends a code. Codes sort as bytes, and none is a prefix of another.
#[inline]
fn push_code(code: u32, out: &mut Vec<u8>) {
    const TWO_BYTES: u32 = 0x80;
    const THREE_BYTES: u32 = TWO_BYTES + 0x7f00;
    if code < TWO_BYTES {
        out.push(code as u8);
    } else if code < THREE_BYTES {
        out.extend_from_slice(&(0x8000 + (code - TWO_BYTES) as u16).to_be_bytes());
    } else {
        out.push(0xff);
        out.extend_from_slice(
            &u16::try_from(code - THREE_BYTES)
                .unwrap_or(u16::MAX)
                .to_be_bytes(),
        );
    }
}

/// End of a sort key.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum KeyEnd {
    /// The key of a whole text ends with its end marker.
    Marked,
    /// The key is the common prefix of the keys of all texts that continue this one. It does not contain the text's
    /// trailing spaces.
    Open,
}

/// Returns whether all characters are ASCII from space to `}`. The codes of such a text are its weights plus two, also
/// for spaces, because nothing in it is below a space. (The codes of `~` and DEL do not fit in one byte.)
#[inline]
fn is_printable_ascii(text: &str) -> bool {
    // No early exit, so that the compiler can process many bytes at once.
    text.bytes()
        .fold(true, |all, byte| all & (byte.wrapping_sub(b' ') < b'~' - b' '))
}

/// Appends the sort key for an order that ignores trailing spaces.
pub(super) fn key_padded<O: Order>(text: &str, end: KeyEnd, out: &mut Vec<u8>) {
    if O::ASCII != Ascii::Table && is_printable_ascii(text) {
        let text = text.trim_end_matches(' ').as_bytes();
        match O::ASCII {
            // A letter in either case has the code of the upper case letter.
            Ascii::Capital => out.extend(text.iter().map(|byte| {
                let is_small = byte.wrapping_sub(b'a') < 26;
                byte.wrapping_add(2).wrapping_sub(u8::from(is_small) << 5)
            })),
            Ascii::Number | Ascii::Table => out.extend(text.iter().map(|byte| byte.wrapping_add(2))),
        }
        if end == KeyEnd::Marked {
            out.push(b' ' + 1);
        }
        return;
    }
    let (low, marker, high) = (O::SPACE, O::SPACE + 1, O::SPACE + 2);
    let mut spaces = 0u32;
    for weight in O::weights(text) {
        if weight == O::SPACE {
            spaces += 1;
            continue;
        }
        let (space, code) = if weight < O::SPACE {
            (low, weight)
        } else {
            (high, weight + 2)
        };
        for _ in 0..std::mem::take(&mut spaces) {
            push_code(space, out);
        }
        push_code(code, out);
    }
    if end == KeyEnd::Marked {
        push_code(marker, out);
    }
}

/// Appends the sort key for an order in which trailing spaces count. The end marker is below every weight.
pub(super) fn key_unpadded<O: Order>(text: &str, end: KeyEnd, out: &mut Vec<u8>) {
    for weight in O::weights(text) {
        push_code(weight + 1, out);
    }
    if end == KeyEnd::Marked {
        push_code(0, out);
    }
}

/// Appends at most `count` weights of a text, `bytes_each` bytes each, then `padding` for each missing weight.
pub(super) fn append_weights<O: Order>(
    text: &str,
    bytes_each: usize,
    count: Option<usize>,
    padding: u32,
    out: &mut Vec<u8>,
) {
    let mut push = |weight: u32| out.extend_from_slice(&weight.to_be_bytes()[4 - bytes_each..]);
    let mut missing = count.unwrap_or(0);
    for weight in O::weights(text).take(count.unwrap_or(usize::MAX)) {
        push(weight);
        missing = missing.saturating_sub(1);
    }
    (0..missing).for_each(|_| push(padding));
}

/// Returns the weight of a space.
pub(super) fn space_weight<O: Order>() -> u32 {
    O::SPACE
}

/// Like [`key_padded`], for the order by code point, which is also the order of UTF-8's bytes: one byte each, none
/// above 0xF4.
pub(super) fn key_bytes_padded(text: &str, end: KeyEnd, out: &mut Vec<u8>) {
    let bytes = text.trim_end_matches(' ').as_bytes();
    let start = out.len();
    out.extend_from_slice(bytes);
    if bytes.iter().fold(true, |all, byte| all & (*byte >= b' ')) {
        // Nothing in the text is below a space, so no run of spaces gets the lower code.
        for byte in &mut out[start..] {
            *byte = byte.wrapping_add(2);
        }
        if end == KeyEnd::Marked {
            out.push(b' ' + 1);
        }
        return;
    }
    // From right to left: the code of a run of spaces depends on the character after it.
    let mut space = b' ' + 2;
    for byte in out[start..].iter_mut().rev() {
        match *byte {
            b' ' => *byte = space,
            below if below < b' ' => space = b' ',
            _ => {
                *byte += 2;
                space = b' ' + 2;
            }
        }
    }
    if end == KeyEnd::Marked {
        out.push(b' ' + 1);
    }
}

/// Like [`key_unpadded`], for the order by code point.
pub(super) fn key_bytes_unpadded(text: &str, end: KeyEnd, out: &mut Vec<u8>) {
    out.extend(text.bytes().map(|byte| byte + 1));
    if end == KeyEnd::Marked {
        out.push(0);
    }
}

/// Appends the sort key of a binary string of any length. 0x00 is escaped, so the end marker 00 00 is unambiguous.
pub(crate) fn key_binary(bytes: &[u8], out: &mut Vec<u8>) {
    key_binary_open(bytes, out);
    out.extend_from_slice(&[0, 0]);
}

/// Appends the common prefix of the sort keys of all binary strings with this beginning.
pub(crate) fn key_binary_open(bytes: &[u8], out: &mut Vec<u8>) {
    for (n, part) in bytes.split(|&byte| byte == 0).enumerate() {
        if n > 0 {
            out.extend_from_slice(&[0, 0xff]);
        }
        out.extend_from_slice(part);
    }
}

/// Returns the length of the key of [`key_padded`] or [`key_unpadded`] at the start of `bytes`, with its end marker, or
/// `None` if there is no end marker.
pub(super) fn key_length<O: Order>(padding: Padding, bytes: &[u8]) -> Option<usize> {
    let marker = match padding {
        Padding::PadSpace => O::SPACE + 1,
        Padding::NoPad => 0,
    };
    let mut at = 0;
    loop {
        let first = *bytes.get(at)?;
        let length = match first {
            0..0x80 => 1,
            0x80..0xff => 2,
            0xff => 3,
        };
        let code = bytes.get(at..at + length)?;
        at += length;
        if is_code(marker, code) {
            return Some(at);
        }
    }
}

/// Returns whether the bytes encode this code, which is below 0x7f80.
fn is_code(code: u32, bytes: &[u8]) -> bool {
    match *bytes {
        [one] => u32::from(one) == code,
        // Two bytes encode 0x80 and above, so a smaller code never matches.
        [first, second] => u32::from(u16::from_be_bytes([first, second])) + 0x80 == 0x8000 + code,
        _ => false,
    }
}

/// Like [`key_length`], for the keys of [`key_bytes_padded`] and [`key_bytes_unpadded`]. Their end marker is a byte
/// that occurs nowhere else in the key.
pub(super) fn key_bytes_length(padding: Padding, bytes: &[u8]) -> Option<usize> {
    let marker = match padding {
        Padding::PadSpace => b' ' + 1,
        Padding::NoPad => 0,
    };
    Some(bytes.iter().position(|&byte| byte == marker)? + 1)
}

/// Like [`key_length`], for the keys of [`key_binary`].
pub(crate) fn key_binary_length(bytes: &[u8]) -> Option<usize> {
    let mut at = 0;
    loop {
        at += bytes.get(at..)?.iter().position(|&byte| byte == 0)?;
        match bytes.get(at + 1)? {
            0 => return Some(at + 2),
            _ => at += 2,
        }
    }
}
