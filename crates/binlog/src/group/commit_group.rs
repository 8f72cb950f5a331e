//! What the leader of a commit group makes of its transactions.

use super::buffer::{EventGroupBuffer, place};
use super::event_group::{Bytes, EventGroup, event_length};
use crate::checksum::Shift;
use crate::error::{Error, Result};
use crate::event::{
    CHECKSUM_LENGTH, CommitId, END_POSITION_OFFSET, EventFlags, EventStamp, GtidEvent, GtidFlags,
    IgnorableEvent, encode_event, end_position,
};
use crate::replica_state::{GtidMove, ReplicaRecord};
use crate::spill_file::{SpillFile, SpilledBytes};
use paceline_types::{Gtid, LogPosition, ServerId};
use std::io::IoSlice;
use std::ops::Range;
use std::sync::Arc;

/// Events up to this many bytes are copied into one piece with their neighbours; what is longer is written from where the
/// session encoded it.
const COPIED_LENGTH_MAX: usize = 64 * 1024;

/// How much of a file is given its place at a time, in bytes; more where one event is longer.
const PLACED_AT_A_TIME: usize = 1 << 20;

/// How many transactions a commit group has. A commit id is written only where there is someone to share it with.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum GroupSize {
    /// One.
    Single,
    /// More than one.
    Several,
}

/// Where a transaction was placed.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct PlacedGroup {
    /// Where its Gtid event starts.
    pub start: LogPosition,
    /// Where its last event ends: its version.
    pub end: LogPosition,
}

/// One write to the log: the event groups of one or more transactions, with their places.
///
/// It is made to be used again: [`CommitGroup::begin`] empties it and keeps its memory.
#[derive(Debug, Default)]
pub struct CommitGroup {
    start: LogPosition,
    commit_id: Option<CommitId>,
    length: u64,
    copied: Vec<u8>,
    pieces: Vec<Piece>,
    placed: Vec<(Gtid, u64)>,
    /// What it changes in the replica's state, in order.
    moves: Vec<ReplicaRecord>,
}

/// A part of the write.
#[derive(Debug)]
enum Piece {
    /// These bytes of `copied`.
    Copied(Range<usize>),
    /// A long event group, one of ours without its Gtid event.
    Long(Vec<u8>),
    /// One that is in a file.
    Spilled(SpilledBytes),
}

impl CommitGroup {
    /// An empty one.
    pub fn new() -> Self {
        Self::default()
    }

    /// Starts a group whose first event will stand at `start`, which [`crate::Log::reserve`] has given.
    pub fn begin(&mut self, start: LogPosition, size: GroupSize) {
        self.start = start;
        self.commit_id = match size {
            GroupSize::Single => None,
            GroupSize::Several => Some(CommitId::of_group_at(start)),
        };
        self.length = 0;
        self.copied.clear();
        self.pieces.clear();
        self.placed.clear();
        self.moves.clear();
    }

    /// Places a record about the replica's state behind what is there.
    pub fn add_replica_record(
        &mut self,
        timestamp: u32,
        server_id: ServerId,
        record: ReplicaRecord,
    ) -> PlacedGroup {
        let bytes = record.encode();
        let placed = self.add_record(timestamp, server_id, &IgnorableEvent::Replica(&bytes));
        self.moves.push(record);
        placed
    }

    /// Places one of Paceline's own records, which belongs to no transaction, behind what is there.
    pub fn add_record(
        &mut self,
        timestamp: u32,
        server_id: ServerId,
        record: &IgnorableEvent<'_>,
    ) -> PlacedGroup {
        let start = self.end();
        let from = self.copied.len();
        let stamp = EventStamp {
            timestamp,
            server_id,
            flags: EventFlags::IGNORABLE,
        };
        encode_event(&mut self.copied, &stamp, start.offset(), record);
        self.push_copied(from..self.copied.len());
        self.length += (self.copied.len() - from) as u64;
        PlacedGroup {
            start,
            end: self.end(),
        }
    }

