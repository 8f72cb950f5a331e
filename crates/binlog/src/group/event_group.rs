//! One transaction as a reader gets it. A large one is kept in a file and not in memory.

use crate::error::{Error, Result};
use crate::event::{Event, EventType, FormatDescription, GtidEvent, RawEvent};
use crate::spill_file::SpillFile;
use paceline_types::{Gtid, LogPosition};
use std::path::Path;
use std::sync::Arc;

/// From so many bytes on a group's events are kept in a file, where its reader has said which ([`EventGroup::spill_in`]).
pub const LARGE_GROUP_BYTES: u64 = 64 << 20;

/// An event group: a Gtid event and what belongs to it, whole and checked, with its place in the log it was read from.
#[derive(Clone, Debug)]
pub struct EventGroup {
    start: LogPosition,
    bytes: Bytes,
    /// Where each event ends in `bytes`.
    ends: Vec<usize>,
    gtid: Gtid,
    /// Where there may be a file for it.
    directory: Option<Arc<Path>>,
}

#[derive(Clone, Debug)]
enum Bytes {
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
            bytes: Bytes::Memory(event.bytes().to_vec()),
            ends: vec![event.bytes().len()],
            gtid,
            directory: None,
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
        self.ends.push(self.length() + event.bytes().len());
        if self.length() as u64 > LARGE_GROUP_BYTES {
            self.spill();
        }
    }

    /// From [`LARGE_GROUP_BYTES`] on, events go to a temporary file in that directory. Where that is not possible they stay in memory.
    pub fn spill_in(&mut self, directory: Arc<Path>) {
        self.directory = Some(directory);
    }

    /// Where its events go when there are many.
    pub fn spill_directory(&self) -> Option<&Arc<Path>> {
        self.directory.as_ref()
    }

    /// Goes on in a file, if there may be one. It is tried once.
    fn spill(&mut self) {
        let (Some(directory), Bytes::Memory(_)) = (self.directory.clone(), &self.bytes) else {
            return;
        };
        let spilled = SpillFile::create_in(&directory).and_then(|mut file| {
            file.append(self.bytes.all())?;
            Ok(file)
        });
        match spilled {
            Ok(file) => self.bytes = Bytes::File(Arc::new(file)),
            Err(error) => {
                self.directory = None;
                tracing::warn!(
                    "a large transaction stays in memory, as there is no file for it in '{}': {error}",
                    directory.display()
                );
            }
        }
    }

    fn length(&self) -> usize {
        self.ends.last().copied().unwrap_or(0)
    }

    /// The transaction's id.
    pub fn gtid(&self) -> Gtid {
        self.gtid
    }

    /// The events' bytes, and where each ends in them.
    pub(super) fn into_parts(self) -> (Vec<u8>, Vec<usize>) {
        let bytes = match self.bytes {
            Bytes::Memory(bytes) => bytes,
            file @ Bytes::File(_) => file.all().to_vec(),
        };
        (bytes, self.ends)
    }

    /// Where the Gtid event starts.
    pub fn start(&self) -> LogPosition {
        self.start
    }

    /// Where the last event ends: the transaction's version.
    pub fn end(&self) -> LogPosition {
        self.start.advanced_by(self.length() as u64)
    }

    /// All events as they stand in the file.
    pub fn bytes(&self) -> &[u8] {
        self.bytes.all()
    }

    /// How many events there are, the Gtid event among them.
    pub fn event_count(&self) -> usize {
        self.ends.len()
    }

    /// The Gtid event.
    ///
    /// # Errors
    /// None in a group that a reader has given: it was decoded before.
    pub fn gtid_event(&self) -> Result<GtidEvent<'_>> {
        let event = RawEvent::trusted(&self.bytes()[..self.ends[0]]).ok_or(Error::Malformed {
            event: "Gtid",
            problem: "it is too short",
        })?;
        GtidEvent::decode(event.body(), event.header().server_id)
    }

    /// The events, the Gtid event first.
    pub fn events(&self) -> impl Iterator<Item = RawEvent<'_>> + '_ {
        let starts = std::iter::once(0).chain(self.ends.iter().copied());
        let bytes = self.bytes();
        starts
            .zip(&self.ends)
            .filter_map(|(start, end)| RawEvent::trusted(&bytes[start..*end]))
    }

    /// The events behind the Gtid event, decoded.
    pub fn decoded<'a>(
        &'a self,
        format: &'a FormatDescription,
    ) -> impl Iterator<Item = Result<Event<'a>>> + 'a {
        self.events().skip(1).map(move |event| event.decode(format))
    }
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
        group.spill_in(directory.path().into());
        group.spill();
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
        group.spill_in(Path::new("/nowhere").into());
        group.spill();
        assert_eq!(group.event_count(), 21);
    }
}
