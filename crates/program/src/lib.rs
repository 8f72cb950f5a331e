//! Execution of stored programs: what is executed next, and where an error leads.
//!
//! ```text
//!   syntax::Program ──compile──▶ Code ──▶ Run ──Request──▶ session, or the execution of a statement
//!                                          ▲                       │
//!                                          └────────Answer─────────┘
//! ```
//! A [`Run`] knows jumps, handlers and cursors, but not SQL: it says what it needs next ([`Request`]: evaluate,
//! execute, open a cursor) and receives the [`Answer`]. So a procedure can commit and send rows between two steps,
//! while a trigger runs the same code within the execution of one statement.
//!
//! # Rules that are easy to miss (MariaDB's)
//! * A handler is searched from the innermost block outwards. Within a block the most specific one counts: the number
//!   of the error, then the SQLSTATE, then the class. While a handler runs, the handlers of its block and of the blocks
//!   in it are not active.
//! * After a CONTINUE handler the statement after the failed one is next. If a condition of IF, WHILE or CASE failed,
//!   that is the statement after the whole of it.
//! * A warning leads to a handler only after its statement has ended.
//!
//! # Limits
//! A code has at most `u32::MAX` instructions; the session's account limits the tree that it is made from. How deep
//! programs may call each other is the caller's affair.
//!
//! # Rejected
//! * To walk the tree: a LEAVE or an EXIT handler would have to unwind the walker's stack, and a program that commits
//!   could not be suspended in the middle.
//! * An interpreter that calls back into the session: it would need an asynchronous and a synchronous form.
#![forbid(unsafe_code)]

mod code;
mod run;
#[cfg(test)]
mod tests;

pub use code::{Code, CodePlace, RowValue};
pub use run::{Answer, RaisedCondition, RaisedLevel, Request, Run};
