//! Queue of transactions that are to be committed, and the choice of their leader.
//!
//! Leadership is a flag under the queue's mutex. The session or thread that sets it leads until it finds the
//! queue empty (under the same mutex) or hands leadership on. [`LeaderMode`] selects the leader; the decision
//! note has the measurements.

use super::CommitRequest;
use super::core::{Core, FatalOnPanic};
use crate::config::{Config, LeaderMode, PublishThread};
use crate::sync_point::CommitStep;
use parking_lot::{Condvar, Mutex};
use std::collections::VecDeque;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering};
use std::time::{Duration, Instant};

/// How often a group that waits for more transactions checks whether another transaction waits for its locks.
const LOCK_WAIT_LOOK: Duration = Duration::from_micros(200);

/// How often the log thread checks, while the server closes, whether the last session has finished leading.
const CLOSING_LOOK: Duration = Duration::from_millis(2);

#[derive(Default)]
struct State {
    requests: VecDeque<CommitRequest>,
    /// A leader exists, and will look at the queue again.
    is_led: bool,
    /// Leadership has been given to the log thread, which has not taken it up yet. The thread must not lead
    /// without this: a session may be leading.
    thread_is_called: bool,
    /// The leader waits for more transactions (`binlog_commit_wait_count`).
    waits_for_more: bool,
    /// The log thread is to stop.
    closing: bool,
}

/// Commit queue. See the module's head.
#[derive(Default)]
pub(crate) struct CommitQueue {
    state: Mutex<State>,
    /// A leader waits here for more transactions.
    changed: Condvar,
    /// The log thread waits here for leadership.
    called: Condvar,
    /// Size of the last group, and id of the session that queued last. They distinguish one busy session from
    /// many.
    last_group_size: AtomicUsize,
    last_session: AtomicU64,
}

impl CommitQueue {
    pub(crate) fn close(&self) {
        self.state.lock().closing = true;
        self.called.notify_all();
        self.changed.notify_all();
    }
}

/// Result of a leader's look at the queue.
enum Next {
    Group(Vec<CommitRequest>),
    /// The queue is empty: leadership is given up.
    Nothing,
}

impl Core {
    /// Puts a transaction into the queue. If there is no leader, one is appointed; that may be the calling
    /// session, which then leads at once.
    pub(crate) fn submit(self: &Arc<Self>, request: CommitRequest) {
        if let Some(error) = self.poisoned() {
            return request.fail(error);
        }
        self.sync_points.reach(CommitStep::Queued);
        let config = self.config();
        // This transaction still counts as open. Other sessions may be between two transactions, waiting for
        // their clients or for their commits: then the last group had more than one. Where one worker runs all
        // sessions, a session that leads in place keeps the others from beginning: then they alternate, and the
        // last session differs.
        let session = request.attachments.locks.owner.id();
        let is_same_session = self.queue.last_session.swap(session, Ordering::Relaxed) == session;
        let is_alone = is_same_session
            && self.open_transactions.load(Ordering::Relaxed) <= 1
            && self.queue.last_group_size.load(Ordering::Relaxed) <= 1;
        let leads_in_place = match config.leader_mode {
            LeaderMode::Thread => false,
            LeaderMode::Inline => true,
            LeaderMode::Adaptive => is_alone && config.binlog_commit_wait_count == 0,
        };
        {
            let mut state = self.queue.state.lock();
            if state.closing {
                drop(state);
                return request.fail(crate::Error::Closed);
            }
            state.requests.push_back(request);
            if state.is_led {
                if state.waits_for_more {
                    self.queue.changed.notify_all();
                }
                return;
            }
            state.is_led = true;
            state.thread_is_called = !leads_in_place;
        }
        match (leads_in_place, is_alone) {
            (false, _) => {
                self.queue.called.notify_one();
            }
            (true, true) => self.lead_one(),
            (true, false) => crate::lock::owner::blocking(|| self.lead_one()),
        }
    }

    /// Puts a batch into the queue, in its order. The log thread leads, so that the applier can continue.
    pub(crate) fn submit_all(self: &Arc<Self>, requests: Vec<CommitRequest>) {
        if requests.is_empty() {
            return;
        }
        let error = {
            let mut state = self.queue.state.lock();
            match self.poisoned() {
                None if !state.closing => {
                    state.requests.extend(requests);
                    if state.is_led {
                        if state.waits_for_more {
                            self.queue.changed.notify_all();
                        }
                        return;
                    }
                    state.is_led = true;
                    state.thread_is_called = true;
                    drop(state);
                    self.queue.called.notify_one();
                    return;
                }
                poisoned => poisoned.unwrap_or(crate::Error::Closed),
            }
        };
        requests
            .into_iter()
            .for_each(|request| request.refuse(error.clone()));
    }

