//! Files of LOAD DATA from a primary that logs statements.
//!
//! ```text
//!   Gtid | Begin_load_query 5 | Append_block 5 | … | Execute_load_query 5 | Begin_load_query 6 | Delete_file 6 | … | Xid
//! ```
//! The blocks of a file stay in their event group, which is in memory or, from [`LARGE_GROUP_BYTES`] on, in an unnamed
//! file below the data directory. This module records only where each block begins. A group that is received in part or
//! not applied therefore leaves nothing behind, and after a restart everything is received again.
//!
//! | in a group | as in MariaDB? |
//! |---|---|
//! | a file begins again before its statement | yes: the first one is dropped |
//! | Delete_file | yes: the file is dropped; it need not exist |
//! | a block or a statement whose file has not begun in the group | no: stops the connection with 1593 |
//! | a file without a statement | yes: it has no effect |
//!
//! In the third case MariaDB searches for the blocks in a directory, where an earlier group may have left them. No
//! server since MariaDB 5.3 logs them separately.
//!
//! [`LARGE_GROUP_BYTES`]: paceline_binlog::group::LARGE_GROUP_BYTES

use paceline_apply::replicated::Failure;
use paceline_binlog::event::{BlockKind, FileBlockEvent};
use std::collections::HashMap;

/// Files of the part of a group that has been read.
#[derive(Default)]
pub(super) struct LoadFiles<'g> {
    blocks: HashMap<u32, Vec<&'g [u8]>>,
}

impl<'g> LoadFiles<'g> {
    /// Adds the next block of a file.
    ///
    /// # Errors
    /// 1593 if the file has not begun.
    pub(super) fn take_block(&mut self, block: &FileBlockEvent<'g>) -> Result<(), Failure> {
        match (block.kind, self.blocks.get_mut(&block.file_id)) {
            (BlockKind::First, _) => {
                self.blocks.insert(block.file_id, vec![block.bytes]);
            }
            (BlockKind::Next, Some(blocks)) => blocks.push(block.bytes),
            (BlockKind::Next, None) => return Err(missing("an Append_block event", block.file_id)),
        }
        Ok(())
    }

    /// Removes and returns the blocks of a file, for its statement.
    ///
    /// # Errors
    /// 1593 if the file has not begun.
    pub(super) fn take(&mut self, file_id: u32) -> Result<Vec<&'g [u8]>, Failure> {
        let blocks = self.blocks.remove(&file_id);
        blocks.ok_or_else(|| missing("an Execute_load_query event", file_id))
    }

    /// Drops a file.
    pub(super) fn forget(&mut self, file_id: u32) {
        self.blocks.remove(&file_id);
    }
}

fn missing(what: &str, file_id: u32) -> Failure {
    Failure::fatal(format_args!(
        "{what} is about file {file_id}, which does not begin in its transaction"
    ))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn block(kind: BlockKind, file_id: u32, bytes: &'static [u8]) -> FileBlockEvent<'static> {
        FileBlockEvent { kind, file_id, bytes }
    }

    #[test]
    fn each_file_has_its_blocks() {
        let mut files = LoadFiles::default();
        for (kind, file_id, bytes) in [
            (BlockKind::First, 1, &b"lost"[..]),
            (BlockKind::First, 1, b"a"),
            (BlockKind::First, 2, b""),
            (BlockKind::Next, 1, b"b"),
            (BlockKind::First, 3, b"given up"),
        ] {
            files.take_block(&block(kind, file_id, bytes)).unwrap();
        }
        files.forget(3);
        files.forget(9);
        assert_eq!(files.take(1).unwrap(), [b"a", b"b"]);
        assert_eq!(files.take(2).unwrap(), [b""]);
        for gone in [1, 3, 9] {
            let failure = files.take(gone).unwrap_err();
            assert_eq!(failure.code.number(), 1593);
            assert!(
                failure.message.contains(&format!("file {gone}")),
                "{}",
                failure.message
            );
            let next = block(BlockKind::Next, gone, b"");
            assert_eq!(files.take_block(&next).unwrap_err().code.number(), 1593);
        }
    }
}
