//! A temporary file for what is too large to be kept in memory and still has to be read at any place, as if it were: it grows at its end, and is read
//! through a mapping, so that the kernel keeps in memory what there is room for.
//!
//! The file has no name: it is gone with the process. An error when it is written is an error of the write; one when it is read (a disk that
//! fails under the page cache) ends the process with SIGBUS, as it would with swapped memory.

use memmap2::{Mmap, MmapOptions};
use std::fs::{self, File, OpenOptions};
use std::io;
use std::os::unix::fs::FileExt;
use std::path::Path;
use std::process;
use std::sync::atomic::{AtomicU64, Ordering};

/// The smallest mapping, in bytes. A mapping may be longer than its file; it doubles when the file outgrows it.
const MAPPED_MIN: u64 = 64 << 20;

/// See the module's head.
#[derive(Debug)]
pub struct SpillFile {
    file: File,
    length: u64,
    /// Of [`MAPPED_MIN`] bytes times a power of two, from the file's beginning.
    map: Option<Mmap>,
}

impl SpillFile {
    /// An empty one on the disk of that directory.
    ///
    /// # Errors
    /// If it cannot be created there.
    ///
    /// ```
    /// # use paceline_binlog::SpillFile;
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
        Ok(SpillFile {
            file,
            length: 0,
            map: None,
        })
    }

    /// How long it is, in bytes.
    pub fn length(&self) -> u64 {
        self.length
    }

    /// Writes behind what is there.
    ///
    /// # Errors
    /// Those of writing and mapping; the length is as before.
    pub fn append(&mut self, bytes: &[u8]) -> io::Result<()> {
        self.file.write_all_at(bytes, self.length)?;
        let length = self.length + bytes.len() as u64;
        if self.map.as_ref().is_none_or(|map| (map.len() as u64) < length) {
            let mapped = usize::try_from(length.max(MAPPED_MIN).next_power_of_two())
                .map_err(|_| io::Error::from(io::ErrorKind::FileTooLarge))?;
            // SAFETY: the file has no name and this struct has its only descriptor, so nobody else writes or cuts it. It is never cut, and
            // only what was written is read (`bytes`), so no page behind its end is touched. Slices of the mapping borrow `self`; all that
            // writes to the file or replaces the mapping takes `&mut self`.
            #[allow(unsafe_code)]
            let map = unsafe { MmapOptions::new().len(mapped).map(&self.file)? };
            self.map = Some(map);
        }
        self.length = length;
        Ok(())
    }

    /// Writes over what is there.
    ///
    /// # Errors
    /// Those of writing.
    ///
    /// # Panics
    /// If it would reach beyond the end.
    pub fn overwrite(&mut self, start: u64, bytes: &[u8]) -> io::Result<()> {
        assert!(
            start + bytes.len() as u64 <= self.length,
            "only what is there is written over"
        );
        self.file.write_all_at(bytes, start)
    }

    /// Forgets what is behind so many bytes: the next [`Self::append`] goes there.
    pub fn truncate(&mut self, length: u64) {
        self.length = self.length.min(length);
    }

    /// So many bytes from there.
    ///
    /// # Panics
    /// If they reach beyond the end.
    pub fn bytes(&self, start: u64, length: usize) -> &[u8] {
        assert!(
            start + length as u64 <= self.length,
            "only what was written is read"
        );
        match &self.map {
            Some(map) => &map[start as usize..start as usize + length],
            None => &[],
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn it_grows_past_its_mapping() {
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
        file.truncate(at(3));
        file.append(b"new").unwrap();
        file.overwrite(at(2), b"over").unwrap();
        assert_eq!(file.bytes(at(3), 3), b"new");
        assert_eq!(file.bytes(at(2), 5), b"over\x07");
        assert_eq!(file.length(), at(3) + 3);
    }

    #[test]
    #[should_panic(expected = "only what was written is read")]
    fn nothing_behind_the_end_is_read() {
        let mut file = SpillFile::create_in(&std::env::temp_dir()).unwrap();
        file.append(b"abc").unwrap();
        file.bytes(1, 3);
    }
}
