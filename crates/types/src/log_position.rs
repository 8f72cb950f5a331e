//! Position in the log, which is also a version of the data.
//!
//! ```text
//!   63            40 39                                   0
//!  ┌────────────────┬──────────────────────────────────────┐
//!  │ file ordinal   │ byte offset in that file             │
//!  └────────────────┴──────────────────────────────────────┘
//! ```
//!
//! The ordinal is not the number in a log file's name: it only ever grows (also across `RESET MASTER`, which restarts
//! the names), so positions compare in the order of history. 24 bits allow 16 million files, 40 bits allow files of up
//! to one tebibyte.

use std::fmt;

/// Position in the log: file ordinal (24 bits) and byte offset in that file (40 bits), ordered by history.
#[derive(
    Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Default, serde::Serialize, serde::Deserialize,
)]
pub struct LogPosition(u64);

/// Version of a row or snapshot: the position where the transaction that wrote it ends.
pub type Version = LogPosition;

const OFFSET_BITS: u32 = 40;

impl LogPosition {
    /// Position before the first transaction.
    pub const ZERO: LogPosition = LogPosition(0);
    /// Position after every possible transaction.
    pub const MAX: LogPosition = LogPosition(u64::MAX);
    /// Maximum file ordinal.
    pub const ORDINAL_MAX: u32 = (1 << (64 - OFFSET_BITS)) - 1;
    /// Maximum byte offset in a file.
    pub const OFFSET_MAX: u64 = (1 << OFFSET_BITS) - 1;

    /// Creates a position `offset` bytes into the file with this ordinal.
    ///
    /// # Panics
    /// If the ordinal or the offset is above its maximum. Such a position must never reach the log.
    pub const fn new(ordinal: u32, offset: u64) -> Self {
        assert!(ordinal <= Self::ORDINAL_MAX, "log ordinal does not fit 24 bits");
        assert!(offset <= Self::OFFSET_MAX, "log offset does not fit 40 bits");
        LogPosition(((ordinal as u64) << OFFSET_BITS) | offset)
    }

    /// Returns the ordinal of the log file.
    pub const fn ordinal(self) -> u32 {
        (self.0 >> OFFSET_BITS) as u32
    }

    /// Returns the byte offset in the file.
    pub const fn offset(self) -> u64 {
        self.0 & Self::OFFSET_MAX
    }

    /// Returns the position as one number with the same order.
    pub const fn as_u64(self) -> u64 {
        self.0
    }

    /// Converts back from [`LogPosition::as_u64`].
    pub const fn from_u64(raw: u64) -> Self {
        LogPosition(raw)
    }

    /// Returns big-endian bytes, which sort as positions do.
    pub const fn to_be_bytes(self) -> [u8; 8] {
        self.0.to_be_bytes()
    }

    /// Converts back from [`LogPosition::to_be_bytes`].
    pub const fn from_be_bytes(bytes: [u8; 8]) -> Self {
        LogPosition(u64::from_be_bytes(bytes))
    }

    /// Returns the position `bytes` bytes further in the same file.
    ///
    /// # Panics
    /// If the offset exceeds its maximum.
    pub const fn advanced_by(self, bytes: u64) -> Self {
        Self::new(self.ordinal(), self.offset() + bytes)
    }
}

impl fmt::Display for LogPosition {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}:{}", self.ordinal(), self.offset())
    }
}

/// Error for a text that is not ORDINAL:OFFSET.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("'{0}' is not a position in the log (ORDINAL:OFFSET)")]
pub struct ParseLogPositionError(pub String);

impl std::str::FromStr for LogPosition {
    type Err = ParseLogPositionError;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        let parts = text
            .split_once(':')
            .and_then(|(ordinal, offset)| Some((ordinal.parse::<u32>().ok()?, offset.parse::<u64>().ok()?)));
        match parts {
            Some((ordinal, offset)) if ordinal <= Self::ORDINAL_MAX && offset <= Self::OFFSET_MAX => {
                Ok(Self::new(ordinal, offset))
            }
            _ => Err(ParseLogPositionError(text.to_owned())),
        }
    }
}

impl fmt::Debug for LogPosition {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "LogPosition({self})")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn orders_by_file_then_offset() {
        assert!(LogPosition::new(1, LogPosition::OFFSET_MAX) < LogPosition::new(2, 0));
        assert!(LogPosition::new(2, 4) < LogPosition::new(2, 5));
        assert!(LogPosition::ZERO < LogPosition::new(0, 4));
        assert!(LogPosition::new(LogPosition::ORDINAL_MAX, LogPosition::OFFSET_MAX) == LogPosition::MAX);
    }

    #[test]
    fn parts_round_trip() {
        let position = LogPosition::new(7, 123_456_789_012);
        assert_eq!((position.ordinal(), position.offset()), (7, 123_456_789_012));
        assert_eq!(LogPosition::from_be_bytes(position.to_be_bytes()), position);
        assert_eq!(position.advanced_by(10).offset(), 123_456_789_022);
        assert_eq!(position.to_string(), "7:123456789012");
        assert_eq!("7:123456789012".parse(), Ok(position));
        for wrong in [
            "",
            "7",
            "7:",
            ":4",
            "7:-1",
            "7:4:4",
            "16777216:4",
            "1:1099511627776",
        ] {
            assert!(wrong.parse::<LogPosition>().is_err(), "{wrong}");
        }
    }

    #[test]
    #[should_panic(expected = "40 bits")]
    fn refuses_an_offset_that_does_not_fit() {
        let _ = LogPosition::new(1, 1 << 40);
    }
}
