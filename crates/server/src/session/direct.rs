//! Sessions whose requests do not come as packets of the client protocol: a front end in this process prepares
//! statements once and executes them with values.
//!
//! Such a session is like any other. It has an account with its limits, is in the list of sessions, its statements are
//! counted and logged, KILL and timeouts end it. Only the replies differ: rows go to a sink, and errors are returned.
//!
//! Rejected: a relay that speaks the client protocol to a session of its own. Encoding, decoding and two wake-ups for
//! each request cost more than the request.

use super::execution::Execution;
use super::planning::ATTEMPTS_MAX;
use super::preparation::{Preparation, parse_to_prepare, plan_to_prepare};
use super::services::on_text;
use super::statements::query::collect;
use super::{Phase, Session};
use crate::accounts::{Account, PrivilegeSet};
use crate::audit_log::ConnectionEvent;
use crate::cluster::CLUSTER_USER;
use crate::command_counter::count_command;
use crate::server::Server;
use crate::variables::Variable;
use paceline_expression::session::MemoryCharge;
use paceline_query::execute::{Outcome, RowSink};
use paceline_query::plan::{Plan, is_to_be_planned_again};
use paceline_syntax::{Error, Result, Statement};
use paceline_txn::InterruptReason;
use paceline_types::Value;
use paceline_types::error_code::*;
use paceline_wire::Capabilities;
use paceline_wire::handshake::HandshakeResponse;
use paceline_wire::socket::Socket;
use std::sync::Arc;
use std::sync::atomic::Ordering;

/// Number of the collation of the session's texts: utf8mb4_general_ci.
const COLLATION: u16 = 45;

/// A prepared statement of the session that has prepared it.
pub struct DirectStatement {
    statement: Arc<Statement>,
    text: Vec<u8>,
    digest: u64,
    plan: Option<Arc<Plan>>,
    rows_read: u64,
    _memory: MemoryCharge,
}

impl Session {
    /// Prepares a statement.
    ///
    /// # Errors
    /// Those of COM_STMT_PREPARE.
    pub fn prepare_direct(&mut self, text: &str) -> Result<DirectStatement> {
        self.state.begin_statement(None);
        let Preparation {
            statement,
            text,
            parameters: _,
            memory,
        } = parse_to_prepare(text.as_bytes().to_vec(), &mut self.state)?;
        let plan = on_text(text.len(), || plan_to_prepare(&statement, &mut self.state))?;
        Ok(DirectStatement {
            digest: self.state.digest_of(&text),
            statement,
            text,
            plan,
            rows_read: 0,
            _memory: memory,
        })
    }

    /// Executes a prepared statement. A statement without a plan, such as COMMIT, has no rows.
    ///
    /// # Errors
    /// Those of COM_STMT_EXECUTE. The transaction is as after such an error.
    pub async fn run_direct<S: RowSink + Default>(
        &mut self,
        prepared: &mut DirectStatement,
        parameters: &[Value],
    ) -> Result<(S, Outcome)> {
        self.begin_command("Execute", &prepared.text);
        self.state.begin_statement(Some(&prepared.statement));
        let done = self.execute_direct(prepared, parameters).await;
        let (done, result) = match done {
            Ok(result) => (Ok(()), Ok(result)),
            Err(error) => (Err(error.clone()), Err(error)),
        };
        self.end_statement(&prepared.text, Some(prepared.digest), &done);
        self.connection.writer.clear();
        self.rest();
        result
    }

    async fn execute_direct<S: RowSink + Default>(
        &mut self,
        prepared: &mut DirectStatement,
        parameters: &[Value],
    ) -> Result<(S, Outcome)> {
        let statement = prepared.statement.clone();
        let execution = Execution::of_prepared(&prepared.text, parameters);
        let Some(mut plan) = prepared.plan.clone() else {
            self.run_statement(&statement, execution).await?;
            return Ok((S::default(), Outcome::default()));
        };
        self.state.check_restrictions(&statement)?;
        count_command(&statement, &self.state.shared.counters);
        if is_to_be_planned_again(&plan, prepared.rows_read) {
            plan = Arc::new(self.state.plan_for(&statement, parameters)?);
            prepared.plan = Some(plan.clone());
        }
        for _ in 0..ATTEMPTS_MAX {
            if let Some(done) = collect((&plan).into(), &mut self.state, execution, S::default()).await? {
                prepared.rows_read = self.state.context.rows_read;
                return Ok(done);
            }
            self.state.shared.counters.com_stmt_reprepare.add(1);
            plan = Arc::new(on_text(prepared.text.len(), || {
                self.state.plan_for(&statement, parameters)
            })?);
            prepared.plan = Some(plan.clone());
        }
        Err(Error::new(ER_NEED_REPREPARE, &[]))
    }

