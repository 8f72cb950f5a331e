//! A connection to a primary: passes its event groups to the writer and acknowledges durable ones.
//!
//! ```text
//!   candidates ──▶ choose ──▶ connect ──▶ wait until everything is written ──▶ dump from the log's position ──▶ groups ──▶ Writer
//!        ▲                                                                        │
//!        └────── lost, refused, or no longer the primary ◀────────────────────────┘
//! ```
//!
//! **The primary.** Among several candidates, the one that is not `read_only` is followed. If all are `read_only`, the
//! first that answers is followed: a replica that logs what it applies has the same transactions. A [`primary_monitor`]
//! checks every few seconds whether this has changed.
//!
//! **A new primary.** It is asked for the transactions after the archive's last GTIDs. If it does not have these GTIDs,
//! it is not followed, and the error names them. Nothing is ever undone here: if the archive has transactions that the
//! new primary lacks, the new primary can fetch them from the archive.
//!
//! No error ends a follower: it tries again. An archive that stops following because of an error would be useless when
//! it is needed.

pub mod candidates;
pub mod primary_monitor;
mod session;
pub mod status;

use crate::context::ArchiveContext;
use crate::options::{Address, Candidates};
use crate::writer::Progress;
use paceline_log_stream::source::error::SourceError;
use parking_lot::Mutex;
use status::{FollowState, FollowStatus};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, Instant};
use tokio::sync::watch;

/// First pause before connecting again. It doubles up to [`LONGEST_PAUSE`].
const FIRST_PAUSE: Duration = Duration::from_millis(100);
/// Longest pause before connecting again.
const LONGEST_PAUSE: Duration = Duration::from_secs(5);
/// Interval at which an unchanged error is logged again.
const LOG_AGAIN_AFTER: Duration = Duration::from_secs(60);

/// Requested state of a follower.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum RequestedState {
    /// Following.
    Follow,
    /// Stopped (STOP SLAVE).
    Stop,
}

/// Reason for the end of a session with a primary.
#[derive(Debug)]
pub enum SessionEnd {
    /// An error.
    Failed(SourceError),
    /// Another candidate has become the primary.
    Replaced,
    /// The archive accepts no more transactions.
    Closed,
}

impl From<SourceError> for SessionEnd {
    fn from(error: SourceError) -> Self {
        SessionEnd::Failed(error)
    }
}

impl From<crate::writer::WriterClosed> for SessionEnd {
    fn from(_: crate::writer::WriterClosed) -> Self {
        SessionEnd::Closed
    }
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

    /// Returns the requested state.
    pub fn requested(&self) -> RequestedState {
        *self.requested.borrow()
    }

    /// Returns the status to be shown.
    pub fn status(&self) -> FollowStatus {
        let waiting = self.handed_over().saturating_sub(*self.progress.borrow());
        FollowStatus {
            waiting,
            ..self.status.lock().clone()
        }
    }

    fn handed_over(&self) -> u64 {
        self.handed_over.load(Ordering::Acquire)
    }

    /// Returns the number of the next group passed to the writer.
    fn next_number(&self) -> u64 {
        self.handed_over.fetch_add(1, Ordering::AcqRel) + 1
    }

    /// Waits until everything passed to the writer is durable.
    async fn written(&self) {
        let all = self.handed_over();
        let mut durable = self.progress.subscribe();
        let _ = durable.wait_for(|durable| *durable >= all).await;
    }

    fn update(&self, change: impl FnOnce(&mut FollowStatus)) {
        change(&mut self.status.lock());
    }

    /// Returns the name of the connection for messages.
    fn shown(&self) -> String {
        match self.name.is_empty() {
            true => "the primary".to_owned(),
            false => format!("primary {}", self.name),
        }
    }

    /// Follows until the archive stops.
    pub async fn run(self: Arc<Self>, context: Arc<ArchiveContext>) {
        let mut pause = FIRST_PAUSE;
        let mut logged: Option<(String, Instant)> = None;
        let mut requested = self.requested.subscribe();
        let mut changed = self.changed.subscribe();
        loop {
            // This also stops a follower that was about to try again.
            if *requested.borrow() == RequestedState::Stop {
                self.update(|status| status.stop());
            }
            if requested
                .wait_for(|requested| *requested == RequestedState::Follow)
                .await
                .is_err()
            {
                return;
            }
            changed.borrow_and_update();
            let connects = self.status().connects;
            let end = tokio::select! {
                end = session::run(&self, &context) => end,
                _ = requested.wait_for(|requested| *requested == RequestedState::Stop) => {
                    self.update(|status| status.stop());
                    continue;
                }
                _ = changed.changed() => {
                    self.update(|status| status.state = FollowState::Connecting);
                    continue;
                }
                () = context.stop_requested() => break,
            };
            match end {
                SessionEnd::Closed => break,
                SessionEnd::Replaced => {
                    tracing::info!("{} is another server now", self.shown());
                    *self.refused_candidate.lock() = None;
                    pause = FIRST_PAUSE;
                    continue;
                }
                SessionEnd::Failed(error) => {
                    let (_, message) = error.shown();
                    let is_known = self.status().connects == connects
                        && logged
                            .as_ref()
                            .is_some_and(|(text, at)| text == message && at.elapsed() < LOG_AGAIN_AFTER);
                    if !is_known {
                        tracing::warn!("{}: {message}", self.shown());
                        logged = Some((message.to_owned(), Instant::now()));
                    }
                    self.update(|status| status.fail(&error));
                    if let SourceError::Fatal { .. } = error {
                        *self.refused_candidate.lock() = self.status().address;
                    }
                }
            }
            if self.status().connects != connects {
                pause = FIRST_PAUSE;
            }
            tokio::select! {
                () = tokio::time::sleep(pause) => {}
                () = context.stop_requested() => break,
                _ = changed.changed() => {}
                _ = requested.wait_for(|requested| *requested == RequestedState::Stop) => {}
            }
            pause = (pause * 2).min(LONGEST_PAUSE);
        }
        self.update(|status| status.stop());
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
