//! Reading the log.

use crate::error::Result;
use crate::event::{FormatDescription, RawEvent};
use crate::group::EventGroup;
use paceline_types::LogPosition;

/// An event and its place.
#[derive(Clone, Copy, Debug)]
pub struct LoggedEvent<'a> {
    /// Where it starts.
    pub start: LogPosition,
    /// Where it ends.
    pub end: LogPosition,
    /// The event, checked.
    pub event: RawEvent<'a>,
}

/// Reads events or event groups in order, across files, up to a limit.
#[derive(Debug)]
pub struct LogReader {
    position: LogPosition,
    limit: LogPosition,
    format: FormatDescription,
}

impl LogReader {
    /// The next event of any kind, or `None` at the limit.
    ///
    /// # Errors
    /// [`crate::Error::Damaged`] with file and offset.
    pub fn next_event(&mut self) -> Result<Option<LoggedEvent<'_>>> {
        todo!()
    }

    /// The next whole event group, or `None` at the limit. Events that belong to the log itself are stepped over.
    ///
    /// # Errors
    /// As for [`Self::next_event`].
    pub fn next_group(&mut self) -> Result<Option<EventGroup>> {
        todo!()
    }

    /// Where the next event starts.
    pub fn position(&self) -> LogPosition {
        self.position
    }

    /// Where the reader stops for now.
    pub fn limit(&self) -> LogPosition {
        self.limit
    }

    /// Lets it read further (or less far). It must not be past what is written; who sends to replicas keeps it at what is
    /// durable.
    pub fn set_limit(&mut self, limit: LogPosition) {
        self.limit = limit;
    }

    /// The Format_description of the file that it is in.
    pub fn format(&self) -> &FormatDescription {
        &self.format
    }
}
