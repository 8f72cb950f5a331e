//! A log file, read once from front to back.
//!
//! A server may be writing the file, or may have died while writing it. Then the file ends with zeros, which are
//! preallocated space, or with an incomplete event, which may be completed a moment later. When a log is followed, the
//! reader waits there for more, and continues in the next file when the server does. A file that was closed ends with
//! its last event: zeros in it are damage.

use super::input::Input;
use super::{Checksums, EventSource, FileLocations, LoggedEvent};
use crate::binlog::error::{Error, Result};
use paceline_binlog::event::{
    ChecksumAlgorithm, Event, EventFlags, EventHeader, EventType, FormatDescription, GtidEvent,
    HEADER_LENGTH, IgnorableEvent, MAGIC, RawEvent, checksum_is_right,
};
use paceline_binlog::log::GtidIndex;
use paceline_types::Gtid;
use std::io::{self, BufReader, ErrorKind, Read, Seek, SeekFrom};
use std::path::{Path, PathBuf};
use std::time::Duration;

const BUFFER_BYTES: usize = 1 << 20;
/// Buffer size for reading the events before a file's first transaction.
const HEAD_BYTES: usize = 1 << 12;
/// Maximum length of an event: MariaDB's largest packet, plus space for headers.
const EVENT_LENGTH_MAX: u32 = (1 << 30) + (1 << 20);
/// Number of attempts to read an incomplete event that is perhaps still being written, and the pause between them.
const LOOKS_MAX: u32 = 20;
const LOOK_AGAIN_AFTER: Duration = Duration::from_millis(10);

/// Events of a file.
#[derive(Debug)]
pub struct EventFile {
    path: PathBuf,
    /// Where the next file is searched.
    locations: FileLocations,
    input: BufReader<Input>,
    /// Whether it is a regular file rather than a pipe.
    is_seekable: bool,
    /// Offset of the next event.
    offset: u64,
    /// Offset at which to continue after the Format_description.
    jump_to: Option<u64>,
    buffer: Vec<u8>,
    format: FormatDescription,
    checksums: Checksums,
    has_format: bool,
    /// Whether the server that wrote it has not closed it.
    in_use: bool,
    /// Ordinal of the file if Paceline has written it. It identifies the file's GTID index.
    ordinal: Option<u32>,
    /// Name of the file in which the log continues, if the file contains it.
    next_file: Option<PathBuf>,
}

/// Content of the file at an offset.
enum ReadResult {
    Event(EventHeader),
    /// The end of the events.
    End,
    /// An incomplete or invalid event.
    Torn(&'static str),
}

impl EventFile {
    /// Opens a file and checks its first bytes. `-` is standard input.
    ///
    /// # Errors
    /// [`Error::Io`], [`Error::NoBinaryLog`].
    pub fn open(locations: &FileLocations, path: &Path, checksums: Checksums) -> Result<Self> {
        Self::open_buffered(locations, path, checksums, BUFFER_BYTES)
    }

    /// Like [`EventFile::open`], for reading only the first events.
    ///
    /// # Errors
    /// Those of [`EventFile::open`].
    pub fn open_head(locations: &FileLocations, path: &Path, checksums: Checksums) -> Result<Self> {
        Self::open_buffered(locations, path, checksums, HEAD_BYTES)
    }

    fn open_buffered(
        locations: &FileLocations,
        path: &Path,
        checksums: Checksums,
        buffer_bytes: usize,
    ) -> Result<Self> {
        let io = |source| Error::Io {
            path: path.to_owned(),
            source,
        };
        let file = locations.open(path).map_err(io)?;
        let is_seekable = file.is_seekable();
        let mut input = BufReader::with_capacity(buffer_bytes, file);
        let mut magic = [0; MAGIC.len()];
        match input.read_exact(&mut magic) {
            Ok(()) if magic == MAGIC => {}
            Err(error) if error.kind() != ErrorKind::UnexpectedEof => return Err(io(error)),
            _ => return Err(Error::NoBinaryLog(path.to_owned())),
        }
        Ok(EventFile {
            path: path.to_owned(),
            locations: locations.clone(),
            input,
            is_seekable,
            offset: MAGIC.len() as u64,
            jump_to: None,
            buffer: Vec::new(),
            format: FormatDescription::new("", 0),
            checksums,
            has_format: false,
            in_use: false,
            ordinal: None,
            next_file: None,
        })
    }

