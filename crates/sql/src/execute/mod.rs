//! Runs a plan against a transaction.
//!
//! Rows are *pushed*: the join loops call a consumer for each row (grouping, sorting, or the [`RowSink`] itself), and a consumer that has
//! enough stops them. Nothing is collected that need not be, so a result set streams, and LIMIT reads no more than it returns.
//!
//! ```text
//!   table reader ─▶ join loops ─▶ [group] ─▶ having ─▶ [windows] ─▶ projection ─▶ [distinct] ─▶ [sort] ─▶ limit ─▶ RowSink
//! ```
//!
//! # Limits
//! What a statement collects (sorts, groups, partitions of windows, derived tables, hash joins) counts against one budget of
//! [`memory::STATEMENT_MEMORY_MAX`] bytes. Sorting goes on in a temporary file past [`memory::SORT_MEMORY_MAX`]; anything else that does not
//! fit gives 1114 (The table '(temporary)' is full).
//!
//! # A statement's frame
//! [`execute`] begins and ends the statement in the transaction, and takes back what it wrote when it fails; committing is the
//! session's. Every loop asks [`crate::session::ServerFunctions::check_interrupt`] now and then: KILL and `max_statement_time`.

mod aggregation;
mod assignment;
mod auto_increment;
mod delete;
mod distinct;
mod field_reader;
mod hash;
mod insert;
mod join;
mod load;
mod memory;
mod point;
mod query;
mod row_codec;
mod row_store;
mod row_writer;
mod run;
mod safe_updates;
mod sorter;
mod table_reader;
mod temporary_key;
mod update;
mod window;

use std::sync::Arc;

use paceline_txn::Transaction;
use paceline_types::{Value, ValueRef};

pub(crate) use table_reader::transaction_error;

pub use memory::{SORT_MEMORY_MAX, STATEMENT_MEMORY_MAX};
pub use row_store::{RowStore, StoredRows};

use crate::catalog::Catalog;
use crate::error::Result;
use crate::plan::{Plan, ResultColumn};
use crate::session::SessionContext;

/// Where the rows of a result go.
pub trait RowSink {
    /// The columns, once, before the first row.
    ///
    /// # Errors
    /// What the sink meets: execution ends with it.
    fn columns(&mut self, columns: &[ResultColumn]) -> Result<()>;

    /// A row.
    ///
    /// # Errors
    /// What the sink meets: execution ends with it.
    fn row(&mut self, row: &[Value]) -> Result<()>;

    /// A row whose values borrow what was read: the fast path of single-row reads.
    ///
    /// # Errors
    /// What the sink meets: execution ends with it.
    fn row_ref(&mut self, row: &[ValueRef<'_>]) -> Result<()> {
        let owned: Vec<Value> = row.iter().map(|value| value.clone().into_owned()).collect();
        self.row(&owned)
    }
}

/// The file that LOAD DATA reads.
pub trait LoadInput: Send {
    /// Appends the next piece of it; nothing at its end.
    ///
    /// # Errors
    /// What the file meets: execution ends with it.
    fn read(&mut self, buffer: &mut Vec<u8>) -> Result<()>;
}

/// What a statement is executed with.
pub struct ExecutionContext<'a> {
    /// The transaction it is a part of.
    pub transaction: &'a mut Transaction,
    /// The session.
    pub session: &'a mut SessionContext,
    /// The catalog of the plan, for AUTO_INCREMENT counters.
    pub catalog: &'a Arc<Catalog>,
    /// The values of `?`.
    pub parameters: &'a [Value],
    /// The statement's text, for the log's annotation.
    pub text: &'a [u8],
    /// What the affected rows of an UPDATE count, and those of an INSERT … ON DUPLICATE KEY UPDATE.
    pub affected: AffectedRows,
    /// How many rows a SELECT without a LIMIT of its own gives at most (`sql_select_limit`); `u64::MAX` is no limit.
    pub rows_max: u64,
    /// The file of a LOAD DATA.
    pub input: Option<&'a mut dyn LoadInput>,
}

/// What the affected rows of an UPDATE count, and those of an INSERT … ON DUPLICATE KEY UPDATE.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum AffectedRows {
    /// Rows that changed.
    #[default]
    Changed,
    /// Rows that were found (`CLIENT_FOUND_ROWS`).
    Found,
}

/// What a statement did, besides giving rows: the contents of an OK packet.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Outcome {
    /// Whether rows went to the sink (then the reply ends with EOF, and not with OK).
    pub result_set: bool,
    /// Rows changed.
    pub affected_rows: u64,
    /// The first AUTO_INCREMENT value made, or what LAST_INSERT_ID(expr) said; 0 for none.
    pub last_insert_id: u64,
    /// "Records: 3  Duplicates: 0  Warnings: 0"; empty for none.
    pub info: String,
    /// Rows given to the sink.
    pub rows_sent: u64,
}

/// Runs a plan. On an error whatever the statement wrote is taken back; the transaction lives on, unless the error is one that ended
/// it (1213).
///
/// # Errors
/// MariaDB's errors of execution.
pub fn execute(plan: &Plan, context: &mut ExecutionContext<'_>, sink: &mut dyn RowSink) -> Result<Outcome> {
    if let Some(outcome) = point::try_execute(plan, context, sink)? {
        return Ok(outcome);
    }
    run::execute(plan, context, sink)
}
