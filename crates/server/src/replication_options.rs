//! Settings of connections to primaries and of their appliers, from the variables.

use crate::cluster::CONNECTION;
use crate::server::Server;
use crate::variables::Variable;
use paceline_log_stream::primary::request::GroupRecords;
use paceline_log_stream::source::options::{Compression, MarkedForSkip, ReplicaOptions};
use paceline_replication::apply::{ApplierOptions, KeptPosition, ParallelMode};
use paceline_types::{DomainId, ServerId};
use std::sync::Arc;
use std::time::Duration;

/// Returns the settings for a connection from the variables.
pub fn options(server: &Server, connection: &str) -> ReplicaOptions {
    let globals = &server.globals;
    let text = |variable: Variable| globals.get(variable).as_str().to_owned();
    let port = match globals.number(Variable::ReportPort) {
        0 => globals.number(Variable::Port),
        port => port,
    };
    let options = ReplicaOptions {
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
        group_records: GroupRecords::LeftOut,
        compression: match globals.is_on(Variable::SlaveCompressedProtocol) {
            true => Compression::IfOffered,
            false => Compression::Off,
        },
        semi_sync: globals.is_on(Variable::RplSemiSyncSlaveEnabled),
        retry_count: globals.number(Variable::MasterRetryCount),
        filters: server.replica_filters.of(connection, globals),
    };
    match (&server.cluster, connection) {
        (Some(_), CONNECTION) => member_options(options),
        _ => options,
    }
}

/// Returns the options of a member of a cluster: it gets everything, also what it has written itself when it was the
/// primary.
fn member_options(options: ReplicaOptions) -> ReplicaOptions {
    ReplicaOptions {
        gtid_strict_mode: true,
        gtid_ignore_duplicates: false,
        replicate_same_server_id: true,
        marked_for_skip: MarkedForSkip::Replicate,
        semi_sync: false,
        filters: Arc::default(),
        ..options
    }
}

/// Returns `slave_parallel_mode` as `SHOW SLAVE STATUS` shows it.
pub fn parallel_mode(server: &Server) -> String {
    let definition = Variable::SlaveParallelMode.definition();
    definition
        .show(&server.globals.get(Variable::SlaveParallelMode))
        .unwrap_or_default()
}

/// Returns the options for applying a connection's transactions.
pub fn applier_options(server: &Server, position: KeptPosition) -> ApplierOptions {
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
