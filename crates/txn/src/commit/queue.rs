//! The queue of transactions that want to commit, and who leads them.
//!
//! Leadership is a flag in the queue's mutex. Whoever sets it leads until he finds the queue empty (under the same mutex) or hands it
//! on. See [`LeaderMode`] for who that is; the decision note has the measurements.

use super::CommitRequest;
use super::ticket::Work;
use crate::config::{Config, LeaderMode, PublishBy};
use crate::manager::Core;
use crate::sync_point::CommitStep;
use parking_lot::{Condvar, Mutex};
use std::collections::VecDeque;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering};
use std::time::{Duration, Instant};

/// How often a group that waits for more looks whether somebody waits for its locks.
const LOCK_WAIT_LOOK: Duration = Duration::from_micros(200);

/// How often the log thread looks, while the server closes, whether the last session has finished leading.
const CLOSING_LOOK: Duration = Duration::from_millis(2);

#[derive(Default)]
struct State {
    requests: VecDeque<CommitRequest>,
    /// Somebody leads, and will look at the queue again.
    is_led: bool,
    /// Leadership has been given to the log thread, which has not taken it up yet. It must not lead uncalled: a session may be
    /// leading.
    thread_is_called: bool,
    /// The leader waits for more transactions (`binlog_commit_wait_count`).
    waits_for_more: bool,
    /// The log thread is to stop.
    closing: bool,
}

/// See the module's head.
#[derive(Default)]
pub(crate) struct CommitQueue {
    state: Mutex<State>,
    /// The log thread waits here for leadership, and a waiting group for more transactions.
    changed: Condvar,
    /// For the log thread alone.
    called: Condvar,
    /// How many transactions the last group had, and which session queued last: these tell one busy session from many.
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

/// What a leader finds.
enum Next {
    Group(Vec<CommitRequest>),
    /// The queue is empty: leadership is given up.
    Nothing,
}

impl Core {
    /// Puts a transaction into the queue. If nobody leads, somebody is made to; that may be the calling session, at once.
    pub(crate) fn submit(self: &Arc<Self>, request: CommitRequest) {
        if let Some(error) = self.poisoned() {
            return request.fail(error);
        }
        self.sync_points.reach(CommitStep::Queued);
        let config = self.config();
        // This transaction still counts as open. Others may be between two transactions, waiting for their clients or for
        // their commits: then the last group had more than one. And where one worker runs all sessions, one that leads in place keeps
        // the others from beginning: then they take turns.
        let session = request.escort.locks.owner.id();
        let is_same_session = self.queue.last_session.swap(session, Ordering::Relaxed) == session;
        let is_alone = is_same_session
            && self.open_transactions.load(Ordering::Relaxed) <= 1
            && self.queue.last_group_size.load(Ordering::Relaxed) <= 1;
        let leads_in_place = match config.leader_mode {
            LeaderMode::Thread => false,
            LeaderMode::Inline | LeaderMode::Handoff => true,
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

    /// Puts a batch into the queue, in its order. The log thread leads: an applier has other things to do.
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

    /// Takes what is to be committed next. The caller leads.
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
        // A large one is a group by itself.
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
            // The next group may well be as large.
            std::mem::replace(&mut state.requests, VecDeque::with_capacity(take)).into()
        } else {
            state.requests.drain(..take).collect()
        })
    }

    /// `binlog_commit_wait_count` and `binlog_commit_wait_usec`; a transaction that others wait for is not held up.
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
                .any(|request| request.escort.locks.owner.is_awaited())
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
        let config = self.config();
        match self.next_group(&config) {
            Next::Nothing => return,
            Next::Group(group) => self.log_group(group),
        }
        self.hand_leadership_on(&config);
        self.publish();
    }

    /// What has queued meanwhile is led by somebody else, so that this session's client gets its answer, and so that the next group
    /// is written while this one is published.
    fn hand_leadership_on(self: &Arc<Self>, config: &Config) {
        loop {
            let next = {
                let mut state = self.queue.state.lock();
                let Some(request) = state.requests.front() else {
                    state.is_led = false;
                    return;
                };
                let reply = request.reply.clone();
                if matches!(config.leader_mode, LeaderMode::Adaptive | LeaderMode::Thread) {
                    state.thread_is_called = true;
                    drop(state);
                    self.queue.called.notify_one();
                    return;
                }
                reply
            };
            if next.your_turn(Work::Lead) {
                return;
            }
            // That session is gone; its transaction is committed all the same.
            match self.next_group(config) {
                Next::Nothing => return,
                Next::Group(group) => {
                    self.log_group(group);
                    self.publish();
                }
            }
        }
    }

    /// A session whose ticket says so leads the next group.
    pub(crate) fn take_leadership(self: &Arc<Self>) {
        self.lead_one();
    }

    /// The log thread: leads whenever it is called, as long as there is work.
    pub(crate) fn run_log_thread(self: &Arc<Self>) {
        loop {
            {
                let mut state = self.queue.state.lock();
                while !state.thread_is_called {
                    if !state.closing {
                        self.queue.called.wait(&mut state);
                    } else if state.is_led || !state.requests.is_empty() {
                        // A session leads, and may hand on what has queued behind it.
                        self.queue.called.wait_for(&mut state, CLOSING_LOOK);
                    } else {
                        return;
                    }
                }
                state.thread_is_called = false;
                assert!(state.is_led, "who is called to lead has leadership");
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
            let published_beside =
                config.publish_by == PublishBy::Publisher && !self.queue.state.lock().requests.is_empty();
            match published_beside {
                true => self.background.call_publisher(),
                false => self.publish(),
            }
        }
    }
}
