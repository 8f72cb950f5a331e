//! Files that are only read.

use paceline_binlog::log::DiskFile;
use std::fmt::Debug;
use std::fs::File;
use std::io::{self, ErrorKind, IoSlice};
use std::os::unix::fs::FileExt;

/// Refuses to write.
pub(super) fn read_only<T>() -> io::Result<T> {
    Err(ErrorKind::ReadOnlyFilesystem.into())
}

/// Content that can be read at any place.
pub trait Content: Send + Sync + Debug {
    /// Reads up to `buffer.len()` bytes from `offset`. Returns 0 only at the end.
    ///
    /// # Errors
    /// Fails if the content cannot be read.
    fn read_at(&self, buffer: &mut [u8], offset: u64) -> io::Result<usize>;

    /// Returns the length in bytes.
    ///
    /// # Errors
    /// Fails if the length cannot be determined.
    fn length(&self) -> io::Result<u64>;
}

/// A local file. It may belong to another user, and its file system may be mounted read-only.
impl Content for File {
    fn read_at(&self, buffer: &mut [u8], offset: u64) -> io::Result<usize> {
        FileExt::read_at(self, buffer, offset)
    }

    fn length(&self) -> io::Result<u64> {
        Ok(self.metadata()?.len())
    }
}

/// A file of the log that refuses to be written.
#[derive(Debug)]
pub struct ReadOnlyFile<C>(pub C);

impl<C: Content> DiskFile for ReadOnlyFile<C> {
    fn read_at(&self, buffer: &mut [u8], offset: u64) -> io::Result<usize> {
        self.0.read_at(buffer, offset)
    }

    fn write_at(&self, _: &[IoSlice<'_>], _: u64) -> io::Result<()> {
        read_only()
    }

    fn extend_with_zeros(&self, _: u64, _: u64) -> io::Result<()> {
        read_only()
    }

    /// Nothing to do: the content was synced before the file got its name.
    fn sync(&self) -> io::Result<()> {
        Ok(())
    }

    fn set_length(&self, _: u64) -> io::Result<()> {
        read_only()
    }

    fn length(&self) -> io::Result<u64> {
        self.0.length()
    }
}
