//! Statistics of users, clients, tables and indexes (`userstat`).
//!
//! ```text
//!   session ── end of a statement ──▶ Tally of its user   ─┐
//!                                 └─▶ Tally of its client ─┴─▶ USER_STATISTICS, CLIENT_STATISTICS
//!   executor ── end of a read ──▶ counters beside the table ──▶ TABLE_STATISTICS, INDEX_STATISTICS
//! ```
//! They are off by default, as in MariaDB; then a statement pays for the load of one flag. While they are on, a session
//! adds what a statement has done to a tally of its own, which no other thread changes. The entries of its user and of
//! its client know the tallies of their sessions, and are summed when somebody looks. The tally of a session that has
//! ended is added to the entry when somebody looks, or when there are many. After FLUSH a session takes a new one.
//! Tables have their counters in the [catalog](paceline_catalog::TableDefinition::count_read).
//!
//! There are at most [`ENTRIES_MAX`] users and as many clients. Users and clients beyond are not shown; a client cannot
//! choose how many there are, because as in MariaDB only users and hosts that have logged in get an entry. A refused
//! login counts if there is an entry.
//!
//! The statements of programs and of EXECUTE are commands, too. They are counted in [`CommandsWithin`] where they
//! begin, because they end with the client's statement.
//!
//! `CPU_TIME` is the [time in which the session's task ran](crate::running_time). `BINLOG_BYTES_WRITTEN` is always 0:
//! the log's writer does not know users.

use crate::running_time;
use crate::status::Counters;
use crate::variables::{Globals, Variable};
use paceline_expression::session::StatementCounts;
use paceline_syntax::{Statement, TableMaintenance};
use parking_lot::Mutex;
use std::collections::BTreeMap;
use std::collections::btree_map;
use std::sync::Arc;
use std::sync::atomic::Ordering::{Acquire, Relaxed, Release};
use std::sync::atomic::{AtomicBool, AtomicU64};
use std::time::{Duration, Instant};

/// Maximum number of users, and of clients.
pub const ENTRIES_MAX: usize = 4096;
/// Number of sessions' tallies of an entry from which on those of ended sessions are added up early.
const TALLIES_MIN: usize = 16;
const SECOND: Duration = Duration::from_secs(1);

macro_rules! tally {
    ($($name:ident)*) => {
        /// Sums of a session. Only the session changes them.
        #[derive(Debug, Default)]
        struct Tally {
            $($name: AtomicU64,)*
            /// Whether the session changes it no more.
            has_ended: AtomicBool,
        }

        /// Values of a session, a user or a client. The names are those of USER_STATISTICS.
        #[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
        #[allow(missing_docs)]
        pub struct TallyValues {
            $(pub $name: u64,)*
        }

        impl TallyValues {
            fn add(&mut self, values: &TallyValues) {
                $(self.$name = self.$name.wrapping_add(values.$name);)*
            }
        }

        impl Tally {
            fn add(&self, values: &TallyValues) {
                $(if values.$name > 0 {
                    // There is one writer.
                    self.$name.store(self.$name.load(Relaxed).wrapping_add(values.$name), Relaxed);
                })*
            }

            fn values(&self) -> TallyValues {
                TallyValues {
                    $($name: self.$name.load(Relaxed),)*
                }
            }
        }
    };
}

tally! {
    total_connections
    connected_seconds
    busy_micros
    cpu_micros
    bytes_received
    bytes_sent
    rows_read
    rows_sent
    rows_deleted
    rows_inserted
    rows_updated
    select_commands
    update_commands
    other_commands
    commit_transactions
    rollback_transactions
    denied_connections
    lost_connections
    access_denied
    empty_queries
    total_ssl_connections
    max_statement_time_exceeded
}

/// Sums of a user or a client.
#[derive(Debug, Default)]
struct Entry {
    /// Sums of sessions that have ended, and of what belongs to no session.
    settled: TallyValues,
    sessions: Vec<Arc<Tally>>,
    /// Number of tallies at which those of ended sessions are settled.
    settle_at: usize,
}

impl Entry {
    /// Adds the tallies of sessions that have ended to the sum.
    fn settle(&mut self) {
        let settled = &mut self.settled;
        self.sessions.retain(|tally| {
            let has_ended = tally.has_ended.load(Acquire);
            if has_ended {
                settled.add(&tally.values());
            }
            !has_ended
        });
        self.settle_at = TALLIES_MIN.max(2 * self.sessions.len());
    }

    fn register(&mut self, tally: &Arc<Tally>) {
        if self.sessions.len() >= self.settle_at {
            self.settle();
        }
        self.sessions.push(tally.clone());
    }

    fn values(&mut self) -> TallyValues {
        self.settle();
        let mut values = self.settled;
        self.sessions.iter().for_each(|tally| values.add(&tally.values()));
        values
    }
}

