//! Opening the log: completing a decided rewind ([`rewind`](crate::log::offline::rewind)), taking the directory's
//! [`inventory`](crate::log::opening::inventory), repairing what a crash has left
//! ([`crash_repair`](crate::log::opening::crash_repair)), and beginning a new file.

use crate::disk::Disk;
use crate::error::Result;
use crate::event::MAGIC;
use crate::log::appending::create::{FileCreator, NewFile, first_room, ordinal_after};
use crate::log::config::{LogConfig, OpenRequest};
use crate::log::extent::LogExtent;
use crate::log::files::entry::{FileEntry, file_name, number_after};
use crate::log::files::head::FileReason;
use crate::log::files::index_file::IndexFile;
use crate::log::files::rewind_file::{HighestUsed, RewindFile};
use crate::log::handle::{Inner, Log, LogLifecycle, Writer};
use crate::log::opening::crash_repair::RepairedLog;
use crate::log::opening::inventory::Inventory;
use crate::log::opening::recovery::{Recovery, Shutdown};
use paceline_types::LogPosition;
use parking_lot::{Mutex, RwLock};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, OnceLock};

impl Log {
    /// Opens the log in a directory, or creates it there. Repairs the tail that a crash has left (see the module's
    /// head) and begins a new file.
    ///
    /// # Errors
    /// [`crate::Error::Gap`], [`crate::Error::EndLost`], [`crate::Error::MissingFile`],
    /// [`crate::Error::DamagedIndex`], [`crate::Error::Damaged`]: the log cannot be trusted, and nothing was changed.
    /// [`crate::Error::NoSpace`]: there is no space for the new file.
    pub fn open(disk: Arc<dyn Disk>, config: LogConfig, request: OpenRequest) -> Result<(Log, Recovery)> {
        let decisions = RewindFile::of(&disk, &config);
        let rewound = decisions.complete()?;
        let inventory = Inventory::take(disk, &config)?;
        let found = inventory.read(&request)?;
        let mut repaired = inventory.repair(found)?;
        if rewound.is_some() {
            // The part that was cut off may have changed the connections, so those from before the cut must not be
            // resumed.
            repaired.replica.forget_connections();
        }
        let opened = repaired.begin(config, request, rewound.unwrap_or_default())?;
        if rewound.is_some() {
            decisions.forget()?;
        }
        Ok(opened)
    }
}

impl RepairedLog {
    /// Begins a new file, above the numbers and ordinals in `used`.
    fn begin(self, config: LogConfig, request: OpenRequest, used: HighestUsed) -> Result<(Log, Recovery)> {
        let RepairedLog {
            inventory,
            files,
            state,
            replica,
            epochs,
            end,
            checkpoint,
            cut,
            timestamp,
        } = self;
        let number = match files.last() {
            Some(file) => number_after(file.number.max(used.number))?,
            None => 1,
        };
        let ordinal = match files.last() {
            Some(file) => ordinal_after(file.ordinal.max(used.ordinal))?.max(request.ordinal_min),
            None => request.ordinal_min.max(1),
        };
        let name = file_name(&config.base_name, number);
        let checkpoint = checkpoint.filter(|name| files.iter().any(|file| file.name == *name));
        let checkpoint = checkpoint
            .or_else(|| files.first().map(|file| file.name.clone()))
            .unwrap_or_else(|| name.clone());
        let inner = Setup {
            disk: inventory.disk,
            index: inventory.index,
            config: &config,
        };
        let new = NewFile {
            name,
            number,
            ordinal,
            occasion: FileReason::ServerStart,
            sync_mode: config.sync_mode,
            state: &state,
            replica: &replica,
            epochs: &epochs,
            checkpoint: &checkpoint,
            now: request.now,
        };
        let inner = inner.create(files, &new)?;
        let start = {
            let files = inner.files.read();
            let first = files.first().map_or(ordinal, |file| file.ordinal);
            LogPosition::new(first, MAGIC.len() as u64)
        };
        let checkpoint = inner
            .file_by_name(&checkpoint)
            .map_or(start, |file| LogPosition::new(file.ordinal, MAGIC.len() as u64));
        inner
            .checkpoint
            .store(u64::from(checkpoint.ordinal()), Ordering::Release);
        inner.writer.lock().timestamp = timestamp.max(request.now);
        let end = if inventory.shutdown == Shutdown::New {
            start
        } else {
            end
        };
        let recovery = Recovery {
            shutdown: inventory.shutdown,
            state,
            replica,
            start,
            end,
            checkpoint,
            cut,
        };
        Ok((
            Log {
                inner: Arc::new(inner),
            },
            recovery,
        ))
    }
}

/// Parts of a log that is being opened.
struct Setup<'a> {
    disk: Arc<dyn Disk>,
    index: IndexFile,
    config: &'a LogConfig,
}

impl Setup<'_> {
    /// Creates the new file, adds it to the index, and returns the log with it as the active file.
    fn create(self, files: Vec<FileEntry>, new: &NewFile<'_>) -> Result<Inner> {
        let config = self.config;
        let creator = FileCreator {
            disk: &*self.disk,
            directory: &config.directory,
            server_id: config.server_id,
            server_version: &config.server_version,
            first_room: first_room(config.file_size_max, config.prepare_step),
        };
        let (entry, active, end) = creator.create(new, None)?;
        self.index.write(
            files
                .iter()
                .map(|file| file.name.as_str())
                .chain([entry.name.as_str()]),
        )?;
        let active = Arc::new(active);
        let position = LogPosition::new(entry.ordinal, end);
        let mut files: Vec<Arc<FileEntry>> = files.into_iter().map(Arc::new).collect();
        files.push(Arc::new(entry));
        Ok(Inner {
            disk: self.disk,
            directory: config.directory.clone(),
            base_name: config.base_name.clone(),
            server_id: config.server_id,
            server_version: config.server_version.clone(),
            prepare_step: config.prepare_step,
            file_size_max: AtomicU64::new(config.file_size_max),
            index: Mutex::new(self.index),
            files: RwLock::new(files),
            active: RwLock::new(Arc::clone(&active)),
            writer: Mutex::new(Writer {
                active,
                end,
                sync_mode: config.sync_mode,
                prefix: Vec::new(),
                recorded_durable: position,
                timestamp: new.now,
                life: LogLifecycle::Open,
            }),
            next_large: AtomicU64::new(1),
            prepared_file: Mutex::new(None),
            written: AtomicU64::new(position.as_u64()),
            durable: AtomicU64::new(position.as_u64()),
            extent: Mutex::new(LogExtent::new(position, new.state, new.epochs.clone())),
            checkpoint: AtomicU64::new(u64::from(new.ordinal)),
            replica: Mutex::new(new.replica.clone()),
            poison: OnceLock::new(),
        })
    }
}
