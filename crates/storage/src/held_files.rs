//! Table files that stay unchanged while they are copied.
//!
//! ```text
//!   held/1/rocksdb/000017.sst …     hard links: compaction may delete its own name of a file meanwhile
//!                  MANIFEST, CURRENT, OPTIONS
//! ```
//! The held state is the flushed one: a prefix of the log, whose end is the key `position` in the files
//! themselves. Holding files writes nothing and blocks no other operation. Builds that are not yet in the log
//! are not included. The directory is deleted when the value is dropped, or at the next start.

use std::fs;
use std::path::{Path, PathBuf};

use paceline_types::LogPosition;

use crate::error::{Error, Result};

/// Held table files. See the module's head.
#[derive(Debug)]
pub struct HeldFiles {
    directory: PathBuf,
    position: LogPosition,
    files: Vec<HeldFile>,
}

/// One held file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct HeldFile {
    /// Path below the tables' directory, with `/` between its parts.
    pub name: String,
    /// Length in bytes.
    pub length: u64,
}

impl HeldFiles {
    /// Takes ownership of a directory that was filled for this purpose.
    pub(crate) fn new(directory: PathBuf, position: LogPosition, files: Vec<HeldFile>) -> Self {
        HeldFiles {
            directory,
            position,
            files,
        }
    }

    /// Returns the position up to which the tables in the files contain the log.
    pub fn position(&self) -> LogPosition {
        self.position
    }

    /// Returns the files, ordered by name.
    pub fn files(&self) -> &[HeldFile] {
        &self.files
    }

    /// Returns the path of a held file.
    pub fn path(&self, file: &HeldFile) -> PathBuf {
        self.directory.join(&file.name)
    }
}

impl Drop for HeldFiles {
    fn drop(&mut self) {
        // Whatever cannot be deleted now is deleted at the next start.
        let _ = fs::remove_dir_all(&self.directory);
    }
}

/// Returns the files in `directory/below`, ordered by name, without the engine's text logs and its lock file.
pub(crate) fn list(directory: &Path, below: &str) -> Result<Vec<HeldFile>> {
    let path = directory.join(below);
    let mut files = Vec::new();
    for entry in fs::read_dir(&path).map_err(Error::file(&path))? {
        let entry = entry.map_err(Error::file(&path))?;
        let name = entry.file_name().to_string_lossy().into_owned();
        if name.starts_with("LOG") || name == "LOCK" {
            continue;
        }
        let length = entry.metadata().map_err(Error::file(&path))?.len();
        files.push(HeldFile {
            name: format!("{below}/{name}"),
            length,
        });
    }
    files.sort_by(|a, b| a.name.cmp(&b.name));
    Ok(files)
}

/// Deletes the files that a killed server has left.
pub(crate) fn remove_all(directory: &Path) -> Result<()> {
    match fs::remove_dir_all(directory) {
        Err(error) if error.kind() != std::io::ErrorKind::NotFound => Err(Error::file(directory)(error)),
        Ok(()) | Err(_) => Ok(()),
    }
}
