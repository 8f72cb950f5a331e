//! Collation requested by a client at login: a number, possibly that of a MariaDB collation that does not exist here.
//!
//! The client's text is in that collation's character set. A missing collation is replaced by another one of the same
//! character set. A missing character set is refused, because the text would be misread. A number that MariaDB does not
//! know means the server's default, as in MariaDB.

use paceline_syntax::{Error, Result};
use paceline_types::error_code::{ER_UNKNOWN_CHARACTER_SET, ER_WRONG_VALUE_FOR_VAR};
use paceline_types::{Charset, Collation};
use std::ops::RangeInclusive;

/// Ids of MariaDB 10.11's collations, by character set.
#[rustfmt::skip]
const NUMBERS: &[(&str, &[RangeInclusive<u16>])] = &[
    ("armscii8", &[32..=32, 64..=64]),
    ("ascii", &[11..=11, 65..=65]),
    ("big5", &[1..=1, 84..=84]),
    ("binary", &[63..=63]),
    ("cp1250", &[26..=26, 34..=34, 44..=44, 66..=66, 99..=99]),
    ("cp1251", &[14..=14, 23..=23, 50..=52]),
    ("cp1256", &[57..=57, 67..=67]),
    ("cp1257", &[29..=29, 58..=59]),
    ("cp850", &[4..=4, 80..=80]),
    ("cp852", &[40..=40, 81..=81]),
    ("cp866", &[36..=36, 68..=68]),
    ("cp932", &[95..=96]),
    ("dec8", &[3..=3, 69..=69]),
    ("eucjpms", &[97..=98]),
    ("euckr", &[19..=19, 85..=85]),
    ("gb2312", &[24..=24, 86..=86]),
    ("gbk", &[28..=28, 87..=87]),
    ("geostd8", &[92..=93]),
    ("greek", &[25..=25, 70..=70]),
    ("hebrew", &[16..=16, 71..=71]),
    ("hp8", &[6..=6, 72..=72]),
    ("keybcs2", &[37..=37, 73..=73]),
    ("koi8r", &[7..=7, 74..=74]),
    ("koi8u", &[22..=22, 75..=75]),
    ("latin1", &[5..=5, 8..=8, 15..=15, 31..=31, 47..=49, 94..=94]),
    ("latin2", &[2..=2, 9..=9, 21..=21, 27..=27, 77..=77]),
    ("latin5", &[30..=30, 78..=78]),
    ("latin7", &[20..=20, 41..=42, 79..=79]),
    ("macce", &[38..=38, 43..=43]),
    ("macroman", &[39..=39, 53..=53]),
    ("sjis", &[13..=13, 88..=88]),
    ("swe7", &[10..=10, 82..=82]),
    ("tis620", &[18..=18, 89..=89]),
    ("ucs2", &[35..=35, 90..=90, 128..=151, 159..=159, 640..=642]),
    ("ujis", &[12..=12, 91..=91]),
    ("utf16", &[54..=55, 101..=124, 672..=674]),
    ("utf16le", &[56..=56, 62..=62]),
    ("utf32", &[60..=61, 160..=183, 736..=738]),
    ("utf8mb3", &[33..=33, 83..=83, 192..=215, 223..=223, 576..=578]),
    ("utf8mb4", &[45..=46, 224..=247, 608..=610]),
];

/// Difference between the ids of a collation with and without padding.
const NOPAD: u16 = 1024;
/// Ids of the Unicode 14 collations: 256 for each character set.
const UNICODE_14: &[(&str, RangeInclusive<u16>)] = &[
    ("utf8mb3", 2048..=2303),
    ("utf8mb4", 2304..=2559),
    ("ucs2", 2560..=2815),
    ("utf16", 2816..=3071),
    ("utf32", 3072..=3327),
];
/// Character sets that clients cannot use, because statements would contain zero bytes.
const WITH_ZEROS: [&str; 4] = ["ucs2", "utf16", "utf16le", "utf32"];

/// Returns the character set of a collation id.
fn character_set(number: u16) -> Option<&'static str> {
    if let Some((name, _)) = UNICODE_14.iter().find(|(_, numbers)| numbers.contains(&number)) {
        return Some(name);
    }
    let number = if number > NOPAD { number - NOPAD } else { number };
    let has =
        |(_, ranges): &&(&str, &[RangeInclusive<u16>])| ranges.iter().any(|range| range.contains(&number));
    NUMBERS.iter().find(has).map(|(name, _)| *name)
}

/// Returns the collation for a client that requests this id; `None` means the server's default.
///
/// # Errors
/// 1115 if the character set is not supported; 1231 if no client may use it.
pub fn login_collation(number: u16) -> Result<Option<Collation>> {
    if let Some(collation) = Collation::from_id(number) {
        return Ok(Some(collation));
    }
    let Some(name) = character_set(number) else {
        return Ok(None);
    };
    if WITH_ZEROS.contains(&name) {
        return Err(Error::new(
            ER_WRONG_VALUE_FOR_VAR,
            &[&"character_set_client", &name],
        ));
    }
    match Charset::from_name(name) {
        Some(charset) => Ok(Some(charset.default_collation())),
        None => Err(Error::new(ER_UNKNOWN_CHARACTER_SET, &[&name])),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn missing_collations_are_replaced_or_refused() {
        assert_eq!(login_collation(45).unwrap(), Some(Collation::Utf8mb4GeneralCi));
        // Unknown to MariaDB: MySQL 8's default, and 0.
        assert_eq!(login_collation(255).unwrap(), None);
        assert_eq!(login_collation(0).unwrap(), None);
        // latin1_danish_ci, utf8mb4_vietnamese_ci, utf8mb4_uca1400_ai_ci, latin1_swedish_nopad_ci.
        for (number, charset) in [
            (15, Charset::Latin1),
            (247, Charset::Utf8mb4),
            (2304, Charset::Utf8mb4),
            (1032, Charset::Latin1),
        ] {
            assert_eq!(login_collation(number).unwrap().unwrap().charset(), charset);
        }
        let error = login_collation(51).unwrap_err();
        assert_eq!(
            (error.code().number(), error.message()),
            (1115, "Unknown character set: 'cp1251'")
        );
        let error = login_collation(35).unwrap_err();
        assert_eq!(
            (error.code().number(), error.message()),
            (
                1231,
                "Variable 'character_set_client' can't be set to the value of 'ucs2'"
            )
        );
    }

    #[test]
    fn every_collation_is_in_its_character_set() {
        for collation in Collation::all() {
            let named = character_set(collation.id()).and_then(Charset::from_name);
            assert_eq!(named, Some(collation.charset()), "{}", collation.name());
        }
    }
}
