//! A synchronous replication outside of the server: the example of how a consumer of the commit order is written.
//!
//! ```text
//!   commit ─▶ written, synced ─▶ Acknowledger::on_durable(extent) ─▶ "acknowledged up to where the copy is"
//!                                        │ then sendable
//!                                        ▼
//!                 Copier: sendable_past ─▶ Log::reader ─▶ events ─▶ copy, synced ─▶ TransactionManager::acknowledge
//!                                                                                        │
//!   client's reply ◀── engines, published ◀──────────────────────────────────────────────┘
//! ```
//! A commit returns when its events are in the copy. The copy here is a vector in memory that a test can hold back. A
//! real one would be a file of another machine; the protocol is the same:
//!
//! 1. [`Acknowledger::on_durable`] is called by the leader of a group, in log order. It must not block and must not
//!    call the manager. It returns what is acknowledged now, which may be nothing new.
//! 2. Afterwards the part is sendable, so an acknowledgement cannot arrive before the wait for it has begun.
//! 3. The consumer reads events in log order, whatever it does with them: this is the event stream.
//! 4. [`TransactionManager::acknowledge`] may be called from any thread, late, twice or out of order: lower positions
//!    have no effect. What it covers is applied to the engines and published, in log order.
//! 5. Until then nothing of it is visible, and the commit waits; other sessions go on writing and syncing. After a
//!    crash the unacknowledged tail is in the log. Recovery publishes it, unless the owner of the log cuts it first.
#![forbid(unsafe_code)]

#[cfg(test)]
mod tests;

use std::sync::Arc;

use paceline_binlog::Result;
use paceline_txn::{Acknowledger, DurableExtent, TransactionManager};
use paceline_types::LogPosition;
use parking_lot::{Condvar, Mutex};

/// A copy of a log, and how far it is.
#[derive(Default)]
pub struct LogCopy {
    state: Mutex<CopyState>,
    released: Condvar,
}

#[derive(Default)]
struct CopyState {
    events: Vec<Vec<u8>>,
    end: LogPosition,
    is_held_back: bool,
}

impl LogCopy {
    /// Creates an empty copy of what follows `start`.
    pub fn new(start: LogPosition) -> Arc<Self> {
        let copy = LogCopy::default();
        copy.state.lock().end = start;
        Arc::new(copy)
    }

    /// Returns the position up to which the log is in the copy.
    pub fn end(&self) -> LogPosition {
        self.state.lock().end
    }

    /// Returns the number of events in the copy.
    pub fn events(&self) -> usize {
        self.state.lock().events.len()
    }

    /// Keeps the copy from growing, as a network that is down would.
    pub fn hold_back(&self) {
        self.state.lock().is_held_back = true;
    }

    /// Lets the copy grow again.
    pub fn release(&self) {
        self.state.lock().is_held_back = false;
        self.released.notify_all();
    }

    /// Adds an event.
    fn add(&self, event: &[u8], end: LogPosition) {
        let mut state = self.state.lock();
        while state.is_held_back {
            self.released.wait(&mut state);
        }
        state.events.push(event.to_vec());
        state.end = end;
    }
}

/// Acknowledges what is in the copy.
pub struct CopyAcknowledger(pub Arc<LogCopy>);

impl Acknowledger for CopyAcknowledger {
    fn on_durable(&self, made: DurableExtent) -> LogPosition {
        self.0.end().min(made.durable)
    }

    /// The copy is read from the synced part of the log.
    fn waits_for_sync(&self) -> bool {
        true
    }
}

/// Copies the log as long as the task lives, and acknowledges what it has copied. A copy that is held back blocks its
/// thread.
///
/// # Errors
/// If the log cannot be read.
pub async fn copy_log(manager: &TransactionManager, copy: &LogCopy) -> Result<()> {
    let mut reader = manager.log().reader(copy.end(), copy.end())?;
    loop {
        manager.sendable_past(copy.end()).await;
        reader.set_limit(manager.sendable());
        while let Some(logged) = reader.next_event()? {
            copy.add(logged.event.bytes(), logged.end);
        }
        // Once for all that were read together: publishing a group costs more than copying it.
        manager.acknowledge(copy.end());
    }
}
