//! Sessions in which events run.
//!
//! Such a session has no client: rows that its statements select are discarded. It has the account of the event's
//! definer, and is in the list of sessions, so that KILL and a shutdown end it.

use super::execution::Execution;
use super::internal::event_session;
use super::statements::{AllKinds, program};
use crate::accounts::Account;
use crate::server::Server;
use crate::statement_kind::StatementKind;
use paceline_catalog::EventDefinition;
use paceline_expression::session::Privilege;
use paceline_syntax::Error;
use std::fmt;
use std::sync::Arc;

/// Reason why an event did not run to its end.
#[derive(Debug)]
pub enum EventFailure {
    /// Its definer does not exist.
    NoDefiner,
    /// Its definer has no longer the privilege EVENT on its database.
    NoPrivilege,
    /// Its session could not be created.
    NoSession(std::io::Error),
    /// Its body failed.
    Failed(Error),
}

impl fmt::Display for EventFailure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            EventFailure::NoDefiner => f.write_str("execution failed, failed to authenticate the user."),
            EventFailure::NoPrivilege => f.write_str("execution failed, user no longer has EVENT privilege."),
            EventFailure::NoSession(error) => write!(f, "execution failed, no session: {error}"),
            EventFailure::Failed(error) => write!(f, "{error}"),
        }
    }
}

/// Runs an event once.
///
/// # Errors
/// Why it did not run to its end.
pub async fn run_event(server: &Arc<Server>, event: &EventDefinition) -> Result<(), EventFailure> {
    let definer = definer(server, event)?;
    let (mut session, mut other_end) = event_session(server, definer).map_err(EventFailure::NoSession)?;
    let drained = tokio::spawn(async move { tokio::io::copy(&mut other_end, &mut tokio::io::sink()).await });
    let body = event.body.as_bytes();
    session.state.context.settings.time_zone = event.zone();
    session
        .state
        .shared
        .update(|activity| activity.database = Some(event.database.clone()));
    session.begin_command("Connect", body);
    session.state.begin_statement(None);
    session.state.shared.statement_kind.set(StatementKind::EVENT);
    let done = program::run_event(
        event,
        &mut session.state,
        &mut session.connection,
        Execution::of_text(body),
        AllKinds,
    )
    .await;
    if done.is_err() {
        session.state.abort_statement();
    }
    session.state.shared.counters.executed_events.add(1);
    session.state.count_event(&done);
    if server.audit_log.is_on() {
        session.state.audit_statement(body, &done);
    }
    session.connection.writer.clear();
    drop(session);
    drained.abort();
    done.map_err(EventFailure::Failed)
}

fn definer(server: &Server, event: &EventDefinition) -> Result<Account, EventFailure> {
    let (user, host) = &event.definer;
    let definer = server.accounts.load().definer(user, host);
    let definer = definer.ok_or(EventFailure::NoDefiner)?;
    match definer.privileges_in(&event.database).has(Privilege::Event) {
        true => Ok(definer),
        false => Err(EventFailure::NoPrivilege),
    }
}

/// Executes a statement of the scheduler, with all privileges.
///
/// # Errors
/// Its error.
pub async fn run_for_scheduler(server: &Arc<Server>, text: &str) -> Result<(), EventFailure> {
    let mut account = Account::new("event_scheduler", "localhost");
    account.global = crate::accounts::PrivilegeSet::everything();
    let (mut session, _other_end) = event_session(server, account).map_err(EventFailure::NoSession)?;
    session
        .run_text(text.as_bytes())
        .await
        .map_err(EventFailure::Failed)
}
