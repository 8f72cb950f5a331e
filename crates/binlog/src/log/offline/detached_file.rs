//! Log files outside of an open log: copied from a server, and not (yet) part of a log of their own.
//!
//! A restore searches them for its point in time, cuts them there, and leaves the rest to [`crate::log::Log::open`].
//! [`crate::log::ClosedLog`] reads its files through them.

use crate::disk::{Disk, DiskFile, RealDisk};
use crate::error::{Error, Result};
use crate::event::{GtidEvent, MAGIC};
use crate::gtid::GtidState;
use crate::log::files::active_file::finish_file;
use crate::log::files::event_stream::EventStream;
use crate::log::files::grouping::{EventRole, Grouping};
use crate::log::files::head::{FileHead, read_format};
use crate::log::files::tail::{TailState, read_tail};
use crate::log::offline::read_only_log::check_follows;
use paceline_types::{Gtid, LogPosition};
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// Position of an event group in the log, and the time when it was written.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct GroupLocation {
    /// GTID of the group.
    pub gtid: Gtid,
    /// Time of its Gtid event, in seconds since 1970.
    pub timestamp: u32,
    /// Start of the group.
    pub start: LogPosition,
    /// End of the group.
    pub end: LogPosition,
}

/// The end of a file.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct FileEnd {
    /// The file's name, without directory.
    pub name: String,
    /// End of its last whole event group.
    pub position: LogPosition,
    /// The GTID state at that position.
    pub state: GtidState,
    ending: TailState,
}

impl FileEnd {
    /// Returns whether the file ends with an event that says that the log continues in another file.
    pub fn is_rotated(&self) -> bool {
        self.ending == TailState::Rotate
    }
}

/// A log file outside of an open log.
#[derive(Debug)]
pub struct DetachedFile {
    path: PathBuf,
    name: String,
    file: Arc<dyn DiskFile>,
    head: FileHead,
}

/// Iterator over the event groups of a file, in order. It checks every event.
#[derive(Debug)]
pub struct GroupLocations {
    stream: EventStream,
    ordinal: u32,
    grouping: Grouping,
    open: Option<(Gtid, u32, u64)>,
}

impl DetachedFile {
    /// Opens a file that Paceline has written, for reading and writing.
    ///
    /// # Errors
    /// [`Error::Io`]; [`Error::Damaged`] if its head is not intact.
    pub fn open(path: &Path) -> Result<Self> {
        Self::open_on(&RealDisk, path)
    }

    /// Opens a file as [`Self::open`] does, on any disk.
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
        Ok(DetachedFile {
            path: path.to_owned(),
            name,
            file,
            head,
        })
    }

    /// Returns the file's path.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Returns the file's name, without directory.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// Returns the upper part of the positions in this file.
    pub fn ordinal(&self) -> u32 {
        self.head.ordinal
    }

    /// Returns the GTID state of all files before this one.
    pub fn state_before(&self) -> &GtidState {
        &self.head.state
    }

    /// Returns when the file was begun, in seconds since 1970: everything in the files before it was committed by then.
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

    /// Returns the end of the last whole event group. After it there may be the zeros of a file that was in use, or a
    /// write that a crash has torn.
    ///
    /// # Errors
    /// [`Error::Damaged`], [`Error::Gap`] for damage that is not a torn write at the end.
    pub fn end(&self) -> Result<FileEnd> {
        let tail = read_tail(&self.file, &self.name, &self.head)?;
        Ok(FileEnd {
            name: self.name.clone(),
            position: LogPosition::new(self.head.ordinal, tail.end),
            state: tail.builder.into_parts().1,
            ending: tail.ending,
        })
    }

    /// Checks by the GTID states that this file continues the file before it.
    ///
    /// # Errors
    /// [`Error::Damaged`] if something between them is missing.
    pub fn check_follows(&self, before: &FileEnd) -> Result<()> {
        if self.head.ordinal <= before.position.ordinal() {
            return Err(self.damaged(format!("it does not follow '{}'", before.name)));
        }
        check_follows(&self.name, &self.head.state, &before.name, &before.state)
    }

    /// Checks that the file before this one ends with a rotation to this one, if this one was begun while the server
    /// ran. Transactions that are logged for this server only are in no GTID state, so [`Self::check_follows`] does
    /// not find that they are missing. A file that was begun when its server started may follow one that a crash has
    /// ended.
    ///
    /// # Errors
    /// [`Error::Damaged`] if something between them is missing; [`Error::Io`].
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

    /// Returns an iterator over the file's groups up to an offset.
    ///
    /// # Errors
    /// [`Error::Io`], [`Error::Damaged`].
    pub fn groups(&self, end: u64) -> Result<GroupLocations> {
        let file = Arc::clone(&self.file);
        let mut stream = EventStream::new(file, self.name.clone(), MAGIC.len() as u64, end);
        read_format(&mut stream)?;
        Ok(GroupLocations {
            stream,
            ordinal: self.head.ordinal,
            grouping: Grouping::Outside,
            open: None,
        })
    }

    /// Cuts the file at an offset where a group ends, and marks it as closed. Durable when it returns.
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

impl GroupLocations {
    /// Returns the next group, or `None` at the end.
    ///
    /// # Errors
    /// [`Error::Damaged`] where an event is invalid, or a group has no end.
    pub fn next_group(&mut self) -> Result<Option<GroupLocation>> {
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
                        return Ok(Some(GroupLocation {
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
