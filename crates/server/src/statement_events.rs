//! Statistics of statements by their kind: of sessions, accounts, users, hosts and the server
//! (`performance_schema.events_statements_summary_by_…_by_event_name`).
//!
//! ```text
//!   session ──(it ends, another user logs in)──▶ account ──┬─▶ user
//!                                                          └─▶ host ──▶ server
//! ```
//! A session counts in a list of its own, under a lock that nobody else wants. Each arrow is a move: a level has what
//! has left the level before, and a reader adds up a level and those before it. TRUNCATE of a table moves what the
//! earlier levels have and forgets its own, as in MariaDB: emptying that of sessions takes nothing from accounts.
//!
//! A session has few kinds, so its list is searched from the front; a kind that was used again and again is soon there.
//!
//! Limits: [`OWNERS_MAX`] accounts, users and hosts each; what others did counts for the server only. Only accounts
//! that have logged in get an entry.
//!
//! Rejected: adding up the digests of a session when somebody asks. That costs the end of a statement nothing, but a
//! prepared execution has the digest of its text, `statements_digest` can be off, and TRUNCATE of one would empty both.

use crate::statement_kind::StatementKind;
use crate::statement_sums::{EndedStatement, StatementSums};
use parking_lot::Mutex;
use std::collections::BTreeMap;

/// Maximum number of accounts, of users and of hosts.
const OWNERS_MAX: usize = 1024;

/// Sums by kind.
pub type KindSums = BTreeMap<StatementKind, StatementSums>;

/// Statistics of a session.
#[derive(Debug, Default)]
pub struct SessionEvents(Mutex<Vec<(StatementKind, StatementSums)>>);

impl SessionEvents {
    /// Counts a statement of a kind.
    #[inline]
    pub fn count(&self, kind: StatementKind, ended: &EndedStatement<'_>) {
        let mut own = self.0.lock();
        match own.iter().position(|(known, _)| *known == kind) {
            Some(place) => {
                own[place].1.add(ended);
                if place > 0 && own[place].1.count > own[place - 1].1.count {
                    own.swap(place, place - 1);
                }
            }
            None => {
                let mut sums = StatementSums::default();
                sums.add(ended);
                own.push((kind, sums));
            }
        }
    }

    /// Returns the sums.
    pub fn sums(&self) -> KindSums {
        self.0.lock().iter().cloned().collect()
    }

    fn take(&self) -> KindSums {
        std::mem::take(&mut *self.0.lock()).into_iter().collect()
    }
}

/// Level at which statements are counted; a table of `performance_schema` shows each.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum EventLevel {
    /// Sessions.
    Sessions,
    /// Accounts.
    Accounts,
    /// Users.
    Users,
    /// Hosts.
    Hosts,
    /// The server.
    Server,
}

/// Owner of a row.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub enum EventOwner {
    /// The session with this id.
    Session(u32),
    /// User and host.
    Account(String, String),
    /// A user.
    User(String),
    /// A host.
    Host(String),
    /// The server.
    Server,
}

/// A session's statistics, with its account.
pub struct OwnedEvents<'a> {
    /// Id of the session.
    pub session: u32,
    /// Name of the user.
    pub user: String,
    /// Host without a port.
    pub host: String,
    /// The statistics.
    pub events: &'a SessionEvents,
}

type Owned = BTreeMap<EventOwner, KindSums>;

#[derive(Debug, Default)]
struct Levels {
    accounts: Owned,
    users: Owned,
    hosts: Owned,
    server: KindSums,
}

fn merge(into: &mut KindSums, sums: &KindSums) {
    for (kind, sums) in sums {
        into.entry(*kind).or_default().merge(sums);
    }
}

/// Adds sums to those of an owner. Returns whether it has a place.
fn add(owned: &mut Owned, owner: EventOwner, sums: &KindSums) -> bool {
    if owned.len() >= OWNERS_MAX && !owned.contains_key(&owner) {
        return false;
    }
    merge(owned.entry(owner).or_default(), sums);
    true
}

