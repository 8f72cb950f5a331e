//! Accepts connections and begins a session for each client.

use crate::accounts::ClientHost;
use crate::registry::SessionHandle;
use crate::server::Server;
use crate::session::login::LOGIN_PACKET_MAX;
use crate::session::protocol::Connection;
use crate::session::services::SessionServices;
use crate::session::{RegistryEntry, Session};
use crate::variables::Variable;
use paceline_expression::session::SessionMemory;
use paceline_wire::listener::Listener;
use paceline_wire::socket::Socket;
use paceline_wire::tls::TlsSession;
use std::sync::Arc;
use std::sync::atomic::Ordering;
use tokio::net::UnixStream;

/// Accepts clients until shutdown is requested.
pub async fn serve(listener: &Listener, server: &Arc<Server>) {
    loop {
        let accepted = tokio::select! {
            accepted = listener.accept() => accepted,
            () = server.shutdown_requested() => return,
        };
        match accepted {
            Ok((socket, Some(address))) => {
                let client = server.client_host(address.ip());
                let host = format!("{}:{}", client.name, address.port());
                begin(server, socket, client, host);
            }
            Ok((socket, None)) => begin(server, socket, ClientHost::local(), "localhost".to_owned()),
            Err(error) => {
                server.counters.accept_errors.fetch_add(1, Ordering::Relaxed);
                tracing::warn!("a connection could not be accepted: {error}");
                tokio::time::sleep(Listener::PAUSE).await;
            }
        }
    }
}

/// Starts a session as its own task.
fn begin(server: &Arc<Server>, socket: Socket, client: ClientHost, host: String) {
    match session(server, socket, client, host) {
        Ok(session) => {
            tokio::spawn(session.run());
        }
        Err(error) => tracing::warn!("a connection could not be kept: {error}"),
    }
}

/// Creates a session for a client that has not logged in.
///
/// # Errors
/// The operating system's error if the socket cannot be watched.
pub(crate) fn session(
    server: &Arc<Server>,
    socket: Socket,
    client: ClientHost,
    host: String,
) -> std::io::Result<Session> {
    let handle = socket.handle()?;
    let number = server.counters.connections.fetch_add(1, Ordering::Relaxed) + 1;
    let wait_timeout = server.globals.number(Variable::WaitTimeout);
    let shared = Arc::new(SessionHandle::new(
        number as u32,
        handle,
        host,
        wait_timeout,
        SessionMemory::new(server.memory.clone()),
    ));
    let registered = RegistryEntry::new(server, &shared);
    let locks = server.transactions.session(shared.interrupt.clone());
    shared.locks.get_or_init(|| locks.clone());
    let connection = Connection::new(socket, LOGIN_PACKET_MAX, shared.killed.clone());
    let services = Arc::new(SessionServices::new(server.clone(), shared, locks));
    Ok(Session::new(services, connection, client, registered))
}

/// Creates the session of a client whose requests this server itself passes on: a connection to its HTTP address. The
/// client has not logged in. Its host and its TLS session are those of that connection. Also returns the other end.
///
/// # Errors
/// The operating system's error if no socket can be created.
pub(crate) fn relayed_session(
    server: &Arc<Server>,
    client: ClientHost,
    host: String,
    tls: Option<TlsSession>,
) -> std::io::Result<(Session, UnixStream)> {
    let (near, far) = UnixStream::pair()?;
    let mut session = session(server, Socket::unix(near), client, host)?;
    session.relay(tls);
    Ok((session, far))
}