type Entries = Mutex<BTreeMap<Box<str>, Entry>>;

/// Whether a name had an entry.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum EntryState {
    Known,
    New,
}

/// Calls a function with the entry of a name, which is made if there is none and there are not too many.
fn with_entry(entries: &Entries, name: &str, change: impl FnOnce(&mut Entry, EntryState)) {
    let mut entries = entries.lock();
    if let Some(known) = entries.get_mut(name) {
        return change(known, EntryState::Known);
    }
    if entries.len() >= ENTRIES_MAX {
        return;
    }
    if let btree_map::Entry::Vacant(place) = entries.entry(name.into()) {
        change(place.insert(Entry::default()), EntryState::New);
    }
}

/// Statistics of all users and clients.
#[derive(Debug, Default)]
pub struct UserStatistics {
    is_on: AtomicBool,
    users: Entries,
    clients: Entries,
    /// Number of times that entries were forgotten.
    generation: AtomicU64,
}

/// One of the two lists.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum StatisticsOf {
    /// USER_STATISTICS.
    Users,
    /// CLIENT_STATISTICS.
    Clients,
}

impl UserStatistics {
    /// Creates them, on or off as `userstat` says.
    pub fn new(globals: &Globals) -> UserStatistics {
        let statistics = UserStatistics::default();
        statistics.configure(globals);
        statistics
    }

    /// Applies `userstat`.
    pub fn configure(&self, globals: &Globals) {
        self.is_on.store(globals.is_on(Variable::Userstat), Relaxed);
    }

    /// Returns whether statistics are collected.
    #[inline]
    pub fn is_on(&self) -> bool {
        self.is_on.load(Relaxed)
    }

    fn list(&self, of: StatisticsOf) -> &Entries {
        match of {
            StatisticsOf::Users => &self.users,
            StatisticsOf::Clients => &self.clients,
        }
    }

    /// Returns the names with their values, by name.
    pub fn values(&self, of: StatisticsOf) -> Vec<(String, TallyValues)> {
        let mut list = self.list(of).lock();
        list.iter_mut()
            .map(|(name, entry)| (name.to_string(), entry.values()))
            .collect()
    }

    /// Forgets all values (FLUSH).
    pub fn clear(&self, of: StatisticsOf) {
        self.list(of).lock().clear();
        self.generation.fetch_add(1, Relaxed);
    }

    /// Returns both lists, with the names of a user and of a client in them.
    fn lists<'a>(&'a self, user: &'a str, client: &'a str) -> [(&'a Entries, &'a str); 2] {
        [(&self.users, user), (&self.clients, client)]
    }

    /// Adds values to a user and a client.
    pub fn add(&self, user: &str, client: &str, values: &TallyValues) {
        for (entries, name) in self.lists(user, client) {
            with_entry(entries, name, |entry, _| entry.settled.add(values));
        }
    }

    /// Adds values to a user and a client, if they have entries.
    pub fn add_known(&self, user: &str, client: &str, values: &TallyValues) {
        for (entries, name) in self.lists(user, client) {
            if let Some(entry) = entries.lock().get_mut(name) {
                entry.settled.add(values);
            }
        }
    }

    /// Makes the entries of a user and a client with these values, if they have none.
    pub fn add_new(&self, user: &str, client: &str, values: &TallyValues) {
        for (entries, name) in self.lists(user, client) {
            with_entry(entries, name, |entry, state| {
                if state == EntryState::New {
                    entry.settled.add(values);
                }
            });
        }
    }

    /// Makes a session's tally one of those of its user and its client. `values` is what the session has done before.
    fn register(&self, (user, client): (&str, &str), tally: &Arc<Tally>, values: &TallyValues) {
        // As in MariaDB, the statement that makes an entry counts as the connection alone.
        let connection = TallyValues {
            total_connections: 1,
            ..TallyValues::default()
        };
        for (entries, name) in self.lists(user, client) {
            with_entry(entries, name, |entry, state| {
                entry.settled.add(match state {
                    EntryState::Known => values,
                    EntryState::New => &connection,
                });
                entry.register(tally);
            });
        }
    }
}

/// Kind of a command in the statistics.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
enum CommandKind {
    Select,
    Update,
    #[default]
    Other,
    /// SHOW, and texts that are no statement.
    Ignored,
}

