//! Registry of all sessions: for listing, killing and counting them.

use crate::memory::SessionUse;
use crate::running_plan::RunningPlan;
use crate::session_progress::SessionProgress;
use crate::statement_digests::SessionDigests;
use crate::statement_events::{OwnedEvents, SessionEvents};
use crate::statement_history::SessionHistory;
use crate::statement_kind::RunningKind;
use crate::status::Counters;
use crate::transaction_mark::TransactionMark;
use crate::user_statistics::CommandsWithin;
use paceline_apply::replicated::StatementCounts;
use paceline_expression::session::SessionMemory;
use paceline_txn::{AwaitedLock, Interrupt, InterruptReason};
use paceline_wire::socket::SocketHandle;
use paceline_wire::tls::TlsSession;
use parking_lot::Mutex;
use std::collections::BTreeMap;
use std::fmt;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, OnceLock};
use std::time::Duration;
use tokio::sync::Notify;

/// Part of a session that other sessions can access.
pub struct SessionHandle {
    /// Id of the connection.
    pub id: u32,
    /// Stops the running statement or the session.
    pub interrupt: Interrupt,
    /// Wakes the session while it sleeps between two commands.
    pub socket: SocketHandle,
    /// Wakes the session while it waits for a client that does not read.
    pub killed: Arc<Notify>,
    /// Counters of the session.
    pub counters: Counters,
    /// Statistics of its statements.
    pub digests: SessionDigests,
    /// Statistics of its statements by kind.
    pub events: SessionEvents,
    /// Kind of its statement.
    pub statement_kind: RunningKind,
    /// Commands within its statement.
    pub commands_within: CommandsWithin,
    /// Its latest statements.
    pub history: SessionHistory,
    /// Memory account of the session.
    pub memory: Arc<SessionMemory>,
    /// How far its statement is.
    pub progress: SessionProgress,
    /// User and current activity.
    activity: Mutex<Activity>,
    /// Id of the running or last statement (`KILL QUERY ID`).
    pub query_id: AtomicU64,
    /// Whether it has logged in.
    pub authenticated: AtomicBool,
    /// Parameters of the encryption, if it is encrypted.
    pub tls: OnceLock<TlsSession>,
    /// Whether its packets are compressed.
    pub is_compressed: AtomicBool,
    /// The session in the lock manager.
    pub locks: OnceLock<paceline_txn::Session>,
    /// Its transaction, if the transaction has accessed a table.
    pub transaction: TransactionMark,
    /// Plan of its statement.
    pub running_plan: Arc<RunningPlan>,
}

/// User and activity of a session: a line of the process list.
#[derive(Debug, Clone)]
pub struct Activity {
    /// Name of the user that logged in.
    pub user: String,
    /// `host:port`, or `localhost`.
    pub host: String,
    /// The current database.
    pub database: Option<String>,
    /// Command such as `Query`, `Sleep` or `Execute`.
    pub command: &'static str,
    /// Start of the command in microseconds since 1970.
    pub since_micros: i64,
    /// Activity within the command, for display.
    pub state: &'static str,
    /// Text of the running statement, up to a maximum length.
    pub text: Vec<u8>,
    /// Maximum time that the session may sleep, in seconds.
    pub wait_timeout_seconds: u64,
    /// Limit that applies instead while its transaction is open, if there is one.
    pub idle_transaction_timeout: Option<Duration>,
}

/// Maximum length of a text in the process list, in bytes.
const TEXT_MAX: usize = 64 * 1024;

impl fmt::Debug for SessionHandle {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("SessionHandle")
            .field("id", &self.id)
            .finish_non_exhaustive()
    }
}

impl SessionHandle {
    /// Creates the entry of a session that is about to log in.
    pub fn new(
        id: u32,
        socket: SocketHandle,
        host: String,
        wait_timeout_seconds: u64,
        memory: Arc<SessionMemory>,
    ) -> Self {
        SessionHandle {
            id,
            interrupt: Interrupt::new(),
            socket,
            killed: Arc::default(),
            counters: Counters::default(),
            digests: SessionDigests::default(),
            events: SessionEvents::default(),
            statement_kind: RunningKind::default(),
            commands_within: CommandsWithin::default(),
            history: SessionHistory::default(),
            memory,
            progress: SessionProgress::default(),
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
            is_compressed: AtomicBool::new(false),
            locks: OnceLock::new(),
            transaction: TransactionMark::default(),
            running_plan: Arc::default(),
        }
    }

    /// Returns its memory by purpose.
    pub fn memory_use(&self) -> SessionUse {
        // After the end of a transaction the lock manager still has its last state.
        let open = self.transaction.get().and_then(|_| self.locks.get());
        let transaction = open.map(paceline_txn::Session::progress);
        SessionUse::of(self.memory.used(), transaction)
    }

    /// Returns the most memory that it has had, in bytes: that of its account, or all of this moment if that is more.
    pub fn memory_use_max(&self) -> u64 {
        let most = SessionUse::of(self.memory.used_max(), None).total();
        most.max(self.memory_use().total())
    }

    /// Records the start of a command.
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

    /// Records the end of a command. The session sleeps; in a transaction at most for `idle_transaction_timeout`.
    #[inline]
    pub fn end_command(&self, now_micros: i64, idle_transaction_timeout: Option<Duration>) {
        self.progress.end();
        let mut activity = self.activity.lock();
        activity.idle_transaction_timeout = idle_transaction_timeout;
        activity.command = "Sleep";
        activity.since_micros = now_micros;
        activity.state = "";
        activity.text.clear();
    }

