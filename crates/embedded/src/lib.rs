//! The server's heart within a program: one directory, opened by one process, without a socket between.
//!
//! ```
//! use paceline_embedded::{Database, Options};
//! # let directory = tempfile::tempdir()?;
//! let database = Database::open(directory.path(), Options::new())?;
//! let connection = database.connect()?;
//! # drop(connection);
//! database.close()?;
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! The program is the administrator of the directory: what it does through this crate is checked against no privilege.
//!
//! Not here: what a server does when the machine's disk fails. As with any Paceline a log that cannot be written ends
//! the process (invariant 4), because nothing that it says later could be trusted.
#![forbid(unsafe_code)]

mod async_session;
mod change;
mod changes;
mod database;
pub mod engine;
mod error;
mod options;
mod scan;
mod session;
mod table;
mod transaction;

pub use async_session::AsyncSession;
pub use changes::{Changes, Transaction as LoggedTransaction};
pub use database::Database;
pub use error::{Error, ErrorKind, Result, RowError};
pub use options::Options;
pub use paceline_server::embedded::{ChangeRef, CollectedRows, Interrupter, ListenAddress, RowChange};
pub use paceline_storage::register_engine;
pub use paceline_table_access::{FromRow, FromValue, IntoValue, IntoValues, ReadMode, RowRef};
pub use paceline_txn::{LockMode, LockWait};
pub use paceline_types::{AccessMode, Date, DateTime, Decimal, Gtid, IsolationLevel, Time, Timestamp, Value};
pub use scan::Scan;
pub use session::{Affected, Session};
pub use table::Table;
pub use transaction::{Transaction, TransactionOptions};
