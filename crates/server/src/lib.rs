//! The server: sessions, system variables, accounts, SHOW and `information_schema`, listeners, startup and shutdown.
//!
//! ```text
//!   listener ─▶ session ─▶ statements ─▶ query, catalog ─▶ txn
//!                  │           │             │
//!                  │           │             └─ services: variables, privileges, information_schema, functions of the server
//!                  │           └─ accounts: may the session do this?
//!                  └─ wire: commands in, results out
//! ```
//!
//! * [`options`]: the command line and my.cnf; [`startup`]: from there to "ready for connections", and shutdown.
//! * [`embedded`]: a server within another program.
//! * [`data_directory`]: ownership and permissions of the data directory; [`incomplete_directory`]: an incomplete one.
//! * [`listener`], [`registry`]: connections of clients, and the list of sessions. [`host_errors`]: blocked hosts.
//! * [`tls`]: the server's certificate, and counters of handshakes.
//! * [`session`]: one client, from its greeting to its end. [`session::statements`]: each kind of statement.
//! * [`variables`]: SHOW VARIABLES. [`statistic`], [`status`], [`metrics`]: statistics, for SHOW STATUS and others.
//!   [`command_counter`]: `Com_…`.
//! * [`statement_digests`], [`statement_events`]: statistics of statements by their text, by kind and account.
//!   [`user_statistics`]: statistics of users and clients, with the [`running_time`] of statements.
//!   [`performance_schema`]: its tables.
//! * [`open_transactions`], [`lock_report`]: transactions, waits and deadlocks.
//! * [`http`]: probes, and statistics for Prometheus. [`errors`]: other crates' errors as MariaDB's.
//! * [`event_scheduler`]: events of the catalog run at their times, in sessions without a client.
//! * [`accounts`]: users and privileges. [`accounts::checks`]: which privileges a statement needs.
//! * [`backup`], [`restore`]: format of a backup's stream; a data directory made from copies.
//! * [`information_schema`], [`mysql_columns`], [`mysql_tables`], [`virtual_tables`]: tables that show the state of the
//!   server.
//! * [`replication`], [`replication_options`], [`row_options`]: connections to primaries, and their settings.
#![forbid(unsafe_code)]

pub mod accounts;
mod audit_log;
pub mod backup;
mod backup_history;
mod cells;
pub mod cluster;
mod cluster_member;
mod command_counter;
pub mod data_directory;
pub mod data_version;
pub mod embedded;
mod errors;
mod event_runs;
mod event_scheduler;
mod event_scheduler_process;
mod host_errors;
pub mod http;
pub mod incomplete_directory;
mod information_schema;
mod last_command;
mod listener;
mod loadable_functions;
mod lock_report;
pub mod log_lines;
mod memcached;
mod memcached_counters;
mod memory;
mod memory_control;
mod metrics;
mod modules;
mod mysql_columns;
mod mysql_tables;
mod names;
mod open_transactions;
pub mod options;
mod performance_schema;
mod recovery;
mod registry;
pub mod replica_filters;
mod replicated_tables;
mod replication;
mod replication_options;
pub mod restore;
mod row_options;
mod running_plan;
mod running_time;
mod server;
mod session;
mod session_progress;
mod slow_statements;
mod sql_text;
pub mod startup;
mod statement_digests;
mod statement_events;
mod statement_history;
mod statement_kind;
mod statement_logs;
mod statement_sums;
mod statistic;
mod status;
mod tls;
mod transaction_mark;
mod user_statistics;
pub mod variables;
mod virtual_tables;
