//! Opening the log: finding out what there is, mending what a crash has left, beginning a new file.

use super::active::{finish_file, is_no_space};
use super::config::{LogConfig, OpenRequest};
use super::disk::{Disk, DiskFile, read_fully};
use super::files::{FileEntry, file_name, file_number, number_after};
use super::handle::{Inner, Life, Log, Writer};
use super::head::{FileHead, Occasion};
use super::index_file::IndexFile;
use super::rotate::{NewFile, ordinal_after, reset_name};
use super::tail::{Ending, Tail, read_tail};
use crate::error::{Error, Result};
use crate::event::MAGIC;
use crate::gtid::BinlogState;
use paceline_types::LogPosition;
use parking_lot::{Mutex, RwLock};
use std::collections::HashSet;
use std::io::{ErrorKind, IoSlice};
use std::path::Path;
use std::sync::atomic::AtomicU64;
use std::sync::{Arc, OnceLock};
use std::time::SystemTime;

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
    /// Where what is to be replayed ends: the end of what the server before has written.
    pub end: LogPosition,
    /// The start of the file that the last Binlog_checkpoint names.
    pub checkpoint: LogPosition,
    /// What was cut off.
    pub cut: Option<Cut>,
}

impl Log {
    /// Opens the log in a directory, or creates it there. The tail that a crash has left is mended (see the module's head),
    /// and a new file is begun.
    ///
    /// # Errors
    /// [`Error::Gap`], [`Error::EndLost`], [`Error::MissingFile`], [`Error::DamagedIndex`], [`Error::Damaged`]: the log cannot
    /// be trusted, and nothing was changed. [`Error::NoSpace`]: there is no room for the new file.
    pub fn open(disk: Arc<dyn Disk>, config: LogConfig, request: OpenRequest) -> Result<(Log, Recovery)> {
        let survey = Survey::take(disk, &config)?;
        let found = survey.read(&request)?;
        survey.mend(found)?.begin(config, request)
    }
}

/// What is in the directory.
#[derive(Debug)]
struct Survey {
    disk: Arc<dyn Disk>,
    directory: std::path::PathBuf,
    base_name: String,
    index: IndexFile,
    /// The names in the index.
    listed: Vec<String>,
    /// Files that are no longer, or not yet, in the index.
    strays: Vec<String>,
    /// A reset that must be completed: the name that the new file shall have.
    reset: Option<String>,
    shutdown: Shutdown,
}

/// What the files hold.
#[derive(Debug, Default)]
struct Found {
    files: Vec<FileEntry>,
    /// Files before the last that were not finished, and where they end.
    unfinished: Vec<(String, Tail)>,
    last: Option<LastFile>,
}

/// The last file.
#[derive(Debug)]
struct LastFile {
    name: String,
    file: Arc<dyn DiskFile>,
    tail: Tail,
    length: u64,
    in_use: bool,
}

/// Everything mended: a new file can be begun.
#[derive(Debug)]
struct Mended {
    survey: Survey,
    files: Vec<FileEntry>,
    state: BinlogState,
    end: LogPosition,
    checkpoint: Option<String>,
    cut: Option<Cut>,
    timestamp: u32,
}

impl Survey {
    /// Reads the index and looks for files that should not be there.
    fn take(disk: Arc<dyn Disk>, config: &LogConfig) -> Result<Self> {
        let index = IndexFile::new(Arc::clone(&disk), &config.directory, &config.base_name);
        let names = disk.list(&config.directory).map_err(|source| Error::Io {
            operation: "list",
            path: config.directory.clone(),
            source,
        })?;
        let names: HashSet<String> = names.into_iter().collect();
        let number = |name: &str| file_number(&config.base_name, name);
        let mut present: Vec<u32> = names.iter().filter_map(|name| number(name)).collect();
        present.sort_unstable();
        let mut survey = Self {
            disk,
            directory: config.directory.clone(),
            base_name: config.base_name.clone(),
            index,
            listed: Vec::new(),
            strays: Vec::new(),
            reset: None,
            shutdown: Shutdown::Crash,
        };
        survey.take_logs(&names, &present)?;
        // Indexes whose files are gone.
        let left = names.iter().filter(|name| {
            let of = name.strip_suffix(".idx").filter(|of| number(of).is_some());
            of.is_some_and(|of| !survey.listed.iter().any(|listed| listed == of))
        });
        let left: Vec<String> = left.cloned().collect();
        survey.strays.extend(left);
        Ok(survey)
    }

