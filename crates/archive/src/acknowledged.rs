//! How far a member's log is acknowledged by its cluster, and which part of it the cluster may still fetch.
//!
//! ```text
//!   writer ── durable up to (index, position) ──▶ ends that wait ◀── published up to index ── driver
//!                                                     │
//!                         replicas that are no members: up to the newest acknowledged position
//!                         retention: no file beyond it is compressed, copied or removed
//! ```
//! The cluster counts in log indexes, files and streams in positions. Each durable end is remembered with both until
//! it is acknowledged. The rest may be cut off, so no replica outside of the cluster gets it, and no
//! file that holds any of it takes a form that cannot be cut.
//!
//! A file may be removed for good when every server that could become the primary has all of it: such a server fetches
//! from the newest log what it lacks, and that may be this one.

use paceline_binlog::Log;
use paceline_binlog::log::{LogEnd, LogFile};
use paceline_cluster_host::ClusterHandle;
use paceline_txn::SendLimit;
use paceline_types::{LogIndex, LogPosition};
use parking_lot::Mutex;
use std::collections::VecDeque;
use std::sync::{Arc, OnceLock};

/// Maximum number of ends that are remembered. Beyond it they are coarser.
const WAITING_MAX: usize = 4096;

/// The running member, once it has been started.
pub type MemberHandle = Arc<OnceLock<ClusterHandle>>;

/// A member's log, as the cluster sees it.
pub struct AcknowledgedLog {
    log: Log,
    handle: MemberHandle,
    ends: Mutex<Ends>,
    /// How far the log is acknowledged, for replicas that are no members.
    limit: Arc<SendLimit>,
}

#[derive(Default)]
struct Ends {
    published: LogIndex,
    waiting: VecDeque<(LogIndex, LogPosition)>,
    acknowledged: LogPosition,
}

impl Ends {
    fn add(&mut self, end: &LogEnd) {
        match self.waiting.back_mut() {
            // The log goes on in another file, for example.
            Some((index, position)) if *index == end.index => *position = end.position,
            Some((index, _)) if *index > end.index => return,
            _ => {
                if self.waiting.len() == WAITING_MAX {
                    self.waiting.pop_back();
                }
                self.waiting.push_back((end.index, end.position));
            }
        }
        self.advance();
    }

    fn publish(&mut self, index: LogIndex) {
        self.published = self.published.max(index);
        self.advance();
    }

    fn advance(&mut self) {
        while let Some((index, position)) = self.waiting.front().copied()
            && index <= self.published
        {
            self.waiting.pop_front();
            self.acknowledged = self.acknowledged.max(position);
        }
    }
}

impl AcknowledgedLog {
    /// Creates it for a log of which nothing is known to be acknowledged.
    pub fn new(log: Log, handle: MemberHandle) -> Arc<Self> {
        Arc::new(AcknowledgedLog {
            log,
            handle,
            ends: Mutex::default(),
            limit: Arc::new(SendLimit::new(LogPosition::ZERO)),
        })
    }

    /// Returns the running member, once it has been started.
    pub fn handle(&self) -> Option<&ClusterHandle> {
        self.handle.get()
    }

    /// Returns how far the log may be sent to replicas that are no members.
    pub fn limit(&self) -> Arc<SendLimit> {
        self.limit.clone()
    }

    /// Remembers the durable end of the log. It must be remembered before the cluster is told of it.
    pub fn remember_end(&self) {
        let end = self.log.durable_end();
        self.change(|ends| ends.add(&end));
    }

    /// Records that the cluster has acknowledged everything up to `index`.
    pub fn publish(&self, index: LogIndex) {
        self.change(|ends| ends.publish(index));
    }

    fn change(&self, change: impl FnOnce(&mut Ends)) {
        let acknowledged = {
            let mut ends = self.ends.lock();
            change(&mut ends);
            ends.acknowledged
        };
        self.limit.advance(acknowledged);
    }

    /// Returns whether all of a closed file is acknowledged.
    pub fn has_acknowledged(&self, file: &LogFile) -> bool {
        // The end may have moved to another file without a transaction.
        self.remember_end();
        self.ends.lock().acknowledged.ordinal() > file.ordinal
    }

    /// Returns whether a server of the cluster may still have to fetch a part of a closed file.
    ///
    /// # Errors
    /// If the next file's head cannot be read.
    pub fn is_needed(&self, file: &LogFile) -> paceline_binlog::Result<bool> {
        let files = self.log.files();
        let Some(next) = files.iter().find(|other| other.ordinal > file.ordinal) else {
            return Ok(true);
        };
        let end = self.log.state_at(self.log.position_of(&next.name, 4)?)?;
        let needed = self.handle().map(|handle| handle.status().needed);
        Ok(end.log_index() > needed.unwrap_or_default())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn end(index: u64, ordinal: u32, offset: u64) -> LogEnd {
        LogEnd {
            position: LogPosition::new(ordinal, offset),
            index: LogIndex(index),
            epochs: Default::default(),
        }
    }

    #[test]
    fn an_end_is_acknowledged_when_all_before_it_is() {
        let mut ends = Ends::default();
        ends.add(&end(10, 1, 100));
        ends.add(&end(12, 1, 200));
        ends.publish(LogIndex(11));
        assert_eq!(ends.acknowledged, LogPosition::new(1, 100));
        // Another file, without a transaction.
        ends.add(&end(12, 2, 4));
        ends.publish(LogIndex(12));
        assert_eq!(ends.acknowledged, LogPosition::new(2, 4));
        ends.add(&end(12, 3, 4));
        assert_eq!(ends.acknowledged, LogPosition::new(3, 4));
    }

    #[test]
    fn too_many_ends_become_coarser_and_never_too_high() {
        let mut ends = Ends::default();
        for index in 1..=2 * WAITING_MAX as u64 {
            ends.add(&end(index, 1, index));
        }
        assert_eq!(ends.waiting.len(), WAITING_MAX);
        ends.publish(LogIndex(WAITING_MAX as u64 + 5));
        assert_eq!(ends.acknowledged, LogPosition::new(1, WAITING_MAX as u64 - 1));
        ends.publish(LogIndex(2 * WAITING_MAX as u64));
        assert_eq!(ends.acknowledged, LogPosition::new(1, 2 * WAITING_MAX as u64));
    }
}
