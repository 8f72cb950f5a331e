//! The log as a whole: appending, syncing, asking.

use super::active::{ActiveFile, TAIL_ROOM};
use super::config::SyncMode;
use super::disk::Disk;
use super::files::{FileEntry, LogFile};
use super::index_file::IndexFile;
use crate::error::{Error, Result};
use crate::event::{
    BinlogCheckpointEvent, EventBody, EventFlags, EventStamp, Follows, HEADER_LENGTH, IgnorableEvent,
    encode_event,
};
use crate::group::CommitGroup;
use crate::gtid::BinlogState;
use crate::replica_state::{ReplicaRecord, ReplicaState};
use paceline_types::{Gtid, LogPosition, ServerId};
use parking_lot::{Mutex, RwLock};
use std::io::IoSlice;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, OnceLock};

/// The log. A handle that is cheap to clone; reading and asking may happen from any thread at any time. Writing (from
/// [`Log::reserve`] to [`Log::append`]; [`Log::rotate`], [`Log::write_checkpoint`], [`Log::set_sync_mode`], [`Log::reset`],
/// [`Log::close`]) is for one leader at a time.
///
/// ```
/// use paceline_binlog::group::{CommitGroup, EventGroupBuffer, GroupOptions, GroupSize};
/// use paceline_binlog::log::{Log, LogConfig, OpenRequest, RealDisk};
/// use paceline_types::{DomainId, Gtid, SequenceNumber, ServerId};
/// use std::sync::Arc;
///
/// let directory = tempfile::tempdir().unwrap();
/// let config = LogConfig::new(directory.path(), "bin", ServerId(1));
/// let (log, recovery) = Log::open(Arc::new(RealDisk), config, OpenRequest::new(0))?;
///
/// let mut buffer = EventGroupBuffer::new(GroupOptions::new(ServerId(1)));
/// buffer.commit(1);
///
/// let sequence = recovery.state.next_sequence(DomainId(0)).unwrap();
/// let start = log.reserve(buffer.len() + CommitGroup::GTID_EVENT_LENGTH_MAX)?;
/// let mut group = CommitGroup::new();
/// group.begin(start, GroupSize::Single);
/// group.add(&mut buffer, Gtid::new(DomainId(0), ServerId(1), sequence));
/// let end = log.append(&group)?;
/// assert_eq!(log.sync()?, end);
/// assert_eq!(log.state().to_string(), "0-1-1");
/// # Ok::<(), paceline_binlog::Error>(())
/// ```
#[derive(Clone, Debug)]
pub struct Log {
    pub(super) inner: Arc<Inner>,
}

/// Whether there was something to prepare.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Preparation {
    /// There is room enough ahead.
    NotNeeded,
    /// Room was prepared.
    Done,
}

#[derive(Debug)]
pub(super) struct Inner {
    pub disk: Arc<dyn Disk>,
    pub directory: PathBuf,
    pub base_name: String,
    pub server_id: ServerId,
    pub server_version: String,
    pub prepare_step: u64,
    pub file_size_max: AtomicU64,
    /// The index file; locked while it is replaced.
    pub index: Mutex<IndexFile>,
    /// The files in the index, oldest first, the active one last.
    pub files: RwLock<Vec<Arc<FileEntry>>>,
    pub active: RwLock<Arc<ActiveFile>>,
    pub writer: Mutex<Writer>,
    /// Numbers the files of large transactions that have no place yet.
    pub next_large: AtomicU64,
    /// A file of zeros for the next rotation.
    pub spare: Mutex<Option<SpareFile>>,
    /// Positions, as [`LogPosition::as_u64`].
    pub written: AtomicU64,
    pub durable: AtomicU64,
    /// The ordinal of the first file that recovery needs.
    pub checkpoint: AtomicU64,
    /// How far the replica has come, up to `written`.
    pub replica: Mutex<ReplicaState>,
    /// Why nothing may be written any more.
    pub poison: OnceLock<String>,
}

