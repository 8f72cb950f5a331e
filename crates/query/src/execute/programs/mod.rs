//! Functions and triggers: programs that run within a statement.
//!
//! ```text
//!   expression ─▶ NestedRunner::call ─▶ run_function ─┐
//!   changed row ─▶ Triggers ──────────▶ run_trigger ──┴▶ steps of the program ─▶ plan, lock, execute ─▶ …
//! ```
//! A program's statements are parts of the statement that has called it: they use its transaction, and neither commit
//! nor send rows. Each that writes can be undone alone, if a handler deals with its error. In the log each is a row
//! statement of its own, because a replica opens the tables of a statement before its first row.
//!
//! # Rules
//! * The tables of a nested statement are locked when it runs, not when the outermost one begins, as MariaDB does.
//!   Locks that are taken in another order end in 1213 like others.
//! * A nested statement must not change a table that an outer one uses (1442). A function must not call itself (1424).
//! * A program has a diagnostics area of its own while it runs. Its conditions join those of the statement if the
//!   program fails; otherwise the caller sees only conditions raised by RETURN itself. The caller's LAST_INSERT_ID()
//!   and FOUND_ROWS() stay as they are.
//!
//! # Costs
//! Everything that does not depend on values is kept in the session's [`ProgramCache`](crate::program::ProgramCache):
//! types of variables, bound expressions, plans.
//!
//! # Rejected
//! Locking all tables in advance: a program would have to be examined at each planning, through all programs that it
//! calls, and tables that it does not touch would be locked.

pub(crate) mod cursors;
mod function;
mod group_rows;
mod steps;
mod trigger;

pub use cursors::{AssignedRow, CursorSink, Cursors, SingleRow};
pub(crate) use function::run_function;
pub(crate) use trigger::Triggers;
