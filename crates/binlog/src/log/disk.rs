//! The file operations that the log needs, and nothing more, so that tests can put a disk below it that fails.

use std::fmt;
use std::io::{self, IoSlice};
use std::path::Path;
use std::sync::Arc;

/// A disk with directories.
pub trait Disk: Send + Sync + fmt::Debug {
    /// Creates a file that is not there yet, for reading and writing.
    fn create(&self, path: &Path) -> io::Result<Arc<dyn DiskFile>>;
    /// Opens a file for reading and writing.
    fn open(&self, path: &Path) -> io::Result<Arc<dyn DiskFile>>;
    /// The names of the files in a directory.
    fn list(&self, directory: &Path) -> io::Result<Vec<String>>;
    /// Renames a file, over one that may be there.
    fn rename(&self, from: &Path, to: &Path) -> io::Result<()>;
    /// Removes a file.
    fn remove(&self, path: &Path) -> io::Result<()>;
    /// Makes durable which names are in a directory.
    fn sync_directory(&self, directory: &Path) -> io::Result<()>;
}

/// An open file.
pub trait DiskFile: Send + Sync + fmt::Debug {
    /// Reads up to that many bytes from there; 0 at the end.
    fn read_at(&self, buffer: &mut [u8], offset: u64) -> io::Result<usize>;
    /// Writes all of the pieces, one behind the other, from there.
    fn write_at(&self, pieces: &[IoSlice<'_>], offset: u64) -> io::Result<()>;
    /// Extends the file with zeros that are on the disk when it returns. Does not disturb syncs of what is before.
    fn extend_with_zeros(&self, offset: u64, length: u64) -> io::Result<()>;
    /// Makes the content durable.
    fn sync(&self) -> io::Result<()>;
    /// Cuts the file.
    fn truncate(&self, length: u64) -> io::Result<()>;
    /// The file's length in bytes.
    fn length(&self) -> io::Result<u64>;
}

/// The operating system's.
#[derive(Clone, Copy, Debug, Default)]
pub struct RealDisk;

impl Disk for RealDisk {
    fn create(&self, _path: &Path) -> io::Result<Arc<dyn DiskFile>> {
        todo!()
    }
    fn open(&self, _path: &Path) -> io::Result<Arc<dyn DiskFile>> {
        todo!()
    }
    fn list(&self, _directory: &Path) -> io::Result<Vec<String>> {
        todo!()
    }
    fn rename(&self, _from: &Path, _to: &Path) -> io::Result<()> {
        todo!()
    }
    fn remove(&self, _path: &Path) -> io::Result<()> {
        todo!()
    }
    fn sync_directory(&self, _directory: &Path) -> io::Result<()> {
        todo!()
    }
}
