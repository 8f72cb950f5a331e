//! Incident: the primary says that something happened that is not in its log. `kind (2) | length (1) | message`.

use super::EventType;
use super::body::EventBody;
use crate::codec::{Cursor, PutExt};
use crate::error::Result;

/// Something is missing in the log.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct IncidentEvent<'a> {
    /// 1: LOST_EVENTS.
    pub kind: u16,
    /// What the primary says of it.
    pub message: &'a [u8],
}

impl<'a> IncidentEvent<'a> {
    /// Decodes the body.
    ///
    /// # Errors
    /// [`crate::Error::Malformed`].
    pub fn decode(body: &'a [u8]) -> Result<Self> {
        let mut cursor = Cursor::new("Incident", body);
        Ok(Self {
            kind: cursor.u16()?,
            message: cursor.short_bytes()?,
        })
    }
}

impl EventBody for IncidentEvent<'_> {
    fn event_type(&self) -> EventType {
        EventType::INCIDENT
    }

    fn encode_body(&self, out: &mut Vec<u8>) {
        out.put_u16(self.kind);
        out.put_short_bytes(self.message);
    }
}
