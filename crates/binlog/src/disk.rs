//! The file operations that the log needs, as traits, so that tests can run it on a disk that fails.

use rustix::fs::{FallocateFlags, fallocate};
use std::fmt;
use std::fs::{self, File, OpenOptions};
use std::io::{self, ErrorKind, IoSlice};
use std::os::unix::fs::{FileExt, OpenOptionsExt};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::SystemTime;

/// Unit in which the disk writes, in bytes. Extensions of a file start and end at multiples of it.
pub const BLOCK_LENGTH: u64 = 4096;

/// A disk with directories.
pub trait Disk: Send + Sync + fmt::Debug {
    /// Creates a file that does not exist yet, for reading and writing.
    fn create(&self, path: &Path) -> io::Result<Arc<dyn DiskFile>>;
    /// Opens a file for reading and writing.
    fn open(&self, path: &Path) -> io::Result<Arc<dyn DiskFile>>;
    /// Returns when a file was last written.
    fn modified(&self, path: &Path) -> io::Result<SystemTime>;
    /// Returns the names of the files in a directory, in any order.
    fn list(&self, directory: &Path) -> io::Result<Vec<String>>;
    /// Renames a file, replacing an existing file of the new name.
    fn rename(&self, from: &Path, to: &Path) -> io::Result<()>;
    /// Removes a file.
    fn remove(&self, path: &Path) -> io::Result<()>;
    /// Makes the names in a directory durable.
    fn sync_directory(&self, directory: &Path) -> io::Result<()>;
}

/// An open file.
pub trait DiskFile: Send + Sync + fmt::Debug {
    /// Reads up to `buffer.len()` bytes from `offset`. Returns 0 only at the file's end.
    fn read_at(&self, buffer: &mut [u8], offset: u64) -> io::Result<usize>;
    /// Writes all pieces, one after another, from `offset`.
    fn write_at(&self, pieces: &[IoSlice<'_>], offset: u64) -> io::Result<()>;
    /// Extends the file from `offset` (its end; a multiple of [`BLOCK_LENGTH`], as `length` is) with zeros that are
    /// on the disk when it returns. Delays syncs of the earlier content as little as possible.
    fn extend_with_zeros(&self, offset: u64, length: u64) -> io::Result<()>;
    /// Makes the content and the length durable.
    fn sync(&self) -> io::Result<()>;
    /// Truncates the file, or extends it with zeros that are not durable.
    fn set_length(&self, length: u64) -> io::Result<()>;
    /// Returns the file's length in bytes.
    fn length(&self) -> io::Result<u64>;
}

/// The operating system's disk.
#[derive(Clone, Copy, Debug, Default)]
pub struct RealDisk;

impl Disk for RealDisk {
    fn create(&self, path: &Path) -> io::Result<Arc<dyn DiskFile>> {
        let file = OpenOptions::new()
            .read(true)
            .write(true)
            .create_new(true)
            .open(path)?;
        Ok(Arc::new(RealFile {
            file,
            path: path.to_owned(),
        }))
    }

    fn open(&self, path: &Path) -> io::Result<Arc<dyn DiskFile>> {
        let file = OpenOptions::new().read(true).write(true).open(path)?;
        Ok(Arc::new(RealFile {
            file,
            path: path.to_owned(),
        }))
    }

    fn modified(&self, path: &Path) -> io::Result<SystemTime> {
        fs::metadata(path)?.modified()
    }

    fn list(&self, directory: &Path) -> io::Result<Vec<String>> {
        let mut names = Vec::new();
        for entry in fs::read_dir(directory)? {
            // The log has no files whose names are not UTF-8.
            names.extend(entry?.file_name().into_string().ok());
        }
        Ok(names)
    }

    fn rename(&self, from: &Path, to: &Path) -> io::Result<()> {
        fs::rename(from, to)
    }

    fn remove(&self, path: &Path) -> io::Result<()> {
        fs::remove_file(path)
    }

    fn sync_directory(&self, directory: &Path) -> io::Result<()> {
        File::open(directory)?.sync_all()
    }
}

#[derive(Debug)]
struct RealFile {
    file: File,
    path: PathBuf,
}

/// Number of bytes per write when a file is extended: enough for the disk's throughput, and little enough that a
/// commit's write to the same file, which waits for it, does not wait long.
const ZEROS_LENGTH: usize = 256 * 1024;

/// Zeros, aligned as direct writes require.
#[repr(align(4096))]
struct Zeros([u8; ZEROS_LENGTH]);

static ZEROS: Zeros = Zeros([0; ZEROS_LENGTH]);

/// Returns zeros to fill a block with.
pub(crate) fn zeros(length: usize) -> &'static [u8] {
    &ZEROS.0[..length]
}

/// Maximum number of pieces per system call (IOV_MAX).
const PIECES_MAX: usize = 1024;

impl DiskFile for RealFile {
    fn read_at(&self, buffer: &mut [u8], offset: u64) -> io::Result<usize> {
        loop {
            match self.file.read_at(buffer, offset) {
                Err(error) if error.kind() == ErrorKind::Interrupted => {}
                result => return result,
            }
        }
    }

