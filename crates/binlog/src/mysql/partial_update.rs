//! Update_rows_partial: an update whose after images may contain changes of JSON documents instead of the documents
//! (`binlog_row_value_options=PARTIAL_JSON`).
//!
//! ```text
//!   as Update_rows of version 2, except for after images:
//!     options (packed): 1 = changes of documents | JSON columns with changes (bitmap; only with that option) | image
//!
//!   as passed on by a replica's receiver:
//!     columns of the image with changes (bitmap) | image
//! ```
//! MySQL's bitmap has a bit for each JSON column of the table, including columns that are not in the image. In the
//! image, changes replace the document and, like it, follow a length of 4 bytes: `paceline_json::diff`. This is
//! MySQL's `Rows_log_event` and `Partial_update_rows_event`.
//!
//! The second form is for updates whose before images do not contain the documents (`binlog_row_image=MINIMAL`): such
//! an update can be executed only where the row is available. In this form documents are text, as in any event that
//! was converted from MySQL's. It is never in a log.

use crate::error::Result;
use crate::event::{EventBody, EventType, RowsEvent};

/// An Update_rows_partial event; the rows have one of the two forms.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct PartialUpdateRowsEvent<'a>(pub RowsEvent<'a>);

impl<'a> PartialUpdateRowsEvent<'a> {
    /// Decodes the body.
    ///
    /// # Errors
    /// [`crate::Error::Malformed`].
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
