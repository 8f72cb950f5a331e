//! The file that is written: its prepared room, and how it is closed.
//!
//! ```text
//!  head | event groups …        | zeros, on the disk already         |
//!                               ^ end (the writer's)                 ^ prepared_end, a multiple of 4096
//! ```
//! Overwriting blocks that are on the disk makes an fdatasync cost 95 µs where one that must also record the file's growth
//! costs 150 µs. And a full disk is met by the preparation, before a transaction has its place.

use super::disk::{BLOCK_LENGTH, DiskFile, zeros};
use super::gtid_index::GtidIndexBuilder;
use crate::error::{Error, Result};
use crate::event::{EventFlags, FLAGS_OFFSET, MAGIC};
use parking_lot::Mutex;
use std::io::{self, ErrorKind, IoSlice};
use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

/// Kept free behind the last event group, so that the file can always be ended with a Rotate or Stop event.
pub(super) const TAIL_ROOM: u64 = BLOCK_LENGTH;

/// The file that is written.
#[derive(Debug)]
pub(super) struct ActiveFile {
    pub name: String,
    pub number: u32,
    pub ordinal: u32,
    pub file: Arc<dyn DiskFile>,
    path: PathBuf,
    /// Up to where there are synced zeros.
    prepared_end: AtomicU64,
    /// Held while the file is extended or closed.
    extending: Mutex<Extending>,
    /// What was written so far.
    pub index: Mutex<GtidIndexBuilder>,
}

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Extending {
    Allowed,
    Closed,
}

impl ActiveFile {
    pub fn new(
        name: String,
        number: u32,
        ordinal: u32,
        file: Arc<dyn DiskFile>,
        path: PathBuf,
        prepared_end: u64,
        index: GtidIndexBuilder,
    ) -> Self {
        Self {
            name,
            number,
            ordinal,
            file,
            path,
            prepared_end: AtomicU64::new(prepared_end),
            extending: Mutex::new(Extending::Allowed),
            index: Mutex::new(index),
        }
    }

    pub fn prepared_end(&self) -> u64 {
        self.prepared_end.load(Ordering::Acquire)
    }

    /// Sees to it that there is prepared room up to `needed_end`. If there is not, prepares up to `wanted_end`, or less where
    /// the disk is nearly full. Returns whether something was done.
    ///
    /// # Errors
    /// [`Error::NoSpace`]: there is no room for `needed_end` either; the file is as it was.
    pub fn prepare(&self, needed_end: u64, wanted_end: u64) -> Result<bool> {
        if needed_end <= self.prepared_end() {
            return Ok(false);
        }
        let extending = self.extending.lock();
        let from = self.prepared_end();
        if needed_end <= from || *extending == Extending::Closed {
            return Ok(false);
        }
        let needed_end = needed_end.next_multiple_of(BLOCK_LENGTH);
        let wanted_end = wanted_end.next_multiple_of(BLOCK_LENGTH).max(needed_end);
        let mut result = self
            .file
            .extend_with_zeros(from, wanted_end - from)
            .map(|()| wanted_end);
        if wanted_end > needed_end && result.as_ref().is_err_and(is_no_space) {
            self.cut_back(from)?;
            result = self
                .file
                .extend_with_zeros(from, needed_end - from)
                .map(|()| needed_end);
        }
        match result {
            Ok(end) => {
                self.prepared_end.store(end, Ordering::Release);
                Ok(true)
            }
            Err(error) if is_no_space(&error) => {
                self.cut_back(from)?;
                Err(Error::NoSpace {
                    wanted: needed_end - from,
                })
            }
            Err(source) => Err(self.io_error("extend", source)),
        }
    }

    /// Gives back what a failed extension has taken.
    fn cut_back(&self, length: u64) -> Result<()> {
        self.file
            .set_length(length)
            .map_err(|source| self.io_error("cut", source))
    }

    /// Writes from `end` on, and zeros up to the next block boundary: so whole blocks are written, and the kernel need not
    /// read them first. Returns the new end.
    pub fn write(&self, pieces: &mut Vec<IoSlice<'_>>, end: u64) -> Result<u64> {
        let length: usize = pieces.iter().map(|piece| piece.len()).sum();
        let new_end = end + length as u64;
        let padded_end = new_end.next_multiple_of(BLOCK_LENGTH);
        assert!(
            padded_end <= self.prepared_end(),
            "the log is written beyond its prepared room"
        );
        pieces.push(IoSlice::new(zeros((padded_end - new_end) as usize)));
        self.file
            .write_at(pieces, end)
            .map_err(|source| self.io_error("write", source))?;
        Ok(new_end)
    }

    /// Makes everything written durable.
    pub fn sync(&self) -> Result<()> {
        self.file.sync().map_err(|source| self.io_error("sync", source))
    }

    /// Cuts the file at its last event and clears its in-use flag. Durable when it returns.
    pub fn finish(&self, end: u64) -> Result<()> {
        let mut extending = self.extending.lock();
        *extending = Extending::Closed;
        finish_file(&*self.file, end).map_err(|source| self.io_error("close", source))
    }

    fn io_error(&self, operation: &'static str, source: io::Error) -> Error {
        Error::Io {
            operation,
            path: self.path.clone(),
            source,
        }
    }
}

/// Cuts a file at its last event and clears its in-use flag, which no checksum counts. The flag goes when the cut is
/// durable: a file that is not in use ends where its events end.
pub(super) fn finish_file(file: &dyn DiskFile, end: u64) -> io::Result<()> {
    file.set_length(end)?;
    file.sync()?;
    let flags = EventFlags::NONE.0.to_le_bytes();
    file.write_at(&[IoSlice::new(&flags)], (MAGIC.len() + FLAGS_OFFSET) as u64)?;
    file.sync()
}

/// Whether an operation failed because the disk, or what the user may have of it, is full.
pub(super) fn is_no_space(error: &io::Error) -> bool {
    matches!(error.kind(), ErrorKind::StorageFull | ErrorKind::QuotaExceeded)
}
