//! Character sets and collations: how text compares, hashes, sorts in an index and matches a LIKE pattern.
//!
//! A [`Collation`] is one of MariaDB's, by MariaDB's id and name. Those that are here compare exactly as MariaDB's do; a name
//! that is not here is unknown (error 1273) rather than compared in some other way.

mod charset;
mod general_ci;
mod latin1;
mod letter_case;
mod like;
mod mysql;
pub(crate) mod order;
mod unicode;

pub use charset::Charset;
pub use letter_case::{to_lower, to_upper};
use order::{CodePoints, GeneralCi, KeyEnd, Latin1Bytes, Latin1Swedish, Order};
use serde::{Deserialize, Serialize};
use std::cmp::Ordering;
use std::hash::Hasher;
use unicode::{Unicode400, Unicode520};

/// How trailing spaces compare.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Padding {
    /// As if the shorter text went on with spaces: `'a' = 'a '`.
    PadSpace,
    /// As any other character.
    NoPad,
}

/// What a LIKE pattern says of the texts that match it, for a search by index.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum LikePrefix {
    /// There is no wildcard: only this text (as LIKE compares, without padding).
    Exact(String),
    /// All texts that begin so, and only they: `'abc%'`.
    AllBeginningWith(String),
    /// Some of the texts that begin so; empty if the pattern begins with a wildcard.
    SomeBeginningWith(String),
}

/// An order of text.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[repr(u16)]
#[allow(missing_docs)] // MariaDB's own names and ids
pub enum Collation {
    Latin1SwedishCi = 8,
    AsciiGeneralCi = 11,
    Utf8mb3GeneralCi = 33,
    Utf8mb4GeneralCi = 45,
    Utf8mb4Bin = 46,
    Latin1Bin = 47,
    Binary = 63,
    AsciiBin = 65,
    Utf8mb3Bin = 83,
    Utf8mb3UnicodeCi = 192,
    Utf8mb3Unicode520Ci = 214,
    Utf8mb4UnicodeCi = 224,
    Utf8mb4Unicode520Ci = 246,
    Latin1SwedishNopadCi = 1032,
    AsciiGeneralNopadCi = 1035,
    Utf8mb3GeneralNopadCi = 1057,
    Utf8mb4GeneralNopadCi = 1069,
    Utf8mb4NopadBin = 1070,
    Latin1NopadBin = 1071,
    AsciiNopadBin = 1089,
    Utf8mb3NopadBin = 1107,
    Utf8mb3UnicodeNopadCi = 1216,
    Utf8mb3Unicode520NopadCi = 1238,
    Utf8mb4UnicodeNopadCi = 1248,
    Utf8mb4Unicode520NopadCi = 1270,
}

/// Calls a generic function with the collation's order.
macro_rules! by_order {
    ($collation:expr, $function:ident ( $($argument:expr),* )) => {
        match $collation.kind() {
            Kind::GeneralCi => order::$function::<GeneralCi>($($argument),*),
            Kind::CodePoints => order::$function::<CodePoints>($($argument),*),
            Kind::Latin1Swedish => order::$function::<Latin1Swedish>($($argument),*),
            Kind::Latin1Bytes => order::$function::<Latin1Bytes>($($argument),*),
            Kind::Unicode400 => order::$function::<Unicode400>($($argument),*),
            Kind::Unicode520 => order::$function::<Unicode520>($($argument),*),
        }
    };
}

/// Which weights a collation has.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Kind {
    GeneralCi,
    CodePoints,
    Latin1Swedish,
    Latin1Bytes,
    Unicode400,
    Unicode520,
}

