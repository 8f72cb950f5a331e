//! State shared by the parts of a connection.

use super::apply::{Applier, ApplierStatus};
use super::duplicates::DomainOwners;
use super::environment::Environment;
use super::obstacle::Looks;
use super::skip_counter::SkipCounter;
use super::status::SharedStatus;
use super::until::Until;
use paceline_binlog::{RecordScope, ReplicaRecord};
use parking_lot::Mutex;
use std::sync::Arc;
use std::sync::atomic::AtomicBool;
use tokio::sync::watch;

/// State shared by a connection and its receiver.
pub(super) struct ConnectionShared {
    pub name: Arc<str>,
    pub environment: Arc<dyn Environment>,
    pub status: SharedStatus,
    pub applier: ApplierSlot,
    /// Condition of START SLAVE UNTIL.
    pub until: Mutex<Option<Until>>,
    /// `sql_slave_skip_counter`.
    pub skip_counter: SkipCounter,
    /// `gtid_ignore_duplicates`: owners of the domains.
    pub owners: Arc<DomainOwners>,
    /// Events arrive late, as of the latest look.
    pub receives_late: AtomicBool,
    /// Latest looks for the cause of the replica's delay.
    pub looks: Mutex<Looks>,
}

impl ConnectionShared {
    /// Records the position in the primary's log for a connection by GTID. It can then continue by file and position,
    /// and START SLAVE UNTIL with a position can tell whether it was reached.
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

/// A connection's applier, if it has one, and the final status of the previous applier.
#[derive(Default)]
pub(super) struct ApplierSlot {
    applier: watch::Sender<Option<Arc<Applier>>>,
    last: Mutex<ApplierStatus>,
}

impl ApplierSlot {
    /// Returns the applier.
    pub fn get(&self) -> Option<Arc<Applier>> {
        self.applier.borrow().clone()
    }

    /// Returns a receiver that is notified of each change.
    pub fn subscribe(&self) -> watch::Receiver<Option<Arc<Applier>>> {
        self.applier.subscribe()
    }

    /// Sets a new applier.
    pub fn set(&self, applier: Applier) {
        self.applier.send_replace(Some(Arc::new(applier)));
    }

    /// Stops the applier, waits until it has ended, and returns its final status.
    pub async fn stop(&self) -> Option<ApplierStatus> {
        let applier = self.applier.send_replace(None)?;
        applier.stop().await;
        let status = applier.status();
        *self.last.lock() = status.clone();
        Some(status)
    }

    /// Removes the applier without waiting for its end: START SLAVE UNTIL has been reached, and everything is applied.
    pub fn end(&self) {
        if let Some(applier) = self.applier.send_replace(None) {
            *self.last.lock() = applier.status();
        }
    }

    /// Returns the applier's status, or the final status of the previous one.
    pub fn status(&self) -> ApplierStatus {
        match self.get() {
            Some(applier) => applier.status(),
            None => self.last.lock().clone(),
        }
    }

    /// Removes and returns the final status of the previous applier.
    pub fn take_last(&self) -> ApplierStatus {
        std::mem::take(&mut *self.last.lock())
    }
}
