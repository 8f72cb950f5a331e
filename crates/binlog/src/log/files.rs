//! The log's files, and their removal.

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
    /// When its last event was written, or the file was closed.
    pub modified: SystemTime,
}

/// Up to where to purge.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum PurgeTarget {
    /// All files before this one.
    File(String),
    /// Files that were closed before then.
    Before(SystemTime),
}

/// What was purged.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct PurgeOutcome {
    /// The files that are gone, oldest first.
    pub removed: Vec<LogFile>,
    /// The file at which it stopped before its target, and who needs that file.
    pub blocked: Option<(String, String)>,
}
