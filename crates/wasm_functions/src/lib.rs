//! Functions in WebAssembly that SQL calls. A function that crashes, loops or takes all memory ends its own statement
//! only, and it sees nothing of the host but what this crate's imports show.
//!
//! ```text
//!   bytes ─▶ Runtime::compile ─▶ Module        checked once: signature, imports, memory; shared by all sessions
//!                                  │
//!                                  ▼ Instance::new, once per execution of a statement
//!   values ─▶ Instance::call ─▶ the module's code ─▶ value
//!                                  │ imports "paceline"
//!                                  ▼
//!                               Tables          rows, within the statement's transaction
//! ```
//!
//! # The interface of a module, version 1
//! The module exports the function under its SQL name. Each parameter and the result have one of three types:
//!
//! | in SQL | parameter | result |
//! |---|---|---|
//! | integers | `i64`; of BIGINT UNSIGNED the same bits | `i64` |
//! | FLOAT, DOUBLE | `f64` | `f64` |
//! | everything else | `i32` address and `i32` length of its text | `i64`: address in the high 32 bits, length in the low ones |
//!
//! Other exports:
//! - `memory`, if a text is passed in any direction.
//! - `allocate(i32 length) -> i32 address`, if there are text parameters: the place for one text. It is called for each
//!   text before the function.
//! - `reset()`, optional, is called before each call of the function: `allocate` can begin again.
//!
//! NULL: a function that does not import `argument_is_null` is not called if an argument is NULL, and its value is
//! NULL. Otherwise a NULL comes as 0, or as an empty text. It returns NULL by calling `return_null`.
//!
//! Imports, all from the module `paceline`:
//!
//! | import | |
//! |---|---|
//! | `argument_is_null(i32 number) -> i32` | 1 if the argument is NULL; the first is 0 |
//! | `return_null()` | the value of this call is NULL, whatever the function returns |
//! | `fail(i32 address, i32 length)` | ends the statement with this message. Does not return |
//! | `table(i32 address, i32 length) -> i32` | opens a table for reading: `name` in the function's database, or `database.name` |
//! | `column(i32 table, i32 address, i32 length) -> i32` | finds a column |
//! | `index(i32 table, i32 address, i32 length) -> i32` | finds an index; `PRIMARY` is the primary key |
//! | `key_integer(i64)`, `key_real(f64)`, `key_text(i32 address, i32 length)`, `key_null()` | appends a value to the key of the next `get` or `scan` |
//! | `get(i32 table, i32 index) -> i32` | finds the row with the key in a unique index: a cursor on it, or −1 |
//! | `scan(i32 table, i32 index, i32 backward) -> i32` | a cursor before rows whose first index columns equal the key, in its order or backwards |
//! | `next(i32 cursor) -> i32` | moves to the next row; 0 at the end |
//! | `is_null(i32 cursor, i32 column) -> i32`, `integer(…) -> i64`, `real(…) -> f64` | reads a column of the cursor's row; NULL is 0 |
//! | `text(i32 cursor, i32 column, i32 address, i32 capacity) -> i32` | copies at most `capacity` bytes of a column's text; returns its whole length |
//! | `close(i32 cursor)` | ends a cursor; the end of the call ends all |
//!
//! # Limits
//! [`Limits`]: memory of an instance and time of a call. An instance has at most [`CURSORS_MAX`] cursors and a key of
//! at most [`KEY_VALUES_MAX`] values. A module has at most [`MODULE_BYTES_MAX`] bytes. The code's stack has
//! [`STACK_BYTES`]. The [`CallHost`] is asked every [`TICK`], so KILL and time limits of statements work, and pays for
//! the memory before the module has it.
//!
//! # Rejected
//! - *WASI*: files, clocks and random numbers would make a function's value depend on the host, and give it more than
//!   it needs.
//! - *Fuel* (counting instructions) costs 10 to 30 % of the speed; an epoch costs a comparison per loop.
//! - *An instance per session*: what one statement leaves in memory would change the next one's values.
//! - *Rows as one encoded buffer* instead of cursors: a scan would copy columns that nobody reads.
#![forbid(unsafe_code)]

mod call_host;
mod call_state;
mod error;
mod imports;
mod instance;
mod limits;
mod module;
mod runtime;
mod tables;
#[cfg(test)]
mod tests;
mod ticker;

pub use call_host::CallHost;
pub use error::{CallError, HostError, ModuleError};
pub use instance::{Argument, Instance, Output};
pub use limits::{Limits, MODULE_BYTES_MAX, STACK_BYTES};
pub use module::{Module, Signature, ValueKind};
pub use runtime::Runtime;
pub use tables::{CURSORS_MAX, CursorId, Direction, KEY_VALUES_MAX, KeyValue, Tables};
pub use ticker::TICK;
