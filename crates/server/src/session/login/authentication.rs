//! Authentication of a client by the methods of its account.

use crate::accounts::Account;
use crate::accounts::authentication::Method;
use crate::accounts::initial::system_user;
use crate::audit_log::ConnectionEvent;
use crate::cluster::CLUSTER_USER;
use crate::session::protocol::More;
use crate::session::{Phase, Session};
use crate::user_statistics::TallyValues;
use crate::variables::Variable;
use paceline_syntax::{Error, Result};
use paceline_types::error_code::*;
use paceline_wire::WireResult;
use paceline_wire::authentication::{NATIVE_PASSWORD, NativePassword, Scramble};
use paceline_wire::caching_sha2::{CACHING_SHA2_PASSWORD, CachedPassword, CachingSha2Password, auth_status};
use paceline_wire::ed25519::{CLIENT_ED25519, Nonce};
use paceline_wire::handshake::{
    HandshakeResponse, encode_authentication_request, encode_authentication_switch,
};
use paceline_wire::tls::proof::proof;
use std::sync::atomic::Ordering;

/// Authentication data of a client during its login.
struct LoginAttempt {
    scramble: Scramble,
    /// The client's answer for `mysql_native_password`, if it has sent one.
    native: Option<Vec<u8>>,
    /// The client's answer for `caching_sha2_password`, if it has sent one.
    caching_sha2: Option<Vec<u8>>,
    /// Whether the client has answered any method that needs a password.
    was_asked: bool,
    /// Use of a password, as the error mentions it: `YES`, `NO`. `None` on a UNIX socket, where no password is used.
    using_password: Option<&'static str>,
}

impl LoginAttempt {
    fn new(login: &HandshakeResponse, scramble: Scramble) -> LoginAttempt {
        let is_native = login
            .plugin
            .as_deref()
            .is_none_or(|plugin| plugin == NATIVE_PASSWORD);
        let is_caching_sha2 = login.plugin.as_deref() == Some(CACHING_SHA2_PASSWORD);
        LoginAttempt {
            scramble,
            native: is_native.then(|| login.answer.clone()),
            caching_sha2: is_caching_sha2.then(|| login.answer.clone()),
            was_asked: is_native || is_caching_sha2,
            using_password: Some(if login.answer.is_empty() { "NO" } else { "YES" }),
        }
    }

    /// Returns the answer for `mysql_native_password`; empty if the client has not given one.
    fn native_answer(&self) -> &[u8] {
        self.native.as_deref().unwrap_or_default()
    }

    fn refusal(&self, user: &str, host: &str) -> Error {
        match self.using_password {
            Some(using) => Error::new(ER_ACCESS_DENIED_ERROR, &[&user, &host, &using]),
            None => Error::new(ER_ACCESS_DENIED_NO_PASSWORD_ERROR, &[&user, &host]),
        }
    }
}

/// Returns whether an error says that the client may not enter. Others, as that of an unknown database, say that it
/// cannot.
fn is_denied_login(code: ErrorCode) -> bool {
    [
        ER_ACCESS_DENIED_ERROR,
        ER_ACCESS_DENIED_NO_PASSWORD_ERROR,
        ER_DBACCESS_DENIED_ERROR,
    ]
    .contains(&code)
}

