//! A session: one client's connection from its greeting to its end.
//!
//! ```text
//!   Phase::Login ──▶ Phase::Authentication ──▶ Phase::Commands ──▶ Phase::Closing
//!                                                 │      ▲
//!                                  read a command │      │ execute it
//!                                                 ▼      │
//!               statement: parse ─▶ plan ─▶ locks ─▶ execute ─▶ commit ─▶ reply
//! ```
//!
//! A session consists of a [`Connection`] and a [`SessionState`]:
//!
//! ```text
//!   Session ── Connection            socket, packets, capabilities
//!      │
//!      └────── SessionState          state that statements use
//!                ├─ SessionServices  the server, the account, variables, locks; also used by execution
//!                ├─ SessionContext   settings, diagnostics, user variables
//!                ├─ TransactionSlot  the transaction, if one is open
//!                └─ temporary tables, LOCK TABLES, PREPARE, tracked changes
//! ```
//!
//! | module | subject | works on |
//! |---|---|---|
//! | this one, [`login`], [`commands`] | the connection's life: login, commands | `Session` |
//! | [`protocol`], [`replies`] | packets, rows, replies | the connection |
//! | [`statement`] | one text: parse, begin, end, slow log | `Session` |
//! | [`statements`] | one module for each kind of statement | the parts of `SessionState` that the kind needs |
//! | [`transaction`], [`temporary`], [`table_locks`], [`database`] | parts of the state | one part each |
//! | [`services`] | services of the server for execution | `SessionServices` |
//! | [`replicated`], [`init_file`], [`event`] | sessions without a client | `Session` |
//! | [`direct`] | statements of a front end with another protocol | `Session` |
//! | [`rows`] | rows without SQL, for the program around the server | `Session` |
//!
//! A kind of statement never sees the `Session`. It receives a statement and the state, and returns a
//! [`protocol::Reply`], which one place writes to the connection ([`replies::ReplyWriter`]). Three kinds write rows
//! while they run, and also receive the connection: queries, LOAD DATA LOCAL and BACKUP. [`crate::accounts`] decides
//! whether an account may execute a statement.
//!
//! A session is one task of the runtime. Its statements run synchronously: no other task of the session can run at the
//! same time, so the only shared part is [`crate::registry::SessionHandle`]. The task is suspended only while it reads
//! a command, sends a reply or waits for a commit. Operations that block (a lock, a full socket) announce this to the
//! runtime.

mod assigned_variables;
mod assignment;
mod audit;
mod commands;
mod database;
pub mod direct;
mod evaluate;
pub mod event;
mod execution;
mod files;
mod history;
pub mod init_file;
mod internal;
mod logged_statement;
pub mod login;
mod module_calls;
mod named_statements;
mod optimizer_trace;
mod parsing;
mod planning;
mod preparation;
mod program_host;
pub mod protocol;
pub mod replicated;
mod replies;
mod restrictions;
pub mod rows;
pub mod services;
mod state;
mod statement;
pub mod statements;
mod table_locks;
mod temporary;
mod temporary_tables;
mod text_log;
mod tracking;
mod transaction;
mod transaction_slot;
mod user_variable_event;

#[cfg(test)]
pub(crate) mod testing;
#[cfg(test)]
mod tests;

pub use state::SessionState;

use crate::accounts::ClientHost;
use crate::audit_log::ConnectionEvent;
use crate::registry::{SessionHandle, now_micros};
use crate::running_time::Measured;
use crate::server::Server;
use crate::user_statistics::TallyValues;
use crate::variables::Variable;
use paceline_expression::session::ServerFunctions;
use paceline_txn::InterruptReason;
use paceline_types::Collation;
use paceline_types::error_code::{ER_CONNECTION_KILLED, ER_SERVER_SHUTDOWN, ErrorCode};
use paceline_wire::authentication::Scramble;
use paceline_wire::response::write_error;
use paceline_wire::tls::TlsSession;
use paceline_wire::{WireError, WireResult};
use protocol::{ClientStatements, Connection, IdlePoll};
use replies::ReplyWriter;
use services::SessionServices;
use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::Duration;

/// Phase of a session.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Phase {
    /// The user is not known yet.
    Login,
    /// The user is known but not authenticated.
    Authentication,
    /// The session accepts commands.
    Commands,
    /// The session ends after the buffer has been sent.
    Closing,
}

