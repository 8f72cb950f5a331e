//! Comparing, hashing and sort keys, for every collation alike.
//!
//! A collation turns a text into a stream of weights. PAD SPACE compares as if the shorter text went on with spaces, so that
//! what decides after the end of the one is whether the other goes on with something above or below a space. A sort key must
//! say the same by its bytes alone: its end marker stands between two codes of a space, of which the lower is used in a run of
//! spaces that something below a space follows, and the higher where something above it does.
//!
//! ```text
//!   weight:    … 0x1f │ 0x20 (space)                    │ 0x21 …
//!   code:      … 0x1f │ 0x20 low │ 0x21 end │ 0x22 high │ 0x23 …
//!
//!   'a\t'  a 09 end      <   'a', 'a '  a end      <   'a b'  a high b end
//! ```
//!
//! Trailing spaces have no codes. No key is the beginning of another, because each ends with the one end marker. A code takes one
//! byte below 0x80, two below 0x7F80, else three: a key of English text is one byte longer than the text.

use std::cmp::Ordering;
use std::hash::Hasher;

/// How the characters of ASCII weigh.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Ascii {
    /// Their own number.
    Number,
    /// The number of the capital letter.
    Capital,
    /// As the collation's table says.
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

/// The weights of one collation.
pub(super) trait Order {
    /// The weight of a space.
    const SPACE: u32;
    /// How the characters of ASCII weigh, which most texts have only.
    const ASCII: Ascii;
    /// The weights of a text, one after the other.
    fn weights(text: &str) -> impl Iterator<Item = u32>;
}

/// `utf8mb4_general_ci`, and `ascii_general_ci`, which is the same for what ascii has.
pub(super) struct GeneralCi;
/// The characters' own numbers.
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
one_weight_each!(CodePoints, Number, |c| c as u32);
one_weight_each!(Latin1Swedish, Capital, |c| u32::from(
    super::latin1::swedish_weight(c)
));
one_weight_each!(Latin1Bytes, Number, |c| u32::from(super::latin1::bin_weight(c)));

/// Compares the characters of ASCII that both texts begin with: the order if that decides, else what is left of both.
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

/// Compares as if the shorter text went on with spaces.
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

/// Compares with every space counting.
pub(super) fn compare_unpadded<O: Order>(a: &str, b: &str) -> Ordering {
    match compare_ascii::<O>(a, b) {
        Ok((a, b)) => O::weights(a).cmp(O::weights(b)),
        Err(order) => order,
    }
}

/// Mixes weights into one number, which then goes through the caller's hasher: a hasher is slow for four bytes at a time.
#[derive(Default)]
struct Mixer(u64);

impl Mixer {
    #[inline]
    fn add(&mut self, weight: u32) {
        const FACTOR: u64 = 0x9e37_79b9_7f4a_7c15;
        self.0 = (self.0.rotate_left(5) ^ u64::from(weight)).wrapping_mul(FACTOR);
    }
}

/// Hashes the weights without the trailing spaces.
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

/// Appends a code so that codes sort as bytes, none being the beginning of another.
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

/// Whether a key ends with its end marker, or is the common beginning of the keys of all texts that begin so.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum KeyEnd {
    /// The key of a whole text.
    Marked,
    /// The beginning of the keys of all texts that go on after this one. Its trailing spaces are left out.
    Open,
}

/// Whether every character is one of ASCII from space to `}`: the codes of such a text are its weights plus two, the spaces' too, because
/// nothing in it is below a space. (The codes of `~` and of DEL no longer fit one byte.)
#[inline]
fn is_printable_ascii(text: &str) -> bool {
    // Without an early end, so that it is done for many bytes at once.
    text.bytes()
        .fold(true, |all, byte| all & (byte.wrapping_sub(b' ') < b'~' - b' '))
}

/// The sort key where trailing spaces do not count.
pub(super) fn key_padded<O: Order>(text: &str, end: KeyEnd, out: &mut Vec<u8>) {
    if O::ASCII != Ascii::Table && is_printable_ascii(text) {
        let text = text.trim_end_matches(' ').as_bytes();
        match O::ASCII {
            // Letters, in either case, have the code of the capital.
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

/// The sort key where every space counts: the end marker is below every weight.
pub(super) fn key_unpadded<O: Order>(text: &str, end: KeyEnd, out: &mut Vec<u8>) {
    for weight in O::weights(text) {
        push_code(weight + 1, out);
    }
    if end == KeyEnd::Marked {
        push_code(0, out);
    }
}

/// As [`key_padded`] for the order of the characters' numbers, which is that of UTF-8's bytes: one byte each, none above 0xF4.
pub(super) fn key_bytes_padded(text: &str, end: KeyEnd, out: &mut Vec<u8>) {
    let bytes = text.trim_end_matches(' ').as_bytes();
    let start = out.len();
    out.extend_from_slice(bytes);
    if bytes.iter().fold(true, |all, byte| all & (*byte >= b' ')) {
        // Nothing is below a space: no run of spaces has the lower code.
        for byte in &mut out[start..] {
            *byte = byte.wrapping_add(2);
        }
        if end == KeyEnd::Marked {
            out.push(b' ' + 1);
        }
        return;
    }
    // From the right, so that what follows a run of spaces is known.
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

/// As [`key_unpadded`] for the order of the characters' numbers.
pub(super) fn key_bytes_unpadded(text: &str, end: KeyEnd, out: &mut Vec<u8>) {
    out.extend(text.bytes().map(|byte| byte + 1));
    if end == KeyEnd::Marked {
        out.push(0);
    }
}

/// The sort key of a binary string of any length: 0x00 is escaped, so that the end marker 00 00 stands for itself.
pub(crate) fn key_binary(bytes: &[u8], out: &mut Vec<u8>) {
    key_binary_open(bytes, out);
    out.extend_from_slice(&[0, 0]);
}

/// The beginning of the sort keys of all binary strings that begin so.
pub(crate) fn key_binary_open(bytes: &[u8], out: &mut Vec<u8>) {
    for (n, part) in bytes.split(|&byte| byte == 0).enumerate() {
        if n > 0 {
            out.extend_from_slice(&[0, 0xff]);
        }
        out.extend_from_slice(part);
    }
}
