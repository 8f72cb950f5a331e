//! `performance_schema`: those tables that programs read, with MariaDB 10.11's columns and this server's data.
//!
//! ```text
//!   columns.txt       every table's columns, as MariaDB declares them
//!   statements        events_statements_summary_by_digest, …_by_event_name
//!   table_io          table_io_waits_summary_by_table and by_index_usage, objects_summary_global_by_type
//!   threads           threads, accounts, users, hosts
//!   history           events_statements_current, …_history, …_history_long
//!   replication       replication_…: connections to primaries, what they apply
//!   setup             setup_…: what is collected
//!   memory            memory_summary_…_by_event_name
//!   files             file_summary_…, file_instances
//! ```
//! `global_status` and `session_status` have the values of SHOW STATUS, `performance_timers` the clock. The other
//! tables exist and are empty (docs/differences.md). As in MariaDB, reading needs SELECT on `performance_schema.*`.
//! With `performance_schema=OFF` no statements are counted.

mod files;
mod history;
mod memory;
mod replication;
mod setup;
mod statements;
mod table_io;
mod threads;
mod timed;

use crate::cells::Row;
use crate::information_schema::{
    Scope, ShownHistory, Sources, VirtualTable, declared, metadata_lock_rows, typed,
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
    let mut rows = untyped_rows(table, sources);
    typed(&mut rows, columns(table).unwrap_or_default());
    rows
}

fn untyped_rows(table: &str, sources: &dyn Sources) -> Vec<Row> {
    if let Some(level) = statements::event_level(table) {
        return statements::by_kind(sources, level);
    }
    match table.to_ascii_lowercase().as_str() {
        "events_statements_summary_by_digest" => statements::by_digest(sources),
        "objects_summary_global_by_type" => table_io::objects(sources),
        "table_io_waits_summary_by_index_usage" => table_io::by_index(sources),
        "table_io_waits_summary_by_table" => table_io::by_table(sources),
        "file_instances" => files::instances(sources),
        "file_summary_by_event_name" => files::by_class(sources),
        "file_summary_by_instance" => files::by_file(sources),
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

pub use statements::event_level;

/// Returns whether a table shows the counters of tables.
pub fn shows_table_io(table: &str) -> bool {
    table_io::TABLES
        .iter()
        .any(|name| name.eq_ignore_ascii_case(table))
}

/// Effect of TRUNCATE on a table.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Truncation {
    /// Its rows are forgotten, or there is nothing to forget.
    Allowed,
    /// Its rows show a state: 1683, as in MariaDB.
    Invalid,
    /// MariaDB would change settings or counters, which are not changed by it here: 1142.
    Refused,
}

/// Tables whose rows show a state.
const STATES: [&str; 21] = [
    "cond_instances",
    "file_instances",
    "metadata_locks",
    "mutex_instances",
    "performance_timers",
    "replication_applier_configuration",
    "replication_applier_status",
    "replication_applier_status_by_coordinator",
    "replication_applier_status_by_worker",
    "replication_connection_configuration",
    "rwlock_instances",
    "session_account_connect_attrs",
    "session_connect_attrs",
    "session_status",
    "setup_consumers",
    "setup_instruments",
    "setup_timers",
    "socket_instances",
    "table_handles",
    "threads",
    "user_variables_by_thread",
];

/// Tables of settings and counters that TRUNCATE would change in MariaDB.
const SETTINGS: [&str; 3] = ["global_status", "setup_actors", "setup_objects"];

/// Returns the effect of TRUNCATE on a table.
pub fn truncation(table: &str) -> Truncation {
    let is_in = |list: &[&str]| list.iter().any(|name| name.eq_ignore_ascii_case(table));
    match (is_in(&STATES), is_in(&SETTINGS)) {
        (true, _) => Truncation::Invalid,
        (_, true) => Truncation::Refused,
        _ => Truncation::Allowed,
    }
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