/// One client's session.
pub struct Session {
    state: SessionState,
    connection: Connection,
    /// Prepared statements of the protocol.
    statements: ClientStatements,
    /// Whether one query may contain several statements.
    multi_statements: bool,
    phase: Phase,
    /// Collation requested at the last login; `None` means the server's default.
    login_collation: Option<Collation>,
    /// Scramble of the greeting.
    scramble: Option<Scramble>,
    /// Number of failed logins by COM_CHANGE_USER.
    failed_changes: u8,
    /// Origin of the connection.
    client: ClientHost,
    /// Whether a proxy has stated that origin.
    is_proxied: bool,
    /// Whether the client is the program around the server, which is its administrator.
    is_of_own_process: bool,
    /// Entry in the registry, except for an internal session. It is dropped last: when the entry is gone, nothing of
    /// the session remains.
    _registered: Option<RegistryEntry>,
}

/// Entry in the registry. Dropping it removes the session.
pub struct RegistryEntry {
    server: Arc<Server>,
    shared: Arc<SessionHandle>,
}

impl RegistryEntry {
    /// Adds a session to the registry.
    pub fn new(server: &Arc<Server>, shared: &Arc<SessionHandle>) -> RegistryEntry {
        server.sessions.add(shared.clone());
        RegistryEntry {
            server: server.clone(),
            shared: shared.clone(),
        }
    }
}

impl Drop for RegistryEntry {
    fn drop(&mut self) {
        self.server.primary.replicas().forget(self.shared.id);
        self.server.sessions.remove(&self.shared);
        self.server.digests.end(&self.shared.digests);
        self.server.statement_events.end(&self.shared.owned_events());
    }
}

impl Drop for Session {
    fn drop(&mut self) {
        self.release();
    }
}

impl Session {
    /// Creates the session of a client that has not logged in.
    pub fn new(
        services: Arc<SessionServices>,
        connection: Connection,
        client: ClientHost,
        registered: RegistryEntry,
    ) -> Session {
        let mut session = Session::internal(services, connection);
        session.client = client;
        session.phase = Phase::Login;
        session._registered = Some(registered);
        session
    }

    /// Creates a session without a client, which accepts statements at once.
    fn internal(services: Arc<SessionServices>, connection: Connection) -> Session {
        Session {
            state: SessionState::new(services),
            connection,
            statements: ClientStatements::default(),
            multi_statements: false,
            phase: Phase::Commands,
            login_collation: None,
            scramble: None,
            failed_changes: 0,
            client: ClientHost::local(),
            is_proxied: false,
            is_of_own_process: false,
            _registered: None,
        }
    }

    /// Makes it the session of a client whose requests this server itself passes on. The TLS session is that of the
    /// client's connection. The process at the other end of the socket is this server and proves nothing about it.
    pub fn relay(&mut self, tls: Option<TlsSession>) {
        self.is_proxied = true;
        if let Some(tls) = tls {
            let _ = self.state.shared.tls.set(tls);
        }
    }

    /// Makes it a session of the program around the server: any login is accepted, with all privileges.
    pub fn trust(&mut self) {
        self.is_of_own_process = true;
    }

    /// Runs the session to its end.
    pub fn run(self) -> impl Future<Output = ()> + Send {
        Measured::new(self.run_to_end())
    }

    async fn run_to_end(mut self) {
        let server = self.state.server.clone();
        let limit = Duration::from_secs(server.globals.number(Variable::ConnectTimeout));
        match tokio::time::timeout(limit, self.login()).await {
            Ok(Ok(())) if self.phase == Phase::Commands => {
                if let Err(error) = self.serve().await {
                    self.count_aborted_client();
                    self.say_goodbye(error).await;
                }
                self.state.leave_user_statistics();
                let user = self.state.context.user.user.clone();
                self.audit_connection(&user, ConnectionEvent::Disconnect, 0);
            }
            Ok(Ok(())) => self.count_refused_login(),
            Ok(Err(error)) => {
                self.count_aborted_login();
                self.say_goodbye(error).await;
            }
            Err(_) => {
                self.count_aborted_login();
                tracing::debug!(
                    "connection {}: no login within connect_timeout",
                    self.state.shared.id
                );
            }
        }
        self.release();
        self.connection.finish().await;
    }

    /// Counts a connection that ended during its login: if no login began, as an error of its host.
    pub(crate) fn count_aborted_login(&self) {
        if self.phase == Phase::Login {
            let server = &self.state.server;
            server.host_errors.add(self.client.address);
            server
                .counters
                .aborted_connects_preauth
                .fetch_add(1, Ordering::Relaxed);
        }
        self.count_refused_login();
    }

    /// Counts a connection whose client got a refusal instead of a session.
    pub(crate) fn count_refused_login(&self) {
        let counters = &self.state.server.counters;
        counters.aborted_connects.fetch_add(1, Ordering::Relaxed);
    }

