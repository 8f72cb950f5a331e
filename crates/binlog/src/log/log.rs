//! The log as a whole.

use super::config::{LogConfig, OpenRequest, SyncMode};
use super::disk::Disk;
use super::files::{LogFile, PurgeOutcome, PurgeTarget};
use super::reader::LogReader;
use crate::error::Result;
use crate::group::CommitGroup;
use crate::gtid::{BinlogState, GtidPosition};
use paceline_types::{Gtid, LogPosition};
use std::sync::Arc;

/// The log. Reading and asking may happen from any thread at any time; writing (`reserve`, `append`, `rotate`,
/// `write_checkpoint`, `set_sync_mode`, `reset`, `close`) is for one leader at a time, from `reserve` to `append`.
#[derive(Debug)]
pub struct Log {}

/// How the server that wrote the log before went down.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Shutdown {
    /// There was no log.
    New,
    /// It closed its log.
    Clean,
    /// It did not.
    Crash,
}

/// What a torn write left behind and opening has cut off.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Cut {
    /// The file.
    pub file: String,
    /// Where it was cut, in bytes.
    pub offset: u64,
    /// How many bytes had been written behind.
    pub length: u64,
}

/// What opening found.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Recovery {
    /// Whether this is a restart, and after what.
    pub shutdown: Shutdown,
    /// The GTID state of everything in the log.
    pub state: BinlogState,
    /// Where the log begins: nothing before it is there to replay.
    pub start: LogPosition,
    /// Where what is to be replayed ends.
    pub end: LogPosition,
    /// The start of the file that the last Binlog_checkpoint names.
    pub checkpoint: LogPosition,
    /// What was cut off.
    pub cut: Option<Cut>,
}

/// Whether there was something to prepare.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Preparation {
    /// There is room enough ahead.
    NotNeeded,
    /// Room was prepared.
    Done,
}

impl Log {
    /// Opens the log in a directory, or creates it there. The tail that a crash has left is mended (see the module's
    /// head), and a new file is begun.
    ///
    /// # Errors
    /// [`crate::Error::Gap`], [`crate::Error::EndLost`], [`crate::Error::MissingFile`], [`crate::Error::DamagedIndex`]: the
    /// log cannot be trusted, and nothing was changed.
    pub fn open(_disk: Arc<dyn Disk>, _config: LogConfig, _request: OpenRequest) -> Result<(Log, Recovery)> {
        todo!()
    }

    /// Where the next group of at most `length` bytes will start: [`CommitGroup::begin`] wants it. Prepares room
    /// if there is not enough, which a call of [`Self::prepare_ahead`] in time avoids.
    ///
    /// # Errors
    /// [`crate::Error::NoSpace`]: the disk is full, nothing has happened, later calls may succeed.
    pub fn reserve(&self, _length: u64) -> Result<LogPosition> {
        todo!()
    }

    /// Writes a group with one write, where the last [`Self::reserve`] said. Returns where it ends.
    ///
    /// # Errors
    /// What fails here is fatal: the log takes no more writes.
    pub fn append(&self, _group: &CommitGroup) -> Result<LogPosition> {
        todo!()
    }

    /// Makes what was written when it was called durable. Returns up to where the log is durable now. Does not hold up
    /// readers; may run beside [`Self::append`] in [`SyncMode::Deferred`] only.
    ///
    /// # Errors
    /// What fails here is fatal: the log takes no more writes, and what was not durable never will be acknowledged.
    pub fn sync(&self) -> Result<LogPosition> {
        todo!()
    }

    /// Up to where the log is written.
    pub fn written(&self) -> LogPosition {
        todo!()
    }

    /// Up to where the log is durable.
    pub fn durable(&self) -> LogPosition {
        todo!()
    }

    /// Prepares room ahead of need, and may take long: for a thread in the background.
    ///
    /// # Errors
    /// [`crate::Error::NoSpace`], which is no harm yet; other errors are fatal to the log.
    pub fn prepare_ahead(&self) -> Result<Preparation> {
        todo!()
    }

    /// Whether [`Self::prepare_ahead`] should be called soon. Cheap: asked after every append.
    pub fn wants_preparation(&self) -> bool {
        todo!()
    }

    /// Whether the active file has reached `max_binlog_size`.
    pub fn rotation_due(&self) -> bool {
        todo!()
    }

    /// Goes on in a new file. Everything before is durable afterwards. Returns where the log goes on.
    ///
    /// # Errors
    /// [`crate::Error::NoSpace`]: the log goes on in the old file. Others are fatal.
    pub fn rotate(&self, _now: u32) -> Result<LogPosition> {
        todo!()
    }

