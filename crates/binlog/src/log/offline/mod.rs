//! Logs and log files that no server has open: copied, cut, rewound, or only read.

pub(super) mod detached_file;
pub(super) mod directory;
pub(super) mod read_only_log;
pub(super) mod rewind;
