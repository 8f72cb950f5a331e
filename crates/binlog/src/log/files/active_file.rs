//! The active file: its prepared space, and how it is closed.
//!
//! ```text
//!  head | event groups …        | zeros that are on the disk          |
//!                               ^ end (in `Writer`)                   ^ prepared_end, a multiple of 4096
//! ```
//! With blocks that are already on the disk, an fdatasync takes 95 µs; one that must also record the file's growth
//! takes 150 µs. In addition, a full disk is found during preparation, before a transaction has its position.

use crate::disk::{BLOCK_LENGTH, DiskFile, is_no_space, zeros};
use crate::error::{Error, Result};
use crate::event::{EventFlags, FLAGS_OFFSET, MAGIC};
use crate::log::files::gtid_index::GtidIndexBuilder;
use parking_lot::Mutex;
use std::io::{self, IoSlice};
use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

/// Space reserved after the last event group, so that the file can always be ended with a Rotate or Stop event.
pub(in crate::log) const TAIL_RESERVE: u64 = BLOCK_LENGTH;

/// The file that is being written.
#[derive(Debug)]
pub(in crate::log) struct ActiveFile {
    pub name: String,
    pub number: u32,
    pub ordinal: u32,
    pub file: Arc<dyn DiskFile>,
    path: PathBuf,
    /// End of the synced zeros.
    prepared_end: AtomicU64,
    /// Held while the file is extended or closed.
    extending: Mutex<ExtensionState>,
    /// GTID index of everything written so far.
    pub index: Mutex<GtidIndexBuilder>,
}

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum ExtensionState {
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
            extending: Mutex::new(ExtensionState::Allowed),
            index: Mutex::new(index),
        }
    }

    pub fn prepared_end(&self) -> u64 {
        self.prepared_end.load(Ordering::Acquire)
    }

    /// Ensures that there is prepared space up to `needed_end`. If there is not, prepares up to `wanted_end`, or only
    /// up to `needed_end` if the disk is nearly full. Returns whether it prepared anything.
    ///
    /// # Errors
    /// [`Error::NoSpace`]: there is no space even for `needed_end`; the file is unchanged.
    pub fn prepare(&self, needed_end: u64, wanted_end: u64) -> Result<bool> {
        if needed_end <= self.prepared_end() {
            return Ok(false);
        }
        let extending = self.extending.lock();
        let from = self.prepared_end();
        if needed_end <= from || *extending == ExtensionState::Closed {
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

    /// Releases the space that a failed extension has allocated.
    fn cut_back(&self, length: u64) -> Result<()> {
        self.file
            .set_length(length)
            .map_err(|source| self.io_error("cut", source))
    }

    /// Writes `pieces` at `end`, and zeros up to the next block boundary: the kernel need not read a block that is
    /// written whole. Returns the new end.
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

    /// Makes everything that was written durable.
    pub fn sync(&self) -> Result<()> {
        self.file.sync().map_err(|source| self.io_error("sync", source))
    }

    /// Cuts the file after its last event and clears its in-use flag. Durable when it returns.
    pub fn finish(&self, end: u64) -> Result<()> {
        let mut extending = self.extending.lock();
        *extending = ExtensionState::Closed;
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

/// Cuts a file after its last event and clears its in-use flag, which no checksum covers. The flag is cleared only when
/// the cut is durable: a file that is not in use ends where its events end.
pub(in crate::log) fn finish_file(file: &dyn DiskFile, end: u64) -> io::Result<()> {
    file.set_length(end)?;
    file.sync()?;
    let flags = EventFlags::NONE.0.to_le_bytes();
    file.write_at(&[IoSlice::new(&flags)], (MAGIC.len() + FLAGS_OFFSET) as u64)?;
    file.sync()
}
