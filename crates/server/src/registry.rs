//! All sessions: to list them, to kill them, to count them.

use crate::status::Counters;
use crate::transaction_mark::TransactionMark;
use paceline_apply::replicated::StatementCounts;
use paceline_sql::session::SessionMemory;
use paceline_txn::{AwaitedLock, Interrupt, InterruptReason};
use paceline_wire::socket::SocketHandle;
use paceline_wire::tls::TlsSession;
use parking_lot::Mutex;
use std::collections::BTreeMap;
use std::fmt;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, OnceLock};
use std::time::{Duration, Instant};
use tokio::sync::Notify;

/// What others see of a session.
pub struct SessionShared {
    /// The connection's id.
    pub id: u32,
    /// Stops the running statement, or the session.
    pub interrupt: Interrupt,
    /// Wakes it from its sleep between two commands.
    pub socket: SocketHandle,
    /// Wakes it from its wait for a client that does not read.
    pub killed: Arc<Notify>,
    /// Its counters.
    pub counters: Counters,
    /// The memory that it collects in.
    pub memory: Arc<SessionMemory>,
    /// When it connected.
    pub connected: Instant,
    /// Who it is and what it does.
    activity: Mutex<Activity>,
    /// The id of its running or last statement (`KILL QUERY ID`).
    pub query_id: AtomicU64,
    /// True once it has logged in.
    pub authenticated: AtomicBool,
    /// What its encryption is, if it is encrypted.
    pub tls: OnceLock<TlsSession>,
    /// The session as its locks know it.
    pub locks: OnceLock<paceline_txn::Session>,
    /// Its transaction, if that has come to a table.
    pub transaction: TransactionMark,
}

/// Who a session is and what it does: a line of the process list.
#[derive(Debug, Clone)]
pub struct Activity {
    /// The user who logged in.
    pub user: String,
    /// `host:port`, or `localhost`.
    pub host: String,
    /// The current database.
    pub database: Option<String>,
    /// `Query`, `Sleep`, `Execute` …
    pub command: &'static str,
    /// Since when: microseconds since 1970.
    pub since_micros: i64,
    /// What it waits for, for people.
    pub state: &'static str,
    /// The running statement's text, cut.
    pub text: Vec<u8>,
    /// Seconds that it may sleep.
    pub wait_timeout_seconds: u64,
    /// The same while its transaction is open, where that has a limit of its own.
    pub idle_transaction_timeout: Option<Duration>,
}

/// The longest text that the process list keeps, in bytes.
const TEXT_MAX: usize = 64 * 1024;

impl fmt::Debug for SessionShared {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("SessionShared")
            .field("id", &self.id)
            .finish_non_exhaustive()
    }
}

impl SessionShared {
    /// One that is about to log in.
    pub fn new(
        id: u32,
        socket: SocketHandle,
        host: String,
        wait_timeout_seconds: u64,
        memory: Arc<SessionMemory>,
    ) -> Self {
        SessionShared {
            id,
            interrupt: Interrupt::new(),
            socket,
            killed: Arc::default(),
            counters: Counters::default(),
            memory,
            connected: Instant::now(),
            activity: Mutex::new(Activity {
                user: "unauthenticated user".into(),
                host,
                database: None,
                command: "Connect",
                since_micros: now_micros(),
                state: "login",
                text: vec![],
                wait_timeout_seconds,
                idle_transaction_timeout: None,
            }),
            query_id: AtomicU64::new(0),
            authenticated: AtomicBool::new(false),
            tls: OnceLock::new(),
            locks: OnceLock::new(),
            transaction: TransactionMark::default(),
        }
    }

    /// A command begins.
    #[inline]
    pub fn begin_command(&self, command: &'static str, text: &[u8], now_micros: i64) {
        let mut activity = self.activity.lock();
        activity.command = command;
        activity.since_micros = now_micros;
        self.transaction.command_began(now_micros);
        activity.state = if text.is_empty() { "" } else { "executing" };
        activity.text.clear();
        activity.text.extend_from_slice(&text[..text.len().min(TEXT_MAX)]);
    }

    /// It ended; the session sleeps, in a transaction at most for `idle_transaction_timeout`.
    #[inline]
    pub fn end_command(&self, now_micros: i64, idle_transaction_timeout: Option<Duration>) {
        let mut activity = self.activity.lock();
        activity.idle_transaction_timeout = idle_transaction_timeout;
        activity.command = "Sleep";
        activity.since_micros = now_micros;
        activity.state = "";
        activity.text.clear();
    }

    /// Changes what the process list shows.
    pub fn update(&self, change: impl FnOnce(&mut Activity)) {
        change(&mut self.activity.lock());
    }

    /// What the process list shows.
    pub fn activity(&self) -> Activity {
        let mut activity = self.activity.lock().clone();
        if let Some(wait) = self.interrupt.awaited_lock() {
            activity.state = state_of_wait(wait, &activity.text);
        }
        activity
    }

    /// Ends the session, or its statement.
    pub fn kill(&self, reason: InterruptReason) {
        self.interrupt.raise(reason);
        // A stream to a replica is one long statement that waits for its client.
        let is_stream = self.activity.lock().command == STREAM_COMMAND;
        if reason > InterruptReason::Query || is_stream {
            self.socket.stop_reading();
        }
        // At a shutdown, clients have their time to read.
        if reason == InterruptReason::Connection {
            self.killed.notify_one();
        }
    }
}

