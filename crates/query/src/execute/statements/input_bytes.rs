//! The bytes of a file that LOAD DATA or LOAD XML reads, one after the other.

use crate::error::Result;
use crate::execute::interface::LoadInput;

/// Maximum length of a value in bytes: no column accepts more in one packet of the protocol.
pub(super) const VALUE_LENGTH_MAX: usize = 1 << 30;

/// Bytes of a file.
pub(super) struct InputBytes<'r> {
    input: &'r mut dyn LoadInput,
    /// Input that has been read; the unprocessed part begins at `at`.
    buffer: Vec<u8>,
    at: usize,
    has_ended: bool,
}

impl<'r> InputBytes<'r> {
    pub fn new(input: &'r mut dyn LoadInput) -> Self {
        InputBytes {
            input,
            buffer: Vec::new(),
            at: 0,
            has_ended: false,
        }
    }

    /// Returns the byte at distance `ahead`, or `None` beyond the end of the file.
    pub fn peek(&mut self, ahead: usize) -> Result<Option<u8>> {
        while self.at + ahead >= self.buffer.len() && !self.has_ended {
            self.buffer.drain(..self.at);
            self.at = 0;
            let before = self.buffer.len();
            self.input.read(&mut self.buffer)?;
            self.has_ended = self.buffer.len() == before;
        }
        Ok(self.buffer.get(self.at + ahead).copied())
    }

    pub fn take(&mut self) -> Result<Option<u8>> {
        let byte = self.peek(0)?;
        self.at += usize::from(byte.is_some());
        Ok(byte)
    }

    /// Consumes bytes that [`InputBytes::peek`] has returned.
    pub fn skip(&mut self, count: usize) {
        self.at += count;
        debug_assert!(self.at <= self.buffer.len());
    }

    /// Consumes a text, if it is next.
    pub fn accept(&mut self, text: &[u8]) -> Result<bool> {
        for (ahead, byte) in text.iter().enumerate() {
            if self.peek(ahead)? != Some(*byte) {
                return Ok(false);
            }
        }
        self.at += text.len();
        Ok(true)
    }
}
