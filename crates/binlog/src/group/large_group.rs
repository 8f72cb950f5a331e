//! A transaction that is too large to be written while others wait: its events are in a file of its own, which
//! becomes the log's next file.
//!
//! ```text
//!  while it runs      bin.large.17   reserved (zeros)        │ events, with final end positions
//!  before it queues                  reserved                │ events … Xid │ zeros on the disk       all of it synced
//!  its commit         bin.000009     head · padding · Gtid   │ events … Xid │ the next groups
//! ```
//! The idea is MariaDB's (MDEV-32014, `binlog_large_commit_threshold`). MariaDB pads the Gtid event with zeros; here
//! a record of our own fills the reserved space. So an event's offset in the file is known when it is encoded. A
//! commit of any size is one write of the head, a rename and a new index, and other transactions wait for
//! milliseconds only.
//!
//! The log chooses the length of the reserved space ([`crate::log::Log::begin_large_group`]).

use crate::disk::{BLOCK_LENGTH, Disk, DiskFile, is_no_space, zeros};
use crate::error::{Error, Result};
use std::io::{self, IoSlice};
use std::path::PathBuf;
use std::sync::Arc;

/// Number of bytes between two syncs. The last sync is then short, and the disk never gets much work at once while
/// other transactions wait for it.
const SYNC_STEP: u64 = 8 << 20;

/// Zeros after the transaction, for the next groups, in bytes.
pub(crate) const TRAILING_SPACE: u64 = 1 << 20;

/// The events of a large transaction. Removes its file when it is dropped before the commit.
#[derive(Debug)]
pub struct LargeGroup {
    disk: Arc<dyn Disk>,
    path: PathBuf,
    file: Arc<dyn DiskFile>,
    /// Offset of the first event after the Gtid event; the space before it is reserved.
    room: u64,
    /// Length of the events in bytes.
    length: u64,
    /// How many of these bytes were synced.
    synced: u64,
    stage: Stage,
}

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Stage {
    Growing,
    /// A sync has failed: data that was written before it may never reach the disk, whatever later syncs return
    /// (invariant 4). The transaction can only be rolled back.
    Failed,
    /// Complete and synced, with synced zeros up to this offset.
    Sealed {
        prepared_end: u64,
    },
    /// Renamed: the file belongs to the log.
    Adopted,
}

fn large_error(operation: &'static str, path: &std::path::Path, wanted: u64, source: io::Error) -> Error {
    if is_no_space(&source) {
        return Error::NoSpace { wanted };
    }
    Error::Io {
        operation,
        path: path.to_owned(),
        source,
    }
}

impl LargeGroup {
    /// Creates the file, with space for a head of `room` bytes.
    pub(crate) fn create(disk: &Arc<dyn Disk>, path: PathBuf, room: u64) -> Result<Self> {
        let created = disk.create(&path);
        let file = created.map_err(|source| large_error("create", &path, room, source))?;
        let group = LargeGroup {
            disk: Arc::clone(disk),
            path,
            file,
            room,
            length: 0,
            synced: 0,
            stage: Stage::Growing,
        };
        // The blocks that the commit will overwrite are on the disk, so it cannot run out of space there.
        group
            .file
            .extend_with_zeros(0, room)
            .map_err(|source| large_error("extend", &group.path, room, source))?;
        Ok(group)
    }

    /// Returns the length of the events in bytes.
    pub fn length(&self) -> u64 {
        self.length
    }

    /// Returns the offset of the next event in the file.
    pub(crate) fn next_event_at(&self) -> u64 {
        self.room + self.length
    }

    /// Appends events that have their final positions. After an error the length is unchanged.
    pub(crate) fn append(&mut self, events: &[u8]) -> Result<()> {
        self.check_growing()?;
        let length = self.length + events.len() as u64;
        self.file
            .write_at(&[IoSlice::new(events)], self.next_event_at())
            .map_err(|source| self.io_error("write", source))?;
        if length.saturating_sub(self.synced) >= SYNC_STEP {
            self.file.sync().map_err(|source| self.fail("sync", source))?;
            self.synced = length;
        }
        self.length = length;
        Ok(())
    }

    /// Discards everything after the first `length` bytes of events.
    pub(crate) fn truncate(&mut self, length: u64) {
        // The discarded bytes in the file are overwritten, or cut off in the end.
        self.length = self.length.min(length);
        self.synced = self.synced.min(self.length);
    }

    /// Makes everything durable, with space for the next groups after it.
    pub(crate) fn seal(&mut self) -> Result<()> {
        self.check_growing()?;
        let end = self.next_event_at();
        let block_end = end.next_multiple_of(BLOCK_LENGTH);
        let filled = (|| {
            // A rollback may have left bytes after the end.
            self.file.set_length(end)?;
            self.file
                .write_at(&[IoSlice::new(zeros((block_end - end) as usize))], end)?;
            self.file.extend_with_zeros(block_end, TRAILING_SPACE)?;
            self.file.sync()
        })();
        filled.map_err(|source| self.fail("seal", source))?;
        self.stage = Stage::Sealed {
            prepared_end: block_end + TRAILING_SPACE,
        };
        Ok(())
    }

    /// Returns the length of the reserved space before the events, in bytes.
    pub(crate) fn room(&self) -> u64 {
        self.room
    }

    /// Returns the end of the part of the file that is on the disk.
    ///
    /// # Panics
    /// If the group is not sealed: a transaction that is not durable must not get a position in the log.
    pub(crate) fn prepared_end(&self) -> u64 {
        match self.stage {
            Stage::Sealed { prepared_end } => prepared_end,
            Stage::Growing | Stage::Failed | Stage::Adopted => {
                panic!("only a sealed transaction is committed")
            }
        }
    }

    /// Writes the reserved space, durably.
    pub(crate) fn write_head(&self, head: &[u8]) -> Result<()> {
        assert_eq!(head.len() as u64, self.room, "the head fills the room");
        self.file
            .write_at(&[IoSlice::new(head)], 0)
            .and_then(|()| self.file.sync())
            .map_err(|source| self.io_error("write", source))
    }

    /// Gives the file a name in the log. The directory is not synced yet. From then on, dropping does not remove the
    /// file.
    pub(crate) fn rename(&mut self, path: &std::path::Path) -> Result<Arc<dyn DiskFile>> {
        self.disk
            .rename(&self.path, path)
            .map_err(|source| self.io_error("rename", source))?;
        self.stage = Stage::Adopted;
        self.disk
            .open(path)
            .map_err(|source| self.io_error("open", source))
    }

    /// Fails after a failed sync.
    ///
    /// # Panics
    /// If it is sealed.
    fn check_growing(&self) -> Result<()> {
        match self.stage {
            Stage::Growing => Ok(()),
            Stage::Failed => {
                let reason = "a sync of it has failed before, and what it holds is not to be trusted";
                Err(self.io_error("write", io::Error::other(reason)))
            }
            Stage::Sealed { .. } | Stage::Adopted => panic!("a sealed transaction gets no more events"),
        }
    }

    /// Records that a sync has failed.
    fn fail(&mut self, operation: &'static str, source: io::Error) -> Error {
        self.stage = Stage::Failed;
        self.io_error(operation, source)
    }

    fn io_error(&self, operation: &'static str, source: io::Error) -> Error {
        large_error(operation, &self.path, self.length, source)
    }
}

impl Drop for LargeGroup {
    fn drop(&mut self) {
        if self.stage != Stage::Adopted
            && let Err(error) = self.disk.remove(&self.path)
        {
            tracing::warn!(
                "cannot remove '{}', the next start will: {error}",
                self.path.display()
            );
        }
    }
}
