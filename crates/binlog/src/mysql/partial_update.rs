//! Update_rows_partial: an update whose after images may hold changes of JSON documents (`binlog_row_value_options=PARTIAL_JSON`).
//!
//! ```text
//!   as Update_rows of version 2, but for an after image:
//!     options (packed): 1 = changes of documents | which JSON columns have them (bitmap; only with that option) | image
//!
//!   as a replica's receiver hands it on:
//!     which columns of the image have them (bitmap) | image
//! ```
//! The bitmap of MySQL has a bit for each JSON column of the table, also for those that the image does not hold. In the image, changes stand in the place
//! of the document, behind a length of 4 bytes as it does: `paceline_types::json_diff`. It is MySQL's `Rows_log_event` and
//! `Partial_update_rows_event`.
//!
//! The second form is for updates whose before images do not hold the documents (`binlog_row_image=MINIMAL`), which only somebody who has the row can carry
//! out. Documents are text in it, as in any event that was MySQL's. It is never in a log.

use crate::error::Result;
use crate::event::{EventBody, EventType, RowsEvent};

/// Such an event; the rows are in one of the two forms.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct PartialUpdateRowsEvent<'a>(pub RowsEvent<'a>);

impl<'a> PartialUpdateRowsEvent<'a> {
    /// Decodes an event's body.
    ///
    /// # Errors
    /// [`crate::Error::Malformed`]
    pub fn decode(body: &'a [u8]) -> Result<Self> {
        RowsEvent::decode(EventType::MYSQL_PARTIAL_UPDATE_ROWS, body).map(PartialUpdateRowsEvent)
    }
}

impl EventBody for PartialUpdateRowsEvent<'_> {
    fn event_type(&self) -> EventType {
        EventType::MYSQL_PARTIAL_UPDATE_ROWS
    }

    fn encode_body(&self, out: &mut Vec<u8>) {
        self.0.encode_body(out);
    }
}
