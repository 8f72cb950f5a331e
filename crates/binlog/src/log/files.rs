//! The log's files: their names, and what is known of each without reading it.

use super::head::{FileHead, Origin};
use crate::error::{Error, Result};
use crate::event::Follows;
use crate::gtid::BinlogState;
use std::time::SystemTime;

/// One file of the log.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct LogFile {
    /// Its name, without a directory.
    pub name: String,
    /// The upper part of the positions in it.
    pub ordinal: u32,
    /// How many bytes of it are written.
    pub length: u64,
    /// When it was last written; for the active file, when it was begun.
    pub modified: SystemTime,
}

/// Up to where to purge.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum PurgeTarget {
    /// All files before this one, which is kept. A name, with or without a directory.
    File(String),
    /// Files that were closed before then.
    Before(SystemTime),
}

/// What was purged.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct PurgeOutcome {
    /// The files that are gone, oldest first.
    pub removed: Vec<LogFile>,
    /// Where it stopped before its target, and why.
    pub blocked: Option<PurgeBlock>,
}

/// A file that may not be purged.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct PurgeBlock {
    /// The file's name.
    pub file: String,
    /// Who needs it.
    pub needed_by: String,
}

/// What is known of a file.
#[derive(Clone, Debug)]
pub(super) struct FileEntry {
    pub name: String,
    pub number: u32,
    pub ordinal: u32,
    /// Its length; of the active file this is not kept up to date.
    pub length: u64,
    pub modified: SystemTime,
    /// The GTID state of all files before it.
    pub state: BinlogState,
    /// Where its first event behind the Gtid_list starts.
    pub head_length: u64,
    pub follows: Follows,
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

/// The highest number in a name, MariaDB's.
pub(super) const NUMBER_MAX: u32 = 0x7FFF_FFFF;

/// The highest number that a log can be told to start from (`RESET MASTER TO`), MySQL's: it leaves room for 147 million rotations. At the
/// highest in a name there is none, not even for the file that a start begins.
pub(super) const FIRST_NUMBER_MAX: u32 = 2_000_000_000;

/// The file's name for a number: six digits at least.
pub(super) fn file_name(base_name: &str, number: u32) -> String {
    format!("{base_name}.{number:06}")
}

/// The number in a file's name, if it is one of this log.
pub(super) fn file_number(base_name: &str, name: &str) -> Option<u32> {
    let digits = name.strip_prefix(base_name)?.strip_prefix('.')?;
    let number = digits
        .parse()
        .ok()
        .filter(|number| (1..=NUMBER_MAX).contains(number))?;
    (file_name(base_name, number) == name).then_some(number)
}

/// The number for the file after that one.
pub(super) fn number_after(number: u32) -> Result<u32> {
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
    fn names_and_numbers() {
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
