//! A local file that is only read.

use paceline_binlog::log::DiskFile;
use std::io::{self, ErrorKind, IoSlice};

/// Refuses to write.
pub(super) fn read_only<T>() -> io::Result<T> {
    Err(ErrorKind::ReadOnlyFilesystem.into())
}

/// A read-only file of the local disk. It may belong to another user, and its file system may be mounted read-only.
#[derive(Debug)]
pub(super) struct ReadOnlyFile(pub std::fs::File);

impl DiskFile for ReadOnlyFile {
    fn read_at(&self, buffer: &mut [u8], offset: u64) -> io::Result<usize> {
        std::os::unix::fs::FileExt::read_at(&self.0, buffer, offset)
    }

    fn write_at(&self, _: &[IoSlice<'_>], _: u64) -> io::Result<()> {
        read_only()
    }

    fn extend_with_zeros(&self, _: u64, _: u64) -> io::Result<()> {
        read_only()
    }

    fn sync(&self) -> io::Result<()> {
        Ok(())
    }

    fn set_length(&self, _: u64) -> io::Result<()> {
        read_only()
    }

    fn length(&self) -> io::Result<u64> {
        Ok(self.0.metadata()?.len())
    }
}
