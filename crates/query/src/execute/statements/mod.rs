//! Statements: the frame that each runs in, and one module for each kind.
//!
//! ```text
//!   frame ─┬─ point                    one row by its key, past the operators
//!          ├─ query                    SELECT, SELECT … INTO @variables
//!          ├─ handler                  HANDLER
//!          ├─ insert, load ─▶ insertion ─▶ row writer
//!          └─ update, delete ─▶ row_search ─▶ operators
//!                          └─▶ row writer
//! ```

mod delete;
mod field_reader;
mod frame;
mod handler;
mod input_bytes;
mod insert;
mod insertion;
mod load;
mod point;
mod query;
mod row_search;
mod safe_updates;
mod update;
mod xml_reader;

pub use frame::execute;