/// What only the leader touches.
#[derive(Debug)]
pub(super) struct Writer {
    pub active: Arc<ActiveFile>,
    /// Where the active file's last event ends.
    pub end: u64,
    pub sync_mode: SyncMode,
    /// The record that goes in front of the next write.
    pub prefix: Vec<u8>,
    /// What the last such record told to be durable.
    pub told_durable: LogPosition,
    /// For records that have no time of their own.
    pub timestamp: u32,
    pub life: Life,
}

/// Whether the log is open.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Life {
    Open,
    Closed,
}

/// A file that was prepared before its time: zeros up to `prepared_end`, in no index.
#[derive(Debug)]
pub(super) struct SpareFile {
    pub number: u32,
    pub file: Arc<dyn super::disk::DiskFile>,
    pub prepared_end: u64,
}

impl Log {
    /// Where the next group of at most `length` bytes will start: [`CommitGroup::begin`] wants it. Prepares room if there is
    /// not enough, which a call of [`Self::prepare_ahead`] in time avoids.
    ///
    /// # Errors
    /// [`Error::NoSpace`]: the disk is full, nothing has happened, later calls may succeed.
    pub fn reserve(&self, length: u64) -> Result<LogPosition> {
        let mut writer = self.inner.writer.lock();
        self.inner.check_usable(&writer)?;
        writer.prefix.clear();
        if writer.sync_mode == SyncMode::Deferred {
            let durable = self.durable();
            if durable > writer.told_durable {
                self.inner.make_durable_record(&mut writer, durable);
            }
        }
        let start = writer.end + writer.prefix.len() as u64;
        self.inner.make_room(&writer, start + length)?;
        Ok(LogPosition::new(writer.active.ordinal, start))
    }

    /// Writes a group with one write, where the last [`Self::reserve`] said. Returns where it ends.
    ///
    /// # Errors
    /// What fails here is fatal: the log takes no more writes.
    ///
    /// # Panics
    /// If the group was not begun where `reserve` said, or the write before it is not durable although each write is to be
    /// synced: a defect of the caller, which must not reach the log.
    pub fn append(&self, group: &CommitGroup) -> Result<LogPosition> {
        let mut writer = self.inner.writer.lock();
        self.inner.check_usable(&writer)?;
        let active = Arc::clone(&writer.active);
        let start = LogPosition::new(active.ordinal, writer.end + writer.prefix.len() as u64);
        assert_eq!(
            group.start(),
            start,
            "a group is written where the log does not end"
        );
        assert!(
            writer.sync_mode == SyncMode::Deferred || self.durable() == self.written(),
            "a group is written before the one before it is durable"
        );
        let prefix = std::mem::take(&mut writer.prefix);
        let mut pieces = Vec::with_capacity(4);
        if !prefix.is_empty() {
            pieces.push(IoSlice::new(&prefix));
        }
        pieces.extend(group.slices());
        let end = active
            .write(&mut pieces, writer.end)
            .map_err(|error| self.inner.fatal(error))?;
        assert_eq!(end, group.end().offset());
        {
            let mut index = active.index.lock();
            for (gtid, start) in group.transactions() {
                index.record(gtid, start);
            }
        }
        if !group.replica_moves().is_empty() {
            let mut replica = self.inner.replica.lock();
            group
                .replica_moves()
                .iter()
                .for_each(|record| replica.apply(record));
        }
        if !prefix.is_empty() {
            writer.told_durable = self.durable();
        }
        writer.prefix = prefix;
        writer.end = end;
        self.inner.written.store(group.end().as_u64(), Ordering::Release);
        Ok(group.end())
    }

    /// Makes what was written when it was called durable. Returns up to where the log is durable now. Readers and, in
    /// [`SyncMode::Deferred`], appends go on beside it.
    ///
    /// # Errors
    /// What fails here is fatal: the log takes no more writes, and what was not durable never will be acknowledged.
    pub fn sync(&self) -> Result<LogPosition> {
        let inner = &self.inner;
        inner.check_poison()?;
        // In this order: what was written before the active file was looked up is in that file, or in one before it that
        // was made durable when it was left.
        let written = self.written();
        if self.durable() < written {
            let active = Arc::clone(&inner.active.read());
            active.sync().map_err(|error| inner.fatal(error))?;
            inner.durable.fetch_max(written.as_u64(), Ordering::AcqRel);
        }
        Ok(self.durable())
    }