    /// Like [`EventFile::open`], but continues at `offset` after the Format_description, which is always needed.
    ///
    /// # Errors
    /// Those of [`EventFile::open`].
    pub fn open_at(
        locations: &FileLocations,
        path: &Path,
        checksums: Checksums,
        offset: Option<u64>,
    ) -> Result<Self> {
        let mut file = Self::open(locations, path, checksums)?;
        file.jump_to = offset.filter(|offset| *offset > MAGIC.len() as u64);
        Ok(file)
    }

    fn io(&self, source: io::Error) -> Error {
        Error::Io {
            path: self.path.clone(),
            source,
        }
    }

    /// Returns the file in which the log continues: the one named at the end of this file, or the one with the next
    /// number.
    pub fn next_file(&self) -> Option<PathBuf> {
        self.next_file
            .clone()
            .or_else(|| numbered_next(&self.path))
            .filter(|path| self.is_seekable && begins_as_log(&self.locations, path))
    }

    /// Returns whether the server has ended the file, so that nothing follows what was read.
    pub fn is_finished(&self) -> bool {
        self.next_file.is_some() || !self.in_use
    }

    /// Continues at `offset`, where an event must start.
    fn seek(&mut self, offset: u64) -> Result<()> {
        let moved = match self.is_seekable {
            true => match i64::try_from(offset).ok().zip(i64::try_from(self.offset).ok()) {
                Some((to, from)) => self.input.seek_relative(to - from),
                None => self.input.seek(SeekFrom::Start(offset)).map(drop),
            },
            false => {
                let passed = offset.saturating_sub(self.offset);
                io::copy(&mut (&mut self.input).take(passed), &mut io::sink()).map(drop)
            }
        };
        moved.map_err(|source| self.io(source))?;
        self.offset = offset;
        Ok(())
    }

    /// Discards what was read ahead.
    fn discard_read_ahead(&mut self) -> Result<()> {
        if self.is_seekable {
            let to = SeekFrom::Start(self.offset);
            self.input.seek(to).map_err(|source| self.io(source))?;
        }
        Ok(())
    }

    /// Reads the event at the current offset into the buffer: its header, and the rest depending on `extent`.
    fn find(&mut self, extent: ReadExtent) -> Result<ReadResult> {
        let mut header = [0; HEADER_LENGTH];
        let got = self.read(&mut header)?;
        if got == 0 {
            return Ok(ReadResult::End);
        }
        if header[..got].iter().all(|byte| *byte == 0) {
            // Preallocated space. It is removed before a file is marked as closed.
            return Ok(match self.in_use {
                true => ReadResult::End,
                false => ReadResult::Torn("there are zeros where an event should start"),
            });
        }
        let Some(decoded) = EventHeader::decode(&header).filter(|_| got == HEADER_LENGTH) else {
            return Ok(ReadResult::Torn("the file ends in an event's header"));
        };
        if decoded.length < HEADER_LENGTH as u32 || decoded.length > EVENT_LENGTH_MAX {
            return Ok(ReadResult::Torn(
                "the length in its header is not that of an event",
            ));
        }
        self.buffer.clear();
        self.buffer.extend_from_slice(&header);
        if extent == ReadExtent::GtidsOnly && decoded.event_type != EventType::GTID {
            return Ok(ReadResult::Event(decoded));
        }
        let length = decoded.length as usize;
        // The buffer is not allocated in advance, because the length may be damaged.
        let body = (length - HEADER_LENGTH) as u64;
        let read = (&mut self.input).take(body).read_to_end(&mut self.buffer);
        read.map_err(|source| Error::Io {
            path: self.path.clone(),
            source,
        })?;
        if self.buffer.len() < length {
            return Ok(ReadResult::Torn("the file ends in the event"));
        }
        Ok(ReadResult::Event(decoded))
    }

