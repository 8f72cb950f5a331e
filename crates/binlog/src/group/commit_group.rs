//! One write to the log: the transactions of a commit group, as its leader assembles them.

use super::buffer::{EventGroupBuffer, place};
use super::event_group::{Bytes, EventGroup, event_length};
use crate::checksum::Shift;
use crate::epoch::EpochMark;
use crate::error::{Error, Result};
use crate::event::{
    CHECKSUM_LENGTH, CommitId, END_POSITION_OFFSET, EventFlags, EventStamp, GtidEvent, GtidFlags,
    IgnorableEvent, encode_event, end_position,
};
use crate::gtid::LOCAL_DOMAIN;
use crate::replica_state::{PositionChange, ReplicaRecord};
use paceline_spill_file::{SpillFile, SpilledBytes};
use paceline_types::{Gtid, LogPosition, ServerId};
use std::io::IoSlice;
use std::ops::Range;
use std::sync::Arc;

/// Maximum length of an event group that is copied next to its neighbours, in bytes. A longer one is written from the
/// session's buffer.
const COPIED_LENGTH_MAX: usize = 64 * 1024;

/// Number of bytes in a file whose positions are set at a time; more if a single event is longer.
const PLACED_AT_A_TIME: usize = 1 << 20;

/// Number of transactions in a commit group. A commit id is written only if several transactions share it.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum GroupSize {
    /// One.
    Single,
    /// More than one.
    Several,
}

/// Position of a transaction in the log.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct GroupPosition {
    /// Start of its Gtid event.
    pub start: LogPosition,
    /// End of its last event, which is the transaction's version.
    pub end: LogPosition,
}

/// One write to the log: the event groups of one or more transactions, with their positions.
///
/// It is meant to be reused: [`CommitGroup::begin`] empties it and keeps its memory.
#[derive(Debug, Default)]
pub struct CommitGroup {
    start: LogPosition,
    commit_id: Option<CommitId>,
    length: u64,
    copied: Vec<u8>,
    pieces: Vec<Piece>,
    placed: Vec<(Gtid, u64)>,
    /// Changes of the replica's state, in order.
    moves: Vec<ReplicaRecord>,
    /// Starts of epochs, each with the number of its transaction in `placed`.
    epoch_starts: Vec<(usize, EpochMark)>,
}

/// Part of the write.
#[derive(Debug)]
enum Piece {
    /// A range of `copied`.
    Copied(Range<usize>),
    /// A long event group, without the Gtid event if it is one of this server.
    Long(Vec<u8>),
    /// An event group in a file.
    Spilled(SpilledBytes),
}

/// Capacity up to which the buffer of copied bytes serves the next group, in bytes.
const COPIED_BYTES_KEPT: usize = 4 << 20;

impl CommitGroup {
    /// Creates an empty group.
    pub fn new() -> Self {
        Self::default()
    }

