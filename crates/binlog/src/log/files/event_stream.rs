//! Reading the events of one file in order, and distinguishing its end from damage.

use crate::disk::{DiskFile, read_fully};
use crate::error::{Error, Result};
use crate::event::{
    CHECKSUM_LENGTH, ChecksumAlgorithm, EventHeader, HEADER_LENGTH, MAGIC, RawEvent, checksum_is_right,
    end_position,
};
use std::io;
use std::sync::Arc;

/// Number of bytes read at a time.
const CHUNK_LENGTH: usize = 256 * 1024;

/// Stream of the events of one file. It never reads past its limit.
#[derive(Debug)]
pub(in crate::log) struct EventStream {
    file: Arc<dyn DiskFile>,
    /// The file's name, for errors.
    name: String,
    checksum: ChecksumAlgorithm,
    /// Offset of the next event.
    position: u64,
    /// Offset where reading stops.
    limit: u64,
    /// Bytes of the file from `buffer_start` on.
    buffer: Vec<u8>,
    buffer_start: u64,
}

/// Result of [`EventStream::advance`].
#[derive(Debug)]
pub(in crate::log) enum ScanStep {
    /// A valid event of `length` bytes at `start`; the stream's position is now after it.
    Event { start: u64, length: usize },
    /// The limit was reached.
    Limit,
    /// The bytes are not a valid event, for this reason.
    Bad(&'static str),
}

impl EventStream {
    /// Creates a stream from `position` to `limit`. Events are expected to have checksums until [`Self::set_checksum`].
    pub fn new(file: Arc<dyn DiskFile>, name: String, position: u64, limit: u64) -> Self {
        let checksum = ChecksumAlgorithm::Crc32;
        Self {
            file,
            name,
            checksum,
            position,
            limit,
            buffer: Vec::new(),
            buffer_start: 0,
        }
    }

    pub fn set_checksum(&mut self, checksum: ChecksumAlgorithm) {
        self.checksum = checksum;
    }

    pub fn position(&self) -> u64 {
        self.position
    }

    pub fn limit(&self) -> u64 {
        self.limit
    }

    pub fn set_limit(&mut self, limit: u64) {
        // The buffer may extend beyond the new limit. Bytes there must be read again when the limit is raised.
        if limit < self.limit {
            self.buffer.clear();
        }
        self.limit = limit;
    }

    pub fn seek(&mut self, position: u64) {
        self.position = position;
    }

    pub fn name(&self) -> &str {
        &self.name
    }

    /// Checks the magic at the beginning of the file.
    pub fn check_magic(&mut self) -> Result<()> {
        let mut magic = [0; MAGIC.len()];
        let length = read_fully(&*self.file, &mut magic, 0).map_err(|error| self.io_error(error))?;
        if length < MAGIC.len() || magic != MAGIC {
            return Err(self.damaged(0, "it does not begin as a binary log"));
        }
        Ok(())
    }

    /// Examines the next event and advances past it if it is valid.
    pub fn advance(&mut self) -> Result<ScanStep> {
        let start = self.position;
        if start >= self.limit {
            return Ok(ScanStep::Limit);
        }
        if self.limit - start < (HEADER_LENGTH + CHECKSUM_LENGTH) as u64 {
            return Ok(ScanStep::Bad("it is cut off"));
        }
        let Some(head) = self.bytes(start, HEADER_LENGTH)? else {
            return Ok(ScanStep::Bad("it is cut off"));
        };
        let Some(header) = EventHeader::decode(head) else {
            return Ok(ScanStep::Bad("it is cut off"));
        };
        if let Some(problem) = implausible(&header, start) {
            return Ok(ScanStep::Bad(problem));
        }
        if u64::from(header.length) > self.limit - start {
            return Ok(ScanStep::Bad("it is cut off"));
        }
        let length = header.length as usize;
        let checksum = self.checksum;
        let Some(event) = self.bytes(start, length)? else {
            return Ok(ScanStep::Bad("it is cut off"));
        };
        if checksum == ChecksumAlgorithm::Crc32 && !checksum_is_right(event) {
            return Ok(ScanStep::Bad("its checksum is wrong"));
        }
        self.position = start + length as u64;
        Ok(ScanStep::Event { start, length })
    }

