//! A transaction too large to be written while others wait: its events are in a file of their own, which becomes the log's next file.
//!
//! ```text
//!  while it runs      bin.large.17   room (zeros)            │ events, their end positions right already
//!  before it queues                  room                    │ events … Xid │ zeros on the disk       all of it synced
//!  its commit         bin.000009     head · padding · Gtid   │ events … Xid │ others go on here
//! ```
//! The idea is MariaDB's (MDEV-32014, `binlog_large_commit_threshold`); there a Gtid event is padded with zeros, here one of our own
//! records fills the room. So an event's place in the file is known when it is encoded, and a commit of any size is one write of the head,
//! a rename and a new index, while others wait for milliseconds.
//!
//! The room is what the head takes when the file is begun, and [`HEAD_GROWTH`]: GTIDs of new domains and servers may come while the
//! transaction runs.

use super::active::{TAIL_ROOM, is_no_space};
use super::disk::{BLOCK_LENGTH, Disk, DiskFile, zeros};
use super::files::file_number;
use super::handle::Log;
use super::head::{NewHead, Occasion};
use crate::error::{Error, Result};
use std::io::{self, IoSlice};
use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::Ordering;

/// By how much a file's head may grow between its transaction's beginning and its commit, in bytes.
const HEAD_GROWTH: u64 = 64 << 10;

/// How much is written between two syncs, in bytes: so that the last one is short, and so that the disk is never asked for much at once while
/// others wait for it.
const SYNC_STEP: u64 = 8 << 20;

/// Zeros behind the transaction: the next groups', in bytes.
const ROOM_BEHIND: u64 = 1 << 20;

/// What names of such files have between the log's name and a number.
const INFIX: &str = ".large.";

/// The events of a large transaction. Dropped before it is committed, its file is removed.
#[derive(Debug)]
pub struct LargeGroup {
    disk: Arc<dyn Disk>,
    path: PathBuf,
    file: Arc<dyn DiskFile>,
    /// Where the first event behind the Gtid event starts.
    room: u64,
    /// The events' bytes.
    length: u64,
    /// How many of them were synced at some time.
    synced: u64,
    stage: Stage,
}

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Stage {
    Growing,
    /// A sync has failed: what was written before it may never be on the disk, whatever later syncs say (invariant 4). Nothing is left but to
    /// roll back.
    Failed,
    /// Complete and synced, with synced zeros up to there.
    Sealed {
        prepared_end: u64,
    },
    /// Its file is the log's.
    Adopted,
}

impl Log {
    /// A file for the events of a transaction that has become large.
    ///
    /// # Errors
    /// [`Error::NoSpace`], or others of creating it. The log is as it was.
    pub fn begin_large_group(&self) -> Result<LargeGroup> {
        let inner = &self.inner;
        inner.check_poison()?;
        let head = NewHead {
            server_id: inner.server_id,
            server_version: &inner.server_version,
            now: 0,
            occasion: Occasion::Rotation,
            ordinal: 0,
            sync_mode: super::config::SyncMode::EachGroup,
            state: &self.state(),
            replica: &self.replica_state(),
            checkpoint: &self.inner.names().last().cloned().unwrap_or_default(),
        }
        .encode();
        let room = (head.len() as u64 + HEAD_GROWTH).next_multiple_of(BLOCK_LENGTH);
        let number = inner.next_large.fetch_add(1, Ordering::Relaxed);
        let path = inner.path(&format!("{}{INFIX}{number}", inner.base_name));
        let created = inner.disk.create(&path);
        let file = created.map_err(|source| large_error("create", &path, room, source))?;
        let group = LargeGroup {
            disk: Arc::clone(&inner.disk),
            path,
            file,
            room,
            length: 0,
            synced: 0,
            stage: Stage::Growing,
        };
        // What is written over later, at the commit, is on the disk: then there is room for it.
        group
            .file
            .extend_with_zeros(0, room)
            .map_err(|source| large_error("extend", &group.path, room, source))?;
        Ok(group)
    }
}

