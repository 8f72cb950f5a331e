//! A primary that is MySQL: its events become MariaDB's before anything else looks at them.
//!
//! ```text
//!   Transaction_payload ──zstd──▶ the events in it, each as if it had come by itself
//!   Rows_query                    Annotate_rows
//!   Table_map                     JSON columns are LONGTEXT's, without MySQL's optional metadata           [`rows`]
//!   Write_, Update_, Delete_rows  version 1; JSON as text; bits of no column in the NULL bitmap set          [`rows`]
//!   Update_rows_partial           Update_rows, if the images before hold the documents that it changes                [`rows`]
//!   Query                         MariaDB's words, collations and SQL mode                                   [`statement`]
//!   Execute_load_query            MariaDB's collations and SQL mode                                          [`statement`]
//!   Gtid, Anonymous_gtid, Xid …   as they are: the assembler makes a group's head of the former
//! ```
//! Behind this, a transaction is like any other of a primary without GTIDs: assembler, filters and applier know nothing of MySQL.

mod rows;
mod statement;

use super::error::{SourceError, corrupt};
use paceline_binlog::checksum::crc32;
use paceline_binlog::event::{
    AnnotateRowsEvent, CHECKSUM_LENGTH, ChecksumAlgorithm, END_POSITION_OFFSET, EventBody, EventFlags,
    EventHeader, EventStamp, EventType, RawEvent, encode_event, set_end_position,
};
use paceline_binlog::mysql::PayloadEvents;
use paceline_types::error_code::ER_SLAVE_FATAL_ERROR;
use rows::{PartialUpdate, RowTranslator};

/// Where the length stands in a header.
const LENGTH_OFFSET: usize = 9;

/// Takes the events that are made of one of MySQL's.
pub(super) type Sink<'s> = dyn FnMut(&RawEvent<'_>) -> Result<(), SourceError> + 's;

/// See the module's head. One for each connection.
#[derive(Default)]
pub(super) struct Translator {
    rows: RowTranslator,
    /// The event that is being made.
    made: Vec<u8>,
    /// An event of a payload.
    inner: Vec<u8>,
}

impl Translator {
    /// Translates an event that stands in a file.
    pub(super) fn translate(&mut self, event: &RawEvent<'_>, sink: &mut Sink<'_>) -> Result<(), SourceError> {
        if event.event_type() != EventType::MYSQL_TRANSACTION_PAYLOAD {
            return self.one(event, sink);
        }
        let mut events = PayloadEvents::new(event.body()).map_err(corrupt)?;
        let mut inner = std::mem::take(&mut self.inner);
        while let Some(bytes) = events.next_event().map_err(corrupt)? {
            inner.clear();
            inner.extend_from_slice(bytes);
            // They have neither a place of their own nor a checksum.
            let length = u32::try_from(inner.len() + CHECKSUM_LENGTH).map_err(corrupt)?;
            inner[LENGTH_OFFSET..LENGTH_OFFSET + 4].copy_from_slice(&length.to_le_bytes());
            let end = event.header().end_position.to_le_bytes();
            inner[END_POSITION_OFFSET..END_POSITION_OFFSET + 4].copy_from_slice(&end);
            let checksum = crc32(&inner);
            inner.extend_from_slice(&checksum.to_le_bytes());
            let event = RawEvent::new(&inner, ChecksumAlgorithm::Crc32).map_err(corrupt)?;
            if event.event_type() == EventType::MYSQL_TRANSACTION_PAYLOAD {
                return Err(corrupt("a compressed transaction within another one"));
            }
            self.one(&event, sink)?;
        }
        self.inner = inner;
        Ok(())
    }

    fn one(&mut self, event: &RawEvent<'_>, sink: &mut Sink<'_>) -> Result<(), SourceError> {
        let header = *event.header();
        match header.event_type {
            EventType::TABLE_MAP => {
                let map = self.rows.table_map(event.body())?;
                let bytes = made(&mut self.made, &header, &map)?;
                sink(&bytes)
            }
            event_type if event_type.is_rows() => match self.rows.rows(event_type, event.body())? {
                None => sink(event),
                Some(rows) => {
                    let event = made(&mut self.made, &header, &rows)?;
                    sink(&event)
                }
            },
            EventType::MYSQL_PARTIAL_UPDATE_ROWS => {
                let update = self.rows.partial_update(event.body(), header.end_position)?;
                let body: &dyn EventBody = match &update {
                    PartialUpdate::Whole(rows) => rows,
                    PartialUpdate::Changes(rows) => rows,
                };
                let event = made(&mut self.made, &header, body)?;
                sink(&event)
            }
            EventType::QUERY => match statement::translate(event.body())? {
                None => sink(event),
                Some(query) => {
                    let event = made(&mut self.made, &header, &query)?;
                    sink(&event)
                }
            },
            EventType::EXECUTE_LOAD_QUERY => {
                let load = statement::translate_load(event.body())?;
                let event = made(&mut self.made, &header, &load)?;
                sink(&event)
            }
            EventType::ROWS_QUERY => {
                // The length in front of the text has one byte, whatever the text's length.
                let sql = event.body().get(1..).unwrap_or_default();
                let annotate = AnnotateRowsEvent { sql };
                let event = made(&mut self.made, &header, &annotate)?;
                sink(&event)
            }
            // Types of the future that a reader may step over.
            EventType(43..=159) if header.flags.contains(EventFlags::IGNORABLE) => Ok(()),
            EventType(43..=159) => Err(SourceError::fatal_with(
                ER_SLAVE_FATAL_ERROR,
                &format!(
                    "The primary sends events of type {}, which this server does not know",
                    header.event_type.0
                ),
            )),
            _ => sink(event),
        }
    }
}

/// An event with another body. Its place stays that of the event that it was made of.
fn made<'b>(
    bytes: &'b mut Vec<u8>,
    header: &EventHeader,
    body: &dyn EventBody,
) -> Result<RawEvent<'b>, SourceError> {
    bytes.clear();
    let stamp = EventStamp {
        timestamp: header.timestamp,
        server_id: header.server_id,
        flags: header.flags.without(EventFlags::IGNORABLE),
    };
    encode_event(bytes, &stamp, 0, body);
    set_end_position(bytes, header.end_position);
    RawEvent::new(bytes, ChecksumAlgorithm::Crc32).map_err(corrupt)
}