impl Session {
    /// Authenticates a client and sends the result. Afterwards the session accepts commands or is closing.
    pub(super) async fn authenticate(
        &mut self,
        login: HandshakeResponse,
        scramble: Scramble,
    ) -> WireResult<()> {
        if self.state.server.accounts.are_skipped() {
            let outcome = self.enter(&login, Account::of_skipped());
            return self.answer_login(&login, outcome, "").await;
        }
        if self.is_of_own_process {
            let outcome = self.enter(&login, Account::of_embedding_program());
            return self.answer_login(&login, outcome, "").await;
        }
        if let Some(cluster) = &self.state.server.cluster
            && login.user == CLUSTER_USER
        {
            let secret = Method::Native(NativePassword::of(&cluster.membership.secret));
            return self.authenticate_member(&login, scramble, &secret).await;
        }
        let found = self.account_of(&login.user);
        // A client with an unknown user gets the request of an account with a native password. As in MariaDB, the
        // request of another method tells that the account exists.
        let methods = match &found {
            Some(account) => account.authentication.methods(),
            None => &[Method::NoPassword(String::new())],
        };
        if let Err(error) = self.check_password_errors(found.as_ref()) {
            return self.answer_login(&login, Err(error), "").await;
        }
        let mut attempt = LoginAttempt::new(&login, scramble);
        let mut proved_by = None;
        for method in methods {
            if self.try_method(method, &login, &mut attempt).await? {
                proved_by = Some(method);
                break;
            }
        }
        let is_proved = proved_by.is_some();
        if is_proved || attempt.was_asked {
            self.count_password(found.as_ref(), is_proved);
        }
        let proof = proved_by
            .map(|method| self.proof(method, &attempt.scramble))
            .unwrap_or_default();
        let refusal = attempt.refusal(&login.user, &self.client.name);
        let outcome = self.admit(&login, found.filter(|_| is_proved), refusal);
        self.answer_login(&login, outcome, &proof).await
    }

    /// Returns the account that a client with this user name has.
    pub(in crate::session) fn account_of(&self, user: &str) -> Option<Account> {
        self.state.server.accounts.for_login(user, &self.client)
    }

    /// Checks that an account has not had too many wrong passwords.
    ///
    /// # Errors
    /// 4150.
    pub(in crate::session) fn check_password_errors(&self, account: Option<&Account>) -> Result<()> {
        let errors = self.state.server.accounts.password_errors();
        let errors_max = self.state.server.globals.number(Variable::MaxPasswordErrors);
        match account.is_some_and(|account| errors.is_blocked(account, errors_max)) {
            true => Err(Error::new(ER_USER_IS_BLOCKED, &[])),
            false => Ok(()),
        }
    }

    /// Counts a password for `max_password_errors`.
    pub(in crate::session) fn count_password(&self, account: Option<&Account>, is_right: bool) {
        let errors = self.state.server.accounts.password_errors();
        match account {
            Some(account) if is_right => errors.forgive(account),
            Some(account) => errors.add(account),
            None => {}
        }
    }

    /// Sets the session up for an account that the client has proved to own.
    ///
    /// # Errors
    /// `refusal` if there is none, or the connection is not as secure as it requires; 4151 for a locked one; limits.
    pub(in crate::session) fn admit(
        &mut self,
        login: &HandshakeResponse,
        account: Option<Account>,
        refusal: Error,
    ) -> Result<()> {
        match account.filter(|account| self.is_secure_enough(account)) {
            Some(account) if account.locked => Err(Error::new(ER_ACCOUNT_HAS_BEEN_LOCKED, &[])),
            Some(account) => self.enter(login, account),
            None => Err(refusal),
        }
    }

    /// Authenticates another member of the cluster, which may do everything.
    async fn authenticate_member(
        &mut self,
        login: &HandshakeResponse,
        scramble: Scramble,
        secret: &Method,
    ) -> WireResult<()> {
        let mut attempt = LoginAttempt::new(login, scramble);
        // Members use TLS. An answer to a scramble that others can read lets them try out secrets.
        let is_readable = !self.connection.socket.is_confidential();
        let is_proved = !is_readable && self.try_method(secret, login, &mut attempt).await?;
        let (outcome, proof) = match is_proved {
            true => (
                self.enter(login, Account::of_member(CLUSTER_USER)),
                self.proof(secret, &attempt.scramble),
            ),
            false => (
                Err(attempt.refusal(&login.user, &self.client.name)),
                String::new(),
            ),
        };
        self.answer_login(login, outcome, &proof).await
    }

