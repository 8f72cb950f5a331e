//! Collations of languages: `unicode_ci` with other weights for some characters and some pairs of characters.
//!
//! The tables contain all characters up to U+FFFF whose weights in MariaDB 10.11 differ from those of
//! `utf8mb4_unicode_ci`, from
//!
//! ```sql
//! SELECT seq, HEX(WEIGHT_STRING(CONVERT(CHAR(seq USING utf32) USING utf8mb4) COLLATE utf8mb4_danish_ci)) FROM seq_0_to_65535;
//! ```
//!
//! and all pairs of letters whose weight differs from the weights of the two letters (*contractions*, such as `ch` in
//! Czech). As in `unicode_ci`, the weight of every character above U+FFFF is 0xFFFD. MariaDB's `myanmar_ci` and
//! `thai_520_w2` are missing, because they are not of this kind.

use super::order::{Ascii, Order};
use super::unicode::{Unicode400, Weights};

/// Differences of a language from `unicode_ci`.
pub(super) struct Tailoring {
    /// Characters with their weights, in ascending order.
    characters: &'static [(char, &'static [u16])],
    /// Contractions with their weight, in ascending order.
    contractions: &'static [([char; 2], u16)],
}

impl Tailoring {
    fn weights_of(&self, character: char) -> Option<&'static [u16]> {
        let found = self.characters.binary_search_by_key(&character, |(own, _)| *own);
        found.ok().map(|at| self.characters[at].1)
    }

    fn contraction(&self, pair: [char; 2]) -> Option<u16> {
        let found = self.contractions.binary_search_by_key(&pair, |(own, _)| *own);
        found.ok().map(|at| self.contractions[at].1)
    }
}

/// Order of entry `NUMBER` of [`TAILORINGS`].
pub(super) struct LanguageOrder<const NUMBER: usize>;

impl<const NUMBER: usize> Order for LanguageOrder<NUMBER> {
    const SPACE: u32 = Unicode400::SPACE;
    const ASCII: Ascii = Ascii::Table;
    fn weights(text: &str) -> impl Iterator<Item = u32> {
        TailoredWeights {
            tailoring: &TAILORINGS[NUMBER],
            text: text.chars(),
            listed: &[],
            plain: None,
        }
    }
}

/// Removes the characters at the end of a text that can begin a contraction, because their weight depends on the next
/// character.
pub(super) fn without_open_contraction(number: usize, text: &str) -> &str {
    let contractions = TAILORINGS[number].contractions;
    text.trim_end_matches(|last| contractions.iter().any(|(pair, _)| pair[0] == last))
}

struct TailoredWeights<'t> {
    tailoring: &'static Tailoring,
    text: std::str::Chars<'t>,
    /// Weights of the last character that are still to be returned.
    listed: &'static [u16],
    plain: Option<Weights<'static>>,
}

impl Iterator for TailoredWeights<'_> {
    type Item = u32;

    fn next(&mut self) -> Option<u32> {
        loop {
            if let [first, rest @ ..] = self.listed {
                self.listed = rest;
                return Some(u32::from(*first));
            }
            if let Some(plain) = &mut self.plain {
                if let Some(weight) = plain.next() {
                    return Some(weight);
                }
                self.plain = None;
            }
            let character = self.text.next()?;
            if !self.tailoring.contractions.is_empty()
                && let Some(next) = self.text.clone().next()
                && let Some(weight) = self.tailoring.contraction([character, next])
            {
                self.text.next();
                return Some(u32::from(weight));
            }
            match self.tailoring.weights_of(character) {
                Some(weights) => self.listed = weights,
                None => self.plain = Some(Unicode400::weights_of(character)),
            }
        }
    }
}

