//! Values of a large write set, in a file.

use paceline_spill_file::{SpillFile, SpilledBytes};
use paceline_types::Version;

use crate::error::{Error, Result};
use crate::key::{VERSION_LENGTH, VersionMark};

/// Number of bytes that are written to the file at a time.
const WRITTEN_AT_ONCE: usize = if cfg!(test) { 64 } else { 1 << 20 };

/// Version or mark at the front of values that are written before their transaction commits.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum ValueVersion {
    /// The transaction's mark: it has no version yet.
    Mark(VersionMark),
    /// Its version: it is replayed from the log.
    Known(Version),
}

impl ValueVersion {
    pub(super) fn as_version(self) -> Version {
        match self {
            ValueVersion::Mark(mark) => mark.as_version(),
            ValueVersion::Known(version) => version,
        }
    }
}

/// Value of a write set, preceded by its version, that may be kept while the set changes. Values of a large set
/// are not copied.
#[derive(Clone, Debug)]
pub struct SharedValue(Shared);

#[derive(Clone, Debug)]
enum Shared {
    Memory(Box<[u8]>),
    File(SpilledBytes),
}

impl SharedValue {
    pub(super) fn copied(value: &[u8]) -> Self {
        SharedValue(Shared::Memory(value.into()))
    }
}

impl std::ops::Deref for SharedValue {
    type Target = [u8];

    fn deref(&self) -> &[u8] {
        match &self.0 {
            Shared::Memory(value) => value,
            Shared::File(value) => value,
        }
    }
}

/// Consecutive values, of which the last ones are still in memory.
pub(super) struct SpilledValues {
    file: SpillFile,
    /// Bytes that the file does not have yet.
    unwritten: Vec<u8>,
    version: ValueVersion,
    /// Error of a row id that could not be patched, so that the values must not be read.
    failed: Option<std::io::Error>,
}

impl SpilledValues {
    pub(super) fn new(file: SpillFile, version: ValueVersion) -> Self {
        SpilledValues {
            file,
            unwritten: Vec::new(),
            version,
            failed: None,
        }
    }

    pub(super) fn version(&self) -> ValueVersion {
        self.version
    }

    pub(super) fn end(&self) -> u64 {
        self.file.length() + self.unwritten.len() as u64
    }

    /// Appends a value, preceded by its version. Returns its start.
    pub(super) fn append(&mut self, payload: &[&[u8]]) -> u64 {
        let start = self.end();
        let version: [u8; VERSION_LENGTH] = self.version.as_version().to_be_bytes();
        self.unwritten.extend_from_slice(&version);
        for part in payload {
            self.unwritten.extend_from_slice(part);
        }
        start
    }

    pub(super) fn write(&mut self) -> Result<()> {
        if self.unwritten.len() < WRITTEN_AT_ONCE {
            return Ok(());
        }
        self.file.append(&self.unwritten).map_err(spill_error)?;
        self.unwritten.clear();
        Ok(())
    }

    /// Discards the values from `end` on, as far as they are in memory. The file stays as it is, because a
    /// reader may be using it.
    pub(super) fn truncate(&mut self, end: u64) {
        let written = self.file.length();
        self.unwritten.truncate(end.saturating_sub(written) as usize);
    }

    /// Returns a value like [`Self::bytes`], to be kept while the set changes.
    pub(super) fn share(&self, start: u64, length: usize) -> SharedValue {
        match start < self.file.length() {
            true => SharedValue(Shared::File(self.file.share(start, length))),
            false => SharedValue::copied(self.bytes(start, length)),
        }
    }

    pub(super) fn bytes(&self, start: u64, length: usize) -> &[u8] {
        // The buffer is always written as a whole: no value is in both.
        match start.checked_sub(self.file.length()) {
            None => self.file.bytes(start, length),
            Some(start) => &self.unwritten[start as usize..start as usize + length],
        }
    }

    pub(super) fn patch(&mut self, start: u64, bytes: [u8; 8]) {
        match start.checked_sub(self.file.length()) {
            None => {
                if let Err(error) = self.file.overwrite(start, &bytes) {
                    self.failed.get_or_insert(error);
                }
            }
            Some(start) => {
                self.unwritten[start as usize..start as usize + bytes.len()].copy_from_slice(&bytes)
            }
        }
    }

    /// Returns the error of a failed patch, if there was one.
    pub(super) fn check(&mut self) -> Result<()> {
        match self.failed.take() {
            Some(error) => Err(spill_error(error)),
            None => Ok(()),
        }
    }
}

fn spill_error(source: std::io::Error) -> Error {
    Error::TableFile(format!(
        "the rows of a large transaction cannot be written: {source}"
    ))
}