    /// Changes how the log is synced from here on (`SET GLOBAL sync_binlog`).
    ///
    /// # Errors
    /// As for [`Self::append`] and [`Self::sync`].
    pub fn set_sync_mode(&self, _mode: SyncMode) -> Result<()> {
        todo!()
    }

    /// `SET GLOBAL max_binlog_size`, in bytes.
    pub fn set_file_size_max(&self, _bytes: u64) {
        todo!()
    }

    /// Writes a Binlog_checkpoint event: recovery needs nothing before the file that holds `needed`.
    ///
    /// # Errors
    /// As for [`Self::append`] and [`Self::sync`].
    pub fn write_checkpoint(&self, _needed: LogPosition, _now: u32) -> Result<()> {
        todo!()
    }

    /// Removes files from the beginning. Never the active one, never one that recovery needs, and none for which `guard`
    /// names somebody who needs it.
    ///
    /// # Errors
    /// [`crate::Error::UnknownFile`] (1373) for a target that is not there.
    pub fn purge(
        &self,
        _target: &PurgeTarget,
        _guard: &dyn Fn(&LogFile) -> Option<String>,
    ) -> Result<PurgeOutcome> {
        todo!()
    }

    /// `binlog_expire_logs_seconds`: removes the files that were closed longer ago. 0 removes none.
    ///
    /// # Errors
    /// As for [`Self::purge`].
    pub fn expire(
        &self,
        _now: std::time::SystemTime,
        _seconds: u64,
        _guard: &dyn Fn(&LogFile) -> Option<String>,
    ) -> Result<PurgeOutcome> {
        todo!()
    }

    /// `RESET MASTER`: an empty log, names from .000001 again (or from `number`), ordinals going on. The engines must hold
    /// everything in the log before. Returns where the log goes on.
    ///
    /// # Errors
    /// [`crate::Error::NoSpace`]: nothing has changed.
    pub fn reset(&self, _number: Option<u32>, _now: u32) -> Result<LogPosition> {
        todo!()
    }

    /// Writes the Stop event and closes the active file. Nothing is written afterwards.
    ///
    /// # Errors
    /// As for [`Self::sync`].
    pub fn close(&self, _now: u32) -> Result<()> {
        todo!()
    }

    /// The files, oldest first, the active one last.
    pub fn files(&self) -> Vec<LogFile> {
        todo!()
    }

    /// The name of the file and the offset that a client is told for a position (`SHOW MASTER STATUS` for
    /// [`Self::written`]).
    ///
    /// # Errors
    /// [`crate::Error::UnknownPosition`] if its file is not there (any more).
    pub fn coordinates(&self, _position: LogPosition) -> Result<(String, u64)> {
        todo!()
    }

    /// The position that a client means by a file's name and an offset.
    ///
    /// # Errors
    /// [`crate::Error::UnknownFile`].
    pub fn position_of(&self, _file: &str, _offset: u64) -> Result<LogPosition> {
        todo!()
    }

    /// A reader from `from` (the start of a file, or where an event starts or ends) to `limit`.
    ///
    /// # Errors
    /// [`crate::Error::Purged`] if the file is no longer there.
    pub fn reader(&self, _from: LogPosition, _limit: LogPosition) -> Result<LogReader> {
        todo!()
    }

    /// The GTID state of everything that is written (`gtid_binlog_state`).
    pub fn state(&self) -> BinlogState {
        todo!()
    }

    /// Where somebody who has everything in `position` must start to read: no transaction before it is missing there. Reads
    /// an index or at most one file.
    ///
    /// # Errors
    /// [`crate::Error::Purged`] if what is missing begins before the first file.
    pub fn locate(&self, _position: &GtidPosition) -> Result<LogPosition> {
        todo!()
    }

    /// Where this transaction's event group starts, or `None` if it is not in the log. Reads an index or at most one file.
    ///
    /// # Errors
    /// [`crate::Error::Damaged`].
    pub fn find(&self, _gtid: Gtid) -> Result<Option<LogPosition>> {
        todo!()
    }

    /// The GTID state just before a position (`BINLOG_GTID_POS()` is its [`BinlogState::position`]).
    ///
    /// # Errors
    /// [`crate::Error::UnknownPosition`].
    pub fn state_at(&self, _position: LogPosition) -> Result<BinlogState> {
        todo!()
    }
}
