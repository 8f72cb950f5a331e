//! Execution of plans in a transaction.
//!
//! Rows are *pushed*: the join loops call a consumer for each row (grouping, sorting, or the [`RowSink`] itself), and a
//! consumer can stop them. Nothing is collected unnecessarily, so a result set streams, and LIMIT reads no more rows
//! than it returns.
//!
//! ```text
//!   table reader ─▶ join loops ─▶ [group] ─▶ having ─▶ [windows] ─▶ projection ─▶ [distinct] ─▶ [sort] ─▶ limit ─▶ RowSink
//! ```
//!
//! # Limits
//! The collections of a statement (sorts, groups, partitions of windows, derived tables, hash joins) are charged to its
//! session's account ([`paceline_expression::session::SessionMemory`]). A sort continues in a temporary file beyond
//! [`memory::SORT_MEMORY_MAX`], or earlier if the account is used up. Any other collection beyond the limit ends the
//! statement with 1290 (`max_session_mem_used`) or 1041 (all sessions together).
//!
//! # Frame of a statement
//! [`execute`] begins and ends the statement in the transaction, and undoes its changes if it fails; the session
//! commits. Every loop calls [`paceline_expression::session::ServerFunctions::check_interrupt`] from time to time, for
//! KILL and `max_statement_time`.

mod aggregation;
mod assignment;
mod auto_increment;
mod delete;
mod distinct;
mod field_reader;
mod hash;
mod insert;
mod join;
mod join_buffer;
mod load;
mod loose_scan;
mod memory;
mod point;
mod query;
mod row_batch;
mod row_codec;
mod row_store;
mod row_writer;
mod run;
mod safe_updates;
mod sorter;
mod table_reader;
mod temporary_key;
mod update;
mod virtual_table;
mod window;

use std::sync::Arc;

use paceline_txn::Transaction;
use paceline_types::{Value, ValueRef};

pub use memory::SORT_MEMORY_MAX;
pub use row_store::{RowStore, StoredRows};

use crate::error::Result;
use crate::plan::{Plan, ResultColumn};
use paceline_catalog::Catalog;
use paceline_expression::session::SessionContext;

/// Receiver of a result's rows.
pub trait RowSink {
    /// Receives the columns, once, before the first row.
    ///
    /// # Errors
    /// An error of the sink, which ends the execution.
    fn columns(&mut self, columns: &[ResultColumn]) -> Result<()>;

    /// Receives a row.
    ///
    /// # Errors
    /// An error of the sink, which ends the execution.
    fn row(&mut self, row: &[Value]) -> Result<()>;

    /// Receives a row with borrowed values: the fast path of single-row reads.
    ///
    /// # Errors
    /// An error of the sink, which ends the execution.
    fn row_ref(&mut self, row: &[ValueRef<'_>]) -> Result<()> {
        let owned: Vec<Value> = row.iter().map(|value| value.clone().into_owned()).collect();
        self.row(&owned)
    }
}

/// File that LOAD DATA reads.
pub trait LoadInput: Send {
    /// Appends the next piece of the file; nothing at its end.
    ///
    /// # Errors
    /// An error of the file, which ends the execution.
    fn read(&mut self, buffer: &mut Vec<u8>) -> Result<()>;
}

/// Context for the execution of a statement.
pub struct ExecutionContext<'a> {
    /// Transaction of the statement.
    pub transaction: &'a mut Transaction,
    /// Context of the session.
    pub session: &'a mut SessionContext,
    /// The catalog of the plan, for AUTO_INCREMENT counters.
    pub catalog: &'a Arc<Catalog>,
    /// Values of the `?` parameters.
    pub parameters: &'a [Value],
    /// The statement's text, for the log's annotation.
    pub text: &'a [u8],
    /// Meaning of the number of affected rows.
    pub affected: AffectedRows,
    /// Maximum number of rows of a SELECT without its own LIMIT (`sql_select_limit`); `u64::MAX` means no limit.
    pub rows_max: u64,
    /// The file of a LOAD DATA.
    pub input: Option<&'a mut dyn LoadInput>,
}

/// Meaning of the number of affected rows of an UPDATE or INSERT … ON DUPLICATE KEY UPDATE.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum AffectedRows {
    /// Changed rows.
    #[default]
    Changed,
    /// Found rows (`CLIENT_FOUND_ROWS`).
    Found,
}

/// Outcome of a statement besides its rows: the contents of an OK packet.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Outcome {
    /// Whether rows were sent to the sink (then the reply ends with EOF instead of OK).
    pub result_set: bool,
    /// Number of affected rows.
    pub affected_rows: u64,
    /// First generated AUTO_INCREMENT value, or the argument of LAST_INSERT_ID(expr); 0 for none.
    pub last_insert_id: u64,
    /// Text such as "Records: 3  Duplicates: 0  Warnings: 0"; empty for none.
    pub info: String,
    /// Number of rows sent to the sink.
    pub rows_sent: u64,
}

/// Executes a plan. If it fails, all changes of the statement are undone; the transaction continues, unless the error
/// has ended it (1213).
///
/// # Errors
/// MariaDB's execution errors.
pub fn execute(plan: &Plan, context: &mut ExecutionContext<'_>, sink: &mut dyn RowSink) -> Result<Outcome> {
    if let Some(outcome) = point::try_execute(plan, context, sink)? {
        return Ok(outcome);
    }
    run::execute(plan, context, sink)
}
