//! `performance_schema`: those tables that programs read, with MariaDB 10.11's columns and this server's data.
//!
//! ```text
//!   columns.txt       every table's columns, as MariaDB declares them
//!   statements        events_statements_summary_by_digest
//!   table_io          table_io_waits_summary_by_table and by_index_usage, objects_summary_global_by_type
//!   threads           threads, accounts, users, hosts
//!   history           events_statements_current, …_history, …_history_long
//!   replication       replication_…: connections to primaries, what they apply
//!   setup             setup_…: what is collected
//!   memory            memory_summary_…_by_event_name
//! ```
//! `global_status` and `session_status` have the values of SHOW STATUS, `performance_timers` the clock. The other
//! tables exist and are empty (docs/differences.md). As in MariaDB, reading needs SELECT on `performance_schema.*`.
//! With `performance_schema=OFF` no statements are counted.

mod history;
mod memory;
mod replication;
mod setup;
mod statements;
mod table_io;
mod threads;

use crate::information_schema::{
    Row, Scope, ShownHistory, Sources, VirtualTable, declared, metadata_lock_rows,
};
use paceline_expression::session::VirtualColumn;
use paceline_types::Value;
use std::sync::OnceLock;

static DECLARATIONS: &str = include_str!("columns.txt");

/// Name of the database.
pub const DATABASE: &str = "performance_schema";

/// Returns the tables with their columns, by name.
pub fn tables() -> &'static [VirtualTable] {
    static TABLES: OnceLock<Vec<VirtualTable>> = OnceLock::new();
    TABLES.get_or_init(|| declared(DECLARATIONS))
}

/// Returns the columns of a table, or `None` if it does not exist. Names are compared without case.
pub fn columns(table: &str) -> Option<&'static [VirtualColumn]> {
    let found = tables().iter().find(|(name, _)| name.eq_ignore_ascii_case(table));
    found.map(|(_, columns)| columns.as_slice())
}

/// Returns the rows of a table. Its name is compared without case.
pub fn rows(table: &str, sources: &dyn Sources) -> Vec<Row> {
    match table.to_ascii_lowercase().as_str() {
        "events_statements_summary_by_digest" => statements::by_digest(sources),
        "objects_summary_global_by_type" => table_io::objects(sources),
        "table_io_waits_summary_by_index_usage" => table_io::by_index(sources),
        "table_io_waits_summary_by_table" => table_io::by_table(sources),
        "events_statements_current" => history::rows(sources, ShownHistory::Current),
        "events_statements_history" => history::rows(sources, ShownHistory::OfSessions),
        "events_statements_history_long" => history::rows(sources, ShownHistory::Long),
        "replication_applier_configuration" => replication::applier_configuration(sources),
        "replication_applier_status" => replication::applier_status(sources),
        "replication_applier_status_by_coordinator" => replication::coordinators(sources),
        "replication_connection_configuration" => replication::connection_configuration(sources),
        "setup_actors" => setup::actors(),
        "setup_consumers" => setup::consumers(sources),
        "setup_instruments" => setup::instruments(sources),
        "setup_objects" => setup::objects(),
        "metadata_locks" => metadata_lock_rows(sources),
        "threads" => threads::threads(sources),
        "accounts" => threads::accounts(sources),
        "memory_summary_global_by_event_name" => memory::global(sources),
        "memory_summary_by_thread_by_event_name" => memory::by_thread(sources),
        "memory_summary_by_account_by_event_name" => memory::by_account(sources),
        "memory_summary_by_user_by_event_name" => memory::by_user(sources),
        "memory_summary_by_host_by_event_name" => memory::by_host(sources),
        "users" => threads::users(sources),
        "hosts" => threads::hosts(sources),
        "global_status" => pairs(sources.status(Scope::Global)),
        "session_status" => pairs(sources.status(Scope::Session)),
        "performance_timers" => timers(),
        _ => Vec::new(),
    }
}

/// Returns whether a table shows the counters of tables.
pub fn shows_table_io(table: &str) -> bool {
    table_io::TABLES
        .iter()
        .any(|name| name.eq_ignore_ascii_case(table))
}

/// Tables whose rows show a state, and cannot be forgotten.
const STATES: [&str; 14] = [
    "global_status",
    "memory_summary_by_account_by_event_name",
    "memory_summary_by_host_by_event_name",
    "memory_summary_by_thread_by_event_name",
    "memory_summary_by_user_by_event_name",
    "memory_summary_global_by_event_name",
    "performance_timers",
    "session_status",
    "setup_actors",
    "setup_consumers",
    "setup_instruments",
    "setup_objects",
    "setup_timers",
    "threads",
];

/// Returns whether TRUNCATE may forget the rows of a table.
pub fn is_truncatable(table: &str) -> bool {
    !STATES.iter().any(|state| state.eq_ignore_ascii_case(table))
}

fn pairs(pairs: Vec<(String, String)>) -> Vec<Row> {
    let row = |(name, value)| vec![Value::Text(name), Value::Text(value)];
    pairs.into_iter().map(row).collect()
}

/// Returns the clocks: statements are timed in nanoseconds.
fn timers() -> Vec<Row> {
    vec![vec![
        Value::Text("NANOSECOND".to_owned()),
        Value::Int(1_000_000_000),
        Value::Int(1),
        Value::Int(40),
    ]]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_declaration_is_read() {
        assert_eq!(tables().len(), 81);
        assert_eq!(columns("THREADS").unwrap()[0].name, "THREAD_ID");
        assert!(columns("nowhere").is_none());
    }
}
