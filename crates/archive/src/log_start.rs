//! Beginning of a new archive's log: it is derived from the beginnings of its primaries' logs.
//!
//! Each primary reports the GTIDs before its oldest file. The archive's log begins after all of them, before the first
//! transaction is received. So a replica that needs an older transaction is told that it is purged, and no replica is
//! ever sent a log with a hole. All primaries must have reported once before anything is received.
//!
//! Later a primary may log into a domain that the archive has never seen. If that domain began before the primary's
//! oldest file, the archive refuses to follow: it could not tell its replicas what they miss.

use paceline_binlog::{EpochHistory, GtidPosition, GtidState};
use parking_lot::Mutex;
use std::collections::HashSet;
use tokio::sync::watch;

/// Coordinates the followers until an archive's log has begun.
#[derive(Debug)]
pub struct LogStart {
    /// True once the log has begun.
    has_started: watch::Sender<bool>,
    reports: Mutex<StartReports>,
    /// In a cluster: epochs of the primary's log.
    epochs: Mutex<EpochHistory>,
}

#[derive(Debug)]
struct StartReports {
    state: GtidState,
    followers: HashSet<String>,
    needed: usize,
}

/// The next step of a follower after it has reported the beginning of its primary's log.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum StartDecision {
    /// All followers have reported: the log must begin after this state.
    BeginWith(GtidState),
    /// Other followers have not reported yet.
    Wait,
}

impl LogStart {
    /// Creates the state of an empty log, which begins when so many followers have reported.
    pub fn awaited(followers: usize) -> Self {
        LogStart::new(false, followers)
    }

    /// Creates the state of a log that has begun.
    pub fn passed() -> Self {
        LogStart::new(true, 0)
    }

    fn new(has_started: bool, followers: usize) -> Self {
        LogStart {
            has_started: watch::Sender::new(has_started),
            reports: Mutex::new(StartReports {
                state: GtidState::new(),
                followers: HashSet::new(),
                needed: followers,
            }),
            epochs: Mutex::default(),
        }
    }

    /// Returns whether the log has begun.
    pub fn has_started(&self) -> bool {
        *self.has_started.borrow()
    }

    /// Sets the epochs of the primary's log.
    pub fn set_epochs(&self, epochs: EpochHistory) {
        *self.epochs.lock() = epochs;
    }

    /// Returns the epochs before a state with which the log begins.
    pub fn epochs_before(&self, state: &GtidState) -> EpochHistory {
        self.epochs.lock().up_to(state.log_index())
    }

    /// Reports that the log of a follower's primary begins after `oldest`.
    pub fn report(&self, follower: &str, oldest: &GtidPosition) -> StartDecision {
        let mut reports = self.reports.lock();
        oldest.iter().for_each(|gtid| reports.state.update(gtid));
        reports.followers.insert(follower.to_owned());
        match reports.followers.len() == reports.needed {
            true => StartDecision::BeginWith(reports.state.clone()),
            false => StartDecision::Wait,
        }
    }

    /// Marks the log as begun.
    pub fn mark_started(&self) {
        self.has_started.send_replace(true);
    }

    /// Waits until the log has begun.
    pub async fn wait(&self) {
        let mut has_started = self.has_started.subscribe();
        let _ = has_started.wait_for(|started| *started).await;
    }
}

/// Returns a GTID whose domain the archive must refuse: it has never seen the domain, and the primary no longer has the
/// domain's beginning.
pub fn domain_without_beginning(known: &GtidPosition, oldest: &GtidPosition) -> Option<paceline_types::Gtid> {
    oldest.iter().find(|gtid| known.get(gtid.domain_id).is_none())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_log_begins_after_everything_that_any_primary_has_purged() {
        let log_start = LogStart::awaited(2);
        let position = |text: &str| text.parse::<GtidPosition>().unwrap();
        assert_eq!(log_start.report("1", &position("0-1-100")), StartDecision::Wait);
        // The same follower reports again after it lost its connection.
        assert_eq!(log_start.report("1", &position("0-1-120")), StartDecision::Wait);
        let StartDecision::BeginWith(state) = log_start.report("2", &position("1-2-7")) else {
            panic!("all have reported");
        };
        assert_eq!(state.position().to_string(), "0-1-120,1-2-7");
        assert!(!log_start.has_started());
        log_start.mark_started();
        assert!(log_start.has_started());
    }

    #[test]
    fn a_new_domain_whose_beginning_is_purged_is_refused() {
        let position = |text: &str| text.parse::<GtidPosition>().unwrap();
        let known = position("0-1-5");
        assert_eq!(domain_without_beginning(&known, &position("0-1-3")), None);
        assert_eq!(
            domain_without_beginning(&known, &position("0-1-3,7-1-9")).map(|gtid| gtid.to_string()),
            Some("7-1-9".to_owned())
        );
    }
}
