//! A disk that counts and times what is done with its files: for `performance_schema.file_…`.
//!
//! ```text
//!   log ──▶ MeasuredDisk ──▶ Disk (the system's)
//!                │  a file that is open, or was: FileCounters, shared by its handles
//!                └─▶ FileStatistics ─┬─ by file
//!                                    └─ by class: what removed files have done, files without a place
//! ```
//! An operation costs two readings of a clock and some additions to counters of its file. The log's thread writes and
//! syncs once for a group of transactions, and only there does it cost a transaction anything.
//!
//! As in MariaDB a file is known until it is removed, and then counts for its class only. At most [`FILES_MAX`] are
//! known; when another is opened, one that is closed is forgotten, as if it were removed.
//!
//! Only what goes through this disk is counted: not the copies of `paceline backup`, nor indexes that are read as a
//! whole.

use crate::disk::{Disk, DiskFile};
use parking_lot::Mutex;
use std::collections::BTreeMap;
use std::io::{self, IoSlice};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};
use std::time::{Instant, SystemTime};

/// Maximum number of files with counters of their own.
pub const FILES_MAX: usize = 4096;

/// Class of a file.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum FileClass {
    /// A file of the log.
    Log,
    /// The list of the log's files.
    Index,
    /// Index of the transactions in a file of the log.
    GtidIndex,
    /// Other files beside the log.
    Other,
}

impl FileClass {
    /// All classes.
    pub const ALL: [FileClass; 4] = [
        FileClass::Log,
        FileClass::Index,
        FileClass::GtidIndex,
        FileClass::Other,
    ];

    fn of(path: &Path) -> FileClass {
        let ending = path
            .extension()
            .and_then(|ending| ending.to_str())
            .unwrap_or_default();
        match ending {
            "index" => FileClass::Index,
            "idx" => FileClass::GtidIndex,
            _ if !ending.is_empty() && ending.bytes().all(|byte| byte.is_ascii_digit()) => FileClass::Log,
            _ => FileClass::Other,
        }
    }
}

/// Sums of one kind of operations.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct OperationSums {
    /// Number of operations.
    pub count: u64,
    /// Sum of their durations in nanoseconds.
    pub nanos: u64,
    /// Shortest duration in nanoseconds; `u64::MAX` without operations.
    pub nanos_min: u64,
    /// Longest duration in nanoseconds.
    pub nanos_max: u64,
    /// Bytes that were read or written.
    pub bytes: u64,
}

impl Default for OperationSums {
    fn default() -> Self {
        OperationSums {
            count: 0,
            nanos: 0,
            nanos_min: u64::MAX,
            nanos_max: 0,
            bytes: 0,
        }
    }
}

impl OperationSums {
    /// Adds other sums.
    pub fn add(&mut self, other: &OperationSums) {
        self.count += other.count;
        self.nanos = self.nanos.saturating_add(other.nanos);
        self.nanos_min = self.nanos_min.min(other.nanos_min);
        self.nanos_max = self.nanos_max.max(other.nanos_max);
        self.bytes += other.bytes;
    }
}

/// Sums of a file or a class.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct FileSums {
    /// Reads.
    pub reads: OperationSums,
    /// Writes, and the zeros by which a file is extended.
    pub writes: OperationSums,
    /// All others: open, sync, length, rename, remove.
    pub others: OperationSums,
}

impl FileSums {
    /// Adds other sums.
    pub fn add(&mut self, other: &FileSums) {
        self.reads.add(&other.reads);
        self.writes.add(&other.writes);
        self.others.add(&other.others);
    }

    /// Returns the sums of all operations.
    pub fn all(&self) -> OperationSums {
        let mut all = self.reads;
        all.add(&self.writes);
        all.add(&self.others);
        all
    }
}

/// Kind of an operation.
#[derive(Debug, Clone, Copy)]
enum Operation {
    Read,
    Write,
    Other,
}

#[derive(Debug)]
struct Counters {
    count: AtomicU64,
    nanos: AtomicU64,
    nanos_min: AtomicU64,
    nanos_max: AtomicU64,
    bytes: AtomicU64,
}

impl Default for Counters {
    fn default() -> Self {
        Counters {
            count: AtomicU64::new(0),
            nanos: AtomicU64::new(0),
            nanos_min: AtomicU64::new(u64::MAX),
            nanos_max: AtomicU64::new(0),
            bytes: AtomicU64::new(0),
        }
    }
}