impl Levels {
    fn move_session(&mut self, session: &OwnedEvents<'_>) {
        let sums = session.events.take();
        if sums.is_empty() {
            return;
        }
        let account = EventOwner::Account(session.user.clone(), session.host.clone());
        if !add(&mut self.accounts, account, &sums) {
            merge(&mut self.server, &sums);
        }
    }

    fn move_accounts(&mut self) {
        for (account, sums) in std::mem::take(&mut self.accounts) {
            let EventOwner::Account(user, host) = account else {
                continue;
            };
            add(&mut self.users, EventOwner::User(user), &sums);
            if !add(&mut self.hosts, EventOwner::Host(host), &sums) {
                merge(&mut self.server, &sums);
            }
        }
    }

    fn move_hosts(&mut self) {
        for sums in std::mem::take(&mut self.hosts).values() {
            merge(&mut self.server, sums);
        }
    }
}

/// Statistics of all that is not a living session.
#[derive(Debug)]
pub struct StatementEvents {
    is_enabled: bool,
    levels: Mutex<Levels>,
}

impl StatementEvents {
    /// Creates empty statistics; nothing is counted unless `is_enabled`.
    pub fn new(is_enabled: bool) -> StatementEvents {
        StatementEvents {
            is_enabled,
            levels: Mutex::default(),
        }
    }

    /// Returns whether statements are counted.
    #[inline]
    pub fn is_enabled(&self) -> bool {
        self.is_enabled
    }

    /// Moves the statistics of a session that ends, or that another user takes over, to its account.
    pub fn end(&self, session: &OwnedEvents<'_>) {
        self.levels.lock().move_session(session);
    }

