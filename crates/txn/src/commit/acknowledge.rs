//! The step between durable and published: the wait for replicas, where semi-sync or a cluster asks for it.

use super::PlacedTransaction;
use paceline_types::{LogIndex, LogPosition};
use parking_lot::Mutex;

/// Extent of newly durable log.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct DurableExtent {
    /// Position up to which the log is durable here.
    pub durable: LogPosition,
    /// Log index of that position.
    pub end_index: LogIndex,
    /// End of the last new transaction that is sent to replicas. `None` if there is none: only events of the
    /// log itself or local transactions, for which no replica can be waited for.
    pub replicated: Option<LogPosition>,
    /// End of the last new transaction that was made here, for which a client waits. A transaction from a
    /// primary is safe there and waits for no replica: a replica that waited for replicas of its own would
    /// delay its primary's commits.
    pub own: Option<LogPosition>,
    /// Number of new transactions that were made here.
    pub transactions: u64,
}

/// Decides up to which position the log is acknowledged. It does not delay syncs: it is notified of the
/// durable position, and decides when that suffices.
pub trait Acknowledger: Send + Sync {
    /// Called when more of the log is durable here. Returns the position up to which it is acknowledged now;
    /// later acknowledgements are reported through [`crate::TransactionManager::acknowledge`]. The leader calls
    /// this in log order: it must not block. The new part of the log is sent to replicas when this has
    /// returned.
    ///
    /// With `sync_binlog=0`, and [`Acknowledger::waits_for_sync`], a thread that syncs the log in the background calls
    /// this.
    fn on_durable(&self, made: DurableExtent) -> LogPosition;

    /// Returns whether it decides about every group, after the group is durable. Otherwise a group is acknowledged
    /// when it is written, if `sync_binlog=0` leaves the sync to the background.
    fn waits_for_sync(&self) -> bool {
        false
    }
}

/// Transactions that are written and not yet reported to the acknowledger.
#[derive(Default)]
pub(crate) struct UnreportedTransactions {
    state: Mutex<UnreportedState>,
}

#[derive(Default)]
struct UnreportedState {
    replicated: Option<LogPosition>,
    own: Option<LogPosition>,
    transactions: u64,
    /// Durable position of the last report.
    reported: LogPosition,
}

impl UnreportedTransactions {
    /// Adds the transactions of a group that is synced later.
    pub(crate) fn add(&self, written: WrittenTransactions) {
        let mut state = self.state.lock();
        state.replicated = written.replicated.or(state.replicated);
        state.own = written.own.or(state.own);
        state.transactions += written.transactions;
    }

    /// Reports to `acknowledger` that the log is durable up to a position, with `written` and what was added. Returns
    /// its answer; `None` if a later position was reported before. One report is made at a time, in log order.
    pub(crate) fn report(
        &self,
        acknowledger: &dyn Acknowledger,
        (durable, end_index): (LogPosition, LogIndex),
        written: WrittenTransactions,
    ) -> Option<LogPosition> {
        let mut state = self.state.lock();
        if durable <= state.reported {
            return None;
        }
        state.reported = durable;
        let (replicated, own) = (state.replicated.take(), state.own.take());
        let transactions = std::mem::take(&mut state.transactions);
        Some(acknowledger.on_durable(DurableExtent {
            durable,
            end_index,
            replicated: written.replicated.or(replicated),
            own: written.own.or(own),
            transactions: written.transactions + transactions,
        }))
    }
}

/// Transactions of a group, as an acknowledger counts them.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct WrittenTransactions {
    /// As in [`DurableExtent`].
    pub(crate) replicated: Option<LogPosition>,
    pub(crate) own: Option<LogPosition>,
    pub(crate) transactions: u64,
}

impl WrittenTransactions {
    pub(crate) fn of(transactions: &[PlacedTransaction]) -> Self {
        let sent = || transactions.iter().filter(|one| one.committed.gtid.is_some());
        let own = || sent().filter(|one| !one.is_replicated);
        let end = |last: &PlacedTransaction| last.committed.version;
        WrittenTransactions {
            replicated: sent().next_back().map(end),
            own: own().next_back().map(end),
            transactions: own().count() as u64,
        }
    }
}

/// Acknowledges everything that is durable, without waiting for replicas.
#[derive(Clone, Copy, Debug, Default)]
pub struct ImmediateAcknowledger;

impl Acknowledger for ImmediateAcknowledger {
    fn on_durable(&self, made: DurableExtent) -> LogPosition {
        made.durable
    }
}
