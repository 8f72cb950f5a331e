//! Literals.

/// A literal as it was written.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Literal {
    /// `NULL`.
    Null,
    /// `TRUE`, `FALSE`.
    Boolean(bool),
    /// `1`, `.5`, `1e3`: without a sign.
    Number(String),
    /// `0x4D`: the digits. A string of bytes that is a number among numbers.
    HexNumber(String),
    /// `x'4D'`: the digits. A string of bytes.
    Hex(String),
    /// `b'101'`, `0b101`: the digits.
    Bits(String),
    /// A string in quotes, without them and with its escapes resolved.
    Text(String),
}

impl Literal {
    /// `0x…` and `x'…'` of bytes that no text can hold.
    pub fn of_bytes(bytes: &[u8]) -> Self {
        use std::fmt::Write;
        let mut digits = String::with_capacity(bytes.len() * 2);
        for byte in bytes {
            let _ = write!(digits, "{byte:02X}");
        }
        Self::Hex(digits)
    }
}
