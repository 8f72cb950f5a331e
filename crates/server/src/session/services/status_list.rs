//! Values of `SHOW STATUS`.

use super::SessionServices;
use crate::information_schema::Scope;
use crate::memory;
use crate::variables::Variable;
use paceline_log_stream::primary::semi_sync::SemiSyncStatus;
use paceline_replication::connection::ConnectionStatus;
use paceline_replication::status::ReceiverState;
use paceline_txn::HistogramSnapshot;
use std::sync::atomic::Ordering;
use std::time::Duration;

/// Status variables that MariaDB has and this server does not maintain, because it lacks the feature or
/// because programs do not read them. Each name has MariaDB's initial value.
static DEFAULTS: &str = include_str!("status_defaults.txt");

/// Returns names and values, by name: those of the session where it has counters of its own, else those of the server.
pub fn list(services: &SessionServices, scope: Scope) -> Vec<(String, String)> {
    let server = &services.server;
    let totals = server.sessions.totals();
    let mut list: Vec<(String, String)> = match scope {
        Scope::Session => services
            .shared
            .counters
            .list()
            .map(|(name, value)| (name.to_owned(), value.to_string()))
            .collect(),
        Scope::Global => totals
            .list()
            .map(|(name, value)| (name.to_owned(), value.to_string()))
            .collect(),
    };
    let mut put = |name: &str, value: String| list.push((name.to_owned(), value));
    let transactions = server.transactions.status();
    let storage = server.transactions.storage().statistics();
    let counter = |counter: &std::sync::atomic::AtomicU64| counter.load(Ordering::Relaxed).to_string();

    put("Aborted_clients", counter(&server.counters.aborted_clients));
    put("Aborted_connects", counter(&server.counters.aborted_connects));
    put("Access_denied_errors", counter(&server.counters.access_denied));
    put(
        "Binlog_bytes_written",
        transactions.binlog_bytes_written.to_string(),
    );
    put(
        "Binlog_cache_disk_use",
        transactions.binlog_cache_disk_use.to_string(),
    );
    put("Binlog_cache_use", transactions.binlog_commits.to_string());
    put("Binlog_commits", transactions.binlog_commits.to_string());
    put(
        "Binlog_group_commit_trigger_count",
        transactions.binlog_group_commit_trigger_count.to_string(),
    );
    put(
        "Binlog_group_commit_trigger_lock_wait",
        transactions.binlog_group_commit_trigger_lock_wait.to_string(),
    );
    put(
        "Binlog_group_commit_trigger_timeout",
        transactions.binlog_group_commit_trigger_timeout.to_string(),
    );
    put(
        "Binlog_group_commits",
        transactions.binlog_group_commits.to_string(),
    );
    let (file, position) = snapshot_coordinates(services);
    put("Binlog_snapshot_file", file);
    put("Binlog_snapshot_position", position);
    put(
        "Connection_errors_max_connections",
        counter(&server.counters.too_many_connections),
    );
    put("Connections", counter(&server.counters.connections));
    put("Innodb_deadlocks", transactions.deadlocks.to_string());
    put(
        "Innodb_row_lock_current_waits",
        transactions.current_lock_waits.to_string(),
    );
    put(
        "Innodb_row_lock_time",
        (transactions.lock_wait_usec.sum / 1000).to_string(),
    );
    put("Innodb_row_lock_waits", transactions.row_lock_waits.to_string());
    put("Memory_used", memory_used(services, scope).to_string());
    put("Memory_used_initial", server.initial_memory_bytes.to_string());
    put("Max_used_connections", counter(&server.counters.connections_max));
    put(
        "Paceline_block_cache_bytes",
        storage.block_cache_bytes.to_string(),
    );
    put("Paceline_checkpoints", transactions.checkpoints.to_string());
    histogram(&mut put, "Paceline_commit_usec", &transactions.commit_usec);
    histogram(&mut put, "Paceline_group_size", &transactions.group_size);
    put(
        "Paceline_lock_wait_timeouts",
        transactions.lock_wait_timeouts.to_string(),
    );
    put("Paceline_locked_keys", transactions.locked_keys.to_string());
    put(
        "Paceline_memory_table_bytes",
        storage.memory_engine_bytes.to_string(),
    );
    put("Paceline_memtable_bytes", storage.memtable_bytes.to_string());
    put(
        "Paceline_metadata_lock_waits",
        transactions.metadata_lock_waits.to_string(),
    );
    put(
        "Paceline_open_transactions",
        transactions.open_transactions.to_string(),
    );
    put("Paceline_pending_rows", transactions.pending_rows.to_string());
    put(
        "Paceline_published_position",
        server.transactions.positions().published.to_string(),
    );
    histogram(&mut put, "Paceline_publish_usec", &transactions.publish_usec);
    put("Paceline_rollbacks", transactions.rollbacks.to_string());
    put("Paceline_session_memory_bytes", server.memory.used().to_string());
    histogram(&mut put, "Paceline_sync_usec", &transactions.sync_usec);
    put(
        "Paceline_temporary_tables_bytes",
        storage.temporary_bytes.to_string(),
    );
    put("Paceline_table_file_bytes", storage.table_file_bytes.to_string());
    put("Prepared_stmt_count", server.prepared_statements().to_string());
    put("Queries", totals.questions.get().to_string());
    semi_sync(&mut put, &server.primary.semi_sync().status());
    put(
        "Slaves_connected",
        server.primary.replicas().list().len().to_string(),
    );
    replication(services, &mut put);
    list.extend(server.tls.status(services.shared.tls.get()));
    let mut put = |name: &str, value: String| list.push((name.to_owned(), value));
    let connected = server.sessions.count();
    put("Threads_cached", "0".to_owned());
    put("Threads_connected", connected.to_string());
    put("Threads_created", counter(&server.counters.connections));
    put("Threads_running", server.sessions.running().to_string());
    let uptime = server.started.elapsed().as_secs().to_string();
    put("Uptime", uptime.clone());
    put("Uptime_since_flush_status", uptime);
    let accounts = server.accounts.load();
    put("Acl_users", accounts.iter().count().to_string());
    let on_databases = accounts.iter().map(|account| account.databases.len());
    put("Acl_database_grants", on_databases.sum::<usize>().to_string());
    put(
        "Open_table_definitions",
        server.catalog.load().tables().count().to_string(),
    );
    list.extend(DEFAULTS.lines().map(|line| {
        let (name, value) = line.split_once(' ').unwrap_or((line, ""));
        (name.to_owned(), value.to_owned())
    }));
    list.sort_by_key(|(name, _)| name.to_ascii_lowercase());
    list
}

