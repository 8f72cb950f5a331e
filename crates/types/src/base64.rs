//! Base64 as BINLOG statements hold it: lines of 76 characters.

const ALPHABET: &[u8; 64] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
/// Input bytes of a full line.
const LINE_BYTES: usize = 57;

/// Appends the encoded form, its lines ended by newlines.
pub fn append_base64(bytes: &[u8], out: &mut Vec<u8>) {
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

#[cfg(test)]
mod tests {
    use super::*;

    fn encoded(bytes: &[u8]) -> String {
        let mut out = Vec::new();
        append_base64(bytes, &mut out);
        String::from_utf8(out).unwrap()
    }

    #[test]
    fn the_rfc_s_examples() {
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
}