    /// Places one transaction behind those before it, under this GTID. What the session encoded is patched; a long buffer
    /// is moved out of `buffer`, a short one is copied.
    pub fn add(&mut self, buffer: &mut EventGroupBuffer, gtid: Gtid) -> PlacedGroup {
        let start = self.end();
        if self.length > 0 {
            // What stands behind others in a write must tell where the write begins.
            self.commit_id.get_or_insert(CommitId::of_group_at(self.start));
        }
        // MariaDB sets this flag in every Gtid event.
        let flags = buffer
            .options()
            .event_flags
            .with(buffer.gtid_event_flags())
            .with(EventFlags::SUPPRESS_USE);
        if flags.contains(EventFlags::REPLICATED) {
            self.note_replicated(gtid);
        }
        let stamp = EventStamp {
            timestamp: buffer.timestamp(),
            server_id: gtid.server_id,
            flags,
        };
        let event = GtidEvent {
            gtid,
            flags: buffer
                .gtid_flags()
                .without(GtidFlags::PREPARED_XA)
                .without(GtidFlags::COMPLETED_XA),
            commit_id: self.commit_id,
            xa: None,
            extra: buffer.gtid_extra(),
        };
        let copied_from = self.copied.len();
        encode_event(&mut self.copied, &stamp, start.offset(), &event);
        let base = start.offset() + (self.copied.len() - copied_from) as u64;
        let length = buffer.bytes.len();
        if length <= COPIED_LENGTH_MAX {
            let at = self.copied.len();
            self.copied.extend_from_slice(&buffer.bytes);
            place(&mut self.copied[at..], &buffer.events, base);
            self.push_copied(copied_from..self.copied.len());
        } else {
            self.push_copied(copied_from..self.copied.len());
            place(&mut buffer.bytes, &buffer.events, base);
            self.pieces.push(Piece::Long(std::mem::take(&mut buffer.bytes)));
        }
        let end = LogPosition::new(start.ordinal(), base + length as u64);
        self.length = end.offset() - self.start.offset();
        self.placed.push((gtid, start.offset()));
        PlacedGroup { start, end }
    }

    /// Places an event group that another server has logged behind what is there, byte for byte: only the end position in each
    /// header, and the checksum with it, are those of the new place. Its Gtid event keeps the commit id that its own server gave it,
    /// so this is for logs with [`SyncMode::Deferred`](crate::log::SyncMode::Deferred), whose recovery does not ask for it.
    ///
    /// # Errors
    /// A group that is in a file is changed there, and that may fail. The group must not be written then.
    pub fn add_received(&mut self, group: EventGroup) -> Result<PlacedGroup> {
        let start = self.end();
        let gtid = group.gtid();
        if let Some(first) = group.events().next()
            && first.header().flags.contains(EventFlags::REPLICATED)
        {
            self.note_replicated(gtid);
        }
        let length = match group.into_bytes() {
            Bytes::Memory(mut bytes) => {
                place_received(&mut bytes, start.offset());
                let length = bytes.len();
                if length <= COPIED_LENGTH_MAX {
                    let copied_from = self.copied.len();
                    self.copied.extend_from_slice(&bytes);
                    self.push_copied(copied_from..self.copied.len());
                } else {
                    self.pieces.push(Piece::Long(bytes));
                }
                length
            }
            Bytes::File(file) => {
                let bytes = place_spilled(file, start.offset())?;
                let length = bytes.len();
                self.pieces.push(Piece::Spilled(bytes));
                length
            }
        };
        let end = start.advanced_by(length as u64);
        self.length = end.offset() - self.start.offset();
        self.placed.push((gtid, start.offset()));
        Ok(PlacedGroup { start, end })
    }

    /// Empties it, and gives back what long groups have taken.
    pub fn clear(&mut self) {
        self.begin(self.start, GroupSize::Single);
    }

