//! An archive that runs: its log, whom it follows, whom it serves.

use crate::begin::Beginning;
use crate::follow::Follower;
use crate::keeper::Keeper;
use crate::options::{ArchiveOptions, Candidates};
use crate::serve::registry::Sessions;
use crate::shared::ArchiveShared;
use paceline_binlog::Log;
use paceline_replication::primary::{Primary, ServedLog};
use paceline_txn::{LeaseRegistry, Sendable};
use paceline_types::ServerId;
use paceline_wire::tls::ServerTls;
use parking_lot::Mutex;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Instant;
use tokio::sync::watch;

/// The version whose behaviour clients may expect, and what this is.
pub fn version() -> String {
    format!("10.11.19-MariaDB-paceline-archive-{}", env!("CARGO_PKG_VERSION"))
}

/// What was opened for an archive.
pub struct Opened {
    /// Where its files are.
    pub datadir: PathBuf,
    /// Its server id.
    pub server_id: ServerId,
    /// The log.
    pub log: Log,
    /// What becomes of closed files.
    pub keeper: Option<Arc<Keeper>>,
}

/// An archive that runs.
pub struct Archive {
    /// Its log, and what fills it.
    pub shared: Arc<ArchiveShared>,
    /// What clients are offered.
    pub tls: Option<ServerTls>,
    /// What becomes of closed files; `None` where there are none of its own.
    pub keeper: Option<Arc<Keeper>>,
    /// Serves it.
    pub primary: Primary,
    /// The connections to primaries, in the order of the options.
    pub followers: Vec<Arc<Follower>>,
    /// The clients' sessions.
    pub sessions: Sessions,
    /// When it was started.
    pub started: Instant,
}

impl Archive {
    /// Puts an archive together.
    pub fn new(
        options: &ArchiveOptions,
        opened: Opened,
        sources: &[Candidates],
        stop: watch::Sender<bool>,
    ) -> Self {
        let Opened {
            datadir,
            server_id,
            log,
            keeper,
        } = opened;
        let sendable = Arc::new(Sendable::new(log.durable()));
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
        Archive {
            shared: Arc::new(ArchiveShared {
                server_id,
                datadir,
                account: options.account.clone(),
                source_tls: options.source_tls.clone(),
                semi_sync: options.semi_sync,
                beginning: Beginning::new(log.state().is_empty(), sources.len()),
                leases,
                sendable,
                writer: Mutex::new(None),
                stop,
                log,
            }),
            tls: None,
            keeper,
            primary: Primary::of_archive(served),
            followers: sources.iter().enumerate().map(follower).collect(),
            sessions: Sessions::default(),
            started: Instant::now(),
        }
    }
}