/// Returns the memory account of the session, or the memory of the process, in bytes.
fn memory_used(services: &SessionServices, scope: Scope) -> u64 {
    match scope {
        Scope::Session => services.shared.memory.used(),
        Scope::Global => memory::resident_bytes(),
    }
}

/// Adds the values of connections to primaries: of the session's default connection, or of all connections.
fn replication(services: &SessionServices, put: &mut impl FnMut(&str, String)) {
    let replicas = services.server.replicas();
    let all: Vec<_> = replicas
        .all()
        .iter()
        .map(|connection| connection.status())
        .collect();
    let own = all
        .iter()
        .find(|status| *status.name == *services.default_connection());
    let on_off = |on: bool| if on { "ON" } else { "OFF" }.to_owned();
    let is_running =
        |status: &ConnectionStatus| status.applier_runs && status.receiver.state == ReceiverState::Connected;
    put(
        "Slave_open_temp_tables",
        services.server.replicated_tables.count().to_string(),
    );
    put("Slave_running", on_off(own.is_some_and(is_running)));
    put(
        "Slaves_running",
        all.iter()
            .filter(|status| status.applier_runs)
            .count()
            .to_string(),
    );
    put(
        "Slave_received_heartbeats",
        own.map_or(0, |status| status.receiver.heartbeats).to_string(),
    );
    let net_timeout = Duration::from_secs(services.server.globals.number(Variable::SlaveNetTimeout));
    let period = own.map_or(Duration::ZERO, |status| {
        status.definition.heartbeat_period(net_timeout)
    });
    put("Slave_heartbeat_period", format!("{:.3}", period.as_secs_f64()));
    let retried: u64 = all.iter().map(|status| status.applier.retried_transactions).sum();
    put("Slave_retried_transactions", retried.to_string());
    put(
        "Rpl_semi_sync_slave_status",
        on_off(
            all.iter()
                .any(|status| is_running(status) && status.receiver.semi_sync),
        ),
    );
    let acknowledgements: u64 = all.iter().map(|status| status.receiver.acknowledgements).sum();
    put("Rpl_semi_sync_slave_send_ack", acknowledgements.to_string());
    if let Some(own) = own {
        put(
            "Paceline_replica_lag_transactions",
            own.applier.pending_transactions.to_string(),
        );
        put("Paceline_replica_lag_bytes", own.applier.queued_bytes.to_string());
        put("Paceline_replica_held_back_by", own.held_back_by().to_owned());
        put(
            "Paceline_replica_mysql_gtids",
            own.executed.as_ref().map(ToString::to_string).unwrap_or_default(),
        );
    }
}

