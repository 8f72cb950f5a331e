//! One transaction as a reader gets it. A large one is kept in a file and not in memory; where each event ends is told by its header, and kept
//! nowhere else: a gigabyte of short events has twenty million of them.

use crate::error::{Error, Result};
use crate::event::{Event, EventHeader, EventType, FormatDescription, GtidEvent, HEADER_LENGTH, RawEvent};
use crate::spill_file::SpillFile;
use paceline_types::{Gtid, LogPosition};
use std::path::Path;
use std::sync::Arc;

/// From so many bytes on a group's events are kept in a file, where its reader has said which ([`EventGroup::spill_in`]).
pub const LARGE_GROUP_BYTES: u64 = 64 << 20;

/// So many bytes a group in memory has room for from the start.
const GROUP_ROOM: usize = 512;

/// An event group: a Gtid event and what belongs to it, whole and checked, with its place in the log it was read from.
#[derive(Clone, Debug)]
pub struct EventGroup {
    start: LogPosition,
    bytes: Bytes,
    /// How long the Gtid event is.
    head_length: usize,
    event_count: usize,
    gtid: Gtid,
    /// Where there may be a file for it.
    spill: Option<Spill>,
}

/// Where a group's events go, from so many bytes on.
#[derive(Clone, Debug)]
struct Spill {
    directory: Arc<Path>,
    from_bytes: u64,
}

/// The events' bytes, where they are.
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
                None => Err(std::io::Error::other("somebody else has it, too")),
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

/// A group's first bytes, with room for more: most groups are one row's.
fn with_room(bytes: &[u8]) -> Vec<u8> {
    let mut room = Vec::with_capacity(bytes.len().max(GROUP_ROOM));
    room.extend_from_slice(bytes);
    room
}

impl EventGroup {
    /// Starts a group with its Gtid event, which stands at `start`.
    ///
    /// # Errors
    /// [`Error::Malformed`] if it is none.
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
            bytes: Bytes::Memory(with_room(event.bytes())),
            head_length: event.bytes().len(),
            event_count: 1,
            gtid,
            spill: None,
        })
    }

    /// Puts a group together from whole events that came from elsewhere (checked by [`RawEvent::new`]), the Gtid event
    /// first. `start` is where they stand in the log that they came from; with a place that means nothing there,
    /// [`LogPosition::ZERO`].
    ///
    /// # Errors
    /// [`Error::Malformed`] if the first one is no Gtid event, or there is none.
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

    /// Adds the next event, whole and checked.
    pub fn push(&mut self, event: &RawEvent<'_>) {
        self.bytes.push(event.bytes());
        self.event_count += 1;
        if let (Some(spill), Bytes::Memory(bytes)) = (&self.spill, &self.bytes)
            && bytes.len() as u64 > spill.from_bytes
        {
            self.spill();
        }
    }

    /// From so many bytes on, events go to a temporary file in that directory. Where that is not possible they stay in memory.
    pub fn spill_in(&mut self, directory: Arc<Path>, from_bytes: u64) {
        self.spill = Some(Spill {
            directory,
            from_bytes,
        });
    }

    /// Its events go where those of the other one do.
    pub fn spill_like(&mut self, other: &EventGroup) {
        self.spill.clone_from(&other.spill);
    }

    /// Goes on in a file, if there may be one. It is tried once.
    fn spill(&mut self) {
        let Some(Spill { directory, .. }) = self.spill.clone() else {
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

    /// How many bytes of events are in memory: none, if they are in a file.
    pub fn memory_bytes(&self) -> usize {
        match &self.bytes {
            Bytes::Memory(bytes) => bytes.len(),
            Bytes::File(_) => 0,
        }
    }

    /// The transaction's id.
    pub fn gtid(&self) -> Gtid {
        self.gtid
    }

    /// The events' bytes.
    pub(super) fn into_bytes(self) -> Bytes {
        self.bytes
    }

    /// Where the Gtid event starts.
    pub fn start(&self) -> LogPosition {
        self.start
    }

    /// Where the last event ends: the transaction's version.
    pub fn end(&self) -> LogPosition {
        self.start.advanced_by(self.bytes().len() as u64)
    }

    /// All events as they stand in the file.
    pub fn bytes(&self) -> &[u8] {
        self.bytes.all()
    }

    /// How many events there are, the Gtid event among them.
    pub fn event_count(&self) -> usize {
        self.event_count
    }

    /// The Gtid event.
    ///
    /// # Errors
    /// None in a group that a reader has given: it was decoded before.
    pub fn gtid_event(&self) -> Result<GtidEvent<'_>> {
        let event = RawEvent::trusted(&self.bytes()[..self.head_length]).ok_or(Error::Malformed {
            event: "Gtid",
            problem: "it is too short",
        })?;
        GtidEvent::decode(event.body(), event.header().server_id)
    }

    /// The events, the Gtid event first.
    pub fn events(&self) -> impl Iterator<Item = RawEvent<'_>> + Clone + '_ {
        let mut rest = self.bytes();
        std::iter::from_fn(move || {
            let (event, behind) = rest.split_at_checked(event_length(rest)?)?;
            rest = behind;
            RawEvent::trusted(event)
        })
    }

    /// The events behind the Gtid event, decoded.
    pub fn decoded<'a>(
        &'a self,
        format: &'a FormatDescription,
    ) -> impl Iterator<Item = Result<Event<'a>>> + 'a {
        self.events().skip(1).map(move |event| event.decode(format))
    }
}

/// The length of the event that the bytes begin with, as its header has it; `None` if there is none.
pub(super) fn event_length(bytes: &[u8]) -> Option<usize> {
    let length = EventHeader::decode(bytes)?.length as usize;
    (length >= HEADER_LENGTH).then_some(length)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::event::{ChecksumAlgorithm, EventFlags, EventStamp, GtidFlags, XidEvent, encode_event};
    use paceline_types::ServerId;

    const STAMP: EventStamp = EventStamp {
        timestamp: 1,
        server_id: ServerId(1),
        flags: EventFlags::NONE,
    };

    #[test]
    fn in_a_file_it_is_the_same() {
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
                // Who adds to a copy does not change the other.
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

        // Without a place for a file they stay in memory.
        let mut group = EventGroup::begin(LogPosition::new(1, 100), &first).unwrap();
        group.spill_in(Path::new("/nowhere").into(), 1);
        group.push(&first);
        assert_eq!((group.event_count(), group.memory_bytes()), (2, 2 * bytes.len()));
    }
}
