//! The state of a follower: its candidates, its requested state, and its progress.

use super::status::FollowStatus;
use crate::options::{Address, Candidates};
use crate::writer::Progress;
use paceline_log_stream::primary::request::MemberReader;
use parking_lot::Mutex;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use tokio::sync::watch;

/// Requested state of a follower.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum RequestedState {
    /// Following.
    Follow,
    /// Stopped (STOP SLAVE).
    Stop,
}

/// A connection to one of several candidates that follows the primary.
#[derive(Debug)]
pub struct Follower {
    name: String,
    candidates: Mutex<Candidates>,
    requested: watch::Sender<RequestedState>,
    /// Changes when the candidates are replaced.
    changed: watch::Sender<u64>,
    status: Mutex<FollowStatus>,
    /// The candidate that refused to send what follows the archive's position. Others that accept writes are
    /// preferred.
    refused_candidate: Mutex<Option<Address>>,
    /// In a cluster: the member that reads, and its epoch.
    reader: Mutex<Option<MemberReader>>,
    /// Whether a session with a primary is under way.
    is_running: watch::Sender<bool>,
    /// Number of groups passed to the writer since the start.
    handed_over: AtomicU64,
    /// Number of these groups that are durable.
    progress: Arc<Progress>,
}

impl Follower {
    /// Creates a follower that does not run yet.
    pub fn new(name: String, candidates: Candidates) -> Self {
        Follower {
            name,
            candidates: Mutex::new(candidates),
            requested: watch::Sender::new(RequestedState::Follow),
            changed: watch::Sender::new(0),
            status: Mutex::default(),
            refused_candidate: Mutex::default(),
            reader: Mutex::default(),
            is_running: watch::Sender::new(false),
            handed_over: AtomicU64::new(0),
            progress: Arc::new(Progress::new(0)),
        }
    }

    /// Returns the name: empty if there is only one follower, otherwise its number, from 1.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// Returns the servers that it may follow.
    pub fn candidates(&self) -> Candidates {
        self.candidates.lock().clone()
    }

    /// `CHANGE MASTER`: replaces the servers that it may follow, and clears the last error.
    pub fn set_candidates(&self, candidates: Candidates) {
        *self.candidates.lock() = candidates;
        *self.refused_candidate.lock() = None;
        self.update(|status| {
            status.error_number = 0;
            status.error.clear();
        });
        self.changed.send_modify(|number| *number += 1);
    }

    /// `START SLAVE`, `STOP SLAVE`: requests a state. Returns the one requested before.
    pub fn request(&self, requested: RequestedState) -> RequestedState {
        self.requested.send_replace(requested)
    }

    /// Introduces itself to primaries as a member of a cluster, from the next connection on.
    pub fn read_as(&self, reader: Option<MemberReader>) {
        *self.reader.lock() = reader;
    }

    pub(super) fn reader(&self) -> Option<MemberReader> {
        *self.reader.lock()
    }

    /// Records whether a session with a primary is under way. Begins one only if it is requested.
    pub(super) fn set_running(&self, runs: bool) -> bool {
        self.is_running
            .send_modify(|is_running| *is_running = runs && self.requested() == RequestedState::Follow);
        *self.is_running.borrow()
    }

    /// Waits until no session with a primary is under way. Nothing is received after a stop was requested and this has
    /// returned.
    pub async fn stopped(&self) {
        let mut is_running = self.is_running.subscribe();
        // This cannot fail: the sender lives as long as the follower.
        let _ = is_running.wait_for(|is_running| !is_running).await;
    }

    /// Returns a receiver that sees the number of durable groups.
    pub fn durable_groups(&self) -> watch::Receiver<u64> {
        self.progress.subscribe()
    }

    /// Returns the requested state.
    pub fn requested(&self) -> RequestedState {
        *self.requested.borrow()
    }

    /// Returns a receiver that sees each change of the requested state.
    pub(super) fn requests(&self) -> watch::Receiver<RequestedState> {
        self.requested.subscribe()
    }

