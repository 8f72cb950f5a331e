//! A session's side of the protocol: the connection, rows and results.
//!
//! * [`connection`]: the socket and its buffers; [`idle_poll`]: waiting for the next command.
//! * [`reply`]: replies of statements; [`result`], [`columns`]: rows and column definitions; [`output`]: result sets
//!   that the server builds itself.
//! * [`progress_report`]: packets that say how far a statement is.
//! * [`client_statements`], [`cursor`]: prepared statements and their open cursors.

mod client_statements;
mod columns;
mod connection;
mod cursor;
mod idle_poll;
mod output;
mod progress_report;
mod reply;
mod result;

pub(super) use client_statements::{
    ClientStatements, CountedStatement, PreparedStatement, unknown_statement,
};
pub use columns::KnownColumns;
pub(super) use columns::{EncodedColumns, definition, message_in_results};
pub use connection::Connection;
pub(super) use connection::FLUSH_AT;
pub(super) use cursor::Cursor;
pub use idle_poll::IdlePoll;
pub use output::Output;
pub use progress_report::ProgressReports;
pub use reply::{More, Reply, StateChanges};
pub use result::{ResultStyle, ResultWriter, RowCollector, RowFormat, Streaming};
