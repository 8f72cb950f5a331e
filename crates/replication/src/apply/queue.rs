//! Queue of the items that a lane has to plan.

use super::progress::PushNumber;
use crate::received::{ReceivedGroup, SourcePosition};
use crate::skip_counter::SkippedEvents;
use paceline_binlog::ExecutedSetChange;
use paceline_txn::SequenceSource;
use paceline_types::Gtid;
use parking_lot::{Condvar, Mutex};
use std::collections::VecDeque;

/// An item for a domain's lane, in order.
pub(super) struct Item {
    pub(super) number: PushNumber,
    pub(super) work: Work,
    /// Number of bytes that it counts for while it is queued.
    pub(super) bytes: usize,
}

/// A move of the position without a transaction.
pub(super) struct Pass {
    pub(super) gtid: Gtid,
    /// Its end in the primary's log.
    pub(super) end: SourcePosition,
    /// Change of the connection's set of MySQL GTIDs.
    pub(super) executed: Option<ExecutedSetChange>,
    /// Source of the GTID's number.
    pub(super) numbers: SequenceSource,
    /// Its events, if `sql_slave_skip_counter` is the reason.
    pub(super) skipped: Option<SkippedEvents>,
}

pub(super) enum Work {
    /// Apply this transaction.
    Apply(ReceivedGroup),
    /// Only the position moves.
    Pass(Pass),
}

impl Work {
    pub(super) fn gtid(&self) -> Gtid {
        match self {
            Work::Apply(received) => received.group.gtid(),
            Work::Pass(pass) => pass.gtid,
        }
    }
}

#[derive(Default)]
struct State {
    items: VecDeque<Item>,
    is_closed: bool,
    /// The lane is asleep.
    is_awaited: bool,
    /// The lane must wake up for another reason than an item.
    is_nudged: bool,
}

#[derive(Default)]
pub(super) struct LaneQueue {
    state: Mutex<State>,
    changed: Condvar,
}

/// Result of [`LaneQueue::take`].
pub(super) enum Next {
    Items(VecDeque<Item>),
    /// There is no item now.
    Empty,
    Closed,
}

impl LaneQueue {
    pub(super) fn push(&self, item: Item) {
        let mut state = self.state.lock();
        state.items.push_back(item);
        if std::mem::take(&mut state.is_awaited) {
            drop(state);
            self.changed.notify_one();
        }
    }

    /// Takes all items.
    pub(super) fn take(&self) -> Next {
        let mut state = self.state.lock();
        if state.is_closed {
            return Next::Closed;
        }
        if state.items.is_empty() {
            return Next::Empty;
        }
        Next::Items(std::mem::take(&mut state.items))
    }

    /// Waits until there are items, or the queue is closed or nudged.
    pub(super) fn wait(&self) {
        let mut state = self.state.lock();
        while state.items.is_empty() && !state.is_closed && !state.is_nudged {
            state.is_awaited = true;
            self.changed.wait(&mut state);
        }
        state.is_awaited = false;
        state.is_nudged = false;
    }

    /// Wakes the lane up.
    pub(super) fn nudge(&self) {
        self.state.lock().is_nudged = true;
        self.changed.notify_one();
    }

    pub(super) fn close(&self) {
        self.state.lock().is_closed = true;
        self.changed.notify_one();
    }
}
