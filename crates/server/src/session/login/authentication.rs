//! Authentication of a client by the methods of its account.

use crate::accounts::Account;
use crate::accounts::authentication::Method;
use crate::accounts::initial::system_user;
use crate::session::protocol::More;
use crate::session::{Phase, Session};
use crate::variables::Variable;
use paceline_syntax::{Error, Result};
use paceline_types::error_code::*;
use paceline_wire::WireResult;
use paceline_wire::authentication::{NATIVE_PASSWORD, NativePassword, Scramble};
use paceline_wire::handshake::{HandshakeResponse, encode_authentication_switch};
use paceline_wire::tls::proof::proof;
use std::sync::atomic::Ordering;

/// Authentication data of a client during its login.
struct LoginAttempt {
    scramble: Scramble,
    answer: Vec<u8>,
    /// Whether the answer is for `mysql_native_password`.
    is_native: bool,
    /// Whether the error mentions the use of a password. A user of the UNIX socket has none.
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
    /// Authenticates a client and sends the result. Afterwards the session accepts commands or is closing.
    pub(super) async fn authenticate(
        &mut self,
        login: HandshakeResponse,
        scramble: Scramble,
    ) -> WireResult<()> {
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
        // A client with an unknown user is asked the same questions as one whose account has a password.
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
}
