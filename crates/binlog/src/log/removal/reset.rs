//! `RESET MASTER`: starting the log over. [`crate::log`] has the order of steps.

use crate::epoch::EpochHistory;
use crate::error::{Error, Result};
use crate::gtid::GtidState;
use crate::log::appending::create::{NewFile, ordinal_after};
use crate::log::files::active_file::ActiveFile;
use crate::log::files::entry::{FIRST_NUMBER_MAX, FileEntry, file_name, reset_name};
use crate::log::files::gtid_index::GtidIndexBuilder;
use crate::log::files::head::FileReason;
use crate::log::files::index_file::IndexFile;
use crate::log::handle::{Inner, Log};
use paceline_types::LogPosition;
use std::io::ErrorKind;
use std::sync::Arc;
use std::sync::atomic::Ordering;

impl Log {
    /// Executes `RESET MASTER [TO number]`: an empty log with an empty GTID state. The state of the replica stays.
    ///
    /// File names start from .000001 (or `number`) again; ordinals, and so positions, continue. The engines must
    /// durably hold everything in the old log. Returns where the log continues.
    ///
    /// # Errors
    /// [`Error::NoSpace`], [`Error::NumberTooHigh`], [`Error::NumbersExhausted`]: nothing has changed. Others are
    /// fatal.
    pub fn reset(&self, number: Option<u32>, now: u32) -> Result<LogPosition> {
        self.reset_to(number, &GtidState::new(), &EpochHistory::default(), now)
    }

    /// Resets the log as [`Self::reset`] does, but with the GTID state and the epochs of another log that this one
    /// continues.
    ///
    /// # Errors
    /// Those of [`Self::reset`].
    pub fn reset_to(
        &self,
        number: Option<u32>,
        state: &GtidState,
        epochs: &EpochHistory,
        now: u32,
    ) -> Result<LogPosition> {
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
        // Held to the end: after a crash, opening takes the only numbered file for the new one, so there must be no
        // prepared file, and a file prepared for the old log could get the new file's name.
        let mut prepared_file = inner.prepared_file.lock();
        inner.discard_prepared(&mut prepared_file);
        let replica = self.replica_state();
        let new = NewFile {
            name: reset_name(&inner.base_name),
            number,
            ordinal,
            occasion: FileReason::Reset,
            sync_mode: writer.sync_mode,
            state,
            replica: &replica,
            epochs,
            checkpoint: &final_name,
            now,
        };
        let (entry, new, end) = inner.create_file(&new, &mut prepared_file)?;
        let old_names = inner.names();
        if let Err(error) = index.prepare([entry.name.as_str()]) {
            inner.remove_quietly(&entry.name);
            let _ = index.discard();
            return Err(error);
        }
        // From here on there is no way back; after a crash, opening completes the reset.
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
        inner.extent.lock().reset(epochs.clone());
        inner.switch_to(&mut writer, entry, new, end, 0);
        // The old file is gone; a thread that is still preparing space in it must stop.
        let _ = old.finish(0);
        Ok(self.written())
    }
}

impl Inner {
    /// Executes the steps of a reset that follow the index that names only the new file.
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
        // The removal of an old file with that name must be durable before the new file takes the name.
        let synced = |source| self.io_error("sync the directory of", final_name, source);
        self.disk.sync_directory(&self.directory).map_err(synced)?;
        self.disk
            .rename(&self.path(&temporary), &self.path(final_name))
            .map_err(|source| self.io_error("rename", &temporary, source))?;
        self.disk.sync_directory(&self.directory).map_err(synced)?;
        index.write([final_name])
    }
}
