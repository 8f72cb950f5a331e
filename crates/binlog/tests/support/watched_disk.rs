//! A disk that reports its operations to a test.

use paceline_binlog::log::{Disk, DiskFile};
use paceline_simulated_disk::SimulatedDisk;
use parking_lot::Mutex;
use std::fmt;
use std::io::{self, IoSlice};
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::SystemTime;

type OnRename = Box<dyn Fn(&Path) + Send>;

/// A simulated disk that is watched. All clones are the same disk.
#[derive(Clone, Default)]
pub struct WatchedDisk {
    pub disk: SimulatedDisk,
    reads: Arc<AtomicU64>,
    on_rename: Arc<Mutex<Option<OnRename>>>,
}

impl WatchedDisk {
    pub fn over(disk: SimulatedDisk) -> Self {
        Self {
            disk,
            ..Self::default()
        }
    }

    /// Returns the number of reads of files.
    pub fn reads(&self) -> u64 {
        self.reads.load(Ordering::Relaxed)
    }

    /// Sets a function that is called after each rename, with the new name.
    pub fn on_rename(&self, call: impl Fn(&Path) + Send + 'static) {
        *self.on_rename.lock() = Some(Box::new(call));
    }

    fn watch(&self, file: Arc<dyn DiskFile>) -> Arc<dyn DiskFile> {
        let reads = Arc::clone(&self.reads);
        Arc::new(WatchedFile { file, reads })
    }
}

impl fmt::Debug for WatchedDisk {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.disk.fmt(f)
    }
}

impl Disk for WatchedDisk {
    fn create(&self, path: &Path) -> io::Result<Arc<dyn DiskFile>> {
        self.disk.create(path).map(|file| self.watch(file))
    }

    fn open(&self, path: &Path) -> io::Result<Arc<dyn DiskFile>> {
        self.disk.open(path).map(|file| self.watch(file))
    }

    fn modified(&self, path: &Path) -> io::Result<SystemTime> {
        self.disk.modified(path)
    }

    fn list(&self, directory: &Path) -> io::Result<Vec<String>> {
        self.disk.list(directory)
    }

    fn rename(&self, from: &Path, to: &Path) -> io::Result<()> {
        self.disk.rename(from, to)?;
        if let Some(call) = &*self.on_rename.lock() {
            call(to);
        }
        Ok(())
    }

    fn remove(&self, path: &Path) -> io::Result<()> {
        self.disk.remove(path)
    }

    fn sync_directory(&self, directory: &Path) -> io::Result<()> {
        self.disk.sync_directory(directory)
    }
}

#[derive(Debug)]
struct WatchedFile {
    file: Arc<dyn DiskFile>,
    reads: Arc<AtomicU64>,
}

impl DiskFile for WatchedFile {
    fn read_at(&self, buffer: &mut [u8], offset: u64) -> io::Result<usize> {
        self.reads.fetch_add(1, Ordering::Relaxed);
        self.file.read_at(buffer, offset)
    }

    fn write_at(&self, pieces: &[IoSlice<'_>], offset: u64) -> io::Result<()> {
        self.file.write_at(pieces, offset)
    }

    fn extend_with_zeros(&self, offset: u64, length: u64) -> io::Result<()> {
        self.file.extend_with_zeros(offset, length)
    }

    fn sync(&self) -> io::Result<()> {
        self.file.sync()
    }

    fn set_length(&self, length: u64) -> io::Result<()> {
        self.file.set_length(length)
    }

    fn length(&self) -> io::Result<u64> {
        self.file.length()
    }
}