impl CommandKind {
    fn of(statement: Option<&Statement>) -> CommandKind {
        match statement {
            None | Some(Statement::Show(_)) => CommandKind::Ignored,
            // As in MariaDB, they are what they explain or execute.
            Some(Statement::Explain(explain)) => CommandKind::of(Some(&explain.statement)),
            Some(Statement::SetStatement { statement, .. }) => CommandKind::of(Some(statement)),
            Some(Statement::Query(_)) => CommandKind::Select,
            Some(
                Statement::Insert(_)
                | Statement::Update(_)
                | Statement::Delete(_)
                | Statement::LoadData(_)
                | Statement::Ddl(_)
                | Statement::Account(_)
                | Statement::TableMaintenance {
                    operation: TableMaintenance::Optimize,
                    ..
                },
            ) => CommandKind::Update,
            Some(_) => CommandKind::Other,
        }
    }
}

/// Commands within the running statement: statements of programs and of EXECUTE.
#[derive(Debug, Default)]
pub struct CommandsWithin {
    select: AtomicU64,
    update: AtomicU64,
    other: AtomicU64,
}

impl CommandsWithin {
    /// Counts a statement that begins.
    pub fn count(&self, statement: &Statement) {
        let counter = match CommandKind::of(Some(statement)) {
            CommandKind::Select => &self.select,
            CommandKind::Update => &self.update,
            CommandKind::Other => &self.other,
            CommandKind::Ignored => return,
        };
        // There is one writer.
        counter.store(counter.load(Relaxed).wrapping_add(1), Relaxed);
    }

    /// Returns the numbers, and begins anew.
    pub fn take(&self) -> TallyValues {
        let take = |counter: &AtomicU64| {
            let count = counter.load(Relaxed);
            if count > 0 {
                counter.store(0, Relaxed);
            }
            count
        };
        TallyValues {
            select_commands: take(&self.select),
            update_commands: take(&self.update),
            other_commands: take(&self.other),
            ..TallyValues::default()
        }
    }
}

/// Part of a session's counters that its statements' shares are computed from.
#[derive(Debug, Clone, Copy, Default)]
struct CountersBefore {
    bytes_received: u64,
    bytes_sent: u64,
    rows_sent: u64,
    access_denied: u64,
    empty_queries: u64,
    timeouts: u64,
}

impl CountersBefore {
    fn of(counters: &Counters) -> CountersBefore {
        CountersBefore {
            bytes_received: counters.bytes_received.get(),
            bytes_sent: counters.bytes_sent.get(),
            rows_sent: counters.rows_sent.get(),
            access_denied: counters.access_denied_errors.get(),
            empty_queries: counters.empty_queries.get(),
            timeouts: counters.max_statement_time_exceeded.get(),
        }
    }
}

/// A tally, for the session that changes it.
#[derive(Debug, Default)]
struct OwnTally(Arc<Tally>);

impl Drop for OwnTally {
    fn drop(&mut self) {
        self.0.has_ended.store(true, Release);
    }
}

/// A session's tally, and the state of its running statement.
#[derive(Debug)]
pub struct SessionStatistics {
    tally: OwnTally,
    generation: u64,
    kind: CommandKind,
    before: CountersBefore,
    /// Time up to which the connection will be counted next: a second after the time up to which it is.
    counted_next: Instant,
}

impl SessionStatistics {
    /// Begins the statistics of a session's first statement.
    pub fn new(counters: &Counters) -> SessionStatistics {
        SessionStatistics {
            tally: OwnTally::default(),
            generation: u64::MAX,
            kind: CommandKind::Other,
            before: CountersBefore::of(counters),
            counted_next: Instant::now() + SECOND,
        }
    }

    /// Begins a statement.
    pub fn begin(&mut self, statement: Option<&Statement>, started: Instant) {
        self.kind = CommandKind::of(statement);
        running_time::begin(started);
    }

    /// Ends the session: adds what came after its last statement.
    pub fn leave(&mut self, statistics: &UserStatistics, names: (&str, &str), counters: &Counters) {
        let now = Instant::now();
        self.begin(None, now);
        self.end(
            statistics,
            names,
            (now, Duration::ZERO),
            &StatementCounts::default(),
            &TallyValues::default(),
            counters,
        );
    }

    /// Returns the whole seconds of the connection that are not counted yet, and counts them.
    fn connected_seconds(&mut self, now: Instant) -> u64 {
        if now < self.counted_next {
            return 0;
        }
        let seconds = 1 + now.duration_since(self.counted_next).as_secs();
        self.counted_next += Duration::from_secs(seconds);
        seconds
    }

