//! KILL.

use super::expression::evaluate;
use crate::accounts::ClientHost;
use crate::errors::interrupted;
use crate::session::protocol::Reply;
use crate::session::services::SessionServices;
use crate::session::state::SessionState;
use paceline_expression::session::{Privilege, SessionContext};
use paceline_replication::connection::Threads;
use paceline_syntax::ast::{CastType, Expr};
use paceline_syntax::{Error, Kill, KillTarget, Result, UserName};
use paceline_txn::InterruptReason;
use paceline_types::Value;
use paceline_types::error_code::*;

/// Executes KILL.
///
/// # Errors
/// 1094, 1095, 1227; 1317 or 1927 if the session has killed itself.
pub async fn execute(kill: &Kill, parameters: &[Value], state: &mut SessionState) -> Result<Reply> {
    let reason = if kill.query_only {
        InterruptReason::Query
    } else {
        InterruptReason::Connection
    };
    match &kill.target {
        KillTarget::Connection(expr) => {
            let id = connection_id(expr, parameters, state).await?;
            kill_connection(id, reason, &state.services, &state.context)?;
            if id == u64::from(state.services.shared.id) {
                return Err(interrupted(reason));
            }
            Ok(Reply::ok())
        }
        KillTarget::QueryId(_) => Err(Error::unsupported("KILL QUERY ID")),
        KillTarget::User(account) => {
            let (services, context) = (&state.services, &state.context);
            let user = match &account.user {
                UserName::Name(name) => name.clone(),
                UserName::Current => context.current_user.user.clone(),
                UserName::Unqualified(_) | UserName::CurrentRole | UserName::Public => {
                    return Err(Error::unsupported("KILL USER of a role"));
                }
            };
            if user != context.user.user {
                services.require_any(&[Privilege::Super, Privilege::ConnectionAdmin])?;
            }
            let mut killed = 0;
            for session in services.server.sessions.all() {
                let activity = session.activity();
                let host = activity.host.split(':').next().unwrap_or_default().to_owned();
                let from = ClientHost {
                    name: host,
                    address: None,
                };
                if activity.user == user && from.matches(&account.host) && session.id != services.shared.id {
                    session.kill(reason);
                    killed += 1;
                }
            }
            Ok(Reply::affected(killed))
        }
    }
}

/// Evaluates a connection's number. Any value is read as an integer: clients that fill in parameters themselves send
/// the number as text. NULL is 0.
async fn connection_id(expr: &Expr, parameters: &[Value], state: &mut SessionState) -> Result<u64> {
    let as_integer = Expr::Cast {
        operand: Box::new(expr.clone()),
        target: CastType::Signed,
    };
    Ok(match evaluate(&as_integer, parameters, state).await?.0 {
        Value::Int(id) => id as u64,
        Value::UInt(id) => id,
        _ => 0,
    })
}

/// Kills a connection or its statement.
///
/// # Errors
/// 1094 if the id does not exist; 1095 if it belongs to another user and the account may not kill it.
pub fn kill_connection(
    id: u64,
    reason: InterruptReason,
    services: &SessionServices,
    context: &SessionContext,
) -> Result<()> {
    let short_id = u32::try_from(id).ok();
    let Some(session) = short_id.and_then(|id| services.server.sessions.get(id)) else {
        let part = short_id.and_then(|id| services.server.replicas().part_of_thread(id));
        let (connection, part) = part.ok_or_else(|| Error::new(ER_NO_SUCH_THREAD, &[&id]))?;
        services
            .require_any(&[Privilege::Super, Privilege::ConnectionAdmin])
            .map_err(|_| Error::new(ER_KILL_DENIED_ERROR, &[&id]))?;
        // As in MariaDB, the part stops without an error. A receiver executes no statements, so KILL QUERY does not
        // stop it.
        if part == Threads::Applier || reason == InterruptReason::Connection {
            let server = services.server.clone();
            tokio::spawn(async move { server.replicas().stop(&connection, part).await });
        }
        return Ok(());
    };
    let own = session.activity().user == context.user.user;
    if !own
        && services
            .require_any(&[Privilege::Super, Privilege::ConnectionAdmin])
            .is_err()
    {
        return Err(Error::new(ER_KILL_DENIED_ERROR, &[&id]));
    }
    session.kill(reason);
    Ok(())
}