impl Counters {
    fn add(&self, nanos: u64, bytes: u64) {
        self.count.fetch_add(1, Relaxed);
        self.nanos.fetch_add(nanos, Relaxed);
        // Extremes rarely change, so most operations only read them.
        if nanos < self.nanos_min.load(Relaxed) {
            self.nanos_min.fetch_min(nanos, Relaxed);
        }
        if nanos > self.nanos_max.load(Relaxed) {
            self.nanos_max.fetch_max(nanos, Relaxed);
        }
        if bytes > 0 {
            self.bytes.fetch_add(bytes, Relaxed);
        }
    }

    fn sums(&self) -> OperationSums {
        OperationSums {
            count: self.count.load(Relaxed),
            nanos: self.nanos.load(Relaxed),
            nanos_min: self.nanos_min.load(Relaxed),
            nanos_max: self.nanos_max.load(Relaxed),
            bytes: self.bytes.load(Relaxed),
        }
    }

    fn clear(&self) {
        self.count.store(0, Relaxed);
        self.nanos.store(0, Relaxed);
        self.nanos_min.store(u64::MAX, Relaxed);
        self.nanos_max.store(0, Relaxed);
        self.bytes.store(0, Relaxed);
    }
}

/// Counters of a file.
#[derive(Debug, Default)]
struct FileCounters {
    /// Number of the file, from 1, in the order in which the files became known.
    number: u64,
    reads: Counters,
    writes: Counters,
    others: Counters,
    open: AtomicU64,
}

impl FileCounters {
    /// Runs an operation and counts it. `bytes` are those of its result.
    fn measure<T>(
        &self,
        operation: Operation,
        run: impl FnOnce() -> io::Result<T>,
        bytes: impl FnOnce(&T) -> usize,
    ) -> io::Result<T> {
        let started = Instant::now();
        let result = run();
        let nanos = nanos_since(started);
        let bytes = result.as_ref().map_or(0, bytes);
        let counters = match operation {
            Operation::Read => &self.reads,
            Operation::Write => &self.writes,
            Operation::Other => &self.others,
        };
        counters.add(nanos, bytes as u64);
        result
    }

    fn sums(&self) -> FileSums {
        FileSums {
            reads: self.reads.sums(),
            writes: self.writes.sums(),
            others: self.others.sums(),
        }
    }

    fn clear(&self) {
        let all = [&self.reads, &self.writes, &self.others];
        all.into_iter().for_each(Counters::clear);
    }
}

fn nanos_since(started: Instant) -> u64 {
    u64::try_from(started.elapsed().as_nanos()).unwrap_or(u64::MAX)
}

/// A file with its sums.
#[derive(Debug, Clone)]
pub struct MeasuredFileSums {
    /// Path of the file.
    pub path: PathBuf,
    /// Number that no other file has had since the start.
    pub number: u64,
    /// Its class.
    pub class: FileClass,
    /// Number of handles that are open.
    pub open: u64,
    /// The sums.
    pub sums: FileSums,
}

#[derive(Debug, Default)]
struct KnownFiles {
    files: BTreeMap<PathBuf, Arc<FileCounters>>,
    /// Number of files so far.
    numbers: u64,
    /// Operations of files that are forgotten.
    classes: BTreeMap<FileClass, FileSums>,
}

impl KnownFiles {
    fn forget(&mut self, path: &Path) {
        if let Some(counters) = self.files.remove(path) {
            let class = self.classes.entry(FileClass::of(path)).or_default();
            class.add(&counters.sums());
        }
    }

    /// Returns the counters of a file.
    fn counters(&mut self, path: &Path) -> Arc<FileCounters> {
        if let Some(known) = self.files.get(path) {
            return known.clone();
        }
        if self.files.len() >= FILES_MAX {
            let is_closed = |(_, counters): &(&PathBuf, &Arc<FileCounters>)| counters.open.load(Relaxed) == 0;
            let closed = self.files.iter().find(is_closed).map(|(path, _)| path.clone());
            match closed {
                Some(closed) => self.forget(&closed),
                // So many are open at the same time: this one is not shown.
                None => return Arc::default(),
            }
        }
        self.numbers += 1;
        let counters = Arc::new(FileCounters {
            number: self.numbers,
            ..FileCounters::default()
        });
        self.files.insert(path.to_owned(), counters.clone());
        counters
    }
}

/// Statistics of the files of a [`MeasuredDisk`].
#[derive(Debug, Default)]
pub struct FileStatistics(Mutex<KnownFiles>);

