//! From the log to the tables: an event group becomes a write set or a DDL call.
//!
//! ```text
//!   LogReader ──▶ EventGroup ──GroupApplier──▶ WriteSet (at the group's version) ──▶ batches ──▶ Storage
//!                                  │                                                   ▲
//!                                  └── a Query event ──▶ Definitions::replay_ddl ──────┘  alone, in its place
//! ```
//!
//! One piece of code for everyone who turns log into tables: recovery at start ([`recover`]), a restore that goes on from a backup's position,
//! and replicas. It is blind and idempotent: a row event holds whole images, so that what it writes does not depend on what is
//! there; the same group applied twice gives the same keys, values and versions. (Tables without a primary key look for the row that the image
//! means: the one with the lowest id, [`TableSchema::find_row`](paceline_storage::TableSchema::find_row). The engine is then exactly at the group's
//! place, so that the answer is the same every time.)
//!
//! What another server sends is another matter: it is checked against the tables and logged anew ([`replicated`]).
//!
//! Nothing here knows where a group came from.
#![forbid(unsafe_code)]

mod batch;
mod catalog_definitions;
mod definitions;
mod error;
mod group;
mod look_back;
mod memory_tables;
mod recovery;
pub mod replicated;

pub use catalog_definitions::CatalogDefinitions;
pub use definitions::{DdlEffect, DdlError, Definitions, LoggedDdl, ReplayTable};
pub use error::{Error, Result};
pub use group::{Applied, CurrentRows, GroupApplier, MemoryTables, makes_table};
pub use look_back::{LookedBack, look_back};
pub use memory_tables::empty_memory_tables;
pub use recovery::{RecoveryReport, recover};
