//! `--hexdump`: prints an event's bytes as `mariadb-binlog` does.

use paceline_binlog::event::HEADER_LENGTH;
use std::io::Write;

const LINE_BYTES: usize = 16;

/// Appends the dump as comments. They belong between an event's header and its body. `offset` is the offset of the
/// event.
pub fn append_hexdump(offset: u64, bytes: &[u8], out: &mut Vec<u8>) {
    let (header, body) = bytes.split_at(HEADER_LENGTH.min(bytes.len()));
    let field = |from: usize, to: usize| {
        let texts: Vec<_> = header[from..to]
            .iter()
            .map(|byte| format!("{byte:02x}"))
            .collect();
        texts.join(" ")
    };
    out.extend_from_slice(
        b"\n# Position\n#           |Timestamp   |Type |Master ID   |Size        |Master Pos  |Flags\n",
    );
    // Writing to memory does not fail.
    let _ = writeln!(
        out,
        "#{:9x}  |{} |{}   |{} |{} |{} |{}\n#",
        offset,
        field(0, 4),
        field(4, 5),
        field(5, 9),
        field(9, 13),
        field(13, 17),
        field(17, 19)
    );
    for (number, line) in body.chunks(LINE_BYTES).enumerate() {
        let mut digits = String::with_capacity(50);
        for (place, byte) in line.iter().enumerate() {
            digits.push_str(&format!("{byte:02x} "));
            if place == LINE_BYTES / 2 - 1 {
                digits.push(' ');
            }
        }
        let text: String = line
            .iter()
            .map(|byte| match byte {
                0x20..=0x7e => char::from(*byte),
                _ => '.',
            })
            .collect();
        let at = offset + (HEADER_LENGTH + number * LINE_BYTES) as u64;
        let _ = writeln!(out, "#{at:9x}  {digits:<50}|{text}|");
    }
    out.extend_from_slice(b"#\n# Event: ");
}
