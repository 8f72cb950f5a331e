//! The head of a file: everything before its first event group.
//!
//! ```text
//! magic | Format_description (in use) | Ignorable: FileHead (ordinal) | [Ignorable: Replica] | [Ignorable: Epochs]
//! | Gtid_list | Binlog_checkpoint | …
//! ```
//! Files of MariaDB and of Paceline differ only in the ignorable events. The head is synced before the index names the
//! file, so a file in the index with an incomplete head is damaged, not torn.

use crate::disk::DiskFile;
use crate::epoch::EpochHistory;
use crate::error::Result;
use crate::event::{
    BinlogCheckpointEvent, ChecksumAlgorithm, Event, EventFlags, EventStamp, FormatDescription,
    GtidListEvent, IgnorableEvent, MAGIC, Predecessor, encode_event,
};
use crate::gtid::GtidState;
use crate::log::files::event_stream::EventStream;
use crate::replica_state::{ReplicaRecord, ReplicaState};
use crate::sync_mode::SyncMode;
use paceline_types::ServerId;
use std::sync::Arc;

/// Why a file was begun.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(in crate::log) enum FileReason {
    /// The server started; the file's Format_description contains the time.
    ServerStart,
    /// The log continued from the file before.
    Rotation,
    /// `RESET MASTER`: it is the only file, and the tables hold everything from before.
    Reset,
}

impl FileReason {
    /// Returns what precedes the file.
    pub fn follows(self) -> Predecessor {
        match self {
            FileReason::ServerStart | FileReason::Rotation => Predecessor::Log,
            FileReason::Reset => Predecessor::Tables,
        }
    }
}

/// Contents of a new file's head.
#[derive(Debug)]
pub(in crate::log) struct NewHead<'a> {
    pub server_id: ServerId,
    pub server_version: &'a str,
    pub now: u32,
    pub occasion: FileReason,
    pub ordinal: u32,
    pub sync_mode: SyncMode,
    pub state: &'a GtidState,
    pub replica: &'a ReplicaState,
    pub epochs: &'a EpochHistory,
    pub checkpoint: &'a str,
}

impl NewHead<'_> {
    /// Returns the encoded head, including the magic.
    pub fn encode(&self) -> Vec<u8> {
        let mut out = MAGIC.to_vec();
        let stamp = EventStamp {
            timestamp: self.now,
            server_id: self.server_id,
            flags: EventFlags::NONE,
        };
        let created = match self.occasion {
            FileReason::ServerStart => self.now,
            FileReason::Rotation | FileReason::Reset => 0,
        };
        let format = FormatDescription::new(self.server_version, created);
        let in_use = EventStamp {
            flags: EventFlags::BINLOG_IN_USE,
            ..stamp
        };
        encode_event(&mut out, &in_use, MAGIC.len() as u64, &format);
        let ignorable = EventStamp {
            flags: EventFlags::IGNORABLE,
            ..stamp
        };
        let start = out.len() as u64;
        let head = IgnorableEvent::FileHead {
            ordinal: self.ordinal,
            sync_mode: self.sync_mode,
            follows: self.occasion.follows(),
        };
        encode_event(&mut out, &ignorable, start, &head);
        if !self.replica.is_empty() {
            let start = out.len() as u64;
            let record = self.replica.to_record().encode();
            encode_event(&mut out, &ignorable, start, &IgnorableEvent::Replica(&record));
        }
        if !self.epochs.is_empty() {
            let start = out.len() as u64;
            let history = self.epochs.encode();
            encode_event(&mut out, &ignorable, start, &IgnorableEvent::Epochs(&history));
        }
        let start = out.len() as u64;
        encode_event(&mut out, &stamp, start, &GtidListEvent::of_state(self.state));
        let start = out.len() as u64;
        encode_event(
            &mut out,
            &stamp,
            start,
            &BinlogCheckpointEvent {
                file_name: self.checkpoint.as_bytes(),
            },
        );
        out
    }
}

/// Server that has written a file.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(in crate::log) enum Origin {
    /// A Paceline: the file's head contains its ordinal.
    Ours,
    /// Any server: the file is assigned this ordinal.
    Foreign { ordinal: u32 },
}