    /// Returns the next event, or `None` at the limit. An invalid event is an error.
    pub fn next(&mut self) -> Result<Option<(u64, RawEvent<'_>)>> {
        match self.advance()? {
            ScanStep::Event { start, length } => Ok(Some((start, self.event(start, length)?))),
            ScanStep::Limit => Ok(None),
            ScanStep::Bad(problem) => Err(self.damaged(self.position, problem)),
        }
    }

    /// Returns the event that [`Self::advance`] has just found.
    pub fn event(&mut self, start: u64, length: usize) -> Result<RawEvent<'_>> {
        let checksum = self.checksum;
        let from = (start - self.buffer_start) as usize;
        RawEvent::checked_before(&self.buffer[from..from + length], checksum)
    }

    /// Returns `length` bytes from `from`, or `None` if the file is shorter.
    fn bytes(&mut self, from: u64, length: usize) -> Result<Option<&[u8]>> {
        let buffered =
            from >= self.buffer_start && from + length as u64 <= self.buffer_start + self.buffer.len() as u64;
        if !buffered {
            let wanted = (length.max(CHUNK_LENGTH) as u64).min(self.limit - from) as usize;
            self.buffer.resize(wanted, 0);
            self.buffer_start = from;
            match read_fully(&*self.file, &mut self.buffer, from) {
                Ok(read) => self.buffer.truncate(read),
                Err(error) => {
                    self.buffer.clear();
                    return Err(self.io_error(error));
                }
            }
        }
        let start = (from - self.buffer_start) as usize;
        Ok(self.buffer.get(start..start + length))
    }

    /// Returns the first offset from `from` on with a byte that is not zero, or `None` if there are only zeros up to
    /// the limit. Searches the buffer first, because this is called for each of many small events.
    pub fn first_nonzero(&mut self, from: u64) -> Result<Option<u64>> {
        let mut at = from;
        while at < self.limit && self.bytes(at, 1)?.is_some() {
            let read = &self.buffer[(at - self.buffer_start) as usize..];
            if let Some(offset) = read.iter().position(|byte| *byte != 0) {
                return Ok(Some(at + offset as u64));
            }
            at += read.len() as u64;
        }
        Ok(None)
    }

    /// Returns the last offset from `from` on with a byte that is not zero, or `None` if there are only zeros up to
    /// the limit. Reads from the limit backwards, because written data contains many zeros as well.
    pub fn last_nonzero(&self, from: u64) -> Result<Option<u64>> {
        let mut end = self.limit;
        let mut chunk = vec![0; CHUNK_LENGTH];
        while end > from {
            let start = end.saturating_sub(CHUNK_LENGTH as u64).max(from);
            let wanted = (end - start) as usize;
            let read =
                read_fully(&*self.file, &mut chunk[..wanted], start).map_err(|error| self.io_error(error))?;
            if let Some(offset) = chunk[..read].iter().rposition(|byte| *byte != 0) {
                return Ok(Some(start + offset as u64));
            }
            end = start;
        }
        Ok(None)
    }

    /// Returns the first offset from `from` on where a valid event starts. The end position in its header must match
    /// this offset; in bytes that are not an event it hardly ever does.
    pub fn first_event_from(&mut self, from: u64) -> Result<Option<u64>> {
        let mut at = from;
        while let Some(nonzero) = self.first_nonzero(at)? {
            // A header may begin with zeros: a timestamp of 0.
            let first = nonzero.saturating_sub(HEADER_LENGTH as u64).max(at);
            let last = (nonzero + CHUNK_LENGTH as u64).min(self.limit);
            for place in first..last {
                self.position = place;
                if let ScanStep::Event { .. } = self.advance()? {
                    self.position = place;
                    return Ok(Some(place));
                }
            }
            at = last;
        }
        Ok(None)
    }

    pub fn damaged(&self, offset: u64, problem: impl Into<String>) -> Error {
        Error::Damaged {
            file: self.name.clone(),
            offset,
            problem: problem.into(),
        }
    }

    fn io_error(&self, source: io::Error) -> Error {
        Error::Io {
            operation: "read",
            path: self.name.clone().into(),
            source,
        }
    }
}

/// Returns the reason why a header is impossible at this offset for any type of event.
fn implausible(header: &EventHeader, start: u64) -> Option<&'static str> {
    if header.event_type.0 == 0 {
        return Some("there is no event type");
    }
    if (header.length as usize) < HEADER_LENGTH {
        return Some("its length is shorter than its header");
    }
    if header.end_position != end_position(start, u64::from(header.length)) {
        return Some("its end position is not where it ends");
    }
    None
}
