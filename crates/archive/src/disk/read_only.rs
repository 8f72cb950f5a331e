//! Disk for a directory that another server has left. Nothing is written to it: the GTID indexes, which the log stores
//! beside its files, are kept in memory.

use super::ArchiveDisk;
use paceline_binlog::log::{Disk, DiskFile};
use parking_lot::Mutex;
use std::collections::HashMap;
use std::io::{self, ErrorKind, IoSlice};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::SystemTime;

/// Extension of GTID index files.
const INDEX: &str = "idx";

/// A read-only disk with GTID indexes in memory.
#[derive(Debug, Default)]
pub struct ReadOnlyDisk {
    files: ArchiveDisk,
    indexes: Mutex<HashMap<PathBuf, Arc<MemoryFile>>>,
}

fn is_index(path: &Path) -> bool {
    path.extension().is_some_and(|extension| extension == INDEX)
}

fn read_only<T>() -> io::Result<T> {
    Err(ErrorKind::ReadOnlyFilesystem.into())
}

impl Disk for ReadOnlyDisk {
    fn create(&self, path: &Path) -> io::Result<Arc<dyn DiskFile>> {
        if !is_index(path) {
            return read_only();
        }
        let file = Arc::new(MemoryFile::default());
        self.indexes.lock().insert(path.to_owned(), file.clone());
        Ok(file)
    }

    fn open(&self, path: &Path) -> io::Result<Arc<dyn DiskFile>> {
        if is_index(path) {
            let indexes = self.indexes.lock();
            return match indexes.get(path) {
                Some(file) => Ok(file.clone()),
                None => Err(ErrorKind::NotFound.into()),
            };
        }
        self.files.open_to_read(path)
    }

    fn modified(&self, path: &Path) -> io::Result<SystemTime> {
        self.files.modified(path)
    }

    fn list(&self, directory: &Path) -> io::Result<Vec<String>> {
        self.files.list(directory)
    }

    fn rename(&self, _: &Path, _: &Path) -> io::Result<()> {
        read_only()
    }

    fn remove(&self, path: &Path) -> io::Result<()> {
        match is_index(path) {
            true => match self.indexes.lock().remove(path) {
                Some(_) => Ok(()),
                None => Err(ErrorKind::NotFound.into()),
            },
            false => read_only(),
        }
    }

    fn sync_directory(&self, _: &Path) -> io::Result<()> {
        Ok(())
    }
}

/// A small file in memory.
#[derive(Debug, Default)]
struct MemoryFile(Mutex<Vec<u8>>);

impl DiskFile for MemoryFile {
    fn read_at(&self, buffer: &mut [u8], offset: u64) -> io::Result<usize> {
        let content = self.0.lock();
        let start = usize::try_from(offset).unwrap_or(usize::MAX).min(content.len());
        let length = buffer.len().min(content.len() - start);
        buffer[..length].copy_from_slice(&content[start..start + length]);
        Ok(length)
    }

    fn write_at(&self, pieces: &[IoSlice<'_>], offset: u64) -> io::Result<()> {
        let mut content = self.0.lock();
        // The log writes an index from its beginning in one piece.
        content.truncate(usize::try_from(offset).unwrap_or(usize::MAX));
        pieces.iter().for_each(|piece| content.extend_from_slice(piece));
        Ok(())
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
        Ok(self.0.lock().len() as u64)
    }
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
