//! Scan of the engine on disk.

use std::mem;
use std::sync::Arc;

use rocksdb::{DBRawIterator, ReadOptions};

use super::Database;
use super::scan_cost::Asked;
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
enum Place {
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
    place: Place,
    asked: Asked,
    source: Source,
}

impl RocksDbCursor {
    pub(super) fn new(source: Source, range: KeyRange, direction: Direction) -> Self {
        let mut options = ReadOptions::default();
        if let Source::Snapshot(snapshot) = &source {
            options.set_snapshot(snapshot.snapshot());
        }
        let db = source.database();
        let place = if range.is_empty() {
            Place::End
        } else {
            Place::Start
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
            place,
            asked: Asked::default(),
            source,
        }
    }

    pub(crate) fn seek(&mut self, key: &[u8]) {
        self.asked.seek();
        match self.direction {
            Direction::Forward => self.iterator.seek(key),
            Direction::Backward => self.iterator.seek_for_prev(key),
        }
        self.place = Place::Before;
    }

    /// Moves to the next entry. After `false` the cursor is at its end.
    pub(crate) fn advance(&mut self) -> Result<bool> {
        match self.place {
            Place::Start => {
                self.asked.seek();
                match self.direction {
                    Direction::Forward => self.iterator.seek_to_first(),
                    Direction::Backward => self.iterator.seek_to_last(),
                }
            }
            Place::Before => {}
            Place::On => {
                self.asked.step();
                match self.direction {
                    Direction::Forward => self.iterator.next(),
                    Direction::Backward => self.iterator.prev(),
                }
            }
            Place::End => return Ok(false),
        }
        if self.iterator.valid() {
            self.place = Place::On;
            Ok(true)
        } else {
            self.place = Place::End;
            self.iterator.status()?;
            Ok(false)
        }
    }

    /// Returns the entry that the cursor is on.
    pub(crate) fn entry(&self) -> Option<(&[u8], &[u8])> {
        match self.place {
            Place::On => self.iterator.item(),
            Place::Start | Place::Before | Place::End => None,
        }
    }
}

impl Drop for RocksDbCursor {
    fn drop(&mut self) {
        self.source.database().scan_cost.add(&self.asked);
    }
}
