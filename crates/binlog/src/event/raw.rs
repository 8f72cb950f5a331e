//! Events with an undecoded body, and the encoding of whole events.

use super::body::EventBody;
use super::format_description::{ChecksumAlgorithm, FormatDescription};
use super::header::{
    CHECKSUM_LENGTH, END_POSITION_OFFSET, EventFlags, EventHeader, FLAGS_OFFSET, HEADER_LENGTH,
};
use super::{Event, EventType, IgnorableEvent};
use crate::checksum::crc32;
use crate::error::{Error, Result};
use paceline_types::ServerId;

/// The fields of a header that do not follow from the event's content and position.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct EventStamp {
    /// Start time of the statement, in seconds since 1970.
    pub timestamp: u32,
    /// The server that first writes the event.
    pub server_id: ServerId,
    /// Flags of the header.
    pub flags: EventFlags,
}

/// Appends a whole event: header, body, checksum. `start` is the event's offset in the file; 0 leaves the end
/// position 0.
///
/// As in MariaDB, the checksum does not cover the flag [`EventFlags::BINLOG_IN_USE`], so a file can be closed by
/// clearing it.
pub fn encode_event(out: &mut Vec<u8>, stamp: &EventStamp, start: u64, body: &dyn EventBody) {
    let at = out.len();
    out.extend_from_slice(&[0; HEADER_LENGTH]);
    body.encode_body(out);
    let length = out.len() - at + CHECKSUM_LENGTH;
    let header = EventHeader {
        timestamp: stamp.timestamp,
        event_type: body.event_type(),
        server_id: stamp.server_id,
        length: u32::try_from(length)
            .expect("an event is shorter than 4 GiB: packets and caches have lower limits"),
        end_position: if start == 0 {
            0
        } else {
            end_position(start, length as u64)
        },
        flags: stamp.flags,
    };
    let counted = EventHeader {
        flags: header.flags.without(EventFlags::BINLOG_IN_USE),
        ..header
    };
    out[at..at + HEADER_LENGTH].copy_from_slice(&counted.encode());
    let checksum = crc32(&out[at..]);
    out[at..at + HEADER_LENGTH].copy_from_slice(&header.encode());
    out.extend_from_slice(&checksum.to_le_bytes());
}

/// Returns the end position for the header of an event that starts at `start`. MariaDB's field has 32 bits and wraps
/// in the rare file that a huge transaction has made longer.
pub fn end_position(start: u64, length: u64) -> u32 {
    (start + length) as u32
}

/// Returns whether the checksum of an event is correct. `event` is the whole event. The in-use flag of a
/// Format_description event is not covered.
pub fn checksum_is_right(event: &[u8]) -> bool {
    let Some((counted, stored)) = event.split_last_chunk::<CHECKSUM_LENGTH>() else {
        return false;
    };
    let Some(header) = EventHeader::decode(counted) else {
        return false;
    };
    let computed = if header.event_type == EventType::FORMAT_DESCRIPTION
        && header.flags.contains(EventFlags::BINLOG_IN_USE)
    {
        let mut hasher = crc32fast::Hasher::new();
        hasher.update(&counted[..FLAGS_OFFSET]);
        hasher.update(&header.flags.without(EventFlags::BINLOG_IN_USE).0.to_le_bytes());
        hasher.update(&counted[HEADER_LENGTH..]);
        hasher.finalize()
    } else {
        crc32(counted)
    };
    computed == u32::from_le_bytes(*stored)
}

/// An event with a decoded header and an undecoded body; its length and checksum are checked.
#[derive(Clone, Copy, Debug)]
pub struct RawEvent<'a> {
    header: EventHeader,
    bytes: &'a [u8],
    body: &'a [u8],
}

