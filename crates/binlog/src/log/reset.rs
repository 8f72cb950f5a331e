//! `RESET MASTER`: starting over. The order of steps is in the module's head.

use super::active::ActiveFile;
use super::create::{NewFile, ordinal_after};
use super::files::{FIRST_NUMBER_MAX, FileEntry, file_name};
use super::gtid_index::GtidIndexBuilder;
use super::handle::{Inner, Log};
use super::head::Occasion;
use super::index_file::IndexFile;
use crate::error::{Error, Result};
use crate::gtid::BinlogState;
use paceline_types::LogPosition;
use std::io::ErrorKind;
use std::sync::Arc;
use std::sync::atomic::Ordering;

impl Log {
    /// `RESET MASTER [TO number]`: an empty log with an empty GTID state. How far a replica has come stays.
    ///
    /// Names start from .000001 (or `number`) again;
    /// ordinals, and so positions, go on. The engines must hold everything in the log before, durably. Returns where the log
    /// goes on.
    ///
    /// # Errors
    /// [`Error::NoSpace`], [`Error::NumberTooHigh`], [`Error::NumbersExhausted`]: nothing has changed. Other errors are fatal.
    pub fn reset(&self, number: Option<u32>, now: u32) -> Result<LogPosition> {
        self.reset_to(number, &BinlogState::new(), now)
    }

    /// As [`Self::reset`], with a GTID state: that of what stands before this log in another one.
    ///
    /// # Errors
    /// Those of [`Self::reset`].
    pub fn reset_to(&self, number: Option<u32>, state: &BinlogState, now: u32) -> Result<LogPosition> {
        let inner = &self.inner;
        let mut writer = inner.writer.lock();
        inner.check_usable(&writer)?;
        let number = number.unwrap_or(1).max(1);
        if number > FIRST_NUMBER_MAX {
            return Err(Error::NumberTooHigh {
                number,
                number_max: FIRST_NUMBER_MAX,
            });
        }
        self.sync()?;
        let old = Arc::clone(&writer.active);
        let ordinal = ordinal_after(old.ordinal)?;
        let final_name = file_name(&inner.base_name, number);
        let index = inner.index.lock();
        // Held to the end: opening takes the only numbered file for the new one, and what is prepared for the old log may have the new one's name.
        let mut spare = inner.spare.lock();
        inner.drop_spare(&mut spare);
        let replica = self.replica_state();
        let new = NewFile {
            name: reset_name(&inner.base_name),
            number,
            ordinal,
            occasion: Occasion::Reset,
            sync_mode: writer.sync_mode,
            state,
            replica: &replica,
            checkpoint: &final_name,
            now,
        };
        let (entry, new, end) = inner.create_file(&new, &mut spare)?;
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
            GtidIndexBuilder::new(state.clone(), entry.head_length),
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
    /// The steps of a reset after the index names the new file alone.
    pub fn complete_reset(&self, index: &IndexFile, old_names: &[String], final_name: &str) -> Result<()> {
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

/// The name of the new file while a reset is under way.
pub(super) fn reset_name(base_name: &str) -> String {
    format!("{base_name}.reset")
}
