//! What every kind of event has in common when it is written.

use super::EventType;

/// What a body is that can be put behind a header.
pub trait EventBody {
    /// The type code for the header.
    fn event_type(&self) -> EventType;

    /// Appends the body, without header and checksum.
    fn encode_body(&self, out: &mut Vec<u8>);
}
