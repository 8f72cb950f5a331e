//! Statistics of users, clients, tables and indexes (`userstat`).
//!
//! ```text
//!   session ── end of a statement ──▶ Tally of its user   ─┐
//!                                 └─▶ Tally of its client ─┴─▶ USER_STATISTICS, CLIENT_STATISTICS
//!   executor ── end of a read ──▶ counters beside the table ──▶ TABLE_STATISTICS, INDEX_STATISTICS
//! ```
//! They are off by default, as in MariaDB; then a statement pays for the load of one flag. While they are on, a session
//! adds what a statement has done to two tallies when the statement ends. It keeps both, and looks for them again after
//! FLUSH. Tables have their counters in the [catalog](paceline_catalog::TableDefinition::count_read).
//!
//! There are at most [`ENTRIES_MAX`] users and as many clients. Users and clients beyond are not shown; a client cannot
//! choose how many there are, because only accounts and hosts that have logged in, or that an account exists for, get
//! an entry.
//!
//! `CPU_TIME` is that of the session's thread during a statement. While a statement waits, the thread may serve other
//! sessions or another thread may take over: then the time is that of the part that can be told, or a little more.
//! `BINLOG_BYTES_WRITTEN` is always 0: the log's writer does not know users.

use crate::status::Counters;
use crate::variables::{Globals, Variable};
use paceline_expression::session::StatementCounts;
use paceline_syntax::Statement;
use parking_lot::Mutex;
use std::collections::BTreeMap;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering::Relaxed};
use std::thread::ThreadId;
use std::time::{Duration, Instant};

/// Maximum number of users, and of clients.
pub const ENTRIES_MAX: usize = 4096;

