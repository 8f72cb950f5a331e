//! Going on in a new file, closing, and starting over. The order of steps is in the module's head.

use super::active::{ActiveFile, TAIL_ROOM, is_no_space};
use super::config::SyncMode;
use super::disk::{BLOCK_LENGTH, Disk};
use super::files::{FileEntry, file_name, number_after};
use super::gtid_index::GtidIndexBuilder;
use super::handle::{Inner, Life, Log, SpareFile, Writer};
use super::head::{NewHead, Occasion};
use crate::error::{Error, Result};
use crate::event::{EventFlags, MAGIC, RotateEvent, StopEvent, encode_event};
use crate::gtid::BinlogState;
use paceline_types::{LogPosition, ServerId};
use std::io::{self, ErrorKind, IoSlice};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::SystemTime;

/// What a new file gets.
#[derive(Debug)]
pub(super) struct NewFile<'a> {
    /// Its name, which for a reset is not yet the one it will have.
    pub name: String,
    pub number: u32,
    pub ordinal: u32,
    pub occasion: Occasion,
    pub sync_mode: SyncMode,
    pub state: &'a BinlogState,
    /// The first file that recovery needs.
    pub checkpoint: &'a str,
    pub now: u32,
}

impl Log {
    /// Goes on in a new file. Everything before is durable afterwards. Returns where the log goes on. `now` is in seconds
    /// since 1970.
    ///
    /// # Errors
    /// [`Error::NoSpace`]: the log goes on in the old file, as before. Other errors are fatal.
    pub fn rotate(&self, now: u32) -> Result<LogPosition> {
        let inner = &self.inner;
        let mut writer = inner.writer.lock();
        inner.check_usable(&writer)?;
        self.sync()?;
        let old = Arc::clone(&writer.active);
        let number = number_after(old.number)?;
        let ordinal = ordinal_after(old.ordinal)?;
        let checkpoint = inner
            .file_by_ordinal(inner.checkpoint.load(Ordering::Acquire) as u32)
            .map_or_else(|| old.name.clone(), |file| file.name.clone());
        let state = self.state();
        let (entry, new, end) = inner.create_file(&NewFile {
            name: file_name(&inner.base_name, number),
            number,
            ordinal,
            occasion: Occasion::Rotation,
            sync_mode: writer.sync_mode,
            state: &state,
            checkpoint: &checkpoint,
            now,
        })?;

        let index = inner.index.lock();
        let names = inner.names();
        if let Err(error) = index.prepare(names.iter().map(String::as_str).chain([entry.name.as_str()])) {
            inner.remove_quietly(&entry.name);
            let _ = index.discard();
            return Err(error);
        }
        let mut event = Vec::new();
        let rotate = RotateEvent {
            position: MAGIC.len() as u64,
            file_name: entry.name.as_bytes(),
        };
        encode_event(
            &mut event,
            &inner.stamp(now, EventFlags::NONE),
            writer.end,
            &rotate,
        );
        inner.write_reserved_record(&mut writer, now, &event)?;
        index.replace().map_err(|error| inner.fatal(error))?;

        let old_end = writer.end;
        inner.go_on_in(&mut writer, entry, new, end, old_end);
        drop(index);
        inner.finish(&old, old_end)?;
        Ok(self.written())
    }

    /// Writes the Stop event and closes the active file. Nothing is written afterwards.
    ///
    /// # Errors
    /// As for [`Self::sync`].
    pub fn close(&self, now: u32) -> Result<()> {
        let inner = &self.inner;
        let mut writer = inner.writer.lock();
        inner.check_usable(&writer)?;
        self.sync()?;
        let mut event = Vec::new();
        encode_event(
            &mut event,
            &inner.stamp(now, EventFlags::NONE),
            writer.end,
            &StopEvent,
        );
        inner.write_reserved_record(&mut writer, now, &event)?;
        writer.life = Life::Closed;
        inner.drop_spare();
        inner.finish(&writer.active, writer.end)
    }

