//! A session's side of the protocol: commands in, replies and rows out.
//!
//! * [`connection`]: the socket and its buffers; [`idle_poll`]: waiting for the next command.
//! * [`commands`]: dispatch of the protocol's commands.
//! * [`reply`]: OK, ERR and EOF packets; [`result`], [`columns`]: rows and column definitions; [`output`]: result sets
//!   that the server builds itself.
//! * [`prepared`], [`cursor`]: COM_STMT_….
//! * [`binlog_dump`]: replicas of this server.

mod binlog_dump;
mod columns;
mod commands;
mod connection;
mod cursor;
mod idle_poll;
mod output;
mod prepared;
mod reply;
mod result;

pub use columns::KnownColumns;
pub use connection::Connection;
pub(super) use connection::FLUSH_AT;
pub use idle_poll::{IdlePoll, LastCommand};
pub use output::Output;
pub use prepared::ClientStatements;
pub use reply::{More, Reply, ReplyWriter, StateChanges, result_style};
pub use result::{ResultWriter, RowCollector, RowFormat, Streaming};
