//! What all parts of an archive share.

use crate::begin::Beginning;
use crate::follow::Follower;
use crate::keeper::Keeper;
use crate::options::{Account, ArchiveOptions, Candidates, SemiSync};
use crate::serve::registry::Sessions;
use crate::writer::Writer;
use paceline_binlog::{GtidPosition, Log};
use paceline_replication::primary::{Primary, ServedLog};
use paceline_replication::replica::definition::TlsSettings;
use paceline_txn::{LeaseRegistry, Sendable};
use paceline_types::ServerId;
use paceline_wire::tls::ServerTls;
use parking_lot::Mutex;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::{Instant, SystemTime, UNIX_EPOCH};
use tokio::sync::watch;

/// The version whose behaviour clients may expect, and what this is.
pub fn version() -> String {
    format!("10.11.19-MariaDB-paceline-archive-{}", env!("CARGO_PKG_VERSION"))
}

/// Now, in seconds since 1970.
pub fn unix_seconds() -> u32 {
    SystemTime::now()
        .duration_since(UNIX_EPOCH)
        .unwrap_or_default()
        .as_secs() as u32
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
    /// Its server id.
    pub server_id: ServerId,
    /// Where its files are.
    pub datadir: PathBuf,
    /// Who logs in.
    pub account: Account,
    /// How connections to the primaries are encrypted.
    pub source_tls: TlsSettings,
    /// What clients are offered.
    pub tls: Option<ServerTls>,
    /// Whether it acknowledges.
    pub semi_sync: SemiSync,
    /// The log.
    pub log: Log,
    /// What becomes of closed files; `None` where there are none of its own.
    pub keeper: Option<Arc<Keeper>>,
    /// Serves it.
    pub primary: Primary,
    /// Who reads which part of it.
    pub leases: LeaseRegistry,
    /// Up to where it may be sent.
    pub sendable: Arc<Sendable>,
    /// What all followers hand their groups to; `None` when the archive stops, or follows nobody.
    pub writer: Mutex<Option<Writer>>,
    /// Where a new archive begins.
    pub beginning: Beginning,
    /// The connections to primaries, in the order of the options.
    pub followers: Vec<Arc<Follower>>,
    /// The clients' sessions.
    pub sessions: Sessions,
    /// Whether it is to stop.
    pub stop: watch::Sender<bool>,
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
            server_id,
            datadir,
            account: options.account.clone(),
            source_tls: options.source_tls.clone(),
            tls: None,
            semi_sync: options.semi_sync,
            beginning: Beginning::new(log.state().is_empty(), sources.len()),
            keeper,
            primary: Primary::of_archive(served),
            leases,
            sendable,
            writer: Mutex::new(None),
            followers: sources.iter().enumerate().map(follower).collect(),
            sessions: Sessions::default(),
            stop,
            started: Instant::now(),
            log,
        }
    }

    /// Everything in the log: the last GTID of each domain.
    pub fn position(&self) -> GtidPosition {
        self.log.state().position()
    }

    /// Begins to stop.
    pub fn request_stop(&self) {
        self.stop.send_replace(true);
    }

    /// Ends when the archive is to stop.
    pub async fn stop_requested(&self) {
        let mut stop = self.stop.subscribe();
        // The sender is ours.
        let _ = stop.wait_for(|stop| *stop).await;
    }
}