    /// Tries to authenticate the client by this method. Data that it has already sent for the same method is not
    /// requested again.
    async fn try_method(
        &mut self,
        method: &Method,
        login: &HandshakeResponse,
        attempt: &mut LoginAttempt,
    ) -> WireResult<bool> {
        match method {
            Method::UnixSocket(_) => {
                attempt.using_password = None;
                // A proxy's process is not the client.
                let peer = self.connection.socket.peer_user_id().filter(|_| !self.is_proxied);
                let user = peer.map(system_user);
                Ok(user.is_some_and(|name| name == login.user))
            }
            Method::Native(password) => {
                self.ask_for_native(attempt).await?;
                Ok(password.verify(&attempt.scramble, attempt.native_answer()))
            }
            Method::NoPassword(_) => {
                self.ask_for_native(attempt).await?;
                Ok(false)
            }
            Method::CachingSha2(password) => self.try_caching_sha2(password.as_ref(), login, attempt).await,
            Method::Ed25519 { password, .. } => {
                // Each try needs a nonce of its own.
                let nonce = Nonce::random();
                let writer = &mut self.connection.writer;
                encode_authentication_request(writer.begin(), CLIENT_ED25519, nonce.bytes());
                writer.end();
                let answer = self.answer_to_request(attempt).await?;
                attempt.using_password = Some("YES");
                Ok(password.is_some_and(|password| password.verify(&nonce, &answer)))
            }
        }
    }

    /// Authenticates the client by `caching_sha2_password`: by the digest that an earlier login has cached, or else by
    /// the password itself over a confidential connection.
    async fn try_caching_sha2(
        &mut self,
        password: Option<&CachingSha2Password>,
        login: &HandshakeResponse,
        attempt: &mut LoginAttempt,
    ) -> WireResult<bool> {
        let answer = match attempt.caching_sha2.take() {
            Some(answer) => answer,
            None => {
                let writer = &mut self.connection.writer;
                encode_authentication_switch(writer.begin(), CACHING_SHA2_PASSWORD, &attempt.scramble);
                writer.end();
                self.answer_to_request(attempt).await?
            }
        };
        if answer.is_empty() || answer == [0] {
            attempt.using_password = Some("NO");
            return Ok(password.is_none());
        }
        attempt.using_password = Some("YES");
        let Some(password) = password else {
            return Ok(false);
        };
        let server = self.state.server.clone();
        let cached = server.accounts.cached_password(password.text());
        if cached.is_some_and(|cached| cached.verify(&attempt.scramble, &answer)) {
            self.connection.writer.packet(&[1, auth_status::FAST_OK]);
            return Ok(true);
        }
        self.connection.writer.packet(&[1, auth_status::FULL]);
        let sent = self.answer_to_request(attempt).await?;
        if !self.connection.socket.is_confidential() {
            tracing::warn!(
                "connection {}: caching_sha2_password of '{}' needs TLS for the first login",
                self.state.shared.id,
                login.user.escape_debug()
            );
            return Ok(false);
        }
        let sent = sent.strip_suffix(&[0]).unwrap_or(&sent);
        let is_right = tokio::task::block_in_place(|| password.verify(sent));
        if is_right {
            server
                .accounts
                .cache_password(password.text(), CachedPassword::of(sent));
        }
        Ok(is_right)
    }

    /// Asks for the client's answer for `mysql_native_password`, unless it has given one.
    async fn ask_for_native(&mut self, attempt: &mut LoginAttempt) -> WireResult<()> {
        if attempt.native.is_none() {
            let writer = &mut self.connection.writer;
            encode_authentication_switch(writer.begin(), NATIVE_PASSWORD, &attempt.scramble);
            writer.end();
            attempt.native = Some(self.answer_to_request(attempt).await?);
        }
        match attempt.native_answer().is_empty() {
            true => attempt.using_password = attempt.using_password.map(|_| "NO"),
            false => attempt.using_password = Some("YES"),
        }
        Ok(())
    }

    /// Sends the request in the buffer and returns the client's answer.
    async fn answer_to_request(&mut self, attempt: &mut LoginAttempt) -> WireResult<Vec<u8>> {
        self.connection.flush().await?;
        attempt.was_asked = true;
        Ok(self.connection.read_answer().await?.to_vec())
    }

