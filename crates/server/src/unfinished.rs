//! A data directory that is still being made, by `paceline join` or another command that fills one.
//!
//! ```text
//!   DATADIR/paceline.unfinished      there from before the first file until everything is complete and synced;
//!                                    locked while the command runs; says which command it was
//! ```
//! `paceline server` does not start on a directory that has it: what was interrupted never looks complete. The same command may be run
//! again, and begins anew.

use std::fs::{self, File, TryLockError};
use std::io::{self, Write};
use std::path::{Path, PathBuf};

/// The marker's name.
pub const FILE: &str = "paceline.unfinished";

/// Why a directory cannot be begun with.
#[derive(Debug, thiserror::Error)]
pub enum BeginError {
    /// There is something in it that no interrupted command has left.
    #[error("the directory {0} is not empty")]
    NotEmpty(PathBuf),
    /// Another command is filling it.
    #[error("another process is filling the directory {0}")]
    InUse(PathBuf),
    /// The system's error.
    #[error("{path}: {source}")]
    Io {
        /// The file or directory.
        path: PathBuf,
        /// What happened.
        source: io::Error,
    },
}

/// A data directory that is being filled; held by who fills it.
#[derive(Debug)]
pub struct Unfinished {
    directory: PathBuf,
    /// Whether it was there before.
    was_there: bool,
    // Its lock ends with the process.
    _marker: File,
}

impl Unfinished {
    /// Marks an empty directory, or one that is not there yet. What an interrupted command has left is deleted.
    ///
    /// `command` is told to who finds the marker: "paceline join".
    ///
    /// # Errors
    /// [`BeginError`]: nothing has changed.
    pub fn begin(directory: &Path, command: &str) -> Result<Unfinished, BeginError> {
        let io = |path: &Path| {
            let path = path.to_owned();
            move |source| BeginError::Io { path, source }
        };
        let was_there = directory.exists();
        paceline_storage::create_directory(directory).map_err(io(directory))?;
        let path = directory.join(FILE);
        let others = || -> io::Result<Vec<PathBuf>> {
            let entries: Vec<_> = fs::read_dir(directory)?.collect::<io::Result<_>>()?;
            let paths = entries.into_iter().map(|entry| entry.path());
            Ok(paths.filter(|entry| *entry != path).collect())
        };
        let left = others().map_err(io(directory))?;
        if !left.is_empty() && !path.exists() {
            return Err(BeginError::NotEmpty(directory.to_owned()));
        }
        let mut marker = File::options()
            .create(true)
            .truncate(false)
            .write(true)
            .open(&path)
            .map_err(io(&path))?;
        match marker.try_lock() {
            Ok(()) => {}
            Err(TryLockError::WouldBlock) => return Err(BeginError::InUse(directory.to_owned())),
            Err(TryLockError::Error(source)) => return Err(BeginError::Io { path, source }),
        }
        for entry in left {
            remove(&entry).map_err(io(&entry))?;
        }
        (|| {
            marker.set_len(0)?;
            writeln!(marker, "{command}")?;
            marker.sync_all()?;
            File::open(directory)?.sync_all()
        })()
        .map_err(io(&path))?;
        Ok(Unfinished {
            directory: directory.to_owned(),
            was_there,
            _marker: marker,
        })
    }

    /// The directory.
    pub fn directory(&self) -> &Path {
        &self.directory
    }

    /// Everything is in the directory, and synced: takes the mark away.
    ///
    /// # Errors
    /// The directory stays unfinished.
    pub fn finish(self) -> io::Result<()> {
        fs::remove_file(self.directory.join(FILE))?;
        File::open(&self.directory)?.sync_all()
    }

    /// It will not be complete: empties the directory, and removes it if it was not there before.
    ///
    /// # Errors
    /// What is left is still marked.
    pub fn abandon(self) -> io::Result<()> {
        let marker = self.directory.join(FILE);
        for entry in fs::read_dir(&self.directory)? {
            let entry = entry?.path();
            if entry != marker {
                remove(&entry)?;
            }
        }
        let (directory, was_there) = (self.directory.clone(), self.was_there);
        self.finish()?;
        match was_there {
            true => Ok(()),
            false => fs::remove_dir(directory),
        }
    }
}

fn remove(path: &Path) -> io::Result<()> {
    match fs::symlink_metadata(path)?.is_dir() {
        true => fs::remove_dir_all(path),
        false => fs::remove_file(path),
    }
}

/// Refuses a directory that is not finished; for people.
pub fn refuse_unfinished(directory: &Path) -> Result<(), String> {
    match fs::read_to_string(directory.join(FILE)) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(()),
        Err(error) => Err(format!("cannot read {}: {error}", directory.join(FILE).display())),
        Ok(command) => Err(format!(
            "the data directory {} is not complete: '{command}' has not finished. Run that again, which begins anew, or delete the \
             directory",
            directory.display(),
            command = command.trim()
        )),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn begun_and_finished() {
        let parent = tempfile::tempdir().unwrap();
        let directory = parent.path().join("new/data");
        let unfinished = Unfinished::begin(&directory, "paceline join").unwrap();
        assert!(
            refuse_unfinished(&directory)
                .unwrap_err()
                .contains("'paceline join'")
        );
        fs::write(directory.join("a"), "").unwrap();
        assert!(matches!(
            Unfinished::begin(&directory, "x"),
            Err(BeginError::InUse(_))
        ));
        unfinished.finish().unwrap();
        refuse_unfinished(&directory).unwrap();
        assert!(matches!(
            Unfinished::begin(&directory, "x"),
            Err(BeginError::NotEmpty(_))
        ));
        assert!(directory.join("a").exists());
    }

    #[test]
    fn what_an_interrupted_command_left_is_deleted() {
        let parent = tempfile::tempdir().unwrap();
        let directory = parent.path();
        drop(Unfinished::begin(directory, "paceline join").unwrap());
        fs::create_dir(directory.join("tables")).unwrap();
        fs::write(directory.join("tables/b"), "").unwrap();
        fs::write(directory.join("a"), "").unwrap();
        let again = Unfinished::begin(directory, "paceline join").unwrap();
        let left: Vec<_> = fs::read_dir(directory)
            .unwrap()
            .map(|entry| entry.unwrap().file_name())
            .collect();
        assert_eq!(left, [FILE]);
        assert_eq!(again.directory(), directory);
        fs::create_dir(directory.join("tables")).unwrap();
        again.abandon().unwrap();
        assert_eq!(fs::read_dir(directory).unwrap().count(), 0);
    }
}
