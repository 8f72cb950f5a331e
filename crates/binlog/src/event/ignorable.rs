//! Ignorable (type 28): Paceline's own records, which all other readers skip.
//!
//! `mariadb-binlog` skips an event of this type, as it skips any unknown type whose header has the flag 0x80
//! ([`super::EventFlags::IGNORABLE`]). The records are not sent to replicas ([`EventType::is_sent_to_replicas`]).
//! Each begins with a mark that distinguishes it from ignorable events of other programs:
//!
//! ```text
//! "pace" (4) | kind (1) | content
//! ```

use super::body::EventBody;
use super::{CHECKSUM_LENGTH, EventType, HEADER_LENGTH};
use crate::codec::{Cursor, PutExt};
use crate::error::Result;
use crate::sync_mode::SyncMode;
use paceline_types::LogPosition;

const MARK: &[u8; 4] = b"pace";
const KIND_FILE_HEAD: u8 = 1;
const KIND_DURABLE: u8 = 2;
const KIND_REPLICA: u8 = 3;
const KIND_PADDING: u8 = 4;
const KIND_ROW_EVENT: u8 = 5;
const KIND_TEXT: u8 = 6;
const KIND_EPOCHS: u8 = 7;
/// Last byte of a file's head record, if the file follows the tables and no other file.
const FOLLOWS_TABLES: u8 = 1;

/// Predecessor of a file.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Predecessor {
    /// The file before it in the log, if there is one.
    Log,
    /// No file (`RESET MASTER`): the tables durably held everything in the log before.
    Tables,
}

