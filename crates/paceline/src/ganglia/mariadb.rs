//! Values of MariaDB and InnoDB, from SHOW GLOBAL STATUS.

use super::error::Result;
use super::module::Kind::{Counter, Gauge};
use super::module::{Entry, Reading, Server, readings};

const GROUP: &str = "mysql";

static TABLE: [Entry; 47] = [
    ("Aborted_clients", Counter, "connections"),
    ("Aborted_connects", Counter, "connections"),
    ("Binlog_bytes_written", Counter, "bytes"),
    ("Binlog_cache_disk_use", Counter, "transactions"),
    ("Binlog_commits", Counter, "transactions"),
    ("Binlog_group_commits", Counter, "groups"),
    ("Bytes_received", Counter, "bytes"),
    ("Bytes_sent", Counter, "bytes"),
    ("Com_commit", Counter, "statements"),
    ("Com_delete", Counter, "statements"),
    ("Com_insert", Counter, "statements"),
    ("Com_replace", Counter, "statements"),
    ("Com_rollback", Counter, "statements"),
    ("Com_select", Counter, "statements"),
    ("Com_stmt_execute", Counter, "statements"),
    ("Com_update", Counter, "statements"),
    ("Connections", Counter, "connections"),
    ("Created_tmp_disk_tables", Counter, "tables"),
    ("Created_tmp_tables", Counter, "tables"),
    ("Handler_read_key", Counter, "reads"),
    ("Handler_read_next", Counter, "reads"),
    ("Handler_read_rnd_next", Counter, "reads"),
    ("Innodb_buffer_pool_bytes_data", Gauge, "bytes"),
    ("Innodb_buffer_pool_bytes_dirty", Gauge, "bytes"),
    ("Innodb_buffer_pool_pages_free", Gauge, "pages"),
    ("Innodb_buffer_pool_pages_total", Gauge, "pages"),
    ("Innodb_buffer_pool_read_requests", Counter, "reads"),
    ("Innodb_buffer_pool_reads", Counter, "reads"),
    ("Innodb_data_fsyncs", Counter, "syncs"),
    ("Innodb_deadlocks", Counter, "deadlocks"),
    ("Innodb_os_log_written", Counter, "bytes"),
    ("Innodb_row_lock_current_waits", Gauge, "waits"),
    ("Innodb_row_lock_time", Counter, "ms"),
    ("Innodb_row_lock_waits", Counter, "waits"),
    ("Max_used_connections", Gauge, "connections"),
    ("Memory_used", Gauge, "bytes"),
    ("Open_tables", Gauge, "tables"),
    ("Queries", Counter, "statements"),
    ("Questions", Counter, "statements"),
    ("Rows_read", Counter, "rows"),
    ("Rows_sent", Counter, "rows"),
    ("Slow_queries", Counter, "statements"),
    ("Sort_rows", Counter, "rows"),
    ("Table_locks_waited", Counter, "waits"),
    ("Threads_connected", Gauge, "sessions"),
    ("Threads_running", Gauge, "sessions"),
    ("Uptime", Gauge, "s"),
];

/// Reads all values.
///
/// # Errors
/// Fails if the server does not answer.
pub async fn read(server: &mut Server) -> Result<Vec<Reading>> {
    let pairs = server.rows("SHOW GLOBAL STATUS").await?;
    Ok(readings(GROUP, &TABLE, &pairs))
}
