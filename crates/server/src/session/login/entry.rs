//! Setup of an authenticated session: the limits of its account, its account's names, and the session variables.

use super::collation::login_collation;
use crate::accounts::Account;
use crate::accounts::checks::check_member;
use crate::registry::{SessionHandle, now_micros};
use crate::server::LoginCharset;
use crate::session::Session;
use crate::session::restrictions::Restrictions;
use crate::variables::{SessionValues, Variable, VariableValue, apply_all_to_session, apply_to_session};
use paceline_expression::session::{Account as AccountName, Privilege, SqlMode};
use paceline_syntax::{Error, Result};
use paceline_types::Collation;
use paceline_types::error_code::*;
use paceline_wire::Capabilities;
use paceline_wire::handshake::HandshakeResponse;
use std::sync::Arc;
use std::sync::atomic::Ordering;

impl Session {
    /// Sets the session up for the account of an authenticated client.
    pub(in crate::session) fn enter(&mut self, login: &HandshakeResponse, account: Account) -> Result<()> {
        let globals = &self.state.server.globals;
        let limit = globals.number(Variable::MaxConnections) as usize;
        let is_exempt =
            account.global.has(Privilege::Super) || account.global.has(Privilege::ConnectionAdmin);
        if self.state.server.sessions.count() > limit && !is_exempt {
            self.state
                .server
                .counters
                .too_many_connections
                .fetch_add(1, Ordering::Relaxed);
            return Err(Error::new(ER_CON_COUNT_ERROR, &[]));
        }
        if self.state.server.memory_division.is_full() && !is_exempt {
            return Err(Error::new(ER_OUT_OF_RESOURCES, &[]));
        }
        self.check_user_connections(login, &account)?;
        self.state.restrictions = self.restrictions(login, &account)?;
        let statement_time = account.statement_time;
        self.state.context.user = AccountName {
            user: login.user.clone(),
            host: self.client.name.clone(),
        };
        self.state.context.current_user = AccountName {
            user: account.user.clone(),
            host: account.host.clone(),
        };
        let default_role = account.default_role.clone();
        let current = (account.user.clone(), account.host.clone());
        self.state.services.set_account(account);
        self.state.context.current_role = None;
        // A default role that the account no longer has is ignored.
        let authority = self.state.services.authority(&self.state.context);
        if !default_role.is_empty()
            && check_member(authority, &default_role, (&current.0, &current.1)).is_ok()
        {
            self.state.set_role(Some(default_role));
        }
        self.login_collation = match self.state.server.login_charset {
            LoginCharset::OfClient => login_collation(login.collation)?,
            LoginCharset::OfServer => None,
        };
        self.set_up_values();
        if !statement_time.is_unlimited() {
            let setting = VariableValue::Double(statement_time.seconds());
            let mut values = self.state.services.values.lock();
            values.set(Variable::MaxStatementTime, setting.clone());
            apply_to_session(
                &mut self.state.context,
                &mut values,
                Variable::MaxStatementTime,
                &setting,
            );
        }
        // Earlier work counts for the user of that time.
        let before = self.state.shared.owned_events();
        self.state.server.statement_events.end(&before);
        self.state.shared.update(|activity| {
            activity.user = login.user.clone();
            activity.state = "";
        });
        match &login.database {
            Some(database) => self.state.use_database(database),
            None => Ok(()),
        }
    }

    /// Returns the restrictions of a session of this account.
    ///
    /// # Errors
    /// 1226 for too many connections in the hour; 1862 for an expired password, if the client cannot set a new one.
    fn restrictions(
        &self,
        login: &HandshakeResponse,
        account: &Account,
    ) -> Result<Option<Box<Restrictions>>> {
        let accounts = &self.state.server.accounts;
        let uses = accounts.hourly_uses();
        let hourly_use = uses.connect(&account.user, &account.host, account.limits)?;
        let globals = &self.state.server.globals;
        let lifetime = globals.number(Variable::DefaultPasswordLifetime);
        let must_change_password = (account.password_age).has_expired(lifetime, now_micros() / 1_000_000);
        let can_handle = login.capabilities.has(Capabilities::CAN_HANDLE_EXPIRED_PASSWORDS);
        if must_change_password && !can_handle && globals.is_on(Variable::DisconnectOnExpiredPassword) {
            return Err(Error::new(ER_MUST_CHANGE_PASSWORD_LOGIN, &[]));
        }
        let is_restricted = must_change_password || hourly_use.is_some();
        Ok(is_restricted.then(|| {
            Box::new(Restrictions {
                must_change_password,
                hourly_use,
            })
        }))
    }

    /// Returns 1226 or 1203 if the user has too many connections. The global limit is not for administrators, whose
    /// accounts may have limits of their own.
    fn check_user_connections(&self, login: &HandshakeResponse, account: &Account) -> Result<()> {
        let global = &self.state.server.globals.get(Variable::MaxUserConnections);
        let limit = match account.user_connections_max {
            0 if account.ignores_limits_of_connections() => 0,
            0 => global.as_i64(),
            own => i64::from(own),
        };
        if limit == 0 {
            return Ok(());
        }
        let same = |session: &&Arc<SessionHandle>| {
            session.id != self.state.shared.id && session.activity().user == login.user
        };
        let others = self.state.server.sessions.all().iter().filter(same).count();
        if i64::try_from(others).is_ok_and(|others| others < limit) {
            return Ok(());
        }
        Err(match account.user_connections_max {
            0 => Error::new(ER_TOO_MANY_USER_CONNECTIONS, &[&login.user]),
            own => Error::new(
                ER_USER_LIMIT_REACHED,
                &[&login.user, &"max_user_connections", &own],
            ),
        })
    }

    /// Sets session variables to their global values, and the character set and timeouts that the client requested.
    pub(super) fn set_up_values(&mut self) {
        let mut values = SessionValues::new(&self.state.server.globals);
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
        self.state.heed_log_settings(&values);
        self.state.tracking.heed(&values);
        if self.connection.capabilities.has(Capabilities::IGNORE_SPACE) {
            let mode = self.state.context.settings.sql_mode.with(SqlMode::IGNORE_SPACE);
            self.state.context.settings.sql_mode = mode;
        }
        *self.state.services.values.lock() = values;
        if self.state.context.database.is_none() {
            let collation = self.state.context.settings.collation_server;
            self.state.set_database_collation(collation);
        }
    }
}
