//! Creating files of the log, ahead of need or when a new one is due.

use crate::disk::{BLOCK_LENGTH, Disk, is_no_space};
use crate::epoch::EpochHistory;
use crate::error::{Error, Result};
use crate::gtid::GtidState;
use crate::log::files::active_file::{ActiveFile, TAIL_RESERVE};
use crate::log::files::entry::{FileEntry, file_name, number_after};
use crate::log::files::gtid_index::GtidIndexBuilder;
use crate::log::files::head::{FileReason, NewHead, Origin};
use crate::log::handle::{Inner, PreparedFile};
use crate::replica_state::ReplicaState;
use crate::sync_mode::SyncMode;
use paceline_types::{LogPosition, ServerId};
use std::io::{self, ErrorKind, IoSlice};
use std::path::Path;
use std::sync::atomic::Ordering;
use std::time::SystemTime;

/// Parameters of a new file.
#[derive(Debug)]
pub(in crate::log) struct NewFile<'a> {
    /// The file's name. For a reset this is a temporary name.
    pub name: String,
    pub number: u32,
    pub ordinal: u32,
    pub occasion: FileReason,
    pub sync_mode: SyncMode,
    pub state: &'a GtidState,
    pub replica: &'a ReplicaState,
    pub epochs: &'a EpochHistory,
    /// The first file that recovery needs.
    pub checkpoint: &'a str,
    pub now: u32,
}

impl Inner {
    /// Creates the prepared file for the next rotation, unless it exists. Returns whether it did so.
    pub fn prepare_next_file(&self, active_number: u32) -> Result<bool> {
        let mut prepared_file = self.prepared_file.lock();
        let Ok(number) = number_after(active_number) else {
            return Ok(false);
        };
        // A thread that begins a file holds the lock on the prepared file as well. If a file was begun in the meantime,
        // a file of this name may already be in use for something else.
        if self.active.read().number != active_number {
            return Ok(false);
        }
        if prepared_file
            .as_ref()
            .is_some_and(|prepared_file| prepared_file.number >= number)
        {
            return Ok(false);
        }
        let name = file_name(&self.base_name, number);
        let prepared_end = self.prepare_step.max(BLOCK_LENGTH).next_multiple_of(BLOCK_LENGTH);
        let file = match self.disk.create(&self.path(&name)) {
            Ok(file) => file,
            // A rotation has created this file and is about to continue in it.
            Err(error) if error.kind() == ErrorKind::AlreadyExists => return Ok(false),
            Err(source) => return Err(self.io_error("create", &name, source)),
        };
        if let Err(source) = file.extend_with_zeros(0, prepared_end) {
            self.remove_quietly(&name);
            return Err(self.io_error("extend", &name, source));
        }
        *prepared_file = Some(PreparedFile {
            number,
            file,
            prepared_end,
        });
        Ok(true)
    }

    /// Removes the prepared file.
    pub fn discard_prepared(&self, held: &mut Option<PreparedFile>) {
        if let Some(prepared_file) = held.take() {
            self.remove_quietly(&file_name(&self.base_name, prepared_file.number));
        }
    }

    /// Creates a file with its head, or turns the prepared file into one. It is in no index yet. Returns where the head
    /// ends. The caller holds the lock on the prepared file until the file has been created, so that no other thread
    /// prepares a file of the same name in the meantime.
    pub fn create_file(
        &self,
        new: &NewFile<'_>,
        held: &mut Option<PreparedFile>,
    ) -> Result<(FileEntry, ActiveFile, u64)> {
        let prepared_file =
            held.take_if(|prepared_file| file_name(&self.base_name, prepared_file.number) == new.name);
        self.discard_prepared(held);
        let creator = FileCreator {
            disk: &*self.disk,
            directory: &self.directory,
            server_id: self.server_id,
            server_version: &self.server_version,
            first_room: first_room(self.file_size_max.load(Ordering::Relaxed), self.prepare_step),
        };
        creator.create(new, prepared_file)
    }
}

