//! Files of large transactions in the log's directory: how they are begun, and their names.
//!
//! The space that is reserved at the start of such a file ([`LargeGroup`]) is the length of the head when the file is
//! begun, plus [`HEAD_GROWTH`], because GTIDs of new domains and servers may be added while the transaction runs.

use crate::disk::BLOCK_LENGTH;
use crate::error::Result;
use crate::group::{LargeGroup, TRAILING_SPACE};
use crate::log::files::active_file::TAIL_RESERVE;
use crate::log::files::entry::file_number;
use crate::log::files::head::{FileReason, NewHead};
use crate::log::handle::Log;
use std::sync::atomic::Ordering;

/// How much a file's head may grow between the beginning of its transaction and the commit, in bytes.
const HEAD_GROWTH: u64 = 64 << 10;

/// Part of the file's name between the log's base name and the number.
const INFIX: &str = ".large.";

const _: () = assert!(
    TRAILING_SPACE >= TAIL_RESERVE,
    "the file can be ended after its transaction"
);

impl Log {
    /// Creates a file for the events of a transaction that has become large.
    ///
    /// # Errors
    /// [`Error::NoSpace`], or other errors of creating the file. The log is unchanged.
    pub fn begin_large_group(&self) -> Result<LargeGroup> {
        let inner = &self.inner;
        inner.check_poison()?;
        let head = NewHead {
            server_id: inner.server_id,
            server_version: &inner.server_version,
            now: 0,
            occasion: FileReason::Rotation,
            ordinal: 0,
            sync_mode: crate::sync_mode::SyncMode::EachGroup,
            state: &self.state(),
            replica: &self.replica_state(),
            epochs: &self.epochs(),
            checkpoint: &self.inner.names().last().cloned().unwrap_or_default(),
        }
        .encode();
        let room = (head.len() as u64 + HEAD_GROWTH).next_multiple_of(BLOCK_LENGTH);
        let number = inner.next_large.fetch_add(1, Ordering::Relaxed);
        let path = inner.path(&format!("{}{INFIX}{number}", inner.base_name));
        LargeGroup::create(&inner.disk, path, room)
    }
}

/// Returns whether a file of this name belongs to a large transaction that was never committed. Opening removes it.
pub(in crate::log) fn is_large_name(base_name: &str, name: &str) -> bool {
    let number = name
        .strip_prefix(base_name)
        .and_then(|rest| rest.strip_prefix(INFIX));
    number.is_some_and(|number| number.parse::<u64>().is_ok()) && file_number(base_name, name).is_none()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_of_large_files_are_recognized() {
        assert!(is_large_name("bin", "bin.large.17"));
        for other in [
            "bin.000017",
            "bin.large.",
            "bin.large.x",
            "other.large.1",
            "bin.index",
        ] {
            assert!(!is_large_name("bin", other), "{other}");
        }
    }
}
