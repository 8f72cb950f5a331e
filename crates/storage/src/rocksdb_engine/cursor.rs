//! Scan of the engine on disk.

use std::mem;
use std::sync::Arc;

use rocksdb::{DBRawIterator, ReadOptions};

use super::database::Database;
use super::scan_cost::RequestedSteps;
use super::snapshot::RocksDbSnapshot;
use crate::error::Result;
use crate::key::{Direction, KeyRange};

/// Source of a cursor.
pub(super) enum Source {
    Snapshot(Arc<RocksDbSnapshot>),
    /// The newest state at the cursor's creation.
    Newest(Arc<Database>),
}

impl Source {
    fn database(&self) -> &Database {
        match self {
            Source::Snapshot(snapshot) => snapshot.database(),
            Source::Newest(database) => database,
        }
    }
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum CursorState {
    /// Nothing was sought yet.
    Start,
    /// On an entry that was not returned yet.
    Before,
    /// On the entry that was returned last.
    On,
    End,
}

/// Scan that owns its source. RocksDB checks the bounds, and reads ahead by itself when blocks are read in
/// order.
pub(crate) struct RocksDbCursor {
    // Dropped before `source`.
    iterator: DBRawIterator<'static>,
    direction: Direction,
    state: CursorState,
    requested: RequestedSteps,
    source: Source,
}

impl RocksDbCursor {
    pub(super) fn new(source: Source, range: KeyRange, direction: Direction) -> Self {
        let mut options = ReadOptions::default();
        if let Source::Snapshot(snapshot) = &source {
            options.set_snapshot(snapshot.snapshot());
        }
        let db = source.database();
        let state = if range.is_empty() {
            CursorState::End
        } else {
            CursorState::Start
        };
        options.set_iterate_lower_bound(range.start);
        options.set_iterate_upper_bound(range.end);
        // SAFETY: the real lifetime is that of the borrow of the database, of which `source` owns a share,
        // directly or through its snapshot. The database is behind an `Arc`, so it does not move, and the order
        // of the fields drops the iterator before the share.
        #[allow(unsafe_code)]
        let iterator = unsafe {
            mem::transmute::<DBRawIterator<'_>, DBRawIterator<'static>>(db.raw_iterator_opt(options))
        };
        RocksDbCursor {
            iterator,
            direction,
            state,
            requested: RequestedSteps::default(),
            source,
        }
    }

    pub(crate) fn seek(&mut self, key: &[u8]) {
        self.requested.seek();
        match self.direction {
            Direction::Forward => self.iterator.seek(key),
            Direction::Backward => self.iterator.seek_for_prev(key),
        }
        self.state = CursorState::Before;
    }

    /// Moves to the next entry. After `false` the cursor is at its end.
    pub(crate) fn advance(&mut self) -> Result<bool> {
        match self.state {
            CursorState::Start => {
                self.requested.seek();
                match self.direction {
                    Direction::Forward => self.iterator.seek_to_first(),
                    Direction::Backward => self.iterator.seek_to_last(),
                }
            }
            CursorState::Before => {}
            CursorState::On => {
                self.requested.step();
                match self.direction {
                    Direction::Forward => self.iterator.next(),
                    Direction::Backward => self.iterator.prev(),
                }
            }
            CursorState::End => return Ok(false),
        }
        if self.iterator.valid() {
            self.state = CursorState::On;
            Ok(true)
        } else {
            self.state = CursorState::End;
            self.iterator.status()?;
            Ok(false)
        }
    }

    /// Returns the entry that the cursor is on.
    pub(crate) fn entry(&self) -> Option<(&[u8], &[u8])> {
        match self.state {
            CursorState::On => self.iterator.item(),
            CursorState::Start | CursorState::Before | CursorState::End => None,
        }
    }
}

impl Drop for RocksDbCursor {
    fn drop(&mut self) {
        let database = self.source.database();
        database.scan_cost.add(&self.requested);
        database.blocks.note_read();
    }
}
