//! Character sets and collations: how text compares, hashes, sorts in an index and matches a LIKE pattern.

use serde::{Deserialize, Serialize};
use std::cmp::Ordering;
use std::hash::Hasher;

/// A character set that a column can have. Text is UTF-8 inside the server whatever it is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub enum Charset {
    /// All of Unicode.
    Utf8mb4,
    /// Unicode up to U+FFFF.
    Utf8mb3,
    /// MariaDB's latin1, which is Windows-1252.
    Latin1,
    /// US-ASCII.
    Ascii,
    /// Bytes.
    Binary,
}

/// How trailing spaces compare.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Padding {
    /// As if the shorter text went on with spaces: `'a' = 'a '`.
    PadSpace,
    /// As any other character.
    NoPad,
}

/// An order of text.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
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
    Latin1SwedishNopadCi = 1032,
    AsciiGeneralNopadCi = 1035,
    Utf8mb3GeneralNopadCi = 1057,
    Utf8mb4GeneralNopadCi = 1069,
    Utf8mb4NopadBin = 1070,
    Latin1NopadBin = 1071,
    AsciiNopadBin = 1089,
    Utf8mb3NopadBin = 1107,
}

impl Charset {
    /// Its name: `utf8mb4`.
    pub fn name(self) -> &'static str {
        match self {
            Charset::Utf8mb4 => "utf8mb4",
            Charset::Utf8mb3 => "utf8mb3",
            Charset::Latin1 => "latin1",
            Charset::Ascii => "ascii",
            Charset::Binary => "binary",
        }
    }

    /// The character set of that name in any case; `utf8` is `utf8mb3`.
    pub fn from_name(_name: &str) -> Option<Charset> {
        todo!()
    }

    /// The longest character in bytes.
    pub const fn max_bytes_per_character(self) -> u32 {
        match self {
            Charset::Utf8mb4 => 4,
            Charset::Utf8mb3 => 3,
            Charset::Latin1 | Charset::Ascii | Charset::Binary => 1,
        }
    }

    /// The collation that a column has when only the character set is named.
    pub const fn default_collation(self) -> Collation {
        match self {
            Charset::Utf8mb4 => Collation::Utf8mb4GeneralCi,
            Charset::Utf8mb3 => Collation::Utf8mb3GeneralCi,
            Charset::Latin1 => Collation::Latin1SwedishCi,
            Charset::Ascii => Collation::AsciiGeneralCi,
            Charset::Binary => Collation::Binary,
        }
    }

    /// Whether every character of `text` is in the set.
    pub fn can_encode(self, _text: &str) -> bool {
        todo!()
    }

    /// Appends `text` in this character set, `?` for a character that is not in it.
    pub fn encode(self, _text: &str, _out: &mut Vec<u8>) {
        todo!()
    }

    /// Reads bytes of this character set as text; bytes that are no character become U+FFFD.
    pub fn decode(self, _bytes: &[u8]) -> std::borrow::Cow<'_, str> {
        todo!()
    }
}

impl Collation {
    /// MariaDB's number of the collation.
    pub const fn id(self) -> u16 {
        self as u16
    }

    /// The collation of that number.
    pub fn from_id(_id: u16) -> Option<Collation> {
        todo!()
    }

    /// Its name: `utf8mb4_general_ci`.
    pub fn name(self) -> &'static str {
        todo!()
    }

    /// The collation of that name in any case; `utf8_…` is `utf8mb3_…`. `None` is error 1273.
    pub fn from_name(_name: &str) -> Option<Collation> {
        todo!()
    }

    /// Every collation there is.
    pub fn all() -> &'static [Collation] {
        todo!()
    }

    /// The character set it orders.
    pub fn charset(self) -> Charset {
        todo!()
    }

    /// Whether it is a `_bin` collation or `binary`.
    pub fn is_bin(self) -> bool {
        todo!()
    }

    /// How trailing spaces compare.
    pub fn padding(self) -> Padding {
        todo!()
    }

    /// Compares two texts.
    pub fn compare(self, _a: &str, _b: &str) -> Ordering {
        todo!()
    }

    /// Whether two texts are equal.
    pub fn equals(self, a: &str, b: &str) -> bool {
        self.compare(a, b) == Ordering::Equal
    }

    /// Hashes a text so that equal texts hash alike.
    pub fn hash<H: Hasher>(self, _text: &str, _state: &mut H) {
        todo!()
    }

    /// Appends the sort key of the text's first `prefix` characters (all of them if `None`): keys compare as bytes just as
    /// texts compare, and none is the beginning of another, so that keys of several columns can stand one after the other.
    pub fn append_sort_key(self, _text: &str, _prefix: Option<u32>, _out: &mut Vec<u8>) {
        todo!()
    }

    /// Whether `text` matches the LIKE `pattern` with its escape character (`None`: no escaping).
    pub fn like(self, _text: &str, _pattern: &str, _escape: Option<char>) -> bool {
        todo!()
    }
}
