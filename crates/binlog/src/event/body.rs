//! The interface that all events have in common when they are encoded.

use super::EventType;

/// Body of an event, without header and checksum.
pub trait EventBody {
    /// Returns the type code for the header.
    fn event_type(&self) -> EventType;

    /// Appends the encoded body.
    fn encode_body(&self, out: &mut Vec<u8>);
}
