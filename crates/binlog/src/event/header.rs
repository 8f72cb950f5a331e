//! The 19 bytes in front of every event (binlog format version 4).
//!
//! ```text
//! offset  0        4      5           9         13           17      19
//!        +--------+------+-----------+---------+------------+-------+------
//!        | time   | type | server_id | length  | end_log_pos| flags | body … checksum (4)
//!        +--------+------+-----------+---------+------------+-------+------
//! ```

use super::EventType;
use paceline_types::ServerId;

/// The length of an event's header, in bytes.
pub const HEADER_LENGTH: usize = 19;
/// The length of the checksum behind every event, in bytes.
pub const CHECKSUM_LENGTH: usize = 4;
/// Where the end position stands in the header.
pub const END_POSITION_OFFSET: usize = 13;
/// Where the flags stand in the header.
pub const FLAGS_OFFSET: usize = 17;
/// The bytes that every file begins with.
pub const MAGIC: [u8; 4] = *b"\xfebin";

/// An event's header.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct EventHeader {
    /// When the statement started, in seconds since 1970.
    pub timestamp: u32,
    /// What kind of event it is.
    pub event_type: EventType,
    /// The server where it was first written.
    pub server_id: ServerId,
    /// The length of the whole event with header and checksum, in bytes.
    pub length: u32,
    /// Where the event ends in its file, modulo 2^32; 0 where that is not known or not meant.
    pub end_position: u32,
    /// What readers must know before they read on.
    pub flags: EventFlags,
}

impl EventHeader {
    /// Reads a header; `None` if there are not enough bytes.
    #[inline]
    pub fn decode(bytes: &[u8]) -> Option<Self> {
        let header: &[u8; HEADER_LENGTH] = bytes.first_chunk()?;
        let u32_at =
            |at: usize| u32::from_le_bytes([header[at], header[at + 1], header[at + 2], header[at + 3]]);
        Some(Self {
            timestamp: u32_at(0),
            event_type: EventType(header[4]),
            server_id: ServerId(u32_at(5)),
            length: u32_at(9),
            end_position: u32_at(END_POSITION_OFFSET),
            flags: EventFlags(u16::from_le_bytes([
                header[FLAGS_OFFSET],
                header[FLAGS_OFFSET + 1],
            ])),
        })
    }

    /// The header's bytes.
    #[inline]
    pub fn encode(&self) -> [u8; HEADER_LENGTH] {
        let mut header = [0; HEADER_LENGTH];
        header[0..4].copy_from_slice(&self.timestamp.to_le_bytes());
        header[4] = self.event_type.0;
        header[5..9].copy_from_slice(&self.server_id.0.to_le_bytes());
        header[9..13].copy_from_slice(&self.length.to_le_bytes());
        header[13..17].copy_from_slice(&self.end_position.to_le_bytes());
        header[17..19].copy_from_slice(&self.flags.0.to_le_bytes());
        header
    }
}

/// The flags of an event's header.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, Default)]
pub struct EventFlags(pub u16);

impl EventFlags {
    /// None.
    pub const NONE: Self = Self(0);
    /// Of a Format_description event: the file was not closed. Not part of the checksum.
    pub const BINLOG_IN_USE: Self = Self(0x0001);
    /// The statement depends on its session (temporary tables).
    pub const THREAD_SPECIFIC: Self = Self(0x0004);
    /// A USE before the statement is not needed.
    pub const SUPPRESS_USE: Self = Self(0x0008);
    /// Made up by the sender, in no file.
    pub const ARTIFICIAL: Self = Self(0x0020);
    /// Written by a replica's receiver.
    pub const RELAY_LOG: Self = Self(0x0040);
    /// Who does not know the event's type may step over it.
    pub const IGNORABLE: Self = Self(0x0080);
    /// Ours, in a Gtid event alone: the transaction was received from a primary. MariaDB gives the bit no meaning, and tools and
    /// replicas pass over it.
    pub const REPLICATED: Self = Self(0x1000);
    /// A replica executes it although its server_id is its own.
    pub const ACCEPT_OWN: Self = Self(0x4000);
    /// Not to be replicated to those who ask for that.
    pub const SKIP_REPLICATION: Self = Self(0x8000);

    /// Whether all of these flags are set.
    pub fn contains(self, flags: EventFlags) -> bool {
        self.0 & flags.0 == flags.0
    }

    /// Both sets together.
    pub const fn with(self, flags: EventFlags) -> EventFlags {
        EventFlags(self.0 | flags.0)
    }

    /// This set without those.
    pub const fn without(self, flags: EventFlags) -> EventFlags {
        EventFlags(self.0 & !flags.0)
    }
}
