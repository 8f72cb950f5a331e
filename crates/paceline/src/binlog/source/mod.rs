//! Sources of events: log files, or a server.
//!
//! ```text
//!  EventFile   a file, standard input, or the file that a server is writing; FileLocations: location and form of files
//!  RemoteLog   a server, which is asked for its log as by a replica
//! ```

mod file;
mod input;
mod locations;
mod remote;

pub use file::EventFile;
pub use locations::FileLocations;
pub use remote::{Extent, RemoteLog, RemoteStart};

use super::error::Result;
use paceline_binlog::event::{ChecksumAlgorithm, Event, EventHeader, EventType, FormatDescription, RawEvent};
use paceline_types::Gtid;
use std::path::Path;

/// Whether checksums are verified.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Checksums {
    /// A wrong checksum is an error.
    Verify,
    /// Checksums are only printed.
    Ignore,
}

/// An event with its offset and its format.
#[derive(Clone, Copy, Debug)]
pub struct LoggedEvent<'a> {
    /// Offset in the file, in bytes.
    pub offset: u64,
    pub raw: RawEvent<'a>,
    /// Format of its file.
    pub format: &'a FormatDescription,
}

impl<'a> LoggedEvent<'a> {
    /// Creates an event from its bytes, which must be complete.
    pub fn new(
        offset: u64,
        bytes: &'a [u8],
        format: &'a FormatDescription,
        checksums: Checksums,
    ) -> paceline_binlog::Result<Self> {
        // A Format_description always ends with the four bytes of a checksum, whether it contains one or not.
        let is_format = bytes.get(4) == Some(&EventType::FORMAT_DESCRIPTION.0);
        let raw = match (checksums, format.checksum) {
            (Checksums::Ignore, ChecksumAlgorithm::Crc32) => RawEvent::trusted(bytes),
            (_, ChecksumAlgorithm::None) if is_format => RawEvent::trusted(bytes),
            _ => None,
        };
        Ok(LoggedEvent {
            offset,
            raw: match raw {
                Some(raw) => raw,
                None => RawEvent::new(bytes, format.checksum)?,
            },
            format,
        })
    }

    /// Decodes the body.
    pub fn decode(&self) -> paceline_binlog::Result<Event<'a>> {
        self.raw.decode(self.format)
    }

    /// Decodes the event, or the row event that a record contains: of a statement that replicas get as text.
    pub fn decode_rows(&self) -> paceline_binlog::Result<Event<'a>> {
        self.rows_of(self.decode()?)
    }

    /// Returns the row event that this event contains if it is a record, the decoded event otherwise.
    pub fn rows_of(&self, decoded: Event<'a>) -> paceline_binlog::Result<Event<'a>> {
        decoded.out_of_record(self.header(), self.format)
    }

    pub fn header(&self) -> &EventHeader {
        self.raw.header()
    }

    /// Returns the checksum of the event if there is one.
    pub fn checksum(&self) -> Option<u32> {
        match self.format.checksum {
            ChecksumAlgorithm::None => None,
            ChecksumAlgorithm::Crc32 => self
                .raw
                .bytes()
                .last_chunk()
                .map(|bytes| u32::from_le_bytes(*bytes)),
        }
    }
}

/// A source of events in the order of a log.
pub trait EventSource {
    /// Returns the next event; `None` at the end.
    ///
    /// # Errors
    /// [`super::Error::Event`] for an invalid event; errors of reading.
    fn next_event(&mut self) -> Result<Option<LoggedEvent<'_>>>;

    /// Returns the current file, for messages.
    fn name(&self) -> &Path;

    /// Skips to the next transaction for which `wanted` returns true. Not every skipped transaction is passed to
    /// `wanted`: in a skipped section, only the last one of each domain and server. A source that cannot skip does
    /// nothing.
    ///
    /// # Errors
    /// Errors of reading.
    fn skip_until(&mut self, wanted: &mut dyn FnMut(Gtid) -> bool) -> Result<()> {
        let _ = wanted;
        Ok(())
    }
}
