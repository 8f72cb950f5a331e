//! The running archive: its log, the connections to its primaries, and its clients.

use crate::acknowledged::AcknowledgedLog;
use crate::clients::Sessions;
use crate::context::ArchiveContext;
use crate::follow::Follower;
use crate::log_start::LogStart;
use crate::member::LogMember;
use crate::options::{Account, ArchiveOptions, Candidates};
use crate::retention::RetentionTask;
use paceline_binlog::Log;
use paceline_log_stream::primary::{Primary, ServedLog};
use paceline_txn::{LeaseRegistry, SendLimit};
use paceline_types::ServerId;
use paceline_wire::tls::ServerTls;
use parking_lot::Mutex;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Instant;
use tokio::sync::watch;

/// Returns the server version: the MariaDB version whose behaviour clients may expect, and the version of this program.
pub fn version() -> String {
    format!(
        "10.11.19-MariaDB-paceline-archive-{}",
        paceline_program_version::number()
    )
}

/// An archive after startup: its opened log and settings.
pub struct OpenedLog {
    /// Directory of its files.
    pub datadir: PathBuf,
    /// Server id of the archive.
    pub server_id: ServerId,
    /// The log.
    pub log: Log,
    /// Compresses, copies and removes closed files; `None` if the files belong to another server.
    pub retention: Option<Arc<RetentionTask>>,
}

/// A running archive.
pub struct Archive {
    /// The log, and what the followers and the retention task share.
    pub context: Arc<ArchiveContext>,
    /// Accounts of clients.
    pub clients: Vec<Account>,
    /// TLS for clients; `None` without TLS.
    pub tls: Option<ServerTls>,
    /// Compresses, copies and removes closed files; `None` if the files belong to another server.
    pub retention: Option<Arc<RetentionTask>>,
    /// Streams the log to replicas.
    pub primary: Primary,
    /// Connections to primaries, in the order of the options.
    pub followers: Vec<Arc<Follower>>,
    /// In a cluster: this archive as a member.
    pub member: Option<Arc<LogMember>>,
    /// Whether this is a server that will open its tables: its clients are told that it is not ready.
    pub is_closed_server: bool,
    /// Sessions of clients.
    pub sessions: Sessions,
    /// Time of the start.
    pub started: Instant,
}

impl Archive {
    /// Builds an archive from what was opened. `sources` are the logs to follow; `acknowledged` is the cluster's view
    /// of the log.
    pub fn new(
        options: &ArchiveOptions,
        opened: OpenedLog,
        sources: &[Candidates],
        stop: watch::Sender<bool>,
        acknowledged: Option<Arc<AcknowledgedLog>>,
    ) -> Self {
        let OpenedLog {
            datadir,
            server_id,
            log,
            retention,
        } = opened;
        let sendable = Arc::new(SendLimit::new(log.durable()));
        let leases = LeaseRegistry::default();
        let served = ServedLog {
            log: log.clone(),
            sendable: sendable.clone(),
            leases: leases.clone(),
        };
        let several = sources.len() > 1;
        let follower = |(number, candidates): (usize, &_)| {
            let name = match several {
                true => (number + 1).to_string(),
                false => String::new(),
            };
            Arc::new(Follower::new(name, Clone::clone(candidates)))
        };
        let primary = Primary::of_archive(served);
        if let Some(acknowledged) = &acknowledged {
            primary.limit_outsiders(acknowledged.limit());
        }
        Archive {
            clients: options.clients.clone(),
            context: Arc::new(ArchiveContext {
                server_id,
                datadir,
                account: options.account.clone(),
                source_tls: options.source_tls.clone(),
                semi_sync: options.semi_sync,
                log_start: match log.state().is_empty() {
                    true => LogStart::awaited(sources.len()),
                    false => LogStart::passed(),
                },
                leases,
                sendable,
                acknowledged,
                writer: Mutex::new(None),
                stop,
                log,
            }),
            tls: None,
            retention,
            primary,
            followers: sources.iter().enumerate().map(follower).collect(),
            member: None,
            is_closed_server: false,
            sessions: Sessions::default(),
            started: Instant::now(),
        }
    }
}