impl<'a> RawEvent<'a> {
    /// Checks that `bytes` is one whole event. `checksum` is the algorithm in its file's Format_description.
    ///
    /// # Errors
    /// [`Error::Malformed`] if the length in the header differs from that of `bytes`, or the checksum is wrong.
    pub fn new(bytes: &'a [u8], checksum: ChecksumAlgorithm) -> Result<Self> {
        let malformed = |problem| Error::Malformed {
            event: "binlog",
            problem,
        };
        let header = EventHeader::decode(bytes).ok_or_else(|| malformed("it is shorter than a header"))?;
        if header.length as usize != bytes.len() {
            return Err(malformed("its length is not the one in its header"));
        }
        let body_end = match checksum {
            ChecksumAlgorithm::Crc32 => {
                if bytes.len() < HEADER_LENGTH + CHECKSUM_LENGTH {
                    return Err(malformed("it has no room for its checksum"));
                }
                if !checksum_is_right(bytes) {
                    return Err(Error::Malformed {
                        event: header.event_type.name(),
                        problem: "wrong checksum",
                    });
                }
                bytes.len() - CHECKSUM_LENGTH
            }
            ChecksumAlgorithm::None => bytes.len(),
        };
        Ok(Self {
            header,
            bytes,
            body: &bytes[HEADER_LENGTH..body_end],
        })
    }

    /// Wraps one whole event whose length and checksum have already been checked.
    pub(crate) fn checked_before(bytes: &'a [u8], checksum: ChecksumAlgorithm) -> Result<Self> {
        let malformed = || Error::Malformed {
            event: "binlog",
            problem: "it is shorter than a header",
        };
        let event = match checksum {
            ChecksumAlgorithm::Crc32 => Self::trusted(bytes),
            ChecksumAlgorithm::None => EventHeader::decode(bytes).map(|header| Self {
                header,
                bytes,
                body: &bytes[HEADER_LENGTH..],
            }),
        };
        event.ok_or_else(malformed)
    }

    /// Wraps one whole event that has already been checked and ends with a checksum. Returns `None` if it is too short.
    pub fn trusted(bytes: &'a [u8]) -> Option<Self> {
        let header = EventHeader::decode(bytes)?;
        let body = bytes.get(HEADER_LENGTH..bytes.len().checked_sub(CHECKSUM_LENGTH)?)?;
        Some(Self { header, bytes, body })
    }

    /// Returns the decoded header.
    pub fn header(&self) -> &EventHeader {
        &self.header
    }

    /// Returns the event's type.
    pub fn event_type(&self) -> EventType {
        self.header.event_type
    }

    /// Returns the whole event, including header and checksum.
    pub fn bytes(&self) -> &'a [u8] {
        self.bytes
    }

    /// Returns the bytes between header and checksum.
    pub fn body(&self) -> &'a [u8] {
        self.body
    }

    /// Returns whether it is a record of Paceline that belongs to the event group around it
    /// ([`IgnorableEvent::is_part_of_group`]).
    pub fn is_part_of_group(&self) -> bool {
        self.event_type() == EventType::IGNORABLE
            && IgnorableEvent::decode(self.body).is_ok_and(|record| record.is_part_of_group())
    }

    /// Decodes the body. An unknown type becomes [`Event::Unknown`].
    ///
    /// # Errors
    /// [`Error::Malformed`] for a body that its type does not allow, [`Error::Encrypted`] for a Start_encryption event.
    pub fn decode(&self, format: &FormatDescription) -> Result<Event<'a>> {
        Event::decode(&self.header, self.body, format)
    }
}

/// Sets the end position of an event and corrects its checksum, in place.
pub fn set_end_position(event: &mut [u8], end: u32) {
    let Some(counted) = event
        .len()
        .checked_sub(CHECKSUM_LENGTH)
        .filter(|counted| *counted >= HEADER_LENGTH)
    else {
        return;
    };
    event[END_POSITION_OFFSET..END_POSITION_OFFSET + 4].copy_from_slice(&end.to_le_bytes());
    let checksum = crc32(&event[..counted]);
    event[counted..].copy_from_slice(&checksum.to_le_bytes());
}
