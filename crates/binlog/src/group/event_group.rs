//! One transaction as a reader gets it.

use crate::error::{Error, Result};
use crate::event::{Event, EventType, FormatDescription, GtidEvent, RawEvent};
use paceline_types::{Gtid, LogPosition};

/// An event group: a Gtid event and what belongs to it, whole and checked, with its place in the log it was read from.
#[derive(Clone, Debug)]
pub struct EventGroup {
    start: LogPosition,
    bytes: Vec<u8>,
    /// Where each event ends in `bytes`.
    ends: Vec<usize>,
    gtid: Gtid,
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
            bytes: event.bytes().to_vec(),
            ends: vec![event.bytes().len()],
            gtid,
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
        self.bytes.extend_from_slice(event.bytes());
        self.ends.push(self.bytes.len());
    }

    /// The transaction's id.
    pub fn gtid(&self) -> Gtid {
        self.gtid
    }

    /// Where the Gtid event starts.
    pub fn start(&self) -> LogPosition {
        self.start
    }

    /// Where the last event ends: the transaction's version.
    pub fn end(&self) -> LogPosition {
        self.start.advanced_by(self.bytes.len() as u64)
    }

    /// All events as they stand in the file.
    pub fn bytes(&self) -> &[u8] {
        &self.bytes
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
        let event = RawEvent::trusted(&self.bytes[..self.ends[0]]).ok_or(Error::Malformed {
            event: "Gtid",
            problem: "it is too short",
        })?;
        GtidEvent::decode(event.body(), event.header().server_id)
    }

    /// The events, the Gtid event first.
    pub fn events(&self) -> impl Iterator<Item = RawEvent<'_>> + '_ {
        let starts = std::iter::once(0).chain(self.ends.iter().copied());
        starts
            .zip(&self.ends)
            .filter_map(|(start, end)| RawEvent::trusted(&self.bytes[start..*end]))
    }

    /// The events behind the Gtid event, decoded.
    pub fn decoded<'a>(
        &'a self,
        format: &'a FormatDescription,
    ) -> impl Iterator<Item = Result<Event<'a>>> + 'a {
        self.events().skip(1).map(move |event| event.decode(format))
    }
}
