//! Reading the log: events or event groups in order, across files, up to a limit.

use crate::disk::{DiskFile, read_fully};
use crate::error::{Error, Result};
use crate::event::{Event, FormatDescription, HEADER_LENGTH, IgnorableEvent, MAGIC, RawEvent};
use crate::group::{EventGroup, LARGE_GROUP_BYTES};
use crate::log::files::entry::FileEntry;
use crate::log::files::event_stream::EventStream;
use crate::log::files::grouping::{EventRole, Grouping};
use crate::log::files::head::{Origin, read_format};
use crate::log::handle::{Inner, Log};
use paceline_types::LogPosition;
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::Ordering;

/// An event and its position.
#[derive(Clone, Copy, Debug)]
pub struct LoggedEvent<'a> {
    /// Start of the event.
    pub start: LogPosition,
    /// End of the event.
    pub end: LogPosition,
    /// The event. Its length and checksum have been checked.
    pub event: RawEvent<'a>,
}

/// Reads events or event groups in order, across files, up to a limit. It may run concurrently with everything else:
/// appends go after its limit, and a purged file stays readable until the reader leaves it.
///
/// The Rotate event at a file's end is returned like any other; the next event is then the next file's
/// Format_description.
#[derive(Debug)]
pub struct LogReader {
    inner: Arc<Inner>,
    stream: EventStream,
    ordinal: u32,
    limit: LogPosition,
    format: FormatDescription,
    /// Directory for the temporary files of large groups.
    spill_directory: Arc<Path>,
}

impl Log {
    /// Returns a reader from `from` to `limit`. `from` must be where an event starts or ends; an offset within a
    /// file's first four bytes means the beginning of that file, and [`LogPosition::ZERO`] the beginning of the log.
    /// `limit` must not be past what is written.
    ///
    /// # Errors
    /// [`Error::Purged`] if the file no longer exists, [`Error::UnknownPosition`] if it never existed or is shorter.
    pub fn reader(&self, from: LogPosition, limit: LogPosition) -> Result<LogReader> {
        let inner = &self.inner;
        // Read before the files: a file that is closed in between only gets longer.
        let written = self.written();
        let entry = if from == LogPosition::ZERO {
            inner.file_from_ordinal(0).ok_or(Error::UnknownPosition(from))?
        } else {
            inner
                .file_by_ordinal(from.ordinal())
                .ok_or_else(|| match inner.file_from_ordinal(0) {
                    Some(first) if from.ordinal() < first.ordinal => Error::Purged,
                    _ => Error::UnknownPosition(from),
                })?
        };
        let (stream, format) = inner.open_stream(&entry, limit)?;
        let mut reader = LogReader {
            inner: Arc::clone(inner),
            stream,
            ordinal: entry.ordinal,
            limit,
            format,
            spill_directory: inner.directory.as_path().into(),
        };
        let offset = from.offset().max(MAGIC.len() as u64);
        let length = if entry.ordinal == written.ordinal() {
            written.offset()
        } else {
            entry.length
        };
        if offset > length {
            return Err(Error::UnknownPosition(from));
        }
        reader.stream.seek(offset);
        Ok(reader)
    }
}

impl Log {
    /// Returns what would be the length in bytes of an event at `position`: for error messages about positions
    /// without one.
    pub fn peek_length(&self, position: LogPosition) -> Option<u32> {
        const LENGTH_OFFSET: u64 = 9;
        let entry = self.inner.file_by_ordinal(position.ordinal())?;
        let file = self.inner.open_entry(&entry).ok()?;
        let mut length = [0; 4];
        let read = read_fully(&*file, &mut length, position.offset() + LENGTH_OFFSET).ok()?;
        (read == length.len()).then(|| u32::from_le_bytes(length))
    }
}

