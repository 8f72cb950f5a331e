//! The part of the log that is durable here and not acknowledged by the cluster.
//!
//! ```text
//!   commit leader ── durable up to (index, position) ──▶ waiting groups ◀── published up to index ── driver
//!                                                             │
//!                                 TransactionManager::acknowledge(position), in a thread of its own
//! ```
//! The commit pipeline counts in positions of this server's files, the cluster in log indexes. Each durable extent is
//! remembered with both until it is acknowledged. Publication applies rows to the tables and wakes sessions, so it has
//! a thread: the driver has to send pulses.

use super::log_history::LogHistory;
use paceline_cluster_host::LogProgress;
use paceline_cluster_host::report::Lag;
use paceline_txn::{Acknowledger, DurableExtent, SendLimit, TransactionManager};
use paceline_types::{LogIndex, LogPosition};
use parking_lot::{Condvar, Mutex};
use std::collections::VecDeque;
use std::fmt;
use std::sync::{Arc, Weak};
use std::time::{Duration, Instant};

/// Durable part of the log that waits for the cluster's acknowledgement.
pub struct HeldLog {
    state: Mutex<State>,
    /// Something can be acknowledged.
    changed: Condvar,
    /// How far the log is acknowledged, for readers that are no members.
    limit: Arc<SendLimit>,
}

/// Durable extent that is not acknowledged.
#[derive(Clone, Copy)]
struct WaitingExtent {
    index: LogIndex,
    position: LogPosition,
    /// When it became durable here.
    since: Instant,
    /// Transactions of clients in it.
    transactions: u64,
}

/// Transactions of clients that wait for acknowledgements.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct WaitingCommits {
    /// Their number.
    pub count: u64,
    /// Time since the oldest became durable here.
    pub age: Duration,
}

struct State {
    /// The cluster has acknowledged everything up to here.
    published: LogIndex,
    /// Durable extents that are not acknowledged, in order.
    waiting: VecDeque<WaitingExtent>,
    /// Growth of the durable log.
    history: LogHistory,
    /// Position up to which this server's log is acknowledged.
    acknowledged: LogPosition,
    /// Position that the thread has passed on.
    passed_on: LogPosition,
    /// Where more of the durable log is reported.
    progress: Option<LogProgress>,
}

impl State {
    /// Takes the extents that are acknowledged.
    fn advance(&mut self) {
        while let Some(extent) = self.waiting.front().copied()
            && extent.index <= self.published
        {
            self.waiting.pop_front();
            self.acknowledged = self.acknowledged.max(extent.position);
        }
    }
}

impl HeldLog {
    /// Creates it for a log that is acknowledged up to its end.
    pub fn new(published: LogIndex, end: LogPosition) -> Arc<Self> {
        Arc::new(HeldLog {
            state: Mutex::new(State {
                published,
                waiting: VecDeque::new(),
                history: LogHistory::new(published, end),
                acknowledged: end,
                passed_on: end,
                progress: None,
            }),
            changed: Condvar::new(),
            limit: Arc::new(SendLimit::new(end)),
        })
    }

    /// Returns how far the log is acknowledged, for readers that are no members.
    pub fn limit(&self) -> Arc<SendLimit> {
        self.limit.clone()
    }

    /// Sets where more of the durable log is reported.
    pub fn report_to(&self, progress: Option<LogProgress>) {
        self.state.lock().progress = progress;
    }

    /// Records that the cluster has acknowledged everything up to `index`.
    pub fn publish(&self, index: LogIndex) {
        let mut state = self.state.lock();
        state.published = state.published.max(index);
        state.advance();
        if state.acknowledged > state.passed_on {
            self.changed.notify_one();
        }
    }

    /// Returns the position up to which this server's log is acknowledged.
    pub fn acknowledged(&self) -> LogPosition {
        self.state.lock().acknowledged
    }

    /// Returns the transactions of clients that wait.
    pub fn waiting(&self) -> WaitingCommits {
        let state = self.state.lock();
        let mut own = state.waiting.iter().filter(|extent| extent.transactions > 0);
        let count = own.clone().map(|extent| extent.transactions).sum();
        WaitingCommits {
            count,
            age: own.next().map_or(Duration::ZERO, |extent| extent.since.elapsed()),
        }
    }

