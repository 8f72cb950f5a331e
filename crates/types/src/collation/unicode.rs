//! Weights of `unicode_ci` (Unicode Collation Algorithm 4.0.0) and `unicode_520_ci` (5.2.0), first level only.
//!
//! A character has no weight, one, or several. The weights of a text are those of its characters, because neither
//! collation has contractions. The tables contain the answer of MariaDB 10.11, one row for each character, to
//!
//! ```sql
//! SELECT seq, HEX(WEIGHT_STRING(CONVERT(CHAR(seq USING utf32) USING utf8mb4) COLLATE utf8mb4_unicode_ci))
//! FROM seq_0_to_1114111 WHERE seq NOT BETWEEN 55296 AND 57343;
//! ```
//!
//! except for characters whose two weights follow from their code point ([`implicit`]) and, for 4.0.0, characters above
//! U+FFFF, which all have the weight 0xFFFD. An entry consists of: the number of characters omitted before it (one
//! byte; 255 means that the character's code point follows in three bytes), the number of weights, and the weights in
//! two bytes each, all big-endian. `tests/vectors/unicode_weights.txt` tests whole texts.

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

impl Unicode400 {
    /// Returns the weights of one character.
    pub(super) fn weights_of(character: char) -> Weights<'static> {
        TABLE_400.weights(character)
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

/// Weights of the characters above U+FFFF.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Supplementary {
    /// All have the weight 0xFFFD.
    Replaced,
    /// Weights from the table, or derived from the code point.
    Own,
}

/// Characters in a page.
const PAGE: usize = 256;
/// Number of pages in Unicode.
const PAGES: usize = 0x11_0000 / PAGE;

/// Entry of a character whose weights follow from its code point.
const IMPLICIT: Entry = Entry {
    start: 0,
    count: u8::MAX,
};

/// Location of a character's weights in its table's list of weights.
#[derive(Clone, Copy, PartialEq, Eq)]
struct Entry {
    start: u32,
    count: u8,
}

/// Weights of one version of Unicode.
struct Table {
    /// For each page, its index in `entries` plus one, in pages; 0 if all of its characters are implicit.
    page_of: Vec<u16>,
    entries: Vec<Entry>,
    weights: Vec<u16>,
    supplementary: Supplementary,
}

/// Weights of one character.
#[derive(Clone)]
pub(super) struct Weights<'a> {
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

/// Returns the weights of a character that is not listed: UCA, "Derived Collation Elements", with the ranges of version
/// 4.0.0.
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
