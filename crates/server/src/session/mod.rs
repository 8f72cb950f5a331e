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
//! A session is one task of the runtime. Its statements run synchronously: no other task can run in between on the same
//! session, so nothing here is shared except [`crate::registry::SessionShared`]. Only reading a command, sending a
//! reply and waiting for a commit suspend the task. Operations that block (a lock, a full socket) announce it to the
//! runtime.

pub mod account;
pub mod admin;
pub mod assignment;
pub mod backup;
pub mod binlog_statement;
pub mod check_table;
pub mod checksum;
pub mod commands;
pub mod connection;
pub mod ddl;
pub mod errors;
pub mod files;
pub mod gtid_wait;
pub mod idle_poll;
pub mod init_file;
pub mod load;
pub mod log_admin;
pub mod logged_statement;
pub mod login;
pub mod login_collation;
pub mod omitted_definition;
pub mod outfile;
pub mod place_wait;
pub mod plans;
pub mod prepared;
pub mod privileges;
pub mod query;
pub mod replicas;
pub mod replicated;
pub mod replication;
pub mod result;
pub mod services;
pub mod set;
pub mod show;
pub mod slave_status;
pub mod snapshot_at_gtid;
pub mod sources;
pub mod table_locks;
pub mod temporary;
mod time_slice;
pub mod transaction;
pub mod user_locks;

use crate::registry::{SessionShared, now_micros};
use crate::server::Server;
use crate::statement_logs::StatementLogSettings;
use crate::variables::Variable;
use connection::Connection;
use idle_poll::IdlePoll;
use paceline_binlog::event::FormatDescription;
use paceline_catalog::TemporaryTables;
use paceline_expression::session::SessionContext;
use paceline_txn::InterruptReason;
use paceline_types::Collation;
use paceline_types::error_code::{ER_CONNECTION_KILLED, ER_SERVER_SHUTDOWN, ErrorCode};
use paceline_wire::response::{OkKind, OkPacket, Status, write_error};
use paceline_wire::{WireError, WireResult};
use services::SessionServices;
use std::collections::HashMap;
use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::Duration;

/// Phase of a session.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Phase {
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
    /// The server that it belongs to.
    pub server: Arc<Server>,
    /// The part that other sessions can access.
    pub shared: Arc<SessionShared>,
    /// Services for the execution of statements.
    pub services: Arc<SessionServices>,
    /// Context for the execution of statements.
    pub context: SessionContext,
    /// Settings for the statement logs.
    pub statement_log_settings: StatementLogSettings,
    /// Connection to the client.
    pub connection: Connection,
    /// Current transaction.
    pub transaction: transaction::TransactionSlot,
    /// Temporary tables.
    pub temporary: TemporaryTables,
    /// Temporary tables under other values of `pseudo_thread_id` and `server_id`.
    pub other_temporary: HashMap<temporary::TemporaryOwner, TemporaryTables>,
    /// Prepared statements.
    pub prepared: prepared::PreparedStatements,
    /// Locks of LOCK TABLES and FLUSH TABLES WITH READ LOCK.
    pub table_locks: table_locks::TableLocks,
    /// Whether one query may contain several statements.
    pub multi_statements: bool,
    /// Encoded changes of the session's state, for the next OK packet.
    pub state_changes: Vec<u8>,
    /// Current phase.
    pub phase: Phase,
    /// Format of the events in BINLOG statements, after one of them has set it.
    pub binlog_format: Option<FormatDescription>,
    /// Collation requested at the last login; `None`: the server's default.
    pub login_collation: Option<Collation>,
    /// Origin of the connection.
    pub client: crate::accounts::ClientHost,
    /// Entry in the registry, unless it is an internal session. It is dropped last: when the entry is gone, nothing of
    /// the session exists any more.
    pub registered: Option<Registered>,
}

/// Entry in the registry. Dropping it removes the session.
pub struct Registered {
    server: Arc<Server>,
    shared: Arc<SessionShared>,
}

