//! Reading and writing the little-endian fields of events.

use crate::error::{Error, Result};

/// Reads fields from an event's body. Reading past its end returns [`Error::Malformed`]; it never panics.
#[derive(Clone, Debug)]
pub(crate) struct Cursor<'a> {
    event: &'static str,
    rest: &'a [u8],
}

impl<'a> Cursor<'a> {
    /// Creates a cursor at the beginning of a body; `event` is the event's name in errors.
    pub fn new(event: &'static str, body: &'a [u8]) -> Self {
        Self { event, rest: body }
    }

    /// Returns the event's name for errors.
    pub fn event(&self) -> &'static str {
        self.event
    }

    pub fn malformed(&self, problem: &'static str) -> Error {
        Error::Malformed {
            event: self.event,
            problem,
        }
    }

    pub fn remaining(&self) -> usize {
        self.rest.len()
    }

    pub fn is_empty(&self) -> bool {
        self.rest.is_empty()
    }

    /// Takes the next `length` bytes.
    pub fn bytes(&mut self, length: usize) -> Result<&'a [u8]> {
        let (taken, rest) = self
            .rest
            .split_at_checked(length)
            .ok_or_else(|| self.malformed("it is too short"))?;
        self.rest = rest;
        Ok(taken)
    }

    /// Takes all remaining bytes.
    pub fn rest(&mut self) -> &'a [u8] {
        std::mem::take(&mut self.rest)
    }

    /// Returns the remaining bytes without taking them.
    pub fn peek_rest(&self) -> &'a [u8] {
        self.rest
    }

    fn array<const N: usize>(&mut self) -> Result<[u8; N]> {
        let (taken, rest) = self
            .rest
            .split_first_chunk::<N>()
            .ok_or_else(|| self.malformed("it is too short"))?;
        self.rest = rest;
        Ok(*taken)
    }

    pub fn u8(&mut self) -> Result<u8> {
        Ok(self.array::<1>()?[0])
    }

    pub fn u16(&mut self) -> Result<u16> {
        self.array().map(u16::from_le_bytes)
    }

    pub fn u24(&mut self) -> Result<u32> {
        let [a, b, c] = self.array()?;
        Ok(u32::from_le_bytes([a, b, c, 0]))
    }

    pub fn u32(&mut self) -> Result<u32> {
        self.array().map(u32::from_le_bytes)
    }

    pub fn u48(&mut self) -> Result<u64> {
        let [a, b, c, d, e, f] = self.array()?;
        Ok(u64::from_le_bytes([a, b, c, d, e, f, 0, 0]))
    }

    pub fn u64(&mut self) -> Result<u64> {
        self.array().map(u64::from_le_bytes)
    }

    /// Takes a number in MariaDB's packed form (1, 3, 4 or 9 bytes).
    pub fn packed(&mut self) -> Result<u64> {
        match self.u8()? {
            small @ 0..=250 => Ok(u64::from(small)),
            251 => Err(self.malformed("a packed number is NULL")),
            252 => self.u16().map(u64::from),
            253 => self.u24().map(u64::from),
            254 => self.u64(),
            255 => Err(self.malformed("a packed number starts with 255")),
        }
    }

    /// Takes bytes that follow their length in one byte.
    pub fn short_bytes(&mut self) -> Result<&'a [u8]> {
        let length = self.u8()?;
        self.bytes(usize::from(length))
    }

    /// Takes bytes that follow their length in one byte, and a NUL after them that the length does not include.
    pub fn short_bytes_with_nul(&mut self) -> Result<&'a [u8]> {
        let bytes = self.short_bytes()?;
        match self.u8()? {
            0 => Ok(bytes),
            _ => Err(self.malformed("a name does not end with NUL")),
        }
    }
}

/// Appends fields to an event that is being encoded.
pub(crate) trait PutExt {
    fn put_u8(&mut self, value: u8);
    fn put_u16(&mut self, value: u16);
    fn put_u24(&mut self, value: u32);
    fn put_u32(&mut self, value: u32);
    fn put_u48(&mut self, value: u64);
    fn put_u64(&mut self, value: u64);
    /// Appends a number in MariaDB's packed form (1, 3, 4 or 9 bytes).
    fn put_packed(&mut self, value: u64);
    /// Appends the length in one byte and the bytes. Bytes after the 255th are dropped: names have at most 64
    /// characters.
    fn put_short_bytes(&mut self, bytes: &[u8]);
}

impl PutExt for Vec<u8> {
    fn put_u8(&mut self, value: u8) {
        self.push(value);
    }

    fn put_u16(&mut self, value: u16) {
        self.extend_from_slice(&value.to_le_bytes());
    }

    fn put_u24(&mut self, value: u32) {
        self.extend_from_slice(&value.to_le_bytes()[..3]);
    }

    fn put_u32(&mut self, value: u32) {
        self.extend_from_slice(&value.to_le_bytes());
    }

    fn put_u48(&mut self, value: u64) {
        self.extend_from_slice(&value.to_le_bytes()[..6]);
    }

    fn put_u64(&mut self, value: u64) {
        self.extend_from_slice(&value.to_le_bytes());
    }

    fn put_packed(&mut self, value: u64) {
        match value {
            0..=250 => self.put_u8(value as u8),
            251..=0xFFFF => {
                self.put_u8(252);
                self.put_u16(value as u16);
            }
            0x1_0000..=0xFF_FFFF => {
                self.put_u8(253);
                self.put_u24(value as u32);
            }
            _ => {
                self.put_u8(254);
                self.put_u64(value);
            }
        }
    }

    fn put_short_bytes(&mut self, bytes: &[u8]) {
        let bytes = &bytes[..bytes.len().min(255)];
        self.put_u8(bytes.len() as u8);
        self.extend_from_slice(bytes);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn packed_numbers_round_trip() {
        for value in [
            0,
            1,
            250,
            251,
            252,
            0xFFFF,
            0x1_0000,
            0xFF_FFFF,
            0x100_0000,
            u64::MAX,
        ] {
            let mut bytes = Vec::new();
            bytes.put_packed(value);
            let mut cursor = Cursor::new("test", &bytes);
            assert_eq!(cursor.packed().unwrap(), value);
            assert!(cursor.is_empty());
            assert!(Cursor::new("test", &bytes[..bytes.len() - 1]).packed().is_err());
        }
        assert!(Cursor::new("test", &[251]).packed().is_err());
        assert!(Cursor::new("test", &[255]).packed().is_err());
    }
}