/// Tailorings in the order of the numbers in [`super::Collation`].
#[rustfmt::skip]
pub(super) static TAILORINGS: [Tailoring; 23] = [
    // icelandic_ci
    Tailoring {
        characters: &[
            ('\u{c1}', &[0x0e34]), ('\u{c4}', &[0x106c]), ('\u{c5}', &[0x106e]), ('\u{c6}', &[0x106c]),
            ('\u{c9}', &[0x0e8c]), ('\u{cd}', &[0x0efc]), ('\u{d0}', &[0x0e6e]), ('\u{d3}', &[0x0f83]),
            ('\u{d6}', &[0x106d]), ('\u{d8}', &[0x106d]), ('\u{da}', &[0x1020]), ('\u{dd}', &[0x105f]),
            ('\u{de}', &[0x106b]), ('\u{e1}', &[0x0e34]), ('\u{e4}', &[0x106c]), ('\u{e5}', &[0x106e]),
            ('\u{e6}', &[0x106c]), ('\u{e9}', &[0x0e8c]), ('\u{ed}', &[0x0efc]), ('\u{f0}', &[0x0e6e]),
            ('\u{f3}', &[0x0f83]), ('\u{f6}', &[0x106d]), ('\u{f8}', &[0x106d]), ('\u{fa}', &[0x1020]),
            ('\u{fd}', &[0x105f]), ('\u{fe}', &[0x106b]),
        ],
        contractions: &[
        ],
    },
    // latvian_ci
    Tailoring {
        characters: &[
            ('Y', &[0x0efc]), ('y', &[0x0efc]), ('\u{10c}', &[0x0e61]), ('\u{10d}', &[0x0e61]),
            ('\u{122}', &[0x0ec2]), ('\u{123}', &[0x0ec2]), ('\u{136}', &[0x0f22]), ('\u{137}', &[0x0f22]),
            ('\u{13b}', &[0x0f2f]), ('\u{13c}', &[0x0f2f]), ('\u{145}', &[0x0f65]), ('\u{146}', &[0x0f65]),
            ('\u{156}', &[0x0fc1]), ('\u{157}', &[0x0fc1]), ('\u{160}', &[0x0feb]), ('\u{161}', &[0x0feb]),
            ('\u{17d}', &[0x106b]), ('\u{17e}', &[0x106b]),
        ],
        contractions: &[
        ],
    },
    // romanian_ci
    Tailoring {
        characters: &[
            ('\u{c2}', &[0x0e35]), ('\u{ce}', &[0x0efc]), ('\u{e2}', &[0x0e35]), ('\u{ee}', &[0x0efc]),
            ('\u{102}', &[0x0e34]), ('\u{103}', &[0x0e34]), ('\u{15e}', &[0x0feb]), ('\u{15f}', &[0x0feb]),
            ('\u{162}', &[0x1003]), ('\u{163}', &[0x1003]), ('\u{218}', &[0x0feb]), ('\u{219}', &[0x0feb]),
            ('\u{21a}', &[0x1003]), ('\u{21b}', &[0x1003]),
        ],
        contractions: &[
        ],
    },
    // slovenian_ci
    Tailoring {
        characters: &[
            ('\u{10c}', &[0x0e61]), ('\u{10d}', &[0x0e61]), ('\u{160}', &[0x0feb]), ('\u{161}', &[0x0feb]),
            ('\u{17d}', &[0x106b]), ('\u{17e}', &[0x106b]),
        ],
        contractions: &[
        ],
    },
    // polish_ci
    Tailoring {
        characters: &[
            ('\u{d3}', &[0x0f83]), ('\u{f3}', &[0x0f83]), ('\u{104}', &[0x0e34]), ('\u{105}', &[0x0e34]),
            ('\u{106}', &[0x0e61]), ('\u{107}', &[0x0e61]), ('\u{118}', &[0x0e8c]), ('\u{119}', &[0x0e8c]),
            ('\u{141}', &[0x0f2f]), ('\u{142}', &[0x0f2f]), ('\u{143}', &[0x0f65]), ('\u{144}', &[0x0f65]),
            ('\u{15a}', &[0x0feb]), ('\u{15b}', &[0x0feb]), ('\u{179}', &[0x106b]), ('\u{17a}', &[0x106b]),
            ('\u{17b}', &[0x106c]), ('\u{17c}', &[0x106c]),
        ],
        contractions: &[
        ],
    },
    // estonian_ci
    Tailoring {
        characters: &[
            ('Z', &[0x0fec]), ('z', &[0x0fec]), ('\u{c4}', &[0x1053]), ('\u{d5}', &[0x1052]), ('\u{d6}', &[0x1054]),
            ('\u{dc}', &[0x1055]), ('\u{e4}', &[0x1053]), ('\u{f5}', &[0x1052]), ('\u{f6}', &[0x1054]),
            ('\u{fc}', &[0x1055]), ('\u{160}', &[0x0feb]), ('\u{161}', &[0x0feb]), ('\u{17d}', &[0x0fed]),
            ('\u{17e}', &[0x0fed]),
        ],
        contractions: &[
        ],
    },
    // spanish_ci
    Tailoring {
        characters: &[
            ('\u{d1}', &[0x0f65]), ('\u{f1}', &[0x0f65]),
        ],
        contractions: &[
        ],
    },
    // swedish_ci
    Tailoring {
        characters: &[
            ('\u{c4}', &[0x106c]), ('\u{c5}', &[0x106b]), ('\u{c6}', &[0x106c]), ('\u{d6}', &[0x106d]),
            ('\u{d8}', &[0x106d]), ('\u{dc}', &[0x105e]), ('\u{e4}', &[0x106c]), ('\u{e5}', &[0x106b]),
            ('\u{e6}', &[0x106c]), ('\u{f6}', &[0x106d]), ('\u{f8}', &[0x106d]), ('\u{fc}', &[0x105e]),
        ],
        contractions: &[
        ],
    },
    // turkish_ci
    Tailoring {
        characters: &[
            ('I', &[0x0ee2]), ('\u{c7}', &[0x0e61]), ('\u{d6}', &[0x0f83]), ('\u{dc}', &[0x1020]),
            ('\u{e7}', &[0x0e61]), ('\u{f6}', &[0x0f83]), ('\u{fc}', &[0x1020]), ('\u{11e}', &[0x0ec2]),
            ('\u{11f}', &[0x0ec2]), ('\u{131}', &[0x0ee2]), ('\u{15e}', &[0x0feb]), ('\u{15f}', &[0x0feb]),
        ],
        contractions: &[
        ],
    },
    // czech_ci
    Tailoring {
        characters: &[
            ('\u{10c}', &[0x0e61]), ('\u{10d}', &[0x0e61]), ('\u{158}', &[0x0fc1]), ('\u{159}', &[0x0fc1]),
            ('\u{160}', &[0x0feb]), ('\u{161}', &[0x0feb]), ('\u{17d}', &[0x106b]), ('\u{17e}', &[0x106b]),
        ],
        contractions: &[
            (['C', 'H'], 0x0ee2), (['C', 'h'], 0x0ee2), (['c', 'h'], 0x0ee2),
        ],
    },
    // danish_ci
    Tailoring {
        characters: &[
            ('\u{c4}', &[0x106b]), ('\u{c5}', &[0x106d]), ('\u{c6}', &[0x106b]), ('\u{d6}', &[0x106c]),
            ('\u{d8}', &[0x106c]), ('\u{dc}', &[0x105e]), ('\u{e4}', &[0x106b]), ('\u{e5}', &[0x106d]),
            ('\u{e6}', &[0x106b]), ('\u{f6}', &[0x106c]), ('\u{f8}', &[0x106c]), ('\u{fc}', &[0x105e]),
            ('\u{150}', &[0x106c]), ('\u{151}', &[0x106c]), ('\u{170}', &[0x105e]), ('\u{171}', &[0x105e]),
        ],
        contractions: &[
            (['A', 'A'], 0x106d), (['A', 'a'], 0x106d), (['a', 'a'], 0x106d),
        ],
    },
    // lithuanian_ci
    Tailoring {
        characters: &[
            ('Y', &[0x0efb]), ('y', &[0x0efb]), ('\u{10c}', &[0x0e61]), ('\u{10d}', &[0x0e61]),
            ('\u{160}', &[0x0feb]), ('\u{161}', &[0x0feb]), ('\u{17d}', &[0x106b]), ('\u{17e}', &[0x106b]),
        ],
        contractions: &[
            (['C', 'H'], 0x0e60), (['C', 'h'], 0x0e60), (['c', 'h'], 0x0e60),
        ],
    },
    // slovak_ci
    Tailoring {
        characters: &[
            ('\u{c4}', &[0x0e34]), ('\u{d4}', &[0x0f83]), ('\u{e4}', &[0x0e34]), ('\u{f4}', &[0x0f83]),
            ('\u{10c}', &[0x0e61]), ('\u{10d}', &[0x0e61]), ('\u{160}', &[0x0feb]), ('\u{161}', &[0x0feb]),
            ('\u{17d}', &[0x106b]), ('\u{17e}', &[0x106b]),
        ],
        contractions: &[
            (['C', 'H'], 0x0ee2), (['C', 'h'], 0x0ee2), (['c', 'h'], 0x0ee2),
        ],
    },
    // spanish2_ci
    Tailoring {
        characters: &[
            ('\u{d1}', &[0x0f65]), ('\u{f1}', &[0x0f65]),
        ],
        contractions: &[
            (['C', 'H'], 0x0e61), (['C', 'h'], 0x0e61), (['L', 'L'], 0x0f2f), (['L', 'l'], 0x0f2f),
            (['c', 'h'], 0x0e61), (['l', 'l'], 0x0f2f),
        ],
    },
    // roman_ci
    Tailoring {
        characters: &[
            ('J', &[0x0efb]), ('U', &[0x1044]), ('j', &[0x0efb]), ('u', &[0x1044]),
        ],
        contractions: &[
        ],
    },
    // persian_ci
    Tailoring {
        characters: &[
            ('\u{621}', &[0x0e36]), ('\u{622}', &[0x0e33]), ('\u{623}', &[0x0e37]), ('\u{624}', &[0x0e39]),
            ('\u{625}', &[0x0e38]), ('\u{626}', &[0x0e3a]), ('\u{627}', &[0x0e34]), ('\u{629}', &[0x13bf]),
            ('\u{643}', &[0x139d]), ('\u{647}', &[0x13be]), ('\u{649}', &[0x13c2]), ('\u{64a}', &[0x13c3]),
            ('\u{64b}', &[0x02d5]), ('\u{64c}', &[0x02da]), ('\u{64d}', &[0x02d8]), ('\u{64e}', &[0x02cc]),
            ('\u{64f}', &[0x02d2]), ('\u{650}', &[0x02cf]), ('\u{653}', &[0x0001]), ('\u{654}', &[0x0002]),
            ('\u{655}', &[0x0003]), ('\u{670}', &[0x0004]), ('\u{671}', &[0x0e35]), ('\u{689}', &[0x1355]),
            ('\u{68a}', &[0x1356]), ('\u{6a9}', &[0x139c]), ('\u{6c0}', &[0x13c0]), ('\u{6cc}', &[0x13c1]),
            ('\u{fb50}', &[0x134c]), ('\u{fb51}', &[0x134d]), ('\u{fb8e}', &[0x139c]), ('\u{fb8f}', &[0x139d]),
            ('\u{fb90}', &[0x139e]), ('\u{fba4}', &[0x13c4]), ('\u{fba5}', &[0x13c5]), ('\u{fbfc}', &[0x13c6]),
            ('\u{fbfd}', &[0x13c7]), ('\u{fbfe}', &[0x13c8]), ('\u{fdfc}', &[0x1376]), ('\u{fe70}', &[0x02d6]),
            ('\u{fe71}', &[0x02d7]), ('\u{fe72}', &[0x02db]), ('\u{fe74}', &[0x02d9]), ('\u{fe76}', &[0x02cd]),
            ('\u{fe77}', &[0x02ce]), ('\u{fe78}', &[0x02d3]), ('\u{fe79}', &[0x02d4]), ('\u{fe7a}', &[0x02d0]),
            ('\u{fe7b}', &[0x02d1]), ('\u{fe80}', &[0x134e]), ('\u{fe82}', &[0x1349]), ('\u{fe83}', &[0x134f]),
            ('\u{fe84}', &[0x1350]), ('\u{fe85}', &[0x1353]), ('\u{fe86}', &[0x1354]), ('\u{fe87}', &[0x1351]),
            ('\u{fe88}', &[0x1352]), ('\u{fe8d}', &[0x134a]), ('\u{fe8e}', &[0x134b]), ('\u{fe93}', &[0x13c2]),
            ('\u{fe94}', &[0x13c3]), ('\u{fed9}', &[0x13a0]), ('\u{feda}', &[0x13a1]), ('\u{fedb}', &[0x13a2]),
            ('\u{fedc}', &[0x13a3]), ('\u{fee9}', &[0x13be]), ('\u{feea}', &[0x13bf]), ('\u{feeb}', &[0x13c0]),
            ('\u{feec}', &[0x13c1]), ('\u{feef}', &[0x13ca]), ('\u{fef0}', &[0x13cb]), ('\u{fef1}', &[0x13cc]),
            ('\u{fef2}', &[0x13cd]), ('\u{fef3}', &[0x13ce]), ('\u{fef4}', &[0x13cf]), ('\u{fef5}', &[0x13d0]),
            ('\u{fef6}', &[0x13d1]), ('\u{fef7}', &[0x13d2]), ('\u{fef8}', &[0x13d3]), ('\u{fef9}', &[0x13d4]),
            ('\u{fefa}', &[0x13d5]), ('\u{fefb}', &[0x13d6]), ('\u{fefc}', &[0x13d7]),
        ],
        contractions: &[
        ],
    },
    // esperanto_ci
    Tailoring {
        characters: &[
            ('\u{108}', &[0x0e61]), ('\u{109}', &[0x0e61]), ('\u{11c}', &[0x0ec2]), ('\u{11d}', &[0x0ec2]),
            ('\u{124}', &[0x0ee2]), ('\u{125}', &[0x0ee2]), ('\u{134}', &[0x0f11]), ('\u{135}', &[0x0f11]),
            ('\u{15c}', &[0x0feb]), ('\u{15d}', &[0x0feb]), ('\u{16c}', &[0x1020]), ('\u{16d}', &[0x1020]),
        ],
        contractions: &[
        ],
    },
    // hungarian_ci
    Tailoring {
        characters: &[
            ('\u{d6}', &[0x0f83]), ('\u{dc}', &[0x1020]), ('\u{f6}', &[0x0f83]), ('\u{fc}', &[0x1020]),
            ('\u{150}', &[0x0f83]), ('\u{151}', &[0x0f83]), ('\u{170}', &[0x1020]), ('\u{171}', &[0x1020]),
        ],
        contractions: &[
        ],
    },
    // sinhala_ci
    Tailoring {
        characters: &[
            ('\u{d82}', &[0x17a9]), ('\u{d83}', &[0x17aa]), ('\u{d9a}', &[0x17ab]), ('\u{d9b}', &[0x17ac]),
            ('\u{d9c}', &[0x17ad]), ('\u{d9d}', &[0x17ae]), ('\u{d9e}', &[0x17af]), ('\u{d9f}', &[0x17b0]),
            ('\u{da0}', &[0x17b1]), ('\u{da1}', &[0x17b2]), ('\u{da2}', &[0x17b3]), ('\u{da3}', &[0x17b4]),
            ('\u{da4}', &[0x17b6]), ('\u{da5}', &[0x17b5]), ('\u{da6}', &[0x17b7]), ('\u{da7}', &[0x17b8]),
            ('\u{da8}', &[0x17b9]), ('\u{da9}', &[0x17ba]), ('\u{daa}', &[0x17bb]), ('\u{dab}', &[0x17bc]),
            ('\u{dac}', &[0x17bd]), ('\u{dad}', &[0x17be]), ('\u{dae}', &[0x17bf]), ('\u{daf}', &[0x17c0]),
            ('\u{db0}', &[0x17c1]), ('\u{db1}', &[0x17c2]), ('\u{db3}', &[0x17c3]), ('\u{db4}', &[0x17c4]),
            ('\u{db5}', &[0x17c5]), ('\u{db6}', &[0x17c6]), ('\u{db7}', &[0x17c7]), ('\u{db8}', &[0x17c8]),
            ('\u{db9}', &[0x17c9]), ('\u{dba}', &[0x17ca]), ('\u{dbb}', &[0x17cb]), ('\u{dbd}', &[0x17cc]),
            ('\u{dc0}', &[0x17cd]), ('\u{dc1}', &[0x17ce]), ('\u{dc2}', &[0x17cf]), ('\u{dc3}', &[0x17d0]),
            ('\u{dc4}', &[0x17d1]), ('\u{dc5}', &[0x17d2]), ('\u{dc6}', &[0x17d3]), ('\u{dca}', &[0x17e5]),
            ('\u{dcf}', &[0x17d4]), ('\u{dd0}', &[0x17d5]), ('\u{dd1}', &[0x17d6]), ('\u{dd2}', &[0x17d7]),
            ('\u{dd3}', &[0x17d8]), ('\u{dd4}', &[0x17d9]), ('\u{dd6}', &[0x17da]), ('\u{dd8}', &[0x17db]),
            ('\u{dd9}', &[0x17df]), ('\u{dda}', &[0x17e0]), ('\u{ddb}', &[0x17e1]), ('\u{ddc}', &[0x17e2]),
            ('\u{ddd}', &[0x17e3]), ('\u{dde}', &[0x17e4]), ('\u{ddf}', &[0x17dd]), ('\u{df2}', &[0x17dc]),
            ('\u{df3}', &[0x17de]),
        ],
        contractions: &[
        ],
    },
    // german2_ci
    Tailoring {
        characters: &[
            ('\u{c4}', &[0x0e33, 0x0e8b]), ('\u{c6}', &[0x0e33, 0x0e8b]), ('\u{d6}', &[0x0f82, 0x0e8b]),
            ('\u{dc}', &[0x101f, 0x0e8b]), ('\u{e4}', &[0x0e33, 0x0e8b]), ('\u{e6}', &[0x0e33, 0x0e8b]),
            ('\u{f6}', &[0x0f82, 0x0e8b]), ('\u{fc}', &[0x101f, 0x0e8b]),
        ],
        contractions: &[
        ],
    },
    // croatian_mysql561_ci
    Tailoring {
        characters: &[
            ('\u{106}', &[0x0e62]), ('\u{107}', &[0x0e62]), ('\u{10c}', &[0x0e61]), ('\u{10d}', &[0x0e61]),
            ('\u{110}', &[0x0e6f]), ('\u{111}', &[0x0e6f]), ('\u{160}', &[0x0feb]), ('\u{161}', &[0x0feb]),
            ('\u{17d}', &[0x106b]), ('\u{17e}', &[0x106b]), ('\u{1c4}', &[0x0e6e]), ('\u{1c5}', &[0x0e6e]),
            ('\u{1c6}', &[0x0e6e]), ('\u{1c7}', &[0x0f2f]), ('\u{1c8}', &[0x0f2f]), ('\u{1c9}', &[0x0f2f]),
            ('\u{1ca}', &[0x0f65]), ('\u{1cb}', &[0x0f65]), ('\u{1cc}', &[0x0f65]),
        ],
        contractions: &[
            (['D', '\u{17d}'], 0x0e6e), (['D', '\u{17e}'], 0x0e6e), (['L', 'J'], 0x0f2f), (['L', 'j'], 0x0f2f),
            (['N', 'J'], 0x0f65), (['N', 'j'], 0x0f65), (['d', '\u{17d}'], 0x0e6e), (['d', '\u{17e}'], 0x0e6e),
            (['l', 'J'], 0x0f2f), (['l', 'j'], 0x0f2f), (['n', 'J'], 0x0f65), (['n', 'j'], 0x0f65),
        ],
    },
    // vietnamese_ci
    Tailoring {
        characters: &[
            ('\u{c2}', &[0x0e35]), ('\u{ca}', &[0x0e8c]), ('\u{d4}', &[0x0f83]), ('\u{e2}', &[0x0e35]),
            ('\u{ea}', &[0x0e8c]), ('\u{f4}', &[0x0f83]), ('\u{102}', &[0x0e34]), ('\u{103}', &[0x0e34]),
            ('\u{110}', &[0x0e6e]), ('\u{111}', &[0x0e6e]), ('\u{1a0}', &[0x0f84]), ('\u{1a1}', &[0x0f84]),
            ('\u{1af}', &[0x1020]), ('\u{1b0}', &[0x1020]), ('\u{1ea4}', &[0x0e35]), ('\u{1ea5}', &[0x0e35]),
            ('\u{1ea6}', &[0x0e35]), ('\u{1ea7}', &[0x0e35]), ('\u{1ea8}', &[0x0e35]), ('\u{1ea9}', &[0x0e35]),
            ('\u{1eaa}', &[0x0e35]), ('\u{1eab}', &[0x0e35]), ('\u{1eac}', &[0x0e35]), ('\u{1ead}', &[0x0e35]),
            ('\u{1eae}', &[0x0e34]), ('\u{1eaf}', &[0x0e34]), ('\u{1eb0}', &[0x0e34]), ('\u{1eb1}', &[0x0e34]),
            ('\u{1eb2}', &[0x0e34]), ('\u{1eb3}', &[0x0e34]), ('\u{1eb4}', &[0x0e34]), ('\u{1eb5}', &[0x0e34]),
            ('\u{1eb6}', &[0x0e34]), ('\u{1eb7}', &[0x0e34]), ('\u{1ebe}', &[0x0e8c]), ('\u{1ebf}', &[0x0e8c]),
            ('\u{1ec0}', &[0x0e8c]), ('\u{1ec1}', &[0x0e8c]), ('\u{1ec2}', &[0x0e8c]), ('\u{1ec3}', &[0x0e8c]),
            ('\u{1ec4}', &[0x0e8c]), ('\u{1ec5}', &[0x0e8c]), ('\u{1ec6}', &[0x0e8c]), ('\u{1ec7}', &[0x0e8c]),
            ('\u{1ed0}', &[0x0f83]), ('\u{1ed1}', &[0x0f83]), ('\u{1ed2}', &[0x0f83]), ('\u{1ed3}', &[0x0f83]),
            ('\u{1ed4}', &[0x0f83]), ('\u{1ed5}', &[0x0f83]), ('\u{1ed6}', &[0x0f83]), ('\u{1ed7}', &[0x0f83]),
            ('\u{1ed8}', &[0x0f83]), ('\u{1ed9}', &[0x0f83]), ('\u{1eda}', &[0x0f84]), ('\u{1edb}', &[0x0f84]),
            ('\u{1edc}', &[0x0f84]), ('\u{1edd}', &[0x0f84]), ('\u{1ede}', &[0x0f84]), ('\u{1edf}', &[0x0f84]),
            ('\u{1ee0}', &[0x0f84]), ('\u{1ee1}', &[0x0f84]), ('\u{1ee2}', &[0x0f84]), ('\u{1ee3}', &[0x0f84]),
            ('\u{1ee8}', &[0x1020]), ('\u{1ee9}', &[0x1020]), ('\u{1eea}', &[0x1020]), ('\u{1eeb}', &[0x1020]),
            ('\u{1eec}', &[0x1020]), ('\u{1eed}', &[0x1020]), ('\u{1eee}', &[0x1020]), ('\u{1eef}', &[0x1020]),
            ('\u{1ef0}', &[0x1020]), ('\u{1ef1}', &[0x1020]),
        ],
        contractions: &[
        ],
    },
    // croatian_ci
    Tailoring {
        characters: &[
            ('\u{106}', &[0x0e62]), ('\u{107}', &[0x0e62]), ('\u{10c}', &[0x0e61]), ('\u{10d}', &[0x0e61]),
            ('\u{110}', &[0x0e6f]), ('\u{111}', &[0x0e6f]), ('\u{160}', &[0x0feb]), ('\u{161}', &[0x0feb]),
            ('\u{17d}', &[0x106b]), ('\u{17e}', &[0x106b]), ('\u{1c4}', &[0x0e6e]), ('\u{1c5}', &[0x0e6e]),
            ('\u{1c6}', &[0x0e6e]), ('\u{1c7}', &[0x0f2f]), ('\u{1c8}', &[0x0f2f]), ('\u{1c9}', &[0x0f2f]),
            ('\u{1ca}', &[0x0f65]), ('\u{1cb}', &[0x0f65]), ('\u{1cc}', &[0x0f65]),
        ],
        contractions: &[
            (['D', '\u{17d}'], 0x0e6e), (['D', '\u{17e}'], 0x0e6e), (['L', 'J'], 0x0f2f), (['L', 'j'], 0x0f2f),
            (['N', 'J'], 0x0f65), (['N', 'j'], 0x0f65), (['d', '\u{17e}'], 0x0e6e), (['l', 'j'], 0x0f2f),
            (['n', 'j'], 0x0f65),
        ],
    },
];

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tables_are_in_order() {
        for tailoring in &TAILORINGS {
            assert!(tailoring.characters.windows(2).all(|pair| pair[0].0 < pair[1].0));
            assert!(
                tailoring
                    .contractions
                    .windows(2)
                    .all(|pair| pair[0].0 < pair[1].0)
            );
        }
    }
}