/// The decoded head of a file.
#[derive(Clone, Debug)]
pub(in crate::log) struct FileHead {
    pub origin: Origin,
    /// Whether the in-use flag is set: the file was not closed.
    pub in_use: bool,
    pub ordinal: u32,
    /// Sync mode at the start of the file.
    pub sync_mode: SyncMode,
    /// Predecessor of the file.
    pub follows: Predecessor,
    /// GTID state of all files before this one.
    pub state: GtidState,
    /// State of the replica after all files before this one.
    pub replica: ReplicaState,
    /// Epochs that began in the files before this one.
    pub epochs: EpochHistory,
    /// Offset of the end of the head's Gtid_list, in bytes.
    pub length: u64,
}

impl FileHead {
    /// Reads the head of a file that Paceline has written.
    ///
    /// # Errors
    /// [`crate::Error::Damaged`].
    pub fn read(file: &Arc<dyn DiskFile>, name: &str) -> Result<Self> {
        Self::read_as(file, name, Origin::Ours)
    }

    /// Reads the head of a file.
    ///
    /// # Errors
    /// [`crate::Error::Damaged`]; [`crate::Error::Encrypted`].
    pub fn read_as(file: &Arc<dyn DiskFile>, name: &str, origin: Origin) -> Result<Self> {
        let length = file.length().map_err(|source| crate::Error::Io {
            operation: "examine",
            path: name.into(),
            source,
        })?;
        let mut stream = EventStream::new(Arc::clone(file), name.to_owned(), MAGIC.len() as u64, length);
        stream.check_magic()?;
        let (format, in_use) = read_format(&mut stream)?;
        let mut identity = match origin {
            Origin::Ours => None,
            Origin::Foreign { ordinal } => Some((ordinal, SyncMode::Deferred, Predecessor::Log)),
        };
        if origin != Origin::Ours && format.checksum == ChecksumAlgorithm::None {
            return Err(stream.damaged(
                MAGIC.len() as u64,
                "its events have no checksums (binlog_checksum=NONE): what is damaged could not be told",
            ));
        }
        let mut replica = ReplicaState::default();
        let mut epochs = EpochHistory::default();
        loop {
            let Some((start, event)) = stream.next()? else {
                return Err(stream.damaged(length, "it ends within its head"));
            };
            match event.decode(&format)? {
                Event::Ignorable(IgnorableEvent::FileHead {
                    ordinal,
                    sync_mode,
                    follows,
                }) if origin == Origin::Ours => identity = Some((ordinal, sync_mode, follows)),
                Event::Ignorable(IgnorableEvent::Replica(record)) => {
                    replica.apply(&ReplicaRecord::decode(record)?);
                }
                Event::Ignorable(IgnorableEvent::Epochs(history)) => {
                    epochs = EpochHistory::decode(history)?;
                }
                Event::GtidList(list) => {
                    let Some((ordinal, sync_mode, follows)) = identity else {
                        return Err(
                            stream.damaged(start, "its ordinal is missing: no server of this kind wrote it")
                        );
                    };
                    let length = stream.position();
                    return Ok(Self {
                        origin,
                        in_use,
                        ordinal,
                        sync_mode,
                        follows,
                        state: list.state(),
                        replica,
                        epochs,
                        length,
                    });
                }
                Event::Gtid(_) => return Err(stream.damaged(start, "its head has no GTID list")),
                Event::Rotate(_) | Event::Query(_) | Event::Stop if origin != Origin::Ours => {
                    return Err(stream.damaged(start, NO_GTID_LIST));
                }
                Event::Unknown { .. } if origin != Origin::Ours => {
                    return Err(stream.damaged(start, NO_GTID_LIST));
                }
                _ => {}
            }
        }
    }
}

/// Error text for files of MySQL and of MariaDB 5.5.
const NO_GTID_LIST: &str =
    "its head has no GTID list: only logs of MariaDB from 10.0 on, and of Paceline, have one";

/// Reads the Format_description at the stream's position. Returns it and whether the file is in use.
pub(in crate::log) fn read_format(stream: &mut EventStream) -> Result<(FormatDescription, bool)> {
    let start = stream.position();
    let Some((_, event)) = stream.next()? else {
        return Err(stream.damaged(start, "it has no Format_description"));
    };
    let in_use = event.header().flags.contains(EventFlags::BINLOG_IN_USE);
    if event.event_type() != crate::event::EventType::FORMAT_DESCRIPTION {
        return Err(stream.damaged(start, "its first event is no Format_description"));
    }
    let format = FormatDescription::decode(event.body())?;
    stream.set_checksum(format.checksum);
    Ok((format, in_use))
}
