//! A file of a binary log, read once from front to back.
//!
//! The file may be the one that a server is writing, or was writing when it died. Then it ends in zeros, which are room that was prepared, or in an
//! event that is not whole yet: a moment later it is. Whoever follows the log waits there for more, and goes on in the next file when the server
//! does. A file that was closed ends where its last event ends: zeros in it are damage.

use super::input::Input;
use super::{Checksums, EventSource, LoggedEvent, Places};
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
/// What the events in front of a file's first transaction hardly fill.
const HEAD_BYTES: usize = 1 << 12;
/// No event is longer: MariaDB's largest packet, with room for the headers of one of that size.
const EVENT_LENGTH_MAX: u32 = (1 << 30) + (1 << 20);
/// How long an event that is not whole may still be on its way from its writer: this often, this long.
const LOOKS_MAX: u32 = 20;
const LOOK_AGAIN_AFTER: Duration = Duration::from_millis(10);

/// The events of a file.
#[derive(Debug)]
pub struct EventFile {
    path: PathBuf,
    /// Where the next file is looked for.
    places: Places,
    input: BufReader<Input>,
    /// Whether it is a file on a disk, and no pipe.
    is_seekable: bool,
    /// Where the next event starts.
    offset: u64,
    /// Where to go on behind the Format_description.
    jump_to: Option<u64>,
    buffer: Vec<u8>,
    format: FormatDescription,
    checksums: Checksums,
    has_format: bool,
    /// Whether the server that wrote it has not closed it.
    in_use: bool,
    /// The file's ordinal, if Paceline has written it: its index is told by it.
    ordinal: Option<u32>,
    /// The file in which the log goes on, once it has been said.
    next_file: Option<PathBuf>,
}

/// What stands at a place of a file.
enum Found {
    Event(EventHeader),
    /// Nothing more.
    End,
    /// Not a whole event.
    Torn(&'static str),
}

impl EventFile {
    /// Opens a file and looks at what it begins with. `-` is standard input.
    ///
    /// # Errors
    /// [`Error::Io`], [`Error::NoBinaryLog`].
    pub fn open(places: &Places, path: &Path, checksums: Checksums) -> Result<Self> {
        Self::open_buffered(places, path, checksums, BUFFER_BYTES)
    }

    /// As [`EventFile::open`], for who reads no more than the first events.
    ///
    /// # Errors
    /// As [`EventFile::open`].
    pub fn open_head(places: &Places, path: &Path, checksums: Checksums) -> Result<Self> {
        Self::open_buffered(places, path, checksums, HEAD_BYTES)
    }