    /// Ends a statement of a user on a client: adds its work to both. `within` are the [`CommandsWithin`] it.
    pub fn end(
        &mut self,
        statistics: &UserStatistics,
        names: (&str, &str),
        (started, duration): (Instant, Duration),
        counts: &StatementCounts,
        within: &TallyValues,
        counters: &Counters,
    ) {
        let now = CountersBefore::of(counters);
        let before = std::mem::replace(&mut self.before, now);
        let micros = |time: Duration| u64::try_from(time.as_micros()).unwrap_or(u64::MAX);
        let connected = self.connected_seconds(started + duration);
        let kind = |kind| u64::from(self.kind == kind);
        // A counter is less than before after FLUSH STATUS.
        let values = TallyValues {
            connected_seconds: connected,
            busy_micros: micros(duration),
            cpu_micros: micros(running_time::end(started, duration).min(duration)),
            bytes_received: now.bytes_received.saturating_sub(before.bytes_received),
            bytes_sent: now.bytes_sent.saturating_sub(before.bytes_sent),
            rows_read: counts.rows_read,
            rows_sent: now.rows_sent.saturating_sub(before.rows_sent),
            rows_deleted: counts.handler_delete,
            rows_inserted: counts.handler_write,
            rows_updated: counts.handler_update,
            select_commands: kind(CommandKind::Select) + within.select_commands,
            update_commands: kind(CommandKind::Update) + within.update_commands,
            other_commands: kind(CommandKind::Other) + within.other_commands,
            commit_transactions: counts.handler_commit,
            rollback_transactions: counts.handler_rollback + counts.handler_savepoint_rollback,
            access_denied: now.access_denied.saturating_sub(before.access_denied),
            empty_queries: now.empty_queries.saturating_sub(before.empty_queries),
            max_statement_time_exceeded: now.timeouts.saturating_sub(before.timeouts),
            ..TallyValues::default()
        };
        counters.busy_time.add(values.busy_micros);
        counters.cpu_time.add(values.cpu_micros);
        let generation = statistics.generation.load(Relaxed);
        if self.generation == generation {
            self.tally.0.add(&values);
            return;
        }
        self.generation = generation;
        self.tally = OwnTally::default();
        statistics.register(names, &self.tally.0, &values);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn statements_add_up_by_user_and_client_until_they_are_flushed() {
        let statistics = UserStatistics::default();
        let counters = Counters::default();
        let mut session = SessionStatistics::new(&counters);
        let counts = StatementCounts {
            rows_read: 2,
            ..StatementCounts::default()
        };
        let mut run = |statistics: &UserStatistics| {
            let started = Instant::now();
            session.begin(Some(&Statement::UnlockTables), started);
            counters.rows_sent.add(3);
            let names = ("u", "localhost");
            let times = (started, Duration::from_micros(5));
            session.end(
                statistics,
                names,
                times,
                &counts,
                &TallyValues::default(),
                &counters,
            );
        };
        run(&statistics);
        run(&statistics);
        run(&statistics);
        let shown = statistics.values(StatisticsOf::Users);
        assert_eq!(shown.len(), 1);
        let (name, values) = &shown[0];
        assert_eq!((name.as_str(), values.rows_read, values.rows_sent), ("u", 4, 6));
        assert_eq!((values.other_commands, values.busy_micros), (2, 10));
        assert_eq!(values.total_connections, 1);
        statistics.clear(StatisticsOf::Users);
        run(&statistics);
        run(&statistics);
        assert_eq!(statistics.values(StatisticsOf::Users)[0].1.rows_read, 2);
        assert_eq!(statistics.values(StatisticsOf::Clients)[0].1.rows_read, 8);
    }

    #[test]
    fn sessions_that_have_ended_count_and_keep_no_memory() {
        let (statistics, counters) = (UserStatistics::default(), Counters::default());
        let counts = StatementCounts::default();
        let mut lasting = SessionStatistics::new(&counters);
        let run = |session: &mut SessionStatistics| {
            let now = Instant::now();
            session.begin(Some(&Statement::UnlockTables), now);
            let (names, within) = (("u", "localhost"), TallyValues::default());
            let times = (now, Duration::ZERO);
            session.end(&statistics, names, times, &counts, &within, &counters);
        };
        for _ in 0..1000 {
            run(&mut lasting);
            run(&mut SessionStatistics::new(&counters));
        }
        let kept = statistics.users.lock()["u"].sessions.len();
        assert!(kept <= TALLIES_MIN, "{kept}");
        for of in [StatisticsOf::Users, StatisticsOf::Clients] {
            let (_, values) = &statistics.values(of)[0];
            assert_eq!((values.other_commands, values.total_connections), (1999, 1));
        }
        assert_eq!(statistics.users.lock()["u"].sessions.len(), 1);
    }

    #[test]
    fn the_number_of_entries_is_limited() {
        let statistics = UserStatistics::default();
        for number in 0..ENTRIES_MAX + 10 {
            statistics.add(&number.to_string(), "localhost", &TallyValues::default());
        }
        assert_eq!(statistics.values(StatisticsOf::Users).len(), ENTRIES_MAX);
        assert_eq!(statistics.values(StatisticsOf::Clients).len(), 1);
    }
}