    /// Logs in with a password in clear, which the client has sent over its own protocol.
    ///
    /// # Errors
    /// 1045 and the other errors of a login.
    pub fn log_in(&mut self, user: &str, password: &[u8]) -> Result<()> {
        let accounts = &self.state.server.accounts;
        let refused = || Error::new(ER_ACCESS_DENIED_ERROR, &[&user, &self.client.name, &"YES"]);
        // That name is for other members, which prove themselves in another way.
        let is_member = self.state.server.cluster.is_some() && user == CLUSTER_USER;
        let found = accounts.load().matching(user, &self.client).cloned();
        let found = found.filter(|_| !is_member);
        let errors_max = self.state.server.globals.number(Variable::MaxPasswordErrors);
        let outcome = match found {
            None => Err(refused()),
            Some(account) if accounts.password_errors().is_blocked(&account, errors_max) => {
                Err(Error::new(ER_USER_IS_BLOCKED, &[]))
            }
            Some(account) => {
                let methods = account.authentication.methods();
                // Some methods are slow on purpose.
                let is_right =
                    tokio::task::block_in_place(|| methods.iter().any(|method| method.accepts(password)));
                match is_right {
                    true => accounts.password_errors().forgive(&account),
                    false => accounts.password_errors().add(&account),
                }
                match is_right && self.is_secure_enough(&account) {
                    false => Err(refused()),
                    true => self.enter_direct(user, account),
                }
            }
        };
        self.conclude_login(user, outcome)
    }

    /// Enters as an account without a password, by the administrator's choice.
    ///
    /// # Errors
    /// 1045 if there is no such account for the client's host; the limits of the account.
    pub fn log_in_as(&mut self, user: &str) -> Result<()> {
        let found = self
            .state
            .server
            .accounts
            .load()
            .matching(user, &self.client)
            .cloned();
        let outcome = match found.filter(|account| self.is_secure_enough(account)) {
            Some(account) => self.enter_direct(user, account),
            None => Err(Error::new(
                ER_ACCESS_DENIED_ERROR,
                &[&user, &self.client.name, &"NO"],
            )),
        };
        self.conclude_login(user, outcome)
    }

    fn enter_direct(&mut self, user: &str, account: Account) -> Result<()> {
        if account.locked {
            return Err(Error::new(ER_ACCOUNT_HAS_BEEN_LOCKED, &[]));
        }
        let login = HandshakeResponse {
            capabilities: Capabilities::NONE,
            packet_max: 0,
            collation: COLLATION,
            user: user.to_owned(),
            answer: Vec::new(),
            database: None,
            plugin: None,
            attributes: Vec::new(),
        };
        self.enter(&login, account)
    }

    fn conclude_login(&mut self, user: &str, outcome: Result<()>) -> Result<()> {
        match &outcome {
            Ok(()) => {
                self.phase = Phase::Commands;
                self.state.server.host_errors.forgive(self.client.address);
                self.state.shared.authenticated.store(true, Ordering::Relaxed);
                self.audit_connection(user, ConnectionEvent::Connect, 0);
                self.rest();
            }
            Err(error) => {
                self.state.shared.counters.access_denied_errors.add(1);
                self.audit_connection(user, ConnectionEvent::FailedConnect, error.code().number());
                tracing::warn!("connection {}: {error}", self.state.shared.id);
            }
        }
        outcome
    }

    /// Returns the socket of the client.
    pub fn socket(&mut self) -> &mut Socket {
        &mut self.connection.socket
    }

    /// Records the TLS session of the client's socket.
    pub fn note_tls(&self) {
        if let Some(session) = self.connection.socket.tls() {
            let _ = self.state.shared.tls.set(session.clone());
        }
    }

    /// Counts bytes of the client's protocol.
    pub fn count_bytes(&self, received: u64, sent: u64) {
        self.state.shared.counters.bytes_received.add(received);
        self.state.shared.counters.bytes_sent.add(sent);
    }

    /// Returns whether the session has been killed, or the server stops.
    pub fn has_to_end(&self) -> bool {
        let interrupt = &self.state.shared.interrupt;
        match interrupt.raised() {
            Some(InterruptReason::Query) => {
                interrupt.clear_query();
                false
            }
            reason => reason.is_some(),
        }
    }

    /// Returns whether the transaction was left open, for example by an error.
    pub fn is_in_transaction(&self) -> bool {
        self.state.transaction.is_open()
    }

    /// Ends the session of a client.
    pub fn end_direct(&mut self) {
        if self.phase == Phase::Commands {
            self.state.leave_user_statistics();
            let user = self.state.context.user.user.clone();
            self.audit_connection(&user, ConnectionEvent::Disconnect, 0);
        }
        self.release();
    }

    /// Returns the server.
    pub fn server(&self) -> &Arc<Server> {
        &self.state.server
    }
}

/// Creates a session of the server itself, with all privileges, and the other end of its socket.
///
/// # Errors
/// The operating system's error if no socket can be created.
pub fn server_session(
    server: &Arc<Server>,
    name: &str,
) -> std::io::Result<(Session, tokio::net::UnixStream)> {
    let mut account = Account::new(name, "localhost");
    account.global = PrivilegeSet::everything();
    super::internal::event_session(server, account)
}