impl FileStatistics {
    /// Returns the files, by path.
    pub fn files(&self) -> Vec<MeasuredFileSums> {
        let known = self.0.lock();
        let file = |(path, counters): (&PathBuf, &Arc<FileCounters>)| MeasuredFileSums {
            path: path.clone(),
            number: counters.number,
            class: FileClass::of(path),
            open: counters.open.load(Relaxed),
            sums: counters.sums(),
        };
        known.files.iter().map(file).collect()
    }

    /// Returns the sums of all classes, with those of files that were removed.
    pub fn classes(&self) -> Vec<(FileClass, FileSums)> {
        let known = self.0.lock();
        let sums = |class: FileClass| {
            let mut sums = known.classes.get(&class).copied().unwrap_or_default();
            let files = known
                .files
                .iter()
                .filter(|(path, _)| FileClass::of(path) == class);
            files.for_each(|(_, counters)| sums.add(&counters.sums()));
            (class, sums)
        };
        FileClass::ALL.into_iter().map(sums).collect()
    }

    /// Sets the sums of all files to zero; their classes keep what they have done.
    pub fn clear_files(&self) {
        let mut known = self.0.lock();
        let KnownFiles { files, classes, .. } = &mut *known;
        for (path, counters) in files {
            classes
                .entry(FileClass::of(path))
                .or_default()
                .add(&counters.sums());
            counters.clear();
        }
    }

    /// Sets all sums to zero.
    pub fn clear(&self) {
        self.clear_files();
        self.0.lock().classes.clear();
    }
}

/// A disk that counts what is done with its files.
#[derive(Debug)]
pub struct MeasuredDisk {
    disk: Arc<dyn Disk>,
    statistics: Arc<FileStatistics>,
}

impl MeasuredDisk {
    /// Creates a disk that counts the operations of another one.
    pub fn new(disk: Arc<dyn Disk>, statistics: Arc<FileStatistics>) -> MeasuredDisk {
        MeasuredDisk { disk, statistics }
    }

    /// Runs an operation on the name of a file.
    fn measure<T>(&self, path: &Path, run: impl FnOnce(&dyn Disk) -> io::Result<T>) -> io::Result<T> {
        let counters = self.statistics.0.lock().counters(path);
        counters.measure(Operation::Other, || run(&*self.disk), |_| 0)
    }

    /// Opens or creates a file. One that does not exist gets no counters.
    fn open_with(
        &self,
        path: &Path,
        open: impl FnOnce(&dyn Disk) -> io::Result<Arc<dyn DiskFile>>,
    ) -> io::Result<Arc<dyn DiskFile>> {
        let started = Instant::now();
        let file = open(&*self.disk)?;
        let nanos = nanos_since(started);
        let counters = self.statistics.0.lock().counters(path);
        counters.others.add(nanos, 0);
        counters.open.fetch_add(1, Relaxed);
        Ok(Arc::new(MeasuredFile { file, counters }))
    }
}

impl Disk for MeasuredDisk {
    fn create(&self, path: &Path) -> io::Result<Arc<dyn DiskFile>> {
        self.open_with(path, |disk| disk.create(path))
    }

    fn open(&self, path: &Path) -> io::Result<Arc<dyn DiskFile>> {
        self.open_with(path, |disk| disk.open(path))
    }

    fn modified(&self, path: &Path) -> io::Result<SystemTime> {
        self.disk.modified(path)
    }

    fn list(&self, directory: &Path) -> io::Result<Vec<String>> {
        self.disk.list(directory)
    }

    fn rename(&self, from: &Path, to: &Path) -> io::Result<()> {
        self.measure(from, |disk| disk.rename(from, to))?;
        let mut known = self.statistics.0.lock();
        known.forget(to);
        if let Some(counters) = known.files.remove(from) {
            known.files.insert(to.to_owned(), counters);
        }
        Ok(())
    }

    fn remove(&self, path: &Path) -> io::Result<()> {
        let removed = self.measure(path, |disk| disk.remove(path));
        self.statistics.0.lock().forget(path);
        removed
    }

    fn sync_directory(&self, directory: &Path) -> io::Result<()> {
        self.disk.sync_directory(directory)
    }
}

#[derive(Debug)]
struct MeasuredFile {
    file: Arc<dyn DiskFile>,
    counters: Arc<FileCounters>,
}

impl Drop for MeasuredFile {
    fn drop(&mut self) {
        self.counters.open.fetch_sub(1, Relaxed);
    }
}

impl DiskFile for MeasuredFile {
    fn read_at(&self, buffer: &mut [u8], offset: u64) -> io::Result<usize> {
        let read = || self.file.read_at(buffer, offset);
        self.counters.measure(Operation::Read, read, |length| *length)
    }

