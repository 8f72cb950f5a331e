//! The part of the Python module `paceline` that is the server.
//!
//! ```text
//!   paceline.connect(directory)           paceline.open(directory)
//!      │  PyMySQL over a descriptor          │
//!      └──────────────┬──────────────────────┤
//!                     ▼                      ▼
//!                 Database ────────▶ Session, Transaction, Table      rows by their keys, SQL, without packets
//!                     │          └─▶ Changes, LoggedTransaction       what is committed, from a GTID on
//!                     ▼
//!              paceline_embedded
//! ```
//! Classes for programs are here; which database of which directory is open is kept by `python/paceline/database.py`.
//!
//! # DB-API
//! PyMySQL is the driver, because it is given a connected socket by its caller, is only Python, and programs know it. A
//! DB-API of our own over typed rows would have to repeat its conversions of values and classes of errors, and would
//! lack what has rows but no plan: SHOW, CALL, several results of one text.
//!
//! # Waiting
//! Each call that can wait (for a lock, a commit, the disk) runs without the interpreter's lock. One rule keeps that
//! free of deadlocks: *a thread that has the interpreter's lock never waits for another lock of this crate*. A session
//! that is in use is an error, not a wait; only a close waits for calls to end, without the interpreter's lock.
//!
//! Rows are read into values of Rust without the interpreter's lock, then made into Python's: one copy of a text more
//! than necessary. Without it a read would take the interpreter's lock while it has the table's definition locked, and
//! wait there for any other thread of the program.
//!
//! # Closing
//! A close ends what the database's other objects do, waits for them, and takes the sessions out of them; they are
//! empty shells from then on. So it does not matter what the program still refers to.
//!
//! # Fork
//! A child has none of the server's threads, and would wait for them forever: in a call, in a destructor, at its exit.
//! So each object belongs to the process that made it ([`process_bound`]). In another one calls are errors, and the
//! destructor does nothing. Static objects of C++ are not destroyed at all ([`static_destructors`]).
//!
//! # Rejected
//! - *A scan as an iterator*: the table's definition would be locked until the iterator is at its end or collected. A
//!   scan returns a list, or calls a function with each row.
//! - *A session that waits until another thread does not use it any more*: two threads would be in one transaction.

mod calls;
mod changes;
mod closable;
mod database;
mod errors;
mod process_bound;
mod scan;
mod session;
mod session_cell;
mod statement;
mod static_destructors;
mod table;
mod transaction;
mod values;

use pyo3::prelude::*;

/// The module.
#[pymodule]
fn _native(module: &Bound<'_, PyModule>) -> PyResult<()> {
    module.add_class::<database::Database>()?;
    module.add_class::<calls::PyCalls>()?;
    module.add_class::<session::Session>()?;
    module.add_class::<statement::Affected>()?;
    module.add_class::<transaction::Transaction>()?;
    module.add_class::<table::Table>()?;
    module.add_class::<changes::Changes>()?;
    module.add_class::<changes::LoggedTransaction>()?;
    module.add_class::<changes::Change>()
}
