//! Table files that stay as they are while somebody copies them.
//!
//! ```text
//!   held/1/rocksdb/000017.sst …     hard links: compaction may delete its own name of a file meanwhile
//!                  MANIFEST, CURRENT, OPTIONS
//! ```
//! What is held is what was flushed: a prefix of the log, told by the key `position`, that is found in the files themselves. Nothing is written
//! for it, nobody waits for it, and what is built aside and not yet in the log is no part of it. The directory goes when it is dropped, or at the
//! next start.

use std::fs;
use std::path::{Path, PathBuf};

use paceline_types::LogPosition;

use crate::error::{Error, Result};

/// Table files that are held. See the module's head.
#[derive(Debug)]
pub struct HeldFiles {
    directory: PathBuf,
    position: LogPosition,
    files: Vec<HeldFile>,
}

/// One of them.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct HeldFile {
    /// Its path below the tables' directory, with `/` between its parts.
    pub name: String,
    /// Its length in bytes.
    pub length: u64,
}

impl HeldFiles {
    /// Takes over a directory that was filled for it.
    pub(crate) fn new(directory: PathBuf, position: LogPosition, files: Vec<HeldFile>) -> Self {
        HeldFiles {
            directory,
            position,
            files,
        }
    }

    /// What the tables in them hold: everything before it in the log.
    pub fn position(&self) -> LogPosition {
        self.position
    }

    /// The files, by name.
    pub fn files(&self) -> &[HeldFile] {
        &self.files
    }

    /// Where one of them is.
    pub fn path(&self, file: &HeldFile) -> PathBuf {
        self.directory.join(&file.name)
    }
}

impl Drop for HeldFiles {
    fn drop(&mut self) {
        // What cannot be deleted now is deleted at the next start.
        let _ = fs::remove_dir_all(&self.directory);
    }
}

/// The files in `directory/below`, by name. Notes that the engine writes for people, and its lock, are none.
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

/// Deletes what a server that was killed has left.
pub(crate) fn remove_all(directory: &Path) -> Result<()> {
    match fs::remove_dir_all(directory) {
        Err(error) if error.kind() != std::io::ErrorKind::NotFound => Err(Error::file(directory)(error)),
        Ok(()) | Err(_) => Ok(()),
    }
}