    /// Compares the index with the files that are there.
    fn take_logs(&mut self, names: &HashSet<String>, present: &[u32]) -> Result<()> {
        let base_name = self.base_name.clone();
        let number = |name: &str| file_number(&base_name, name);
        let temporary = reset_name(&base_name);
        let Some(listed) = self.index.read()? else {
            // A crash in the middle of the very first opening leaves a file without transactions.
            for number in present {
                self.add_stray(file_name(&base_name, *number))?;
            }
            self.shutdown = Shutdown::New;
            return Ok(());
        };
        if listed == [temporary.as_str()] {
            return self.plan_reset(names, present);
        }
        if names.contains(&temporary) {
            self.strays.push(temporary);
        }
        let mut last = 0;
        for name in &listed {
            let number = number(name).ok_or_else(|| self.index.damaged(format!("it names '{name}'")))?;
            if number <= last {
                return Err(self.index.damaged(format!("'{name}' is out of order")));
            }
            last = number;
            if !names.contains(name) {
                return Err(Error::MissingFile(name.clone()));
            }
        }
        let listed_set: HashSet<&str> = listed.iter().map(String::as_str).collect();
        let first = listed.first().and_then(|name| number(name)).unwrap_or(u32::MAX);
        for number in present {
            let name = file_name(&base_name, *number);
            if listed_set.contains(name.as_str()) {
                continue;
            }
            if *number < first && !listed.is_empty() {
                // Purged: the index came first.
                self.strays.push(name);
            } else {
                self.add_stray(name)?;
            }
        }
        self.listed = listed;
        Ok(())
    }

    /// A file that is not in the index, and that no purge can have left: a rotation may have, if it holds no transaction.
    fn add_stray(&mut self, name: String) -> Result<()> {
        let file = self.open_file(&name)?;
        let mut magic = [0; MAGIC.len()];
        let read =
            read_fully(&*file, &mut magic, 0).map_err(|source| self.io_error("read", &name, source))?;
        let empty = read < magic.len() || magic != MAGIC || {
            match FileHead::read(&file, &name).and_then(|head| read_tail(&file, &name, &head)) {
                Ok(tail) => tail.builder.is_empty(),
                // Its head was not whole yet: a rotation that did not get far.
                Err(Error::Damaged { .. }) => true,
                Err(error) => return Err(error),
            }
        };
        if !empty {
            return Err(self
                .index
                .damaged(format!("'{name}' holds transactions and is not in it")));
        }
        self.strays.push(name);
        Ok(())
    }

    /// The index names the reset's new file alone: everything else goes.
    fn plan_reset(&mut self, names: &HashSet<String>, present: &[u32]) -> Result<()> {
        let temporary = reset_name(&self.base_name);
        let (name, old) = if names.contains(&temporary) {
            (temporary, present.to_vec())
        } else {
            // It has its new name already, and is the only one.
            match present {
                [number] => (file_name(&self.base_name, *number), Vec::new()),
                _ => return Err(Error::MissingFile(temporary)),
            }
        };
        let file = self.open_file(&name)?;
        let head = FileHead::read(&file, &name)?;
        // The name that it shall have is the one in its first Binlog_checkpoint.
        let tail = read_tail(&file, &name, &head)?;
        let final_name = tail
            .checkpoint
            .ok_or_else(|| self.index.damaged("a reset's new file has no name"))?;
        self.strays = old
            .into_iter()
            .map(|number| file_name(&self.base_name, number))
            .collect();
        self.listed = vec![name];
        self.reset = Some(final_name);
        Ok(())
    }

    /// Reads the heads of all files and the last one to its end, and decides whether the log can be trusted. Changes nothing.
    fn read(&self, request: &OpenRequest) -> Result<Found> {
        let mut found = Found::default();
        let mut ordinal = 0;
        for (at, name) in self.listed.iter().enumerate() {
            let file = self.open_file(name)?;
            let head = FileHead::read(&file, name)?;
            if head.ordinal <= ordinal {
                return Err(Error::Damaged {
                    file: name.clone(),
                    offset: 0,
                    problem: format!(
                        "its ordinal {} is not above {ordinal}, the one of the file before",
                        head.ordinal
                    ),
                });
            }
            ordinal = head.ordinal;
            let mut length = file
                .length()
                .map_err(|source| self.io_error("examine", name, source))?;
            let in_use = head.in_use;
            let is_last = at + 1 == self.listed.len();
            if is_last || in_use {
                let tail = read_tail(&file, name, &head)?;
                if is_last {
                    found.last = Some(LastFile {
                        name: name.clone(),
                        file,
                        tail,
                        length,
                        in_use,
                    });
                } else if tail.ending == Ending::Rotate {
                    length = tail.end;
                    found.unfinished.push((name.clone(), tail));
                } else {
                    return Err(Error::Damaged {
                        file: name.clone(),
                        offset: tail.end,
                        problem: "it ends there without a Rotate event, but it is not the last file".into(),
                    });
                }
            }
            let modified = self
                .disk
                .modified(&self.directory.join(name))
                .unwrap_or(SystemTime::UNIX_EPOCH);
            let number = file_number(&self.base_name, name).unwrap_or(1);
            found
                .files
                .push(FileEntry::new(name.clone(), number, head, length, modified));
        }
        if let Some(last) = &mut found.last {
            if let Some(entry) = found.files.last_mut() {
                entry.length = last.tail.end;
            }
            let end = LogPosition::new(ordinal, last.tail.end);
            if request.engine_position > end {
                let needed = request.engine_position;
                return Err(Error::EndLost {
                    file: last.name.clone(),
                    end: last.tail.end,
                    needed,
                });
            }
        } else if request.engine_position > LogPosition::ZERO
            && request.engine_position.ordinal() >= request.ordinal_min
        {
            return Err(Error::MissingFile(file_name(&self.base_name, 1)));
        }
        Ok(found)
    }

