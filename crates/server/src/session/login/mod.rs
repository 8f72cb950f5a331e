//! Authentication of a client, when it connects and when it changes the user.

mod collation;

use crate::accounts::Account;
use crate::accounts::authentication::Method;
use crate::accounts::initial::system_user;
use crate::session::protocol::More;
use crate::session::{Phase, Session};
use crate::variables::{Variable, VariableValue, apply_all_to_session, apply_to_session};
use collation::login_collation;
use paceline_syntax::{Error, Result};
use paceline_types::error_code::*;
use paceline_types::{Collation, ErrorCode};
use paceline_wire::authentication::{NATIVE_PASSWORD, NativePassword, Scramble};
use paceline_wire::handshake::{Greeting, HandshakeResponse, encode_authentication_switch, is_tls_request};
use paceline_wire::response::{Status, write_early_error};
use paceline_wire::tls::proof::proof;
use paceline_wire::{Capabilities, WireResult};
use std::sync::atomic::Ordering;

/// Maximum length of a packet before the login, in bytes.
pub const LOGIN_PACKET_MAX: usize = 1 << 20;

/// Authentication data of a client during its login.
struct LoginAttempt {
    scramble: Scramble,
    answer: Vec<u8>,
    /// Whether the answer is for `mysql_native_password`.
    is_native: bool,
    /// Whether the error mentions the use of a password: a user of the UNIX socket has none.
    mentions_password: bool,
}

impl LoginAttempt {
    fn new(login: &HandshakeResponse, scramble: Scramble) -> LoginAttempt {
        let is_native = login
            .plugin
            .as_deref()
            .is_none_or(|plugin| plugin == NATIVE_PASSWORD);
        LoginAttempt {
            scramble,
            answer: login.answer.clone(),
            is_native,
            mentions_password: true,
        }
    }

    fn refusal(&self, user: &str, host: &str) -> Error {
        let using = if self.answer.is_empty() { "NO" } else { "YES" };
        match self.mentions_password {
            true => Error::new(ER_ACCESS_DENIED_ERROR, &[&user, &host, &using]),
            false => Error::new(ER_ACCESS_DENIED_NO_PASSWORD_ERROR, &[&user, &host]),
        }
    }
}

impl Session {
    /// Greets the client and authenticates it. Afterwards the session accepts commands or is closing.
    ///
    /// # Errors
    /// Protocol errors.
    pub(super) async fn login(&mut self) -> WireResult<()> {
        if self.refuse_if_blocked().await? || self.refuse_if_full().await? {
            return Ok(());
        }
        let scramble = Scramble::random();
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
        let answer = self.connection.read_answer().await?;
        if let Some(tls) = tls.filter(|_| is_tls_request(answer)) {
            self.state.server.tls.begin_handshake();
            self.connection.encrypt(tls).await.inspect_err(|error| {
                // An untrusted certificate, or no common cipher suite. The client gets little information.
                tracing::warn!("connection {}: {error}", self.state.shared.id);
            })?;
            self.state.server.tls.end_handshake();
            if let Some(session) = self.connection.socket.tls() {
                let _ = self.state.shared.tls.set(session.clone());
            }
            self.connection.read_answer().await?;
        }
        let login = HandshakeResponse::decode(self.connection.reader.payload())?;
        self.phase = Phase::Authentication;
        self.connection.capabilities = login.capabilities & Capabilities::SERVER;
        self.multi_statements = login.capabilities.has(Capabilities::MULTI_STATEMENTS);
        self.authenticate(login, scramble).await?;
        if self.phase == Phase::Commands && self.connection.capabilities.has(Capabilities::COMPRESS) {
            self.connection.compress();
        }
        Ok(())
    }

    /// Refuses with 1040 if all connections are in use. One additional connection is for accounts with SUPER or
    /// CONNECTION ADMIN, which is checked after the login.
    async fn refuse_if_full(&mut self) -> WireResult<bool> {
        let limit = self.state.server.globals.number(Variable::MaxConnections) as usize;
        let count = self.state.server.sessions.count();
        self.state
            .server
            .counters
            .connections_max
            .fetch_max(count as u64, Ordering::Relaxed);
        if count <= limit + 1 {
            return Ok(false);
        }
        self.state
            .server
            .counters
            .too_many_connections
            .fetch_add(1, Ordering::Relaxed);
        self.refuse_before_greeting(ER_CON_COUNT_ERROR, ER_CON_COUNT_ERROR.message(&[]))
            .await?;
        Ok(true)
    }

    /// Refuses with 1129 if the host has reached `max_connect_errors`.
    async fn refuse_if_blocked(&mut self) -> WireResult<bool> {
        let errors_max = self.state.server.globals.number(Variable::MaxConnectErrors);
        if !self
            .state
            .server
            .host_errors
            .is_blocked(self.client.address, errors_max)
        {
            return Ok(false);
        }
        let message = ER_HOST_IS_BLOCKED.message(&[&self.client.name]);
        self.refuse_before_greeting(ER_HOST_IS_BLOCKED, message).await?;
        Ok(true)
    }