    /// Returns a receiver that sees each change of the candidates.
    pub(super) fn changes(&self) -> watch::Receiver<u64> {
        self.changed.subscribe()
    }

    /// Returns the candidate that refused to send what follows the archive's position.
    pub(super) fn refused_candidate(&self) -> Option<Address> {
        self.refused_candidate.lock().clone()
    }

    /// Sets or clears the candidate that refused.
    pub(super) fn set_refused_candidate(&self, candidate: Option<Address>) {
        *self.refused_candidate.lock() = candidate;
    }

    /// Returns the number of groups that are durable; the writer advances it.
    pub(super) fn progress(&self) -> &Arc<Progress> {
        &self.progress
    }

    /// Returns the status to be shown.
    pub fn status(&self) -> FollowStatus {
        let waiting = self.handed_over().saturating_sub(*self.progress.borrow());
        FollowStatus {
            waiting,
            ..self.status.lock().clone()
        }
    }

    pub(super) fn handed_over(&self) -> u64 {
        self.handed_over.load(Ordering::Acquire)
    }

    /// Returns the number of the next group passed to the writer.
    pub(super) fn next_number(&self) -> u64 {
        self.handed_over.fetch_add(1, Ordering::AcqRel) + 1
    }

    /// Waits until everything passed to the writer is durable.
    pub async fn written(&self) {
        let all = self.handed_over();
        let mut durable = self.progress.subscribe();
        let _ = durable.wait_for(|durable| *durable >= all).await;
    }

    pub(super) fn update(&self, change: impl FnOnce(&mut FollowStatus)) {
        change(&mut self.status.lock());
    }

    /// Returns the name of the connection for messages.
    pub(super) fn shown(&self) -> String {
        match self.name.is_empty() {
            true => "the primary".to_owned(),
            false => format!("primary {}", self.name),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn new_candidates_clear_the_error_and_the_refusal_and_wake_the_follower() {
        let follower = Follower::new(String::new(), "a,b".parse().unwrap());
        let changed = follower.changed.subscribe();
        follower.update(|status| {
            status.error_number = 1236;
            status.error = "it lacks something".to_owned();
        });
        *follower.refused_candidate.lock() = Some("a".parse().unwrap());
        follower.set_candidates("c".parse().unwrap());
        assert_eq!(follower.candidates().to_string(), "c:3306");
        assert_eq!(
            (follower.status().error_number, follower.status().error.as_str()),
            (0, "")
        );
        assert_eq!(*follower.refused_candidate.lock(), None);
        assert!(changed.has_changed().unwrap());
    }

    #[test]
    fn groups_wait_until_they_are_durable() {
        let follower = Follower::new("2".to_owned(), "a".parse().unwrap());
        assert_eq!((follower.next_number(), follower.next_number()), (1, 2));
        assert_eq!(follower.status().waiting, 2);
        follower.progress.send_replace(1);
        assert_eq!(follower.status().waiting, 1);
        let runtime = tokio::runtime::Builder::new_current_thread().build().unwrap();
        let mut written = std::pin::pin!(follower.written());
        runtime.block_on(async {
            let is_pending =
                |context: &mut std::task::Context<'_>| written.as_mut().poll(context).is_pending();
            let mut is_pending = is_pending;
            assert!(std::future::poll_fn(|context| std::task::Poll::Ready(is_pending(context))).await);
            follower.progress.send_replace(2);
            assert!(!std::future::poll_fn(|context| std::task::Poll::Ready(is_pending(context))).await);
        });
    }

    #[test]
    fn a_request_returns_the_state_requested_before() {
        let follower = Follower::new(String::new(), "a".parse().unwrap());
        assert_eq!(follower.request(RequestedState::Stop), RequestedState::Follow);
        assert_eq!(follower.request(RequestedState::Stop), RequestedState::Stop);
        assert_eq!(follower.requested(), RequestedState::Stop);
    }
}
