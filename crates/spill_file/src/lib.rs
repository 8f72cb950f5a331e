//! A temporary file for data that is too large to be kept in memory but must be readable at any offset as if it were.
//! It grows at its end and is read through a mapping, so the kernel caches as much of it as memory allows.
//!
//! The file has no name and disappears with the process. A write error is returned by the write. A read error (a disk
//! that fails below the page cache) ends the process with SIGBUS, as it would for swapped memory.
//!
//! It is a crate of its own because the log's reader and the write sets of `storage` both use it and know nothing of
//! each other, and because it has the only `unsafe` block that is not about RocksDB.
#![deny(unsafe_code)]

use memmap2::{Mmap, MmapOptions};
use std::fs::{self, File, OpenOptions};
use std::io;
use std::ops::Deref;
use std::os::unix::fs::FileExt;
use std::path::Path;
use std::process;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

/// Minimum size of a mapping, in bytes. A mapping may be longer than its file; its length doubles when the
/// file outgrows it.
const MAPPED_MIN: u64 = 64 << 20;

/// Temporary file that is read through a mapping; see the module's documentation.
#[derive(Debug)]
pub struct SpillFile {
    file: File,
    length: u64,
    /// Starts at the file's beginning; its length is [`MAPPED_MIN`] times a power of two.
    map: Arc<Mmap>,
    /// Counts the [`SpilledBytes`] of this mapping and of earlier ones.
    kept: Arc<()>,
}

/// Part of a [`SpillFile`] that stays readable and unchanged for the lifetime of this value.
#[derive(Clone, Debug)]
pub struct SpilledBytes {
    map: Arc<Mmap>,
    /// Reference that the file counts.
    _kept: Arc<()>,
    start: usize,
    length: usize,
}

impl Deref for SpilledBytes {
    type Target = [u8];

    fn deref(&self) -> &[u8] {
        &self.map[self.start..self.start + self.length]
    }
}

impl SpillFile {
    /// Creates an empty file on the disk of `directory`.
    ///
    /// # Errors
    /// Those of creating the file; an error if the file system cannot map files (FUSE may not).
    ///
    /// ```
    /// # use paceline_spill_file::SpillFile;
    /// let mut file = SpillFile::create_in(&std::env::temp_dir())?;
    /// file.append(b"abc")?;
    /// file.append(b"def")?;
    /// assert_eq!(file.bytes(2, 3), b"cde");
    /// # Ok::<(), std::io::Error>(())
    /// ```
    pub fn create_in(directory: &Path) -> io::Result<Self> {
        static NUMBER: AtomicU64 = AtomicU64::new(0);
        let number = NUMBER.fetch_add(1, Ordering::Relaxed);
        let path = directory.join(format!("spill-{}-{number}", process::id()));
        let file = OpenOptions::new()
            .read(true)
            .write(true)
            .create_new(true)
            .open(&path)?;
        fs::remove_file(&path)?;
        let map = map(&file, MAPPED_MIN)?;
        Ok(SpillFile {
            file,
            length: 0,
            map: Arc::new(map),
            kept: Arc::default(),
        })
    }

    /// Returns the file's length, in bytes.
    pub fn length(&self) -> u64 {
        self.length
    }

    /// Appends `bytes`.
    ///
    /// # Errors
    /// Those of writing and mapping; the length is then unchanged.
    pub fn append(&mut self, bytes: &[u8]) -> io::Result<()> {
        self.file.write_all_at(bytes, self.length)?;
        let length = self.length + bytes.len() as u64;
        if (self.map.len() as u64) < length {
            self.map = Arc::new(map(&self.file, length.next_power_of_two())?);
        }
        self.length = length;
        Ok(())
    }

    /// Overwrites bytes that were written before. No part of the file may be shared ([`Self::share`]).
    ///
    /// # Errors
    /// Those of writing; an error if a part of the file is shared.
    ///
    /// # Panics
    /// If the bytes would reach beyond the file's end.
    pub fn overwrite(&mut self, start: u64, bytes: &[u8]) -> io::Result<()> {
        assert!(
            start + bytes.len() as u64 <= self.length,
            "only written bytes are overwritten"
        );
        if Arc::get_mut(&mut self.kept).is_none() {
            return Err(io::Error::other(
                "a shared part of a temporary file cannot be overwritten",
            ));
        }
        self.file.write_all_at(bytes, start)
    }

    /// Returns `length` bytes from `start` that stay valid while the file grows.
    ///
    /// # Panics
    /// If they reach beyond the file's end.
    pub fn share(&self, start: u64, length: usize) -> SpilledBytes {
        assert!(
            start + length as u64 <= self.length,
            "only what was written is read"
        );
        SpilledBytes {
            map: Arc::clone(&self.map),
            _kept: Arc::clone(&self.kept),
            start: start as usize,
            length,
        }
    }

    /// Returns `length` bytes from `start`.
    ///
    /// # Panics
    /// If they reach beyond the file's end.
    pub fn bytes(&self, start: u64, length: usize) -> &[u8] {
        assert!(
            start + length as u64 <= self.length,
            "only what was written is read"
        );
        &self.map[start as usize..start as usize + length]
    }
}

/// Maps the first `length` bytes of a [`SpillFile`]'s file.
fn map(file: &File, length: u64) -> io::Result<Mmap> {
    let length = usize::try_from(length).map_err(|_| io::Error::from(io::ErrorKind::FileTooLarge))?;
    // SAFETY: the file has no name and its struct holds the only descriptor, so nothing else writes or truncates it.
    // It is never truncated, and only bytes that were written are read (`SpillFile::bytes`, `share`), so no page
    // after its end is accessed. Existing bytes change only in `overwrite`, which takes the struct by `&mut` (slices
    // of the mapping borrow it) and fails while a part of this mapping or of an earlier one is shared.
    #[allow(unsafe_code)]
    unsafe {
        MmapOptions::new().len(length).map(file)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_file_grows_past_its_mapping_and_shared_parts_stay() {
        let directory = tempfile::tempdir().unwrap();
        let mut file = SpillFile::create_in(directory.path()).unwrap();
        assert_eq!(fs::read_dir(directory.path()).unwrap().count(), 0);
        assert_eq!(file.bytes(0, 0), b"");
        let piece = vec![7; 30 << 20];
        for number in 0..5u8 {
            file.append(&[number]).unwrap();
            file.append(&piece).unwrap();
        }
        let at = |number: u64| number * (piece.len() as u64 + 1);
        for number in 0..5 {
            assert_eq!(file.bytes(at(number), 2), [number as u8, 7]);
        }
        let kept = file.share(at(1), 3);
        assert!(file.overwrite(at(2), b"over").is_err());
        drop(kept);
        file.overwrite(at(2), b"over").unwrap();
        assert_eq!(file.bytes(at(2), 5), b"over\x07");
        let kept = file.share(at(2), 5);
        file.append(&vec![9; 300 << 20]).unwrap();
        drop(file);
        assert_eq!(*kept, *b"over\x07");
    }

    #[test]
    #[should_panic(expected = "only what was written is read")]
    fn reading_beyond_the_end_panics() {
        let mut file = SpillFile::create_in(&std::env::temp_dir()).unwrap();
        file.append(b"abc").unwrap();
        file.bytes(1, 3);
    }
}