    /// Reads the event at the current offset. Retries while it may still be incomplete.
    fn find_settled(&mut self, extent: ReadExtent) -> Result<Option<EventHeader>> {
        let offset = self.offset;
        let mut looks = 0;
        loop {
            let problem = match self.find(extent)? {
                ReadResult::Event(header) if self.in_use && self.is_seekable && !self.is_right(&header) => {
                    None
                }
                ReadResult::Event(header) => return Ok(Some(header)),
                ReadResult::End => {
                    self.discard_read_ahead()?;
                    return Ok(None);
                }
                ReadResult::Torn(problem) => Some(problem),
            };
            looks += 1;
            let may_come = (self.in_use || !self.has_format) && self.is_seekable && looks < LOOKS_MAX;
            match problem {
                _ if may_come => std::thread::sleep(LOOK_AGAIN_AFTER),
                // A wrong checksum is handled by the caller.
                None => return Ok(EventHeader::decode(&self.buffer)),
                // The event was being written when the server or the copy of the file stopped.
                Some("the file ends in an event's header" | "the file ends in the event") if self.in_use => {
                    return Ok(None);
                }
                Some(problem) => return Err(self.damage(offset, problem)),
            }
            self.discard_read_ahead()?;
        }
    }

    /// Returns false if the event in the buffer is complete but its checksum is wrong.
    fn is_right(&self, header: &EventHeader) -> bool {
        header.event_type == EventType::FORMAT_DESCRIPTION
            || self.format.checksum == ChecksumAlgorithm::None
            || self.buffer.len() < header.length as usize
            || checksum_is_right(&self.buffer)
    }

    /// Decodes the Format_description in the buffer. It always ends with the four bytes of a checksum, which contain
    /// one only if the description says so.
    fn read_format(&self, offset: u64) -> Result<FormatDescription> {
        let damage = |problem: String| Error::Event {
            file: self.path.clone(),
            offset,
            problem,
        };
        let body = RawEvent::trusted(&self.buffer)
            .ok_or_else(|| damage("it is too short".into()))?
            .body();
        let format = FormatDescription::decode(body).map_err(|error| damage(error.to_string()))?;
        let verify = self.checksums == Checksums::Verify && format.checksum == ChecksumAlgorithm::Crc32;
        if verify && !checksum_is_right(&self.buffer) {
            return Err(damage("malformed Format_desc event: wrong checksum".into()));
        }
        Ok(format)
    }

    /// Reads until the slice is full or the file ends.
    fn read(&mut self, into: &mut [u8]) -> Result<usize> {
        let mut got = 0;
        while got < into.len() {
            match self.input.read(&mut into[got..]) {
                Ok(0) => break,
                Ok(count) => got += count,
                Err(error) if error.kind() == ErrorKind::Interrupted => {}
                Err(source) => return Err(self.io(source)),
            }
        }
        Ok(got)
    }

    fn damage(&self, offset: u64, problem: &str) -> Error {
        Error::Event {
            file: self.path.clone(),
            offset,
            problem: problem.to_owned(),
        }
    }

    /// Returns the GTID of the event in the buffer if it is a Gtid event.
    fn gtid(&self, header: &EventHeader) -> Option<Gtid> {
        if header.event_type != EventType::GTID {
            return None;
        }
        let event = LoggedEvent::new(self.offset, &self.buffer, &self.format, Checksums::Ignore).ok()?;
        let gtid = GtidEvent::decode(event.raw.body(), header.server_id).ok()?;
        Some(gtid.gtid)
    }
}

/// Part of an event that is read.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum ReadExtent {
    Full,
    /// Gtid events completely, of other events only the header.
    GtidsOnly,
}