    /// Begins a group whose first event will be at `start`, which [`crate::Log::reserve`] has returned.
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
        self.epoch_starts.clear();
    }

    /// Frees the bytes of a group that has been written, except a buffer of the usual size for the next one. Only
    /// positions may be asked for afterwards.
    pub fn free_written(&mut self) {
        self.pieces.clear();
        if self.copied.capacity() > COPIED_BYTES_KEPT {
            self.copied = Vec::new();
        }
    }

    /// Appends a record about the replica's state.
    pub fn add_replica_record(
        &mut self,
        timestamp: u32,
        server_id: ServerId,
        record: ReplicaRecord,
    ) -> GroupPosition {
        let bytes = record.encode();
        let placed = self.add_record(timestamp, server_id, &IgnorableEvent::Replica(&bytes));
        self.moves.push(record);
        placed
    }

    /// Appends a record of Paceline, which belongs to no transaction.
    pub fn add_record(
        &mut self,
        timestamp: u32,
        server_id: ServerId,
        record: &IgnorableEvent<'_>,
    ) -> GroupPosition {
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
        GroupPosition {
            start,
            end: self.end(),
        }
    }

    /// Appends one transaction under this GTID. Patches the events that the session has encoded. A long buffer is
    /// moved out of `buffer`, a short one is copied.
    pub fn add(&mut self, buffer: &mut EventGroupBuffer, gtid: Gtid) -> GroupPosition {
        let start = self.end();
        if self.length > 0 {
            // A transaction that is not the first of its write must state where the write begins.
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
        if buffer.gtid_flags().contains(GtidFlags::STANDALONE) {
            self.note_epoch(gtid, buffer.epoch_mark());
        }
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
        GroupPosition { start, end }
    }

    /// Appends an event group that another server has logged, byte for byte: only the end position in each header,
    /// and with it the checksum, are changed. The Gtid event keeps its original commit id, so this is only for logs
    /// with [`SyncMode::Deferred`](crate::log::SyncMode::Deferred), whose recovery does not use commit ids.
    ///
    /// # Errors
    /// A group in a file is changed there, which can fail. The group must not be written then.
    pub fn add_received(&mut self, group: EventGroup) -> Result<GroupPosition> {
        let start = self.end();
        let gtid = group.gtid();
        if let Some(first) = group.events().next()
            && first.header().flags.contains(EventFlags::REPLICATED)
        {
            self.note_replicated(gtid);
        }
        self.note_epoch(gtid, group.epoch_mark());
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
        Ok(GroupPosition { start, end })
    }

    /// Empties the group and frees the memory of long event groups.
    pub fn clear(&mut self) {
        self.begin(self.start, GroupSize::Single);
    }

    fn note_replicated(&mut self, gtid: Gtid) {
        match self.moves.last_mut() {
            Some(ReplicaRecord {
                gtids: PositionChange::To(gtids),
                ..
            }) => match gtids.iter_mut().find(|known| known.domain_id == gtid.domain_id) {
                Some(known) => *known = gtid,
                None => gtids.push(gtid),
            },
            _ => self
                .moves
                .push(ReplicaRecord::of_gtids(PositionChange::To(vec![gtid]))),
        }
    }

    /// Notes what the transaction that is added next starts. One that is logged for this server only starts nothing.
    fn note_epoch(&mut self, gtid: Gtid, mark: Option<EpochMark>) {
        let mark = mark.filter(|_| gtid.domain_id != LOCAL_DOMAIN);
        self.epoch_starts
            .extend(mark.map(|mark| (self.placed.len(), mark)));
    }

    /// Returns the starts of epochs, in order, each with the number of its transaction.
    pub(crate) fn epoch_starts(&self) -> &[(usize, EpochMark)] {
        &self.epoch_starts
    }

    /// Returns the changes of the replica's state, in order.
    pub fn replica_moves(&self) -> &[ReplicaRecord] {
        &self.moves
    }

    fn push_copied(&mut self, range: Range<usize>) {
        match self.pieces.last_mut() {
            Some(Piece::Copied(last)) if last.end == range.start => last.end = range.end,
            _ => self.pieces.push(Piece::Copied(range)),
        }
    }

    /// Returns where the group starts.
    pub fn start(&self) -> LogPosition {
        self.start
    }

    /// Returns where the group ends.
    pub fn end(&self) -> LogPosition {
        self.start.advanced_by(self.length)
    }

    /// Returns whether nothing was added.
    pub fn is_empty(&self) -> bool {
        self.length == 0
    }

    /// Returns the transactions in order, each with its start in the file.
    pub fn transactions(&self) -> impl ExactSizeIterator<Item = (Gtid, u64)> + '_ {
        self.placed.iter().copied()
    }

    /// Returns the bytes to write, in order.
    pub fn slices(&self) -> impl Iterator<Item = IoSlice<'_>> + '_ {
        self.pieces.iter().map(|piece| match piece {
            Piece::Copied(range) => IoSlice::new(&self.copied[range.clone()]),
            Piece::Long(bytes) => IoSlice::new(bytes),
            Piece::Spilled(bytes) => IoSlice::new(bytes),
        })
    }

    /// Length of a record of Paceline beyond its content, in bytes; an upper bound.
    pub const RECORD_OVERHEAD: u64 = 32;

    /// Length that a transaction adds to what its session has encoded, in bytes: its Gtid event. An upper bound.
    pub const GTID_EVENT_LENGTH_MAX: u64 = 64;
}

/// Sets the end positions of whole events, the first of which will be at `start`.
fn place_received(events: &mut [u8], start: u64) {
    let mut at = 0;
    while let Some(length) = event_length(&events[at..]) {
        let end = at + length;
        replace_end_position(&mut events[at..end], end_position(start, end as u64));
        at = end;
    }
}

/// Sets the end positions of events in a file, part by part.
fn place_spilled(mut file: Arc<SpillFile>, start: u64) -> Result<SpilledBytes> {
    let io = |source| Error::Io {
        operation: "write",
        path: "a large transaction's temporary file".into(),
        source,
    };
    let shared = || io(std::io::Error::other("it is shared"));
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

/// Replaces the end position of an event. An event that was damaged after its checksum was computed stays invalid.
fn replace_end_position(event: &mut [u8], end: u32) {
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
