//! Encoding and decoding of the protocol's elementary data types.
//!
//! A *length-encoded integer* is one byte if it is below 251, otherwise 0xFC, 0xFD or 0xFE and 2, 3 or 8 bytes; 0xFB
//! means NULL in text rows. A *length-encoded string* is such an integer, followed by that many bytes.

use crate::error::{WireError, WireResult};

/// A cursor over a packet's payload. Every read checks the remaining length.
#[derive(Debug, Clone, Copy)]
pub struct Cursor<'a> {
    rest: &'a [u8],
    what: &'static str,
}

impl<'a> Cursor<'a> {
    /// Creates a cursor over `payload`; `what` describes the payload in errors.
    pub fn new(payload: &'a [u8], what: &'static str) -> Self {
        Cursor { rest: payload, what }
    }

    /// Returns the unread bytes.
    pub fn rest(&self) -> &'a [u8] {
        self.rest
    }

    /// Returns whether everything was read.
    pub fn is_empty(&self) -> bool {
        self.rest.is_empty()
    }

    /// Returns the error for a malformed payload.
    pub fn malformed(&self) -> WireError {
        WireError::Malformed(self.what)
    }

    /// Takes the next `count` bytes.
    #[inline]
    pub fn take(&mut self, count: usize) -> WireResult<&'a [u8]> {
        if count > self.rest.len() {
            return Err(self.malformed());
        }
        let (head, tail) = self.rest.split_at(count);
        self.rest = tail;
        Ok(head)
    }

    /// Takes the next `N` bytes as an array.
    #[inline]
    fn array<const N: usize>(&mut self) -> WireResult<[u8; N]> {
        let mut out = [0; N];
        out.copy_from_slice(self.take(N)?);
        Ok(out)
    }

    /// Takes one byte.
    #[inline]
    pub fn u8(&mut self) -> WireResult<u8> {
        Ok(self.array::<1>()?[0])
    }

    /// Takes two bytes, little endian.
    #[inline]
    pub fn u16(&mut self) -> WireResult<u16> {
        Ok(u16::from_le_bytes(self.array()?))
    }

    /// Takes four bytes, little endian.
    #[inline]
    pub fn u32(&mut self) -> WireResult<u32> {
        Ok(u32::from_le_bytes(self.array()?))
    }

    /// Takes eight bytes, little endian.
    #[inline]
    pub fn u64(&mut self) -> WireResult<u64> {
        Ok(u64::from_le_bytes(self.array()?))
    }

    /// Takes a length-encoded integer.
    #[inline]
    pub fn lenenc_int(&mut self) -> WireResult<u64> {
        Ok(match self.u8()? {
            first @ 0..=0xFA => u64::from(first),
            0xFC => u64::from(self.u16()?),
            0xFD => {
                let bytes = self.array::<3>()?;
                u64::from(u32::from_le_bytes([bytes[0], bytes[1], bytes[2], 0]))
            }
            0xFE => self.u64()?,
            _ => return Err(self.malformed()),
        })
    }

    /// Takes a length-encoded string.
    #[inline]
    pub fn lenenc_bytes(&mut self) -> WireResult<&'a [u8]> {
        let length = self.lenenc_int()?;
        let length = usize::try_from(length).map_err(|_| self.malformed())?;
        self.take(length)
    }

    /// Takes a length-encoded string as text; what is not UTF-8 is replaced.
    pub fn lenenc_text(&mut self) -> WireResult<String> {
        Ok(String::from_utf8_lossy(self.lenenc_bytes()?).into_owned())
    }

    /// Takes a value of a text row: a length-encoded string, or `None` for NULL.
    pub fn text_value(&mut self) -> WireResult<Option<&'a [u8]>> {
        if self.rest.first() == Some(&0xFB) {
            self.take(1)?;
            return Ok(None);
        }
        self.lenenc_bytes().map(Some)
    }

    /// Takes the bytes up to the next zero, and the zero.
    pub fn null_terminated(&mut self) -> WireResult<&'a [u8]> {
        let end = self
            .rest
            .iter()
            .position(|byte| *byte == 0)
            .ok_or_else(|| self.malformed())?;
        let value = &self.rest[..end];
        self.rest = &self.rest[end + 1..];
        Ok(value)
    }

    /// Takes all remaining bytes.
    pub fn remaining(&mut self) -> &'a [u8] {
        std::mem::take(&mut self.rest)
    }
}

/// Appends a length-encoded integer.
#[inline]
pub fn put_lenenc_int(out: &mut Vec<u8>, value: u64) {
    match value {
        0..=250 => out.push(value as u8),
        251..=0xFFFF => {
            out.push(0xFC);
            out.extend_from_slice(&(value as u16).to_le_bytes());
        }
        0x1_0000..=0xFF_FFFF => {
            out.push(0xFD);
            out.extend_from_slice(&(value as u32).to_le_bytes()[..3]);
        }
        _ => {
            out.push(0xFE);
            out.extend_from_slice(&value.to_le_bytes());
        }
    }
}

/// Appends a length-encoded string.
#[inline]
pub fn put_lenenc_bytes(out: &mut Vec<u8>, value: &[u8]) {
    put_lenenc_int(out, value.len() as u64);
    out.extend_from_slice(value);
}

/// Appends a string and a zero.
pub fn put_null_terminated(out: &mut Vec<u8>, value: &[u8]) {
    out.extend_from_slice(value);
    out.push(0);
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn lengths_are_encoded_in_the_shortest_form() {
        for (value, bytes) in [
            (0, 1),
            (250, 1),
            (251, 3),
            (0xFFFF, 3),
            (0x1_0000, 4),
            (0xFF_FFFF, 4),
            (0x100_0000, 9),
            (u64::MAX, 9),
        ] {
            let mut out = vec![];
            put_lenenc_int(&mut out, value);
            assert_eq!(out.len(), bytes, "{value}");
            assert_eq!(Cursor::new(&out, "test").lenenc_int().unwrap(), value);
        }
    }

    #[test]
    fn nothing_is_read_past_the_end() {
        assert!(Cursor::new(&[0xFD, 1, 2], "test").lenenc_int().is_err());
        assert!(Cursor::new(&[3, b'a', b'b'], "test").lenenc_bytes().is_err());
        assert!(Cursor::new(b"abc", "test").null_terminated().is_err());
        assert!(
            Cursor::new(&[0xFE, 255, 255, 255, 255, 255, 255, 255, 255], "test")
                .lenenc_bytes()
                .is_err()
        );
        assert!(Cursor::new(&[0xFB], "test").lenenc_int().is_err());
        assert_eq!(Cursor::new(&[0xFB], "test").text_value().unwrap(), None);
    }

    proptest! {
        #[test]
        fn strings_round_trip(value in proptest::collection::vec(any::<u8>(), 0..600)) {
            let mut out = vec![];
            put_lenenc_bytes(&mut out, &value);
            let mut cursor = Cursor::new(&out, "test");
            prop_assert_eq!(cursor.lenenc_bytes().unwrap(), &value[..]);
            prop_assert!(cursor.is_empty());
        }
    }
}