/// A record of Paceline.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum IgnorableEvent<'a> {
    /// In the head of each file, after the Format_description.
    FileHead {
        /// Ordinal of the file: the upper 24 bits of the positions in it.
        ordinal: u32,
        /// Sync mode from the start of the file on.
        sync_mode: SyncMode,
        /// Predecessor of the file.
        follows: Predecessor,
    },
    /// A change of the sync mode, or a statement of what is durable. Everything before `durable` was durable when
    /// this was written, or, in the head of a large transaction's file, before the log contained that file.
    Durable {
        /// The durable position.
        durable: LogPosition,
        /// Sync mode from here on.
        sync_mode: SyncMode,
    },
    /// The state of the replica in a file's head, or a change of it without a transaction: an encoded
    /// [`crate::replica_state::ReplicaRecord`].
    Replica(&'a [u8]),
    /// The epochs of a cluster that began before the file, in a file's head: an encoded
    /// [`crate::epoch::EpochHistory`].
    Epochs(&'a [u8]),
    /// Fills the space between the head of a large transaction's file and that transaction
    /// ([`crate::log::LargeGroup`]) with this many zeros.
    Padding(u32),
    /// A Table_map or rows event of a statement that other readers know by its text: its type and its body. Only
    /// recovery reads it ([`crate::group::StatementForm::Text`]).
    RowEvent {
        /// Type of the event.
        event_type: EventType,
        /// Body of the event.
        body: &'a [u8],
    },
    /// Precedes the text of a statement whose row events, if there are any, precede this record.
    Text,
    /// A record of another program or of a later version.
    Other(&'a [u8]),
}

impl<'a> IgnorableEvent<'a> {
    /// Decodes the body.
    ///
    /// # Errors
    /// [`crate::Error::Malformed`] for a record with our mark and a content that Paceline never writes.
    pub fn decode(body: &'a [u8]) -> Result<Self> {
        let mut cursor = Cursor::new("Ignorable", body);
        if !body.starts_with(MARK) {
            return Ok(Self::Other(body));
        }
        cursor.bytes(MARK.len())?;
        match cursor.u8()? {
            KIND_FILE_HEAD => {
                let ordinal = cursor.u32()?;
                if ordinal > LogPosition::ORDINAL_MAX {
                    return Err(cursor.malformed("its file ordinal is out of range"));
                }
                Ok(Self::FileHead {
                    ordinal,
                    sync_mode: decode_mode(&mut cursor)?,
                    follows: match cursor.rest() {
                        [] => Predecessor::Log,
                        [FOLLOWS_TABLES, ..] => Predecessor::Tables,
                        _ => return Err(cursor.malformed("what it follows is not known")),
                    },
                })
            }
            KIND_DURABLE => {
                let durable = LogPosition::from_u64(cursor.u64()?);
                Ok(Self::Durable {
                    durable,
                    sync_mode: decode_mode(&mut cursor)?,
                })
            }
            KIND_REPLICA => Ok(Self::Replica(cursor.rest())),
            KIND_EPOCHS => Ok(Self::Epochs(cursor.rest())),
            KIND_PADDING => Ok(Self::Padding(cursor.rest().len() as u32)),
            KIND_ROW_EVENT => {
                let event_type = EventType(cursor.u8()?);
                if event_type != EventType::TABLE_MAP && !event_type.is_rows() {
                    return Err(cursor.malformed("it contains no row event"));
                }
                Ok(Self::RowEvent {
                    event_type,
                    body: cursor.rest(),
                })
            }
            KIND_TEXT => Ok(Self::Text),
            _ => Ok(Self::Other(body)),
        }
    }
}

fn decode_mode(cursor: &mut Cursor<'_>) -> Result<SyncMode> {
    match cursor.u8()? {
        0 => Ok(SyncMode::Deferred),
        1 => Ok(SyncMode::EachGroup),
        _ => Err(cursor.malformed("its sync mode is not known")),
    }
}

fn encode_mode(out: &mut Vec<u8>, mode: SyncMode) {
    out.put_u8(match mode {
        SyncMode::Deferred => 0,
        SyncMode::EachGroup => 1,
    });
}

impl EventBody for IgnorableEvent<'_> {
    fn event_type(&self) -> EventType {
        EventType::IGNORABLE
    }

    fn encode_body(&self, out: &mut Vec<u8>) {
        if let Self::Other(body) = self {
            out.extend_from_slice(body);
            return;
        }
        out.extend_from_slice(MARK);
        match self {
            Self::FileHead {
                ordinal,
                sync_mode,
                follows,
            } => {
                out.put_u8(KIND_FILE_HEAD);
                out.put_u32(*ordinal);
                encode_mode(out, *sync_mode);
                if *follows == Predecessor::Tables {
                    out.put_u8(FOLLOWS_TABLES);
                }
            }
            Self::Durable { durable, sync_mode } => {
                out.put_u8(KIND_DURABLE);
                out.put_u64(durable.as_u64());
                encode_mode(out, *sync_mode);
            }
            Self::Replica(record) => {
                out.put_u8(KIND_REPLICA);
                out.extend_from_slice(record);
            }
            Self::Epochs(history) => {
                out.put_u8(KIND_EPOCHS);
                out.extend_from_slice(history);
            }
            Self::Padding(zeros) => {
                out.put_u8(KIND_PADDING);
                out.resize(out.len() + *zeros as usize, 0);
            }
            Self::RowEvent { event_type, body } => {
                out.extend_from_slice(&row_event_head(*event_type)[MARK.len()..]);
                out.extend_from_slice(body);
            }
            Self::Text => out.put_u8(KIND_TEXT),
            Self::Other(_) => {}
        }
    }
}

/// Returns the beginning of a [`IgnorableEvent::RowEvent`] record's body, which the body of the row event follows.
pub(crate) fn row_event_head(event_type: EventType) -> [u8; ROW_EVENT_HEAD_LENGTH] {
    let [p, a, c, e] = *MARK;
    [p, a, c, e, KIND_ROW_EVENT, event_type.0]
}

/// Length of [`row_event_head`] in bytes.
pub(crate) const ROW_EVENT_HEAD_LENGTH: usize = MARK.len() + 2;

impl IgnorableEvent<'_> {
    /// Returns whether the record belongs to the event group around it, and goes wherever the group's changes are
    /// needed without executing its text: to archives.
    pub fn is_part_of_group(&self) -> bool {
        matches!(self, Self::RowEvent { .. } | Self::Text)
    }

    /// Length of a whole [`IgnorableEvent::Padding`] event without its zeros, in bytes.
    pub(crate) const PADDING_OVERHEAD: u64 = (HEADER_LENGTH + MARK.len() + 1 + CHECKSUM_LENGTH) as u64;
}
