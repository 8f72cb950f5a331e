//! What everybody who fills an archive's log, or looks after its files, needs of it: the log, and what the archive is to its primaries.
//!
//! Whom it follows and whom it serves stands above it, in [`Archive`](crate::archive::Archive).

use crate::begin::Beginning;
use crate::options::{Account, SemiSync};
use crate::writer::Writer;
use paceline_binlog::{GtidPosition, Log};
use paceline_replication::replica::definition::TlsSettings;
use paceline_txn::{LeaseRegistry, Sendable};
use paceline_types::ServerId;
use parking_lot::Mutex;
use std::path::PathBuf;
use std::sync::Arc;
use tokio::sync::watch;

/// See the module's head.
pub struct ArchiveShared {
    /// Its server id.
    pub server_id: ServerId,
    /// Where its files are.
    pub datadir: PathBuf,
    /// Who logs in, here and there.
    pub account: Account,
    /// How connections to the primaries are encrypted.
    pub source_tls: TlsSettings,
    /// Whether it acknowledges.
    pub semi_sync: SemiSync,
    /// The log.
    pub log: Log,
    /// Who reads which part of it.
    pub leases: LeaseRegistry,
    /// Up to where it may be sent.
    pub sendable: Arc<Sendable>,
    /// What all followers hand their groups to; `None` when the archive stops, or follows nobody.
    pub writer: Mutex<Option<Writer>>,
    /// Where a new archive begins.
    pub beginning: Beginning,
    /// Whether it is to stop.
    pub stop: watch::Sender<bool>,
}

impl ArchiveShared {
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
