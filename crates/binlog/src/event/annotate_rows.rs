//! Annotate_rows: the text of the statement that the following rows come from. The body is the text.

use super::EventType;
use super::body::EventBody;

/// The statement that the following rows come from.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct AnnotateRowsEvent<'a> {
    /// The statement's text, in the session's character set.
    pub sql: &'a [u8],
}

impl<'a> AnnotateRowsEvent<'a> {
    /// Decodes the body.
    pub fn decode(body: &'a [u8]) -> Self {
        Self { sql: body }
    }
}

impl EventBody for AnnotateRowsEvent<'_> {
    fn event_type(&self) -> EventType {
        EventType::ANNOTATE_ROWS
    }

    fn encode_body(&self, out: &mut Vec<u8>) {
        out.extend_from_slice(self.sql);
    }
}
