//! Where events come from: files of a binary log, or a server.
//!
//! ```text
//!  EventFile   a file, standard input, or the file that a server is writing; Places: in what form it is, and where
//!  RemoteLog   a server, asked for its log as a replica asks
//! ```

mod file;
mod input;
mod places;
mod remote;

pub use file::EventFile;
pub use places::Places;
pub use remote::{Extent, RemoteLog, RemoteStart};

use super::error::Result;
use paceline_binlog::event::{ChecksumAlgorithm, Event, EventHeader, EventType, FormatDescription, RawEvent};
use paceline_types::Gtid;
use std::path::Path;

/// Whether checksums are looked at.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Checksums {
    /// A wrong one is an error.
    Verify,
    /// They are shown only.
    Ignore,
}

/// An event, where it stands and how it is to be decoded.
#[derive(Clone, Copy, Debug)]
pub struct LoggedEvent<'a> {
    /// Where it starts, in bytes from the file's start.
    pub offset: u64,
    /// The event.
    pub raw: RawEvent<'a>,
    /// What its file's Format_description says.
    pub format: &'a FormatDescription,
}

impl<'a> LoggedEvent<'a> {
    /// Takes the bytes of a whole event.
    pub fn new(
        offset: u64,
        bytes: &'a [u8],
        format: &'a FormatDescription,
        checksums: Checksums,
    ) -> paceline_binlog::Result<Self> {
        // A Format_description always ends in the four bytes of a checksum, whether it holds one or not.
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

    /// Its header.
    pub fn header(&self) -> &EventHeader {
        self.raw.header()
    }

    /// The checksum behind it, where there is one.
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

/// Events in the order of a log.
pub trait EventSource {
    /// The next event; `None` at the end.
    ///
    /// # Errors
    /// [`super::Error::Event`] for what is none; those of reading.
    fn next_event(&mut self) -> Result<Option<LoggedEvent<'_>>>;

    /// The file that they come from, for messages.
    fn name(&self) -> &Path;

    /// Goes on at the first transaction for which `wanted` holds, of those that follow; what is left out is shown to `wanted` in
    /// part: of each domain and server the last one of every stretch. A source that cannot leave anything out does nothing.
    ///
    /// # Errors
    /// Those of reading.
    fn skip_until(&mut self, wanted: &mut dyn FnMut(Gtid) -> bool) -> Result<()> {
        let _ = wanted;
        Ok(())
    }
}