    /// Writes a login to the general log.
    fn log_login(&self, login: &HandshakeResponse) {
        if !self.state.server.statement_logs.has_general() {
            return;
        }
        let way = match (
            self.connection.socket.tls(),
            self.connection.socket.peer_address(),
        ) {
            (Some(_), _) => "SSL/TLS",
            (None, Some(_)) => "TCP/IP",
            (None, None) => "Socket",
        };
        let (user, host) = (&login.user, &self.client.name);
        let database = login.database.as_deref().unwrap_or_default();
        self.log_command(
            "Connect",
            format!("{user}@{host} on {database} using {way}").as_bytes(),
        );
    }

    /// Sends the result of the login to the client.
    async fn answer_login(
        &mut self,
        login: &HandshakeResponse,
        outcome: Result<()>,
        proof: &str,
    ) -> WireResult<()> {
        self.conclude_login(login, &outcome);
        match outcome {
            Ok(()) => self.replies().ok(0, 0, proof, More::No),
            Err(error) => self.replies().error(&error),
        }
        self.connection.flush().await
    }

    /// Logs and counts the outcome of a login. Afterwards the session accepts commands or is closing.
    pub(in crate::session) fn conclude_login(&mut self, login: &HandshakeResponse, outcome: &Result<()>) {
        let user = &login.user;
        self.log_login(login);
        match outcome {
            Ok(()) => {
                self.audit_connection(user, ConnectionEvent::Connect, 0);
                self.phase = Phase::Commands;
                self.state.server.host_errors.forgive(self.client.address);
                let was_known = self.state.shared.authenticated.swap(true, Ordering::Relaxed);
                self.count_connection(was_known);
                self.rest();
            }
            Err(error) => {
                if is_denied_login(error.code()) {
                    self.state.shared.counters.access_denied_errors.add(1);
                    self.count_denied_connection(user);
                }
                tracing::warn!("connection {}: {error}", self.state.shared.id);
                self.log_command("Connect", error.to_string().as_bytes());
                self.audit_connection(user, ConnectionEvent::FailedConnect, error.code().number());
                self.phase = Phase::Closing;
            }
        }
    }

    /// Counts the connection for its user, if there are statistics of users. A change of the user is no connection, but
    /// as in MariaDB it makes the user's entry.
    fn count_connection(&self, is_change: bool) {
        let statistics = &self.state.server.user_statistics;
        if statistics.is_on() {
            let user = &self.state.context.user;
            let values = TallyValues {
                total_connections: 1,
                total_ssl_connections: self.state.shared.tls.get().is_some().into(),
                ..TallyValues::default()
            };
            match is_change {
                true => statistics.add_new(&user.user, &user.host, &values),
                false => statistics.add(&user.user, &user.host, &values),
            }
        }
    }

    /// Counts a refused connection for its user and its client; a refused change of the user for the user before.
    fn count_denied_connection(&self, user: &str) {
        let statistics = &self.state.server.user_statistics;
        if statistics.is_on() {
            let user = match self.state.shared.authenticated.load(Ordering::Relaxed) {
                true => self.state.context.user.user.as_str(),
                false => user,
            };
            let values = TallyValues {
                denied_connections: 1,
                access_denied: 1,
                ..TallyValues::default()
            };
            statistics.add_known(user, &self.client.name, &values);
        }
    }

    /// Checks `REQUIRE …` of the account, and `require_secure_transport`: encrypted, or a local socket.
    fn is_secure_enough(&self, account: &Account) -> bool {
        let tls = self.state.shared.tls.get();
        let is_of_network_client = self.is_proxied && self.client.address.is_some();
        let is_network = self.connection.socket.peer_address().is_some() || is_of_network_client;
        let prohibited =
            tls.is_none() && is_network && self.state.server.globals.is_on(Variable::RequireSecureTransport);
        !prohibited && account.require.is_met_by(tls)
    }

    /// Returns the proof for the client that the owner of this certificate knows the client's password. Unencrypted
    /// clients, and those that know the certificate's authority, ignore it.
    fn proof(&self, method: &Method, scramble: &Scramble) -> String {
        match (&self.connection.tls, method.proof_key()) {
            (Some(tls), Some(kept)) => proof(kept, scramble, tls.certificate()),
            _ => String::new(),
        }
    }
}
