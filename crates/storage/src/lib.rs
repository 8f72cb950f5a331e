//! The tables: engines behind one interface, their keys and rows, and the write sets of transactions.
//!
//! ```text
//!   TableSchema   row images ⇄ keys and values of a table's indexes          schema/
//!   WriteSet      changes of one transaction, private until it commits       write_set/
//!   Storage       applies a group of write sets to all engines at once;      storage.rs
//!     │           snapshots that see all of a group or none of it            snapshot.rs, cursor.rs
//!     │           and estimate the entries of a range                        survey.rs
//!     ├── RocksDbEngine   tables on disk, without a log of their own         rocksdb_engine/
//!     ├── EngineList      engines behind the trait `Engine`:                 engine/, engine_list/
//!     │     MemoryEngine    tables that a restart empties                    memory_engine/
//!     │     RowlessEngine   BLACKHOLE                                        rowless_engine.rs
//!     │     …               engines of other crates
//!     └── TemporarySpace  rows of one session each, never logged             temporary.rs
//!   BulkBuild     sorted files built aside, visible all at once              bulk/
//! ```
//!
//! An engine has no log and undoes nothing. It is given only what the binary log holds permanently, in log
//! order. After a crash it holds a *prefix* of that, whose end it knows ([`Storage::durable_position`]); the
//! rest is replayed. This crate knows neither SQL nor the log's format.
#![deny(unsafe_code)]

mod build_id;
mod bulk;
mod cursor;
mod directory;
mod engine;
mod engine_list;
mod error;
mod held_files;
mod key;
mod memory_engine;
mod rocksdb_engine;
mod rowless_engine;
mod schema;
mod snapshot;
mod storage;
mod stored_value;
mod survey;
mod temporary;
mod write_set;

pub use build_id::BuildId;
pub use bulk::{BulkBuild, IndexBuilder, InputOrder, RowFiles};
pub use cursor::Cursor;
pub use directory::{create_directory, restrict_directory};
pub use engine::{Engine, EngineChanges, EngineCursor, EngineType, Retention};
pub use engine_list::{RegistrationError, engine_types, register_engine};
pub use error::{Error, Result};
pub use held_files::{HeldFile, HeldFiles};
pub use key::{
    AddedEngine, Direction, EngineKind, IndexId, KeyHead, KeyRange, RowId, VERSION_LENGTH, VersionMark,
    prefix_end, value_payload, value_version,
};
pub use memory_engine::MemoryConfig;
pub use rocksdb_engine::{BlockStatistics, RocksDbConfig, RocksDbEngine};
pub use schema::{
    CheckedIndex, ColumnSchema, EarlierFormat, EntryKind, EntryReader, FormatEnd, HiddenIndexes, IndexKind,
    IndexMismatch, IndexSchema, KeyPart, MarkState, Row, RowPlacement, RowReader, TableCheck, TableSchema,
};
pub use snapshot::StorageSnapshot;
pub use storage::{LogBarrier, Storage, StorageConfig, StorageMemory, StorageStatistics};
pub use stored_value::StoredValue;
pub use survey::SurveyedEntry;
pub use temporary::{TemporaryIndex, TemporarySpace, TemporaryWrites};
pub use write_set::{
    Change, Entries, EntryIndex, FrozenWriteSet, Mark, MarkedWriteSet, RowIdLocation, SealedWriteSet,
    SharedValue, ValueVersion, WriteSet,
};
