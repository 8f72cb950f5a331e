//! COM_CHANGE_USER: another login on the same connection.
//!
//! The whole session is reset first. If the login fails, the connection continues with the user, role and database of
//! before, as in MariaDB: everything else keeps its initial value. A client must not try passwords in this way, so the
//! answer of a failed login is followed by a pause, and after three of them no more are accepted. Ending the connection
//! would do the same, but clients such as pools expect to go on.

use crate::accounts::Account;
use crate::session::restrictions::Restrictions;
use crate::session::{Phase, Session};
use paceline_expression::session::Account as AccountName;
use paceline_syntax::Error;
use paceline_types::error_code::ER_UNKNOWN_COM_ERROR;
use paceline_wire::WireResult;
use paceline_wire::authentication::Scramble;
use paceline_wire::handshake::HandshakeResponse;
use std::time::Duration;

/// Number of failed logins by COM_CHANGE_USER that a connection may have.
const FAILED_CHANGES_MAX: u8 = 3;
/// Pause after a failed one.
const PAUSE: Duration = Duration::from_secs(1);

/// Identity of a session, to which it returns if a change of the user fails.
struct Identity {
    account: Account,
    user: AccountName,
    current_user: AccountName,
    current_role: Option<String>,
    restrictions: Option<Box<Restrictions>>,
    database: Option<String>,
}

impl Session {
    /// Executes COM_CHANGE_USER.
    ///
    /// # Errors
    /// Protocol errors.
    pub(in crate::session) async fn change_user(&mut self) -> WireResult<()> {
        let payload = &self.connection.reader.payload()[1..];
        let login = HandshakeResponse::decode_change_user(payload, self.connection.capabilities)?;
        self.state.leave_user_statistics();
        let context = &self.state.context;
        let before = Identity {
            account: Account::clone(&self.state.services.account()),
            user: context.user.clone(),
            current_user: context.current_user.clone(),
            current_role: context.current_role.clone(),
            restrictions: self.state.restrictions.take(),
            database: context.database.as_deref().map(str::to_owned),
        };
        self.reset();
        if self.failed_changes >= FAILED_CHANGES_MAX {
            self.replies().error(&Error::new(ER_UNKNOWN_COM_ERROR, &[]));
            self.resume(before);
            return Ok(());
        }
        // Clients answer with the scramble of the greeting, and ignore another one in a request for the method.
        let scramble = self.scramble.unwrap_or_else(Scramble::random);
        self.authenticate(login, scramble).await?;
        if self.phase == Phase::Closing {
            self.failed_changes += 1;
            self.resume(before);
            self.phase = Phase::Commands;
            tokio::time::sleep(PAUSE).await;
        }
        Ok(())
    }

    /// Returns to the identity of before a failed change of the user.
    fn resume(&mut self, before: Identity) {
        self.state.restrictions = before.restrictions;
        let user = before.user.user.clone();
        self.state.shared.update(|activity| {
            activity.user = user;
            activity.state = "";
        });
        self.state.context.user = before.user;
        self.state.context.current_user = before.current_user;
        self.state.services.resume_account(before.account);
        self.state.set_role(before.current_role);
        self.set_up_values();
        if let Some(database) = before.database {
            // It may be gone, or no longer be visible.
            let _ = self.state.use_database(&database);
        }
        self.state.changes.clear();
    }
}
