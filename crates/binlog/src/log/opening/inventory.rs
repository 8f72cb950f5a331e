//! Finding out what exists before anything is changed: the files, compared with the index, and the content of the
//! last one.

use crate::disk::{Disk, DiskFile, is_no_space, read_fully};
use crate::error::{Error, Result};
use crate::event::MAGIC;
use crate::log::appending::large_group::is_large_name;
use crate::log::config::{LogConfig, OpenRequest};
use crate::log::files::entry::{FileEntry, file_name, file_number, reset_name};
use crate::log::files::head::FileHead;
use crate::log::files::index_file::IndexFile;
use crate::log::files::tail::{Tail, TailState, read_tail};
use crate::log::opening::recovery::Shutdown;
use paceline_types::LogPosition;
use std::collections::HashSet;
use std::io::ErrorKind;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::SystemTime;

/// State of the log's directory.
#[derive(Debug)]
pub(in crate::log) struct Inventory {
    pub disk: Arc<dyn Disk>,
    pub directory: PathBuf,
    pub base_name: String,
    pub index: IndexFile,
    /// Names in the index.
    pub listed: Vec<String>,
    /// Files that are no longer, or not yet, in the index. Opening removes them.
    pub strays: Vec<String>,
    /// Final name of the new file of a reset that must be completed.
    pub reset: Option<String>,
    pub shutdown: Shutdown,
}

/// Predecessor of a file that is not in the index.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum PrecedingFile {
    /// The last file of the index, which was not closed.
    FileInUse,
    /// No file, or one that was closed.
    Nothing,
}

/// Contents of the log's files.
#[derive(Debug, Default)]
pub(in crate::log) struct SurveyedFiles {
    pub files: Vec<FileEntry>,
    /// Files before the last that were not finished, with their ends.
    pub unfinished: Vec<(String, Tail)>,
    pub last: Option<LastFile>,
}

/// The last file in the index.
#[derive(Debug)]
pub(in crate::log) struct LastFile {
    pub name: String,
    pub file: Arc<dyn DiskFile>,
    pub tail: Tail,
    pub length: u64,
    pub in_use: bool,
}

impl Inventory {
    /// Reads the index and looks for files that should not exist.
    pub fn take(disk: Arc<dyn Disk>, config: &LogConfig) -> Result<Self> {
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
        let mut inventory = Self {
            disk,
            directory: config.directory.clone(),
            base_name: config.base_name.clone(),
            index,
            listed: Vec::new(),
            strays: Vec::new(),
            reset: None,
            shutdown: Shutdown::Crash,
        };
        inventory.take_logs(&names, &present)?;
        let left = names
            .iter()
            .filter(|name| is_large_name(&config.base_name, name))
            .cloned();
        inventory.strays.extend(left);
        // GTID indexes whose log files no longer exist.
        let left = names.iter().filter(|name| {
            let of = name.strip_suffix(".idx").filter(|of| number(of).is_some());
            of.is_some_and(|of| !inventory.listed.iter().any(|listed| listed == of))
        });
        let left: Vec<String> = left.cloned().collect();
        inventory.strays.extend(left);
        Ok(inventory)
    }

    /// Compares the index with the files in the directory.
    fn take_logs(&mut self, names: &HashSet<String>, present: &[u32]) -> Result<()> {
        let base_name = self.base_name.clone();
        let number = |name: &str| file_number(&base_name, name);
        let temporary = reset_name(&base_name);
        let Some(listed) = self.index.read()? else {
            // A crash in the middle of the first opening leaves a file without transactions.
            for number in present {
                self.add_stray(file_name(&base_name, *number), PrecedingFile::Nothing)?;
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
                // Purged: the index was changed first.
                self.strays.push(name);
            } else {
                let followed = match number.checked_sub(1) == Some(last) && self.is_in_use(&listed)? {
                    true => PrecedingFile::FileInUse,
                    false => PrecedingFile::Nothing,
                };
                self.add_stray(name, followed)?;
            }
        }
        self.listed = listed;
        Ok(())
    }

    /// Returns whether the last of these files was not closed. Then no file after it was ever in the index, because a
    /// file is closed only after the index names the next one.
    fn is_in_use(&self, listed: &[String]) -> Result<bool> {
        let Some(name) = listed.last() else {
            return Ok(false);
        };
        Ok(FileHead::read(&self.open_file(name)?, name)?.in_use)
    }

    /// Adds a file that is not in the index and was not purged. A rotation may have left it, if it contains no
    /// transaction. The commit of a large transaction may have left it, if it contains only that transaction and
    /// follows a file that is in use.
    ///
    /// # Errors
    /// [`Error::DamagedIndex`] if the file contains transactions that must not be lost.
    fn add_stray(&mut self, name: String, followed: PrecedingFile) -> Result<()> {
        let file = self.open_file(&name)?;
        let mut magic = [0; MAGIC.len()];
        let read =
            read_fully(&*file, &mut magic, 0).map_err(|source| self.io_error("read", &name, source))?;
        let empty = read < magic.len() || magic != MAGIC || {
            match FileHead::read(&file, &name).and_then(|head| read_tail(&file, &name, &head)) {
                Ok(tail) => {
                    tail.builder.is_empty()
                        || (followed == PrecedingFile::FileInUse && tail.is_one_large_group())
                }
                // Its head is incomplete: a rotation that was interrupted early.
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

    /// Plans the completion of a reset, when the index names only the reset's new file. All other files will be
    /// removed.
    fn plan_reset(&mut self, names: &HashSet<String>, present: &[u32]) -> Result<()> {
        let temporary = reset_name(&self.base_name);
        let (name, old) = if names.contains(&temporary) {
            (temporary, present.to_vec())
        } else {
            // The file has its final name already and is the only one.
            match present {
                [number] => (file_name(&self.base_name, *number), Vec::new()),
                _ => return Err(Error::MissingFile(temporary)),
            }
        };
        let file = self.open_file(&name)?;
        let head = FileHead::read(&file, &name)?;
        // Its first Binlog_checkpoint contains the final name.
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

    /// Reads the heads of all files and the last file to its end, and decides whether the log can be trusted. Changes
    /// nothing.
    pub fn read(&self, request: &OpenRequest) -> Result<SurveyedFiles> {
        let mut found = SurveyedFiles::default();
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
                } else if tail.ending == TailState::Rotate {
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

    pub fn open_file(&self, name: &str) -> Result<Arc<dyn DiskFile>> {
        self.disk
            .open(&self.directory.join(name))
            .map_err(|error| match error.kind() {
                ErrorKind::NotFound => Error::MissingFile(name.to_owned()),
                _ => self.io_error("open", name, error),
            })
    }

    pub fn io_error(&self, operation: &'static str, name: &str, source: std::io::Error) -> Error {
        if is_no_space(&source) {
            return Error::NoSpace { wanted: 0 };
        }
        Error::Io {
            operation,
            path: self.directory.join(name),
            source,
        }
    }
}
