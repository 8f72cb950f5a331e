//! The data of the page, as JSON: what the server does now, its statements and its transactions.
//!
//! Numbers of counters are totals: the page subtracts two answers to get rates, so the server keeps nothing for it. A
//! histogram is the numbers in its buckets for the same reason: bucket `n` has values from 2^(n-1) to 2^n - 1.

mod topology;
mod waits;

pub(in crate::http) use waits::transactions;

use crate::backup_history::BackupRecord;
use crate::metrics::Sample;
use crate::server::Server;
use crate::slow_statements::SlowStatementEntry;
use crate::variables::Variable;
use paceline_txn::HistogramSnapshot;
use serde_json::{Value, json};
use std::sync::Arc;
use std::time::{SystemTime, UNIX_EPOCH};

/// Maximum number of statements in an answer: those that took most time.
const STATEMENTS_MAX: usize = 100;

fn now() -> std::time::Duration {
    SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default()
}

fn histogram(values: &HistogramSnapshot) -> Value {
    let used = values.buckets.iter().rposition(|count| *count > 0);
    let used = used.map_or(0, |last| last + 1);
    json!({ "buckets": values.buckets[..used], "sum": values.sum })
}

/// Returns the durations of the statements of all classes; nothing if `performance_schema` is OFF.
fn statement_durations(server: &Server) -> HistogramSnapshot {
    let sessions = server.sessions.all();
    let by_class = server
        .digests
        .durations(sessions.iter().map(|session| &session.digests));
    let mut all = HistogramSnapshot::default();
    for (_, values) in &by_class {
        all.sum += values.sum;
        for (sum, count) in all.buckets.iter_mut().zip(&values.buckets) {
            *sum += count;
        }
    }
    all
}

/// Returns the latest backups, newest first.
fn backups(server: &Server) -> Vec<Value> {
    let backup = |record: &Arc<BackupRecord>| {
        let end = record.end();
        let result = end.as_ref().map(|end| &end.result);
        json!({
            "kind": record.kind.name(),
            "account": record.account,
            "start_usec": record.started_micros,
            "end_usec": end.as_ref().map(|end| end.micros),
            "bytes": record.bytes(),
            "gtid_position": result.and_then(|result| result.as_ref().ok()),
            "error": result.and_then(|result| result.as_ref().err()),
        })
    };
    server.backups.latest().iter().map(backup).collect()
}

/// Returns the state of the server and its counters.
pub(super) fn overview(server: &Arc<Server>) -> Value {
    let sample = Sample::of_server(server);
    let transactions = &sample.transactions;
    let globals = &server.globals;
    let files = server.transactions.log().files();
    let files: Vec<_> = files
        .iter()
        .map(|file| json!({ "name": file.name, "bytes": file.length }))
        .collect();
    json!({
        "time_ms": u64::try_from(now().as_millis()).unwrap_or(0),
        "version": globals.get(Variable::Version).as_str(),
        "hostname": globals.get(Variable::Hostname).as_str(),
        "port": globals.number(Variable::Port),
        "server_id": globals.number(Variable::ServerId),
        "uptime_seconds": server.started.elapsed().as_secs(),
        "read_only": globals.get(Variable::ReadOnly).as_u64() != 0,
        "gtid_position": server.transactions.gtid_state().position().to_string(),
        "semi_sync": { "on": sample.semi_sync.is_on, "clients": sample.semi_sync.clients },
        "files": files,
        "readers": topology::readers(server),
        "connections": sample.connections.iter().filter_map(topology::connection).collect::<Vec<_>>(),
        "backups": backups(server),
        "counters": {
            "commits": transactions.binlog_commits,
            "groups": transactions.binlog_group_commits,
            "rollbacks": transactions.rollbacks,
            "questions": sample.totals.questions.get(),
            "slow_queries": sample.totals.slow_queries.get(),
            "deadlocks": transactions.deadlocks,
            "log_bytes": transactions.binlog_bytes_written,
        },
        "gauges": {
            "sessions": server.sessions.count(),
            "running": server.sessions.running(),
            "lock_waits": transactions.current_lock_waits,
            "open_transactions": transactions.open_transactions,
            "memory_bytes": crate::memory::resident().anonymous,
            "block_cache_bytes": sample.storage.block_cache_bytes,
            "table_file_bytes": sample.storage.table_file_bytes,
        },
        "histograms": {
            "commit_usec": histogram(&transactions.commit_usec),
            "sync_usec": histogram(&transactions.sync_usec),
            "group_size": histogram(&transactions.group_size),
            "statement_usec": histogram(&statement_durations(server)),
        },
        "latest_deadlock": &*server.latest_deadlock.lock(),
    })
}

/// Returns the statements that took most time.
pub(super) fn statements(server: &Arc<Server>) -> Value {
    let sessions = server.sessions.all();
    let mut all = server
        .digests
        .summaries(sessions.iter().map(|session| &session.digests));
    all.sort_by_key(|digest| std::cmp::Reverse(digest.statistics.sums.nanos));
    all.truncate(STATEMENTS_MAX);
    let statement = |digest: &crate::statement_digests::DigestSummary| {
        let counted = &digest.statistics;
        let sums = &counted.sums;
        json!({
            "database": digest.statement.database,
            "digest": digest.statement.name(),
            "text": digest.statement.text,
            "executions": sums.count,
            "errors": sums.errors,
            "rows_sent": sums.rows_sent,
            "rows_affected": sums.rows_affected,
            "total_usec": sums.nanos / 1000,
            "p50_usec": counted.percentile(50) / 1000,
            "p95_usec": counted.percentile(95) / 1000,
            "p99_usec": counted.percentile(99) / 1000,
            "max_usec": sums.nanos_max / 1000,
        })
    };
    json!({ "statements": all.iter().map(statement).collect::<Vec<_>>() })
}

/// Columns of a plan, as EXPLAIN has them.
const PLAN_COLUMNS: [&str; 10] = [
    "id",
    "select_type",
    "table",
    "type",
    "possible_keys",
    "key",
    "key_len",
    "ref",
    "rows",
    "Extra",
];

/// Returns the latest slow statements with their plans, newest first.
pub(super) fn slow_statements(server: &Arc<Server>) -> Value {
    let statement = |slow: &SlowStatementEntry| {
        json!({
            "start_usec": slow.start_micros,
            "duration_usec": slow.duration_micros,
            "database": slow.database,
            "text": slow.text,
            "rows_sent": slow.rows_sent,
            "rows_examined": slow.rows_examined,
            "rows_affected": slow.rows_affected,
            "error": slow.error,
            "plan": slow.plan,
        })
    };
    let latest = server.slow_statements.latest();
    json!({
        "plan_columns": PLAN_COLUMNS,
        "long_query_usec": (server.globals.get(Variable::LongQueryTime).as_f64() * 1e6) as u64,
        "statements": latest.iter().map(statement).collect::<Vec<_>>(),
    })
}
