//! Character sets and collations: comparison, hashing, index sort keys and LIKE.
//!
//! A [`Collation`] has MariaDB's id and name. Each of them compares exactly as in MariaDB. A name that is not supported
//! is unknown (error 1273); no other order is substituted.

mod charset;
mod general_ci;
mod latin1;
mod latin1_orders;
mod letter_case;
mod like;
mod mysql;
pub(crate) mod order;
mod tailored;
mod unicode;

pub use charset::Charset;
use latin1_orders::Latin1Table;
pub use order::Padding;
use order::{CodePoints, GeneralCi, GeneralMysql500, KeyEnd, Latin1Bytes, Latin1Swedish};
use serde::{Deserialize, Serialize};
use std::cmp::Ordering;
use std::hash::Hasher;
use tailored::LanguageOrder;
use unicode::{Unicode400, Unicode520};

/// Set of the texts that can match a LIKE pattern, for a search in an index.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum LikePrefix {
    /// The pattern has no wildcard: only this text (as LIKE compares, without padding).
    Exact(String),
    /// Exactly the texts with this beginning: `'abc%'`.
    AllBeginningWith(String),
    /// Some of the texts with this beginning, which is empty if the pattern begins with a wildcard.
    SomeBeginningWith(String),
}

/// Order of text.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[repr(u16)]
#[allow(missing_docs)] // MariaDB's own names and ids
pub enum Collation {
    Latin1German1Ci = 5,
    Latin1SwedishCi = 8,
    AsciiGeneralCi = 11,
    Latin1DanishCi = 15,
    Latin1German2Ci = 31,
    Utf8mb3GeneralCi = 33,
    Utf8mb4GeneralCi = 45,
    Utf8mb4Bin = 46,
    Latin1Bin = 47,
    Latin1GeneralCi = 48,
    Latin1GeneralCs = 49,
    Binary = 63,
    AsciiBin = 65,
    Utf8mb3Bin = 83,
    Latin1SpanishCi = 94,
    Utf8mb3UnicodeCi = 192,
    Utf8mb3IcelandicCi = 193,
    Utf8mb3LatvianCi = 194,
    Utf8mb3RomanianCi = 195,
    Utf8mb3SlovenianCi = 196,
    Utf8mb3PolishCi = 197,
    Utf8mb3EstonianCi = 198,
    Utf8mb3SpanishCi = 199,
    Utf8mb3SwedishCi = 200,
    Utf8mb3TurkishCi = 201,
    Utf8mb3CzechCi = 202,
    Utf8mb3DanishCi = 203,
    Utf8mb3LithuanianCi = 204,
    Utf8mb3SlovakCi = 205,
    Utf8mb3Spanish2Ci = 206,
    Utf8mb3RomanCi = 207,
    Utf8mb3PersianCi = 208,
    Utf8mb3EsperantoCi = 209,
    Utf8mb3HungarianCi = 210,
    Utf8mb3SinhalaCi = 211,
    Utf8mb3German2Ci = 212,
    Utf8mb3CroatianMysql561Ci = 213,
    Utf8mb3Unicode520Ci = 214,
    Utf8mb3VietnameseCi = 215,
    Utf8mb3GeneralMysql500Ci = 223,
    Utf8mb4UnicodeCi = 224,
    Utf8mb4IcelandicCi = 225,
    Utf8mb4LatvianCi = 226,
    Utf8mb4RomanianCi = 227,
    Utf8mb4SlovenianCi = 228,
    Utf8mb4PolishCi = 229,
    Utf8mb4EstonianCi = 230,
    Utf8mb4SpanishCi = 231,
    Utf8mb4SwedishCi = 232,
    Utf8mb4TurkishCi = 233,
    Utf8mb4CzechCi = 234,
    Utf8mb4DanishCi = 235,
    Utf8mb4LithuanianCi = 236,
    Utf8mb4SlovakCi = 237,
    Utf8mb4Spanish2Ci = 238,
    Utf8mb4RomanCi = 239,
    Utf8mb4PersianCi = 240,
    Utf8mb4EsperantoCi = 241,
    Utf8mb4HungarianCi = 242,
    Utf8mb4SinhalaCi = 243,
    Utf8mb4German2Ci = 244,
    Utf8mb4CroatianMysql561Ci = 245,
    Utf8mb4Unicode520Ci = 246,
    Utf8mb4VietnameseCi = 247,
    Utf8mb3CroatianCi = 576,
    Utf8mb4CroatianCi = 608,
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

/// Calls a generic function with the collation's `Order`.
macro_rules! by_order {
    ($collation:expr, $function:ident ( $($argument:expr),* )) => {
        match $collation.kind() {
            Kind::GeneralCi => order::$function::<GeneralCi>($($argument),*),
            Kind::CodePoints => order::$function::<CodePoints>($($argument),*),
            Kind::Latin1Swedish => order::$function::<Latin1Swedish>($($argument),*),
            Kind::Latin1Bytes => order::$function::<Latin1Bytes>($($argument),*),
            Kind::Unicode400 => order::$function::<Unicode400>($($argument),*),
            Kind::Unicode520 => order::$function::<Unicode520>($($argument),*),
            Kind::GeneralMysql500 => order::$function::<GeneralMysql500>($($argument),*),
            Kind::Latin1Table(0) => order::$function::<Latin1Table<0>>($($argument),*),
            Kind::Latin1Table(1) => order::$function::<Latin1Table<1>>($($argument),*),
            Kind::Latin1Table(2) => order::$function::<Latin1Table<2>>($($argument),*),
            Kind::Latin1Table(3) => order::$function::<Latin1Table<3>>($($argument),*),
            Kind::Latin1Table(4) => order::$function::<Latin1Table<4>>($($argument),*),
            Kind::Latin1Table(5) => order::$function::<Latin1Table<5>>($($argument),*),
            Kind::Tailored(0) => order::$function::<LanguageOrder<0>>($($argument),*),
            Kind::Tailored(1) => order::$function::<LanguageOrder<1>>($($argument),*),
            Kind::Tailored(2) => order::$function::<LanguageOrder<2>>($($argument),*),
            Kind::Tailored(3) => order::$function::<LanguageOrder<3>>($($argument),*),
            Kind::Tailored(4) => order::$function::<LanguageOrder<4>>($($argument),*),
            Kind::Tailored(5) => order::$function::<LanguageOrder<5>>($($argument),*),
            Kind::Tailored(6) => order::$function::<LanguageOrder<6>>($($argument),*),
            Kind::Tailored(7) => order::$function::<LanguageOrder<7>>($($argument),*),
            Kind::Tailored(8) => order::$function::<LanguageOrder<8>>($($argument),*),
            Kind::Tailored(9) => order::$function::<LanguageOrder<9>>($($argument),*),
            Kind::Tailored(10) => order::$function::<LanguageOrder<10>>($($argument),*),
            Kind::Tailored(11) => order::$function::<LanguageOrder<11>>($($argument),*),
            Kind::Tailored(12) => order::$function::<LanguageOrder<12>>($($argument),*),
            Kind::Tailored(13) => order::$function::<LanguageOrder<13>>($($argument),*),
            Kind::Tailored(14) => order::$function::<LanguageOrder<14>>($($argument),*),
            Kind::Tailored(15) => order::$function::<LanguageOrder<15>>($($argument),*),
            Kind::Tailored(16) => order::$function::<LanguageOrder<16>>($($argument),*),
            Kind::Tailored(17) => order::$function::<LanguageOrder<17>>($($argument),*),
            Kind::Tailored(18) => order::$function::<LanguageOrder<18>>($($argument),*),
            Kind::Tailored(19) => order::$function::<LanguageOrder<19>>($($argument),*),
            Kind::Tailored(20) => order::$function::<LanguageOrder<20>>($($argument),*),
            Kind::Tailored(21) => order::$function::<LanguageOrder<21>>($($argument),*),
            Kind::Tailored(22) => order::$function::<LanguageOrder<22>>($($argument),*),
            Kind::Latin1Table(_) | Kind::Tailored(_) => unreachable!("there is no such table"),
        }
    };
}

/// Algorithm that produces the weights of a collation.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Kind {
    GeneralCi,
    CodePoints,
    Latin1Swedish,
    Latin1Bytes,
    Unicode400,
    Unicode520,
    GeneralMysql500,
    /// One of [`latin1_orders`].
    Latin1Table(u8),
    /// One of [`tailored`].
    Tailored(u8),
}

