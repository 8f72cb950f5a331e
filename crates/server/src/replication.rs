//! Services of the server for connections to primaries: settings, filters, appliers.

use crate::server::Server;
use crate::session::replicated::ReplicatedSessions;
use crate::variables::{Globals, Variable};
use paceline_apply::replicated::{ExecMode, RowOptions, SkippedErrors, TypeConversions, Unfiltered};
use paceline_log_stream::source::options::{MarkedForSkip, ReplicaOptions};
use paceline_log_stream::source::password::PasswordKey;
use paceline_replication::apply::{Applier, ApplierOptions, ApplierParts, KeptPosition, ParallelMode};
use paceline_replication::environment::Environment;
use paceline_txn::TransactionManager;
use paceline_types::table_map_metadata::RowMetadata;
use paceline_types::{DomainId, ServerId};
use std::path::Path;
use std::sync::atomic::Ordering;
use std::sync::{Arc, Weak};
use std::time::Duration;

/// Returns the settings for a connection from the variables.
pub fn options(server: &Server, connection: &str) -> ReplicaOptions {
    let globals = &server.globals;
    let text = |variable: Variable| globals.get(variable).as_str().to_owned();
    let port = match globals.number(Variable::ReportPort) {
        0 => globals.number(Variable::Port),
        port => port,
    };
    ReplicaOptions {
        server_id: ServerId(globals.number(Variable::ServerId) as u32),
        domain_id: DomainId(globals.number(Variable::GtidDomainId) as u32),
        report_host: text(Variable::ReportHost),
        report_user: text(Variable::ReportUser),
        report_password: text(Variable::ReportPassword),
        report_port: u16::try_from(port).unwrap_or(0),
        net_timeout: Duration::from_secs(globals.number(Variable::SlaveNetTimeout)),
        packet_max: globals.number(Variable::SlaveMaxAllowedPacket) as usize,
        gtid_strict_mode: globals.is_on(Variable::GtidStrictMode),
        gtid_ignore_duplicates: globals.is_on(Variable::GtidIgnoreDuplicates),
        replicate_same_server_id: globals.is_on(Variable::ReplicateSameServerId),
        marked_for_skip: match globals.number(Variable::ReplicateEventsMarkedForSkip) {
            1 => MarkedForSkip::FilterOnReplica,
            2 => MarkedForSkip::FilterOnPrimary,
            _ => MarkedForSkip::Replicate,
        },
        semi_sync: globals.is_on(Variable::RplSemiSyncSlaveEnabled),
        retry_count: globals.number(Variable::MasterRetryCount),
        filters: server.replica_filters.of(connection, globals),
    }
}

/// Returns `slave_parallel_mode` as `SHOW SLAVE STATUS` shows it.
pub fn parallel_mode(server: &Server) -> String {
    let definition = Variable::SlaveParallelMode.definition();
    definition
        .show(&server.globals.get(Variable::SlaveParallelMode))
        .unwrap_or_default()
}

fn applier_options(server: &Server, position: KeptPosition) -> ApplierOptions {
    let globals = &server.globals;
    // `none` has the effect of no threads.
    let workers = match globals.number(Variable::SlaveParallelMode) {
        0 => 0,
        _ => globals.number(Variable::SlaveParallelThreads) as usize,
    };
    ApplierOptions {
        workers,
        domain_workers: globals.number(Variable::SlaveDomainParallelThreads) as usize,
        mode: match globals.number(Variable::SlaveParallelMode) {
            // `minimal` only commits in parallel, which is always done here.
            0 | 1 => ParallelMode::None,
            2 => ParallelMode::Conservative,
            _ => ParallelMode::Optimistic,
        },
        queued_bytes_max: (globals.number(Variable::SlaveParallelMaxQueued) as usize)
            .saturating_mul(workers.max(1))
            .max(1 << 20),
        position,
        rows: server.row_options.clone(),
    }
}

/// Returns the options for applying replicated rows.
pub fn replicated_row_options(globals: &Globals) -> RowOptions {
    RowOptions {
        skipped_errors: skipped_errors(globals.get(Variable::SlaveSkipErrors).as_str()),
        ..row_options(globals)
    }
}

/// Returns the value of `binlog_row_metadata`.
pub fn row_metadata(globals: &Globals) -> RowMetadata {
    match globals.number(Variable::BinlogRowMetadata) {
        1 => RowMetadata::Minimal,
        2 => RowMetadata::Full,
        _ => RowMetadata::NoLog,
    }
}

/// Returns the options for applying rows of another server, without skipping any errors.
pub fn row_options(globals: &Globals) -> RowOptions {
    RowOptions {
        exec_mode: match globals.number(Variable::SlaveExecMode) {
            1 => ExecMode::Idempotent,
            _ => ExecMode::Strict,
        },
        conversions: TypeConversions::from_bits(globals.number(Variable::SlaveTypeConversions)),
        skipped_errors: SkippedErrors::None,
        row_metadata: row_metadata(globals),
    }
}

/// Parses `OFF`, `all`, or numbers separated by commas.
fn skipped_errors(list: &str) -> SkippedErrors {
    if list.eq_ignore_ascii_case("all") {
        return SkippedErrors::All;
    }
    let codes: std::collections::BTreeSet<u16> = list
        .split(',')
        .filter_map(|code| code.trim().parse().ok())
        .collect();
    match codes.is_empty() {
        true => SkippedErrors::None,
        false => SkippedErrors::These(codes),
    }
}

/// Environment of the server's connections.
pub struct ServerEnvironment {
    server: Weak<Server>,
    transactions: Arc<TransactionManager>,
    password_key: PasswordKey,
}

impl ServerEnvironment {
    /// Creates the environment for the server on this data directory. The server may not be fully built yet.
    pub fn new(server: Weak<Server>, transactions: Arc<TransactionManager>, directory: &Path) -> Self {
        ServerEnvironment {
            server,
            transactions,
            password_key: PasswordKey::in_directory(directory),
        }
    }

    fn server(&self) -> Arc<Server> {
        self.server
            .upgrade()
            .expect("connections belong to a server that lives")
    }
}

impl Environment for ServerEnvironment {
    fn transactions(&self) -> &Arc<TransactionManager> {
        &self.transactions
    }

    fn password_key(&self) -> &PasswordKey {
        &self.password_key
    }

    fn options(&self, connection: &str) -> ReplicaOptions {
        options(&self.server(), connection)
    }

    fn new_thread_id(&self) -> u32 {
        let connections = &self.server().counters.connections;
        (connections.fetch_add(1, Ordering::Relaxed) + 1) as u32
    }

    fn start_applier(&self, connection: &Arc<str>, position: KeptPosition) -> Applier {
        let server = self.server();
        Applier::start(ApplierParts {
            connection: connection.clone(),
            manager: self.transactions.clone(),
            catalog: server.catalog.clone(),
            index_statistics: server.statistics.clone(),
            // The receiver has already applied the filters.
            filter: Arc::new(Unfiltered),
            options: applier_options(&server, position),
            statement_counts: server.sessions.replicated_statements(),
            statements: Arc::new(ReplicatedSessions::new(server, connection.clone())),
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn errors_that_are_skipped() {
        assert_eq!(skipped_errors("OFF"), SkippedErrors::None);
        assert_eq!(skipped_errors("ALL"), SkippedErrors::All);
        assert_eq!(
            skipped_errors("1062, 1032"),
            SkippedErrors::These([1032, 1062].into())
        );
    }
}
