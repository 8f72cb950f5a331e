//! Base64 as MariaDB writes and reads it: in lines of 76 characters, with white space anywhere. BINLOG statements
//! contain several encoded texts one after the other.
//!
//! Crate `base64` encodes and decodes. This module adds lines, white space, the boundaries between texts, and the
//! position that MariaDB names in its warning.

use base64::Engine;
use base64::alphabet::STANDARD;
use base64::engine::{GeneralPurpose, GeneralPurposeConfig};

/// Bits after the last byte may have any value, as in MariaDB.
const ENGINE: GeneralPurpose = GeneralPurpose::new(
    &STANDARD,
    GeneralPurposeConfig::new().with_decode_allow_trailing_bits(true),
);
/// Input bytes of a full line.
const LINE_BYTES: usize = 57;

/// Appends the encoded bytes in lines, each with a newline at its end.
pub fn append_base64_lines(bytes: &[u8], out: &mut Vec<u8>) {
    out.reserve(bytes.len() / 3 * 4 + bytes.len() / LINE_BYTES + 8);
    for line in bytes.chunks(LINE_BYTES) {
        append_base64(line, out);
        out.push(b'\n');
    }
}

/// Appends the encoded bytes in one line, without a newline.
pub fn append_base64(bytes: &[u8], out: &mut Vec<u8>) {
    let start = out.len();
    out.resize(start + bytes.len().div_ceil(3) * 4, 0);
    let encoded = ENGINE.encode_slice(bytes, &mut out[start..]);
    encoded.expect("there is room for all groups");
}

/// Returns the encoded bytes in lines with newlines between them: TO_BASE64.
pub fn to_base64(bytes: &[u8]) -> String {
    let mut out = Vec::new();
    append_base64_lines(bytes, &mut out);
    out.pop();
    String::from_utf8(out).expect("Base64 is ASCII")
}

/// Decodes a text: FROM_BASE64. White space is skipped.
///
/// # Errors
/// The position of the byte that MariaDB complains about. It is the length of the text if the text ends too early.
pub fn from_base64(text: &[u8]) -> Result<Vec<u8>, usize> {
    let digits: Vec<u8> = without_white_space(text).map(|(_, byte)| byte).collect();
    ENGINE.decode(digits).map_err(|_| bad_position(text))
}

fn bad_position(text: &[u8]) -> usize {
    let mut padding = 0;
    for (count, (at, byte)) in without_white_space(text).enumerate() {
        let is_digit = byte.is_ascii_alphanumeric() || matches!(byte, b'+' | b'/');
        padding += usize::from(byte == b'=');
        let is_group_end = count % 4 == 3;
        if (byte != b'=' && (!is_digit || padding > 0)) || (is_group_end && padding > 2) {
            return at;
        }
    }
    text.len()
}

fn without_white_space(text: &[u8]) -> impl Iterator<Item = (usize, u8)> {
    let bytes = text.iter().copied().enumerate();
    bytes.filter(|(_, byte)| !byte.is_ascii_whitespace())
}

/// Decodes a sequence of Base64 texts, each with its padding. White space is skipped. Returns `None` if the text is not
/// Base64.
pub fn decode_base64_texts(text: &[u8]) -> Option<Vec<u8>> {
    let digits: Vec<u8> = without_white_space(text).map(|(_, byte)| byte).collect();
    let mut out = Vec::with_capacity(digits.len() / 4 * 3);
    let mut rest = digits.as_slice();
    while !rest.is_empty() {
        // A text ends with the group of four that contains its padding.
        let padding = rest.iter().position(|byte| *byte == b'=');
        let end = padding.map_or(rest.len(), |at| (at / 4 + 1) * 4);
        let (one, behind) = rest.split_at_checked(end)?;
        ENGINE.decode_vec(one, &mut out).ok()?;
        rest = behind;
    }
    Some(out)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn encoded(bytes: &[u8]) -> String {
        let mut out = Vec::new();
        append_base64_lines(bytes, &mut out);
        String::from_utf8(out).unwrap()
    }

    #[test]
    fn encodes_examples_of_rfc_4648() {
        let examples = [
            ("f", "Zg=="),
            ("fo", "Zm8="),
            ("foo", "Zm9v"),
            ("foob", "Zm9vYg=="),
            ("foobar", "Zm9vYmFy"),
        ];
        for (text, expected) in examples {
            assert_eq!(encoded(text.as_bytes()), format!("{expected}\n"));
        }
        assert_eq!(encoded(&[0xff; 3]), "////\n");
    }

    #[test]
    fn lines_have_76_characters() {
        let text = encoded(&[0; 115]);
        let lengths: Vec<_> = text.lines().map(str::len).collect();
        assert_eq!(lengths, [76, 76, 4]);
        assert!(text.ends_with("AA==\n"));
    }

    #[test]
    fn decodes_encoded_bytes() {
        for length in 0..200u8 {
            let bytes: Vec<u8> = (0..length).map(|byte| byte.wrapping_mul(37)).collect();
            assert_eq!(decode_base64_texts(encoded(&bytes).as_bytes()), Some(bytes));
        }
    }

    #[test]
    fn decodes_texts_that_follow_each_other() {
        assert_eq!(decode_base64_texts(b" Zg==\nZm8=Zm9v\n").unwrap(), b"ffofoo");
        for wrong in ["Z", "Zg=", "Zg=A", "=Zg=", "Z===", "Zm9v!AAA", "Zm9\u{e9}"] {
            assert_eq!(decode_base64_texts(wrong.as_bytes()), None, "{wrong}");
        }
    }

    #[test]
    fn texts_of_sql_have_newlines_between_lines() {
        assert_eq!(to_base64(b""), "");
        assert_eq!(to_base64(b"foob"), "Zm9vYg==");
        assert_eq!(to_base64(&[0; 57]).len(), 76);
        assert_eq!(
            to_base64(&[0; 58]).lines().map(str::len).collect::<Vec<_>>(),
            [76, 4]
        );
        assert_eq!(from_base64(b" Zm9v\nYg == ").unwrap(), b"foob");
        assert_eq!(from_base64(b"").unwrap(), b"");
        // The four bits after the byte are not zero.
        assert_eq!(from_base64(b"Zh==").unwrap(), b"f");
    }

    #[test]
    fn the_position_of_what_is_not_base64() {
        for (text, position) in [
            ("Z", 1),
            ("Zg", 2),
            ("Zg =", 4),
            ("Zg=A", 3),
            ("Z===", 3),
            ("====", 3),
            ("=Zg=", 1),
            ("Zg==Zg==", 4),
            ("Zg====", 6),
            ("Zg======", 7),
            ("Zm9v !AAA", 5),
            ("Zm9v\u{e9}", 4),
        ] {
            assert_eq!(from_base64(text.as_bytes()), Err(position), "{text}");
        }
    }
}
