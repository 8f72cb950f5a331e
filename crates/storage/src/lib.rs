//! The tables: two engines behind one interface, the keys and rows they hold, and what a transaction writes to them.
//!
//! ```text
//!   TableSchema   row images ⇄ keys and values of a table's indexes          schema/
//!   WriteSet      what one transaction writes, private until it commits      write_set/
//!   Storage       a group of write sets goes to both engines at once;        storage.rs
//!     │           snapshots that see all of a group or none of it            snapshot.rs, cursor.rs
//!     ├── RocksDbEngine   tables on disk, without a log of their own         rocksdb_engine/
//!     ├── MemoryEngine    tables that a restart empties                      memory_engine/
//!     └── TemporarySpace  rows that only one session sees, and no log holds  temporary.rs
//!   BulkBuild     sorted files made aside, visible all at once               bulk/
//! ```
//!
//! An engine has no log and undoes nothing: it is given only what the binary log holds for good, in the log's order, and
//! after a crash it holds a *prefix* of what it was given, whose end it knows ([`Storage::durable_position`]). The rest is replayed.
//! Nothing here knows SQL or the log's format.
#![deny(unsafe_code)]

mod bulk;
mod cursor;
mod directory;
mod error;
mod held_files;
mod key;
mod memory_engine;
mod rocksdb_engine;
mod schema;
mod snapshot;
mod storage;
mod temporary;
mod write_set;

pub use bulk::{BuildId, BulkBuild, IndexBuilder, InputOrder, RowFiles};
pub use cursor::Cursor;
pub use directory::create_directory;
pub use error::{Error, Result};
pub use held_files::{HeldFile, HeldFiles};
pub use key::{
    Direction, EngineKind, IndexId, KeyHead, KeyRange, RowId, VERSION_LENGTH, VersionMark, prefix_end,
    value_payload, value_version,
};
pub use memory_engine::{MemoryConfig, MemoryEngine};
pub use rocksdb_engine::{RocksDbConfig, RocksDbEngine};
pub use schema::{
    Clustered, ColumnSchema, EntryKind, HiddenIndexes, IndexKind, IndexSchema, KeyPart, Row, RowReader,
    TableSchema,
};
pub use snapshot::{StorageSnapshot, StoredValue};
pub use storage::{LogBarrier, Storage, StorageConfig, StorageStatistics};
pub use temporary::{TemporaryIndex, TemporarySpace, TemporaryWrites};
pub use write_set::{
    Change, CompleteWriteSet, Entries, EntryIndex, FrozenWriteSet, Mark, MarkedWriteSet, RowIdPlace,
    SharedValue, ValueVersion, WriteSet,
};
