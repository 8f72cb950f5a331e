//! The weights of `unicode_ci` (Unicode Collation Algorithm 4.0.0) and `unicode_520_ci` (5.2.0), first level only.
//!
//! A character has none, one or several weights; a text's weights are those of its characters, as neither collation has
//! contractions. The tables hold what MariaDB 10.11 says, one row for each character, of
//!
//! ```sql
//! SELECT seq, HEX(WEIGHT_STRING(CONVERT(CHAR(seq USING utf32) USING utf8mb4) COLLATE utf8mb4_unicode_ci))
//! FROM seq_0_to_1114111 WHERE seq NOT BETWEEN 55296 AND 57343;
//! ```
//!
//! without the characters whose two weights follow from their number ([`implicit`]) and, for 4.0.0, those above U+FFFF, which
//! all weigh 0xFFFD. Each entry is: how many characters were left out before it (one byte; 255 is followed by the character's
//! number in three), how many weights, the weights in two bytes each; all big-endian. `tests/vectors/unicode_weights.txt` has whole texts.

use super::order::{Ascii, Order};
use std::sync::LazyLock;

/// `unicode_ci`.
pub(super) struct Unicode400;
/// `unicode_520_ci`.
pub(super) struct Unicode520;

static TABLE_400: LazyLock<Table> =
    LazyLock::new(|| Table::read(include_bytes!("unicode_400.weights"), Supplementary::Replaced));
static TABLE_520: LazyLock<Table> =
    LazyLock::new(|| Table::read(include_bytes!("unicode_520.weights"), Supplementary::Own));

impl Order for Unicode400 {
    const SPACE: u32 = 0x0209;
    const ASCII: Ascii = Ascii::Table;
    fn weights(text: &str) -> impl Iterator<Item = u32> {
        let table = &*TABLE_400;
        text.chars().flat_map(|c| table.weights(c))
    }
}

impl Order for Unicode520 {
    const SPACE: u32 = 0x020a;
    const ASCII: Ascii = Ascii::Table;
    fn weights(text: &str) -> impl Iterator<Item = u32> {
        let table = &*TABLE_520;
        text.chars().flat_map(|c| table.weights(c))
    }
}

/// What characters above U+FFFF weigh.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Supplementary {
    /// All the same: 0xFFFD.
    Replaced,
    /// What the table or their number says.
    Own,
}

/// Characters of one page.
const PAGE: usize = 256;
/// Pages of all of Unicode.
const PAGES: usize = 0x11_0000 / PAGE;

/// In a page: the weights follow from the character's number.
const IMPLICIT: Entry = Entry {
    start: 0,
    count: u8::MAX,
};

/// Where a character's weights are.
#[derive(Clone, Copy, PartialEq, Eq)]
struct Entry {
    start: u32,
    count: u8,
}

/// The weights of one version.
struct Table {
    /// For each page one more than its place in `entries`, in pages; 0 if all of its characters are implicit.
    page_of: Vec<u16>,
    entries: Vec<Entry>,
    weights: Vec<u16>,
    supplementary: Supplementary,
}

/// The weights of one character.
#[derive(Clone)]
struct Weights<'a> {
    listed: &'a [u16],
    computed: [u16; 2],
    next: usize,
}

impl Table {
    fn read(mut bytes: &[u8], supplementary: Supplementary) -> Table {
        let mut table = Table {
            page_of: vec![0; PAGES],
            entries: Vec::new(),
            weights: Vec::new(),
            supplementary,
        };
        let mut code = 0usize;
        while let [gap, rest @ ..] = bytes {
            bytes = rest;
            if *gap == u8::MAX {
                code = usize::from(bytes[0]) << 16 | usize::from(bytes[1]) << 8 | usize::from(bytes[2]);
                bytes = &bytes[3..];
            } else {
                code += usize::from(*gap);
            }
            let count = bytes[0];
            let (weights, rest) = bytes[1..].split_at(2 * usize::from(count));
            bytes = rest;
            let page = &mut table.page_of[code / PAGE];
            if *page == 0 {
                table.entries.resize(table.entries.len() + PAGE, IMPLICIT);
                *page = (table.entries.len() / PAGE) as u16;
            }
            let at = (usize::from(*page) - 1) * PAGE + code % PAGE;
            table.entries[at] = Entry {
                start: table.weights.len() as u32,
                count,
            };
            table.weights.extend(
                weights
                    .chunks(2)
                    .map(|pair| u16::from_be_bytes([pair[0], pair[1]])),
            );
            code += 1;
        }
        table
    }

    #[inline]
    fn weights(&self, character: char) -> Weights<'_> {
        let code = character as usize;
        if code > 0xffff && self.supplementary == Supplementary::Replaced {
            return Weights {
                listed: &[0xfffd],
                computed: [0; 2],
                next: 0,
            };
        }
        let entry = match usize::from(self.page_of[code / PAGE]) {
            0 => IMPLICIT,
            page => self.entries[(page - 1) * PAGE + code % PAGE],
        };
        if entry == IMPLICIT {
            return Weights {
                listed: &[],
                computed: implicit(code as u32),
                next: 0,
            };
        }
        let start = entry.start as usize;
        Weights {
            listed: &self.weights[start..start + usize::from(entry.count)],
            computed: [0; 2],
            next: 0,
        }
    }
}

/// The weights of a character that is not listed: UCA, "Derived Collation Elements", with the ranges of its version 4.0.0.
fn implicit(code: u32) -> [u16; 2] {
    let base = match code {
        0x3400..=0x4db5 => 0xfb80,
        0x4e00..=0x9fa5 => 0xfb40,
        _ => 0xfbc0,
    };
    [(base + (code >> 15)) as u16, (code & 0x7fff | 0x8000) as u16]
}

impl Iterator for Weights<'_> {
    type Item = u32;

    #[inline]
    fn next(&mut self) -> Option<u32> {
        let at = self.next;
        self.next += 1;
        if self.computed[0] != 0 {
            return self.computed.get(at).map(|&weight| u32::from(weight));
        }
        self.listed.get(at).map(|&weight| u32::from(weight))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn hex(text: &str) -> Vec<u8> {
        (0..text.len())
            .step_by(2)
            .map(|at| u8::from_str_radix(&text[at..at + 2], 16).unwrap())
            .collect()
    }

    #[test]
    fn weights_as_mariadb() {
        let mut checked = 0;
        for line in include_str!("../../tests/vectors/unicode_weights.txt")
            .lines()
            .filter(|line| !line.starts_with('#'))
        {
            let fields: Vec<&str> = line.split(' ').collect();
            let text = String::from_utf8(hex(fields[0])).unwrap();
            let shown = |weights: Vec<u32>| match weights.len() {
                0 => "-".to_owned(),
                _ => weights.iter().map(|weight| format!("{weight:04X}")).collect(),
            };
            assert_eq!(shown(Unicode400::weights(&text).collect()), fields[1], "{text:?}");
            assert_eq!(shown(Unicode520::weights(&text).collect()), fields[2], "{text:?}");
            checked += 1;
        }
        assert_eq!(checked, 400);
    }
}
