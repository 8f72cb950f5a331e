//! Files of a log that lie somewhere else: copied from a server, and not (yet) a log of their own.
//!
//! A restore looks for its point in time in them, cuts them there, and leaves the rest to [`super::Log::open`]. [`super::ClosedLog`] reads its own by them.

use super::active::finish_file;
use super::disk::{Disk, DiskFile, RealDisk};
use super::foreign::check_follows;
use super::grouping::{EventRole, Grouping};
use super::head::{FileHead, read_format};
use super::stream::EventStream;
use super::tail::{Ending, read_tail};
use crate::error::{Error, Result};
use crate::event::{GtidEvent, MAGIC};
use crate::gtid::BinlogState;
use paceline_types::{Gtid, LogPosition};
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// Where an event group stands, and when it was written.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct GroupPlace {
    /// Its GTID.
    pub gtid: Gtid,
    /// The time of its Gtid event, in seconds since 1970.
    pub timestamp: u32,
    /// Where it starts.
    pub start: LogPosition,
    /// Where it ends.
    pub end: LogPosition,
}

/// How a file ends.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct FileEnd {
    /// The file's name, without a directory.
    pub name: String,
    /// Where its last whole event group ends.
    pub position: LogPosition,
    /// The GTID state there.
    pub state: BinlogState,
    ending: Ending,
}

impl FileEnd {
    /// Whether it says that the log goes on in another file.
    pub fn is_rotated(&self) -> bool {
        self.ending == Ending::Rotate
    }
}

/// One file.
#[derive(Debug)]
pub struct CopiedFile {
    path: PathBuf,
    name: String,
    file: Arc<dyn DiskFile>,
    head: FileHead,
}

/// The event groups of a file, in order; every event is checked on the way.
#[derive(Debug)]
pub struct GroupPlaces {
    stream: EventStream,
    ordinal: u32,
    grouping: Grouping,
    open: Option<(Gtid, u32, u64)>,
}

impl CopiedFile {
    /// Opens a file that this server's kind has written, for reading and writing.
    ///
    /// # Errors
    /// [`Error::Io`]; [`Error::Damaged`] if its head is not whole.
    pub fn open(path: &Path) -> Result<Self> {
        Self::open_on(&RealDisk, path)
    }

    /// The same on any disk.
    ///
    /// # Errors
    /// Those of [`Self::open`].
    pub fn open_on(disk: &dyn Disk, path: &Path) -> Result<Self> {
        let file = disk.open(path).map_err(|source| Error::Io {
            operation: "open",
            path: path.to_owned(),
            source,
        })?;
        let name = path
            .file_name()
            .map(|name| name.to_string_lossy().into_owned())
            .unwrap_or_default();
        let head = FileHead::read(&file, &name)?;
        Ok(CopiedFile {
            path: path.to_owned(),
            name,
            file,
            head,
        })
    }

    /// Where it is.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Its name, without a directory.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// The upper part of the positions in it.
    pub fn ordinal(&self) -> u32 {
        self.head.ordinal
    }

    /// The GTID state of all files before it.
    pub fn state_before(&self) -> &BinlogState {
        &self.head.state
    }

    /// When it was begun, in seconds since 1970: what is in the files before it was committed by then.
    ///
    /// # Errors
    /// [`Error::Io`]; [`Error::Damaged`].
    pub fn begun(&self) -> Result<u32> {
        let length = self.file.length().map_err(|source| Error::Io {
            operation: "examine",
            path: self.path.clone(),
            source,
        })?;
        let start = MAGIC.len() as u64;
        let mut stream = EventStream::new(Arc::clone(&self.file), self.name.clone(), start, length);
        match stream.next()? {
            Some((_, event)) => Ok(event.header().timestamp),
            None => Err(stream.damaged(start, "it has no Format_description")),
        }
    }

    /// Where its last whole event group ends. Behind it there may be the zeros of a file that was in use, or a write that a crash has
    /// torn.
    ///
    /// # Errors
    /// [`Error::Damaged`], [`Error::Gap`] for what is no torn end.
    pub fn end(&self) -> Result<FileEnd> {
        let tail = read_tail(&self.file, &self.name, &self.head)?;
        Ok(FileEnd {
            name: self.name.clone(),
            position: LogPosition::new(self.head.ordinal, tail.end),
            state: tail.builder.into_parts().1,
            ending: tail.ending,
        })
    }

