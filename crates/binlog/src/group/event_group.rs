//! One transaction as a reader returns it. A large one is kept in a file instead of memory. Where each event ends is
//! known only from its header: a gigabyte of short events has twenty million of them.

use crate::epoch::EpochMark;
use crate::error::{Error, Result};
use crate::event::{
    Event, EventHeader, EventType, FormatDescription, GtidEvent, GtidFlags, HEADER_LENGTH, RawEvent,
};
use paceline_spill_file::SpillFile;
use paceline_types::{Gtid, LogPosition};
use std::path::Path;
use std::sync::Arc;

/// Length from which a group's events are kept in a file, if the reader allows this ([`EventGroup::spill_in`]).
pub const LARGE_GROUP_BYTES: u64 = 64 << 20;

/// Initial capacity of a group in memory, in bytes.
const GROUP_ROOM: usize = 512;

/// An event group: a Gtid event and the events that belong to it, complete and checked, with its position in the log.
#[derive(Clone, Debug)]
pub struct EventGroup {
    start: LogPosition,
    bytes: Bytes,
    /// Length of the Gtid event.
    head_length: usize,
    event_count: usize,
    gtid: Gtid,
    /// Where the events may be moved to a file.
    spill: Option<SpillTarget>,
}

/// Directory for a group's file, and the length from which it is used.
#[derive(Clone, Debug)]
struct SpillTarget {
    directory: Arc<Path>,
    from_bytes: u64,
}

/// The bytes of the events.
#[derive(Clone, Debug)]
pub(super) enum Bytes {
    Memory(Vec<u8>),
    File(Arc<SpillFile>),
}

impl Bytes {
    fn all(&self) -> &[u8] {
        match self {
            Bytes::Memory(bytes) => bytes,
            Bytes::File(file) => file.bytes(0, file.length() as usize),
        }
    }

    fn push(&mut self, more: &[u8]) {
        if let Bytes::File(file) = self {
            let appended = match Arc::get_mut(file) {
                Some(file) => file.append(more),
                None => Err(std::io::Error::other("it is shared")),
            };
            match appended {
                Ok(()) => return,
                Err(error) => tracing::warn!("a large transaction goes on in memory: {error}"),
            }
            *self = Bytes::Memory(self.all().to_vec());
        }
        if let Bytes::Memory(bytes) = self {
            bytes.extend_from_slice(more);
        }
    }
}

/// Returns the first bytes of a group, with capacity for more: most groups contain a single row.
fn with_capacity(bytes: &[u8]) -> Vec<u8> {
    let mut group = Vec::with_capacity(bytes.len().max(GROUP_ROOM));
    group.extend_from_slice(bytes);
    group
}

impl EventGroup {
    /// Starts a group with its Gtid event, which is at `start`.
    ///
    /// # Errors
    /// [`Error::Malformed`] if the event is not a Gtid event.
    pub fn begin(start: LogPosition, event: &RawEvent<'_>) -> Result<Self> {
        if event.event_type() != EventType::GTID {
            return Err(Error::Malformed {
                event: event.event_type().name(),
                problem: "no event group begins with it",
            });
        }
        let gtid = GtidEvent::decode(event.body(), event.header().server_id)?.gtid;
        Ok(Self {
            start,
            bytes: Bytes::Memory(with_capacity(event.bytes())),
            head_length: event.bytes().len(),
            event_count: 1,
            gtid,
            spill: None,
        })
    }