    fn open_buffered(
        places: &Places,
        path: &Path,
        checksums: Checksums,
        buffer_bytes: usize,
    ) -> Result<Self> {
        let io = |source| Error::Io {
            path: path.to_owned(),
            source,
        };
        let file = places.open(path).map_err(io)?;
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
            places: places.clone(),
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

    /// As [`EventFile::open`]; behind the Format_description, which is needed wherever reading starts, it goes on at that offset.
    ///
    /// # Errors
    /// As [`EventFile::open`].
    pub fn open_at(places: &Places, path: &Path, checksums: Checksums, offset: Option<u64>) -> Result<Self> {
        let mut file = Self::open(places, path, checksums)?;
        file.jump_to = offset.filter(|offset| *offset > MAGIC.len() as u64);
        Ok(file)
    }

    fn io(&self, source: io::Error) -> Error {
        Error::Io {
            path: self.path.clone(),
            source,
        }
    }

    /// The file in which the log goes on: named by this one's end, or the next in number.
    pub fn next_file(&self) -> Option<PathBuf> {
        self.next_file
            .clone()
            .or_else(|| numbered_next(&self.path))
            .filter(|path| self.is_seekable && begins_as_log(&self.places, path))
    }

    /// Whether its server has said that there is nothing behind what was read.
    pub fn is_finished(&self) -> bool {
        self.next_file.is_some() || !self.in_use
    }

    /// Goes on at that offset, where an event must start.
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

    /// Forgets what was read ahead.
    fn look_again(&mut self) -> Result<()> {
        if self.is_seekable {
            let to = SeekFrom::Start(self.offset);
            self.input.seek(to).map_err(|source| self.io(source))?;
        }
        Ok(())
    }

    /// Reads what stands at the offset: an event's header into the buffer, and the rest of it if `whole` says so.
    fn find(&mut self, whole: Whole) -> Result<Found> {
        let mut header = [0; HEADER_LENGTH];
        let got = self.read(&mut header)?;
        if got == 0 {
            return Ok(Found::End);
        }
        if header[..got].iter().all(|byte| *byte == 0) {
            // Room that was prepared, and is cut off before a file is said to be closed.
            return Ok(match self.in_use {
                true => Found::End,
                false => Found::Torn("there are zeros where an event should begin"),
            });
        }
        let Some(decoded) = EventHeader::decode(&header).filter(|_| got == HEADER_LENGTH) else {
            return Ok(Found::Torn("the file ends in an event's header"));
        };
        if decoded.length < HEADER_LENGTH as u32 || decoded.length > EVENT_LENGTH_MAX {
            return Ok(Found::Torn("the length in its header is none of an event"));
        }
        self.buffer.clear();
        self.buffer.extend_from_slice(&header);
        if whole == Whole::GtidsOnly && decoded.event_type != EventType::GTID {
            return Ok(Found::Event(decoded));
        }
        let length = decoded.length as usize;
        // Not allocated before it is there: a length may be damage.
        let body = (length - HEADER_LENGTH) as u64;
        let read = (&mut self.input).take(body).read_to_end(&mut self.buffer);
        read.map_err(|source| Error::Io {
            path: self.path.clone(),
            source,
        })?;
        if self.buffer.len() < length {
            return Ok(Found::Torn("the file ends in the event"));
        }
        Ok(Found::Event(decoded))
    }

    /// What stands at the offset, looked at again while it may be on its way.
    fn find_settled(&mut self, whole: Whole) -> Result<Option<EventHeader>> {
        let offset = self.offset;
        let mut looks = 0;
        loop {
            let problem = match self.find(whole)? {
                Found::Event(header) if self.in_use && self.is_seekable && !self.is_right(&header) => None,
                Found::Event(header) => return Ok(Some(header)),
                Found::End => {
                    self.look_again()?;
                    return Ok(None);
                }
                Found::Torn(problem) => Some(problem),
            };
            looks += 1;
            let may_come = (self.in_use || !self.has_format) && self.is_seekable && looks < LOOKS_MAX;
            match problem {
                _ if may_come => std::thread::sleep(LOOK_AGAIN_AFTER),
                // Whether its checksum matters is another question.
                None => return Ok(EventHeader::decode(&self.buffer)),
                // It was being written when the server or its copy stopped.
                Some("the file ends in an event's header" | "the file ends in the event") if self.in_use => {
                    return Ok(None);
                }
                Some(problem) => return Err(self.damage(offset, problem)),
            }
            self.look_again()?;
        }
    }

    /// Whether the event in the buffer, if it is whole, has the right checksum.
    fn is_right(&self, header: &EventHeader) -> bool {
        header.event_type == EventType::FORMAT_DESCRIPTION
            || self.format.checksum == ChecksumAlgorithm::None
            || self.buffer.len() < header.length as usize
            || checksum_is_right(&self.buffer)
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

    /// The GTID of the event in the buffer, if it is a Gtid event.
    fn gtid(&self, header: &EventHeader) -> Option<Gtid> {
        if header.event_type != EventType::GTID {
            return None;
        }
        let event = LoggedEvent::new(self.offset, &self.buffer, &self.format, Checksums::Ignore).ok()?;
        let gtid = GtidEvent::decode(event.raw.body(), header.server_id).ok()?;
        Some(gtid.gtid)
    }
}

/// How much of an event is read.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Whole {
    Yes,
    /// Of all but Gtid events only the header.
    GtidsOnly,
}

impl EventSource for EventFile {
    /// The next event; `None` at the end of the file, or where a log that is being written goes on in zeros.
    fn next_event(&mut self) -> Result<Option<LoggedEvent<'_>>> {
        if self.offset > MAGIC.len() as u64
            && let Some(offset) = self.jump_to.take()
        {
            self.seek(offset)?;
        }
        let offset = self.offset;
        let Some(header) = self.find_settled(Whole::Yes)? else {
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
            let Some(header) = self.find_settled(Whole::GtidsOnly)? else {
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

/// Whether it is there, and more than room that a server has prepared for later.
fn begins_as_log(places: &Places, path: &Path) -> bool {
    let mut magic = [0; MAGIC.len()];
    let read = places.open(path).and_then(|mut file| file.read_exact(&mut magic));
    read.is_ok() && magic == MAGIC
}

/// The file whose number is one higher.
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
    fn files_are_numbered() {
        let next = |name: &str| numbered_next(Path::new(name)).map(|path| path.display().to_string());
        assert_eq!(next("/a/bin.000009").as_deref(), Some("/a/bin.000010"));
        assert_eq!(next("log.x.999999").as_deref(), Some("log.x.1000000"));
        assert_eq!(next("bin"), None);
        assert_eq!(next("bin.18446744073709551615"), None);
        assert_eq!(next("bin.index"), None);
    }
}