    fn note_replicated(&mut self, gtid: Gtid) {
        match self.moves.last_mut() {
            Some(ReplicaRecord {
                gtids: GtidMove::To(gtids),
                ..
            }) => match gtids.iter_mut().find(|known| known.domain_id == gtid.domain_id) {
                Some(known) => *known = gtid,
                None => gtids.push(gtid),
            },
            _ => self.moves.push(ReplicaRecord::of_gtids(GtidMove::To(vec![gtid]))),
        }
    }

    /// What it changes in the replica's state, in order.
    pub fn replica_moves(&self) -> &[ReplicaRecord] {
        &self.moves
    }

    fn push_copied(&mut self, range: Range<usize>) {
        match self.pieces.last_mut() {
            Some(Piece::Copied(last)) if last.end == range.start => last.end = range.end,
            _ => self.pieces.push(Piece::Copied(range)),
        }
    }

    /// Where the group starts.
    pub fn start(&self) -> LogPosition {
        self.start
    }

    /// Where the group ends.
    pub fn end(&self) -> LogPosition {
        self.start.advanced_by(self.length)
    }

    /// Whether nothing was added.
    pub fn is_empty(&self) -> bool {
        self.length == 0
    }

    /// The transactions and where each starts in the file, in order.
    pub fn transactions(&self) -> impl ExactSizeIterator<Item = (Gtid, u64)> + '_ {
        self.placed.iter().copied()
    }

    /// The bytes to write, in order.
    pub fn slices(&self) -> impl Iterator<Item = IoSlice<'_>> + '_ {
        self.pieces.iter().map(|piece| match piece {
            Piece::Copied(range) => IoSlice::new(&self.copied[range.clone()]),
            Piece::Long(bytes) => IoSlice::new(bytes),
            Piece::Spilled(bytes) => IoSlice::new(bytes),
        })
    }

    /// How many bytes one of Paceline's own records takes beyond its content.
    pub const RECORD_OVERHEAD: u64 = 32;

    /// How many bytes a transaction takes at most beyond what its session encoded: its Gtid event.
    pub const GTID_EVENT_LENGTH_MAX: u64 = 64;
}

/// Gives whole events, which are to stand at `start`, their end positions.
fn place_received(events: &mut [u8], start: u64) {
    let mut at = 0;
    while let Some(length) = event_length(&events[at..]) {
        let end = at + length;
        replace(&mut events[at..end], end_position(start, end as u64));
        at = end;
    }
}

/// The same for events in a file, some of them at a time.
fn place_spilled(mut file: Arc<SpillFile>, start: u64) -> Result<SpilledBytes> {
    let io = |source| Error::Io {
        operation: "write",
        path: "a large transaction's temporary file".into(),
        source,
    };
    let shared = || io(std::io::Error::other("somebody else has it, too"));
    let file = Arc::get_mut(&mut file).ok_or_else(shared)?;
    let total = file.length() as usize;
    let mut at = 0;
    while at < total {
        let rest = file.bytes(at as u64, total - at);
        let mut length = 0;
        while length < PLACED_AT_A_TIME
            && let Some(event) = event_length(&rest[length..])
        {
            length += event;
        }
        let mut events = rest[..length].to_vec();
        place_received(&mut events, start + at as u64);
        file.overwrite(at as u64, &events).map_err(io)?;
        at += length;
    }
    Ok(file.share(0, total))
}

/// Gives an event that has an end position another one. What was damaged since its checksum was made stays damaged.
fn replace(event: &mut [u8], end: u32) {
    let after = event.len() - END_POSITION_OFFSET - 4 - CHECKSUM_LENGTH;
    let field = &mut event[END_POSITION_OFFSET..END_POSITION_OFFSET + 4];
    let before = u32::from_le_bytes([field[0], field[1], field[2], field[3]]);
    field.copy_from_slice(&end.to_le_bytes());
    let shift = Shift::for_bytes_after(after).apply(before ^ end);
    let checksum = event
        .last_chunk_mut::<CHECKSUM_LENGTH>()
        .expect("an event in a group has a checksum");
    *checksum = (u32::from_le_bytes(*checksum) ^ shift).to_le_bytes();
}
