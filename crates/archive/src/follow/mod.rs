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
mod follower;
pub mod primary_monitor;
mod session;
pub mod status;

pub use follower::{Follower, RequestedState};

use crate::context::ArchiveContext;
use paceline_log_stream::source::error::SourceError;
use session::SessionEnd;
use status::FollowState;
use std::sync::Arc;
use std::time::{Duration, Instant};

/// First pause before connecting again. It doubles up to [`LONGEST_PAUSE`].
const FIRST_PAUSE: Duration = Duration::from_millis(100);
/// Longest pause before connecting again.
const LONGEST_PAUSE: Duration = Duration::from_secs(5);
/// The same for a member of a cluster, whose copy a commit may wait for.
const LONGEST_PAUSE_OF_MEMBER: Duration = Duration::from_millis(400);
/// Interval at which an unchanged error is logged again.
const LOG_AGAIN_AFTER: Duration = Duration::from_secs(60);

/// Reason why a session with a primary is over.
enum FollowEnd {
    Session(SessionEnd),
    StopRequested,
    CandidatesChanged,
    ArchiveStops,
}

/// Runs a follower until the archive stops.
pub async fn run(follower: Arc<Follower>, context: Arc<ArchiveContext>) {
    let mut pause = FIRST_PAUSE;
    let mut logged: Option<(String, Instant)> = None;
    let mut requested = follower.requests();
    let mut changed = follower.changes();
    loop {
        // This also stops a follower that was about to try again.
        if *requested.borrow() == RequestedState::Stop {
            follower.update(|status| status.stop());
        }
        // A stopped follower ends with the archive, too.
        tokio::select! {
            wanted = requested.wait_for(|requested| *requested == RequestedState::Follow) => {
                if wanted.is_err() {
                    return;
                }
            }
            () = context.stop_requested() => break,
        }
        changed.borrow_and_update();
        let connects = follower.status().connects;
        if !follower.set_running(true) {
            continue;
        }
        let end = tokio::select! {
            end = session::run(&follower, &context) => FollowEnd::Session(end),
            _ = requested.wait_for(|requested| *requested == RequestedState::Stop) => FollowEnd::StopRequested,
            _ = changed.changed() => FollowEnd::CandidatesChanged,
            () = context.stop_requested() => FollowEnd::ArchiveStops,
        };
        follower.set_running(false);
        let end = match end {
            FollowEnd::Session(end) => end,
            FollowEnd::StopRequested => {
                follower.update(|status| status.stop());
                pause = FIRST_PAUSE;
                continue;
            }
            FollowEnd::CandidatesChanged => {
                pause = FIRST_PAUSE;
                follower.update(|status| status.state = FollowState::Connecting);
                continue;
            }
            FollowEnd::ArchiveStops => break,
        };
        match end {
            SessionEnd::Closed => break,
            SessionEnd::Replaced => {
                tracing::info!("{} is another server now", follower.shown());
                follower.set_refused_candidate(None);
                pause = FIRST_PAUSE;
                continue;
            }
            SessionEnd::Failed(error) => {
                let (_, message) = error.shown();
                let is_known = follower.status().connects == connects
                    && logged
                        .as_ref()
                        .is_some_and(|(text, at)| text == message && at.elapsed() < LOG_AGAIN_AFTER);
                if !is_known {
                    tracing::warn!("{}: {message}", follower.shown());
                    logged = Some((message.to_owned(), Instant::now()));
                }
                follower.update(|status| status.fail(&error));
                if let SourceError::Fatal { .. } = error {
                    follower.set_refused_candidate(follower.status().address);
                }
            }
        }
        if follower.status().connects != connects {
            pause = FIRST_PAUSE;
        }
        tokio::select! {
            () = tokio::time::sleep(pause) => {}
            () = context.stop_requested() => break,
            _ = changed.changed() => {}
            _ = requested.wait_for(|requested| *requested == RequestedState::Stop) => {}
        }
        let longest = match follower.reader() {
            Some(_) => LONGEST_PAUSE_OF_MEMBER,
            None => LONGEST_PAUSE,
        };
        pause = (pause * 2).min(longest);
    }
    follower.update(|status| status.stop());
}