    /// Returns the sums of a level, by owner.
    pub fn sums<'a>(&self, level: EventLevel, sessions: impl Iterator<Item = OwnedEvents<'a>>) -> Owned {
        let levels = self.levels.lock();
        let owner = |user: &str, host: &str| match level {
            EventLevel::Sessions | EventLevel::Server => EventOwner::Server,
            EventLevel::Accounts => EventOwner::Account(user.to_owned(), host.to_owned()),
            EventLevel::Users => EventOwner::User(user.to_owned()),
            EventLevel::Hosts => EventOwner::Host(host.to_owned()),
        };
        let mut all = match level {
            EventLevel::Sessions | EventLevel::Accounts => Owned::new(),
            EventLevel::Users => levels.users.clone(),
            EventLevel::Hosts => levels.hosts.clone(),
            EventLevel::Server => {
                let mut server = levels.server.clone();
                levels.hosts.values().for_each(|sums| merge(&mut server, sums));
                Owned::from([(EventOwner::Server, server)])
            }
        };
        if level > EventLevel::Sessions {
            for (account, sums) in &levels.accounts {
                if let EventOwner::Account(user, host) = account {
                    merge(all.entry(owner(user, host)).or_default(), sums);
                }
            }
        }
        for session in sessions {
            let owner = match level {
                EventLevel::Sessions => EventOwner::Session(session.session),
                _ => owner(&session.user, &session.host),
            };
            merge(all.entry(owner).or_default(), &session.events.sums());
        }
        all
    }

    /// Empties a level.
    pub fn clear<'a>(&self, level: EventLevel, sessions: impl Iterator<Item = OwnedEvents<'a>>) {
        let mut levels = self.levels.lock();
        sessions.for_each(|session| levels.move_session(&session));
        if level > EventLevel::Sessions {
            levels.move_accounts();
        }
        match level {
            EventLevel::Sessions | EventLevel::Accounts => {}
            EventLevel::Users => levels.users.clear(),
            EventLevel::Hosts => levels.move_hosts(),
            EventLevel::Server => {
                levels.users.clear();
                levels.hosts.clear();
                levels.server.clear();
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::status::Counters;
    use paceline_expression::session::StatementCounts;

    const ERROR: StatementKind = StatementKind::ERROR;

    fn count(events: &SessionEvents, kind: StatementKind, times: u64) {
        let counts = StatementCounts::default();
        for number in 0..times {
            events.count(
                kind,
                &EndedStatement {
                    nanos: 5 + number,
                    has_failed: kind == ERROR,
                    warnings: 0,
                    rows_affected: 0,
                    rows_sent: 2,
                    rows_examined: 3,
                    counts: &counts,
                    start_micros: 0,
                },
            );
        }
    }

    fn owned<'a>(session: u32, user: &str, host: &str, events: &'a SessionEvents) -> OwnedEvents<'a> {
        OwnedEvents {
            session,
            user: user.to_owned(),
            host: host.to_owned(),
            events,
        }
    }

    fn counts(sums: &Owned) -> Vec<u64> {
        sums.values()
            .map(|sums| sums.get(&ERROR).map_or(0, |sums| sums.count))
            .collect()
    }

    #[test]
    fn a_session_counts_by_kind() {
        let other = StatementKind::of(Some(&paceline_syntax::Statement::Empty), &Counters::default());
        let events = SessionEvents::default();
        count(&events, ERROR, 2);
        count(&events, other, 3);
        let sums = events.sums();
        let error = &sums[&ERROR];
        assert_eq!(
            (error.count, error.errors, error.nanos, error.nanos_max),
            (2, 2, 11, 6)
        );
        let other = &sums[&other];
        assert_eq!(
            (other.count, other.errors, other.rows_sent, other.rows_examined),
            (3, 0, 6, 9)
        );
    }

    #[test]
    fn levels_contain_those_before_and_are_emptied_as_in_mariadb() {
        let all = StatementEvents::new(true);
        let (ended, living) = (SessionEvents::default(), SessionEvents::default());
        count(&ended, ERROR, 1);
        count(&living, ERROR, 2);
        all.end(&owned(1, "a", "h", &ended));
        let one = || [owned(2, "b", "h", &living)].into_iter();
        let shown = |level| counts(&all.sums(level, one()));
        use EventLevel::*;
        assert_eq!([shown(Sessions), shown(Accounts)], [vec![2], vec![1, 2]]);
        assert_eq!(
            [shown(Users), shown(Hosts), shown(Server)],
            [vec![1, 2], vec![3], vec![3]]
        );
        all.clear(Sessions, one());
        assert_eq!([shown(Sessions), shown(Accounts)], [vec![0], vec![1, 2]]);
        count(&living, ERROR, 1);
        all.clear(Accounts, one());
        assert_eq!(shown(Accounts), [0]);
        assert_eq!(
            [shown(Users), shown(Hosts), shown(Server)],
            [vec![1, 3], vec![4], vec![4]]
        );
        all.clear(Users, one());
        assert_eq!(
            [shown(Users), shown(Hosts), shown(Server)],
            [vec![0], vec![4], vec![4]]
        );
        all.clear(Hosts, one());
        assert_eq!([shown(Hosts), shown(Server)], [vec![0], vec![4]]);
        count(&living, ERROR, 1);
        all.clear(Server, one());
        assert_eq!(
            [shown(Users), shown(Hosts), shown(Server)],
            [vec![0], vec![0], vec![0]]
        );
    }

    #[test]
    fn accounts_beyond_the_limit_count_for_the_server() {
        let all = StatementEvents::new(true);
        for number in 0..OWNERS_MAX + 5 {
            let events = SessionEvents::default();
            count(&events, ERROR, 1);
            all.end(&owned(1, &format!("u{number}"), "h", &events));
        }
        let none = std::iter::empty;
        assert_eq!(all.sums(EventLevel::Accounts, none()).len(), OWNERS_MAX);
        let server = all.sums(EventLevel::Server, none());
        assert_eq!(counts(&server), [(OWNERS_MAX + 5) as u64]);
    }
}
