//! Repairing what a crash has left, after it is certain that the log can be trusted.

use crate::disk::read_fully;
use crate::epoch::EpochHistory;
use crate::error::Result;
use crate::gtid::GtidState;
use crate::log::files::active_file::finish_file;
use crate::log::files::entry::{FileEntry, file_number, reset_name};
use crate::log::files::tail::TailState;
use crate::log::opening::inventory::{Inventory, LastFile, SurveyedFiles};
use crate::log::opening::recovery::{CutTail, Shutdown};
use crate::replica_state::ReplicaState;
use paceline_types::LogPosition;
use std::io::{ErrorKind, IoSlice};

/// The repaired log, ready for a new file.
#[derive(Debug)]
pub(in crate::log) struct RepairedLog {
    pub inventory: Inventory,
    pub files: Vec<FileEntry>,
    pub state: GtidState,
    pub replica: ReplicaState,
    pub epochs: EpochHistory,
    pub end: LogPosition,
    pub checkpoint: Option<String>,
    pub cut: Option<CutTail>,
    pub timestamp: u32,
}

impl Inventory {
    /// Brings the directory into the state that the index describes, with every file closed.
    pub fn repair(self, found: SurveyedFiles) -> Result<RepairedLog> {
        self.index.discard()?;
        for name in &self.strays {
            tracing::info!("removing '{name}', which a crash has left behind");
            match self.disk.remove(&self.directory.join(name)) {
                Err(error) if error.kind() != ErrorKind::NotFound => {
                    return Err(self.io_error("remove", name, error));
                }
                _ => {}
            }
        }
        for (name, tail) in &found.unfinished {
            let file = self.open_file(name)?;
            finish_file(&*file, tail.end).map_err(|source| self.io_error("close", name, source))?;
        }
        let mut repaired = RepairedLog {
            files: found.files,
            state: GtidState::new(),
            replica: ReplicaState::default(),
            epochs: EpochHistory::default(),
            end: LogPosition::ZERO,
            checkpoint: None,
            cut: None,
            timestamp: 0,
            inventory: self,
        };
        if let Some(last) = found.last {
            repaired.inventory.shutdown = match last.tail.ending {
                TailState::Stop => Shutdown::Clean,
                TailState::Rotate | TailState::None => Shutdown::Crash,
            };
            repaired.cut = repaired.inventory.repair_last(&last)?;
            if let Some(entry) = repaired.files.last() {
                repaired.end = LogPosition::new(entry.ordinal, last.tail.end);
            }
            repaired.checkpoint = last.tail.checkpoint;
            repaired.timestamp = last.tail.timestamp;
            repaired.replica = last.tail.replica;
            repaired.epochs = last.tail.epochs;
            repaired.state = last.tail.builder.into_parts().1;
        }
        if let Some(final_name) = repaired.inventory.reset.take() {
            repaired.inventory.complete_reset(&final_name)?;
            if let Some(entry) = repaired.files.last_mut() {
                entry.number = file_number(&repaired.inventory.base_name, &final_name).unwrap_or(1);
                entry.name = final_name;
            }
        }
        Ok(repaired)
    }

    /// Rewrites the part of the last file that may not be durable, syncs it, cuts off the rest and closes the file.
    fn repair_last(&self, last: &LastFile) -> Result<Option<CutTail>> {
        let LastFile {
            name,
            file,
            tail,
            length,
            in_use,
        } = last;
        if !in_use && *length == tail.end {
            return Ok(None);
        }
        let cut = (tail.garbage > 0).then(|| CutTail {
            file: name.clone(),
            offset: tail.end,
            length: tail.garbage,
        });
        if let Some(cut) = &cut {
            tracing::warn!(
                "binary log file '{}' is cut at offset {}: {} bytes behind it were never acknowledged",
                cut.file,
                cut.offset,
                cut.length
            );
        }
        let mut at = tail.durable.min(tail.end);
        let mut chunk = vec![0; 1 << 20];
        while at < tail.end {
            let wanted = ((tail.end - at) as usize).min(chunk.len());
            let read = read_fully(&**file, &mut chunk[..wanted], at)
                .map_err(|source| self.io_error("read", name, source))?;
            if read == 0 {
                break;
            }
            file.write_at(&[IoSlice::new(&chunk[..read])], at)
                .map_err(|source| self.io_error("write", name, source))?;
            at += read as u64;
        }
        file.sync()
            .map_err(|source| self.io_error("sync", name, source))?;
        finish_file(&**file, tail.end).map_err(|source| self.io_error("close", name, source))?;
        Ok(cut)
    }

    /// Completes a reset whose old files are already removed: gives the new file its name.
    fn complete_reset(&self, final_name: &str) -> Result<()> {
        let temporary = reset_name(&self.base_name);
        let synced = |source| self.io_error("sync the directory of", final_name, source);
        self.disk.sync_directory(&self.directory).map_err(synced)?;
        match self
            .disk
            .rename(&self.directory.join(&temporary), &self.directory.join(final_name))
        {
            Err(error) if error.kind() != ErrorKind::NotFound => {
                return Err(self.io_error("rename", &temporary, error));
            }
            _ => {}
        }
        self.disk.sync_directory(&self.directory).map_err(synced)?;
        self.index.write([final_name])
    }
}