impl Registered {
    /// Adds a session to the registry.
    pub fn new(server: &Arc<Server>, shared: &Arc<SessionShared>) -> Registered {
        server.sessions.add(shared.clone());
        Registered {
            server: server.clone(),
            shared: shared.clone(),
        }
    }
}

impl Drop for Registered {
    fn drop(&mut self) {
        self.server.primary.replicas().forget(self.shared.id);
        self.server.sessions.remove(&self.shared);
    }
}

impl Drop for Session {
    fn drop(&mut self) {
        self.release();
    }
}

impl Session {
    /// Runs the session to its end.
    pub async fn run(mut self) {
        let limit = std::time::Duration::from_secs(
            self.server
                .globals
                .number(crate::variables::Variable::ConnectTimeout),
        );
        match tokio::time::timeout(limit, self.login()).await {
            Ok(Ok(())) if self.phase == Phase::Commands => {
                if let Err(error) = self.serve().await {
                    self.say_goodbye(error).await;
                }
            }
            Ok(Ok(())) => {}
            Ok(Err(error)) => {
                self.count_host_error();
                self.server
                    .counters
                    .aborted_connects
                    .fetch_add(1, Ordering::Relaxed);
                self.say_goodbye(error).await;
            }
            Err(_) => {
                self.count_host_error();
                self.server
                    .counters
                    .aborted_connects
                    .fetch_add(1, Ordering::Relaxed);
                tracing::debug!("connection {}: no login within connect_timeout", self.shared.id);
            }
        }
        self.release();
        self.connection.finish().await;
    }

    /// Counts a connection that ends before a login was begun as an error of the client's host.
    fn count_host_error(&self) {
        if self.phase == Phase::Login {
            self.server.host_errors.add(self.client.address);
        }
    }

    /// Releases the server's resources: before the client is told the end, or when a panic ends the session.
    fn release(&mut self) {
        self.transaction.abandon();
        self.drop_temporary_tables();
        self.table_locks = Default::default();
        self.prepared.clear();
        paceline_expression::session::ServerFunctions::release_all_locks(&*self.services, &self.context);
    }

    /// Executes commands until the connection ends.
    async fn serve(&mut self) -> WireResult<()> {
        let mut idle_poll = IdlePoll::new(self.server.last_command.clone(), self.shared.id);
        while self.phase == Phase::Commands {
            self.connection.reader.set_sequence(0);
            let longest =
                || Duration::from_micros(self.server.globals.number(Variable::PacelineIdlePollUsec));
            idle_poll.receive(&mut self.connection, longest).await?;
            if let Some(reason) = self.shared.interrupt.raised() {
                if reason > InterruptReason::Query {
                    return Err(WireError::Closed);
                }
                // A KILL QUERY during its sleep had no statement to stop.
                self.shared.interrupt.clear_query();
            }
            self.connection
                .writer
                .set_sequence(self.connection.reader.sequence());
            self.command().await?;
            if self.shared.interrupt.raised() == Some(InterruptReason::Connection) {
                // Whatever the result of the statement is, a killed client does not get it.
                return Err(WireError::Closed);
            }
            let sent = self.connection.writer.pending() as u64;
            let received = self.connection.reader.payload().len() as u64 + 4;
            self.connection.flush().await?;
            self.shared.counters.bytes_sent.add(sent);
            self.shared.counters.bytes_received.add(received);
        }
        Ok(())
    }

