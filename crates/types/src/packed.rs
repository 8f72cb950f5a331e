//! Decoding of packed integers and of the bytes after them. Packets and the log use packed integers for lengths.
//!
//! ```text
//!   0–250                                      itself
//!   0xfc n(2)   0xfd n(3)   0xfe n(8)          little-endian
//! ```

use crate::error::{Error, Result};

/// Reader that consumes bytes from the front.
pub struct Reader<'a, E = Error> {
    rest: &'a [u8],
    /// Error if the bytes end too early or do not start with a packed integer.
    malformed: fn() -> E,
}

impl<'a, E> Reader<'a, E> {
    /// Creates a reader whose errors `malformed` makes.
    pub fn new(bytes: &'a [u8], malformed: fn() -> E) -> Self {
        Reader {
            rest: bytes,
            malformed,
        }
    }

    /// Returns whether all bytes have been read.
    pub fn is_empty(&self) -> bool {
        self.rest.is_empty()
    }

    /// Returns the error for bytes that cannot be decoded.
    pub fn malformed(&self) -> E {
        (self.malformed)()
    }

    /// Reads `count` bytes.
    ///
    /// # Errors
    /// The reader's error if there are not enough bytes.
    pub fn take(&mut self, count: usize) -> Result<&'a [u8], E> {
        let (taken, rest) = self
            .rest
            .split_at_checked(count)
            .ok_or_else(|| self.malformed())?;
        self.rest = rest;
        Ok(taken)
    }

    /// Reads `N` bytes.
    ///
    /// # Errors
    /// The reader's error if there are not enough bytes.
    pub fn array<const N: usize>(&mut self) -> Result<[u8; N], E> {
        let (taken, rest) = self.rest.split_first_chunk().ok_or_else(|| self.malformed())?;
        self.rest = rest;
        Ok(*taken)
    }

    /// Reads a byte.
    ///
    /// # Errors
    /// The reader's error if there are not enough bytes.
    pub fn byte(&mut self) -> Result<u8, E> {
        self.array().map(|[byte]| byte)
    }

    /// Reads a packed integer.
    ///
    /// # Errors
    /// The reader's error if the bytes do not start with a packed integer.
    pub fn length(&mut self) -> Result<usize, E> {
        let length = match self.byte()? {
            short @ 0..=250 => u64::from(short),
            0xfc => u64::from(u16::from_le_bytes(self.array()?)),
            0xfd => {
                let [a, b, c] = self.array()?;
                u64::from(u32::from_le_bytes([a, b, c, 0]))
            }
            0xfe => u64::from_le_bytes(self.array()?),
            _ => return Err(self.malformed()),
        };
        usize::try_from(length).map_err(|_| self.malformed())
    }

    /// Reads a length and that number of bytes.
    ///
    /// # Errors
    /// The reader's error if there are not enough bytes.
    pub fn counted(&mut self) -> Result<&'a [u8], E> {
        let length = self.length()?;
        self.take(length)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::text::append_length_and_bytes;

    #[test]
    fn reads_written_lengths() {
        for length in [0, 1, 250, 251, 252, 65_535, 65_536, 1 << 24] {
            let bytes = vec![7; length];
            let mut written = Vec::new();
            append_length_and_bytes(&bytes, &mut written);
            let mut reader = Reader::new(&written, || Error::MalformedMetadata);
            assert_eq!(reader.counted(), Ok(&*bytes));
            assert!(reader.is_empty());
            if length > 0 {
                let mut cut = Reader::new(&written[..written.len() - 1], || Error::MalformedMetadata);
                assert_eq!(cut.counted(), Err(Error::MalformedMetadata));
            }
        }
    }

    #[test]
    fn no_length_begins_with_251_or_255() {
        for first in [251, 255] {
            let bytes = [first, 0, 0, 0, 0, 0, 0, 0, 0];
            let mut reader = Reader::new(&bytes, || Error::MalformedMetadata);
            assert_eq!(reader.length(), Err(Error::MalformedMetadata));
        }
    }
}