    fn write_at(&self, pieces: &[IoSlice<'_>], offset: u64) -> io::Result<()> {
        let total: usize = pieces.iter().map(|piece| piece.len()).sum();
        let first = &pieces[..pieces.len().min(PIECES_MAX)];
        // This one call nearly always writes everything.
        let written = match rustix::io::pwritev(&self.file, first, offset) {
            Ok(written) => written,
            Err(rustix::io::Errno::INTR) => 0,
            Err(error) => return Err(error.into()),
        };
        if written == total {
            return Ok(());
        }
        let mut skip = written;
        let mut at = offset + written as u64;
        for piece in pieces {
            let rest = &piece[skip.min(piece.len())..];
            skip -= piece.len() - rest.len();
            self.file.write_all_at(rest, at)?;
            at += rest.len() as u64;
        }
        Ok(())
    }

    /// Writes the blocks synchronously and around the page cache, through a second descriptor. So a commit's
    /// fdatasync finds no dirty pages of them, and an append does not read them back, because appends fill whole
    /// blocks. File systems without direct writes (tmpfs) get a write and a sync.
    fn extend_with_zeros(&self, offset: u64, length: u64) -> io::Result<()> {
        assert!(offset.is_multiple_of(BLOCK_LENGTH) && length.is_multiple_of(BLOCK_LENGTH));
        // All space is allocated at once, so that a full disk is found before anything is written, and in few extents.
        match fallocate(&self.file, FallocateFlags::empty(), offset, length) {
            Ok(()) | Err(rustix::io::Errno::OPNOTSUPP) => {}
            Err(error) => return Err(error.into()),
        }
        let direct = (rustix::fs::OFlags::DIRECT | rustix::fs::OFlags::DSYNC)
            .bits()
            .cast_signed();
        let direct = OpenOptions::new()
            .write(true)
            .custom_flags(direct)
            .open(&self.path);
        let end = offset + length;
        let mut at = offset;
        if let Ok(direct) = direct {
            while at < end {
                match direct.write_all_at(zeros((end - at).min(ZEROS_LENGTH as u64) as usize), at) {
                    Ok(()) => at += (end - at).min(ZEROS_LENGTH as u64),
                    Err(error) if error.kind() == ErrorKind::InvalidInput => break,
                    Err(error) => return Err(error),
                }
            }
        }
        if at < end {
            while at < end {
                let length = (end - at).min(ZEROS_LENGTH as u64);
                self.file.write_all_at(zeros(length as usize), at)?;
                at += length;
            }
            self.file.sync_data()?;
        }
        Ok(())
    }

    fn sync(&self) -> io::Result<()> {
        self.file.sync_data()
    }

    fn set_length(&self, length: u64) -> io::Result<()> {
        self.file.set_len(length)
    }

    fn length(&self) -> io::Result<u64> {
        Ok(self.file.metadata()?.len())
    }
}

/// Reads until the buffer is full or the file ends; returns how many bytes were read.
pub(crate) fn read_fully(file: &dyn DiskFile, buffer: &mut [u8], offset: u64) -> io::Result<usize> {
    let mut filled = 0;
    while filled < buffer.len() {
        match file.read_at(&mut buffer[filled..], offset + filled as u64)? {
            0 => break,
            read => filled += read,
        }
    }
    Ok(filled)
}

/// Returns whether an operation failed because the disk or the user's quota is full.
pub(crate) fn is_no_space(error: &io::Error) -> bool {
    matches!(error.kind(), ErrorKind::StorageFull | ErrorKind::QuotaExceeded)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn many_pieces_are_written_whole() {
        let directory = tempfile::tempdir().unwrap();
        let file = RealDisk.create(&directory.path().join("f")).unwrap();
        let parts: Vec<Vec<u8>> = (0..3000usize)
            .map(|number| vec![number as u8; number % 7])
            .collect();
        let pieces: Vec<IoSlice<'_>> = parts.iter().map(|part| IoSlice::new(part)).collect();
        file.write_at(&pieces, 5).unwrap();
        let expected = [&[0; 5][..], &parts.concat()].concat();
        let mut read = vec![1; expected.len() + 10];
        let length = read_fully(&*file, &mut read, 0).unwrap();
        assert_eq!(read[..length], expected);
    }

    #[test]
    fn extending_writes_zeros() {
        // Not only under /tmp: the build's directory is on a disk, which direct writes need.
        for directory in [tempfile::tempdir().unwrap(), tempfile::tempdir_in(".").unwrap()] {
            let path = directory.path().join("f");
            let file = RealDisk.create(&path).unwrap();
            file.extend_with_zeros(0, 3 * 256 * 1024 + 4096).unwrap();
            file.write_at(&[IoSlice::new(b"log")], 4096).unwrap();
            file.extend_with_zeros(3 * 256 * 1024 + 4096, 8192).unwrap();
            let content = fs::read(&path).unwrap();
            assert_eq!(content.len(), 3 * 256 * 1024 + 4096 + 8192);
            assert_eq!(&content[4096..4099], b"log");
            assert_eq!(content.iter().filter(|byte| **byte != 0).count(), 3);
        }
    }
}
