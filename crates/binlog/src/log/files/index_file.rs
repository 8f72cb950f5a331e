//! The index file: the list of the log's files, in order. One path per line, as MariaDB writes it (`./bin.000001`).
//!
//! It is replaced as a whole: the new index is written beside it, synced, and renamed over it; then the directory is
//! synced. So after a crash it is either the old or the new one.

use crate::disk::{Disk, read_fully};
use crate::error::{Error, Result};
use std::io::{ErrorKind, IoSlice};
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// The index file. It is replaced in two steps, so that a full disk is found in the first one.
#[derive(Debug)]
pub(in crate::log) struct IndexFile {
    disk: Arc<dyn Disk>,
    directory: PathBuf,
    path: PathBuf,
    next_path: PathBuf,
}

impl IndexFile {
    /// Creates a handle for the index of the log with this base name.
    pub fn new(disk: Arc<dyn Disk>, directory: &Path, base_name: &str) -> Self {
        Self {
            disk,
            directory: directory.to_owned(),
            path: directory.join(format!("{base_name}.index")),
            next_path: directory.join(format!("{base_name}.index_next")),
        }
    }

    /// Returns the names in the index, in order, without directories; `None` if there is no index.
    ///
    /// # Errors
    /// [`Error::DamagedIndex`].
    pub fn read(&self) -> Result<Option<Vec<String>>> {
        let file = match self.disk.open(&self.path) {
            Ok(file) => file,
            Err(error) if error.kind() == ErrorKind::NotFound => return Ok(None),
            Err(source) => return Err(self.io_error("open", source)),
        };
        let length = file.length().map_err(|source| self.io_error("examine", source))?;
        let mut content = vec![0; usize::try_from(length).unwrap_or(usize::MAX).min(1 << 28)];
        let read = read_fully(&*file, &mut content, 0).map_err(|source| self.io_error("read", source))?;
        content.truncate(read);
        let content = String::from_utf8(content).map_err(|_| self.damaged("it is not text"))?;
        if !content.is_empty() && !content.ends_with('\n') {
            return Err(self.damaged("its last line has no end"));
        }
        content
            .lines()
            .map(|line| match line.rsplit('/').next() {
                Some(name) if !name.is_empty() => Ok(name.to_owned()),
                _ => Err(self.damaged("a line names no file")),
            })
            .collect::<Result<_>>()
            .map(Some)
    }

    /// Writes and syncs the new index, which [`Self::replace`] then puts in place.
    pub fn prepare<'a>(&self, names: impl IntoIterator<Item = &'a str>) -> Result<()> {
        let mut content = String::new();
        for name in names {
            content.push_str("./");
            content.push_str(name);
            content.push('\n');
        }
        self.discard()?;
        let file = self
            .disk
            .create(&self.next_path)
            .map_err(|source| self.io_error("create", source))?;
        let written = file
            .write_at(&[IoSlice::new(content.as_bytes())], 0)
            .and_then(|()| file.sync());
        written.map_err(|source| self.io_error("write", source))
    }

    /// Replaces the index with the prepared one. Durable when it returns.
    pub fn replace(&self) -> Result<()> {
        self.disk
            .rename(&self.next_path, &self.path)
            .and_then(|()| self.disk.sync_directory(&self.directory))
            .map_err(|source| self.io_error("replace", source))
    }

    /// Removes the prepared index, if there is one.
    pub fn discard(&self) -> Result<()> {
        match self.disk.remove(&self.next_path) {
            Err(error) if error.kind() != ErrorKind::NotFound => Err(self.io_error("remove", error)),
            _ => Ok(()),
        }
    }

    /// Prepares a new index and replaces the current one with it.
    pub fn write<'a>(&self, names: impl IntoIterator<Item = &'a str>) -> Result<()> {
        self.prepare(names)?;
        self.replace()
    }

    pub fn damaged(&self, problem: impl Into<String>) -> Error {
        Error::DamagedIndex {
            file: self.path.display().to_string(),
            problem: problem.into(),
        }
    }

    fn io_error(&self, operation: &'static str, source: std::io::Error) -> Error {
        match source.kind() {
            ErrorKind::StorageFull | ErrorKind::QuotaExceeded => Error::NoSpace { wanted: 4096 },
            _ => Error::Io {
                operation,
                path: self.path.clone(),
                source,
            },
        }
    }
}