/// Returns how many bytes of space a new file gets at first. This is not much, because beginning a file holds up
/// commits. The rest is prepared in the background.
pub(in crate::log) fn first_room(file_size_max: u64, prepare_step: u64) -> u64 {
    let room = file_size_max
        .saturating_add(16 * BLOCK_LENGTH)
        .min(prepare_step)
        .min(FIRST_ROOM_MAX);
    room.max(BLOCK_LENGTH).next_multiple_of(BLOCK_LENGTH)
}

/// See [`first_room`].
const FIRST_ROOM_MAX: u64 = 1 << 20;

/// Creates the files of a log.
#[derive(Debug)]
pub(in crate::log) struct FileCreator<'a> {
    pub disk: &'a dyn Disk,
    pub directory: &'a Path,
    pub server_id: ServerId,
    pub server_version: &'a str,
    pub first_room: u64,
}

impl FileCreator<'_> {
    /// Creates a file with its head and prepared space, or turns a prepared file into one; the file and its name are
    /// durable. It is in no index yet. Removes the file again if this fails. Returns where the head ends.
    pub fn create(
        &self,
        new: &NewFile<'_>,
        prepared_file: Option<PreparedFile>,
    ) -> Result<(FileEntry, ActiveFile, u64)> {
        let head = NewHead {
            server_id: self.server_id,
            server_version: self.server_version,
            now: new.now,
            occasion: new.occasion,
            ordinal: new.ordinal,
            sync_mode: new.sync_mode,
            state: new.state,
            replica: new.replica,
            epochs: new.epochs,
            checkpoint: new.checkpoint,
        }
        .encode();
        let path = self.directory.join(&new.name);
        let created = match prepared_file {
            Some(prepared_file) => Ok((prepared_file.file, prepared_file.prepared_end)),
            None => self.disk.create(&path).map(|file| (file, 0)),
        };
        let (file, mut prepared_end) = created.map_err(|source| self.io_error("create", &path, source))?;
        let filled = (|| {
            let needed = (head.len() as u64 + TAIL_RESERVE).next_multiple_of(BLOCK_LENGTH);
            if prepared_end < needed {
                let wanted = self.first_room.max(needed);
                let extended = file
                    .extend_with_zeros(prepared_end, wanted - prepared_end)
                    .map(|()| wanted);
                prepared_end = match extended {
                    Err(error) if is_no_space(&error) && wanted > needed => {
                        file.set_length(prepared_end)?;
                        file.extend_with_zeros(prepared_end, needed - prepared_end)?;
                        needed
                    }
                    result => result?,
                };
            }
            file.write_at(&[IoSlice::new(&head)], 0)?;
            file.sync()?;
            self.disk.sync_directory(self.directory)
        })();
        if let Err(source) = filled {
            if let Err(error) = self.disk.remove(&path) {
                tracing::warn!("cannot remove '{}', which could not be filled: {error}", new.name);
            }
            return Err(self.io_error("fill", &path, source));
        }
        let end = head.len() as u64;
        let builder = GtidIndexBuilder::new(new.state.clone(), end);
        let entry = FileEntry {
            name: new.name.clone(),
            number: new.number,
            ordinal: new.ordinal,
            length: end,
            modified: SystemTime::now(),
            state: new.state.clone(),
            head_length: end,
            follows: new.occasion.follows(),
            origin: Origin::Ours,
        };
        let active = ActiveFile::new(
            new.name.clone(),
            new.number,
            new.ordinal,
            file,
            path,
            prepared_end,
            builder,
        );
        Ok((entry, active, end))
    }

    fn io_error(&self, operation: &'static str, path: &Path, source: io::Error) -> Error {
        if is_no_space(&source) {
            return Error::NoSpace {
                wanted: self.first_room,
            };
        }
        Error::Io {
            operation,
            path: path.to_owned(),
            source,
        }
    }
}

/// Returns the next file's ordinal. No file gets the highest ordinal: versions with it are not positions in the log but
/// marks on the rows of large transactions.
pub(in crate::log) fn ordinal_after(ordinal: u32) -> Result<u32> {
    if ordinal >= LogPosition::ORDINAL_MAX - 1 {
        Err(Error::NumbersExhausted)
    } else {
        Ok(ordinal + 1)
    }
}
