//! Artificial events: events that a primary sends but that are in no file, and changes of a file's Format_description
//! for a replica.

use paceline_binlog::checksum::crc32;
use paceline_binlog::event::{
    CHECKSUM_LENGTH, ChecksumAlgorithm, END_POSITION_OFFSET, EventBody, EventFlags, EventStamp, EventType,
    FLAGS_OFFSET, GtidListEvent, HEADER_LENGTH, HeartbeatEvent, RotateEvent, encode_event, set_end_position,
};
use paceline_types::ServerId;

/// Offset of the event's length in its header.
const LENGTH_OFFSET: usize = 9;
/// Offset of the server's start time in a Format_description: after the header, the format version and the server's
/// version.
const CREATED_OFFSET: usize = HEADER_LENGTH + 2 + 50;

/// Encoder of the artificial events for one replica.
#[derive(Clone, Copy, Debug)]
pub(super) struct ArtificialEvents {
    /// Id of this server.
    pub server_id: ServerId,
}

/// Change of a Format_description.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum FormatChange {
    /// Only the changes that the file needs.
    None,
    /// Without creation time: the replica keeps its temporary tables, because it was connected before.
    Reconnect,
    /// The same, and without end position: the replica's position does not move, because it starts later in the file.
    MidFile,
}

impl ArtificialEvents {
    /// Returns the event that announces the file of the following events and their offset in it.
    pub fn rotate(self, file: &str, offset: u64, checksum: ChecksumAlgorithm) -> Vec<u8> {
        let body = RotateEvent {
            position: offset,
            file_name: file.as_bytes(),
        };
        self.encode(&body, EventFlags::ARTIFICIAL, 0, checksum)
    }

    /// Returns the event that announces the last GTIDs at a position.
    pub fn gtid_list(self, list: &GtidListEvent, offset: u64, checksum: ChecksumAlgorithm) -> Vec<u8> {
        self.encode(list, EventFlags::ARTIFICIAL, offset, checksum)
    }

    /// Returns the event that shows that the primary is alive, and the position up to which everything has been sent.
    pub fn heartbeat(self, file: &str, offset: u64, checksum: ChecksumAlgorithm) -> Vec<u8> {
        match u32::try_from(offset) {
            Ok(_) => {
                let body = HeartbeatEvent {
                    file_name: file.as_bytes(),
                };
                self.encode(&body, EventFlags::NONE, offset, checksum)
            }
            Err(_) => self.encode(&FarHeartbeat { file, offset }, EventFlags::NONE, 0, checksum),
        }
    }

    fn encode(
        self,
        body: &dyn EventBody,
        flags: EventFlags,
        end: u64,
        checksum: ChecksumAlgorithm,
    ) -> Vec<u8> {
        let mut event = Vec::with_capacity(64);
        let stamp = EventStamp {
            timestamp: 0,
            server_id: self.server_id,
            flags,
        };
        encode_event(&mut event, &stamp, 0, body);
        if end != 0 {
            // The field has 32 bits. It wraps around as in a file.
            set_end_position(&mut event, end as u32);
        }
        match checksum {
            ChecksumAlgorithm::Crc32 => {}
            ChecksumAlgorithm::None => strip_checksum(&mut event, 0),
        }
        event
    }
}

/// A heartbeat beyond 4 GiB. The offset does not fit the header; it precedes the file name.
struct FarHeartbeat<'a> {
    file: &'a str,
    offset: u64,
}

impl EventBody for FarHeartbeat<'_> {
    fn event_type(&self) -> EventType {
        EventType::HEARTBEAT
    }

    fn encode_body(&self, out: &mut Vec<u8>) {
        out.extend_from_slice(&self.offset.to_le_bytes());
        out.extend_from_slice(self.file.as_bytes());
    }
}

/// Removes the checksum of the event from `at` to the end of the buffer.
pub(super) fn strip_checksum(event: &mut Vec<u8>, at: usize) {
    let length = event.len() - at - CHECKSUM_LENGTH;
    event.truncate(at + length);
    event[at + LENGTH_OFFSET..at + LENGTH_OFFSET + 4].copy_from_slice(&(length as u32).to_le_bytes());
}

