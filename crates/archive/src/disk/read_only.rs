//! Disk for a directory that another server has left. Nothing is written to it: the GTID indexes, which the log stores
//! beside its files, are kept in memory.

use super::archive_disk::ArchiveDisk;
use super::read_only_file::read_only;
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

#[cfg(test)]
mod tests {
    use super::*;
    use std::fs;

    #[test]
    fn nothing_in_the_directory_changes_and_indexes_are_kept_in_memory() {
        let directory = tempfile::tempdir().unwrap();
        let path = |name: &str| directory.path().join(name);
        fs::write(path("a.000001"), "content").unwrap();
        let disk = ReadOnlyDisk::default();
        let is_refused = |error: io::Error| error.kind() == ErrorKind::ReadOnlyFilesystem;
        let file = disk.open(&path("a.000001")).unwrap();
        assert!(is_refused(file.write_at(&[IoSlice::new(b"x")], 0).unwrap_err()));
        assert!(is_refused(file.set_length(0).unwrap_err()));
        assert!(is_refused(file.extend_with_zeros(7, 9).unwrap_err()));
        assert!(is_refused(disk.create(&path("a.000002")).unwrap_err()));
        assert!(is_refused(disk.remove(&path("a.000001")).unwrap_err()));
        assert!(is_refused(
            disk.rename(&path("a.000001"), &path("b")).unwrap_err()
        ));
        assert_eq!(
            disk.open(&path("a.000001.idx")).unwrap_err().kind(),
            ErrorKind::NotFound
        );
        let index = disk.create(&path("a.000001.idx")).unwrap();
        index
            .write_at(&[IoSlice::new(b"one"), IoSlice::new(b"two")], 0)
            .unwrap();
        let index = disk.open(&path("a.000001.idx")).unwrap();
        let mut read = [0; 9];
        assert_eq!(
            (index.read_at(&mut read, 2).unwrap(), &read[..4]),
            (4, &b"etwo"[..])
        );
        assert_eq!(index.read_at(&mut read, 100).unwrap(), 0);
        disk.remove(&path("a.000001.idx")).unwrap();
        assert_eq!(
            disk.open(&path("a.000001.idx")).unwrap_err().kind(),
            ErrorKind::NotFound
        );
        let names: Vec<_> = fs::read_dir(directory.path())
            .unwrap()
            .map(|entry| entry.unwrap().file_name())
            .collect();
        assert_eq!(names, ["a.000001"]);
        assert_eq!(fs::read(path("a.000001")).unwrap(), b"content");
    }
}
