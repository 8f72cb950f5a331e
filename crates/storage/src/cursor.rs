//! Scan of a key range in one engine.

use std::sync::Arc;

use crate::engine::{EngineCursor, RegisteredSnapshot};
use crate::error::Result;
use crate::memory_engine::MemoryCursor;
use crate::rocksdb_engine::RocksDbCursor;

/// Scan of a key range, ascending or descending. It owns its source (a snapshot, or the newest state), so it
/// can be kept anywhere and moved between threads. It lends its entries, which avoids an allocation per row.
///
/// ```
/// # use paceline_storage::{Cursor, Result};
/// fn count(mut cursor: Cursor) -> Result<u64> {
///     let mut rows = 0;
///     while let Some((_key, _value)) = cursor.next()? {
///         rows += 1;
///     }
///     Ok(rows)
/// }
/// ```
pub struct Cursor(Kind);

// The large variant is the usual one; a box would cost an allocation per scan.
#[allow(clippy::large_enum_variant)]
enum Kind {
    RocksDb(RocksDbCursor),
    Engine(EngineScan),
    Temporary(MemoryCursor),
}

/// Scan of an engine behind the trait.
struct EngineScan {
    cursor: Box<dyn EngineCursor>,
    /// What keeps the version readable.
    _snapshot: Option<Arc<RegisteredSnapshot>>,
}

impl Cursor {
    pub(crate) fn rocksdb(cursor: RocksDbCursor) -> Self {
        Cursor(Kind::RocksDb(cursor))
    }

    /// Returns the scan of an engine behind the trait: at a snapshot, or of the newest state.
    pub(crate) fn engine(cursor: Box<dyn EngineCursor>, snapshot: Option<Arc<RegisteredSnapshot>>) -> Self {
        Cursor(Kind::Engine(EngineScan {
            cursor,
            _snapshot: snapshot,
        }))
    }

    pub(crate) fn temporary(cursor: MemoryCursor) -> Self {
        Cursor(Kind::Temporary(cursor))
    }

    /// Moves to the next entry in the scan's direction and lends its key and value (preceded by its version).
    /// Returns `None` at the end, and from then on.
    ///
    /// # Errors
    /// If a table file cannot be read or is corrupt.
    #[allow(clippy::should_implement_trait)] // it lends
    pub fn next(&mut self) -> Result<Option<(&[u8], &[u8])>> {
        Ok(if self.advance()? { self.entry() } else { None })
    }

    /// Moves as [`next`](Self::next) does, and returns whether there is an entry; [`entry`](Self::entry) lends
    /// it.
    ///
    /// # Errors
    /// If a table file cannot be read or is corrupt.
    pub fn advance(&mut self) -> Result<bool> {
        match &mut self.0 {
            Kind::RocksDb(cursor) => cursor.advance(),
            Kind::Engine(scan) => Ok(scan.cursor.advance()),
            Kind::Temporary(cursor) => Ok(cursor.advance()),
        }
    }

    /// Returns the key and value that the last `next` or `advance` found.
    pub fn entry(&self) -> Option<(&[u8], &[u8])> {
        match &self.0 {
            Kind::RocksDb(cursor) => cursor.entry(),
            Kind::Engine(scan) => scan.cursor.entry(),
            Kind::Temporary(cursor) => cursor.entry(),
        }
    }

    /// Moves the scan: the next entry is the first one at or after `key` in the scan's direction, within its
    /// range.
    pub fn seek(&mut self, key: &[u8]) {
        match &mut self.0 {
            Kind::RocksDb(cursor) => cursor.seek(key),
            Kind::Engine(scan) => scan.cursor.seek(key),
            Kind::Temporary(cursor) => cursor.seek(key),
        }
    }
}
