//! The 19-byte header of every event (binlog format version 4).
//!
//! ```text
//! offset  0        4      5           9         13           17      19
//!        +--------+------+-----------+---------+------------+-------+------
//!        | time   | type | server_id | length  | end_log_pos| flags | body … checksum (4)
//!        +--------+------+-----------+---------+------------+-------+------
//! ```

use super::EventType;
use paceline_types::ServerId;

/// Length of an event's header, in bytes.
pub const HEADER_LENGTH: usize = 19;
/// Length of the checksum after every event, in bytes.
pub const CHECKSUM_LENGTH: usize = 4;
/// Offset of the end position in the header.
pub const END_POSITION_OFFSET: usize = 13;
/// Offset of the flags in the header.
pub const FLAGS_OFFSET: usize = 17;
/// First bytes of every file.
pub const MAGIC: [u8; 4] = *b"\xfebin";

/// An event's header.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct EventHeader {
    /// Start time of the statement, in seconds since 1970.
    pub timestamp: u32,
    /// Type of the event.
    pub event_type: EventType,
    /// The server that first wrote the event.
    pub server_id: ServerId,
    /// Length of the whole event including header and checksum, in bytes.
    pub length: u32,
    /// Offset of the event's end in its file, modulo 2^32; 0 if it is unknown or does not apply.
    pub end_position: u32,
    /// Flags that a reader needs before it decodes the event.
    pub flags: EventFlags,
}

impl EventHeader {
    /// Decodes a header; `None` if there are not enough bytes.
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

    /// Encodes the header.
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
    /// No flags.
    pub const NONE: Self = Self(0);
    /// In a Format_description event: the file was not closed. The checksum does not cover this flag.
    pub const BINLOG_IN_USE: Self = Self(0x0001);
    /// The statement depends on its session (temporary tables).
    pub const THREAD_SPECIFIC: Self = Self(0x0004);
    /// The statement needs no USE before it.
    pub const SUPPRESS_USE: Self = Self(0x0008);
    /// Created by the sender; not in any file.
    pub const ARTIFICIAL: Self = Self(0x0020);
    /// Written by a replica's receiver.
    pub const RELAY_LOG: Self = Self(0x0040);
    /// A reader that does not know the event's type may skip the event.
    pub const IGNORABLE: Self = Self(0x0080);
    /// Paceline's own, only in Gtid events: the transaction was received from a primary. MariaDB assigns no meaning
    /// to this bit, and its tools and replicas ignore it.
    pub const REPLICATED: Self = Self(0x1000);
    /// A replica executes the event although its server_id is the replica's own.
    pub const ACCEPT_OWN: Self = Self(0x4000);
    /// Not to be sent to replicas that ask to skip such events.
    pub const SKIP_REPLICATION: Self = Self(0x8000);

    /// Returns whether all of these flags are set.
    pub fn contains(self, flags: EventFlags) -> bool {
        self.0 & flags.0 == flags.0
    }

    /// Returns the union of both sets.
    pub const fn with(self, flags: EventFlags) -> EventFlags {
        EventFlags(self.0 | flags.0)
    }

    /// Returns this set without the given flags.
    pub const fn without(self, flags: EventFlags) -> EventFlags {
        EventFlags(self.0 & !flags.0)
    }
}
