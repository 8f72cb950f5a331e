//! The small events that belong to the log itself: Rotate, Stop, Binlog_checkpoint, Heartbeat.

use super::EventType;
use super::body::EventBody;
use crate::codec::{Cursor, PutExt};
use crate::error::Result;

/// Rotate: the log continues in another file. `position (8) | file name`.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct RotateEvent<'a> {
    /// Offset in the next file where to continue, in bytes. In a file it is always 4, after the magic.
    pub position: u64,
    /// The next file's name, without directory.
    pub file_name: &'a [u8],
}

impl<'a> RotateEvent<'a> {
    /// Decodes the body.
    ///
    /// # Errors
    /// [`crate::Error::Malformed`].
    pub fn decode(body: &'a [u8]) -> Result<Self> {
        let mut cursor = Cursor::new("Rotate", body);
        Ok(Self {
            position: cursor.u64()?,
            file_name: cursor.rest(),
        })
    }
}

impl EventBody for RotateEvent<'_> {
    fn event_type(&self) -> EventType {
        EventType::ROTATE
    }

    fn encode_body(&self, out: &mut Vec<u8>) {
        out.put_u64(self.position);
        out.extend_from_slice(self.file_name);
    }
}

/// Stop: the server was shut down. It has no body.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct StopEvent;

impl EventBody for StopEvent {
    fn event_type(&self) -> EventType {
        EventType::STOP
    }

    fn encode_body(&self, _out: &mut Vec<u8>) {}
}

/// Binlog_checkpoint: the first file that recovery needs. `name length (4) | name`.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct BinlogCheckpointEvent<'a> {
    /// The file's name, without directory.
    pub file_name: &'a [u8],
}

impl<'a> BinlogCheckpointEvent<'a> {
    /// Decodes the body.
    ///
    /// # Errors
    /// [`crate::Error::Malformed`].
    pub fn decode(body: &'a [u8]) -> Result<Self> {
        let mut cursor = Cursor::new("Binlog_checkpoint", body);
        let length = cursor.u32()? as usize;
        Ok(Self {
            file_name: cursor.bytes(length)?,
        })
    }
}

impl EventBody for BinlogCheckpointEvent<'_> {
    fn event_type(&self) -> EventType {
        EventType::BINLOG_CHECKPOINT
    }

    fn encode_body(&self, out: &mut Vec<u8>) {
        out.put_u32(u32::try_from(self.file_name.len()).expect("a file name is short"));
        out.extend_from_slice(self.file_name);
    }
}

/// Heartbeat: the primary is alive, and this is its position, which is in the header's end position. Never in a file.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct HeartbeatEvent<'a> {
    /// The current file's name.
    pub file_name: &'a [u8],
}

impl<'a> HeartbeatEvent<'a> {
    /// Decodes the body.
    pub fn decode(body: &'a [u8]) -> Self {
        Self { file_name: body }
    }
}

impl EventBody for HeartbeatEvent<'_> {
    fn event_type(&self) -> EventType {
        EventType::HEARTBEAT
    }

    fn encode_body(&self, out: &mut Vec<u8>) {
        out.extend_from_slice(self.file_name);
    }
}
