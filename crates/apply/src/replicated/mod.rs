//! A primary's row events against our tables: found, compared, changed and logged again.
//!
//! ```text
//!   table map ──MappedTable──▶ which of our tables, and how its columns differ
//!   rows event ──keys──▶ what the transaction touches, for the scheduler
//!              ──RowApplier──▶ find the row ▸ lock ▸ compare the image before ▸ unique keys ▸ write set and our own event
//! ```
//!
//! Recovery replays our own log blindly, because what stands there was checked when it was written ([`crate::GroupApplier`]). What another server
//! sends is checked here, once, before it gets into our log:
//!
//! - **Found.** By the key that the rows live under; without one by the hidden index on the hash of the image; where the event does not hold all of
//!   our columns, by the index that finds fewest rows.
//! - **Compared.** The row must be what the primary had before the change, in every column that the event holds. Divergence is 1032 or 1062
//!   and stops the connection, or is passed over as `slave_exec_mode=IDEMPOTENT` says.
//! - **Logged whole.** Whatever came (minimal images, fewer columns, compressed events), our log holds our own table map and whole images.
//!
//! [`table`]: which table, and whether its columns are ours. [`keys`]: what a row touches. [`change`]: rows in our own form. [`foreign`]: rows in
//! another form, made ours. [`convert`]: which type becomes which. [`events`]: its events. [`group`]: a whole transaction. [`failure`]: what went wrong, in MariaDB's words. [`statement_counts`]: what was applied, for `SHOW STATUS`.

mod change;
mod convert;
mod events;
mod failure;
mod foreign;
mod group;
mod keys;
mod older;
mod statement_counts;
mod table;

pub use convert::TypeConversions;
pub use events::{MappedTables, ReplicatedRows, RowMapping};
pub use failure::{Failure, HandlerError};
pub use group::{GroupKind, RowApplier, RowsOutcome, group_kind};
pub use keys::{TouchedKeys, touched_keys};
pub use statement_counts::StatementCounts;
pub use table::{MappedTable, TableFilter, TableTarget, Unfiltered};

use paceline_types::ErrorCode;
use paceline_types::table_map_metadata::RowMetadata;
use std::collections::BTreeSet;

/// `slave_exec_mode`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
pub enum ExecMode {
    /// A row that is missing or in the way stops the connection.
    #[default]
    Strict,
    /// What is missing is passed over, what is in the way is overwritten.
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
    /// These.
    These(BTreeSet<u16>),
}

impl SkippedErrors {
    /// Whether this error is passed over.
    pub fn contains(&self, code: ErrorCode) -> bool {
        match self {
            SkippedErrors::None => false,
            SkippedErrors::All => true,
            SkippedErrors::These(codes) => codes.contains(&code.number()),
        }
    }
}

/// How a replica's rows are applied.
#[derive(Clone, Debug, PartialEq, Eq, Default)]
pub struct RowOptions {
    /// `slave_exec_mode`.
    pub exec_mode: ExecMode,
    /// `slave_type_conversions`.
    pub conversions: TypeConversions,
    /// `slave_skip_errors`.
    pub skipped_errors: SkippedErrors,
    /// `binlog_row_metadata`: of our own table maps.
    pub row_metadata: RowMetadata,
}