    /// Takes the group to be committed next. The caller leads.
    fn next_group(&self, config: &Config) -> Next {
        let mut state = self.queue.state.lock();
        assert!(state.is_led, "only a leader takes a group");
        if state.requests.is_empty() {
            state.is_led = false;
            return Next::Nothing;
        }
        let wanted = config.binlog_commit_wait_count as usize;
        if wanted > 0 {
            self.wait_for_more(&mut state, wanted, config.binlog_commit_wait);
        }
        let mut bytes = 0;
        let bytes_max = config.group_bytes_max as u64;
        // A large transaction is a group by itself.
        let transactions_max = match state.requests.front() {
            Some(first) if first.events.is_large() => 1,
            _ => config.group_transactions_max,
        };
        let take = state
            .requests
            .iter()
            .take(transactions_max)
            .take_while(|request| {
                bytes += request.events.len();
                bytes <= bytes_max && !request.events.is_large()
            })
            .count()
            .max(1);
        self.queue.last_group_size.store(take, Ordering::Relaxed);
        Next::Group(if take == state.requests.len() {
            // The next group is probably as large.
            std::mem::replace(&mut state.requests, VecDeque::with_capacity(take)).into()
        } else {
            state.requests.drain(..take).collect()
        })
    }

    /// Implements `binlog_commit_wait_count` and `binlog_commit_wait_usec`. A transaction that others wait for
    /// is not delayed.
    fn wait_for_more(&self, state: &mut parking_lot::MutexGuard<'_, State>, wanted: usize, time: Duration) {
        let deadline = Instant::now() + time;
        state.waits_for_more = true;
        loop {
            if state.requests.len() >= wanted {
                self.counters.trigger_count.fetch_add(1, Ordering::Relaxed);
                break;
            }
            if state
                .requests
                .iter()
                .any(|request| request.attachments.locks.owner.is_awaited())
            {
                self.counters.trigger_lock_wait.fetch_add(1, Ordering::Relaxed);
                break;
            }
            if Instant::now() >= deadline || state.closing {
                self.counters.trigger_timeout.fetch_add(1, Ordering::Relaxed);
                break;
            }
            self.queue
                .changed
                .wait_until(state, deadline.min(Instant::now() + LOCK_WAIT_LOOK));
        }
        state.waits_for_more = false;
    }

    /// Leads one group in the calling session's thread, hands leadership on, and publishes.
    fn lead_one(self: &Arc<Self>) {
        let _fatal = FatalOnPanic::new(self);
        let config = self.config();
        match self.next_group(&config) {
            Next::Nothing => return,
            Next::Group(group) => self.log_group(group),
        }
        self.hand_leadership_on(&config);
        self.publish();
    }

    /// Hands leadership of the transactions that have queued meanwhile to another session or the log thread, so
    /// that this session's client gets its answer, and so that the next group is written while this one is
    /// published.
    fn hand_leadership_on(self: &Arc<Self>, config: &Config) {
        loop {
            let next = {
                let mut state = self.queue.state.lock();
                let Some(request) = state.requests.front() else {
                    state.is_led = false;
                    return;
                };
                let receiver = request.receiver.clone();
                if matches!(config.leader_mode, LeaderMode::Adaptive | LeaderMode::Thread) {
                    state.thread_is_called = true;
                    drop(state);
                    self.queue.called.notify_one();
                    return;
                }
                receiver
            };
            if next.offer_leadership() {
                return;
            }
            // That session is gone; its transaction is committed nevertheless.
            match self.next_group(config) {
                Next::Nothing => return,
                Next::Group(group) => {
                    self.log_group(group);
                    self.publish();
                }
            }
        }
    }

    /// Leads the next group. Called by a session whose ticket asks for it.
    pub(crate) fn take_leadership(self: &Arc<Self>) {
        self.lead_one();
    }

    /// Body of the log thread: leads whenever it is called, as long as there is work.
    pub(crate) fn run_log_thread(self: &Arc<Self>) {
        loop {
            {
                let mut state = self.queue.state.lock();
                while !state.thread_is_called {
                    if !state.closing {
                        self.queue.called.wait(&mut state);
                    } else if state.is_led || !state.requests.is_empty() {
                        // A session leads, and may hand on what has queued after it.
                        self.queue.called.wait_for(&mut state, CLOSING_LOOK);
                    } else {
                        return;
                    }
                }
                state.thread_is_called = false;
                assert!(state.is_led, "a session that is asked to lead has leadership");
            }
            self.lead_in_thread();
        }
    }

    fn lead_in_thread(self: &Arc<Self>) {
        loop {
            let config = self.config();
            match self.next_group(&config) {
                Next::Nothing => return,
                Next::Group(group) => self.log_group(group),
            }
            let published_beside = config.publish_thread == PublishThread::Publisher
                && !self.queue.state.lock().requests.is_empty();
            match published_beside {
                true => self.background.call_publisher(),
                false => self.publish(),
            }
        }
    }
}