impl EventSource for EventFile {
    /// Returns the next event; `None` at the end of the file, or at preallocated space in a file that is being written.
    fn next_event(&mut self) -> Result<Option<LoggedEvent<'_>>> {
        if self.offset > MAGIC.len() as u64
            && let Some(offset) = self.jump_to.take()
        {
            self.seek(offset)?;
        }
        let offset = self.offset;
        let Some(header) = self.find_settled(ReadExtent::Full)? else {
            return Ok(None);
        };
        if header.event_type == EventType::FORMAT_DESCRIPTION {
            self.format = self.read_format(offset)?;
            self.has_format = true;
            self.in_use = header.flags.contains(EventFlags::BINLOG_IN_USE);
        }
        self.offset = offset + u64::from(header.length);
        match LoggedEvent::new(offset, &self.buffer, &self.format, self.checksums) {
            Ok(event) => {
                match header.event_type {
                    EventType::ROTATE | EventType::IGNORABLE => match event.decode() {
                        Ok(Event::Rotate(rotate)) => {
                            let name = String::from_utf8_lossy(rotate.file_name).into_owned();
                            self.next_file = Some(self.path.with_file_name(name));
                        }
                        Ok(Event::Ignorable(IgnorableEvent::FileHead { ordinal, .. })) => {
                            self.ordinal = Some(ordinal);
                        }
                        _ => {}
                    },
                    _ => {}
                }
                Ok(Some(event))
            }
            Err(source) => Err(Error::Event {
                file: self.path.clone(),
                offset,
                problem: source.to_string(),
            }),
        }
    }

    fn name(&self) -> &Path {
        &self.path
    }

    fn skip_until(&mut self, wanted: &mut dyn FnMut(Gtid) -> bool) -> Result<()> {
        if !self.is_seekable {
            return Ok(());
        }
        if let (Some(ordinal), Ok(length)) = (self.ordinal, self.input.get_ref().length())
            && let Some(index) = GtidIndex::beside(&self.path, ordinal, length)
        {
            let mut to = self.offset;
            for (offset, gtids) in index.entries() {
                if gtids.iter().any(|gtid| wanted(*gtid)) {
                    break;
                }
                to = offset;
            }
            if to > self.offset {
                self.seek(to)?;
            }
        }
        loop {
            let start = self.offset;
            let Some(header) = self.find_settled(ReadExtent::GtidsOnly)? else {
                return Ok(());
            };
            self.offset = start + self.buffer.len() as u64;
            if self.gtid(&header).is_some_and(&mut *wanted) {
                return self.seek(start);
            }
            self.seek(start + u64::from(header.length))?;
        }
    }
}

/// Returns whether a file exists and is more than preallocated space.
fn begins_as_log(locations: &FileLocations, path: &Path) -> bool {
    let mut magic = [0; MAGIC.len()];
    let read = locations
        .open(path)
        .and_then(|mut file| file.read_exact(&mut magic));
    read.is_ok() && magic == MAGIC
}

/// Returns the path with the next file number.
fn numbered_next(path: &Path) -> Option<PathBuf> {
    let name = path.file_name()?.to_str()?;
    let (base, number) = name.rsplit_once('.')?;
    let next = number.parse::<u64>().ok()?.checked_add(1)?;
    Some(path.with_file_name(format!("{base}.{next:0width$}", width = number.len())))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_next_file_has_the_next_number() {
        let next = |name: &str| numbered_next(Path::new(name)).map(|path| path.display().to_string());
        assert_eq!(next("/a/bin.000009").as_deref(), Some("/a/bin.000010"));
        assert_eq!(next("log.x.999999").as_deref(), Some("log.x.1000000"));
        assert_eq!(next("bin"), None);
        assert_eq!(next("bin.18446744073709551615"), None);
        assert_eq!(next("bin.index"), None);
    }
}