impl Log {
    /// Returns the bytes before a position, at most `length`, but none of the header of the file's first event, whose
    /// flag changes when the file is closed. Comparing them shows whether this is the log that another server has
    /// read up to there.
    ///
    /// # Errors
    /// [`Error::Purged`], [`Error::UnknownPosition`] if the position does not exist (any more); [`Error::Io`].
    pub fn bytes_before(&self, position: LogPosition, length: usize) -> Result<Vec<u8>> {
        const FLAGS_END: u64 = MAGIC.len() as u64 + HEADER_LENGTH as u64;
        let inner = &self.inner;
        let entry =
            inner
                .file_by_ordinal(position.ordinal())
                .ok_or_else(|| match inner.file_from_ordinal(0) {
                    Some(first) if position.ordinal() < first.ordinal => Error::Purged,
                    _ => Error::UnknownPosition(position),
                })?;
        if position.offset() > inner.limit_in(&entry, self.written()) {
            return Err(Error::UnknownPosition(position));
        }
        let start = position.offset().saturating_sub(length as u64).max(FLAGS_END);
        let mut bytes = vec![0; position.offset().saturating_sub(start) as usize];
        let file = inner.open_entry(&entry)?;
        let read = read_fully(&*file, &mut bytes, start)
            .map_err(|source| inner.io_error("read", &entry.name, source))?;
        match read == bytes.len() {
            true => Ok(bytes),
            false => Err(Error::UnknownPosition(position)),
        }
    }
}

impl LogReader {
    /// Returns the next event of any kind, or `None` at the limit (which may then be raised).
    ///
    /// # Errors
    /// [`Error::Damaged`] with the file and the offset.
    pub fn next_event(&mut self) -> Result<Option<LoggedEvent<'_>>> {
        loop {
            if self.position() >= self.limit {
                return Ok(None);
            }
            if self.stream.position() < self.stream.limit() {
                break;
            }
            if !self.go_to_next_file()? {
                return Ok(None);
            }
        }
        let ordinal = self.ordinal;
        match self.stream.next()? {
            None => Ok(None),
            Some((start, event)) => {
                let end = start + event.bytes().len() as u64;
                Ok(Some(LoggedEvent {
                    start: LogPosition::new(ordinal, start),
                    end: LogPosition::new(ordinal, end),
                    event,
                }))
            }
        }
    }

    /// Returns the next whole event group, or `None` at the limit. Skips events that belong to the log itself. The
    /// reader must be between two groups.
    ///
    /// # Errors
    /// As for [`Self::next_event`]; also [`Error::Damaged`] for a group that has no end.
    pub fn next_group(&mut self) -> Result<Option<EventGroup>> {
        let mut group: Option<EventGroup> = None;
        let mut grouping = Grouping::default();
        let directory = Arc::clone(&self.spill_directory);
        let result = loop {
            let Some(LoggedEvent { start, event, .. }) = self.next_event()? else {
                break group;
            };
            let role = grouping.observe(&event);
            let step = match (&role, &mut group) {
                (Err(_), _) | (Ok(EventRole::Control), _) => Ok(()),
                (Ok(EventRole::Begins), group) => EventGroup::begin(start, &event).map(|mut begun| {
                    begun.spill_in(Arc::clone(&directory), LARGE_GROUP_BYTES);
                    *group = Some(begun);
                }),
                (Ok(EventRole::Inside | EventRole::Ends), Some(group)) => {
                    group.push(&event);
                    Ok(())
                }
                (Ok(EventRole::Inside | EventRole::Ends), None) => Ok(()),
            };
            match role.and_then(|role| step.map(|()| role)) {
                Ok(EventRole::Ends) => return Ok(group),
                Ok(_) => {}
                Err(error) => return Err(self.stream.damaged(start.offset(), error.to_string())),
            }
        };
        // The limit is in the middle of a group: read the group again from its start when the limit is higher.
        if let Some(group) = result {
            self.stream.seek(group.start().offset());
        }
        Ok(None)
    }

    /// Returns where the next event starts.
    pub fn position(&self) -> LogPosition {
        LogPosition::new(self.ordinal, self.stream.position())
    }

    /// Returns the current limit.
    pub fn limit(&self) -> LogPosition {
        self.limit
    }

    /// Sets the limit, further or less far. It must not be past what is written; readers that feed replicas keep it
    /// at the durable position.
    pub fn set_limit(&mut self, limit: LogPosition) {
        self.limit = limit;
        if let Some(entry) = self.inner.file_by_ordinal(self.ordinal) {
            self.stream.set_limit(self.inner.limit_in(&entry, limit));
        }
    }

    /// Returns the name of the current file.
    pub fn file_name(&self) -> &str {
        self.stream.name()
    }

    /// Returns the Format_description of the current file.
    pub fn format(&self) -> &FormatDescription {
        &self.format
    }

    /// Continues in the next file, if one begins before the limit. Returns whether there is more to read.
    fn go_to_next_file(&mut self) -> Result<bool> {
        if self.ordinal >= self.limit.ordinal() {
            return Ok(false);
        }
        // The file was still growing when its limit was set.
        if let Some(entry) = self.inner.file_by_ordinal(self.ordinal) {
            let limit = self.inner.limit_in(&entry, self.limit);
            if limit > self.stream.position() {
                self.stream.set_limit(limit);
                return Ok(true);
            }
        }
        let Some(next) = self.inner.file_from_ordinal(self.ordinal + 1) else {
            return Ok(false);
        };
        if next.ordinal > self.limit.ordinal() {
            return Ok(false);
        }
        let (mut stream, format) = self.inner.open_stream(&next, self.limit)?;
        stream.seek(MAGIC.len() as u64);
        self.stream = stream;
        self.format = format;
        self.ordinal = next.ordinal;
        Ok(true)
    }
}

