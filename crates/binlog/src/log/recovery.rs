//! What opening a log has found, and mended.

use crate::gtid::BinlogState;
use crate::replica_state::ReplicaState;
use paceline_types::LogPosition;

/// How the server that wrote the log before went down.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Shutdown {
    /// There was no log.
    New,
    /// It closed its log.
    Clean,
    /// It did not.
    Crash,
}

/// What a torn write left behind and opening has cut off.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Cut {
    /// The file.
    pub file: String,
    /// Where it was cut, in bytes.
    pub offset: u64,
    /// How many bytes had been written behind.
    pub length: u64,
}

/// What opening found.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Recovery {
    /// Whether this is a restart, and after what.
    pub shutdown: Shutdown,
    /// The GTID state of everything in the log.
    pub state: BinlogState,
    /// How far it had replicated.
    pub replica: ReplicaState,
    /// Where the log begins: nothing before it is there to replay.
    pub start: LogPosition,
    /// Where what is to be replayed ends: the end of what the server before has written.
    pub end: LogPosition,
    /// The start of the file that the last Binlog_checkpoint names.
    pub checkpoint: LogPosition,
    /// What was cut off.
    pub cut: Option<Cut>,
}
