//! Execution of plans in a transaction.
//!
//! Rows are *pushed*: the join loops call a consumer for each row (grouping, sorting, or the [`RowSink`] itself), and a
//! consumer can stop them. Nothing is collected unnecessarily, so a result set streams, and LIMIT reads no more rows
//! than it returns.
//!
//! ```text
//!   reader ─▶ join loops ─▶ [group] ─▶ having ─▶ [windows] ─▶ projection ─▶ [distinct] ─▶ [sort] ─▶ limit ─▶ RowSink
//! ```
//!
//! # Layers
//! A module uses only layers below its own, which `tools/tidy.py` checks.
//!
//! ```text
//!   statements     SELECT, INSERT, UPDATE, …, each in the frame of a statement
//!   programs       stored functions and triggers, run by expressions and by changes of rows
//!   operators      select, join, aggregation, window functions, set operations
//!   changes        readers           one row written; one table read
//!   context        what rows meet on their way: transaction, memory, expressions
//!   collections    sorter, hash tables, row store, their memory
//!   interface      what the caller sees
//! ```
//!
//! # Limits
//! The collections of a statement (sorts, groups, partitions of windows, derived tables, hash joins) are charged to its
//! session's account ([`paceline_expression::session::SessionMemory`]). A sort continues in a temporary file beyond
//! [`SORT_MEMORY_MAX`], or earlier if the account is used up. Any other collection beyond the limit ends the
//! statement with 1290 (`max_session_mem_used`) or 1041 (all sessions together).
//!
//! # Frame of a statement
//! [`execute`] begins and ends the statement in the transaction, and undoes its changes if it fails; the session
//! commits. Every loop calls [`paceline_expression::session::ServerFunctions::check_interrupt`] from time to time, for
//! KILL and `max_statement_time`.

mod bulk;
mod changes;
mod collections;
mod context;
mod interface;
mod operators;
mod programs;
mod readers;
mod statements;

pub use bulk::{ImpossibleDates, Indicator, ParameterSet, ParameterSets};
pub use collections::memory::SORT_MEMORY_MAX;
pub use collections::row_store::{RowStore, StoredRows};
pub use interface::{
    AffectedRows, ExecutionContext, FillOutcome, LoadInput, Outcome, ProgramHost, RowSink, StatementPrograms,
    TextLog, UsedTables, check_snapshot, lock_tables,
};
pub use programs::{AssignedRow, CursorSink, Cursors, SingleRow};
pub use statements::execute;
