//! The log's files: their names, and what the log knows of each without reading it.

use crate::error::{Error, Result};
use crate::event::Predecessor;
use crate::gtid::GtidState;
use crate::log::files::head::{FileHead, Origin};
use std::time::SystemTime;

/// One file of the log.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct LogFile {
    /// The file's name, without directory.
    pub name: String,
    /// Upper part of the positions in the file.
    pub ordinal: u32,
    /// Number of bytes written to the file.
    pub length: u64,
    /// When the file was last written; for the active file, when it was begun.
    pub modified: SystemTime,
}

/// Limit of a purge.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum PurgeTarget {
    /// Purges all files before this one, which stays. A name, with or without a directory.
    File(String),
    /// Purges files that were closed before this time.
    Before(SystemTime),
}

/// Result of a purge.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct PurgeOutcome {
    /// The removed files, oldest first.
    pub removed: Vec<LogFile>,
    /// Set if the purge stopped before its target.
    pub blocked: Option<PurgeBlock>,
}

/// File that must not be purged.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct PurgeBlock {
    /// The file's name.
    pub file: String,
    /// Name of the reader or task that needs the file.
    pub needed_by: String,
}

/// Entry for one file of the log.
#[derive(Clone, Debug)]
pub(in crate::log) struct FileEntry {
    pub name: String,
    pub number: u32,
    pub ordinal: u32,
    /// The file's length in bytes. Not updated for the active file.
    pub length: u64,
    pub modified: SystemTime,
    /// The GTID state of all files before it.
    pub state: GtidState,
    /// Offset of the first event after the Gtid_list.
    pub head_length: u64,
    pub follows: Predecessor,
    pub origin: Origin,
}

impl FileEntry {
    pub fn new(name: String, number: u32, head: FileHead, length: u64, modified: SystemTime) -> Self {
        Self {
            name,
            number,
            ordinal: head.ordinal,
            length,
            modified,
            state: head.state,
            head_length: head.length,
            follows: head.follows,
            origin: head.origin,
        }
    }

    pub fn describe(&self, length: u64) -> LogFile {
        LogFile {
            name: self.name.clone(),
            ordinal: self.ordinal,
            length,
            modified: self.modified,
        }
    }
}

/// The highest number in a file name, as in MariaDB.
pub(in crate::log) const NUMBER_MAX: u32 = 0x7FFF_FFFF;

/// The highest number that a log can start from (`RESET MASTER TO`), as in MySQL. It leaves enough numbers for 147
/// million rotations. The highest number in a file name would leave none, not even for the file that the next start
/// begins.
pub(in crate::log) const FIRST_NUMBER_MAX: u32 = 2_000_000_000;

/// Returns the name of the file with this number: at least six digits.
pub(in crate::log) fn file_name(base_name: &str, number: u32) -> String {
    format!("{base_name}.{number:06}")
}

/// Returns the number in a file's name, or `None` if the name does not belong to this log.
pub(in crate::log) fn file_number(base_name: &str, name: &str) -> Option<u32> {
    let digits = name.strip_prefix(base_name)?.strip_prefix('.')?;
    let number = digits
        .parse()
        .ok()
        .filter(|number| (1..=NUMBER_MAX).contains(number))?;
    (file_name(base_name, number) == name).then_some(number)
}

/// Returns the name of the new file during a reset.
pub(in crate::log) fn reset_name(base_name: &str) -> String {
    format!("{base_name}.reset")
}

/// Returns the number of the file after the one with this number.
pub(in crate::log) fn number_after(number: u32) -> Result<u32> {
    if number >= NUMBER_MAX {
        Err(Error::NumbersExhausted)
    } else {
        Ok(number + 1)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_are_read_back_from_names_and_foreign_names_have_none() {
        assert_eq!(file_name("bin", 1), "bin.000001");
        assert_eq!(file_name("bin", 1_234_567), "bin.1234567");
        assert_eq!(file_number("bin", "bin.000001"), Some(1));
        assert_eq!(file_number("bin", "bin.1234567"), Some(1_234_567));
        for other in [
            "bin.1",
            "bin.000000",
            "bin.0000001",
            "bin.index",
            "bin.00001x",
            "binx.000001",
            "bin.2147483648",
        ] {
            assert_eq!(file_number("bin", other), None, "{other}");
        }
    }
}
