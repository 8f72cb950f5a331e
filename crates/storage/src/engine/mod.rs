//! The interface of an engine, which a crate outside of this one can implement.
//!
//! ```text
//!   EngineType   what a table can name: ENGINE=…        register_engine(number, type)
//!      │ create, once for each opened database
//!      ▼
//!   Engine ◀── apply(changes)      the newest group, in log order      EngineChanges     changes.rs
//!      │   ──▶ get, scan(…, at)    the state at a version              EngineCursor
//!      │   ◀── collect(oldest)     older states are not read again     SnapshotRegister  snapshot_register.rs
//!      ▼
//!   EngineList   MEMORY, BLACKHOLE, the added ones: found by the first byte of a key     crate::engine_list
//! ```
//!
//! An engine holds *all versions* of its keys that a snapshot may read, and nothing else: it has no
//! transactions, no locks, no log and no undo. What it gets is committed, and is in the log already. Transactions,
//! locks, the pending overlay, encodings of rows and keys, unique and secondary indexes are the work of the
//! layers above, so a table of any engine takes part in one transaction with tables of others, and becomes
//! visible at the same moment.
//!
//! **Orderings**
//! - One thread at a time applies, in log order. An engine gets a group by one call of [`Engine::apply`] for
//!   each transaction that concerns it, then RocksDB gets the group, and then its version can be read. Until
//!   then no snapshot is as new as they are, so a half-applied group is invisible at every version that is read.
//! - Within one [`EngineChanges`] deletions of ranges come before entries.
//! - A change of a key at a version at which it was changed already replaces that change.
//! - Reads and [`Engine::collect`] run at any time, in any thread, also while changes are applied. A read at
//!   [`Version::MAX`] returns the newest applied state of each key: it is made under row locks.
//! - [`Engine::collect`] names the oldest version that will be read again. What only older reads would see is
//!   garbage. Nothing else removes it, so an engine that does nothing there grows without end.
//!
//! **What an engine does not see**: the types of columns. A key is an index's number and a sort key, a value is
//! the version and the row image ([`key`](crate::key)); both are bytes that it returns as it got them. A
//! transaction's version is that of its changes, not the first eight bytes of a value: a large transaction has
//! a mark there.
//!
//! **Limits.** MEMORY and all added engines have one limit together
//! ([`Storage::check_memory_room`](crate::Storage::check_memory_room)), which is checked with
//! [`Engine::used_bytes`] before a transaction is logged. An engine cannot refuse what it is given: the log has
//! it. There are at most [`AddedEngine::COUNT`](crate::AddedEngine::COUNT) added engines; each has 2²⁴ index numbers.
//!
//! **Rejected**
//! - *RocksDB behind the trait.* It owns the position in the log and the catalog, writes in batches with the
//!   position, and ingests table files. Its point reads and scans are the hot path, without dynamic calls.
//! - *Durable engines.* A second durable state would have a position of its own, which must agree with the
//!   catalog's: replay would begin at the older one, and the newer one would have to recognise what it has. As
//!   it is, rows of engines behind the trait are gone after a restart, and the log says so with a TRUNCATE.
//! - *Snapshots as objects of the engine.* Each engine would have a register of what is still read. A version
//!   suffices, and one register serves all.
//! - *An engine's own limit.* Together they would exceed what the server divides.

mod changes;
mod snapshot_register;

use std::sync::Arc;

use paceline_types::Version;

pub use changes::EngineChanges;
pub(crate) use snapshot_register::{RegisteredSnapshot, SnapshotRegister};

use crate::key::{Direction, KeyRange};

/// Rows of the tables of one engine, with multiple versions. See the module's head.
pub trait Engine: Send + Sync {
    /// Applies changes of the newest group. One thread at a time calls it, in log order.
    fn apply(&self, changes: &EngineChanges<'_>);

    /// Returns the value of a key at a version, preceded by its version: that of the newest change that is not newer.
    /// `None` if the key was deleted then, or its range.
    fn get(&self, key: &[u8], at: Version) -> Option<Arc<[u8]>>;

    /// Scans the entries of a range at a version. At [`Version::MAX`] each entry is as new as when it is read, or newer
    /// than the scan's start at least.
    fn scan(self: Arc<Self>, range: KeyRange, direction: Direction, at: Version) -> Box<dyn EngineCursor>;

    /// Returns the memory in use, in bytes, including superseded versions. Called often.
    fn used_bytes(&self) -> u64;

    /// Removes states that are older than `oldest`, which is the oldest version that will be read again: of each key
    /// the newest version that is not newer than `oldest` stays. Removes about `entries_max` entries, and returns
    /// whether more may be left. The thread that applies calls it as well, with a small `entries_max`.
    fn collect(&self, oldest: Version, entries_max: usize) -> bool;
}

/// Returns how many superseded entries are removed after so many changes, at most: more than the changes supersede, so
/// that garbage does not grow.
pub(crate) fn garbage_per_apply(changed: usize) -> usize {
    64 + 2 * changed
}

/// Scan of an engine's key range.
pub trait EngineCursor: Send {
    /// Moves to the next entry in the scan's direction, and returns whether there is one. After the last one the answer
    /// stays the same.
    fn advance(&mut self) -> bool;

    /// Returns the key and the value that the last [`advance`](Self::advance) found; `None` before the first one, and
    /// if it found none.
    fn entry(&self) -> Option<(&[u8], &[u8])>;

    /// Moves the scan: the next entry is the first one at or after `key` in the scan's direction, within its range.
    /// `key` may be before the last entry.
    fn seek(&mut self, key: &[u8]);
}

/// What becomes of an engine's rows.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Hash)]
pub enum Retention {
    /// Stored until the server restarts. The restart logs a TRUNCATE of each table.
    UntilRestart,
    /// Logged and not stored. The engine gets no rows.
    Nothing,
}

/// Description of an engine that tables can name.
pub trait EngineType: Send + Sync {
    /// Returns the name as in `ENGINE=`: a letter, then letters, digits and underscores, at most 64.
    fn name(&self) -> &str;

    /// Returns the comment in `SHOW ENGINES`.
    fn comment(&self) -> &str;

    /// Returns what becomes of the rows.
    fn retention(&self) -> Retention {
        Retention::UntilRestart
    }

    /// Creates an empty engine for a database that is being opened.
    fn create(&self) -> Arc<dyn Engine>;
}
