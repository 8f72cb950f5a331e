//! Base64 as BINLOG statements contain it: lines of 76 characters, and several encoded texts one after the other.

const ALPHABET: &[u8; 64] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
/// Input bytes of a full line.
const LINE_BYTES: usize = 57;

/// Appends the encoded bytes in lines, each with a newline at its end.
pub fn append_base64_lines(bytes: &[u8], out: &mut Vec<u8>) {
    out.reserve(bytes.len() / 3 * 4 + bytes.len() / LINE_BYTES + 8);
    for line in bytes.chunks(LINE_BYTES) {
        for group in line.chunks(3) {
            let byte = |at: usize| u32::from(group.get(at).copied().unwrap_or(0));
            let bits = byte(0) << 16 | byte(1) << 8 | byte(2);
            for at in 0..4 {
                out.push(if at <= group.len() {
                    ALPHABET[(bits >> (18 - 6 * at) & 63) as usize]
                } else {
                    b'='
                });
            }
        }
        out.push(b'\n');
    }
}

/// Decodes a sequence of Base64 texts, each with or without padding. White space is skipped. Returns `None` if the text
/// is not Base64.
pub fn decode_base64_texts(text: &[u8]) -> Option<Vec<u8>> {
    let mut out = Vec::with_capacity(text.len() / 4 * 3);
    // Digits of the current group of four, and their number.
    let (mut bits, mut digits, mut padding) = (0u32, 0, 0);
    for byte in text.iter().filter(|byte| !byte.is_ascii_whitespace()) {
        let value = match *byte {
            b'=' if digits >= 2 => {
                padding += 1;
                0
            }
            byte if padding == 0 => value_of(byte)?,
            _ => return None,
        };
        (bits, digits) = (bits << 6 | value, digits + 1);
        if digits == 4 {
            out.extend_from_slice(&bits.to_be_bytes()[1..4 - padding]);
            (bits, digits, padding) = (0, 0, 0);
        }
    }
    (digits == 0).then_some(out)
}

fn value_of(digit: u8) -> Option<u32> {
    let (first, base) = match digit {
        b'A'..=b'Z' => (b'A', 0),
        b'a'..=b'z' => (b'a', 26),
        b'0'..=b'9' => (b'0', 52),
        b'+' => return Some(62),
        b'/' => return Some(63),
        _ => return None,
    };
    Some(u32::from(digit - first) + base)
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
}
