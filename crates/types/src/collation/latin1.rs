//! MariaDB's `latin1` and the order of `latin1_swedish_ci`. `latin1` is Windows-1252, in which the five undefined bytes
//! stand for the code points of the same number.

/// Characters of the bytes 0x80 to 0x9F. Every other byte stands for the code point of the same number.
const C1: [char; 32] = [
    '\u{20ac}', '\u{81}', '\u{201a}', '\u{192}', '\u{201e}', '\u{2026}', '\u{2020}', '\u{2021}', '\u{2c6}',
    '\u{2030}', '\u{160}', '\u{2039}', '\u{152}', '\u{8d}', '\u{17d}', '\u{8f}', '\u{90}', '\u{2018}',
    '\u{2019}', '\u{201c}', '\u{201d}', '\u{2022}', '\u{2013}', '\u{2014}', '\u{2dc}', '\u{2122}', '\u{161}',
    '\u{203a}', '\u{153}', '\u{9d}', '\u{17e}', '\u{178}',
];

/// Weights of 0xC0 to 0xFF in `latin1_swedish_ci` (`WEIGHT_STRING` of a MariaDB 10.11 server). Below that, a letter has
/// the weight of its upper case, and any other byte its own number.
const SWEDISH: [u8; 64] = [
    0x41, 0x41, 0x41, 0x41, 0x5c, 0x5b, 0x5c, 0x43, 0x45, 0x45, 0x45, 0x45, 0x49, 0x49, 0x49, 0x49, //
    0x44, 0x4e, 0x4f, 0x4f, 0x4f, 0x4f, 0x5d, 0xd7, 0xd8, 0x55, 0x55, 0x55, 0x59, 0x59, 0xde, 0xdf, //
    0x41, 0x41, 0x41, 0x41, 0x5c, 0x5b, 0x5c, 0x43, 0x45, 0x45, 0x45, 0x45, 0x49, 0x49, 0x49, 0x49, //
    0x44, 0x4e, 0x4f, 0x4f, 0x4f, 0x4f, 0x5d, 0xf7, 0xd8, 0x55, 0x55, 0x55, 0x59, 0x59, 0xde, 0xff, //
];

/// Returns the byte of a character, or `None` if latin1 does not have it.
#[inline]
pub(super) fn encode(character: char) -> Option<u8> {
    match character as u32 {
        code @ (0..=0x7f | 0xa0..=0xff) => Some(code as u8),
        _ => C1.iter().position(|&c| c == character).map(|at| 0x80 + at as u8),
    }
}

/// Returns the character of a byte.
#[inline]
pub(super) fn decode(byte: u8) -> char {
    if (0x80..0xa0).contains(&byte) {
        C1[usize::from(byte - 0x80)]
    } else {
        char::from(byte)
    }
}

/// Returns the weight of a character in `latin1_swedish_ci`. A character that latin1 does not have is treated as `?`.
#[inline]
pub(super) fn swedish_weight(character: char) -> u16 {
    let byte = encode(character).unwrap_or(b'?');
    u16::from(if byte >= 0xc0 {
        SWEDISH[usize::from(byte - 0xc0)]
    } else {
        byte.to_ascii_uppercase()
    })
}

/// Returns the weight of a character in `latin1_bin`.
#[inline]
pub(super) fn bin_weight(character: char) -> u16 {
    u16::from(encode(character).unwrap_or(b'?'))
}
