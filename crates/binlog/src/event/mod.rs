//! Events: everything that MariaDB 10.11 writes into a binary log, encoded and decoded byte for byte.
//!
//! An event is a header of 19 bytes ([`EventHeader`]), a body that depends on its type, and a checksum. A
//! [`RawEvent`] has a decoded header and a checked checksum; an [`Event`] has a decoded body as well. Bodies borrow
//! from the bytes that they were decoded from. The file of each event type shows the layout of its body.
//!
//! ```
//! use paceline_binlog::event::*;
//! use paceline_types::ServerId;
//!
//! let format = FormatDescription::new("10.11.19-MariaDB-paceline", 0);
//! let stamp = EventStamp { timestamp: 0, server_id: ServerId(1), flags: EventFlags::NONE };
//! let mut bytes = Vec::new();
//! encode_event(&mut bytes, &stamp, 4, &XidEvent { xid: 7 });
//! let event = RawEvent::new(&bytes, format.checksum)?;
//! assert_eq!(event.decode(&format)?, Event::Xid(XidEvent { xid: 7 }));
//! # Ok::<(), paceline_binlog::Error>(())
//! ```
//!
//! The reference is MariaDB's `sql/log_event.h` and `log_event_server.cc`. Tests compare with logs that a real server
//! wrote.

mod annotate_rows;
mod body;
mod compression;
mod control;
mod event_type;
mod format_description;
mod gtid;
mod gtid_list;
mod header;
mod ignorable;
mod incident;
mod load_data;
mod query;
mod raw;
mod rows;
mod statement_context;
mod status_vars;
mod table_map;
mod xid;

pub use annotate_rows::AnnotateRowsEvent;
pub use body::EventBody;
pub use control::{BinlogCheckpointEvent, HeartbeatEvent, RotateEvent, StopEvent};
pub use event_type::EventType;
pub use format_description::{ChecksumAlgorithm, FormatDescription, POST_HEADER_LENGTHS};
pub use gtid::{AlterPhase, CommitId, GTID_BODY_LENGTH_MIN, GtidEvent, GtidFlags, XaName};
pub use gtid_list::GtidListEvent;
pub use header::{
    CHECKSUM_LENGTH, END_POSITION_OFFSET, EventFlags, EventHeader, FLAGS_OFFSET, HEADER_LENGTH, MAGIC,
};
pub use ignorable::{IgnorableEvent, Predecessor};
pub(crate) use ignorable::{ROW_EVENT_HEAD_LENGTH, row_event_head};
pub use incident::IncidentEvent;
pub use load_data::{BlockKind, DeleteFileEvent, ExecuteLoadQueryEvent, FileBlockEvent, LoadDuplicates};
pub use query::{QueryCompression, QueryEvent};
pub use raw::{EventStamp, RawEvent, checksum_is_right, encode_event, end_position, set_end_position};
pub use rows::{RowsCompression, RowsEvent, RowsFlags, RowsKind, RowsVersion};
pub use statement_context::{IntvarEvent, IntvarKind, RandEvent, UserVarEvent, UserVarValue};
pub use status_vars::StatusVar;
pub use table_map::{COLUMNS_MAX, TableId, TableMapEvent};
pub use xid::{XaPrepareEvent, XidEvent};

use crate::error::{Error, Result};

