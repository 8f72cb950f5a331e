//! Character sets: conversion between text, which is UTF-8 inside the server, and the bytes of a column.

use super::{Collation, latin1};
use serde::{Deserialize, Serialize};
use std::borrow::Cow;

/// Character set of a column. Inside the server text is UTF-8 in any case.
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
    /// Raw bytes.
    Binary,
}

impl Charset {
    /// Returns the name in lower case: `utf8mb4`.
    pub const fn name(self) -> &'static str {
        match self {
            Charset::Utf8mb4 => "utf8mb4",
            Charset::Utf8mb3 => "utf8mb3",
            Charset::Latin1 => "latin1",
            Charset::Ascii => "ascii",
            Charset::Binary => "binary",
        }
    }

    /// Looks up a character set by its name in any case; `utf8` means `utf8mb3`. `None` is error 1115.
    pub fn from_name(name: &str) -> Option<Charset> {
        Some(match name.to_ascii_lowercase().as_str() {
            "utf8mb4" => Charset::Utf8mb4,
            "utf8mb3" | "utf8" => Charset::Utf8mb3,
            "latin1" => Charset::Latin1,
            "ascii" => Charset::Ascii,
            "binary" => Charset::Binary,
            _ => return None,
        })
    }

    /// All character sets.
    pub const ALL: [Charset; 5] = [
        Charset::Ascii,
        Charset::Binary,
        Charset::Latin1,
        Charset::Utf8mb3,
        Charset::Utf8mb4,
    ];

    /// Returns the description that `SHOW CHARACTER SET` prints.
    pub const fn description(self) -> &'static str {
        match self {
            Charset::Utf8mb4 | Charset::Utf8mb3 => "UTF-8 Unicode",
            Charset::Latin1 => "cp1252 West European",
            Charset::Ascii => "US ASCII",
            Charset::Binary => "Binary pseudo charset",
        }
    }

    /// Returns the length of the longest character in bytes.
    pub const fn max_bytes_per_character(self) -> u32 {
        match self {
            Charset::Utf8mb4 => 4,
            Charset::Utf8mb3 => 3,
            Charset::Latin1 | Charset::Ascii | Charset::Binary => 1,
        }
    }

    /// Returns the collation of a column whose definition names only the character set.
    pub const fn default_collation(self) -> Collation {
        match self {
            Charset::Utf8mb4 => Collation::Utf8mb4GeneralCi,
            Charset::Utf8mb3 => Collation::Utf8mb3GeneralCi,
            Charset::Latin1 => Collation::Latin1SwedishCi,
            Charset::Ascii => Collation::AsciiGeneralCi,
            Charset::Binary => Collation::Binary,
        }
    }

    /// Returns the collation that compares by code point.
    pub const fn bin_collation(self) -> Collation {
        match self {
            Charset::Utf8mb4 => Collation::Utf8mb4Bin,
            Charset::Utf8mb3 => Collation::Utf8mb3Bin,
            Charset::Latin1 => Collation::Latin1Bin,
            Charset::Ascii => Collation::AsciiBin,
            Charset::Binary => Collation::Binary,
        }
    }

    /// Returns whether the character exists in this character set.
    pub fn has(self, character: char) -> bool {
        match self {
            Charset::Utf8mb4 | Charset::Binary => true,
            Charset::Utf8mb3 => (character as u32) < 0x1_0000,
            Charset::Latin1 => latin1::encode(character).is_some(),
            Charset::Ascii => character.is_ascii(),
        }
    }

    /// Returns whether all characters of `text` exist in this character set.
    pub fn can_encode(self, text: &str) -> bool {
        self == Charset::Utf8mb4 || text.is_ascii() || text.chars().all(|c| self.has(c))
    }

    /// Returns the length of `text` in this character set, in bytes.
    pub fn encoded_length(self, text: &str) -> usize {
        match self {
            Charset::Utf8mb4 | Charset::Binary => text.len(),
            _ if text.is_ascii() => text.len(),
            Charset::Latin1 | Charset::Ascii => text.chars().count(),
            Charset::Utf8mb3 => text
                .chars()
                .map(|c| if self.has(c) { c.len_utf8() } else { 1 })
                .sum(),
        }
    }

    /// Appends `text` in this character set. A character that does not exist in it becomes `?`.
    pub fn encode(self, text: &str, out: &mut Vec<u8>) {
        if matches!(self, Charset::Utf8mb4 | Charset::Binary) || text.is_ascii() {
            out.extend_from_slice(text.as_bytes());
            return;
        }
        match self {
            Charset::Latin1 => out.extend(text.chars().map(|c| latin1::encode(c).unwrap_or(b'?'))),
            Charset::Ascii => out.extend(text.chars().map(|c| if c.is_ascii() { c as u8 } else { b'?' })),
            _ => {
                let mut buffer = [0; 4];
                for c in text.chars() {
                    let c = if self.has(c) { c } else { '?' };
                    out.extend_from_slice(c.encode_utf8(&mut buffer).as_bytes());
                }
            }
        }
    }

    /// Decodes bytes of this character set. Invalid bytes become U+FFFD.
    pub fn decode(self, bytes: &[u8]) -> Cow<'_, str> {
        match self {
            Charset::Latin1 if !bytes.is_ascii() => {
                Cow::Owned(bytes.iter().map(|&b| latin1::decode(b)).collect())
            }
            _ => match std::str::from_utf8(bytes) {
                Ok(text) => Cow::Borrowed(text),
                Err(_) => String::from_utf8_lossy(bytes),
            },
        }
    }

    /// Decodes bytes of this character set, if they are valid.
    ///
    /// # Errors
    /// Offset of the first byte that begins no valid character.
    pub fn decode_strict(self, bytes: &[u8]) -> Result<Cow<'_, str>, usize> {
        match self {
            Charset::Latin1 => Ok(self.decode(bytes)),
            Charset::Ascii => match bytes.iter().position(|b| !b.is_ascii()) {
                Some(at) => Err(at),
                None => Ok(self.decode(bytes)),
            },
            _ => match std::str::from_utf8(bytes) {
                Err(error) => Err(error.valid_up_to()),
                Ok(text) if self == Charset::Utf8mb3 => {
                    match text.char_indices().find(|(_, c)| (*c as u32) > 0xffff) {
                        Some((at, _)) => Err(at),
                        None => Ok(Cow::Borrowed(text)),
                    }
                }
                Ok(text) => Ok(Cow::Borrowed(text)),
            },
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn latin1_is_windows_1252() {
        let mut bytes = Vec::new();
        Charset::Latin1.encode("a€äÿ一", &mut bytes);
        assert_eq!(bytes, [b'a', 0x80, 0xe4, 0xff, b'?']);
        let all: Vec<u8> = (0..=255).collect();
        let text = Charset::Latin1.decode(&all);
        let mut back = Vec::new();
        Charset::Latin1.encode(&text, &mut back);
        assert_eq!(back, all);
    }

    #[test]
    fn each_set_has_its_characters() {
        assert!(!Charset::Utf8mb3.can_encode("😀"));
        assert!(Charset::Utf8mb3.can_encode("一"));
        assert!(!Charset::Ascii.can_encode("é"));
        assert_eq!(Charset::Latin1.encoded_length("éa"), 2);
        assert_eq!(Charset::Utf8mb4.decode_strict(b"ab\xff"), Err(2));
        assert_eq!(Charset::Utf8mb3.decode_strict("ab😀".as_bytes()), Err(2));
    }
}