    /// Where its files are.
    pub fn directory(&self) -> &Path {
        &self.inner.directory
    }

    /// Up to where the log is written.
    pub fn written(&self) -> LogPosition {
        LogPosition::from_u64(self.inner.written.load(Ordering::Acquire))
    }

    /// Up to where the log is durable.
    pub fn durable(&self) -> LogPosition {
        LogPosition::from_u64(self.inner.durable.load(Ordering::Acquire))
    }

    /// Whether the active file has reached `max_binlog_size`. Asked after every append.
    pub fn rotation_due(&self) -> bool {
        self.written().offset() >= self.inner.file_size_max.load(Ordering::Relaxed)
    }

    /// Whether [`Self::prepare_ahead`] should be called soon. Asked after every append.
    pub fn wants_preparation(&self) -> bool {
        let inner = &self.inner;
        let end = self.written().offset();
        let size_max = inner.file_size_max.load(Ordering::Relaxed);
        if end >= size_max - size_max / 4 && inner.spare.try_lock().is_some_and(|spare| spare.is_none()) {
            return true;
        }
        let active = inner.active.read();
        active.prepared_end() < inner.low_water(end)
    }

    /// Prepares room ahead of need, and may take long: for a thread in the background.
    ///
    /// # Errors
    /// [`Error::NoSpace`], which is no harm yet: [`Self::reserve`] will say when it is.
    pub fn prepare_ahead(&self) -> Result<Preparation> {
        let inner = &self.inner;
        inner.check_poison()?;
        let active = Arc::clone(&inner.active.read());
        let end = self.written();
        let mut done = false;
        if end.ordinal() == active.ordinal {
            done |= active.prepare(inner.low_water(end.offset()), end.offset() + inner.prepare_step)?;
        }
        let size_max = inner.file_size_max.load(Ordering::Relaxed);
        if end.offset() >= size_max - size_max / 4 {
            done |= inner.prepare_spare(active.number)?;
        }
        Ok(if done {
            Preparation::Done
        } else {
            Preparation::NotNeeded
        })
    }

    /// Changes how the log is synced from here on (`SET GLOBAL sync_binlog`). Everything before is durable afterwards.
    ///
    /// # Errors
    /// As for [`Self::reserve`], [`Self::append`] and [`Self::sync`].
    pub fn set_sync_mode(&self, mode: SyncMode) -> Result<()> {
        let mut writer = self.inner.writer.lock();
        self.inner.check_usable(&writer)?;
        if writer.sync_mode == mode {
            return Ok(());
        }
        self.sync()?;
        let record = IgnorableEvent::Durable {
            durable: self.durable(),
            sync_mode: mode,
        };
        let timestamp = writer.timestamp;
        self.inner
            .write_record(&mut writer, timestamp, EventFlags::IGNORABLE, &record)?;
        writer.sync_mode = mode;
        writer.told_durable = self.durable();
        Ok(())
    }

    /// `SET GLOBAL max_binlog_size`, in bytes.
    pub fn set_file_size_max(&self, bytes: u64) {
        self.inner.file_size_max.store(bytes, Ordering::Relaxed);
    }

    /// Writes a Binlog_checkpoint event: recovery needs nothing before the file that holds `needed`. Everything before is
    /// durable afterwards. `now` is in seconds since 1970.
    ///
    /// # Errors
    /// [`Error::UnknownPosition`] for a file that is not there; else as for [`Self::reserve`], [`Self::append`] and
    /// [`Self::sync`].
    pub fn write_checkpoint(&self, needed: LogPosition, now: u32) -> Result<()> {
        let mut writer = self.inner.writer.lock();
        self.inner.check_usable(&writer)?;
        // Further than that already: the log was reset since the engines were flushed.
        if u64::from(needed.ordinal()) <= self.inner.checkpoint.load(Ordering::Acquire) {
            return Ok(());
        }
        let name = self
            .inner
            .file_by_ordinal(needed.ordinal())
            .ok_or(Error::UnknownPosition(needed))?
            .name
            .clone();
        self.sync()?;
        let event = BinlogCheckpointEvent {
            file_name: name.as_bytes(),
        };
        self.inner
            .write_record(&mut writer, now, EventFlags::NONE, &event)?;
        self.inner
            .checkpoint
            .store(u64::from(needed.ordinal()), Ordering::Release);
        Ok(())
    }