    /// Whether it goes on where the file before it ends, as far as GTIDs tell.
    ///
    /// # Errors
    /// [`Error::Damaged`] if something is missing between them.
    pub fn check_follows(&self, before: &FileEnd) -> Result<()> {
        if self.head.ordinal <= before.position.ordinal() {
            return Err(self.damaged(format!("it does not follow '{}'", before.name)));
        }
        check_follows(&self.name, &self.head.state, &before.name, &before.state)
    }

    /// Whether the file before it, if the log went on here while the server ran, says so: transactions that are logged for this server alone are in
    /// no GTID state. A file that a server has begun at its start may follow one that a crash has ended.
    ///
    /// # Errors
    /// [`Error::Damaged`] if something is missing between them; [`Error::Io`].
    pub fn check_rotated(&self, before: &FileEnd) -> Result<()> {
        let file = Arc::clone(&self.file);
        let mut stream = EventStream::new(file, self.name.clone(), MAGIC.len() as u64, self.head.length);
        let (format, _) = read_format(&mut stream)?;
        let follows = before.is_rotated() && before.position.ordinal() + 1 == self.head.ordinal;
        if format.created != 0 || follows {
            return Ok(());
        }
        Err(self.damaged(format!(
            "the file before it, '{}', does not end where this one was begun: what is between them is missing",
            before.name
        )))
    }

    fn damaged(&self, problem: String) -> Error {
        Error::Damaged {
            file: self.name.clone(),
            offset: 0,
            problem,
        }
    }

    /// Its groups up to an offset.
    ///
    /// # Errors
    /// [`Error::Io`], [`Error::Damaged`].
    pub fn groups(&self, end: u64) -> Result<GroupPlaces> {
        let file = Arc::clone(&self.file);
        let mut stream = EventStream::new(file, self.name.clone(), MAGIC.len() as u64, end);
        read_format(&mut stream)?;
        Ok(GroupPlaces {
            stream,
            ordinal: self.head.ordinal,
            grouping: Grouping::Outside,
            open: None,
        })
    }

    /// Cuts it at an offset where a group ends, and marks it as closed. Durable when it returns.
    ///
    /// # Errors
    /// [`Error::Io`].
    pub fn cut(&self, end: u64) -> Result<()> {
        finish_file(&*self.file, end)
            .and_then(|()| self.file.sync())
            .map_err(|source| Error::Io {
                operation: "cut",
                path: self.path.clone(),
                source,
            })
    }
}

impl GroupPlaces {
    /// The next group.
    ///
    /// # Errors
    /// [`Error::Damaged`] where an event is not good, or a group has no end.
    pub fn next_group(&mut self) -> Result<Option<GroupPlace>> {
        loop {
            let Some((start, event)) = self.stream.next()? else {
                let end = self.stream.position();
                return match self.open {
                    None => Ok(None),
                    Some(_) => Err(self.stream.damaged(end, "its last transaction has no end")),
                };
            };
            let end = start + event.bytes().len() as u64;
            let timestamp = event.header().timestamp;
            let role = self.grouping.observe(&event);
            let gtid = match role {
                Ok(EventRole::Begins) => {
                    Some(GtidEvent::decode(event.body(), event.header().server_id)?.gtid)
                }
                _ => None,
            };
            match role {
                Err(error) => return Err(self.stream.damaged(start, error.to_string())),
                Ok(EventRole::Begins) => self.open = gtid.map(|gtid| (gtid, timestamp, start)),
                Ok(EventRole::Control | EventRole::Inside) => {}
                Ok(EventRole::Ends) => {
                    if let Some((gtid, timestamp, start)) = self.open.take() {
                        return Ok(Some(GroupPlace {
                            gtid,
                            timestamp,
                            start: LogPosition::new(self.ordinal, start),
                            end: LogPosition::new(self.ordinal, end),
                        }));
                    }
                }
            }
        }
    }
}
