//! Clients of an archive: replicas, tools, people.
//!
//! ```text
//!   listener ──▶ session: login ─▶ commands ──┬── COM_QUERY ──▶ statement ──▶ answer (OK, rows, error)
//!                                             └── COM_BINLOG_DUMP ──▶ paceline_replication::primary
//! ```
//!
//! A replica asks a handful of questions before it asks for the log, and an operator a few more. Those are answered; everything else is refused
//! with MariaDB's error. There is one account, the one that the archive itself uses with its primaries.

mod answer;
mod evaluate;
pub mod listener;
pub mod registry;
mod session;
mod show;
mod statement;
mod variables;
