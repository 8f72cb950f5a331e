//! Result of opening a log.

use crate::gtid::GtidState;
use crate::replica_state::ReplicaState;
use paceline_types::LogPosition;
use std::fmt;

/// How the log's previous server ended.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Shutdown {
    /// There was no log.
    New,
    /// The server closed its log.
    Clean,
    /// The server did not close its log.
    Crash,
}

/// A torn write that opening has cut off.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct CutTail {
    /// The file's name.
    pub file: String,
    /// Offset of the cut, in bytes.
    pub offset: u64,
    /// Number of bytes that had been written after that offset.
    pub length: u64,
}

impl fmt::Display for CutTail {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(
            f,
            "'{}' ends at {} now, {} bytes behind that were cut off",
            self.file, self.offset, self.length
        )
    }
}

/// Result of opening a log.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Recovery {
    /// How the previous server ended.
    pub shutdown: Shutdown,
    /// The GTID state of everything in the log.
    pub state: GtidState,
    /// How far the server had replicated its primaries.
    pub replica: ReplicaState,
    /// Start of the log: nothing before it can be replayed.
    pub start: LogPosition,
    /// End of the part to replay: where the previous server's log ends.
    pub end: LogPosition,
    /// Start of the file that the last Binlog_checkpoint names.
    pub checkpoint: LogPosition,
    /// The torn write that was cut off, if there was one.
    pub cut: Option<CutTail>,
}
