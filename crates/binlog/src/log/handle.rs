//! The log as a whole: its shared state, and queries about it.

use crate::disk::{Disk, is_no_space};
use crate::epoch::EpochHistory;
use crate::error::{Error, Result};
use crate::event::Predecessor;
use crate::gtid::GtidState;
use crate::log::extent::{LogEnd, LogExtent};
use crate::log::files::active_file::ActiveFile;
use crate::log::files::entry::{FileEntry, LogFile};
use crate::log::files::index_file::IndexFile;
use crate::replica_state::ReplicaState;
use crate::sync_mode::SyncMode;
use paceline_types::{Gtid, LogIndex, LogPosition, ServerId};
use parking_lot::{Mutex, RwLock};
use std::io;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, OnceLock};

/// The log. A handle that is cheap to clone. Any thread may read and query at any time. Writing (from
/// [`Log::reserve`] to [`Log::append`]; [`Log::rotate`], [`Log::write_checkpoint`], [`Log::set_sync_mode`],
/// [`Log::reset`], [`Log::close`]) is for one leader at a time.
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

/// Result of [`Log::prepare_ahead`].
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Preparation {
    /// There is enough space ahead.
    NotNeeded,
    /// Space was prepared.
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
    /// The index file; locked during its replacement.
    pub index: Mutex<IndexFile>,
    /// The files in the index, oldest first, the active one last.
    pub files: RwLock<Vec<Arc<FileEntry>>>,
    pub active: RwLock<Arc<ActiveFile>>,
    pub writer: Mutex<Writer>,
    /// Number for the next large transaction's file while it is not part of the log.
    pub next_large: AtomicU64,
    /// A file of zeros for the next rotation.
    pub prepared_file: Mutex<Option<PreparedFile>>,
    /// Positions in the form of [`LogPosition::as_u64`].
    pub written: AtomicU64,
    pub durable: AtomicU64,
    /// The same positions with their indexes; locked after `active`'s index.
    pub extent: Mutex<LogExtent>,
    /// Ordinal of the first file that recovery needs.
    pub checkpoint: AtomicU64,
    /// State of the replica up to `written`.
    pub replica: Mutex<ReplicaState>,
    /// Reason why nothing may be written any more.
    pub poison: OnceLock<String>,
}

/// State that only the leader uses.
#[derive(Debug)]
pub(super) struct Writer {
    pub active: Arc<ActiveFile>,
    /// End of the active file's last event.
    pub end: u64,
    pub sync_mode: SyncMode,
    /// Encoded record that precedes the next write.
    pub prefix: Vec<u8>,
    /// Durable position in the last such record.
    pub recorded_durable: LogPosition,
    /// Timestamp for records that have no time of their own.
    pub timestamp: u32,
    pub life: LogLifecycle,
}

/// Whether the log takes writes.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum LogLifecycle {
    Open,
    Closed,
}

/// A file that was prepared for a later rotation: zeros up to `prepared_end`, in no index.
#[derive(Debug)]
pub(super) struct PreparedFile {
    pub number: u32,
    pub file: Arc<dyn crate::disk::DiskFile>,
    pub prepared_end: u64,
}

impl Log {
    /// Returns the directory of the log's files.
    pub fn directory(&self) -> &Path {
        &self.inner.directory
    }

    /// Returns the position up to which the log is written.
    pub fn written(&self) -> LogPosition {
        LogPosition::from_u64(self.inner.written.load(Ordering::Acquire))
    }

    /// Returns the position up to which the log is durable.
    pub fn durable(&self) -> LogPosition {
        LogPosition::from_u64(self.inner.durable.load(Ordering::Acquire))
    }

    /// Returns the newest epochs in everything that is written.
    pub fn epochs(&self) -> EpochHistory {
        self.inner.extent.lock().epochs().clone()
    }

    /// Returns the log index of everything that is durable.
    pub fn durable_index(&self) -> LogIndex {
        self.inner.extent.lock().durable().index
    }

    /// Returns the durable end of the log with its index.
    pub fn durable_with_index(&self) -> (LogPosition, LogIndex) {
        let durable = self.inner.extent.lock().durable();
        (durable.position, durable.index)
    }