/// Updates the checksum of an event that was changed in place.
pub(super) fn mend_checksum(event: &mut [u8]) {
    let Some(counted) = event.len().checked_sub(CHECKSUM_LENGTH) else {
        return;
    };
    let checksum = crc32(&event[..counted]);
    event[counted..].copy_from_slice(&checksum.to_le_bytes());
}

/// Adapts a file's Format_description for a replica: never "in use", and with the checksum algorithm of the stream.
pub(super) fn format_description(event: &mut [u8], change: FormatChange, checksum: ChecksumAlgorithm) {
    event[FLAGS_OFFSET] &= !(EventFlags::BINLOG_IN_USE.0 as u8);
    if change != FormatChange::None {
        event[CREATED_OFFSET..CREATED_OFFSET + 4].fill(0);
    }
    if change == FormatChange::MidFile {
        event[END_POSITION_OFFSET..END_POSITION_OFFSET + 4].fill(0);
    }
    if checksum == ChecksumAlgorithm::None {
        // The algorithm is at the end of the body. This event always has a checksum.
        let at = event.len() - CHECKSUM_LENGTH - 1;
        event[at] = 0;
    }
    mend_checksum(event);
}

#[cfg(test)]
mod tests {
    use super::*;
    use paceline_binlog::event::{Event, FormatDescription, RawEvent};

    const MADE_UP: ArtificialEvents = ArtificialEvents {
        server_id: ServerId(3),
    };

    #[test]
    fn artificial_events_are_readable() {
        for checksum in [ChecksumAlgorithm::Crc32, ChecksumAlgorithm::None] {
            let format = FormatDescription::new("10.11.19-MariaDB", 0);
            let rotate = MADE_UP.rotate("bin.000007", 4, checksum);
            let event = RawEvent::new(&rotate, checksum).unwrap();
            assert_eq!((event.header().timestamp, event.header().end_position), (0, 0));
            assert!(event.header().flags.contains(EventFlags::ARTIFICIAL));
            let Event::Rotate(body) = event.decode(&format).unwrap() else {
                panic!()
            };
            assert_eq!((body.position, body.file_name), (4, b"bin.000007".as_slice()));
            let heartbeat = MADE_UP.heartbeat("bin.000007", 1234, checksum);
            let event = RawEvent::new(&heartbeat, checksum).unwrap();
            assert_eq!(event.header().end_position, 1234);
            assert_eq!(event.body(), b"bin.000007");
            let far = MADE_UP.heartbeat("bin.000007", 1 << 33, checksum);
            let event = RawEvent::new(&far, checksum).unwrap();
            assert_eq!(event.header().end_position, 0);
            assert_eq!(
                event.body(),
                [&(1u64 << 33).to_le_bytes()[..], b"bin.000007"].concat()
            );
        }
    }

    #[test]
    fn a_format_description_for_a_replica() {
        let format = FormatDescription::new("10.11.19-MariaDB", 77);
        let mut bytes = Vec::new();
        let stamp = EventStamp {
            timestamp: 5,
            server_id: ServerId(3),
            flags: EventFlags::BINLOG_IN_USE,
        };
        encode_event(&mut bytes, &stamp, 4, &format);
        for (change, created, has_end) in [
            (FormatChange::None, 77, true),
            (FormatChange::Reconnect, 0, true),
            (FormatChange::MidFile, 0, false),
        ] {
            let mut event = bytes.clone();
            format_description(&mut event, change, ChecksumAlgorithm::None);
            let event = RawEvent::new(&event, ChecksumAlgorithm::Crc32).unwrap();
            assert_eq!(event.header().end_position != 0, has_end);
            let Event::FormatDescription(sent) = event.decode(&format).unwrap() else {
                panic!()
            };
            assert_eq!((sent.created, sent.checksum), (created, ChecksumAlgorithm::None));
        }
    }
}