    /// Moves the replica's position without a transaction. Everything before is durable afterwards, and this is. `now` is in seconds
    /// since 1970.
    ///
    /// # Errors
    /// As for [`Self::reserve`], [`Self::append`] and [`Self::sync`].
    pub fn write_replica_record(&self, record: &ReplicaRecord, now: u32) -> Result<()> {
        let mut writer = self.inner.writer.lock();
        self.inner.check_usable(&writer)?;
        self.sync()?;
        let bytes = record.encode();
        let event = IgnorableEvent::Replica(&bytes);
        self.inner
            .write_record(&mut writer, now, EventFlags::IGNORABLE, &event)?;
        self.inner.replica.lock().apply(record);
        Ok(())
    }

    /// How far the replica has come, as everything that is written tells.
    pub fn replica_state(&self) -> ReplicaState {
        self.inner.replica.lock().clone()
    }

    /// The files, oldest first, the active one last.
    pub fn files(&self) -> Vec<LogFile> {
        let files = self.inner.files.read();
        let written = self.written();
        let length = |file: &FileEntry| {
            if file.ordinal == written.ordinal() {
                written.offset()
            } else {
                file.length
            }
        };
        files.iter().map(|file| file.describe(length(file))).collect()
    }

    /// The name of the file and the offset that a client is told for a position (`SHOW MASTER STATUS` for
    /// [`Self::written`]).
    ///
    /// # Errors
    /// [`Error::UnknownPosition`] if its file is not there (any more).
    pub fn coordinates(&self, position: LogPosition) -> Result<(String, u64)> {
        let file = self
            .inner
            .file_by_ordinal(position.ordinal())
            .ok_or(Error::UnknownPosition(position))?;
        Ok((file.name.clone(), position.offset()))
    }

    /// The position that a client means by a file's name (with or without a directory) and an offset.
    ///
    /// # Errors
    /// [`Error::UnknownFile`].
    pub fn position_of(&self, file: &str, offset: u64) -> Result<LogPosition> {
        let entry = self
            .inner
            .file_by_name(file)
            .ok_or_else(|| Error::UnknownFile(file.to_owned()))?;
        Ok(LogPosition::new(
            entry.ordinal,
            offset.min(LogPosition::OFFSET_MAX),
        ))
    }

    /// The GTID state before the oldest file that is still there.
    pub fn oldest_state(&self) -> BinlogState {
        let files = self.inner.files.read();
        files.first().map(|file| file.state.clone()).unwrap_or_default()
    }

    /// The GTID state of everything in closed files and before them. Unlike that of [`Self::state`], it is durable.
    pub fn closed_state(&self) -> BinlogState {
        let files = self.inner.files.read();
        files.last().map(|file| file.state.clone()).unwrap_or_default()
    }

    /// What stood before the oldest file when it was begun.
    pub fn follows(&self) -> Follows {
        let files = self.inner.files.read();
        files.first().map_or(Follows::Log, |file| file.follows)
    }

    /// The GTID state of everything that is written (`gtid_binlog_state`).
    pub fn state(&self) -> BinlogState {
        let active = Arc::clone(&self.inner.active.read());
        let index = active.index.lock();
        index.state().clone()
    }

    /// Whether a transaction is written, or one as new of its server and domain ([`BinlogState::contains`]).
    pub fn has(&self, gtid: Gtid) -> bool {
        let active = Arc::clone(&self.inner.active.read());
        let index = active.index.lock();
        index.state().contains(gtid)
    }
}

