//! What CAST and CONVERT convert to.

use paceline_types::Collation;

/// The target of a CAST.
#[derive(Clone, Debug, PartialEq)]
pub enum CastTarget {
    /// SIGNED.
    Signed,
    /// UNSIGNED.
    Unsigned,
    /// DECIMAL(precision, scale).
    Decimal {
        /// All digits.
        precision: u8,
        /// Digits after the point.
        scale: u8,
    },
    /// DOUBLE.
    Double,
    /// FLOAT.
    Float,
    /// CHAR(length) in a character set; also CONVERT(… USING …).
    Char {
        /// Characters kept, if limited.
        length: Option<u32>,
        /// The result's collation; `Collation::Binary` gives bytes.
        collation: Collation,
    },
    /// BINARY(length): cut or padded with zero bytes to the length, where one is given.
    Binary {
        /// Bytes.
        length: Option<u32>,
    },
    /// DATE.
    Date,
    /// TIME(decimals).
    Time {
        /// Digits of fraction.
        decimals: u8,
    },
    /// DATETIME(decimals).
    DateTime {
        /// Digits of fraction.
        decimals: u8,
    },
}