    /// Sends an error instead of the greeting. As from MariaDB it has no SQLSTATE, because the client's capabilities
    /// are unknown.
    async fn refuse_before_greeting(&mut self, code: ErrorCode, message: String) -> WireResult<()> {
        write_early_error(&mut self.connection.writer, code.number(), &message);
        self.connection.flush().await?;
        self.phase = Phase::Closing;
        Ok(())
    }

    /// Executes COM_CHANGE_USER: the whole session is reset.
    pub(super) async fn change_user(&mut self) -> WireResult<()> {
        let payload = &self.connection.reader.payload()[1..];
        let login = HandshakeResponse::decode_change_user(payload, self.connection.capabilities)?;
        self.reset();
        // Use a new scramble, because that of the greeting was already used.
        let scramble = Scramble::random();
        let login = HandshakeResponse {
            plugin: Some(String::new()),
            ..login
        };
        self.authenticate(login, scramble).await
    }

    async fn authenticate(&mut self, login: HandshakeResponse, scramble: Scramble) -> WireResult<()> {
        if self.state.server.accounts.are_skipped() {
            let outcome = self.enter(&login, Account::of_skipped());
            return self.answer_login(outcome, "").await;
        }
        let found = self
            .state
            .server
            .accounts
            .load()
            .matching(&login.user, &self.client)
            .cloned();
        // A client with an unknown user gets the same questions as one whose account has a password.
        let methods = match &found {
            Some(account) => account.authentication.methods(),
            None => &[Method::NoPassword(String::new())],
        };
        let errors = self.state.server.accounts.password_errors();
        let errors_max = self.state.server.globals.number(Variable::MaxPasswordErrors);
        if found
            .as_ref()
            .is_some_and(|account| errors.is_blocked(account, errors_max))
        {
            return self
                .answer_login(Err(Error::new(ER_USER_IS_BLOCKED, &[])), "")
                .await;
        }
        let mut attempt = LoginAttempt::new(&login, scramble);
        let mut is_proved = false;
        for method in methods {
            is_proved = self.try_method(method, &login, &mut attempt).await?;
            if is_proved {
                break;
            }
        }
        if let Some(account) = &found {
            let errors = self.state.server.accounts.password_errors();
            match is_proved {
                true => errors.forgive(account),
                false if attempt.is_native => errors.add(account),
                false => {}
            }
        }
        let account = found
            .filter(|_| is_proved)
            .filter(|account| self.is_secure_enough(account));
        let proof = account
            .as_ref()
            .map(|account| self.proof(account, &attempt.scramble))
            .unwrap_or_default();
        let outcome = match account {
            Some(account) if account.locked => Err(Error::new(ER_ACCOUNT_HAS_BEEN_LOCKED, &[])),
            Some(account) => self.enter(&login, account),
            None => Err(attempt.refusal(&login.user, &self.client.name)),
        };
        self.answer_login(outcome, &proof).await
    }

    /// Tries to authenticate the client by this method. Data that it has already sent for the same method is not
    /// requested again.
    async fn try_method(
        &mut self,
        method: &Method,
        login: &HandshakeResponse,
        attempt: &mut LoginAttempt,
    ) -> WireResult<bool> {
        let password = match method {
            Method::UnixSocket(_) => {
                attempt.mentions_password = false;
                let user = self.connection.socket.peer_user_id().map(system_user);
                return Ok(user.is_some_and(|name| name == login.user));
            }
            Method::Native(password) => Some(password),
            Method::NoPassword(_) => None,
        };
        if !attempt.is_native {
            encode_authentication_switch(self.connection.writer.begin(), NATIVE_PASSWORD, &attempt.scramble);
            self.connection.writer.end();
            self.connection.flush().await?;
            attempt.answer = self.connection.read_answer().await?.to_vec();
            attempt.is_native = true;
        }
        if !attempt.answer.is_empty() {
            attempt.mentions_password = true;
        }
        Ok(password.is_some_and(|password| password.verify(&attempt.scramble, &attempt.answer)))
    }

    /// Sends the result of the login to the client.
    async fn answer_login(&mut self, outcome: Result<()>, proof: &str) -> WireResult<()> {
        match outcome {
            Ok(()) => {
                self.phase = Phase::Commands;
                self.state.server.host_errors.forgive(self.client.address);
                self.state.shared.authenticated.store(true, Ordering::Relaxed);
                self.rest();
                self.replies().ok(0, 0, proof, More::No);
            }
            Err(error) => {
                self.state
                    .server
                    .counters
                    .access_denied
                    .fetch_add(1, Ordering::Relaxed);
                tracing::warn!("connection {}: {error}", self.state.shared.id);
                self.replies().error(&error);
                self.phase = Phase::Closing;
            }
        }
        self.connection.flush().await
    }