/// What the process list says of a session that waits for a lock. As in MariaDB, one that waits for a row is seen in what it does with rows.
fn state_of_wait(wait: AwaitedLock, statement: &[u8]) -> &'static str {
    match wait {
        AwaitedLock::Table => "Waiting for table metadata lock",
        AwaitedLock::Database => "Waiting for schema metadata lock",
        AwaitedLock::Server => "Waiting for backup lock",
        AwaitedLock::Name => USER_LOCK,
        AwaitedLock::Row => {
            let begins_with = |word: &str| {
                let head = statement.trim_ascii_start().get(..word.len());
                head.is_some_and(|head| head.eq_ignore_ascii_case(word.as_bytes()))
            };
            if begins_with("update") || begins_with("delete") {
                "Updating"
            } else if begins_with("insert") || begins_with("replace") || begins_with("load") {
                "Update"
            } else {
                "Sending data"
            }
        }
    }
}

/// `GET_LOCK()`.
pub const USER_LOCK: &str = "User lock";
/// `SLEEP()`.
pub const USER_SLEEP: &str = "User sleep";
/// What a statement may wait for without end while nobody is left to read its answer.
const WAITS_OF_FUNCTIONS: [&str; 2] = [USER_LOCK, USER_SLEEP];

/// What the process list says of a stream to a replica.
pub const STREAM_COMMAND: &str = "Binlog Dump";

/// Microseconds since 1970.
pub fn now_micros() -> i64 {
    let now = std::time::SystemTime::now()
        .duration_since(std::time::UNIX_EPOCH)
        .unwrap_or_default();
    i64::try_from(now.as_micros()).unwrap_or(i64::MAX)
}

/// All sessions.
#[derive(Debug, Default)]
pub struct Sessions {
    living: Mutex<BTreeMap<u32, Arc<SessionShared>>>,
    ended: Counters,
    /// What connections to primaries have applied as rows.
    replicated: Arc<StatementCounts>,
}

impl Sessions {
    /// Adds one; the number of sessions there are now.
    pub fn add(&self, session: Arc<SessionShared>) -> usize {
        let mut living = self.living.lock();
        living.insert(session.id, session);
        living.len()
    }

    /// Removes one that ends, and keeps what it has counted.
    pub fn remove(&self, session: &SessionShared) {
        let mut living = self.living.lock();
        if living.remove(&session.id).is_some() {
            self.ended.add_all(&session.counters);
        }
    }

    /// What a session has counted is the server's alone from now on.
    pub fn settle(&self, session: &SessionShared) {
        let _living = self.living.lock();
        self.ended.add_all(&session.counters);
        session.counters.reset();
    }

    /// The one with that id.
    pub fn get(&self, id: u32) -> Option<Arc<SessionShared>> {
        self.living.lock().get(&id).cloned()
    }

    /// All of them, in the order of their ids.
    pub fn all(&self) -> Vec<Arc<SessionShared>> {
        self.living.lock().values().cloned().collect()
    }

    /// How many there are.
    pub fn count(&self) -> usize {
        self.living.lock().len()
    }

    /// Counts what is applied as rows, beside the sessions.
    pub fn replicated_statements(&self) -> Arc<StatementCounts> {
        self.replicated.clone()
    }

    /// The sum of all counters since the start, or since `FLUSH STATUS`.
    pub fn totals(&self) -> Counters {
        let living = self.living.lock();
        let totals = Counters::default();
        totals.add_all(&self.ended);
        totals.com_insert.add(self.replicated.inserts());
        totals.com_update.add(self.replicated.updates());
        totals.com_delete.add(self.replicated.deletes());
        totals.com_commit.add(self.replicated.commits());
        for session in living.values() {
            totals.add_all(&session.counters);
        }
        totals
    }

    /// How many sessions execute something.
    pub fn running(&self) -> usize {
        self.all()
            .iter()
            .filter(|session| session.activity.lock().command != "Sleep")
            .count()
    }

    /// Ends sessions that slept longer than they may (`wait_timeout`, `idle_transaction_timeout` and its like).
    pub fn end_idle(&self) {
        let now = now_micros();
        for session in self.all() {
            let activity = session.activity.lock();
            let asleep = activity.command == "Sleep";
            let seconds = u64::try_from((now - activity.since_micros) / 1_000_000).unwrap_or(0);
            let timeout = activity.idle_transaction_timeout;
            let over = asleep
                && seconds >= timeout.map_or(activity.wait_timeout_seconds, |timeout| timeout.as_secs());
            drop(activity);
            let state = session.activity().state;
            if WAITS_OF_FUNCTIONS.contains(&state) && session.socket.is_peer_gone() {
                session.kill(InterruptReason::Connection);
            }
            if over && session.authenticated.load(Ordering::Relaxed) {
                session.socket.stop_reading();
            }
        }
    }

    /// Tells all sessions but the streams to replicas that the server stops. How many there are.
    pub fn stop_clients(&self) -> usize {
        self.clients()
            .map(|session| session.kill(InterruptReason::Shutdown))
            .count()
    }

    /// Closes the connections of all sessions but the streams to replicas: they are told nothing any more.
    pub fn close_clients(&self) {
        self.clients().for_each(|session| session.socket.close());
    }

    fn clients(&self) -> impl Iterator<Item = Arc<SessionShared>> {
        self.all()
            .into_iter()
            .filter(|session| session.activity.lock().command != STREAM_COMMAND)
    }

    /// Tells all sessions that the server stops.
    pub fn stop_all(&self) {
        for session in self.all() {
            session.kill(InterruptReason::Shutdown);
        }
    }
}
