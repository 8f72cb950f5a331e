//! Sets that are answered before they are committed: those of containers with `sync` 0.
//!
//! ```text
//!   set ─▶ INSERT … ON DUPLICATE KEY UPDATE in an open transaction ─▶ STORED
//!            … more sets …
//!   COMMIT: after SETS_MAX sets, BYTES_MAX bytes or TIME_MAX, before any other request, at the connection's end
//! ```
//! Each is executed before it is answered, so that a value which its column cannot have is refused, and a server that
//! is no primary refuses it too. What can be lost is a batch: with a crash, with KILL, or if COMMIT fails.
//!
//! The transaction holds the locks of its keys for [`TIME_MAX`] and a commit at most. If it loses a deadlock or meets a
//! newer version of a row, its sets, which are kept for this, are executed again.
//!
//! Rejected:
//! - *Commits whose end nobody waits for*, several in a row of one session: a session's locks and its fate in a
//!   deadlock belong to one transaction at a time.
//! - *A log that is not synced for such a transaction*: in a log of synced groups a group is complete because the one
//!   before it is, which recovery relies on.
//! - *Sets that are only received* and executed later: errors of values would have no reply.

use super::container::Container;
use paceline_types::Value;
use std::sync::Arc;
use std::time::{Duration, Instant};

/// Maximum number of sets of a batch.
const SETS_MAX: usize = 256;
/// Number of bytes of values at which a batch is committed.
const BYTES_MAX: usize = 1 << 20;
/// Time after the first set at which a batch is committed.
const TIME_MAX: Duration = Duration::from_millis(10);

/// A set, as it can be executed again.
pub struct KeptSet {
    pub container: Arc<Container>,
    /// Key and columns.
    pub parameters: Vec<Value>,
}

/// Sets of the open transaction.
#[derive(Default)]
pub struct OpenBatch {
    sets: Vec<KeptSet>,
    bytes: usize,
    /// Time of its first set.
    begun: Option<Instant>,
}

impl OpenBatch {
    /// Returns the time at which it is to be committed; `None` without sets.
    pub fn deadline(&self) -> Option<Instant> {
        self.begun.map(|begun| begun + TIME_MAX)
    }

    /// Returns whether it is to be committed now.
    pub fn is_full(&self) -> bool {
        let is_late = self.begun.is_some_and(|begun| begun.elapsed() >= TIME_MAX);
        is_late || self.sets.len() >= SETS_MAX || self.bytes >= BYTES_MAX
    }

    /// Adds a set that has been executed.
    pub fn add(&mut self, set: KeptSet, bytes: usize) {
        self.begun.get_or_insert_with(Instant::now);
        self.bytes += bytes;
        self.sets.push(set);
    }

    /// Returns the sets in their order.
    pub fn sets(&self) -> &[KeptSet] {
        &self.sets
    }
}
