//! The statistics of the server, by name.

use super::metric::{Metric, Reader};
use super::sample::Sample;
use crate::accounts::Account;
use crate::statistic::{Kind, Statistic, Unit};
use crate::variables::{Variable, memory_limit};
use paceline_replication::connection::ConnectionStatus;
use paceline_replication::status::ReceiverState;
use paceline_syntax::RoutineType;
use paceline_txn::HistogramSnapshot;
use std::sync::atomic::Ordering::Relaxed;

/// Size of InnoDB's pages, in which programs expect the size of the cache.
const PAGE: u64 = 16 << 10;

const fn metric(name: &'static str, kind: Kind, unit: Unit, help: &'static str, reader: Reader) -> Metric {
    let statistic = Statistic {
        name,
        kind,
        unit,
        help,
    };
    Metric { statistic, reader }
}

fn cache_bytes(sample: &Sample) -> u64 {
    sample.server.globals.number(Variable::PacelineBlockCacheSize)
}

/// Returns the sum of a number of each account.
fn of_accounts(sample: &Sample, number: impl Fn(&Account) -> usize) -> u64 {
    let accounts = &sample.server.accounts;
    match accounts.are_skipped() {
        true => 0,
        false => accounts.load().iter().map(|account| number(account) as u64).sum(),
    }
}

fn routine_grants(sample: &Sample, kind: RoutineType) -> u64 {
    let of_kind = |account: &Account| account.routines.iter().filter(|grant| grant.kind == kind).count();
    of_accounts(sample, of_kind)
}

fn lost_digests(sample: &Sample) -> u64 {
    let sessions = sample.server.sessions.all();
    let digests = sessions.iter().map(|session| &session.digests);
    sample.server.digests.lost(digests)
}

fn statement_durations(sample: &Sample) -> Vec<(&'static str, HistogramSnapshot)> {
    let sessions = sample.server.sessions.all();
    let digests = sessions.iter().map(|session| &session.digests);
    let durations = sample.server.digests.durations(digests);
    durations
        .into_iter()
        .map(|(class, values)| (class.name(), values))
        .collect()
}

/// Returns whether a connection's receiver and applier are running.
fn runs(status: &ConnectionStatus) -> bool {
    status.applier_runs && status.receiver.state == ReceiverState::Connected
}

fn uptime(sample: &Sample) -> u64 {
    sample.server.started.elapsed().as_secs()
}

