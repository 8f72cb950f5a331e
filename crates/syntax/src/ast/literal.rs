//! Literals.

/// A literal as written.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Literal {
    /// `NULL`.
    Null,
    /// `TRUE`, `FALSE`.
    Boolean(bool),
    /// `1`, `.5`, `1e3`: without a sign.
    Number(String),
    /// Digits of `0x4D`: a byte string that acts as a number in numeric context.
    HexNumber(String),
    /// Digits of `x'4D'`: a byte string.
    Hex(String),
    /// Digits of `b'101'` or `0b101`.
    Bits(String),
    /// A string without its quotes and with its escapes resolved.
    Text(String),
}

impl Literal {
    /// Returns a literal for bytes that are not valid text.
    pub fn of_bytes(bytes: &[u8]) -> Self {
        use std::fmt::Write;
        let mut digits = String::with_capacity(bytes.len() * 2);
        for byte in bytes {
            let _ = write!(digits, "{byte:02X}");
        }
        Self::Hex(digits)
    }
}
