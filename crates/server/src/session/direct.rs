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

impl DirectStatement {
    /// Returns the statement.
    pub fn statement(&self) -> &Statement {
        &self.statement
    }

    /// Returns whether it has a plan. One without has no rows, or sends them to the client by itself.
    pub fn is_planned(&self) -> bool {
        self.plan.is_some()
    }
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
            Ok(result) => (Ok(()), Some(result)),
            Err(error) => (Err(error), None),
        };
        let told = self.end_statement(&prepared.text, Some(prepared.digest), done);
        self.connection.writer.clear();
        self.rest();
        told.map(|()| result.expect("a statement that has succeeded has a result"))
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
            plan = self.state.plan_again(&statement, &prepared.text, parameters)?;
            prepared.plan = Some(plan.clone());
        }
        Err(Error::new(ER_NEED_REPREPARE, &[]))
    }

    /// Logs in with a password in clear, which the client has sent over its own protocol.
    ///
    /// # Errors
    /// 1045 and the other errors of a login.
    pub fn log_in(&mut self, user: &str, password: &[u8]) -> Result<()> {
        let login = direct_login(user);
        let outcome = self.try_password(&login, password);
        self.conclude_login(&login, &outcome);
        outcome
    }

    fn try_password(&mut self, login: &HandshakeResponse, password: &[u8]) -> Result<()> {
        if self.state.server.accounts.are_skipped() {
            return self.enter(login, Account::of_skipped());
        }
        let user = &login.user;
        // That name is for other members, which prove themselves in another way.
        let is_of_member = self.state.server.cluster.is_some() && user == CLUSTER_USER;
        let found = self.account_of(user).filter(|_| !is_of_member);
        self.check_password_errors(found.as_ref())?;
        let methods = found
            .as_ref()
            .map_or(&[][..], |account| account.authentication.methods());
        // Some methods are slow on purpose.
        let is_right = tokio::task::block_in_place(|| methods.iter().any(|method| method.accepts(password)));
        self.count_password(found.as_ref(), is_right);
        let refusal = Error::new(ER_ACCESS_DENIED_ERROR, &[user, &self.client.name, &"YES"]);
        self.admit(login, found.filter(|_| is_right), refusal)
    }

    /// Enters as an account without a password, by the administrator's choice.
    ///
    /// # Errors
    /// 1045 if there is no such account for the client's host; the limits of the account.
    pub fn log_in_as(&mut self, user: &str) -> Result<()> {
        let login = direct_login(user);
        let refusal = Error::new(ER_ACCESS_DENIED_ERROR, &[&user, &self.client.name, &"NO"]);
        let outcome = self.admit(&login, self.account_of(user), refusal);
        self.conclude_login(&login, &outcome);
        outcome
    }

    /// Returns the socket of the client.
    pub fn socket(&mut self) -> &mut Socket {
        &mut self.connection.socket
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

    /// Returns whether the session has been killed.
    pub fn is_killed(&self) -> bool {
        self.state.shared.interrupt.raised() == Some(InterruptReason::Connection)
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

/// Returns the login of a client that has only a user name.
fn direct_login(user: &str) -> HandshakeResponse {
    HandshakeResponse {
        capabilities: Capabilities::NONE,
        packet_max: 0,
        collation: COLLATION,
        user: user.to_owned(),
        answer: Vec::new(),
        database: None,
        plugin: None,
        attributes: Vec::new(),
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