    /// Creates a group from whole events from elsewhere (checked by [`RawEvent::new`]), the Gtid event first. `start`
    /// is their position in the log that they came from; [`LogPosition::ZERO`] if that has no meaning.
    ///
    /// # Errors
    /// [`Error::Malformed`] if there is no event, or the first one is not a Gtid event.
    pub fn from_events<'e>(
        start: LogPosition,
        events: impl IntoIterator<Item = RawEvent<'e>>,
    ) -> Result<Self> {
        let mut events = events.into_iter();
        let first = events.next().ok_or(Error::Malformed {
            event: "Gtid",
            problem: "it is missing",
        })?;
        let mut group = Self::begin(start, &first)?;
        events.for_each(|event| group.push(&event));
        Ok(group)
    }

    /// Adds the next event, which must be complete and checked.
    pub fn push(&mut self, event: &RawEvent<'_>) {
        self.bytes.push(event.bytes());
        self.event_count += 1;
        if let (Some(spill), Bytes::Memory(bytes)) = (&self.spill, &self.bytes)
            && bytes.len() as u64 > spill.from_bytes
        {
            self.spill();
        }
    }

    /// Allows the group to move its events to a temporary file in `directory` when they are longer than `from_bytes`.
    /// If that is not possible they stay in memory.
    pub fn spill_in(&mut self, directory: Arc<Path>, from_bytes: u64) {
        self.spill = Some(SpillTarget {
            directory,
            from_bytes,
        });
    }

    /// Uses the same directory and length as the other group.
    pub fn spill_like(&mut self, other: &EventGroup) {
        self.spill.clone_from(&other.spill);
    }

    /// Moves the events to a file, if that is allowed. This is tried only once.
    fn spill(&mut self) {
        let Some(SpillTarget { directory, .. }) = self.spill.clone() else {
            return;
        };
        let spilled = SpillFile::create_in(&directory).and_then(|mut file| {
            file.append(self.bytes.all())?;
            Ok(file)
        });
        match spilled {
            Ok(file) => self.bytes = Bytes::File(Arc::new(file)),
            Err(error) => {
                self.spill = None;
                tracing::warn!(
                    "a large transaction stays in memory, as there is no file for it in '{}': {error}",
                    directory.display()
                );
            }
        }
    }

    /// Returns the number of bytes in memory: 0 if they are in a file.
    pub fn memory_bytes(&self) -> usize {
        match &self.bytes {
            Bytes::Memory(bytes) => bytes.len(),
            Bytes::File(_) => 0,
        }
    }

    /// Returns the transaction's GTID.
    pub fn gtid(&self) -> Gtid {
        self.gtid
    }

    /// Returns the bytes of the events.
    pub(super) fn into_bytes(self) -> Bytes {
        self.bytes
    }

    /// Returns where the Gtid event starts.
    pub fn start(&self) -> LogPosition {
        self.start
    }

    /// Returns where the last event ends: the transaction's version.
    pub fn end(&self) -> LogPosition {
        self.start.advanced_by(self.bytes().len() as u64)
    }

    /// Returns the bytes of all events, as in the log.
    pub fn bytes(&self) -> &[u8] {
        self.bytes.all()
    }

    /// Returns the number of events, including the Gtid event.
    pub fn event_count(&self) -> usize {
        self.event_count
    }

    /// Returns the decoded Gtid event.
    ///
    /// # Errors
    /// None if the group comes from a reader, which has decoded the event before.
    pub fn gtid_event(&self) -> Result<GtidEvent<'_>> {
        let event = RawEvent::trusted(&self.bytes()[..self.head_length]).ok_or(Error::Malformed {
            event: "Gtid",
            problem: "it is too short",
        })?;
        GtidEvent::decode(event.body(), event.header().server_id)
    }

    /// Returns the epoch that the group starts; `None` for a group of any other kind. Looks only at groups of one
    /// statement without rows.
    pub fn epoch_mark(&self) -> Option<EpochMark> {
        if self.event_count != 2 {
            return None;
        }
        let flags = self.gtid_event().ok()?.flags;
        let event = self.events().nth(1)?;
        match flags.contains(GtidFlags::STANDALONE) {
            true => EpochMark::of_event(event.event_type(), event.body()),
            false => None,
        }
    }

    /// Returns the events, the Gtid event first.
    pub fn events(&self) -> impl Iterator<Item = RawEvent<'_>> + Clone + '_ {
        let mut rest = self.bytes();
        std::iter::from_fn(move || {
            let (event, behind) = rest.split_at_checked(event_length(rest)?)?;
            rest = behind;
            RawEvent::trusted(event)
        })
    }

    /// Returns the events after the Gtid event, decoded.
    pub fn decoded<'a>(
        &'a self,
        format: &'a FormatDescription,
    ) -> impl Iterator<Item = Result<Event<'a>>> + 'a {
        self.events().skip(1).map(move |event| event.decode(format))
    }
}

/// Returns the length of the event at the beginning of `bytes`, from its header; `None` if there is no event.
pub(super) fn event_length(bytes: &[u8]) -> Option<usize> {
    let length = EventHeader::decode(bytes)?.length as usize;
    (length >= HEADER_LENGTH).then_some(length)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::event::{ChecksumAlgorithm, EventFlags, EventStamp, XidEvent, encode_event};
    use paceline_types::ServerId;

    const STAMP: EventStamp = EventStamp {
        timestamp: 1,
        server_id: ServerId(1),
        flags: EventFlags::NONE,
    };

    #[test]
    fn a_group_in_a_file_equals_one_in_memory() {
        let directory = tempfile::tempdir().unwrap();
        let mut bytes = Vec::new();
        let gtid = "0-1-7".parse().unwrap();
        encode_event(&mut bytes, &STAMP, 0, &GtidEvent::new(gtid, GtidFlags::NONE));
        let first = RawEvent::new(&bytes, ChecksumAlgorithm::Crc32).unwrap();
        let mut group = EventGroup::begin(LogPosition::new(1, 100), &first).unwrap();
        group.spill_in(directory.path().into(), 100);
        assert!(group.memory_bytes() > 0);
        let mut copies = Vec::new();
        for xid in 0..20 {
            let mut bytes = Vec::new();
            encode_event(&mut bytes, &STAMP, 0, &XidEvent { xid });
            group.push(&RawEvent::new(&bytes, ChecksumAlgorithm::Crc32).unwrap());
            if xid == 10 {
                // Adding to a copy does not change the original.
                copies.push(group.clone());
            }
        }
        assert_eq!((group.event_count(), copies[0].event_count()), (21, 12));
        let xids =
            |group: &EventGroup| -> Vec<u8> { group.events().skip(1).map(|event| event.body()[0]).collect() };
        assert_eq!(xids(&group), (0..20).collect::<Vec<u8>>());
        assert_eq!(xids(&copies[0]), (0..11).collect::<Vec<u8>>());
        assert_eq!(group.gtid_event().unwrap().gtid, gtid);
        assert_eq!(group.end(), group.start().advanced_by(group.bytes().len() as u64));
        assert_eq!(group.memory_bytes(), 0);
        assert!(copies[0].memory_bytes() == 0);

        // Without a usable directory they stay in memory.
        let mut group = EventGroup::begin(LogPosition::new(1, 100), &first).unwrap();
        group.spill_in(Path::new("/nowhere").into(), 1);
        group.push(&first);
        assert_eq!((group.event_count(), group.memory_bytes()), (2, 2 * bytes.len()));
    }
}