    /// Checks `REQUIRE …` of the account, and `require_secure_transport`: encrypted, or a local socket.
    fn is_secure_enough(&self, account: &Account) -> bool {
        let tls = self.state.shared.tls.get();
        let is_network = self.connection.socket.peer_address().is_some();
        let prohibited =
            tls.is_none() && is_network && self.state.server.globals.is_on(Variable::RequireSecureTransport);
        !prohibited && account.require.is_met_by(tls)
    }

    /// Returns the proof for the client that the owner of this certificate knows the client's password. Unencrypted
    /// clients, and those that know the certificate's authority, ignore it.
    fn proof(&self, account: &Account, scramble: &Scramble) -> String {
        match (&self.connection.tls, account.authentication.password()) {
            (Some(tls), Some(NativePassword::Hash(kept))) => proof(&kept, scramble, tls.certificate()),
            _ => String::new(),
        }
    }

    /// Sets the session up for the account of an authenticated client.
    fn enter(&mut self, login: &HandshakeResponse, account: Account) -> Result<()> {
        use paceline_expression::session::{Account as AccountName, Privilege};
        let globals = &self.state.server.globals;
        let limit = globals.number(Variable::MaxConnections) as usize;
        let may_always =
            account.global.has(Privilege::Super) || account.global.has(Privilege::ConnectionAdmin);
        if self.state.server.sessions.count() > limit && !may_always {
            self.state
                .server
                .counters
                .too_many_connections
                .fetch_add(1, Ordering::Relaxed);
            return Err(Error::new(ER_CON_COUNT_ERROR, &[]));
        }
        self.check_user_connections(login, &account)?;
        self.state.context.user = AccountName {
            user: login.user.clone(),
            host: self.client.name.clone(),
        };
        self.state.context.current_user = AccountName {
            user: account.user.clone(),
            host: account.host.clone(),
        };
        self.state.services.set_account(account);
        self.login_collation = login_collation(login.collation)?;
        self.set_up_values();
        self.state.shared.update(|activity| {
            activity.user = login.user.clone();
            activity.state = "";
        });
        match &login.database {
            Some(database) => self.state.use_database(database),
            None => Ok(()),
        }
    }

    /// Returns 1226 and 1203 for too many connections of one user.
    fn check_user_connections(&self, login: &HandshakeResponse, account: &Account) -> Result<()> {
        let global = self
            .state
            .server
            .globals
            .get(Variable::MaxUserConnections)
            .as_u64();
        let limit = if account.user_connections_max > 0 {
            account.user_connections_max
        } else {
            global
        };
        if limit == 0 {
            return Ok(());
        }
        let same = |session: &&std::sync::Arc<crate::registry::SessionShared>| {
            session.id != self.state.shared.id && session.activity().user == login.user
        };
        let others = self.state.server.sessions.all().iter().filter(same).count() as u64;
        if others < limit {
            return Ok(());
        }
        Err(match account.user_connections_max {
            0 => Error::new(ER_TOO_MANY_USER_CONNECTIONS, &[&login.user]),
            limit => Error::new(
                ER_USER_LIMIT_REACHED,
                &[&login.user, &"max_user_connections", &limit],
            ),
        })
    }

    /// Sets session variables to their global values, and the character set and timeouts that the client requested.
    fn set_up_values(&mut self) {
        let mut values = crate::variables::SessionValues::new(&self.state.server.globals);
        apply_all_to_session(&mut self.state.context, &mut values);
        let collation = self.login_collation.or_else(|| {
            Collation::from_name(self.state.server.globals.get(Variable::CollationServer).as_str())
        });
        if let Some(collation) = collation {
            let charset = VariableValue::Text(collation.charset().name().into());
            let settings = [
                (Variable::CharacterSetClient, charset.clone()),
                (Variable::CharacterSetResults, charset),
                (
                    Variable::CollationConnection,
                    VariableValue::Text(collation.name().into()),
                ),
            ];
            for (variable, setting) in settings {
                values.set(variable, setting.clone());
                apply_to_session(&mut self.state.context, &mut values, variable, &setting);
            }
        }
        if self.connection.capabilities.has(Capabilities::INTERACTIVE) {
            let timeout = values.get(Variable::InteractiveTimeout).clone();
            values.set(Variable::WaitTimeout, timeout);
        }
        let seconds = values.get(Variable::WaitTimeout).as_u64();
        self.state
            .shared
            .update(|activity| activity.wait_timeout_seconds = seconds);
        self.connection
            .reader
            .set_payload_max(self.state.context.settings.max_allowed_packet);
        self.connection.heed(&values);
        self.state.log_settings.heed(&values);
        if self.connection.capabilities.has(Capabilities::IGNORE_SPACE) {
            let mode = self
                .state
                .context
                .settings
                .sql_mode
                .with(paceline_expression::session::SqlMode::IGNORE_SPACE);
            self.state.context.settings.sql_mode = mode;
        }
        *self.state.services.values.lock() = values;
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