    /// `RESET MASTER [TO number]`: an empty log with an empty GTID state. Names start from .000001 (or `number`) again;
    /// ordinals, and so positions, go on. The engines must hold everything in the log before, durably. Returns where the log
    /// goes on.
    ///
    /// # Errors
    /// [`Error::NoSpace`]: nothing has changed. Other errors are fatal.
    pub fn reset(&self, number: Option<u32>, now: u32) -> Result<LogPosition> {
        let inner = &self.inner;
        let mut writer = inner.writer.lock();
        inner.check_usable(&writer)?;
        self.sync()?;
        let old = Arc::clone(&writer.active);
        let number = number_after(number.unwrap_or(1).saturating_sub(1))?;
        let ordinal = ordinal_after(old.ordinal)?;
        let final_name = file_name(&inner.base_name, number);
        inner.drop_spare();
        let (entry, new, end) = inner.create_file(&NewFile {
            name: reset_name(&inner.base_name),
            number,
            ordinal,
            occasion: Occasion::Rotation,
            sync_mode: writer.sync_mode,
            state: &BinlogState::new(),
            checkpoint: &final_name,
            now,
        })?;
        let index = inner.index.lock();
        let old_names = inner.names();
        if let Err(error) = index.prepare([entry.name.as_str()]) {
            inner.remove_quietly(&entry.name);
            let _ = index.discard();
            return Err(error);
        }
        // From here on there is no way back; a crash is completed by opening.
        let fatal = |error| inner.fatal(error);
        index.replace().map_err(fatal)?;
        inner
            .complete_reset(&index, &old_names, &final_name)
            .map_err(fatal)?;
        let entry = FileEntry {
            name: final_name.clone(),
            ..entry
        };
        let new = ActiveFile::new(
            final_name,
            number,
            ordinal,
            Arc::clone(&new.file),
            inner.path(&entry.name),
            new.prepared_end(),
            GtidIndexBuilder::new(BinlogState::new(), entry.head_length),
        );
        inner.files.write().clear();
        inner.checkpoint.store(u64::from(ordinal), Ordering::Release);
        inner.go_on_in(&mut writer, entry, new, end, 0);
        // The old file is gone; whoever still prepares room in it must stop.
        let _ = old.finish(0);
        Ok(self.written())
    }
}

impl Inner {
    pub fn path(&self, name: &str) -> PathBuf {
        self.directory.join(name)
    }

    /// The name of a file's GTID index.
    pub fn index_path(&self, name: &str) -> PathBuf {
        self.directory.join(format!("{name}.idx"))
    }