impl Inner {
    pub fn check_poison(&self) -> Result<()> {
        match self.poison.get() {
            Some(reason) => Err(Error::Poisoned(reason.clone())),
            None => Ok(()),
        }
    }

    pub fn check_usable(&self, writer: &Writer) -> Result<()> {
        self.check_poison()?;
        match writer.life {
            Life::Open => Ok(()),
            Life::Closed => Err(Error::Closed),
        }
    }

    /// After this error nothing is written any more (invariant 4).
    pub fn fatal(&self, error: Error) -> Error {
        tracing::error!("the binary log takes no more writes: {error}");
        // The first reason stays.
        let _ = self.poison.set(error.to_string());
        error
    }

    /// Room for a write that ends there, and for the file's last event behind it.
    fn make_room(&self, writer: &Writer, end: u64) -> Result<()> {
        let needed = end + TAIL_ROOM;
        if needed > writer.active.prepared_end() {
            writer.active.prepare(needed, needed + self.prepare_step)?;
        }
        Ok(())
    }

    /// Up to where room should be prepared at least when the log ends there: half a step ahead, but not past what the file
    /// may grow to.
    fn low_water(&self, end: u64) -> u64 {
        let size_max = self.file_size_max.load(Ordering::Relaxed);
        (end + self.prepare_step / 2).min(size_max.max(end) + TAIL_ROOM)
    }

    /// Puts the record of what is durable in front of the next write.
    fn make_durable_record(&self, writer: &mut Writer, durable: LogPosition) {
        let stamp = self.stamp(writer.timestamp, EventFlags::IGNORABLE);
        let record = IgnorableEvent::Durable {
            durable,
            sync_mode: SyncMode::Deferred,
        };
        encode_event(&mut writer.prefix, &stamp, writer.end, &record);
    }

    pub fn stamp(&self, timestamp: u32, flags: EventFlags) -> EventStamp {
        EventStamp {
            timestamp,
            server_id: self.server_id,
            flags,
        }
    }

    /// Writes an event that belongs to the log itself, and makes it durable: it is a write of its own.
    pub fn write_record(
        &self,
        writer: &mut Writer,
        timestamp: u32,
        flags: EventFlags,
        body: &dyn EventBody,
    ) -> Result<()> {
        let mut event = Vec::with_capacity(HEADER_LENGTH + 64);
        encode_event(&mut event, &self.stamp(timestamp, flags), writer.end, body);
        self.make_room(writer, writer.end + event.len() as u64)?;
        self.write_reserved_record(writer, timestamp, &event)
    }

    /// The same for an event that has its room already: the last one of a file.
    pub fn write_reserved_record(&self, writer: &mut Writer, timestamp: u32, event: &[u8]) -> Result<()> {
        let active = Arc::clone(&writer.active);
        let end = active
            .write(&mut vec![IoSlice::new(event)], writer.end)
            .map_err(|error| self.fatal(error))?;
        writer.end = end;
        writer.timestamp = timestamp;
        self.written
            .store(LogPosition::new(active.ordinal, end).as_u64(), Ordering::Release);
        active.sync().map_err(|error| self.fatal(error))?;
        self.durable
            .fetch_max(LogPosition::new(active.ordinal, end).as_u64(), Ordering::AcqRel);
        Ok(())
    }

    pub fn file_by_ordinal(&self, ordinal: u32) -> Option<Arc<FileEntry>> {
        let files = self.files.read();
        let at = files.binary_search_by_key(&ordinal, |file| file.ordinal).ok()?;
        Some(Arc::clone(&files[at]))
    }

    pub fn file_by_name(&self, name: &str) -> Option<Arc<FileEntry>> {
        let name = name.rsplit('/').next().unwrap_or(name);
        self.files.read().iter().find(|file| file.name == name).cloned()
    }

    /// The first file with at least this ordinal.
    pub fn file_from_ordinal(&self, ordinal: u32) -> Option<Arc<FileEntry>> {
        let files = self.files.read();
        let at = files.partition_point(|file| file.ordinal < ordinal);
        files.get(at).cloned()
    }
}