impl Collation {
    /// All collations, by id.
    pub const ALL: [Collation; 78] = [
        Collation::Latin1German1Ci,
        Collation::Latin1SwedishCi,
        Collation::AsciiGeneralCi,
        Collation::Latin1DanishCi,
        Collation::Latin1German2Ci,
        Collation::Utf8mb3GeneralCi,
        Collation::Utf8mb4GeneralCi,
        Collation::Utf8mb4Bin,
        Collation::Latin1Bin,
        Collation::Latin1GeneralCi,
        Collation::Latin1GeneralCs,
        Collation::Binary,
        Collation::AsciiBin,
        Collation::Utf8mb3Bin,
        Collation::Latin1SpanishCi,
        Collation::Utf8mb3UnicodeCi,
        Collation::Utf8mb3IcelandicCi,
        Collation::Utf8mb3LatvianCi,
        Collation::Utf8mb3RomanianCi,
        Collation::Utf8mb3SlovenianCi,
        Collation::Utf8mb3PolishCi,
        Collation::Utf8mb3EstonianCi,
        Collation::Utf8mb3SpanishCi,
        Collation::Utf8mb3SwedishCi,
        Collation::Utf8mb3TurkishCi,
        Collation::Utf8mb3CzechCi,
        Collation::Utf8mb3DanishCi,
        Collation::Utf8mb3LithuanianCi,
        Collation::Utf8mb3SlovakCi,
        Collation::Utf8mb3Spanish2Ci,
        Collation::Utf8mb3RomanCi,
        Collation::Utf8mb3PersianCi,
        Collation::Utf8mb3EsperantoCi,
        Collation::Utf8mb3HungarianCi,
        Collation::Utf8mb3SinhalaCi,
        Collation::Utf8mb3German2Ci,
        Collation::Utf8mb3CroatianMysql561Ci,
        Collation::Utf8mb3Unicode520Ci,
        Collation::Utf8mb3VietnameseCi,
        Collation::Utf8mb3GeneralMysql500Ci,
        Collation::Utf8mb4UnicodeCi,
        Collation::Utf8mb4IcelandicCi,
        Collation::Utf8mb4LatvianCi,
        Collation::Utf8mb4RomanianCi,
        Collation::Utf8mb4SlovenianCi,
        Collation::Utf8mb4PolishCi,
        Collation::Utf8mb4EstonianCi,
        Collation::Utf8mb4SpanishCi,
        Collation::Utf8mb4SwedishCi,
        Collation::Utf8mb4TurkishCi,
        Collation::Utf8mb4CzechCi,
        Collation::Utf8mb4DanishCi,
        Collation::Utf8mb4LithuanianCi,
        Collation::Utf8mb4SlovakCi,
        Collation::Utf8mb4Spanish2Ci,
        Collation::Utf8mb4RomanCi,
        Collation::Utf8mb4PersianCi,
        Collation::Utf8mb4EsperantoCi,
        Collation::Utf8mb4HungarianCi,
        Collation::Utf8mb4SinhalaCi,
        Collation::Utf8mb4German2Ci,
        Collation::Utf8mb4CroatianMysql561Ci,
        Collation::Utf8mb4Unicode520Ci,
        Collation::Utf8mb4VietnameseCi,
        Collation::Utf8mb3CroatianCi,
        Collation::Utf8mb4CroatianCi,
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

    /// Returns all collations, by id.
    pub fn all() -> &'static [Collation] {
        &Self::ALL
    }