    /// Releases the server's resources. Called before the client learns of the end, or when a panic ends the session.
    fn release(&mut self) {
        self.state.transaction.abandon();
        self.state.drop_temporary_tables();
        self.state.table_locks = Default::default();
        self.statements.clear();
        self.state.prepared.clear();
        self.state.services.release_all_locks(&self.state.context);
    }

    /// Executes commands until the connection ends.
    async fn serve(&mut self) -> WireResult<()> {
        let server = self.state.server.clone();
        let mut idle_poll = IdlePoll::new(server.last_command.clone(), self.state.shared.id);
        let mut sent_before = self.connection.bytes_written();
        self.state.log_settings.bytes_sent_before = sent_before;
        while self.phase == Phase::Commands && !self.state.ends_with_reply {
            self.connection.reader.set_sequence(0);
            let longest = || Duration::from_micros(server.globals.number(Variable::PacelineIdlePollUsec));
            idle_poll.receive(&mut self.connection, longest).await?;
            let interrupt = &self.state.shared.interrupt;
            if let Some(reason) = interrupt.raised() {
                if reason > InterruptReason::Query {
                    return Err(WireError::Closed);
                }
                // A KILL QUERY during its sleep had no statement to stop.
                interrupt.clear_query();
            }
            self.connection
                .writer
                .set_sequence(self.connection.reader.sequence());
            self.command().await?;
            if self.state.shared.interrupt.raised() == Some(InterruptReason::Connection) {
                // A killed client does not receive the result, whatever it is.
                return Err(WireError::Closed);
            }
            let sent = self.connection.bytes_written();
            let received = self.connection.reader.payload().len() as u64 + 4;
            self.connection.flush().await?;
            let before = std::mem::replace(&mut sent_before, sent);
            self.state
                .shared
                .counters
                .bytes_sent
                .add(sent.saturating_sub(before));
            self.state.log_settings.bytes_sent_before = sent;
            self.state.shared.counters.bytes_received.add(received);
        }
        Ok(())
    }

    /// Counts a connection that ended after its login without a request of the client: it was killed or broke, or the
    /// client was silent for too long or vanished.
    pub(crate) fn count_aborted_client(&self) {
        let counters = &self.state.server.counters;
        counters.aborted_clients.fetch_add(1, Ordering::Relaxed);
        let statistics = &self.state.server.user_statistics;
        if statistics.is_on() {
            let user = &self.state.context.user;
            let values = TallyValues {
                lost_connections: 1,
                ..TallyValues::default()
            };
            statistics.add(&user.user, &user.host, &values);
        }
    }

    /// Sends the reason for the end of the connection to the client, if possible.
    async fn say_goodbye(&mut self, error: WireError) {
        let raised = self.state.shared.interrupt.raised();
        let code = match (&error, raised) {
            // In its login a client may have sent a packet that was not read, so the number of an answer is unknown.
            (WireError::Closed, _) if self.phase != Phase::Commands => None,
            (WireError::Closed, Some(InterruptReason::Shutdown)) => Some(ER_SERVER_SHUTDOWN),
            (WireError::Closed, Some(InterruptReason::Connection)) => Some(ER_CONNECTION_KILLED),
            _ => error.code().map(|(code, _)| ErrorCode::from_number(code)),
        };
        let was_killed = raised == Some(InterruptReason::Connection);
        if was_killed || !matches!(error, WireError::Closed) {
            tracing::debug!("connection {} ended: {error}", self.state.shared.id);
        }
        if let Some(code) = code {
            self.connection.writer.clear();
            self.connection
                .writer
                .set_sequence(self.connection.reader.sequence().max(1));
            write_error(
                &mut self.connection.writer,
                code.number(),
                code.sqlstate(),
                &code.message(&[]),
            );
            let _ = self.connection.flush().await;
        }
    }

    /// Returns the writer of replies to the client.
    fn replies(&mut self) -> ReplyWriter<'_> {
        ReplyWriter::new(&mut self.state, &mut self.connection)
    }

    /// Records that the session sleeps between two commands.
    fn rest(&self) {
        let idle = match self.state.transaction.is_open() {
            true => self.idle_transaction_timeout(),
            false => None,
        };
        self.state.shared.end_command(now_micros(), idle);
    }

    /// Returns the time that the session may sleep in its open transaction. As in MariaDB it is chosen among three
    /// limits.
    fn idle_transaction_timeout(&self) -> Option<Duration> {
        let timeouts = &self.state.context.settings.idle_transaction;
        let own = match self.state.transaction.has_writes() {
            true => timeouts.write,
            false => timeouts.read_only,
        };
        own.or(timeouts.any)
    }
}