    /// Changes the activity.
    pub fn update(&self, change: impl FnOnce(&mut Activity)) {
        change(&mut self.activity.lock());
    }

    /// Returns the activity for the process list.
    pub fn activity(&self) -> Activity {
        let mut activity = self.activity.lock().clone();
        if let Some(wait) = self.interrupt.awaited_lock() {
            activity.state = state_of_wait(wait, &activity.text);
        }
        activity
    }

    /// Returns the statistics of its statements with its account.
    pub fn owned_events(&self) -> OwnedEvents<'_> {
        let activity = self.activity.lock();
        OwnedEvents {
            session: self.id,
            user: activity.user.clone(),
            host: host_without_port(&activity.host).to_owned(),
            events: &self.events,
        }
    }

    /// Kills the session or its statement.
    pub fn kill(&self, reason: InterruptReason) {
        self.interrupt.raise(reason);
        // A stream to a replica is one long statement that waits for its client.
        let is_stream = self.activity.lock().command == STREAM_COMMAND;
        if reason > InterruptReason::Query || is_stream {
            self.socket.stop_reading();
        }
        // At a shutdown, clients may still read.
        if reason == InterruptReason::Connection {
            self.killed.notify_one();
        }
    }
}

/// Returns a host without the port.
pub fn host_without_port(host: &str) -> &str {
    host.rsplit_once(':').map_or(host, |(host, _)| host)
}

/// Returns the state for a session that waits for a lock. As in MariaDB, a wait for a row is shown as the operation on
/// rows.
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

/// State of a session in `GET_LOCK()`.
pub const USER_LOCK: &str = "User lock";
/// State of a session whose transaction the cluster has not acknowledged.
pub const CLUSTER_COMMIT: &str = "Waiting for the cluster to acknowledge the commit";
/// State of a session in `SLEEP()`.
pub const USER_SLEEP: &str = "User sleep";
/// States in which a statement may wait indefinitely although its client has disconnected.
const WAITS_OF_FUNCTIONS: [&str; 2] = [USER_LOCK, USER_SLEEP];

/// Command of a stream to a replica.
pub const STREAM_COMMAND: &str = "Binlog Dump";

/// Returns the time in microseconds since 1970.
pub fn now_micros() -> i64 {
    let now = std::time::SystemTime::now()
        .duration_since(std::time::UNIX_EPOCH)
        .unwrap_or_default();
    i64::try_from(now.as_micros()).unwrap_or(i64::MAX)
}

/// All sessions.
#[derive(Debug, Default)]
pub struct Sessions {
    living: Mutex<BTreeMap<u32, Arc<SessionHandle>>>,
    ended: Counters,
    /// Counters of rows applied by connections to primaries.
    replicated: Arc<StatementCounts>,
}

impl Sessions {
    /// Adds a session. Returns the number of sessions.
    pub fn add(&self, session: Arc<SessionHandle>) -> usize {
        let mut living = self.living.lock();
        living.insert(session.id, session);
        living.len()
    }

    /// Removes a session that ends, and keeps its counters.
    pub fn remove(&self, session: &SessionHandle) {
        let mut living = self.living.lock();
        if living.remove(&session.id).is_some() {
            self.ended.add_all(&session.counters);
        }
    }

    /// Moves a session's counters to the server's totals and resets them.
    pub fn settle(&self, session: &SessionHandle) {
        let _living = self.living.lock();
        self.ended.add_all(&session.counters);
        session.counters.reset();
        session.memory.forget_max();
    }

    /// Returns the session with this id.
    pub fn get(&self, id: u32) -> Option<Arc<SessionHandle>> {
        self.living.lock().get(&id).cloned()
    }

    /// Returns all sessions, by id.
    pub fn all(&self) -> Vec<Arc<SessionHandle>> {
        self.living.lock().values().cloned().collect()
    }

    /// Returns the number of sessions.
    pub fn count(&self) -> usize {
        self.living.lock().len()
    }

    /// Returns the counters of replicated rows, which are kept beside those of sessions.
    pub fn replicated_statements(&self) -> Arc<StatementCounts> {
        self.replicated.clone()
    }

    /// Returns the sum of all counters since startup or `FLUSH STATUS`.
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

    /// Returns the number of sessions that are executing a command.
    pub fn running(&self) -> usize {
        self.all()
            .iter()
            .filter(|session| session.activity.lock().command != "Sleep")
            .count()
    }

    /// Ends sessions that have exceeded their idle time (`wait_timeout`, `idle_transaction_timeout` and related
    /// variables).
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

    /// Notifies all sessions except streams to replicas of the shutdown. Returns their number.
    pub fn stop_clients(&self) -> usize {
        self.clients()
            .map(|session| session.kill(InterruptReason::Shutdown))
            .count()
    }

    /// Closes the connections of all sessions except streams to replicas. They get no further messages.
    pub fn close_clients(&self) {
        self.clients().for_each(|session| session.socket.close());
    }

    fn clients(&self) -> impl Iterator<Item = Arc<SessionHandle>> {
        self.all()
            .into_iter()
            .filter(|session| session.activity.lock().command != STREAM_COMMAND)
    }

    /// Notifies all sessions of the shutdown.
    pub fn stop_all(&self) {
        for session in self.all() {
            session.kill(InterruptReason::Shutdown);
        }
    }
}