    /// Tells the client why the connection ends, if possible.
    async fn say_goodbye(&mut self, error: WireError) {
        let code = match (&error, self.shared.interrupt.raised()) {
            (WireError::Closed, Some(InterruptReason::Shutdown)) => Some(ER_SERVER_SHUTDOWN),
            (WireError::Closed, Some(InterruptReason::Connection)) => Some(ER_CONNECTION_KILLED),
            _ => error.code().map(|(code, _)| ErrorCode::from_number(code)),
        };
        let was_killed = self.shared.interrupt.raised() == Some(InterruptReason::Connection);
        if was_killed || !matches!(error, WireError::Closed) {
            self.server
                .counters
                .aborted_clients
                .fetch_add(1, Ordering::Relaxed);
            tracing::debug!("connection {} ended: {error}", self.shared.id);
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

    /// Returns the status flags of every OK and EOF packet.
    pub fn status(&self) -> Status {
        let mut status = Status::default();
        let settings = &self.context.settings;
        if settings.autocommit {
            status = status.with(Status::AUTOCOMMIT);
        }
        if self.transaction.is_open() {
            status = status.with(Status::IN_TRANSACTION);
            if self.transaction.is_read_only() {
                status = status.with(Status::IN_READ_ONLY_TRANSACTION);
            }
        }
        if settings
            .sql_mode
            .contains(paceline_expression::session::SqlMode::NO_BACKSLASH_ESCAPES)
        {
            status = status.with(Status::NO_BACKSLASH_ESCAPES);
        }
        if settings
            .sql_mode
            .contains(paceline_expression::session::SqlMode::ANSI_QUOTES)
        {
            status = status.with(Status::ANSI_QUOTES);
        }
        status
    }

    /// Writes an OK packet. `more` tells whether another result follows.
    pub fn write_ok(&mut self, affected_rows: u64, last_insert_id: u64, info: &str, more: More) {
        self.context.row_count = i64::try_from(affected_rows).unwrap_or(i64::MAX);
        let ok = OkPacket {
            affected_rows,
            last_insert_id,
            status: more.mark(self.status()),
            warnings: self.context.diagnostics.warning_count_u16(),
            info,
            state: &self.state_changes,
        };
        ok.write(
            &mut self.connection.writer,
            OkKind::Command,
            self.connection.capabilities,
        );
        self.state_changes.clear();
    }

    /// Writes an ERR packet, and adds the error to the diagnostics.
    pub fn write_sql_error(&mut self, error: &paceline_syntax::Error) {
        use paceline_expression::session::Level;
        self.context
            .diagnostics
            .push(Level::Error, error.code(), error.message());
        self.context.row_count = -1;
        // For many clients a message ends at its first NUL. MariaDB escapes it so.
        let message = error.message().replace('\0', "\\0000");
        write_error(
            &mut self.connection.writer,
            error.code().number(),
            error.sqlstate(),
            &message,
        );
    }

    /// Writes the packet that ends the rows of a result set.
    pub fn write_end_of_rows(&mut self, more: More) {
        self.context.row_count = -1;
        let ok = OkPacket {
            status: more.mark(self.status()),
            warnings: self.context.diagnostics.warning_count_u16(),
            state: &self.state_changes,
            ..OkPacket::default()
        };
        paceline_wire::response::write_end_of_rows(
            &mut self.connection.writer,
            &ok,
            self.connection.capabilities,
        );
        self.state_changes.clear();
    }

    /// Records that the session sleeps between two commands.
    pub fn rest(&self) {
        let idle = match self.transaction.is_open() {
            true => self.idle_transaction_timeout(),
            false => None,
        };
        self.shared.end_command(now_micros(), idle);
    }

    /// Returns how long the session may sleep in its open transaction, chosen among three limits as in MariaDB.
    fn idle_transaction_timeout(&self) -> Option<Duration> {
        let timeouts = &self.context.settings.idle_transaction;
        let own = match self.transaction.has_writes() {
            true => timeouts.write,
            false => timeouts.read_only,
        };
        own.or(timeouts.any)
    }
}

/// Whether another result follows in the answer to the same command.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum More {
    /// This is the last result.
    No,
    /// Another one follows.
    Yes,
}

impl More {
    /// Adds the flag `MORE_RESULTS`, if another result follows.
    pub fn mark(self, status: Status) -> Status {
        match self {
            More::No => status,
            More::Yes => status.with(Status::MORE_RESULTS),
        }
    }
}