impl Collation {
    /// Every collation there is, by id.
    pub const ALL: [Collation; 25] = [
        Collation::Latin1SwedishCi,
        Collation::AsciiGeneralCi,
        Collation::Utf8mb3GeneralCi,
        Collation::Utf8mb4GeneralCi,
        Collation::Utf8mb4Bin,
        Collation::Latin1Bin,
        Collation::Binary,
        Collation::AsciiBin,
        Collation::Utf8mb3Bin,
        Collation::Utf8mb3UnicodeCi,
        Collation::Utf8mb3Unicode520Ci,
        Collation::Utf8mb4UnicodeCi,
        Collation::Utf8mb4Unicode520Ci,
        Collation::Latin1SwedishNopadCi,
        Collation::AsciiGeneralNopadCi,
        Collation::Utf8mb3GeneralNopadCi,
        Collation::Utf8mb4GeneralNopadCi,
        Collation::Utf8mb4NopadBin,
        Collation::Latin1NopadBin,
        Collation::AsciiNopadBin,
        Collation::Utf8mb3NopadBin,
        Collation::Utf8mb3UnicodeNopadCi,
        Collation::Utf8mb3Unicode520NopadCi,
        Collation::Utf8mb4UnicodeNopadCi,
        Collation::Utf8mb4Unicode520NopadCi,
    ];

