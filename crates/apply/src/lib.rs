//! Applies the log to the tables: an event group becomes a write set or a DDL call.
//!
//! ```text
//!   LogReader ──▶ EventGroup ──GroupApplier──▶ WriteSet (at the group's version) ──▶ batches ──▶ Storage
//!                                  │                                                   ▲
//!                                  └── a Query event ──▶ Definitions::replay_ddl ──────┘  alone, in log order
//! ```
//!
//! The same code serves recovery at start ([`recover`]), a restore that continues from a backup's position, and
//! replicas. It is blind and idempotent. A row event holds whole images, so the result does not depend on what the
//! tables hold. Applying a group twice produces the same keys, values and versions. (In a table without a primary key,
//! the row with the image before must be found: it is the one with the lowest id,
//! [`TableSchema::find_row`](paceline_storage::TableSchema::find_row). The engine is then exactly at the group's
//! position, so the result is the same every time.)
//!
//! Events from another server are different: they are checked against the tables and logged anew ([`replicated`]).
//!
//! This crate does not know where an event group came from.
#![forbid(unsafe_code)]

mod batch;
mod catalog_definitions;
mod definitions;
mod error;
mod group;
mod memory_tables;
mod past_snapshot;
mod recovery;
pub mod replicated;

pub use catalog_definitions::CatalogDefinitions;
pub use definitions::{DdlEffect, DdlError, Definitions, LoggedDdl, ReplayTable};
pub use error::{Error, Result};
pub use group::{CurrentRows, GroupApplier, GroupContents, MemoryTables, is_create_table};
pub use memory_tables::{empty_memory_table, empty_memory_tables, memory_tables};
pub use past_snapshot::{PastSnapshot, undo_to};
pub use recovery::{RecoveryReport, recover};