    /// Returns the durable end of the log.
    pub fn durable_end(&self) -> LogEnd {
        self.inner.extent.lock().durable_end()
    }

    /// Returns the state of the replica according to everything that is written.
    pub fn replica_state(&self) -> ReplicaState {
        self.inner.replica.lock().clone()
    }

    /// Returns the files, oldest first, the active one last.
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

    /// Returns the file name and the offset that clients see for a position (`SHOW MASTER STATUS` for
    /// [`Self::written`]).
    ///
    /// # Errors
    /// [`Error::UnknownPosition`] if its file does not exist (any more).
    pub fn coordinates(&self, position: LogPosition) -> Result<(String, u64)> {
        let file = self
            .inner
            .file_by_ordinal(position.ordinal())
            .ok_or(Error::UnknownPosition(position))?;
        Ok((file.name.clone(), position.offset()))
    }

    /// Returns the position that a client means by a file's name (with or without a directory) and an offset.
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

    /// Returns the GTID state before the oldest file that still exists.
    pub fn oldest_state(&self) -> GtidState {
        let files = self.inner.files.read();
        files.first().map(|file| file.state.clone()).unwrap_or_default()
    }

    /// Returns the GTID state of all closed files and everything before them. Unlike that of [`Self::state`], it is
    /// durable.
    pub fn closed_state(&self) -> GtidState {
        let files = self.inner.files.read();
        files.last().map(|file| file.state.clone()).unwrap_or_default()
    }

    /// Returns what preceded the oldest file when it was begun.
    pub fn follows(&self) -> Predecessor {
        let files = self.inner.files.read();
        files.first().map_or(Predecessor::Log, |file| file.follows)
    }

    /// Returns the GTID state of everything that is written (`gtid_binlog_state`).
    pub fn state(&self) -> GtidState {
        let active = Arc::clone(&self.inner.active.read());
        let index = active.index.lock();
        index.state().clone()
    }

    /// Returns whether a transaction is written, or a later one of its server and domain ([`GtidState::contains`]).
    pub fn has(&self, gtid: Gtid) -> bool {
        let active = Arc::clone(&self.inner.active.read());
        let index = active.index.lock();
        index.state().contains(gtid)
    }
}

impl Inner {
    pub fn path(&self, name: &str) -> PathBuf {
        self.directory.join(name)
    }

    /// Returns the path of a file's GTID index.
    pub fn index_path(&self, name: &str) -> PathBuf {
        self.directory.join(format!("{name}.idx"))
    }

    pub fn names(&self) -> Vec<String> {
        self.files.read().iter().map(|file| file.name.clone()).collect()
    }

    pub fn io_error(&self, operation: &'static str, name: &str, source: io::Error) -> Error {
        if is_no_space(&source) {
            return Error::NoSpace {
                wanted: self.prepare_step,
            };
        }
        Error::Io {
            operation,
            path: self.path(name),
            source,
        }
    }

    pub fn remove_quietly(&self, name: &str) {
        if let Err(error) = self.disk.remove(&self.path(name)) {
            tracing::warn!("cannot remove binary log file '{name}' that is not needed: {error}");
        }
    }

    pub fn check_poison(&self) -> Result<()> {
        match self.poison.get() {
            Some(reason) => Err(Error::Poisoned(reason.clone())),
            None => Ok(()),
        }
    }

    pub fn check_usable(&self, writer: &Writer) -> Result<()> {
        self.check_poison()?;
        match writer.life {
            LogLifecycle::Open => Ok(()),
            LogLifecycle::Closed => Err(Error::Closed),
        }
    }

    /// Records a fatal error and returns it. Nothing is written any more (invariant 4).
    pub fn fatal(&self, error: Error) -> Error {
        tracing::error!("the binary log takes no more writes: {error}");
        // The first reason is kept.
        let _ = self.poison.set(error.to_string());
        error
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

    /// Returns the first file with at least this ordinal.
    pub fn file_from_ordinal(&self, ordinal: u32) -> Option<Arc<FileEntry>> {
        let files = self.files.read();
        let at = files.partition_point(|file| file.ordinal < ordinal);
        files.get(at).cloned()
    }
}