    /// Brings the directory into the state that the index names, with every file closed.
    fn mend(self, found: Found) -> Result<Mended> {
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
        let mut mended = Mended {
            files: found.files,
            state: BinlogState::new(),
            end: LogPosition::ZERO,
            checkpoint: None,
            cut: None,
            timestamp: 0,
            survey: self,
        };
        if let Some(last) = found.last {
            mended.survey.shutdown = match last.tail.ending {
                Ending::Stop => Shutdown::Clean,
                Ending::Rotate | Ending::None => Shutdown::Crash,
            };
            mended.cut = mended.survey.mend_last(&last)?;
            if let Some(entry) = mended.files.last() {
                mended.end = LogPosition::new(entry.ordinal, last.tail.end);
            }
            mended.checkpoint = last.tail.checkpoint;
            mended.timestamp = last.tail.timestamp;
            mended.state = last.tail.builder.into_parts().1;
        }
        if let Some(final_name) = mended.survey.reset.take() {
            mended.survey.complete_reset(&final_name)?;
            if let Some(entry) = mended.files.last_mut() {
                entry.number = file_number(&mended.survey.base_name, &final_name).unwrap_or(1);
                entry.name = final_name;
            }
        }
        Ok(mended)
    }

    /// Writes the part of the last file that may not be durable again, syncs it, cuts the rest off and closes the file.
    fn mend_last(&self, last: &LastFile) -> Result<Option<Cut>> {
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
        let cut = (tail.garbage > 0).then(|| Cut {
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

    /// What is left of a reset: the old files are gone, the new one gets its name.
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

    fn open_file(&self, name: &str) -> Result<Arc<dyn DiskFile>> {
        self.disk
            .open(&self.directory.join(name))
            .map_err(|error| match error.kind() {
                ErrorKind::NotFound => Error::MissingFile(name.to_owned()),
                _ => self.io_error("open", name, error),
            })
    }

    fn io_error(&self, operation: &'static str, name: &str, source: std::io::Error) -> Error {
        if is_no_space(&source) {
            return Error::NoSpace { wanted: 0 };
        }
        Error::Io {
            operation,
            path: Path::new(&self.directory).join(name),
            source,
        }
    }
}

impl Mended {
    /// Begins a new file.
    fn begin(self, config: LogConfig, request: OpenRequest) -> Result<(Log, Recovery)> {
        let Mended {
            survey,
            files,
            state,
            end,
            checkpoint,
            cut,
            timestamp,
        } = self;
        let number = files.last().map_or(Ok(1), |file| number_after(file.number))?;
        let ordinal = match files.last() {
            Some(file) => ordinal_after(file.ordinal)?.max(request.ordinal_min),
            None => request.ordinal_min.max(1),
        };
        let name = file_name(&config.base_name, number);
        let checkpoint = checkpoint.filter(|name| files.iter().any(|file| file.name == *name));
        let checkpoint = checkpoint
            .or_else(|| files.first().map(|file| file.name.clone()))
            .unwrap_or_else(|| name.clone());
        let inner = Setup {
            disk: survey.disk,
            index: survey.index,
            config: &config,
        };
        let new = NewFile {
            name,
            number,
            ordinal,
            occasion: Occasion::ServerStart,
            sync_mode: config.sync_mode,
            state: &state,
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
        inner.checkpoint.store(
            u64::from(checkpoint.ordinal()),
            std::sync::atomic::Ordering::Release,
        );
        inner.writer.lock().timestamp = timestamp.max(request.now);
        let end = if survey.shutdown == Shutdown::New {
            start
        } else {
            end
        };
        let recovery = Recovery {
            shutdown: survey.shutdown,
            state,
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

/// What the log is put together from.
struct Setup<'a> {
    disk: Arc<dyn Disk>,
    index: IndexFile,
    config: &'a LogConfig,
}

impl Setup<'_> {
    /// Creates the new file, puts it into the index, and makes the log with it as the active file.
    fn create(self, files: Vec<FileEntry>, new: &NewFile<'_>) -> Result<Inner> {
        let config = self.config;
        let creator = super::rotate::FileCreator {
            disk: &*self.disk,
            directory: &config.directory,
            server_id: config.server_id,
            server_version: &config.server_version,
            first_room: super::rotate::first_room(config.file_size_max, config.prepare_step),
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
                told_durable: position,
                timestamp: new.now,
                life: Life::Open,
            }),
            spare: Mutex::new(None),
            written: AtomicU64::new(position.as_u64()),
            durable: AtomicU64::new(position.as_u64()),
            checkpoint: AtomicU64::new(u64::from(new.ordinal)),
            poison: OnceLock::new(),
        })
    }
}