    fn write_at(&self, pieces: &[IoSlice<'_>], offset: u64) -> io::Result<()> {
        let length = pieces.iter().map(|piece| piece.len()).sum();
        let write = || self.file.write_at(pieces, offset);
        self.counters.measure(Operation::Write, write, |()| length)
    }

    fn extend_with_zeros(&self, offset: u64, length: u64) -> io::Result<()> {
        let write = || self.file.extend_with_zeros(offset, length);
        self.counters
            .measure(Operation::Write, write, |()| length as usize)
    }

    fn sync(&self) -> io::Result<()> {
        self.counters
            .measure(Operation::Other, || self.file.sync(), |()| 0)
    }

    fn set_length(&self, length: u64) -> io::Result<()> {
        self.counters
            .measure(Operation::Other, || self.file.set_length(length), |()| 0)
    }

    fn length(&self) -> io::Result<u64> {
        self.counters
            .measure(Operation::Other, || self.file.length(), |_| 0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::disk::RealDisk;

    fn sums(statistics: &FileStatistics, class: FileClass) -> FileSums {
        let classes = statistics.classes();
        classes.into_iter().find(|(of, _)| *of == class).unwrap().1
    }

    #[test]
    fn operations_count_for_the_file_and_its_class() {
        let directory = tempfile::tempdir().unwrap();
        let statistics = Arc::<FileStatistics>::default();
        let disk = MeasuredDisk::new(Arc::new(RealDisk), statistics.clone());
        let path = directory.path().join("bin.000001");
        let file = disk.create(&path).unwrap();
        file.write_at(&[IoSlice::new(b"abc"), IoSlice::new(b"de")], 0)
            .unwrap();
        file.sync().unwrap();
        assert_eq!(file.read_at(&mut [0; 10], 1).unwrap(), 4);
        assert_eq!(file.length().unwrap(), 5);
        let [shown] = &statistics.files()[..] else {
            panic!()
        };
        assert_eq!((shown.class, shown.open, &shown.path), (FileClass::Log, 1, &path));
        let (reads, writes, others) = (shown.sums.reads, shown.sums.writes, shown.sums.others);
        assert_eq!(
            (reads.count, reads.bytes, writes.count, writes.bytes),
            (1, 4, 1, 5)
        );
        assert_eq!((others.count, others.bytes), (3, 0));
        assert!(others.nanos_min <= others.nanos_max && others.nanos_max <= others.nanos);
        assert_eq!(shown.sums.all().count, 5);
        drop(file);
        assert_eq!(statistics.files()[0].open, 0);
        assert_eq!(sums(&statistics, FileClass::Log).all().count, 5);
        disk.remove(&path).unwrap();
        assert!(statistics.files().is_empty());
        assert_eq!(sums(&statistics, FileClass::Log).all().count, 6);
        statistics.clear();
        assert_eq!(sums(&statistics, FileClass::Log), FileSums::default());
    }

    #[test]
    fn a_file_keeps_its_counters_under_another_name() {
        let directory = tempfile::tempdir().unwrap();
        let statistics = Arc::<FileStatistics>::default();
        let disk = MeasuredDisk::new(Arc::new(RealDisk), statistics.clone());
        let [old, new] = ["new-list", "bin.index"].map(|name| directory.path().join(name));
        let file = disk.create(&old).unwrap();
        disk.rename(&old, &new).unwrap();
        file.sync().unwrap();
        let [shown] = &statistics.files()[..] else {
            panic!()
        };
        assert_eq!(
            (shown.class, &shown.path, shown.sums.others.count),
            (FileClass::Index, &new, 3)
        );
        statistics.clear_files();
        assert_eq!(statistics.files()[0].sums, FileSums::default());
        assert_eq!(sums(&statistics, FileClass::Index).others.count, 3);
        assert!(disk.open(&directory.path().join("bin.000009")).is_err());
        assert_eq!(statistics.files().len(), 1);
    }

    #[test]
    fn closed_files_are_forgotten_beyond_the_limit() {
        let statistics = FileStatistics::default();
        for number in 0..FILES_MAX + 10 {
            let counters = statistics
                .0
                .lock()
                .counters(Path::new(&format!("bin.{number:06}")));
            counters.reads.add(1, 2);
        }
        assert_eq!(statistics.files().len(), FILES_MAX);
        assert_eq!(
            sums(&statistics, FileClass::Log).reads.bytes,
            2 * (FILES_MAX as u64 + 10)
        );
    }
}
