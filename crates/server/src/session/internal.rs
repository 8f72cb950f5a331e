//! Sessions without a client. Nothing reads their sockets, or their replies are discarded earlier.

use super::protocol::Connection;
use super::services::SessionServices;
use super::{RegistryEntry, Session};
use crate::accounts::{Account, PrivilegeSet};
use crate::registry::SessionHandle;
use crate::server::Server;
use crate::variables::{SessionValues, apply_all_to_session};
use paceline_expression::session::{Account as NamedAccount, SessionMemory};
use paceline_wire::Capabilities;
use paceline_wire::socket::Socket;
use std::sync::Arc;
use std::sync::atomic::Ordering;
use tokio::net::UnixStream;

/// Creates the session of an event, with the privileges of an account. It is in the list of sessions. Also returns the
/// other end of its socket.
///
/// # Errors
/// The operating system's error if no socket can be created.
pub fn event_session(server: &Arc<Server>, account: Account) -> std::io::Result<(Session, UnixStream)> {
    let (near, far) = UnixStream::pair()?;
    let socket = Socket::unix(near);
    let number = server.counters.connections.fetch_add(1, Ordering::Relaxed) + 1;
    let shared = Arc::new(SessionHandle::new(
        number as u32,
        socket.handle()?,
        "localhost".to_owned(),
        u64::MAX,
        SessionMemory::new(server.memory.clone()),
    ));
    shared.update(|activity| activity.user.clone_from(&account.user));
    shared.authenticated.store(true, Ordering::Relaxed);
    let registered = RegistryEntry::new(server, &shared);
    let locks = server.transactions.session(shared.interrupt.clone());
    shared.locks.get_or_init(|| locks.clone());
    let mut connection = Connection::new(socket, usize::MAX, shared.killed.clone());
    // Programs may select rows, which nobody reads.
    connection.capabilities = Capabilities::MULTI_RESULTS;
    let services = Arc::new(SessionServices::new(server.clone(), shared, locks));
    let user = NamedAccount {
        user: account.user.clone(),
        host: account.host.clone(),
    };
    let is_role = account.is_role;
    services.set_account(account);
    let mut session = Session::internal(services, connection);
    session._registered = Some(registered);
    let mut values = SessionValues::new(&server.globals);
    apply_all_to_session(&mut session.state.context, &mut values);
    session.state.context.user = NamedAccount {
        user: user.user.clone(),
        host: "localhost".to_owned(),
    };
    match is_role {
        true => session.state.context.current_role = Some(user.user),
        false => session.state.context.current_user = user,
    }
    *session.state.services.values.lock() = values;
    Ok((session, far))
}

/// Creates a session with all privileges. Also returns the other end of its socket.
///
/// # Errors
/// The operating system's error if no socket can be created.
pub fn internal_session(
    server: &Arc<Server>,
    user: &str,
    locks: paceline_txn::Session,
) -> std::io::Result<(Session, UnixStream)> {
    let (near, far) = UnixStream::pair()?;
    let socket = Socket::unix(near);
    let number = server.counters.connections.fetch_add(1, Ordering::Relaxed) + 1;
    let shared = Arc::new(SessionHandle::new(
        number as u32,
        socket.handle()?,
        String::new(),
        u64::MAX,
        SessionMemory::unlimited(),
    ));
    let connection = Connection::new(socket, usize::MAX, shared.killed.clone());
    let services = Arc::new(SessionServices::new(server.clone(), shared, locks));
    let mut account = Account::new(user, "");
    account.global = PrivilegeSet::everything();
    services.set_account(account);
    let mut session = Session::internal(services, connection);
    let mut values = SessionValues::new(&server.globals);
    apply_all_to_session(&mut session.state.context, &mut values);
    // A statement that the primary was able to execute must not fail here because of memory.
    session.state.context.memory.set_limit(u64::MAX);
    *session.state.services.values.lock() = values;
    Ok((session, far))
}
