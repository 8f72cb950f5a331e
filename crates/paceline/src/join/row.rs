//! Converts rows of a text result set to lines for LOAD DATA.
//!
//! Fields end with a tab, lines with a line feed, `\` is the escape character, `\N` is NULL: the defaults of LOAD DATA.

use paceline_wire::WireResult;
use paceline_wire::bytes::Cursor;

/// Appends a row as a line.
///
/// # Errors
/// Fails if the row has fewer than `columns` values.
pub fn append_line(payload: &[u8], columns: usize, out: &mut Vec<u8>) -> WireResult<()> {
    let mut cursor = Cursor::new(payload, "row");
    for column in 0..columns {
        if column > 0 {
            out.push(b'\t');
        }
        match cursor.text_value()? {
            None => out.extend_from_slice(b"\\N"),
            Some(value) => append_escaped(value, out),
        }
    }
    out.push(b'\n');
    Ok(())
}

fn append_escaped(value: &[u8], out: &mut Vec<u8>) {
    let mut rest = value;
    while let Some(index) = rest
        .iter()
        .position(|byte| matches!(byte, b'\\' | b'\t' | b'\n' | 0))
    {
        out.extend_from_slice(&rest[..index]);
        out.push(b'\\');
        out.push(match rest[index] {
            b'\t' => b't',
            b'\n' => b'n',
            0 => b'0',
            other => other,
        });
        rest = &rest[index + 1..];
    }
    out.extend_from_slice(rest);
}

#[cfg(test)]
mod tests {
    use super::*;
    use paceline_wire::bytes::put_lenenc_bytes;

    #[test]
    fn every_special_byte_is_escaped() {
        let mut payload = vec![];
        put_lenenc_bytes(&mut payload, b"a\tb\nc\\d\0e\rf'\"N");
        payload.push(0xFB);
        put_lenenc_bytes(&mut payload, b"");
        put_lenenc_bytes(&mut payload, "ü\\N".as_bytes());
        let mut line = vec![];
        append_line(&payload, 4, &mut line).unwrap();
        assert_eq!(line, "a\\tb\\nc\\\\d\\0e\rf'\"N\t\\N\t\tü\\\\N\n".as_bytes());
        assert!(append_line(&payload, 5, &mut vec![]).is_err());
    }
}
