//! What a connection's parts share.

use super::apply::{Applier, ApplierStatus};
use super::duplicates::DomainOwners;
use super::environment::Environment;
use super::status::SharedStatus;
use super::until::Until;
use paceline_binlog::{RecordScope, ReplicaRecord};
use parking_lot::Mutex;
use std::sync::Arc;
use std::sync::atomic::AtomicU64;
use tokio::sync::watch;

/// What a connection and its receiver share.
pub(super) struct ConnectionShared {
    pub name: Arc<str>,
    pub environment: Arc<dyn Environment>,
    pub status: SharedStatus,
    pub applier: ApplierSlot,
    /// START SLAVE UNTIL.
    pub until: Mutex<Option<Until>>,
    /// `sql_slave_skip_counter`: events still to be passed over.
    pub skip_events: AtomicU64,
    /// `gtid_ignore_duplicates`: which connection brings which domain.
    pub owners: Arc<DomainOwners>,
}

impl ConnectionShared {
    /// Notes where a connection by GTID stands in its primary's log, so that it can go on by file and position if somebody wants that, and START SLAVE UNTIL
    /// a place can tell whether it was reached.
    pub fn record_place(&self, status: &ApplierStatus) {
        let Some(place) = &status.position else { return };
        let transactions = self.environment.transactions();
        if transactions.source_position(&self.name).as_ref() == Some(place) {
            return;
        }
        let record = ReplicaRecord::of_source(RecordScope::Alone, self.name.clone(), Some(place.clone()));
        if let Err(error) = transactions.move_replica_position(&record) {
            tracing::warn!(
                "connection '{}': its place could not be noted: {error}",
                self.name
            );
        }
    }
}

/// A connection's applier, where it has one, and the last words of the one before.
#[derive(Default)]
pub(super) struct ApplierSlot {
    applier: watch::Sender<Option<Arc<Applier>>>,
    last: Mutex<ApplierStatus>,
}

impl ApplierSlot {
    /// The applier.
    pub fn get(&self) -> Option<Arc<Applier>> {
        self.applier.borrow().clone()
    }

    /// Tells of each change.
    pub fn subscribe(&self) -> watch::Receiver<Option<Arc<Applier>>> {
        self.applier.subscribe()
    }

    /// A new applier has been started.
    pub fn set(&self, applier: Applier) {
        self.applier.send_replace(Some(Arc::new(applier)));
    }

    /// Stops the applier and waits until it has ended. What it says then.
    pub async fn stop(&self) -> Option<ApplierStatus> {
        let applier = self.applier.send_replace(None)?;
        applier.stop().await;
        let status = applier.status();
        *self.last.lock() = status.clone();
        Some(status)
    }

    /// The applier ends without anybody waiting for it: START SLAVE UNTIL has been reached, and everything is applied.
    pub fn end(&self) {
        if let Some(applier) = self.applier.send_replace(None) {
            *self.last.lock() = applier.status();
        }
    }

    /// What the applier says, or the one before has said last.
    pub fn status(&self) -> ApplierStatus {
        match self.get() {
            Some(applier) => applier.status(),
            None => self.last.lock().clone(),
        }
    }

    /// Forgets the last words.
    pub fn take_last(&self) -> ApplierStatus {
        std::mem::take(&mut *self.last.lock())
    }
}
