//! Clients of an archive: replicas, tools, operators.
//!
//! ```text
//!   listener ──▶ session: login ─▶ commands ──┬── COM_QUERY ──▶ statement ──▶ answer (OK, rows, error)
//!                                             └── COM_BINLOG_DUMP ──▶ paceline_log_stream::primary
//! ```
//!
//! A replica runs a few statements before it requests the log, and operators use a few more. These are supported; all
//! others are refused with MariaDB's error. There is only one account, which is the one that the archive uses for its
//! primaries.

mod answer;
mod evaluate;
pub mod listener;
mod session;
mod show;
mod statement;
mod variables;
