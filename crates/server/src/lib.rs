//! The server: sessions, system variables, accounts, SHOW and `information_schema`, listeners, start-up and shutdown.
//!
//! ```text
//!   listener ─▶ session ─▶ sql ─▶ txn
//!                  │        │
//!                  │        └─ services: variables, privileges, information_schema, functions of the server
//!                  └─ wire: commands in, results out
//! ```
//!
//! * [`options`]: the command line and my.cnf; [`startup`]: from there to "ready for connections", and the end.
//! * [`data_directory`]: whose it is, and who may enter it; [`unfinished`]: one that is still being made.
//! * [`listener`], [`registry`]: clients come; who is there. [`host_errors`]: hosts that may not come.
//! * [`tls`]: the certificate that is shown, and who counts the handshakes.
//! * [`session`]: one client, from its greeting to its end.
//! * [`variables`], [`status`]: SHOW VARIABLES and SHOW STATUS.
//! * [`accounts`]: who may connect and do what.
//! * [`backup`], [`restore`]: what a backup's stream says; a data directory made of copies.
//! * [`information_schema`], [`mysql_tables`]: tables that are made on demand.
#![forbid(unsafe_code)]

pub mod accounts;
pub mod backup;
pub mod data_directory;
pub mod host_errors;
pub mod information_schema;
pub mod listener;
pub mod memory;
pub mod mysql_tables;
pub mod options;
pub mod output;
pub mod recovery;
pub mod registry;
pub mod replica_filters;
pub mod replicated_tables;
pub mod replication;
pub mod restore;
pub mod server;
pub mod session;
pub mod startup;
pub mod statement_logs;
pub mod status;
pub mod status_list;
pub mod tls;
pub mod transaction_mark;
pub mod unfinished;
pub mod variables;