    /// Returns the distance of logs that end at these indexes from this one.
    pub fn lags(&self, ends: &[LogIndex]) -> Vec<Option<Lag>> {
        let now = Instant::now();
        let state = self.state.lock();
        let lags = ends.iter().map(|end| Some(state.history.lag(*end, now)));
        lags.collect()
    }

    /// Starts the thread that passes acknowledged positions on, until the process ends.
    ///
    /// # Errors
    /// A message, if there is no thread to be had.
    pub fn pass_on(self: &Arc<Self>, transactions: Weak<TransactionManager>) -> Result<(), String> {
        let held = Arc::clone(self);
        let run = move || {
            let mut state = held.state.lock();
            loop {
                if state.acknowledged <= state.passed_on {
                    held.changed.wait(&mut state);
                    continue;
                }
                state.passed_on = state.acknowledged;
                let position = state.acknowledged;
                parking_lot::MutexGuard::unlocked(&mut state, || {
                    if let Some(transactions) = transactions.upgrade() {
                        transactions.acknowledge(position);
                    }
                    held.limit.advance(position);
                });
            }
        };
        let thread = std::thread::Builder::new().name("cluster-publish".into());
        thread
            .spawn(run)
            .map(drop)
            .map_err(|error| format!("cannot start a thread: {error}"))
    }
}

impl fmt::Debug for HeldLog {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("HeldLog").finish_non_exhaustive()
    }
}

/// The commit pipeline's acknowledger in a cluster.
pub struct ClusterAcknowledger(pub Arc<HeldLog>);

impl Acknowledger for ClusterAcknowledger {
    fn on_durable(&self, made: DurableExtent) -> LogPosition {
        let mut state = self.0.state.lock();
        let since = Instant::now();
        state.history.add(made.end_index, made.durable, since);
        state.waiting.push_back(WaitingExtent {
            index: made.end_index,
            position: made.durable,
            since,
            transactions: made.transactions,
        });
        state.advance();
        if let Some(progress) = &state.progress {
            progress.report();
        }
        if state.acknowledged > state.passed_on {
            self.0.changed.notify_one();
        }
        state.acknowledged
    }

    fn waits_for_sync(&self) -> bool {
        true
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn extent(index: u64, offset: u64) -> DurableExtent {
        DurableExtent {
            durable: LogPosition::new(1, offset),
            end_index: LogIndex(index),
            replicated: None,
            own: None,
            transactions: 1,
        }
    }

    #[test]
    fn an_extent_is_acknowledged_when_all_of_it_is() {
        let held = HeldLog::new(LogIndex(10), LogPosition::new(1, 50));
        let acknowledger = ClusterAcknowledger(Arc::clone(&held));
        // A rotation adds nothing that others could acknowledge.
        assert_eq!(acknowledger.on_durable(extent(10, 100)), LogPosition::new(1, 100));
        assert_eq!(acknowledger.on_durable(extent(13, 200)), LogPosition::new(1, 100));
        assert_eq!(acknowledger.on_durable(extent(14, 300)), LogPosition::new(1, 100));
        held.publish(LogIndex(12));
        assert_eq!(held.waiting().count, 2);
        held.publish(LogIndex(13));
        assert_eq!(held.waiting().count, 1);
        assert_eq!(acknowledger.on_durable(extent(15, 400)), LogPosition::new(1, 200));
        held.publish(LogIndex(99));
        assert_eq!(acknowledger.on_durable(extent(16, 500)), LogPosition::new(1, 500));
    }

    #[test]
    fn each_extent_is_reported() {
        let held = HeldLog::new(LogIndex(0), LogPosition::ZERO);
        let (progress, reported) = LogProgress::unconnected();
        held.report_to(Some(progress));
        ClusterAcknowledger(Arc::clone(&held)).on_durable(extent(1, 100));
        let mut notified = std::pin::pin!(reported.notified());
        let mut context = std::task::Context::from_waker(std::task::Waker::noop());
        assert!(notified.as_mut().poll(&mut context).is_ready());
    }
}
