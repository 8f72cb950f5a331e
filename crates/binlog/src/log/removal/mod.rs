//! Removing files: from the log's beginning, or all of them.

pub(super) mod purge;
pub(super) mod reset;