/// Adds the values of `Rpl_semi_sync_master_…`.
fn semi_sync(put: &mut impl FnMut(&str, String), status: &SemiSyncStatus) {
    let mut number = |name: &str, value: u64| put(&format!("Rpl_semi_sync_master_{name}"), value.to_string());
    number("clients", status.clients);
    number("get_ack", status.get_ack);
    // These waits do not exist here. MariaDB's dump thread once had them, and their names have remained.
    number("net_avg_wait_time", 0);
    number("net_wait_time", 0);
    number("net_waits", status.net_waits);
    number("no_times", status.no_times);
    number("no_tx", status.no_tx);
    number("request_ack", status.request_ack);
    number("timefunc_failures", 0);
    number(
        "tx_avg_wait_time",
        status.tx_wait_time.checked_div(status.tx_waits).unwrap_or(0),
    );
    number("tx_wait_time", status.tx_wait_time);
    number("tx_waits", status.tx_waits);
    number("wait_pos_backtraverse", 0);
    number("wait_sessions", status.wait_sessions);
    number("yes_tx", status.yes_tx);
    let state = if status.is_on { "ON" } else { "OFF" };
    put("Rpl_semi_sync_master_status", state.to_owned());
}

/// Returns the position of the session's consistent snapshot, or of the published one.
fn snapshot_coordinates(services: &SessionServices) -> (String, String) {
    let transactions = &services.server.transactions;
    let position = services
        .consistent_snapshot()
        .unwrap_or_else(|| transactions.positions().published);
    match transactions.coordinates(position) {
        Ok((file, offset)) => (file, offset.to_string()),
        Err(_) => (String::new(), "0".to_owned()),
    }
}

/// Adds count, average, maximum, and upper bounds of the 50th, 95th and 99th percentile.
fn histogram(put: &mut impl FnMut(&str, String), name: &str, values: &HistogramSnapshot) {
    put(&format!("{name}_count"), values.count().to_string());
    put(&format!("{name}_max"), values.max.to_string());
    put(&format!("{name}_mean"), values.mean().to_string());
    for percent in [50, 95, 99] {
        put(
            &format!("{name}_p{percent}"),
            values.percentile(percent).to_string(),
        );
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::HashSet;

    #[test]
    fn no_counter_is_listed_twice() {
        let counters = crate::status::Counters::default();
        let mut seen: HashSet<String> = counters
            .list()
            .map(|(name, _)| name.to_ascii_lowercase())
            .collect();
        for line in DEFAULTS.lines() {
            let name = line.split(' ').next().unwrap_or_default().to_ascii_lowercase();
            assert!(seen.insert(name), "{line}");
        }
    }
}