/// The table. Values of sessions are in [`crate::status`].
#[rustfmt::skip]
pub static TABLE: &[Metric] = &[
    metric("Aborted_clients", Kind::Counter, Unit::Count, "Connections that ended without the client closing them: killed, broken, idle for too long.", Reader::Number(|s| s.server.counters.aborted_clients.load(Relaxed))),
    metric("Aborted_connects", Kind::Counter, Unit::Count, "Attempts to connect that failed.", Reader::Number(|s| s.server.counters.aborted_connects.load(Relaxed))),
    metric("Aborted_connects_preauth", Kind::Counter, Unit::Count, "Attempts to connect that ended before a login began.", Reader::Number(|s| s.server.counters.aborted_connects_preauth.load(Relaxed))),
    metric("Acl_column_grants", Kind::Gauge, Unit::Count, "Columns on which accounts have privileges.", Reader::Number(|s| of_accounts(s, |account| account.tables.iter().map(|grant| grant.columns.len()).sum()))),
    metric("Acl_database_grants", Kind::Gauge, Unit::Count, "Databases on which accounts have privileges.", Reader::Number(|s| of_accounts(s, |account| account.databases.len()))),
    metric("Acl_function_grants", Kind::Gauge, Unit::Count, "Functions on which accounts have privileges.", Reader::Number(|s| routine_grants(s, RoutineType::Function))),
    metric("Acl_procedure_grants", Kind::Gauge, Unit::Count, "Procedures on which accounts have privileges.", Reader::Number(|s| routine_grants(s, RoutineType::Procedure))),
    metric("Acl_proxy_users", Kind::Gauge, Unit::Count, "Rights of accounts to stand for others.", Reader::Number(|s| of_accounts(s, |account| account.proxies.len()))),
    metric("Acl_role_grants", Kind::Gauge, Unit::Count, "Roles granted to accounts and roles.", Reader::Number(|s| of_accounts(s, |account| account.roles.len()))),
    metric("Acl_roles", Kind::Gauge, Unit::Count, "Roles.", Reader::Number(|s| of_accounts(s, |account| account.is_role.into()))),
    metric("Acl_table_grants", Kind::Gauge, Unit::Count, "Tables on which, or on whose columns, accounts have privileges.", Reader::Number(|s| of_accounts(s, |account| account.tables.len()))),
    metric("Acl_users", Kind::Gauge, Unit::Count, "Accounts without roles.", Reader::Number(|s| of_accounts(s, |account| (!account.is_role).into()))),
    metric("Binlog_bytes_written", Kind::Counter, Unit::Bytes, "Bytes written to the binary log.", Reader::Number(|s| s.transactions.binlog_bytes_written)),
    metric("Binlog_cache_disk_use", Kind::Counter, Unit::Count, "Transactions whose events exceeded binlog_cache_size and went to a file.", Reader::Number(|s| s.transactions.binlog_cache_disk_use)),
    metric("Binlog_cache_use", Kind::Counter, Unit::Count, "Transactions whose events were collected before they were written to the log.", Reader::Number(|s| s.transactions.binlog_commits)),
    metric("Binlog_commits", Kind::Counter, Unit::Count, "Transactions written to the binary log.", Reader::Number(|s| s.transactions.binlog_commits)),
    metric("Binlog_group_commit_trigger_count", Kind::Counter, Unit::Count, "Groups that were written because binlog_commit_wait_count was reached.", Reader::Number(|s| s.transactions.binlog_group_commit_trigger_count)),
    metric("Binlog_group_commit_trigger_lock_wait", Kind::Counter, Unit::Count, "Groups that were written because a transaction waited for a lock of one in the queue.", Reader::Number(|s| s.transactions.binlog_group_commit_trigger_lock_wait)),
    metric("Binlog_group_commit_trigger_timeout", Kind::Counter, Unit::Count, "Groups that were written because binlog_commit_wait_usec had passed.", Reader::Number(|s| s.transactions.binlog_group_commit_trigger_timeout)),
    metric("Binlog_group_commits", Kind::Counter, Unit::Count, "Groups of transactions that were written to the binary log with one sync.", Reader::Number(|s| s.transactions.binlog_group_commits)),
    metric("Binlog_snapshot_file", Kind::Text, Unit::None, "File of the binary log up to which the session's consistent snapshot contains it.", Reader::Text(|s| s.snapshot.0.clone())),
    metric("Binlog_snapshot_position", Kind::Gauge, Unit::Bytes, "Position in that file.", Reader::Number(|s| s.snapshot.1)),
    metric("Compression", Kind::Text, Unit::None, "Whether the packets of the session are compressed.", Reader::Text(|s| if s.is_compressed { "ON" } else { "OFF" }.to_owned())),
    metric("Connection_errors_accept", Kind::Counter, Unit::Count, "Connections that could not be accepted: too many open files, no memory.", Reader::Number(|s| s.server.counters.accept_errors.load(Relaxed))),
    metric("Connection_errors_max_connections", Kind::Counter, Unit::Count, "Connections that were refused because of max_connections.", Reader::Number(|s| s.server.counters.too_many_connections.load(Relaxed))),
    metric("Connections", Kind::Counter, Unit::Count, "Attempts to connect.", Reader::Number(|s| s.server.counters.connections.load(Relaxed))),
    metric("Innodb_buffer_pool_bytes_data", Kind::Gauge, Unit::Bytes, "Bytes of table blocks in the block cache.", Reader::Number(|s| s.storage.block_cache_bytes)),
    metric("Innodb_buffer_pool_bytes_dirty", Kind::Gauge, Unit::Bytes, "Bytes in memory that are not in table files yet: the memtables.", Reader::Number(|s| s.storage.memtable_bytes)),
    metric("Innodb_buffer_pool_pages_data", Kind::Gauge, Unit::Count, "Innodb_buffer_pool_bytes_data in pages of 16 KiB.", Reader::Number(|s| s.storage.block_cache_bytes / PAGE)),
    metric("Innodb_buffer_pool_pages_dirty", Kind::Gauge, Unit::Count, "Innodb_buffer_pool_bytes_dirty in pages of 16 KiB.", Reader::Number(|s| s.storage.memtable_bytes / PAGE)),
    metric("Innodb_buffer_pool_pages_free", Kind::Gauge, Unit::Count, "Unused part of paceline_block_cache_size in pages of 16 KiB.", Reader::Number(|s| cache_bytes(s).saturating_sub(s.storage.block_cache_bytes) / PAGE)),
    metric("Innodb_buffer_pool_pages_total", Kind::Gauge, Unit::Count, "paceline_block_cache_size in pages of 16 KiB.", Reader::Number(|s| cache_bytes(s) / PAGE)),
    metric("Innodb_buffer_pool_read_requests", Kind::Counter, Unit::Count, "Blocks of table files that statements have looked up in the block cache.", Reader::Number(|s| s.storage.blocks.cache_hits + s.storage.blocks.cache_misses)),
    metric("Innodb_buffer_pool_reads", Kind::Counter, Unit::Count, "Those of them that were not in the block cache, but read from a table file.", Reader::Number(|s| s.storage.blocks.cache_misses)),
    metric("Innodb_data_fsyncs", Kind::Counter, Unit::Count, "Syncs of the binary log, which is the only log.", Reader::Number(|s| s.transactions.sync_usec.count())),
    metric("Innodb_data_read", Kind::Counter, Unit::Bytes, "Bytes that statements have read from table files.", Reader::Number(|s| s.storage.blocks.read_bytes)),
    metric("Innodb_data_reads", Kind::Counter, Unit::Count, "Blocks that statements have read from table files.", Reader::Number(|s| s.storage.blocks.cache_misses)),
    metric("Innodb_deadlocks", Kind::Counter, Unit::Count, "Deadlocks, of which one transaction each was rolled back.", Reader::Number(|s| s.transactions.deadlocks)),
    metric("Innodb_log_write_requests", Kind::Counter, Unit::Count, "Transactions written to the binary log, which is the only log.", Reader::Number(|s| s.transactions.binlog_commits)),
    metric("Innodb_log_writes", Kind::Counter, Unit::Count, "Writes to the binary log, which is the only log: groups of transactions.", Reader::Number(|s| s.transactions.binlog_group_commits)),
    metric("Innodb_os_log_written", Kind::Counter, Unit::Bytes, "Bytes written to the binary log, which is the only log.", Reader::Number(|s| s.transactions.binlog_bytes_written)),
    metric("Innodb_pages_read", Kind::Counter, Unit::Count, "Blocks that statements have read from table files.", Reader::Number(|s| s.storage.blocks.cache_misses)),
    metric("Innodb_row_lock_current_waits", Kind::Gauge, Unit::Count, "Transactions that wait for a row lock now.", Reader::Number(|s| s.transactions.current_row_lock_waits)),
    metric("Innodb_row_lock_time", Kind::Counter, Unit::Milliseconds, "Time spent waiting for row locks.", Reader::Number(|s| s.transactions.row_lock_wait_usec.sum / 1000)),
    metric("Innodb_row_lock_time_avg", Kind::Gauge, Unit::Milliseconds, "Average duration of a wait for a row lock.", Reader::Number(|s| s.transactions.row_lock_wait_usec.mean() / 1000)),
    metric("Innodb_row_lock_time_max", Kind::Gauge, Unit::Milliseconds, "Longest wait for a row lock.", Reader::Number(|s| s.transactions.row_lock_wait_usec.max / 1000)),
    metric("Innodb_row_lock_waits", Kind::Counter, Unit::Count, "Waits for row locks.", Reader::Number(|s| s.transactions.row_lock_waits)),
    metric("Max_memory_used", Kind::Gauge, Unit::Bytes, "Most memory that the session has collected since it began or FLUSH STATUS; of the server, the most of the sessions that exist.", Reader::Number(Sample::memory_used_max)),
    metric("Max_used_connections", Kind::Gauge, Unit::Count, "Largest number of connections at the same time.", Reader::Number(|s| s.server.counters.connections_max.load(Relaxed))),
    metric("Memory_used", Kind::Gauge, Unit::Bytes, "Memory of the process, or of the session.", Reader::Number(Sample::memory_used)),
    metric("Memory_used_initial", Kind::Gauge, Unit::Bytes, "Memory of the process at its start.", Reader::Number(|s| s.server.initial_memory_bytes)),
    metric("Open_table_definitions", Kind::Gauge, Unit::Count, "Tables in the catalog, which is always in memory.", Reader::Number(|s| s.server.catalog.load().tables().count() as u64)),
    metric("Paceline_background_errors", Kind::Counter, Unit::Count, "Flushes and compactions of table files that failed.", Reader::Number(|s| s.storage.background_errors)),
    metric("Paceline_block_cache_bytes", Kind::Gauge, Unit::Bytes, "Bytes of table blocks in the block cache.", Reader::Number(|s| s.storage.block_cache_bytes)),
    metric("Paceline_block_cache_hits", Kind::Counter, Unit::Count, "Blocks that statements have found in the block cache.", Reader::Number(|s| s.storage.blocks.cache_hits)),
    metric("Paceline_block_cache_misses", Kind::Counter, Unit::Count, "Blocks that statements had to read from a table file.", Reader::Number(|s| s.storage.blocks.cache_misses)),
    metric("Paceline_checkpoints", Kind::Counter, Unit::Count, "Checkpoints: moments up to which recovery need not read the log.", Reader::Number(|s| s.transactions.checkpoints)),
    metric("Paceline_cluster_acknowledged_index", Kind::Gauge, Unit::Count, "Log index up to which the log is acknowledged, as far as this member of a cluster knows.", Reader::Number(|s| s.cluster.acknowledged)),
    metric("Paceline_cluster_copies_required", Kind::Gauge, Unit::Count, "Copies that a transaction needs in the cluster, the primary's included.", Reader::Number(|s| s.cluster.copies)),
    metric("Paceline_cluster_elections", Kind::Counter, Unit::Count, "Later epochs that this member of a cluster has promised: elections, planned switches, changes of the log holders.", Reader::Number(|s| s.cluster.epochs_promised)),
    metric("Paceline_cluster_epoch", Kind::Gauge, Unit::Count, "Epoch that this member of a cluster has promised.", Reader::Number(|s| s.cluster.epoch)),
    metric("Paceline_cluster_etcd_answers", Kind::Gauge, Unit::Switch, "Whether etcd answers this member of a cluster.", Reader::Number(|s| s.cluster.etcd_answers.into())),
    metric("Paceline_cluster_holders", Kind::Gauge, Unit::Count, "Log holders of the cluster.", Reader::Number(|s| s.cluster.holders)),
    metric("Paceline_cluster_is_primary", Kind::Gauge, Unit::Switch, "Whether this member of a cluster is the primary and accepts writes.", Reader::Number(|s| s.cluster.is_primary.into())),
    metric("Paceline_cluster_lease_usec", Kind::Gauge, Unit::Microseconds, "Rest of the time in which reads of the cluster's primary are certainly new.", Reader::Number(|s| s.cluster.lease_ms.saturating_mul(1000))),
    metric("Paceline_cluster_log_index", Kind::Gauge, Unit::Count, "Log index up to which the log of this member of a cluster is durable.", Reader::Number(|s| s.cluster.end)),
    metric("Paceline_cluster_oldest_wait_usec", Kind::Gauge, Unit::Microseconds, "Time for which the oldest of the commits that wait has waited.", Reader::Number(|s| u64::try_from(s.cluster.waiting.age.as_micros()).unwrap_or(u64::MAX))),
    metric("Paceline_cluster_waiting_commits", Kind::Gauge, Unit::Count, "Commits that are durable here and wait for acknowledgements of the cluster.", Reader::Number(|s| s.cluster.waiting.count)),
    metric("Paceline_commit_usec", Kind::Histogram, Unit::Microseconds, "Time from the queue of commits until the transaction is visible.", Reader::Histogram(|s| &s.transactions.commit_usec)),
    metric("Paceline_group_size", Kind::Histogram, Unit::Count, "Transactions in a group, which costs one sync.", Reader::Histogram(|s| &s.transactions.group_size)),
    metric("Paceline_immutable_memtables", Kind::Gauge, Unit::Count, "Memtables that wait for their flush.", Reader::Number(|s| s.storage.immutable_memtables)),
    metric("Paceline_lock_wait_timeouts", Kind::Counter, Unit::Count, "Waits for locks that ended with error 1205.", Reader::Number(|s| s.transactions.lock_wait_timeouts)),
    metric("Paceline_lock_wait_usec", Kind::Histogram, Unit::Microseconds, "Duration of waits for locks.", Reader::Histogram(|s| &s.transactions.lock_wait_usec)),
    metric("Paceline_locked_keys", Kind::Gauge, Unit::Count, "Keys that are locked now.", Reader::Number(|s| s.transactions.locked_keys)),
    metric("Paceline_memcached_auth_errors", Kind::Counter, Unit::Count, "Logins that failed at the memcached port.", Reader::Number(|s| s.server.memcached.auth_errors.load(Relaxed))),
    metric("Paceline_memcached_bytes_read", Kind::Counter, Unit::Bytes, "Bytes received at the memcached port.", Reader::Number(|s| s.server.memcached.bytes_read.load(Relaxed))),
    metric("Paceline_memcached_bytes_written", Kind::Counter, Unit::Bytes, "Bytes sent at the memcached port.", Reader::Number(|s| s.server.memcached.bytes_written.load(Relaxed))),
    metric("Paceline_memcached_connections", Kind::Gauge, Unit::Count, "Open connections of the memcached port.", Reader::Number(|s| s.server.memcached.curr_connections.load(Relaxed))),
    metric("Paceline_memcached_connections_rejected", Kind::Counter, Unit::Count, "Connections of the memcached port that were refused because of max_connections.", Reader::Number(|s| s.server.memcached.rejected_connections.load(Relaxed))),
    metric("Paceline_memcached_connections_total", Kind::Counter, Unit::Count, "Connections of the memcached port so far.", Reader::Number(|s| s.server.memcached.total_connections.load(Relaxed))),
    metric("Paceline_memcached_get_hits", Kind::Counter, Unit::Count, "Keys that requests of the memcached port have found.", Reader::Number(|s| s.server.memcached.get_hits.load(Relaxed))),
    metric("Paceline_memcached_get_misses", Kind::Counter, Unit::Count, "Keys that requests of the memcached port have not found.", Reader::Number(|s| s.server.memcached.get_misses.load(Relaxed))),
    metric("Paceline_memcached_gets", Kind::Counter, Unit::Count, "Keys that requests of the memcached port have asked for.", Reader::Number(|s| s.server.memcached.cmd_get.load(Relaxed))),
    metric("Paceline_memcached_noreply_errors", Kind::Counter, Unit::Count, "Requests of the memcached port that failed and wanted no reply.", Reader::Number(|s| s.server.memcached.noreply_errors.load(Relaxed))),
    metric("Paceline_memcached_sets", Kind::Counter, Unit::Count, "Requests of the memcached port to store a value.", Reader::Number(|s| s.server.memcached.cmd_set.load(Relaxed))),
    metric("Paceline_memcached_unsynced_lost", Kind::Counter, Unit::Count, "Values of containers with sync = 0 that were answered and could not be committed.", Reader::Number(|s| s.server.memcached.unsynced_lost.load(Relaxed))),
    metric("Paceline_memory_limit_bytes", Kind::Gauge, Unit::Bytes, "Limit of the process's memory that belongs to no file: paceline_memory_limit, or what it means by default.", Reader::Number(|s| memory_limit(&s.server.globals))),
    metric("Paceline_memory_table_bytes", Kind::Gauge, Unit::Bytes, "Bytes of MEMORY tables.", Reader::Number(|s| s.storage.memory_engine_bytes)),
    metric("Paceline_memtable_bytes", Kind::Gauge, Unit::Bytes, "Bytes in memtables.", Reader::Number(|s| s.storage.memtable_bytes)),
    metric("Paceline_metadata_lock_waits", Kind::Counter, Unit::Count, "Waits for metadata locks.", Reader::Number(|s| s.transactions.metadata_lock_waits)),
    metric("Paceline_open_transactions", Kind::Gauge, Unit::Count, "Transactions that are open now.", Reader::Number(|s| s.transactions.open_transactions)),
    metric("Paceline_pending_compaction_bytes", Kind::Gauge, Unit::Bytes, "Bytes of table files that compactions still have to write.", Reader::Number(|s| s.storage.pending_compaction_bytes)),
    metric("Paceline_pending_rows", Kind::Gauge, Unit::Count, "Rows of transactions that are committed and not in the engines yet.", Reader::Number(|s| s.transactions.pending_rows)),
    metric("Paceline_publish_usec", Kind::Histogram, Unit::Microseconds, "Time from the sync of a group until it is visible.", Reader::Histogram(|s| &s.transactions.publish_usec)),
    metric("Paceline_published_position", Kind::Text, Unit::None, "Position of the log up to which transactions are visible: number of the file and offset.", Reader::Text(|s| s.server.transactions.positions().published.to_string())),
    metric("Paceline_replica_applied_transactions", Kind::Counter, Unit::Count, "Transactions applied since the applier started.", Reader::Connection(|c| c.applier.applied_transactions)),
    metric("Paceline_replica_held_back_by", Kind::Text, Unit::None, "What delays this replica.", Reader::ConnectionReason(|c| c.held_back_by())),
    metric("Paceline_replica_lag_bytes", Kind::Gauge, Unit::Bytes, "Bytes of events that are received and not applied.", Reader::Connection(|c| c.applier.queued_bytes)),
    metric("Paceline_replica_lag_transactions", Kind::Gauge, Unit::Count, "Transactions that are received and not applied.", Reader::Connection(|c| c.applier.pending_transactions)),
    metric("Paceline_replica_mysql_gtids", Kind::Text, Unit::None, "MySQL's transactions that this replica contains.", Reader::ConnectionText(|c| c.executed.as_ref().map(ToString::to_string).unwrap_or_default())),
    metric("Paceline_replica_received_bytes", Kind::Counter, Unit::Bytes, "Bytes of events received from the primary.", Reader::Connection(|c| c.receiver.received_bytes)),
    metric("Paceline_rollbacks", Kind::Counter, Unit::Count, "Transactions that were rolled back.", Reader::Number(|s| s.transactions.rollbacks)),
    metric("Paceline_session_memory_bytes", Kind::Gauge, Unit::Bytes, "Memory of all sessions by their accounts.", Reader::Number(|s| s.server.memory.used())),
    metric("Paceline_statement_usec", Kind::Histogram, Unit::Microseconds, "Duration of statements, by their class.", Reader::Classes(statement_durations)),
    metric("Paceline_sync_usec", Kind::Histogram, Unit::Microseconds, "Duration of a sync of the binary log.", Reader::Histogram(|s| &s.transactions.sync_usec)),
    metric("Paceline_table_file_bytes", Kind::Gauge, Unit::Bytes, "Bytes of table files.", Reader::Number(|s| s.storage.table_file_bytes)),
    metric("Paceline_temporary_tables_bytes", Kind::Gauge, Unit::Bytes, "Bytes of temporary tables.", Reader::Number(|s| s.storage.temporary_bytes)),
    metric("Performance_schema_digest_lost", Kind::Counter, Unit::Count, "Executions of statements beyond performance_schema_digests_size.", Reader::Number(lost_digests)),
    metric("Prepared_stmt_count", Kind::Gauge, Unit::Count, "Prepared statements that exist now.", Reader::Number(|s| s.server.prepared_statements())),
    metric("Queries", Kind::Counter, Unit::Count, "Commands and statements executed by all sessions.", Reader::Number(|s| s.totals.questions.get())),
    metric("Rpl_semi_sync_master_clients", Kind::Gauge, Unit::Count, "Replicas that acknowledge.", Reader::Number(|s| s.semi_sync.clients)),
    metric("Rpl_semi_sync_master_get_ack", Kind::Counter, Unit::Count, "Acknowledgements received.", Reader::Number(|s| s.semi_sync.get_ack)),
    metric("Rpl_semi_sync_master_net_waits", Kind::Counter, Unit::Count, "Waits for replies of replicas.", Reader::Number(|s| s.semi_sync.net_waits)),
    metric("Rpl_semi_sync_master_no_times", Kind::Counter, Unit::Count, "Times that semi-sync was switched off by a timeout.", Reader::Number(|s| s.semi_sync.no_times)),
    metric("Rpl_semi_sync_master_no_tx", Kind::Counter, Unit::Count, "Transactions that were committed without an acknowledgement.", Reader::Number(|s| s.semi_sync.no_tx)),
    metric("Rpl_semi_sync_master_request_ack", Kind::Counter, Unit::Count, "Acknowledgements asked for.", Reader::Number(|s| s.semi_sync.request_ack)),
    metric("Rpl_semi_sync_master_status", Kind::Gauge, Unit::Switch, "Whether commits wait for acknowledgements.", Reader::Number(|s| s.semi_sync.is_on.into())),
    metric("Rpl_semi_sync_master_tx_avg_wait_time", Kind::Gauge, Unit::Microseconds, "Average wait of a transaction for its acknowledgement.", Reader::Number(|s| s.semi_sync.tx_wait_time.checked_div(s.semi_sync.tx_waits).unwrap_or(0))),
    metric("Rpl_semi_sync_master_tx_wait_time", Kind::Counter, Unit::Microseconds, "Time that transactions waited for acknowledgements.", Reader::Number(|s| s.semi_sync.tx_wait_time)),
    metric("Rpl_semi_sync_master_tx_waits", Kind::Counter, Unit::Count, "Transactions that waited for an acknowledgement.", Reader::Number(|s| s.semi_sync.tx_waits)),
    metric("Rpl_semi_sync_master_wait_sessions", Kind::Gauge, Unit::Count, "Sessions that wait for an acknowledgement now.", Reader::Number(|s| s.semi_sync.wait_sessions)),
    metric("Rpl_semi_sync_master_yes_tx", Kind::Counter, Unit::Count, "Transactions that were acknowledged before their commit.", Reader::Number(|s| s.semi_sync.yes_tx)),
    metric("Rpl_semi_sync_slave_send_ack", Kind::Counter, Unit::Count, "Acknowledgements sent to primaries.", Reader::Number(|s| s.sum_of_connections(|c| c.receiver.acknowledgements))),
    metric("Rpl_semi_sync_slave_status", Kind::Gauge, Unit::Switch, "Whether this replica acknowledges.", Reader::Number(|s| s.connections.iter().any(|c| runs(c) && c.receiver.semi_sync).into())),
    metric("Server_audit_active", Kind::Gauge, Unit::Switch, "Whether the audit log is on.", Reader::Number(|s| s.server.audit_log.is_on().into())),
    metric("Server_audit_writes_failed", Kind::Counter, Unit::Count, "Events that the audit log could not write.", Reader::Number(|s| s.server.audit_log.failures())),
    metric("Slave_heartbeat_period", Kind::Gauge, Unit::Seconds, "Interval of the primary's heartbeats.", Reader::Real(Sample::heartbeat_period)),
    metric("Slave_open_temp_tables", Kind::Gauge, Unit::Count, "Temporary tables of primaries' sessions.", Reader::Number(|s| s.server.replicated_tables.count() as u64)),
    metric("Slave_received_heartbeats", Kind::Counter, Unit::Count, "Heartbeats received from the primary.", Reader::Number(|s| s.own_connection().map_or(0, |c| c.receiver.heartbeats))),
    metric("Slave_retried_transactions", Kind::Counter, Unit::Count, "Replicated transactions that were tried again.", Reader::Number(|s| s.sum_of_connections(|c| c.applier.retried_transactions))),
    metric("Slave_running", Kind::Gauge, Unit::Switch, "Whether the receiver and the applier are running.", Reader::Number(|s| s.own_connection().is_some_and(runs).into())),
    metric("Slave_skipped_errors", Kind::Counter, Unit::Count, "Errors of replicated statements and rows that slave_skip_errors skipped.", Reader::Number(|s| s.server.sessions.replicated_statements().skipped_errors())),
    metric("Slaves_connected", Kind::Gauge, Unit::Count, "Replicas that are connected.", Reader::Number(|s| s.server.primary.replicas().list().len() as u64)),
    metric("Slaves_running", Kind::Gauge, Unit::Count, "Connections to primaries whose applier is running.", Reader::Number(|s| s.sum_of_connections(|c| c.applier_runs.into()))),
    metric("Ssl_accepts", Kind::Counter, Unit::Count, "TLS handshakes that began since the last FLUSH SSL.", Reader::Number(|s| s.tls("Ssl_accepts").parse().unwrap_or(0))),
    metric("Ssl_cipher", Kind::Text, Unit::None, "Cipher of the session.", Reader::Text(|s| s.tls("Ssl_cipher").to_owned())),
    metric("Ssl_cipher_list", Kind::Text, Unit::None, "Ciphers that the server offers.", Reader::Text(|s| s.tls("Ssl_cipher_list").to_owned())),
    metric("Ssl_finished_accepts", Kind::Counter, Unit::Count, "TLS handshakes that succeeded since the last FLUSH SSL.", Reader::Number(|s| s.tls("Ssl_finished_accepts").parse().unwrap_or(0))),
    metric("Ssl_server_not_after", Kind::Text, Unit::None, "End of the validity of the server's certificate.", Reader::Text(|s| s.tls("Ssl_server_not_after").to_owned())),
    metric("Ssl_server_not_before", Kind::Text, Unit::None, "Start of the validity of the server's certificate.", Reader::Text(|s| s.tls("Ssl_server_not_before").to_owned())),
    metric("Ssl_session_cache_mode", Kind::Text, Unit::None, "Whether TLS sessions are cached: never.", Reader::Text(|s| s.tls("Ssl_session_cache_mode").to_owned())),
    metric("Ssl_version", Kind::Text, Unit::None, "TLS version of the session.", Reader::Text(|s| s.tls("Ssl_version").to_owned())),
    metric("Syncs", Kind::Counter, Unit::Count, "Syncs of the binary log, which is the only log.", Reader::Number(|s| s.transactions.sync_usec.count())),
    metric("Threads_connected", Kind::Gauge, Unit::Count, "Sessions of clients.", Reader::Number(|s| s.server.sessions.count() as u64)),
    metric("Threads_created", Kind::Counter, Unit::Count, "Sessions that were created.", Reader::Number(|s| s.server.counters.connections.load(Relaxed))),
    metric("Threads_running", Kind::Gauge, Unit::Count, "Sessions that execute a command now.", Reader::Number(|s| s.server.sessions.running() as u64)),
    metric("Uptime", Kind::Counter, Unit::Seconds, "Time since the start of the server.", Reader::Number(uptime)),
    metric("Uptime_since_flush_status", Kind::Counter, Unit::Seconds, "Time since the start of the server.", Reader::Number(uptime)),
];

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_table_is_in_the_order_of_the_names() {
        assert!(TABLE.is_sorted_by_key(|metric| metric.statistic.name.to_ascii_lowercase()));
    }
}
