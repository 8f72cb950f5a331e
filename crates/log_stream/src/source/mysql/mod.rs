//! MySQL primaries: translation of their events to MariaDB's, before any other processing.
//!
//! ```text
//!   Transaction_payload ──zstd──▶ the events in it, as if each had arrived separately
//!   Rows_query                    Annotate_rows
//!   Table_map                     JSON columns become LONGTEXT; no optional metadata                       [`rows`]
//!   Write_, Update_, Delete_rows  version 1; JSON as text; unused bits of the NULL bitmap are set            [`rows`]
//!   Update_rows_partial           Update_rows, if the before images contain the changed documents                     [`rows`]
//!   Query                         MariaDB's words, collations and SQL mode                                   [`statement`]
//!   Execute_load_query            MariaDB's collations and SQL mode                                          [`statement`]
//!   Gtid, Anonymous_gtid, Xid …   unchanged: the assembler converts the first two to a group's head
//! ```
//! After this, a transaction is like any other of a primary without GTIDs: assembler, filters and applier do not know
//! MySQL.

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

/// Offset of the length in an event header.
const LENGTH_OFFSET: usize = 9;

/// Receives the events that result from one event of MySQL.
pub(super) type Sink<'s> = dyn FnMut(&RawEvent<'_>) -> Result<(), SourceError> + 's;

/// Translator of one connection; see the module comment.
#[derive(Default)]
pub(super) struct Translator {
    rows: RowTranslator,
    /// Buffer for the resulting event.
    made: Vec<u8>,
    /// Buffer for an event of a payload.
    inner: Vec<u8>,
}

impl Translator {
    /// Translates an event that is in a file.
    pub(super) fn translate(&mut self, event: &RawEvent<'_>, sink: &mut Sink<'_>) -> Result<(), SourceError> {
        if event.event_type() != EventType::MYSQL_TRANSACTION_PAYLOAD {
            return self.one(event, sink);
        }
        let mut events = PayloadEvents::new(event.body()).map_err(corrupt)?;
        let mut inner = std::mem::take(&mut self.inner);
        while let Some(bytes) = events.next_event().map_err(corrupt)? {
            inner.clear();
            inner.extend_from_slice(bytes);
            // Events of a payload have neither a position of their own nor a checksum.
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
                // The length before the text has one byte, whatever the text's length.
                let sql = event.body().get(1..).unwrap_or_default();
                let annotate = AnnotateRowsEvent { sql };
                let event = made(&mut self.made, &header, &annotate)?;
                sink(&event)
            }
            // Types of future versions that a reader may skip.
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

/// Creates an event with another body. It keeps the position of the original event.
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
