//! A connection to a primary: what it logs is handed to the writer, and what is durable is acknowledged.
//!
//! ```text
//!   candidates ──▶ choose ──▶ connect ──▶ everything before is written ──▶ dump from the log's position ──▶ groups ──▶ Writer
//!        ▲                                                                        │
//!        └────── lost, refused, or no longer the primary ◀────────────────────────┘
//! ```
//!
//! **Who is the primary.** Of several candidates the one that is not `read_only` is followed; where all are, the first that answers, because a
//! replica that logs what it applies has the same transactions. A [`scout`] looks every few seconds whether that has changed.
//!
//! **The primary is replaced.** The new one is asked for what follows the archive's last GTIDs. If it does not have them, it is not taken, and the
//! error says which; nothing here is ever taken back: what the archive has and the new primary lacks, the new primary can fetch from here.
//!
//! No error ends a follower: an archive that stops following because of one would be worth nothing when it is needed. It tries again.

pub mod candidates;
pub mod scout;
mod session;
pub mod status;

use crate::options::{Address, Candidates};
use crate::shared::ArchiveShared;
use crate::writer::Progress;
use paceline_replication::replica::error::SourceError;
use parking_lot::Mutex;
use status::{FollowState, FollowStatus};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, Instant};
use tokio::sync::watch;

/// The first pause before connecting again; it doubles up to [`LONGEST_PAUSE`].
const FIRST_PAUSE: Duration = Duration::from_millis(100);
/// The longest one.
const LONGEST_PAUSE: Duration = Duration::from_secs(5);
/// How often the log tells an error that stays the same.
const TELL_AGAIN: Duration = Duration::from_secs(60);

/// Whether a follower is to follow.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Wanted {
    /// It is.
    Follow,
    /// STOP SLAVE.
    Stop,
}

/// Why a session with a primary ended.
#[derive(Debug)]
pub enum End {
    /// It failed.
    Failed(SourceError),
    /// Another candidate is the primary now.
    Replaced,
    /// The archive takes nothing any more.
    Closed,
}

impl From<SourceError> for End {
    fn from(error: SourceError) -> Self {
        End::Failed(error)
    }
}

impl From<crate::writer::Closed> for End {
    fn from(_: crate::writer::Closed) -> Self {
        End::Closed
    }
}

/// See the module's head.
#[derive(Debug)]
pub struct Follower {
    name: String,
    candidates: Mutex<Candidates>,
    wanted: watch::Sender<Wanted>,
    /// Rung when the candidates have changed.
    changed: watch::Sender<u64>,
    status: Mutex<FollowStatus>,
    /// The candidate that refused to send what follows our position: it is tried last.
    unfit: Mutex<Option<Address>>,
    /// How many groups were handed to the writer, ever.
    handed_over: AtomicU64,
    /// How many of them are durable.
    progress: Arc<Progress>,
}

impl Follower {
    /// One that has not been started.
    pub fn new(name: String, candidates: Candidates) -> Self {
        Follower {
            name,
            candidates: Mutex::new(candidates),
            wanted: watch::Sender::new(Wanted::Follow),
            changed: watch::Sender::new(0),
            status: Mutex::default(),
            unfit: Mutex::default(),
            handed_over: AtomicU64::new(0),
            progress: Arc::new(Progress::new(0)),
        }
    }

    /// Its name: empty where there is only one, else its number from 1 on.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// Whom it may follow.
    pub fn candidates(&self) -> Candidates {
        self.candidates.lock().clone()
    }

    /// `CHANGE MASTER`: whom it may follow from now on.
    pub fn set_candidates(&self, candidates: Candidates) {
        *self.candidates.lock() = candidates;
        self.changed.send_modify(|number| *number += 1);
    }

    /// `START SLAVE`, `STOP SLAVE`. Returns what it was before.
    pub fn want(&self, wanted: Wanted) -> Wanted {
        self.wanted.send_replace(wanted)
    }

    /// Whether it is to follow.
    pub fn wanted(&self) -> Wanted {
        *self.wanted.borrow()
    }

    /// What it shows.
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

    /// The number of a group that is about to be handed over.
    fn next_number(&self) -> u64 {
        self.handed_over.fetch_add(1, Ordering::AcqRel) + 1
    }

    /// Ends when everything that was handed over is durable.
    async fn written(&self) {
        let all = self.handed_over();
        let mut durable = self.progress.subscribe();
        let _ = durable.wait_for(|durable| *durable >= all).await;
    }

    fn update(&self, change: impl FnOnce(&mut FollowStatus)) {
        change(&mut self.status.lock());
    }

    /// What error messages call it.
    fn shown(&self) -> String {
        match self.name.is_empty() {
            true => "the primary".to_owned(),
            false => format!("primary {}", self.name),
        }
    }

    /// Follows until the archive stops.
    pub async fn run(self: Arc<Self>, shared: Arc<ArchiveShared>) {
        let mut pause = FIRST_PAUSE;
        let mut told: Option<(String, Instant)> = None;
        let mut wanted = self.wanted.subscribe();
        let mut changed = self.changed.subscribe();
        loop {
            if wanted.wait_for(|wanted| *wanted == Wanted::Follow).await.is_err() {
                return;
            }
            changed.borrow_and_update();
            let connects = self.status().connects;
            let end = tokio::select! {
                end = session::run(&self, &shared) => end,
                _ = wanted.wait_for(|wanted| *wanted == Wanted::Stop) => {
                    self.update(|status| status.stop());
                    continue;
                }
                _ = changed.changed() => {
                    self.update(|status| status.state = FollowState::Connecting);
                    continue;
                }
                () = shared.stop_requested() => break,
            };
            match end {
                End::Closed => break,
                End::Replaced => {
                    tracing::info!("{} is another server now", self.shown());
                    *self.unfit.lock() = None;
                    pause = FIRST_PAUSE;
                    continue;
                }
                End::Failed(error) => {
                    let (_, message) = error.shown();
                    let is_known = self.status().connects == connects
                        && told
                            .as_ref()
                            .is_some_and(|(text, at)| text == message && at.elapsed() < TELL_AGAIN);
                    if !is_known {
                        tracing::warn!("{}: {message}", self.shown());
                        told = Some((message.to_owned(), Instant::now()));
                    }
                    self.update(|status| status.fail(&error));
                    if let SourceError::Fatal { .. } = error {
                        *self.unfit.lock() = self.status().address;
                    }
                }
            }
            if self.status().connects != connects {
                pause = FIRST_PAUSE;
            }
            tokio::select! {
                () = tokio::time::sleep(pause) => {}
                () = shared.stop_requested() => break,
                _ = changed.changed() => {}
                _ = wanted.wait_for(|wanted| *wanted == Wanted::Stop) => {}
            }
            pause = (pause * 2).min(LONGEST_PAUSE);
        }
        self.update(|status| status.stop());
    }
}
