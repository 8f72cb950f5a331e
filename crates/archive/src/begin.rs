//! Where a new archive begins: where its primaries' logs begin.
//!
//! Each primary says which GTIDs stand before its oldest file; the archive's log begins behind all of them, before the first transaction is taken.
//! So a replica that lacks something older is told that it is purged, and none is ever sent a log with a hole. All primaries must have answered
//! once before anything is taken.
//!
//! Later a primary may come with a domain that the archive has never seen. If that domain began before the primary's oldest file, the archive
//! cannot take it: its replicas could not be told what they miss.

use paceline_binlog::{BinlogState, GtidPosition};
use parking_lot::Mutex;
use std::collections::HashSet;
use tokio::sync::watch;

/// The beginning of an archive's log.
#[derive(Debug)]
pub struct Beginning {
    /// Whether the log has begun.
    has_begun: watch::Sender<bool>,
    told: Mutex<Told>,
}

#[derive(Debug)]
struct Told {
    state: BinlogState,
    followers: HashSet<String>,
    needed: usize,
}

/// What a follower is to do when it has told where its primary's log begins.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Next {
    /// The log has begun, or nobody else is waited for: it is to begin with this state.
    BeginWith(BinlogState),
    /// Others have not told yet.
    Wait,
}

impl Beginning {
    /// `is_new`: the log has nothing in it; so many followers will tell.
    pub fn new(is_new: bool, followers: usize) -> Self {
        Beginning {
            has_begun: watch::Sender::new(!is_new),
            told: Mutex::new(Told {
                state: BinlogState::new(),
                followers: HashSet::new(),
                needed: followers,
            }),
        }
    }

    /// Whether the log has begun.
    pub fn has_begun(&self) -> bool {
        *self.has_begun.borrow()
    }

    /// A follower's primary begins behind `oldest`.
    pub fn tell(&self, follower: &str, oldest: &GtidPosition) -> Next {
        let mut told = self.told.lock();
        oldest.iter().for_each(|gtid| told.state.update(gtid));
        told.followers.insert(follower.to_owned());
        match told.followers.len() == told.needed {
            true => Next::BeginWith(told.state.clone()),
            false => Next::Wait,
        }
    }

    /// The log has begun.
    pub fn begun(&self) {
        self.has_begun.send_replace(true);
    }

    /// Ends when the log has begun.
    pub async fn wait(&self) {
        let mut begun = self.has_begun.subscribe();
        let _ = begun.wait_for(|begun| *begun).await;
    }
}

/// A domain that the archive cannot take: it has never seen it, and its beginning is gone from the primary.
pub fn domain_without_beginning(known: &GtidPosition, oldest: &GtidPosition) -> Option<paceline_types::Gtid> {
    oldest.iter().find(|gtid| known.get(gtid.domain_id).is_none())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn it_begins_behind_what_all_have_purged() {
        let beginning = Beginning::new(true, 2);
        let position = |text: &str| text.parse::<GtidPosition>().unwrap();
        assert_eq!(beginning.tell("1", &position("0-1-100")), Next::Wait);
        // The same one again, after a lost connection.
        assert_eq!(beginning.tell("1", &position("0-1-120")), Next::Wait);
        let Next::BeginWith(state) = beginning.tell("2", &position("1-2-7")) else {
            panic!("all have told");
        };
        assert_eq!(state.position().to_string(), "0-1-120,1-2-7");
        assert!(!beginning.has_begun());
        beginning.begun();
        assert!(beginning.has_begun());
    }

    #[test]
    fn a_domain_must_begin_here() {
        let position = |text: &str| text.parse::<GtidPosition>().unwrap();
        let known = position("0-1-5");
        assert_eq!(domain_without_beginning(&known, &position("0-1-3")), None);
        assert_eq!(
            domain_without_beginning(&known, &position("0-1-3,7-1-9")).map(|gtid| gtid.to_string()),
            Some("7-1-9".to_owned())
        );
    }
}
