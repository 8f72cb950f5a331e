//! Files of a data directory that is being made, written from their beginning to their end, and durable with their names.

use crate::backup::error::{Error, Result};
use std::collections::BTreeSet;
use std::fs::File;
use std::io::{Error as IoError, Write};
use std::path::{Component, Path, PathBuf};

/// The directory that table files lie in, below the data directory.
const TABLES: &str = "tables";

/// Files that are being made.
#[derive(Debug)]
pub struct NewFiles {
    datadir: PathBuf,
    /// The directories that have got files.
    directories: BTreeSet<PathBuf>,
}

/// A file that grows.
#[derive(Debug)]
pub struct NewFile {
    path: PathBuf,
    file: File,
}

impl NewFiles {
    /// In this data directory.
    pub fn in_directory(datadir: &Path) -> Self {
        NewFiles {
            datadir: datadir.to_owned(),
            directories: BTreeSet::from([datadir.to_owned()]),
        }
    }

    /// A table file, by its path below the tables' directory.
    ///
    /// # Errors
    /// [`Error::Usage`] for a path that leads out of it; [`Error::File`].
    pub fn table(&mut self, name: &str) -> Result<NewFile> {
        let below = Path::new(name);
        let is_below = below
            .components()
            .all(|component| matches!(component, Component::Normal(_)));
        if !is_below || name.is_empty() {
            return Err(Error::Usage(format!("'{name}' is no name of a table file")));
        }
        let path = self.datadir.join(TABLES).join(below);
        if let Some(directory) = path.parent() {
            paceline_storage::create_directory(directory).map_err(Error::file(directory))?;
        }
        self.open(path, 0)
    }

    /// A file of the log, which is `offset` bytes long so far.
    ///
    /// # Errors
    /// [`Error::Usage`] for what is not the name of a file; [`Error::File`].
    pub fn log(&mut self, name: &str, offset: u64) -> Result<NewFile> {
        if name.contains('/') || name.starts_with('.') || name.is_empty() {
            return Err(Error::Usage(format!("'{name}' is no name of a binary log file")));
        }
        self.open(self.datadir.join(name), offset)
    }

    fn open(&mut self, path: PathBuf, offset: u64) -> Result<NewFile> {
        let file = File::options()
            .create(true)
            .append(true)
            .open(&path)
            .map_err(Error::file(&path))?;
        let there = file.metadata().map_err(Error::file(&path))?.len();
        if there != offset {
            let problem = format!("it ends at {there}, and what comes next begins at {offset}");
            return Err(Error::file(path)(IoError::other(problem)));
        }
        self.directories.extend(path.parent().map(Path::to_owned));
        Ok(NewFile { path, file })
    }

    /// Makes the files' names durable.
    ///
    /// # Errors
    /// [`Error::File`].
    pub fn sync(&self) -> Result<()> {
        for directory in &self.directories {
            File::open(directory)
                .and_then(|opened| opened.sync_all())
                .map_err(Error::file(directory))?;
        }
        Ok(())
    }
}

impl NewFile {
    /// Appends.
    ///
    /// # Errors
    /// [`Error::File`].
    pub fn write(&mut self, bytes: &[u8]) -> Result<()> {
        tokio::task::block_in_place(|| self.file.write_all(bytes)).map_err(Error::file(&self.path))
    }

    /// It is whole: durable when this returns.
    ///
    /// # Errors
    /// [`Error::File`].
    pub fn finish(self) -> Result<()> {
        tokio::task::block_in_place(|| self.file.sync_all()).map_err(Error::file(&self.path))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_stay_below_the_directory() {
        let directory = tempfile::tempdir().unwrap();
        let mut files = NewFiles::in_directory(directory.path());
        for outside in ["", "../a", "/a", "rocksdb/../../a"] {
            assert!(matches!(files.table(outside), Err(Error::Usage(_))), "{outside}");
        }
        for outside in ["", "a/b", "..", ".hidden"] {
            assert!(matches!(files.log(outside, 0), Err(Error::Usage(_))), "{outside}");
        }
        files.table("rocksdb/1.sst").unwrap();
        assert!(directory.path().join("tables/rocksdb/1.sst").is_file());
        files.sync().unwrap();
        assert!(matches!(files.log("binlog.000001", 4), Err(Error::File { .. })));
    }
}
