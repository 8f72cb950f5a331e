//! Where events come from: a file of a binary log, read once from front to back.

use super::error::{Error, Result};
use paceline_binlog::event::{
    ChecksumAlgorithm, Event, EventFlags, EventHeader, EventType, FormatDescription, HEADER_LENGTH, MAGIC,
    RawEvent, checksum_is_right,
};
use std::fs::File;
use std::io::{BufReader, ErrorKind, Read, Seek, SeekFrom};
use std::path::{Path, PathBuf};

const BUFFER_BYTES: usize = 1 << 20;
/// No event is longer: MariaDB's largest packet, with room for the headers of one of that size.
const EVENT_LENGTH_MAX: u32 = (1 << 30) + (1 << 20);

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
        let raw = match (checksums, format.checksum) {
            (Checksums::Ignore, ChecksumAlgorithm::Crc32) => RawEvent::trusted(bytes),
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

/// The events of a file.
#[derive(Debug)]
pub struct EventFile {
    path: PathBuf,
    input: BufReader<File>,
    /// Where the next event starts.
    offset: u64,
    buffer: Vec<u8>,
    format: FormatDescription,
    checksums: Checksums,
    /// Whether the server that wrote it has not closed it.
    in_use: bool,
}

impl EventFile {
    /// Opens a file and looks at what it begins with.
    ///
    /// # Errors
    /// [`Error::Io`], [`Error::NoBinaryLog`].
    pub fn open(path: &Path, checksums: Checksums) -> Result<Self> {
        let io = |source| Error::Io {
            path: path.to_owned(),
            source,
        };
        let mut input = BufReader::with_capacity(BUFFER_BYTES, File::open(path).map_err(io)?);
        let mut magic = [0; MAGIC.len()];
        match input.read_exact(&mut magic) {
            Ok(()) if magic == MAGIC => {}
            Err(error) if error.kind() != ErrorKind::UnexpectedEof => return Err(io(error)),
            _ => return Err(Error::NoBinaryLog(path.to_owned())),
        }
        Ok(EventFile {
            path: path.to_owned(),
            input,
            offset: MAGIC.len() as u64,
            buffer: Vec::new(),
            format: FormatDescription::new("", 0),
            checksums,
            in_use: false,
        })
    }

    /// Goes on at that offset, where an event must start.
    ///
    /// # Errors
    /// [`Error::Io`].
    pub fn seek(&mut self, offset: u64) -> Result<()> {
        self.input
            .seek(SeekFrom::Start(offset))
            .map_err(|source| Error::Io {
                path: self.path.clone(),
                source,
            })?;
        self.offset = offset;
        Ok(())
    }

    /// The next event, where a file that its server has not closed may end in the middle of one: it was being written when the
    /// server or its copy stopped.
    ///
    /// # Errors
    /// Those of [`EventFile::next_event`].
    pub fn next_event_or_torn_end(&mut self) -> Result<Option<LoggedEvent<'_>>> {
        if self.in_use && self.ends_in_event()? {
            return Ok(None);
        }
        self.next_event()
    }

    /// Whether what is left of the file is shorter than the event that starts there.
    fn ends_in_event(&mut self) -> Result<bool> {
        let path = self.path.clone();
        let io = |source| Error::Io { path, source };
        let mut look = || -> std::io::Result<bool> {
            let left = self.input.get_ref().metadata()?.len().saturating_sub(self.offset);
            let mut header = [0; HEADER_LENGTH];
            if left < HEADER_LENGTH as u64 {
                return Ok(left > 0);
            }
            self.input.read_exact(&mut header)?;
            self.input.seek_relative(-(HEADER_LENGTH as i64))?;
            Ok(EventHeader::decode(&header).is_some_and(|header| u64::from(header.length) > left))
        };
        look().map_err(io)
    }

    /// The next event; `None` at the end of the file, or where a log that is being written goes on in zeros.
    ///
    /// # Errors
    /// [`Error::Event`] for what is no event, or one that the file ends in; [`Error::Io`].
    pub fn next_event(&mut self) -> Result<Option<LoggedEvent<'_>>> {
        let offset = self.offset;
        let mut header = [0; HEADER_LENGTH];
        let got = self.read(&mut header)?;
        if got == 0 || header[..got].iter().all(|byte| *byte == 0) {
            return Ok(None);
        }
        let Some(decoded) = EventHeader::decode(&header).filter(|_| got == HEADER_LENGTH) else {
            return Err(self.damage(offset, "the file ends in an event's header"));
        };
        if decoded.length < HEADER_LENGTH as u32 || decoded.length > EVENT_LENGTH_MAX {
            return Err(self.damage(offset, "the length in its header is none of an event"));
        }
        let length = decoded.length as usize;
        self.buffer.clear();
        self.buffer.extend_from_slice(&header);
        // Not allocated before it is there: a length may be damage.
        let body = (length - HEADER_LENGTH) as u64;
        let read = (&mut self.input).take(body).read_to_end(&mut self.buffer);
        read.map_err(|source| Error::Io {
            path: self.path.clone(),
            source,
        })?;
        if self.buffer.len() < length {
            return Err(self.damage(offset, "the file ends in the event"));
        }
        if decoded.event_type == EventType::FORMAT_DESCRIPTION {
            self.format = self.read_format(offset)?;
            self.in_use = decoded.flags.contains(EventFlags::BINLOG_IN_USE);
        }
        self.offset = offset + u64::from(decoded.length);
        match LoggedEvent::new(offset, &self.buffer, &self.format, self.checksums) {
            Ok(event) => Ok(Some(event)),
            Err(source) => Err(Error::Event {
                file: self.path.clone(),
                offset,
                problem: source.to_string(),
            }),
        }
    }

    /// What a Format_description in the buffer says. It is always written with a checksum's four bytes behind it, which hold
    /// one only if it says so.
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
                Err(source) => {
                    return Err(Error::Io {
                        path: self.path.clone(),
                        source,
                    });
                }
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
}