/// Whether a file of that name is a large transaction's that was never committed: for opening, which removes it.
pub(super) fn is_large_name(base_name: &str, name: &str) -> bool {
    let number = name
        .strip_prefix(base_name)
        .and_then(|rest| rest.strip_prefix(INFIX));
    number.is_some_and(|number| number.parse::<u64>().is_ok()) && file_number(base_name, name).is_none()
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
    /// How many bytes of events there are.
    pub fn length(&self) -> u64 {
        self.length
    }

    /// Where the next event will stand in its file.
    pub(crate) fn next_event_at(&self) -> u64 {
        self.room + self.length
    }

    /// Writes events that have their places. After an error there are no more than before.
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

    /// Forgets what is behind so many bytes.
    pub(crate) fn truncate(&mut self, length: u64) {
        // What is left in the file is written over, or cut off in the end.
        self.length = self.length.min(length);
        self.synced = self.synced.min(self.length);
    }

    /// Makes everything durable, with room behind it.
    pub(crate) fn seal(&mut self) -> Result<()> {
        self.check_growing()?;
        let end = self.next_event_at();
        let block_end = end.next_multiple_of(BLOCK_LENGTH);
        let filled = (|| {
            // A rollback may have left something behind the end.
            self.file.set_length(end)?;
            self.file
                .write_at(&[IoSlice::new(zeros((block_end - end) as usize))], end)?;
            self.file.extend_with_zeros(block_end, ROOM_BEHIND)?;
            self.file.sync()
        })();
        filled.map_err(|source| self.fail("seal", source))?;
        const { assert!(ROOM_BEHIND >= TAIL_ROOM) };
        self.stage = Stage::Sealed {
            prepared_end: block_end + ROOM_BEHIND,
        };
        Ok(())
    }

    /// The room in front of the events, in bytes.
    pub(super) fn room(&self) -> u64 {
        self.room
    }

    /// Up to where the file is on the disk.
    ///
    /// # Panics
    /// If it is not sealed: what is not durable must not get a place in the log.
    pub(super) fn prepared_end(&self) -> u64 {
        match self.stage {
            Stage::Sealed { prepared_end } => prepared_end,
            Stage::Growing | Stage::Failed | Stage::Adopted => {
                panic!("only a sealed transaction is committed")
            }
        }
    }

    /// Writes into the room, durably.
    pub(super) fn write_head(&self, head: &[u8]) -> Result<()> {
        assert_eq!(head.len() as u64, self.room, "the head fills the room");
        self.file
            .write_at(&[IoSlice::new(head)], 0)
            .and_then(|()| self.file.sync())
            .map_err(|source| self.io_error("write", source))
    }

    /// Gives the file a name in the log. The directory is not synced yet. From then on the file is no longer removed.
    pub(super) fn rename(&mut self, path: &std::path::Path) -> Result<Arc<dyn DiskFile>> {
        self.disk
            .rename(&self.path, path)
            .map_err(|source| self.io_error("rename", source))?;
        self.stage = Stage::Adopted;
        self.disk
            .open(path)
            .map_err(|source| self.io_error("open", source))
    }

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

    /// A sync has failed.
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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::log::{LogConfig, OpenRequest, SimulatedDisk};
    use paceline_types::ServerId;

    /// The failed sync took with it what an earlier statement had written, and the next one would say nothing of that.
    #[test]
    fn after_a_failed_sync_it_takes_no_more() {
        for is_rolled_back in [true, false] {
            let disk = SimulatedDisk::new();
            let config = LogConfig::new("/log", "bin", ServerId(1));
            let (log, _) = Log::open(Arc::new(disk.clone()), config, OpenRequest::new(1)).unwrap();
            let mut group = log.begin_large_group().unwrap();
            group.append(&[1; 1000]).unwrap();
            disk.fail_sync(1);
            assert!(group.append(&vec![2; SYNC_STEP as usize]).is_err());
            assert_eq!(group.length(), 1000);
            if is_rolled_back {
                group.truncate(1000);
            }
            assert!(group.append(&[3; 1000]).is_err());
            assert!(group.seal().is_err());
            assert!(group.seal().is_err());
        }
    }

    #[test]
    fn names() {
        assert!(is_large_name("bin", "bin.large.17"));
        for other in [
            "bin.000017",
            "bin.large.",
            "bin.large.x",
            "other.large.1",
            "bin.index",
        ] {
            assert!(!is_large_name("bin", other), "{other}");
        }
    }
}
