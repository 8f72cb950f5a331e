//! Incident: the primary reports that changes are missing from its log. `kind (2) | length (1) | message`.

use super::EventType;
use super::body::EventBody;
use crate::codec::{Cursor, PutExt};
use crate::error::Result;

/// Report that changes are missing from the log.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct IncidentEvent<'a> {
    /// Kind of the incident; 1 is LOST_EVENTS.
    pub kind: u16,
    /// The primary's message.
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
