//! Memory of one session, by purpose (`MEMORY_USED`).
//!
//! A session's account knows what the session collects. The rest is known without one: an idle connection always needs
//! about the same, a row lock has a size, and a transaction notes the memory of its changes. Temporary tables and the
//! buffers of long packets are counted for the server only.

use super::Purpose;
use paceline_txn::{ROW_LOCK_BYTES, TransactionProgress};

/// Memory of an idle connection in bytes: the task with the session in it, the values of its variables, what is touched
/// of its buffers. Measured with a thousand of them.
pub const CONNECTION_BYTES: u64 = 34 << 10;

/// Memory of a session.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct SessionUse {
    /// The connection itself.
    pub connection: u64,
    /// Data that it has collected.
    pub collected: u64,
    /// Its row locks.
    pub row_locks: u64,
    /// Changes of its transaction.
    pub changes: u64,
}

impl SessionUse {
    /// Returns the memory of a session that has collected so many bytes.
    pub fn of(collected: u64, transaction: Option<TransactionProgress>) -> Self {
        SessionUse {
            connection: CONNECTION_BYTES,
            collected,
            row_locks: transaction.map_or(0, |progress| progress.locks.saturating_mul(ROW_LOCK_BYTES)),
            changes: transaction.map_or(0, |progress| progress.change_bytes),
        }
    }

    /// Returns its memory for each purpose.
    pub fn by_purpose(&self) -> [(Purpose, u64); 4] {
        [
            (Purpose::Connections, self.connection),
            (Purpose::SessionData, self.collected),
            (Purpose::RowLocks, self.row_locks),
            (Purpose::TransactionChanges, self.changes),
        ]
    }

    /// Returns the whole.
    pub fn total(&self) -> u64 {
        self.by_purpose().iter().map(|(_, bytes)| bytes).sum()
    }
}
