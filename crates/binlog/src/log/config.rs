//! How a log is configured and opened.

use paceline_types::{LogPosition, ServerId};
use std::path::PathBuf;

/// How the log is synced.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum SyncMode {
    /// `sync_binlog=1`: each write is synced before the next one.
    EachGroup,
    /// `sync_binlog=0`: several writes may be unsynced.
    Deferred,
}

/// What a log is made of. Sizes are in bytes.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct LogConfig {
    /// Where the files are.
    pub directory: PathBuf,
    /// `log_bin`: what file names begin with.
    pub base_name: String,
    /// The server id in the events that belong to the log itself.
    pub server_id: ServerId,
    /// The version in each file's Format_description. MariaDB's tools parse its beginning.
    pub server_version: String,
    /// `max_binlog_size`: a file that has reached it is followed by another.
    pub file_size_max: u64,
    /// By how much the active file is extended with synced zeros at a time.
    pub prepare_step: u64,
    /// How the log is synced at first.
    pub sync_mode: SyncMode,
}

impl LogConfig {
    /// MariaDB's defaults, in this directory.
    pub fn new(directory: impl Into<PathBuf>, base_name: impl Into<String>, server_id: ServerId) -> Self {
        Self {
            directory: directory.into(),
            base_name: base_name.into(),
            server_id,
            server_version: "10.11.19-MariaDB-paceline".into(),
            file_size_max: 1 << 30,
            prepare_step: 16 << 20,
            sync_mode: SyncMode::EachGroup,
        }
    }
}

/// What whoever opens the log knows.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct OpenRequest {
    /// What the engines hold: the log must reach at least that far.
    pub engine_position: LogPosition,
    /// New files get at least this ordinal (a copied data directory starts above every version in it).
    pub ordinal_min: u32,
    /// Now, in seconds since 1970.
    pub now: u32,
}

impl OpenRequest {
    /// For an engine that holds nothing.
    pub fn new(now: u32) -> Self {
        Self {
            engine_position: LogPosition::ZERO,
            ordinal_min: 1,
            now,
        }
    }
}
