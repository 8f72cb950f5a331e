//! Configuration of a log, and the parameters for opening it.

pub use crate::sync_mode::SyncMode;
use paceline_types::{LogPosition, ServerId};
use std::path::PathBuf;

/// Configuration of a log. Sizes are in bytes.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct LogConfig {
    /// Directory of the files.
    pub directory: PathBuf,
    /// `log_bin`: the beginning of file names.
    pub base_name: String,
    /// Server id in events that belong to the log itself.
    pub server_id: ServerId,
    /// Version in each file's Format_description. MariaDB's tools parse its beginning.
    pub server_version: String,
    /// `max_binlog_size`: a file that has reached this size is followed by a new one.
    pub file_size_max: u64,
    /// Step by which the active file is extended with synced zeros.
    pub prepare_step: u64,
    /// Sync mode at the start.
    pub sync_mode: SyncMode,
}

impl LogConfig {
    /// Returns MariaDB's defaults for a log in `directory`.
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

/// Facts that the caller supplies when it opens the log.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct OpenRequest {
    /// The engines' position: the log must reach at least that far.
    pub engine_position: LogPosition,
    /// Lowest ordinal for new files (a copied data directory starts above every version in it).
    pub ordinal_min: u32,
    /// The current time, in seconds since 1970.
    pub now: u32,
}

impl OpenRequest {
    /// Creates a request for an engine that holds nothing.
    pub fn new(now: u32) -> Self {
        Self {
            engine_position: LogPosition::ZERO,
            ordinal_min: 1,
            now,
        }
    }
}