impl Inner {
    /// Returns up to where a file may be read when the log may be read up to `limit`.
    fn limit_in(&self, entry: &FileEntry, limit: LogPosition) -> u64 {
        if entry.ordinal == limit.ordinal() {
            return limit.offset();
        }
        // The order matters: a file that is no longer written has its final length in its entry.
        let written = LogPosition::from_u64(self.written.load(Ordering::Acquire));
        if entry.ordinal == written.ordinal() {
            return written.offset();
        }
        self.file_by_ordinal(entry.ordinal)
            .map_or(entry.length, |fresh| fresh.length)
    }

    pub fn open_entry(&self, entry: &FileEntry) -> Result<Arc<dyn DiskFile>> {
        let active = self.active.read();
        if active.ordinal == entry.ordinal {
            return Ok(Arc::clone(&active.file));
        }
        drop(active);
        self.disk
            .open(&self.path(&entry.name))
            .map_err(|error| match error.kind() {
                std::io::ErrorKind::NotFound => Error::MissingFile(entry.name.clone()),
                _ => self.io_error("open", &entry.name, error),
            })
    }

    /// Opens the stream of a file's events and reads its Format_description. The stream is somewhere in the head;
    /// callers seek.
    ///
    /// # Errors
    /// [`Error::Purged`] if another file has this name now.
    pub fn open_stream(
        &self,
        entry: &FileEntry,
        limit: LogPosition,
    ) -> Result<(EventStream, FormatDescription)> {
        let file = self.open_entry(entry)?;
        let limit = self.limit_in(entry, limit).max(entry.head_length);
        let mut stream = EventStream::new(file, entry.name.clone(), MAGIC.len() as u64, limit);
        stream.check_magic()?;
        let (format, _) = read_format(&mut stream)?;
        if entry.origin != Origin::Ours {
            return Ok((stream, format));
        }
        // After a reset, another file may have this name.
        match stream
            .next()?
            .map(|(_, event)| event.decode(&format))
            .transpose()?
        {
            Some(Event::Ignorable(IgnorableEvent::FileHead { ordinal, .. })) if ordinal == entry.ordinal => {
                Ok((stream, format))
            }
            _ => Err(Error::Purged),
        }
    }
}