macro_rules! tally {
    ($($name:ident)*) => {
        /// Sums of a user or a client.
        #[derive(Debug, Default)]
        pub struct Tally {
            $($name: AtomicU64,)*
        }

        /// Values of a [`Tally`]. The names are those of USER_STATISTICS.
        #[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
        #[allow(missing_docs)]
        pub struct TallyValues {
            $(pub $name: u64,)*
        }

        impl Tally {
            fn add(&self, values: &TallyValues) {
                $(if values.$name > 0 {
                    self.$name.fetch_add(values.$name, Relaxed);
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

type Tallies = Mutex<BTreeMap<Box<str>, Arc<Tally>>>;

/// A tally, and whether it has just been made.
struct FoundTally {
    tally: Arc<Tally>,
    is_new: bool,
}

/// Returns the tally of a name; `None` if there are too many.
fn tally_of(tallies: &Tallies, name: &str) -> Option<FoundTally> {
    let mut tallies = tallies.lock();
    if let Some(known) = tallies.get(name) {
        return Some(FoundTally {
            tally: known.clone(),
            is_new: false,
        });
    }
    if tallies.len() >= ENTRIES_MAX {
        return None;
    }
    let tally = Arc::<Tally>::default();
    tallies.insert(name.into(), tally.clone());
    Some(FoundTally { tally, is_new: true })
}

/// Statistics of all users and clients.
#[derive(Debug, Default)]
pub struct UserStatistics {
    is_on: AtomicBool,
    users: Tallies,
    clients: Tallies,
    /// Number of times that tallies were forgotten.
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

    fn list(&self, of: StatisticsOf) -> &Tallies {
        match of {
            StatisticsOf::Users => &self.users,
            StatisticsOf::Clients => &self.clients,
        }
    }

    /// Returns the names with their values, by name.
    pub fn values(&self, of: StatisticsOf) -> Vec<(String, TallyValues)> {
        let list = self.list(of).lock();
        list.iter()
            .map(|(name, tally)| (name.to_string(), tally.values()))
            .collect()
    }

    /// Forgets all values (FLUSH).
    pub fn clear(&self, of: StatisticsOf) {
        self.list(of).lock().clear();
        self.generation.fetch_add(1, Relaxed);
    }

    /// Adds values to the tallies of a user and of a client.
    pub fn add(&self, user: &str, client: &str, values: &TallyValues) {
        for (of, name) in [(StatisticsOf::Users, user), (StatisticsOf::Clients, client)] {
            if let Some(found) = tally_of(self.list(of), name) {
                found.tally.add(values);
            }
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
            Some(Statement::Query(_) | Statement::Explain(_)) => CommandKind::Select,
            Some(
                Statement::Insert(_)
                | Statement::Update(_)
                | Statement::Delete(_)
                | Statement::LoadData(_)
                | Statement::Ddl(_)
                | Statement::Account(_)
                | Statement::TableMaintenance { .. },
            ) => CommandKind::Update,
            Some(_) => CommandKind::Other,
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

/// A session's tallies, and the state of its running statement.
#[derive(Debug)]
pub struct SessionStatistics {
    tallies: Vec<Arc<Tally>>,
    generation: u64,
    kind: CommandKind,
    /// Thread at the beginning of the statement, and the processor time that it had used.
    thread: (ThreadId, Duration),
    before: CountersBefore,
    /// Time up to which the connection is counted.
    counted_until: Instant,
}

/// Processor time that this thread has used.
fn thread_time() -> Duration {
    nix::time::clock_gettime(nix::time::ClockId::CLOCK_THREAD_CPUTIME_ID)
        .map_or(Duration::ZERO, Duration::from)
}

impl SessionStatistics {
    /// Begins the statistics of a session's first statement.
    pub fn new(counters: &Counters) -> SessionStatistics {
        SessionStatistics {
            tallies: Vec::new(),
            generation: u64::MAX,
            kind: CommandKind::Other,
            thread: (std::thread::current().id(), Duration::ZERO),
            before: CountersBefore::of(counters),
            counted_until: Instant::now(),
        }
    }

    /// Begins a statement.
    pub fn begin(&mut self, statement: Option<&Statement>) {
        self.kind = CommandKind::of(statement);
        self.thread = (std::thread::current().id(), thread_time());
    }

    /// Ends the session: adds what came after its last statement.
    pub fn leave(&mut self, statistics: &UserStatistics, names: (&str, &str), counters: &Counters) {
        self.kind = CommandKind::Ignored;
        self.thread = (std::thread::current().id(), thread_time());
        self.end(
            statistics,
            names,
            Duration::ZERO,
            &StatementCounts::default(),
            counters,
        );
    }

    /// Ends a statement of a user on a client: adds its work to both.
    pub fn end(
        &mut self,
        statistics: &UserStatistics,
        (user, client): (&str, &str),
        duration: Duration,
        counts: &StatementCounts,
        counters: &Counters,
    ) {
        let now = CountersBefore::of(counters);
        let before = std::mem::replace(&mut self.before, now);
        let micros = |time: Duration| u64::try_from(time.as_micros()).unwrap_or(u64::MAX);
        let connected = self.counted_until.elapsed().as_secs();
        self.counted_until += Duration::from_secs(connected);
        let is_same_thread = self.thread.0 == std::thread::current().id();
        let kind = |kind| u64::from(self.kind == kind);
        // A counter is less than before after FLUSH STATUS.
        let values = TallyValues {
            connected_seconds: connected,
            busy_micros: micros(duration),
            cpu_micros: match is_same_thread {
                true => micros(thread_time().saturating_sub(self.thread.1)),
                false => 0,
            },
            bytes_received: now.bytes_received.saturating_sub(before.bytes_received),
            bytes_sent: now.bytes_sent.saturating_sub(before.bytes_sent),
            rows_read: counts.rows_read,
            rows_sent: now.rows_sent.saturating_sub(before.rows_sent),
            rows_deleted: counts.handler_delete,
            rows_inserted: counts.handler_write,
            rows_updated: counts.handler_update,
            select_commands: kind(CommandKind::Select),
            update_commands: kind(CommandKind::Update),
            other_commands: kind(CommandKind::Other),
            commit_transactions: counts.handler_commit,
            rollback_transactions: counts.handler_rollback,
            access_denied: now.access_denied.saturating_sub(before.access_denied),
            empty_queries: now.empty_queries.saturating_sub(before.empty_queries),
            max_statement_time_exceeded: now.timeouts.saturating_sub(before.timeouts),
            ..TallyValues::default()
        };
        counters.busy_time.add(values.busy_micros);
        counters.cpu_time.add(values.cpu_micros);
        let generation = statistics.generation.load(Relaxed);
        if self.generation == generation {
            self.tallies.iter().for_each(|tally| tally.add(&values));
            return;
        }
        self.generation = generation;
        self.tallies.clear();
        for found in [
            tally_of(&statistics.users, user),
            tally_of(&statistics.clients, client),
        ] {
            let Some(FoundTally { tally, is_new }) = found else {
                continue;
            };
            // As in MariaDB, the statement that makes an entry counts as the connection alone.
            match is_new {
                true => tally.add(&TallyValues {
                    total_connections: 1,
                    ..TallyValues::default()
                }),
                false => tally.add(&values),
            }
            self.tallies.push(tally);
        }
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
            session.begin(Some(&Statement::UnlockTables));
            counters.rows_sent.add(3);
            let names = ("u", "localhost");
            session.end(statistics, names, Duration::from_micros(5), &counts, &counters);
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
    fn the_number_of_entries_is_limited() {
        let statistics = UserStatistics::default();
        for number in 0..ENTRIES_MAX + 10 {
            statistics.add(&number.to_string(), "localhost", &TallyValues::default());
        }
        assert_eq!(statistics.values(StatisticsOf::Users).len(), ENTRIES_MAX);
        assert_eq!(statistics.values(StatisticsOf::Clients).len(), 1);
    }
}
