//! Ignorable (type 28): Paceline's own records, which every other reader steps over.
//!
//! `mariadb-binlog` passes over an event of this type, as over any unknown type whose header carries the flag 0x80
//! ([`super::EventFlags::IGNORABLE`]). They are not sent to replicas ([`EventType::is_sent_to_replicas`]). Ours begin with a
//! mark, so that they are never taken for someone else's:
//!
//! ```text
//! "pace" (4) | kind (1) | content
//! ```

use super::body::EventBody;
use super::{CHECKSUM_LENGTH, EventType, HEADER_LENGTH};
use crate::codec::{Cursor, PutExt};
use crate::error::Result;
use crate::log::SyncMode;
use paceline_types::LogPosition;

const MARK: &[u8; 4] = b"pace";
const KIND_FILE_HEAD: u8 = 1;
const KIND_DURABLE: u8 = 2;
const KIND_REPLICA: u8 = 3;
const KIND_PADDING: u8 = 4;
/// Behind the rest of a file's head, where it follows no file.
const FOLLOWS_TABLES: u8 = 1;

/// What stood before a file when it was begun.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Follows {
    /// The file before it in the log, if any.
    Log,
    /// A log that is gone (`RESET MASTER`): the tables held all of it, durably.
    Tables,
}

/// One of Paceline's own records.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum IgnorableEvent<'a> {
    /// At the head of each file, behind the Format_description.
    FileHead {
        /// The file's ordinal: the upper 24 bits of the positions in it.
        ordinal: u32,
        /// How the file is synced from its start on.
        sync_mode: SyncMode,
        /// What stood before it.
        follows: Follows,
    },
    /// From here on the log is synced in that way; everything before `durable` was durable when this was written.
    Durable {
        /// What was durable.
        durable: LogPosition,
        /// How the log is synced from here on.
        sync_mode: SyncMode,
    },
    /// How far a replica has come, in a file's head, or where its position moved without a transaction: a
    /// [`crate::replica_state::ReplicaRecord`], encoded.
    Replica(&'a [u8]),
    /// Fills the room between the head of a file that a large transaction has brought along and that transaction
    /// ([`crate::log::LargeGroup`]): so many zeros.
    Padding(u32),
    /// Someone else's, or of a later version.
    Other(&'a [u8]),
}

impl<'a> IgnorableEvent<'a> {
    /// Decodes the body.
    ///
    /// # Errors
    /// [`crate::Error::Malformed`] for one with our mark and a content that we never write.
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
                        [] => Follows::Log,
                        [FOLLOWS_TABLES, ..] => Follows::Tables,
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
            KIND_PADDING => Ok(Self::Padding(cursor.rest().len() as u32)),
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
                if *follows == Follows::Tables {
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
            Self::Padding(zeros) => {
                out.put_u8(KIND_PADDING);
                out.resize(out.len() + *zeros as usize, 0);
            }
            Self::Other(_) => {}
        }
    }
}

impl IgnorableEvent<'_> {
    /// The length of a whole [`IgnorableEvent::Padding`] event without its zeros, in bytes.
    pub(crate) const PADDING_OVERHEAD: u64 = (HEADER_LENGTH + MARK.len() + 1 + CHECKSUM_LENGTH) as u64;
}