    fn names(&self) -> Vec<String> {
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

    fn remove_quietly(&self, name: &str) {
        if let Err(error) = self.disk.remove(&self.path(name)) {
            tracing::warn!("cannot remove binary log file '{name}' that is not needed: {error}");
        }
    }

    /// Makes the file for the next rotation, unless it is there. Returns whether it did.
    pub fn prepare_spare(&self, active_number: u32) -> Result<bool> {
        let mut spare = self.spare.lock();
        let Ok(number) = number_after(active_number) else {
            return Ok(false);
        };
        if spare.as_ref().is_some_and(|spare| spare.number >= number) {
            return Ok(false);
        }
        let name = file_name(&self.base_name, number);
        let prepared_end = first_room(self.file_size_max.load(Ordering::Relaxed), self.prepare_step);
        let file = match self.disk.create(&self.path(&name)) {
            Ok(file) => file,
            // A rotation that came in between has made it.
            Err(error) if error.kind() == ErrorKind::AlreadyExists => return Ok(false),
            Err(source) => return Err(self.io_error("create", &name, source)),
        };
        if let Err(source) = file.extend_with_zeros(0, prepared_end) {
            self.remove_quietly(&name);
            return Err(self.io_error("extend", &name, source));
        }
        *spare = Some(SpareFile {
            number,
            file,
            prepared_end,
        });
        Ok(true)
    }

    pub fn drop_spare(&self) {
        if let Some(spare) = self.spare.lock().take() {
            self.remove_quietly(&file_name(&self.base_name, spare.number));
        }
    }

    /// Creates a file with its head, or makes it of the spare one. It is in no index yet. Returns where the head ends.
    fn create_file(&self, new: &NewFile<'_>) -> Result<(FileEntry, ActiveFile, u64)> {
        let spare = {
            let mut spare = self.spare.lock();
            let fits = |spare: &SpareFile| file_name(&self.base_name, spare.number) == new.name;
            if spare.as_ref().is_some_and(fits) {
                spare.take()
            } else {
                None
            }
        };
        if spare.is_none() {
            self.drop_spare();
        }
        let creator = FileCreator {
            disk: &*self.disk,
            directory: &self.directory,
            server_id: self.server_id,
            server_version: &self.server_version,
            first_room: first_room(self.file_size_max.load(Ordering::Relaxed), self.prepare_step),
        };
        creator.create(new, spare)
    }

    /// The index names a new file: from now on it is the active one. The old one's length is now certain.
    fn go_on_in(&self, writer: &mut Writer, entry: FileEntry, new: ActiveFile, end: u64, old_end: u64) {
        let position = LogPosition::new(entry.ordinal, end);
        let new = Arc::new(new);
        {
            let mut files = self.files.write();
            if let Some(last) = files.last_mut() {
                let closed = FileEntry {
                    length: old_end,
                    modified: SystemTime::now(),
                    ..FileEntry::clone(last)
                };
                *last = Arc::new(closed);
            }
            files.push(Arc::new(entry));
            // Whoever lists files sees the new one as active as soon as it is there.
            self.written.store(position.as_u64(), Ordering::Release);
            self.durable.store(position.as_u64(), Ordering::Release);
        }
        *self.active.write() = Arc::clone(&new);
        writer.active = new;
        writer.end = end;
        writer.prefix.clear();
        writer.told_durable = position;
    }

    /// Closes a file that is no longer written, and writes its GTID index beside it.
    fn finish(&self, old: &ActiveFile, end: u64) -> Result<()> {
        old.finish(end).map_err(|error| self.fatal(error))?;
        let index = old.index.lock();
        let path = self.index_path(&old.name);
        if let Err(error) = index.index().save(&*self.disk, &path, old.ordinal, end) {
            tracing::warn!(
                "cannot write the GTID index of '{}', it will be made when it is needed: {error}",
                old.name
            );
        }
        Ok(())
    }

    /// The steps of a reset after the index names the new file alone.
    pub fn complete_reset(
        &self,
        index: &super::index_file::IndexFile,
        old_names: &[String],
        final_name: &str,
    ) -> Result<()> {
        let temporary = reset_name(&self.base_name);
        for name in old_names.iter().filter(|name| **name != temporary) {
            for path in [self.path(name), self.index_path(name)] {
                match self.disk.remove(&path) {
                    Err(error) if error.kind() != ErrorKind::NotFound => {
                        return Err(self.io_error("remove", name, error));
                    }
                    _ => {}
                }
            }
        }
        // The old file of that name must be gone for good before the new one takes it.
        let synced = |source| self.io_error("sync the directory of", final_name, source);
        self.disk.sync_directory(&self.directory).map_err(synced)?;
        self.disk
            .rename(&self.path(&temporary), &self.path(final_name))
            .map_err(|source| self.io_error("rename", &temporary, source))?;
        self.disk.sync_directory(&self.directory).map_err(synced)?;
        index.write([final_name])
    }
}

/// Room that a new file gets at first, in bytes.
pub(super) fn first_room(file_size_max: u64, prepare_step: u64) -> u64 {
    file_size_max
        .saturating_add(16 * BLOCK_LENGTH)
        .min(prepare_step.max(BLOCK_LENGTH))
        .next_multiple_of(BLOCK_LENGTH)
}

/// Creates files.
#[derive(Debug)]
pub(super) struct FileCreator<'a> {
    pub disk: &'a dyn Disk,
    pub directory: &'a Path,
    pub server_id: ServerId,
    pub server_version: &'a str,
    pub first_room: u64,
}

impl FileCreator<'_> {
    /// Creates a file with its head and prepared room, durable with its name, or makes it of a spare one. It is in no index
    /// yet, and is removed again if that fails. Returns where the head ends.
    pub fn create(
        &self,
        new: &NewFile<'_>,
        spare: Option<SpareFile>,
    ) -> Result<(FileEntry, ActiveFile, u64)> {
        let head = NewHead {
            server_id: self.server_id,
            server_version: self.server_version,
            now: new.now,
            occasion: new.occasion,
            ordinal: new.ordinal,
            sync_mode: new.sync_mode,
            state: new.state,
            checkpoint: new.checkpoint,
        }
        .encode();
        let path = self.directory.join(&new.name);
        let created = match spare {
            Some(spare) => Ok((spare.file, spare.prepared_end)),
            None => self.disk.create(&path).map(|file| (file, 0)),
        };
        let (file, mut prepared_end) = created.map_err(|source| self.io_error("create", &path, source))?;
        let filled = (|| {
            let needed = (head.len() as u64 + TAIL_ROOM).next_multiple_of(BLOCK_LENGTH);
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

/// The name of the new file while a reset is under way.
pub(super) fn reset_name(base_name: &str) -> String {
    format!("{base_name}.reset")
}

/// The next file's ordinal.
pub(super) fn ordinal_after(ordinal: u32) -> Result<u32> {
    if ordinal >= LogPosition::ORDINAL_MAX {
        Err(Error::NumbersExhausted)
    } else {
        Ok(ordinal + 1)
    }
}
