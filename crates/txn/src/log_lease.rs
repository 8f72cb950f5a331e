//! Leases on parts of the log, held by connected readers and backups. Leased parts are not purged, and `PURGE`
//! reports the holder.

use paceline_types::LogPosition;
use parking_lot::Mutex;
use std::collections::HashMap;
use std::sync::Arc;

struct Lease {
    position: LogPosition,
    holder: String,
}

#[derive(Default)]
struct State {
    leases: HashMap<u64, Lease>,
    next: u64,
}

/// All leases on a log.
#[derive(Clone, Default)]
pub struct LeaseRegistry {
    state: Arc<Mutex<State>>,
}

/// Lease on the log from a position on; dropping it gives it back. A dead replica has none, and does not fill
/// the disk.
pub struct LogLease {
    registry: LeaseRegistry,
    id: u64,
}

impl LeaseRegistry {
    /// Keeps the log from `position` on until the lease is dropped. `holder` is reported to a `PURGE` that
    /// needs to know.
    pub fn take(&self, position: LogPosition, holder: String) -> LogLease {
        let mut state = self.state.lock();
        let id = state.next;
        state.next += 1;
        state.leases.insert(id, Lease { position, holder });
        LogLease {
            registry: self.clone(),
            id,
        }
    }

    /// Returns a holder that needs the file with this ordinal, or an earlier one.
    pub fn holder_of(&self, ordinal: u32) -> Option<String> {
        let state = self.state.lock();
        state
            .leases
            .values()
            .find(|lease| lease.position.ordinal() <= ordinal)
            .map(|lease| lease.holder.clone())
    }
}

impl LogLease {
    /// Gives up the part of the log before `position`. A lower position has no effect.
    pub fn advance(&self, position: LogPosition) {
        if let Some(lease) = self.registry.state.lock().leases.get_mut(&self.id) {
            lease.position = lease.position.max(position);
        }
    }
}

impl Drop for LogLease {
    fn drop(&mut self) {
        self.registry.state.lock().leases.remove(&self.id);
    }
}
