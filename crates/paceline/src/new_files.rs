//! Creates the files of a new data directory. Each byte is written once, and files and their names are made durable.

use crate::backup::error::{Error, Result};
use std::collections::{BTreeMap, BTreeSet};
use std::fs::File;
use std::io::Error as IoError;
use std::os::unix::fs::FileExt;
use std::path::{Component, Path, PathBuf};

/// Directory of the table files, relative to the data directory.
const TABLES: &str = "tables";

/// Files that are being created.
#[derive(Debug)]
pub struct NewFiles {
    datadir: PathBuf,
    /// Directories that contain new files.
    directories: BTreeSet<PathBuf>,
    /// End of each log file that is written in pieces.
    log_ends: BTreeMap<PathBuf, u64>,
}

/// A new file, or a piece of one.
#[derive(Debug)]
pub struct NewFile {
    path: PathBuf,
    file: File,
    /// Offset of the next byte.
    at: u64,
}

impl NewFiles {
    /// Prepares to create files in this data directory.
    pub fn in_directory(datadir: &Path) -> Self {
        NewFiles {
            datadir: datadir.to_owned(),
            directories: BTreeSet::from([datadir.to_owned()]),
            log_ends: BTreeMap::new(),
        }
    }

    /// Creates a table file. `name` is its path relative to the tables' directory.
    ///
    /// # Errors
    /// [`Error::Usage`] for a path that leads out of that directory; [`Error::File`].
    pub fn table(&mut self, name: &str) -> Result<NewFile> {
        let below = Path::new(name);
        let is_below = below
            .components()
            .all(|component| matches!(component, Component::Normal(_)));
        if !is_below || name.is_empty() {
            return Err(Error::Usage(format!("'{name}' is not the name of a table file")));
        }
        let path = self.datadir.join(TABLES).join(below);
        if let Some(directory) = path.parent() {
            paceline_storage::create_directory(directory).map_err(Error::file(directory))?;
        }
        self.open_at_end(path, 0)
    }

    /// Opens a log file whose present length is `offset`.
    ///
    /// # Errors
    /// [`Error::Usage`] for an invalid name; [`Error::File`].
    pub fn log(&mut self, name: &str, offset: u64) -> Result<NewFile> {
        self.open_at_end(self.log_path(name)?, offset)
    }

    /// Opens a piece of a log file: `length` bytes starting at `offset`. Pieces must be opened in order, but may be
    /// written in any order.
    ///
    /// # Errors
    /// [`Error::Usage`] for an invalid name; [`Error::File`], also for a hole between two pieces.
    pub fn log_piece(&mut self, name: &str, offset: u64, length: u64) -> Result<NewFile> {
        let path = self.log_path(name)?;
        let end = self.log_ends.entry(path.clone()).or_default();
        check_continues(&path, *end, offset)?;
        *end += length;
        self.open(path, offset)
    }

    fn log_path(&self, name: &str) -> Result<PathBuf> {
        match name.contains('/') || name.starts_with('.') || name.is_empty() {
            true => Err(Error::Usage(format!(
                "'{name}' is not the name of a binary log file"
            ))),
            false => Ok(self.datadir.join(name)),
        }
    }

    fn open_at_end(&mut self, path: PathBuf, offset: u64) -> Result<NewFile> {
        let opened = self.open(path, offset)?;
        let there = opened.file.metadata().map_err(Error::file(&opened.path))?.len();
        check_continues(&opened.path, there, offset)?;
        Ok(opened)
    }

    fn open(&mut self, path: PathBuf, at: u64) -> Result<NewFile> {
        let file = File::options()
            .create(true)
            .truncate(false)
            .write(true)
            .open(&path)
            .map_err(Error::file(&path))?;
        self.directories.extend(path.parent().map(Path::to_owned));
        Ok(NewFile { path, file, at })
    }

    /// Makes the names of the files durable.
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

fn check_continues(path: &Path, end: u64, offset: u64) -> Result<()> {
    if end == offset {
        return Ok(());
    }
    let problem = format!("it ends at {end}, but the next piece starts at {offset}");
    Err(Error::file(path)(IoError::other(problem)))
}

impl NewFile {
    /// Appends bytes.
    ///
    /// # Errors
    /// [`Error::File`].
    pub fn write(&mut self, bytes: &[u8]) -> Result<()> {
        let written = tokio::task::block_in_place(|| self.file.write_all_at(bytes, self.at));
        written.map_err(Error::file(&self.path))?;
        self.at += bytes.len() as u64;
        Ok(())
    }

    /// Makes the file durable.
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
    fn names_that_lead_out_of_the_directory_are_refused() {
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

    #[tokio::test(flavor = "multi_thread")]
    async fn pieces_are_written_in_any_order_and_leave_no_hole() {
        let directory = tempfile::tempdir().unwrap();
        let mut files = NewFiles::in_directory(directory.path());
        let mut first = files.log_piece("binlog.000001", 0, 4).unwrap();
        let mut second = files.log_piece("binlog.000001", 4, 3).unwrap();
        let hole = files.log_piece("binlog.000001", 8, 1);
        assert!(matches!(hole, Err(Error::File { .. })));
        second.write(b"and").unwrap();
        first.write(b"th").unwrap();
        first.write(b"is").unwrap();
        first.finish().unwrap();
        let content = std::fs::read(directory.path().join("binlog.000001")).unwrap();
        assert_eq!(content, b"thisand");
    }
}