    /// Returns MariaDB's id of the collation.
    pub const fn id(self) -> u16 {
        self as u16
    }

    /// Looks up a collation by MariaDB's id.
    pub fn from_id(id: u16) -> Option<Collation> {
        Self::ALL.iter().copied().find(|collation| collation.id() == id)
    }

    /// Returns the name in lower case: `utf8mb4_general_ci`.
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
            Collation::Latin1German1Ci => "latin1_german1_ci",
            Collation::Latin1DanishCi => "latin1_danish_ci",
            Collation::Latin1German2Ci => "latin1_german2_ci",
            Collation::Latin1GeneralCi => "latin1_general_ci",
            Collation::Latin1GeneralCs => "latin1_general_cs",
            Collation::Latin1SpanishCi => "latin1_spanish_ci",
            Collation::Utf8mb3GeneralMysql500Ci => "utf8mb3_general_mysql500_ci",
            Collation::Utf8mb3IcelandicCi => "utf8mb3_icelandic_ci",
            Collation::Utf8mb3LatvianCi => "utf8mb3_latvian_ci",
            Collation::Utf8mb3RomanianCi => "utf8mb3_romanian_ci",
            Collation::Utf8mb3SlovenianCi => "utf8mb3_slovenian_ci",
            Collation::Utf8mb3PolishCi => "utf8mb3_polish_ci",
            Collation::Utf8mb3EstonianCi => "utf8mb3_estonian_ci",
            Collation::Utf8mb3SpanishCi => "utf8mb3_spanish_ci",
            Collation::Utf8mb3SwedishCi => "utf8mb3_swedish_ci",
            Collation::Utf8mb3TurkishCi => "utf8mb3_turkish_ci",
            Collation::Utf8mb3CzechCi => "utf8mb3_czech_ci",
            Collation::Utf8mb3DanishCi => "utf8mb3_danish_ci",
            Collation::Utf8mb3LithuanianCi => "utf8mb3_lithuanian_ci",
            Collation::Utf8mb3SlovakCi => "utf8mb3_slovak_ci",
            Collation::Utf8mb3Spanish2Ci => "utf8mb3_spanish2_ci",
            Collation::Utf8mb3RomanCi => "utf8mb3_roman_ci",
            Collation::Utf8mb3PersianCi => "utf8mb3_persian_ci",
            Collation::Utf8mb3EsperantoCi => "utf8mb3_esperanto_ci",
            Collation::Utf8mb3HungarianCi => "utf8mb3_hungarian_ci",
            Collation::Utf8mb3SinhalaCi => "utf8mb3_sinhala_ci",
            Collation::Utf8mb3German2Ci => "utf8mb3_german2_ci",
            Collation::Utf8mb3CroatianMysql561Ci => "utf8mb3_croatian_mysql561_ci",
            Collation::Utf8mb3VietnameseCi => "utf8mb3_vietnamese_ci",
            Collation::Utf8mb3CroatianCi => "utf8mb3_croatian_ci",
            Collation::Utf8mb4IcelandicCi => "utf8mb4_icelandic_ci",
            Collation::Utf8mb4LatvianCi => "utf8mb4_latvian_ci",
            Collation::Utf8mb4RomanianCi => "utf8mb4_romanian_ci",
            Collation::Utf8mb4SlovenianCi => "utf8mb4_slovenian_ci",
            Collation::Utf8mb4PolishCi => "utf8mb4_polish_ci",
            Collation::Utf8mb4EstonianCi => "utf8mb4_estonian_ci",
            Collation::Utf8mb4SpanishCi => "utf8mb4_spanish_ci",
            Collation::Utf8mb4SwedishCi => "utf8mb4_swedish_ci",
            Collation::Utf8mb4TurkishCi => "utf8mb4_turkish_ci",
            Collation::Utf8mb4CzechCi => "utf8mb4_czech_ci",
            Collation::Utf8mb4DanishCi => "utf8mb4_danish_ci",
            Collation::Utf8mb4LithuanianCi => "utf8mb4_lithuanian_ci",
            Collation::Utf8mb4SlovakCi => "utf8mb4_slovak_ci",
            Collation::Utf8mb4Spanish2Ci => "utf8mb4_spanish2_ci",
            Collation::Utf8mb4RomanCi => "utf8mb4_roman_ci",
            Collation::Utf8mb4PersianCi => "utf8mb4_persian_ci",
            Collation::Utf8mb4EsperantoCi => "utf8mb4_esperanto_ci",
            Collation::Utf8mb4HungarianCi => "utf8mb4_hungarian_ci",
            Collation::Utf8mb4SinhalaCi => "utf8mb4_sinhala_ci",
            Collation::Utf8mb4German2Ci => "utf8mb4_german2_ci",
            Collation::Utf8mb4CroatianMysql561Ci => "utf8mb4_croatian_mysql561_ci",
            Collation::Utf8mb4VietnameseCi => "utf8mb4_vietnamese_ci",
            Collation::Utf8mb4CroatianCi => "utf8mb4_croatian_ci",
        }
    }

    /// Looks up a collation by its name in any case; `utf8_…` means `utf8mb3_…`. `None` is error 1273.
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

    /// Returns the character set of the texts that it orders.
    pub const fn charset(self) -> Charset {
        use Collation::*;
        match self {
            Binary => Charset::Binary,
            AsciiGeneralCi | AsciiBin | AsciiGeneralNopadCi | AsciiNopadBin => Charset::Ascii,
            Latin1SwedishCi | Latin1Bin | Latin1SwedishNopadCi | Latin1NopadBin => Charset::Latin1,
            Latin1German1Ci | Latin1DanishCi | Latin1German2Ci | Latin1SpanishCi => Charset::Latin1,
            Latin1GeneralCi | Latin1GeneralCs => Charset::Latin1,
            Utf8mb3GeneralCi | Utf8mb3Bin | Utf8mb3GeneralNopadCi | Utf8mb3NopadBin => Charset::Utf8mb3,
            Utf8mb3GeneralMysql500Ci => Charset::Utf8mb3,
            Utf8mb4GeneralCi | Utf8mb4Bin | Utf8mb4GeneralNopadCi | Utf8mb4NopadBin => Charset::Utf8mb4,
            // The ids of the Unicode Collation Algorithm's collations are contiguous ranges.
            _ => match self as u16 {
                192..=223 | 576..=607 | 1216..=1247 => Charset::Utf8mb3,
                _ => Charset::Utf8mb4,
            },
        }
    }

    /// Returns whether it is `binary` or a `_bin` collation.
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

    /// Returns `Sortlen` of SHOW COLLATION: the maximum length of MariaDB's sort key, as a multiple of the text's
    /// length.
    pub const fn sort_length(self) -> u8 {
        match self.kind() {
            Kind::Unicode400 | Kind::Unicode520 | Kind::Tailored(_) => 8,
            _ if matches!(self, Collation::Latin1German2Ci) => 2,
            _ => 1,
        }
    }

    /// Returns how trailing spaces compare.
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
            Latin1German1Ci => Kind::Latin1Table(0),
            Latin1DanishCi => Kind::Latin1Table(1),
            Latin1German2Ci => Kind::Latin1Table(2),
            Latin1GeneralCi => Kind::Latin1Table(3),
            Latin1GeneralCs => Kind::Latin1Table(4),
            Latin1SpanishCi => Kind::Latin1Table(5),
            Utf8mb3GeneralMysql500Ci => Kind::GeneralMysql500,
            Utf8mb3IcelandicCi | Utf8mb4IcelandicCi => Kind::Tailored(0),
            Utf8mb3LatvianCi | Utf8mb4LatvianCi => Kind::Tailored(1),
            Utf8mb3RomanianCi | Utf8mb4RomanianCi => Kind::Tailored(2),
            Utf8mb3SlovenianCi | Utf8mb4SlovenianCi => Kind::Tailored(3),
            Utf8mb3PolishCi | Utf8mb4PolishCi => Kind::Tailored(4),
            Utf8mb3EstonianCi | Utf8mb4EstonianCi => Kind::Tailored(5),
            Utf8mb3SpanishCi | Utf8mb4SpanishCi => Kind::Tailored(6),
            Utf8mb3SwedishCi | Utf8mb4SwedishCi => Kind::Tailored(7),
            Utf8mb3TurkishCi | Utf8mb4TurkishCi => Kind::Tailored(8),
            Utf8mb3CzechCi | Utf8mb4CzechCi => Kind::Tailored(9),
            Utf8mb3DanishCi | Utf8mb4DanishCi => Kind::Tailored(10),
            Utf8mb3LithuanianCi | Utf8mb4LithuanianCi => Kind::Tailored(11),
            Utf8mb3SlovakCi | Utf8mb4SlovakCi => Kind::Tailored(12),
            Utf8mb3Spanish2Ci | Utf8mb4Spanish2Ci => Kind::Tailored(13),
            Utf8mb3RomanCi | Utf8mb4RomanCi => Kind::Tailored(14),
            Utf8mb3PersianCi | Utf8mb4PersianCi => Kind::Tailored(15),
            Utf8mb3EsperantoCi | Utf8mb4EsperantoCi => Kind::Tailored(16),
            Utf8mb3HungarianCi | Utf8mb4HungarianCi => Kind::Tailored(17),
            Utf8mb3SinhalaCi | Utf8mb4SinhalaCi => Kind::Tailored(18),
            Utf8mb3German2Ci | Utf8mb4German2Ci => Kind::Tailored(19),
            Utf8mb3CroatianMysql561Ci | Utf8mb4CroatianMysql561Ci => Kind::Tailored(20),
            Utf8mb3VietnameseCi | Utf8mb4VietnameseCi => Kind::Tailored(21),
            Utf8mb3CroatianCi | Utf8mb4CroatianCi => Kind::Tailored(22),
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

    /// Returns whether two texts are equal.
    pub fn equals(self, a: &str, b: &str) -> bool {
        self.compare(a, b) == Ordering::Equal
    }

    /// Returns whether two texts are equal, trailing spaces included.
    pub fn equals_unpadded(self, a: &str, b: &str) -> bool {
        a == b || by_order!(self, compare_unpadded(a, b)) == Ordering::Equal
    }

    /// Hashes a text. Equal texts have equal hashes.
    pub fn hash<H: Hasher>(self, text: &str, state: &mut H) {
        match (self.kind(), self.padding()) {
            (Kind::CodePoints, Padding::PadSpace) => state.write(text.trim_end_matches(' ').as_bytes()),
            (Kind::CodePoints, Padding::NoPad) => state.write(text.as_bytes()),
            (_, Padding::PadSpace) => by_order!(self, hash_padded(text, state)),
            (_, Padding::NoPad) => by_order!(self, hash_unpadded(text, state)),
        }
        state.write_u8(0xff);
    }

    /// Appends the sort key of the text's first `prefix` characters (`None`: of the whole text). Keys compare as bytes
    /// in the same order as the texts. No key is a prefix of another, so keys of several columns can be concatenated.
    pub fn append_sort_key(self, text: &str, prefix: Option<u32>, out: &mut Vec<u8>) {
        self.append_key(first_characters(text, prefix), KeyEnd::Marked, out);
    }

    /// Appends the common prefix of the sort keys of all texts with this beginning. (If `beginning` ends with spaces,
    /// the keys of some other texts can have the same prefix.)
    pub fn append_open_sort_key(self, beginning: &str, out: &mut Vec<u8>) {
        let beginning = match self.kind() {
            Kind::Tailored(number) => tailored::without_open_contraction(usize::from(number), beginning),
            _ => beginning,
        };
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

    /// Returns the number of bytes of one weight in [`Collation::weight_string`].
    fn weight_bytes(self) -> usize {
        match (self.charset(), self.kind()) {
            (Charset::Latin1 | Charset::Ascii | Charset::Binary, _) => 1,
            (Charset::Utf8mb4, Kind::CodePoints) => 3,
            _ => 2,
        }
    }

    /// Returns the maximum number of bytes of one character in [`Collation::weight_string`].
    pub fn weight_bytes_max(self) -> u64 {
        match self.kind() {
            // Up to eight weights for one character.
            Kind::Unicode400 | Kind::Unicode520 | Kind::Tailored(_) => 16,
            _ if self == Collation::Latin1German2Ci => 2,
            _ => self.weight_bytes() as u64,
        }
    }

    /// Returns the weights of a text as `WEIGHT_STRING` shows them: exactly `count` weights, or as many as the text
    /// has.
    pub fn weight_string(self, text: &str, count: Option<usize>) -> Vec<u8> {
        let bytes = self.weight_bytes();
        let padding = match (self.padding(), self.kind()) {
            (Padding::PadSpace, _) => by_order!(self, space_weight()),
            // One less than the lowest weight that is not ignored.
            (Padding::NoPad, Kind::Unicode400 | Kind::Unicode520 | Kind::Tailored(_)) => 0x0200,
            (Padding::NoPad, _) => 0,
        };
        let text = first_characters(text, count.map(|count| u32::try_from(count).unwrap_or(u32::MAX)));
        let mut out = Vec::with_capacity(text.len() * bytes);
        by_order!(self, append_weights(text, bytes, count, padding, &mut out));
        out
    }

    /// Converts a text to upper case.
    pub fn upper(self, text: &str) -> String {
        match self {
            Collation::Utf8mb3TurkishCi | Collation::Utf8mb4TurkishCi => {
                letter_case::to_upper(&text.replace('i', "İ"))
            }
            _ if self.charset() == Charset::Latin1 => letter_case::to_upper_latin1(text),
            _ => letter_case::to_upper(text),
        }
    }

    /// Converts a text to lower case.
    pub fn lower(self, text: &str) -> String {
        match self {
            Collation::Utf8mb3TurkishCi | Collation::Utf8mb4TurkishCi => {
                letter_case::to_lower(&text.replace('I', "ı"))
            }
            _ if self.charset() == Charset::Latin1 => letter_case::to_lower_latin1(text),
            _ => letter_case::to_lower(text),
        }
    }

    /// Returns the length of the sort key at the start of `bytes`, or `None` if the bytes contain no end marker.
    pub fn sort_key_length(self, bytes: &[u8]) -> Option<usize> {
        match (self, self.kind(), self.padding()) {
            (Collation::Binary, ..) => order::key_binary_length(bytes),
            (_, Kind::CodePoints, padding) => order::key_bytes_length(padding, bytes),
            (_, _, padding) => by_order!(self, key_length(padding, bytes)),
        }
    }

    /// Returns whether LIKE treats two characters as equal.
    pub fn same_character(self, a: char, b: char) -> bool {
        a == b || (self.kind() != Kind::CodePoints && by_order!(self, same(a, b)))
    }

    /// Returns whether `text` matches a LIKE pattern. `None` means no escape character. Trailing spaces count.
    pub fn like(self, text: &str, pattern: &str, escape: Option<char>) -> bool {
        like::matches(text, pattern, escape, |a, b| self.same_character(a, b))
    }

    /// Returns the beginning that all texts matching a LIKE pattern have.
    pub fn like_prefix(pattern: &str, escape: Option<char>) -> LikePrefix {
        match like::literal_prefix(pattern, escape) {
            (prefix, None) => LikePrefix::Exact(prefix),
            (prefix, Some(true)) => LikePrefix::AllBeginningWith(prefix),
            (prefix, Some(false)) => LikePrefix::SomeBeginningWith(prefix),
        }
    }
}

/// Returns whether a binary string matches a LIKE pattern. `_` matches one byte.
pub fn like_bytes(text: &[u8], pattern: &[u8], escape: Option<u8>) -> bool {
    like::matches_bytes(text, pattern, escape)
}

/// Returns the first `count` characters of a text.
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
