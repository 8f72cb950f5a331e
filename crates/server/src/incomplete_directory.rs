//! An incomplete data directory, which `paceline join` or another command is filling.
//!
//! ```text
//!   DATADIR/paceline.unfinished      exists from before the first file until everything is complete and synced;
//!                                    locked while the command is running; contains the command's name
//! ```
//! `paceline server` does not start on a directory with this file, so an interrupted command never looks complete. The
//! same command may be run again; it starts over.

use std::fs::{self, File, TryLockError};
use std::io::{self, Write};
use std::path::{Path, PathBuf};

/// Name of the marker file.
pub const FILE: &str = "paceline.unfinished";

/// Reason why a directory cannot be filled.
#[derive(Debug, thiserror::Error)]
pub enum BeginError {
    /// It contains files that are not from an interrupted command.
    #[error("the directory {0} is not empty")]
    NotEmpty(PathBuf),
    /// Another command is filling it.
    #[error("another process is filling the directory {0}")]
    InUse(PathBuf),
    /// An error of the operating system.
    #[error("{path}: {source}")]
    Io {
        /// Path of the file or directory.
        path: PathBuf,
        /// The operating system's error.
        source: io::Error,
    },
}

/// A data directory that is being filled, held by the command that fills it.
#[derive(Debug)]
pub struct IncompleteDirectory {
    directory: PathBuf,
    /// Whether the directory existed before.
    was_there: bool,
    // The lock is released when the process ends.
    _marker: File,
}

impl IncompleteDirectory {
    /// Marks an empty or missing directory. The files of an interrupted command are deleted.
    ///
    /// The marker contains `command`, such as "paceline join".
    ///
    /// # Errors
    /// [`BeginError`]; nothing is changed then.
    pub fn begin(directory: &Path, command: &str) -> Result<IncompleteDirectory, BeginError> {
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
        Ok(IncompleteDirectory {
            directory: directory.to_owned(),
            was_there,
            _marker: marker,
        })
    }

    /// Returns the directory.
    pub fn directory(&self) -> &Path {
        &self.directory
    }

    /// Removes the marker. Everything must be in the directory and synced.
    ///
    /// # Errors
    /// The directory stays marked.
    pub fn finish(self) -> io::Result<()> {
        fs::remove_file(self.directory.join(FILE))?;
        File::open(&self.directory)?.sync_all()
    }

    /// Gives up: empties the directory, and removes it if it did not exist before.
    ///
    /// # Errors
    /// If files cannot be removed; the directory stays marked.
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

/// Returns whether this command has begun to fill the directory, and has not finished.
pub fn was_begun_by(directory: &Path, command: &str) -> bool {
    fs::read_to_string(directory.join(FILE)).is_ok_and(|begun| begun.trim() == command)
}

/// Refuses an incomplete directory. The error is a message.
pub fn refuse_incomplete_directory(directory: &Path) -> Result<(), String> {
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
    fn a_directory_is_marked_until_it_is_finished() {
        let parent = tempfile::tempdir().unwrap();
        let directory = parent.path().join("new/data");
        let unfinished = IncompleteDirectory::begin(&directory, "paceline join").unwrap();
        assert!(
            refuse_incomplete_directory(&directory)
                .unwrap_err()
                .contains("'paceline join'")
        );
        assert!(was_begun_by(&directory, "paceline join") && !was_begun_by(&directory, "x"));
        fs::write(directory.join("a"), "").unwrap();
        assert!(matches!(
            IncompleteDirectory::begin(&directory, "x"),
            Err(BeginError::InUse(_))
        ));
        unfinished.finish().unwrap();
        refuse_incomplete_directory(&directory).unwrap();
        assert!(matches!(
            IncompleteDirectory::begin(&directory, "x"),
            Err(BeginError::NotEmpty(_))
        ));
        assert!(directory.join("a").exists());
    }

    #[test]
    fn files_of_an_interrupted_command_are_deleted() {
        let parent = tempfile::tempdir().unwrap();
        let directory = parent.path();
        drop(IncompleteDirectory::begin(directory, "paceline join").unwrap());
        fs::create_dir(directory.join("tables")).unwrap();
        fs::write(directory.join("tables/b"), "").unwrap();
        fs::write(directory.join("a"), "").unwrap();
        let again = IncompleteDirectory::begin(directory, "paceline join").unwrap();
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