    /// Every collation there is.
    pub fn all() -> &'static [Collation] {
        &Self::ALL
    }

    /// MariaDB's number of the collation.
    pub const fn id(self) -> u16 {
        self as u16
    }

    /// The collation of that number.
    pub fn from_id(id: u16) -> Option<Collation> {
        Self::ALL.iter().copied().find(|collation| collation.id() == id)
    }

    /// Its name: `utf8mb4_general_ci`.
    pub const fn name(self) -> &'static str {
        match self {
            Collation::Latin1SwedishCi => "latin1_swedish_ci",
            Collation::AsciiGeneralCi => "ascii_general_ci",
            Collation::Utf8mb3GeneralCi => "utf8mb3_general_ci",
            Collation::Utf8mb4GeneralCi => "utf8mb4_general_ci",
            Collation::Utf8mb4Bin => "utf8mb4_bin",
            Collation::Latin1Bin => "latin1_bin",
            Collation::Binary => "binary",
            Collation::AsciiBin => "ascii_bin",
            Collation::Utf8mb3Bin => "utf8mb3_bin",
            Collation::Latin1SwedishNopadCi => "latin1_swedish_nopad_ci",
            Collation::AsciiGeneralNopadCi => "ascii_general_nopad_ci",
            Collation::Utf8mb3GeneralNopadCi => "utf8mb3_general_nopad_ci",
            Collation::Utf8mb4GeneralNopadCi => "utf8mb4_general_nopad_ci",
            Collation::Utf8mb4NopadBin => "utf8mb4_nopad_bin",
            Collation::Latin1NopadBin => "latin1_nopad_bin",
            Collation::AsciiNopadBin => "ascii_nopad_bin",
            Collation::Utf8mb3NopadBin => "utf8mb3_nopad_bin",
            Collation::Utf8mb3UnicodeCi => "utf8mb3_unicode_ci",
            Collation::Utf8mb3Unicode520Ci => "utf8mb3_unicode_520_ci",
            Collation::Utf8mb4UnicodeCi => "utf8mb4_unicode_ci",
            Collation::Utf8mb4Unicode520Ci => "utf8mb4_unicode_520_ci",
            Collation::Utf8mb3UnicodeNopadCi => "utf8mb3_unicode_nopad_ci",
            Collation::Utf8mb3Unicode520NopadCi => "utf8mb3_unicode_520_nopad_ci",
            Collation::Utf8mb4UnicodeNopadCi => "utf8mb4_unicode_nopad_ci",
            Collation::Utf8mb4Unicode520NopadCi => "utf8mb4_unicode_520_nopad_ci",
        }
    }

    /// The collation of that name in any case; `utf8_…` is `utf8mb3_…`. `None` is error 1273.
    pub fn from_name(name: &str) -> Option<Collation> {
        let mut name = name.to_ascii_lowercase();
        if let Some(rest) = name.strip_prefix("utf8_") {
            name = format!("utf8mb3_{rest}");
        }
        Self::ALL
            .iter()
            .copied()
            .find(|collation| collation.name() == name)
    }

    /// The character set it orders.
    pub const fn charset(self) -> Charset {
        use Collation::*;
        match self {
            Latin1SwedishCi | Latin1Bin | Latin1SwedishNopadCi | Latin1NopadBin => Charset::Latin1,
            AsciiGeneralCi | AsciiBin | AsciiGeneralNopadCi | AsciiNopadBin => Charset::Ascii,
            Utf8mb3GeneralCi | Utf8mb3Bin | Utf8mb3GeneralNopadCi | Utf8mb3NopadBin => Charset::Utf8mb3,
            Utf8mb3UnicodeCi | Utf8mb3Unicode520Ci => Charset::Utf8mb3,
            Utf8mb3UnicodeNopadCi | Utf8mb3Unicode520NopadCi => Charset::Utf8mb3,
            Utf8mb4GeneralCi | Utf8mb4Bin | Utf8mb4GeneralNopadCi | Utf8mb4NopadBin => Charset::Utf8mb4,
            Utf8mb4UnicodeCi | Utf8mb4Unicode520Ci => Charset::Utf8mb4,
            Utf8mb4UnicodeNopadCi | Utf8mb4Unicode520NopadCi => Charset::Utf8mb4,
            Binary => Charset::Binary,
        }
    }

    /// Whether it is a `_bin` collation or `binary`.
    pub const fn is_bin(self) -> bool {
        use Collation::*;
        matches!(
            self,
            Binary
                | Utf8mb4Bin
                | Utf8mb3Bin
                | Latin1Bin
                | AsciiBin
                | Utf8mb4NopadBin
                | Utf8mb3NopadBin
                | Latin1NopadBin
                | AsciiNopadBin
        )
    }

    /// How trailing spaces compare.
    pub const fn padding(self) -> Padding {
        match self {
            Collation::Binary => Padding::NoPad,
            _ if self as u16 > 1024 => Padding::NoPad,
            _ => Padding::PadSpace,
        }
    }

    const fn kind(self) -> Kind {
        use Collation::*;
        match self {
            Latin1SwedishCi | Latin1SwedishNopadCi => Kind::Latin1Swedish,
            Latin1Bin | Latin1NopadBin => Kind::Latin1Bytes,
            Utf8mb3UnicodeCi | Utf8mb3UnicodeNopadCi | Utf8mb4UnicodeCi | Utf8mb4UnicodeNopadCi => {
                Kind::Unicode400
            }
            Utf8mb3Unicode520Ci | Utf8mb3Unicode520NopadCi => Kind::Unicode520,
            Utf8mb4Unicode520Ci | Utf8mb4Unicode520NopadCi => Kind::Unicode520,
            _ if self.is_bin() => Kind::CodePoints,
            _ => Kind::GeneralCi,
        }
    }

    /// Compares two texts.
    pub fn compare(self, a: &str, b: &str) -> Ordering {
        if a == b {
            return Ordering::Equal;
        }
        match self.padding() {
            Padding::PadSpace => by_order!(self, compare_padded(a, b)),
            Padding::NoPad => by_order!(self, compare_unpadded(a, b)),
        }
    }

    /// Whether two texts are equal.
    pub fn equals(self, a: &str, b: &str) -> bool {
        self.compare(a, b) == Ordering::Equal
    }

    /// Whether two texts are equal, trailing spaces included.
    pub fn equals_unpadded(self, a: &str, b: &str) -> bool {
        a == b || by_order!(self, compare_unpadded(a, b)) == Ordering::Equal
    }

    /// Hashes a text so that equal texts hash alike.
    pub fn hash<H: Hasher>(self, text: &str, state: &mut H) {
        match (self.kind(), self.padding()) {
            (Kind::CodePoints, Padding::PadSpace) => state.write(text.trim_end_matches(' ').as_bytes()),
            (Kind::CodePoints, Padding::NoPad) => state.write(text.as_bytes()),
            (_, Padding::PadSpace) => by_order!(self, hash_padded(text, state)),
            (_, Padding::NoPad) => by_order!(self, hash_unpadded(text, state)),
        }
        state.write_u8(0xff);
    }

    /// Appends the sort key of the text's first `prefix` characters (all of them if `None`): keys compare as bytes just as
    /// texts compare, and none is the beginning of another, so that keys of several columns can stand one after the other.
    pub fn append_sort_key(self, text: &str, prefix: Option<u32>, out: &mut Vec<u8>) {
        self.append_key(first_characters(text, prefix), KeyEnd::Marked, out);
    }

    /// Appends what the sort keys of all texts that begin so have in common at their start. (Some other texts' keys may start so
    /// too, if `beginning` ends with spaces.)
    pub fn append_open_sort_key(self, beginning: &str, out: &mut Vec<u8>) {
        self.append_key(beginning, KeyEnd::Open, out);
    }

    fn append_key(self, text: &str, end: KeyEnd, out: &mut Vec<u8>) {
        match (self, self.kind(), self.padding()) {
            (Collation::Binary, ..) => match end {
                KeyEnd::Marked => order::key_binary(text.as_bytes(), out),
                KeyEnd::Open => order::key_binary_open(text.as_bytes(), out),
            },
            (_, Kind::CodePoints, Padding::PadSpace) => order::key_bytes_padded(text, end, out),
            (_, Kind::CodePoints, Padding::NoPad) => order::key_bytes_unpadded(text, end, out),
            (_, _, Padding::PadSpace) => by_order!(self, key_padded(text, end, out)),
            (_, _, Padding::NoPad) => by_order!(self, key_unpadded(text, end, out)),
        }
    }

    /// Whether two characters are equal, as LIKE compares them.
    pub fn same_character(self, a: char, b: char) -> bool {
        fn same<O: Order>(a: char, b: char) -> bool {
            let (mut x, mut y) = ([0; 4], [0; 4]);
            O::weights(a.encode_utf8(&mut x)).eq(O::weights(b.encode_utf8(&mut y)))
        }
        a == b
            || match self.kind() {
                Kind::GeneralCi => same::<GeneralCi>(a, b),
                Kind::CodePoints => false,
                Kind::Latin1Swedish => same::<Latin1Swedish>(a, b),
                Kind::Latin1Bytes => same::<Latin1Bytes>(a, b),
                Kind::Unicode400 => same::<Unicode400>(a, b),
                Kind::Unicode520 => same::<Unicode520>(a, b),
            }
    }

    /// Whether `text` matches the LIKE `pattern` with its escape character (`None`: no escaping). Trailing spaces count.
    pub fn like(self, text: &str, pattern: &str, escape: Option<char>) -> bool {
        like::matches(text, pattern, escape, |a, b| self.same_character(a, b))
    }

    /// What all texts that match a LIKE pattern begin with.
    pub fn like_prefix(pattern: &str, escape: Option<char>) -> LikePrefix {
        match like::literal_prefix(pattern, escape) {
            (prefix, None) => LikePrefix::Exact(prefix),
            (prefix, Some(true)) => LikePrefix::AllBeginningWith(prefix),
            (prefix, Some(false)) => LikePrefix::SomeBeginningWith(prefix),
        }
    }
}

/// LIKE for binary strings, where `_` stands for one byte.
pub fn like_bytes(text: &[u8], pattern: &[u8], escape: Option<u8>) -> bool {
    like::matches_bytes(text, pattern, escape)
}

/// The first `count` characters of a text.
pub fn first_characters(text: &str, count: Option<u32>) -> &str {
    match count {
        Some(count) if text.len() > count as usize => match text.char_indices().nth(count as usize) {
            Some((end, _)) => &text[..end],
            None => text,
        },
        _ => text,
    }
}

#[cfg(test)]
mod tests;