/// An event with a decoded body.
#[derive(Clone, PartialEq, Eq, Debug)]
#[non_exhaustive]
pub enum Event<'a> {
    /// The first event of each file.
    FormatDescription(FormatDescription),
    /// The log continues in another file.
    Rotate(RotateEvent<'a>),
    /// The server was shut down.
    Stop,
    /// The GTID state at the head of a file.
    GtidList(GtidListEvent),
    /// The first file that recovery needs.
    BinlogCheckpoint(BinlogCheckpointEvent<'a>),
    /// Paceline's own records.
    Ignorable(IgnorableEvent<'a>),
    /// The primary is alive.
    Heartbeat(HeartbeatEvent<'a>),
    /// The beginning of an event group.
    Gtid(GtidEvent<'a>),
    /// The statement that the following rows come from.
    AnnotateRows(AnnotateRowsEvent<'a>),
    /// The table that the following rows belong to.
    TableMap(TableMapEvent<'a>),
    /// Changed rows.
    Rows(RowsEvent<'a>),
    /// A statement.
    Query(QueryEvent<'a>),
    /// A value for AUTO_INCREMENT or LAST_INSERT_ID().
    Intvar(IntvarEvent),
    /// Seeds for RAND().
    Rand(RandEvent),
    /// A user variable.
    UserVar(UserVarEvent<'a>),
    /// A block of the file that LOAD DATA reads.
    FileBlock(FileBlockEvent<'a>),
    /// The LOAD DATA statement, after its file.
    ExecuteLoadQuery(ExecuteLoadQueryEvent<'a>),
    /// The file is discarded.
    DeleteFile(DeleteFileEvent),
    /// The transaction is committed.
    Xid(XidEvent),
    /// An XA transaction is prepared; the group ends.
    XaPrepare(XaPrepareEvent<'a>),
    /// Changes are missing from the log.
    Incident(IncidentEvent<'a>),
    /// An event of a type that this crate does not decode: one of MySQL's, or an unknown one.
    Unknown {
        /// Type of the event.
        event_type: EventType,
        /// The undecoded body.
        body: &'a [u8],
    },
}

impl<'a> Event<'a> {
    /// Decodes a body (without header and checksum).
    ///
    /// # Errors
    /// [`Error::Malformed`] for a body that its type does not allow, [`Error::Encrypted`] for a Start_encryption event.
    pub fn decode(header: &EventHeader, body: &'a [u8], _format: &FormatDescription) -> Result<Self> {
        Ok(match header.event_type {
            EventType::FORMAT_DESCRIPTION => Event::FormatDescription(FormatDescription::decode(body)?),
            EventType::ROTATE => Event::Rotate(RotateEvent::decode(body)?),
            EventType::STOP => Event::Stop,
            EventType::GTID_LIST => Event::GtidList(GtidListEvent::decode(body)?),
            EventType::BINLOG_CHECKPOINT => Event::BinlogCheckpoint(BinlogCheckpointEvent::decode(body)?),
            EventType::IGNORABLE => Event::Ignorable(IgnorableEvent::decode(body)?),
            EventType::HEARTBEAT => Event::Heartbeat(HeartbeatEvent::decode(body)),
            EventType::GTID => Event::Gtid(GtidEvent::decode(body, header.server_id)?),
            EventType::ANNOTATE_ROWS => Event::AnnotateRows(AnnotateRowsEvent::decode(body)),
            EventType::TABLE_MAP => Event::TableMap(TableMapEvent::decode(body)?),
            rows if rows.is_rows() => Event::Rows(RowsEvent::decode(rows, body)?),
            EventType::QUERY | EventType::QUERY_COMPRESSED => {
                Event::Query(QueryEvent::decode(header.event_type, body)?)
            }
            EventType::INTVAR => Event::Intvar(IntvarEvent::decode(body)?),
            EventType::RAND => Event::Rand(RandEvent::decode(body)?),
            EventType::USER_VAR => Event::UserVar(UserVarEvent::decode(body)?),
            EventType::BEGIN_LOAD_QUERY | EventType::APPEND_BLOCK => {
                Event::FileBlock(FileBlockEvent::decode(header.event_type, body)?)
            }
            EventType::EXECUTE_LOAD_QUERY => Event::ExecuteLoadQuery(ExecuteLoadQueryEvent::decode(body)?),
            EventType::DELETE_FILE => Event::DeleteFile(DeleteFileEvent::decode(body)?),
            EventType::XID => Event::Xid(XidEvent::decode(body)?),
            EventType::XA_PREPARE => Event::XaPrepare(XaPrepareEvent::decode(body)?),
            EventType::INCIDENT => Event::Incident(IncidentEvent::decode(body)?),
            EventType::START_ENCRYPTION => return Err(Error::Encrypted),
            event_type => Event::Unknown { event_type, body },
        })
    }
}

impl<'a> Event<'a> {
    /// Returns the row event that a record contains ([`IgnorableEvent::RowEvent`]), for readers that want the changes
    /// of rows and not the texts of statements; any other event unchanged. `header` is the event's.
    ///
    /// # Errors
    /// Those of [`Event::decode`].
    pub fn out_of_record(self, header: &EventHeader, format: &FormatDescription) -> Result<Self> {
        match self {
            Event::Ignorable(IgnorableEvent::RowEvent { event_type, body }) => {
                let header = EventHeader {
                    event_type,
                    ..*header
                };
                Event::decode(&header, body, format)
            }
            event => Ok(event),
        }
    }
}

/// Encodes a decoded event again.
impl EventBody for Event<'_> {
    fn event_type(&self) -> EventType {
        match self {
            Event::Unknown { event_type, .. } => *event_type,
            _ => self.body().event_type(),
        }
    }

    fn encode_body(&self, out: &mut Vec<u8>) {
        match self {
            Event::Unknown { body, .. } => out.extend_from_slice(body),
            _ => self.body().encode_body(out),
        }
    }
}

impl Event<'_> {
    fn body(&self) -> &dyn EventBody {
        match self {
            Event::FormatDescription(body) => body,
            Event::Rotate(body) => body,
            Event::Stop | Event::Unknown { .. } => &StopEvent,
            Event::GtidList(body) => body,
            Event::BinlogCheckpoint(body) => body,
            Event::Ignorable(body) => body,
            Event::Heartbeat(body) => body,
            Event::Gtid(body) => body,
            Event::AnnotateRows(body) => body,
            Event::TableMap(body) => body,
            Event::Rows(body) => body,
            Event::Query(body) => body,
            Event::Intvar(body) => body,
            Event::Rand(body) => body,
            Event::UserVar(body) => body,
            Event::FileBlock(body) => body,
            Event::ExecuteLoadQuery(body) => body,
            Event::DeleteFile(body) => body,
            Event::Xid(body) => body,
            Event::XaPrepare(body) => body,
            Event::Incident(body) => body,
        }
    }
}
