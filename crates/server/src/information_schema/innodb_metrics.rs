//! INNODB_METRICS: those of InnoDB's metrics that have a value here, from the status variables.

use super::session_time;
use super::sources::{Scope, Sources};
use crate::cells::{Row, number, text};
use paceline_types::Value;
use std::collections::HashMap;

/// A metric of InnoDB: its name, its subsystem, the status variable that has its value, its type and its comment.
type Metric = (
    &'static str,
    &'static str,
    &'static str,
    &'static str,
    &'static str,
);

/// Types of metrics.
const COUNTER: &str = "status_counter";
const VALUE: &str = "value";

#[rustfmt::skip]
static METRICS: [Metric; 23] = [
    ("lock_deadlocks", "lock", "Innodb_deadlocks", VALUE, "Number of deadlocks"),
    ("lock_timeouts", "lock", "Paceline_lock_wait_timeouts", VALUE, "Number of lock timeouts"),
    ("lock_row_lock_current_waits", "lock", "Innodb_row_lock_current_waits", VALUE, "Number of row locks currently being waited for (innodb_row_lock_current_waits)"),
    ("lock_row_lock_time", "lock", "Innodb_row_lock_time", COUNTER, "Time spent in acquiring row locks, in milliseconds (innodb_row_lock_time)"),
    ("lock_row_lock_time_max", "lock", "Innodb_row_lock_time_max", VALUE, "The maximum time to acquire a row lock, in milliseconds (innodb_row_lock_time_max)"),
    ("lock_row_lock_waits", "lock", "Innodb_row_lock_waits", COUNTER, "Number of times a row lock had to be waited for (innodb_row_lock_waits)"),
    ("lock_row_lock_time_avg", "lock", "Innodb_row_lock_time_avg", VALUE, "The average time to acquire a row lock, in milliseconds (innodb_row_lock_time_avg)"),
    ("buffer_pool_size", "server", "Innodb_buffer_pool_pages_total", VALUE, "Server buffer pool size (all buffer pools) in bytes"),
    ("buffer_pool_pages_total", "buffer", "Innodb_buffer_pool_pages_total", VALUE, "Total buffer pool size in pages (innodb_buffer_pool_pages_total)"),
    ("buffer_pool_pages_data", "buffer", "Innodb_buffer_pool_pages_data", VALUE, "Buffer pages containing data (innodb_buffer_pool_pages_data)"),
    ("buffer_pool_bytes_data", "buffer", "Innodb_buffer_pool_bytes_data", VALUE, "Buffer bytes containing data (innodb_buffer_pool_bytes_data)"),
    ("buffer_pool_pages_dirty", "buffer", "Innodb_buffer_pool_pages_dirty", VALUE, "Buffer pages currently dirty (innodb_buffer_pool_pages_dirty)"),
    ("buffer_pool_bytes_dirty", "buffer", "Innodb_buffer_pool_bytes_dirty", VALUE, "Buffer bytes currently dirty (innodb_buffer_pool_bytes_dirty)"),
    ("buffer_pool_pages_free", "buffer", "Innodb_buffer_pool_pages_free", VALUE, "Buffer pages currently free (innodb_buffer_pool_pages_free)"),
    ("buffer_pool_reads", "buffer", "Innodb_buffer_pool_reads", COUNTER, "Number of reads directly from disk (innodb_buffer_pool_reads)"),
    ("buffer_pool_read_requests", "buffer", "Innodb_buffer_pool_read_requests", COUNTER, "Number of logical read requests (innodb_buffer_pool_read_requests)"),
    ("buffer_pages_read", "buffer", "Innodb_pages_read", COUNTER, "Number of pages read (innodb_pages_read)"),
    ("buffer_data_reads", "buffer", "Innodb_data_read", COUNTER, "Amount of data read in bytes (innodb_data_reads)"),
    ("os_data_reads", "os", "Innodb_data_reads", COUNTER, "Number of reads initiated (innodb_data_reads)"),
    ("os_data_fsyncs", "os", "Innodb_data_fsyncs", COUNTER, "Number of fsync() calls (innodb_data_fsyncs)"),
    ("os_log_bytes_written", "os", "Innodb_os_log_written", COUNTER, "Bytes of log written (innodb_os_log_written)"),
    ("trx_rw_commits", "transaction", "Binlog_commits", COUNTER, "Number of read-write transactions  committed"),
    ("trx_rollbacks", "transaction", "Paceline_rollbacks", COUNTER, "Number of transactions rolled back"),
];

/// Returns the rows. All metrics are counted from the start of the server, and cannot be reset.
pub(super) fn rows(sources: &dyn Sources) -> Vec<Row> {
    let status: HashMap<String, String> = sources.status(Scope::Global).into_iter().collect();
    let value = |name: &str| -> i64 { status.get(name).and_then(|value| value.parse().ok()).unwrap_or(0) };
    let uptime = value("Uptime");
    let started = crate::registry::now_micros() - uptime * 1_000_000;
    let row = |(name, subsystem, variable, kind, comment): &Metric| {
        let count = value(variable);
        let average = match *kind {
            COUNTER if uptime > 0 => Value::Double(count as f64 / uptime as f64),
            _ => Value::Null,
        };
        vec![
            text(*name),
            text(*subsystem),
            Value::Int(count),
            Value::Int(count),
            Value::Null,
            average.clone(),
            Value::Int(count),
            Value::Int(count),
            Value::Null,
            average,
            session_time::of_micros(sources, started),
            Value::Null,
            Value::Int(uptime),
            Value::Null,
            number(1),
            text(*kind),
            text(*comment),
        ]
    };
    METRICS.iter().map(row).collect()
}
