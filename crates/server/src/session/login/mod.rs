//! Login of a client, when it connects and when it changes the user.
//!
//! ```text
//!   client                         server
//!     ◀── greeting, scramble ──
//!     ── PROXY header ──▶            [`proxied`], if a proxy passes the connection on
//!     ── request for TLS ──▶         handshake, if the client asks for it
//!     ── handshake response ──▶      [`authentication`]
//!     ◀── other method? ───
//!     ── answer ──▶                  [`entry`]
//!     ◀── OK or error ──────
//! ```

mod authentication;
mod changed_user;
mod collation;
mod entry;
mod proxied;

use crate::session::{Phase, Session};
use crate::variables::Variable;
use paceline_syntax::Error;
use paceline_types::Collation;
use paceline_types::error_code::*;
use paceline_wire::authentication::{NATIVE_PASSWORD, Scramble};
use paceline_wire::handshake::{Greeting, HandshakeResponse, is_tls_request};
use paceline_wire::response::{Status, write_early_error};
use paceline_wire::tls::ServerTls;
use paceline_wire::{Capabilities, WireResult};
use proxied::Proxied;
use std::sync::atomic::Ordering;

/// Maximum length of a packet before the login, in bytes.
pub const LOGIN_PACKET_MAX: usize = 1 << 20;

impl Session {
    /// Greets the client and authenticates it. Afterwards the session accepts commands or is closing.
    ///
    /// # Errors
    /// Protocol errors.
    pub(super) async fn login(&mut self) -> WireResult<()> {
        if let Some(refusal) = self.connection_refusal() {
            return self.refuse_before_greeting(&refusal).await;
        }
        let scramble = Scramble::random();
        self.scramble = Some(scramble);
        let globals = &self.state.server.globals;
        let collation =
            Collation::from_name(globals.get(Variable::CollationServer).as_str()).map_or(45, Collation::id);
        let tls = self.state.server.tls.current();
        let offered = match tls {
            Some(_) => Capabilities::SERVER | Capabilities::SSL,
            None => Capabilities::SERVER,
        };
        let greeting = Greeting {
            server_version: format!("5.5.5-{}", globals.get(Variable::Version).as_str()),
            connection_id: self.state.shared.id,
            scramble,
            capabilities: offered,
            collation: u8::try_from(collation).unwrap_or(45),
            status: Status::AUTOCOMMIT.0,
            plugin: NATIVE_PASSWORD.into(),
        };
        greeting.encode(self.connection.writer.begin());
        self.connection.writer.end();
        self.connection.flush().await?;
        if self.heed_proxy_header().await? == Proxied::Refused {
            return Ok(());
        }
        let answer = self.connection.read_answer().await?;
        if let Some(tls) = tls.filter(|_| is_tls_request(answer)) {
            self.encrypt(tls).await?;
            self.connection.read_answer().await?;
        }
        let login = HandshakeResponse::decode(self.connection.reader.payload())?;
        self.phase = Phase::Authentication;
        self.connection.capabilities = login.capabilities & Capabilities::SERVER;
        self.multi_statements = login.capabilities.has(Capabilities::MULTI_STATEMENTS);
        self.authenticate(login, scramble).await?;
        if self.phase == Phase::Commands && self.connection.capabilities.has(Capabilities::COMPRESS) {
            self.connection.compress();
            self.state.shared.is_compressed.store(true, Ordering::Relaxed);
        }
        Ok(())
    }

    /// Returns the reason not to talk to a client that has just connected: 1129 if its host has reached
    /// `max_connect_errors`, 1040 if all connections are in use. One additional connection is reserved for accounts
    /// with SUPER or CONNECTION ADMIN, which is checked after the login.
    pub(crate) fn connection_refusal(&self) -> Option<Error> {
        let server = &self.state.server;
        let errors_max = server.globals.number(Variable::MaxConnectErrors);
        if server.host_errors.is_blocked(self.client.address, errors_max) {
            return Some(Error::new(ER_HOST_IS_BLOCKED, &[&self.client.name]));
        }
        let limit = server.globals.number(Variable::MaxConnections) as usize;
        let (count, counters) = (server.sessions.count(), &server.counters);
        counters
            .connections_max
            .fetch_max(count as u64, Ordering::Relaxed);
        if count <= limit + 1 {
            return None;
        }
        counters.too_many_connections.fetch_add(1, Ordering::Relaxed);
        Some(Error::new(ER_CON_COUNT_ERROR, &[]))
    }

    /// Encrypts the connection at the client's request.
    ///
    /// # Errors
    /// If the handshake fails.
    pub(crate) async fn encrypt(&mut self, tls: ServerTls) -> WireResult<()> {
        self.state.server.tls.begin_handshake();
        self.connection.encrypt(tls).await.inspect_err(|error| {
            // An untrusted certificate, or no common cipher suite. The client is told little about the reason.
            tracing::warn!("connection {}: {error}", self.state.shared.id);
        })?;
        self.state.server.tls.end_handshake();
        if let Some(session) = self.connection.socket.tls() {
            let _ = self.state.shared.tls.set(session.clone());
        }
        Ok(())
    }

    /// Sends an error instead of the greeting. As in MariaDB it has no SQLSTATE, because the client's capabilities are
    /// unknown.
    async fn refuse_before_greeting(&mut self, refusal: &Error) -> WireResult<()> {
        write_early_error(
            &mut self.connection.writer,
            refusal.code().number(),
            refusal.message(),
        );
        self.connection.flush().await?;
        self.phase = Phase::Closing;
        Ok(())
    }

    /// Resets the session for COM_RESET_CONNECTION and COM_CHANGE_USER: the transaction is rolled back, and all session
    /// state is cleared.
    fn reset(&mut self) {
        self.statements.clear();
        self.state.reset();
    }

    /// Executes COM_RESET_CONNECTION: the session is reset, with the same user and database and the character set of
    /// the login.
    pub(super) fn reset_connection(&mut self) {
        let database = self.state.context.database.clone();
        self.reset();
        self.state.server.sessions.settle(&self.state.shared);
        self.set_up_values();
        if let Some(database) = database {
            let _ = self.state.use_database(&database);
        }
        self.state.changes.clear();
    }
}
