//! Applies a primary's row events to our tables: rows are found, compared, changed and logged again.
//!
//! ```text
//!   table map ──MappedTable──▶ the table of ours, and how its columns differ
//!   rows event ──keys──▶ the keys that the transaction touches, for the scheduler
//!              ──RowApplier──▶ find the row ▸ lock ▸ compare the image before ▸ unique keys ▸ write set and our own event
//! ```
//!
//! Recovery replays our own log blindly, because its contents were checked when they were written
//! ([`crate::GroupApplier`]). Events from another server are checked here, once, before they reach our log:
//!
//! - **Found.** By the key that the rows are stored under. Without a primary key, by the hidden index on the hash of
//!   the image. If the event does not contain all of our columns, by the index that matches the fewest rows.
//! - **Compared.** The row must equal the primary's row before the change, in every column that the event contains. A
//!   divergence is error 1032 or 1062. It stops the connection, or is ignored if `slave_exec_mode=IDEMPOTENT`.
//! - **Logged whole.** Whatever the primary sent (minimal images, fewer columns, compressed events), our log contains
//!   our own table map and whole images.
//!
//! [`table`]: finds the table, and compares its columns with ours. [`keys`]: the keys that a row touches. [`change`]:
//! rows in our own layout. [`partial_rows`]: rows in other layouts, converted to ours. [`convert`]: type conversions.
//! [`legacy_columns`]: column formats that our tables do not use. [`events`]: the rows events of a transaction.
//! [`group`]: a whole transaction. [`firing_rows`]: rows that fire triggers. [`failure`]: errors, in MariaDB's words.

mod change;
mod convert;
mod events;
mod failure;
mod firing_rows;
mod group;
mod keys;
mod legacy_columns;
mod partial_rows;
mod sequence;
mod statement_counts;
mod table;

pub use convert::TypeConversions;
pub use events::{MappedTables, ReplicatedRows, RowMapping};
pub use failure::{Failure, HandlerError};
pub use firing_rows::{FiringRow, FiringRows};
pub use group::{EventOutcome, GroupKind, RowApplier, RowsOutcome, group_kind};
pub use keys::{TouchedKeys, touched_keys};
pub use partial_rows::PartialRow;
pub use statement_counts::StatementCounts;
pub use table::{MappedTable, NoFilter, TableFilter, TableTarget};

use paceline_types::ErrorCode;
use paceline_types::table_map_metadata::RowMetadata;
use std::collections::BTreeSet;

/// Values of `slave_exec_mode`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
pub enum ExecMode {
    /// A missing row or a duplicate key stops the connection.
    #[default]
    Strict,
    /// Missing rows are skipped, conflicting rows are overwritten.
    Idempotent,
}

/// `slave_skip_errors`: errors of statements and rows that do not stop a connection.
#[derive(Clone, Debug, PartialEq, Eq, Default)]
pub enum SkippedErrors {
    /// `OFF`.
    #[default]
    None,
    /// `ALL`.
    All,
    /// Only these error numbers.
    These(BTreeSet<u16>),
}

impl SkippedErrors {
    /// Returns whether the error is ignored.
    pub fn contains(&self, code: ErrorCode) -> bool {
        match self {
            SkippedErrors::None => false,
            SkippedErrors::All => true,
            SkippedErrors::These(codes) => codes.contains(&code.number()),
        }
    }
}

/// `slave_run_triggers_for_rbr`: whether rows of a primary fire this server's triggers.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
pub enum FiredTriggers {
    /// `NO`.
    #[default]
    None,
    /// `YES`, `LOGGING`: unless the primary's table has triggers, which have run there.
    Absent,
    /// `ENFORCE`.
    All,
}

/// Options for applying a primary's rows.
#[derive(Clone, Debug, PartialEq, Eq, Default)]
pub struct RowOptions {
    /// `slave_exec_mode`.
    pub exec_mode: ExecMode,
    /// `slave_type_conversions`.
    pub conversions: TypeConversions,
    /// `slave_skip_errors`.
    pub skipped_errors: SkippedErrors,
    /// `slave_run_triggers_for_rbr`.
    pub fired_triggers: FiredTriggers,
    /// `binlog_row_metadata`, for our own table maps.
    pub row_metadata: RowMetadata,
}
