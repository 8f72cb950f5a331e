//! The part of an archive that its followers, its writer and its retention task share: the log, and the archive's
//! identity towards its primaries.
//!
//! The followers and the clients' sessions are above it, in [`Archive`](crate::archive::Archive).

use crate::acknowledged::AcknowledgedLog;
use crate::log_start::LogStart;
use crate::options::{Account, SemiSync};
use crate::writer::Writer;
use paceline_binlog::log::LogFile;
use paceline_binlog::{GtidPosition, Log};
use paceline_log_stream::source::definition::TlsSettings;
use paceline_txn::{LeaseRegistry, SendLimit};
use paceline_types::ServerId;
use parking_lot::Mutex;
use std::path::PathBuf;
use std::sync::Arc;
use tokio::sync::watch;

/// The log of an archive, with what is needed to fill it and to look after its files.
pub struct ArchiveContext {
    /// Server id of the archive.
    pub server_id: ServerId,
    /// Directory of its files.
    pub datadir: PathBuf,
    /// Account for the primaries.
    pub account: Account,
    /// TLS of the connections to the primaries.
    pub source_tls: TlsSettings,
    /// Whether the archive acknowledges transactions (semi-sync).
    pub semi_sync: SemiSync,
    /// The log.
    pub log: Log,
    /// Ranges of the log that are being read.
    pub leases: LeaseRegistry,
    /// End of the part that may be sent to replicas.
    pub sendable: Arc<SendLimit>,
    /// Queue into which all followers put their groups; `None` while the archive stops, or if it follows no primary.
    pub writer: Mutex<Option<Writer>>,
    /// Coordinates the beginning of a new archive's log.
    pub log_start: LogStart,
    /// In a cluster: how far the log is acknowledged.
    pub acknowledged: Option<Arc<AcknowledgedLog>>,
    /// True when the archive must stop.
    pub stop: watch::Sender<bool>,
}

impl ArchiveContext {
    /// Returns the reader of a closed file, or the reason for which it must stay.
    pub fn needed_by(&self, file: &LogFile) -> Option<String> {
        let is_needed = |acknowledged: &Arc<AcknowledgedLog>| match acknowledged.is_needed(file) {
            Ok(is_needed) => is_needed,
            Err(error) => {
                tracing::warn!("'{}' is kept: {error}", file.name);
                true
            }
        };
        match self.acknowledged.as_ref().is_some_and(is_needed) {
            true => Some("a server of the cluster, which could fetch it to become the primary".to_owned()),
            false => self.leases.holder_of(file.ordinal),
        }
    }

    /// Returns the last GTID of each domain in the log.
    pub fn position(&self) -> GtidPosition {
        self.log.state().position()
    }

    /// Asks the archive to stop.
    pub fn request_stop(&self) {
        self.stop.send_replace(true);
    }

    /// Waits until the archive must stop.
    pub async fn stop_requested(&self) {
        let mut stop = self.stop.subscribe();
        // This cannot fail: `self` holds the sender.
        let _ = stop.wait_for(|stop| *stop).await;
    }
}
